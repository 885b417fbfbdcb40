//! Precompiled leaf moves: the FORMs of the loop IR at the full vector width of the host.

//! What the three text forms share.

//! An independent checker of installed machine code.

//! The loop IR: text form, verifier and checking interpreter.

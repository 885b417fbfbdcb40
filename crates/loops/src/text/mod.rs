//! The text form.

mod print;

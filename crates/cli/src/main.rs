//! The `restride` command.

fn main() {}

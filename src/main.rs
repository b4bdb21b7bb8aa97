//! The `mmgp` command.

fn main() {}

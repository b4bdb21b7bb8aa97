//! The library that programs in C link: what `mmgp.h` declares, and nothing else.
//!
//! `cargo build --release --example mmgp` makes `target/release/examples/libmmgp.so`. It is a target
//! of its own so that a build of the program does not compile everything a second time.

pub use mmgp::capi::*;

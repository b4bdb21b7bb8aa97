//! Benchmarks of mmgp, a file each beside this one: `cargo bench -p benches`.

//! Benchmarks of mmgp, a file for each wing beside this one: `cargo bench -p benches`.

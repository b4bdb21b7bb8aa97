//! The kernels, by what a store holds after them, how long they take, and what they say of themselves. In a
//! program of its own: compiling kernels is most of what a build has to do, and here they are those of
//! the library.

mod list_ranking;
mod pbpi;
mod raxml;
mod sgemm;
mod shapes;
mod sweep3d;

use mmgp_spu::{Journal, Kernel, LocalStore, execute_on_path};

/// Runs a kernel as where the host has no fused multiply-add: each instruction is a call. The library has
/// compiled it so already, while a run by instructions of a test's own would be compiled here.
fn execute_by_calls<K: Kernel>(kernel: &K, store: &mut LocalStore) -> K::Output {
    execute_on_path(kernel, store, &mut Journal::default(), None).0
}

/// The pipeline that kernels are timed on: a QS20's.
fn cell_be() -> mmgp_spu::Timing {
    mmgp_cell::pipeline(&mmgp_machine::Machine::named("qs20").expect("it is built in"))
}

//! The kernels, by what a store holds after them, how long they take, and what they say of themselves. In a
//! program of its own: compiling kernels is most of what a build has to do, and here they are those of
//! the library.

mod list_ranking;
mod pbpi;
mod raxml;
mod sgemm;
mod shapes;
mod sweep3d;

/// The pipeline that kernels are timed on: a QS20's.
fn cell_be() -> mmgp_spu::Timing {
    mmgp_cell::pipeline(&mmgp_machine::Machine::named("qs20").expect("it is built in"))
}

//! The first list of a group of threads.

use super::{NODE_BYTES, PAIR_BYTES, write_list};
use mmgp_spu::{LocalAddress, Shape};

/// Writes the DMA list that fetches the first nodes of threads; later ones are written by
/// [`Advance`](super::Advance).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Threads of the list, at least one.
    pub threads: u32,
    /// Their states.
    pub states: LocalAddress,
    /// The elements of the list, written.
    pub list: LocalAddress,
    /// The lower half of the effective address of node 0.
    pub low: u32,
}

kernel! {
    Ask -> (), |kernel, spu|
    shape: Shape::new("ask for first nodes", kernel.threads);
    blocks: {
        input states[NODE_BYTES; kernel.threads];
        output list[PAIR_BYTES; kernel.threads.div_ceil(2)];
    }
    run: {
        let threads = spu.ila(kernel.threads);
        write_list(spu, (kernel.states, kernel.list), kernel.low, threads);
    };
}

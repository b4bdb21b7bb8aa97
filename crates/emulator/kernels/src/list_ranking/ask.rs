//! The first list of a group of threads.

use super::{NODE_BYTES, write_list};
use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu};

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

impl Kernel for Ask {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("ask for first nodes", self.threads)
    }

    fn blocks(&self) -> Vec<Block> {
        vec![
            Block::input("states", self.states, self.threads, NODE_BYTES),
            Block::output("list", self.list, self.threads.div_ceil(2), Bytes(16)),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let threads = spu.ila(self.threads);
        write_list(spu, (self.states, self.list), self.low, threads);
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}

//! The vectors of the root, which has three neighbours because the tree is unrooted.

use super::product::{Child, product_of_children};
use super::{COUNT_BYTES_PER_GROUP, MATRIX_BYTES, VECTOR_BYTES_PER_GROUP, Version, naive};
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu, Unfused};

/// `out_j = (sum_k Pa_jk a_k) (sum_k Pb_jk b_k) (sum_k Pc_jk c_k)` for each pattern, scaled; layout
/// and scaling are described in the [module](super).
///
/// Order of the operations: each sum as in [`NodeUpdate`](super::NodeUpdate), then (a b) c.
///
/// 112 double-precision instructions a group, which take at least 784 cycles on the Cell BE (7
/// each). A group takes 906 cycles with list scheduling, 227 a pattern, and 1,027 in program order.
///
/// The naive version takes 752 cycles a pattern, every third pattern scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootProduct {
    /// How it is written; what stands above is the tuned version.
    pub version: Version,
    /// Groups of four patterns.
    pub groups: u32,
    /// Transition matrices towards the three neighbours.
    pub matrices: [LocalAddress; 3],
    /// Vectors of the three neighbours a, b, c.
    pub vectors: [LocalAddress; 3],
    /// Vectors of the root, written.
    pub out: LocalAddress,
    /// Scaling counts of the three neighbours.
    pub counts: [LocalAddress; 3],
    /// Scaling counts of the root, written: those of the neighbours and 1 where it was scaled.
    pub out_counts: LocalAddress,
}

impl Kernel for RootProduct {
    type Output = ();

    fn shape(&self) -> Shape {
        let name = match self.version {
            Version::Naive => "root product, naive",
            Version::Unfused => "root product, 2006",
            Version::Tuned => "root product",
        };
        self.version.shape(name, self.groups)
    }

    fn blocks(&self) -> Vec<Block> {
        let groups = self.groups;
        let input = |name, count, each| move |at| Block::input(name, at, count, each);
        let mut blocks = Vec::with_capacity(11);
        blocks.extend(self.matrices.map(input("matrices", 1, MATRIX_BYTES)));
        blocks.extend(self.vectors.map(input("vectors", groups, VECTOR_BYTES_PER_GROUP)));
        blocks.push(Block::output("out", self.out, groups, VECTOR_BYTES_PER_GROUP));
        blocks.extend(self.counts.map(input("counts", groups, COUNT_BYTES_PER_GROUP)));
        blocks.push(Block::output("out_counts", self.out_counts, groups, COUNT_BYTES_PER_GROUP));
        blocks
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let children = std::array::from_fn::<_, 3, _>(|i| Child {
            matrix: self.matrices[i],
            vectors: self.vectors[i],
            counts: self.counts[i],
        });
        match self.version {
            Version::Naive => {
                naive::product_of_children(spu, self.groups, children, self.out, self.out_counts)
            }
            Version::Unfused => {
                let spu = &mut Unfused::new(spu);
                product_of_children(spu, self.groups, children, self.out, self.out_counts);
            }
            Version::Tuned => {
                product_of_children(spu, self.groups, children, self.out, self.out_counts);
            }
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}

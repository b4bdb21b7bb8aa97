//! The vectors of the root, which has three neighbours because the tree is unrooted.

use super::product::{Child, product_of_children};
use super::{
    COUNT_BYTES_PER_GROUP, MATRIX_BYTES, VECTOR_BYTES_PER_GROUP, Version, input, naive, of_groups,
    output,
};
use crate::layout;
use mmgp_base::error::Result;
use mmgp_spu::{Branches, Compiler, Kernel, LocalAddress, Spu};

/// `out_j = (sum_k Pa_jk a_k) (sum_k Pb_jk b_k) (sum_k Pc_jk c_k)` for each pattern, scaled; layout
/// and scaling are described in the [module](super).
///
/// Order of the operations: each sum as in [`NodeUpdate`](super::NodeUpdate), then (a b) c.
///
/// 112 double-precision instructions a group, which take at least 784 cycles on the Cell BE (7
/// each). A group takes 906 cycles with list scheduling, 227 a pattern, and 1,027 in program order.
///
/// The naive version takes 1,488 cycles a pattern, every third pattern scaled.
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

impl RootProduct {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        let vectors = of_groups(self.groups, VECTOR_BYTES_PER_GROUP);
        let counts = of_groups(self.groups, COUNT_BYTES_PER_GROUP);
        let mut blocks = Vec::with_capacity(11);
        blocks.extend(self.matrices.map(|at| input("matrices", at, MATRIX_BYTES)));
        blocks.extend(self.vectors.map(|at| input("vectors", at, vectors)));
        blocks.push(output("out", self.out, vectors));
        blocks.extend(self.counts.map(|at| input("counts", at, counts)));
        blocks.push(output("out_counts", self.out_counts, counts));
        layout::check(self.name(), &blocks)
    }
}

impl Kernel for RootProduct {
    type Output = ();

    fn name(&self) -> &'static str {
        match self.version {
            Version::Naive => "root product, naive",
            Version::Tuned => "root product",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    fn branches(&self) -> Branches {
        self.version.branches()
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
            Version::Tuned => {
                product_of_children(spu, self.groups, children, self.out, self.out_counts);
            }
        }
    }
}

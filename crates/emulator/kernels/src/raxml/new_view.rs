//! The vectors of an inner node from those of its two children.
//!
//! It is written a second time in the host's own vectors, which hold four doubles: the same
//! operations in the same order as the instructions of the vectorised versions, so that
//! every bit is the same but for those of a NaN: where one comes out, the instructions have to say
//! which.

use super::{
    CODE_BYTES_PER_GROUP, COUNT_BYTES_PER_GROUP, End, Ends, MATRIX_BYTES, MODEL_BYTES,
    PATTERNS_PER_GROUP, Rates, SCALING_EXPONENT, TIP_PRODUCT_BYTES, TIP_VECTORS_OFFSET, V_OFFSET,
    Version, naive, named_by_ends, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::Block;
use mmgp_spu::{Branches, LocalAddress, LocalStore, Quadword, Shape};

/// A child of [`NewView`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// A tip.
    Tip {
        /// The codes of the tip.
        codes: LocalAddress,
        /// The table of [`TipProducts`](super::TipProducts) with GAMMA; with CAT the matrices of
        /// its branch from [`Transition`](super::Transition).
        products: LocalAddress,
    },
    /// An inner node.
    Inner {
        /// The vectors of the node.
        vectors: LocalAddress,
        /// The scaling counts of the node.
        counts: LocalAddress,
        /// The matrices of its branch, from [`Transition`](super::Transition).
        matrices: LocalAddress,
    },
}

impl Child {
    /// The child without its tables.
    #[inline(always)]
    pub(super) const fn end(self) -> End {
        match self {
            Self::Tip { codes, .. } => End::Tip { codes },
            Self::Inner { vectors, counts, .. } => End::Inner { vectors, counts },
        }
    }
}

/// Computes for each pattern and category, with the matrices of the category:
///
/// ```text
/// a_j   = sum over l of left_jl xleft_l
/// b_j   = sum over l of right_jl xright_l
/// y_j   = a_j b_j
/// out_l = sum over j of V_jl y_j
/// ```
///
/// and then the scaling; layout and scaling are described in the [module](super). If one child is a
/// tip, it is the left one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewView {
    /// How it is written.
    pub version: Version,
    /// How rates vary.
    pub rates: Rates,
    /// Groups of four patterns.
    pub groups: u32,
    /// Categories: 4 with GAMMA, 1 to 25 with CAT.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// The left child.
    pub left: Child,
    /// The right child; a tip only if the left one is.
    pub right: Child,
    /// Indices of the categories of the patterns; not read with GAMMA.
    pub categories: LocalAddress,
    /// Vectors of the node, written.
    pub out: LocalAddress,
    /// Scaling counts of the node, written: those of both children (0 of a tip) and 1 where it was
    /// scaled.
    pub out_counts: LocalAddress,
}

impl NewView {
    fn blocks_of(&self, child: Child) -> Vec<Block> {
        let (groups, categories) = (self.groups, self.category_count);
        match child {
            Child::Tip { codes, products } => {
                let (count, each) = match self.rates {
                    Rates::Gamma => (1, TIP_PRODUCT_BYTES),
                    Rates::Cat => (categories, MATRIX_BYTES),
                };
                vec![
                    Block::input("codes", codes, groups, CODE_BYTES_PER_GROUP),
                    Block::input("products", products, count, each),
                ]
            }
            Child::Inner { vectors, counts, matrices } => vec![
                Block::input("vectors", vectors, groups, self.rates.vector_bytes_per_group()),
                Block::input("counts", counts, groups, COUNT_BYTES_PER_GROUP),
                Block::input("matrices", matrices, categories, MATRIX_BYTES),
            ],
        }
    }
}

kernel! {
    NewView -> (), |kernel, spu|
    shape: Shape {
        branches: match kernel.right {
            // Nothing is scaled.
            Child::Tip { .. } => Branches::OnShape,
            Child::Inner { .. } => kernel.version.branches(),
        },
        ..kernel.version.shape(
            named_by_ends!(kernel, Ends::of([kernel.left, kernel.right].map(Child::end)), "newview"),
            kernel.groups,
        )
    };
    on host: run_on_host;
    blocks: {
        input model[MODEL_BYTES; 1];
        each = kernel.blocks_of(kernel.left);
        each = kernel.blocks_of(kernel.right);
        each = kernel.rates.categories(kernel.categories, kernel.groups);
        output out[kernel.rates.vector_bytes_per_group(); kernel.groups];
        output out_counts[COUNT_BYTES_PER_GROUP; kernel.groups];
    }
    versions: naive::new_view, tuned::new_view;
}

/// One double for each l or each j.
type Four = [f64; 4];

/// How a product is added.
trait Sum {
    /// x y + z.
    fn multiply_add(x: f64, y: f64, z: f64) -> f64;
}

/// Rounded once.
struct Fused;

impl Sum for Fused {
    #[inline(always)]
    fn multiply_add(x: f64, y: f64, z: f64) -> f64 {
        x.mul_add(y, z)
    }
}

/// The product is rounded first.
struct Unfused;

impl Sum for Unfused {
    #[inline(always)]
    fn multiply_add(x: f64, y: f64, z: f64) -> f64 {
        x * y + z
    }
}

/// Runs a kernel; none where that was not possible, or an entry is no number.
#[inline(always)]
fn run_on_host(kernel: &NewView, store: &mut LocalStore) -> Option<()> {
    let are_numbers = match kernel.version {
        Version::Naive => false,
        Version::Unfused => by_children::<Unfused>(kernel, store),
        Version::Tuned => by_children::<Fused>(kernel, store),
    };
    are_numbers.then_some(())
}

#[inline(always)]
fn by_children<S: Sum>(kernel: &NewView, store: &mut LocalStore) -> bool {
    match (kernel.rates, kernel.left, kernel.right) {
        (Rates::Cat, left, right) => {
            let [left, right] = [left, right].map(|child| Chosen { child, kernel });
            all::<S, _, _, 1>(kernel, store, &left, &right)
        }
        (Rates::Gamma, left @ Child::Tip { .. }, right @ Child::Tip { .. }) => {
            all::<S, _, _, 4>(kernel, store, &Tabulated(left), &Tabulated(right))
        }
        (Rates::Gamma, left @ Child::Tip { .. }, right @ Child::Inner { .. }) => {
            let right = Multiplied::new(store, right);
            all::<S, _, _, 4>(kernel, store, &Tabulated(left), &right)
        }
        (Rates::Gamma, left, right) => {
            let [left, right] = [left, right].map(|child| Multiplied::new(store, child));
            all::<S, _, _, 4>(kernel, store, &left, &right)
        }
    }
}

/// All patterns, with so many categories each.
#[inline(always)]
fn all<S: Sum, Left: HostOperand, Right: HostOperand, const CATEGORIES: usize>(
    kernel: &NewView,
    store: &mut LocalStore,
    left: &Left,
    right: &Right,
) -> bool {
    let v = MatrixDiagonals::load(store, kernel.model.offset(V_OFFSET));
    let can_vanish = matches!(kernel.right, Child::Inner { .. });
    let mut out = kernel.out;
    let mut are_numbers = true;
    for group in 0..kernel.groups {
        let mut scaled = [0; PATTERNS_PER_GROUP as usize];
        for (place, scaled) in scaled.iter_mut().enumerate() {
            let pattern = PATTERNS_PER_GROUP * group + place as u32;
            let mut entries = [[0.0; 4]; CATEGORIES];
            for (category, entries) in entries.iter_mut().enumerate() {
                let a = left.product::<S>(store, pattern, category);
                let b = right.product::<S>(store, pattern, category);
                *entries = v.times::<S>(std::array::from_fn(|j| a[j] * b[j]));
                are_numbers &= entries.iter().all(|entry| !entry.is_nan());
            }
            if can_vanish && vanishes(&entries) {
                *scaled = 1;
                entries = entries.map(|four| four.map(enlarged));
            }
            for [x, y, z, w] in entries {
                store.store(out, Quadword::from_doubles([x, y]));
                store.store(out.offset(Bytes(16)), Quadword::from_doubles([z, w]));
                out = out.offset(Bytes(32));
            }
        }
        let at = Bytes(16 * u64::from(group));
        let counts = [kernel.left, kernel.right].map(|child| match child {
            Child::Tip { .. } => [0; 4],
            Child::Inner { counts, .. } => store.load(counts.offset(at)).words(),
        });
        let sum = |place| counts[0][place] + counts[1][place] + scaled[place];
        let sums: [u32; 4] = std::array::from_fn(sum);
        store.store(kernel.out_counts.offset(at), Quadword::from_words(sums));
    }
    are_numbers
}

/// Whether all entries of a pattern are to be scaled.
#[inline(always)]
fn vanishes<const CATEGORIES: usize>(entries: &[Four; CATEGORIES]) -> bool {
    const THRESHOLD: f64 = power_of_two(-SCALING_EXPONENT);
    let mut below = true;
    for entry in entries.as_flattened() {
        below &= entry.abs() < THRESHOLD;
    }
    below
}

/// An entry after scaling: zeros and denormals have no exponent to add to.
#[inline(always)]
fn enlarged(entry: f64) -> f64 {
    const FACTOR: f64 = power_of_two(SCALING_EXPONENT);
    if entry.is_normal() { entry * FACTOR } else { entry }
}

const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// What a child contributes.
trait HostOperand {
    /// The matrix of the child times its vector, by j.
    fn product<S: Sum>(&self, store: &LocalStore, pattern: u32, category: usize) -> Four;
}

/// A tip with GAMMA: its products stand in a table.
struct Tabulated(Child);

impl HostOperand for Tabulated {
    #[inline(always)]
    fn product<S: Sum>(&self, store: &LocalStore, pattern: u32, category: usize) -> Four {
        let Child::Tip { codes, products } = self.0 else { unreachable!("invariant: a tip") };
        let code = word(store, codes, pattern);
        four(store, products.0.wrapping_add(128 * code + 32 * category as u32))
    }
}

/// An inner node with GAMMA.
struct Multiplied {
    matrices: [MatrixDiagonals; 4],
    vectors: LocalAddress,
}

impl Multiplied {
    #[inline(always)]
    fn new(store: &LocalStore, child: Child) -> Self {
        let Child::Inner { vectors, matrices, .. } = child else {
            unreachable!("invariant: a tip is the left child")
        };
        let of_category = |category| matrices.offset(Bytes(category as u64 * MATRIX_BYTES.0));
        let load = |category| MatrixDiagonals::load(store, of_category(category));
        Self { matrices: std::array::from_fn(load), vectors }
    }
}

impl HostOperand for Multiplied {
    #[inline(always)]
    fn product<S: Sum>(&self, store: &LocalStore, pattern: u32, category: usize) -> Four {
        let x = four(store, self.vectors.0 + 128 * pattern + 32 * category as u32);
        self.matrices[category].times::<S>(x)
    }
}

/// Either with CAT: each pattern has a matrix of its own.
struct Chosen<'k> {
    child: Child,
    kernel: &'k NewView,
}

impl HostOperand for Chosen<'_> {
    #[inline(always)]
    fn product<S: Sum>(&self, store: &LocalStore, pattern: u32, _: usize) -> Four {
        let (x, matrices) = match self.child {
            Child::Tip { codes, products } => {
                let tip_vectors = self.kernel.model.offset(TIP_VECTORS_OFFSET);
                (tip_vectors.0.wrapping_add(32 * word(store, codes, pattern)), products)
            }
            Child::Inner { vectors, matrices, .. } => (vectors.0 + 32 * pattern, matrices),
        };
        let x = four(store, x);
        let category = word(store, self.kernel.categories, pattern);
        let column = |l: u32| four(store, matrices.0.wrapping_add(128 * category + 32 * l));
        let first = column(0);
        let mut sum: Four = std::array::from_fn(|j| first[j] * x[0]);
        for (l, x) in (0..).zip(x).skip(1) {
            let column = column(l);
            sum = std::array::from_fn(|j| S::multiply_add(column[j], x, sum[j]));
        }
        sum
    }
}

/// A matrix in the order in which the instructions multiply it: number k has the entry of column k
/// in even rows, and that of its neighbour in odd ones.
struct MatrixDiagonals([Four; 4]);

/// The column of row j in diagonal k.
const fn column(k: usize, j: usize) -> usize {
    k ^ (j % 2)
}

impl MatrixDiagonals {
    #[inline(always)]
    fn load(store: &LocalStore, matrix: LocalAddress) -> Self {
        let columns: [Four; 4] = std::array::from_fn(|l| four(store, matrix.0 + 32 * l as u32));
        Self(std::array::from_fn(|k| std::array::from_fn(|j| columns[column(k, j)][j])))
    }

    #[inline(always)]
    fn times<S: Sum>(&self, x: Four) -> Four {
        let Self(diagonals) = self;
        let mut sum: Four = std::array::from_fn(|j| diagonals[0][j] * x[column(0, j)]);
        for k in 1..4 {
            let factor = |j: usize| x[column(k, j)];
            sum = std::array::from_fn(|j| S::multiply_add(diagonals[k][j], factor(j), sum[j]));
        }
        sum
    }
}

/// Four doubles from an address on.
#[inline(always)]
fn four(store: &LocalStore, at: u32) -> Four {
    let [x, y] = store.load(LocalAddress(at)).doubles();
    let [z, w] = store.load(LocalAddress(at.wrapping_add(16))).doubles();
    [x, y, z, w]
}

/// The word of a pattern.
#[inline(always)]
fn word(store: &LocalStore, words: LocalAddress, pattern: u32) -> u32 {
    let four = store.load(LocalAddress(words.0 + 4 * pattern)).words();
    four[(pattern % PATTERNS_PER_GROUP) as usize]
}

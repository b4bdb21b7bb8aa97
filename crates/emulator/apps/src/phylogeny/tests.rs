//! What the tests of this crate share: alignments to compute on, and an end to what never waits.

use std::array::from_fn;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::substitution::Substitution;
use super::{Alignment, Patterns, Stream, Tree};
use mmgp_base::table::Source;

/// Simulated alignments of 12 and of 24 taxa, each with the tree that it evolved on.
pub(crate) const SIM12: [&str; 2] =
    [include_str!("../../data/sim12.phy"), include_str!("../../data/sim12.nwk")];
pub(crate) const SIM24: [&str; 2] =
    [include_str!("../../data/sim24.phy"), include_str!("../../data/sim24.nwk")];

/// The patterns of an alignment in PHYLIP or FASTA.
pub(crate) fn patterns(text: &str) -> Patterns {
    Patterns::compress(&Alignment::read(&Source::new("alignment", text)).unwrap())
}

pub(crate) fn sim12() -> Patterns {
    patterns(SIM12[0])
}

/// The general model at values like none of its special cases.
pub(crate) fn gtr() -> Substitution {
    Substitution::gtr([1.2, 3.5, 0.8, 0.9, 4.1, 1.0], [0.30, 0.22, 0.18, 0.30]).unwrap()
}

/// Random tips of so many patterns, all of weight 2.
pub(crate) fn random_patterns(taxa: usize, count: usize) -> Patterns {
    let mut stream = Stream::new(3, 0);
    let mut tip = || (0..count).map(|_| 1 << stream.index(4)).collect();
    Patterns {
        tips: (0..taxa).map(|_| tip()).collect(),
        weights: vec![2; count],
        of_site: Vec::new(),
    }
}

/// The path of a file of real data that may stand beside the checkout, in `../shared/data`.
pub(crate) fn shared_path(name: &str) -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    // Where the crate has moved, no test must pass because it looks in the wrong place.
    assert!(checkout.join("Cargo.lock").exists(), "{} is no checkout", checkout.display());
    Some(checkout.join("../shared/data").join(name)).filter(|path| path.exists())
}

/// The text of the file; without it the caller skips.
pub(crate) fn shared_data(name: &str) -> Option<Source> {
    let path = shared_path(name);
    if path.is_none() {
        let folder = "../shared/data";
        let is_there = shared_path("").is_some();
        testing::skipped(&if is_there { format!("{folder}/{name}") } else { folder.to_string() });
    }
    path.map(|path| Source::read(&path).expect("a file that is there can be read"))
}

/// What a future comes to that never waits, such as a search on this computer.
pub(crate) fn immediately<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("what computes on this computer is always ready"),
    }
}

/// A QS20 at rest that looks for hazards.
pub(crate) fn qs20() -> mmgp_cell::Blade {
    let machine = mmgp_machine::Machine::named("qs20").unwrap();
    let blade = mmgp_cell::Blade::new(&machine, mmgp_cell::KernelTiming::Cached, 0.0);
    blade.set_hazards(mmgp_cell::mfc::Hazards::Checked);
    blade
}

// Likelihoods of columns by plain loops, for tests: Felsenstein's pruning (1981) by recursion,
// transition probabilities as the power series of exp(Q t). No eigenvectors, no scaling, no patterns.

type Matrix = [[f64; 4]; 4];

/// The general time-reversible model, and rates of which each column has each equally likely.
pub(crate) struct Pruning<'a> {
    /// AC, AG, AT, CG, CT, GT.
    pub(crate) exchangeabilities: [f64; 6],
    /// The frequencies of A, C, G, T.
    pub(crate) frequencies: [f64; 4],
    pub(crate) rates: &'a [f64],
}

/// The four rates of the mean-Gamma with shape 0.5, computed with 40 digits.
pub(crate) const GAMMA_0_5: [f64; 4] =
    [0.033387753383599526, 0.25191591759343807, 0.8202684819736494, 2.8944278470493128];

/// A likelihood, and its first and second derivative by the length of a branch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Derived([f64; 3]);

impl Derived {
    /// ln L, d ln L / db and d2 ln L / db2.
    pub(crate) fn logarithm(self) -> [f64; 3] {
        let Self([value, first, second]) = self;
        [value.ln(), first / value, second / value - (first / value).powi(2)]
    }
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    from_fn(|i| from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

fn times(matrix: &Matrix, factor: f64) -> Matrix {
    matrix.map(|row| row.map(|value| value * factor))
}

/// exp(A) = (sum over n of (A / 1024)^n / n!)^1024
fn exponential(matrix: &Matrix) -> Matrix {
    let small = times(matrix, 1.0 / 1024.0);
    let identity: Matrix = from_fn(|i| from_fn(|j| f64::from(u8::from(i == j))));
    let (mut sum, mut term) = (identity, identity);
    for n in 1..=16 {
        term = times(&product(&term, &small), 1.0 / f64::from(n));
        sum = from_fn(|i| from_fn(|j| sum[i][j] + term[i][j]));
    }
    (0..10).fold(sum, |power, _| product(&power, &power))
}

impl Pruning<'_> {
    /// Rates of change, one substitution per unit of time on average.
    fn rate_matrix(&self) -> Matrix {
        let [ac, ag, at, cg, ct, gt] = self.exchangeabilities;
        let of = [[0.0, ac, ag, at], [ac, 0.0, cg, ct], [ag, cg, 0.0, gt], [at, ct, gt, 0.0]];
        let mut q: Matrix = from_fn(|i| from_fn(|j| of[i][j] * self.frequencies[j]));
        for (i, row) in q.iter_mut().enumerate() {
            row[i] = -row.iter().sum::<f64>();
        }
        let mean: f64 = (0..4).map(|i| -self.frequencies[i] * q[i][i]).sum();
        times(&q, 1.0 / mean)
    }

    /// The likelihood of each column (`rows[taxon][column]`, a set of bases in bits), with derivatives
    /// by the length of the branch between the root and its first child.
    pub(crate) fn columns(&self, tree: &Tree, rows: &[Vec<u8>]) -> Vec<Derived> {
        let q = self.rate_matrix();
        let first = tree.children(tree.root()).next().unwrap();
        let mut sums = vec![Derived::default(); rows[0].len()];
        for &rate in self.rates {
            let p: Vec<Matrix> = (0..tree.nodes())
                .map(|node| exponential(&times(&q, rate * tree.branch_length(node))))
                .collect();
            // dP/db = rate Q P
            let slope = times(&product(&q, &p[first]), rate);
            let bend = times(&product(&q, &slope), rate);
            for (column, Derived(sum)) in sums.iter_mut().enumerate() {
                for (sum, of_first) in sum.iter_mut().zip([&p[first], &slope, &bend]) {
                    let below = Below { tree, p: &p, rows, column };
                    let mut states = self.frequencies;
                    for child in tree.children(tree.root()) {
                        let matrix = if child == first { of_first } else { &p[child] };
                        below.multiply(&mut states, child, matrix);
                    }
                    *sum += states.iter().sum::<f64>() / self.rates.len() as f64;
                }
            }
        }
        sums
    }
}

struct Below<'a> {
    tree: &'a Tree,
    p: &'a [Matrix],
    rows: &'a [Vec<u8>],
    column: usize,
}

impl Below<'_> {
    /// Multiplies each state by the likelihood of all that hangs from it by `child`.
    fn multiply(&self, states: &mut [f64; 4], child: usize, matrix: &Matrix) {
        let mut below: [f64; 4] = [1.0; 4];
        if let Some(row) = self.rows.get(child) {
            below = from_fn(|state| f64::from(row[self.column] >> state & 1));
        }
        for grandchild in self.tree.children(child) {
            self.multiply(&mut below, grandchild, &self.p[grandchild]);
        }
        for (state, row) in states.iter_mut().zip(matrix) {
            *state *= row.iter().zip(below).map(|(p, likelihood)| p * likelihood).sum::<f64>();
        }
    }
}

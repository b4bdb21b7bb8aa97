//! Likelihoods of columns by plain loops, for tests: Felsenstein's pruning (1981) by recursion,
//! transition probabilities as the power series of exp(Q t). No eigenvectors, no scaling, no patterns.

use std::array::from_fn;

use super::Tree;

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

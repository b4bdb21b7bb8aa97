//! Each sort of proposal alone, accepted by the rule of Metropolis and Hastings under a flat
//! likelihood, leaves the prior as it is and is in detailed balance with it.
//!
//! States are drawn from the prior independently of each other and each makes one step, so nothing
//! depends on whether the sort reaches all states by itself. A step from x to y leaves the prior as
//! it is where f(y) - f(x) is 0 in the mean for every f, and is in detailed balance where
//! f(x) h(y) - h(x) f(y) is for every f and h.

use super::*;

/// Values of a state: its topology's number, then sums of powers of lengths.
fn values(tree: &Tree, number_of: &BTreeMap<Vec<Vec<usize>>, usize>) -> Vec<f64> {
    let topology = number_of[&tree.splits()];
    let above = |node: usize| tree.branch_length(node) - BRANCH_FLOOR;
    let total = |nodes: std::ops::Range<usize>, power: i32| -> f64 {
        tree.branches().filter(|n| nodes.contains(n)).map(|n| above(n).powi(power)).sum()
    };
    let taxa = tree.taxa();
    let logarithms: f64 = tree.branches().map(|n| above(n).max(1e-12).ln()).sum();
    let is = |number: usize| f64::from(u8::from(topology == number));
    vec![
        is(0),
        is(1),
        is(7),
        total(0..tree.nodes(), 1),
        total(0..tree.nodes(), 2),
        total(taxa..tree.nodes(), 1),
        total(taxa..tree.nodes(), 2),
        above(0),
        above(3).powi(2),
        logarithms,
    ]
}

/// Adds up values that should be 0 in the mean.
#[derive(Default, Clone, Copy)]
struct Zero {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Zero {
    fn add(&mut self, value: f64) {
        *self = Self {
            count: self.count + 1.0,
            sum: self.sum + value,
            squares: self.squares + value * value,
        };
    }

    /// How many standard errors the mean is away from 0.
    fn deviation(&self) -> f64 {
        let mean = self.sum / self.count;
        let variance = self.squares / self.count - mean * mean;
        if self.squares == 0.0 { 0.0 } else { mean / (variance / self.count).sqrt() }
    }
}

/// One step from each of many states. Gives the deviations of the changes of all values, and of the
/// exchanges of all pairs of values.
fn one_step(kind: Kind, states: u32) -> (Vec<Zero>, Vec<Zero>) {
    let prior = Prior::new(DEFAULT_PRIOR_RATE).unwrap();
    let mut stream = Stream::new(50, kind as u32);
    let mut number_of = BTreeMap::new();
    for _ in 0..1000 {
        let next = number_of.len();
        number_of.entry(Tree::random(5, 0.1, &mut stream).unwrap().splits()).or_insert(next);
    }
    let (mut changes, mut exchanges) = (Vec::new(), Vec::new());
    for _ in 0..states {
        let mut tree = Tree::random(5, 1.0 / DEFAULT_PRIOR_RATE, &mut stream).unwrap();
        for node in tree.clone().branches() {
            let length = tree.branch_length(node) + BRANCH_FLOOR;
            set_length(&mut tree, node, length);
        }
        tree.rehang(5 + stream.index(3));
        let (mut next, proposal) = propose(kind, &tree, &mut stream);
        let ln_ratio = prior.ln_density(&next) - prior.ln_density(&tree) + proposal.ln_hastings;
        if stream.uniform().ln() > ln_ratio {
            next = tree.clone();
        }
        let (x, y) = (values(&tree, &number_of), values(&next, &number_of));
        changes.resize(x.len(), Zero::default());
        exchanges.resize(x.len() * x.len(), Zero::default());
        for (f, change) in changes.iter_mut().enumerate() {
            change.add(y[f] - x[f]);
        }
        for (pair, exchange) in exchanges.iter_mut().enumerate() {
            let (f, h) = (pair / x.len(), pair % x.len());
            exchange.add(x[f] * y[h] - x[h] * y[f]);
        }
    }
    (changes, exchanges)
}

/// A sort has 55 different deviations: 10 changes and 45 exchanges. By chance one of them exceeds this
/// for at most 1.2 % of seeds.
const MOST: f64 = 3.7;

fn check_invariant(kind: Kind) {
    let (changes, exchanges) = one_step(kind, 100_000);
    let deviations = |zeros: &[Zero]| zeros.iter().map(Zero::deviation).collect::<Vec<f64>>();
    let (changes, exchanges) = (deviations(&changes), deviations(&exchanges));
    assert!(changes.iter().any(|change| *change != 0.0), "{kind:?} changes something");
    assert!(changes.iter().all(|change| change.abs() < MOST), "{kind:?}: {changes:.1?}");
    assert!(exchanges.iter().all(|change| change.abs() < MOST), "{kind:?}: {exchanges:.1?}");
}

#[test]
fn one_branch_length_is_in_detailed_balance_with_the_prior() {
    check_invariant(Kind::BranchLength);
}

#[test]
fn a_backbone_is_in_detailed_balance_with_the_prior() {
    check_invariant(Kind::Backbone);
}

#[test]
fn subtree_rerooting_is_in_detailed_balance_with_the_prior() {
    check_invariant(Kind::SubtreeRerooting);
}

#[test]
fn tree_bisection_is_in_detailed_balance_with_the_prior() {
    check_invariant(Kind::TreeBisection);
}

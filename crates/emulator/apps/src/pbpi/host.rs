//! The functions of PBPI on the host, with nothing off-loaded.
//!
//! Each is written once over [`Arithmetic`]; the numbers come from plain doubles, the time from the
//! scoreboard and from the lines of the vectors, as in
//! `raxml::host`. The scoreboard is asked once for each function and
//! number of patterns.

use std::collections::BTreeMap;

use super::spe_program::{LIKELIHOOD, NODE, ROOT};
use crate::layout::CALL;
use crate::likelihood::{Checks, Costs, SCALING_LOG, scale_and_count};
use crate::phylogeny::{Patterns, Tree, jukes_cantor};
use mmgp_base::units::{Bytes, Cycles, SimSpan};
use mmgp_cell::HostProcess;
use mmgp_cell::ppe::{AccessKind, Arithmetic, Order, Plain, Stretch, Timed, Work, logarithm};

/// A transition matrix of JC69: an exponential, its two different entries, and sixteen stores.
pub(super) const MATRIX: Work = {
    let exponential = Work::TRANSCENDENTAL;
    let (floats, stores) = (exponential.floats + 3, exponential.stores + 16);
    Work { floats, stores, ..exponential }.in_line()
};

/// Frequencies of the states.
const FREQUENCIES: [f64; 4] = [0.25; 4];

/// Conditional likelihoods of the patterns at a node.
#[derive(Debug, Clone, PartialEq)]
pub struct HostVector {
    /// The likelihoods of the states A, C, G, T, by pattern.
    pub entries: Vec<[f64; 4]>,
    /// How often each pattern was scaled.
    pub counts: Vec<i32>,
}

impl HostVector {
    /// Zeros for so many patterns.
    pub fn zeros(patterns: usize) -> Self {
        Self { entries: vec![[0.0; 4]; patterns], counts: vec![0; patterns] }
    }
}

/// The vector of a neighbour.
#[derive(Debug, Clone, Copy)]
pub enum NeighbourVector<'a> {
    /// A tip, of which this computer keeps the codes. The program that is timed keeps vectors.
    Tip(&'a [u8]),
    /// An inner node.
    Inner(&'a HostVector),
}

/// The entries of a tip, by code: that of state j is bit j.
static TIP_ENTRIES: [[f64; 4]; 16] = {
    let mut entries = [[0.0; 4]; 16];
    let mut place = 0;
    while place < 64 {
        let (code, state) = (place / 4, place % 4);
        entries[code][state] = (code >> state & 1) as f64;
        place += 1;
    }
    entries
};

impl<'a> NeighbourVector<'a> {
    #[inline(always)]
    fn entries(self, pattern: usize) -> &'a [f64; 4] {
        match self {
            Self::Tip(codes) => &TIP_ENTRIES[usize::from(codes[pattern])],
            Self::Inner(vector) => &vector.entries[pattern],
        }
    }

    #[inline(always)]
    fn count(self, pattern: usize) -> &'a i32 {
        match self {
            Self::Tip(_) => &0,
            Self::Inner(vector) => &vector.counts[pattern],
        }
    }
}

/// A neighbour: the transition matrix towards it, column by column (P_0k to P_3k), and its vector.
pub type Neighbour<'a> = (&'a [[f64; 4]; 4], NeighbourVector<'a>);

/// The product over two or three neighbours c of `sum_k P^c_jk l^c_k`: a node update, or the product
/// at the root.
pub fn product<A: Arithmetic, const NEIGHBOURS: usize>(
    ppe: &mut A,
    neighbours: [Neighbour<'_>; NEIGHBOURS],
    out: &mut HostVector,
) -> Checks {
    let mut checks = Checks::default();
    let places = out.entries.iter_mut().zip(&mut out.counts);
    for (pattern, (entry, count)) in places.enumerate() {
        let mut product = matrix_times_vector(ppe, neighbours[0], pattern);
        let mut below = ppe.load_word(neighbours[0].1.count(pattern));
        for &neighbour in &neighbours[1..] {
            let factor = matrix_times_vector(ppe, neighbour, pattern);
            product = ppe.multiply_four(product, factor);
            let further = ppe.load_word(neighbour.1.count(pattern));
            below = ppe.add_words(below, further);
        }
        ppe.store_four(entry, product);
        let check = scale_and_count(ppe, std::slice::from_mut(entry), below, count);
        checks.small += check.small;
        checks.scaled += check.scaled;
        // The vectors and counts of all, and the result.
        ppe.turn(2 * (NEIGHBOURS as u32 + 1));
    }
    checks
}

#[inline(always)]
fn matrix_times_vector<A: Arithmetic>(
    ppe: &mut A,
    (matrix, vector): Neighbour<'_>,
    pattern: usize,
) -> [A::Float; 4] {
    let entries = ppe.load_four(vector.entries(pattern));
    let column = ppe.load_four(&matrix[0]);
    let mut sum = ppe.multiply_four(column, [entries[0]; 4]);
    for k in 1..4 {
        let column = ppe.load_four(&matrix[k]);
        sum = ppe.multiply_add_four(column, [entries[k]; 4], sum);
    }
    sum
}

/// `sum_i w_i (ln(sum_j f_j root_ij) - 256 count_i ln 2)`.
pub fn likelihood_sum<A: Arithmetic>(
    ppe: &mut A,
    frequencies: &[f64; 4],
    root: &HostVector,
    weights: &[f64],
) -> A::Float {
    let mut total = ppe.constant(0.0);
    for ((entries, count), weight) in root.entries.iter().zip(&root.counts).zip(weights) {
        let entries = ppe.load_four(entries);
        let frequencies = ppe.load_four(frequencies);
        let products = ppe.multiply_four(frequencies, entries);
        let likelihood = ppe.sum_of_four(products);
        let log = logarithm(ppe, likelihood);
        let count = ppe.load_word(count);
        let count = ppe.to_float(count);
        let scaling = ppe.constant(SCALING_LOG);
        let term = ppe.multiply_add(count, scaling, log);
        let weight = ppe.load(weight);
        total = ppe.multiply_add(weight, term, total);
        ppe.turn(3);
    }
    total
}

/// What the scoreboard is asked for, at one number of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HostTask {
    /// The product over so many neighbours.
    Product(usize),
    Sum,
}

/// The likelihoods of a process's segment of the patterns, for some chains, computed on the host.
///
/// Each inner node has two vectors for each chain, one of which belongs to the accepted tree.
pub struct HostLikelihoods {
    weights: Vec<f64>,
    /// The codes of each tip.
    tips: Vec<Vec<u8>>,
    /// The vectors by chain, inner node and side.
    inner: Vec<Vec<[HostVector; 2]>>,
    /// The accepted sides by chain and inner node.
    accepted: Vec<Vec<usize>>,
    order: Order,
    known: BTreeMap<HostTask, Cycles>,
    check_costs: Option<Costs>,
    totals: [(u64, SimSpan); 3],
}

impl HostLikelihoods {
    /// Likelihoods of these of the patterns, for so many chains. The code is in that order.
    pub fn new(
        patterns: &Patterns,
        segment: std::ops::Range<usize>,
        chains: usize,
        order: Order,
    ) -> Self {
        let tip = |codes: &Vec<u8>| codes[segment.clone()].to_vec();
        let inner = patterns.tips.len().saturating_sub(2);
        let zeros = HostVector::zeros(segment.len());
        Self {
            weights: patterns.weights[segment.clone()]
                .iter()
                .map(|&weight| weight.into())
                .collect(),
            tips: patterns.tips.iter().map(tip).collect(),
            inner: vec![vec![[zeros.clone(), zeros]; inner]; chains],
            accepted: vec![vec![0; inner]; chains],
            order,
            known: BTreeMap::new(),
            check_costs: None,
            totals: Default::default(),
        }
    }

    /// Calls and time of each function so far, waiting for the hardware thread and for memory
    /// included, as in [`FUNCTIONS`](super::FUNCTIONS).
    pub fn totals(&self) -> [(u64, SimSpan); 3] {
        self.totals
    }

    /// ln likelihood of the segment's patterns on `tree`, whose `touched` nodes, children before
    /// parents and the root last, differ from the accepted tree of that chain.
    pub async fn evaluate(
        &mut self,
        process: &HostProcess,
        chain: usize,
        tree: &Tree,
        touched: &[usize],
    ) -> f64 {
        let mut sides = self.accepted[chain].clone();
        for &node in touched {
            let side = &mut sides[node - tree.taxa()];
            *side = 1 - *side;
        }
        for &node in touched {
            let begin = process.sim.now();
            let children: Vec<usize> = tree.children(node).collect();
            process.work(CALL + MATRIX * children.len() as u64).await;
            let cycles = self.update(process, chain, (tree, node), &sides);
            let read = children.iter().map(|&child| (child, AccessKind::Load));
            let nodes: Vec<_> = read.chain([(node, AccessKind::Store)]).collect();
            process.compute(cycles, &self.walked(chain, &nodes, &sides)).await;
            let function = if node == tree.root() { ROOT } else { NODE };
            self.count(function, process.sim.now().since(begin));
        }
        let begin = process.sim.now();
        process.work(CALL).await;
        let root = &self.inner[chain][tree.root() - tree.taxa()][sides[tree.root() - tree.taxa()]];
        let sum = likelihood_sum(&mut Plain, &FREQUENCIES, root, &self.weights);
        let cycles = *self.known.entry(HostTask::Sum).or_insert_with(|| {
            let mut timed = Timed::new(process.machine(), self.order);
            likelihood_sum(&mut timed, &FREQUENCIES, root, &self.weights);
            timed.cycles()
        });
        let mut walked = self.walked(chain, &[(tree.root(), AccessKind::Load)], &sides);
        walked.push(self.walked_weights());
        process.compute(cycles, &walked).await;
        self.count(LIKELIHOOD, process.sim.now().since(begin));
        sum
    }

    fn count(&mut self, function: u32, time: SimSpan) {
        let (calls, sum) = &mut self.totals[function as usize];
        *calls += 1;
        *sum += time;
    }

    /// The tree that was evaluated last for a chain becomes the accepted one.
    pub fn accept(&mut self, chain: usize, touched: &[usize]) {
        for &node in touched {
            let side = &mut self.accepted[chain][node - self.tips.len()];
            *side = 1 - *side;
        }
    }

    /// Computes the vector of a node, and says what it takes.
    fn update(
        &mut self,
        process: &HostProcess,
        chain: usize,
        (tree, node): (&Tree, usize),
        sides: &[usize],
    ) -> Cycles {
        let matrices: Vec<[[f64; 4]; 4]> = tree
            .children(node)
            .map(|child| {
                let matrix = jukes_cantor::transition_matrix(tree.branch_length(child));
                std::array::from_fn(|k| std::array::from_fn(|j| matrix[4 * k + j]))
            })
            .collect();
        let index = node - tree.taxa();
        let empty = HostVector::zeros(0);
        let mut out = std::mem::replace(&mut self.inner[chain][index][sides[index]], empty);
        let vector = |child: usize| match child.checked_sub(tree.taxa()) {
            None => NeighbourVector::Tip(&self.tips[child]),
            Some(inner) => NeighbourVector::Inner(&self.inner[chain][inner][sides[inner]]),
        };
        let neighbours: Vec<Neighbour<'_>> =
            matrices.iter().zip(tree.children(node).map(vector)).collect();
        let checks = product_of(&mut Plain, &neighbours, &mut out);
        let (machine, order) = (process.machine(), self.order);
        let measure = || Costs::measure(machine, order, 1);
        let longer = self.check_costs.get_or_insert_with(measure).of(checks);
        let task = HostTask::Product(neighbours.len());
        let without = *self.known.entry(task).or_insert_with(|| {
            let mut timed = Timed::new(machine, order);
            product_of(&mut timed, &neighbours, &mut out);
            // The first call is timed with the small entries that it happens to have.
            Cycles(timed.cycles().0.saturating_sub(longer.0))
        });
        self.inner[chain][index][sides[index]] = out;
        without + longer
    }

    /// The vectors of nodes among the process's data: tips, then inner nodes by chain, each with
    /// room for its counts, then the weights.
    fn walked(&self, chain: usize, nodes: &[(usize, AccessKind)], sides: &[usize]) -> Vec<Stretch> {
        let patterns = self.weights.len() as u64;
        let inner = self.inner[chain].len();
        let stretches = |&(node, kind): &(usize, AccessKind)| {
            let place = match node.checked_sub(self.tips.len()) {
                None => node,
                Some(index) => self.tips.len() + 2 * (chain * inner + index) + sides[index],
            };
            let offset = place as u64 * patterns * (VECTOR + COUNT);
            let entries = Stretch { offset, bytes: Bytes(patterns * VECTOR), kind };
            let counts = offset + patterns * VECTOR;
            [entries, Stretch { offset: counts, bytes: Bytes(patterns * COUNT), kind }]
        };
        nodes.iter().flat_map(stretches).collect()
    }

    fn walked_weights(&self) -> Stretch {
        let patterns = self.weights.len() as u64;
        let vectors: usize = self.inner.iter().map(|chain| 2 * chain.len()).sum();
        let offset = (self.tips.len() + vectors) as u64 * patterns * (VECTOR + COUNT);
        Stretch { offset, bytes: Bytes(patterns * WEIGHT), kind: AccessKind::Load }
    }
}

/// Bytes of a pattern's entries.
const VECTOR: u64 = 32;
/// Bytes of a pattern's count.
const COUNT: u64 = 4;
/// Bytes of a pattern's weight.
const WEIGHT: u64 = 8;

/// The product over the two neighbours below a node or the three of the root.
fn product_of<A: Arithmetic>(
    ppe: &mut A,
    neighbours: &[Neighbour<'_>],
    out: &mut HostVector,
) -> Checks {
    match *neighbours {
        [one, other] => product(ppe, [one, other], out),
        [one, other, third] => product(ppe, [one, other, third], out),
        _ => unreachable!("invariant: a node has two children, the root has three"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use approx::assert_relative_eq;

    use super::*;
    use crate::phylogeny::Stream;
    use mmgp_base::units::Seconds;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_machine::Machine;

    fn patterns(taxa: usize, count: usize) -> Patterns {
        let mut stream = Stream::new(3, 0);
        let mut tip = || (0..count).map(|_| 1 << stream.index(4)).collect();
        Patterns {
            tips: (0..taxa).map(|_| tip()).collect(),
            weights: vec![2; count],
            of_site: Vec::new(),
        }
    }

    /// ln likelihoods of a tree, and of it with one branch changed of which the ancestors alone are
    /// touched; and the time.
    fn evaluate(patterns: &Patterns, trees: [Tree; 2], order: Order) -> ([f64; 2], Seconds) {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let process = blade.host_process(0);
        let mut host = HostLikelihoods::new(patterns, 0..patterns.len(), 1, order);
        let found = Rc::new(RefCell::new([0.0; 2]));
        let results = Rc::clone(&found);
        blade.sim.spawn("process", async move {
            process.resume().await;
            let [first, second] = &trees;
            let taxa = first.taxa();
            let all: Vec<usize> =
                first.post_order().into_iter().filter(|&node| node >= taxa).collect();
            let one = host.evaluate(&process, 0, first, &all).await;
            host.accept(0, &all);
            let mut touched = Vec::new();
            let mut node = second.parent(0);
            while let Some(above) = node {
                touched.push(above);
                node = second.parent(above);
            }
            let other = host.evaluate(&process, 0, second, &touched).await;
            process.release();
            *results.borrow_mut() = [one, other];
        });
        let end = blade.run().unwrap().seconds();
        let found = *found.borrow();
        (found, end)
    }

    #[test]
    fn trees_have_the_likelihoods_of_the_plain_computation_and_the_same_in_any_order() {
        for (taxa, mean) in [(12, 0.2), (600, 2.0)] {
            let patterns = patterns(taxa, 20);
            let first = Tree::random(taxa, mean, &mut Stream::new(1, 0)).unwrap();
            let mut second = first.clone();
            second.set_branch_length(0, 0.7).unwrap();
            let expected =
                [&first, &second].map(|tree| jukes_cantor::log_likelihood(tree, &patterns));
            let orders = [Order::Scheduled, Order::Written, Order::Expressions];
            let found =
                orders.map(|order| evaluate(&patterns, [first.clone(), second.clone()], order));
            for (found, expected) in found[0].0.iter().zip(expected) {
                assert_relative_eq!(*found, expected, max_relative = 1e-12);
            }
            assert!(found[0].0 == found[1].0 && found[1].0 == found[2].0);
            assert!(found[0].1 < found[1].1 && found[1].1 < found[2].1);
        }
    }

    /// Cycles that one more pattern costs.
    fn per_pattern(order: Order, task: fn(&mut Timed, usize)) -> f64 {
        let machine = Machine::named("qs20").unwrap();
        let cycles = [50, 150].map(|patterns| {
            let mut timed = Timed::new(&machine, order);
            task(&mut timed, patterns);
            timed.cycles().0 as f64
        });
        (cycles[1] - cycles[0]) / 100.0
    }

    #[test]
    fn a_pattern_takes_longer_than_its_busiest_unit_and_less_than_one_operation_after_the_other() {
        let node = |timed: &mut Timed, patterns: usize| {
            let vector =
                HostVector { entries: vec![[0.3; 4]; patterns], counts: vec![0; patterns] };
            let matrix = [[0.25; 4]; 4];
            product(
                timed,
                [(&matrix, NeighbourVector::Inner(&vector)); 2],
                &mut HostVector::zeros(patterns),
            );
        };
        let sum = |timed: &mut Timed, patterns: usize| {
            let vector =
                HostVector { entries: vec![[0.3; 4]; patterns], counts: vec![0; patterns] };
            likelihood_sum(timed, &FREQUENCIES, &vector, &vec![1.0; patterns]);
        };
        for order in [Order::Scheduled, Order::Written, Order::Expressions] {
            // Forty entries and factors and two counts loaded, five words stored; 8 chains of four
            // operations and the product of their ends; the check of the first entry and the turn.
            let cycles = per_pattern(order, node);
            assert!((47.0..47.0 + 36.0 * 10.0 + 50.0).contains(&cycles), "{order:?}: {cycles}");
            // Two divisions could not be closer: 74 cycles. Below the sum of all chains.
            let cycles = per_pattern(order, sum);
            assert!((74.0..700.0).contains(&cycles), "{order:?}: {cycles}");
        }
    }
}

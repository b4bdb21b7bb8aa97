//! The functions on the host core, and the engine that off-loads none of them.
//!
//! The numbers are those of the functions in [`plain`](super::plain). The time is what the same
//! lines take on the core's scoreboard ([`Timed`]) and what they wait for the lines of their
//! vectors, which the caches of the core are asked for at every call.
//!
//! The scoreboard is asked once for each function, kind of nodes, number of patterns and of rates,
//! or always. Asked once, small entries and patterns that are scaled are counted and charged for with
//! their mean times; an exponential so small that it is 0 is missed then.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::engine::{Columns, Engine, NewView};
use super::farm::Hosted;
use super::plain::{Likelihoods, Newton, WeightedPatterns};
use super::spe_program::{EVALUATE, MAKENEWZ, NEWVIEW};
use crate::layout::CALL;
use crate::likelihood::{Checks, Costs};
use crate::phylogeny;
use crate::phylogeny::substitution::{Model, SiteRates, Substitution};
use mmgp_base::units::{Bytes, Cycles, SimSpan};
use mmgp_cell::ppe::{AccessKind, HostCompiler, Order, Plain, Stretch, Timed, Work};
use mmgp_cell::{HostProcess, KernelTiming};
use mmgp_machine::Machine;

work! {
    /// Deciding on the step of Newton's method.
    DECISION: 4 integers, 8 loads, 2 stores, 8 floats, 1 divides, 6 branches;
    /// Moving the code of a tip, or a weight, to its place among those that stay.
    REPACK: 2 integers, 1 loads, 1 stores, 1 branches;
}

/// What the scoreboard is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TimedTask {
    /// `newview` of so many inner children.
    NewView(usize),
    /// The function for so many inner ends.
    Evaluate(usize),
    /// The function for so many inner ends.
    SumTable(usize),
    Derivatives,
}

/// All that the time of a task depends on.
type Shape = (TimedTask, usize, usize, usize);

/// The functions as a process of the host runs them.
pub struct HostFunctions {
    /// What they work on.
    pub(super) likelihoods: Likelihoods,
    places: Places,
    order: Order,
    timing: KernelTiming,
    known: BTreeMap<Shape, Cycles>,
    /// The costs of checks by number of categories.
    check_costs: BTreeMap<usize, Costs>,
    /// Calls and time of each function, waiting for the hardware thread and for memory included, as in
    /// [`FUNCTIONS`](super::FUNCTIONS).
    totals: [(u64, SimSpan); 3],
}

impl HostFunctions {
    /// Functions for `patterns`, all with their weights; the model is JC69 until there is another. The code is
    /// as [`HostCompiler::Gcc`] makes it, and timed once for each shape.
    pub fn new(patterns: &phylogeny::Patterns) -> Self {
        let rates = SiteRates::single(patterns.len());
        let model = Model { substitution: Substitution::jc69(), rates };
        Self {
            likelihoods: Likelihoods::new(patterns, &model),
            places: Places::new(patterns.tips.len(), patterns.len()),
            order: HostCompiler::Gcc.order(),
            timing: KernelTiming::Cached,
            known: BTreeMap::new(),
            check_costs: BTreeMap::new(),
            totals: Default::default(),
        }
    }

    /// The same with code of another compiler.
    pub fn compiled_by(self, compiler: HostCompiler) -> Self {
        Self { order: compiler.order(), ..self }
    }

    /// What a task takes with everything in the first-level caches; `run` executes it and says.
    fn ask(
        &mut self,
        machine: &Machine,
        task: TimedTask,
        run: impl FnOnce(&mut Likelihoods, &mut Timed) -> Cycles,
    ) -> Cycles {
        let patterns = self.likelihoods.patterns();
        let rates = self.likelihoods.rates();
        let shape = (task, patterns.len(), patterns.categories_each(), rates);
        if let (KernelTiming::Cached, Some(&known)) = (self.timing, self.known.get(&shape)) {
            return known;
        }
        let mut timed = Timed::new(machine, self.order);
        let cycles = run(&mut self.likelihoods, &mut timed);
        self.known.insert(shape, cycles);
        cycles
    }

    /// What patterns take longer because of small entries.
    fn check_cycles(&mut self, machine: &Machine, checks: Checks) -> Cycles {
        let (categories, order) = (self.likelihoods.patterns().categories_each(), self.order);
        let measure = || Costs::measure(machine, order, categories);
        self.check_costs.entry(categories).or_insert_with(measure).of(checks)
    }

    /// Computes a vector and says what it takes.
    fn newview_cycles(&mut self, machine: &Machine, call: NewView) -> Cycles {
        let task = TimedTask::NewView(self.likelihoods.inner_ends(call.children));
        if self.timing == KernelTiming::Exact {
            return self.ask(machine, task, |likelihoods, timed| {
                likelihoods.newview(timed, call);
                timed.cycles()
            });
        }
        let checks = self.likelihoods.newview(&mut Plain, call);
        let longer = self.check_cycles(machine, checks);
        // The first call of a shape is timed with the small entries that it happens to have.
        let without = self.ask(machine, task, |likelihoods, timed| {
            likelihoods.newview(timed, call);
            Cycles(timed.cycles().0.saturating_sub(longer.0))
        });
        without + longer
    }

    fn count(&mut self, function: u32, time: SimSpan) {
        let (calls, sum) = &mut self.totals[function as usize];
        *calls += 1;
        *sum += time;
    }

    /// `newview`, by that process.
    pub async fn newview(&mut self, process: &HostProcess, call: NewView) {
        let begin = process.sim.now();
        process.work(CALL).await;
        let cycles = self.newview_cycles(process.machine(), call);
        let walked = self.places.newview(call, self.likelihoods.patterns());
        process.compute(cycles, &walked).await;
        self.count(NEWVIEW, process.sim.now().since(begin));
    }

    /// The time of `evaluate`, by that process. Values kept for each pattern take as long as their sum.
    pub async fn charge_evaluate(&mut self, process: &HostProcess, ends: [usize; 2], z: f64) {
        let begin = process.sim.now();
        process.work(CALL).await;
        let task = TimedTask::Evaluate(self.likelihoods.inner_ends(ends));
        let cycles = self.ask(process.machine(), task, |likelihoods, timed| {
            likelihoods.evaluate(timed, ends, z);
            timed.cycles()
        });
        let walked = self.places.evaluate(ends, self.likelihoods.patterns());
        process.compute(cycles, &walked).await;
        self.count(EVALUATE, process.sim.now().since(begin));
    }

    /// `makenewz`, by that process.
    pub async fn makenewz(
        &mut self,
        process: &HostProcess,
        ends: [usize; 2],
        (z, steps): (f64, u32),
    ) -> Newton {
        let (begin, machine) = (process.sim.now(), process.machine());
        process.work(CALL).await;
        let task = TimedTask::SumTable(self.likelihoods.inner_ends(ends));
        let fill = self.ask(machine, task, |likelihoods, timed| {
            likelihoods.fill_sum_table(timed, ends);
            timed.cycles()
        });
        let newton = self.likelihoods.makenewz(ends, z, steps);
        let walked = self.places.sum_table(ends, self.likelihoods.patterns());
        process.compute(fill, &walked).await;
        for &z in &newton.tried {
            let cycles = self.ask(machine, TimedTask::Derivatives, |likelihoods, timed| {
                likelihoods.derivatives(timed, z);
                timed.cycles()
            });
            let walked = self.places.derivatives(self.likelihoods.patterns());
            process.compute(cycles, &walked).await;
            process.work(DECISION + Work::TRANSCENDENTAL).await;
        }
        self.count(MAKENEWZ, process.sim.now().since(begin));
        newton
    }
}

/// Computes on the hardware thread of one host process.
pub struct HostEngine {
    /// Whose engine it is.
    pub process: HostProcess,
    functions: HostFunctions,
}

impl HostEngine {
    /// An engine that computes so.
    pub fn new(process: HostProcess, functions: HostFunctions) -> Self {
        Self { process, functions }
    }

    /// Calls and time of each function so far, as in [`FUNCTIONS`](super::FUNCTIONS).
    pub fn totals(&self) -> [(u64, SimSpan); 3] {
        self.functions.totals
    }
}

impl Engine for HostEngine {
    async fn set_weights(&mut self, weights: &[u32], columns: Columns) {
        let likelihoods = &mut self.functions.likelihoods;
        likelihoods.set_weights(weights, columns);
        let words = (likelihoods.taxa() + 2) * weights.len();
        self.process.work(REPACK * words as u64).await;
    }

    async fn set_model(&mut self, model: &Model) {
        self.functions.likelihoods.set_model(model);
        self.process.work(CALL).await;
    }

    async fn newview(&mut self, call: NewView) {
        self.functions.newview(&self.process, call).await;
    }

    async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64 {
        self.functions.charge_evaluate(&self.process, ends, z).await;
        self.functions.likelihoods.evaluate(&mut Plain, ends, z)
    }

    async fn evaluate_patterns(&mut self, ends: [usize; 2], z: f64) -> Vec<f64> {
        self.functions.charge_evaluate(&self.process, ends, z).await;
        self.functions.likelihoods.evaluate_patterns(ends, z)
    }

    async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64 {
        self.functions.makenewz(&self.process, ends, (z, steps)).await.z
    }

    async fn work(&mut self, work: Work) {
        self.process.work(work).await;
    }
}

impl Hosted for HostEngine {
    fn process(&self) -> &HostProcess {
        &self.process
    }
}

/// Bytes of a vector's entries in one category.
const FOUR: u64 = 32;
/// Bytes of a code, a count or a category.
const WORD: u64 = 4;
/// Bytes of a weight.
const DOUBLE: u64 = 8;
/// Categories that a pattern has room for.
const MOST_CATEGORIES: u64 = 4;

/// The places of a process's data, with room for all patterns in four categories: vectors, their
/// counts, the sum table, the codes of the tips, the categories and the weights, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Places {
    taxa: u64,
    patterns: u64,
}

impl Places {
    fn new(taxa: usize, patterns: usize) -> Self {
        Self { taxa: taxa as u64, patterns: patterns as u64 }
    }

    /// What `newview` walks through.
    fn newview(self, call: NewView, patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = self.ends(call.children, patterns);
        walked.extend(self.node(call.node, patterns, AccessKind::Store));
        walked
    }

    /// What `evaluate` walks through.
    fn evaluate(self, ends: [usize; 2], patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = self.ends(ends, patterns);
        walked.push(self.weights(patterns));
        walked
    }

    /// What filling the sum table walks through.
    fn sum_table(self, ends: [usize; 2], patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = self.ends(ends, patterns);
        // Its categories and the scaling counts of its ends do not matter.
        walked.retain(|stretch| stretch.offset < self.counts() || stretch.offset >= self.codes());
        walked.push(stretch(self.sums(), entries(patterns), AccessKind::Store));
        walked
    }

    /// What a sum of derivatives walks through.
    fn derivatives(self, patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = vec![stretch(self.sums(), entries(patterns), AccessKind::Load)];
        walked.push(self.weights(patterns));
        walked.extend(self.category(patterns));
        walked
    }

    fn ends(self, ends: [usize; 2], patterns: &WeightedPatterns) -> Vec<Stretch> {
        let ends = ends.into_iter();
        let mut walked: Vec<Stretch> =
            ends.flat_map(|node| self.node(node, patterns, AccessKind::Load)).collect();
        walked.extend(self.category(patterns));
        walked
    }

    /// The codes of a tip, or an inner node's vector and counts.
    fn node(self, node: usize, patterns: &WeightedPatterns, kind: AccessKind) -> Vec<Stretch> {
        let (node, words) = (node as u64, WORD * patterns.len() as u64);
        match node.checked_sub(self.taxa) {
            None => vec![stretch(self.codes() + node * self.patterns * WORD, words, kind)],
            Some(inner) => {
                let vector = inner * self.patterns * MOST_CATEGORIES * FOUR;
                let counts = self.counts() + inner * self.patterns * WORD;
                vec![stretch(vector, entries(patterns), kind), stretch(counts, words, kind)]
            }
        }
    }

    fn weights(self, patterns: &WeightedPatterns) -> Stretch {
        let place = self.categories() + self.patterns * WORD;
        stretch(place, DOUBLE * patterns.len() as u64, AccessKind::Load)
    }

    fn category(self, patterns: &WeightedPatterns) -> Option<Stretch> {
        let words = WORD * patterns.len() as u64;
        let categories = patterns.categories.as_ref();
        categories.map(|_| stretch(self.categories(), words, AccessKind::Load))
    }

    fn counts(self) -> u64 {
        (self.taxa - 2) * self.patterns * MOST_CATEGORIES * FOUR
    }

    fn sums(self) -> u64 {
        self.counts() + (self.taxa - 2) * self.patterns * WORD
    }

    fn codes(self) -> u64 {
        self.sums() + self.patterns * MOST_CATEGORIES * FOUR
    }

    fn categories(self) -> u64 {
        self.codes() + self.taxa * self.patterns * WORD
    }
}

/// Bytes of the entries of a vector.
fn entries(patterns: &WeightedPatterns) -> u64 {
    FOUR * (patterns.len() * patterns.categories_each()) as u64
}

fn stretch(offset: u64, bytes: u64, kind: AccessKind) -> Stretch {
    Stretch { offset, bytes: Bytes(bytes), kind }
}

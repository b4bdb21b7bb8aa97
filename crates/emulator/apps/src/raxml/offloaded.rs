//! The engine that off-loads all three functions to SPEs.
//!
//! Where a scheduler leaves a task on the host, the functions of the [host](super::host) work on what
//! the SPEs have left in main memory, where vectors lie alike, and leave there what SPEs would: but for rounding, as their sums run in another
//! order and their exponentials are others.

use std::rc::Rc;
use std::sync::Arc;

use super::engine::{Columns, Engine, NewView};
use super::farm::Hosted;
use super::farm::{Answer, Answers, Book};
use super::host::HostFunctions;
use super::memory::{
    ARGUMENTS_BYTES, MOST_SHARES, ProcessMemory, RaxmlArguments, Terms, category_rates, rates_of,
};
use super::spe_program::{EVALUATE, MAKENEWZ, Modules, NEWVIEW, RaxmlProgram};
use crate::Port;
use crate::layout::InMemory as _;
use crate::layout::add_results;
use crate::likelihood::{End, Vector};
use crate::phylogeny::Patterns;
use crate::phylogeny::substitution::Model;
use crate::run::alone;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::element::Values;
use mmgp_cell::memory::Memory;
use mmgp_cell::ppe::{Plain, Work};
use mmgp_cell::{Homes, HostProcess, Placement};
use mmgp_kernels::raxml::Rates;
use mmgp_runtime::{Process, Runtime, Steps, Task, Teams};
use mmgp_spu::Quadword;

work! {
    /// Filling in the arguments of an off-load: twenty words from as many places, by kind of node.
    CALL: 16 integers, 20 loads, 20 stores, 8 branches;
    /// Copying the ln likelihood of a pattern.
    COPY_TERM: 2 integers, 1 loads, 1 stores, 1 branches;
}

/// Computes on SPEs for one host process.
pub struct OffloadedEngine {
    /// Whose engine it is.
    pub process: Process,
    /// The number of SPEs for whose results there is room.
    most_shares: u32,
    memory: ProcessMemory,
    model: Option<Model>,
    /// The number of what it has off-loaded so far.
    sequence: u64,
    /// The number of the models that it has had so far.
    model_version: u64,
    book: Book,
    teams: Teams,
    /// The functions on the host, where they are there.
    on_host: Option<OnHost>,
    /// Whether a vector is forgotten when another is computed from it.
    reads_once: bool,
}

/// Numbers of one process, which those of no other are, begin there.
const RANK_SHIFT: u32 = 40;

impl OffloadedEngine {
    /// An engine for `patterns`, all with their weights; it needs a model before anything else. Where
    /// the answers of its tasks are known, it computes none of them.
    pub fn new(
        process: Process,
        (memory, homes): (&Rc<Memory>, Homes),
        patterns: &Rc<Patterns>,
        known: Option<&Arc<Answers>>,
    ) -> Self {
        let count = process.most_spes();
        let book = Book::new(known);
        let places = (ARGUMENTS_BYTES, count);
        let mut memory = ProcessMemory::new(memory, homes, patterns, places, book.values());
        memory.write_patterns(&patterns.weights, Columns::default());
        // Number 0 is what an SPE finds in a local store that nobody has written.
        let first = u64::from(process.rank + 1) << RANK_SHIFT;
        let most_shares = count.min(MOST_SHARES as u32);
        Self {
            process,
            most_shares,
            memory,
            model: None,
            sequence: first,
            model_version: first,
            book,
            teams: Teams::default(),
            on_host: None,
            reads_once: false,
        }
    }

    /// Has a vector forgotten from now on when that of another node is computed from it, whose tree is
    /// looked at from one branch only: so that few vectors are in memory at any time.
    pub fn read_vectors_once(&mut self) {
        self.reads_once = true;
    }

    /// What is the same for all functions.
    fn arguments(&mut self, ends: [usize; 2], z: [f64; 2]) -> RaxmlArguments {
        self.sequence += 1;
        let model = self.model.as_ref().expect("invariant: a model is set before it is used");
        let memory = &self.memory;
        let end = |node: usize| match node.checked_sub(memory.tips.len()) {
            None => End::Tip(memory.tips[node]),
            Some(inner) => End::Inner(memory.inner[inner]),
        };
        let ends = ends.map(end);
        let tip_is_second = matches!(ends, [End::Inner(_), End::Tip(_)]);
        let (ends, z) = if tip_is_second { ([ends[1], ends[0]], [z[1], z[0]]) } else { (ends, z) };
        RaxmlArguments {
            groups: memory.groups,
            rates: rates_of(model),
            categories: category_rates(model).len() as u32,
            steps: 0,
            sequence: self.sequence,
            model_version: self.model_version,
            model: memory.model,
            pattern_categories: memory.categories,
            weights: memory.weights,
            results: memory.results,
            z,
            peers: [0; MOST_SHARES],
            ends,
            out: Vector::BLANK,
            terms: None,
            sums: memory.sums,
        }
    }

    /// Has the SPEs compute, or the host by `on_host` if it has the functions; how many SPEs did.
    async fn off_load(
        &mut self,
        function: u32,
        arguments: RaxmlArguments,
        on_host: impl AsyncFnOnce(&mut OnHost, Own<'_>),
    ) -> u32 {
        self.process.work(CALL).await;
        let write = |spes: &[u32]| {
            let mut peers = [0; MOST_SHARES];
            for (place, &spe) in peers.iter_mut().zip(spes) {
                *place = spe as u8;
            }
            self.memory
                .write_arguments(RaxmlArguments { peers, ..arguments }.quadwords(ARGUMENTS_BYTES));
            self.memory.arguments
        };
        let task = Task::new(function, self.most_shares, &write).writing(ARGUMENTS_BYTES);
        // A traversal knows what follows newview; the search decides by what the others have found.
        let task = if function == NEWVIEW { task } else { task.continued_by_its_process() };
        let mut own = self.on_host.take();
        let on_host = own.as_mut().map(|own| -> Steps<'_> {
            Box::pin(async { on_host(own, (&self.process, &self.memory)).await })
        });
        let shares = self.process.run(on_host.into_iter().fold(task, Task::or_on_host)).await;
        self.on_host = own;
        shares
    }

    /// Gives the host the functions, too, with all patterns and their weights.
    pub fn has_on_host(&mut self, functions: HostFunctions) {
        self.on_host = Some(OnHost(functions));
    }

    /// The same where the SPEs of a task are started so.
    pub fn teamed(self, teams: Teams) -> Self {
        Self { teams, ..self }
    }

    /// What it was answered, by task.
    pub(super) fn into_answers(self) -> Vec<(usize, Vec<Answer>)> {
        self.book.into_noted()
    }

    async fn ln_likelihood(&mut self, ends: [usize; 2], z: f64, kept: Terms) -> f64 {
        let terms = (kept == Terms::Kept).then_some(self.memory.terms);
        let arguments = RaxmlArguments { terms, ..self.arguments(ends, [z, z]) };
        let on_host = async |own: &mut OnHost, on: Own<'_>| own.evaluate(on, ends, (z, kept)).await;
        let shares = self.off_load(EVALUATE, arguments, on_host).await;
        let results = match self.teams {
            Teams::ByHost => shares.max(1),
            Teams::ByMaster => 1,
        };
        add_results(&self.process, results).await;
        self.process.reads(self.memory.results, Bytes(16 * u64::from(results)));
        (0..results as usize).map(|share| self.memory.result(share)).sum()
    }
}

/// Runs `life` on the first host process of a machine at rest, with an engine of p SPEs; what it
/// comes to.
///
/// # Errors
/// Fails where the machine has fewer SPEs, or its program breaks a rule.
pub fn run_alone<T: 'static>(
    on: &Runtime,
    (p, port): (u32, Port),
    patterns: &Rc<Patterns>,
    life: impl AsyncFnOnce(&mut OffloadedEngine) -> T + 'static,
) -> Result<T> {
    let blade = on.blade();
    let spes = on.assign(Mapping::new(1, p)?)?.remove(0);
    RaxmlProgram::load(on, port, Values::Computed, (Teams::ByHost, Modules::One))?;
    let homes = blade.homes(Placement::default(), 0, &spes);
    let process = on.process(0, spes);
    let mut engine = OffloadedEngine::new(process, (&blade.memory, homes), patterns, None);
    alone(blade, async move {
        engine.process.resume().await;
        let result = life(&mut engine).await;
        engine.process.finish(EVALUATE);
        result
    })
}

impl Hosted for OffloadedEngine {
    fn process(&self) -> &HostProcess {
        &self.process
    }

    fn begin(&mut self, task: usize) {
        self.book.begin(task);
    }
}

impl Engine for OffloadedEngine {
    async fn set_weights(&mut self, weights: &[u32], columns: Columns) {
        if let Some(OnHost(functions)) = &mut self.on_host {
            functions.likelihoods.set_weights(weights, columns);
        }
        let mut work = self.memory.write_patterns(weights, columns);
        if let Some(model) = &self.model
            && rates_of(model) == Rates::Cat
        {
            work += self.memory.write_model(model);
        }
        self.process.work(work).await;
    }

    async fn set_model(&mut self, model: &Model) {
        self.model_version += 1;
        if let Some(OnHost(functions)) = &mut self.on_host {
            functions.likelihoods.set_model(model);
        }
        let work = self.memory.write_model(model);
        self.model = Some(model.clone());
        self.process.work(work).await;
    }

    async fn newview(&mut self, call: NewView) {
        let out = self.memory.place_of(call.node - self.memory.tips.len());
        let arguments = RaxmlArguments { out, ..self.arguments(call.children, call.z) };
        let on_host = async |own: &mut OnHost, on: Own<'_>| own.newview(on, call, out).await;
        self.off_load(NEWVIEW, arguments, on_host).await;
        if self.reads_once {
            let taxa = self.memory.tips.len();
            let inner = call.children.into_iter().filter_map(|child| child.checked_sub(taxa));
            inner.for_each(|child| self.memory.forget(child));
        }
    }

    async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64 {
        let computed = self.ln_likelihood(ends, z, Terms::Summed).await;
        match self.book.answer(|| Answer::Likelihood(computed)) {
            Answer::Likelihood(likelihood) => likelihood,
            other => unreachable!("invariant: the same search asks the same, not for {other:?}"),
        }
    }

    async fn evaluate_patterns(&mut self, ends: [usize; 2], z: f64) -> Vec<f64> {
        self.ln_likelihood(ends, z, Terms::Kept).await;
        self.process.work(COPY_TERM * self.memory.kept.len() as u64).await;
        let Self { memory, book, .. } = self;
        match book.answer(|| Answer::Patterns(memory.pattern_terms())) {
            Answer::Patterns(terms) => terms,
            other => unreachable!("invariant: the same search asks the same, not for {other:?}"),
        }
    }

    async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64 {
        if steps == 0 {
            return z;
        }
        // Kernels that are not executed never find that a branch stays.
        let steps = match self.book.known() {
            Some(&Answer::Branch { steps, .. }) => steps,
            _ => steps,
        };
        let arguments = RaxmlArguments { steps, ..self.arguments(ends, [z, z]) };
        let on_host =
            async |own: &mut OnHost, on: Own<'_>| own.makenewz(on, ends, (z, steps)).await;
        self.off_load(MAKENEWZ, arguments, on_host).await;
        add_results(&self.process, 1).await;
        self.process.reads(self.memory.results, Bytes(16));
        let Self { memory, book, .. } = self;
        match book.answer(|| memory.branch()) {
            Answer::Branch { z, .. } => z,
            other => unreachable!("invariant: the same search asks the same, not for {other:?}"),
        }
    }

    async fn work(&mut self, work: Work) {
        self.process.work(work).await;
    }
}

/// The functions of a process that off-loads, as it runs them itself.
pub struct OnHost(pub HostFunctions);

/// Whose data they work on.
pub type Own<'a> = (&'a HostProcess, &'a ProcessMemory);

impl OnHost {
    /// Reads the vectors of those nodes that are no tips.
    fn read(&mut self, memory: &ProcessMemory, nodes: [usize; 2]) {
        let Self(HostFunctions { likelihoods, .. }) = self;
        for node in nodes {
            if let Some(inner) = node.checked_sub(likelihoods.taxa()) {
                memory.read_vector(memory.inner[inner], likelihoods.vectors_mut(node));
            }
        }
    }

    /// The vector of a node, which goes to `out`.
    pub async fn newview(&mut self, (process, memory): Own<'_>, call: NewView, out: Vector) {
        self.read(memory, call.children);
        let Self(functions) = self;
        functions.newview(process, call).await;
        memory.write_vector(out, functions.likelihoods.vectors(call.node));
    }

    /// The ln likelihood, or those of all patterns.
    pub async fn evaluate(
        &mut self,
        (process, memory): Own<'_>,
        ends: [usize; 2],
        (z, kept): (f64, Terms),
    ) {
        self.read(memory, ends);
        let Self(functions) = self;
        functions.charge_evaluate(process, ends, z).await;
        let likelihoods = &functions.likelihoods;
        let sum = likelihoods.evaluate(&mut Plain, ends, z);
        memory.write_result(Quadword::from_doubles([sum, 0.0]));
        if kept == Terms::Kept {
            memory.write_terms(&likelihoods.evaluate_patterns(ends, z));
        }
    }

    /// The length of a branch, and the number of steps to it.
    pub async fn makenewz(
        &mut self,
        (process, memory): Own<'_>,
        ends: [usize; 2],
        (z, steps): (f64, u32),
    ) {
        self.read(memory, ends);
        let Self(functions) = self;
        let newton = functions.makenewz(process, ends, (z, steps)).await;
        memory.write_result(Quadword([newton.z.to_bits(), newton.tried.len() as u64]));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::engine::{Columns, Engine};
    use super::super::tests::{
        assert_alike, categories, exercise, gamma, on_host, random_tree, sim12,
    };
    use super::*;
    use crate::Port;
    use crate::phylogeny::tests::qs20;
    use mmgp_cell::linux::Sharing;
    use mmgp_machine::Machine;
    use mmgp_runtime::{BusyMap, Decision, Pending, Policy, Request, Runtime, Steps};

    /// Leaves every second task on the host.
    #[derive(Default)]
    struct Alternating {
        placed: Cell<u32>,
    }

    impl Policy for Alternating {
        fn name(&self) -> &'static str {
            "alternating"
        }

        fn summary(&self) -> &'static str {
            "Leaves every second task on the host"
        }

        fn sharing(&self, machine: &Machine) -> Sharing {
            Sharing::cooperative(machine)
        }

        fn leases_own_only(&self) -> bool {
            true
        }

        fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
            assert!(request.host_can);
            self.placed.set(self.placed.get() + 1);
            if self.placed.get().is_multiple_of(2) {
                Decision::Host
            } else {
                request.lease_own(spes)
            }
        }

        fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
            Box::pin(pending.stand_aside(process))
        }
    }

    #[test]
    fn what_the_host_leaves_in_memory_is_what_spes_go_on_with() {
        let patterns = sim12();
        let tree = random_tree(&patterns);
        // Every fourth pattern is not computed, so that the last group is filled up.
        let weights: Vec<u32> = (0..patterns.len() as u32).map(|index| index % 4).collect();
        for model in [gamma(), categories(&patterns)] {
            let expected = on_host(&patterns, (&weights, Columns::Drawn), &tree, &model);
            let (own, tree, weights) = (patterns.clone(), tree.clone(), weights.clone());
            let life = async move |engine: &mut OffloadedEngine| {
                engine.has_on_host(HostFunctions::new(&own));
                engine.set_weights(&weights, Columns::Drawn).await;
                exercise(engine, &tree, &model).await
            };
            let on = Runtime::new(qs20(), Box::new(Alternating::default()));
            let found = run_alone(&on, (3, Port::Tuned), &patterns, life).unwrap();
            assert_alike(&found, &expected);
        }
    }
}

//! The process of the host: it chooses heads, has the SPEs rank sublists, and ranks the heads; or, alone,
//! looks for the head of the list and follows it.

use std::rc::Rc;

use super::spe_program::{ADD, RANK, SUM};
use super::{ARGUMENTS_BYTES, REPORT_BYTES, RankingArguments, ThreadMap};
use super::{Findings, Heads, ListRanking, NODES_PER_STEP};
use crate::layout::InMemory as _;
use mmgp_base::units::{Bytes, Seconds, SimTime};
use mmgp_cell::memory::Memory;
use mmgp_cell::ppe::{Access, AccessKind};
use mmgp_cell::{Blade, EffectiveAddress, Homes, HostProcess, Progress};
use mmgp_kernels::list_ranking::{NODE_BYTES, NODES_PER_GROUP};
use mmgp_lists::{END, Order, choose_heads, rank_sequentially};
use mmgp_runtime::{Process, Task};
use mmgp_spu::Quadword;

work! {
    /// What the host does for a head: a random number within a block, the mark on its node, and the
    /// state of its thread.
    CHOOSE: 24 integers, 2 loads, 6 stores, 3 branches;
    /// What it does for a sublist as it follows them: its outcome, the operation, and what comes before
    /// it.
    FOLLOW: 6 integers, 3 loads, 2 stores, 2 branches;
}

/// The process with its data.
pub struct RankingHost {
    ranking: ListRanking,
    memory: Rc<Memory>,
    process: Process,
    /// The address of the arguments of calls.
    at: EffectiveAddress,
    arguments: RankingArguments,
    started: SimTime,
}

impl RankingHost {
    /// The process with the list in main memory, and room for what comes of it.
    pub fn new(ranking: &ListRanking, blade: &Blade, homes: &Homes, process: Process) -> Self {
        let (list, spes) = (&ranking.list, process.most_spes());
        let nodes = list.nodes();
        let sublists = ranking.sublists.min(nodes);
        // Every thread may leave a buffer that is not full.
        let records = u64::from(nodes) + u64::from(sublists) * 32;
        // Areas begin with different banks of the memory.
        let area_bytes = (NODE_BYTES.0 * records).next_multiple_of(2048) + REPORT_BYTES;
        let quadwords = |count: u32| Bytes(NODE_BYTES.0 * u64::from(count));
        let arguments = RankingArguments {
            nodes: homes.allocate(quadwords(nodes.next_multiple_of(NODES_PER_GROUP))),
            sublists: homes.allocate_own(quadwords(sublists + 1)),
            outcomes: homes.allocate_own(quadwords(sublists)),
            reports: homes.allocate_own(Bytes(REPORT_BYTES * u64::from(spes))),
            areas: homes.allocate(Bytes(area_bytes * u64::from(spes))),
            area_bytes,
            node_count: nodes,
            sublist_count: sublists,
            buffers: ranking.buffers,
            areas_count: 0,
        };
        let pairs = list.successors().iter().zip(list.values());
        let node = |(&successor, &value)| Quadword::from_words([successor, value, 0, 0]);
        blade.memory.write(arguments.nodes, pairs.map(node));
        Self {
            ranking: ranking.clone(),
            memory: Rc::clone(&blade.memory),
            at: homes.allocate_own(ARGUMENTS_BYTES),
            process,
            arguments,
            started: blade.started(),
        }
    }

    /// Ranks the list.
    pub async fn rank(mut self) -> Findings {
        self.process.resume().await;
        let mut steps = Steps { since: self.started, spans: Vec::with_capacity(4) };
        let shares = self.off_load(SUM).await;
        let heads = self.choose_heads(shares).await;
        steps.ends(self.process.sim.now());
        let shares = self.off_load(RANK).await;
        self.arguments.areas_count = shares;
        steps.ends(self.process.sim.now());
        self.follow_sublists(heads.len() as u32).await;
        steps.ends(self.process.sim.now());
        self.off_load(ADD).await;
        steps.ends(self.process.sim.now());
        self.process.finish(ADD);
        self.findings(&steps, heads.len() as u32)
    }

    /// Off-loads a function; how many SPEs shared it.
    async fn off_load(&self, function: u32) -> u32 {
        let arguments = |_: &[u32]| {
            self.memory.write(self.at, self.arguments.quadwords(ARGUMENTS_BYTES));
            self.at
        };
        let task = Task::new(function, self.process.most_spes(), &arguments);
        self.process.run(task.writing(ARGUMENTS_BYTES)).await
    }

    /// The first word of what each SPE has reported.
    async fn reports(&self, shares: u32) -> Vec<u32> {
        self.process.load_put_lines(shares.into()).await;
        let report = |share| {
            let at = self.arguments.report(share);
            self.process.reads(at, Bytes(16));
            self.memory.read(at).preferred()
        };
        (0..shares).map(report).collect()
    }

    /// Finds the head of the list by the sums of the SPEs, chooses those of the sublists, marks them,
    /// and writes the states of the threads.
    async fn choose_heads(&mut self, shares: u32) -> Vec<u32> {
        let ListRanking { list, order, sublists, seed, operation, heads: heads_at, .. } =
            &self.ranking;
        let reports = self.reports(shares).await;
        // The last node adds -1.
        let sum = reports.iter().fold(1_u32, |sum, &report| sum.wrapping_add(report));
        let count = u64::from(list.nodes());
        let head = ((count * (count - 1) / 2) as u32).wrapping_sub(sum);
        assert_eq!(head, list.head(), "invariant: the sum of successors tells the head");
        let mut heads = choose_heads(list, *sublists, *order, *seed);
        if (*order, *heads_at) == (Order::Ordered, Heads::Staggered) {
            self.stagger(&mut heads);
        }
        self.process.work(CHOOSE * heads.len() as u64).await;
        for (number, &head) in (1..).zip(&heads) {
            let place = NODE_BYTES.0 * u64::from(head);
            let [successor, value] = [list.successors(), list.values()].map(|it| it[head as usize]);
            let node = Quadword::from_words([successor, value, number, 0]);
            self.memory.write(self.arguments.nodes.offset(place), [node]);
        }
        let state = |(number, &head)| Quadword::from_words([head, operation.identity(), number, 0]);
        self.memory.write(self.arguments.sublists, (1..).zip(&heads).map(state));
        self.arguments.sublist_count = heads.len() as u32;
        heads
    }

    /// Moves heads on, each to the next bank of the memory. Every sublist is a line longer by that, but
    /// for those before the first bank's, which must be long enough.
    fn stagger(&self, heads: &mut [u32]) {
        let banks = self.process.machine().banks.count;
        let length = self.ranking.list.nodes() / heads.len() as u32;
        if length < 2 * banks * NODES_PER_GROUP {
            return;
        }
        for (number, head) in (0..).zip(heads) {
            *head += number % banks * NODES_PER_GROUP;
        }
    }

    /// Follows the sublists, and writes down what comes before each.
    async fn follow_sublists(&self, sublists: u32) {
        let RankingArguments { outcomes, sublists: before, .. } = self.arguments;
        let bytes = NODE_BYTES.0 * u64::from(sublists);
        self.process.load_put_lines(bytes.div_ceil(REPORT_BYTES)).await;
        self.process.reads(outcomes, Bytes(bytes));
        let outcome = |number: u32| {
            let place = NODE_BYTES.0 * u64::from(number - 1);
            self.memory.read(outcomes.offset(place)).words()
        };
        let operation = self.ranking.operation;
        // Those that nobody precedes: none of all, and the first one.
        let mut table = vec![operation.identity(); sublists as usize + 1];
        let (mut number, mut prefix) = (1, operation.identity());
        while number != 0 {
            table[number as usize] = prefix;
            let [next, own, ..] = outcome(number);
            prefix = operation.apply(prefix, own);
            number = next;
        }
        self.process.work(FOLLOW * u64::from(sublists)).await;
        let quadword = |&prefix: &u32| Quadword::from_words([0, prefix, 0, 0]);
        self.memory.write(before, table.iter().map(quadword));
    }

    /// What lies in memory at the end.
    fn findings(&self, steps: &Steps, sublists: u32) -> Findings {
        let arguments = &self.arguments;
        let mut prefixes = vec![0; self.ranking.list.nodes() as usize];
        let mut loads = vec![0; arguments.areas_count as usize];
        for (area, load) in (0..).zip(&mut loads) {
            let groups = self.memory.read(arguments.report(area)).preferred();
            for record in 0..u64::from(groups * NODES_PER_GROUP) {
                let at = arguments.area(area).offset(NODE_BYTES.0 * record);
                let [_, prefix, sublist, node] = self.memory.read(at).words();
                if sublist > 0 {
                    prefixes[node as usize] = prefix;
                    *load += 1;
                }
            }
        }
        let each = sublists.div_ceil(arguments.areas_count.max(1));
        let spans = std::array::from_fn(|step| steps.spans[step]);
        let records = ThreadMap::new(each, arguments.buffers).records;
        Findings { steps: spans, prefixes, sublists, loads, records }
    }
}

/// The steps of the algorithm that have ended.
struct Steps {
    since: SimTime,
    spans: Vec<Seconds>,
}

impl Steps {
    /// One more ends.
    fn ends(&mut self, now: SimTime) {
        self.spans.push(now.since(self.since).seconds());
        self.since = now;
    }
}

work! {
    /// What it does for a node on its way: its address, its successor and value, the operation, the
    /// prefix, and whether the list ends.
    FOLLOW_ALONE: 2 integers, 2 loads, 1 stores, 1 branches;
}

/// What a node needs where nobody but the host has it: its successor and its value.
const ALONE_BYTES: u64 = 8;

/// The host with its list, whose head it is given.
pub struct LoneHost {
    ranking: ListRanking,
    progress: Progress,
    started: mmgp_base::units::SimTime,
}

impl LoneHost {
    /// The host before it begins.
    pub fn new(ranking: &ListRanking, blade: &Blade) -> Self {
        let progress = blade.progress.clone();
        Self { ranking: ranking.clone(), progress, started: blade.started() }
    }

    /// Ranks the list: the time of each step by the process's clock.
    pub async fn rank(self, process: HostProcess) -> Findings {
        let Self { ranking: ListRanking { list, operation, .. }, progress, started } = &self;
        process.resume().await;
        let load = |node: u64| Access { address: ALONE_BYTES * node, kind: AccessKind::Load };
        let mut node = list.head();
        while node != END {
            let mut accesses = Vec::with_capacity(2 * NODES_PER_STEP as usize);
            while node != END && accesses.len() < 2 * NODES_PER_STEP as usize {
                let load = load(node.into());
                accesses.extend([load, Access { kind: AccessKind::Store, ..load }]);
                node = list.successors()[node as usize];
            }
            let work = FOLLOW_ALONE * (accesses.len() as u64 / 2);
            process.follow(work, accesses.into_iter()).await;
            progress.step();
        }
        let ended = process.sim.now();
        process.release();
        let whole = ended.since(*started).seconds();
        Findings {
            steps: [Seconds(0.0), whole, Seconds(0.0), Seconds(0.0)],
            prefixes: rank_sequentially(list, *operation),
            sublists: 0,
            loads: Vec::new(),
            records: 0,
        }
    }
}

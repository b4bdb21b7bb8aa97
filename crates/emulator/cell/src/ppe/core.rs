//! Streams of instructions on the hardware threads of a core together, cycle by cycle.
//!
//! ```text
//!   cycle     0     1     2     3     4     5     6
//!   thread 0  a b         c d   d     d     d           d needs what c computes, three cycles long,
//!   thread 1        a b                           c     and thread 1 waits behind it
//! ```
//! In each cycle one thread dispatches up to two instructions, by turns, and one that cannot leaves
//! its cycle to the other one. Units are shared. There are two places where an instruction waits:
//!
//! * Before its dispatch: for a line that it or an operand of it missed, for a place among the loads
//!   under way, and for the refill after a branch. There only its own thread waits.
//! * At its issue, behind dispatch: for an operand whose instruction takes known time, and for a unit
//!   that is kept. What comes behind it waits too, whichever thread it belongs to, for the pipeline
//!   is one from there on.
//!
//! Both are concluded from GCC's description of the pipeline (config/rs6000/cell.md, from Sony): two
//! instructions are dispatched in a cycle; a wait in the instruction buffer (IB2) stalls one thread
//! only, which is not said of the wait at issue (IS2); and what is flushed waits in the buffer. Among
//! what flushes it names a read after a write, without saying which: here, of what missed, since the
//! processor counts waits at issue for registers (cellmark reads that counter,
//! ISSUE_STALL_DUE_TO_REG_DEPENDENCY). By turns: cellmark. Assumed: who is dispatched second waits
//! at issue as well, and goes alone from there.
//!
//! Left out: the queue of the unit for doubles (VQ), in which arithmetic waits without holding up
//! integers behind it until the next one comes, and that instructions are dispatched in aligned
//! pairs.

use std::future::Future;

use crate::ppe::hierarchy::{Access, AccessKind, Hierarchy};
use crate::ppe::scoreboard::{Instruction, Name, Operand, Step, UNITS, Unit};
use crate::ppe::timed::{Load, Loads};
use crate::ppe::{Timed, Work};
use mmgp_base::units::{Cycles, Seconds, SimSpan};
use mmgp_machine::{Machine, ThreadSharing};
use mmgp_sim::{First, Sim, Watch, first_of};

/// A core with a stream of instructions on each of its threads.
pub struct Core<'a> {
    loads: Loads,
    width: u32,
    threads: Vec<CoreThread<'a>>,
    cycle: u64,
    /// Cycles from which on each unit takes an instruction.
    free: [u64; UNITS],
    /// The thread whose instruction waits at issue.
    holder: Option<usize>,
    /// Whose turn it is: not that of whoever issued last.
    turn: usize,
}

/// A stream of instructions as a thread executes it.
pub type Steps<'a> = Box<dyn Iterator<Item = Step> + 'a>;

impl<'a> Core<'a> {
    /// A core with cold caches.
    pub fn new(machine: &Machine, streams: Vec<Steps<'a>>) -> Self {
        Self {
            loads: Loads::new(machine, Hierarchy::new(machine)),
            width: machine.ppe_issue.width,
            threads: streams.into_iter().map(CoreThread::new).collect(),
            cycle: 0,
            free: [0; UNITS],
            holder: None,
            turn: 0,
        }
    }

    /// Gives the threads other streams, as after a switch of processes; the caches stay as they are.
    pub fn switch(&mut self, streams: Vec<Steps<'a>>) {
        self.threads = streams.into_iter().map(CoreThread::new).collect();
        self.holder = None;
        self.turn = 0;
    }

    /// Accesses memory in no time, so that the caches hold what they would hold after it.
    pub fn touch(&mut self, accesses: impl IntoIterator<Item = Access>) {
        for access in accesses {
            self.loads.touch(access);
        }
    }

    /// Executes until thread 0 has done so many steps more or has come to its end; the time from the
    /// first cycle to the last.
    pub fn run(&mut self, steps: u64) -> Cycles {
        let (begin, end) = (self.cycle, self.threads[0].done.saturating_add(steps));
        while self.threads[0].next.is_some() && self.threads[0].done < end {
            self.cycle = self.step();
        }
        Cycles(self.cycle - begin)
    }

    /// Issues what can issue in this cycle; the next cycle in which anything can.
    fn step(&mut self) -> u64 {
        let count = self.threads.len();
        let (first, turns, mut next) = match self.holder {
            Some(holder) => (holder, 1, self.cycle + 1),
            None => (self.turn, count, u64::MAX),
        };
        for turn in 0..turns {
            let thread = (first + turn) % count;
            let (issued, stop) = self.issue(thread);
            self.holder = matches!(stop, Stop::Holds(_)).then_some(thread);
            if issued > 0 {
                self.turn = (thread + 1) % count;
                return self.cycle + 1;
            }
            match stop {
                Stop::Holds(until) => return until,
                Stop::Blocks(until) => next = next.min(until),
                Stop::NextCycle => next = self.cycle + 1,
                Stop::Ends => {}
            }
        }
        next.max(self.cycle + 1)
    }

    /// Issues what a thread can in this cycle: how many, and why no more.
    fn issue(&mut self, thread: usize) -> (u32, Stop) {
        // What waited at issue goes alone: behind it comes the other thread.
        let is_shared = self.threads.len() > 1;
        let width = if self.holder.is_some() && is_shared { 1 } else { self.width };
        let thread = &mut self.threads[thread];
        let mut issued = 0;
        let mut taken = [false; UNITS];
        loop {
            let (instruction, access) = match thread.next {
                None => return (issued, Stop::Ends),
                Some(Step::Refill(name, cycles)) => {
                    thread.from = thread.from.max(thread.ready(name).at + cycles);
                    thread.take();
                    continue;
                }
                Some(Step::Issue(instruction)) => (instruction, None),
                Some(Step::Access(instruction, access)) => (instruction, Some(access)),
            };
            let unit = instruction.unit as usize;
            if issued == width || taken[unit] {
                return (issued, Stop::NextCycle);
            }
            let [known, missed] = thread.waits(&instruction);
            let missed = missed.max(thread.from);
            if missed > self.cycle {
                return (issued, Stop::Blocks(missed));
            }
            let known = known.max(self.free[unit]);
            if known > self.cycle {
                return (issued, Stop::Holds(known));
            }
            let mut longer = 0;
            match access {
                Some(Access { address, kind: AccessKind::Load }) => {
                    match self.loads.load(self.cycle, address) {
                        Load::Hits => {}
                        Load::Misses(cycles) => longer = cycles,
                        Load::Waits(until) => return (issued, Stop::Blocks(until)),
                    }
                }
                Some(access) => self.loads.touch(access),
                None => {}
            }
            issued += 1;
            taken[unit] = true;
            self.free[unit] = self.cycle + instruction.busy;
            let at = self.cycle + instruction.latency + longer;
            thread.set(instruction.result, Ready { at, missed: longer > 0 });
            thread.take();
        }
    }
}

/// Why a thread issues no more in a cycle.
enum Stop {
    /// Stream has ended.
    Ends,
    /// What it issues next goes with nothing that it has issued now.
    NextCycle,
    /// Waits before dispatch until that cycle.
    Blocks(u64),
    /// Waits at issue until that cycle.
    Holds(u64),
}

/// When a result is there.
#[derive(Debug, Clone, Copy, Default)]
struct Ready {
    at: u64,
    /// Whether it comes from a line that the first-level cache had not.
    missed: bool,
}

/// A thread, and how far it has come.
struct CoreThread<'a> {
    stream: Steps<'a>,
    next: Option<Step>,
    /// Steps that are done.
    done: u64,
    /// Cycle before which it dispatches nothing.
    from: u64,
    /// Results by name; a name that comes again stands for the latest result.
    results: Vec<Ready>,
}

impl<'a> CoreThread<'a> {
    fn new(mut stream: Steps<'a>) -> Self {
        let next = stream.next();
        Self { stream, next, done: 0, from: 0, results: Vec::new() }
    }

    fn take(&mut self) -> Option<Step> {
        self.done += 1;
        std::mem::replace(&mut self.next, self.stream.next())
    }

    fn ready(&self, name: Name) -> Ready {
        self.results.get(name.index()).copied().unwrap_or_default()
    }

    fn set(&mut self, name: Name, ready: Ready) {
        if name.index() >= self.results.len() {
            self.results.resize(name.index() + 1, Ready::default());
        }
        self.results[name.index()] = ready;
    }

    /// Cycles until which an instruction waits for operands that take known time, and for those that missed.
    fn waits(&self, instruction: &Instruction) -> [u64; 2] {
        let mut until = [0; 2];
        for operand in &instruction.operands {
            let ready = self.ready(operand.name);
            // What has been there since the beginning is wherever it is needed.
            if ready.at > 0 {
                let until = &mut until[usize::from(ready.missed)];
                *until = (*until).max(ready.at + operand.way);
            }
        }
        until
    }
}

// What pieces of code take beside each other on the hardware threads of a core.

/// The instructions of a piece of code, in the order in which they issue.
#[derive(Debug, Clone)]
pub struct Stream {
    steps: Vec<Step>,
}

/// How many places of the other stream a slowdown is a mean over: no two threads go in step for long.
const PHASES: usize = 16;

impl Stream {
    /// What `code` executes on a [recording](Timed::recording) core.
    pub fn of(mut core: Timed, code: impl FnOnce(&mut Timed)) -> Self {
        code(&mut core);
        Self { steps: core.into_steps() }
    }

    /// What `times` bursts execute of which only the counts are known: their operations evenly
    /// mixed, each waiting for the one before, as [`Work::cycles`] has it.
    pub fn of_work(machine: &Machine, work: Work, times: u64) -> Self {
        let ppe = &machine.ppe;
        let kinds = [
            (work.integers, Unit::Integer, ppe.integer.0, 1),
            (work.loads, Unit::Memory, ppe.load.0, 1),
            (work.stores, Unit::Memory, ppe.store.0, 1),
            (work.floats, Unit::Float, ppe.float.0, 1),
            (work.divides, Unit::Float, ppe.divide.0, ppe.divide.0),
            (work.branches, Unit::Branch, ppe.branch.0, 1),
        ];
        let total: u64 = kinds.iter().map(|kind| kind.0).sum();
        let mut done = [0; 6];
        let mut steps = Vec::new();
        let always = Operand::from(Name::ALWAYS);
        let mut before = Name::ALWAYS;
        for index in 0..total * times {
            // Next comes the kind that is furthest behind its share.
            let behind = |kind: &usize| {
                (kinds[*kind].0 * (index + 1)) as i128 - (done[*kind] * total) as i128
            };
            let kind = (0..kinds.len()).rev().max_by_key(behind).unwrap_or(0);
            done[kind] += 1;
            let (_, unit, latency, busy) = kinds[kind];
            let result = Name::of(index as usize + 1);
            let operands = [Operand::from(before), always, always];
            steps.push(Step::Issue(Instruction { unit, latency, busy, operands, result }));
            before = result;
        }
        Self { steps }
    }

    /// Time from the first instruction to the last, with everything in the first-level caches.
    pub fn cycles(&self, machine: &Machine) -> Cycles {
        Core::new(machine, vec![Box::new(self.steps.iter().copied())]).run(u64::MAX)
    }

    /// How many times as long it takes with another stream on the other hardware thread, which goes
    /// on from its beginning whenever it has come to its end: the mean over places of the other one
    /// at which they begin.
    pub fn slowdown_beside(&self, machine: &Machine, other: &Self) -> f64 {
        let beside = |phase: usize| {
            // Places across the whole, at different ones in the turn of a loop.
            let place = phase * other.steps.len() / PHASES + phase;
            let own = self.steps.iter().copied();
            let other = other.steps.iter().copied().cycle().skip(place);
            Core::new(machine, vec![Box::new(own), Box::new(other)]).run(u64::MAX).0
        };
        let together: u64 = (0..PHASES).map(beside).sum();
        together as f64 / PHASES as f64 / self.cycles(machine).0 as f64
    }
}

/// How much slower each of two busy hardware threads is than one alone: as the machine has it, or as
/// the issue of their instructions has it where both execute code of which only counts are known.
pub(crate) fn slowdown(machine: &Machine) -> f64 {
    const BURSTS: u64 = 20;
    match machine.ppe_issue.threads {
        ThreadSharing::Given => machine.ppe.smt_slowdown,
        ThreadSharing::Issued => {
            let own = Stream::of_work(machine, MIX, BURSTS);
            own.slowdown_beside(machine, &own)
        }
    }
}

/// What of which kind host code executes beside the functions that are off-loaded, in the proportions
/// of PBPI's and RAxML's bursts taken together.
const MIX: Work =
    Work { integers: 14, loads: 6, stores: 6, floats: 3, divides: 0, branches: 5, code: 0 };

/// A pipeline on which one busy thread runs at full speed, and each of several at
/// `1 / slowdown` of it. A thread that waits for memory or the bus is not busy.
pub struct Pipeline {
    sim: Sim,
    busy: Watch<u32>,
    slowdown: f64,
}

impl Pipeline {
    /// An idle pipeline; `name` says whose in the report of a deadlock.
    pub fn new(sim: &Sim, name: &str, slowdown: f64) -> Self {
        Self { sim: sim.clone(), busy: Watch::new(sim, name, 0), slowdown }
    }

    /// Executes what takes so long on an undisturbed pipeline, until it is done or `stop` ends;
    /// what is left of it.
    pub async fn execute(&self, alone: Seconds, stop: impl Future<Output = ()>) -> Seconds {
        let mut stop = std::pin::pin!(stop);
        let mut left = alone.0;
        self.begin();
        while left > 0.0 {
            let busy = self.busy.read(|&busy| busy);
            let speed = if busy > 1 { 1.0 / self.slowdown } else { 1.0 };
            let begin = self.sim.now();
            let done = self.sim.sleep(SimSpan::from_seconds(Seconds(left / speed)));
            let changed = self.busy.wait_until(|&now| now != busy);
            let first = first_of(first_of(done, stop.as_mut()), changed).await;
            left -= self.sim.now().since(begin).seconds().0 * speed;
            match first {
                First::Left(First::Left(())) => left = 0.0,
                First::Left(First::Right(())) => break,
                First::Right(()) => {}
            }
        }
        self.end();
        Seconds(left.max(0.0))
    }

    /// What something that takes so long when the other thread waits takes as things stand, for one that is not busy yet.
    pub fn slowed(&self, alone: Seconds) -> Seconds {
        if self.busy.read(|&busy| busy > 0) { alone * self.slowdown } else { alone }
    }

    /// A thread begins to be busy with something that lasts as long as it lasts, such as a loop that
    /// polls.
    pub fn begin(&self) {
        self.busy.update(|busy| *busy += 1);
    }

    /// A thread ends to be busy.
    pub fn end(&self) {
        self.busy.update(|busy| *busy -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::ppe::assembler::{Assembler, Place};
    use crate::ppe::{Arithmetic, HostCompiler, exponential};
    use approx::assert_relative_eq;

    const SUM: Place = Place(0);
    const BASE: Place = Place(1);

    fn qs20() -> Machine {
        Machine::named("qs20").unwrap()
    }

    fn ppe() -> Assembler {
        Assembler::new(&qs20())
    }

    fn core(streams: Vec<Steps<'_>>) -> Core<'_> {
        Core::new(&qs20(), streams)
    }

    /// Multiply-adds, each of which waits ten cycles for the one before.
    fn chain() -> Steps<'static> {
        Box::new(std::iter::repeat_with(|| ppe().multiply_add(SUM, BASE, BASE, Some(SUM))))
    }

    /// Integer operations that wait for nothing.
    fn integers() -> Steps<'static> {
        Box::new(std::iter::repeat_with(|| ppe().integer(SUM, BASE)))
    }

    /// Loads of doubles from addresses, each followed by an addition to the sum if it is `used`.
    fn loads(addresses: impl Iterator<Item = u64> + 'static, used: bool) -> Steps<'static> {
        let to = Place(2);
        Box::new(addresses.flat_map(move |address| {
            let load = ppe().load_double(to, BASE, address);
            let add = ppe().multiply_add(SUM, to, to, None);
            [Some(load), used.then_some(add)].into_iter().flatten()
        }))
    }

    #[test]
    fn a_loop_takes_the_cycles_that_are_counted_by_hand() {
        // A turn: the load at 0, the sum of what it loads at 1, with it the next address, the branch
        // at 2, and the next load five cycles after the address: at 6. All from one line, which
        // comes after 495 cycles to the first sum.
        let turn = || {
            let to = Place(2);
            [
                ppe().load_double(to, BASE, 0),
                ppe().multiply_add(SUM, to, to, None),
                ppe().integer(BASE, BASE),
                ppe().integer(Place(3), BASE),
                ppe().branch(),
            ]
        };
        let mut core = core(vec![Box::new(std::iter::repeat_with(turn).flatten())]);
        // At 0, 496, 496, 498 with the branch.
        assert_eq!(core.run(5), Cycles(499));
        // The load at 501, two after 499, and the same again.
        assert_eq!(core.run(5), Cycles(6));
        assert_eq!(core.run(500), Cycles(500 / 5 * 6));
    }

    #[test]
    fn a_wait_at_issue_holds_both_threads_and_a_wait_for_a_line_one() {
        // An integer at 0, the chain at 1, an integer at 2, the chain at 11, an integer at 12.
        assert_eq!(core(vec![integers(), chain()]).run(100), Cycles(983));
        // The sum waits for its line before dispatch, and all cycles but the load's are the integers'.
        let waits = || loads((0..).map(|index| 128 * index), true);
        assert_eq!(core(vec![integers(), waits()]).run(400), Cycles(401));
        assert_eq!(core(vec![integers()]).run(400), Cycles(400));
    }

    #[test]
    fn threads_that_never_wait_have_every_other_cycle() {
        assert_eq!(core(vec![integers(), integers()]).run(100), Cycles(199));
    }

    #[test]
    fn loads_go_on_past_a_miss_until_eight_are_under_way() {
        let from_memory = |count: u64| {
            let steps = loads((0..count).map(|index| 128 * index), false);
            let last = ppe().multiply_add(SUM, Place(2), Place(2), None);
            core(vec![Box::new(steps.chain([last]))]).run(u64::MAX).0
        };
        // One a cycle; the sum waits for the last: 7 + 1 + 495, and its own cycle.
        assert_eq!(from_memory(8), 504);
        // The ninth waits for the first one's line at 495; used at 495 + 496.
        assert_eq!(from_memory(9), 992);
        // Where each is used, each is waited for: 496 to the sum, which the next load goes with.
        let used = loads((0..8).map(|index| 128 * index), true);
        assert_eq!(core(vec![used]).run(u64::MAX), Cycles(8 * 496 + 1));
    }

    #[test]
    fn threads_take_each_others_lines() {
        // 24 KB each, line by line, again and again: one fits the 32 KB of the first level and two do
        // not, so every load comes from the second level.
        let lines = |base: u64| (0..192).map(move |line| base + 128 * line);
        let time = |bases: &[u64]| {
            let walk = |&base: &u64| loads(lines(base).cycle(), true);
            let mut core = core(bases.iter().map(walk).collect());
            let once = bases.iter().flat_map(|&base| lines(base));
            core.touch(once.map(|address| Access { address, kind: AccessKind::Load }));
            core.run(192 * 2);
            core.run(192 * 2).0
        };
        let [alone, together] = [time(&[0]), time(&[0, 1 << 20])];
        // Each load goes with the sum before it, and the sum waits a cycle, or 32.
        assert_eq!(alone, 192);
        assert!((192 * 32..192 * 34).contains(&together), "{together}");
    }

    #[test]
    fn another_stream_finds_the_lines_that_the_one_before_left() {
        let walk = || loads((0..64).map(|line| 128 * line), true);
        let mut core = core(vec![walk()]);
        let cold = core.run(u64::MAX);
        core.switch(vec![walk()]);
        assert_eq!((cold, core.run(u64::MAX)), (Cycles(64 * 496 + 1), Cycles(65)));
    }

    /// Runs so many turns of so many independent chains of multiply-adds.
    fn chains(count: usize, turns: u32) -> impl Fn(&mut Timed) {
        move |ppe: &mut Timed| {
            let mut chains = vec![ppe.constant(1.0); count];
            for _ in 0..turns {
                for chain in &mut chains {
                    *chain = ppe.multiply_add(*chain, *chain, *chain);
                }
                ppe.turn(0);
            }
        }
    }

    fn stream(code: impl Fn(&mut Timed)) -> Stream {
        Stream::of(Timed::recording(&qs20(), HostCompiler::Ideal.order()), code)
    }

    #[test]
    fn a_stream_alone_takes_what_the_scoreboard_says() {
        let codes: [&dyn Fn(&mut Timed); 2] = [&chains(3, 50), &|ppe: &mut Timed| {
            for x in [0.3, -1e9, 1.7] {
                let x = ppe.load(&x);
                exponential(ppe, x);
            }
        }];
        for code in codes {
            let mut timed = Timed::new(&qs20(), HostCompiler::Ideal.order());
            code(&mut timed);
            assert_eq!(stream(code).cycles(&qs20()), timed.cycles());
        }
    }

    #[test]
    fn what_waits_long_hardly_feels_the_other_thread_and_what_never_waits_has_half() {
        // One chain of ten cycles has a tenth of the unit; sixteen keep it busy without a gap.
        let [one, many] = [chains(1, 400), chains(16, 100)].map(stream);
        assert!(one.slowdown_beside(&qs20(), &one) < 1.02);
        let half = many.slowdown_beside(&qs20(), &many);
        assert!((1.98..2.02).contains(&half), "{half}");
        // Eight have 8 of 10 cycles alone and 5 of 10 beside others that always can.
        let eight = stream(chains(8, 200));
        let beside = eight.slowdown_beside(&qs20(), &many);
        assert!((1.55..1.65).contains(&beside), "{beside}");
    }

    #[test]
    fn counted_work_takes_the_sum_of_its_latencies_alone() {
        let machine = qs20();
        let work = Work::TRANSCENDENTAL;
        let stream = Stream::of_work(&machine, work, 100);
        let alone = stream.cycles(&machine).0 as i64;
        // The last operation has issued and need not have ended.
        let sum = 100 * work.cycles(&machine.ppe).0 as i64;
        assert!((sum - alone).abs() <= 10, "{alone} for {sum}");
        let slowdown = stream.slowdown_beside(&machine, &stream);
        assert!((1.0..1.3).contains(&slowdown), "{slowdown}");
    }

    #[test]
    fn the_slowdown_is_given_or_comes_from_the_issue_of_instructions() {
        let mut machine = qs20();
        machine.ppe.smt_slowdown = 7.0;
        machine.ppe_issue.threads = ThreadSharing::Given;
        assert_eq!(slowdown(&machine), 7.0);
        machine.ppe_issue.threads = ThreadSharing::Issued;
        // 34 operations wait 124 cycles for each other, and where one waits at issue, so does the other
        // thread: neither 1, as if they waited at the same time always, nor 2, as if never.
        let issued = slowdown(&machine);
        assert!((1.2..1.5).contains(&issued), "{issued}");
        // Where an operation takes a cycle, both want every one.
        let ppe = &mut machine.ppe;
        (ppe.integer, ppe.load, ppe.store) = (Cycles(1), Cycles(1), Cycles(1));
        (ppe.float, ppe.branch) = (Cycles(1), Cycles(1));
        assert_eq!((slowdown(&machine) * 50.0).round(), 100.0);
    }

    #[test]
    fn threads_slow_each_other_down_while_both_are_busy() {
        // The first has 2 s of work from 0 on, the second 1 s from 1 on, at 1/1.25 when both are
        // busy. First: 1 done alone by 1; second: 1 s at 0.8 ends at 2.25, by which the first has
        // done its second 1 as well.
        let sim = Sim::new();
        let pipeline = Rc::new(Pipeline::new(&sim, "the pipeline", 1.25));
        let ends = Rc::new(RefCell::new(Vec::new()));
        for (begin, work) in [(0.0, 2.0), (1.0, 1.0), (4.0, 0.5)] {
            let (own, pipeline, ends) = (sim.clone(), Rc::clone(&pipeline), Rc::clone(&ends));
            sim.spawn(format!("thread at {begin}"), async move {
                own.sleep(SimSpan::from_seconds(Seconds(begin))).await;
                let left = pipeline.execute(Seconds(work), std::future::pending()).await;
                assert_eq!(left, Seconds(0.0));
                ends.borrow_mut().push(own.now().seconds().0);
            });
        }
        sim.run().unwrap();
        for (end, expected) in ends.borrow().iter().zip([2.25, 2.25, 4.5]) {
            assert_relative_eq!(*end, expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn what_is_interrupted_has_the_rest_left_and_disturbs_nobody_any_more() {
        let sim = Sim::new();
        let pipeline = Rc::new(Pipeline::new(&sim, "the pipeline", 1.25));
        let (own, first) = (sim.clone(), Rc::clone(&pipeline));
        sim.spawn("interrupted", async move {
            let stop = own.sleep(SimSpan::from_seconds(Seconds(1.0)));
            let left = first.execute(Seconds(2.0), stop).await;
            // 1 s at 0.8.
            assert_relative_eq!(left.0, 1.2, max_relative = 1e-12);
        });
        sim.spawn("other", async move {
            let _ = pipeline.execute(Seconds(1.8), std::future::pending()).await;
        });
        // By 1 the other has done 0.8, and does the 1.0 that is left alone.
        assert_relative_eq!(sim.run().unwrap().seconds().0, 2.0, max_relative = 1e-12);
    }
}

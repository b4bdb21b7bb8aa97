//! What pieces of code take beside each other on the hardware threads of a core.

use std::future::Future;

use crate::ppe::core::Core;
use crate::ppe::scoreboard::{Instruction, Name, Operand, Step, Unit};
use crate::ppe::{Timed, Work};
use mmgp_base::units::{Cycles, Seconds, SimSpan};
use mmgp_machine::{Machine, ThreadSharing};
use mmgp_sim::{First, Sim, Watch, first_of};

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

    use super::super::{Arithmetic, HostCompiler, exponential};
    use super::*;
    use approx::assert_relative_eq;

    fn qs20() -> Machine {
        Machine::named("qs20").unwrap()
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

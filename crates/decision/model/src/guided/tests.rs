//! The guide against the best fixed choice, on workloads small enough to see through.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use toy::{Fixed, Host, Task, Toy};

/// Off-loads of each process of most workloads.
const MANY: usize = 1500;

fn exponential(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    -mean * (1.0 - random.random::<f64>()).ln()
}

/// What the guide, the best fixed choice and one APU for everybody take.
#[derive(Debug)]
struct Outcome {
    guide: Guide,
    guided_s: f64,
    best: (u32, u32),
    best_s: f64,
    single_s: f64,
}

fn outcome(toy: &Toy) -> Outcome {
    let mut guide = Guide::new(toy.apus, toy.contexts).unwrap();
    let guided_s = toy.run(&mut guide);
    let processes = toy.tasks.len() as u32;
    let fixed = |m: u32, p: u32| toy.run(&mut Fixed::new(m, p));
    let all = (1..=processes).flat_map(|m| (1..=toy.apus).map(move |p| (m, p)));
    let timed = all.map(|(m, p)| ((m, p), fixed(m, p)));
    let (best, best_s) = timed.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    Outcome { guide, guided_s, best, best_s, single_s: fixed(processes, 1) }
}

fn workloads() -> Vec<(&'static str, Toy)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let same = |task: Task| vec![task; MANY];
    let perfect = Task::perfect;
    let limited = Task { serial: 1.0, overhead: 0.5, ..perfect(1.0, 16.0) };
    let unshared = Task { serial: 8.0, overhead: 0.2, ..perfect(1.0, 0.0) };
    let other = Task { function: 1, serial: 2.0, overhead: 0.5, ..perfect(0.5, 0.0) };
    let mixed = [perfect(0.5, 12.0), other].repeat(MANY / 2);
    let mut random_tasks = || {
        let one = |_| Task {
            serial: exponential(&mut random, 0.5),
            ..perfect(exponential(&mut random, 1.0), exponential(&mut random, 10.0))
        };
        (0..MANY).map(one).collect::<Vec<Task>>()
    };
    let exponential = [random_tasks(), random_tasks(), random_tasks()].to_vec();
    let later = Task { serial: 12.0, overhead: 0.8, ..perfect(1.0, 0.0) };
    let changing = [same(perfect(1.0, 16.0)), same(later)].concat();
    // Phases longer than a window, in which one function prevails; the other's off-loads take as long as
    // its input has it.
    let mut phases = |phase: usize| {
        let longer = if phase.is_multiple_of(5) { 4.0 } else { 1.0 };
        let one = |turn: usize| {
            let of_first = phase.is_multiple_of(2) != turn.is_multiple_of(4);
            let by_input = longer * random.random_range(0.5..1.5);
            let first = Task { serial: 0.5, overhead: 0.01, ..perfect(0.1, 8.0) };
            let second = Task { serial: 0.3 * by_input, ..perfect(0.1, 5.0 * by_input) };
            if of_first { first } else { Task { function: 1, ..second } }
        };
        (0..100).map(one).collect::<Vec<Task>>()
    };
    let phases = (0..40).flat_map(&mut phases).collect();
    // Steps longer than a window, with much to do on the host between two of them.
    let steps = {
        let first = Task { function: 0, ..perfect(20.0, 4.0) };
        let last = Task { function: 1, ..perfect(0.2, 4.0) };
        let step = |_| [vec![first], vec![perfect(0.2, 4.0); 30], vec![last]].concat();
        (0..60).flat_map(step).collect()
    };
    // Each computes on the host for long before it off-loads, and once more in between.
    let rests = |process: usize| {
        let task = Task { serial: 2.0, ..perfect(0.5, 14.0) };
        let before = |long: usize| vec![Task { burst: 1000.0 * long as f64, ..task }];
        let some = vec![task; MANY / 4];
        [before(process), some.clone(), before(7 - process), some].concat()
    };
    let tail = (1..=8).map(|part| vec![perfect(0.5, 8.0); part * MANY / 8]).collect();
    let toy = Toy::of;
    vec![
        ("perfect, few", toy(8, 2, 2, same(perfect(1.0, 16.0)))),
        ("perfect, many", toy(8, 8, 8, same(perfect(1.0, 16.0)))),
        ("not shared", toy(8, 2, 4, same(unshared))),
        ("badly beyond 4", toy(16, 2, 2, same(limited))),
        ("short, turns", Toy { host: Host::Turns, ..toy(8, 2, 8, same(perfect(0.5, 1.0))) }),
        ("long", toy(8, 2, 3, same(Task { serial: 1.0, ..perfect(0.1, 30.0) }))),
        ("five of eight", toy(8, 4, 5, same(perfect(1.0, 16.0)))),
        ("two functions", toy(8, 2, 3, mixed)),
        ("exponential", Toy { tasks: exponential, ..toy(8, 2, 0, Vec::new()) }),
        ("change", toy(8, 2, 2, changing)),
        ("phases", toy(8, 2, 1, phases)),
        ("steps", toy(8, 4, 4, steps)),
        ("rests", Toy { tasks: (0..8).map(rests).collect(), ..toy(8, 8, 0, Vec::new()) }),
        ("tail", Toy { tasks: tail, ..toy(8, 4, 0, Vec::new()) }),
        ("contention", Toy { host: Host::Shared(0.05), ..toy(8, 2, 12, same(perfect(1.0, 3.0))) }),
        ("sixteen APUs", toy(16, 4, 6, same(Task { serial: 2.0, ..perfect(1.0, 20.0) }))),
    ]
}

/// A workload by its name, and how much longer than the best fixed choice the guide may take. What it
/// takes longer is what it pays for not knowing the workload in advance.
fn check(name: &str, at_most: f64) -> Outcome {
    let (_, toy) = workloads().into_iter().find(|(known, _)| *known == name).expect("its name");
    let found = outcome(&toy);
    let (longer, of_single) = (found.guided_s / found.best_s, found.guided_s / found.single_s);
    println!(
        "{name}: {longer:.3} of the best fixed {:?}, {of_single:.3} of p = 1, settled after {:?} of {}, \
         {} changes",
        found.best,
        found.guide.settled_after(),
        found.guide.offloads(),
        found.guide.changes()
    );
    assert!(longer <= at_most, "{name}: {longer} of the time with {:?}", found.best);
    assert!(of_single < 1.01, "{name}: {of_single} of the time with p = 1");
    assert!(found.guide.settled_after().is_some(), "{name}");
    found
}

#[test]
fn where_loops_are_shared_perfectly_few_processes_have_all_apus() {
    let few = check("perfect, few", 1.015);
    assert!(few.guided_s < 0.25 * few.single_s);
    check("perfect, many", 1.005);
    check("five of eight", 1.04);
    check("long", 1.02);
}

#[test]
fn where_sharing_does_not_pay_nobody_shares() {
    check("not shared", 1.002);
}

#[test]
fn where_more_apus_than_some_do_harm_no_more_are_leased() {
    check("badly beyond 4", 1.015);
    check("sixteen APUs", 1.02);
}

#[test]
fn where_the_host_is_the_limit_nothing_is_lost_by_looking() {
    check("short, turns", 1.01);
}

#[test]
fn where_processes_slow_each_other_down_on_the_host_fewer_go() {
    // The toy has two steady states with (12, 3), of which the fast one is met where all start together:
    // which one the guide finds, and how near to the best, is chance.
    let found = check("contention", 1.4);
    assert!(found.guided_s < 0.9 * found.single_s);
}

#[test]
fn each_function_gets_as_many_apus_as_serve_it() {
    // No fixed p serves both.
    check("two functions", 0.75);
}

#[test]
fn steps_longer_than_a_window_are_no_changes_of_the_workload() {
    assert_eq!(check("steps", 1.02).guide.changes(), 0);
}

#[test]
fn windows_of_different_phases_are_compared_by_their_functions() {
    check("phases", 1.015);
}

#[test]
fn processes_that_compute_on_the_host_for_long_leave_their_apus_to_others() {
    check("rests", 0.95);
}

#[test]
fn random_tasks_are_learnt_from_many() {
    check("exponential", 1.06);
}

#[test]
fn a_change_of_the_workload_is_seen_and_learnt() {
    // No fixed p serves both halves.
    let found = check("change", 0.95);
    assert_eq!(found.guide.changes(), 1);
}

#[test]
fn as_processes_end_the_others_have_their_apus() {
    check("tail", 1.01);
}

#[test]
fn a_window_without_end_says_nothing_and_spoils_nothing() {
    let mut window = window::Window::new(0);
    for time_s in [0.9e-3, 1.0e-3, 1.1e-3] {
        window.completions += 1;
        window.burst.add(time_s);
        window.offload.add(3.0 * time_s);
        window.cycle.add(4.0 * time_s);
    }
    let mut learnt = learnt::Knowledge::new(16, 2);
    learnt.learn(Mapping::of(1, 1), 4, &window, 4e-3);
    learnt.learn(Mapping::of(2, 2), 4, &window, f64::INFINITY);
    learnt.learn(Mapping::of(4, 1), 4, &window, 1e-3);
    for mapping in learnt::candidates(4, 16) {
        let promise = learnt.promise(mapping).unwrap();
        assert!(promise.time_s.is_finite() && promise.error.is_finite(), "{promise:?}");
    }
    let next = learnt.next(4, 1.0).unwrap();
    assert!(next.best.is_some_and(|best| best.mapping != Mapping::of(2, 2)), "{next:?}");
}

#[test]
fn nothing_changes_where_nothing_has_changed() {
    // With contention the toy has two steady states, and changes from one to the other by itself; who
    // rests changes the throughput before anybody knows.
    let changing = ["change", "contention", "rests"];
    for (name, toy) in workloads().into_iter().filter(|(name, _)| !changing.contains(name)) {
        let mut guide = Guide::new(toy.apus, toy.contexts).unwrap();
        toy.run(&mut guide);
        assert_eq!(guide.changes(), 0, "{name}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn task() -> impl Strategy<Value = Task> {
        let times = (0.0..2.0, 0.0..3.0, 0.0..10.0, 0.0..0.5);
        (times, 0..3u32, 1..9u32).prop_map(
            |((burst, serial, parallel, overhead), function, most_shares)| Task {
                burst,
                function,
                serial,
                parallel,
                overhead,
                most_shares,
            },
        )
    }

    /// Machines and programs of all sorts; with a barrier, the same work for all.
    fn toys() -> impl Strategy<Value = Toy> {
        let host = prop_oneof![Just(Host::Turns), (0.0..0.3).prop_map(Host::Shared)];
        let tasks =
            (prop::collection::vec(task(), 1..6), prop::collection::vec(0..150usize, 1..10));
        (1..12u32, 1..4u32, host, tasks, prop::option::of(1..4usize)).prop_map(
            |(apus, contexts, host, (tasks, counts), barrier)| {
                let of = |count: usize| tasks.iter().copied().cycle().take(count + 1).collect();
                let of_each =
                    |&count: &usize| of(if barrier.is_some() { counts[0] } else { count });
                let tasks = counts.iter().map(of_each).collect();
                Toy { apus, contexts, host, tasks, barrier_every: barrier.unwrap_or(0) }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// The toy itself refuses more leases than are idle, and that everybody is held.
        #[test]
        fn every_process_ends_whatever_it_does(toy in toys()) {
            let mut guide = Guide::new(toy.apus, toy.contexts).unwrap();
            toy.run(&mut guide);
            let offloads: usize = toy.tasks.iter().map(Vec::len).sum();
            prop_assert_eq!(guide.offloads(), offloads as u64);
        }
    }
}

/// Machines and programs at random: every process has so many equal tasks, or exponential ones.
fn random_toy(random: &mut Xoshiro256PlusPlus) -> Toy {
    let apus = [8, 8, 16][random.random_range(0..3)];
    let contexts = [2, 4, 16][random.random_range(0..3)];
    let processes = random.random_range(1..=apus as usize + 2);
    let whole = random.random_range(1.0..20.0);
    let shared = random.random_range(0.0..1.0_f64).sqrt();
    let overhead = [0.0, 0.01, 0.05][random.random_range(0..3)] * whole;
    let burst = whole * 10.0_f64.powf(random.random_range(-2.0..0.0));
    let serial = (1.0 - shared) * whole;
    let task = Task { serial, overhead, ..Task::perfect(burst, shared * whole) };
    let host = [Host::Turns, Host::Shared(0.0), Host::Shared(0.02)][random.random_range(0..3)];
    let is_random = random.random_range(0..3) == 0;
    let tasks = (0..processes).map(|_| {
        let mut drawn = |mean: f64| if is_random { exponential(random, mean) } else { mean };
        let one = |_| Task {
            burst: drawn(task.burst),
            serial: drawn(task.serial),
            parallel: drawn(task.parallel),
            ..task
        };
        (0..6000 / processes).map(one).collect()
    });
    Toy { host, tasks: tasks.collect(), ..Toy::of(apus, contexts, 0, Vec::new()) }
}

#[test]
fn over_random_workloads_little_is_lost() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut longer = Vec::new();
    for _ in 0..16 {
        let toy = random_toy(&mut random);
        let found = outcome(&toy);
        println!(
            "{} processes, {} APUs, {} contexts, {:?}, first {:?}: {:.3} of the best fixed {:?}, {} changes",
            toy.tasks.len(),
            toy.apus,
            toy.contexts,
            toy.host,
            toy.tasks[0][0],
            found.guided_s / found.best_s,
            found.best,
            found.guide.changes()
        );
        longer.push(found.guided_s / found.best_s);
    }
    longer.sort_by(f64::total_cmp);
    println!("{longer:.3?}");
    assert!(longer[8] < 1.02 && longer[15] < 1.15, "{longer:?}");
}

mod toy {
    //! A closed network of processes, host contexts and APUs, small enough to see through.
    //!
    //! Each process alternates between a burst on the host and an off-load. Bursts share the contexts
    //! equally, or take turns on them; an off-load on p APUs takes `serial + parallel/p + overhead*(p - 1)`.

    use crate::guided::{Answer, Guide, Request};
    use mmgp_base::units::Seconds;

    /// A burst, and the off-load after it \[s\].
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Task {
        pub burst: f64,
        pub function: u32,
        pub serial: f64,
        pub parallel: f64,
        pub overhead: f64,
        pub most_shares: u32,
    }

    impl Task {
        /// Shared among any number of APUs, without loss.
        pub fn perfect(burst: f64, parallel: f64) -> Self {
            Self { burst, function: 0, serial: 0.0, parallel, overhead: 0.0, most_shares: u32::MAX }
        }

        fn time(&self, shares: u32) -> f64 {
            let p = f64::from(shares);
            self.serial + self.parallel / p + self.overhead * (p - 1.0)
        }
    }

    /// How processes share the host's contexts.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Host {
        /// Bursts run at once, each slower by this part for each process beyond the contexts.
        Shared(f64),
        /// Bursts take turns on the contexts.
        Turns,
    }

    #[derive(Debug, Clone)]
    pub struct Toy {
        pub apus: u32,
        pub contexts: u32,
        pub host: Host,
        /// What each process has to do.
        pub tasks: Vec<Vec<Task>>,
        /// Off-loads of each process after which all wait for each other; 0 for never.
        pub barrier_every: usize,
    }

    /// Scheduler that leases APUs.
    pub trait Scheduler {
        fn enters(&mut self, process: u32);
        fn leaves(&mut self, process: u32);
        fn arrives(&mut self, now: f64, process: u32, request: Request) -> Answer;
        fn completes(&mut self, now: f64, process: u32);
    }

    impl Scheduler for Guide {
        fn enters(&mut self, process: u32) {
            Guide::enters(self, process).unwrap();
        }
        fn leaves(&mut self, process: u32) {
            Guide::leaves(self, process);
        }
        fn arrives(&mut self, now: f64, process: u32, request: Request) -> Answer {
            Guide::arrives(self, Seconds(now), process, request)
        }
        fn completes(&mut self, now: f64, process: u32) {
            Guide::completes(self, Seconds(now), process);
        }
    }

    /// Always m processes, each until it has no more work, and p APUs for each off-load.
    pub struct Fixed {
        m: usize,
        p: u32,
        going: Vec<u32>,
        waiting: Vec<u32>,
    }

    impl Fixed {
        pub fn new(m: u32, p: u32) -> Self {
            Self { m: m as usize, p, going: Vec::new(), waiting: Vec::new() }
        }
    }

    impl Scheduler for Fixed {
        fn enters(&mut self, _: u32) {}
        fn leaves(&mut self, process: u32) {
            self.going.retain(|&it| it != process);
        }
        fn arrives(&mut self, _: f64, process: u32, request: Request) -> Answer {
            if !self.going.contains(&process) {
                if self.going.len() == self.m {
                    return Answer::Hold;
                }
                self.going.push(process);
            }
            if !self.waiting.contains(&process) {
                self.waiting.push(process);
            }
            let before = self.waiting.iter().position(|&it| it == process).unwrap() as u32;
            let shares = self.p.min(request.most_shares);
            if shares * (before + 1) > request.idle {
                return Answer::Hold;
            }
            self.waiting.retain(|&it| it != process);
            Answer::Go(shares)
        }
        fn completes(&mut self, _: f64, _: u32) {}
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum State {
        /// Waiting for a context for the first burst.
        New,
        /// Host time that is left.
        Burst(f64),
        Waiting,
        /// When it ends, and on how many APUs it is.
        OffLoad(f64, u32),
        /// Waiting for a context with a result: since when.
        Ready(f64),
        Barrier,
        Done,
    }

    /// What is going on.
    struct Run<'a> {
        toy: &'a Toy,
        now: f64,
        idle: u32,
        states: Vec<State>,
        done: Vec<usize>,
    }

    impl Toy {
        /// Processes with the same work.
        pub fn of(apus: u32, contexts: u32, processes: usize, tasks: Vec<Task>) -> Self {
            let tasks = vec![tasks; processes];
            Self { apus, contexts, host: Host::Shared(0.0), tasks, barrier_every: 0 }
        }

        /// The time until all work is done.
        ///
        /// # Panics
        /// Where nothing goes on, or more is leased than is idle.
        pub fn run(&self, scheduler: &mut impl Scheduler) -> f64 {
            let states = vec![State::New; self.tasks.len()];
            let done = vec![0; self.tasks.len()];
            let mut run = Run { toy: self, now: 0.0, idle: self.apus, states, done };
            (0..self.tasks.len()).for_each(|process| scheduler.enters(process as u32));
            loop {
                run.go_on(scheduler);
                let Some((next, process)) = run.next() else { break };
                run.pass(next - run.now);
                match run.states[process] {
                    State::Burst(_) => run.states[process] = State::Waiting,
                    State::OffLoad(_, shares) => {
                        run.idle += shares;
                        run.states[process] = State::Ready(next);
                    }
                    other => unreachable!("{other:?}"),
                }
            }
            assert!(
                run.states.iter().all(|it| *it == State::Done),
                "held for ever: {:?}",
                run.states
            );
            run.now
        }
    }

    impl Run<'_> {
        fn bursts(&self) -> usize {
            self.states.iter().filter(|it| matches!(it, State::Burst(_))).count()
        }

        fn speed(&self) -> f64 {
            let (running, contexts) = (self.bursts() as f64, f64::from(self.toy.contexts));
            let Host::Shared(slowdown) = self.toy.host else { return 1.0 };
            (contexts / running).min(1.0) / (1.0 + slowdown * (running - contexts).max(0.0))
        }

        /// The next end of a burst or an off-load.
        fn next(&self) -> Option<(f64, usize)> {
            let speed = self.speed();
            let ends = self.states.iter().enumerate().filter_map(|(process, state)| match state {
                State::Burst(left) => Some((self.now + left / speed, process)),
                State::OffLoad(end, _) => Some((*end, process)),
                _ => None,
            });
            ends.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        }

        fn pass(&mut self, time: f64) {
            let speed = self.speed();
            for state in &mut self.states {
                if let State::Burst(left) = state {
                    *left = (*left - time * speed).max(0.0);
                }
            }
            self.now += time;
        }

        /// Everything that can happen at this instant.
        fn go_on(&mut self, scheduler: &mut impl Scheduler) {
            while let Some(process) = self.ready() {
                self.resume(process, scheduler);
            }
            let mut waiting: Vec<usize> = (0..self.states.len()).collect();
            waiting.retain(|&process| self.states[process] == State::Waiting);
            for process in waiting {
                let task = self.toy.tasks[process][self.done[process]];
                let Task { function, most_shares, .. } = task;
                let request = Request { function, most_shares, idle: self.idle };
                if let Answer::Go(shares) = scheduler.arrives(self.now, process as u32, request) {
                    assert!((1..=self.idle).contains(&shares), "{shares} of {} idle", self.idle);
                    assert!(shares <= most_shares);
                    self.idle -= shares;
                    self.states[process] = State::OffLoad(self.now + task.time(shares), shares);
                }
            }
            let is_held = |it: &State| *it == State::Waiting;
            let goes_on = |it: &State| matches!(it, State::OffLoad(..) | State::Burst(_));
            assert!(
                !self.states.iter().any(is_held) || self.states.iter().any(goes_on),
                "everybody is held: {:?}",
                self.states
            );
        }

        /// Process that gets a context now, first come first served.
        fn ready(&self) -> Option<usize> {
            if self.toy.host == Host::Turns && self.bursts() >= self.toy.contexts as usize {
                return None;
            }
            let since = |process: &usize| match self.states[*process] {
                State::New => Some(0.0),
                State::Ready(since) => Some(since),
                _ => None,
            };
            let all = (0..self.states.len()).filter_map(|it| Some((since(&it)?, it)));
            all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, process)| process)
        }

        /// A process has its context, and its result if it waited for one.
        fn resume(&mut self, process: usize, scheduler: &mut impl Scheduler) {
            let has_begun = self.states[process] != State::New;
            if has_begun {
                scheduler.completes(self.now, process as u32);
                self.done[process] += 1;
            }
            let (done, every) = (self.done[process], self.toy.barrier_every);
            if done == self.toy.tasks[process].len() {
                self.states[process] = State::Done;
                scheduler.leaves(process as u32);
            } else if has_begun && every > 0 && done % every == 0 {
                self.states[process] = State::Barrier;
                if self.done.iter().all(|&others| others >= done) {
                    for (state, done) in self.states.iter_mut().zip(&self.done) {
                        if *state == State::Barrier {
                            *state = State::Burst(self.toy.tasks[process][*done].burst);
                        }
                    }
                }
            } else {
                self.states[process] = State::Burst(self.toy.tasks[process][done].burst);
            }
        }
    }
}

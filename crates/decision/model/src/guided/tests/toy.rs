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
    /// All run at once, each slower by this part for each process beyond the contexts.
    Shared(f64),
    /// As many as there are contexts, the others wait for their turn.
    Turns,
}

#[derive(Debug, Clone)]
pub struct Toy {
    pub apus: u32,
    pub contexts: u32,
    pub host: Host,
    /// What each process has to do.
    pub tasks: Vec<Vec<Task>>,
    /// All processes wait for each other after so many off-loads each; 0 for never.
    pub barrier_every: usize,
}

/// Who leases APUs.
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
    /// It wants a context for its first burst.
    New,
    /// Host time that is left.
    Burst(f64),
    Waiting,
    /// When it ends, and on how many APUs it is.
    OffLoad(f64, u32),
    /// Its result is there, and it wants a context: since when.
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
    /// All processes with the same work.
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
        assert!(run.states.iter().all(|it| *it == State::Done), "held for ever: {:?}", run.states);
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

    /// Who gets a context now, first come first served.
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

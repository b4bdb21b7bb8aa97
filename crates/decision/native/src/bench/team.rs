//! Threads that work at once, each on a processor of its own choice, and the collectives by which they wait
//! for one another.

use std::array;
use std::collections::{BTreeMap, BTreeSet};
use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, scope, yield_now};

use nix::sys::resource::{Usage, UsageWho, getrusage};

use mmgp_base::error::{Error, Result};

use crate::clock::{Stopwatch, processor_time};
use crate::pin::restrict;

/// Threads of one process that share memory, by their ranks.
struct Team {
    clock: Stopwatch,
    ranks: Vec<Mailbox>,
    /// Whether several are on one processor: who waits gives way to them there, as ranks of MPI do that are
    /// told so.
    is_crowded: bool,
}

/// Steps of collectives among so many ranks as there can be.
const STEPS: usize = 16;

/// What the others write for a rank; nobody else reads it.
struct Mailbox {
    /// The last barrier of which the news came, for each step.
    signals: [Line<AtomicU64>; STEPS],
    /// Two letters of each step, turn about: a partner may be a call ahead.
    letters: [[Line<Letter>; 2]; STEPS],
}

/// A value alone in what a processor fetches at a time, two lines with the one that it guesses.
#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

#[derive(Default)]
struct Letter {
    value: AtomicU64,
    call: AtomicU64,
}

/// A thread of the team.
pub struct Member<'a> {
    team: &'a Team,
    rank: usize,
    barriers: u64,
    sums: u64,
}

/// What a thread did between two instants of the team's clock \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Begin.
    pub begin: f64,
    /// End.
    pub end: f64,
    /// Time that it had a processor.
    pub processor: f64,
    /// How often it lost or gave away its processor.
    pub switches: u64,
}

/// Runs `work` once on each of these processors, at once; what comes of it, by rank.
///
/// # Errors
/// Where threads cannot be started.
pub fn on_processors<T: Send>(
    processors: &[usize],
    work: impl Fn(&mut Member<'_>) -> T + Sync,
) -> Result<Vec<T>> {
    let distinct = processors.iter().collect::<BTreeSet<_>>().len();
    let mailbox = |_| Mailbox {
        signals: array::from_fn(|_| Line::default()),
        letters: array::from_fn(|_| array::from_fn(|_| Line::default())),
    };
    let team = &Team {
        clock: Stopwatch::start(),
        ranks: (0..processors.len()).map(mailbox).collect(),
        is_crowded: distinct < processors.len(),
    };
    let (all_are_there, work) = (&OnceLock::<bool>::new(), &work);
    scope(|scope| {
        let start = |(rank, &processor): (usize, &usize)| {
            let mut member = Member { team, rank, barriers: 0, sums: 0 };
            Builder::new().spawn_scoped(scope, move || {
                // Where nobody may choose, that has been said.
                let _ = restrict(&[processor]);
                all_are_there.wait().then(|| work(&mut member))
            })
        };
        let threads: Vec<_> = processors.iter().enumerate().map(start).collect();
        // Those that wait for one that never comes would wait for ever.
        let _ = all_are_there.set(threads.iter().all(|it| it.is_ok()));
        let joined = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, _>>| match thread {
            Ok(thread) => Ok(thread.join().expect("invariant: what is measured does not panic")),
            Err(source) => Err(not_started(processors.len(), &source)),
        };
        let results: Result<Vec<Option<T>>> = threads.into_iter().map(joined).collect();
        Ok(results?.into_iter().flatten().collect())
    })
}

fn not_started(count: usize, why: &std::io::Error) -> Error {
    Error::Program {
        program: "micro-benchmarks".into(),
        why: format!("{count} threads could not be started: {why}"),
    }
}

impl Member<'_> {
    /// The rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Waits for all to come here, does the work, and waits for the others to have done theirs: whatever else it
    /// did would take its processor from them.
    pub fn timed(&mut self, work: impl FnOnce(&mut Self)) -> Span {
        self.barrier();
        let (processor, switches) = (processor_time(), switches());
        let begin = self.team.clock.elapsed().0;
        work(self);
        let end = self.team.clock.elapsed().0;
        let processor = processor_time().0 - processor.0;
        let switches = self::switches() - switches;
        self.barrier();
        Span { begin, end, processor, switches }
    }

    /// Waits for all, in ceil(log2 n) steps of a dissemination (Hensgen, Finkel and Manber 1988).
    pub fn barrier(&mut self) {
        self.barriers += 1;
        let size = self.team.ranks.len();
        for step in (0..STEPS).take_while(|step| 1 << step < size) {
            let partner = (self.rank + (1 << step)) % size;
            self.team.ranks[partner].signals[step].0.store(self.barriers, Ordering::Release);
            let signal = &self.team.ranks[self.rank].signals[step].0;
            self.wait(|| signal.load(Ordering::Acquire) >= self.barriers);
        }
    }

    /// The sum of the values of all, by recursive doubling; ranks beyond a power of two have a partner
    /// that adds for them.
    pub fn sum(&mut self, mut value: f64) -> f64 {
        self.sums += 1;
        let size = self.team.ranks.len();
        let steps = size.ilog2() as usize;
        let doubling = 1 << steps;
        if self.rank >= doubling {
            self.send(self.rank - doubling, steps, value);
            return self.receive(steps);
        }
        let has_partner = self.rank + doubling < size;
        if has_partner {
            value += self.receive(steps);
        }
        for step in 0..steps {
            self.send(self.rank ^ (1 << step), step, value);
            value += self.receive(step);
        }
        if has_partner {
            self.send(self.rank + doubling, steps, value);
        }
        value
    }

    fn send(&self, to: usize, step: usize, value: f64) {
        let letter = &self.team.ranks[to].letters[step][self.sums as usize % 2].0;
        letter.value.store(value.to_bits(), Ordering::Relaxed);
        letter.call.store(self.sums, Ordering::Release);
    }

    fn receive(&self, step: usize) -> f64 {
        let letter = &self.team.ranks[self.rank].letters[step][self.sums as usize % 2].0;
        self.wait(|| letter.call.load(Ordering::Acquire) == self.sums);
        f64::from_bits(letter.value.load(Ordering::Relaxed))
    }

    /// Waits, at once or with others on the same processor.
    pub fn wait(&self, is_over: impl Fn() -> bool) {
        while !is_over() {
            if self.team.is_crowded { yield_now() } else { spin_loop() }
        }
    }
}

/// Switches from this thread to another so far, by its will and against it.
fn switches() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD);
    let count =
        |usage: Usage| usage.voluntary_context_switches() + usage.involuntary_context_switches();
    usage.map_or(0, |usage| count(usage) as u64)
}

/// The time from the first begin to the last end \[s\].
pub fn time(spans: &[Span]) -> f64 {
    let begin = spans.iter().map(|it| it.begin).fold(f64::INFINITY, f64::min);
    spans.iter().map(|it| it.end).fold(0.0, f64::max) - begin
}

/// The most time that others had one of the processors, from the first begin of a thread on it to the last end
/// \[s\].
pub fn lost_s(spans: &[Span], processors: &[usize]) -> f64 {
    let mut on_each: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for (&span, &processor) in spans.iter().zip(processors) {
        on_each.entry(processor).or_default().push(span);
    }
    let lost_s = |spans: &Vec<Span>| time(spans) - spans.iter().map(|it| it.processor).sum::<f64>();
    on_each.values().map(lost_s).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_the_sum_of_all_and_none_passes_a_barrier_before_the_last_came() {
        for size in [1, 2, 3, 4, 5, 8, 11] {
            let arrived = AtomicU64::new(0);
            let wrong = on_processors(&vec![0; size], |member| {
                let mut wrong = 0;
                for call in 0..50 {
                    let term = |rank: usize| (call * rank * rank) as f64;
                    let sum = member.sum(term(member.rank()));
                    wrong += usize::from(sum != (0..size).map(term).sum::<f64>());
                    arrived.fetch_add(1, Ordering::Relaxed);
                    member.barrier();
                    wrong +=
                        usize::from(arrived.load(Ordering::Relaxed) < (size * (call + 1)) as u64);
                    member.barrier();
                }
                wrong
            });
            assert_eq!(wrong.unwrap(), vec![0; size], "{size}");
        }
    }

    #[test]
    fn a_processor_is_lost_for_as_long_as_none_of_its_threads_had_it() {
        let span = |begin, end, processor| Span { begin, end, processor, switches: 0 };
        let spans = [span(1.0, 3.0, 1.0), span(1.0, 5.0, 3.0), span(1.0, 2.0, 0.8)];
        // Two threads in turns on processor 0, which had it all the time; a fifth of 1 was others'.
        let lost_s = lost_s(&spans, &[0, 0, 1]);
        approx::assert_relative_eq!(lost_s, 0.2, max_relative = 1e-12);
        assert_eq!(time(&spans), 4.0);
    }
}

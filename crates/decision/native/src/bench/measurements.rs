//! What is measured, how it is done once, and the row that this becomes.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Thread, current, park, yield_now};

use mmgp_base::error::{Result, Warning};
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::table::records::{
    Alpha, Collective, ContextSwitch, MemoryStream, Offload, OffloadMode,
};

use super::here::Here;
use super::repetitions::Timed;
use super::team::{Member, Span, lost_s, on_processors, time};

/// Sizes of the matrices, as in the MMGP paper: 100 to 500.
const MATRIX_SIZES: [u32; 5] = [100, 200, 300, 400, 500];
/// Sizes of the ping-pong's messages: whole words.
const MESSAGE_BYTES: [u64; 7] = [8, 64, 256, 1024, 4096, 16384, 65536];
/// Threads that take turns on one processor.
const TAKING_TURNS: [u32; 3] = [2, 4, 8];
/// The share of yields that must switch so that they measure a switch: a kernel may let a thread that
/// yields go on.
const SWITCHING: f64 = 0.9;
/// What is repeated within a row is repeated for so long \[s\]: some ten thousand readings of a clock, and
/// less than a scheduler's time slice.
const SHORTEST_S: f64 = 2e-3;

/// What is measured.
pub struct Measurement<'a> {
    /// File that has its rows.
    pub file: &'static str,
    /// The least time of a row \[s\]: that many calls are made.
    pub shortest_s: f64,
    /// A repetition of so many calls.
    pub once: Box<dyn Fn(u64) -> Result<Timed> + 'a>,
    /// Adds the row of a repetition.
    pub add: Box<AddRow>,
}

/// Adds the row of the repetition of that number to its table.
type AddRow = dyn Fn(&mut MicroBenchmarks, u32, Timed);

/// All that can be measured here, and what cannot.
///
/// # Errors
/// Where threads cannot be started.
pub fn all<'a>(
    here: &'a Here,
    collective_file: &'static str,
) -> Result<(Vec<Measurement<'a>>, Vec<Warning>)> {
    let mut warnings = Vec::new();
    let mut all = alpha(here);
    all.extend(offload(here, &mut warnings));
    all.extend(context_switch(here, &mut warnings)?);
    all.extend(collective(here, collective_file));
    all.extend(memory(here));
    Ok((all, warnings))
}

/// Work of threads at once, on these processors, that many calls each.
fn at_once(
    processors: &[usize],
    calls: u64,
    work: impl Fn(&mut Member<'_>) -> Span + Sync,
) -> Result<Timed> {
    let spans = on_processors(processors, work)?;
    Ok(Timed { time_s: time(&spans), count: calls, lost_s: lost_s(&spans, processors) })
}

/// Concurrent products of square matrices of doubles, one to a thread.
fn alpha(here: &Here) -> Vec<Measurement<'_>> {
    let one = |matrix_size: u32, processes: u32| Measurement {
        file: "alpha.csv",
        shortest_s: 0.0,
        once: Box::new(move |calls| {
            at_once(&here.places(processes), calls, |member| {
                let size = matrix_size as usize;
                let [a, b] = [1.0, 0.5].map(|value| vec![value; size * size]);
                let mut product = vec![0.0; size * size];
                let span = member.timed(|_| multiply(&a, &b, &mut product, size));
                black_box(product);
                span
            })
        }),
        add: Box::new(move |tables, repetition, Timed { time_s, .. }| {
            tables.alpha.push(Alpha { matrix_size, processes, repetition, time_s });
        }),
    };
    let of_size = |size| here.threads().into_iter().map(move |processes| one(size, processes));
    MATRIX_SIZES.into_iter().flat_map(of_size).collect()
}

/// `c[i][j]` is the sum over k of `a[i][k] * b[k][j]`, as three nested loops write it.
fn multiply(a: &[f64], b: &[f64], c: &mut [f64], size: usize) {
    for (row, c) in a.chunks(size).zip(c.chunks_mut(size)) {
        for (j, c) in c.iter_mut().enumerate() {
            *c = row.iter().zip(b[j..].iter().step_by(size)).map(|(a, b)| a * b).sum();
        }
    }
}

/// A message to a worker that waits for it on another processor, and back: both store it word by word, set a
/// flag, and load what the other one left.
fn offload<'a>(here: &'a Here, warnings: &mut Vec<Warning>) -> Vec<Measurement<'a>> {
    if here.processors.len() < 2 {
        warnings.push(Warning::Note(
            "offload.csv: a worker needs a processor beside that of its host, and there is one"
                .into(),
        ));
        return Vec::new();
    }
    let one = |bytes: u64| Measurement {
        file: "offload.csv",
        shortest_s: SHORTEST_S,
        once: Box::new(move |calls| {
            let words = || (0..bytes / 8).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
            let buffers = [words(), words()];
            let flags: [Flag; 2] = Default::default();
            at_once(&here.places(2), calls, |member| {
                member.timed(|member| {
                    let own = member.rank();
                    for call in 1..=calls {
                        if own == 0 {
                            send(&buffers[0], &flags[0], call);
                        }
                        member.wait(|| flags[1 - own].0.load(Ordering::Acquire) == call);
                        black_box(buffers[1 - own].iter().fold(0, |sum: u64, word| {
                            sum.wrapping_add(word.load(Ordering::Relaxed))
                        }));
                        if own == 1 {
                            send(&buffers[1], &flags[1], call);
                        }
                    }
                })
            })
        }),
        add: Box::new(move |tables, repetition, Timed { time_s, count: round_trips, .. }| {
            let mode = OffloadMode::PingPong;
            tables.offload.push(Offload { bytes, repetition, round_trips, time_s, mode });
        }),
    };
    MESSAGE_BYTES.map(one).into()
}

/// A flag in a line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Flag(AtomicU64);

fn send(message: &[AtomicU64], flag: &Flag, call: u64) {
    for word in message {
        word.store(call, Ordering::Relaxed);
    }
    flag.0.store(call, Ordering::Release);
}

/// Threads on one processor that do nothing but take turns, by yielding or by waking the next and sleeping.
///
/// The time is the processor's that they had together, so that it is theirs where others have the processor
/// as well; the switches are those that the operating system counts.
fn context_switch<'a>(here: &'a Here, warnings: &mut Vec<Warning>) -> Result<Vec<Measurement<'a>>> {
    if !here.is_pinned {
        warnings.push(Warning::Note(
            "context_switch.csv: threads that may not be kept on one processor need not switch"
                .into(),
        ));
        return Ok(Vec::new());
    }
    let mut modes: Vec<(&str, Turns)> = vec![("yield", yields), ("futex", hand_overs)];
    let (few, yields_each) = (TAKING_TURNS[0], 1000);
    let tried = yields(&here.turns(few), yields_each)?;
    if (tried.count as f64) < SWITCHING * f64::from(few) * yields_each as f64 {
        modes.remove(0);
        warnings.push(Warning::Note(
            "context_switch.csv: without yields, after which this kernel lets the same thread go on".into(),
        ));
    }
    let one = |(mode, turns): (&'static str, Turns), processes: u32| Measurement {
        file: "context_switch.csv",
        shortest_s: SHORTEST_S,
        once: Box::new(move |calls| turns(&here.turns(processes), calls)),
        add: Box::new(move |tables, repetition, Timed { time_s, count: switches, .. }| {
            let mode = mode.into();
            tables.context_switch.push(ContextSwitch {
                processes,
                repetition,
                switches,
                time_s,
                mode,
            });
        }),
    };
    let of_mode = |mode| TAKING_TURNS.map(|processes| one(mode, processes));
    Ok(modes.into_iter().flat_map(of_mode).collect())
}

/// Threads on one processor that take so many turns each.
type Turns = fn(&[usize], u64) -> Result<Timed>;

/// Time and number of the switches of threads that had one processor in turns.
fn switched(spans: &[Span]) -> Timed {
    Timed {
        time_s: spans.iter().map(|it| it.processor).sum(),
        count: spans.iter().map(|it| it.switches).sum::<u64>().max(1),
        lost_s: 0.0,
    }
}

/// Who has done with yielding still gives way to the others, at the barrier.
fn yields(processors: &[usize], calls: u64) -> Result<Timed> {
    let yields = |member: &mut Member<'_>| member.timed(|_| (0..calls).for_each(|_| yield_now()));
    Ok(switched(&on_processors(processors, yields)?))
}

fn hand_overs(processors: &[usize], calls: u64) -> Result<Timed> {
    let turn = AtomicU64::new(0);
    let threads: Vec<OnceLock<Thread>> = processors.iter().map(|_| OnceLock::new()).collect();
    let spans = on_processors(processors, |member| {
        let next = &threads[(member.rank() + 1) % threads.len()];
        threads[member.rank()].get_or_init(current);
        let first = member.rank() as u64;
        member.timed(|_| {
            for own in (first..).step_by(threads.len()).take(calls as usize) {
                while turn.load(Ordering::Acquire) != own {
                    park();
                }
                turn.store(own + 1, Ordering::Release);
                next.wait().unpark();
            }
        })
    })?;
    Ok(switched(&spans))
}

/// Name, bytes of each rank, and a call.
type Operation = (&'static str, u64, fn(&mut Member<'_>));

/// Barriers, and sums of a double over all threads.
fn collective<'a>(here: &'a Here, file: &'static str) -> Vec<Measurement<'a>> {
    let operations: [Operation; 2] = [
        ("barrier", 0, |member| member.barrier()),
        ("allreduce", 8, |member| {
            black_box(member.sum(1.0));
        }),
    ];
    let one = |(operation, bytes, call): Operation, ranks: u32| Measurement {
        file,
        shortest_s: SHORTEST_S,
        once: Box::new(move |calls| {
            at_once(&here.places(ranks), calls, |member| {
                member.timed(|member| (0..calls).for_each(|_| call(member)))
            })
        }),
        add: Box::new(move |tables, repetition, Timed { time_s, count: calls, .. }| {
            let operation = operation.into();
            tables.collective.push(Collective {
                operation,
                ranks,
                bytes,
                repetition,
                calls,
                time_s,
            });
        }),
    };
    let of_one = |operation| here.threads().into_iter().map(move |ranks| one(operation, ranks));
    operations.into_iter().flat_map(of_one).collect()
}

/// Threads that each copy their share of more than all caches hold.
fn memory(here: &Here) -> Vec<Measurement<'_>> {
    let one = |accelerators: u32| {
        let share = here.beyond_caches() / 2 / u64::from(accelerators);
        Measurement {
            file: "memory.csv",
            shortest_s: 0.0,
            once: Box::new(move |calls| {
                at_once(&here.places(accelerators), calls, |member| {
                    let [from, mut to] = [1_u8, 2].map(|value| vec![value; share as usize]);
                    // The first copy also finds where all of it lies.
                    to.copy_from_slice(&from);
                    black_box(&mut to);
                    let span = member.timed(|_| to.copy_from_slice(&from));
                    black_box(to);
                    span
                })
            }),
            add: Box::new(move |tables, repetition, Timed { time_s, .. }| {
                let bytes = 2 * share;
                tables.memory.push(MemoryStream { accelerators, bytes, repetition, time_s });
            }),
        }
    };
    let processors = here.processors.len() as u32;
    here.threads().into_iter().filter(|&threads| threads <= processors).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_that_of_matrices() {
        let mut product = [0.0; 4];
        multiply(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &mut product, 2);
        assert_eq!(product, [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn where_threads_may_not_be_kept_on_a_processor_no_turns_are_measured() {
        let (mut here, mut warnings) = (Here::new(), Vec::new());
        here.is_pinned = false;
        assert!(context_switch(&here, &mut warnings).unwrap().is_empty());
        let said: Vec<String> = warnings.iter().map(Warning::to_string).collect();
        assert!(
            said[0].starts_with("context_switch.csv: threads that may not be kept"),
            "{said:?}"
        );
    }

    #[test]
    fn turns_are_counted_by_the_operating_system_and_every_hand_over_is_one_at_least() {
        let here = Here::new();
        if !here.is_pinned {
            return;
        }
        let (threads, turns) = (3, 200);
        let timed = hand_overs(&here.turns(threads), turns).unwrap();
        assert!(timed.count >= u64::from(threads) * turns - u64::from(threads), "{timed:?}");
        // A call of the system and back takes longer than this, ever since there are clocks of some GHz.
        assert!(timed.of_one() > 50e-9, "{timed:?}");
    }
}

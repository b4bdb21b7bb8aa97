//! The micro-benchmarks: each measures one term in isolation.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use super::ClockPhases;
use super::product::Product;
use mmgp_base::error::Result;
use mmgp_base::table::records::{Alpha, Collective, ContextSwitch, Offload, OffloadMode};
use mmgp_base::units::SimTime;
use mmgp_cell::mpi::Communicator;
use mmgp_cell::ppe::Work;
use mmgp_cell::{Blade, KernelTiming, Spe};
use mmgp_machine::Machine;
use mmgp_runtime::{Call, Edtlp, Loop, Policy, Process, Runtime, Signalling, SpeProgram};

/// Sizes of the matrices, as in the MMGP paper: 100 to 500.
const MATRIX_SIZES: [u32; 5] = [100, 200, 300, 400, 500];
/// Sizes of the ping-pong's messages: whole doublewords, which a store moves.
const MESSAGE_BYTES: [u64; 5] = [8, 16, 32, 64, 128];
const ROUND_TRIPS: u64 = 1000;
/// Processes that give way to each other on one hardware thread.
const YIELDING: [u32; 3] = [2, 4, 8];
const YIELDS: u64 = 1000;
/// The loop around it: counting and comparing.
const YIELD_LOOP: Work =
    Work { integers: 2, loads: 0, stores: 0, floats: 0, divides: 0, branches: 1, code: 12 };
const COLLECTIVE_CALLS: u64 = 200;
const COLLECTIVE_BYTES: u64 = 8;

/// How many runs the micro-benchmarks of this module are, each repetition.
pub(super) fn runs(machine: &Machine) -> usize {
    let spes = machine.layout.spes() as usize;
    MATRIX_SIZES.len() * spes + MESSAGE_BYTES.len() + YIELDING.len() + spes
}

/// Concurrent products of square matrices of doubles, one to a process: for each number of
/// processes up to the machine's SPEs, the time until all are done.
pub fn alpha(machine: &Machine, repetitions: u32, phases: &mut ClockPhases) -> Result<Vec<Alpha>> {
    let mut rows = Vec::new();
    for matrix_size in MATRIX_SIZES {
        let product = Rc::new(Product::new(machine, matrix_size));
        for processes in 1..=machine.layout.spes() {
            let end = end(machine, Box::new(Edtlp::default()), 0..processes, |on, process| {
                let (product, cell) = (Rc::clone(&product), on.blade().cell_of(process.rank));
                async move { product.compute(&process, cell).await }
            })?;
            for (repetition, time_s) in (1..).zip(phases.readings(machine, end, repetitions)) {
                rows.push(Alpha { matrix_size, processes, repetition, time_s });
            }
        }
    }
    Ok(rows)
}

/// A message from the host to an SPE and back, through memory-mapped local store: the host stores
/// it doubleword by doubleword, sets the flag, and loads what the SPE left when that has set its
/// own.
pub fn offload(
    machine: &Machine,
    repetitions: u32,
    phases: &mut ClockPhases,
) -> Result<Vec<Offload>> {
    let mut rows = Vec::new();
    for bytes in MESSAGE_BYTES {
        let end = end(machine, Box::new(Edtlp::default()), 0..1, |on, process| {
            on.load(&Rc::new(Echo), Signalling::Memory);
            async move {
                for _ in 0..ROUND_TRIPS {
                    process.ping_pong(bytes / 8).await;
                }
            }
        })?;
        for (repetition, time_s) in (1..).zip(phases.readings(machine, end, repetitions)) {
            let (round_trips, mode) = (ROUND_TRIPS, OffloadMode::PingPong);
            rows.push(Offload { bytes, repetition, round_trips, time_s, mode });
        }
    }
    Ok(rows)
}

/// Answers at once.
struct Echo;

impl SpeProgram for Echo {
    async fn call(&self, _: &Spe, _: Call) -> Result<Vec<Loop>> {
        Ok(Vec::new())
    }
}

/// Processes on one hardware thread that do nothing but give way to each other, as programs do under
/// that policy.
pub fn context_switch(
    machine: &Machine,
    policy: &dyn Fn() -> Result<Box<dyn Policy>>,
    repetitions: u32,
    phases: &mut ClockPhases,
) -> Result<Vec<ContextSwitch>> {
    // Ranks so far apart are dealt to the same hardware thread.
    let apart = (machine.layout.cells * machine.layout.threads_per_ppe) as usize;
    let mut rows = Vec::new();
    for processes in YIELDING {
        let ranks = (0..).step_by(apart).take(processes as usize);
        let end = end(machine, policy()?, ranks, |_, process| async move {
            for _ in 0..YIELDS {
                process.work(YIELD_LOOP).await;
                process.give_way().await;
            }
        })?;
        for (repetition, time_s) in (1..).zip(phases.readings(machine, end, repetitions)) {
            let switches = u64::from(processes) * YIELDS;
            let mode = "yield".into();
            rows.push(ContextSwitch { processes, repetition, switches, time_s, mode });
        }
    }
    Ok(rows)
}

/// Sums of a double over all ranks, for each number of ranks up to the machine's SPEs.
pub fn collective(
    machine: &Machine,
    repetitions: u32,
    phases: &mut ClockPhases,
) -> Result<Vec<Collective>> {
    let mut rows = Vec::new();
    for ranks in 1..=machine.layout.spes() {
        let world = RefCell::new(None);
        let end = end(machine, Box::new(Edtlp::default()), 0..ranks, |on, process| {
            let new = || Communicator::new(on.blade(), ranks);
            let world = world.borrow_mut().get_or_insert_with(new).clone();
            async move {
                for _ in 0..COLLECTIVE_CALLS {
                    world.allreduce_sum(&process, 1.0).await;
                }
                process
            }
        })?;
        for (repetition, time_s) in (1..).zip(phases.readings(machine, end, repetitions)) {
            rows.push(Collective {
                operation: "allreduce".into(),
                ranks,
                bytes: COLLECTIVE_BYTES,
                repetition,
                calls: COLLECTIVE_CALLS,
                time_s,
            });
        }
    }
    Ok(rows)
}

/// When the programs of all `ranks` have ended, which began together.
fn end<F: Future + 'static>(
    machine: &Machine,
    policy: Box<dyn Policy>,
    ranks: impl IntoIterator<Item = u32>,
    program: impl Fn(&Runtime, Rc<Process>) -> F,
) -> Result<SimTime> {
    let on = Runtime::new(Blade::new(machine, KernelTiming::Cached, 0.0), policy);
    let blade = on.blade();
    for rank in ranks {
        let process = Rc::new(on.process(rank, vec![0]));
        let life = program(&on, Rc::clone(&process));
        blade.sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            life.await;
            process.release();
        });
    }
    blade.run()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use mmgp_machine::Collectives;
    use mmgp_runtime::Linux;

    fn qs20() -> Machine {
        Machine::named("qs20").unwrap()
    }

    #[test]
    fn products_slow_each_other_down_where_they_share_a_core_and_then_a_thread() {
        let rows = alpha(&qs20(), 1, &mut ClockPhases::new(1)).unwrap();
        let alpha = |size, processes| {
            let time = |processes| {
                let is = |r: &&Alpha| r.matrix_size == size && r.processes == processes;
                rows.iter().find(is).unwrap().time_s
            };
            time(processes) / time(1)
        };
        // Two Cells, two threads each: 1 alone, and twice as long where each thread has two
        // processes one after the other.
        assert_relative_eq!(alpha(100, 2), 1.0, max_relative = 1e-3);
        assert_relative_eq!(alpha(100, 8), 2.0 * alpha(100, 4), max_relative = 1e-3);
        // Columns of 100 lines meet in the first-level cache, two matrices of 320 KB do not fit the
        // second level together, and two of 1.28 MB wait for memory most of the time, alone or not,
        // where nobody holds up the other one.
        assert!(alpha(100, 4) > 1.28 && alpha(100, 4) < alpha(200, 4));
        assert!(alpha(400, 4) > 1.0 && alpha(400, 4) < 1.28);
    }

    #[test]
    fn a_round_trip_is_the_sum_of_its_crossings() {
        let rows = offload(&qs20(), 1, &mut ClockPhases::new(1)).unwrap();
        // Stores: stop, start and one for each doubleword, 100 ns each; 24 cycles until the SPE
        // notices; loads: stop and one for each doubleword, 150 ns each.
        for row in rows {
            let doublewords = row.bytes as f64 / 8.0;
            let by_hand = (2.0 + doublewords) * 100e-9 + 7.5e-9 + (1.0 + doublewords) * 150e-9;
            assert_relative_eq!(row.time_s / 1000.0, by_hand, max_relative = 1e-3);
        }
    }

    /// A switch under a policy: the seconds, a page of code translated again (60 cycles; its line is
    /// shared and still there), and 10 cycles of loop.
    fn check<P: Policy + Default + 'static>(switch: f64) {
        let under = || -> Result<Box<dyn Policy>> { Ok(Box::new(P::default())) };
        let rows = context_switch(&qs20(), &under, 1, &mut ClockPhases::new(1)).unwrap();
        assert_eq!(rows.len(), YIELDING.len());
        for row in rows {
            let by_hand = switch + 70.0 / 3.2e9;
            assert_relative_eq!(row.time_s / row.switches as f64, by_hand, max_relative = 2e-3);
        }
    }

    #[test]
    fn giving_way_costs_the_switch_of_the_scheduler_that_programs_run_under() {
        check::<Edtlp>(1.5e-6);
        check::<Linux>(qs20().linux.services.yield_.0);
    }

    #[test]
    fn collectives_cost_what_the_table_says_where_it_is_asked_and_coming_back_to_a_shared_thread() {
        let mut machine = qs20();
        machine.mpi.collectives = Collectives::Table;
        let rows = collective(&machine, 1, &mut ClockPhases::new(1)).unwrap();
        let per_call = |ranks: usize| rows[ranks - 1].time_s / COLLECTIVE_CALLS as f64;
        assert_eq!(per_call(1), 0.0);
        assert_relative_eq!(per_call(4), 118e-6, max_relative = 1e-3);
        // Sixteen ranks on four threads: each thread switches four times a call.
        assert!(per_call(16) > 842e-6 && per_call(16) < 842e-6 + 4.0 * 1.6e-6);
    }

    #[test]
    fn collectives_of_messages_take_longer_the_more_ranks_share_a_thread() {
        let rows = collective(&qs20(), 1, &mut ClockPhases::new(1)).unwrap();
        let per_call = |ranks: usize| rows[ranks - 1].time_s / COLLECTIVE_CALLS as f64;
        assert_eq!(per_call(1), 0.0);
        // One exchange, then two, three and four, by one, one, two and four ranks on a thread.
        assert!(2.0 * per_call(2) < per_call(4), "{} {}", per_call(2), per_call(4));
        assert!(2.0 * per_call(4) < per_call(8), "{} {}", per_call(4), per_call(8));
        assert!(2.0 * per_call(8) < per_call(16), "{} {}", per_call(8), per_call(16));
    }
}

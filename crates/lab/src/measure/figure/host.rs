//! Figures of the host: its caches, its pipeline, what its threads leave to each other, what giving its processor
//! away costs under Linux, what a program whose workers do so gets done, and messages, of MPI and among SPEs.

use std::rc::Rc;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::MessageTime;
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds, SimSpan};
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_cell::mpi::Communicator;
use mmgp_cell::ppe::{Arithmetic, HostCompiler, Order, Stream, Timed};
use mmgp_cluster::Link;
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_runtime::{Edtlp, Linux, Policy};

use super::super::memory::Indexing::{self, Index, Pointer};
use super::super::memory::{self};
use super::super::product::Product;
use super::super::{ClockPhases, micro, task_profile};
use super::{Bench, Program, transfers};
use crate::measure::messages::times;

pub(super) const PROGRAMS: [Program; 20] = [
    Program { name: "cache-chase", measure: cache_chase },
    Program { name: "cache-read", measure: |machine, at| Ok(read(machine, at, Pointer)) },
    Program { name: "cache-read-indexed", measure: |machine, at| Ok(read(machine, at, Index)) },
    Program { name: "ppe-multiply-add", measure: multiply_add },
    Program { name: "pi-gcc", measure: |machine, _| Ok(pi(machine, HostCompiler::Gcc)) },
    Program { name: "pi-xlc", measure: |machine, _| Ok(pi(machine, HostCompiler::Xlc)) },
    Program { name: "smt-gain", measure: smt_gain },
    Program { name: "smt-gain-cross", measure: smt_gain_cross },
    Program { name: "alpha-issue", measure: alpha_issue },
    Program { name: "alpha", measure: alpha },
    Program { name: "context-switch", measure: context_switch },
    Program { name: "sched-yield", measure: sched_yield },
    Program { name: "yield-round", measure: yield_round },
    Program { name: "raxml-edtlp", measure: |machine, at| profile::<Edtlp>(machine, at) },
    Program { name: "raxml-linux", measure: |machine, at| profile::<Linux>(machine, at) },
    Program { name: "collective", measure: collective },
    Program { name: "put-issue", measure: transfers::issue },
    Program { name: "message-transport", measure: transport },
    Program {
        name: "message-rate-within-cell",
        measure: |machine, bytes| rate(machine, Link::WithinCell, bytes),
    },
    Program {
        name: "message-rate-between-cells",
        measure: |machine, bytes| rate(machine, Link::BetweenCells, bytes),
    },
];

/// Time of a switch between two processes on one hardware thread, each of which gives it away as
/// soon as it has it.
fn context_switch(machine: &Machine, _: u32) -> Result<Quantity> {
    const TURNS: u32 = 1000;
    let bench = Bench::new(machine);
    for process in 0..2 {
        // Ranks so far apart are dealt to the same hardware thread.
        let apart = machine.layout.cells * machine.layout.threads_per_ppe;
        let process = bench.blade.host_process(process * apart);
        bench.start(&format!("rank {}", process.rank), async move {
            for _ in 0..TURNS {
                process.resume().await;
                // So that the other one has asked for it meanwhile.
                process.sim.sleep(SimSpan::from_ticks(1)).await;
                process.release();
            }
            Ok(())
        });
    }
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(2 * TURNS))))
}

/// Time of a switch between so many processes on one hardware thread that do nothing but yield.
fn sched_yield(machine: &Machine, processes: u32) -> Result<Quantity> {
    // A process under the machine's Linux gives way by that system call.
    let policy = || -> Result<Box<dyn Policy>> { Ok(Box::new(Linux)) };
    let rows = micro::context_switch(machine, &policy, 1, &mut ClockPhases::new(0))?;
    let row = rows.iter().find(|row| row.processes == processes);
    let row = row.expect("invariant: the micro-benchmark runs two processes");
    Ok(Quantity::Time(Seconds(row.time_s / row.switches as f64)))
}

/// Time in which each of so many processes, dealt to the hardware threads, has yielded once, where they do nothing else.
fn yield_round(machine: &Machine, processes: u32) -> Result<Quantity> {
    const ROUNDS: u32 = 500;
    let bench = Bench::under(machine, &Sharing::kernel(machine));
    for rank in 0..processes {
        let process = bench.blade.host_process(rank);
        bench.start(&format!("rank {rank}"), async move {
            process.resume().await;
            for _ in 0..ROUNDS {
                process.sched_yield().await;
            }
            process.release();
            Ok(())
        });
    }
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(ROUNDS))))
}

/// Time of so many workers with the task profile of RAxML on one Cell, one bootstrap each, over
/// that of one worker.
fn profile<P: Policy + Default + 'static>(machine: &Machine, workers: u32) -> Result<Quantity> {
    const OFFLOADS: u32 = 2000;
    let time = |workers| task_profile::run(machine, workers, Box::new(P::default()), OFFLOADS, 1);
    Ok(Quantity::Ratio(time(workers)?.0 / time(1)?.0))
}

/// Time of the sum of a double over so many ranks, as a benchmark of MPI takes it: one after the other,
/// under the machine's own scheduler.
fn collective(machine: &Machine, ranks: u32) -> Result<Quantity> {
    const CALLS: u32 = 200;
    let bench = Bench::under(machine, &Sharing::kernel(machine));
    let world = Communicator::new(&bench.blade, ranks);
    for rank in 0..ranks {
        let (world, process) = (world.clone(), bench.blade.host_process(rank));
        bench.start(&format!("rank {rank}"), async move {
            process.resume().await;
            for _ in 0..CALLS {
                world.allreduce_sum(&process, 1.0).await;
            }
            process.release();
            Ok(())
        });
    }
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(CALLS))))
}

/// Independent chains of multiply-adds in a loop, and how often its turn has each of them; so many
/// turns.
const CHAINS: u64 = 8;
const UNROLLED: u64 = 8;
const TURNS: u64 = 400;

/// The loop of multiply-adds, as cellmark's: eight chains unrolled eight times.
fn multiply_adds(ppe: &mut Timed) {
    let factor = ppe.constant(0.5);
    let mut chains = [ppe.constant(1.0); CHAINS as usize];
    for _ in 0..TURNS {
        for _ in 0..UNROLLED {
            for chain in &mut chains {
                *chain = ppe.multiply_add(*chain, factor, factor);
            }
        }
        ppe.turn(0);
    }
}

/// A loop of additions of integers.
fn additions(ppe: &mut Timed) {
    let mut chains = [0; CHAINS as usize].map(|zero| ppe.load_word(&zero));
    for _ in 0..TURNS {
        for _ in 0..UNROLLED {
            for chain in &mut chains {
                *chain = ppe.add_constant(*chain, 1);
            }
        }
        ppe.turn(0);
    }
}

/// The innermost loop of a product of matrices, with everything in the first-level cache.
fn scalar_product(ppe: &mut Timed) {
    let mut sum = ppe.constant(0.0);
    for _ in 0..TURNS {
        let (a, b) = (ppe.load(&0.5), ppe.load(&0.25));
        sum = ppe.multiply_add(a, b, sum);
        ppe.turn(2);
    }
}

/// What code executes, its instructions in that order.
fn stream(machine: &Machine, order: Order, code: fn(&mut Timed)) -> Stream {
    Stream::of(Timed::recording(machine, order), code)
}

/// Time of a load whose address is what the one before loaded, in a chase through so many KB.
fn cache_chase(machine: &Machine, kilobytes: u32) -> Result<Quantity> {
    let cycles = memory::load_latency(machine, Bytes(u64::from(kilobytes) << 10));
    Ok(Quantity::Time(Seconds(cycles / machine.clock.0)))
}

/// Rate at which one thread loads vectors from so many KB and adds them up, without prefetching.
fn read(machine: &Machine, kilobytes: u32, indexing: Indexing) -> Quantity {
    let footprint = Bytes(u64::from(kilobytes) << 10);
    Quantity::Bandwidth(memory::read_bandwidth(machine, footprint, indexing))
}

/// Floating-point operations a second of one thread that multiplies and adds doubles in
/// independent chains.
fn multiply_add(machine: &Machine, _: u32) -> Result<Quantity> {
    let cycles = stream(machine, Order::Written, multiply_adds).cycles(machine);
    let seconds = cycles.at(machine.clock).seconds();
    Ok(Quantity::Performance(2.0 * (CHAINS * UNROLLED * TURNS) as f64 / seconds.0))
}

/// Cycles of a turn of the loop that integrates 4 / (1 + x^2) over \[0, 1\] at midpoints.
fn pi(machine: &Machine, compiler: HostCompiler) -> Quantity {
    const TURNS: u32 = 4000;
    let mut ppe = Timed::new(machine, compiler.order());
    let (_, cycles) = (integrate(&mut ppe, TURNS), ppe.cycles());
    Quantity::Cycles(cycles.0 as f64 / f64::from(TURNS))
}

/// The sum of 4 / (1 + x^2) at so many midpoints, over their number; an integer counts them.
fn integrate<A: Arithmetic>(ppe: &mut A, points: u32) -> A::Float {
    let [half, one, four] = [0.5, 1.0, 4.0].map(|constant| ppe.constant(constant));
    let step = ppe.constant(1.0 / f64::from(points));
    let mut sum = ppe.constant(0.0);
    let mut index = ppe.load_word(&0);
    for _ in 0..points {
        let whole = ppe.to_float(index);
        let midpoint = ppe.add(whole, half);
        let x = ppe.multiply(midpoint, step);
        let below = ppe.multiply_add(x, x, one);
        let value = ppe.divide(four, below);
        sum = ppe.add(sum, value);
        index = ppe.add_constant(index, 1);
        ppe.turn(0);
    }
    ppe.multiply(sum, step)
}

/// What two threads of a PPE multiply and add together, over what one does.
fn smt_gain(machine: &Machine, _: u32) -> Result<Quantity> {
    let own = stream(machine, Order::Written, multiply_adds);
    Ok(Quantity::Ratio(2.0 / own.slowdown_beside(machine, &own)))
}

/// What a thread that multiplies and adds doubles does beside one that adds integers, over what it
/// does alone, and what that one does: together.
fn smt_gain_cross(machine: &Machine, _: u32) -> Result<Quantity> {
    let [floats, integers] =
        [multiply_adds, additions].map(|code| stream(machine, Order::Written, code));
    let rates =
        [floats.slowdown_beside(machine, &integers), integers.slowdown_beside(machine, &floats)];
    Ok(Quantity::Ratio(rates.iter().map(|slowdown| 1.0 / slowdown).sum()))
}

/// How much longer the innermost loop of a product of matrices takes beside another one, with
/// everything in the first-level cache.
fn alpha_issue(machine: &Machine, _: u32) -> Result<Quantity> {
    let own = stream(machine, HostCompiler::Gcc.order(), scalar_product);
    Ok(Quantity::Ratio(own.slowdown_beside(machine, &own)))
}

/// How much longer two products of matrices of that size take on the threads of one PPE than one
/// does alone.
fn alpha(machine: &Machine, size: u32) -> Result<Quantity> {
    let product = Rc::new(Product::new(machine, size));
    let [one, two] = [1, 2].map(|threads| {
        let bench = Bench::new(machine);
        for thread in 0..threads {
            let (process, product) = (on_thread(&bench, thread), Rc::clone(&product));
            bench.start(&format!("process {thread}"), async move {
                process.resume().await;
                product.compute(&process, 0).await;
                process.release();
                Ok(())
            });
        }
        bench.run()
    });
    Ok(Quantity::Ratio(two?.0 / one?.0))
}

/// A process on that thread of the PPE of Cell 0; processes are dealt to the Cells first.
fn on_thread(bench: &Bench, thread: u32) -> HostProcess {
    bench.blade.host_process(thread * bench.blade.machine.layout.cells)
}

/// Half a round trip of no bytes between nodes.
fn transport(machine: &Machine, _: u32) -> Result<Quantity> {
    let found = message(machine, Link::BetweenNodes, Bytes(0))?;
    Ok(Quantity::Time(Seconds(found.half_round_trip_s)))
}

/// Rate of messages of that size that follow one another.
fn rate(machine: &Machine, link: Link, bytes: u32) -> Result<Quantity> {
    let found = message(machine, link, Bytes(bytes.into()))?;
    Ok(Quantity::Bandwidth(BytesPerSecond(found.rate_bytes_per_s.0.unwrap_or(0.0))))
}

/// What messages of that size take on a link.
fn message(machine: &Machine, link: Link, bytes: Bytes) -> Result<MessageTime> {
    let mut found = times(machine, &[bytes], 1)?.into_iter();
    found.find(|row| row.link == link.name()).ok_or_else(|| {
        Error::out_of_range("links", link.name(), format!("one that {} has", machine.name))
    })
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use mmgp_cell::ppe::Plain;

    use super::*;

    #[test]
    fn a_turn_of_the_scalar_product_waits_for_its_sum() {
        let machine = Machine::named("qs20").unwrap();
        let stream = stream(&machine, HostCompiler::Gcc.order(), scalar_product);
        assert_relative_eq!(stream.cycles(&machine).0 as f64, 10.0 * TURNS as f64, epsilon = 10.0);
        // Beside another one more than a cycle of a turn is held up, and less than all.
        let slowdown = stream.slowdown_beside(&machine, &stream);
        assert!((1.1..1.9).contains(&slowdown), "{slowdown}");
    }

    #[test]
    fn the_integral_is_pi_and_a_turn_waits_for_its_chain_or_for_its_division() {
        // The midpoint rule is off by h^2 / 6.
        let pi = integrate(&mut Plain, 1000);
        assert_relative_eq!(pi, std::f64::consts::PI, max_relative = 1e-7);
        let machine = Machine::named("qs20").unwrap();
        let cycles = HostCompiler::ALL.map(|compiler| match super::pi(&machine, compiler) {
            Quantity::Cycles(cycles) => cycles,
            other => panic!("{other:?}"),
        });
        let [gcc, xlc, ideal] = cycles;
        // A turn's chain: 40 through memory and 10 to a double, then 10 + 10 + 10 + 74. No turn is
        // shorter than what keeps the unit, 74 and five others.
        assert!(gcc >= 154.0 && xlc >= 79.0 && xlc < ideal && ideal <= gcc, "{cycles:?}");
    }
}

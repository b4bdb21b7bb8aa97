//! Figures of the host: what giving its processor away costs under Linux, what a program whose workers
//! do so gets done, and MPI among its processes.

use super::super::task_profile;
use super::super::{ClockPhases, micro};
use super::{Bench, Program};
use mmgp_base::error::Result;
use mmgp_base::units::{Seconds, SimSpan};
use mmgp_cell::linux::Sharing;
use mmgp_cell::mpi::Communicator;
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_runtime::{Edtlp, Linux, Policy};

pub(super) const PROGRAMS: [Program; 5] = [
    Program { name: "context-switch", measure: context_switch },
    Program { name: "sched-yield", measure: sched_yield },
    Program { name: "raxml-edtlp", measure: |machine, at| profile::<Edtlp>(machine, at) },
    Program { name: "raxml-linux", measure: |machine, at| profile::<Linux>(machine, at) },
    Program { name: "collective", measure: collective },
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

//! Figures of MPI among host processes.

use super::{Bench, Program};
use mmgp_base::error::Result;
use mmgp_base::units::Seconds;
use mmgp_cell::linux::Sharing;
use mmgp_cell::mpi::Communicator;
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;

pub(super) const PROGRAMS: [Program; 1] = [Program { name: "collective", measure: collective }];

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

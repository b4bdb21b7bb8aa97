//! MPI among the host processes.

use std::rc::Rc;

use super::host::HostProcess;
use crate::machine::Machine;
use crate::sim::{Sim, Watch};
use crate::units::SimSpan;

/// All ranks of a program; clones refer to the same.
#[derive(Clone)]
pub struct Communicator {
    sim: Sim,
    size: u32,
    cost: SimSpan,
    meeting: Watch<Meeting>,
}

struct Meeting {
    /// What each rank contributed to the collective under way.
    contributions: Vec<Option<f64>>,
    /// Collectives that are complete.
    complete: u64,
    /// Result of the last one.
    sum: f64,
}

impl Communicator {
    /// A communicator of `size` ranks.
    pub fn new(sim: &Sim, machine: &Rc<Machine>, size: u32) -> Self {
        let meeting = Meeting { contributions: vec![None; size as usize], complete: 0, sum: 0.0 };
        Self {
            sim: sim.clone(),
            size,
            cost: SimSpan::from_seconds(machine.collective_cost(size)),
            meeting: Watch::new(sim, "the other ranks of an MPI_Allreduce", meeting),
        }
    }

    /// The sum of what all ranks contribute, added in the order of ranks.
    ///
    /// A rank gives its hardware thread away while it waits for the slowest; the software cost
    /// runs from the arrival of the last one.
    pub async fn allreduce_sum(&self, process: &HostProcess, value: f64) -> f64 {
        if self.size == 1 {
            return value;
        }
        process.release();
        let round = self.meeting.read(|meeting| meeting.complete);
        let last = self.meeting.update(|meeting| {
            meeting.contributions[process.rank as usize] = Some(value);
            meeting.contributions.iter().all(Option::is_some)
        });
        if last {
            self.sim.sleep(self.cost).await;
            self.meeting.update(|meeting| {
                meeting.sum = meeting.contributions.iter_mut().filter_map(Option::take).sum();
                meeting.complete += 1;
            });
        } else {
            self.meeting.wait_until(|meeting| meeting.complete > round).await;
        }
        let sum = self.meeting.read(|meeting| meeting.sum);
        process.resume().await;
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Blade, KernelTiming};
    use super::*;
    use crate::cell::ppe::Work;

    #[test]
    fn a_collective_waits_for_the_slowest_and_then_costs_what_was_measured() {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let world = Communicator::new(&blade.sim, &blade.machine, 4);
        for rank in 0..4 {
            let (process, world) = (blade.host_process(rank), world.clone());
            blade.sim.spawn(format!("rank {rank}"), async move {
                process.resume().await;
                // Rank 2 alone works for a millisecond.
                let integers = if rank == 2 { 1_600_000 } else { 0 };
                process.work(Work { integers, ..Work::default() }).await;
                let sum = world.allreduce_sum(&process, f64::from(rank)).await;
                assert_eq!(sum, 6.0);
                process.release();
            });
        }
        let end = blade.run().unwrap().seconds().0;
        // The rank with which it shares a core waits by polling.
        assert!((end - (1.28e-3 + 118e-6)).abs() < 1e-9, "{end}");
    }
}

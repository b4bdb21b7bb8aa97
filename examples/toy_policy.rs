//! A policy of one's own: a task gets any SPEs that are idle, and a process that waits yields.

use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;

use crate::{BusyMap, Decision, Pending, Policy, Request, Steps};

/// Leases whatever is idle; a process that waits yields to others until its task is done.
pub struct Greedy;

impl Policy for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn summary(&self) -> &'static str {
        "Any SPEs that are idle, and yields while waiting"
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing::kernel(machine)
    }

    fn leases_own_only(&self) -> bool {
        false
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        let mut idle = spes.idle();
        idle.truncate(request.most_shares as usize);
        spes.lease(&idle).map_or(Decision::Wait, Decision::Spes)
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(async {
            while !pending.is_complete() {
                process.sched_yield().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Loop, Runtime, Signalling, SpeProgram, Task};
    use mmgp_base::error::Result;
    use mmgp_base::units::Cycles;
    use mmgp_cell::{Blade, EffectiveAddress, KernelTiming, Spe};

    /// A millisecond of work at 3.2 GHz, divided among the SPEs that share it.
    struct Work;

    impl SpeProgram for Work {
        async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
            spe.spend(Cycles(3_200_000 / u64::from(call.shares))).await;
            Ok(Vec::new())
        }
    }

    #[test]
    fn two_tasks_have_all_spes_and_the_third_waits_for_one_of_them() {
        let qs20 = Machine::named("qs20").unwrap();
        let blade = Blade::new(&qs20, KernelTiming::Cached, 0.0);
        let on = Runtime::new(blade, Box::new(Greedy));
        on.load(&std::rc::Rc::new(Work), Signalling::Memory);
        for rank in 0..3 {
            let process = on.process(rank, Vec::new());
            on.blade().sim.spawn(format!("rank {rank}"), async move {
                process.resume().await;
                let task = Task::new(0, 8, &|_| EffectiveAddress::default());
                assert_eq!(process.run(task).await, 8);
                process.finish(0);
            });
        }
        let milliseconds = 1e3 * on.blade().run().unwrap().seconds().0;
        assert!((0.25..0.28).contains(&milliseconds), "{milliseconds}");
    }
}

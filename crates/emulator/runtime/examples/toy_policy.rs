//! A policy of one's own: whatever is idle, and a process that waits yields.

use mmgp_base::{Result, units::Cycles};
use mmgp_cell::linux::Sharing;
use mmgp_cell::{Blade, EffectiveAddress, HostProcess, KernelTiming, Spe};
use mmgp_machine::Machine;
use mmgp_runtime::*;

/// Leases whatever is idle; a process that waits yields to others until it is its turn and done.
struct Greedy;

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

/// What runs on the SPEs: a millisecond of work at 3.2 GHz, divided among those that share it.
struct Work;

impl SpeProgram for Work {
    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        spe.spend(Cycles(3_200_000 / u64::from(call.shares))).await;
        Ok(Vec::new())
    }
}

fn main() -> Result<()> {
    let blade = Blade::new(&Machine::named("qs20")?, KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, Box::new(Greedy));
    on.load(&std::rc::Rc::new(Work), Signalling::Memory);
    for rank in 0..3 {
        let process = on.process(rank, Vec::new());
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            let shares = process.run(Task::new(0, 8, &|_| EffectiveAddress::default())).await;
            process.finish(0);
            // Two tasks have the 16 SPEs at once; the third comes when the first of them is done.
            assert_eq!(shares, 8);
        });
    }
    let milliseconds = 1e3 * on.blade().run()?.seconds().0;
    assert!((0.25..0.26).contains(&milliseconds), "{milliseconds}");
    Ok(())
}

//! A whole application: each of m ranks off-loads `rounds` tasks, a second each, to its p SPEs.

use std::rc::Rc;

use mmgp_apps::{Application, Division, Fingerprint, Ran, run::Run};
use mmgp_base::units::{Seconds, SimSpan};
use mmgp_base::{Mapping, Result};
use mmgp_cell::{Blade, EffectiveAddress, KernelTiming, Spe};
use mmgp_runtime::{Call, Edtlp, Loop, Runtime, Signalling, SpeProgram, Task};

#[derive(Debug, Clone)]
struct Toy {
    rounds: u64,
}

impl SpeProgram for Toy {
    const FUNCTIONS: &'static [&'static str] = &["wait"];

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let (start, share) = (spe.sim.now(), Seconds(1.0 / f64::from(call.shares)));
        spe.sim.sleep(SimSpan::from_seconds(share)).await;
        Ok(vec![Loop { start, end: spe.sim.now() }])
    }
}

impl Application for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }
    fn division(&self) -> Division {
        Division::Ranks
    }
    fn steps(&self) -> u64 {
        self.rounds
    }
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let (blade, rounds) = (on.blade(), self.rounds);
        on.load(&Rc::new(self.clone()), Signalling::Memory);
        for (rank, own) in (0..).zip(on.assign(mapping)?) {
            let process = on.process(rank, own);
            blade.sim.spawn(format!("rank {rank}"), async move {
                process.resume().await;
                for _ in 0..rounds {
                    let task = Task::new(0, mapping.p(), &|_| EffectiveAddress::default());
                    process.run(task).await;
                }
                process.finish(0);
            });
        }
        blade.run()?;
        let run = Run::collect(on, mapping, Self::FUNCTIONS);
        Ok(Ran::new(run, Fingerprint::default().counting("rounds", rounds), ()))
    }
}

fn main() -> Result<()> {
    let ps3 = mmgp_machine::Machine::named("ps3")?;
    for mapping in [Mapping::SEQUENTIAL, Mapping::of(1, 2), Mapping::of(2, 3)] {
        let blade = Blade::new(&ps3, KernelTiming::Cached, 0.0);
        let ran =
            Toy { rounds: 3 }.run(&Runtime::new(blade, Box::new(Edtlp::default())), mapping)?;
        // Three seconds over p, and a little for twelve signals.
        assert!((0.0..1e-3).contains(&(ran.run.time.0 - 3.0 / f64::from(mapping.p()))));
        assert_eq!(ran.run.offloads(), 3 * u64::from(mapping.m()));
    }
    Ok(())
}

//! A program of one's own: each rank off-loads tasks of a millisecond, one after the other, to its SPEs.

use std::rc::Rc;

use clap::Args;

use super::{Entry, Program, Size};
use crate::Mapping;
use crate::apps::{Application, Division, Fingerprint, Ran, run::Run};
use crate::cell::{EffectiveAddress, Spe};
use crate::complexity::Sizes;
use crate::error::Result;
use crate::runtime::{Call, Loop, Runtime, Signalling, SpeProgram, Task};
use crate::units::{Seconds, SimSpan};

/// The program on the command line.
pub const ENTRY: Entry =
    Entry::of::<ToyArguments>("toy", "Tasks of a millisecond", Size::new("rounds", &[2, 4, 8]));

/// Flags of the program.
#[derive(Args)]
struct ToyArguments {
    /// Tasks of each rank, one after the other
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: u64,
}

impl Program for ToyArguments {
    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(Toy { rounds: self.rounds }))
    }

    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        Ok(Box::new(Toy { rounds: sizes.of("n").map_or(1, |n| n as u64) }))
    }
}

/// The program, ready to run.
#[derive(Debug, Clone)]
struct Toy {
    rounds: u64,
}

impl Application for Toy {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn division(&self) -> Division {
        Division::Ranks
    }

    fn steps(&self) -> u64 {
        0
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

/// The part that runs on the SPEs: a millisecond, divided by those that share it.
impl SpeProgram for Toy {
    const FUNCTIONS: &'static [&'static str] = &["wait"];

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let (start, share) = (spe.sim.now(), Seconds(1e-3 / f64::from(call.shares)));
        spe.sim.sleep(SimSpan::from_seconds(share)).await;
        Ok(vec![Loop { start, end: spe.sim.now() }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Blade, KernelTiming};
    use crate::machine::Machine;
    use crate::runtime::Edtlp;

    #[test]
    fn three_tasks_take_three_milliseconds_over_p() {
        let ps3 = Machine::named("ps3").unwrap();
        for mapping in [Mapping::SEQUENTIAL, Mapping::of(1, 2), Mapping::of(2, 3)] {
            let on = Runtime::new(
                Blade::new(&ps3, KernelTiming::Cached, 0.0),
                Box::new(Edtlp::default()),
            );
            let run = Toy { rounds: 3 }.run(&on, mapping).unwrap().run;
            // And a little for the signals.
            assert!((0.0..1e-4).contains(&(run.time.0 - 3e-3 / f64::from(mapping.p()))));
            assert_eq!(run.offloads(), 3 * u64::from(mapping.m()));
        }
        assert_eq!(ENTRY.name, "toy");
    }
}

//! A target that answers from a script, at once: for tests of what drives a [`Target`].

use std::sync::{Mutex, PoisonError};

use mmgp_apps::run::Run;
use mmgp_apps::{Application, Division, Fingerprint, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::table::records::Profile;
use mmgp_base::units::Seconds;
use mmgp_cell::Progress;
use mmgp_runtime::Runtime;

use crate::measure::{Layout, Measured, Target};

/// An application that only a script can run.
#[derive(Debug, Clone, Copy)]
pub struct Stub(
    /// How it says that its work is divided.
    pub Division,
);

impl Application for Stub {
    fn name(&self) -> &'static str {
        "stub"
    }

    fn division(&self) -> Division {
        self.0
    }

    fn steps(&self) -> u64 {
        0
    }

    /// Is refused.
    fn run(&self, _: &Runtime, mapping: Mapping) -> Result<Ran> {
        Err(Error::Infeasible { m: mapping.m(), p: mapping.p(), apus: 0 })
    }
}

type Answer = Box<dyn Fn(Mapping) -> Result<Ran> + Send + Sync>;

/// A target whose answers are given beforehand, and which remembers what it was asked for.
pub struct Scripted {
    layout: Layout,
    micro_benchmarks: MicroBenchmarks,
    profile: Vec<Profile>,
    run: Answer,
    asked: Mutex<Vec<Mapping>>,
}

impl Scripted {
    /// A target whose runs come to that. It has no micro-benchmarks and no profile, and any number of
    /// runs may be under way at once.
    pub fn new(
        layout: Layout,
        run: impl Fn(Mapping) -> Result<Ran> + Send + Sync + 'static,
    ) -> Self {
        Self {
            layout,
            micro_benchmarks: MicroBenchmarks::default(),
            profile: Vec::new(),
            run: Box::new(run),
            asked: Mutex::default(),
        }
    }

    /// A target whose runs take so long and find nothing.
    pub fn timed(
        layout: Layout,
        time: impl Fn(Mapping) -> Seconds + Send + Sync + 'static,
    ) -> Self {
        Self::new(layout, move |mapping| {
            Ok(Ran::new(Run::lasting(mapping, time(mapping)), Fingerprint::default(), ()))
        })
    }

    /// The target with these tables of micro-benchmarks, whatever the repetitions and the seed.
    pub fn with_micro_benchmarks(self, micro_benchmarks: MicroBenchmarks) -> Self {
        Self { micro_benchmarks, ..self }
    }

    /// The target with that profile, whatever the workload, the repetitions and the seed.
    pub fn with_profile(self, profile: Vec<Profile>) -> Self {
        Self { profile, ..self }
    }

    /// The mappings that were run so far, in that order.
    pub fn asked(&self) -> Vec<Mapping> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Target for Scripted {
    type Workload = dyn Application;
    type Ran = Ran;

    fn name(&self) -> &str {
        "scripted"
    }

    fn description(&self) -> &str {
        "a script"
    }

    fn run(&self, _: &dyn Application, mapping: Mapping) -> Result<Ran> {
        let apus = self.layout.apus;
        if mapping.apus() > u64::from(apus) {
            return Err(Error::Infeasible { m: mapping.m(), p: mapping.p(), apus });
        }
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(mapping);
        (self.run)(mapping)
    }
}

impl Measured for Scripted {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn at_once(&self) -> usize {
        usize::MAX
    }

    fn micro_benchmark_steps(&self, _: u32) -> u64 {
        1
    }

    fn micro_benchmarks(&self, _: u32, _: u64, progress: &Progress) -> Result<MicroBenchmarks> {
        progress.step();
        Ok(self.micro_benchmarks.clone())
    }

    fn profile_steps(&self, _: &dyn Application, _: u32) -> u64 {
        1
    }

    fn profile(
        &self,
        _: &dyn Application,
        _: u32,
        _: u64,
        progress: &Progress,
    ) -> Result<Vec<Profile>> {
        progress.step();
        Ok(self.profile.clone())
    }
}

//! The emulated machine as a target.

mod watch;

use std::sync::Arc;

use super::target::{Layout, Measured, Target};
use super::{memory, micro};
use crate::measure::ClockPhases;
use mmgp_apps::run::Run;
use mmgp_apps::{Application, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::table::records::Profile;
use mmgp_cell::{Blade, KernelTiming, Progress};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Policy, Runtime, policy_named};
pub use watch::Watch;

/// Finds a scheduler by its name, afresh for every run.
pub type Schedulers = fn(&str) -> Result<Box<dyn Policy>>;

/// An emulated machine. Every run has one of its own, at rest, so any number goes on at once.
#[derive(Debug, Clone)]
pub struct Emulated {
    machine: Machine,
    schedulers: Schedulers,
    scheduler: String,
    watch: Option<Arc<Watch>>,
}

impl Emulated {
    /// The machine of that description, its processes scheduled by [`Edtlp`].
    pub fn new(machine: Machine) -> Self {
        let scheduler = Edtlp::default().name().into();
        Self { machine, schedulers: policy_named, scheduler, watch: None }
    }

    /// The machine with other schedulers to choose from than those that come with the run-time system.
    #[must_use]
    pub fn choosing_from(self, schedulers: Schedulers) -> Self {
        Self { schedulers, ..self }
    }

    /// The machine under the scheduler of that name.
    ///
    /// # Errors
    /// [`UnknownName`](mmgp_base::Error::UnknownName) with the names that there are.
    pub fn under(self, scheduler: &str) -> Result<Self> {
        (self.schedulers)(scheduler)?;
        Ok(Self { scheduler: scheduler.into(), ..self })
    }

    /// The machine with a part of a run watched when its turn comes.
    #[must_use]
    pub fn watched(&self, watch: &Arc<Watch>) -> Self {
        Self { watch: Some(Arc::clone(watch)), ..self.clone() }
    }

    /// The description of the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// A blade at rest under the scheduler.
    fn at_rest(&self, blade: Blade) -> Result<Runtime> {
        Ok(Runtime::new(blade, (self.schedulers)(&self.scheduler)?))
    }

    /// A blade that times kernels once for each shape.
    fn blade(&self) -> Blade {
        Blade::new(&self.machine, KernelTiming::Cached, 0.0)
    }
}

impl Target for Emulated {
    type Workload = dyn Application;
    type Ran = Ran;

    fn name(&self) -> &str {
        &self.machine.name
    }

    fn description(&self) -> &str {
        &self.machine.description
    }

    fn run(&self, workload: &dyn Application, mapping: Mapping) -> Result<Ran> {
        match &self.watch {
            Some(watch) if watch.is_of(mapping) => watch.run(self, workload),
            _ => workload.run(&self.at_rest(self.blade())?, mapping),
        }
    }
}

impl Measured for Emulated {
    fn layout(&self) -> Layout {
        let layout = self.machine.layout;
        let hardware_contexts = layout.cells * layout.threads_per_ppe;
        Layout { apus: layout.spes(), hardware_contexts, memories: layout.cells }
    }

    fn at_once(&self) -> usize {
        usize::MAX
    }

    fn micro_benchmark_steps(&self, repetitions: u32) -> u64 {
        let of_memory = self.machine.layout.spes() as usize;
        u64::from(repetitions) * (micro::runs(&self.machine) + of_memory) as u64
    }

    fn micro_benchmarks(
        &self,
        repetitions: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<MicroBenchmarks> {
        let machine = &self.machine;
        let mut phases = ClockPhases { progress: progress.clone(), ..ClockPhases::new(seed) };
        let policy = || (self.schedulers)(&self.scheduler);
        Ok(MicroBenchmarks {
            alpha: micro::alpha(machine, repetitions, &mut phases)?,
            offload: micro::offload(machine, repetitions, &mut phases)?,
            context_switch: micro::context_switch(machine, &policy, repetitions, &mut phases)?,
            collective: micro::collective(machine, repetitions, &mut phases)?,
            memory: memory::streams(machine, repetitions, &mut phases)?,
        })
    }

    /// The steps of one run, which the clocks of all repetitions read.
    fn profile_steps(&self, workload: &dyn Application, _: u32) -> u64 {
        workload.steps()
    }

    fn profile(
        &self,
        workload: &dyn Application,
        repetitions: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<Vec<Profile>> {
        let clocks = ClockPhases::new(seed).clocks(&self.machine, repetitions);
        let on = self.at_rest(self.blade().telling(progress.clone()).read_by(clocks))?;
        let run = workload.run(&on, Mapping::SEQUENTIAL)?.run;
        let readings = (1..).zip(on.blade().recorder.further());
        let rows = |(repetition, clock)| profile_rows(workload, run.as_shown_by(clock), repetition);
        Ok(readings.flat_map(rows).collect())
    }
}

/// The rows of one sequential run, one for each off-loaded function.
///
/// The host's time of a function is what leads to its off-loads; the collective that ends an
/// evaluation counts for the function before it.
fn profile_rows(app: &dyn Application, run: Run, repetition: u32) -> impl Iterator<Item = Profile> {
    let collective = app.function_before_collective();
    run.functions.into_iter().map(move |function| Profile {
        phase: function.name.to_string(),
        repetition,
        offloads: function.calls,
        collectives: if Some(function.name) == collective { function.calls } else { 0 },
        hpu_time_s: function.host.0,
        apu_parallel_time_s: function.apu_parallel.0,
        apu_serial_time_s: function.apu_serial.0,
        gap_time_s: function.gap.0,
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use mmgp_apps::pbpi::Pbpi;
    use mmgp_apps::phylogeny::{Patterns, simulate};

    /// What counts its steps.
    fn counting() -> (Rc<Cell<u64>>, Progress) {
        let steps = Rc::new(Cell::new(0));
        let counted = Rc::clone(&steps);
        (steps, Progress::new(move || counted.set(counted.get() + 1)))
    }

    fn ps3() -> Emulated {
        Emulated::new(Machine::named("ps3").unwrap())
    }

    #[test]
    fn micro_benchmarks_tell_as_many_runs_as_they_promise() {
        let (steps, progress) = counting();
        let told = ps3().micro_benchmarks(2, 1, &progress).unwrap();
        // Six SPEs: five sizes of products, five of messages, three numbers of processes that
        // yield, collectives and memory.
        assert_eq!(ps3().micro_benchmark_steps(2), 2 * (5 * 6 + 5 + 3 + 6 + 6));
        assert_eq!(steps.get(), ps3().micro_benchmark_steps(2));
        assert_eq!(told, ps3().micro_benchmarks(2, 1, &Progress::default()).unwrap());
    }

    fn pbpi() -> Pbpi {
        let tree = simulate::tree(6, 0.1, 1).unwrap();
        let alignment = simulate::alignment(&tree, &simulate::names(6), 40, 1).unwrap();
        Pbpi::new(Patterns::compress(&alignment), Some(tree), 1, 7).unwrap()
    }

    #[test]
    fn a_profile_tells_every_generation_once() {
        let (steps, progress) = counting();
        let told = ps3().profile(&pbpi(), 3, 1, &progress).unwrap();
        assert_eq!((ps3().profile_steps(&pbpi(), 3), steps.get()), (7, 7));
        assert_eq!(told, ps3().profile(&pbpi(), 3, 1, &Progress::default()).unwrap());
    }

    #[test]
    fn clocks_that_read_one_run_show_what_runs_by_each_of_them_would() {
        let (target, mut phases) = (ps3(), ClockPhases::new(1));
        let by_one = target.profile(&pbpi(), 3, 1, &Progress::default()).unwrap();
        let of_a_run = |repetition| {
            let blade = Blade::new(target.machine(), KernelTiming::Cached, phases.next_phase());
            let on = target.at_rest(blade).unwrap();
            let run = pbpi().run(&on, Mapping::SEQUENTIAL).unwrap().run;
            profile_rows(&pbpi(), run, repetition).collect::<Vec<_>>()
        };
        let by_each: Vec<Vec<Profile>> = (1..=3).map(of_a_run).collect();
        assert_eq!(by_one, by_each.concat());
        let times = |rows: &[Profile]| rows.iter().map(|row| row.hpu_time_s).collect::<Vec<_>>();
        assert_ne!(times(&by_each[0]), times(&by_each[1]));
    }

    #[test]
    fn a_machine_has_the_apus_threads_and_memories_of_its_cells() {
        let qs20 = Emulated::new(Machine::named("qs20").unwrap());
        let layout = Layout { apus: 16, hardware_contexts: 4, memories: 2 };
        assert_eq!((qs20.name(), qs20.layout()), ("qs20", layout));
    }
}

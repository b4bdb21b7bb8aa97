//! The emulated machine as a target.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use mmgp_apps::run::Run;
use mmgp_apps::{Application, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::table::records::Profile;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_cell::trace::chrome::{ChromeTrace, Excerpt};
use mmgp_cell::trace::{Category, Event, Sink};
use mmgp_cell::{Blade, KernelTiming, Progress};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Policy, Runtime, policy_named};

use super::{Layout, Measured, Target};
use super::{memory, micro};
use crate::measure::ClockPhases;

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

/// A part of the run at one mapping that is to be traced.
#[derive(Debug)]
pub struct Watch {
    mapping: Mapping,
    begin: Begin,
    length: SimSpan,
    /// The trace, once it was run.
    trace: Mutex<Option<Vec<u8>>>,
}

/// The begin of a part of a run.
#[derive(Debug, Clone, Copy)]
enum Begin {
    /// The instant when so many off-loads and one more have ended.
    AfterOffloads(u64),
    /// An instant that is given.
    At(SimTime),
}

impl Watch {
    /// A part of that length, after so many off-loads.
    pub fn new(mapping: Mapping, before: u64, length: SimSpan) -> Self {
        let begin = Begin::AfterOffloads(before);
        Self { mapping, begin, length, trace: Mutex::default() }
    }

    /// A part of that length from an instant on, which several runs may have.
    pub fn at(mapping: Mapping, instant: SimTime, length: SimSpan) -> Self {
        Self { mapping, begin: Begin::At(instant), length, trace: Mutex::default() }
    }

    /// Whether it is a part of the run at that mapping.
    pub(super) fn is_of(&self, mapping: Mapping) -> bool {
        self.mapping == mapping
    }

    /// The trace, in Chrome's format, if the run has ended.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs the workload, and keeps the trace.
    pub(super) fn run(&self, on: &Emulated, workload: &dyn Application) -> Result<Ran> {
        let chrome = ChromeTrace::new(Vec::new(), on.machine().layout);
        let excerpt = match self.begin {
            Begin::AfterOffloads(before) => {
                Activity::AfterOffloads(Excerpt::new(chrome, before, self.length))
            }
            Begin::At(from) => Activity::Between(chrome, [from, from + self.length]),
        };
        let excerpt = Rc::new(RefCell::new(excerpt));
        let sink = Rc::clone(&excerpt) as Rc<RefCell<dyn Sink>>;
        let blade = Blade::traced(on.machine(), KernelTiming::Cached, 0.0, sink);
        let ran = workload.run(&on.at_rest(blade)?, self.mapping)?;
        let mut excerpt = excerpt.borrow_mut();
        let chrome = excerpt.chrome();
        chrome.finish().expect("invariant: writing to memory cannot fail");
        let trace = std::mem::take(chrome.out());
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
        Ok(ran)
    }
}

/// What passes on a part of what happens.
enum Activity {
    AfterOffloads(Excerpt<ChromeTrace<Vec<u8>>>),
    /// Spans are cut at both instants. As of an excerpt, there are no DMA commands and no arrows.
    Between(ChromeTrace<Vec<u8>>, [SimTime; 2]),
}

impl Activity {
    /// The trace that it goes to.
    fn chrome(&mut self) -> &mut ChromeTrace<Vec<u8>> {
        match self {
            Self::AfterOffloads(excerpt) => excerpt.sink(),
            Self::Between(chrome, _) => chrome,
        }
    }
}

impl Sink for Activity {
    fn record(&mut self, event: &Event) {
        let (chrome, [from, until]) = match self {
            Self::AfterOffloads(excerpt) => return excerpt.record(event),
            Self::Between(chrome, window) => (chrome, *window),
        };
        let mut cut = *event;
        let Event::Span { category, start, end, .. } = &mut cut else { return };
        if *category == Category::Dma || *end <= from || *start >= until {
            return;
        }
        (*start, *end) = ((*start).max(from), (*end).min(until));
        chrome.record(&cut);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use mmgp_apps::pbpi::Pbpi;
    use mmgp_apps::phylogeny::{Patterns, simulate};
    use mmgp_apps::synthetic::{Burst, Durations, Synthetic};
    use mmgp_base::table::Source;
    use mmgp_base::table::trace::Trace;
    use mmgp_base::units::Seconds;
    use mmgp_machine::Machine;

    use super::*;

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

    #[test]
    fn a_part_from_an_instant_on_is_the_part_that_off_loads_before_it_open() {
        let each = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
        let program = Synthetic::new(3, 40, Durations::constant(each).unwrap(), 7).unwrap();
        let (mapping, length) = (Mapping::of(3, 1), SimSpan::from_seconds(Seconds(400e-6)));
        let ps3 = Emulated::new(Machine::named("ps3").unwrap());
        let trace = |watch: Watch| {
            let watch = std::sync::Arc::new(watch);
            ps3.watched(&watch).run(&program, mapping).unwrap();
            let text = String::from_utf8(watch.take().unwrap()).unwrap();
            Trace::read(&Source::new("trace", &text)).unwrap()
        };
        let opened = trace(Watch::new(mapping, 60, length));
        let spans = || opened.tracks.iter().flat_map(|track| &track.spans);
        let first = spans().map(|span| span.start_s).fold(f64::INFINITY, f64::min);
        let last = spans().map(|span| span.end_s).fold(0.0, f64::max);
        approx::assert_relative_eq!(last - first, 400e-6, max_relative = 1e-9);
        let instant = SimTime::ZERO + SimSpan::from_seconds(Seconds(first));
        let at = trace(Watch::at(mapping, instant, length));
        // The off-load whose end opens the one ends where the other begins.
        assert_eq!(at, opened);
    }
}

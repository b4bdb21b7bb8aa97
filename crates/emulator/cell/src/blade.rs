//! The whole machine, put together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::channel::Channels;
use crate::context::{Code, Loading, SpeImage};
use crate::counts::{Counts, Meter};
use crate::eib::Eib;
use crate::element::Timed;
use crate::event::Timebase;
use crate::fault::Fault;
use crate::hazard::{Detector, Hazards, Watchdog};
use crate::linux::{Scheduler, Sharing};
use crate::memory::Memory;
use crate::memory::{Homes, Placement, Traffic};
use crate::ppe::Ppe;
use crate::record::{Progress, Recorder};
use crate::spe::Spe;
use crate::timing::{KernelTiming, KernelTimings};
use crate::trace::{Sink, Tracer};
use mmgp_base::error::Result;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch};

/// A whole machine at work.
pub struct Blade {
    /// Virtual time.
    pub sim: Sim,
    /// Description.
    pub machine: Rc<Machine>,
    /// Main memory, that of all Cells.
    pub memory: Rc<Memory>,
    /// What happened, for reports.
    pub recorder: Rc<Recorder>,
    /// What happened when, for a viewer.
    pub trace: Tracer,
    /// How far the program is, for a progress bar.
    pub progress: Progress,
    /// Who uses which Cells.
    pub traffic: Rc<Traffic>,
    pub(crate) spes: Vec<Spe>,
    pub(crate) ppes: Rc<Vec<Ppe>>,
    pub(crate) scheduler: Rc<Scheduler>,
    pub(crate) fault: Fault,
    pub(crate) detector: Detector,
    timing: KernelTiming,
    step_by_step: bool,
    timings: Rc<RefCell<KernelTimings>>,
    pub(crate) loading: Watch<Loading>,
    pub(crate) code: Cell<Option<Code>>,
}

/// What machines in one virtual time have in common.
struct Common {
    sim: Sim,
    trace: Tracer,
    fault: Fault,
    timings: Rc<RefCell<KernelTimings>>,
    hazards: Rc<Watchdog>,
}

impl Blade {
    /// A machine at rest, its host processes scheduled [cooperatively](Sharing::cooperative) at first.
    /// `clock_phase` in [0, 1) is how far the timebase is into a tick at the start.
    pub fn new(machine: &Machine, timing: KernelTiming, clock_phase: f64) -> Self {
        Self::alone(machine, timing, clock_phase, (Sim::new(), Tracer::off()))
    }

    /// The same, telling `sink` what happens when.
    pub fn traced(
        machine: &Machine,
        timing: KernelTiming,
        clock_phase: f64,
        sink: Rc<RefCell<dyn Sink>>,
    ) -> Self {
        let sim = Sim::new();
        let trace = Tracer::new(&sim, sink);
        Self::alone(machine, timing, clock_phase, (sim, trace))
    }

    fn alone(
        machine: &Machine,
        timing: KernelTiming,
        clock_phase: f64,
        (sim, trace): (Sim, Tracer),
    ) -> Self {
        let timebase = Timebase::new(machine.timebase, clock_phase);
        let timings = Rc::new(RefCell::new(KernelTimings::new(machine, timing)));
        let hazards = Watchdog::new(&sim);
        Self::build(
            Rc::new(machine.clone()),
            timebase,
            timing,
            Common { fault: Fault::new(&sim), sim, trace, timings, hazards },
        )
    }

    /// Another machine like it at rest, in the same virtual time, whose faults are this one's, too: a run
    /// of either is one of both. Nothing is told of what happens on it.
    pub(crate) fn another(&self) -> Self {
        let common = Common {
            sim: self.sim.clone(),
            trace: Tracer::off(),
            fault: self.fault.clone(),
            timings: Rc::clone(&self.timings),
            hazards: Rc::clone(self.detector.core()),
        };
        let timebase = self.recorder.own().clock();
        Self::build(Rc::clone(&self.machine), timebase, self.timing, common)
    }

    fn build(
        machine: Rc<Machine>,
        timebase: Timebase,
        timing: KernelTiming,
        Common { sim, trace, fault, timings, hazards }: Common,
    ) -> Self {
        let machine_layout = machine.layout;
        let memory = Rc::new(Memory::new(&machine));
        let eib = Rc::new(Eib::new(&sim, &machine, &memory));
        let board = Board::new(&sim, &machine, &eib, timebase, (&fault, &trace, &hazards));
        let spes = (0..machine.layout.spes()).map(|index| Spe::new(&board, &timings, index));
        let (spes, detector) = (spes.collect(), board.detector.clone());
        let ppes = Rc::new(Ppe::of_all_cells(&sim, &machine));
        let sharing = Sharing::cooperative(&machine);
        let scheduler = Rc::new(Scheduler::new(&sim, &machine, &ppes, &sharing));
        let recorder = Rc::new(Recorder::new(timebase));
        let loading = Watch::new(&sim, "the programs of the SPEs", Loading::default());
        Self {
            sim,
            machine,
            memory,
            recorder,
            trace,
            progress: Progress::default(),
            traffic: Rc::new(Traffic::new(&eib, machine_layout)),
            timing,
            step_by_step: false,
            timings,
            spes,
            ppes,
            scheduler,
            fault,
            detector,
            loading,
            code: Cell::new(None),
        }
    }

    /// Chooses whether to look for hazards, before anything runs; see [`Hazards`]. They are ignored
    /// at first, but in the tests of this library.
    pub fn set_hazards(&self, hazards: Hazards) {
        self.detector.core().set_mode(hazards);
    }

    /// Whether what off-loads compute may come first and their times afterwards: where kernels are
    /// timed once for each shape, and nobody wants it [step by step](Self::step_by_step). A hazard is then
    /// reported with the instants at which the off-loads begin.
    pub fn is_functional_first(&self) -> bool {
        self.timing == KernelTiming::Cached && !self.step_by_step
    }

    /// Whether off-loads need compute nothing of which another run knows the results: where nobody
    /// looks for hazards in what they compute, either.
    pub fn takes_known_results(&self) -> bool {
        self.is_functional_first() && self.detector.mode() == Hazards::Ignored
    }

    /// The same machine at rest, each operation of an SPE taking its time as it is done: slower, with the
    /// same times, and hazards are reported with the instants of both sides.
    pub fn step_by_step(self) -> Self {
        Self { step_by_step: true, ..self }
    }

    /// Whether somebody is told of every transfer, so that none may be left out because its time is
    /// known.
    pub fn is_traced(&self) -> bool {
        self.trace.is_on()
    }

    /// The same machine at rest, its processes sharing the hardware threads in that way.
    pub fn under(self, sharing: &Sharing) -> Self {
        let Self { sim, machine, ppes, .. } = &self;
        let scheduler = Rc::new(Scheduler::new(sim, machine, ppes, sharing));
        Self { scheduler, ..self }
    }

    /// The same machine at rest, counting what runs on it: see [`Blade::counts`].
    pub fn counting(self) -> Self {
        self.spes.iter().for_each(|spe| {
            spe.meter.start();
            spe.timings.borrow_mut().count();
        });
        self.recorder.count_hosts();
        self
    }

    /// What ran on it, where it counts.
    pub fn counts(&self) -> Option<Counts> {
        let hosts = self.recorder.host_counts()?;
        let counts = |spe: &Spe| spe.meter.counts(&spe.timings.borrow());
        Some(Counts { spes: self.spes.iter().map(counts).collect(), hosts })
    }

    /// Whether it counts, so that nothing may be left out because its time is known.
    pub fn is_counting(&self) -> bool {
        self.spes.iter().any(|spe| spe.meter.is_on())
    }

    /// The same machine, its program telling how far it is.
    pub fn telling(self, progress: Progress) -> Self {
        Self { progress, ..self }
    }

    /// The same machine at rest, what happens on it read by these clocks as well. Nothing on it goes by
    /// them: the decrementers of its SPEs go by its own timebase.
    pub fn read_by(self, clocks: impl IntoIterator<Item = Timebase>) -> Self {
        let recorder = Rc::new(self.recorder.beside(clocks));
        Self { recorder, ..self }
    }

    /// The SPE with that number, counted through all Cells.
    pub fn spe(&self, index: u32) -> &Spe {
        &self.spes[index as usize]
    }

    /// The Cell on which the host process `rank` runs.
    pub fn cell_of(&self, rank: u32) -> u32 {
        rank % self.machine.layout.cells
    }

    /// The memory of the host process `rank`, whose SPEs are `spes`.
    pub fn homes(&self, placement: Placement, rank: u32, spes: &[u32]) -> Homes {
        let (own, layout) = (self.cell_of(rank), self.machine.layout);
        let cells: Vec<u32> = spes.iter().map(|spe| spe / layout.spes_per_cell).collect();
        let all = if placement == Placement::Interleaved { layout.cells } else { 0 };
        (0..all).chain(cells.iter().copied()).chain([own]).for_each(|cell| {
            self.traffic.uses(rank, cell);
        });
        Homes::new(&self.memory, placement, own, cells)
    }

    /// Runs everything to its end; the instant of the last event.
    pub fn run(&self) -> Result<SimTime> {
        let ended = self.sim.run();
        // A program that broke a rule leaves others waiting: the fault is the cause.
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => {
                let end = ended?;
                self.detector.core().finish()?;
                Ok(end)
            }
        }
    }

    /// Place where a program that breaks a rule says so.
    pub fn fault(&self) -> Fault {
        self.fault.clone()
    }

    /// DMA commands of all SPEs so far.
    pub fn dma_commands(&self) -> u64 {
        self.spes.iter().map(|spe| spe.mfc.commands()).sum()
    }

    /// How often a hardware thread changed from one process to another.
    pub fn context_switches(&self) -> u64 {
        self.scheduler.switches()
    }

    /// The code of the program that its SPEs have been given last, if any.
    pub fn code(&self) -> Option<Code> {
        self.code.get()
    }

    /// Creates a context on every SPE and loads the image, which lies in the memory of the first
    /// Cell; the processes of the host wait for that before they begin.
    ///
    /// Left out: reading the program from a disk, and the time of filling what is to be zero.
    ///
    /// # Errors
    /// [`LocalStoreFull`](mmgp_spu::LocalStoreFull) where the image does not fit, [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where zeros are not
    /// in its buffers.
    pub fn create_contexts(&self, image: &SpeImage) -> Result<()> {
        image.check(self.machine.spu.local_store)?;
        let (source, size) = (self.memory.allocate(0, image.loaded()), image.loaded());
        self.memory.write(source.offset(image.code.0), image.data.iter().copied());
        let largest = self.machine.mfc.largest;
        let code = Code { source, size: image.code, largest };
        self.code.set(Some(code));
        // With it come its data, which stay when the code is fetched again.
        let whole = Code { size, ..code };
        let creation = SimSpan::from_seconds(self.machine.linux.spe_context);
        self.loading.update(|loading| loading.under_way += self.machine.layout.spes());
        for (turn, spe) in (1..).zip(&self.spes) {
            let spe = spe.clone();
            let (fault, loading) = (self.fault.clone(), self.loading.clone());
            let zeros = image.zeros.clone();
            self.sim.spawn(format!("loader of SPE {}", spe.index), async move {
                spe.sim.sleep(creation * turn).await;
                if let Err(error) = whole.fetch(&Timed::new(&spe)).await {
                    fault.raise(error);
                }
                zeros.into_iter().for_each(|(at, bytes)| spe.zero(at, bytes));
                let ended = spe.sim.now();
                spe.meter.reset();
                loading.update(|loading| {
                    loading.under_way -= 1;
                    loading.ended = ended;
                });
            });
        }
        Ok(())
    }

    /// When all SPEs had their program: the start of what runs on them.
    pub fn started(&self) -> SimTime {
        self.loading.read(|loading| loading.ended)
    }
}

/// The parts of a machine that every SPE refers to.
pub(crate) struct Board {
    pub sim: Sim,
    pub machine: Rc<Machine>,
    pub eib: Rc<Eib>,
    pub channels: Rc<[Channels]>,
    /// Detector of the first SPE.
    pub detector: Detector,
    /// Meters by SPE.
    pub meters: Vec<Rc<Meter>>,
    pub fault: Fault,
    pub trace: Tracer,
}

impl Board {
    pub fn new(
        sim: &Sim,
        machine: &Rc<Machine>,
        eib: &Rc<Eib>,
        timebase: Timebase,
        (fault, trace, hazards): (&Fault, &Tracer, &Rc<Watchdog>),
    ) -> Self {
        let spes = 0..machine.layout.spes();
        let detector = hazards.blade(eib.memory().local_stores());
        let channels = |spe| Channels::new((sim, spe), machine, timebase, &detector.of(spe));
        let channels: Rc<[Channels]> = spes.map(channels).collect();
        let listeners = channels.iter().map(|channels| channels.events.clone());
        eib.memory().lock_lines().listen(listeners);
        let meters = (0..machine.layout.spes()).map(|_| Rc::new(Meter::new(machine.clock)));
        Self {
            meters: meters.collect(),
            sim: sim.clone(),
            machine: Rc::clone(machine),
            eib: Rc::clone(eib),
            channels,
            detector,
            fault: fault.clone(),
            trace: trace.clone(),
        }
    }
}

//! mmgp: how to map a program onto a machine of host cores and accelerators.
//!
//! A machine has few *host processing units* (HPU) and many *accelerator processing units* (APU);
//! a program runs m host threads, each of which off-loads work to p APUs. Which (m, p) is fastest?
//! The Model of Multi-Grain Parallelism (MMGP: Blagojevic, Feng, Cameron, Nikolopoulos, HiPEAC
//! 2008) predicts the time of every (m, p) from one sequential profile and a few micro-benchmarks.
//! This crate fits the model's terms from CSV files, ranks all feasible (m, p), and holds itself to
//! account by running real programs on an emulated Cell Broadband Engine.
//!
//! # The decision wing
//!
//! [`table`] reads files, [`fit`] makes parameters of them, [`models`] holds the equations,
//! [`belief`] what is believed of the times, and [`decide`] ranks; [`guided`] follows a program as it
//! runs:
//!
//! ```
//! use mmgp::belief::Posterior;
//! use mmgp::decide::{Constraints, Sampling, candidates, rank};
//!
//! let parameters = mmgp::models::published("pbpi-qs20")?;
//! let posterior = Posterior::of(&parameters)?;
//! let mappings = candidates(&posterior, &Constraints::NONE, parameters.apus)?.mappings;
//! let ranking = rank(&posterior, &mappings, Sampling::new(1000, 1))?;
//! assert_eq!(ranking.choice.mapping, mmgp::Mapping::of(4, 4));
//! assert_eq!(ranking.configurations.len(), 50);
//! # Ok::<(), mmgp::Error>(())
//! ```
//!
//! # The emulator wing
//!
//! [`sim`] is virtual time, [`spu`] the processor of an accelerator, [`cell`] the machine built of
//! both from a description in [`machine`]; [`kernels`] are written against the SPU, [`apps`] run
//! them, and [`runtime`] decides which SPEs do so and how a process waits for them:
//!
//! ```
//! use mmgp::Mapping;
//! use mmgp::apps::pbpi::Pbpi;
//! use mmgp::apps::phylogeny::{Patterns, simulate};
//! use mmgp::cell::KernelTiming;
//! use mmgp::machine::Machine;
//!
//! let tree = simulate::tree(8, 0.1, 1)?;
//! let alignment = simulate::alignment(&tree, &simulate::names(8), 500, 1)?;
//! let pbpi = Pbpi::new(Patterns::compress(&alignment), Some(tree), 1, 10)?;
//! let qs20 = Machine::named("qs20")?;
//! let (run, chain) = pbpi.emulate(&qs20, Mapping::of(2, 4), KernelTiming::Cached, 0.0)?;
//! assert!(run.time.0 > 0.0 && chain.log_likelihood() < 0.0);
//! # Ok::<(), mmgp::Error>(())
//! ```
//!
//! # The way of a CSV row
//!
//! From a table that somebody has to a choice, in the decision wing:
//!
//! 1. [`table::Source`] reads the file: its text, whatever the encoding, and its name for errors.
//! 2. [`intake`] makes a [`Sheet`](intake::sheet::Sheet) of it, and a [`Plan`](intake::Plan) says what each
//!    column is for, in which unit. What is not understood is an [`Error::Ambiguous`] with the lines to
//!    type.
//! 3. [`fit::Runs`] collects the rows of each (m, p): mean and scatter of the logarithms of its times, wild
//!    runs and warm-ups left out. No later step sees a row.
//! 4. [`fit::fit()`](fit::fit) conditions a [`Prior`](belief::Prior) on them and reads the terms of
//!    equation 11 out of what is believed: [`Parameters`](models::Parameters), each term with its standard
//!    error.
//! 5. [`belief::Posterior`] has it again from the parameter file: times of all (m, p), how they go
//!    together, and how far the model is off.
//! 6. [`decide::candidates`] lists the mappings in question, and [`decide::rank`] ranks them: a
//!    [`Choice`](decide::Choice) with what it is expected to cost, and at most.
//!    [`decide::next_measurement`] says which run tells most.
//!
//! # The way of an off-load
//!
//! From a program to the cycles of an SPU and back, in the emulator wing:
//!
//! 1. An [`Application`](apps::Application) runs on a [`Runtime`](runtime::Runtime) at a [`Mapping`]. Each
//!    of its host processes hands a [`Task`](runtime::Task) to [`Process::run`](runtime::Process::run) and
//!    waits.
//! 2. The [`Policy`](runtime::Policy) of the run-time system leases SPEs for it from the
//!    [`BusyMap`](runtime::BusyMap), or has it wait.
//! 3. Flags in local store or mailboxes start each [`Spe`](cell::Spe) of the lease
//!    ([`Signalling`](runtime::Signalling)); its [`SpeProgram`](runtime::SpeProgram) gets a
//!    [`Call`](runtime::Call) with its share, and moves its data by DMA ([`cell::mfc`]) over the bus
//!    ([`cell::eib`]).
//! 4. [`Spe::compute`](cell::Spe::compute) runs a [`Kernel`](spu::Kernel) on the local store. The
//!    instructions that give its results give its cycles, by the [`Pipeline`](spu::Pipeline).
//! 5. These become a span of virtual time ([`sim`]); the process hears that its SPEs are done, and the
//!    lease ends.
//! 6. [`run::Run`](apps::run::Run) collects times and counts, and a [`Fingerprint`](apps::Fingerprint)
//!    shows that what was computed is the same at every mapping.
//!
//! # The way of an attempt
//!
//! From a question of `tune` to a line of its log:
//!
//! 1. [`tune::Search::judge`] looks at what was tried, and says which mappings to run next, or that the
//!    choice is good enough.
//! 2. [`tune::engine`] makes an [`Order`](attempt::Order) of the first: which attempt, which repetition,
//!    how long at most.
//! 3. A [`Target`](target::Target) runs it. That of commands is [`native::Program`]: a
//!    [`Supervisor`](native::Supervisor), a process of its own, starts the command, reads its output and
//!    ends all that descends from it; a [`TimeSource`](native::TimeSource) finds the time.
//! 4. What came of it is an [`Attempt`](attempt::Attempt), a line that [`Log`](table::log::Log) appends and
//!    locks. The next question is answered from the log alone, so a search that was killed goes on as if
//!    nothing had happened.
//! 5. [`tune::derived`] makes runs.csv and the files of other tools of the log.
//!
//! # Where the wings meet
//!
//! In [`lab`] alone: the emulated machine holds no term of the model and the model knows
//! nothing of the machine, so that their agreement means something. [`measure`] takes on the
//! emulated machine the measurements that a user would take on a real one, and writes the same
//! files.

pub mod capi;
pub mod cli;
pub mod import;
pub mod report;

#[doc(inline)]
pub use mmgp_base::{
    Error, Mapping, Result, Site, Warning, answer, attempt, error, quantity, table, target, units,
};
#[doc(inline)]
pub use mmgp_lab::{measure, schedulers, validate};
#[doc(inline)]
pub use mmgp_model::{
    belief, complexity, decide, export, fit, guided, models, objective, statistics,
};
#[doc(inline)]
pub use {
    mmgp_apps as apps, mmgp_cell as cell, mmgp_cluster as cluster, mmgp_intake as intake,
    mmgp_kernels as kernels, mmgp_lab as lab, mmgp_launch as launch, mmgp_lists as lists,
    mmgp_machine as machine, mmgp_native as native, mmgp_pictures as plot, mmgp_probe as probe,
    mmgp_runtime as runtime, mmgp_sim as sim, mmgp_spu as spu, mmgp_sweep as sweep,
    mmgp_tune as tune,
};

/// The version of this build and the commit that it is of: `0.1.0 (ab12cd3)`, `0.1.0 (ab12cd3-dirty)`
/// where its sources differ from the commit, `0.1.0` where neither git nor the package knows one.
pub const VERSION: &str = env!("MMGP_VERSION");

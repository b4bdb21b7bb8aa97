//! mmgp: how to map a program onto a machine of host cores and accelerators.
//!
//! A machine has few *host processing units* (HPU) and many *accelerator processing units* (APU);
//! a program runs m host threads, each of which off-loads work to p APUs. Which (m, p) is fastest?
//! The Model of Multi-Grain Parallelism (MMGP: Blagojevic, Feng, Cameron, Nikolopoulos, HiPEAC
//! 2008) predicts the time of every (m, p) from one sequential profile and a few micro-benchmarks.
//! This crate fits the model's terms from CSV files, ranks all feasible (m, p), and holds itself to
//! account by running real programs on an emulated Cell Broadband Engine.
//!
//! # The model's side
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
//! # The machine's side
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
//! # Where they meet
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
    Error, Mapping, Result, Warning, answer, attempt, error, quantity, table, target, units,
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
    mmgp_machine as machine, mmgp_native as native, mmgp_pictures as plot, mmgp_runtime as runtime,
    mmgp_sim as sim, mmgp_spu as spu, mmgp_sweep as sweep, mmgp_tune as tune,
};

/// The version of this build and the commit that it is of: `0.1.0 (ab12cd3)`, `0.1.0 (ab12cd3-dirty)`
/// where its sources differ from the commit, `0.1.0` where neither git nor the package knows one.
pub const VERSION: &str = env!("MMGP_VERSION");

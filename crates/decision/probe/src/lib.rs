//! Where the time of a user's program of MPI and OpenMP goes, in the model's terms, region by region and rank by
//! rank, as one run of it tells.
//!
//! A library in C is compiled once by the user's own compiler ([`Library`]), so that no interface of an MPI is
//! guessed, and loaded into the program (`LD_PRELOAD`). There it notes when threads of a region begin, wait and
//! end, and how long calls of MPI take; where the run ends it times what a run cannot tell, empty regions and
//! collectives on fewer ranks, and each process writes a file ([`Process`]). [`terms`] makes rows of `terms.csv`
//! of these files, and [`profile`] rows of `profile.csv` of a run at m = p = 1.
//!
//! The same C times collectives of the user's MPI by themselves ([`ranks`]), for micro-benchmarks; beside it is a program
//! that times off-loads to a device of OpenCL ([`device`]).
//!
//! What cannot be seen is said ([`Traced::warnings`]), not guessed: statically linked programs, pools of threads
//! that are no runtime's of OpenMP, ranks whose files are missing.
//!
//! Read on at [`run`], which runs a program.

mod breakdown;
pub mod device;
mod library;
mod process;
pub mod ranks;
mod run;
mod symbols;
mod terms;

pub use breakdown::{Part, RegionShare, parts, regions};
pub use library::Library;
pub use process::{Calibrated, Ended, Operation, Process, Region};
pub use run::{Traced, environment, read, run, run_quietly};
pub use terms::{profile, terms};

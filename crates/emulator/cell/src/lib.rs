//! The emulated machine: Cell processors, their memory, Linux and MPI.
//!
//! Everything that waits is a process of [`mmgp_sim`]; everything that computes on an SPE runs
//! on [`mmgp_spu`]. What is here are mechanisms with costs, and the costs come from the machine's
//! file: no equation of any performance model is in this module.
//!
//! ```text
//!   host process --- hardware thread --- PPE pipeline (shared by its two threads)
//!       |  flags in local store, mailboxes, signals, proxy commands (MMIO)
//!       v
//!   SPE: SPU + local store --- MFC: queues, order, lists, lock lines
//!                                |
//!             EIB: ports, rings, command bus --- memory controller and banks
//!                                |
//!                              FlexIO --- the same of the other Cell
//! ```
//!
//! # Where to begin
//! [`spe`] has a tour of what a program on an SPE can do, [`mpi`] one of the operations of ranks,
//! [`messages`] one of those of programs that run wholly on SPEs. All are programs in `examples`.
//!
//! # How a processor is found for each process
//! Host processes are dealt round robin to the Cells, then to the hardware threads of each, and
//! stay there. Which SPEs work for a process is not decided here. A process's data lies in the
//! memory of its own Cell, unless it is given another [`Placement`].
//!
//! # What is left out
//! Address translation by the MFC, the scalar code on an SPE around its kernels except its channel
//! commands, and the time that an interrupt takes from the process that runs on the host. DMA takes the
//! port of a local store from a kernel at the kernel's mean rate of accesses, and never waits for it
//! ([`Spe::compute`]); the accesses of the host to a local store take no cycle of the port.

mod blade;
pub mod channel;
mod command;
pub mod context;
pub mod counts;
pub mod eib;
pub mod element;
pub mod event;
mod fault;
mod hazard;
pub mod host;
pub mod linux;
pub mod memory;
pub mod messages;
pub mod mfc;
pub mod mpi;
pub mod nodes;
pub mod ppe;
pub mod record;
pub mod spe;
mod timing;
pub mod trace;

pub use blade::Blade;
pub use fault::{BusError, Fault, Hazard, MpiError};
pub use host::HostProcess;
pub use memory::{EffectiveAddress, Homes, Placement, Traffic};

pub use record::Progress;
pub use spe::Spe;
pub use timing::{KernelTiming, pipeline};

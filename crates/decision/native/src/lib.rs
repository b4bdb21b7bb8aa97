//! The computer that mmgp is started on: a user's command as a [`Target`](mmgp_base::target::Target).
//!
//! Read on at [`Program`], the command as a target.
//!
//! [`Program`] fills a mapping (m, p) into a [`Command`] and has it run by a [`Supervisor`], a small
//! process of its own that starts commands one after the other, times them, and sees to it that
//! nothing of them is left when they end, when their time is over, or when whoever asked for them
//! is gone. [`TimeSource`] says where a time is found. This is the only crate that asks a clock.
//!
//! [`list_ranking`] is a program of the emulated machine that runs here as well, so that what it
//! teaches can be had on one's own memory.
//!
//! [`mod@bench`] has the micro-benchmarks of this computer, for Linux.
//!
//! [`stencil`] is a program to tune that is there without a compiler.
//!
//! All but [`Stopwatch`], [`stencil`] and what [`host`] says of cores and GPUs is for Unix alone: elsewhere it is not
//! there.

#[cfg(target_os = "linux")]
pub mod bench;
#[cfg(unix)]
mod binding;
mod clock;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod complaint;
#[cfg(unix)]
mod cpu_list;
#[cfg(unix)]
mod failure;
pub mod host;
#[cfg(unix)]
pub mod list_ranking;
#[cfg(unix)]
mod pin;
#[cfg(unix)]
mod placement;
#[cfg(unix)]
mod printed;
#[cfg(unix)]
mod program;
pub mod stencil;
#[cfg(unix)]
pub mod supervisor;
#[cfg(unix)]
mod time_source;

#[cfg(unix)]
pub use binding::{Binding, unbound_launcher};
pub use clock::Stopwatch;
#[cfg(unix)]
pub use command::{Command, Placeholders, is_executable};
#[cfg(unix)]
pub use failure::{failure_notes, first_failure, reason};
#[cfg(unix)]
pub use pin::Pin;
#[cfg(unix)]
pub use placement::placement_notes;
#[cfg(unix)]
pub use printed::Capture;
#[cfg(unix)]
pub use program::{Program, Settings};
#[cfg(unix)]
pub use supervisor::Supervisor;
#[cfg(unix)]
pub use time_source::{Pattern, PrintedKind, TimeSource, check_pattern};

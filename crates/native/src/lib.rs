//! The computer that mmgp is started on: a user's command as a [`Target`](mmgp_base::target::Target).
//!
//! [`Program`] fills a mapping (m, p) into a [`Command`] and has it run by a [`Supervisor`], a small
//! process of its own that starts commands one after the other, times them, and sees to it that
//! nothing of them is left when they end, when their time is over, or when whoever asked for them
//! is gone. [`TimeSource`] says where a time is found. This is the only crate that asks a clock.
//!
//! [`list_ranking`] is a program of the emulated machine that runs here as well, so that what it
//! teaches can be had on one's own memory.

#![cfg(unix)]

mod clock;
mod command;
pub mod host;
pub mod list_ranking;
mod pin;
mod program;
pub mod supervisor;
mod time_source;

pub use clock::Stopwatch;
pub use command::{Command, Placeholders, is_executable};
pub use pin::Pin;
pub use program::{Program, Settings};
pub use supervisor::Supervisor;
pub use time_source::{Pattern, TimeSource, check_pattern};

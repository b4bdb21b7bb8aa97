//! Which configuration of a program to run next, and when to stop.
//!
//! [`Search`] is asked after every run: it believes of the times what a
//! [`Posterior`](mmgp_model::posterior::Posterior) does, and knows neither a clock nor a program.
//! [`engine`] runs what it asks for on a target and keeps the log; [`derived`] is what follows from
//! a log for others.

pub mod derived;
mod design;
pub mod engine;
mod failures;
mod further;
mod known;
mod regret;
mod search;

pub use search::{Found, Search, Tried, Verdict};

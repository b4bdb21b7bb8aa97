//! Which configuration to run next, and when to stop.
//!
//! [`Search`] is asked after every run: it believes of the times what a
//! [`Posterior`](mmgp_model::posterior::Posterior) does, and knows neither a clock nor a program.

mod design;
mod failures;
mod further;
mod known;
mod regret;
mod search;

pub use search::{Found, Search, Tried, Verdict};

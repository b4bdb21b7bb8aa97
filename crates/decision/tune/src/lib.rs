//! Which configuration of a program to run next, and when to stop.
//!
//! Read on at [`Search`], which is asked what to run next.
//!
//! [`Search`] is asked after every run: it believes of the times what a
//! [`Posterior`](mmgp_model::belief::Posterior) does, and knows neither a clock nor a program.
//! [`engine`] runs what it asks for on a target and keeps the log; [`derived`] is what follows from
//! a log for others.
//!
//! * The first runs are the corners of what may be chosen, those that ask for as many hardware threads as there are
//!   first, and none that asks for more: `design`.
//! * Then that run is made which lowers the expected cost of the choice most for each second that it
//!   takes, and, once none does any more, the one that settles the strongest doubt: `design`.
//! * A search ends where the choice costs no more than is good enough ([`Goal`]), where what ran cannot be told
//!   apart at the noise of single runs, where a further run takes longer than it saves, and in any case after each
//!   configuration once and the best three twice more: [`End`].
//! * What failed is not run again, nor is what failures reach: `history`. What was stopped takes longer
//!   than it was given, which is all that is said of it.
//!
//! The choice is always one that ran well. How good all that is, on programs that others timed and on
//! truths whose best is known, is in `tests/replay`.
//!
//! ```
//! use mmgp_base::{Mapping, Site, units::Seconds};
//! use mmgp_model::models::parameters::Decomposition;
//! use mmgp_model::belief::Prior;
//! use mmgp_tune::{End, Finding, Goal, Search, Trial};
//!
//! let search = Search {
//!     space: mmgp_model::decide::feasible(16).map(Site::from).collect(),
//!     prior: Prior::of_runs(Decomposition::Data),
//!     objective: Default::default(),
//!     goal: Goal::Expected(0.05),
//!     processors: Some(16),
//!     baseline: None,
//!     most_runs: None,
//!     seed: 1,
//! };
//! let time = |it: Mapping| {
//!     let (m, p) = (f64::from(it.m()), f64::from(it.p()));
//!     Seconds(12.0 + 3.0 * m + 400.0 / (m * p) + 1.5 * p)
//! };
//! let mut tried = Vec::new();
//! let mut verdict = search.judge(&tried)?;
//! while !verdict.is_settled() {
//!     let (site, _expected) = verdict.next[0];
//!     tried.push(Trial { site, found: Finding::Time(time(site.mapping)) });
//!     verdict = search.judge(&tried)?;
//! }
//! // (4, 4) takes 55.0 s and (3, 5) 55.2 s: what cannot be told apart goes to the fewest cores.
//! assert_eq!((verdict.end, verdict.choice), (Some(End::Alike), Some(Mapping::of(3, 5).into())));
//! assert!(tried.len() < 20);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

pub mod comparison;
pub mod derived;
mod design;
pub mod engine;
mod goal;
mod history;
mod search;

pub use goal::{End, Goal};
pub use search::{BelievedTime, Finding, Search, Trial, Verdict};

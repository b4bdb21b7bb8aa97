//! The complexity model of an algorithm on a machine with local stores: the triplet
//! <T_C, T_D, T_B> of Bader, Agarwal and Madduri (IPDPS 2007), with constants.
//!
//! * **T_C**, computation: that of the host, and that of the accelerator that does most.
//! * **T_D**, the DMA requests of one accelerator.
//! * **T_B**, its conditional branches; it has no branch predictor.
//!
//! The paper gives asymptotics and a procedure of four steps. Here the numbers come from runs that
//! counted what they executed ([`Counts`]): [`growth`] says how each count grows with the sizes of the
//! runs, [`bound`] what time the counts of a run need at least on a machine of known [`Constants`],
//! and which part of it binds, [`steps`] goes through the procedure. [`formulas`] take the place of
//! runs where the triplet is known by hand.
//!
//! Nothing here knows an emulator: counts are plain numbers, whoever counted them.

pub mod bound;
pub mod counts;
pub mod form;
pub mod formulas;
pub mod growth;
pub mod runs;
pub mod steps;

pub use bound::{Bound, Constants, Demand, Part};
pub use counts::{Counts, QUANTITIES, Quantity, Sizes};
pub use form::Form;
pub use formulas::Algorithm;
pub use growth::{Forms, Growth};
pub use runs::Runs;
pub use steps::Facts;

//! The equations of MMGP, the Model of Multi-Grain Parallelism (Blagojevic, Feng, Cameron,
//! Nikolopoulos, HiPEAC 2008), with the paper's numbers, and their parameters.
//!
//! A program alternates between a host processing unit (HPU) and accelerators (APU): *m* host
//! threads run at once, and each shares its off-loaded work among *p* APUs. Equations 1 to 10
//! build up the time of one off-load and one phase; equation 11 is their sum, the time of a whole
//! run: [`Parameters::time`]. It is one [`TimeModel`] of several.
//!
//! ```
//! use mmgp_base::Mapping;
//! use mmgp_model::models::parameters::*;
//!
//! let terms = Terms {
//!     t_hpu_s: Estimate::exact(1.0),
//!     t_apu_s: Estimate::exact(8.0),
//!     c_apu_s: Estimate::exact(0.5),
//!     offloads: Estimate::exact(100.0),
//!     o_offload_s: Estimate::exact(1e-3),
//!     t_csw_s: Estimate::exact(1e-3),
//!     g_s: Estimate::exact(1e-3),
//!     alpha: OverM::Constant(Estimate::exact(1.5)),
//!     ..Terms::nothing()
//! };
//! let parameters = Parameters::new("a toy", Decomposition::Data, 4, terms);
//! // 1.5 * 1 + 8 / (2 * 2) + 0.5 + 100 * (1 + 1 + 0 + 2 * 1) ms
//! assert!((parameters.time(Mapping::of(2, 2)).0 - 4.4).abs() < 1e-12);
//! ```

pub(crate) mod equation_11;
pub mod file;
pub mod levels;
pub mod observations;
pub mod parameters;
pub mod refined;
pub mod run;
pub mod sensitivity;
pub mod terms;
pub mod threads;
pub mod time_model;
pub mod traced;
pub mod wavefront;

/// The toy of CONTRIBUTING.md, compiled and tested with the tests.
#[cfg(test)]
#[path = "../../../../examples/toy_model.rs"]
mod toy_model;

pub use parameters::{Parameters, published, published_names};
pub use time_model::TimeModel;

use refined::Refined;
use time_model::{EQUATION_11, REFINED};
use traced::{TRACED, Traced};

/// Models that parameters make, which `predict --model` can name. A further one is a file of this module, a
/// line `mod` and a line here.
const MODELS: &[ModelEntry] = &[
    ModelEntry { name: EQUATION_11, of: |parameters| Some(Box::new(parameters.clone())) },
    ModelEntry { name: TRACED, of: |parameters| Some(Box::new(Traced::of(parameters)?)) },
    ModelEntry { name: REFINED, of: |parameters| Some(Box::new(Refined::of(parameters)?)) },
];

/// A model that parameters make.
struct ModelEntry {
    /// Name of the model.
    name: &'static str,
    /// Function that makes it; `None` where the parameters lack terms that it needs.
    of: fn(&Parameters) -> Option<Box<dyn TimeModel>>,
}

//! Every scheduler by its name: those of the papers, and the one that follows the model.
//!
//! The only place beside `validate` and the command line that knows both a model and a machine. The
//! emulated machine is told what a scheduler decides, and never what the model expects of a time.

mod guided;

use crate::error::Result;
use crate::runtime::{self, Policy, policy_among};
pub use guided::Guided;

/// The schedulers that there are, the first of which is used where none is named.
pub fn policies() -> Vec<Box<dyn Policy>> {
    let mut all = runtime::policies();
    all.push(Box::new(Guided::default()));
    all
}

/// The scheduler of that name, or `name:variant`; see [`runtime::policy_named`].
///
/// # Errors
/// [`UnknownName`](crate::Error::UnknownName) with the names that there are.
pub fn policy_named(name: &str) -> Result<Box<dyn Policy>> {
    policy_among(policies(), name)
}

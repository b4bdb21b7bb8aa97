//! Every scheduler by its name: those of the papers, and the one that follows the model.
//!
//! The only place beside `validate` and the command line that knows both a model and a machine. The
//! emulated machine is told what a scheduler decides, and never what the model expects of a time.

mod guided;

pub use guided::Guided;
use mmgp_base::error::Result;
use mmgp_runtime as runtime;
use mmgp_runtime::{Policy, policy_among};

/// The schedulers that there are, the first of which is used where none is named.
pub fn policies() -> Vec<Box<dyn Policy>> {
    let mut all = runtime::policies();
    all.push(Box::new(Guided::default()));
    all
}

/// The scheduler of that name, or `name:variant`; see [`runtime::policy_named`].
///
/// # Errors
/// [`UnknownName`](mmgp_base::Error::UnknownName) with the names that there are.
pub fn policy_named(name: &str) -> Result<Box<dyn Policy>> {
    policy_among(policies(), name)
}

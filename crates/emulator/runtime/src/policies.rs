//! Policies by name.

use crate::policies;
use crate::policy::Policy;
use mmgp_base::error::{Error, Result};

/// The policy of that name, which may be followed by a colon and the name of a variant:
/// `edtlp:round-robin`.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are, also for a variant where the policy has none.
pub fn policy_named(name: &str) -> Result<Box<dyn Policy>> {
    policy_among(policies(), name)
}

/// The same among other policies than those that come with the library.
///
/// # Errors
/// As [`policy_named`].
pub fn policy_among(mut all: Vec<Box<dyn Policy>>, name: &str) -> Result<Box<dyn Policy>> {
    let names =
        |all: &[Box<dyn Policy>]| all.iter().map(|it| it.name().to_string()).collect::<Vec<_>>();
    let (plain, variant) = match name.split_once(':') {
        Some((plain, variant)) => (plain, Some(variant)),
        None => (name, None),
    };
    let Some(place) = all.iter().position(|policy| policy.name() == plain) else {
        return Err(Error::unknown_name("scheduler", plain, names(&all)));
    };
    let Some(variant) = variant else { return Ok(all.swap_remove(place)) };
    let variants = all[place].variants();
    if variants.is_empty() {
        all.retain(|policy| !policy.variants().is_empty());
        return Err(Error::unknown_name("scheduler with variants", plain, names(&all)));
    }
    let known = variants.iter().map(|variant| format!("{plain}:{variant}"));
    all[place]
        .variant(variant)
        .ok_or_else(|| Error::unknown_name("variant of a scheduler", name, known))
}

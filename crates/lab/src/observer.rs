//! Progress and warnings of long work, for the caller to show.

use std::sync::Arc;

use mmgp_base::Warning;
use mmgp_cell::Progress;

/// A callback for each step of a piece of work, from any thread. The work is over when all copies are
/// dropped.
pub type Step = Arc<dyn Fn() + Send + Sync>;

/// Receives how far work is, and what is doubtful about it. `()` receives it and does nothing.
pub trait Observer: Sync {
    /// Work of that name and so many steps begins.
    fn begin(&self, work: &'static str, steps: u64) -> Step;

    /// Something is doubtful, and work goes on.
    fn warn(&self, warning: &Warning);
}

impl Observer for () {
    fn begin(&self, _: &'static str, _: u64) -> Step {
        Arc::new(|| ())
    }

    fn warn(&self, _: &Warning) {}
}

/// A callback as emulated programs take it.
pub(crate) fn progress(step: Step) -> Progress {
    Progress::new(move || step())
}

//! What `mmgp emulate --app synthetic` says of a run.

use serde::Serialize;

use super::Once;
use super::report::{OwnReport, RunReport, together};
use crate::apps::synthetic::Synthetic;
use crate::apps::{Application, Ran};

/// The workload, to be run once.
pub struct SyntheticOnce(pub Synthetic);

impl Once for SyntheticOnce {
    fn application(&self) -> &dyn Application {
        &self.0
    }

    fn report(&self, ran: &Ran) -> Box<dyn OwnReport> {
        Box::new(IdleReport { apu_idle_per_offload_us: 1e6 * ran.run.mean_apu_idle().0 })
    }
}

/// What it is run for.
#[derive(Serialize)]
struct IdleReport {
    /// Time of all m p APUs together in which none of them computed, for each off-load.
    apu_idle_per_offload_us: f64,
}

impl OwnReport for IdleReport {
    fn values(&self) -> Vec<(&'static str, String)> {
        vec![("apu_idle_per_offload_us", self.apu_idle_per_offload_us.to_string())]
    }

    fn text(&self) -> String {
        String::new()
    }

    fn json(&self, run: &RunReport) -> String {
        together(run, self)
    }
}

//! What `mmgp emulate` says of a run of the synthetic workload, and of a product of matrices.

use serde::Serialize;

use super::Once;
use super::report::{OwnReport, RunReport, together};
use crate::apps::sgemm::{Findings, Sgemm};
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

/// A product of matrices, to be run once.
pub struct SgemmOnce(pub Sgemm);

impl Once for SgemmOnce {
    fn application(&self) -> &dyn Application {
        &self.0
    }

    fn report(&self, ran: &Ran) -> Box<dyn OwnReport> {
        let Findings { product } = ran.findings().expect("invariant: a product was computed");
        Box::new(ProductReport {
            order: self.0.order(),
            gflops: 1e-9 * self.0.flops() / ran.run.time.0,
            largest_error: self.0.largest_error(product),
        })
    }
}

/// How fast it was, and how right it is.
#[derive(Serialize)]
struct ProductReport {
    /// Rows and columns of each matrix.
    order: u32,
    /// A multiplication and an addition for each term, in the time of the run.
    gflops: f64,
    /// Of an entry against sums of doubles, in parts of the sum of the magnitudes of its terms.
    largest_error: f64,
}

impl OwnReport for ProductReport {
    fn values(&self) -> Vec<(&'static str, String)> {
        vec![
            ("order", self.order.to_string()),
            ("gflops", self.gflops.to_string()),
            ("largest_error", self.largest_error.to_string()),
        ]
    }

    fn text(&self) -> String {
        String::new()
    }

    fn json(&self, run: &RunReport) -> String {
        together(run, self)
    }
}

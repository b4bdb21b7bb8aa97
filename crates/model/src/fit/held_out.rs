//! The held-out experiment: fit what a user would time, predict what nobody did.
//!
//! Trained on m = 1..5 at p = 1, p = 1..5 at m = 1, (2, 2) and (3, 2), five times each; tested on all
//! other configurations that 16 APUs hold, against the truth without noise.

use mmgp_base::Mapping;
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::runs::{Cell, Runs};
use super::trials::{feasible, truth};
use crate::model::Parameters;
use crate::model::parameters::Decomposition;

/// Programs of which one law or the other is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Nearly all time is shared by the APUs.
    ApuTimeDominates,
    /// The fastest configuration uses less than all APUs.
    InteriorOptimum,
    /// Nothing but a part that stays and a part that is shared.
    Amdahl,
}

impl Truth {
    /// Its terms, all of equation 11.
    pub fn parameters(self) -> Parameters {
        let (slope, terms) = match self {
            Truth::ApuTimeDominates => (0.08, [2.0, 370.0, 1.7, 1e4, 1e-6, 2e-6, 2e-6, 1e-5]),
            Truth::InteriorOptimum => (0.3, [4.0, 60.0, 2.0, 1e4, 1e-5, 5e-6, 8e-5, 2e-5]),
            Truth::Amdahl => (0.0, [4.0, 120.0, 0.0, 1e4, 0.0, 0.0, 0.0, 0.0]),
        };
        truth(Decomposition::Data, slope, terms)
    }
}

/// The configurations that are timed.
pub fn training() -> Vec<(u32, u32)> {
    let of_m = (1..=5).map(|m| (m, 1));
    of_m.chain((2..=5).map(|p| (1, p))).chain([(2, 2), (3, 2)]).collect()
}

/// The configurations that are predicted.
pub fn testing() -> Vec<(u32, u32)> {
    let trained = training();
    feasible().into_iter().filter(|configuration| !trained.contains(configuration)).collect()
}

/// Five runs of each training configuration with Gaussian noise of relative deviation `noise`.
pub fn runs(truth: &Parameters, noise: f64, seed: u64) -> Runs {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let factor = Normal::new(1.0, noise).unwrap();
    let mut cells: Vec<Cell> = training()
        .into_iter()
        .map(|(m, p)| {
            let times =
                [0; 5].map(|_| truth.time(Mapping::of(m, p)).0 * factor.sample(&mut random));
            Cell::of((m, p), &times)
        })
        .collect();
    cells.sort_by_key(|cell| (cell.m, cell.p));
    Runs { file: "runs.csv".into(), cells }
}

/// How well `predict` does on the testing configurations: mean |relative error| \[%\], and how much
/// longer its choice among all feasible ones takes than the best \[%\].
pub fn judge(truth: &Parameters, predict: impl Fn(u32, u32) -> f64) -> (f64, f64) {
    let error =
        |&(m, p): &(u32, u32)| (predict(m, p) / truth.time(Mapping::of(m, p)).0 - 1.0).abs();
    let tested = testing();
    let mean = tested.iter().map(error).sum::<f64>() / tested.len() as f64;
    let all = feasible();
    let fastest = |time: &dyn Fn(u32, u32) -> f64| {
        let times = all.iter().map(|&(m, p)| (time(m, p), truth.time(Mapping::of(m, p)).0));
        times.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
    };
    let regret = fastest(&predict) / fastest(&|m, p| truth.time(Mapping::of(m, p)).0) - 1.0;
    (100.0 * mean, 100.0 * regret)
}

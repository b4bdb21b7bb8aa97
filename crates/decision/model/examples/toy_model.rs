//! A model of one's own, ranked: work that all APUs share, and what each of them costs.

use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Constraints, Sampling, candidates, rank};
use mmgp_model::models::parameters::Estimate;
use mmgp_model::models::time_model::{TimeModel, Value};
use mmgp_model::{Mapping, units::Seconds};

/// `T = work/N + cost*N` on N = m*p APUs.
struct Toy([Estimate; 2]);

impl TimeModel for Toy {
    fn name(&self) -> &str {
        "toy"
    }
    fn apus(&self) -> u32 {
        16
    }
    fn time(&self, mapping: Mapping) -> Seconds {
        let times = self.gradient(mapping).into_iter().zip(&self.0);
        Seconds(times.map(|((_, slope), estimate)| slope * estimate.value).sum())
    }
    fn values(&self) -> Vec<Value> {
        vec![Value::new("work", &self.0[0]), Value::new("cost", &self.0[1])]
    }
    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let apus = mapping.apus() as f64;
        vec![(0, 1.0 / apus), (1, apus)]
    }
}

fn main() {
    let cost = Estimate { std_error: Some(0.1), ..Estimate::exact(1.0) };
    let posterior = Posterior::of_model(Toy([Estimate::exact(64.0), cost]));
    let mappings = candidates(&posterior, &Constraints::NONE, 16).unwrap().mappings;
    let ranking = rank(&posterior, &mappings, Sampling::new(1000, 1)).unwrap();
    // sqrt(64/1) = 8 APUs; of equal times the smaller m comes first.
    assert_eq!(ranking.configurations[0].mapping, Mapping::of(1, 8));
}

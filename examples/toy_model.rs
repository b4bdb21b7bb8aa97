//! A model of one's own: work that all APUs share, and a cost of each of them.

use super::ModelEntry;
use super::parameters::{Estimate, Parameters};
use super::time_model::{TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// The model that parameters make: their APU time is the work, and their gap the cost.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "toy",
    of: |parameters: &Parameters| {
        let terms = &parameters.terms;
        let values = [terms.t_apu_s.clone(), terms.g_s.clone()];
        Some(Box::new(Toy { apus: parameters.apus, values }))
    },
};

/// `T = work/N + cost*N` on N = m*p APUs.
struct Toy {
    apus: u32,
    values: [Estimate; 2],
}

impl TimeModel for Toy {
    fn name(&self) -> &str {
        ENTRY.name
    }

    fn apus(&self) -> u32 {
        self.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        let terms = self.gradient(mapping).into_iter().zip(&self.values);
        Seconds(terms.map(|((_, slope), estimate)| slope * estimate.value).sum())
    }

    fn values(&self) -> Vec<Value> {
        let [work, cost] = &self.values;
        vec![Value::new("work", work), Value::new("cost", cost)]
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let apus = mapping.apus() as f64;
        vec![(0, 1.0 / apus), (1, apus)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Posterior;
    use crate::decide::{Constraints, Sampling, candidates, rank};

    #[test]
    fn work_of_64_s_and_a_cost_of_1_s_make_8_apus_the_best() {
        let cost = Estimate { std_error: Some(0.1), ..Estimate::exact(1.0) };
        let toy = Toy { apus: 16, values: [Estimate::exact(64.0), cost] };
        let posterior = Posterior::of_model(toy);
        let mappings = candidates(&posterior, &Constraints::NONE, 16).unwrap().mappings;
        let ranking = rank(&posterior, &mappings, Sampling::new(1000, 1)).unwrap();
        // sqrt(64/1) = 8 APUs; of equal times the smaller m comes first.
        assert_eq!(ranking.configurations[0].mapping, Mapping::of(1, 8));
    }
}

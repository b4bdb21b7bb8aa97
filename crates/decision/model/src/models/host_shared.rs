//! A model whose host's own work is divided among the processes.
//!
//! Equation 11 has every process repeat the control flow of the whole program, `alpha_m*T_HPU`. A
//! profile of one process says how long that takes and not whether m processes repeat or share it:
//! this is the other answer, `alpha_m*T_HPU/m`.

use std::ops::RangeInclusive;
use std::rc::Rc;

use super::terms::Term;
use super::time_model::{TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

/// The model with `T_HPU/m` in the place of `T_HPU`.
pub(crate) struct HostShared {
    model: Rc<dyn TimeModel>,
    name: String,
    /// The place of T_HPU among the values, and its value \[s\].
    host: (usize, f64),
}

impl HostShared {
    /// Of a model that has such a value above nothing.
    pub fn of(model: Rc<dyn TimeModel>) -> Option<Self> {
        let values = model.values();
        let place = values.iter().position(|value| value.name == Term::HpuTime.name())?;
        let host = (place, values[place].value);
        let name = format!("{} with T_HPU/m", model.name());
        (host.1 > 0.0).then_some(Self { model, name, host })
    }

    /// What is left of the host's time.
    fn left(mapping: Mapping) -> f64 {
        1.0 / f64::from(mapping.m())
    }
}

impl TimeModel for HostShared {
    fn name(&self) -> &str {
        &self.name
    }

    fn apus(&self) -> u32 {
        self.model.apus()
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        let (host, value) = self.host;
        let gradient = self.model.gradient(mapping);
        let slope = gradient.iter().find(|(place, _)| *place == host).map_or(0.0, |it| it.1);
        Seconds(self.model.time(mapping).0 - slope * value * (1.0 - Self::left(mapping)))
    }

    fn values(&self) -> Vec<Value> {
        self.model.values()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let mut gradient = self.model.gradient(mapping);
        let of_host = gradient.iter_mut().filter(|(place, _)| *place == self.host.0);
        of_host.for_each(|(_, slope)| *slope *= Self::left(mapping));
        gradient
    }

    fn correlation(&self, one: usize, other: usize) -> f64 {
        self.model.correlation(one, other)
    }

    fn warnings(&self, ms: RangeInclusive<u32>) -> Vec<Warning> {
        self.model.warnings(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hosts_time_is_divided() {
        let parameters = crate::models::published("pbpi-qs20").unwrap();
        let shared = HostShared::of(Rc::new(parameters.clone())).unwrap();
        for (m, p) in [(1, 1), (4, 4), (8, 1)] {
            let mapping = Mapping::of(m, p);
            let host = parameters.terms.alpha_at(m) * 1.3;
            let expected = parameters.time(mapping).0 - host * (1.0 - 1.0 / f64::from(m));
            approx::assert_relative_eq!(shared.time(mapping).0, expected, max_relative = 1e-12);
        }
        let slope = |model: &dyn TimeModel| model.gradient(Mapping::of(4, 1))[0];
        assert_eq!(slope(&shared), (0, slope(&parameters).1 / 4.0));
    }
}

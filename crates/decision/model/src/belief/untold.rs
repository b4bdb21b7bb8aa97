//! What neither files nor runs tell.

use super::Posterior;
use super::components::Component;
use super::means::untold_variance;
use crate::models::terms::Term;

/// A size of which runs tell less than this part is not known.
const TOLD: f64 = 0.5;

impl Posterior {
    /// The terms that no file knows, and of which runs tell less than half.
    pub fn untold(&self) -> Vec<Term> {
        let unknown = self.unknown.iter().filter(|(_, place)| self.told(*place) < TOLD);
        unknown.map(|(term, _)| *term).collect()
    }

    /// How much is told of the size of a term that no file knows: 1 less the part that is left of the
    /// variance of its logarithm.
    fn told(&self, place: usize) -> f64 {
        let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
        for component in &self.components {
            let form = &self.forms[self.families[component.family].mean.form];
            let Some(size) = form.sizes().get(place).copied() else { continue };
            let (centre, variance) = self.coefficient(component, size.coefficient);
            let log_size = size.log_most + centre;
            sum += component.weight;
            mean += component.weight * log_size;
            square += component.weight * (variance + log_size * log_size);
        }
        1.0 - (square / sum - (mean / sum).powi(2)) / untold_variance()
    }

    /// Mean and variance of a coefficient in one component.
    fn coefficient(&self, component: &Component, coefficient: usize) -> (f64, f64) {
        let family = &self.families[component.family];
        let (mean, variance) = family.mean.prior[coefficient];
        let with_runs = family.slope(coefficient) * variance;
        let pulled = with_runs.dot(component.given.pull());
        let with_runs = component.given.whitened(with_runs);
        (mean + pulled, (variance - with_runs.norm_squared()).max(0.0))
    }
}

//! What the values of a model have to do with the times that are believed.

use nalgebra::DMatrix;

use super::Posterior;
use super::asked::Asked;
use super::components::Component;
use super::form::OfFile;
use mmgp_base::Mapping;

/// A value that is not known exactly, and how its error goes together with times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueEffect {
    /// Its name: `g_s`, `alpha(8)`.
    pub name: String,
    /// Its variance given the runs, in standard errors of its file.
    pub variance: f64,
    /// The covariance with the logarithm of each time.
    pub covariances: Vec<f64>,
}

impl Posterior {
    /// Every value of the models that files give, with the times of some mappings.
    pub(crate) fn values(&self, mappings: &[Mapping]) -> Vec<ValueEffect> {
        let asked = Asked::new(self, mappings);
        let mut effects: Vec<ValueEffect> = Vec::new();
        for (form, values) in self.forms.iter().map(|form| form.values()).enumerate() {
            let mut found: Vec<(usize, Vec<f64>)> = Vec::new();
            for OfFile { name, error, .. } in values {
                let Some(weights) = error else { continue };
                let known = effects.iter().position(|it| it.name == name);
                let place = known.unwrap_or_else(|| {
                    let covariances = vec![0.0; mappings.len()];
                    effects.push(ValueEffect { name, variance: 0.0, covariances });
                    effects.len() - 1
                });
                found.push((place, weights));
            }
            let is_of_form = |it: &&Component| self.families[it.family].mean.form == form;
            for component in self.components.iter().filter(is_of_form) {
                let of_times = component.given.whitened(self.conditioned(component, &asked).1);
                for (place, weights) in &found {
                    self.add_value(component, (&asked, &of_times), weights, &mut effects[*place]);
                }
            }
        }
        effects.retain(|effect| effect.variance > 0.0);
        effects
    }

    /// What one component says of a value that is this sum of coefficients, beside times of which these
    /// are the whitened covariances with the runs.
    fn add_value(
        &self,
        component: &Component,
        (asked, of_times): (&Asked<'_>, &DMatrix<f64>),
        weights: &[f64],
        effect: &mut ValueEffect,
    ) {
        let family = &self.families[component.family];
        let mut row = DMatrix::zeros(1, family.mean.prior.len());
        for (index, weight) in weights.iter().enumerate() {
            row[(0, index)] = *weight;
        }
        let (_, slopes) = &asked.lines[component.family];
        let mut variance = family.spread_of(&row)[(0, 0)];
        let mut covariances = family.spread_between(&row, slopes);
        let of_value = component.given.whitened(family.spread_with_runs(&row));
        variance -= of_value.norm_squared();
        covariances -= of_value.transpose() * of_times;
        effect.variance += component.weight * variance.max(0.0);
        for (sum, covariance) in effect.covariances.iter_mut().zip(covariances.iter()) {
            *sum += component.weight * covariance;
        }
    }
}

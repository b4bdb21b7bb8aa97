//! Maximum-likelihood estimates of the parameters of the model on a tree.

mod categories;

use super::brent::Brent;
use super::climber::{Climber, PASSES};
use super::host::Step;
use crate::phylogeny::substitution::{Model, SiteRates, Substitution};
use crate::raxml::engine::Engine;

/// Exchangeabilities relative to that of G and T.
const RATES: [f64; 2] = [1e-4, 1e4];
/// Shapes of the Gamma distribution.
const SHAPES: [f64; 2] = [0.02, 100.0];
/// How far a round looks on each side, in logarithms: a factor of 7.4.
const REACH: f64 = 2.0;
/// The index of G and T among the exchangeabilities.
const REFERENCE: usize = 5;

/// How well a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fineness {
    /// The logarithm of a parameter is found to about this.
    pub tolerance: f64,
    /// Rounds end when the log likelihood gains less.
    pub gain: f64,
    /// Rounds at most.
    pub rounds: u32,
    /// CAT: rates that are tried between one and its double; 0 leaves the rates as they are.
    pub rates_per_octave: u32,
}

impl Fineness {
    /// Not at all.
    pub(crate) const NONE: Self =
        Self { tolerance: 1.0, gain: 0.0, rounds: 0, rates_per_octave: 0 };
    /// Enough to compare trees.
    pub(crate) const ROUGH: Self =
        Self { tolerance: 0.05, gain: 5.0, rounds: 10, rates_per_octave: 4 };
    /// Enough to report.
    pub(crate) const FINE: Self =
        Self { tolerance: 1e-3, gain: 0.01, rounds: 50, rates_per_octave: 0 };
}

/// A parameter that is found on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Exchangeability(usize),
    /// That of G and T, to which all others are relative: they all change together. Without it,
    /// parameters that are fitted one by one move along this direction in many small steps.
    Reference,
    Shape,
}

impl Parameter {
    fn of(self, model: &Model) -> f64 {
        match (self, &model.rates) {
            (Self::Exchangeability(index), _) => model.substitution.exchangeabilities[index],
            (Self::Reference, _) => 1.0,
            (Self::Shape, SiteRates::Gamma { alpha, .. }) => *alpha,
            (Self::Shape, SiteRates::Categories { .. }) => {
                unreachable!("invariant: categories have no shape")
            }
        }
    }

    /// The model with another value.
    fn set(self, model: &Model, value: f64) -> Model {
        let Model { substitution, rates } = model;
        let mut exchangeabilities = substitution.exchangeabilities;
        match self {
            Self::Exchangeability(index) => exchangeabilities[index] = value,
            Self::Reference => {
                for other in &mut exchangeabilities[..REFERENCE] {
                    *other = (*other / value).clamp(RATES[0], RATES[1]);
                }
            }
            Self::Shape => {
                let rates = SiteRates::gamma(value).expect("invariant: within the bounds");
                return Model { substitution: substitution.clone(), rates };
            }
        }
        let substitution = Substitution::gtr(exchangeabilities, substitution.frequencies)
            .expect("invariant: within bounds that are positive");
        Model { substitution, rates: rates.clone() }
    }

    fn bounds(self) -> [f64; 2] {
        match self {
            Self::Exchangeability(_) | Self::Reference => RATES,
            Self::Shape => SHAPES,
        }
    }
}

impl<E: Engine> Climber<'_, E> {
    /// Fits the rates of the patterns, with CAT, and then the model. Gives ln likelihood.
    pub async fn fit_all(&mut self, fineness: Fineness) -> f64 {
        let is_cat = matches!(self.model.rates, SiteRates::Categories { .. });
        if is_cat && fineness.rates_per_octave > 0 {
            self.fit_categories(fineness.rates_per_octave).await;
        }
        self.fit_model(fineness).await
    }

    /// Fits exchangeabilities and, with GAMMA, the shape, one after the other, and smooths the
    /// tree; in rounds. Gives ln likelihood.
    async fn fit_model(&mut self, fineness: Fineness) -> f64 {
        let mut log_likelihood = self.log_likelihood().await;
        for _ in 0..fineness.rounds {
            let before = log_likelihood;
            for parameter in self.parameters() {
                log_likelihood = self.fit(parameter, log_likelihood, fineness.tolerance).await;
            }
            self.smooth(PASSES).await;
            log_likelihood = self.log_likelihood().await;
            if log_likelihood - before < fineness.gain {
                break;
            }
        }
        log_likelihood
    }

    /// Those of the model, in the order in which they are fitted.
    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters: Vec<_> = (0..REFERENCE).map(Parameter::Exchangeability).collect();
        parameters.push(Parameter::Reference);
        if matches!(self.model.rates, SiteRates::Gamma { .. }) {
            parameters.push(Parameter::Shape);
        }
        parameters
    }

    /// Fits one parameter, all else fixed. Gives ln likelihood, which is `log_likelihood` before.
    async fn fit(&mut self, parameter: Parameter, log_likelihood: f64, tolerance: f64) -> f64 {
        let start = self.model.clone();
        let value = parameter.of(&start);
        let [least, most] = parameter.bounds().map(f64::ln);
        let bounds = [(value.ln() - REACH).max(least), (value.ln() + REACH).min(most)];
        let mut brent = Brent::new(bounds, (value.ln(), -log_likelihood), tolerance);
        while let Some(trial) = brent.next() {
            self.host.count(Step::Brent, 1);
            self.set_parameter(parameter, &start, trial).await;
            let log_likelihood = self.log_likelihood().await;
            brent.tell(trial, -log_likelihood);
        }
        let (best, minus_log_likelihood) = brent.least();
        self.set_parameter(parameter, &start, best).await;
        -minus_log_likelihood
    }

    async fn set_parameter(&mut self, parameter: Parameter, start: &Model, ln_value: f64) {
        self.host.count(Step::Transcendental, 1);
        let step = match parameter {
            Parameter::Shape => Step::GammaRates,
            Parameter::Exchangeability(_) | Parameter::Reference => Step::EigenSystem,
        };
        self.host.count(step, 1);
        self.set_model(parameter.set(start, ln_value.exp())).await;
    }
}

//! The parameters of the model that fit a tree best.

mod categories;

use super::brent::Brent;
use super::climber::Climber;
use super::climber::passes;
use super::host::Step;
use crate::apps::phylogeny::substitution::{Model, SiteRates, Substitution};
use crate::apps::raxml::engine::Engine;

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
}

impl Fineness {
    /// Not at all.
    pub const NONE: Self = Self { tolerance: 1.0, gain: 0.0, rounds: 0 };
    /// Enough to compare trees.
    pub const ROUGH: Self = Self { tolerance: 0.05, gain: 5.0, rounds: 10 };
    /// Enough to report.
    pub const FINE: Self = Self { tolerance: 1e-3, gain: 0.01, rounds: 50 };
}

/// A parameter that is found on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Exchangeability(usize),
    Shape,
}

impl Parameter {
    fn of(self, model: &Model) -> f64 {
        match (self, &model.rates) {
            (Self::Exchangeability(index), _) => model.substitution.exchangeabilities[index],
            (Self::Shape, SiteRates::Gamma { alpha, .. }) => *alpha,
            (Self::Shape, SiteRates::Categories { .. }) => {
                unreachable!("invariant: categories have no shape")
            }
        }
    }

    /// The model with another value.
    fn set(self, model: &Model, value: f64) -> Model {
        let mut model = model.clone();
        match self {
            Self::Exchangeability(index) => {
                let Substitution { mut exchangeabilities, frequencies, .. } = model.substitution;
                exchangeabilities[index] = value;
                model.substitution = Substitution::gtr(exchangeabilities, frequencies)
                    .expect("invariant: within bounds that are positive");
            }
            Self::Shape => {
                model.rates =
                    SiteRates::gamma(value).expect("invariant: within the bounds of shapes");
            }
        }
        model
    }

    fn bounds(self) -> [f64; 2] {
        match self {
            Self::Exchangeability(_) => RATES,
            Self::Shape => SHAPES,
        }
    }
}

impl<E: Engine> Climber<'_, E> {
    /// Fits exchangeabilities and, with GAMMA, the shape, one after the other, and smooths the
    /// tree; in rounds. Gives ln likelihood.
    pub async fn fit_model(&mut self, fineness: Fineness) -> f64 {
        let mut log_likelihood = self.log_likelihood().await;
        for _ in 0..fineness.rounds {
            let before = log_likelihood;
            for index in 0..REFERENCE {
                let parameter = Parameter::Exchangeability(index);
                log_likelihood = self.fit(parameter, log_likelihood, fineness.tolerance).await;
            }
            if matches!(self.model.rates, SiteRates::Gamma { .. }) {
                log_likelihood =
                    self.fit(Parameter::Shape, log_likelihood, fineness.tolerance).await;
            }
            self.smooth(passes::ALL).await;
            log_likelihood = self.log_likelihood().await;
            if log_likelihood - before < fineness.gain {
                break;
            }
        }
        log_likelihood
    }

    /// Fits one parameter, all else fixed. Gives ln likelihood, which is `log_likelihood` before.
    async fn fit(&mut self, parameter: Parameter, log_likelihood: f64, tolerance: f64) -> f64 {
        let start = self.model.clone();
        let value = parameter.of(&start);
        let [least, most] = parameter.bounds().map(f64::ln);
        let bounds = [(value.ln() - REACH).max(least), (value.ln() + REACH).min(most)];
        let mut brent = Brent::new(bounds, (value.ln(), -log_likelihood), tolerance);
        while let Some(trial) = brent.next() {
            self.host.count(Step::BrentStep, 1);
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
            Parameter::Exchangeability(_) => Step::EigenSystem,
        };
        self.host.count(step, 1);
        self.set_model(parameter.set(start, ln_value.exp())).await;
    }
}

//! Read-outs of what is believed: numbers that the coefficients of the means determine, as terms of equation
//! 11, given the runs; what predictions rest on, in words and for programs; and what neither files nor
//! runs tell.

use std::fmt;

use nalgebra::{DMatrix, DVector};

use super::components::{Component, Family};
use super::form::{Form, PriorMean};
use super::means::untold_variance;
use super::scatter::EXACT;
use super::work::{AlphaGrowth, GROWTHS, Regressor, grows};
use super::{MeanShare, Posterior, scatter};
use crate::models::terms::Term;
use crate::statistics;
use mmgp_base::units::Percent;

/// A sum of coefficients with a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// The constant.
    pub constant: f64,
    /// What it has of each coefficient.
    pub weights: Vec<f64>,
}

/// The logarithm of a sum of exponentials of lines, less another such; with one line in the first and
/// none in the second a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    /// The lines that are added up, at least one.
    pub plus: Vec<Line>,
    /// What it is divided by.
    pub minus: Vec<Line>,
}

/// What is believed of some numbers together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    /// What they are likeliest.
    pub means: DVector<f64>,
    /// Their covariance about that.
    pub covariance: DMatrix<f64>,
    /// The mean and the variance of each before the runs.
    pub before: Vec<(f64, f64)>,
}

impl Number {
    /// Value at some coefficients, and its derivative by each.
    fn at(&self, coefficients: &[f64]) -> (f64, DVector<f64>) {
        let (plus, mut slope) = log_sum(&self.plus, coefficients);
        let (minus, of_minus) = log_sum(&self.minus, coefficients);
        slope -= of_minus;
        (plus - minus, slope)
    }
}

/// The logarithm of the sum, of no lines 0, and its derivatives.
fn log_sum(lines: &[Line], coefficients: &[f64]) -> (f64, DVector<f64>) {
    let mut slope = DVector::zeros(coefficients.len());
    let value = |line: &Line| {
        let parts = line.weights.iter().zip(coefficients);
        line.constant + parts.map(|(weight, it)| weight * it).sum::<f64>()
    };
    let values: Vec<f64> = lines.iter().map(value).collect();
    if values.is_empty() {
        return (0.0, slope);
    }
    let sum = statistics::log_sum(&values);
    for (line, value) in lines.iter().zip(&values) {
        let share = (value - sum).exp();
        slope.iter_mut().zip(&line.weights).for_each(|(slope, weight)| *slope += share * weight);
    }
    (sum, slope)
}

impl Posterior {
    /// View of what is believed by all means, or by the mean of a name alone.
    pub(crate) fn view(&self, name: Option<&str>) -> View<'_> {
        let is_of =
            |it: &&Component| name.is_none_or(|name| self.families[it.family].mean.name == name);
        let further = self.apart.iter().filter(|_| name.is_some());
        let components: Vec<&Component> =
            self.components.iter().chain(further).filter(is_of).collect();
        let log_weights: Vec<f64> = components.iter().map(|it| it.log_weight).collect();
        let total = statistics::log_sum(&log_weights);
        let weights = log_weights.iter().map(|it| (it - total).exp());
        let components = components.iter().copied().zip(weights).collect();
        View { posterior: self, components }
    }
}

/// What is believed by some of the means, as if there were no others.
pub(crate) struct View<'a> {
    posterior: &'a Posterior,
    /// Components with their weights, which add up to 1.
    components: Vec<(&'a Component, f64)>,
}

impl View<'_> {
    /// What is believed of the numbers that `of` makes of a form, as many of each: about what they are in
    /// the likeliest component, where they add up to times.
    pub(crate) fn numbers(&self, of: impl Fn(&dyn Form) -> Vec<Number>) -> Numbers {
        let Posterior { forms, families, data, .. } = self.posterior;
        let mut of_forms: Vec<Vec<Number>> = forms.iter().map(|_| Vec::new()).collect();
        for (component, _) in &self.components {
            let form = families[component.family].mean.form;
            if of_forms[form].is_empty() {
                of_forms[form] = of(&*forms[form]);
            }
        }
        let count = of_forms.iter().map(Vec::len).max().unwrap_or(0);
        let likeliest = scatter::likeliest(self.components.iter().map(|(_, weight)| *weight));
        let in_component = |component: &Component| {
            let family = &families[component.family];
            given_runs(family, component, &of_forms[family.mean.form])
        };
        let means = match self.components.get(likeliest) {
            Some((component, _)) => {
                let family = &families[component.family];
                let form = &*forms[family.mean.form];
                let features: Vec<Vec<f64>> =
                    data.sites.iter().map(|it| form.features(it.mapping)).collect();
                let at = family.likeliest(component, (form, &features), data);
                let numbers = of_forms[family.mean.form].iter().map(|number| number.at(&at).0);
                DVector::from_iterator(count, numbers)
            }
            None => DVector::zeros(count),
        };
        let mut covariance = DMatrix::zeros(count, count);
        let mut before = vec![(0.0, 0.0); count];
        for &(component, weight) in &self.components {
            let (mean, of_component) = in_component(component);
            covariance += of_component * weight;
            let apart = mean - &means;
            covariance.ger(weight, &apart, &apart, 1.0);
            let family = &families[component.family];
            let prior: Vec<f64> = family.mean.prior.iter().map(|(mean, _)| *mean).collect();
            for (number, (mean, variance)) in of_forms[family.mean.form].iter().zip(&mut before) {
                let (value, slope) = number.at(&prior);
                let slope = DMatrix::from_row_slice(1, slope.len(), slope.as_slice());
                *mean += weight * value;
                *variance += weight * family.spread_of(&slope)[(0, 0)];
            }
        }
        Numbers { means, covariance, before }
    }

    /// The values of files by their names, each with the least that it can be where the rest has a
    /// logarithm.
    pub(crate) fn values_of_files(&self) -> Vec<(String, Option<f64>)> {
        let first = self.components.first();
        let form = first.map(|(it, _)| &self.posterior.forms[self.mean(it).form]);
        let values = form.map_or_else(Vec::new, |form| form.values());
        values.into_iter().map(|value| (value.name, value.least)).collect()
    }

    fn mean(&self, component: &Component) -> &PriorMean {
        &self.posterior.families[component.family].mean
    }

    /// How likely what is asked of components holds.
    fn probability(&self, holds: impl Fn(&Component) -> bool) -> f64 {
        let weights = self.components.iter().filter(|(it, _)| holds(it)).map(|(_, weight)| weight);
        // From +0: the sum of no floats would be -0.
        weights.fold(0.0, |sum, weight| sum + weight)
    }

    /// How likely it is that the means are exactly right but for noise.
    pub(crate) fn exact(&self) -> f64 {
        self.probability(|it| (it.node.size, it.node.own) == EXACT)
    }

    /// How likely it is that files do not hold for the program but to within some per cent.
    pub(crate) fn contradicted(&self) -> f64 {
        self.probability(|it| self.mean(it).loose > 0.0)
    }

    /// How what grows with m does, and how likely each way is; nothing where nothing is left open.
    pub(crate) fn growths(&self) -> Vec<(AlphaGrowth, f64)> {
        let grow = |form: &dyn Form| -> Vec<Regressor> {
            form.sizes()
                .iter()
                .map(|size| size.regressor)
                .filter(|&regressor| grows(regressor))
                .collect()
        };
        let forms = &self.posterior.forms;
        let of_forms: Vec<Vec<Regressor>> = forms.iter().map(|form| grow(&**form)).collect();
        let weight =
            |growth: AlphaGrowth| self.probability(|it| of_forms[self.mean(it).form] == growth);
        let all = GROWTHS.map(|(growth, _)| (growth, weight(growth)));
        all.into_iter().filter(|(_, weight)| *weight > 0.0).collect()
    }

    /// Relative error of each timed configuration as all others predict it; nothing where there are too
    /// few, or too many for one look.
    pub(crate) fn left_out(&self) -> Vec<f64> {
        let timed = self.posterior.data.timed();
        if timed < FEWEST_TO_LEAVE_OUT || !self.posterior.rest.is_empty() {
            return Vec::new();
        }
        let mut heaviest = self.components.clone();
        heaviest.sort_by(|one, other| other.1.total_cmp(&one.1));
        heaviest.truncate(HEAVIEST);
        let total: f64 = heaviest.iter().map(|(_, weight)| weight).sum();
        let mut missed = vec![0.0; timed];
        for (component, weight) in heaviest {
            for (missed, (off, _)) in missed.iter_mut().zip(component.given.each_by_the_others()) {
                *missed -= weight / total * off;
            }
        }
        missed.into_iter().map(f64::exp_m1).collect()
    }
}

/// Number of configurations below which one that is left out leaves nothing to predict by.
const FEWEST_TO_LEAVE_OUT: usize = 4;

/// Number of components, the heaviest, that tell what is left out.
const HEAVIEST: usize = 6;

/// Mean and covariance of some numbers in one component.
fn given_runs(
    family: &Family,
    component: &Component,
    numbers: &[Number],
) -> (DVector<f64>, DMatrix<f64>) {
    let coefficients = family.given_runs(component);
    let mut slopes = DMatrix::zeros(numbers.len(), coefficients.len());
    let mut means = DVector::zeros(numbers.len());
    for (row, number) in numbers.iter().enumerate() {
        let (value, slope) = number.at(&coefficients);
        means[row] = value;
        slopes.row_mut(row).tr_copy_from(&slope);
    }
    let mut covariance = family.spread_of(&slopes);
    let with_runs = component.given.whitened(family.spread_with_runs(&slopes));
    covariance -= with_runs.tr_mul(&with_runs);
    (means, covariance)
}

/// The runs and the means that predictions rest on.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Basis {
    /// Configurations that were timed.
    pub timed: usize,
    /// The file that they come from; empty without any.
    pub runs: String,
    /// Relative standard deviation of what the means are off: as the runs tell, or as it was stated.
    pub misfit: f64,
    /// Relative standard deviation of a single run.
    pub noise: f64,
    /// The means by their weights, the largest first.
    pub means: Vec<MeanShare>,
}

impl Posterior {
    /// What its predictions rest on.
    pub fn basis(&self) -> Basis {
        let observations = self.observations();
        Basis {
            timed: observations.configurations.len(),
            runs: observations.source.clone(),
            misfit: self.misfit(),
            noise: self.noise_variance().sqrt(),
            means: self.shares(),
        }
    }
}

/// Means with less weight are not named.
const NOTABLE: f64 = 0.05;

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let misfit = Percent(self.misfit);
        if self.timed == 0 {
            let mean = self.means.first().map_or("the model", |share| share.mean.as_str());
            return write!(
                f,
                "No run tells how far {mean} is off: by +- {misfit}, as such models were elsewhere"
            );
        }
        let named: Vec<String> = self
            .means
            .iter()
            .filter(|share| share.weight >= NOTABLE)
            .map(|share| format!("{} {:.0} %", share.mean, 100.0 * share.weight))
            .collect();
        let configurations = if self.timed == 1 { "configuration" } else { "configurations" };
        write!(
            f,
            "From {} timed {configurations} ({}), weighing {}, which are off by some {misfit}",
            self.timed,
            self.runs,
            named.join(", ")
        )
    }
}

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

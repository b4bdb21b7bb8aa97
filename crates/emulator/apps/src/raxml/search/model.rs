//! Maximum-likelihood estimates of the parameters of the model on a tree.
//!
//! Rates, one for each pattern (CAT, Stamatakis 2006b): likelihoods over a grid of rates, then at most
//! 25 categories.

use super::climber::Step;
use super::climber::{Climber, PASSES, is_better};
use crate::phylogeny::substitution::{Model, SiteRates, Substitution};
use crate::raxml::engine::{Engine, Z_MAX, Z_MIN};

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
    /// The rate of G and T, to which all others are relative: they all change together. Without it,
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

    /// The parameters of the model, in the order in which they are fitted.
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

/// Categories at most.
const CATEGORIES: usize = 25;
/// The grid reaches from 2^-8 to 2^5 = 32.
const OCTAVES: [i32; 2] = [-8, 5];

impl<E: Engine> Climber<'_, E> {
    /// Gives each pattern the rate of a grid under which it is likeliest on the tree. Rates that
    /// fewest columns have are dropped, until 25 are left, and their patterns take the likeliest of
    /// those. Rates are then divided by their mean over columns and branches multiplied by it,
    /// which changes no likelihood.
    ///
    /// If that makes the tree less likely than the rates of before, these stay. Gives ln
    /// likelihood.
    pub async fn fit_categories(&mut self, rates_per_octave: u32) -> f64 {
        let log_likelihood = self.log_likelihood().await;
        let (old_model, old_tree) = (self.model.clone(), self.tree.clone());
        let grid = grid(rates_per_octave);
        let mut table = Vec::new();
        for &rate in &grid {
            let of_pattern = vec![0; self.weights.len()];
            let rates = SiteRates::Categories { rates: vec![rate], of_pattern };
            self.set_model(Model { rates, ..old_model.clone() }).await;
            table.push(self.log_likelihoods().await);
            self.host.count(Step::Pattern, self.weights.len() as u64);
        }
        let (rates, mean) = assign(&grid, &table, &self.weights);
        self.host.count(Step::Pattern, (CATEGORIES * self.weights.len()) as u64);
        self.set_model(Model { rates, ..old_model.clone() }).await;
        self.stretch(mean);
        let fitted = self.log_likelihood().await;
        if is_better(fitted, log_likelihood) {
            return fitted;
        }
        self.set_model(old_model).await;
        self.set_tree(&old_tree);
        log_likelihood
    }

    /// Multiplies all branch lengths.
    fn stretch(&mut self, factor: f64) {
        for (one, other) in self.tree.branches() {
            self.host.count(Step::Transcendental, 2);
            self.host.count(Step::SetBranch, 1);
            // t factor, with z = exp(-t)
            let z = self.tree.z(one, other).powf(factor).clamp(Z_MIN, Z_MAX);
            self.tree.set_z(one, other, z);
        }
    }
}

fn grid(rates_per_octave: u32) -> Vec<f64> {
    let [first, last] = OCTAVES.map(|octave| octave * rates_per_octave as i32);
    (first..=last).map(|k| (f64::from(k) / f64::from(rates_per_octave)).exp2()).collect()
}

/// Categories from the log likelihoods `table[rate][pattern]`, and the mean rate that theirs were
/// divided by.
fn assign(grid: &[f64], table: &[Vec<f64>], weights: &[u32]) -> (SiteRates, f64) {
    let all: Vec<usize> = (0..grid.len()).collect();
    let mut chosen = columns_by_rate(&all, table, weights);
    // The most columns first, ties by rate.
    chosen.sort_by_key(|&(rate, columns)| (std::cmp::Reverse(columns), rate));
    let mut kept: Vec<usize> =
        chosen.into_iter().filter(|&(_, columns)| columns > 0).map(|(rate, _)| rate).collect();
    kept.truncate(CATEGORIES);
    kept.sort_unstable();
    let of_pattern: Vec<u32> =
        (0..weights.len()).map(|pattern| likeliest(&kept, table, pattern) as u32).collect();
    let columns: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let of_columns = weights.iter().zip(&of_pattern);
    let sum: f64 =
        of_columns.map(|(&weight, &rate)| f64::from(weight) * grid[kept[rate as usize]]).sum();
    let mean = sum / columns;
    let rates = kept.iter().map(|&rate| grid[rate] / mean).collect();
    (SiteRates::Categories { rates, of_pattern }, mean)
}

/// The columns that are likeliest under each of `rates`.
fn columns_by_rate(rates: &[usize], table: &[Vec<f64>], weights: &[u32]) -> Vec<(usize, u64)> {
    let mut columns: Vec<(usize, u64)> = rates.iter().map(|&rate| (rate, 0)).collect();
    for (pattern, &weight) in weights.iter().enumerate() {
        columns[likeliest(rates, table, pattern)].1 += u64::from(weight);
    }
    columns
}

/// The place in `rates` of the first under which the pattern is likeliest. What patterns without
/// weight show is not specified; they get the first.
fn likeliest(rates: &[usize], table: &[Vec<f64>], pattern: usize) -> usize {
    let mut best = 0;
    for (place, &rate) in rates.iter().enumerate() {
        if is_better(table[rate][pattern], table[rates[best]][pattern]) {
            best = place;
        }
    }
    best
}

// The minimum of a function of one variable within bounds, by the method of Brent (Algorithms for
// Minimization without Derivatives, 1973, chapter 5).
//
// It works by reverse communication, asking its caller for values: each takes calls of an engine,
// which are asynchronous, so that a solver that calls a function (argmin's) cannot be used here.

/// (3 - sqrt 5) / 2, the golden section.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// A point and the function there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    x: f64,
    f: f64,
}

/// A search for a minimum under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Brent {
    /// The minimum lies between.
    bounds: [f64; 2],
    tolerance: f64,
    /// The least, the second and the third least value so far.
    least: [Point; 3],
    /// The last step, and the one before or, after a step by the golden section, the part of the
    /// bounds that it cut.
    step: f64,
    before: f64,
}

impl Brent {
    /// Begins at `x`, where the function is `f`, within bounds around it, to end when the minimum
    /// is known to about `tolerance`.
    pub fn new(bounds: [f64; 2], (x, f): (f64, f64), tolerance: f64) -> Self {
        Self { bounds, tolerance, least: [Point { x, f }; 3], step: 0.0, before: 0.0 }
    }

    /// The place where the least value was found, and that value.
    pub fn least(&self) -> (f64, f64) {
        (self.least[0].x, self.least[0].f)
    }

    /// The place where the function is to be computed next; none at the end.
    pub fn next(&mut self) -> Option<f64> {
        let [a, b] = self.bounds;
        let (x, tolerance) = (self.least[0].x, self.tolerance);
        let middle = 0.5 * (a + b);
        if (x - middle).abs() <= 2.0 * tolerance - 0.5 * (b - a) {
            return None;
        }
        let before_last = std::mem::replace(&mut self.before, self.step);
        let parabolic = if before_last.abs() > tolerance { self.to_vertex() } else { None };
        self.step = match parabolic.filter(|step| step.abs() < (0.5 * before_last).abs()) {
            Some(step) => {
                let (left, right) = (x + step - a, b - (x + step));
                let near_bound = left < 2.0 * tolerance || right < 2.0 * tolerance;
                if near_bound { tolerance.copysign(middle - x) } else { step }
            }
            None => {
                self.before = if x < middle { b - x } else { a - x };
                GOLDEN * self.before
            }
        };
        let step = self.step;
        Some(x + if step.abs() >= tolerance { step } else { tolerance.copysign(step) })
    }

    /// Takes the value at the point that [`Brent::next`] gave.
    pub fn tell(&mut self, x: f64, f: f64) {
        let [least, second, third] = &mut self.least;
        let point = Point { x, f };
        let is_left = x < least.x;
        if f <= least.f {
            self.bounds[usize::from(is_left)] = least.x;
            (*third, *second, *least) = (*second, *least, point);
            return;
        }
        self.bounds[usize::from(!is_left)] = x;
        if f <= second.f || second.x == least.x {
            (*third, *second) = (*second, point);
        } else if f <= third.f || third.x == least.x || third.x == second.x {
            *third = point;
        }
    }

    /// The step from the least point to the vertex of the parabola through the three, if that lies
    /// within the bounds.
    fn to_vertex(&self) -> Option<f64> {
        let [least, second, third] = self.least;
        let r = (least.x - second.x) * (least.f - third.f);
        let q = (least.x - third.x) * (least.f - second.f);
        let p = (least.x - third.x) * q - (least.x - second.x) * r;
        // p / 2 (q - r), subtracted from the least point
        let step = -p / (2.0 * (q - r));
        let [a, b] = self.bounds;
        let is_inside = step > a - least.x && step < b - least.x;
        (step.is_finite() && is_inside).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_their_likeliest_rate_and_the_mean_is_one() {
        let grid = [0.5, 1.0, 2.0];
        // Rows by rate; the third pattern is the same under all, the fourth has no weight.
        let table = [
            vec![-1.0, -9.0, -2.0, f64::NAN],
            vec![-2.0, -8.0, -2.0, 0.0],
            vec![-3.0, -7.0, -2.0, 0.0],
        ];
        let (rates, mean) = assign(&grid, &table, &[3, 1, 1, 0]);
        assert_eq!(mean, (3.0 * 0.5 + 2.0 + 0.5) / 5.0);
        let expected = SiteRates::Categories {
            rates: vec![0.5 / mean, 2.0 / mean],
            of_pattern: vec![0, 1, 0, 0],
        };
        assert_eq!(rates, expected);
    }

    #[test]
    fn the_rates_of_fewest_columns_are_dropped() {
        let grid: Vec<f64> = (0..30).map(f64::from).map(f64::exp2).collect();
        // Pattern i is likeliest under rate i, and the nearer the likelier; 5 patterns are rare.
        let weights: Vec<u32> =
            (0..30).map(|pattern| if pattern % 6 == 3 { 1 } else { 5 }).collect();
        let row = |rate: usize| (0..30).map(|p| -(rate as f64 - 0.1 - p as f64).abs()).collect();
        let table: Vec<Vec<f64>> = (0..30).map(row).collect();
        let (rates, _) = assign(&grid, &table, &weights);
        let SiteRates::Categories { rates, of_pattern } = rates else { panic!() };
        assert_eq!(rates.len(), 25);
        assert_eq!(of_pattern[3], of_pattern[4], "the rate above is nearer");
        assert_ne!(of_pattern[2], of_pattern[3]);
    }
}

#[cfg(test)]
mod brent_tests {
    use super::*;

    fn minimum(bounds: [f64; 2], start: f64, f: impl Fn(f64) -> f64) -> (f64, u32) {
        let mut brent = Brent::new(bounds, (start, f(start)), 1e-7);
        let mut calls = 0;
        while let Some(x) = brent.next() {
            assert!(x >= bounds[0] && x <= bounds[1], "{x}");
            brent.tell(x, f(x));
            calls += 1;
            assert!(calls < 200, "it ends");
        }
        assert_eq!(brent.least().1, f(brent.least().0));
        (brent.least().0, calls)
    }

    #[test]
    fn minima_are_found_inside_and_at_the_bounds() {
        let (x, calls) = minimum([-3.0, 5.0], 4.0, |x| (x - 1.25).powi(2));
        assert!((x - 1.25).abs() < 1e-6, "{x}");
        assert!(calls < 10, "a parabola is seen to be one: {calls}");
        let (x, calls) = minimum([0.0, 4.0], 0.5, |x: f64| -(-(x - 2.5).powi(2)).exp());
        assert!((x - 2.5).abs() < 1e-6, "{x}");
        // Without parabolas: ln(4 / 1e-7) / -ln(1 - 0.382) = 36 steps.
        assert!(calls < 20, "{calls}");
        let (x, _) = minimum([1.0, 3.0], 2.0, |x| x);
        assert!((x - 1.0).abs() < 1e-6, "{x}");
        let (x, _) = minimum([1.0, 3.0], 2.0, |x| -x);
        assert!((x - 3.0).abs() < 1e-6, "{x}");
        let (x, _) = minimum([0.0, 3.0], 2.0, |x| (x - 1.0_f64).abs());
        assert!((x - 1.0).abs() < 1e-6, "{x}");
    }
}

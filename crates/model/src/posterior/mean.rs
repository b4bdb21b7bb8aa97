//! Means of the time over (m, p): what a discrepancy lies over.
//!
//! A mean is a family of functions with a few coefficients z, each with a normal prior, given by the
//! logarithm of its time and the derivatives of that. [`Sum`] is a sum of positive terms, each of
//! a size that nothing is known of but that no term alone exceeds a measured time; [`Known`] is a
//! model whose values were measured, with their errors; [`Flat`] is a constant.

use std::rc::Rc;

use crate::model::observations::Observations;
use crate::model::parameters::Decomposition;
use crate::model::sources::Sources;
use crate::model::time_model::TimeModel;
use mmgp_base::Mapping;

/// A family of means.
pub(crate) trait Mean {
    /// What it is called.
    fn name(&self) -> &str;

    /// Mean and variance of the prior of each coefficient.
    fn prior(&self) -> Vec<(f64, f64)>;

    /// The logarithm of the time with these coefficients, and its derivative by each of them.
    fn at(&self, coefficients: &[f64], mapping: Mapping) -> (f64, Vec<f64>);

    /// The logarithm of how much likelier it is than others, whatever ran.
    fn preference(&self) -> f64 {
        0.0
    }

    /// The values of files behind it: of each its name and, in its standard errors, what it has of
    /// each coefficient.
    fn values(&self) -> Vec<(String, Vec<f64>)> {
        Vec::new()
    }
}

/// How the time of a term depends on (m, p).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The same everywhere.
    One,
    /// m
    Threads,
    /// m - 1
    FurtherThreads,
    /// p
    Apus,
    /// 1/m: work that processes share and threads do not.
    PerThread,
    /// 1/p
    PerApu,
    /// 1/(m p)
    Shared,
    /// m p: a cost of every unit.
    All,
    /// 1 where m is above 1: the price of a second process.
    SecondProcess,
}

impl Shape {
    /// Its value at a mapping, of a run whose slowest thread has this fraction of the totals.
    fn at(self, decomposition: Decomposition, mapping: Mapping) -> f64 {
        let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
        let (fraction, pieces) = match decomposition {
            Decomposition::Data => (1.0, m * p),
            Decomposition::Task { tasks } => {
                let rounds = f64::from(tasks.div_ceil(mapping.m()));
                (rounds / f64::from(tasks), p)
            }
        };
        fraction
            * match self {
                Shape::One => 1.0,
                Shape::Threads => m,
                Shape::FurtherThreads => m - 1.0,
                Shape::Apus => p,
                Shape::PerThread => 1.0 / m,
                Shape::PerApu => 1.0 / p,
                Shape::Shared => 1.0 / pieces,
                Shape::All => m * p,
                Shape::SecondProcess => f64::from(u8::from(mapping.m() > 1)),
            }
    }
}

/// The prior of the logarithm of a term's size, the most that it can be taken as 1: anything from a
/// ten-thousandth to all of it. The same for every term, so that nothing explodes with few runs.
const PRIOR_OF_A_SIZE: (f64, f64) = (-3.0, 9.0);

/// Terms and, of each, the most that it can be: what explains the run that it explains best.
#[derive(Debug, Clone)]
struct Sizes {
    decomposition: Decomposition,
    shapes: Vec<(Shape, f64)>,
}

impl Sizes {
    fn new(decomposition: Decomposition, shapes: &[Shape], observations: &Observations) -> Self {
        let times = observations.configurations.iter().map(|observed| observed.time.0);
        let shortest = times.fold(f64::INFINITY, f64::min);
        let most = |shape: Shape| {
            let ratios = observations
                .configurations
                .iter()
                .map(|observed| observed.time.0 / shape.at(decomposition, observed.mapping));
            let most = ratios.fold(f64::INFINITY, f64::min);
            if most.is_finite() { most } else { shortest }
        };
        let shapes = shapes.iter().map(|&shape| (shape, most(shape))).collect();
        Self { decomposition, shapes }
    }

    /// The time of each term at a mapping \[s\].
    fn times<'a>(
        &'a self,
        coefficients: &'a [f64],
        mapping: Mapping,
    ) -> impl Iterator<Item = f64> + 'a {
        let of = move |(&(shape, most), z): (&(Shape, f64), &f64)| {
            most * z.exp() * shape.at(self.decomposition, mapping)
        };
        self.shapes.iter().zip(coefficients).map(of)
    }
}

/// A sum of positive terms: `T = sum of u_k exp(z_k) phi_k(m, p)`.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    name: &'static str,
    sizes: Sizes,
    preference: f64,
}

/// How much likelier equation 11 is than another mean beforehand: it is what the tool is about, and
/// where it is right it is not to be given away.
const OF_EQUATION_11: f64 = 10.0;

impl Sum {
    pub fn new(
        (name, shapes): (&'static str, &[Shape]),
        decomposition: Decomposition,
        observations: &Observations,
    ) -> Self {
        let sizes = Sizes::new(decomposition, shapes, observations);
        Self { name, sizes, preference: 0.0 }
    }
}

impl Sum {
    /// As one that is preferred to the others.
    pub fn preferred(self) -> Self {
        Self { preference: OF_EQUATION_11.ln(), ..self }
    }
}

impl Mean for Sum {
    fn name(&self) -> &str {
        self.name
    }

    fn preference(&self) -> f64 {
        self.preference
    }

    fn prior(&self) -> Vec<(f64, f64)> {
        vec![PRIOR_OF_A_SIZE; self.sizes.shapes.len()]
    }

    fn at(&self, coefficients: &[f64], mapping: Mapping) -> (f64, Vec<f64>) {
        let times: Vec<f64> = self.sizes.times(coefficients, mapping).collect();
        let time: f64 = times.iter().sum();
        (time.ln(), times.into_iter().map(|part| part / time).collect())
    }
}

/// The same time everywhere: what is left is the discrepancy alone.
#[derive(Debug, Clone)]
pub(crate) struct Flat {
    /// Mean of the logarithms of the times.
    log_time: f64,
}

/// Variance of the constant about that mean.
const VARIANCE_OF_FLAT: f64 = 4.0;

impl Flat {
    pub fn new(observations: &Observations) -> Self {
        let logs = observations.configurations.iter().map(|observed| observed.time.0.ln());
        let count = observations.configurations.len().max(1) as f64;
        Self { log_time: logs.sum::<f64>() / count }
    }
}

impl Mean for Flat {
    fn name(&self) -> &str {
        super::FLAT
    }

    fn prior(&self) -> Vec<(f64, f64)> {
        vec![(self.log_time, VARIANCE_OF_FLAT)]
    }

    fn at(&self, coefficients: &[f64], _: Mapping) -> (f64, Vec<f64>) {
        (coefficients[0], vec![1.0])
    }
}

/// A model with measured values, to first order in their errors, and terms that nobody measured
/// beside it: `T = T_0 + sum of G_i z_i + sum of u_k exp(z_k) phi_k`.
pub(crate) struct Known {
    model: Rc<dyn TimeModel>,
    sources: Sources,
    unknown: Sizes,
}

/// What is left of a time at least, however far its values are moved.
const LEAST_SHARE: f64 = 0.05;

impl Known {
    pub fn new(
        model: Rc<dyn TimeModel>,
        unknown: &[Shape],
        decomposition: Decomposition,
        observations: &Observations,
    ) -> Self {
        let unknown = Sizes::new(decomposition, unknown, observations);
        Self { sources: Sources::of(&*model), model, unknown }
    }
}

impl Mean for Known {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn preference(&self) -> f64 {
        OF_EQUATION_11.ln()
    }

    fn prior(&self) -> Vec<(f64, f64)> {
        let mut prior = vec![(0.0, 1.0); self.sources.count()];
        prior.resize(prior.len() + self.unknown.shapes.len(), PRIOR_OF_A_SIZE);
        prior
    }

    fn at(&self, coefficients: &[f64], mapping: Mapping) -> (f64, Vec<f64>) {
        let (of_values, of_sizes) = coefficients.split_at(self.sources.count());
        let mut slopes = self.sources.deviates_of_time(&*self.model, mapping);
        let known = self.model.time(mapping).0;
        let moved: f64 = slopes.iter().zip(of_values).map(|(slope, z)| slope * z).sum();
        slopes.extend(self.unknown.times(of_sizes, mapping));
        let unknown: f64 = slopes[of_values.len()..].iter().sum();
        let least = LEAST_SHARE * (known + unknown) + f64::MIN_POSITIVE;
        let time = (known + moved + unknown).max(least);
        slopes.iter_mut().for_each(|slope| *slope /= time);
        (time.ln(), slopes)
    }

    fn values(&self) -> Vec<(String, Vec<f64>)> {
        self.sources.named_deviates()
    }
}

//! What a time is made of over (m, p), before the sizes of its parts are known: what a misfit lies
//! over.
//!
//! A form gives the logarithm of a time and its derivatives by a few coefficients. [`SumForm`] is a sum of
//! positive terms, each of a size of which nothing is known but that no term alone exceeds a measured
//! time; [`FileForm`] is a model with values from files, with terms that no file knows beside them;
//! [`ConstantForm`] is a constant. What is believed of the coefficients beforehand is [`PriorMean`]'s: several means
//! may have one form.

use std::sync::Arc;

use super::work::{Regressor, Work};
use crate::models::terms::Term;
use crate::models::time_model::{Sources, TimeModel};
use mmgp_base::Mapping;

/// What a time is made of.
pub(crate) trait Form: Send + Sync {
    /// How many coefficients it has.
    fn count(&self) -> usize;

    /// What the time depends on at a mapping, whatever the coefficients are.
    fn features(&self, mapping: Mapping) -> Vec<f64>;

    /// The logarithm of the time with these coefficients, and its derivative by each of them.
    fn at(&self, coefficients: &[f64], features: &[f64]) -> (f64, Vec<f64>);

    /// The terms of which runs alone tell; beside values from files those that no file knows.
    fn sizes(&self) -> Vec<Size> {
        Vec::new()
    }

    /// The values of files behind it.
    fn values(&self) -> Vec<OfFile> {
        Vec::new()
    }
}

/// A term of which runs alone tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    /// How it depends on (m, p).
    pub regressor: Regressor,
    /// The coefficient that is the logarithm of its part of the most that it can be.
    pub coefficient: usize,
    /// The logarithm of that \[s\].
    pub log_most: f64,
}

/// A value of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfFile {
    /// Name among the values of the model.
    pub name: String,
    /// What its error has of each coefficient, in standard errors of its file; `None` where that states
    /// none.
    pub error: Option<Vec<f64>>,
    /// The least that it can be, where the rest of it has a logarithm.
    pub least: Option<f64>,
    /// What its file says: its logarithm above the least, or itself.
    pub centre: f64,
    /// What that has of each coefficient.
    pub weights: Vec<f64>,
}

/// A form with what is believed of its coefficients beforehand.
#[derive(Debug, Clone)]
pub(crate) struct PriorMean {
    /// What it is called.
    pub name: String,
    /// The place of its form.
    pub form: usize,
    /// Mean and variance of each coefficient.
    pub prior: Vec<(f64, f64)>,
    /// Files hold for the program to within this.
    pub loose: f64,
    /// The logarithm of how likely it is beforehand.
    pub log_prior: f64,
}

/// Terms and, of each, the most that it can be \[s\]: a coefficient is the logarithm of what part of that
/// it is.
#[derive(Debug, Clone)]
pub(crate) struct TermSizes {
    work: Work,
    regressors: Vec<(Regressor, f64)>,
}

impl TermSizes {
    pub fn new(work: Work, regressors: Vec<(Regressor, f64)>) -> Self {
        Self { work, regressors }
    }

    /// The most that each term can be at a mapping \[s\].
    fn at(&self, mapping: Mapping) -> impl Iterator<Item = f64> + '_ {
        let of =
            move |&(regressor, most): &(Regressor, f64)| most * self.work.at(regressor, mapping);
        self.regressors.iter().map(of)
    }

    /// The terms, whose coefficients begin at this one.
    fn from(&self, first: usize) -> impl Iterator<Item = Size> + '_ {
        let of = move |(place, &(regressor, most)): (usize, &(Regressor, f64))| Size {
            regressor,
            coefficient: first + place,
            log_most: most.ln(),
        };
        self.regressors.iter().enumerate().map(of)
    }
}

/// A sum of positive terms: `T = sum of u_k exp(z_k) phi_k(m, p)`.
#[derive(Debug, Clone)]
pub(crate) struct SumForm(pub TermSizes);

impl Form for SumForm {
    fn count(&self) -> usize {
        self.0.regressors.len()
    }

    fn features(&self, mapping: Mapping) -> Vec<f64> {
        self.0.at(mapping).collect()
    }

    fn at(&self, coefficients: &[f64], features: &[f64]) -> (f64, Vec<f64>) {
        let parts = features.iter().zip(coefficients).map(|(most, z)| most * z.exp());
        let mut parts: Vec<f64> = parts.collect();
        let time = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        parts.iter_mut().for_each(|part| *part /= time);
        (time.ln(), parts)
    }

    fn sizes(&self) -> Vec<Size> {
        self.0.from(0).collect()
    }
}

/// The same time everywhere: what is left is the misfit alone.
#[derive(Debug, Clone)]
pub(crate) struct ConstantForm;

impl Form for ConstantForm {
    fn count(&self) -> usize {
        1
    }

    fn features(&self, _: Mapping) -> Vec<f64> {
        Vec::new()
    }

    fn at(&self, coefficients: &[f64], _: &[f64]) -> (f64, Vec<f64>) {
        (coefficients[0], vec![1.0])
    }
}

/// A model with values from files, and terms that no file knows beside it:
/// `T = T_0 + sum over values of A_v (exp(z_v) - 1) + sum of u_k exp(z_k) phi_k`.
///
/// `A_v` is what the time has of a value, its derivative times the value; `z_v` the error of its file
/// and how far the program is from what the file says, which values of one term have in common.
/// Values that may be nothing enter to first order. For a model that is not linear in its values, all
/// of it is to first order about what files say.
pub(crate) struct FileForm {
    model: Arc<dyn TimeModel>,
    sources: usize,
    values: Vec<FormValue>,
    groups: usize,
    /// Terms that no file knows, and after them what may come to them.
    further: TermSizes,
    untold: usize,
}

/// A value of a model, by what its coefficient means.
struct FormValue {
    /// Place among the model's values.
    place: usize,
    /// Name, and what the file says of the value.
    name: String,
    value: f64,
    /// What its error has of each deviate, for one standard error.
    deviates: Option<Vec<f64>>,
    kind: ValueKind,
}

enum ValueKind {
    /// Value whose logarithm has an error: what it is above the least that it can be, the standard
    /// deviation of the logarithm of that, and which values share a deviation of the program with it.
    Relative { amount: f64, deviation: f64, group: Option<usize> },
    /// Value with an error of this size.
    Absolute(f64),
}

/// What is left of a time at least, however far its values are moved.
const LEAST_SHARE: f64 = 0.05;

impl FileForm {
    /// Form of a model with further terms, of which the first are those that no file knows.
    pub fn new(model: Arc<dyn TimeModel>, further: TermSizes, untold: usize) -> Self {
        let sources = Sources::of(&*model);
        let mut named: Vec<String> = Vec::new();
        let mut values = Vec::new();
        for (place, value) in model.values().into_iter().enumerate() {
            let source = sources.source(place);
            let spread = source.map_or(0.0, |it| sources.spreads[it]);
            let deviates = source.map(|it| sources.deviates(&[(it, 1.0 / spread)]));
            let amount = value.value - value.least;
            let kind = if amount > 0.0 && value.beyond.is_none() {
                let term = value.name.split('(').next().unwrap_or_default();
                // Another program pays another cost, and what is counted of this one stays.
                let is_count = Term::named(term).is_some_and(Term::is_count);
                let group = (!is_count).then(|| {
                    let group = named.iter().position(|known| known == term);
                    group.unwrap_or_else(|| {
                        named.push(term.into());
                        named.len() - 1
                    })
                });
                let deviation = (spread / amount).powi(2).ln_1p().sqrt();
                ValueKind::Relative { amount, deviation, group }
            } else if deviates.is_some() {
                ValueKind::Absolute(spread)
            } else {
                continue;
            };
            values.push(FormValue { place, name: value.name, value: value.value, deviates, kind });
        }
        let (sources, groups) = (sources.count(), named.len());
        Self { model, sources, values, groups, further, untold }
    }

    /// What is believed of the coefficients beforehand but for the terms that no file knows: files have
    /// their errors, and hold for the program to within this factor's logarithm.
    pub fn prior(&self, loose: f64) -> Vec<(f64, f64)> {
        let mut prior = vec![(0.0, 1.0); self.sources];
        prior.resize(self.sources + self.groups, (0.0, loose * loose));
        prior
    }
}

impl Form for FileForm {
    fn count(&self) -> usize {
        self.sources + self.groups + self.further.regressors.len()
    }

    /// The time, what it has of each value, and the most of each further term.
    fn features(&self, mapping: Mapping) -> Vec<f64> {
        let gradient = self.model.gradient(mapping);
        let of = |value: &FormValue| {
            let slope = gradient.iter().find(|(place, _)| *place == value.place);
            let size = match value.kind {
                ValueKind::Relative { amount, .. } => amount,
                ValueKind::Absolute(spread) => spread,
            };
            slope.map_or(0.0, |(_, slope)| slope * size)
        };
        let time = [self.model.time(mapping).0];
        time.into_iter().chain(self.values.iter().map(of)).chain(self.further.at(mapping)).collect()
    }

    fn at(&self, coefficients: &[f64], features: &[f64]) -> (f64, Vec<f64>) {
        let (of_files, of_sizes) = coefficients.split_at(self.sources + self.groups);
        let (deviates, of_groups) = of_files.split_at(self.sources);
        let (of_values, most) = features[1..].split_at(self.values.len());
        let mut slopes = vec![0.0; self.sources + self.groups];
        let mut moved = 0.0;
        for (value, &size) in self.values.iter().zip(of_values).filter(|(_, size)| **size != 0.0) {
            let along = value.deviates.as_deref().unwrap_or_default();
            let error: f64 = along.iter().zip(deviates).map(|(weight, z)| weight * z).sum();
            let slope = match value.kind {
                ValueKind::Relative { deviation, group, .. } => {
                    let of_group = group.map_or(0.0, |group| of_groups[group]);
                    let now = size * (deviation * error + of_group).exp();
                    moved += now - size;
                    group.into_iter().for_each(|group| slopes[self.sources + group] += now);
                    deviation * now
                }
                ValueKind::Absolute(_) => {
                    // Far beyond a table it may be many times the time: a factor of e is what a line
                    // of the logarithm bears.
                    let size = size.clamp(-features[0], features[0]);
                    moved += size * error;
                    size
                }
            };
            slopes.iter_mut().zip(along).for_each(|(sum, weight)| *sum += slope * weight);
        }
        slopes.extend(most.iter().zip(of_sizes).map(|(most, z)| most * z.exp()));
        let known = features[0];
        let unknown: f64 = slopes[of_files.len()..].iter().sum();
        let least = LEAST_SHARE * (known + unknown) + f64::MIN_POSITIVE;
        let time = (known + moved + unknown).max(least);
        slopes.iter_mut().for_each(|slope| *slope /= time);
        (time.ln(), slopes)
    }

    fn sizes(&self) -> Vec<Size> {
        self.further.from(self.sources + self.groups).take(self.untold).collect()
    }

    fn values(&self) -> Vec<OfFile> {
        self.values.iter().map(|value| self.of_file(value)).collect()
    }
}

impl FileForm {
    fn of_file(&self, value: &FormValue) -> OfFile {
        let along = value.deviates.as_deref().unwrap_or_default();
        let padded = |scale: f64| {
            let mut weights: Vec<f64> = along.iter().map(|weight| scale * weight).collect();
            weights.resize(self.count(), 0.0);
            weights
        };
        let (least, centre, weights) = match value.kind {
            ValueKind::Relative { amount, deviation, group } => {
                let mut weights = padded(deviation);
                group.into_iter().for_each(|group| weights[self.sources + group] = 1.0);
                (Some(value.value - amount), amount.ln(), weights)
            }
            ValueKind::Absolute(spread) => (None, value.value, padded(spread)),
        };
        let error = value.deviates.is_some().then(|| padded(1.0));
        OfFile { name: value.name.clone(), error, least, centre, weights }
    }
}

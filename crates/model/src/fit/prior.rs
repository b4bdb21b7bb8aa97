//! What files say of single values, as the likelihood needs it.
//!
//! Two things that a list of values with standard errors does not tell: which errors the values
//! have in common (all slowdowns are relative to the same measurement of one process), and that a
//! standard error from five repetitions is itself 40 % uncertain, so that a sum of many values
//! weighed by such errors looks surer than it is. The first becomes an unknown of its own; the
//! second is mended by what the values of one file say of each other's noise ([`moderate`]).

use nalgebra::DMatrix;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::gamma::digamma;

use super::likelihood::NEGLIGIBLE;
use super::noise::Repetitions;
use super::unknowns::{Kind, Prior, Unknown};
use crate::model::Parameters;
use crate::model::parameters::NOT_MEASURED;
use crate::model::parameters::{Estimate, OverM};
use crate::model::sensitivity::Entry;
use crate::model::terms::Term;
use crate::model::uncertainty::Correlation;

/// The relative standard error of a value that was measured once: how far apart the
/// micro-benchmarks of one machine usually are. Assumed, and said where it is used.
pub(crate) const MEASURED_ONCE: f64 = 0.1;

/// An axis of a covariance matrix whose variance is below this part of the largest is rounding.
const ROUNDING: f64 = 1e-12;

/// A value with what its file says of it.
struct Measured<'a> {
    entry: Entry,
    estimate: &'a Estimate,
    /// Its own relative variance and the degrees of freedom of that.
    relative_variance: f64,
    degrees_of_freedom: Option<f64>,
}

/// The unknowns that files say something of: every entry with a source of its own, but counts,
/// which are exact or nearly so, and alpha at m = 1, which is 1.
pub(crate) fn measured(
    base: &Parameters,
    grows: bool,
    correlations: &[Correlation],
    repetitions: Repetitions,
    lower: impl Fn(Entry) -> f64,
) -> Vec<(Unknown, f64)> {
    let terms = &base.terms;
    let is_measured = |entry: &Entry| match *entry {
        Entry::Offloads | Entry::Collectives => false,
        Entry::Alpha(_) if grows => false,
        Entry::Alpha(index) => match &terms.alpha {
            OverM::Table(table) => table.m[index] > 1,
            OverM::Constant(_) => true,
        },
        _ => true,
    };
    let entries = terms.entries().into_iter().filter(is_measured);
    let mut all: Vec<Measured<'_>> =
        entries.filter_map(|entry| one(entry, terms.estimate(entry)?)).collect();
    moderate_by_file(&mut all, repetitions);
    let goes_with_others = |each: &Measured<'_>| {
        correlations.iter().any(|known| known.entries().contains(&each.entry))
    };
    let own = all.iter().filter(|each| !goes_with_others(each));
    let own = own.map(|each| alone(each, lower(each.entry)));
    own.chain(correlations.iter().flat_map(|known| in_common(&all, known))).collect()
}

/// What a file says of one value; `None` where none does, or where it is nothing for certain.
fn one(entry: Entry, estimate: &Estimate) -> Option<Measured<'_>> {
    let source = estimate.source.as_deref()?;
    if source == NOT_MEASURED || source.starts_with("carried by") {
        return None;
    }
    let relative = match estimate.std_error {
        Some(std_error) => (std_error / estimate.value).max(NEGLIGIBLE),
        None => MEASURED_ONCE,
    };
    let degrees_of_freedom = estimate.degrees_of_freedom;
    let relative_variance = relative.powi(2);
    (estimate.value > 0.0).then_some(Measured {
        entry,
        estimate,
        relative_variance,
        degrees_of_freedom,
    })
}

fn alone(measured: &Measured<'_>, lower: f64) -> (Unknown, f64) {
    let value = measured.estimate.value;
    let std_error = value * measured.relative_variance.sqrt();
    let prior = Some(Prior {
        value,
        std_error,
        degrees_of_freedom: measured.degrees_of_freedom,
        size: value,
    });
    let (term, kind) = (Term::of(measured.entry).0, Kind::Entry(measured.entry));
    (Unknown { term, kind, prior, lower }, value)
}

/// The errors that values have in common: the principal axes of their covariance matrix, each
/// an error of its own.
fn in_common(all: &[Measured<'_>], correlation: &Correlation) -> Vec<(Unknown, f64)> {
    let values: Vec<&Measured<'_>> = correlation
        .entries()
        .iter()
        .filter_map(|&entry| all.iter().find(|each| each.entry == entry))
        .collect();
    let matrix = DMatrix::from_fn(values.len(), values.len(), |row, column| {
        let (one, other) = (values[row], values[column]);
        let relative = (one.relative_variance * other.relative_variance).sqrt();
        relative * correlation.of(one.entry, other.entry)
    });
    let axes = matrix.symmetric_eigen();
    let largest = axes.eigenvalues.iter().copied().fold(0.0, f64::max);
    let degrees_of_freedom =
        values.iter().filter_map(|each| each.degrees_of_freedom).reduce(f64::min);
    let axis = |index: usize| {
        let variance = axes.eigenvalues[index];
        let relative = axes.eigenvectors.column(index) * variance.max(0.0).sqrt();
        let parts = values.iter().zip(relative.iter());
        let parts = parts.map(|(each, relative)| (each.entry, relative * each.estimate.value));
        let mean_square = relative.norm_squared() / values.len() as f64;
        factor(parts.collect(), degrees_of_freedom, mean_square.sqrt().recip())
    };
    let has_any = |index: &usize| axes.eigenvalues[*index] > ROUNDING * largest;
    (0..values.len()).filter(has_any).map(axis).collect()
}

/// An error in units of its standard deviation; `size` of them are 100 % of the values.
fn factor(parts: Vec<(Entry, f64)>, degrees_of_freedom: Option<f64>, size: f64) -> (Unknown, f64) {
    let prior = Some(Prior { value: 0.0, std_error: 1.0, degrees_of_freedom, size });
    let term = parts.first().map_or(Term::Alpha, |(entry, _)| Term::of(*entry).0);
    let kind = Kind::Common(parts);
    (Unknown { term, kind, prior, lower: f64::NEG_INFINITY }, 0.0)
}

/// Values of the same file were measured by the same program on the same machine; and a profile
/// is a run of the program as the timed ones are.
fn moderate_by_file(all: &mut [Measured<'_>], runs: Repetitions) {
    let mut files: Vec<&str> =
        all.iter().filter_map(|each| each.estimate.source.as_deref()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let of_file: Vec<usize> = (0..all.len())
            .filter(|&index| {
                let each = &all[index];
                each.estimate.source.as_deref() == Some(file)
                    && each
                        .degrees_of_freedom
                        .is_some_and(|degrees_of_freedom| degrees_of_freedom >= 1.0)
                    && each.relative_variance > 4.0 * NEGLIGIBLE.powi(2)
            })
            .collect();
        // Of one repetition, as values may be means over different numbers of them.
        let repeated = |index: usize| all[index].degrees_of_freedom.unwrap_or(1.0) + 1.0;
        let mut known: Vec<(f64, f64)> = of_file
            .iter()
            .map(|&index| (all[index].relative_variance * repeated(index), repeated(index) - 1.0))
            .collect();
        let is_profile = of_file.iter().any(|&index| all[index].entry == Entry::ApuTime);
        if is_profile && runs.degrees_of_freedom >= 1.0 && runs.squares > 0.0 {
            known.push((runs.squares / runs.degrees_of_freedom, runs.degrees_of_freedom));
        }
        for (&index, (variance, degrees_of_freedom)) in of_file.iter().zip(moderate(&known)) {
            let repeated = all[index].degrees_of_freedom.unwrap_or(1.0) + 1.0;
            all[index].relative_variance = variance / repeated;
            all[index].degrees_of_freedom = Some(degrees_of_freedom);
        }
    }
}

/// Variances, each with its degrees of freedom, drawn together as far as chance alone explains
/// how they differ.
///
/// After Smyth (Linear models and empirical Bayes methods, Statistical Applications in Genetics
/// and Molecular Biology 3, 2004): the true variances scatter around a common one as if it had
/// been seen with d further degrees of freedom. `ln s^2` of f degrees of freedom has the mean
/// `digamma(f/2) - ln(f/2)` and the variance `trigamma(f/2)`; what the values scatter more than
/// chance lets them in 99 of 100 cases is `trigamma(d/2)`, and where they do not, d is infinite:
/// then all are the pooled one.
/// Fewer than three say nothing of each other.
pub(crate) fn moderate(variances: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let count = variances.len() as f64;
    if variances.len() < 3 {
        return variances.to_vec();
    }
    let of = |&(variance, degrees_of_freedom): &(f64, f64)| {
        variance.ln() - digamma(degrees_of_freedom / 2.0) + (degrees_of_freedom / 2.0).ln()
    };
    let mean = variances.iter().map(of).sum::<f64>() / count;
    let scatter =
        variances.iter().map(|each| (of(each) - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let by_chance = variances
        .iter()
        .map(|(_, degrees_of_freedom)| trigamma(degrees_of_freedom / 2.0))
        .sum::<f64>()
        / count;
    let all: f64 = variances.iter().map(|(_, degrees_of_freedom)| degrees_of_freedom).sum();
    let pooled = variances
        .iter()
        .map(|(variance, degrees_of_freedom)| variance * degrees_of_freedom)
        .sum::<f64>()
        / all;
    // Of equal variances, 99 samples in 100 scatter less than this.
    let often = ChiSquared::new(count - 1.0).expect("invariant: there are three or more");
    let excess = scatter - by_chance * often.inverse_cdf(0.99) / (count - 1.0);
    if excess <= 0.0 {
        return vec![(pooled, all); variances.len()];
    }
    let further = 2.0 * inverse_trigamma(excess);
    let common = (mean + digamma(further / 2.0) - (further / 2.0).ln()).exp();
    let drawn = |&(variance, degrees_of_freedom): &(f64, f64)| {
        let together = further + degrees_of_freedom;
        ((further * common + degrees_of_freedom * variance) / together, together.min(all))
    };
    variances.iter().map(drawn).collect()
}

/// The second derivative of the logarithm of the Gamma function, by its recurrence up to where
/// the asymptotic series is exact to rounding (Abramowitz and Stegun, 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 20.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x
        + square / 2.0
        + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0)))
}

/// The x at which trigamma, which falls, is `value`.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64.ln(), 1e9_f64.ln());
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if trigamma(middle.exp()) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests;

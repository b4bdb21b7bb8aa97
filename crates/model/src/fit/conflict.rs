//! Whether runs and files tell the same story, and what to do where they do not.
//!
//! A micro-benchmark is not the program: its slowdown is that of its own code, its off-loads carry
//! its own arguments. Where runs and files contradict each other by more than their errors explain,
//! the standard errors of what files say are stretched by the root of how much more (Birge, The
//! calculation of errors by the method of least squares, Physical Review 40, 1932), and the reader
//! is told which values are at odds.

use std::fmt;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::likelihood::Minimum;
use super::noise::SIGNIFICANT;
use super::unknowns::{Kind, Prior, Unknown, Unknowns};
use crate::model::sensitivity::Entry;
use crate::model::uncertainty::quantile_97_5;

/// The test of files against runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// What joining the two costs, in squares of standard errors, for each value that both know.
    pub ratio: f64,
    /// How many values both know, and the degrees of freedom of the noise.
    pub degrees_of_freedom: (f64, f64),
    /// Probability of a ratio this large if they agree.
    pub probability: f64,
    /// By what the standard errors of what files say were multiplied; 1 where they agree.
    pub stretch: f64,
    /// The values that are farthest apart, first, where they do not agree.
    pub values: Vec<Contradiction>,
}

/// One value that the runs contradict.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The entry, as in `alpha(4)`.
    pub entry: String,
    /// What its file says, and the standard error of that.
    pub measured: (f64, f64),
    /// What everything else says, and the standard error of that.
    pub elsewhere: (f64, f64),
    /// Their distance in standard errors, with the sign of `elsewhere - measured`.
    pub deviations: f64,
}

/// More contradictions than these say no more.
const SHOWN: usize = 5;

impl Conflict {
    /// Compares a joint minimum with that of the runs alone; `None` where they share nothing.
    pub(crate) fn test(
        unknowns: &Unknowns,
        joint: &Minimum,
        alone: &Alone,
        noise_freedom: f64,
    ) -> Option<Self> {
        let priors = unknowns.list.iter().filter(|unknown| unknown.prior.is_some()).count() as f64;
        let shared = priors + alone.rank - unknowns.list.len() as f64;
        if priors == 0.0 || shared < 0.5 {
            return None;
        }
        let ratio = (2.0 * joint.solution.cost - alone.squares).max(0.0) / shared;
        let degrees_of_freedom = (shared, noise_freedom);
        let fisher = FisherSnedecor::new(shared, noise_freedom.max(1.0));
        let probability = fisher.expect("invariant: both have degrees of freedom").sf(ratio);
        Some(Self { ratio, degrees_of_freedom, probability, stretch: 1.0, values: Vec::new() })
    }

    /// Whether chance does not explain it.
    pub fn is_significant(&self) -> bool {
        self.probability < SIGNIFICANT
    }
}

/// What the fit of the runs without the files left.
pub(crate) struct Alone {
    /// Weighted squares of the residuals.
    pub squares: f64,
    /// How many combinations of unknowns the runs determine.
    pub rank: f64,
}

/// A part of a file's precision that tells nothing beside it: the minimum and its errors are found to
/// less than the square root of this.
const UNTOLD: f64 = 1e-7;

/// The values whose files and whose estimate from everything else are farthest apart.
pub(crate) fn contradictions(unknowns: &Unknowns, joint: &Minimum) -> Vec<Contradiction> {
    let x = joint.solution.x.as_slice();
    let found = unknowns.parameters(x);
    let (entries, derivatives) = unknowns.entries(x);
    let covariance = &derivatives * &joint.covariance * derivatives.transpose();
    let of = |(row, &entry): (usize, &Entry)| {
        let parts = unknowns.list.iter().filter_map(|unknown| prior_of(unknown, entry));
        let (value, variance) =
            parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        if variance == 0.0 {
            return None;
        }
        // The base of an entry that is made of errors only is what its file says.
        let is_value = unknowns.list.iter().any(|unknown| unknown.entry() == Some(entry));
        let measured = if is_value { value } else { unknowns.base_value(entry) };
        // Precisions add: what the joint estimate has beyond the file is everything else's.
        let [own, all] = [1.0 / variance, 1.0 / covariance[(row, row)]];
        let beyond = all - own;
        if beyond < UNTOLD * own {
            return None;
        }
        let estimate = found.terms.estimate(entry)?.value;
        let elsewhere = (estimate * all - measured * own) / beyond;
        let std_error = beyond.recip().sqrt();
        let deviations = (elsewhere - measured) / std_error.hypot(variance.sqrt());
        Some(Contradiction {
            entry: found.terms.name_of(entry),
            measured: (measured, variance.sqrt()),
            elsewhere: (elsewhere, std_error),
            deviations,
        })
    };
    let mut all: Vec<_> = entries.iter().enumerate().filter_map(of).collect();
    all.sort_by(|a, b| b.deviations.abs().total_cmp(&a.deviations.abs()));
    all.retain(|each| each.deviations.abs() > 2.0);
    all.truncate(SHOWN);
    all
}

/// What the prior of one unknown says of an entry: value and variance.
fn prior_of(unknown: &Unknown, entry: Entry) -> Option<(f64, f64)> {
    let prior = unknown.prior?;
    match &unknown.kind {
        Kind::Entry(known) if *known == entry => Some((prior.value, prior.std_error.powi(2))),
        Kind::Common(parts) => {
            let (_, part) = parts.iter().find(|(known, _)| *known == entry)?;
            Some((0.0, (part * prior.std_error).powi(2)))
        }
        _ => None,
    }
}

/// The unknowns with every prior as wide as its few repetitions make its 95 % interval.
pub(crate) fn widened_by_degrees_of_freedom(unknowns: &Unknowns) -> Unknowns {
    with_priors(unknowns, |prior| {
        prior.std_error * quantile_97_5(prior.degrees_of_freedom) / quantile_97_5(None)
    })
}

/// The unknowns with the standard errors of all priors multiplied.
pub(crate) fn stretched(unknowns: &Unknowns, by: f64) -> Unknowns {
    with_priors(unknowns, |prior| prior.std_error * by)
}

/// The unknowns with a further relative error on every prior.
pub(crate) fn with_common_error(unknowns: &Unknowns, relative: f64) -> Unknowns {
    with_priors(unknowns, |prior| prior.std_error.hypot(relative * prior.size))
}

fn with_priors(unknowns: &Unknowns, error: impl Fn(&Prior) -> f64) -> Unknowns {
    let mut changed = unknowns.clone();
    for prior in changed.list.iter_mut().filter_map(|unknown| unknown.prior.as_mut()) {
        prior.std_error = error(prior);
    }
    changed
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, measured, elsewhere, deviations } = self;
        write!(
            f,
            "{entry}: measured {:.4e} +- {:.1e}, by the runs {:.4e} +- {:.1e} ({deviations:+.1} \
             standard errors)",
            measured.0, measured.1, elsewhere.0, elsewhere.1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::tests::{minimum, unknown};
    use super::*;
    use crate::model::parameters::Decomposition;
    use crate::model::terms::Term;
    use crate::toy;

    #[test]
    fn errors_in_common_add_to_those_of_priors_by_their_squares() {
        let of = |entry, prior| Unknown {
            term: Term::HpuTime,
            kind: Kind::Entry(entry),
            prior,
            lower: 0.0,
        };
        let prior = Prior { value: 2.0, std_error: 0.3, degrees_of_freedom: Some(4.0), size: 2.0 };
        let list = vec![of(Entry::HpuTime, Some(prior)), of(Entry::ApuTime, None)];
        let unknowns = Unknowns::new(&toy::parameters(Decomposition::Data), list);
        // Of a value of 2, 20 % are 0.4, and the root of 0.3^2 + 0.4^2 is 0.5.
        for (changed, expected) in
            [(with_common_error(&unknowns, 0.2), 0.5), (stretched(&unknowns, 1.5), 0.45)]
        {
            let found = changed.list[0].prior.unwrap();
            approx::assert_relative_eq!(found.std_error, expected, max_relative = 1e-15);
            assert_eq!(Prior { std_error: 0.3, ..found }, prior);
            assert_eq!(changed.list[1].prior, None);
        }
    }

    #[test]
    fn a_value_of_few_repetitions_is_as_wide_as_its_interval() {
        let prior = |degrees_of_freedom| Prior {
            value: 2.0,
            std_error: 0.3,
            degrees_of_freedom,
            size: 2.0,
        };
        let list = [Some(4.0), None].map(|freedom| Unknown {
            term: Term::HpuTime,
            kind: Kind::Entry(Entry::HpuTime),
            prior: Some(prior(freedom)),
            lower: 0.0,
        });
        let unknowns = Unknowns::new(&toy::parameters(Decomposition::Data), list.to_vec());
        let widened = widened_by_degrees_of_freedom(&unknowns).list;
        // Student's quantile for 4 degrees of freedom is 2.776445, the normal one 1.959964.
        let found = widened.iter().map(|unknown| unknown.prior.unwrap().std_error);
        for (found, expected) in found.zip([0.3 * 2.776_445 / 1.959_964, 0.3]) {
            approx::assert_relative_eq!(found, expected, max_relative = 1e-6);
        }
    }

    #[test]
    fn an_error_in_common_says_of_each_entry_its_part_and_no_value() {
        let prior = Prior { value: 2.0, std_error: 0.3, degrees_of_freedom: None, size: 2.0 };
        let of = |kind, prior| Unknown { term: Term::HpuTime, kind, prior, lower: 0.0 };
        let common = vec![(Entry::HpuTime, 0.5), (Entry::ApuTime, 2.0)];
        let common = of(Kind::Common(common), Some(prior));
        let close = |found: Option<(f64, f64)>, value: f64, variance: f64| {
            let (found_value, found_variance) = found.unwrap();
            assert_eq!(found_value, value);
            approx::assert_relative_eq!(found_variance, variance, max_relative = 1e-12);
        };
        close(prior_of(&common, Entry::HpuTime), 0.0, 0.15 * 0.15);
        close(prior_of(&common, Entry::ApuTime), 0.0, 0.6 * 0.6);
        assert_eq!(prior_of(&common, Entry::Gap), None);
        let alone = of(Kind::Entry(Entry::Gap), Some(prior));
        close(prior_of(&alone, Entry::Gap), 2.0, 0.3 * 0.3);
        assert_eq!(prior_of(&alone, Entry::HpuTime), None);
        assert_eq!(prior_of(&of(Kind::Entry(Entry::Gap), None), Entry::Gap), None);
    }

    #[test]
    fn what_joining_costs_is_tested_by_fishers_distribution() {
        let of = |entry, value| unknown(entry, Some((value, 1.0)));
        let list = vec![
            of(Entry::HpuTime, 2.0),
            of(Entry::ApuTime, 32.0),
            of(Entry::Gap, 0.5),
            unknown(Entry::ApuSerialTime, None),
        ];
        let unknowns = Unknowns::new(&toy::parameters(Decomposition::Data), list);
        let joint = minimum(&[2.0, 32.0, 0.5, 1.0], 8.0, &[1.0; 4]);
        let test = |rank| Conflict::test(&unknowns, &joint, &Alone { squares: 6.0, rank }, 10.0);
        // Three values and three combinations of four unknowns: both know two. Joining costs
        // 2*8 - 6 = 10, 5 for each. Beyond x lies (1 + 2*x/d)^(-d/2) of F with 2 and d degrees of
        // freedom, here 2^-5.
        let found = test(3.0).unwrap();
        assert_eq!((found.ratio, found.degrees_of_freedom), (5.0, (2.0, 10.0)));
        approx::assert_relative_eq!(found.probability, 0.03125, max_relative = 1e-9);
        assert!(!found.is_significant());
        assert!(test(1.5).is_some(), "they share half a value");
        assert_eq!(test(1.4), None);
        let mut none = unknowns.clone();
        none.list.retain(|unknown| unknown.prior.is_none());
        let alone = Alone { squares: 6.0, rank: 1.0 };
        assert_eq!(Conflict::test(&none, &joint, &alone, 10.0), None);
    }

    /// What is at odds where the file says a T_HPU of 1e5 +- 3e3, and all sources together `x`
    /// and its error.
    fn at_odds(x: f64, std_error: f64) -> Vec<Contradiction> {
        let list = vec![
            unknown(Entry::HpuTime, Some((1e5, 3e3))),
            // 10 +- 3 by its file, and 34/3 by what else there is: nearer than 2 standard errors.
            unknown(Entry::ApuTime, Some((10.0, 3.0))),
        ];
        let unknowns = Unknowns::new(&toy::parameters(Decomposition::Data), list);
        contradictions(&unknowns, &minimum(&[x, 11.0], 1.0, &[std_error, 1.5]))
    }

    #[test]
    fn what_the_runs_say_of_a_value_is_what_the_file_does_not() {
        // Precisions 1/3^2 + 1/3 = 1/1.5^2 and (100/9 + 140/3)*1.5^2 = 130, in thousands.
        let found = at_odds(1.3e5, 1.5e3);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].entry.as_str(), found[0].measured.0), ("t_hpu_s", 1e5));
        approx::assert_relative_eq!(found[0].measured.1, 3e3, max_relative = 1e-12);
        approx::assert_relative_eq!(found[0].elsewhere.0, 1.4e5, max_relative = 1e-12);
        approx::assert_relative_eq!(found[0].elsewhere.1, 3e6_f64.sqrt(), max_relative = 1e-12);
        // 40 over the root of 3^2 + 3.
        approx::assert_relative_eq!(
            found[0].deviations,
            40.0 / 12.0_f64.sqrt(),
            max_relative = 1e-12
        );
        assert_eq!(
            found[0].to_string(),
            "t_hpu_s: measured 1.0000e5 +- 3.0e3, by the runs 1.4000e5 +- 1.7e3 (+11.5 standard \
             errors)"
        );
    }

    #[test]
    fn a_value_that_only_its_file_tells_of_is_at_odds_with_nothing() {
        assert_eq!(at_odds(1.3e5, 3e3 * (1.0 - 1e-9)), []);
    }

    #[test]
    fn a_value_that_its_file_knows_far_better_than_the_runs_is_still_named() {
        // 1e5 +- 10 by its file and 1.3e5 +- 2e3 by the runs: precisions of 40,000 and 1 make
        // 1e5 + 3e4/40,001, with an error of 2e3/sqrt(40,001).
        let list = vec![unknown(Entry::HpuTime, Some((1e5, 10.0)))];
        let unknowns = Unknowns::new(&toy::parameters(Decomposition::Data), list);
        let joint = minimum(&[1e5 + 3e4 / 40_001.0], 1.0, &[2e3 / 40_001.0_f64.sqrt()]);
        let found = contradictions(&unknowns, &joint);
        assert_eq!(found.len(), 1);
        approx::assert_relative_eq!(found[0].elsewhere.0, 1.3e5, max_relative = 1e-6);
        approx::assert_relative_eq!(found[0].elsewhere.1, 2e3, max_relative = 1e-6);
    }

    #[test]
    fn an_entry_of_errors_in_common_is_measured_as_what_it_is_without_them() {
        // T_HPU 2 +- 0.4, found 1.5 higher; the precisions are 6.25 and 25, so that the rest says
        // (3.5*25 - 2*6.25)/18.75.
        let mut common = unknown(Entry::HpuTime, Some((0.0, 0.4)));
        common.kind = Kind::Common(vec![(Entry::HpuTime, 1.0)]);
        let unknowns = Unknowns::new(&toy::parameters(Decomposition::Data), vec![common]);
        let found = contradictions(&unknowns, &minimum(&[1.5], 1.0, &[0.2]));
        assert_eq!(found[0].measured.0, 2.0);
        approx::assert_relative_eq!(found[0].elsewhere.0, 4.0, max_relative = 1e-12);
    }
}

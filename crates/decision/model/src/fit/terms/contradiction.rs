//! Values that files and runs say differently.

use super::in_units;
use super::read_outs::{Of, ReadOut};
use crate::belief::Numbers;
use crate::models::Parameters;

/// One value that the runs contradict.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The entry, as in `alpha(4)`.
    pub entry: String,
    /// What its file says, and the standard error of that.
    pub measured: (f64, f64),
    /// What everything else says, and the standard error of that.
    pub elsewhere: (f64, f64),
    /// Their distance in standard errors, of logarithms where values are believed in these, with the sign of
    /// `elsewhere - measured`.
    pub deviations: f64,
}

/// More contradictions than these say no more.
const SHOWN: usize = 5;

/// Standard errors that two values are apart by at least to be named.
const APART: f64 = 2.0;

/// A part of a file's precision that tells nothing beside it.
const UNTOLD: f64 = 1e-7;

/// What runs alone say of values that files know: what is believed, divided by what was before.
pub(super) fn contradictions(
    entries: &[ReadOut],
    numbers: &Numbers,
    base: &Parameters,
) -> Vec<Contradiction> {
    let of = |(place, reading): (usize, &ReadOut)| {
        let Of::Value(_) = reading.of else { return None };
        let (centre, variance) = numbers.before[place];
        let [own, all] = [variance.recip(), numbers.covariance[(place, place)].recip()];
        let beyond = all - own;
        if variance <= 0.0 || beyond.is_nan() || beyond < UNTOLD * own {
            return None;
        }
        let mean = (numbers.means[place] * all - centre * own) / beyond;
        let deviation = beyond.recip().sqrt();
        let elsewhere = in_units(reading.least, mean, deviation);
        let said = base.terms.estimate(reading.entry)?;
        let measured = (said.value, said.std_error.unwrap_or(0.0));
        // Apart as they are believed, in logarithms where there is a least: a size that the runs say is next
        // to nothing has an error that is less than nothing.
        let of_file = reading.least.map_or(measured.1, |least| measured.1 / (measured.0 - least));
        let deviations = (mean - centre) / deviation.hypot(of_file);
        let entry = base.terms.name_of(reading.entry);
        Some(Contradiction { entry, measured, elsewhere, deviations })
    };
    let mut all: Vec<_> = entries.iter().enumerate().filter_map(of).collect();
    all.sort_by(|one, other| other.deviations.abs().total_cmp(&one.deviations.abs()));
    // What the runs know next to nothing of may have a mean beyond all numbers.
    let is_number =
        |each: &Contradiction| each.elsewhere.0.is_finite() && each.elsewhere.1.is_finite();
    all.retain(|each| each.deviations.abs() > APART && is_number(each));
    all.truncate(SHOWN);
    all
}

impl std::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { entry, measured, elsewhere, deviations } = self;
        write!(
            f,
            "{entry}: measured {:.4e} +- {:.1e}, by the runs {:.4e} +- {:.1e} ({deviations:+.1} \
             standard errors)",
            measured.0, measured.1, elsewhere.0, elsewhere.1
        )
    }
}

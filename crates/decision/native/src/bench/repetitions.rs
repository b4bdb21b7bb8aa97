//! Repetitions of a measurement: which count, and how well their mean is known.

use mmgp_base::error::Warning;
use mmgp_base::units::Percent;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean that is known so well is not measured further: half its 95 % interval over it.
const NARROW: f64 = 0.02;
/// The largest share of a processor's time that others may have in a repetition.
const LOST: f64 = 0.02;
/// What is shorter is no slice of another process: interrupts, and leaving the barrier \[s\].
const BRIEF_S: f64 = 20e-6;
/// Nobody asks for less: a few cycles of a call \[s\].
const FEW_CYCLES_S: f64 = 1e-9;
/// Repetitions after which it does not get better.
pub(super) const MOST: usize = 200;

/// A repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// Time of all calls \[s\].
    pub time_s: f64,
    /// Number of calls.
    pub count: u64,
    /// The most time that others had one of its processors \[s\].
    pub lost_s: f64,
}

impl Timed {
    /// Time of one call \[s\].
    pub fn of_one(self) -> f64 {
        self.time_s / self.count as f64
    }
}

/// The repetitions of a measurement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repetitions {
    /// Those in which others had little of the processors.
    kept: Vec<Timed>,
    disturbed: Vec<Timed>,
}

impl Repetitions {
    /// Adds one.
    pub fn push(&mut self, timed: Timed) {
        let is_disturbed = timed.lost_s > (LOST * timed.time_s).max(BRIEF_S);
        if is_disturbed { &mut self.disturbed } else { &mut self.kept }.push(timed);
    }

    /// Repetitions that count: all, where too few were undisturbed.
    pub fn rows(&self) -> Vec<Timed> {
        if self.is_disturbed() {
            [&self.kept[..], &self.disturbed].concat()
        } else {
            self.kept.clone()
        }
    }

    /// Whether there are too few without disturbance to know how they scatter.
    pub fn is_disturbed(&self) -> bool {
        self.kept.len() < 2 && !self.disturbed.is_empty()
    }

    /// Whether there are so many, and their mean is known well enough.
    pub fn is_settled(&self, repetitions: u32) -> bool {
        let enough = self.kept.len() >= (repetitions as usize).max(2);
        enough && (is_narrow(&self.kept) || self.kept.len() >= MOST)
    }
}

/// Whether the mean is known well enough.
fn is_narrow(all: &[Timed]) -> bool {
    half_width(all) <= NARROW.max(FEW_CYCLES_S / mean(all))
}

/// The mean time of a call \[s\].
fn mean(all: &[Timed]) -> f64 {
    all.iter().map(|it| it.of_one()).sum::<f64>() / all.len() as f64
}

/// Half the 95 % interval of the mean over the mean.
fn half_width(all: &[Timed]) -> f64 {
    let (count, mean) = (all.len() as f64, mean(all));
    if count < 2.0 {
        return f64::INFINITY;
    }
    let squares: f64 = all.iter().map(|it| (it.of_one() - mean).powi(2)).sum();
    let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("invariant: it is 1 or more");
    student.inverse_cdf(0.975) * (squares / (count - 1.0) / count).sqrt() / mean
}

/// What is to be said of the measurements of a file, at least one, and what repeats them more often.
pub(super) fn doubts(file: &str, all: &[&Repetitions], more: &str) -> Vec<Warning> {
    let count = all.len();
    let disturbed = all.iter().filter(|it| it.is_disturbed()).count();
    let disturbed = (disturbed > 0).then(|| {
        format!(
            "{file}: in {disturbed} of {count} measurements others had a processor for more than {} \
             of nearly every repetition; these times are too long",
            Percent(LOST)
        )
    });
    let wide: Vec<Vec<Timed>> =
        all.iter().map(|it| it.rows()).filter(|rows| !is_narrow(rows)).collect();
    let worst = wide.iter().map(|rows| half_width(rows)).fold(0.0, f64::max);
    let worst = if worst.is_finite() {
        format!("to {}", Percent(worst))
    } else {
        "by one repetition".into()
    };
    let is_over = wide.iter().any(|rows| rows.len() < MOST);
    let advice = if is_over { format!("; {more}") } else { String::new() };
    let wide = (!wide.is_empty()).then(|| {
        format!(
            "{file}: the means of {} of {count} measurements are known less well than to {}, the \
             worst {worst}{advice}",
            wide.len(),
            Percent(NARROW)
        )
    });
    [disturbed, wide].into_iter().flatten().map(Warning::Note).collect()
}

//! A model that many threads read while others add samples.
//!
//! What is known of the misfit of equation 11 never changes. What else is predicted from (a row of
//! equation 11 for each m, and the covariance of the totals) is [published](Publication) by the learner.

mod choice;

use std::ffi::{CStr, CString};
use std::fmt;

use super::misfit::{self, Correction, Misfit};
use super::publication::{Learner, Publication};
use super::sync::{AtomicU64, Ordering};
use crate::belief::untold_deviation;
use crate::fit::online::{CoefficientRow, Online};
use crate::models::run::Row;
pub use choice::{Choice, Limits};

/// `mmgp_model`: a loaded model.
pub struct Model {
    apus: u32,
    unit: Option<CString>,
    /// Whether a sample can change anything.
    learns: bool,
    totals: usize,
    misfit: Misfit,
    /// Standard deviation of the logarithm of a time of which no run tells.
    untold: f64,
    lines: Vec<CoefficientRow>,
    published: Publication<Online>,
}

/// One copy, as the bits of `f64`.
pub struct Bits {
    /// Constant, shared and growing part for each m.
    rows: Box<[[AtomicU64; 3]]>,
    /// Row by row.
    covariance: Box<[AtomicU64]>,
    samples: AtomicU64,
}

/// `mmgp_prediction`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Predicted time \[s\].
    pub time_s: f64,
    /// Lower end of its 95 % interval \[s\].
    pub low_s: f64,
    /// Upper end \[s\].
    pub high_s: f64,
}

impl Prediction {
    /// A prediction with an interval that is as wide to either side, as a factor.
    fn about(time_s: f64, width: f64) -> Self {
        Self { time_s, low_s: time_s / width, high_s: time_s * width }
    }
}

/// Why an answer is refused. It holds no text, as nothing is allocated here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// m or p is 0.
    Zero,
    /// m beyond what the model was loaded for.
    TooManyThreads {
        /// Host threads that were asked for.
        m: u32,
        /// Host threads that are known.
        last_m: u32,
    },
    /// m*p beyond the machine.
    TooManyApus {
        /// Host threads.
        m: u32,
        /// APUs for each.
        p: u32,
        /// APUs there are.
        apus: u32,
    },
    /// A time that no run takes.
    Time(f64),
    /// No value of the parameters is uncertain.
    NothingToLearn,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Zero => write!(f, "m and p must be at least 1"),
            Self::TooManyThreads { m, last_m } => {
                write!(f, "m = {m}, but the model was loaded for at most {last_m} host threads")
            }
            Self::TooManyApus { m, p, apus } => {
                let needed = u64::from(m) * u64::from(p);
                write!(f, "m = {m}, p = {p} needs {needed} APUs, but there are {apus}")
            }
            Self::Time(time) => write!(f, "time_s = {time}: found no finite time above 0 s"),
            Self::NothingToLearn => write!(
                f,
                "no value of the parameters has a standard error, so a sample cannot change them; \
                 set unknown_error in mmgp_options"
            ),
        }
    }
}

impl Model {
    /// Publishes what `online` knows, for a machine of so many APUs, beside what is known of its
    /// misfit; its times are in that unit, or in seconds.
    pub fn new((apus, unit): (u32, Option<CString>), online: Online, misfit: Misfit) -> Self {
        let learns = online.covariance().iter().any(|&variance| variance != 0.0);
        let copies = [Bits::of_size(&online), Bits::of_size(&online)];
        Self {
            apus,
            unit,
            learns,
            totals: online.values().len(),
            misfit,
            untold: untold_deviation(),
            lines: online.lines().to_vec(),
            published: Publication::new(online, copies),
        }
    }

    /// APUs of the machine.
    pub fn apus(&self) -> u32 {
        self.apus
    }

    /// The unit of its times; `None` of seconds.
    pub fn unit(&self) -> Option<&CStr> {
        self.unit.as_deref()
    }

    /// How many runs it has learnt from.
    pub fn samples(&self) -> u64 {
        self.published.read(|copy| copy.samples.load(Ordering::Relaxed))
    }

    /// The time at (m, p) \[s\].
    #[inline]
    pub fn time(&self, m: u32, p: u32) -> Result<f64, Refusal> {
        self.check(m, p)?;
        Ok(self.published.read(|copy| copy.row(m)).at(p).0 * self.misfit.factor(m, p))
    }

    /// The time at (m, p) with its interval, without the noise of a run: where runs tell of the misfit, they
    /// tell of all that is uncertain; elsewhere it is that of the terms and the usual one of the
    /// model.
    pub fn predict(&self, m: u32, p: u32) -> Result<Prediction, Refusal> {
        self.check(m, p)?;
        if let Some(Correction { factor, width, .. }) = self.misfit.at(m, p) {
            let of_terms = self.published.read(|copy| copy.row(m)).at(p).0;
            return Ok(Prediction::about(of_terms * factor, width));
        }
        let coefficients = self.lines[m as usize - 1].coefficients(p);
        let (row, variance) = self.published.read(|copy| {
            let entry =
                |row: usize, column: usize| load(&copy.covariance[row * self.totals + column]);
            (copy.row(m), coefficients.variance(entry))
        });
        let time_s = row.at(p).0;
        let of_terms = if time_s > 0.0 { variance.sqrt() / time_s } else { 0.0 };
        Ok(Prediction::about(time_s, misfit::width(self.untold.hypot(of_terms))))
    }

    /// Learns from a run; see [`Online::add`].
    pub fn learn(&self, m: u32, p: u32, time_s: f64) -> Result<f64, Refusal> {
        self.check(m, p)?;
        if !(time_s.is_finite() && time_s > 0.0) {
            return Err(Refusal::Time(time_s));
        }
        // The misfit that is known is no news to the terms.
        let time_s = time_s / self.misfit.factor(m, p);
        if !self.learns {
            return Err(Refusal::NothingToLearn);
        }
        let add = |online: &mut Online| online.add(m, p, time_s);
        self.published.put_down(add).map_err(|_| Refusal::Time(time_s))
    }

    #[inline]
    fn check(&self, m: u32, p: u32) -> Result<(), Refusal> {
        if m == 0 || p == 0 {
            return Err(Refusal::Zero);
        }
        if u64::from(m) * u64::from(p) > u64::from(self.apus) {
            return Err(Refusal::TooManyApus { m, p, apus: self.apus });
        }
        let last_m = self.lines.len() as u32;
        if m > last_m {
            return Err(Refusal::TooManyThreads { m, last_m });
        }
        Ok(())
    }
}

impl Learner for Online {
    type Copy = Bits;

    fn settle(&mut self) {
        Self::settle(self);
    }

    fn write(&self, copy: &Bits) {
        for (cells, m) in copy.rows.iter().zip(1..) {
            let row = self.row(m);
            for (cell, part) in cells.iter().zip([row.constant, row.shared, row.growing]) {
                cell.store(part.to_bits(), Ordering::Relaxed);
            }
        }
        for (cell, value) in copy.covariance.iter().zip(self.covariance()) {
            cell.store(value.to_bits(), Ordering::Relaxed);
        }
        copy.samples.store(self.samples(), Ordering::Relaxed);
    }
}

impl Bits {
    fn of_size(online: &Online) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            rows: online.lines().iter().map(|_| [zero(), zero(), zero()]).collect(),
            covariance: online.covariance().iter().map(|_| zero()).collect(),
            samples: zero(),
        }
    }

    #[inline]
    fn row(&self, m: u32) -> Row {
        let [constant, shared, growing] = &self.rows[m as usize - 1];
        Row { constant: load(constant), shared: load(shared), growing: load(growing) }
    }
}

#[inline]
fn load(cell: &AtomicU64) -> f64 {
    f64::from_bits(cell.load(Ordering::Relaxed))
}

#[cfg(test)]
impl Model {
    /// Whether one look finds rows of one sample: T_APU/m at two m, a power of two apart.
    pub fn is_whole(&self) -> bool {
        let last_m = self.lines.len() as u32;
        assert!(last_m.is_power_of_two());
        self.published.read(|copy| {
            copy.row(1).shared.to_bits() == (copy.row(last_m).shared * f64::from(last_m)).to_bits()
        })
    }

    /// The time by the learner itself.
    pub fn learner_time(&self, m: u32, p: u32) -> f64 {
        let time = |online: &mut Online| Ok::<f64, ()>(online.time(m, p).0);
        self.published.put_down(time).expect("nothing is refused")
    }
}

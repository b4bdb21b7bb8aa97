//! Inputs of a fit, what was measured, its settings, and a term as one file determines it.
//!
//! Times have bounds: residuals are squared, and squares of squares are added up, and beyond what any clock
//! reaches floating-point numbers would overflow or vanish.

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::refined::RefinedCounts;
use super::runs::Runs;
use super::shape::{ShapeChoice, TermChoices};
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate};
use crate::models::sensitivity::{Correlation, Entry};
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::csv::Record;
use mmgp_base::table::{csv, records};
use mmgp_intake::sheet::Origin;

/// The rows of a file, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRows<R> {
    /// The file's name as the user gave it.
    pub file: String,
    /// Rows of the file; at least one.
    pub rows: Vec<R>,
}

impl<R: Record> FileRows<R> {
    /// Reads and checks all rows of a CSV file or a data frame ([`Frame`](mmgp_intake::Frame)).
    ///
    /// # Errors
    /// As [`csv::read`].
    pub fn read<'a>(origin: impl Into<Origin<'a>>) -> Result<(Self, Vec<Warning>)> {
        let origin = origin.into();
        let (rows, warnings) = match origin {
            Origin::Text(source) => csv::read(source)?,
            Origin::Frame(frame) => frame.records()?,
        };
        Ok((Self { file: origin.name().into(), rows }, warnings))
    }
}

/// Everything that may have been measured; each is optional, but a profile or runs must be there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// `alpha.csv`, which determines alpha.
    pub alpha: Option<FileRows<records::Alpha>>,
    /// `offload.csv`, which determines O_offload.
    pub offload: Option<FileRows<records::Offload>>,
    /// `context_switch.csv`, which determines T_CSW.
    pub context_switch: Option<FileRows<records::ContextSwitch>>,
    /// `collective.csv`, which determines O_COL.
    pub collective: Option<FileRows<records::Collective>>,
    /// `profile.csv`, which determines T_HPU, T_APU, C_APU, N, g and the number of collectives.
    pub profile: Option<FileRows<records::Profile>>,
    /// `runs.csv`: timed runs, which correct what the others say and estimate what they leave
    /// open.
    pub runs: Option<Runs>,
    /// What is believed of terms that no file measures: each value with its standard error, as a
    /// fit of earlier runs or of a similar program left it. A value without one is believed to
    /// 10 %.
    pub prior: Option<Parameters>,
    /// `memory.csv`, which a refined model's terms of memory need.
    pub memory: Option<FileRows<records::MemoryStream>>,
    /// `terms.csv`: what traced runs say of the program's parts; one of them is of one rank and one thread.
    pub terms: Option<FileRows<records::TermRow>>,
}

impl Inputs {
    /// What runs are of. Of rates, other files and an earlier fit must not speak of seconds.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where they do.
    pub(crate) fn quantity(&self) -> Result<Quantity> {
        let of_prior = self.prior.as_ref().map(|prior| &prior.quantity);
        let quantity = match (&self.runs, of_prior) {
            (Some(runs), Some(prior)) => {
                prior.check_same(&runs.quantity)?;
                runs.quantity.clone()
            }
            (Some(runs), None) => runs.quantity.clone(),
            (None, prior) => prior.cloned().unwrap_or_default(),
        };
        match self.in_seconds() {
            Some(file) if !quantity.is_time() => Err(Error::out_of_range(
                "runs",
                format!("{quantity}, beside {file}, which is in seconds"),
                "times, or the runs alone",
            )),
            _ => Ok(quantity),
        }
    }

    /// The first file that says how many seconds something takes.
    fn in_seconds(&self) -> Option<&str> {
        let Self { offload, context_switch, collective, profile, memory, .. } = self;
        let all = [
            offload.as_ref().map(|it| &it.file),
            context_switch.as_ref().map(|it| &it.file),
            collective.as_ref().map(|it| &it.file),
            profile.as_ref().map(|it| &it.file),
            memory.as_ref().map(|it| &it.file),
        ];
        all.into_iter().flatten().next().map(String::as_str)
    }
}

/// What the parameters are of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Name of the parameter set.
    pub name: String,
    /// How the program divides its work among host threads.
    pub decomposition: Decomposition,
    /// N_APU: APUs available.
    pub apus: u32,
    /// How to estimate.
    pub options: Options,
}

impl Settings {
    /// Settings with the options that most data ask for.
    pub fn new(name: impl Into<String>, decomposition: Decomposition, apus: u32) -> Self {
        Self { name: name.into(), decomposition, apus, options: Options::default() }
    }

    /// Takes other options.
    pub fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }
}

/// How to estimate; the default is what most data ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The shapes of the terms over m, and the collective that the program calls.
    pub terms: TermChoices,
    /// What is counted of the program for the refined model, which is fitted beside equation 11
    /// where this is given.
    pub counts: Option<RefinedCounts>,
    /// Processors of the machine that is asked about, where it is another than was traced on.
    pub processors: Option<u32>,
}

/// The least and the largest time \[s\] beside 0.
const TIMES: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// Refuses times and believed values that cannot be computed with.
///
/// # Errors
///
/// [`Error::OutOfRange`], which names the file.
pub(crate) fn check(inputs: &Inputs) -> Result<()> {
    let Inputs { alpha, offload, context_switch, collective, profile, memory, .. } = inputs;
    times(alpha.as_ref(), |row| vec![row.time_s])?;
    times(offload.as_ref(), |row| vec![row.time_s])?;
    times(context_switch.as_ref(), |row| vec![row.time_s])?;
    times(collective.as_ref(), |row| vec![row.time_s])?;
    times(memory.as_ref(), |row| vec![row.time_s])?;
    times(profile.as_ref(), |row| {
        vec![row.hpu_time_s, row.apu_parallel_time_s, row.apu_serial_time_s, row.gap_time_s]
    })?;
    if let Some(runs) = &inputs.runs {
        for cell in &runs.cells {
            check_one(cell.mean_s, || {
                format!("(m, p) = ({}, {}) in {}", cell.m, cell.p, runs.file)
            })?;
        }
    }
    if let Some(prior) = &inputs.prior {
        for entry in prior.terms.entries() {
            let Some(estimate) = prior.terms.estimate(entry) else { continue };
            let error = estimate.std_error.unwrap_or(0.0).min(f64::MAX);
            // An error may be as small as it likes: it is never taken for less than rounding.
            for number in [estimate.value, error.max(*TIMES.start())] {
                check_one(number, || format!("{} of {}", prior.terms.name_of(entry), prior.name))?;
            }
        }
    }
    Ok(())
}

fn times<R>(file: Option<&FileRows<R>>, of_row: impl Fn(&R) -> Vec<f64>) -> Result<()> {
    if let Some(FileRows { file, rows }) = file {
        for time in rows.iter().flat_map(&of_row) {
            check_one(time, || file.clone())?;
        }
    }
    Ok(())
}

fn check_one(number: f64, place: impl Fn() -> String) -> Result<()> {
    if number == 0.0 || TIMES.contains(&number) {
        return Ok(());
    }
    Err(Error::out_of_range(
        "size",
        format!("{number:e} for {}", place()),
        format!("0, or from {:e} to {:e}", TIMES.start(), TIMES.end()),
    ))
}

impl Mean {
    /// Estimate of a term of the model that was measured in `file`.
    pub fn measured_in(&self, file: &str) -> Estimate {
        Estimate {
            value: self.value,
            std_error: self.std_error,
            degrees_of_freedom: self.std_error.map(|_| self.degrees_of_freedom),
            source: Some(file.to_string()),
            combined_with: Vec::new(),
        }
    }
}

/// What one measurement gave in each of its repetitions, in their order.
pub(crate) type Repetitions = Vec<(u32, f64)>;

/// The mean over the repetitions of some measurements.
pub(crate) fn mean<'a>(measurements: impl IntoIterator<Item = &'a Repetitions>) -> Mean {
    let times = measurements.into_iter().flatten().map(|(_, time)| *time);
    Mean::of(&times.collect::<Vec<_>>())
}

/// A first repetition that is slower by less than this fraction does no harm.
const HARMLESS: f64 = 0.01;

/// How rarely chance alone may raise the warning.
const RARELY: f64 = 0.001;

/// A warning where the first repetitions are slower than the others, over all measurements of a
/// file: caches, branch predictors and page tables that were still cold.
///
/// With r measurements of n repetitions, each over the mean of its own others, the excess of the
/// first is 0 on average and `s^2*[1 + 1/(n - 1)]` is its variance, `s^2` being the pooled
/// relative variance of the others; the mean of the r excesses is held against Student's
/// distribution.
pub(crate) fn warm_up(file: &str, measurements: &[Repetitions]) -> Option<Warning> {
    let (mut excess, mut variance, mut squares, mut degrees_of_freedom) = (0.0, 0.0, 0.0, 0.0);
    let mut compared = 0.0;
    for repetitions in measurements.iter().filter(|repetitions| repetitions.len() >= 3) {
        let first = repetitions.iter().min_by_key(|(repetition, _)| *repetition)?;
        let others: Vec<f64> =
            repetitions.iter().filter(|each| each.0 != first.0).map(|each| each.1).collect();
        let mean = Mean::of(&others);
        if mean.value <= 0.0 {
            continue;
        }
        compared += 1.0;
        excess += first.1 / mean.value - 1.0;
        variance += 1.0 + 1.0 / others.len() as f64;
        squares +=
            others.iter().map(|each| ((each - mean.value) / mean.value).powi(2)).sum::<f64>();
        degrees_of_freedom += mean.degrees_of_freedom;
    }
    if compared == 0.0 || excess / compared <= HARMLESS {
        return None;
    }
    let student =
        StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("invariant: others are two or more");
    let deviation = (squares / degrees_of_freedom * variance).sqrt();
    (excess > student.inverse_cdf(1.0 - RARELY) * deviation).then(|| Warning::WarmUp {
        file: file.to_string(),
        percent: 100.0 * excess / compared,
        deviations: excess / deviation,
        left_out: 0,
    })
}

/// A warning where a term has a value but no standard error.
pub(crate) fn repeated_once(term: &'static str, file: &str) -> Warning {
    Warning::MeasuredOnce { term, file: file.to_string() }
}

/// A term as one file determines it.
#[derive(Debug)]
pub(crate) struct TermMeasurement<T> {
    pub value: T,
    /// Rows that went into it.
    pub observations: u64,
    /// How the shape of a term over m was chosen, for the term and for each of its parts.
    pub choices: Vec<ShapeChoice>,
    /// How the errors of the entries of a term over m go together, where they do.
    pub correlation: Option<Correlation>,
    pub warnings: Vec<Warning>,
}

impl<T> TermMeasurement<T> {
    /// Measurement of a term without a shape.
    pub fn new(value: T, observations: u64, warnings: Vec<Warning>) -> Self {
        Self { value, observations, choices: Vec::new(), correlation: None, warnings }
    }
}

/// The correlation matrix of a covariance over entries, of which those that are exact are left
/// out.
pub(crate) fn correlation(
    covariance: Option<DMatrix<f64>>,
    entry: impl Fn(usize) -> Entry,
) -> Option<Correlation> {
    let covariance = covariance?;
    let uncertain: Vec<usize> =
        (0..covariance.nrows()).filter(|&each| covariance[(each, each)] > 0.0).collect();
    let matrix = |row: usize, column: usize| match row == column {
        true => 1.0,
        false => {
            let sizes = covariance[(row, row)].sqrt() * covariance[(column, column)].sqrt();
            (covariance[(row, column)] / sizes).clamp(-1.0, 1.0)
        }
    };
    let matrix = uncertain
        .iter()
        .flat_map(|&row| uncertain.iter().map(move |&column| (row, column)))
        .map(|(row, column)| matrix(row.max(column), row.min(column)))
        .collect();
    let entries: Vec<Entry> = uncertain.iter().map(|&each| entry(each)).collect();
    // What is too large or too small to be squared has no correlation that could be told.
    Correlation::new(entries, matrix).ok().filter(|known| known.entries().len() >= 2)
}

/// An estimate of which only the value and the origin are known.
pub(crate) fn stated(value: f64, source: &str) -> Estimate {
    Estimate { source: Some(source.to_string()), ..Estimate::exact(value) }
}

/// Noise for tests of what repetitions leave unknown.
#[cfg(test)]
pub(crate) mod noise {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Draws factors of mean 1 and the standard deviation that it is given.
    pub fn relative(seed: u64) -> impl FnMut(f64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        move |deviation| {
            let normal: f64 = StandardNormal.sample(&mut random);
            1.0 + deviation * normal
        }
    }

    /// Checks that of the 95 % intervals of a thousand seeds 950 hold the truth; sqrt(1000*0.95*0.05) = 6.9
    /// is the standard error of their number, of which less than three are allowed.
    pub fn assert_covers(interval_and_truth: impl Fn(u64) -> ((f64, f64), f64)) {
        let holds = |&seed: &u64| {
            let ((low, high), truth) = interval_and_truth(seed);
            low <= truth && truth <= high
        };
        let covered = (1..=1000).filter(holds).count();
        assert!((930..=970).contains(&covered), "{covered} of 1000 intervals hold the truth");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::terms::Term;
    use mmgp_base::table::Source;
    use mmgp_intake::{Column, Frame};

    #[test]
    fn values_that_agree_leave_no_error_at_all() {
        let mean = Mean::of(&[0.1; 7]);
        assert_eq!((mean.value, mean.std_error), (0.1, Some(0.0)));
        assert_eq!(mean.measured_in("x.csv").interval(), Some((0.1, 0.1)));
    }

    #[test]
    fn a_data_frame_has_the_rows_of_its_file() {
        let columns = |repetition| {
            let columns = [
                ("bytes", Column::Integers(vec![8, 8])),
                ("repetition", Column::Integers(repetition)),
                ("round_trips", Column::Floats(vec![1000.0, 1000.0])),
                ("time_s", Column::Floats(vec![0.1 + 0.2, 1e-7])),
            ];
            columns.map(|(name, values)| (name.to_string(), values)).into()
        };
        let read = |repetition| {
            let frame = Frame::new("the frame", columns(repetition)).expect("a good frame");
            FileRows::<records::Offload>::read(&frame)
        };
        let text =
            "bytes,repetition,round_trips,time_s\n8,1,1000,0.30000000000000004\n8,2,1000,1e-07\n";
        let of_file = FileRows::read(&Source::new("the frame", text)).unwrap();
        assert_eq!(read(vec![1, 2]).unwrap(), of_file);
        let refused = read(vec![1, 0]).unwrap_err().to_string();
        assert!(
            refused.starts_with("the frame, row 1 (from 0): found \"0\" in column \"rep"),
            "{refused}"
        );
    }

    /// Whether a file of two measurements with these repetitions raises a warning.
    fn check(repetitions: &[f64], warning: Option<&str>) {
        let measurement: Repetitions = (1..).zip(repetitions.iter().copied()).collect();
        let found = warm_up("x.csv", &[measurement.clone(), measurement]);
        assert_eq!(found.map(|warning| warning.to_string()).as_deref(), warning);
    }

    #[test]
    fn a_slow_first_repetition_raises_a_doubt() {
        let slower = "x.csv: the first repetition takes +20.0 % against the others, more than chance \
                      explains: what is measured warms up; run it once before the clock starts";
        check(&[1.2, 1.0, 1.0, 1.0], Some(slower));
        check(&[1.2, 0.99, 1.0, 1.01, 0.99, 1.01], Some(slower));
        // By 0.5 %: harmless. By 20 %, but the others differ by as much. Faster. Too few.
        check(&[1.005, 1.0, 1.0, 1.0], None);
        check(&[1.2, 1.2, 0.8, 1.1, 0.9], None);
        check(&[0.8, 1.0, 1.0, 1.0], None);
        check(&[1.2, 1.0], None);
    }

    #[test]
    fn how_far_the_first_repetitions_are_off_by_hand() {
        // Ten excesses of 0.5, each of variance 0.02*(1 + 1/2): 5/sqrt(0.3).
        let one: Repetitions = [(1, 1.5), (2, 0.9), (3, 1.1)].into_iter().collect();
        let warning = warm_up("alpha.csv", &vec![one; 10]);
        let Some(Warning::WarmUp { percent, deviations, .. }) = warning else {
            panic!("{warning:?}")
        };
        approx::assert_relative_eq!(percent, 50.0, max_relative = 1e-12);
        approx::assert_relative_eq!(deviations, 5.0 / 0.3_f64.sqrt(), max_relative = 1e-12);
    }

    #[test]
    fn first_repetitions_that_do_no_harm_do_none_together() {
        // Ten excesses of half a per cent, against others without any scatter.
        let one: Repetitions = (1..).zip([1.005, 1.0, 1.0]).collect();
        assert_eq!(warm_up("x.csv", &vec![one; 10]), None);
    }

    #[test]
    fn what_cannot_be_squared_has_no_correlation() {
        let covariance = DMatrix::from_element(2, 2, f64::INFINITY);
        assert_eq!(correlation(Some(covariance), |index| Term::Alpha.entry(index)), None);
    }

    #[test]
    fn what_is_exact_has_no_correlation() {
        let covariance =
            DMatrix::from_row_slice(3, 3, &[0.0, 0.0, 0.0, 0.0, 4.0, -3.0, 0.0, -3.0, 9.0]);
        let found = correlation(Some(covariance), |index| Term::Alpha.entry(index)).unwrap();
        assert_eq!(found.entries(), [Term::Alpha.entry(1), Term::Alpha.entry(2)]);
        assert_eq!(found.row(0), [1.0, -0.5]);
    }
}

//! Bootstrap intervals of the terms, around a joint estimate.

use nalgebra::DMatrix;

use super::bootstrap::{Allocating, Around, InPlace, Row, Scheme, Settings, bootstrap};
use super::estimate::Estimated;
use super::joint_fit::Fit;
use super::likelihood::{Likelihood, Point};
use super::runs::{LogTimes, Runs};
use super::unknowns::{Kind, Unknowns};
use crate::model::sensitivity::Entry;
use mmgp_base::Mapping;
use mmgp_base::error::Result;

pub use super::bootstrap::MOST_RESAMPLES;

/// How bootstrap intervals are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// How often all data are drawn again, from 20 to [`MOST_RESAMPLES`].
    pub resamples: u32,
    /// Seed of the generator.
    pub seed: u64,
}

/// The 95 % interval of one entry from resamples.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The entry, as in `alpha(4)`.
    pub entry: String,
    /// The 2.5th percentile.
    pub low: f64,
    /// The 97.5th percentile.
    pub high: f64,
}

/// Equation 11 where it is linear in all unknowns: `T = held + sum of slope*x` at each point.
struct LinearTimes<'a> {
    points: &'a [Point],
    deviations: Vec<f64>,
    held: Vec<f64>,
    /// Point by point.
    slopes: Vec<f64>,
}

/// Percentile intervals of every entry that was estimated.
pub(crate) fn intervals(
    fit: &Fit,
    runs: &Runs,
    times: Option<&LogTimes>,
    resampling: Resampling,
) -> Result<Vec<Interval>> {
    let Estimated { unknowns, minimum, noise, .. } = &fit.estimated;
    let points = &fit.data.points;
    let variances: Vec<f64> = points.iter().map(|point| noise.variance(point.count)).collect();
    let relative = deviations(runs, times);
    let of_run = noise.run.powi(2);
    let mut rows: Vec<Row<'_>> = points
        .iter()
        .zip(&variances)
        .zip(&relative)
        .map(|((point, variance), deviations)| Row::Cell {
            weight: variance.sqrt().recip(),
            count: point.count.round().max(1.0) as u64,
            variance: of_run,
            deviations,
        })
        .collect();
    let priors = unknowns.list.iter().filter(|unknown| unknown.prior.is_some()).count();
    rows.extend((0..priors).map(|_| Row::Measured));
    let lower: Vec<f64> = unknowns.list.iter().map(|unknown| unknown.lower).collect();
    let upper = vec![f64::INFINITY; lower.len()];
    let around = Around { x: minimum.solution.x.as_slice(), lower: &lower, upper: &upper };
    let settings = Settings {
        scheme: Scheme::Resample,
        resamples: resampling.resamples as usize,
        seed: resampling.seed,
    };
    let found = if priors == 0 && is_linear(unknowns) {
        bootstrap(&LinearTimes::new(unknowns, points, &variances), &rows, &around, &settings)?
    } else {
        let likelihood = Likelihood { unknowns, points, variances: &variances };
        let problem = Allocating { problem: &likelihood, rows: rows.len() };
        bootstrap(&problem, &rows, &around, &settings)?
    };
    Ok(of_entries(unknowns, &found.samples))
}

/// Relative deviations of the runs of each configuration from their mean, where they were kept.
fn deviations(runs: &Runs, times: Option<&LogTimes>) -> Vec<Vec<f64>> {
    let Some(times) = times else { return vec![Vec::new(); runs.cells.len()] };
    let of = |(cell, times): (&super::runs::Cell, &super::runs::CellTimes)| {
        times.logs().iter().map(|log| log.exp() / cell.mean_s - 1.0).collect()
    };
    runs.cells.iter().zip(&times.cells).map(of).collect()
}

/// No unknown multiplies another one.
fn is_linear(unknowns: &Unknowns) -> bool {
    let multiplies = |kind: &Kind| match kind {
        Kind::Entry(entry) => {
            matches!(entry, Entry::Offloads | Entry::Collectives | Entry::Alpha(_))
        }
        Kind::Growth(_) => false,
        Kind::Common(_) => true,
    };
    !unknowns.list.iter().any(|unknown| multiplies(&unknown.kind))
}

impl<'a> LinearTimes<'a> {
    fn new(unknowns: &Unknowns, points: &'a [Point], variances: &[f64]) -> Self {
        // The slopes are the same everywhere; where all unknowns are 1 nothing divides by 0.
        let x = vec![1.0; unknowns.list.len()];
        let parameters = unknowns.parameters(&x);
        let mut slopes = vec![0.0; points.len() * x.len()];
        let mut held = Vec::with_capacity(points.len());
        for (point, row) in points.iter().zip(slopes.chunks_exact_mut(x.len())) {
            let gradient = parameters.gradient(Mapping::of(point.m, point.p));
            unknowns.pull_back(&parameters, &x, &gradient, |column, slope| row[column] += slope);
            held.push(parameters.time(Mapping::of(point.m, point.p)).0 - row.iter().sum::<f64>());
        }
        let deviations = variances.iter().map(|variance| variance.sqrt()).collect();
        Self { points, deviations, held, slopes }
    }

    fn time(&self, row: usize, x: &[f64]) -> f64 {
        let slopes = &self.slopes[row * x.len()..(row + 1) * x.len()];
        let sum: f64 = slopes.iter().zip(x).map(|(slope, x)| slope * x).sum();
        (self.held[row] + sum).max(f64::MIN_POSITIVE)
    }
}

impl InPlace for LinearTimes<'_> {
    fn rows(&self) -> usize {
        self.points.len()
    }

    fn residuals(&self, x: &[f64], out: &mut [f64]) {
        for (row, out) in out.iter_mut().enumerate() {
            *out = (self.time(row, x).ln() - self.points[row].log_time) / self.deviations[row];
        }
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) {
        let rows = self.points.len();
        for row in 0..rows {
            let weight = 1.0 / (self.time(row, x) * self.deviations[row]);
            for column in 0..x.len() {
                out[column * rows + row] = weight * self.slopes[row * x.len() + column];
            }
        }
    }
}

fn of_entries(unknowns: &Unknowns, samples: &[f64]) -> Vec<Interval> {
    let size = unknowns.list.len();
    let (entries, _) = unknowns.entries(&samples[..size]);
    let count = samples.len() / size;
    let mut values = DMatrix::zeros(count, entries.len());
    let mut names = Vec::new();
    for (row, sample) in samples.chunks_exact(size).enumerate() {
        let terms = unknowns.parameters(sample).terms;
        for (column, &entry) in entries.iter().enumerate() {
            values[(row, column)] = terms.estimate(entry).map_or(0.0, |estimate| estimate.value);
        }
        if row == 0 {
            names = entries.iter().map(|&entry| terms.name_of(entry)).collect();
        }
    }
    let interval = |(column, entry): (usize, String)| {
        let mut sorted: Vec<f64> = values.column(column).iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |level: f64| sorted[(level * (count - 1) as f64).round() as usize];
        Interval { entry, low: at(0.025), high: at(0.975) }
    };
    // Alpha of one thread is 1 by definition.
    let is_uncertain = |interval: &Interval| interval.low < interval.high;
    names.into_iter().enumerate().map(interval).filter(is_uncertain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::trials::{TERMS, fitted, measured, noisy_runs, truth};
    use crate::fit::unknowns::Unknown;
    use crate::fit::{Inputs, Settings as FitSettings, fit};
    use crate::model::parameters::Decomposition;
    use crate::model::terms::Term;
    use crate::toy;

    #[test]
    fn linear_times_are_those_of_equation_11_with_their_slopes() {
        let base = toy::parameters(Decomposition::Data);
        let of = |term, entry| Unknown { term, kind: Kind::Entry(entry), prior: None, lower: 0.0 };
        let list = vec![
            of(Term::ApuTime, Entry::ApuTime),
            of(Term::ApuSerialTime, Entry::ApuSerialTime),
            of(Term::HpuTime, Entry::HpuTime),
        ];
        let unknowns = Unknowns::new(&base, list);
        assert!(is_linear(&unknowns));
        let places = [(1, 1), (2, 4), (4, 2), (4, 4)];
        let points = places.map(|(m, p)| Point { m, p, log_time: 2.0, count: 3.0 });
        let variances = [0.01, 0.04, 0.09, 0.16];
        let times = LinearTimes::new(&unknowns, &points, &variances);
        let x = [30.0, 2.0, 3.0];
        let residuals = |x: &[f64]| {
            let mut out = [0.0; 4];
            times.residuals(x, &mut out);
            out
        };
        let parameters = unknowns.parameters(&x);
        for (row, found) in residuals(&x).into_iter().enumerate() {
            let (m, p) = places[row];
            let time = parameters.time(Mapping::of(m, p)).0;
            let expected = (time.ln() - 2.0) / variances[row].sqrt();
            approx::assert_relative_eq!(found, expected, max_relative = 1e-12);
        }
        let mut jacobian = [0.0; 12];
        times.jacobian(&x, &mut jacobian);
        for (column, derivatives) in jacobian.chunks_exact(4).enumerate() {
            let moved = |by: f64| {
                let mut x = x;
                x[column] += by;
                residuals(&x)
            };
            let (above, below) = (moved(1e-4), moved(-1e-4));
            for (row, found) in derivatives.iter().enumerate() {
                let expected = (above[row] - below[row]) / 2e-4;
                approx::assert_relative_eq!(*found, expected, max_relative = 1e-6);
            }
        }
    }

    #[test]
    fn what_files_say_is_drawn_again_beside_the_runs() {
        let truth = truth(Decomposition::Data, 0.1, TERMS);
        let places: Vec<(u32, u32)> =
            (1..=16).step_by(3).flat_map(|m| (1..=16 / m).map(move |p| (m, p))).collect();
        let runs = noisy_runs(&truth, &places, 0.02, 5);
        let files = measured(&truth);
        let width = |inputs: Inputs| {
            let mut settings = FitSettings::new("trial", Decomposition::Data, 16);
            settings.options.resampling = Some(Resampling { resamples: 400, seed: 1 });
            let joint = fit(&inputs, &settings).unwrap();
            let of_runs = joint.report.runs.unwrap();
            let found = of_runs.resampled.iter().find(|each| each.entry == "t_apu_s").cloned();
            let error = fitted(&inputs, Decomposition::Data).unwrap().parameters.terms.t_apu_s;
            found.map(|each| (each.high - each.low) / (2.0 * 1.96 * error.std_error.unwrap()))
        };
        for inputs in [
            Inputs { runs: Some(runs.clone()), ..Inputs::default() },
            Inputs {
                runs: Some(runs.clone()),
                offload: files.offload.clone(),
                ..Inputs::default()
            },
            Inputs { runs: Some(runs.clone()), ..files },
        ] {
            let ratio = width(inputs).unwrap();
            assert!((0.8..1.25).contains(&ratio), "{ratio}");
        }
    }

    #[test]
    fn deviations_are_those_of_the_times_from_their_mean() {
        use mmgp_base::table::records::Run;
        let rows = [1.0, 3.0].map(|time_s| Run { m: 1, p: 1, repetition: time_s as u32, time_s });
        let (runs, times, _) = Runs::from_rows_keeping_times("runs.csv", &rows).unwrap();
        let found = deviations(&runs, Some(&times));
        for (found, expected) in found[0].iter().zip([-0.5, 0.5]) {
            approx::assert_relative_eq!(*found, expected, max_relative = 1e-12);
        }
        assert_eq!((found[0].len(), deviations(&runs, None)), (2, vec![Vec::new()]));
    }

    #[test]
    fn counts_and_errors_in_common_multiply_other_unknowns() {
        let base = toy::parameters(Decomposition::Data);
        let is_linear = |kind| {
            let unknown = Unknown { term: Term::Gap, kind, prior: None, lower: 0.0 };
            is_linear(&Unknowns::new(&base, vec![unknown]))
        };
        assert!(is_linear(Kind::Entry(Entry::Gap)) && is_linear(Kind::Growth(vec![0.0; 3])));
        assert!(!is_linear(Kind::Entry(Entry::Offloads)));
        assert!(!is_linear(Kind::Common(vec![(Entry::Gap, 0.1)])));
    }

    #[test]
    fn an_interval_leaves_out_a_fortieth_on_either_side() {
        let base = toy::parameters(Decomposition::Data);
        let of = |term, entry| Unknown { term, kind: Kind::Entry(entry), prior: None, lower: 0.0 };
        let list = vec![of(Term::HpuTime, Entry::HpuTime), of(Term::Gap, Entry::Gap)];
        // 0, 7, 14... modulo 41 is each of 0 to 40 once; the gap is the same in all.
        let samples: Vec<f64> = (0..41).flat_map(|each| [f64::from(each * 7 % 41), 0.5]).collect();
        let found = of_entries(&Unknowns::new(&base, list), &samples);
        assert_eq!(found, [Interval { entry: "t_hpu_s".into(), low: 1.0, high: 39.0 }]);
    }
}

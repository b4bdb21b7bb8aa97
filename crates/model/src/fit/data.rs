//! The runs as the estimate takes them: their means, or what a robust loss leaves of them.

use nalgebra::DVector;

use super::estimate::{Data, silent_minimum};
use super::likelihood::Point;
use super::noise::Repetitions;
use super::robust::{Extreme, Loss, Weighted, reweight};
use super::runs::{Cell, LogTimes, Runs};
use super::unknowns::Unknowns;
use mmgp_base::error::Result;

/// What a robust loss did to the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Robust {
    /// The loss.
    pub loss: Loss,
    /// Relative standard deviation of a run, wild ones aside.
    pub scale: f64,
    /// Runs that count less than half.
    pub down_weighted: u64,
    /// The farthest of these, first.
    pub extremes: Vec<Extreme>,
    /// Passes over the runs.
    pub passes: u64,
}

/// Means of the runs of each configuration, all runs alike.
pub(crate) fn plain(runs: &Runs) -> Data {
    let point = |cell: &Cell| Point {
        m: cell.m,
        p: cell.p,
        log_time: cell.mean_s.ln(),
        count: cell.count as f64,
    };
    Data {
        points: runs.cells.iter().map(point).collect(),
        repetitions: Repetitions::of(&runs.cells),
    }
}

/// Weighted means, by a loss that wild runs cannot move; the weights come from the runs alone,
/// fitted with `unknowns` from `start`.
pub(crate) fn robust(
    (runs, times): (&Runs, &LogTimes),
    loss: Loss,
    unknowns: &Unknowns,
    start: &DVector<f64>,
) -> Result<(Data, Robust)> {
    let plain = plain(runs);
    let (rank, mut start) = {
        let minimum = silent_minimum(unknowns, &plain.points, &ones(&plain), start)?;
        (minimum.leverages.iter().sum::<f64>().round() as usize, minimum.solution.x)
    };
    let found = reweight((runs, times), loss, rank, |weighted| {
        let points = points(&plain, weighted);
        let variances = variances(weighted);
        let minimum = silent_minimum(unknowns, &points, &variances, &start)?;
        start = minimum.solution.x;
        let log_times = points.iter().zip(&minimum.residuals);
        Ok(log_times.map(|(point, residual)| point.log_time + residual).collect())
    })?;
    let weighted = &found.weighted;
    let degrees_of_freedom = (runs.count() as f64 - runs.cells.len() as f64).max(0.0);
    let data = Data {
        points: points(&plain, weighted),
        repetitions: Repetitions {
            squares: degrees_of_freedom / weighted.precision,
            degrees_of_freedom,
        },
    };
    let robust = Robust {
        loss,
        scale: found.scale,
        down_weighted: found.down_weighted,
        extremes: found.extremes,
        passes: found.passes,
    };
    Ok((data, robust))
}

fn ones(data: &Data) -> Vec<f64> {
    data.points.iter().map(|point| 1.0 / point.count).collect()
}

/// A configuration that is rejected whole still needs a finite variance.
const LEAST_WEIGHT: f64 = 1e-6;

fn points(plain: &Data, weighted: &Weighted) -> Vec<Point> {
    let changed = |((point, &log_time), &weight): ((&Point, &f64), &f64)| Point {
        log_time: if weight > LEAST_WEIGHT { log_time } else { point.log_time },
        count: weight.max(LEAST_WEIGHT),
        ..*point
    };
    plain.points.iter().zip(&weighted.log_means).zip(&weighted.weights).map(changed).collect()
}

fn variances(weighted: &Weighted) -> Vec<f64> {
    let variance = |weight: &f64| 1.0 / (weight.max(LEAST_WEIGHT) * weighted.precision);
    weighted.weights.iter().map(variance).collect()
}

#[cfg(test)]
mod tests {
    use super::super::estimate::tests::host_time_alone;
    use super::*;
    use mmgp_base::table::records::Run;

    /// A program of nothing but T_HPU, and a start.
    fn of_host_time() -> (Unknowns, DVector<f64>) {
        (host_time_alone(1.0, None), DVector::from_vec(vec![15.0]))
    }

    /// A run of (1, p), 5 % above a time or below it, in turns.
    fn run_beside(time_s: f64, p: u32, repetition: u32) -> Run {
        let sign = if repetition.is_multiple_of(2) { 1.0 } else { -1.0 };
        Run { m: 1, p, repetition, time_s: time_s * (0.05_f64 * sign).exp() }
    }

    #[test]
    fn runs_that_all_count_in_full_keep_their_mean_and_their_scatter() {
        // Nothing but T_HPU: four and eight runs, each 5 % off the same time of 20 s.
        let run = |p: u32, repetition: u32| run_beside(20.0, p, repetition);
        let rows: Vec<Run> =
            (1..=4).map(|each| run(1, each)).chain((1..=8).map(|each| run(2, each))).collect();
        let (runs, times, _) = Runs::from_rows_keeping_times("runs.csv", &rows).unwrap();
        let (unknowns, start) = of_host_time();
        let (data, robust) = robust((&runs, &times), Loss::Huber, &unknowns, &start).unwrap();
        for (point, count) in data.points.iter().zip([4.0, 8.0]) {
            assert_eq!(point.count, count);
            approx::assert_relative_eq!(point.log_time, 20.0_f64.ln(), max_relative = 1e-6);
        }
        // psi(u) = u everywhere, so a run has the variance 12*0.05^2/(12 - 1), and the scale is
        // the root of that over E(psi^2) = 0.71016.
        let variance = 12.0 * 0.0025 / 11.0;
        assert_eq!(data.repetitions.degrees_of_freedom, 10.0);
        approx::assert_relative_eq!(data.repetitions.squares, 10.0 * variance, max_relative = 1e-6);
        let scale = (variance / 0.71016).sqrt();
        approx::assert_relative_eq!(robust.scale, scale, max_relative = 1e-3);
        assert!(robust.passes > 0 && robust.down_weighted == 0);
    }

    #[test]
    fn a_configuration_that_is_rejected_whole_weighs_next_to_nothing() {
        let point = |log_time| Point { m: 1, p: 2, log_time, count: 5.0 };
        let plain = Data {
            points: vec![point(1.0), point(2.0)],
            repetitions: Repetitions { squares: 0.0, degrees_of_freedom: 0.0 },
        };
        let weighted =
            Weighted { weights: vec![2.5, 0.0], log_means: vec![1.25, f64::NAN], precision: 400.0 };
        // Of two and a half runs, each of a standard deviation of 5 %.
        assert_eq!(variances(&weighted), [0.001, 1.0 / (1e-6 * 400.0)]);
        let points = points(&plain, &weighted);
        let told = points.iter().map(|point| (point.m, point.p, point.log_time, point.count));
        assert_eq!(told.collect::<Vec<_>>(), [(1, 2, 1.25, 2.5), (1, 2, 2.0, 1e-6)]);
    }

    #[test]
    fn a_wild_run_is_as_far_off_as_its_time_is_from_the_models() {
        // The model knows one time for (1, 1) and (1, 2), which took 20 s and 22 s.
        let time = |p: u32| if p == 1 { 20.0 } else { 22.0 };
        let run = |p: u32, repetition: u32| run_beside(time(p), p, repetition);
        let mut rows: Vec<Run> =
            [1, 2].into_iter().flat_map(|p| (1..=8).map(move |each| run(p, each))).collect();
        rows.push(Run { m: 1, p: 2, repetition: 9, time_s: 200.0 });
        let (runs, times, _) = Runs::from_rows_keeping_times("runs.csv", &rows).unwrap();
        let (unknowns, start) = of_host_time();
        let (data, robust) = robust((&runs, &times), Loss::Tukey, &unknowns, &start).unwrap();
        let sum = |of: fn(&Point) -> f64| data.points.iter().map(of).sum::<f64>();
        let log_time = sum(|point| point.count * point.log_time) / sum(|point| point.count);
        assert_eq!((robust.down_weighted, robust.extremes[0].repetition), (1, 9));
        let factor = robust.extremes[0].factor;
        approx::assert_relative_eq!(factor, 200.0 / log_time.exp(), max_relative = 1e-4);
    }
}

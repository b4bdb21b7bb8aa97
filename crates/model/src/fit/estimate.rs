//! The estimate of the unknowns: noise, agreement of the sources, minimum, errors.

use nalgebra::{DMatrix, DVector};

use super::conflict::{
    Alone, Conflict, contradictions, stretched, widened_by_degrees_of_freedom, with_common_error,
};
use super::likelihood::{Likelihood, Minimum, Point};
use super::noise::{Noise, Origin, Repetitions};
use super::unknowns::Unknowns;
use crate::model::sensitivity::Entry;
use mmgp_base::error::Result;

/// The runs as the estimate needs them.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub points: Vec<Point>,
    pub repetitions: Repetitions,
}

/// What all sources say together.
#[derive(Debug, Clone)]
pub(crate) struct Estimated {
    /// With the errors of the priors that were used in the end.
    pub unknowns: Unknowns,
    pub minimum: Minimum,
    pub noise: Noise,
    pub conflict: Option<Conflict>,
}

/// The errors of the entries of the parameters.
pub(crate) struct Spread {
    pub entries: Vec<Entry>,
    pub covariance: DMatrix<f64>,
    /// Degrees of freedom of each variance; infinite where everything behind it is known.
    pub degrees_of_freedom: Vec<f64>,
}

/// The relative error of priors that leaves the runs to speak for themselves.
const SILENT: f64 = 10.0;

/// A leverage this near 1 leaves nothing of a point to be judged by.
pub(crate) const INDISPENSABLE: f64 = 1e-6;

/// The logarithm of a thousand: by what nobody's prediction is off who knows anything.
const SENSELESS: f64 = 6.9;

/// How often noise and estimate are made to fit each other.
const ROUNDS: usize = 5;

/// The unknowns that all sources make most likely.
///
/// The size of the noise comes from repetitions and from what the model misses when the runs
/// alone are fitted, so that a contradiction between runs and files is not taken for noise. Then
/// both are joined, tested against each other, and, where they disagree, the files are trusted
/// less.
pub(crate) fn estimate(
    unknowns: &Unknowns,
    data: &Data,
    start: &DVector<f64>,
) -> Result<Estimated> {
    let silent = with_common_error(unknowns, SILENT);
    let (alone, mut noise) = settle(&silent, data, start)?;
    if noise.origin != Origin::Repetitions && noise.degrees_of_freedom <= 1.0 {
        // The runs alone leave nothing over; with the files they may.
        noise = settle(unknowns, data, &alone.solution.x)?.1;
    }
    let variances = variances(data, &noise);
    let squares = alone.residuals.iter().zip(&variances).map(|(each, v)| each.powi(2) / v).sum();
    let alone = Alone { squares, rank: alone.leverages.iter().sum() };
    let joined = |unknowns: &Unknowns| -> Result<Minimum> {
        Likelihood { unknowns, points: &data.points, variances: &variances }
            .minimum(std::slice::from_ref(start))
    };
    let minimum = joined(unknowns)?;
    let test = |unknowns: &Unknowns, minimum: &Minimum| {
        Conflict::test(unknowns, minimum, &alone, noise.degrees_of_freedom)
    };
    let mut conflict = test(unknowns, &minimum);
    let mut unknowns = unknowns.clone();
    let mut last = minimum;
    if conflict.as_ref().is_some_and(Conflict::is_significant) {
        // Few repetitions make standard errors that chance made too small.
        let wide = widened_by_degrees_of_freedom(&unknowns);
        conflict = test(&wide, &joined(&wide)?);
    }
    if let Some(conflict) = conflict.as_mut().filter(|conflict| conflict.is_significant()) {
        conflict.values = contradictions(&unknowns, &last);
        conflict.stretch = conflict.ratio.sqrt();
        unknowns = stretched(&unknowns, conflict.stretch);
    }
    let starts = [1.0, 0.5, 2.0].map(|factor| &last.solution.x * factor);
    last = Likelihood { unknowns: &unknowns, points: &data.points, variances: &variances }
        .minimum(&starts)?;
    Ok(Estimated { unknowns, minimum: last, noise, conflict })
}

fn variances(data: &Data, noise: &Noise) -> Vec<f64> {
    data.points.iter().map(|point| noise.variance(point.count)).collect()
}

/// A minimum and the noise that it leaves, each made with the other.
fn settle(unknowns: &Unknowns, data: &Data, start: &DVector<f64>) -> Result<(Minimum, Noise)> {
    let mut noise = Noise::before(data.repetitions);
    let mut start = start.clone();
    let mut round = 0;
    loop {
        round += 1;
        let variances = variances(data, &noise);
        let likelihood = Likelihood { unknowns, points: &data.points, variances: &variances };
        let minimum = likelihood.minimum(&[start])?;
        let degrees_of_freedom = data.points.len() as f64 - minimum.leverages.iter().sum::<f64>();
        let found =
            Noise::new(data.repetitions, &data.points, &minimum.residuals, degrees_of_freedom);
        // With one variance for all, and nothing else to weigh them against, it moves nothing.
        let settled = (found.model - noise.model).abs() <= 1e-4 * found.model
            && (found.run - noise.run).abs() <= 0.02 * found.run;
        noise = found;
        if settled || round == ROUNDS {
            return Ok((minimum, noise));
        }
        start = minimum.solution.x;
    }
}

impl Estimated {
    /// The errors of the entries, with the degrees of freedom of each by Welch and Satterthwaite:
    /// a variance that adds up from `v_k`, each known with `f_k` degrees of freedom, has
    /// `(sum of v_k)^2 / (sum of v_k^2/f_k)` of them.
    pub fn spread(&self) -> Spread {
        let (entries, derivatives) = self.unknowns.entries(self.minimum.solution.x.as_slice());
        let of_unknowns = &derivatives * &self.minimum.covariance;
        let covariance = &of_unknowns * derivatives.transpose();
        let of_runs = &derivatives * &self.minimum.of_runs * derivatives.transpose();
        // A stretched error is no better known than the factor that it was stretched by.
        let of_stretch = self.conflict.as_ref().filter(|conflict| conflict.stretch > 1.0);
        let of_stretch =
            of_stretch.map_or(0.0, |conflict| 1.0 / conflict.degrees_of_freedom.0.max(1.0));
        let degrees_of_freedom = |row: usize| {
            let runs = of_runs[(row, row)];
            let mut scarcity = runs.powi(2) / self.noise.degrees_of_freedom;
            for (column, unknown) in self.unknowns.list.iter().enumerate() {
                let Some(prior) = unknown.prior else { continue };
                let weight = (of_unknowns[(row, column)] / prior.std_error).powi(2);
                let own = prior.degrees_of_freedom.map_or(0.0, f64::recip);
                scarcity += weight.powi(2) * (own + of_stretch);
            }
            covariance[(row, row)].powi(2) / scarcity
        };
        let degrees_of_freedom = (0..entries.len()).map(degrees_of_freedom).collect();
        Spread { entries, covariance, degrees_of_freedom }
    }

    /// As [`Self::left_out`]; `None` where the others say nothing of one of them.
    pub fn spared(&self) -> Option<Vec<f64>> {
        let indispensable = |leverage: &f64| *leverage > 1.0 - INDISPENSABLE;
        if self.minimum.leverages.iter().any(indispensable) {
            return None;
        }
        Some(self.left_out()).filter(|errors| errors.iter().all(|error| error.abs() < SENSELESS))
    }

    /// `ln(T/t)` of each point, predicted by a fit without it: by the leverages of this one, which
    /// is exact where the logarithm is as good as linear.
    pub fn left_out(&self) -> Vec<f64> {
        let minimum = &self.minimum;
        let part = |(residual, leverage): (&f64, &f64)| residual / (1.0 - leverage).max(1e-9);
        minimum.residuals.iter().zip(&minimum.leverages).map(part).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::trials::minimum_at;
    use super::super::unknowns::{Kind, Prior, Unknown};
    use super::*;
    use crate::model::Parameters;
    use crate::model::parameters::{Decomposition, Estimate, OverM, Terms};
    use crate::model::terms::Term;

    pub fn unknown(entry: Entry, prior: Option<(f64, f64)>) -> Unknown {
        let prior = prior.map(|(value, std_error)| Prior {
            value,
            std_error,
            degrees_of_freedom: None,
            size: value,
        });
        Unknown { term: Term::of(entry).0, kind: Kind::Entry(entry), prior, lower: 0.0 }
    }

    /// A minimum at `x` with errors that do not go together.
    pub fn minimum(x: &[f64], cost: f64, errors: &[f64]) -> Minimum {
        let mut minimum = minimum_at(x);
        minimum.solution.cost = cost;
        let variances = errors.iter().map(|error| error * error);
        minimum.covariance.set_diagonal(&DVector::from_iterator(x.len(), variances));
        minimum
    }

    /// T_HPU 2 +- 0.2 and T_APU 32 +- 1.6, and points with these residuals and leverages; of
    /// T_HPU a file said 2 +- 0.4, from 5 repetitions.
    pub fn estimated(points: &[(f64, f64)]) -> Estimated {
        let mut list =
            vec![unknown(Entry::HpuTime, Some((2.0, 0.4))), unknown(Entry::ApuTime, None)];
        list[0].prior.as_mut().unwrap().degrees_of_freedom = Some(4.0);
        let unknowns = Unknowns::new(&crate::toy::parameters(Decomposition::Data), list);
        let mut minimum = minimum(&[2.0, 32.0], 1.0, &[0.2, 1.6]);
        (minimum.residuals, minimum.leverages) = points.iter().copied().unzip();
        minimum.of_runs[(0, 0)] = 0.03;
        minimum.of_runs[(1, 1)] = 2.56;
        let repetitions = Repetitions { squares: 0.36, degrees_of_freedom: 9.0 };
        Estimated { unknowns, minimum, noise: Noise::before(repetitions), conflict: None }
    }

    #[test]
    fn degrees_of_freedom_are_those_of_welch_and_satterthwaite() {
        let mut estimated = estimated(&[]);
        let check = |estimated: &Estimated, expected: f64| {
            let found = estimated.spread().degrees_of_freedom;
            approx::assert_relative_eq!(found[0], expected, max_relative = 1e-12);
            // T_APU comes from the runs alone, which know their noise with 9.
            approx::assert_relative_eq!(found[1], 9.0, max_relative = 1e-12);
        };
        // The variance of 0.04 is 0.03 of the runs, with 9, and 0.01 of the file, with 4:
        // 0.04^2/(0.03^2/9 + 0.01^2/4).
        check(&estimated, 12.8);
        let conflict = |stretch| Conflict {
            ratio: 4.0,
            degrees_of_freedom: (2.0, 9.0),
            probability: 0.001,
            stretch,
            values: Vec::new(),
        };
        // A stretch that two values told has 2 of its own: 0.01^2*(1/4 + 1/2) in the same place.
        estimated.conflict = Some(conflict(2.0));
        check(&estimated, 0.0016 / (0.0009 / 9.0 + 0.0001 * 0.75));
        estimated.conflict = Some(conflict(1.0));
        check(&estimated, 12.8);
    }

    #[test]
    fn without_itself_a_point_is_missed_by_more_the_more_it_made_its_own_prediction() {
        let spared = |points: &[(f64, f64)]| estimated(points).spared();
        let found = spared(&[(0.1, 0.75), (-0.02, 0.5)]).unwrap();
        approx::assert_relative_eq!(found[0], 0.4, max_relative = 1e-12);
        approx::assert_relative_eq!(found[1], -0.04, max_relative = 1e-12);
        assert_eq!(spared(&[(0.1, 0.75), (0.0, 1.0)]), None, "it alone tells of something");
        assert_eq!(spared(&[(0.1, 0.75), (-SENSELESS, 0.0)]), None, "nothing tells of it");
    }

    /// The unknown of a program of nothing but T_HPU, of which a file may say something.
    pub fn host_time_alone(t_hpu_s: f64, prior: Option<(f64, f64)>) -> Unknowns {
        let terms = Terms {
            t_hpu_s: Estimate::exact(t_hpu_s),
            alpha: OverM::Constant(Estimate::exact(1.0)),
            ..Terms::nothing()
        };
        let base = Parameters::new("host", Decomposition::Data, 16, terms);
        Unknowns::new(&base, vec![unknown(Entry::HpuTime, prior)])
    }

    /// That program, 100 +- 0.01 by its file, and its time in each of some runs.
    fn of_host_time(times: &[f64]) -> (Unknowns, Data) {
        let unknowns = host_time_alone(100.0, Some((100.0, 0.01)));
        let point = |(index, time): (usize, &f64)| Point {
            m: 1,
            p: index as u32 + 1,
            log_time: time.ln(),
            count: 1.0,
        };
        let points = times.iter().enumerate().map(point).collect();
        (unknowns, Data { points, repetitions: Repetitions::of(&[]) })
    }

    fn estimate_of(times: &[f64]) -> Estimated {
        let (unknowns, data) = of_host_time(times);
        estimate(&unknowns, &data, &DVector::from_vec(vec![90.0])).unwrap()
    }

    #[test]
    fn what_parts_runs_from_files_is_not_taken_for_noise() {
        let spread = 0.05_f64;
        let times = [1.0, -1.0, 1.0, -1.0].map(|sign| 130.0 * (sign * spread).exp());
        let found = estimate_of(&times);
        // Four logarithms, each 0.05 off their mean: a variance of 4*0.0025/3.
        approx::assert_relative_eq!(found.noise.run.powi(2), 0.01 / 3.0, max_relative = 1e-4);
        assert_eq!(found.noise.origin, Origin::Residuals);
        // The mean is ln 1.3 from the file, and knows itself to a quarter of that variance.
        let conflict = found.conflict.unwrap();
        let ratio = 1.3_f64.ln().powi(2) / (0.01 / 12.0);
        approx::assert_relative_eq!(conflict.ratio, ratio, max_relative = 1e-3);
        approx::assert_relative_eq!(conflict.stretch, ratio.sqrt(), max_relative = 1e-3);
        let error = found.unknowns.list[0].prior.unwrap().std_error;
        approx::assert_relative_eq!(error, 0.01 * conflict.stretch, max_relative = 1e-12);
    }

    #[test]
    fn a_run_that_leaves_nothing_over_shows_its_noise_beside_the_files() {
        let found = estimate_of(&[110.0]);
        assert_eq!(found.noise.origin, Origin::Residuals);
        approx::assert_relative_eq!(found.noise.run, 1.1_f64.ln(), max_relative = 1e-3);
        let of_runs = estimate_of(&[110.0, 112.0, 114.0]).noise.degrees_of_freedom;
        approx::assert_relative_eq!(of_runs, 2.0, max_relative = 1e-3);
    }

    #[test]
    fn estimate_and_noise_fit_each_other() {
        let (mut unknowns, data) = of_host_time(&[100.0, 130.0]);
        unknowns.list[0].prior.as_mut().unwrap().std_error = 10.0;
        let (_, noise) = settle(&unknowns, &data, &DVector::from_vec(vec![90.0])).unwrap();
        // Another round moves nothing by more than the 2 % that the search allows itself.
        let variances = variances(&data, &noise);
        let likelihood =
            Likelihood { unknowns: &unknowns, points: &data.points, variances: &variances };
        let again = likelihood.minimum(&[DVector::from_vec(vec![90.0])]).unwrap();
        let left = 2.0 - again.leverages.iter().sum::<f64>();
        let run = (again.residuals.iter().map(|each| each * each).sum::<f64>() / left).sqrt();
        approx::assert_relative_eq!(run, noise.run, max_relative = 0.02);
    }
}

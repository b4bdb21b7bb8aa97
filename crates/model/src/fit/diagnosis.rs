//! What the residuals of a fit say about the model and about single configurations.

use std::fmt;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::joint_fit::Fit;

/// The examination of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Whether residuals follow m, p or m*p.
    pub trends: Vec<Trend>,
    /// The configurations that move the estimate most, first.
    pub influential: Vec<Influence>,
    /// The error at configurations that were left out of the fit.
    pub left_out: Option<LeftOut>,
}

/// A rank correlation of the residuals with something they should not depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// `m`, `p` or `m*p`.
    pub against: &'static str,
    /// Spearman's rank correlation, from -1 to 1.
    pub correlation: f64,
    /// Probability of one this large by chance.
    pub probability: f64,
}

/// How much one configuration moves the estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Influence {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Cook's distance: how far all predictions move without it, squared, in standard errors.
    pub cook: f64,
    /// The residual in its own standard errors.
    pub studentised: f64,
    /// The part of its own prediction that it makes itself, from 0 to 1.
    pub leverage: f64,
}

/// Relative errors at configurations that were left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOut {
    /// Mean of |predicted - measured|/measured [%].
    pub mean_error_percent: f64,
    /// The largest of these [%].
    pub max_error_percent: f64,
    /// The configuration that has it.
    pub worst: (u32, u32),
}

/// Configurations fewer than these show no trend.
const FEWEST: usize = 5;

/// More influential configurations than these say no more.
const SHOWN: usize = 3;

/// A trend or a residual that chance gives less often than this is worth a word.
const REMARKABLE: f64 = 0.01;

/// Examines the residuals.
pub(crate) fn diagnose(fit: &Fit) -> Diagnosis {
    let estimated = &fit.estimated;
    let (points, minimum) = (&fit.data.points, &estimated.minimum);
    let unknowns = estimated.unknowns.list.len() as f64;
    let standardised: Vec<f64> = points
        .iter()
        .zip(&minimum.residuals)
        .map(|(point, residual)| residual / estimated.noise.variance(point.count).sqrt())
        .collect();
    let influence = |index: usize| {
        let leverage = minimum.leverages[index];
        let left = (1.0 - leverage).max(1e-9);
        let studentised = standardised[index] / left.sqrt();
        let cook = studentised.powi(2) * leverage / left / unknowns;
        Influence { m: points[index].m, p: points[index].p, cook, studentised, leverage }
    };
    let mut influential: Vec<Influence> = (0..points.len()).map(influence).collect();
    // Cook's own rule: a distance above 1 moves the estimate to the edge of its own region.
    influential.retain(|each| each.cook > 1.0 && each.leverage < 1.0 - 1e-6);
    influential.sort_by(|a, b| b.cook.total_cmp(&a.cook));
    influential.truncate(SHOWN);
    let m: Vec<f64> = points.iter().map(|point| f64::from(point.m)).collect();
    let p: Vec<f64> = points.iter().map(|point| f64::from(point.p)).collect();
    let product: Vec<f64> = m.iter().zip(&p).map(|(m, p)| m * p).collect();
    let trends = [("m", &m), ("p", &p), ("m*p", &product)];
    let trends = trends.iter().filter_map(|(against, x)| trend(against, x, &standardised));
    Diagnosis { trends: trends.collect(), influential, left_out: left_out(fit) }
}

/// Spearman's rank correlation, tested by Student's t with n - 2 degrees of freedom.
fn trend(against: &'static str, x: &[f64], y: &[f64]) -> Option<Trend> {
    let count = x.len();
    if count < FEWEST {
        return None;
    }
    let (x, y) = (ranks(x), ranks(y));
    let mean = (count as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let size = (product(&x, &x) * product(&y, &y)).sqrt();
    if size == 0.0 {
        return None;
    }
    let correlation = (product(&x, &y) / size).clamp(-1.0, 1.0);
    let degrees_of_freedom = count as f64 - 2.0;
    let t = correlation * (degrees_of_freedom / (1.0 - correlation.powi(2)).max(1e-300)).sqrt();
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom);
    let student = student.expect("invariant: there are more than two configurations");
    Some(Trend { against, correlation, probability: 2.0 * student.sf(t.abs()) })
}

/// Places in increasing order, from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|&&other| other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|&&other| other == value).count() as f64;
    values.iter().map(|&value| below(value) + 0.5 * (equal(value) + 1.0)).collect()
}

/// `None` where leaving one out leaves the others without an answer.
fn left_out(fit: &Fit) -> Option<LeftOut> {
    let points = &fit.data.points;
    let errors = fit.estimated.spared()?;
    let errors: Vec<f64> = errors.iter().map(|each| 100.0 * each.exp_m1().abs()).collect();
    let worst = (0..errors.len()).max_by(|&one, &other| errors[one].total_cmp(&errors[other]))?;
    Some(LeftOut {
        mean_error_percent: errors.iter().sum::<f64>() / errors.len() as f64,
        max_error_percent: errors[worst],
        worst: (points[worst].m, points[worst].p),
    })
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(left_out) = &self.left_out {
            let LeftOut { mean_error_percent, max_error_percent, worst: (m, p) } = left_out;
            writeln!(
                f,
                "  error left out        mean {mean_error_percent:.3} %, largest \
                 {max_error_percent:.3} % at ({m}, {p}), each configuration left out once"
            )?;
        }
        for Trend { against, correlation, probability } in &self.trends {
            if *probability < REMARKABLE {
                writeln!(
                    f,
                    "  residuals             follow {against}: rank correlation \
                     {correlation:+.2}, probability {probability:.1e}"
                )?;
            }
        }
        for Influence { m, p, cook, studentised, .. } in &self.influential {
            writeln!(
                f,
                "  influence             ({m}, {p}) moves the estimate most: Cook's distance \
                 {cook:.1}, residual {studentised:+.1} standard errors"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::Data;
    use super::super::estimate::tests::estimated;
    use super::super::identify::Verdict;
    use super::super::joint_fit::HostTime;
    use super::super::likelihood::Point;
    use super::super::noise::Repetitions;
    use super::super::runs;
    use super::super::trials::{TERMS, fitted, noisy_runs, only, truth};
    use super::*;
    use crate::model::parameters::Decomposition;
    use mmgp_base::Mapping;

    /// What is named of runs, that at (8, 2) taking so many times as long as it should.
    fn influential(factor: f64) -> Vec<(u32, u32)> {
        let truth = truth(Decomposition::Data, 0.08, TERMS);
        let near = (1..=4).flat_map(|m| [1, 2, 3].map(|p| (m, p)));
        let configurations: Vec<_> = near.chain([(8, 1), (8, 2)]).collect();
        let mut runs = noisy_runs(&truth, &configurations, 0.005, 1);
        let last = runs.cells.last_mut().expect("it has some");
        *last = runs::Cell::of((8, 2), &[factor * truth.time(Mapping::of(8, 2)).0; 3]);
        let fitted = fitted(&only(runs), Decomposition::Data).unwrap();
        let report = fitted.report.runs.expect("there are runs");
        report.diagnosis.influential.iter().map(|it| (it.m, it.p)).collect()
    }

    #[test]
    fn a_run_that_moves_the_estimate_to_its_edge_is_named() {
        assert_eq!(influential(1.0), []);
        assert_eq!(influential(1.2).first(), Some(&(8, 2)));
    }

    #[test]
    fn ranks_share_the_places_of_equal_values() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn a_rank_correlation_by_hand() {
        // Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 - 6*4/(5*24) = 0.8, t = 0.8*sqrt(3/0.36) = 2.309,
        // of which Student's distribution with 3 degrees of freedom leaves 10.4 % on both sides.
        let trend = trend("m", &[1.0, 2.0, 3.0, 4.0, 5.0], &[0.2, 0.1, 0.4, 0.3, 0.5]).unwrap();
        approx::assert_relative_eq!(trend.correlation, 0.8, max_relative = 1e-12);
        approx::assert_relative_eq!(trend.probability, 0.1041, max_relative = 1e-3);
    }

    #[test]
    fn fewer_than_five_configurations_show_no_trend() {
        let of = |count: usize| {
            trend(
                "p",
                &[1.0, 2.0, 4.0, 3.0, 6.0, 5.0][..count],
                &ranks(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6][..count]),
            )
        };
        assert_eq!(of(4), None);
        assert!(of(5).is_some() && of(6).is_some());
    }

    /// Points (m, p) with residual and leverage; each is the mean of 4 runs that scatter by 20 %,
    /// so that its standard deviation is 0.1.
    fn examined(points: &[((u32, u32), f64, f64)]) -> Diagnosis {
        let of = |&((m, p), ..): &((u32, u32), f64, f64)| Point { m, p, log_time: 3.0, count: 4.0 };
        let residuals: Vec<_> = points.iter().map(|&(_, residual, it)| (residual, it)).collect();
        let estimated = estimated(&residuals);
        diagnose(&Fit {
            spread: estimated.spread(),
            verdict: Verdict { groups: Vec::new(), undetermined: Vec::new(), condition: 1.0 },
            base: crate::toy::parameters(Decomposition::Data),
            choice: None,
            held: Vec::new(),
            data: Data {
                points: points.iter().map(of).collect(),
                repetitions: Repetitions { squares: 0.36, degrees_of_freedom: 9.0 },
            },
            host_time: HostTime::Known,
            estimated,
        })
    }

    #[test]
    fn a_residual_its_distance_and_the_error_without_it_by_hand() {
        let found = examined(&[((1, 1), 0.1, 0.75), ((2, 3), -0.02, 0.5)]);
        // A standard deviation of 1 over the root of 1/4 is 2; 2^2*(3/4)/(1/4) over 2 unknowns 6.
        let Influence { m, p, cook, studentised, leverage } = found.influential[0];
        assert_eq!((found.influential.len(), m, p, leverage), (1, 1, 1, 0.75));
        approx::assert_relative_eq!(studentised, 2.0, max_relative = 1e-12);
        approx::assert_relative_eq!(cook, 6.0, max_relative = 1e-12);
        // Left out, they are missed by 0.1*4 and -0.02*2 in the logarithm.
        let (first, second) = (100.0 * 0.4_f64.exp_m1(), -100.0 * (-0.04_f64).exp_m1());
        let left_out = found.left_out.unwrap();
        approx::assert_relative_eq!(left_out.max_error_percent, first, max_relative = 1e-12);
        let mean = 0.5 * (first + second);
        approx::assert_relative_eq!(left_out.mean_error_percent, mean, max_relative = 1e-12);
        assert_eq!(left_out.worst, (1, 1));
    }

    #[test]
    fn a_point_that_alone_tells_of_something_is_not_called_influential() {
        let found = examined(&[((1, 1), 0.1, 0.75), ((2, 3), 0.1, 1.0)]);
        assert_eq!(found.influential.len(), 1);
        assert_eq!(found.left_out, None);
    }

    #[test]
    fn residuals_that_grow_with_the_apus_in_use_follow_the_product() {
        // In the order of m*p = 2, 3, 4, 5, 6, 8, which is not that of m, p or m + p.
        let places = [(1, 2), (3, 1), (2, 2), (1, 5), (2, 3), (4, 2)];
        let points: Vec<_> =
            (1..).zip(places).map(|(place, it)| (it, 0.01 * f64::from(place), 0.1)).collect();
        let found = examined(&points).trends;
        let against: Vec<_> = found.iter().map(|trend| trend.against).collect();
        assert_eq!(against, ["m", "p", "m*p"]);
        assert!(found[0].correlation < 0.9 && found[1].correlation < 0.9);
        assert_eq!(found[2].correlation, 1.0);
    }

    #[test]
    fn a_reader_is_told_what_is_remarkable() {
        let trend = |against, probability| Trend { against, correlation: 0.9, probability };
        let text = Diagnosis {
            trends: vec![trend("m", 0.002), trend("p", 0.01), trend("m*p", 0.3)],
            influential: vec![Influence {
                m: 8,
                p: 2,
                cook: 6.0,
                studentised: -2.0,
                leverage: 0.75,
            }],
            left_out: Some(LeftOut {
                mean_error_percent: 1.5,
                max_error_percent: 4.0,
                worst: (4, 1),
            }),
        }
        .to_string();
        assert!(text.contains("mean 1.500 %, largest 4.000 % at (4, 1)"), "{text}");
        assert!(text.contains("follow m: rank correlation +0.90, probability 2.0e-3"), "{text}");
        assert!(text.contains("(8, 2) moves the estimate most: Cook's distance 6.0"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}

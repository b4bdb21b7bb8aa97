//! Ten joint estimates of terms of equation 11 from priors and runs, beside those of
//! `scipy.optimize.least_squares` (`scipy/reference.py` made `scipy/reference.json` and says how).

use nalgebra::{DMatrix, DVector};
use serde::Deserialize;
use std::collections::BTreeMap;

use super::{Residuals, check_jacobian, inverse_normal, minimise};

#[derive(Deserialize)]
struct Prior {
    term: String,
    mean: f64,
    deviation: f64,
}

#[derive(Deserialize)]
struct Timed {
    m: u32,
    p: u32,
    count: f64,
    mean_s: f64,
}

#[derive(Deserialize)]
struct Joint {
    unknowns: Vec<String>,
    tasks: Option<u32>,
    offloads: f64,
    collectives: f64,
    noise: f64,
    held: BTreeMap<String, f64>,
    priors: Vec<Prior>,
    runs: Vec<Timed>,
    x: Vec<f64>,
    standard_errors: Vec<Option<f64>>,
    cost: f64,
}

impl Joint {
    fn place(&self, term: &str) -> Option<usize> {
        self.unknowns.iter().position(|unknown| unknown == term)
    }

    fn term(&self, x: &DVector<f64>, term: &str) -> f64 {
        self.place(term).map_or_else(|| self.held[term], |index| x[index])
    }

    /// T(m, p) by equation 11, and its derivatives by the terms.
    fn time(&self, x: &DVector<f64>, run: &Timed) -> (f64, Vec<(&'static str, f64)>) {
        let (m, p) = (f64::from(run.m), f64::from(run.p));
        let (share, pieces) = match self.tasks {
            Some(tasks) => (f64::from(tasks.div_ceil(run.m)) / f64::from(tasks), p),
            None => (1.0, m * p),
        };
        let [host, slope] = ["t_hpu_s", "slope"].map(|term| self.term(x, term));
        let terms = [
            ("t_hpu_s", 1.0 + slope * (m - 1.0)),
            ("t_apu_s", 1.0 / pieces),
            ("c_apu_s", 1.0),
            ("o_offload_s", self.offloads),
            ("t_csw_s", self.offloads),
            ("g_s", self.offloads * p),
            ("o_col_s", self.collectives),
        ];
        let time = terms.iter().map(|(term, by)| by * self.term(x, term)).sum::<f64>();
        let slopes = terms.into_iter().chain([("slope", (m - 1.0) * host)]);
        (share * time, slopes.map(|(term, by)| (term, share * by)).collect())
    }

    /// What a standard error of ln T is worth.
    fn weight(&self, run: &Timed) -> f64 {
        run.count.sqrt() / self.noise
    }

    /// Ends of the orders of magnitude that a user would know.
    fn starts(&self) -> Vec<DVector<f64>> {
        let of = |scale: f64| {
            let unit = |term: &str| match term {
                "t_hpu_s" | "c_apu_s" => 1.0,
                "t_apu_s" => 100.0,
                "slope" => 0.1,
                _ => 1e-5,
            };
            DVector::from_iterator(
                self.unknowns.len(),
                self.unknowns.iter().map(|term| scale * unit(term)),
            )
        };
        vec![of(0.1), of(1.0), of(30.0)]
    }
}

impl Residuals for Joint {
    fn residuals(&self, x: &DVector<f64>) -> DVector<f64> {
        let prior = |prior: &Prior| (self.term(x, &prior.term) - prior.mean) / prior.deviation;
        let run = |run: &Timed| (self.time(x, run).0.ln() - run.mean_s.ln()) * self.weight(run);
        let all = self.priors.iter().map(prior).chain(self.runs.iter().map(run));
        DVector::from_iterator(self.priors.len() + self.runs.len(), all)
    }

    fn jacobian(&self, x: &DVector<f64>) -> DMatrix<f64> {
        let mut jacobian = DMatrix::zeros(self.priors.len() + self.runs.len(), x.len());
        for (row, prior) in self.priors.iter().enumerate() {
            let column = self.place(&prior.term).unwrap();
            jacobian[(row, column)] = 1.0 / prior.deviation;
        }
        for (row, run) in self.runs.iter().enumerate() {
            let (time, slopes) = self.time(x, run);
            for (term, slope) in slopes {
                if let Some(column) = self.place(term) {
                    jacobian[(self.priors.len() + row, column)] = slope / time * self.weight(run);
                }
            }
        }
        jacobian
    }

    fn lower(&self) -> DVector<f64> {
        DVector::zeros(self.unknowns.len())
    }

    fn upper(&self) -> DVector<f64> {
        DVector::from_element(self.unknowns.len(), f64::INFINITY)
    }
}

fn problems() -> Vec<Joint> {
    let problems: Vec<Joint> = serde_json::from_str(include_str!("scipy/reference.json")).unwrap();
    assert_eq!(problems.len(), 10);
    problems
}

#[test]
fn the_joint_estimate_is_that_of_scipy() {
    for (index, problem) in problems().iter().enumerate() {
        let solution = minimise(problem, &problem.starts()).unwrap();
        assert_eq!((solution.starts, solution.agreeing), (3, 3), "problem {index}");
        approx::assert_relative_eq!(solution.cost, problem.cost, max_relative = 1e-12);
        let covariance = inverse_normal(&problem.jacobian(&solution.x), &solution.at_bound);
        for (unknown, expected) in problem.x.iter().enumerate() {
            let (found, error) = (solution.x[unknown], covariance[(unknown, unknown)].sqrt());
            let Some(expected_error) = problem.standard_errors[unknown] else {
                assert!(solution.at_bound[unknown] && found == 0.0 && *expected == 0.0);
                continue;
            };
            assert!(!solution.at_bound[unknown]);
            approx::assert_relative_eq!(found, *expected, max_relative = 1e-8);
            approx::assert_relative_eq!(error, expected_error, max_relative = 1e-6);
        }
    }
}

#[test]
fn the_derivatives_are_the_differences_of_the_joint_residuals() {
    for problem in problems() {
        check_jacobian(&problem, &problem.starts()[1]);
    }
}

//! The joint estimate of the unknown terms from timed runs.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, DVector};

use super::design::{Design, Sensitivity, linear_alpha};
use super::identify::{Group, identify};
use super::least_squares::{LeastSquares, Solution};
use super::report::{Convergence, RunsReport, Sum};
use super::runs::Runs;
use super::scatter::{NEGLIGIBLE, Scatter, covariance};
use super::stated;
use super::term::Term;
use crate::error::{Error, Result, Warning};
use crate::model::Parameters;
use crate::model::parameters::{Estimate, OverM};

/// Parameters that meet the runs.
pub(crate) struct Joint {
    pub parameters: Parameters,
    pub report: RunsReport,
    /// Unknowns that the runs say nothing about, or not by themselves.
    pub undetermined: Vec<Term>,
    pub warnings: Vec<Warning>,
}

/// Estimates the unknown terms of `base` from the runs; with none, only compares.
pub(crate) fn fit(base: &Parameters, unknown: &[Term], runs: &Runs) -> Result<Joint> {
    check(base, runs)?;
    let sensitivity = Sensitivity { base: base.clone(), unknown: unknown.to_vec() };
    let design = Design::new(&sensitivity, runs);
    let verdict = identify(&sensitivity, &design, runs)?;
    let mut undetermined = verdict.undetermined.clone();
    undetermined.extend(verdict.groups.iter().flat_map(|group| &group.separable));
    let fitted = (!verdict.groups.is_empty())
        .then(|| solve(&sensitivity, &design, &verdict.groups, runs))
        .transpose()?;
    let Some(fitted) = fitted else {
        let report = RunsReport::new(base, runs, 0);
        return Ok(Joint {
            parameters: base.clone(),
            report,
            undetermined,
            warnings: beyond(base, runs),
        });
    };
    let parameters = fitted.parameters(base, runs);
    let mut report = RunsReport::new(&parameters, runs, fitted.estimated());
    let mut warnings = beyond(base, runs);
    warnings.extend(fitted.doubts());
    warnings.extend(fitted.scatter.misfit());
    report.residual_deviation = fitted.scatter.deviation();
    report.condition = Some(verdict.condition);
    report.combined = sums(&verdict.groups);
    report.convergence = Some(Convergence {
        iterations: fitted.solution.iterations,
        cost: fitted.solution.cost,
        termination: fitted.solution.termination.clone(),
    });
    Ok(Joint { parameters, report, undetermined, warnings })
}

/// Relative residuals need times above zero.
fn check(base: &Parameters, runs: &Runs) -> Result<()> {
    if let Some(cell) = runs.cells.iter().find(|cell| cell.mean_s <= 0.0) {
        return Err(Error::TooLittleData {
            file: runs.file.clone(),
            found: format!("a time of 0 s for (m, p) = ({}, {})", cell.m, cell.p),
            advice: "time longer runs, so that the clock can see them".into(),
        });
    }
    if base.time(1, 1).0.is_finite() {
        return Ok(());
    }
    Err(Error::Fit("the known terms add up to no finite time".into()))
}

/// Runs that the machine could not have held are used, but not without a word.
fn beyond(base: &Parameters, runs: &Runs) -> Vec<Warning> {
    let beyond = |(m, p)| base.check(m, p).is_err();
    let cells: Vec<String> = runs
        .cells
        .iter()
        .filter(|cell| beyond((cell.m, cell.p)))
        .map(|cell| format!("({}, {})", cell.m, cell.p))
        .collect();
    let Some(first) = cells.first() else { return Vec::new() };
    vec![Warning::Note(format!(
        "{}: {} configurations need more than {} APUs, the first (m, p) = {first}; they were used",
        runs.file,
        cells.len(),
        base.apus
    ))]
}

fn sums(groups: &[Group]) -> Vec<Sum> {
    let of = |group: &Group| Sum { on: group.carrier.name(), terms: contributions(group) };
    groups.iter().filter(|group| !group.carried.is_empty()).map(of).collect()
}

fn contributions(group: &Group) -> Vec<String> {
    let terms = [group.carrier].into_iter().chain(group.carried.iter().copied());
    let mut names: Vec<String> = terms.map(|term| term.contribution().to_string()).collect();
    names.dedup();
    names
}

/// The least-squares solution in the terms of the model.
struct Fit {
    groups: Vec<Group>,
    solution: Solution,
    lower: DVector<f64>,
    /// Of the groups' values; zero where a bound holds one.
    covariance: Option<DMatrix<f64>>,
    scatter: Scatter,
    /// Whether the slope of alpha is a product with an unknown T_HPU.
    hpu_unknown: bool,
}

fn solve(sensitivity: &Sensitivity, design: &Design, groups: &[Group], runs: &Runs) -> Result<Fit> {
    let column = |group: &Group| {
        sensitivity
            .unknown
            .iter()
            .position(|&term| term == group.carrier)
            .expect("invariant: groups are of unknowns")
    };
    let a = design.columns.select_columns(&groups.iter().map(column).collect::<Vec<_>>());
    // T_HPU carries what grows with m as alpha_m*T_HPU, for which it must not be zero.
    let hpu_unknown = sensitivity.unknown.contains(&Term::HpuTime);
    let grows = hpu_unknown && groups.iter().any(|group| group.carrier == Term::Alpha);
    let shortest = runs.cells.iter().map(|cell| cell.mean_s).fold(f64::INFINITY, f64::min);
    let lower = DVector::from_iterator(
        groups.len(),
        groups.iter().map(|group| match group.carrier {
            Term::HpuTime if grows => NEGLIGIBLE * shortest,
            _ => 0.0,
        }),
    );
    let b = &design.target - &a * &lower;
    let solution = LeastSquares { a: a.clone(), b }.solve()?;
    let scatter = Scatter::new(&solution, runs);
    let covariance = scatter.variance().map(|variance| covariance(&a, &solution, variance));
    let groups = groups.to_vec();
    Ok(Fit { groups, solution, lower, covariance, scatter, hpu_unknown })
}

impl Fit {
    fn value(&self, index: usize) -> f64 {
        self.lower[index] + self.solution.x[index]
    }

    /// The number of values that no bound holds.
    fn estimated(&self) -> usize {
        self.solution.at_bound.iter().filter(|&&held| !held).count()
    }

    fn std_error(&self, index: usize) -> Option<f64> {
        let covariance = self.covariance.as_ref()?;
        (!self.solution.at_bound[index]).then(|| covariance[(index, index)].sqrt())
    }

    fn doubts(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            if !group.carried.is_empty() {
                let (on, sum) = (group.carrier.name(), contributions(group));
                warnings.push(Warning::Combined { on, sum });
            }
            if self.solution.at_bound[index] {
                let (term, bound) = (group.carrier.name(), group.carrier.neutral());
                warnings.push(Warning::AtBound { term, bound });
            }
        }
        warnings
    }

    /// `base` with the estimates.
    fn parameters(&self, base: &Parameters, runs: &Runs) -> Parameters {
        let mut parameters = base.clone();
        for (index, group) in self.groups.iter().enumerate() {
            for &term in &group.carried {
                let source = format!("carried by {}", group.carrier.name());
                set(&mut parameters, term, stated(term.neutral(), &source));
            }
            if group.carrier == Term::Alpha {
                let alpha = self.alpha(index, base, runs);
                parameters.terms.alpha = alpha;
                continue;
            }
            let estimate = Estimate {
                value: self.value(index),
                std_error: self.std_error(index),
                freedom: None,
                source: Some(runs.file.clone()),
                combined_with: names(&group.carried),
            };
            set(&mut parameters, group.carrier, estimate);
        }
        parameters
    }

    /// `alpha_m = 1 + a*(m - 1)` at every m that was run, and at the largest possible.
    ///
    /// Where T_HPU is unknown too, `a = S/K`, S being what every further thread adds and K what
    /// T_HPU carries: `var(a) = [var(S) - 2*a*cov(S,K) + a^2*var(K)]/K^2` to first order.
    fn alpha(&self, index: usize, base: &Parameters, runs: &Runs) -> OverM {
        let hpu = self.groups.iter().position(|group| group.carrier == Term::HpuTime);
        let divisor = match hpu {
            Some(hpu) if self.hpu_unknown => self.value(hpu),
            _ => 1.0,
        };
        let slope = self.value(index) / divisor;
        let variance = self.covariance.as_ref().map(|covariance| match hpu {
            Some(hpu) if self.hpu_unknown => {
                (covariance[(index, index)] - 2.0 * slope * covariance[(index, hpu)]
                    + slope.powi(2) * covariance[(hpu, hpu)])
                    / divisor.powi(2)
            }
            _ => covariance[(index, index)],
        });
        let std_error = variance.filter(|_| !self.solution.at_bound[index]);
        let std_error = std_error.map(|variance| variance.max(0.0).sqrt());
        let ms: BTreeSet<u32> =
            [1, base.apus].into_iter().chain(runs.cells.iter().map(|cell| cell.m)).collect();
        linear_alpha(&ms.into_iter().collect::<Vec<_>>(), |beyond_one| Estimate {
            value: 1.0 + slope * beyond_one,
            std_error: std_error.filter(|_| beyond_one > 0.0).map(|error| error * beyond_one),
            freedom: None,
            source: Some(runs.file.clone()),
            combined_with: names(&self.groups[index].carried),
        })
    }
}

fn names(terms: &[Term]) -> Vec<String> {
    terms.iter().map(|term| term.name().to_string()).collect()
}

fn set(parameters: &mut Parameters, term: Term, estimate: Estimate) {
    let terms = &mut parameters.terms;
    match term {
        Term::HpuTime => terms.t_hpu_s = estimate,
        Term::ApuTime => terms.t_apu_s = estimate,
        Term::ApuSerialTime => terms.c_apu_s = estimate,
        Term::Gap => terms.g_s = estimate,
        Term::OffloadOverhead => terms.o_offload_s = estimate,
        Term::ContextSwitch => terms.t_csw_s = estimate,
        Term::Offloads => terms.offloads = estimate,
        Term::Collectives => terms.collectives = Some(estimate),
        Term::Alpha => terms.alpha = OverM::Constant(estimate),
        Term::CollectiveCost => terms.o_col_s = OverM::Constant(estimate),
    }
}

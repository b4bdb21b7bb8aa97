//! Identifiability: what timed runs can say of the terms at all, before any number.
//!
//! Every term has a regressor over (m, p). Terms of the same regressor enter times as one sum whatever is run;
//! those whose regressors are in proportion at the configurations that ran, as 1 and p where all have the
//! same p, do so in these runs. What is left may still take each other's place: the null space of the
//! relative sensitivities tells which, and a configuration that would tell them apart.
//! Terms that a user requires by themselves, and not as a part of a sum, are checked against it.

use std::fmt;

use nalgebra::{DMatrix, DVector};

use super::FitResult;
use super::known::CARRIERS;
use super::report::TermReport;
use super::runs::Runs;
use crate::belief::{Regressor, Work, regressor_of};
use crate::models::Parameters;
use crate::models::parameters::Decomposition;
use crate::models::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

/// What the configurations of some runs determine, whatever their times and without any file.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifiability {
    /// How many combinations of the terms the runs determine.
    pub rank: usize,
    /// Singular values of the relative sensitivities, columns of unit length, one for each sum,
    /// largest first.
    pub singular_values: Vec<f64>,
    /// Terms that enter the times of these runs only as one sum, by their names in files.
    pub sums: Vec<Vec<&'static str>>,
    /// Terms that can take each other's place at these configurations, but not at all others.
    pub traded: Vec<&'static str>,
    /// The configuration that would tell those apart.
    pub time_next: Option<(u32, u32)>,
    /// Terms that change none of these times.
    pub silent: Vec<&'static str>,
}

/// Terms of which some runs tell the sum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// The term that carries the sum.
    pub carrier: Term,
    /// The others.
    pub carried: Vec<Term>,
    /// Their regressors, each once, with what it is of the carrier's at these runs.
    pub regressors: Vec<(Regressor, f64)>,
}

/// How some terms enter the times of some runs.
pub(crate) struct Groups {
    /// Terms that change times, in sums.
    pub groups: Vec<Group>,
    /// Terms that do not.
    pub silent: Vec<Term>,
    /// The relative sensitivities of the groups, columns of unit length.
    unit: DMatrix<f64>,
    /// The lengths that they had.
    norms: Vec<f64>,
}

/// The terms that runs may tell of, with the product `a*T_HPU` for alpha's slope a: all but counts.
const TERMS: &[Term] = CARRIERS.split_at(8).0;

/// A singular value below this part of the largest is rounding.
const ROUNDING: f64 = 1e-10;

/// Largest m and p among which a configuration to measure next is looked for.
const LARGEST_ADVICE: u32 = 64;

impl Groups {
    /// Groups of these terms in these runs.
    pub fn of(terms: &[Term], work: &Work, runs: &Runs) -> Self {
        let at = |regressor: Regressor| -> DVector<f64> {
            let cells = runs.cells.iter();
            let of = cells.map(|cell| {
                let weight = (cell.count as f64).sqrt() / cell.mean_s;
                weight * work.at(regressor, Mapping::of(cell.m, cell.p))
            });
            DVector::from_vec(of.collect())
        };
        let (mut groups, mut silent): (Vec<(DVector<f64>, Group)>, Vec<Term>) = Default::default();
        for &term in terms {
            let regressor = regressor_of(term, work);
            let column = at(regressor);
            if column.norm() == 0.0 {
                silent.push(term);
                continue;
            }
            match groups.iter_mut().find(|(of_carrier, _)| in_proportion(&column, of_carrier)) {
                Some((of_carrier, group)) => {
                    group.carried.push(term);
                    if group.regressors.iter().all(|(known, _)| *known != regressor) {
                        group.regressors.push((regressor, column.norm() / of_carrier.norm()));
                    }
                }
                None => {
                    let (carried, regressors) = (Vec::new(), vec![(regressor, 1.0)]);
                    groups.push((column, Group { carrier: term, carried, regressors }));
                }
            }
        }
        let units: Vec<_> = groups.iter().map(|(column, _)| column.normalize()).collect();
        Self {
            norms: groups.iter().map(|(column, _)| column.norm()).collect(),
            unit: match units.is_empty() {
                true => DMatrix::zeros(runs.cells.len(), 0),
                false => DMatrix::from_columns(&units),
            },
            groups: groups.into_iter().map(|(_, group)| group).collect(),
            silent,
        }
    }

    /// A change of the groups that leaves the times of all runs as they are.
    fn direction(&self) -> Option<DVector<f64>> {
        let vector = null_vector(&self.unit)?;
        let unscaled = vector.iter().zip(&self.norms).map(|(each, norm)| each / norm);
        Some(DVector::from_vec(unscaled.collect()))
    }

    /// The terms that can take each other's place in these runs, and the configuration, of so many APUs
    /// at most, that would tell them apart. A sum that holds T_APU counts: nothing is told without it.
    pub fn traded(&self, work: &Work, runs: &Runs, apus: u32) -> (Vec<Term>, Option<(u32, u32)>) {
        let Some(direction) = self.direction() else {
            let hidden = self.groups.iter().find(|group| group.carried.contains(&Term::ApuTime));
            let Some(group) = hidden else { return (Vec::new(), None) };
            let of_shared =
                group.regressors.iter().find(|(regressor, _)| *regressor == Regressor::Shared);
            let of_shared = of_shared.map_or(0.0, |(_, ratio)| -1.0 / ratio);
            let changes = [(group.regressors[0].0, 1.0), (Regressor::Shared, of_shared)];
            return (vec![group.carrier, Term::ApuTime], next(&changes, work, runs, apus));
        };
        let largest = direction.amax();
        let takes_part = |place: &usize| direction[*place].abs() > ROUNDING * largest;
        let places = (0..self.groups.len()).filter(takes_part);
        let traded = places.map(|place| self.groups[place].carrier).collect();
        let changes = self.groups.iter().zip(&direction);
        let changes: Vec<_> =
            changes.map(|(group, change)| (group.regressors[0].0, *change)).collect();
        (traded, next(&changes, work, runs, apus))
    }
}

/// The configuration whose time says most about changes of some regressors that leave the times of all runs
/// as they are; `None` where no configuration says anything.
fn next(changes: &[(Regressor, f64)], work: &Work, runs: &Runs, apus: u32) -> Option<(u32, u32)> {
    let threads = match work.decomposition {
        Decomposition::Data => apus,
        Decomposition::Task { tasks } => apus.min(tasks),
    };
    let timed = |m, p| runs.cells.iter().any(|cell| (cell.m, cell.p) == (m, p));
    let mut best = None;
    let mut most = ROUNDING.sqrt();
    for m in 1..=threads.min(LARGEST_ADVICE) {
        for p in 1..=(apus / m).min(LARGEST_ADVICE) {
            let of = |(regressor, change): &(Regressor, f64)| {
                change * work.at(*regressor, Mapping::of(m, p))
            };
            let changes: Vec<f64> = changes.iter().map(of).collect();
            let size: f64 = changes.iter().map(|change| change.abs()).sum();
            let told = changes.iter().sum::<f64>().abs() / size;
            if told > most && !timed(m, p) {
                (best, most) = (Some((m, p)), told);
            }
        }
    }
    best
}

/// A vector of the null space; `None` where there is none but for rounding.
fn null_vector(unit: &DMatrix<f64>) -> Option<DVector<f64>> {
    if unit.ncols() == 0 {
        return None;
    }
    // Padded with rows of zeros, so that all right singular vectors exist.
    let rows = unit.nrows().max(unit.ncols());
    let svd = unit.clone().resize_vertically(rows, 0.0).svd(false, true);
    let (smallest, least) = svd.singular_values.argmin();
    if least > ROUNDING * svd.singular_values.max() {
        return None;
    }
    let vectors = svd.v_t.expect("invariant: the right singular vectors were asked for");
    Some(vectors.row(smallest).transpose())
}

/// Whether one column is a multiple of the other.
fn in_proportion(column: &DVector<f64>, other: &DVector<f64>) -> bool {
    let along = column.dot(other) / other.norm_squared();
    (column - other * along).norm() <= ROUNDING * column.norm()
}

impl Identifiability {
    /// Identifiability by the runs alone; of the parameters only APUs and decomposition matter.
    pub(crate) fn of(parameters: &Parameters, runs: &Runs) -> Self {
        let work = Work::of(parameters.decomposition);
        let groups = Groups::of(TERMS, &work, runs);
        let mut singular_values: Vec<f64> = match groups.groups.is_empty() {
            true => Vec::new(),
            false => {
                groups.unit.clone().svd(false, false).singular_values.iter().copied().collect()
            }
        };
        singular_values.sort_by(|a, b| b.total_cmp(a));
        singular_values.resize(groups.groups.len(), 0.0);
        let largest = singular_values.first().copied().unwrap_or(0.0);
        let rank = singular_values.iter().filter(|&&value| value > ROUNDING * largest).count();
        let (traded, time_next) = groups.traded(&work, runs, parameters.apus);
        let names = |terms: Vec<Term>| terms.into_iter().map(Term::name).collect();
        let sum = |group: &Group| {
            let all = [group.carrier].into_iter().chain(group.carried.iter().copied());
            (!group.carried.is_empty()).then(|| names(all.collect()))
        };
        let sums = groups.groups.iter().filter_map(sum).collect();
        let (traded, silent) = (names(traded), names(groups.silent));
        Self { rank, singular_values, sums, traded, time_next, silent }
    }
}

impl fmt::Display for Identifiability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> =
            self.singular_values.iter().map(|value| format!("{value:.2e}")).collect();
        writeln!(
            f,
            "Of themselves the runs determine {} combinations of {} terms (singular values {})",
            self.rank,
            TERMS.len(),
            values.join(", ")
        )?;
        for sum in &self.sums {
            writeln!(f, "  {} enter only as one sum", sum.join(", "))?;
        }
        if !self.traded.is_empty() {
            write!(f, "  {} can take each other's place", self.traded.join(", "))?;
            match self.time_next {
                Some((m, p)) => writeln!(f, "; time (m, p) = ({m}, {p}) to tell them apart")?,
                None => writeln!(f, " at every configuration of this machine")?,
            }
        }
        if !self.silent.is_empty() {
            writeln!(f, "  {} change none of these times", self.silent.join(", "))?;
        }
        Ok(())
    }
}

/// Why a term is not known.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct UndeterminedTerm {
    /// The term, by its name in parameter files.
    pub term: String,
    /// `sum`: only a sum with others is known; `traded`: others can take its place in these runs;
    /// `not_measured`: nothing tells of it.
    pub reason: &'static str,
    /// Terms of the sum, or that can take each other's place, this one included.
    pub sum: Vec<String>,
    /// What would determine it: files of [`Inputs`](super::Inputs).
    pub measure: &'static str,
}

impl FitResult {
    /// Named terms that the data do not determine.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] for a name that no term has.
    pub fn undetermined(&self, names: &[String]) -> Result<Vec<UndeterminedTerm>> {
        let terms = &self.report.terms;
        let mut found = Vec::new();
        for name in names {
            let Some(line) = terms.iter().find(|line| line.term == name) else {
                let known = terms.iter().map(|line| line.term.to_string());
                return Err(Error::unknown_name("term", name, known));
            };
            found.extend(self.why_not(line));
        }
        Ok(found)
    }

    fn why_not(&self, line: &TermReport) -> Option<UndeterminedTerm> {
        let source = |line: &TermReport| {
            let known = line.values.last().and_then(|(_, estimate)| estimate.source.clone());
            known.unwrap_or_default()
        };
        let carrier = source(line).strip_prefix("carried by ").map(str::to_string);
        let carrier = carrier.as_deref().unwrap_or(line.term);
        let carrying = self.report.terms.iter().find(|each| each.term == carrier)?;
        let (_, estimate) = carrying.values.last()?;
        let undetermined = |reason, sum| {
            let measure = Term::named(line.term)?.measured_by();
            Some(UndeterminedTerm { term: line.term.to_string(), reason, sum, measure })
        };
        if !estimate.combined_with.is_empty() {
            let sum = [carrier.to_string()].into_iter().chain(estimate.combined_with.clone());
            return undetermined("sum", sum.collect());
        }
        if self.traded.contains(&carrier) {
            return undetermined("traded", self.traded.iter().map(ToString::to_string).collect());
        }
        if source(line) == crate::models::parameters::NOT_MEASURED {
            return undetermined("not_measured", Vec::new());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trials::{TERMS as VALUES, exact_runs, feasible, fitted, only, truth};
    use super::*;
    use crate::models::parameters::Decomposition;

    fn of(configurations: &[(u32, u32)]) -> Identifiability {
        let truth = truth(Decomposition::Data, 0.08, VALUES);
        Identifiability::of(&truth, &exact_runs(&truth, configurations))
    }

    #[test]
    fn times_over_m_and_p_hold_four_combinations() {
        let found = of(&feasible());
        assert_eq!(found.rank, 4);
        let sums = [&["t_hpu_s", "c_apu_s", "o_offload_s", "t_csw_s"][..], &["alpha", "o_col_s"]];
        assert_eq!(found.sums, sums);
        assert!(found.traded.is_empty() && found.silent.is_empty());
    }

    #[test]
    fn one_thread_tells_nothing_of_alpha() {
        let found = of(&[(1, 1), (1, 2), (1, 4), (1, 8)]);
        assert_eq!((found.rank, found.silent), (3, vec!["alpha", "o_col_s"]));
    }

    #[test]
    fn two_configurations_leave_terms_to_be_traded_and_name_a_third() {
        let found = of(&[(1, 1), (1, 16)]);
        assert_eq!(found.rank, 2);
        assert_eq!(found.traded, ["t_hpu_s", "t_apu_s", "g_s"]);
        // 16/(m*p) + p - 17 is 0 at both, and largest beside its summands at (16, 1).
        assert_eq!(found.time_next, Some((16, 1)));
        let text = found.to_string();
        assert!(text.contains("determine 2 combinations of 8 terms (singular values 1."), "{text}");
        let traded = "t_hpu_s, t_apu_s, g_s can take each other's place; time (m, p) = (16, 1) to";
        assert!(text.contains(traded), "{text}");
        assert!(text.contains("  alpha, o_col_s change none of these times\n"), "{text}");
    }

    #[test]
    fn a_reader_is_told_only_of_what_there_is() {
        let text = of(&feasible()).to_string();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("alpha, o_col_s enter only as one sum"), "{text}");
    }

    #[test]
    fn where_m_times_p_is_the_same_throughout_the_constant_and_the_shared_are_one_sum() {
        let truth = truth(Decomposition::Data, 0.08, VALUES);
        let runs = exact_runs(&truth, &[(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)]);
        let work = Work::of(Decomposition::Data);
        let found = Groups::of(TERMS, &work, &runs);
        let first = &found.groups[0];
        assert_eq!((first.carrier, first.carried[0]), (Term::HpuTime, Term::ApuTime));
        let (regressor, ratio) = first.regressors[1];
        assert_eq!(regressor, Regressor::Shared);
        approx::assert_relative_eq!(ratio, 1.0 / 16.0, max_relative = 1e-12);
        // m, p and 1 are three regressors there, and m, 1/m as good as independent of them.
        assert_eq!(found.groups.len(), 3);
    }

    #[test]
    fn a_term_is_undetermined_as_part_of_a_sum_or_because_nothing_tells_of_it() {
        let configurations = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2)];
        let runs = exact_runs(&truth(Decomposition::Data, 0.08, VALUES), &configurations);
        let fitted = fitted(&only(runs), Decomposition::Data).unwrap();
        let asked = ["t_apu_s", "o_offload_s", "t_hpu_s", "offloads"].map(String::from);
        let found = fitted.undetermined(&asked).unwrap();
        let told: Vec<(&str, &str)> =
            found.iter().map(|each| (each.term.as_str(), each.reason)).collect();
        // T_APU is known by itself.
        let sum = "sum";
        assert_eq!(told, [("o_offload_s", sum), ("t_hpu_s", sum), ("offloads", "not_measured")]);
        let all = ["t_hpu_s", "c_apu_s", "o_offload_s", "t_csw_s"];
        assert_eq!([&found[0].sum, &found[1].sum], [&all, &all]);
        assert_eq!(found[2].sum, [""; 0]);
        let error = fitted.undetermined(&["t_gpu_s".into()]).unwrap_err().to_string();
        assert!(error.contains("t_gpu_s") && error.contains("t_hpu_s"), "{error}");
    }
}

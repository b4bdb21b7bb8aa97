//! Which unknowns the runs can tell apart.

use nalgebra::{DMatrix, DVector};

use super::design::{Design, Sensitivity};
use super::runs::Runs;
use crate::model::parameters::Decomposition;
use crate::model::terms::Term;
use mmgp_base::error::{Error, Result};

/// Relative size below which a number is rounding: columns are computed from few operations.
const ROUNDING: f64 = 1e-10;

/// An unknown that can be estimated, with what it has to carry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub carrier: Term,
    /// The terms that these runs cannot tell from the carrier.
    pub carried: Vec<Term>,
    /// Those of `carried` that other configurations would set apart.
    pub separable: Vec<Term>,
}

/// What the runs can and cannot say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub groups: Vec<Group>,
    /// Terms that change no time in the runs, or none that the groups do not explain.
    pub undetermined: Vec<Term>,
    /// Largest over smallest singular value of the groups' sensitivities, each of unit length.
    pub condition: f64,
}

/// Groups the unknowns into sums that the runs determine.
///
/// Terms whose sensitivities are in proportion over all configurations enter the times only as a
/// sum. What is left must be linearly independent: the singular value decomposition of the
/// sensitivities tells, and its null space names the terms that trade off against each other.
pub(crate) fn identify(sensitivity: &Sensitivity, design: &Design, runs: &Runs) -> Result<Verdict> {
    let mut groups: Vec<(usize, Group)> = Vec::new();
    let mut undetermined = Vec::new();
    for (index, &term) in sensitivity.unknown.iter().enumerate() {
        let column = design.columns.column(index).into_owned();
        if column.norm() == 0.0 {
            undetermined.push(term);
            continue;
        }
        let same = groups
            .iter_mut()
            .find(|(carrier, _)| in_proportion(&column, &design.columns.column(*carrier).into()));
        match same {
            Some((_, group)) => {
                group.carried.push(term);
                if separable(sensitivity, group.carrier, term) {
                    group.separable.push(term);
                }
            }
            None => {
                let group = Group { carrier: term, carried: vec![], separable: vec![] };
                groups.push((index, group));
            }
        }
    }
    // Predictions without T_APU of its own would be wrong everywhere but at the runs.
    let hidden = groups.iter().any(|(_, group)| group.separable.contains(&Term::ApuTime));
    let shared_alone = [Term::HpuTime, Term::ApuTime];
    if hidden {
        let direction = DVector::from_vec(vec![1.0, -1.0]);
        return Err(too_little(sensitivity, runs, &shared_alone, &direction));
    }
    let condition = independent(sensitivity, design, runs, &mut groups, &mut undetermined)?;
    let groups = groups.into_iter().map(|(_, group)| group).collect();
    Ok(Verdict { groups, undetermined, condition })
}

/// Removes what linear dependence among the groups leaves open, or says what to measure; returns
/// the condition number of the rest.
fn independent(
    sensitivity: &Sensitivity,
    design: &Design,
    runs: &Runs,
    groups: &mut Vec<(usize, Group)>,
    undetermined: &mut Vec<Term>,
) -> Result<f64> {
    loop {
        if groups.is_empty() {
            return Ok(1.0);
        }
        let unit = DMatrix::from_columns(
            &groups.iter().map(|(i, _)| design.columns.column(*i).normalize()).collect::<Vec<_>>(),
        );
        let (condition, direction) = spectrum(&unit);
        let Some(direction) = direction else { return Ok(condition) };
        let norms = groups.iter().map(|(i, _)| design.columns.column(*i).norm());
        let direction =
            DVector::from_iterator(groups.len(), direction.iter().zip(norms).map(|(v, n)| v / n));
        let terms: Vec<Term> = groups.iter().map(|(_, group)| group.carrier).collect();
        if next_configuration(sensitivity, runs, &terms, &direction).is_some() {
            return Err(too_little(sensitivity, runs, &terms, &direction));
        }
        // No configuration of this machine would tell them apart, so the last of them may go:
        // the others can take its place at every configuration there is.
        let largest = direction.amax();
        let last = (0..terms.len())
            .rev()
            .find(|&index| direction[index].abs() > ROUNDING * largest)
            .expect("invariant: a null vector is not zero");
        let (_, group) = groups.remove(last);
        undetermined.push(group.carrier);
        undetermined.extend(group.carried);
    }
}

/// The condition number and, where it is infinite to rounding, a vector of the null space.
pub(crate) fn spectrum(unit: &DMatrix<f64>) -> (f64, Option<DVector<f64>>) {
    // Padded with rows of zeros, so that all right singular vectors exist.
    let rows = unit.nrows().max(unit.ncols());
    let svd = unit.clone().resize_vertically(rows, 0.0).svd(false, true);
    let (smallest, least) = svd.singular_values.argmin();
    let largest = svd.singular_values.max();
    if least > ROUNDING * largest {
        return (largest / least, None);
    }
    let vectors = svd.v_t.expect("invariant: the right singular vectors were asked for");
    (f64::INFINITY, Some(vectors.row(smallest).transpose()))
}

/// Whether one column is a multiple of the other.
pub(crate) fn in_proportion(column: &DVector<f64>, other: &DVector<f64>) -> bool {
    let along = column.dot(other) / other.norm_squared();
    (column - other * along).norm() <= ROUNDING * column.norm()
}

/// Whether there are configurations that set two terms apart.
fn separable(sensitivity: &Sensitivity, one: Term, other: Term) -> bool {
    let few = 1..=4_u32;
    let all: Vec<(u32, u32)> = few.clone().flat_map(|m| few.clone().map(move |p| (m, p))).collect();
    let column =
        |term| DVector::from_iterator(16, all.iter().map(|&(m, p)| sensitivity.of(term, m, p)));
    !in_proportion(&column(other), &column(one))
}

/// Up to this m and p, a configuration to measure next is looked for.
const LARGEST_ADVICE: u32 = 64;

/// The configuration whose time says most about `direction`, a change of the terms that leaves
/// the times of all runs as they are; `None` where no configuration says anything.
pub(crate) fn next_configuration(
    sensitivity: &Sensitivity,
    runs: &Runs,
    terms: &[Term],
    direction: &DVector<f64>,
) -> Option<(u32, u32)> {
    let apus = sensitivity.base.apus;
    let threads = match sensitivity.base.decomposition {
        Decomposition::Data => apus,
        Decomposition::Task { tasks } => apus.min(tasks),
    };
    let timed = |m, p| runs.cells.iter().any(|cell| (cell.m, cell.p) == (m, p));
    let mut best = None;
    let mut most = ROUNDING.sqrt();
    for m in 1..=threads.min(LARGEST_ADVICE) {
        for p in 1..=(apus / m).min(LARGEST_ADVICE) {
            let changes = terms.iter().zip(direction.iter());
            let changes: Vec<f64> =
                changes.map(|(&term, change)| change * sensitivity.of(term, m, p)).collect();
            let size: f64 = changes.iter().map(|change| change.abs()).sum();
            let told = changes.iter().sum::<f64>().abs() / size;
            if told > most && !timed(m, p) {
                (best, most) = (Some((m, p)), told);
            }
        }
    }
    best
}

fn too_little(
    sensitivity: &Sensitivity,
    runs: &Runs,
    terms: &[Term],
    direction: &DVector<f64>,
) -> Error {
    let largest = direction.amax();
    let traded: Vec<&str> = terms
        .iter()
        .zip(direction.iter())
        .filter(|(_, change)| change.abs() > ROUNDING * largest)
        .map(|(term, _)| term.contribution())
        .collect();
    let configurations: Vec<String> =
        runs.cells.iter().take(4).map(|cell| format!("({}, {})", cell.m, cell.p)).collect();
    let more = if runs.cells.len() > 4 { ", ..." } else { "" };
    let advice = match next_configuration(sensitivity, runs, terms, direction) {
        Some((m, p)) => format!("also time (m, p) = ({m}, {p}), or give profile.csv"),
        None => "give profile.csv".into(),
    };
    Error::TooLittleData {
        file: runs.file.clone(),
        found: format!(
            "runs at (m, p) = {}{more} cannot tell apart {}",
            configurations.join(", "),
            traded.join(", ")
        ),
        advice,
    }
}

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS, exact_runs, truth};
    use super::*;

    #[test]
    fn the_condition_number_is_the_ratio_of_singular_values() {
        // Of two unit columns with the cosine 0.6: the roots of 1.6 and 0.4.
        let (condition, open) = spectrum(&DMatrix::from_row_slice(2, 2, &[1.0, 0.6, 0.0, 0.8]));
        approx::assert_relative_eq!(condition, 2.0, max_relative = 1e-12);
        assert_eq!(open, None);
    }

    #[test]
    fn columns_of_small_terms_are_told_apart_as_well() {
        let of = |x: f64, y: f64| DVector::from_vec(vec![x, y]);
        assert!(!in_proportion(&of(1e-8, 0.0), &of(0.0, 1.0)));
        assert!(in_proportion(&of(1e-8, 2e-8), &of(1.0, 2.0)));
    }

    #[test]
    fn on_two_apus_four_sums_are_one_too_many_and_the_last_goes() {
        let mut base = truth(Decomposition::Data, 0.08, TERMS);
        base.apus = 2;
        let runs = exact_runs(&base, &[(1, 1), (1, 2), (2, 1)]);
        // 1, 1/(m*p), p and m - 1 have three values on two APUs, and nothing else can be timed.
        let unknown = vec![Term::HpuTime, Term::ApuTime, Term::Gap, Term::Alpha];
        let sensitivity = Sensitivity { base, unknown };
        let design = Design::new(&sensitivity, &runs);
        let found = identify(&sensitivity, &design, &runs).unwrap();
        let carriers: Vec<Term> = found.groups.iter().map(|group| group.carrier).collect();
        assert_eq!(carriers, [Term::HpuTime, Term::ApuTime, Term::Gap]);
        assert_eq!(found.undetermined, [Term::Alpha]);
        assert!(found.condition < 1e3, "{}", found.condition);
    }

    #[test]
    fn a_refusal_names_what_is_traded_and_some_of_the_runs() {
        let base = truth(Decomposition::Data, 0.08, TERMS);
        let terms = [Term::HpuTime, Term::ApuTime, Term::Gap];
        let sensitivity = Sensitivity { base: base.clone(), unknown: terms.to_vec() };
        let refused = |places: &[(u32, u32)]| {
            let runs = exact_runs(&base, places);
            // A gap's part is rounding beside the others, however small their unit makes them.
            let direction = DVector::from_vec(vec![1e-6, -1e-6, 1e-18]);
            too_little(&sensitivity, &runs, &terms, &direction).to_string()
        };
        let four = [(1, 1), (1, 2), (1, 3), (1, 4)];
        let text = refused(&four);
        let traded = [Term::HpuTime, Term::ApuTime].map(Term::contribution).join(", ");
        assert!(text.contains(&format!("(1, 4) cannot tell apart {traded}")), "{text}");
        assert!(!text.contains(Term::Gap.contribution()), "{text}");
        let text = refused(&[four.as_slice(), &[(2, 1)]].concat());
        assert!(text.contains("(1, 4), ... cannot tell apart"), "{text}");
    }
}

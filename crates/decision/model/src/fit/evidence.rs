//! The runs as predictions are conditioned on them, and what files said before.

use super::runs::{Cell, Runs};
use crate::models::Parameters;
use crate::models::observations::{Before, Evidence, Observations, Observed};
use crate::models::parameters::Terms;
use crate::models::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

impl Runs {
    /// A time for each configuration, and the scatter of repetitions.
    ///
    /// Configurations that mostly took no time are left out: they have no logarithm. A doubtful one
    /// counts for as much of a run as its variance leaves.
    pub fn observations(&self) -> Observations {
        let timed = self.cells.iter().filter(|cell| cell.log_time.is_finite());
        let squares: f64 = timed.clone().map(|cell| cell.log_squares).sum();
        let degrees: f64 = timed.clone().map(|cell| cell.count as f64 - 1.0).sum();
        let noise_variance = if degrees > 0.0 { squares / degrees } else { 0.0 };
        let observed = |cell: &Cell| Observed {
            mapping: Mapping::of(cell.m, cell.p),
            time: Seconds(cell.log_time.exp()),
            repetitions: match cell.doubt > 0.0 {
                true => (noise_variance / (noise_variance + cell.doubt)).max(LEAST_OF_A_RUN),
                false => cell.count as f64,
            },
        };
        let all = timed.map(observed).collect();
        Observations::new(self.file.clone(), all, squares, degrees)
            .of_quantity(self.quantity.clone())
    }
}

/// A run that is in doubt counts at least for this part of one.
const LEAST_OF_A_RUN: f64 = 1e-3;

/// What a fit of these runs is conditioned on; `base` holds what files said, with the terms that
/// none of them knows, and `prior` is an earlier fit, whose runs count on.
pub(crate) fn evidence(
    runs: &Runs,
    base: &Parameters,
    unknown: &[Term],
    prior: Option<&Parameters>,
) -> Evidence {
    let earlier = prior.and_then(|prior| prior.evidence.as_ref()).map(|it| &it.observations);
    let observations = match earlier {
        Some(earlier) => earlier.clone().merged(runs.observations()),
        None => runs.observations(),
    };
    // Costs alone, of which nobody knows how often the program pays them, say nothing of its time.
    let is_unknown = |term| unknown.contains(&term);
    let is_program_known = !is_unknown(Term::HpuTime) || !is_unknown(Term::ApuTime);
    let before = is_program_known.then(|| Before {
        terms: of_a_file(base),
        correlation: base.correlation.clone(),
        unknown: unknown.to_vec(),
    });
    Evidence { observations, before }
}

/// The terms as a file can hold them: files may say of alpha what it cannot be.
fn of_a_file(base: &Parameters) -> Terms {
    let mut terms = base.terms.clone();
    for estimate in terms.value_mut(Term::Alpha).estimates() {
        estimate.value = estimate.value.max(Term::Alpha.neutral());
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::Decomposition;
    use crate::toy;

    #[test]
    fn a_configuration_that_mostly_took_no_time_is_left_out() {
        let times: [((u32, u32), &[f64]); 4] = [
            ((1, 1), &[2.0, 2.0, 8.0]),
            ((1, 2), &[0.0, 0.0, 3.0]),
            ((2, 1), &[0.0]),
            ((2, 2), &[1.0, 1.0, 1.0]),
        ];
        let cells = times.map(|(mapping, times_s)| Cell::of(mapping, times_s)).to_vec();
        let found = Runs::new("runs.csv", cells).observations();
        let kept: Vec<_> = found.configurations.iter().map(|it| it.mapping).collect();
        assert_eq!(kept, [(1, 1), (2, 2)].map(|(m, p)| Mapping::of(m, p)));
        // The cube root of 32.
        approx::assert_relative_eq!(found.configurations[0].time.0, 3.174_802, max_relative = 1e-6);
        assert_eq!((found.configurations[0].repetitions, found.degrees_of_freedom), (3.0, 4.0));
    }

    #[test]
    fn a_run_in_doubt_counts_for_as_much_as_its_variance_leaves() {
        let doubtful = Cell { doubt: 0.04, ..Cell::of((2, 1), &[5.0]) };
        let cells = vec![Cell::of((1, 1), &[2.0, 2.1, 1.9]), doubtful];
        let found = Runs::new("runs.csv", cells).observations();
        let noise = found.scatter / 2.0;
        let expected = noise / (noise + 0.04);
        assert_eq!(found.configurations[1].repetitions, expected);
    }

    #[test]
    fn files_that_say_nothing_are_not_remembered() {
        let cells = vec![Cell::of((1, 1), &[2.0])];
        let runs = Runs::new("runs.csv", cells);
        let before = |base: &Parameters| evidence(&runs, base, &[Term::Gap], None).before;
        let known = toy::parameters(Decomposition::Data);
        let Before { terms, unknown, .. } = before(&known).unwrap();
        assert_eq!((terms, unknown), (known.terms.clone(), vec![Term::Gap]));
        // What an off-load costs says nothing of a program of which nobody knows how often it off-loads.
        let unknown = [Term::HpuTime, Term::ApuTime, Term::Gap];
        assert_eq!(evidence(&runs, &known, &unknown, None).before, None);
    }
}

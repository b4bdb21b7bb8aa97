//! The runs as predictions are conditioned on them, and what files said before.

use super::runs::{Cell, Runs};
use crate::model::Parameters;
use crate::model::observations::{Before, Evidence, Observations, Observed};
use crate::model::parameters::Terms;
use crate::model::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

impl Runs {
    /// A median for each configuration, and the scatter of repetitions.
    ///
    /// Configurations without a time above 0 are left out: they have no logarithm.
    pub fn observations(&self) -> Observations {
        let timed = self.cells.iter().filter(|cell| cell.median_s > 0.0);
        let observed = |cell: &Cell| Observed {
            mapping: Mapping::of(cell.m, cell.p),
            time: Seconds(cell.median_s),
            repetitions: cell.count as f64,
        };
        Observations::new(
            self.file.clone(),
            timed.clone().map(observed).collect(),
            timed.clone().map(|cell| cell.usual_scatter.squares).sum(),
            timed.map(|cell| cell.usual_scatter.degrees_of_freedom).sum(),
        )
    }
}

/// What a fit of these runs is conditioned on; `base` holds what files said, with the terms that
/// none of them knows, and `prior` is an earlier fit, whose runs count on.
pub(crate) fn evidence(
    runs: &Runs,
    base: &Parameters,
    unknown: &[Term],
    prior: Option<&Parameters>,
) -> Evidence {
    let observations = runs.observations();
    let earlier = prior.and_then(|prior| prior.evidence.clone());
    if let Some(Evidence { observations: earlier, before }) = earlier {
        return Evidence { observations: earlier.merged(observations), before };
    }
    let is_anything_known = base.time(Mapping::SEQUENTIAL).0 > 0.0;
    let before = is_anything_known.then(|| Before {
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
    use crate::model::parameters::Decomposition;
    use crate::toy;

    #[test]
    fn a_configuration_whose_median_is_no_time_is_left_out() {
        let times: [((u32, u32), &[f64]); 4] = [
            ((1, 1), &[2.0, 2.0, 8.0]),
            ((1, 2), &[0.0, 0.0, 3.0]),
            ((2, 1), &[0.0]),
            ((2, 2), &[0.0, 1.0, 1.0]),
        ];
        let cells = times.map(|(mapping, times_s)| Cell::of(mapping, times_s)).to_vec();
        let found = Runs { file: "runs.csv".into(), cells }.observations();
        let observed = |m, p, time_s| Observed {
            mapping: Mapping::of(m, p),
            time: Seconds(time_s),
            repetitions: 3.0,
        };
        assert_eq!(found.configurations, [observed(1, 1, 2.0), observed(2, 2, 1.0)]);
        // Two times of each agree, and the third is far off.
        assert_eq!((found.scatter, found.degrees_of_freedom), (0.0, 2.0));
    }

    #[test]
    fn files_that_say_nothing_are_not_remembered() {
        let cells = vec![Cell::of((1, 1), &[2.0])];
        let runs = Runs { file: "runs.csv".into(), cells };
        let before = |base: &Parameters| evidence(&runs, base, &[Term::Gap], None).before;
        let known = toy::parameters(Decomposition::Data);
        let Before { terms, unknown, .. } = before(&known).unwrap();
        assert_eq!((terms, unknown), (known.terms.clone(), vec![Term::Gap]));
        let nothing = Parameters { terms: Terms::nothing(), ..known };
        assert_eq!(before(&nothing), None);
    }
}

//! What timed runs can say of the terms at all, before any number.

use std::fmt;

use nalgebra::{DMatrix, DVector};

use super::design::{Design, Sensitivity};
use super::identify::{in_proportion, next_configuration, spectrum};
use super::runs::Runs;
use super::term::CARRIERS;
use crate::model::Parameters;
use crate::model::parameters::{Estimate, OverM};
use crate::model::terms::Term;

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

/// The terms that runs may tell of, with the product `a*T_HPU` for alpha's slope a: all but counts.
const TERMS: &[Term] = CARRIERS.split_at(8).0;

/// A singular value below this part of the largest is rounding.
const ROUNDING: f64 = 1e-10;

impl Identifiability {
    /// Of the runs alone, around `parameters`, of which only counts and decomposition matter.
    pub(crate) fn of(parameters: &Parameters, runs: &Runs) -> Self {
        let mut base = parameters.clone();
        base.terms.alpha = OverM::Constant(Estimate::exact(1.0));
        let sensitivity = Sensitivity { base, unknown: TERMS.to_vec() };
        let design = Design::new(&sensitivity, runs);
        let column = |index: usize| DVector::from(design.columns.column(index));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut silent = Vec::new();
        for (index, term) in TERMS.iter().enumerate() {
            if column(index).norm() == 0.0 {
                silent.push(term.name());
                continue;
            }
            let same = |group: &&mut Vec<usize>| in_proportion(&column(index), &column(group[0]));
            match groups.iter_mut().find(same) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        let columns: Vec<_> = groups.iter().map(|group| column(group[0]).normalize()).collect();
        let unit = DMatrix::from_columns(&columns);
        let mut singular_values: Vec<f64> =
            unit.clone().svd(false, false).singular_values.iter().copied().collect();
        singular_values.sort_by(|a, b| b.total_cmp(a));
        singular_values.resize(groups.len(), 0.0);
        let largest = singular_values.first().copied().unwrap_or(0.0);
        let rank = singular_values.iter().filter(|&&value| value > ROUNDING * largest).count();
        let (traded, time_next) = match spectrum(&unit).1 {
            None => (Vec::new(), None),
            Some(direction) => {
                let norms = groups.iter().map(|group| column(group[0]).norm());
                let direction = direction.iter().zip(norms).map(|(each, norm)| each / norm);
                let direction = DVector::from_vec(direction.collect());
                let carriers: Vec<Term> = groups.iter().map(|group| TERMS[group[0]]).collect();
                let next = next_configuration(&sensitivity, runs, &carriers, &direction);
                let largest = direction.amax();
                let takes_part = |&index: &usize| direction[index].abs() > ROUNDING * largest;
                let traded = (0..carriers.len()).filter(takes_part);
                (traded.map(|index| carriers[index].name()).collect(), next)
            }
        };
        let sums = groups.iter().filter(|group| group.len() > 1);
        let names = |group: &Vec<usize>| group.iter().map(|&index| TERMS[index].name()).collect();
        Self { rank, singular_values, sums: sums.map(names).collect(), traded, time_next, silent }
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

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS as VALUES, exact_runs, feasible, truth};
    use super::*;
    use crate::model::parameters::Decomposition;

    fn of(configurations: &[(u32, u32)]) -> Identifiability {
        let truth = truth(Decomposition::Data, 0.08, VALUES);
        Identifiability::of(&truth, &exact_runs(&truth, configurations))
    }

    #[test]
    fn times_over_m_and_p_hold_four_combinations() {
        let found = of(&feasible());
        assert_eq!(found.rank, 4);
        assert_eq!(found.sums, [["t_hpu_s", "c_apu_s", "o_offload_s", "t_csw_s", "o_col_s"]]);
        assert!(found.traded.is_empty() && found.silent.is_empty());
    }

    #[test]
    fn one_thread_tells_nothing_of_alpha() {
        let found = of(&[(1, 1), (1, 2), (1, 4), (1, 8)]);
        assert_eq!((found.rank, found.silent), (3, vec!["alpha"]));
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
        assert!(text.contains("  alpha change none of these times\n"), "{text}");
    }

    #[test]
    fn a_reader_is_told_only_of_what_there_is() {
        let text = of(&feasible()).to_string();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("t_csw_s, o_col_s enter only as one sum"), "{text}");
    }
}

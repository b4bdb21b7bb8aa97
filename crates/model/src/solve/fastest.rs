//! The few fastest of more configurations than can be weighed against each other.

use super::best;
use super::constraints::Constraints;
use super::{Row, speedup};
use crate::model::time_model::TimeModel;
use crate::posterior::Posterior;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// The fastest configurations, without a word on how sure their order is.
#[derive(Debug, Clone, PartialEq)]
pub struct Fastest {
    /// How many configurations there are.
    pub feasible: usize,
    /// The fastest of them, in the order of their predicted times; ties by m, then p.
    pub configurations: Vec<Predicted>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// A configuration with its place and what is predicted of it alone.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Predicted {
    /// Place in the order of predicted time, from 1.
    pub rank: u32,
    /// Which it is.
    pub mapping: Mapping,
    /// Predicted time of the run.
    pub time: Seconds,
    /// Lower end of its 95 % interval, as [`rank`](super::rank) computes it.
    pub low: Seconds,
    /// Upper end of that interval.
    pub high: Seconds,
    /// Predicted time of (1, 1) over that of this configuration.
    pub speedup: f64,
    /// Speed-up over the APUs in use, `m * p`.
    pub efficiency: f64,
}

/// The most values of m that are searched: a second or two.
const MOST_ROWS: u32 = 100_000_000;

/// So many more than asked for are found by the model's structure, as the posterior may order them
/// otherwise.
const ROOM: usize = 64;

/// The `count` fastest of what the constraints allow on so many APUs: found by the structure of the
/// model, whose rows are convex in p, so that what is near the best of a row is next to its
/// optimum; ordered by what the posterior believes.
///
/// Probabilities and regrets weigh every configuration against every other and are left out, of
/// which a warning tells.
///
/// # Errors
///
/// [`Error::NothingFeasible`] where the constraints leave nothing; [`Error::OutOfRange`] for a model
/// without rows, and for more than 100 million values of m.
pub fn fastest(
    posterior: &Posterior,
    model: &dyn TimeModel,
    constraints: &Constraints,
    count: usize,
) -> Result<Fastest> {
    let error =
        |name, found: String, expected: String| Err(Error::OutOfRange { name, found, expected });
    if model.row(1).is_none() {
        let expected = "one whose times have a structure to search by, as mmgp has".into();
        return error("model", model.name().into(), expected);
    }
    let space = constraints.space(model.apus())?;
    if space.last_m() > MOST_ROWS {
        let expected = format!("at most {MOST_ROWS} values of m to search; see max_m");
        return error("apus", model.apus().to_string(), expected);
    }
    let found = best::within(model, &space, count.saturating_add(ROOM));
    let mut mappings: Vec<Mapping> = found.iter().map(|candidate| candidate.mapping).collect();
    mappings.push(Mapping::SEQUENTIAL);
    let marginals = posterior.marginals(&mappings);
    let sequential = marginals.time(mappings.len() - 1);
    let predicted = |index: usize| {
        let (mapping, Row { time, low, high }) = (mappings[index], Row::of(&marginals, index));
        let speedup = speedup(sequential, time);
        let efficiency = speedup / mapping.apus() as f64;
        Predicted { rank: 0, mapping, time, low, high, speedup, efficiency }
    };
    let order = marginals.order(&mappings[..found.len()]);
    let mut configurations: Vec<Predicted> = order.into_iter().take(count).map(predicted).collect();
    for (configuration, rank) in configurations.iter_mut().zip(1..) {
        configuration.rank = rank;
    }
    let feasible = space.count();
    let mut warnings = vec![Warning::Note(format!(
        "{feasible} configurations are too many to weigh against each other: these are the \
         {} fastest by the model's structure, without probabilities and regrets",
        configurations.len()
    ))];
    // Only of those that are shown, as there may be any number of the others.
    let shown: Vec<Mapping> = configurations.iter().map(|it| it.mapping).collect();
    warnings.extend(posterior.warnings(&shown));
    Ok(Fastest { feasible, configurations, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::published;
    use crate::model::refined::{Refined, Refinements};
    use crate::solve::{Sampling, candidates, rank};

    #[test]
    fn what_is_fastest_is_what_a_ranking_has_on_top() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.3);
        parameters.apus = 300;
        let posterior = Posterior::of(&parameters).unwrap();
        let found = fastest(&posterior, &parameters, &Constraints::NONE, 7).unwrap();
        let all = candidates(&posterior, &Constraints::NONE, 300).unwrap();
        let ranking = rank(&posterior, &all, Sampling::new(10, 1)).unwrap();
        assert_eq!(found.feasible, ranking.configurations.len());
        for (found, expected) in found.configurations.iter().zip(&ranking.configurations) {
            assert_eq!((found.rank, found.mapping), (expected.rank, expected.mapping));
            assert_eq!((found.time, found.speedup), (expected.time, expected.speedup));
            assert_eq!(found.efficiency, expected.efficiency);
            approx::assert_relative_eq!(found.low.0, expected.low.0, max_relative = 1e-6);
        }
        assert_eq!(found.configurations.len(), 7);
        let warning = found.warnings[0].to_string();
        assert!(warning.ends_with("without probabilities and regrets"), "{warning}");
    }

    #[test]
    fn a_million_apus_are_searched() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let posterior = Posterior::of(&parameters).unwrap();
        parameters.apus = 1_000_000;
        let found = fastest(&posterior, &parameters, &Constraints::NONE, 1).unwrap();
        assert_eq!(found.feasible, 13_970_034);
    }

    #[test]
    fn too_many_rows_or_none_are_refused() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let posterior = Posterior::of(&parameters).unwrap();
        let fastest = |parameters: &dyn TimeModel, constraints: Constraints| {
            super::fastest(&posterior, parameters, &constraints, 1)
        };
        parameters.apus = u32::MAX;
        let error = fastest(&parameters, Constraints::NONE).unwrap_err().to_string();
        assert_eq!(
            error,
            "apus: found 4294967295, expected at most 100000000 values of m to search; see max_m"
        );
        assert!(fastest(&parameters, Constraints::NONE.max_m(1000)).is_ok());
        let refinements = Refinements { iterations: Some(8), ..Refinements::default() };
        parameters.refinements = Some(refinements);
        let refined = Refined::of(&parameters).unwrap();
        assert!(fastest(&refined, Constraints::NONE.max_m(10)).is_err());
    }
}

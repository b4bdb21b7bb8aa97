//! Nodes, threads and accelerators: equation 11 over three levels, ranked.

use std::collections::BTreeMap;

use super::constraints::Constraints;
use super::speedup;
use crate::belief::Posterior;
use crate::models::Parameters;
use crate::models::levels::{NodeLevel, OnNodes};
use crate::models::time_model::TimeModel;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// Every (n, m, p), best first.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRanking {
    /// Configurations in the order of their predicted times; ties by n, m, p.
    pub configurations: Vec<NodeConfiguration>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// A configuration of three levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeConfiguration {
    /// Place in the order of predicted time, from 1.
    pub rank: u32,
    /// Nodes.
    pub n: u32,
    /// Host threads on each of them, and APUs for each thread.
    pub mapping: Mapping,
    /// Predicted time.
    pub time: Seconds,
    /// Lower end of its 95 % interval, in which the model is off as such models were; what messages
    /// between nodes cost counts as exact.
    pub low: Seconds,
    /// Upper end of that interval.
    pub high: Seconds,
    /// Predicted time of (1, 1, 1) over that of this configuration.
    pub speedup: f64,
    /// Speed-up over the APUs in use, `n * m * p`.
    pub efficiency: f64,
}

/// The most configurations that are ranked.
const MOST: u64 = 2_500_000;

/// Predicts and ranks (n, m, p) for n from 1 to `nodes`; the constraints hold on every node, and a
/// condition on the number of nodes for each n.
///
/// # Errors
///
/// [`Error::NothingFeasible`] where the constraints leave nothing; [`Error::OutOfRange`] for no
/// nodes, for costs that are negative and for more than 2.5 million configurations.
pub fn rank_nodes(
    parameters: &Parameters,
    constraints: &Constraints,
    nodes: u32,
    level: NodeLevel,
) -> Result<NodeRanking> {
    // Of n nodes a condition may say something else than of one.
    let space = constraints.clone().condition(None).space(parameters.apus)?;
    check(nodes, space.count() as u64, level)?;
    let on = |nodes: u32| OnNodes { parameters, level, nodes };
    // How far a time may be off is that of the same configuration on one node.
    let mappings: Vec<Mapping> = space.configurations().collect();
    let marginals = Posterior::of_model(parameters.clone()).marginals(&mappings);
    let end = |(index, &mapping): (usize, &Mapping)| {
        let [low, high] = marginals.interval(index).map(|end| end.0 / marginals.time(index).0);
        let ends = (low, high);
        (mapping, if marginals.time(index).0 > 0.0 { ends } else { (1.0, 1.0) })
    };
    let ends: BTreeMap<Mapping, (f64, f64)> = mappings.iter().enumerate().map(end).collect();
    let sequential = on(1).time(Mapping::SEQUENTIAL);
    let mut configurations: Vec<NodeConfiguration> = (1..=nodes)
        .flat_map(|n| space.configurations().map(move |mapping| (n, mapping)))
        .filter(|&(n, mapping)| constraints.hold_on(n, mapping))
        .map(|(n, mapping)| {
            let model = on(n);
            let time = model.time(mapping);
            let (below, above) = ends[&mapping];
            let (low, high) = (time * below, time * above);
            let speedup = speedup(sequential, time);
            let apus = f64::from(n) * f64::from(mapping.m()) * f64::from(mapping.p());
            let efficiency = speedup / apus;
            NodeConfiguration { rank: 0, n, mapping, time, low, high, speedup, efficiency }
        })
        .collect();
    if configurations.is_empty() {
        // One node is one of them, and tells what is to blame.
        constraints.space(parameters.apus)?;
    }
    configurations.sort_by(|one, other| {
        let place = |c: &NodeConfiguration| (c.n, c.mapping);
        one.time.0.total_cmp(&other.time.0).then(place(one).cmp(&place(other)))
    });
    for (configuration, rank) in configurations.iter_mut().zip(1..) {
        configuration.rank = rank;
    }
    let warnings = on(1).warnings(1..=space.ms().last().unwrap_or(1));
    Ok(NodeRanking { configurations, warnings })
}

/// Refuses no nodes, too many of so many configurations each, and costs that are none.
fn check(nodes: u32, configurations: u64, level: NodeLevel) -> Result<()> {
    let error =
        |name, found: String, expected: &str| Err(Error::out_of_range(name, found, expected));
    if nodes == 0 || u64::from(nodes) * configurations > MOST {
        let most = MOST / configurations;
        return error("nodes", nodes.to_string(), &format!("from 1 to {most}"));
    }
    for (name, cost) in [("per_message", level.per_message), ("per_step", level.per_step)] {
        if !(cost.0 >= 0.0 && cost.0.is_finite()) {
            return error(name, cost.0.to_string(), "seconds, 0 or more");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Condition;
    use crate::models::published;

    #[test]
    fn a_condition_speaks_of_the_nodes_that_it_is_asked_of() {
        let parameters = published("pbpi-qs20").unwrap();
        let level = NodeLevel { per_message: Seconds(0.0), per_step: Seconds(0.0) };
        let ranked = |text: &str| {
            let condition = Condition::parse(text, &[]).expect("a good condition");
            rank_nodes(&parameters, &Constraints::NONE.condition(condition), 3, level)
        };
        let ranking = ranked("nodes * m * p > 16").unwrap();
        let all = rank_nodes(&parameters, &Constraints::NONE, 3, level).unwrap().configurations;
        let expected = all.iter().filter(|it| u64::from(it.n) * it.mapping.apus() > 16);
        assert!(
            ranking
                .configurations
                .iter()
                .map(|it| (it.n, it.mapping))
                .eq(expected.map(|it| (it.n, it.mapping)))
        );
        assert!(ranking.configurations.iter().all(|it| it.n > 1));
        let error = ranked("nodes * m > 100").unwrap_err().to_string();
        assert_eq!(error, "no (m, p) of 16 APUs meets where \"nodes * m > 100\"; relax it");
    }

    #[test]
    fn speed_up_is_over_one_apu_and_efficiency_for_each_of_all_nodes() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.3);
        let level = NodeLevel { per_message: Seconds(0.0), per_step: Seconds(0.5) };
        let ranking = rank_nodes(&parameters, &Constraints::NONE.max_m(4), 3, level).unwrap();
        let alone = parameters.time(Mapping::SEQUENTIAL).0;
        for it in ranking.configurations.iter().filter(|it| it.mapping == Mapping::of(2, 4)) {
            approx::assert_relative_eq!(it.speedup, alone / it.time.0, max_relative = 1e-12);
            let apus = f64::from(8 * it.n);
            approx::assert_relative_eq!(it.efficiency, it.speedup / apus, max_relative = 1e-12);
            let of_one = Posterior::of_model(parameters.clone()).marginals(&[it.mapping]);
            let above = of_one.quantile(0, 0.975).0 / of_one.time(0).0;
            approx::assert_relative_eq!(it.high.0 / it.time.0, above, max_relative = 1e-12);
            assert!(it.low.0 < it.time.0);
        }
    }

    #[test]
    fn nodes_are_as_many_as_can_be_ranked() {
        let level = NodeLevel { per_message: Seconds(0.0), per_step: Seconds(0.0) };
        let most = MOST as u32;
        check(most, 1, level).unwrap();
        check(most / 50, 50, level).unwrap();
        for nodes in [0, most / 50 + 1] {
            let error = check(nodes, 50, level).unwrap_err().to_string();
            assert_eq!(error, format!("nodes: found {nodes}, expected from 1 to 50000"));
        }
        let parameters = published("pbpi-qs20").unwrap();
        assert!(rank_nodes(&parameters, &Constraints::NONE, 0, level).is_err());
        // 50 configurations on each of two.
        let ranking = rank_nodes(&parameters, &Constraints::NONE, 2, level).unwrap();
        assert_eq!(ranking.configurations.len(), 100);
    }

    #[test]
    fn a_cost_that_is_negative_or_has_no_end_is_refused() {
        for cost in [-1.0, f64::INFINITY, f64::NAN] {
            let none = Seconds(0.0);
            let of_message = NodeLevel { per_message: Seconds(cost), per_step: none };
            let of_step = NodeLevel { per_message: none, per_step: Seconds(cost) };
            for (level, name) in [(of_message, "per_message"), (of_step, "per_step")] {
                let error = check(2, 1, level).unwrap_err().to_string();
                let expected = format!("{name}: found {cost}, expected seconds, 0 or more");
                assert_eq!(error, expected);
            }
        }
    }
}

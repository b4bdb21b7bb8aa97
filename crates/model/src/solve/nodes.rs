//! Nodes, threads and accelerators: equation 11 over three levels, ranked.

use super::constraints::Constraints;
use super::uncertainty::Uncertainty;
use super::{speedup, warnings};
use crate::model::Parameters;
use crate::model::levels::NodeLevel;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// Every (n, m, p), best first.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRanking {
    /// In the order of their predicted times; ties by n, m, p.
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
    /// Host threads on each of them.
    pub m: u32,
    /// APUs for each thread.
    pub p: u32,
    /// Predicted time.
    pub time: Seconds,
    /// Lower end of its 95 % interval; what messages between nodes cost counts as exact.
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

/// Predicts and ranks (n, m, p) for n from 1 to `nodes`; the constraints hold on every node.
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
    let error = |name, found: String, expected: &str| {
        Err(Error::OutOfRange { name, found, expected: expected.into() })
    };
    let space = constraints.space(parameters.apus)?;
    if nodes == 0 || u64::from(nodes) * space.count() as u64 > MOST {
        let most = MOST / space.count() as u64;
        return error("nodes", nodes.to_string(), &format!("from 1 to {most}"));
    }
    for (name, cost) in [("node-overhead", level.per_message), ("node-collective", level.per_step)]
    {
        if !(cost.0 >= 0.0 && cost.0.is_finite()) {
            return error(name, cost.0.to_string(), "seconds, 0 or more");
        }
    }
    let uncertainty = Uncertainty::of(parameters);
    let sequential = level.time(parameters, (1, 1, 1));
    let mut configurations: Vec<NodeConfiguration> = (1..=nodes)
        .flat_map(|n| space.configurations().map(move |(m, p)| (n, m, p)))
        .map(|(n, m, p)| {
            let time = level.time(parameters, (n, m, p));
            let slopes = uncertainty.of_gradient(m, level.gradient(parameters, (n, m, p)));
            let half_width = uncertainty.standard_error(&slopes).half_width();
            let speedup = speedup(sequential, time);
            NodeConfiguration {
                rank: 0,
                n,
                m,
                p,
                time,
                low: Seconds((time.0 - half_width).max(0.0)),
                high: Seconds(time.0 + half_width),
                speedup,
                efficiency: speedup / (f64::from(n) * f64::from(m) * f64::from(p)),
            }
        })
        .collect();
    configurations.sort_by(|one, other| {
        let place = |c: &NodeConfiguration| (c.n, c.m, c.p);
        one.time.0.total_cmp(&other.time.0).then(place(one).cmp(&place(other)))
    });
    for (configuration, rank) in configurations.iter_mut().zip(1..) {
        configuration.rank = rank;
    }
    let warnings = warnings(parameters, 1, space.ms().last().unwrap_or(1));
    Ok(NodeRanking { configurations, warnings })
}

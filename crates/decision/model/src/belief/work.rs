//! How terms depend on (m, p), as work is divided.

use crate::models::parameters::{Decomposition, OverM, Parameters, Terms};
use crate::models::terms::Term;
use mmgp_base::Mapping;

/// How the time of a term depends on (m, p).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Regressor {
    /// The same everywhere.
    One,
    /// m
    Threads,
    /// m - 1
    FurtherThreads,
    /// log2(m)
    Levels,
    /// What m is beyond so many.
    After(u32),
    /// What m is beyond 1, up to so many.
    UpTo(u32),
    /// alpha_m, as files know it.
    Slowed,
    /// O_COL, as files know it.
    Collective,
    /// p
    Apus,
    /// 1/m: work that processes share and threads do not.
    PerThread,
    /// 1/p
    PerApu,
    /// 1/(m p)
    Shared,
    /// m p: a cost of every unit.
    All,
    /// 1 where m is above 1: the price of a second process.
    SecondProcess,
    /// 1/min(m p, C): work that so many hardware threads share, however many more are asked for.
    SharedBy(u32),
    /// m p/C - 1 beyond so many hardware threads: what those that wait for one cost.
    Beyond(u32),
}

/// How work is divided, and what files know over m of terms whose size they do not.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// Division of work among the host's threads.
    pub decomposition: Decomposition,
    /// alpha, where files know it and not T_HPU.
    pub slowdown: Option<OverM>,
    /// O_COL, where files know it and not how many collectives there are.
    pub collective: Option<OverM>,
}

impl Work {
    /// Work of which files know nothing over m.
    pub fn of(decomposition: Decomposition) -> Self {
        Self { decomposition, slowdown: None, collective: None }
    }

    /// Work by parameters of which files do not know these terms.
    pub fn knowing(parameters: &Parameters, unknown: &[Term]) -> Self {
        let Terms { alpha, o_col_s, .. } = &parameters.terms;
        let known = |of: &OverM, term, size| {
            (unknown.contains(&size) && !unknown.contains(&term)).then(|| of.clone())
        };
        Self {
            decomposition: parameters.decomposition,
            slowdown: known(alpha, Term::Alpha, Term::HpuTime),
            collective: known(o_col_s, Term::CollectiveCost, Term::Collectives),
        }
    }

    /// The value of a regressor at a mapping, of a run whose slowest thread has a fraction of the totals.
    pub fn at(&self, regressor: Regressor, mapping: Mapping) -> f64 {
        let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
        let (fraction, pieces) = match self.decomposition {
            Decomposition::Data => (1.0, m * p),
            Decomposition::Task { tasks } => {
                let rounds = f64::from(tasks.div_ceil(mapping.m()));
                (rounds / f64::from(tasks), p)
            }
        };
        fraction
            * match regressor {
                Regressor::One => 1.0,
                Regressor::Threads => m,
                Regressor::FurtherThreads => m - 1.0,
                Regressor::Levels => m.log2(),
                Regressor::After(knot) => f64::from(mapping.m().saturating_sub(knot)),
                Regressor::UpTo(knot) => f64::from(mapping.m().min(knot) - 1),
                Regressor::Slowed if mapping.m() == 1 => 1.0,
                Regressor::Slowed => {
                    self.slowdown.as_ref().map_or(1.0, |it| it.at(mapping.m(), 1.0))
                }
                Regressor::Collective => {
                    self.collective.as_ref().map_or(0.0, |it| it.at(mapping.m(), 0.0))
                }
                Regressor::Apus => p,
                Regressor::PerThread => 1.0 / m,
                Regressor::PerApu => 1.0 / p,
                Regressor::Shared => 1.0 / pieces,
                Regressor::All => m * p,
                Regressor::SecondProcess => f64::from(u8::from(mapping.m() > 1)),
                Regressor::SharedBy(cores) => 1.0 / pieces.min(f64::from(cores)),
                Regressor::Beyond(cores) => (m * p / f64::from(cores) - 1.0).max(0.0),
            }
    }
}

/// What grows with m: one of these, or a sum.
pub(crate) type AlphaGrowth = &'static [Regressor];

/// How alpha may grow where runs alone tell, and how likely that is beforehand: assumed, so that the
/// errors of terms are within a fifth of the least possible where it is a line, and hold in 85 % and more
/// where it bends. With knots it rises ever faster, or ever slower.
pub(super) const GROWTHS: [(AlphaGrowth, f64); 5] = [
    (&[Regressor::FurtherThreads], 0.7),
    (&[Regressor::Levels], 0.12),
    (&[Regressor::SecondProcess], 0.08),
    (FASTER, 0.05),
    (SLOWER, 0.05),
];

/// Any growth that rises ever faster, between these knots along lines.
pub(crate) const FASTER: AlphaGrowth = &[
    Regressor::FurtherThreads,
    Regressor::After(2),
    Regressor::After(4),
    Regressor::After(8),
    Regressor::After(16),
];

/// Any growth that rises ever slower.
pub(crate) const SLOWER: AlphaGrowth = &[
    Regressor::FurtherThreads,
    Regressor::UpTo(2),
    Regressor::UpTo(4),
    Regressor::UpTo(8),
    Regressor::UpTo(16),
];

/// Whether a regressor is part of a growth.
pub(crate) fn grows(regressor: Regressor) -> bool {
    GROWTHS.iter().any(|(growth, _)| growth.contains(&regressor))
}

/// The same terms, of which what grows with m grows so: it comes last.
pub(super) fn growing(regressors: &[Regressor], growth: AlphaGrowth) -> Vec<Regressor> {
    let grows = |regressor: &&Regressor| **regressor == Regressor::FurtherThreads;
    let others = regressors.iter().filter(|it| !grows(it)).copied();
    let growing = regressors.iter().find(grows).map_or(&[][..], |_| growth);
    others.chain(growing.iter().copied()).collect()
}

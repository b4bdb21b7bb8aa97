//! How terms depend on (m, p), as work is divided.

use crate::models::parameters::{Decomposition, OverM, Parameters, Terms};
use crate::models::terms::Term;
use mmgp_base::Mapping;

/// How the time of a term depends on (m, p).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
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
    /// Among the host's threads.
    pub decomposition: Decomposition,
    /// alpha, where files know it and not T_HPU.
    pub slowdown: Option<OverM>,
    /// O_COL, where files know it and not how many collectives there are.
    pub collective: Option<OverM>,
}

impl Work {
    /// Of which files know nothing over m.
    pub fn of(decomposition: Decomposition) -> Self {
        Self { decomposition, slowdown: None, collective: None }
    }

    /// Of parameters, of which files do not know these terms.
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

    /// The value of a shape at a mapping, of a run whose slowest thread has a fraction of the totals.
    pub fn at(&self, shape: Shape, mapping: Mapping) -> f64 {
        let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
        let (fraction, pieces) = match self.decomposition {
            Decomposition::Data => (1.0, m * p),
            Decomposition::Task { tasks } => {
                let rounds = f64::from(tasks.div_ceil(mapping.m()));
                (rounds / f64::from(tasks), p)
            }
        };
        fraction
            * match shape {
                Shape::One => 1.0,
                Shape::Threads => m,
                Shape::FurtherThreads => m - 1.0,
                Shape::Levels => m.log2(),
                Shape::After(knot) => f64::from(mapping.m().saturating_sub(knot)),
                Shape::UpTo(knot) => f64::from(mapping.m().min(knot) - 1),
                Shape::Slowed if mapping.m() == 1 => 1.0,
                Shape::Slowed => self.slowdown.as_ref().map_or(1.0, |it| it.at(mapping.m(), 1.0)),
                Shape::Collective => {
                    self.collective.as_ref().map_or(0.0, |it| it.at(mapping.m(), 0.0))
                }
                Shape::Apus => p,
                Shape::PerThread => 1.0 / m,
                Shape::PerApu => 1.0 / p,
                Shape::Shared => 1.0 / pieces,
                Shape::All => m * p,
                Shape::SecondProcess => f64::from(u8::from(mapping.m() > 1)),
                Shape::SharedBy(cores) => 1.0 / pieces.min(f64::from(cores)),
                Shape::Beyond(cores) => (m * p / f64::from(cores) - 1.0).max(0.0),
            }
    }
}

/// What grows with m: one of these, or a sum.
pub(crate) type Growth = &'static [Shape];

/// How alpha may grow where runs alone tell, and how likely that is beforehand: assumed, so that the
/// errors of terms are within a fifth of the least possible where it is a line, and hold in 85 % and more
/// where it bends. With knots it rises ever faster, or ever slower.
pub(super) const GROWTHS: [(Growth, f64); 5] = [
    (&[Shape::FurtherThreads], 0.7),
    (&[Shape::Levels], 0.12),
    (&[Shape::SecondProcess], 0.08),
    (FASTER, 0.05),
    (SLOWER, 0.05),
];

/// Any growth that rises ever faster, between these knots along lines.
pub(crate) const FASTER: Growth =
    &[Shape::FurtherThreads, Shape::After(2), Shape::After(4), Shape::After(8), Shape::After(16)];

/// Any growth that rises ever slower.
pub(crate) const SLOWER: Growth =
    &[Shape::FurtherThreads, Shape::UpTo(2), Shape::UpTo(4), Shape::UpTo(8), Shape::UpTo(16)];

/// Whether a shape is part of a growth.
pub(crate) fn grows(shape: Shape) -> bool {
    GROWTHS.iter().any(|(growth, _)| growth.contains(&shape))
}

/// The same terms, of which what grows with m grows so: it comes last.
pub(super) fn growing(shapes: &[Shape], growth: Growth) -> Vec<Shape> {
    let grows = |shape: &&Shape| **shape == Shape::FurtherThreads;
    let others = shapes.iter().filter(|it| !grows(it)).copied();
    let growing = shapes.iter().find(grows).map_or(&[][..], |_| growth);
    others.chain(growing.iter().copied()).collect()
}

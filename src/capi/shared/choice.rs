//! The (m, p) that predictions choose within limits.

use super::{Bits, Model};
use crate::belief::Tie;
use crate::capi::misfit::Correction;
use crate::models::observations::Range;
use crate::models::run::Row;
use crate::units::Seconds;

/// `mmgp_limits`: 0 where there is none.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// The most APUs in all.
    pub apus: u32,
    /// The most host threads.
    pub max_m: u32,
    /// The most APUs for each.
    pub max_p: u32,
}

/// `mmgp_choice`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Predicted time \[s\].
    pub time_s: f64,
}

/// What a choice is among: a range, which ends where the APUs and the threads do.
struct Scope {
    range: Range,
    apus: u32,
    /// All there is of it, or what is in question.
    all: bool,
}

/// Configurations of one m.
enum Part<'a> {
    /// A p, with what runs tell.
    Told(u32, &'a Correction),
    /// The p from the first to the last, of which they tell nothing.
    Untold(u32, u32),
}

impl Model {
    /// What predictions choose within the limits: the least time with their caution and, of what is
    /// [tied](Tie) with it, the fewest APUs, then the fewest m. Without limits it is one of what is in
    /// question; where a limit does not say how far to go, the range of the runs does, if anything within
    /// it is left.
    pub fn best(&self, limits: Limits) -> Choice {
        let or = |limit: u32, usual: u32| if limit == 0 { usual } else { limit };
        let apus = or(limits.apus, self.apus).min(self.apus);
        let all = Range { m: (1, or(limits.max_m, u32::MAX)), p: (1, or(limits.max_p, u32::MAX)) };
        self.published.read(|copy| {
            let asked = |limit: u32, (first, last): (u32, u32)| (first, or(limit, last));
            let is_limited = limits.max_m != 0 || limits.max_p != 0;
            let found = self.misfit.range().and_then(|known| {
                let (m, p) = (asked(limits.max_m, known.m), asked(limits.max_p, known.p));
                self.least(copy, &Scope { range: Range { m, p }, apus, all: is_limited })
            });
            let found = found.or_else(|| self.least(copy, &Scope { range: all, apus, all: true }));
            found.unwrap_or(Choice { m: 1, p: 1, time_s: f64::INFINITY })
        })
    }

    /// The choice of what is asked about.
    fn least(&self, copy: &Bits, question: &Scope) -> Option<Choice> {
        let untold = Correction::untold(self.untold, true);
        let (mut first, mut least): (Option<Choice>, f64) = (None, f64::INFINITY);
        self.look(copy, question, |m, row, part| {
            let (p, known) = match part {
                Part::Told(p, known) => (p, known),
                Part::Untold(first_p, last_p) => (optimum(row, first_p, last_p), &untold),
            };
            let of_equation_11 = row.at(p).0;
            let cautious = of_equation_11 * known.cautious;
            if cautious < least {
                least = cautious;
                first = Some(Choice { m, p, time_s: of_equation_11 * known.factor });
            }
        });
        let first = first?;
        let tie = Tie::with(Seconds(first.time_s), least.ln());
        let cores = |it: &Choice| (u64::from(it.m) * u64::from(it.p), it.m);
        let mut best = first;
        self.look(copy, question, |m, row, part| {
            let time = |p: u32, known: &Correction| Seconds(row.at(p).0 * known.factor);
            let caution = |p: u32, known: &Correction| (row.at(p).0 * known.cautious).ln();
            let (p, known) = match part {
                Part::Told(p, known) => (p, known),
                Part::Untold(first_p, last_p) => {
                    let is_reached = |p| tie.is_reached(time(p, &untold), caution(p, &untold));
                    let optimum = optimum(row, first_p, last_p);
                    if !is_reached(optimum) {
                        return;
                    }
                    (fewest(first_p, optimum, is_reached), &untold)
                }
            };
            let own = Choice { m, p, time_s: time(p, known).0 };
            if cores(&own) < cores(&best) && tie.holds(Seconds(own.time_s), caution(p, known)) {
                best = own;
            }
        });
        Some(best)
    }

    /// Shows everything that is asked about, by m, then p.
    fn look(&self, copy: &Bits, question: &Scope, mut show: impl FnMut(u32, &Row, Part<'_>)) {
        let Scope { range, apus, all } = *question;
        for m in range.m.0..=range.m.1.min(apus).min(self.lines.len() as u32) {
            let (row, last_p) = (copy.row(m), range.p.1.min(apus / m));
            // Within what is known there is nothing but the table: equation 11 is for what is below
            // and beyond.
            let known = self.misfit.range().filter(|it| (it.m.0..=it.m.1).contains(&m));
            let (below, beyond) = known.map_or((0, 1), |it| (it.p.0 - 1, it.p.1.saturating_add(1)));
            if range.p.0 <= below.min(last_p) {
                show(m, &row, Part::Untold(range.p.0, below.min(last_p)));
            }
            for (p, known) in self.misfit.row(m).take_while(|&(p, _)| p <= last_p) {
                if all || known.in_question {
                    show(m, &row, Part::Told(p, known));
                }
            }
            if range.p.0.max(beyond) <= last_p {
                show(m, &row, Part::Untold(range.p.0.max(beyond), last_p));
            }
        }
    }
}

/// The first p up to the optimum of a row, before which its times fall, at which something is reached that is
/// at the optimum.
fn fewest(first_p: u32, optimum: u32, is_reached: impl Fn(u32) -> bool) -> u32 {
    let (mut from, mut to) = (first_p, optimum);
    while from < to {
        let middle = from.midpoint(to);
        if is_reached(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    to
}

/// The p from `first_p` to `last_p` with the least time, which is convex in p; of two equal ones, the
/// smaller.
fn optimum(row: &Row, first_p: u32, last_p: u32) -> u32 {
    // Not a number where both are 0: then every p is as good, and the cast gives 0.
    let continuous = (row.shared / row.growing).sqrt();
    let below = (continuous as u32).clamp(first_p, last_p);
    let above = below.saturating_add(1).min(last_p);
    if row.at(above).0 < row.at(below).0 { above } else { below }
}

//! What traced runs say, beside the sizes that they give.

use super::{PARTS, TracedRuns};
use crate::models::parameters::Estimate;
use crate::models::traced::{Shape, TracedTerms};
use mmgp_base::Mapping;

/// What traced runs say, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedReport {
    /// The configurations that were traced, increasing.
    pub mappings: Vec<Mapping>,
    /// The parts of the time of a rank.
    pub parts: Vec<TracedPart>,
    /// The regions that count where most threads were traced, the longest first.
    pub regions: Vec<TracedRegion>,
}

/// A part of the time of a rank in traced runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedPart {
    /// What it is, in words.
    pub what: &'static str,
    /// What it took at each configuration \[s\].
    pub times: Vec<f64>,
    /// How it goes on over (m, p): `0.0054 + 0.0003/m`.
    pub formula: String,
}

/// A region of the configuration where most threads were traced.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedRegion {
    /// Its name.
    pub name: String,
    /// Its share of the time of a rank there.
    pub share: f64,
    /// The threads beyond which what they cannot share takes longer than what they can; where that was seen.
    pub limit: Option<u32>,
}

/// Regions that take less of the time are not worth a line.
const WORTH_A_LINE: f64 = 0.1;

impl TracedRuns {
    /// What there is to say of the runs, and of the terms that were made of them.
    pub fn report(&self, terms: &TracedTerms) -> TracedReport {
        let mappings: Vec<Mapping> = self.seen.keys().copied().collect();
        let part = |&(part, what): &(&str, &'static str)| {
            let sizes = terms.sizes().filter(|(shape, _)| shape.part == part);
            let size =
                |(shape, size): (&Shape, &Estimate)| format!("{:.3e}{}", size.value, shape.text);
            let formula: Vec<String> = sizes.map(size).collect();
            let times = self.seen.iter().map(|(&at, seen)| seen.part(at, part)).collect();
            TracedPart { what, times, formula: formula.join(" + ") }
        };
        let parts = PARTS.iter().map(part).filter(|it| it.times.iter().any(|time| *time > 0.0));
        TracedReport { parts: parts.collect(), regions: self.regions(), mappings }
    }

    fn regions(&self) -> Vec<TracedRegion> {
        let Some((&at, seen)) = self.seen.iter().max_by_key(|(at, _)| (at.p(), at.m())) else {
            return Vec::new();
        };
        let of = |phase: &str, term: &str| {
            let key = (phase.to_string(), term.to_string());
            seen.of_phases.get(&key).copied().unwrap_or(0.0)
        };
        let whole = of("", "time");
        let phases =
            seen.of_phases.keys().filter(|(name, term)| term == "t_apu" && !name.is_empty());
        let region = |(name, _): &(String, String)| {
            let (work, uneven) = (of(name, "t_apu"), of(name, "c_apu"));
            let time = work / f64::from(at.p()) + uneven + of(name, "gap");
            let limit = (work / uneven.max(f64::MIN_POSITIVE)).floor();
            let is_seen =
                at.p() > 1 && uneven > WORTH_A_LINE * time && limit < f64::from(16 * at.p());
            TracedRegion {
                name: name.clone(),
                share: time / whole,
                limit: is_seen.then_some(limit as u32),
            }
        };
        let mut regions: Vec<TracedRegion> =
            phases.map(region).filter(|region| region.share > WORTH_A_LINE).collect();
        regions.sort_by(|one, other| other.share.total_cmp(&one.share));
        regions
    }
}

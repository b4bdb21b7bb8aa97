//! What to run once the first runs are done.
//!
//! A run is worth what it lowers the expected cost of the choice by, for each second that it takes.
//! Where no run is worth much any more, what is left is the doubt whether the choice is good enough:
//! then the rival that most likely is better than is good enough runs, or the choice, where that ran
//! less often.

use mmgp_base::Mapping;
use mmgp_base::units::Seconds;
use mmgp_model::decide::Outlook;

use crate::failures::Failures;
use crate::known::Known;

/// A run that lowers the expected cost by less than this part of the regret that is good enough is
/// not worth much.
const WORTHWHILE: f64 = 0.05;

/// A run to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Proposal {
    /// Of which configuration.
    pub mapping: Mapping,
    /// What it is expected to take.
    pub time: Seconds,
    /// By how much it lowers the expected cost of the choice, relative to that.
    pub gain: f64,
    /// What decides: larger is more useful.
    score: f64,
}

/// Runs, the most useful first; `choice` is the place of the choice.
pub(crate) fn further(
    outlook: &Outlook,
    choice: usize,
    known: &Known,
    regret: f64,
) -> Vec<Proposal> {
    let all = outlook.mappings();
    let is_slower = |place: usize| {
        let bound = known.of_mapping(all[place]).and_then(|record| record.longer_than);
        bound.is_some_and(|bound| {
            !known.ran(all[place]) && outlook.is_no_better(place, bound, choice)
        })
    };
    let places: Vec<usize> = (0..all.len()).filter(|&it| !is_slower(it)).collect();
    let failures = Failures::of(known);
    let chances: Vec<f64> = all.iter().map(|&mapping| failures.chance(mapping)).collect();
    let propose = |place: usize, gain: f64, score: f64| {
        let (mapping, time) = (all[place], outlook.time(place));
        Proposal { mapping, time, gain, score: score * chances[place] }
    };
    let gains: Vec<f64> = places.iter().map(|&place| outlook.gain(place)).collect();
    let most = places.iter().zip(&gains).map(|(&place, gain)| chances[place] * gain);
    let by_gain = most.fold(0.0, f64::max) >= WORTHWHILE * regret;
    let scored = |(&place, &gain): (&usize, &f64)| {
        if by_gain {
            return propose(place, gain, gain / outlook.time(place).0);
        }
        if place == choice {
            return propose(place, gain, 0.0);
        }
        let doubt = outlook.slower(choice, place, regret);
        let runs_more = outlook.repetitions(place) > outlook.repetitions(choice);
        propose(if runs_more { choice } else { place }, gain, doubt)
    };
    let mut proposals: Vec<Proposal> = places.iter().zip(&gains).map(scored).collect();
    proposals.retain(|proposal| proposal.score > 0.0);
    proposals.sort_by(|one, other| other.score.total_cmp(&one.score));
    let mut once: Vec<Proposal> = Vec::new();
    for proposal in proposals {
        if once.iter().all(|it| it.mapping != proposal.mapping) {
            once.push(proposal);
        }
    }
    once
}

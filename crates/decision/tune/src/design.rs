//! What to run: first the corners of what may be chosen, over (log m, log p), then what is worth most.
//!
//! A further run is worth what it lowers the expected cost of the choice by, for each second that it takes.
//! Where no run is worth much any more, what is left is the doubt whether the choice is good enough:
//! then the rival that most likely is better than is good enough runs, or the choice, where that ran
//! less often.

use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Site};
use mmgp_model::decide::Outlook;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::history::{Failures, History};
use crate::search::Search;

/// Number of configurations that are run before any model is asked, where there are as many.
const FIRST: usize = 4;

/// Number of these that are to have a time.
const FEWEST_TIMES: usize = 2;

/// The place of a configuration in (log m, log p).
type Place = [f64; 2];

/// The place of a configuration.
fn place(mapping: Mapping) -> Place {
    [f64::from(mapping.m()).ln(), f64::from(mapping.p()).ln()]
}

/// The squared distance of two configurations; other values of further factors are as far as a number of
/// processes four times as large.
pub(crate) fn apart(one: Site, other: Site) -> f64 {
    let of_levels = if one.level == other.level { 0.0 } else { OF_LEVELS };
    distance(place(one.mapping), place(other.mapping)) + of_levels
}

/// The squared distance of two levels: assumed.
const OF_LEVELS: f64 = 1.92;

/// The squared distance of two places.
fn distance(one: Place, other: Place) -> f64 {
    (one[0] - other[0]).powi(2) + (one[1] - other[1]).powi(2)
}

/// What is still to be run of the first runs, in the order in which it is to be run: where the machine is
/// known, what asks for about as many hardware threads as it has comes first, and it alone: what asks for more is run
/// where it is worth it. Of further factors the first values run, which tell what m and p do; others come
/// where they are worth it.
///
/// What failed is not replaced by its neighbour, which is likely to fail too, but by what lies
/// farthest from all that was tried. What was stopped tells something as well.
pub(crate) fn remaining(search: &Search, history: &History) -> Vec<Site> {
    let Search { space, processors, baseline, .. } = search;
    let count = |tells: &dyn Fn(Site) -> bool| space.iter().filter(|it| tells(**it)).count();
    let timed = count(&|site| history.ran(site));
    let told = count(&|site| history.was_tried(site) && !history.is_out(site));
    let level = space.iter().map(|it| it.level).min().unwrap_or(0);
    let mut planned = planned(search, level);
    planned.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(search.seed));
    if let Some(processors) = *processors {
        let apart = |it: &Site| (it.apus() as f64 / f64::from(processors)).ln().abs();
        planned.sort_by(|one, other| apart(one).total_cmp(&apart(other)));
    }
    planned.extend(baseline.filter(|it| !planned.contains(it) && space.contains(it)));
    let failures = Failures::of(history);
    let may_run = |site: &Site| !history.was_tried(*site) && !failures.reach(*site);
    let mut open: Vec<Site> = planned.iter().copied().filter(may_run).collect();
    let left: Vec<Site> = space.iter().copied().filter(may_run).collect();
    // Those that were tried hold what is planned apart from them.
    planned.extend(history.all().map(|(site, _)| site));
    while (told + open.len() < FIRST || timed + open.len() < FEWEST_TIMES)
        && let Some(next) = farthest(&left, &planned)
    {
        planned.push(next);
        open.push(next);
    }
    open
}

/// What was not tried of what tells how m and p go together at a level: before something there is chosen that runs,
/// for a level may do to m or p what no other tells.
pub(crate) fn untold(search: &Search, history: &History, level: u32) -> Option<Site> {
    let failures = Failures::of(history);
    let is_open = |site: &Site| !history.was_tried(*site) && !failures.reach(*site);
    planned(search, level).into_iter().find(is_open)
}

/// The first runs of a level where nothing fails.
fn planned(search: &Search, level: u32) -> Vec<Site> {
    let Search { space, processors, .. } = search;
    let of_level = space.iter().filter(|it| it.level == level).map(|it| it.mapping);
    let of_level: Vec<Mapping> = of_level.collect();
    let fits = |it: &Mapping| processors.is_none_or(|most| it.apus() <= u64::from(most));
    let fitting: Vec<Mapping> = of_level.iter().copied().filter(fits).collect();
    let first = first(if fitting.len() >= FIRST { &fitting } else { &of_level });
    first.into_iter().map(|mapping| Site::new(mapping, level)).collect()
}

/// The first runs where nothing fails, each once: of what may be chosen the smallest, that of the
/// largest m, that of the largest p, and of those with the largest m p the most balanced: the fourth
/// corner of a grid, the middle of the long side of a triangle.
///
/// A fifth in the middle of all would be one before which no model is asked, and on programs that
/// others measured the models ask for a better one.
fn first(space: &[Mapping]) -> Vec<Mapping> {
    let places: Vec<Place> = space.iter().map(|&mapping| place(mapping)).collect();
    if space.len() <= FIRST {
        return space.to_vec();
    }
    let end = |axis: usize, pick: fn(f64, f64) -> f64| {
        places.iter().map(|place| place[axis]).reduce(pick).unwrap_or(0.0)
    };
    let (low, high) =
        ([0, 1].map(|axis| end(axis, f64::min)), [0, 1].map(|axis| end(axis, f64::max)));
    let mean = [0, 1]
        .map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / places.len() as f64);
    let largest = space.iter().map(|mapping| mapping.apus()).max().unwrap_or(1);
    let mut planned: Vec<Mapping> = Vec::new();
    for wanted in [low, [high[0], low[1]], [low[0], high[1]]] {
        planned.extend(nearest(space, wanted, |it| !planned.contains(&it)));
    }
    let is_largest = |it: Mapping| it.apus() == largest;
    planned.extend(nearest(space, mean, |it| is_largest(it) && !planned.contains(&it)));
    off_one_line(&mut planned, space);
    planned
}

/// The configuration nearest to a place of those that may be taken; of equal ones the first.
fn nearest(space: &[Mapping], wanted: Place, may: impl Fn(Mapping) -> bool) -> Option<Mapping> {
    let left = space.iter().copied().filter(|&mapping| may(mapping));
    left.min_by(|&one, &other| {
        distance(place(one), wanted).total_cmp(&distance(place(other), wanted))
    })
}

/// Moves planned runs off one line: where all lie on it and there is more, the last gives way to what lies
/// farthest from it.
fn off_one_line(planned: &mut [Mapping], space: &[Mapping]) {
    let origin = place(planned[0]);
    let Some(&other) = planned.iter().max_by(|one, other| {
        distance(place(**one), origin).total_cmp(&distance(place(**other), origin))
    }) else {
        return;
    };
    let along = place(other);
    let beside = |mapping: Mapping| {
        let it = place(mapping);
        ((along[0] - origin[0]) * (it[1] - origin[1])
            - (along[1] - origin[1]) * (it[0] - origin[0]))
            .abs()
    };
    if planned.iter().any(|&mapping| beside(mapping) > ON_A_LINE) {
        return;
    }
    let farthest = space.iter().copied().max_by(|&a, &b| beside(a).total_cmp(&beside(b)));
    let Some(farthest) = farthest.filter(|&it| beside(it) > ON_A_LINE) else { return };
    let last = planned.iter().rposition(|&it| it != planned[0] && it != other);
    if let Some(last) = last {
        planned[last] = farthest;
    }
}

/// What is left of an area by rounding.
const ON_A_LINE: f64 = 1e-9;

/// The one whose nearest of `taken` is the farthest, of equal ones the first; none where all are taken.
fn farthest(space: &[Site], taken: &[Site]) -> Option<Site> {
    let nearest = |site: Site| {
        let distances = taken.iter().map(|&it| apart(it, site));
        distances.fold(f64::INFINITY, f64::min)
    };
    let left = space.iter().copied().filter(|it| !taken.contains(it));
    let measured = left.map(|site| (site, nearest(site)));
    measured.reduce(|one, other| if other.1 > one.1 { other } else { one }).map(|it| it.0)
}

/// A run that lowers the expected cost by less than this part of the regret that is good enough is
/// not worth much.
const WORTHWHILE: f64 = 0.02;

/// A run to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Proposal {
    /// The configuration.
    pub site: Site,
    /// What it is expected to take.
    pub time: Seconds,
    /// The part by which it lowers the expected cost of the choice, relative to that.
    pub gain: f64,
    /// What decides: larger is more useful.
    score: f64,
}

/// Runs, the most useful first; `choice` is the place of the choice.
pub(crate) fn further(
    outlook: &Outlook,
    choice: usize,
    history: &History,
    regret: f64,
) -> Vec<Proposal> {
    let all = outlook.sites();
    let is_slower = |place: usize| {
        let bound = history.of_site(all[place]).and_then(|record| record.longer_than);
        bound.is_some_and(|bound| {
            !history.ran(all[place]) && outlook.is_no_better(place, bound, choice)
        })
    };
    let places: Vec<usize> = (0..all.len()).filter(|&it| !is_slower(it)).collect();
    let failures = Failures::of(history);
    let chances: Vec<f64> = all.iter().map(|&site| failures.chance(site)).collect();
    let propose = |place: usize, gain: f64, score: f64| {
        let (site, time) = (all[place], outlook.time(place));
        Proposal { site, time, gain, score: score * chances[place] }
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
        if once.iter().all(|it| it.site != proposal.site) {
            once.push(proposal);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use mmgp_model::belief::Prior;
    use mmgp_model::models::parameters::Decomposition;

    use super::*;
    use crate::goal::Goal;

    fn triangle(cores: u32) -> Vec<Mapping> {
        mmgp_model::decide::feasible(cores).collect()
    }

    fn search(space: Vec<Mapping>, processors: Option<u32>, seed: u64) -> Search {
        Search {
            space: space.into_iter().map(Site::from).collect(),
            prior: Prior::of_runs(Decomposition::Data),
            objective: Default::default(),
            goal: Goal::Expected(0.05),
            processors,
            baseline: None,
            most_runs: None,
            seed,
        }
    }

    #[test]
    fn what_asks_for_as_many_threads_as_there_are_comes_first_and_nothing_that_asks_for_more() {
        let grid =
            || [1, 2, 4, 8].into_iter().flat_map(|m| [1, 2, 4, 8].map(|p| Mapping::of(m, p)));
        for seed in 0..5 {
            let first = remaining(&search(grid().collect(), Some(8), seed), &History::default());
            let cores: Vec<u64> = first.iter().map(|it| it.apus()).collect();
            assert_eq!(cores, [8, 8, 8, 1], "{first:?}");
        }
        // Nothing is known of the machine, or nearly all asks for more.
        let unknown = remaining(&search(grid().collect(), None, 1), &History::default());
        assert!(unknown.contains(&Mapping::of(8, 8).into()));
        let small = remaining(&search(grid().collect(), Some(1), 1), &History::default());
        assert_eq!((small.len(), small[0]), (FIRST, Mapping::of(1, 1).into()));
    }

    #[test]
    fn a_baseline_runs_among_the_first_and_once() {
        let baseline = Some(Mapping::of(3, 2).into());
        let search = Search { baseline, ..search(triangle(16), Some(16), 1) };
        let first = remaining(&search, &History::default());
        assert_eq!(first.iter().filter(|it| Some(**it) == baseline).count(), 1);
        let at_corner = Search { baseline: Some(Mapping::of(16, 1).into()), ..search };
        assert_eq!(remaining(&at_corner, &History::default()).len(), FIRST);
    }

    fn sorted(mut mappings: Vec<Mapping>) -> Vec<(u32, u32)> {
        mappings.sort_unstable();
        mappings.into_iter().map(|it| (it.m(), it.p())).collect()
    }

    #[test]
    fn corners_of_triangles_and_grids_come_first() {
        assert_eq!(sorted(first(&triangle(16))), [(1, 1), (1, 16), (4, 4), (16, 1)]);
        let grid: Vec<Mapping> = [1, 2, 4, 8, 16]
            .into_iter()
            .flat_map(|m| [1, 2, 4].map(|p| Mapping::of(m, p)))
            .collect();
        assert_eq!(sorted(first(&grid)), [(1, 1), (1, 4), (16, 1), (16, 4)]);
    }

    #[test]
    fn first_runs_never_lie_on_one_line_where_there_is_more() {
        let mut line: Vec<Mapping> = (0..6).map(|k| Mapping::of(1 << k, 32 >> k)).collect();
        let is_flat = |space: &[Mapping]| {
            let of = first(space);
            assert_eq!(of.len(), FIRST);
            of.iter().all(|it| it.apus() == 32)
        };
        assert!(is_flat(&line));
        line.push(Mapping::of(3, 2));
        assert!(!is_flat(&line));
    }

    #[test]
    fn what_failed_is_replaced_by_what_lies_far_from_it() {
        use crate::search::{Finding, Trial};
        let search = |seed| search(triangle(16), None, seed);
        let tried = |(m, p), found| Trial { site: Mapping::of(m, p).into(), found };
        let failed = [tried((16, 1), Finding::Failed), tried((4, 4), Finding::Failed)];
        let left = remaining(&search(1), &History::of(&failed));
        assert_eq!(left.len(), FIRST);
        assert!(left.iter().all(|it| {
            ![(16, 1), (4, 4), (15, 1), (14, 1)].contains(&(it.mapping.m(), it.mapping.p()))
        }));
        assert!(remaining(&search(2), &History::of(&failed)) != left, "no order by chance");
    }
}

//! The k best configurations of a grid too large to rank: exactly, by enumeration or by the
//! structure of equation 11.
//!
//! Both ways agree to the last bit because both order configurations by the same number, the
//! time that [`Row::at`] computes, and break ties by m, then p. Whatever else they compute only
//! decides what need not be looked at, with a margin for rounding.
//! Enumeration is what the search by structure is held to, and how fast equation 11 can be evaluated at all.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::{Range, RangeInclusive};

use super::constraints::{Choices, Space};
use crate::models::Parameters;
use crate::models::run::Row;
use crate::models::time_model::TimeModel;
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// Grid of the (m, p) with `m <= m_max`, `p <= p_max` and `m * p <= apus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// The most host threads.
    pub m_max: u32,
    /// The most APUs for each of them.
    pub p_max: u32,
    /// APUs available.
    pub apus: u32,
}

impl Grid {
    /// Everything that so many APUs can hold.
    pub fn of_apus(apus: u32) -> Self {
        Self { m_max: apus, p_max: apus, apus }
    }

    /// The largest feasible m.
    pub fn last_m(&self) -> u32 {
        if self.p_max == 0 { 0 } else { self.m_max.min(self.apus) }
    }

    /// The largest feasible p at `m`, which is at least 1.
    pub fn last_p(&self, m: u32) -> u32 {
        self.p_max.min(self.apus / m)
    }

    /// How many configurations the grid holds.
    pub fn configurations(&self) -> u64 {
        (1..=self.last_m()).map(|m| u64::from(self.last_p(m))).sum()
    }
}

/// A configuration and its predicted time; ordered by time, then m, then p.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Predicted time.
    pub time: Seconds,
    /// Mapping of the candidate.
    pub mapping: Mapping,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.0.total_cmp(&other.time.0).then(self.mapping.cmp(&other.mapping))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The `count` best of `grid`, best first, from the optimum of each row.
///
/// At a fixed m the time is convex in p with its minimum at `sqrt(shared / growing)`, so what is
/// near the best of a row is next to its optimum: from there the search goes both ways for as
/// long as a configuration may belong to the best. It looks at `m_max` rows and, in each, at no
/// more than about `count` values of p each way, save where neighbours differ by no more than
/// rounding; the memory used depends on `count` alone.
pub fn by_structure(parameters: &Parameters, grid: Grid, count: usize) -> Vec<Candidate> {
    let mut best = Best::new(count);
    for m in 1..=grid.last_m() {
        best.offer_near_optimum(m, &parameters.row(m), Choices::up_to_last(grid.last_p(m)));
    }
    best.into_sorted()
}

/// Finds the same as [`by_structure`] by any model, of what constraints leave: a convex function is convex
/// on the divisors of a number, too. Where the model has no row for an m, all of its p are looked at.
pub fn within(model: &dyn TimeModel, space: &Space, count: usize) -> Vec<Candidate> {
    let mut best = Best::new(count);
    for m in space.ms() {
        let choices = space.choices(m);
        match model.row(m) {
            Some(row) => best.offer_near_optimum(m, &row, choices),
            None => {
                for mapping in choices.iter().map(|p| Mapping::of(m, p)) {
                    best.offer(Candidate { time: model.time(mapping), mapping });
                }
            }
        }
    }
    best.into_sorted()
}

fn indices_to_ps(
    indices: Range<u32>,
    choices: Choices<'_>,
) -> impl DoubleEndedIterator<Item = u32> + '_ {
    indices.map(move |index| choices.at(index))
}

/// The index of the p with the least time; of two equal neighbours, of the smaller. There is at
/// least one p to choose.
pub(super) fn optimum(row: &Row, choices: Choices<'_>) -> u32 {
    if row.shared == 0.0 {
        return 0;
    }
    // Not a number only for 0/0, which the line above has answered; infinite for growing = 0.
    let continuous = (row.shared / row.growing).sqrt();
    let last = choices.count - 1;
    if continuous >= f64::from(choices.at(last)) {
        return last;
    }
    let below = choices.up_to(continuous as u32).saturating_sub(1);
    let above = (below + 1).min(last);
    if row.at(choices.at(above)).0 < row.at(choices.at(below)).0 { above } else { below }
}

/// Room for rounding where two ways to compute a time are compared: each is a handful of
/// operations on values that are not negative, so they agree within a few units of 1.1e-16.
const ROUNDING: f64 = 1e-14;

/// The best so far.
struct Best {
    count: usize,
    /// The worst of them on top.
    heap: BinaryHeap<Candidate>,
}

impl Best {
    fn new(count: usize) -> Self {
        Self { count, heap: BinaryHeap::new() }
    }

    /// No configuration whose time exceeds this, however it was computed, is among the best.
    fn bound(&self) -> f64 {
        if self.heap.len() < self.count {
            return f64::INFINITY;
        }
        let worst = self.heap.peek().map_or(f64::NEG_INFINITY, |worst| worst.time.0);
        // The last term is for times so small that they round by steps, not by their size.
        worst * (1.0 + ROUNDING) + f64::MIN_POSITIVE
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.count {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    fn offer_row(&mut self, m: u32, row: &Row, ps: impl Iterator<Item = u32>) {
        for p in ps {
            self.offer(Candidate { time: row.at(p), mapping: Mapping::of(m, p) });
        }
    }

    /// Offers one p after the other up to the first that cannot be among the best.
    fn offer_while_near(&mut self, m: u32, row: &Row, ps: impl Iterator<Item = u32>) {
        for p in ps {
            let time = row.at(p);
            if time.0 > self.bound() {
                break;
            }
            self.offer(Candidate { time, mapping: Mapping::of(m, p) });
        }
    }

    /// Offers what may be among the best of a row.
    fn offer_near_optimum(&mut self, m: u32, row: &Row, choices: Choices<'_>) {
        let optimum = optimum(row, choices);
        let after_last = if row.shared == 0.0 {
            // The time never falls with p: of a row that may be one long tie, the first ones win.
            choices.count.min(u32::try_from(self.count).unwrap_or(u32::MAX).max(1))
        } else {
            choices.count
        };
        if row.at(choices.at(optimum)).0 <= self.bound() {
            self.offer_while_near(m, row, indices_to_ps(optimum..after_last, choices));
            self.offer_while_near(m, row, indices_to_ps(0..optimum, choices).rev());
        }
    }

    fn into_sorted(self) -> Vec<Candidate> {
        self.heap.into_sorted_vec()
    }
}

/// The `count` best of `grid`, best first, by looking at every configuration.
///
/// The memory used depends on `count` alone.
pub fn brute_force(parameters: &Parameters, grid: Grid, count: usize) -> Vec<Candidate> {
    let mut best = Best::new(count);
    let mut lines = Vec::with_capacity(TILE);
    for first_m in (1..=grid.last_m()).step_by(TILE) {
        look_at(parameters, grid, first_m..=last_of_tile(first_m, grid), (&mut lines, &mut best));
    }
    best.into_sorted()
}

fn last_of_tile(first_m: u32, grid: Grid) -> u32 {
    grid.last_m().min(first_m.saturating_add(TILE as u32 - 1))
}

/// Looks at every configuration of the rows `ms`.
fn look_at(
    parameters: &Parameters,
    grid: Grid,
    ms: RangeInclusive<u32>,
    (lines, best): (&mut Vec<TileRow>, &mut Best),
) {
    lines.clear();
    lines.extend(ms.map(|m| TileRow { m, row: parameters.row(m), last_p: grid.last_p(m) }));
    for first_p in (1..=lines[0].last_p).step_by(TILE) {
        let span = Span::starting_at(first_p);
        // A larger m leaves no more APUs to each thread, so the first row that ends before this
        // span is the last that matters.
        for line in lines.iter().take_while(|line| line.last_p >= first_p) {
            let last_p = line.last_p.min(first_p.saturating_add(TILE as u32 - 1));
            let width = (last_p - first_p) as usize + 1;
            if line.row.constant + span.least_varying(&line.row, width) <= best.bound() {
                best.offer_row(line.m, &line.row, first_p..=last_p);
            }
        }
    }
}

/// Rows and columns that enumeration works on at a time: together they stay in the first-level
/// cache, and a reciprocal is computed once for all the rows.
const TILE: usize = 512;

/// Values of p that one step of the innermost loop takes: enough independent minima to keep two
/// floating-point units busy with vectors of two.
const LANES: usize = 8;

/// Row of a tile: one m.
struct TileRow {
    m: u32,
    row: Row,
    last_p: u32,
}

/// Consecutive p of a tile with their reciprocals.
struct Span {
    p: [f64; TILE],
    reciprocal: [f64; TILE],
}

impl Span {
    fn starting_at(first_p: u32) -> Self {
        let p = std::array::from_fn(|offset| f64::from(first_p) + offset as f64);
        Self { p, reciprocal: p.map(f64::recip) }
    }

    /// The least `shared/p + growing*p` over the first `width` values of p.
    ///
    /// `width` is rounded up to whole steps, which can only lower the result: as a test of what
    /// need not be looked at, it stays right. `growing*(shared/growing/p + p)` has one operation
    /// less for each p.
    fn least_varying(&self, row: &Row, width: usize) -> f64 {
        let ratio = row.shared / row.growing;
        if ratio.is_finite() && ratio > 0.0 {
            row.growing * self.least(width, |reciprocal, p| ratio * reciprocal + p)
        } else {
            self.least(width, |reciprocal, p| row.shared * reciprocal + row.growing * p)
        }
    }

    /// The least of a function of 1/p and p.
    #[inline(always)]
    fn least(&self, width: usize, of: impl Fn(f64, f64) -> f64) -> f64 {
        let steps = width.div_ceil(LANES);
        let (p, _) = self.p.as_chunks::<LANES>();
        let (reciprocal, _) = self.reciprocal.as_chunks::<LANES>();
        let mut least = [f64::INFINITY; LANES];
        for (p, reciprocal) in p[..steps].iter().zip(&reciprocal[..steps]) {
            for lane in 0..LANES {
                let varying = of(reciprocal[lane], p[lane]);
                // `f64::min` would also look for NaN, of which there is none.
                least[lane] = if varying < least[lane] { varying } else { least[lane] };
            }
        }
        least.into_iter().fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Constraints;
    use crate::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
    use mmgp_base::Mapping;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Sorts the times of the whole grid, the plainest way there is.
    fn sorted(parameters: &Parameters, grid: Grid, count: usize) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = (1..=grid.m_max)
            .flat_map(|m| (1..=grid.p_max).map(move |p| (m, p)))
            .filter(|(m, p)| m * p <= grid.apus)
            .map(|(m, p)| Mapping::of(m, p))
            .map(|mapping| Candidate { time: parameters.time(mapping), mapping })
            .collect();
        all.sort();
        all.truncate(count);
        all
    }

    fn check(parameters: &Parameters, grid: Grid, count: usize) {
        let expected = sorted(parameters, grid, count);
        assert_eq!(brute_force(parameters, grid, count), expected, "{parameters:?} {grid:?}");
        assert_eq!(by_structure(parameters, grid, count), expected, "{parameters:?} {grid:?}");
    }

    fn constant(value: f64) -> OverM {
        OverM::Constant(Estimate::exact(value))
    }

    /// The parameters of the Python programs that solve the same problem with numpy and numba.
    fn grid_py(alpha: OverM) -> Parameters {
        Parameters {
            name: "grid".into(),
            decomposition: Decomposition::Data,
            apus: 25_000_000,
            quantity: mmgp_base::quantity::Quantity::Time,
            terms: Terms {
                t_hpu_s: Estimate::exact(1.3),
                t_apu_s: Estimate::exact(360.0),
                c_apu_s: Estimate::exact(0.6),
                offloads: Estimate::exact(1500.0),
                o_offload_s: Estimate::exact(70e-6),
                t_csw_s: Estimate::exact(0.0),
                g_s: Estimate::exact(28e-9),
                collectives: None,
                alpha,
                o_col_s: constant(0.0),
            },
            phases: vec![],
            correlation: None,
            refinements: None,
            traced: None,
            evidence: None,
        }
    }

    fn random_table(random: &mut Xoshiro256PlusPlus, least: f64) -> OverM {
        let mut m: Vec<u32> =
            (0..random.random_range(1..6)).map(|_| random.random_range(1..70)).collect();
        m.sort_unstable();
        m.dedup();
        let values = m.iter().map(|_| Estimate::exact(least + random.random::<f64>())).collect();
        OverM::Table(Table::new(m, values))
    }

    /// Magnitudes over many decades, and often nothing at all.
    fn random_value(random: &mut Xoshiro256PlusPlus) -> Estimate {
        let zero = random.random_bool(0.25);
        Estimate::exact(if zero { 0.0 } else { 10f64.powf(random.random_range(-9.0..4.0)) })
    }

    #[test]
    fn both_ways_give_the_first_of_the_sorted_grid_whatever_the_parameters() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(11);
        for round in 0..3000 {
            let mut parameters = grid_py(random_table(random, 0.5));
            if round % 2 == 0 {
                parameters.decomposition =
                    Decomposition::Task { tasks: random.random_range(1..50) };
            }
            let terms = &mut parameters.terms;
            terms.t_hpu_s = random_value(random);
            terms.t_apu_s = random_value(random);
            terms.c_apu_s = random_value(random);
            terms.offloads = random_value(random);
            terms.g_s = random_value(random);
            terms.o_col_s = random_table(random, 0.0);
            let grid = Grid {
                m_max: random.random_range(1..60),
                p_max: random.random_range(1..60),
                apus: random.random_range(1..3000),
            };
            check(&parameters, grid, random.random_range(0..20));
        }
    }

    #[test]
    fn constraints_are_respected_by_the_search_through_the_structure() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(12);
        for _ in 0..1000 {
            let mut parameters = grid_py(random_table(random, 0.5));
            parameters.terms.t_apu_s = random_value(random);
            parameters.terms.g_s = random_value(random);
            let mut maybe = |most: u32| {
                let some = random.random_bool(0.5);
                some.then(|| random.random_range(1..most))
            };
            let constraints = Constraints::NONE
                .min_m(maybe(4).unwrap_or(1))
                .max_m(maybe(60))
                .min_p(maybe(4).unwrap_or(1))
                .max_p(maybe(60))
                .m_divides(maybe(200))
                .p_divides(maybe(200))
                .apus_per_chip(maybe(40));
            let Ok(space) = constraints.space(maybe(900).unwrap_or(100)) else { continue };
            let mut expected: Vec<Candidate> = space
                .configurations()
                .map(|mapping| Candidate { time: parameters.time(mapping), mapping })
                .collect();
            expected.sort();
            let count = maybe(20).unwrap_or(1) as usize;
            expected.truncate(count);
            assert_eq!(within(&parameters, &space, count), expected, "{constraints:?}");
        }
    }

    #[test]
    fn ties_go_to_the_smaller_m_then_the_smaller_p() {
        let mut parameters = grid_py(constant(1.0));
        parameters.terms.t_apu_s = Estimate::exact(0.0);
        parameters.terms.g_s = Estimate::exact(0.0);
        let best = by_structure(&parameters, Grid::of_apus(10), 13);
        let places: Vec<_> = best.iter().map(|candidate| candidate.mapping).collect();
        let first = (1..=10).map(|p| Mapping::of(1, p));
        let first = first.chain((1..=3).map(|p| Mapping::of(2, p)));
        assert_eq!(places, first.collect::<Vec<_>>());
        check(&parameters, Grid::of_apus(600), 40);
    }

    #[test]
    fn rows_wider_and_taller_than_a_tile_are_searched_to_their_ends() {
        for (g, alpha) in [(28e-9, 1.0), (28e-5, 1.28), (0.0, 1.0), (28e-9, 0.9)] {
            let mut parameters = grid_py(constant(alpha));
            parameters.terms.g_s = Estimate::exact(g);
            check(&parameters, Grid { m_max: 1100, p_max: 1300, apus: 400_000 }, 25);
        }
    }

    #[test]
    fn the_best_may_lie_on_either_side_of_the_border_of_a_tile() {
        let tile = TILE as u32;
        let mut parameters = grid_py(constant(1.0));
        let terms = &mut parameters.terms;
        // Collectives are free at m = 512, and T_APU/m = N g p^2 at p = 512 there.
        let values = [1.0, 0.0, 1.0].map(Estimate::exact).to_vec();
        terms.o_col_s = OverM::Table(Table::new(vec![1, tile, 2 * tile], values));
        terms.g_s = Estimate::exact(360.0 / f64::from(tile).powi(3) / 1500.0);
        let grid = Grid { m_max: 2 * tile, p_max: 2 * tile, apus: 600_000 };
        let best = by_structure(&parameters, grid, 1);
        assert_eq!(best[0].mapping, Mapping::of(tile, tile));
        check(&parameters, grid, 40);
        parameters.terms.o_col_s = constant(0.0);
        check(&parameters, Grid { m_max: tile, ..grid }, 40);
        check(&parameters, Grid { m_max: tile + 1, ..grid }, 40);
    }

    #[test]
    fn a_time_that_rounds_to_the_same_number_for_many_p_is_a_tie() {
        let mut parameters = grid_py(constant(1.0));
        for shared in [1e-12, 1e-15, 1e-18] {
            parameters.terms.t_apu_s = Estimate::exact(shared);
            for g in [0.0, 1e-20, 1e-17] {
                parameters.terms.g_s = Estimate::exact(g);
                check(&parameters, Grid { m_max: 30, p_max: 900, apus: 20_000 }, 50);
            }
        }
    }

    #[test]
    fn the_ten_best_of_a_hundred_million_are_the_same_both_ways() {
        let m: Vec<u32> = (1..=10_000).collect();
        let alpha = m.iter().map(|&m| Estimate::exact(1.0 + 0.0008 * f64::from(m - 1))).collect();
        let parameters = grid_py(OverM::Table(Table::new(m, alpha)));
        let grid = Grid { m_max: 10_000, p_max: 10_000, apus: 25_000_000 };
        assert_eq!(grid.configurations(), 59_649_916);
        let best = by_structure(&parameters, grid, 10);
        assert_eq!(best, brute_force(&parameters, grid, 10));
        // The continuous optimum: 0.00104 * m^1.5 = sqrt(360 * 4.2e-5), p = sqrt(360/4.2e-5/m).
        assert_eq!(best[0].mapping, Mapping::of(24, 598));
    }

    #[test]
    fn an_empty_grid_or_none_asked_for_gives_none() {
        let parameters = grid_py(constant(1.0));
        check(&parameters, Grid { m_max: 4, p_max: 0, apus: 8 }, 3);
        check(&parameters, Grid { m_max: 0, p_max: 4, apus: 8 }, 3);
        check(&parameters, Grid::of_apus(8), 0);
    }

    #[test]
    fn a_grid_holds_what_the_apus_leave_to_each_number_of_threads() {
        let grid = Grid { m_max: 3, p_max: 5, apus: 8 };
        assert_eq!([1, 2, 3].map(|m| grid.last_p(m)), [5, 4, 2]);
        assert_eq!(grid.configurations(), 11);
    }

    fn candidate(time_s: f64, p: u32) -> Candidate {
        Candidate { time: Seconds(time_s), mapping: Mapping::of(1, p) }
    }

    #[test]
    fn candidates_are_equal_where_time_and_mapping_are() {
        assert_eq!(candidate(1.0, 2), candidate(1.0, 2));
        assert_ne!(candidate(1.0, 2), candidate(1.5, 2));
        assert_ne!(candidate(1.0, 2), candidate(1.0, 3));
    }

    #[test]
    fn a_full_list_keeps_the_best_and_bounds_what_is_looked_at() {
        let mut best = Best::new(2);
        for (p, time_s) in [4.0, 5.0, 3.0, 6.0].into_iter().enumerate() {
            assert_eq!(best.bound().is_finite(), p >= 2);
            best.offer(candidate(time_s, p as u32 + 1));
        }
        // Room for rounding, and for nothing more.
        assert!((4.0..4.0 + 1e-12).contains(&best.bound()) && best.bound() > 4.0);
        assert_eq!(best.into_sorted(), [candidate(3.0, 3), candidate(4.0, 1)]);
        let mut of_no_time = Best::new(1);
        of_no_time.offer(candidate(0.0, 1));
        assert!(of_no_time.bound() > 0.0);
    }

    #[test]
    fn a_row_is_left_at_the_first_that_cannot_be_among_the_best() {
        let row = Row { constant: 1.0, shared: 0.0, growing: 1.0 };
        let (mut best, mut asked) = (Best::new(2), 0);
        best.offer_while_near(1, &row, (1..=9).inspect(|_| asked += 1));
        assert_eq!((asked, best.into_sorted().len()), (3, 2));
    }

    #[test]
    fn of_two_equal_neighbours_the_smaller_is_the_optimum() {
        let check = |shared: f64, expected: u32| {
            let row = Row { constant: 0.0, shared, growing: 1.0 };
            assert_eq!(optimum(&row, Choices::up_to_last(9)) + 1, expected);
        };
        // 2/1 + 1 is 2/2 + 2.
        check(2.0, 1);
        check(2.5, 2);
        check(6.0, 2);
        check(100.0, 9);
    }

    #[test]
    fn tiles_follow_one_another_to_the_last_row() {
        let grid = Grid { m_max: 1200, p_max: 1, apus: 1200 };
        let ends = [1, 513, 1025].map(|first_m| last_of_tile(first_m, grid));
        assert_eq!(ends, [512, 1024, 1200]);
    }

    #[test]
    fn the_least_of_a_span_is_at_the_best_of_its_p() {
        let check = |first_p: u32, (shared, growing): (f64, f64), width: usize, expected: f64| {
            let row = Row { constant: 7.0, shared, growing };
            let least = Span::starting_at(first_p).least_varying(&row, width);
            approx::assert_relative_eq!(least, expected, max_relative = 1e-14);
        };
        // 8/2 + 2*2, and 1/1 + 4*1.
        check(1, (8.0, 2.0), TILE, 8.0);
        check(1, (1.0, 4.0), TILE, 5.0);
        // At its first p of 513 where time grows, at its last of 1024 where it falls.
        check(513, (0.0, 3.0), TILE, 1539.0);
        check(513, (1024.0, 0.0), TILE, 1.0);
        // Of the first eight.
        check(1, (80.0, 0.0), 8, 10.0);
    }

    #[test]
    fn the_last_p_of_a_row_counts_where_it_alone_is_the_best() {
        let mut parameters = crate::models::published("pbpi-qs20").unwrap();
        for entry in parameters.terms.entries() {
            parameters.terms.estimate_mut(entry).unwrap().value = 0.0;
        }
        parameters.terms.t_hpu_s = Estimate::exact(1.0);
        parameters.terms.t_apu_s = Estimate::exact(360.0);
        let alphas = [1.0, 20.0].map(Estimate::exact).to_vec();
        parameters.terms.alpha = OverM::Table(Table::new(vec![1, 2], alphas));
        // 1 + 360/9 = 41 s; 20 + 180/9 = 40 s, but 20 + 180/8 = 42.5 s.
        let best = brute_force(&parameters, Grid { m_max: 2, p_max: 9, apus: 18 }, 1);
        assert_eq!(best[0].mapping, Mapping::of(2, 9));
        approx::assert_relative_eq!(best[0].time.0, 40.0, max_relative = 1e-14);
    }
}

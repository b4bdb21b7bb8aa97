//! The best of a grid by looking at every configuration: what the search by structure is held to, and
//! how fast equation 11 can be evaluated at all.

use std::ops::RangeInclusive;

use super::{Best, Candidate, Grid};
use crate::models::Parameters;
use crate::models::run::Row;

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
    (lines, best): (&mut Vec<Line>, &mut Best),
) {
    lines.clear();
    lines.extend(ms.map(|m| Line { m, row: parameters.row(m), last_p: grid.last_p(m) }));
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
pub(super) const TILE: usize = 512;

/// Values of p that one step of the innermost loop takes: enough independent minima to keep two
/// floating-point units busy with vectors of two.
const LANES: usize = 8;

/// One m of a tile.
struct Line {
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
    use crate::models::parameters::{Estimate, OverM, Table};
    use mmgp_base::Mapping;

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

//! Wavefronts over a grid of ranks: how long an iteration of a sweep takes on px x py ranks, with planes
//! and angles in blocks of mk and mmi.
//!
//! With a block time W and a cost c of each blocking message, S steps and F steps to fill (after Hoisie,
//! Lubeck and Wasserman; Mudalige, Vernon and Jarvis),
//!
//! ```text
//! T = W (S + F) + c (4 S + 2 F - 10)        S = 8 mmo kb,  F = 2 (px - 1) + 4 (py - 1)
//! ```
//!
//! for px > 2 and py > 1. [`Flat`] is this formula where messages cost by the link that they pass, and by who
//! waits for whom; [`TwoLevel`] is the same over nodes that off-load their blocks.
//!
//! # Several kinds of links
//!
//! A message costs `early` from its sender's readiness, `late` from its receiver's posting, and its sender
//! goes on `release` after that; c is both of the first, and no release. Of a rank, e and n are when it
//! has received along x and along y. They wait for one another by four moves:
//!
//! ```text
//! A  e(x, y)     -> n(x, y)        late_y                 D  n(x, y) -> e(x, y-1) of the next step
//! B  n(x, y)     -> e(x+1, y)      W + early_x                       release_y + late_x
//! C  e(x+1, y)   -> n(x, y+1)      release_x + early_y
//! ```
//!
//! A way back to where it began after k steps makes each move k times, so every rank takes the same
//! period: a mean over the places that a cycle visits. The costliest cycle is A, D, C, B around the four
//! ranks where the costliest links of both axes cross, not a rank with four costly links:
//!
//! ```text
//! P = W + (early + late + release)_x + (early + late + release)_y          (of c: W + 4 c)
//! ```
//!
//! A sweep of s steps to a rank that is dx and dy further makes D s-1 times, C s-1+dy times, B s-1+dx+dy
//! times and A s+dx times. It crosses each link on its way once; all its other moves it makes where
//! they cost most. Four sweeps, of which the second and the fourth cross both axes, the first and the
//! third y alone and then send along x once more, are T; of equal costs it is the formula above.
//!
//! What this leaves out: the way to the costliest links and back (a few hops that cost less than is
//! counted), blocks of few planes at the end of an octant (each step has the mean of them), and queues.
//!
//! ```
//! use mmgp_model::models::parameters::Estimate;
//! use mmgp_model::models::wavefront::{Flat, GridChoice, LinkTerms, Problem, Tiling, WavefrontTerms};
//!
//! // 10 us a block whatever its size, 1 us a message wherever it goes.
//! let mut terms = WavefrontTerms::nothing();
//! terms.block_s = Estimate::exact(10e-6);
//! terms.links = LinkTerms::symmetric(&Estimate::exact(1e-6)).everywhere();
//! let problem = Problem { it: 40, jt: 30, kt: 50, angles: 6 };
//! let tiling = Tiling { node: [4, 3], blade: [4, 3], cell: [4, 1] };
//! let choice = GridChoice { px: 4, py: 3, planes: 10, angles: 3, tiling };
//! // S = 80, F = 2 x 3 + 4 x 2.
//! let time = Flat::new(terms, problem, vec![choice]).time_of(&choice).0;
//! assert!((time - (94.0 * 10e-6 + 338.0 * 1e-6)).abs() < 1e-12);
//! ```

mod flat;
mod period;

use super::parameters::Estimate;
use mmgp_base::Mapping;

pub use flat::{Flat, Inner, Transfer, TwoLevel};

/// What is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// Cells along x.
    pub it: u32,
    /// Cells along y.
    pub jt: u32,
    /// Planes.
    pub kt: u32,
    /// Angles of an octant: mm.
    pub angles: u32,
}

/// Rectangles of ranks on a node, on a blade and on a Cell, each whole ones of the next, which tile the
/// grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tiling {
    /// Sides of a node's tile.
    pub node: [u32; 2],
    /// Sides of a blade's tile.
    pub blade: [u32; 2],
    /// Sides of a Cell's tile.
    pub cell: [u32; 2],
}

impl Tiling {
    /// A node's tile cut along its longer side into so many blades, and these into so many Cells each; along
    /// the other side where the longer one cannot be cut evenly. Nothing where neither can.
    pub fn cut(node: [u32; 2], blades: u32, cells: u32) -> Option<Self> {
        let blade = cut(node, blades)?;
        Some(Self { node, blade, cell: cut(blade, cells)? })
    }
}

fn cut([x, y]: [u32; 2], parts: u32) -> Option<[u32; 2]> {
    let along_x = x.is_multiple_of(parts).then(|| [x / parts, y]);
    let along_y = y.is_multiple_of(parts).then(|| [x, y / parts]);
    if x > y { along_x.or(along_y) } else { along_y.or(along_x) }
}

/// How a problem is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GridChoice {
    /// Ranks along x.
    pub px: u32,
    /// Ranks along y.
    pub py: u32,
    /// Planes of a block: mk.
    pub planes: u32,
    /// Angles of a block: mmi, which divides those of an octant.
    pub angles: u32,
    /// Ranks that are on one node, blade and Cell.
    pub tiling: Tiling,
}

impl GridChoice {
    /// Nodes, and ranks of each: (m, p).
    pub fn mapping(&self) -> Option<Mapping> {
        let [x, y] = self.tiling.node;
        Mapping::new(self.px.div_ceil(x) * self.py.div_ceil(y), x * y).ok()
    }

    /// Steps of a sweep from a corner, two octants: `S/4 = 2 mmo kb`.
    fn steps(&self, problem: &Problem) -> f64 {
        f64::from(2 * (problem.angles / self.angles) * self.plane_blocks(problem))
    }

    /// Blocks of planes in an octant: kb.
    fn plane_blocks(&self, problem: &Problem) -> u32 {
        problem.kt.div_ceil(self.planes)
    }
}

/// Choices for a mapping: m nodes whose tiles of p ranks cover a grid exactly, with at least a cell for
/// each rank, and every number of plane blocks and angle blocks; of planes that give equally many blocks
/// the fewest. A node's ranks are cut into those of so many blades, and these into so many Cells.
pub fn choices(problem: &Problem, mapping: Mapping, [blades, cells]: [u32; 2]) -> Vec<GridChoice> {
    let divisors = |number: u32| (1..=number).filter(move |it| number.is_multiple_of(*it));
    let mut planes: Vec<u32> = (1..=problem.kt).map(|blocks| problem.kt.div_ceil(blocks)).collect();
    planes.dedup();
    let mut found = Vec::new();
    for tx in divisors(mapping.p()) {
        let Some(tiling) = Tiling::cut([tx, mapping.p() / tx], blades, cells) else { continue };
        for nodes_x in divisors(mapping.m()) {
            let (px, py) = (tx * nodes_x, mapping.p() / tx * (mapping.m() / nodes_x));
            if px > problem.it || py > problem.jt {
                continue;
            }
            for angles in divisors(problem.angles) {
                let choice = |&planes: &u32| GridChoice { px, py, planes, angles, tiling };
                found.extend(planes.iter().map(choice));
            }
        }
    }
    found
}

/// A time by the size of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageLine {
    /// Time of a message without data \[s\].
    pub latency_s: Estimate,
    /// Time of each byte, one over the rate \[s\].
    pub byte_s: Estimate,
}

impl MessageLine {
    /// No time.
    pub fn nothing() -> Self {
        Self { latency_s: Estimate::exact(0.0), byte_s: Estimate::exact(0.0) }
    }

    #[cfg(test)]
    fn values_mut(&mut self) -> [&mut Estimate; 2] {
        [&mut self.latency_s, &mut self.byte_s]
    }

    fn at(&self, bytes: f64) -> f64 {
        self.latency_s.value + bytes * self.byte_s.value
    }
}

/// What a synchronous message costs on a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkTerms {
    /// Time from the sender's readiness to the receiver's completion, where the receiver waits.
    pub early: MessageLine,
    /// Time from the receiver's posting to its completion, where the message waits.
    pub late: MessageLine,
    /// Time from the receiver's completion until the sender goes on.
    pub release: MessageLine,
}

impl LinkTerms {
    /// No time.
    pub fn nothing() -> Self {
        Self {
            early: MessageLine::nothing(),
            late: MessageLine::nothing(),
            release: MessageLine::nothing(),
        }
    }

    /// The cost c of a message of any size, from the later of both, at which both go on. `early` and `late`
    /// count as two terms.
    pub fn symmetric(cost: &Estimate) -> Self {
        let line = MessageLine { latency_s: cost.clone(), ..MessageLine::nothing() };
        Self { early: line.clone(), late: line, release: MessageLine::nothing() }
    }

    /// The same on all links.
    pub fn everywhere(self) -> Links {
        Links([self.clone(), self.clone(), self.clone(), self])
    }

    fn lines(&self) -> [&MessageLine; 3] {
        [&self.early, &self.late, &self.release]
    }

    fn lines_mut(&mut self) -> [&mut MessageLine; 3] {
        [&mut self.early, &mut self.late, &mut self.release]
    }
}

/// What messages cost on each kind of link: within a Cell, between Cells of a blade, between blades of a node,
/// and between nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Links(pub [LinkTerms; 4]);

impl Links {
    /// Their names in files, in their order.
    pub const NAMES: [&'static str; 4] =
        ["within-cell", "between-cells", "between-blades", "between-nodes"];
}

/// What of a message is timed, in the order of [`LinkTerms`].
pub(crate) const WAYS: [&str; 3] = ["early", "late", "release"];

/// What the time of a wavefront is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct WavefrontTerms {
    /// Time of a block without cells: `W_0` \[s\].
    pub block_s: Estimate,
    /// Time of a line of cells along x in a block, of which it has jt mk \[s\].
    pub line_s: Estimate,
    /// Time of a cell for an angle \[s\].
    pub cell_s: Estimate,
    /// Messages.
    pub links: Links,
}

/// Places of terms of blocks in [`WavefrontTerms::named`]; those of links follow, six a link.
const BLOCK: usize = 0;
const LINE: usize = 1;
const CELL: usize = 2;
const LINKS: usize = 3;

/// The place of a link's line: latency, and then byte.
fn place_of(link: usize, way: usize) -> usize {
    LINKS + 6 * link + 2 * way
}

impl WavefrontTerms {
    /// Terms that are all nothing.
    pub fn nothing() -> Self {
        Self {
            block_s: Estimate::exact(0.0),
            line_s: Estimate::exact(0.0),
            cell_s: Estimate::exact(0.0),
            links: LinkTerms::nothing().everywhere(),
        }
    }

    /// Terms, each with its name: `cell_s`, `early_s(between-nodes)`, `early_byte_s(between-nodes)`.
    pub fn named(&self) -> Vec<(String, &Estimate)> {
        let blocks = [
            ("block_s".to_string(), &self.block_s),
            ("line_s".to_string(), &self.line_s),
            ("cell_s".to_string(), &self.cell_s),
        ];
        let links = Links::NAMES.into_iter().zip(&self.links.0).flat_map(|(link, terms)| {
            WAYS.into_iter().zip(terms.lines()).flat_map(move |(way, line)| {
                [
                    (format!("{way}_s({link})"), &line.latency_s),
                    (format!("{way}_byte_s({link})"), &line.byte_s),
                ]
            })
        });
        blocks.into_iter().chain(links).collect()
    }

    /// Changes the terms of a link.
    pub(crate) fn set_line(&mut self, link: usize, way: usize, line: MessageLine) {
        *self.links.0[link].lines_mut()[way] = line;
    }

    /// Changes the value of a term, by its place in [`Self::named`].
    #[cfg(test)]
    fn move_by(&mut self, place: usize, step: f64) {
        let lines = self.links.0.iter_mut().flat_map(LinkTerms::lines_mut);
        let links = lines.flat_map(MessageLine::values_mut);
        let blocks = [&mut self.block_s, &mut self.line_s, &mut self.cell_s];
        if let Some(term) = blocks.into_iter().chain(links).nth(place) {
            term.value += step;
        }
    }

    /// The values alone, in the same order.
    fn numbers(&self) -> Vec<f64> {
        self.named().into_iter().map(|(_, estimate)| estimate.value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::Estimate;
    use crate::models::time_model::TimeModel;
    use mmgp_base::Mapping;

    /// A block of 7 us and messages of 2 us everywhere.
    fn equal() -> WavefrontTerms {
        WavefrontTerms {
            block_s: Estimate::exact(7e-6),
            links: LinkTerms::symmetric(&Estimate::exact(2e-6)).everywhere(),
            ..WavefrontTerms::nothing()
        }
    }

    /// Every term something else.
    fn different() -> WavefrontTerms {
        let line = |us: f64, ns: f64| MessageLine {
            latency_s: Estimate::exact(us * 1e-6),
            byte_s: Estimate::exact(ns * 1e-9),
        };
        let link = |us: f64, ns: f64| LinkTerms {
            early: line(us, ns),
            late: line(0.6 * us, 0.4 * ns),
            release: line(0.2 * us, 0.1 * ns),
        };
        WavefrontTerms {
            block_s: Estimate::exact(2e-6),
            line_s: Estimate::exact(60e-9),
            cell_s: Estimate::exact(11e-9),
            links: Links([link(0.3, 0.05), link(0.5, 0.16), link(10.0, 2.0), link(12.0, 3.0)]),
        }
    }

    const PROBLEM: Problem = Problem { it: 90, jt: 70, kt: 50, angles: 6 };

    fn one_rank_a_node([px, py]: [u32; 2]) -> GridChoice {
        let tiling = Tiling { node: [1, 1], blade: [1, 1], cell: [1, 1] };
        GridChoice { px, py, planes: 10, angles: 3, tiling }
    }

    fn check(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} instead of {expected}");
    }

    #[track_caller]
    fn check_formula(grid @ [px, py]: [u32; 2], less: f64) {
        let choice = one_rank_a_node(grid);
        let found = Flat::new(equal(), PROBLEM, vec![choice]).time_of(&choice).0;
        let (s, f) = (80.0, f64::from(2 * (px - 1) + 4 * (py - 1)));
        check(found, 7e-6 * (s + f) + 2e-6 * (4.0 * s + 2.0 * f - 10.0 - less));
    }

    #[test]
    fn equal_costs_give_the_closed_form() {
        for grid in [[3, 2], [4, 3], [9, 11], [30, 2], [5, 40]] {
            check_formula(grid, 0.0);
        }
        check_formula([2, 2], 2.0);
        check_formula([2, 17], 2.0);
    }

    #[test]
    fn a_row_of_two_by_hand() {
        // Two ranks, early 3, late 1, release 2 and blocks of 10 us: 15 a step, as a sender that is never waited for
        // goes on 5 after its block; two sweeps of 4 steps, each with a message on its way: 2 (3 x 15 + 10 + 13).
        let line = |us: f64| MessageLine {
            latency_s: Estimate::exact(us * 1e-6),
            ..MessageLine::nothing()
        };
        let links =
            LinkTerms { early: line(3.0), late: line(1.0), release: line(2.0) }.everywhere();
        let terms =
            WavefrontTerms { block_s: Estimate::exact(10e-6), links, ..WavefrontTerms::nothing() };
        let choice = GridChoice { planes: 50, angles: 6, ..one_rank_a_node([2, 1]) };
        check(Flat::new(terms, PROBLEM, vec![choice]).time_of(&choice).0, 136e-6);
    }

    #[test]
    fn a_rank_alone_computes_all_blocks() {
        let choice = one_rank_a_node([1, 1]);
        // 2 us, 700 lines of 60 ns and 63,000 cells and 3 angles of 11 ns.
        let block = 2e-6 + 700.0 * 60e-9 + 189_000.0 * 11e-9;
        check(Flat::new(different(), PROBLEM, vec![choice]).time_of(&choice).0, 80.0 * block);
    }

    #[test]
    fn all_choices_of_a_mapping_tile_its_grid() {
        let all = choices(&PROBLEM, Mapping::of(6, 32), [2, 2]);
        assert!(all.len() > 100);
        for choice in &all {
            let [tx, ty] = choice.tiling.node;
            assert!(choice.px.is_multiple_of(tx) && choice.py.is_multiple_of(ty), "{choice:?}");
            assert_eq!(choice.mapping(), Some(Mapping::of(6, 32)));
            assert!(choice.px <= PROBLEM.it && choice.py <= PROBLEM.jt);
            assert!(PROBLEM.angles.is_multiple_of(choice.angles));
        }
        // No two of them are the same.
        let mut sorted = all.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), all.len());
        assert_eq!(Tiling::cut([2, 16], 2, 2).unwrap().cell, [2, 4]);
        assert_eq!(Tiling::cut([3, 5], 2, 2), None);
    }

    #[test]
    fn the_time_of_a_mapping_is_that_of_its_fastest_choice() {
        let mut all = choices(&PROBLEM, Mapping::of(1, 32), [2, 2]);
        all.extend(choices(&PROBLEM, Mapping::of(4, 32), [2, 2]));
        let model = Flat::new(different(), PROBLEM, all);
        let (best, time) = model.best(Mapping::of(4, 32)).unwrap();
        assert_eq!(model.time(Mapping::of(4, 32)), time);
        let ranked = model.ranked();
        let first = ranked.iter().find(|(choice, _)| choice.mapping() == Some(Mapping::of(4, 32)));
        assert_eq!(first, Some(&(best, time)));
        assert_eq!(model.time(Mapping::of(3, 32)).0, f64::INFINITY);
        assert_eq!(model.apus(), 128);
        let parts: f64 = model.parts(Mapping::of(4, 32)).iter().map(|part| part.time.0).sum();
        check(parts, time.0);
    }

    /// Checks that each slope is a difference of times over a difference of values.
    fn check_gradient(slopes: &[(usize, f64)], time: impl Fn(usize, f64) -> f64) {
        assert!(slopes.len() > 3);
        for &(place, slope) in slopes {
            let step = 1e-14;
            let by_hand = (time(place, step) - time(place, 0.0)) / step;
            assert!((slope / by_hand - 1.0).abs() < 1e-3, "{place}: {slope} {by_hand}");
        }
    }

    #[test]
    fn every_gradient_is_a_slope_of_the_time() {
        let at = Mapping::of(4, 32);
        let all = choices(&PROBLEM, at, [2, 2]);
        let model = Flat::new(different(), PROBLEM, all.clone());
        let (best, _) = model.best(at).unwrap();
        check_gradient(&model.gradient(at), |place, step| {
            let mut terms = different();
            terms.move_by(place, step);
            Flat::new(terms, PROBLEM, all.clone()).time_of(&best).0
        });
    }

    fn inner() -> Inner {
        let line = |us: f64, ns: f64| MessageLine {
            latency_s: Estimate::exact(us * 1e-6),
            byte_s: Estimate::exact(ns * 1e-9),
        };
        Inner {
            accelerators: [4, 8],
            blocks: 5,
            block: line(3.0, 11.0),
            transfer: Transfer { to: line(4.0, 0.5), back: line(6.0, 0.5) },
        }
    }

    #[test]
    fn a_node_pays_its_inner_fill_in_every_block() {
        let choice = GridChoice { px: 3, py: 2, ..one_rank_a_node([3, 2]) };
        let model = TwoLevel::new(&equal(), inner(), (PROBLEM, choice));
        // 3 + 7 + 5 inner blocks of 30 x 35 cells, 10 planes, 3 angles over 4 x 8 x 5; faces of 8 (30 + 35) 10 x 3
        // bytes.
        let block = 3e-6 + 31_500.0 / 160.0 * 11e-9;
        let node = 15.0 * block + 10e-6 + 2.0 * 15_600.0 * 0.5e-9;
        check(model.node_block().0, node);
        check(model.time(Mapping::of(6, 32)).0, node * 88.0 + 2e-6 * 326.0);
        assert_eq!(model.time(Mapping::of(6, 8)).0, f64::INFINITY);
        assert_eq!(model.apus(), 192);
    }

    #[test]
    fn the_two_level_gradient_is_a_slope_of_its_time() {
        let choice = one_rank_a_node([5, 7]);
        let time = |place: usize, step: f64| {
            let (mut terms, mut inner) = (different(), inner());
            if let Some(place) = place.checked_sub(terms.named().len()) {
                let Inner { block, transfer: Transfer { to, back }, .. } = &mut inner;
                let lines = [block, to, back].map(MessageLine::values_mut);
                lines.into_iter().flatten().nth(place).expect("a value").value += step;
            } else {
                terms.move_by(place, step);
            }
            TwoLevel::new(&terms, inner, (PROBLEM, choice)).time(Mapping::of(35, 32)).0
        };
        let model = TwoLevel::new(&different(), inner(), (PROBLEM, choice));
        assert_eq!(model.values().len(), 33);
        check_gradient(&model.gradient(Mapping::of(35, 32)), time);
    }
}

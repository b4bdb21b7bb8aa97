//! How often each term enters the time of an iteration.

use super::choice::{Choice, Problem};
use super::terms::{BLOCK, CELL, LINE, WavefrontTerms, place_of};

/// The ways of a message, by their places.
const EARLY: usize = 0;
const LATE: usize = 1;
const RELEASE: usize = 2;

/// How often each term enters a time, by its place: T is linear in the terms as long as the same links
/// are the costliest.
#[derive(Debug, Clone)]
pub struct Usage(pub Vec<f64>);

impl Usage {
    fn none(terms: &WavefrontTerms) -> Self {
        Self(vec![0.0; terms.numbers().len()])
    }

    fn add(&mut self, times: f64, other: &[(usize, f64)]) {
        for &(place, count) in other {
            self.0[place] += times * count;
        }
    }
}

/// Terms with how often each enters.
type Counts = Vec<(usize, f64)>;

/// The links along an axis.
struct Axis<'a> {
    terms: &'a WavefrontTerms,
    /// Size of its messages.
    bytes: f64,
    /// The kind of each link, in order.
    kinds: Vec<usize>,
}

impl<'a> Axis<'a> {
    /// Of so many ranks whose tiles on a Cell, a blade and a node have those sides.
    fn new(terms: &'a WavefrontTerms, bytes: f64, (ranks, sides): (u32, [u32; 3])) -> Self {
        let kind = |rank: u32| {
            let [cell, blade, node] = sides.map(|side| rank.is_multiple_of(side));
            if node {
                3
            } else if blade {
                2
            } else {
                usize::from(cell)
            }
        };
        Self { terms, bytes, kinds: (1..ranks).map(kind).collect() }
    }

    /// What some ways of a message on a link of that kind are made of.
    fn counts(&self, kind: usize, ways: &[usize]) -> Counts {
        let of = |&way: &usize| {
            let place = place_of(kind, way);
            [(place, 1.0), (place + 1, self.bytes)]
        };
        ways.iter().flat_map(of).collect()
    }

    fn cost(&self, kind: usize, ways: &[usize]) -> f64 {
        let link = &self.terms.links.0[kind];
        let lines = [&link.early, &link.late, &link.release];
        ways.iter().map(|&way| lines[way].at(self.bytes)).sum()
    }

    /// The costliest link for these ways; nothing where there is no link.
    fn most(&self, ways: &[usize]) -> Counts {
        let cost = |kind: usize| self.cost(kind, ways);
        let kinds = (0..4).filter(|kind| self.kinds.contains(kind));
        let most = kinds.max_by(|&one, &other| cost(one).total_cmp(&cost(other)));
        most.map_or_else(Vec::new, |kind| self.counts(kind, ways))
    }

    /// Each link once.
    fn all(&self, ways: &[usize]) -> Counts {
        let of = |kind: usize| {
            let links = self.kinds.iter().filter(|&&it| it == kind).count() as f64;
            self.counts(kind, ways).into_iter().map(move |(place, count)| (place, links * count))
        };
        (0..4).flat_map(of).collect()
    }

    /// Along a single line of ranks: what a rank sends and what it received before, the costliest pair.
    fn pair(&self) -> Counts {
        let (sent, received) = (&[EARLY, RELEASE][..], &[LATE][..]);
        let before = std::iter::once(None).chain(self.kinds.iter().copied().map(Some));
        let pair = |(before, &kind): (Option<usize>, &usize)| {
            let late = before.map_or(0.0, |before| self.cost(before, received));
            (self.cost(kind, sent) + late, before, kind)
        };
        let pairs = before.zip(&self.kinds).map(pair);
        let Some((_, before, kind)) = pairs.max_by(|one, other| one.0.total_cmp(&other.0)) else {
            return Vec::new();
        };
        let late = before.map(|before| self.counts(before, received));
        self.counts(kind, sent).into_iter().chain(late.into_iter().flatten()).collect()
    }
}

/// The cells of ranks along an axis: those with most, and the mean of all but the last.
struct Share {
    most: f64,
    mean: f64,
}

impl Share {
    fn new(cells: u32, ranks: u32) -> Self {
        let most = f64::from(cells.div_ceil(ranks));
        // Remainders go to the first ranks, so the last has the least.
        let others = f64::from(cells - cells / ranks);
        let mean = if ranks > 1 { others / f64::from(ranks - 1) } else { most };
        Self { most, mean }
    }
}

/// How often each term enters the time of an iteration.
pub fn usage(terms: &WavefrontTerms, problem: &Problem, choice: &Choice) -> Usage {
    let &Choice { px, py, planes, angles, tiling } = choice;
    let sides = |axis: usize| [tiling.cell[axis], tiling.blade[axis], tiling.node[axis]];
    let (share_x, share_y) = (Share::new(problem.it, px), Share::new(problem.jt, py));
    let face = |cells: f64| 8.0 * cells * f64::from(planes) * f64::from(angles);
    let x = Axis::new(terms, face(share_y.most), (px, sides(0)));
    let y = Axis::new(terms, face(share_x.most), (py, sides(1)));
    let mean_planes = f64::from(problem.kt) / f64::from(choice.plane_blocks(problem));
    let block = |it: f64, jt: f64| {
        let lines = jt * mean_planes;
        vec![(BLOCK, 1.0), (LINE, lines), (CELL, it * lines * f64::from(angles))]
    };
    let largest = block(share_x.most, share_y.most);
    let (dx, dy) = (f64::from(px - 1), f64::from(py - 1));
    let along_x = block(share_x.mean, share_y.most);
    let along_y = block(share_x.most, share_y.mean);
    let steps = choice.steps(problem);
    let mut usage = Usage::none(terms);
    // Blocks of all sweeps: those of a rank, and those of the ranks on the way.
    usage.add(4.0 * steps, &largest);
    usage.add(2.0 * dx, &along_x);
    usage.add(4.0 * dy, &along_y);
    if px == 1 || py == 1 {
        // Of a row, two sweeps follow each other in each direction.
        let (axis, sweeps) = if py == 1 { (&x, 2.0) } else { (&y, 4.0) };
        usage.add(4.0 * steps - sweeps, &axis.pair());
        usage.add(sweeps, &axis.all(&[EARLY]));
        return usage;
    }
    let turns = 4.0 * (steps - 1.0);
    // D.
    usage.add(turns, &x.most(&[LATE]));
    usage.add(turns, &y.most(&[RELEASE]));
    // C: each link along y once in each sweep, and the others where they cost most.
    usage.add(turns, &y.most(&[EARLY]));
    usage.add(4.0, &y.all(&[EARLY]));
    // B and C cross the same links along x but for those on the way.
    usage.add(turns + 4.0 * dy, &x.most(&[EARLY, RELEASE]));
    usage.add(2.0, &x.all(&[EARLY]));
    // A; with two columns nobody has both a receive along y and a neighbour to send to at the end.
    let last = if px == 2 { 2.0 } else { 4.0 };
    usage.add(turns + 2.0 * dx + last, &y.most(&[LATE]));
    // The first and the third sweep end with a send along x.
    let border = x.counts(x.kinds[0], &[EARLY, RELEASE]);
    usage.add(2.0, &border);
    usage
}

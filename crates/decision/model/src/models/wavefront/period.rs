//! How often each term enters the time of an iteration.

use super::{BLOCK, CELL, GridChoice, LINE, Problem, WavefrontTerms, place_of};

/// The ways of a message, by their places.
const EARLY: usize = 0;
const LATE: usize = 1;
const RELEASE: usize = 2;

/// How often each term enters a time, by its place: T is linear in the terms as long as the same links
/// are the costliest.
#[derive(Debug, Clone)]
pub struct Usage(pub Vec<f64>);

impl Usage {
    fn add(&mut self, times: f64, other: &[(usize, f64)]) {
        for &(place, count) in other {
            self.0[place] += times * count;
        }
    }
}

/// Terms with how often each enters.
type LinkCounts = Vec<(usize, f64)>;

/// The ranks and links along an axis.
struct Axis<'a> {
    terms: &'a WavefrontTerms,
    /// Size of its messages for each cell across, and of the largest.
    face: f64,
    bytes: f64,
    /// Cells of each rank.
    cells: Vec<f64>,
    /// The kind of each link, in order.
    kinds: Vec<usize>,
}

/// A link, and the cells of the ranks at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RankPlace {
    kind: usize,
    upstream: f64,
    downstream: f64,
}

/// The end of a link, or of an axis.
#[derive(Clone, Copy)]
enum SweepEnd {
    Low,
    High,
}

impl SweepEnd {
    fn other(self) -> Self {
        match self {
            Self::Low => Self::High,
            Self::High => Self::Low,
        }
    }
}

impl<'a> Axis<'a> {
    /// Grid of so many cells on so many ranks, whose tiles on a Cell, a blade and a node have those sides.
    fn new(terms: &'a WavefrontTerms, cells: u32, (ranks, sides): (u32, [u32; 3])) -> Self {
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
        // Remainders go to the first ranks.
        let share = |rank: u32| f64::from(cells / ranks + u32::from(rank < cells % ranks));
        Self {
            terms,
            face: 0.0,
            bytes: 0.0,
            cells: (0..ranks).map(share).collect(),
            kinds: (1..ranks).map(kind).collect(),
        }
    }

    /// What some ways of a message on a link of that kind are made of.
    fn counts(&self, kind: usize, ways: &[usize]) -> LinkCounts {
        message(kind, ways, self.bytes)
    }

    fn cost(&self, kind: usize, ways: &[usize]) -> f64 {
        self.cost_of(kind, ways, self.bytes)
    }

    fn cost_of(&self, kind: usize, ways: &[usize], bytes: f64) -> f64 {
        let link = &self.terms.links.0[kind];
        let lines = [&link.early, &link.late, &link.release];
        ways.iter().map(|&way| lines[way].at(bytes)).sum()
    }

    /// Counts of each link once.
    fn all(&self, ways: &[usize]) -> LinkCounts {
        let of = |kind: usize| {
            let links = self.kinds.iter().filter(|&&it| it == kind).count() as f64;
            self.counts(kind, ways).into_iter().map(move |(place, count)| (place, links * count))
        };
        (0..4).flat_map(of).collect()
    }

    /// The links that differ, in sweeps that come from that end.
    fn places(&self, from: SweepEnd) -> Vec<RankPlace> {
        let mut places = Vec::new();
        for (ends, &kind) in self.cells.windows(2).zip(&self.kinds) {
            let [upstream, downstream] = match from {
                SweepEnd::Low => [ends[0], ends[1]],
                SweepEnd::High => [ends[1], ends[0]],
            };
            let place = RankPlace { kind, upstream, downstream };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// What a message on a link of that kind costs more than on the costliest link that is next to such a
    /// one; endless where there is none.
    fn lead(&self, kind: usize) -> f64 {
        let next = self.kinds.windows(2).flat_map(|pair| [[pair[0], pair[1]], [pair[1], pair[0]]]);
        let next = next.filter(|pair| pair[0] == kind).map(|pair| self.cost(pair[1], &ALL_WAYS));
        self.cost(kind, &ALL_WAYS) - next.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Mean cells of the ranks at that end of links.
    fn mean(&self, end: SweepEnd) -> f64 {
        let links = self.kinds.len();
        let ends = match end {
            SweepEnd::Low => &self.cells[..links],
            SweepEnd::High => &self.cells[1..],
        };
        ends.iter().sum::<f64>() / (links as f64).max(1.0)
    }

    fn most(&self) -> f64 {
        self.cells.iter().copied().fold(0.0, f64::max)
    }
}

/// What some ways of a message of so many bytes on a link of that kind are made of.
fn message(kind: usize, ways: &[usize], bytes: f64) -> LinkCounts {
    let of = |&way: &usize| {
        let place = place_of(kind, way);
        [(place, 1.0), (place + 1, bytes)]
    };
    ways.iter().flat_map(of).collect()
}

const ALL_WAYS: [usize; 3] = [EARLY, LATE, RELEASE];

/// The blocks of planes of an octant: all but the last have all planes, and that one what is left.
#[derive(Clone, Copy)]
struct Planes {
    full: f64,
    last: f64,
    blocks: f64,
}

/// What is swept, seen by its ranks.
struct Sweep<'a> {
    terms: &'a WavefrontTerms,
    x: Axis<'a>,
    y: Axis<'a>,
    planes: Planes,
    angles: f64,
    /// Steps from a corner.
    steps: f64,
}

/// How often each term enters the time of an iteration.
pub fn usage(terms: &WavefrontTerms, problem: &Problem, choice: &GridChoice) -> Usage {
    let &GridChoice { px, py, planes, angles, tiling } = choice;
    let sides = |axis: usize| [tiling.cell[axis], tiling.blade[axis], tiling.node[axis]];
    let mut x = Axis::new(terms, problem.it, (px, sides(0)));
    let mut y = Axis::new(terms, problem.jt, (py, sides(1)));
    let face = |cells: f64| 8.0 * cells * f64::from(planes) * f64::from(angles);
    (x.face, y.face) = (face(1.0), face(1.0));
    (x.bytes, y.bytes) = (face(y.most()), face(x.most()));
    let blocks = choice.plane_blocks(problem);
    let planes = Planes {
        full: planes.into(),
        last: f64::from(problem.kt - (blocks - 1) * planes),
        blocks: blocks.into(),
    };
    let steps = choice.steps(problem);
    let sweep = Sweep { terms, x, y, planes, angles: angles.into(), steps };
    let mut usage = Usage(vec![0.0; terms.numbers().len()]);
    if px == 1 || py == 1 {
        sweep.line(&mut usage);
    } else {
        for from_x in [SweepEnd::High, SweepEnd::Low] {
            for from_y in [SweepEnd::High, SweepEnd::Low] {
                sweep.corner(&mut usage, (from_x, from_y));
            }
        }
        sweep.turns(&mut usage);
    }
    usage
}

impl Sweep<'_> {
    fn block(&self, it: f64, jt: f64, planes: f64) -> LinkCounts {
        let lines = jt * planes;
        vec![(BLOCK, 1.0), (LINE, lines), (CELL, it * lines * self.angles)]
    }

    fn cost(&self, counts: &LinkCounts) -> f64 {
        let own = [&self.terms.block_s, &self.terms.line_s, &self.terms.cell_s];
        counts.iter().map(|&(place, count)| own[place].value * count).sum()
    }

    /// The messages of the cycle around the four ranks at the ends of two links: along x, `early` is that of
    /// the row downstream and the others those of the row upstream; along y, `early` is that of the
    /// column upstream.
    fn cycle(&self, at_x: RankPlace, at_y: RankPlace) -> [(usize, &'static [usize], f64); 4] {
        let (x, y) = (&self.x, &self.y);
        [
            (at_x.kind, &[EARLY], x.face * at_y.downstream),
            (at_x.kind, &[LATE, RELEASE], x.face * at_y.upstream),
            (at_y.kind, &[EARLY], y.face * at_x.upstream),
            (at_y.kind, &[LATE, RELEASE], y.face * at_x.downstream),
        ]
    }

    /// A sweep's blocks beside each other: so many cells, and `turns` steps; blocks of few planes save time
    /// only as far as going on elsewhere meanwhile would lose more, `lead`.
    fn add_blocks(&self, usage: &mut Usage, turns: f64, ([it, jt], lead): ([f64; 2], f64)) {
        let Planes { full, last, blocks } = self.planes;
        let [full, last] = [full, last].map(|planes| self.block(it, jt, planes));
        let saved = self.cost(&full) - self.cost(&last);
        let part = if saved > 0.0 { (lead / saved).clamp(0.0, 1.0) } else { 0.0 };
        usage.add(turns * (1.0 - part / blocks), &full);
        usage.add(turns * part / blocks, &last);
    }

    /// A sweep from a corner: the period of all its steps but one, its last block, and its way along y. The
    /// block of a cycle is that of the rank upstream along x and downstream along y.
    fn corner(&self, usage: &mut Usage, (from_x, from_y): (SweepEnd, SweepEnd)) {
        let (x, y) = (&self.x, &self.y);
        let cost = |(at_x, at_y): (RankPlace, RankPlace)| {
            let block = self.cost(&self.block(at_x.upstream, at_y.downstream, self.planes.full));
            let messages = self.cycle(at_x, at_y);
            let times = messages.map(|(kind, ways, bytes)| x.cost_of(kind, ways, bytes));
            block + times.iter().sum::<f64>()
        };
        let places_y = y.places(from_y);
        let places_x = x.places(from_x).into_iter();
        let pairs = places_x.flat_map(|at_x| places_y.iter().map(move |&at_y| (at_x, at_y)));
        let most = pairs.max_by(|&one, &other| cost(one).total_cmp(&cost(other)));
        let Some((at_x, at_y)) = most else { return };
        let turns = self.steps - 1.0;
        let lead = x.lead(at_x.kind).min(y.lead(at_y.kind));
        self.add_blocks(usage, self.steps, ([at_x.upstream, at_y.downstream], lead));
        for (kind, ways, bytes) in self.cycle(at_x, at_y) {
            usage.add(turns, &message(kind, ways, bytes));
        }
        // On the way along y: B and C where the costliest link along x is.
        let links = y.kinds.len() as f64;
        let mean = y.mean(from_y.other());
        usage.add(links, &self.block(at_x.upstream, mean, self.planes.full));
        usage.add(links, &message(at_x.kind, &[EARLY, RELEASE], x.face * mean));
        usage.add(1.0, &y.all(&[EARLY]));
        // A once more than D; of two columns, in every other sweep alone.
        let once_more = if x.kinds.len() > 1 { 1.0 } else { 0.5 };
        usage.add(once_more, &y.counts(at_y.kind, &[LATE]));
    }

    /// The two sweeps that cross x as well, and the sends at the end of the others.
    fn turns(&self, usage: &mut Usage) {
        let (x, y) = (&self.x, &self.y);
        let costliest =
            |&one: &usize, &other: &usize| y.cost(one, &[LATE]).total_cmp(&y.cost(other, &[LATE]));
        let late = y.kinds.iter().copied().max_by(costliest);
        let ranks = x.kinds.len() as f64;
        for end in [SweepEnd::Low, SweepEnd::High] {
            usage.add(ranks, &self.block(x.mean(end), y.most(), self.planes.full));
            usage.add(1.0, &x.all(&[EARLY]));
            usage.add(ranks, &late.map_or_else(Vec::new, |kind| y.counts(kind, &[LATE])));
            usage.add(1.0, &x.counts(x.kinds[0], &[EARLY, RELEASE]));
        }
    }

    /// A single row or column, through which sweeps go up and down.
    fn line(&self, usage: &mut Usage) {
        let is_row = self.y.kinds.is_empty();
        let (axis, sweeps) = if is_row { (&self.x, 1.0) } else { (&self.y, 2.0) };
        for end in [SweepEnd::Low, SweepEnd::High] {
            let cells = |mine: f64| {
                if is_row { [mine, self.y.most()] } else { [self.x.most(), mine] }
            };
            let block = |mine: f64| {
                let [it, jt] = cells(mine);
                self.block(it, jt, self.planes.full)
            };
            let pairs = axis.pairs(end);
            let cost = |pair: &Pair| self.cost(&block(pair.cells)) + axis.pair_cost(pair);
            let most =
                (0..pairs.len()).max_by(|&a, &b| cost(&pairs[a]).total_cmp(&cost(&pairs[b])));
            let Some(most) = most else {
                self.add_blocks(usage, 2.0 * self.steps, (cells(axis.most()), f64::INFINITY));
                continue;
            };
            let next = [most.checked_sub(1), Some(most + 1)].into_iter().flatten();
            let next = next.filter_map(|place| pairs.get(place)).map(&cost);
            let lead = cost(&pairs[most]) - next.fold(f64::NEG_INFINITY, f64::max);
            let turns = 2.0 * self.steps - sweeps;
            self.add_blocks(usage, 2.0 * self.steps, (cells(pairs[most].cells), lead));
            usage.add(turns, &axis.pair_counts(&pairs[most]));
            usage.add(sweeps * axis.kinds.len() as f64, &block(axis.mean(end)));
            usage.add(sweeps, &axis.all(&[EARLY]));
        }
    }
}

/// What a rank of a line sends downstream, and what it receives before.
struct Pair {
    sent: usize,
    received: Option<usize>,
    cells: f64,
}

impl Axis<'_> {
    /// Pairs in the order of the sweep away from that end.
    fn pairs(&self, end: SweepEnd) -> Vec<Pair> {
        let links = self.kinds.len();
        let pair = |place: usize| match end {
            SweepEnd::Low => Pair {
                sent: self.kinds[place],
                received: place.checked_sub(1).map(|before| self.kinds[before]),
                cells: self.cells[place],
            },
            SweepEnd::High => Pair {
                sent: self.kinds[links - 1 - place],
                received: place.checked_sub(1).map(|_| self.kinds[links - place]),
                cells: self.cells[links - place],
            },
        };
        (0..links).map(pair).collect()
    }

    fn pair_cost(&self, pair: &Pair) -> f64 {
        let received = pair.received.map_or(0.0, |kind| self.cost(kind, &[LATE]));
        self.cost(pair.sent, &[EARLY, RELEASE]) + received
    }

    fn pair_counts(&self, pair: &Pair) -> LinkCounts {
        let received = pair.received.map(|kind| self.counts(kind, &[LATE]));
        let sent = self.counts(pair.sent, &[EARLY, RELEASE]);
        sent.into_iter().chain(received.into_iter().flatten()).collect()
    }
}

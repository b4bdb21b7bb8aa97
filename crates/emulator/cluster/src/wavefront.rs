//! What runs: a wavefront over a grid of ranks.

use std::fmt;

use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, Seconds, SimSpan};

/// Ranks along x (i) and y (j); rank = x + px y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    px: u32,
    py: u32,
}

/// The most ranks of a grid.
const MOST_RANKS: u64 = 1 << 22;

impl Grid {
    /// A grid of px x py.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no rank, and for more than four million.
    pub fn new(px: u32, py: u32) -> Result<Self> {
        let ranks = u64::from(px) * u64::from(py);
        if (1..=MOST_RANKS).contains(&ranks) {
            return Ok(Self { px, py });
        }
        Err(Error::out_of_range("ranks", format!("{px} x {py}"), format!("1 to {MOST_RANKS}")))
    }

    /// Ranks along x.
    pub fn px(self) -> u32 {
        self.px
    }

    /// Ranks along y.
    pub fn py(self) -> u32 {
        self.py
    }

    /// All ranks.
    pub fn ranks(self) -> u32 {
        self.px * self.py
    }

    /// The number of the rank at (x, y).
    pub fn rank(self, [x, y]: [u32; 2]) -> u32 {
        x + self.px * y
    }

    /// Positions of all ranks, by number.
    pub fn all(self) -> impl Iterator<Item = [u32; 2]> {
        (0..self.py).flat_map(move |y| (0..self.px).map(move |x| [x, y]))
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.px, self.py)
    }
}

/// How an octant is cut into steps; each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// Blocks of angles: `mmo = mm/mmi`.
    pub angle_blocks: u32,
    /// Blocks of planes of k: `kb`.
    pub plane_blocks: u32,
}

impl Steps {
    /// Steps of an iteration, `S = 8 mmo kb`: octants in the order (---) (--+) (-+-) (-++) (+--) (+-+)
    /// (++-) (+++) of their signs along x, y and z, and in each angle blocks, and in these plane
    /// blocks.
    pub fn in_iteration(self) -> u32 {
        8 * self.in_octant()
    }

    /// Steps of an octant.
    pub fn in_octant(self) -> u32 {
        self.angle_blocks * self.plane_blocks
    }
}

/// The corners of the grid where sweeps start, in their order: whether they go towards larger x, and
/// towards larger y. Two octants follow each other from each.
pub(crate) const CORNERS: [[bool; 2]; 4] =
    [[false, false], [false, true], [true, false], [true, true]];

/// How long each rank computes in each step.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// Classes by rank; empty where all are of the first class.
    classes: Vec<u32>,
    /// Times by class, and in it by step \[ticks\].
    times: Vec<f64>,
    /// Times of a class: 1, or one for each step of an iteration.
    row: usize,
}

impl Blocks {
    /// All ranks the same time in all steps.
    pub fn same(time: Seconds) -> Self {
        Self { classes: Vec::new(), times: vec![ticks(time)], row: 1 }
    }

    /// Blocks by the cells that ranks of a column have along x, and ranks of a row along y; asked once for each
    /// pair of extents. Where cells are shared out with a remainder, there are four pairs.
    pub fn of_extents(its: &[u32], jts: &[u32], time: impl Fn([u32; 2]) -> Seconds) -> Self {
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        let mut classes = Vec::with_capacity(its.len() * jts.len());
        for &jt in jts {
            for &it in its {
                let known = pairs.iter().position(|&pair| pair == [it, jt]);
                classes.push(known.unwrap_or(pairs.len()) as u32);
                if known.is_none() {
                    pairs.push([it, jt]);
                }
            }
        }
        let times = pairs.into_iter().map(|pair| ticks(time(pair))).collect();
        Self { classes, times, row: 1 }
    }

    /// Each rank its own time, the same in all steps.
    pub fn by_rank(grid: Grid, time: impl Fn([u32; 2]) -> Seconds) -> Self {
        let times = grid.all().map(|place| ticks(time(place))).collect();
        Self { classes: (0..grid.ranks()).collect(), times, row: 1 }
    }

    /// The times of all steps of an iteration by class, and the class of each rank: what kernels took
    /// on sampled ranks, each standing for others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where classes have different numbers of steps, and for a rank whose class
    /// is not there.
    pub fn by_step(classes: Vec<u32>, times: &[Vec<Seconds>]) -> Result<Self> {
        let row = times.first().map_or(0, Vec::len);
        let refuse = |found: String, expected: String| {
            Err(Error::out_of_range("block times", found, expected))
        };
        if let Some(other) = times.iter().find(|other| other.len() != row || row == 0) {
            return refuse(format!("{} steps", other.len()), format!("{} for all", row.max(1)));
        }
        if let Some(class) = classes.iter().find(|&&class| class as usize >= times.len()) {
            return refuse(format!("class {class}"), format!("less than {}", times.len()));
        }
        let times = times.iter().flatten().map(|&time| ticks(time)).collect();
        Ok(Self { classes, times, row })
    }

    /// The time of a rank in a step \[ticks\].
    pub(crate) fn at(&self, rank: usize, step: usize) -> f64 {
        let class = self.classes.get(rank).map_or(0, |&class| class as usize);
        self.times[class * self.row + if self.row == 1 { 0 } else { step }]
    }

    /// Whether times depend on the step.
    pub(crate) fn vary(&self) -> bool {
        self.row > 1
    }
}

/// The sizes of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faces {
    /// Bytes of a message along x, by y: `8 jt mk mmi`.
    pub east_west: Vec<Bytes>,
    /// Bytes of a message along y, by x: `8 it mk mmi`.
    pub north_south: Vec<Bytes>,
}

impl Faces {
    /// All messages along an axis as large as one another.
    pub fn same(grid: Grid, east_west: Bytes, north_south: Bytes) -> Self {
        Self {
            east_west: vec![east_west; grid.py() as usize],
            north_south: vec![north_south; grid.px() as usize],
        }
    }
}

/// A wavefront over a grid of ranks. In each step a rank receives the face of its neighbour upstream
/// along x, then that along y, computes, sends along x, then along y; at the border a receive or a
/// send is left out. Messages are synchronous, and block.
#[derive(Debug, Clone, PartialEq)]
pub struct Wavefront {
    pub(crate) grid: Grid,
    pub(crate) steps: Steps,
    pub(crate) blocks: Blocks,
    pub(crate) faces: Faces,
}

impl Wavefront {
    /// Puts together what belongs together.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there are no steps, or where blocks or faces are not those of the
    /// grid and the steps.
    pub fn new(grid: Grid, steps: Steps, blocks: Blocks, faces: Faces) -> Result<Self> {
        let check = |name, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            let (found, expected) = (found.to_string(), expected.to_string());
            Err(Error::out_of_range(name, found, expected))
        };
        let in_iteration = u64::from(steps.angle_blocks) * u64::from(steps.plane_blocks) * 8;
        if in_iteration == 0 || in_iteration > MOST_STEPS {
            return Err(Error::out_of_range(
                "steps of an iteration",
                in_iteration.to_string(),
                format!("8 to {MOST_STEPS}"),
            ));
        }
        if !blocks.classes.is_empty() {
            check("ranks with block times", blocks.classes.len(), grid.ranks() as usize)?;
        }
        if blocks.vary() {
            check("steps with block times", blocks.row, in_iteration as usize)?;
        }
        check("sizes of faces along x", faces.east_west.len(), grid.py() as usize)?;
        check("sizes of faces along y", faces.north_south.len(), grid.px() as usize)?;
        Ok(Self { grid, steps, blocks, faces })
    }

    /// The ranks.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The steps.
    pub fn steps(&self) -> Steps {
        self.steps
    }
}

/// The most steps of an iteration.
const MOST_STEPS: u64 = 1 << 20;

/// A time in ticks of virtual time. Whole numbers of them are exact up to 2^53 (9 s), so the order of
/// additions does not matter.
pub(crate) fn ticks(time: Seconds) -> f64 {
    SimSpan::from_seconds(time).ticks() as f64
}

/// The time of so many ticks.
pub(crate) fn seconds(ticks: f64) -> Seconds {
    Seconds(ticks / 1e15)
}

//! What there is to choose.

use mmgp_base::Mapping;

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
    /// Of a node.
    pub node: [u32; 2],
    /// Of a blade.
    pub blade: [u32; 2],
    /// Of a Cell.
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
pub struct Choice {
    /// Ranks along x.
    pub px: u32,
    /// Ranks along y.
    pub py: u32,
    /// Planes of a block: mk.
    pub planes: u32,
    /// Angles of a block: mmi, which divides those of an octant.
    pub angles: u32,
    /// Which ranks are on one node, blade and Cell.
    pub tiling: Tiling,
}

impl Choice {
    /// Nodes, and ranks of each: (m, p).
    pub fn mapping(&self) -> Option<Mapping> {
        let [x, y] = self.tiling.node;
        Mapping::new(self.px.div_ceil(x) * self.py.div_ceil(y), x * y).ok()
    }

    /// Steps of a sweep from a corner, two octants: `S/4 = 2 mmo kb`.
    pub(super) fn steps(&self, problem: &Problem) -> f64 {
        f64::from(2 * (problem.angles / self.angles) * self.plane_blocks(problem))
    }

    /// Blocks of planes in an octant: kb.
    pub(super) fn plane_blocks(&self, problem: &Problem) -> u32 {
        problem.kt.div_ceil(self.planes)
    }
}

/// All choices for a mapping: m nodes whose tiles of p ranks cover a grid exactly, with at least a cell for
/// each rank, and every number of plane blocks and angle blocks; of planes that give equally many
/// blocks the fewest. A node's ranks are cut into those of so many blades, and these into so many
/// Cells.
pub fn choices(problem: &Problem, mapping: Mapping, [blades, cells]: [u32; 2]) -> Vec<Choice> {
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
                let choice = |&planes: &u32| Choice { px, py, planes, angles, tiling };
                found.extend(planes.iter().map(choice));
            }
        }
    }
    found
}

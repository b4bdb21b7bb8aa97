//! Which rank runs where.

use super::link::Link;
use super::wavefront::Grid;
use mmgp_base::error::{Error, Result};

/// How many of what a machine has; each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// SPEs of a Cell.
    pub spes_per_cell: u32,
    /// Cells of a blade, which share memory.
    pub cells_per_blade: u32,
    /// Blades of a node, which share hosts and an adapter.
    pub blades_per_node: u32,
    /// Nodes of a connected unit.
    pub nodes_per_unit: u32,
    /// Units.
    pub units: u32,
}

impl Shape {
    fn checked(self) -> Result<Self> {
        let all = [
            self.spes_per_cell,
            self.cells_per_blade,
            self.blades_per_node,
            self.nodes_per_unit,
            self.units,
        ];
        let spes = all.iter().map(|&count| u64::from(count)).product::<u64>();
        if spes == 0 || spes > u64::from(MOST_SPES) {
            return Err(Error::out_of_range(
                "SPEs of the machine",
                spes.to_string(),
                format!("1 to {MOST_SPES}"),
            ));
        }
        Ok(self)
    }

    /// SPEs of a blade.
    pub fn spes_per_blade(self) -> u32 {
        self.spes_per_cell * self.cells_per_blade
    }

    /// SPEs of a node.
    pub fn spes_per_node(self) -> u32 {
        self.spes_per_blade() * self.blades_per_node
    }

    /// SPEs of a unit.
    pub fn spes_per_unit(self) -> u32 {
        self.spes_per_node() * self.nodes_per_unit
    }

    /// SPEs of the machine.
    pub fn spes(self) -> u32 {
        self.spes_per_unit() * self.units
    }

    /// What lies between two SPEs, counted through Cells, blades, nodes and units.
    pub fn link(self, one: u32, other: u32) -> Link {
        let apart = |size: u32| one / size != other / size;
        if apart(self.spes_per_unit()) {
            Link::BetweenUnits
        } else if apart(self.spes_per_node()) {
            Link::BetweenNodes
        } else if apart(self.spes_per_blade()) {
            Link::BetweenBlades
        } else if apart(self.spes_per_cell) {
            Link::BetweenCells
        } else {
            Link::WithinCell
        }
    }
}

/// The most SPEs of a machine.
const MOST_SPES: u32 = 1 << 24;

/// Rectangles of ranks that stand on one node, blade and Cell, as ranks along x and y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiles {
    /// Tile of a node.
    pub node: [u32; 2],
    /// Tile of a blade; divides the node's.
    pub blade: [u32; 2],
    /// Tile of a Cell; divides the blade's.
    pub cell: [u32; 2],
}

impl Tiles {
    /// A node's tile cut along its longer side into the tiles of its blades, and these into those of
    /// their Cells; along the other side where the longer one cannot be cut evenly.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where neither side can be cut into that many.
    pub fn cut(node: [u32; 2], shape: Shape) -> Result<Self> {
        let blade = cut(node, shape.blades_per_node)?;
        let cell = cut(blade, shape.cells_per_blade)?;
        Ok(Self { node, blade, cell })
    }
}

fn cut([x, y]: [u32; 2], parts: u32) -> Result<[u32; 2]> {
    let cuts = if x > y { [[parts, 1], [1, parts]] } else { [[1, parts], [parts, 1]] };
    let fits =
        |&&[along_x, along_y]: &&[u32; 2]| x.is_multiple_of(along_x) && y.is_multiple_of(along_y);
    let cut = cuts.iter().find(fits).ok_or_else(|| {
        Error::out_of_range(
            "tile",
            format!("{x} x {y}"),
            format!("a side that can be cut into {parts}"),
        )
    })?;
    Ok([x / cut[0], y / cut[1]])
}

/// Which SPE each rank runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    grid: Grid,
    shape: Shape,
    /// SPEs by rank, counted through Cells, blades, nodes and units.
    spes: Vec<u32>,
}

impl Placement {
    /// Rank after rank on SPE after SPE.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there are more ranks than SPEs.
    pub fn row_major(grid: Grid, shape: Shape) -> Result<Self> {
        let shape = shape.checked()?;
        let spes: Vec<u32> = (0..grid.ranks()).collect();
        Self { grid, shape, spes }.checked()
    }

    /// A tile of ranks on each node, tiles row by row; in it a tile for each blade, and in that one for
    /// each Cell, row by row too. Tiles at the high ends of the grid may be cut off.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where tiles do not divide one another, where one has more parts than its
    /// part of the machine, and where there are more tiles than nodes.
    pub fn tiled(grid: Grid, shape: Shape, tiles: Tiles) -> Result<Self> {
        let shape = shape.checked()?;
        let Tiles { node, blade, cell } = tiles;
        check_parts("a node's tile", node, blade, shape.blades_per_node)?;
        check_parts("a blade's tile", blade, cell, shape.cells_per_blade)?;
        check_parts("a Cell's tile", cell, [1, 1], shape.spes_per_cell)?;
        let nodes_x = grid.px().div_ceil(node[0]);
        let spes = grid.all().map(|[x, y]| {
            let place = number([x, y], node, nodes_x);
            let of_blade = number(within([x, y], node), blade, node[0] / blade[0]);
            let of_cell = number(within([x, y], blade), cell, blade[0] / cell[0]);
            let of_spe = number(within([x, y], cell), [1, 1], cell[0]);
            let blade = place * shape.blades_per_node + of_blade;
            (blade * shape.cells_per_blade + of_cell) * shape.spes_per_cell + of_spe
        });
        let spes = spes.collect();
        Self { grid, shape, spes }.checked()
    }

    fn checked(self) -> Result<Self> {
        let needed = self.spes.iter().max().map_or(0, |&last| last + 1);
        if needed > self.shape.spes() {
            return Err(Error::out_of_range(
                "ranks",
                format!("{} that take {needed} SPEs", self.grid),
                format!("no more than {} SPEs", self.shape.spes()),
            ));
        }
        Ok(self)
    }

    /// The ranks.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The machine.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The SPE of a rank, counted through Cells, blades, nodes and units.
    pub fn spe(&self, rank: u32) -> u32 {
        self.spes[rank as usize]
    }

    /// What lies between two ranks.
    pub fn link(&self, one: u32, other: u32) -> Link {
        self.shape.link(self.spe(one), self.spe(other))
    }

    /// How many parts of each kind have ranks, the most in any whole of the next kind: SPEs of a Cell,
    /// Cells of a blade, blades of a node, nodes of a unit, units.
    pub fn in_use(&self) -> [u32; 5] {
        let shape = self.shape;
        let sizes = [
            1,
            shape.spes_per_cell,
            shape.spes_per_blade(),
            shape.spes_per_node(),
            shape.spes_per_unit(),
            shape.spes(),
        ];
        let mut spes = self.spes.clone();
        spes.sort_unstable();
        let mut most = [0; 5];
        for (most, pair) in most.iter_mut().zip(sizes.windows(2)) {
            let mut parts: Vec<u32> = spes.iter().map(|spe| spe / pair[0]).collect();
            parts.dedup();
            let wholes = parts.chunk_by(|one, other| {
                let parts_of_whole = pair[1] / pair[0];
                one / parts_of_whole == other / parts_of_whole
            });
            *most = wholes.map(|whole| whole.len() as u32).max().unwrap_or(0);
        }
        most
    }
}

fn check_parts(name: &'static str, whole: [u32; 2], part: [u32; 2], most: u32) -> Result<()> {
    let is_positive = part.iter().all(|&side| side > 0);
    let divides = is_positive && (0..2).all(|axis| whole[axis].is_multiple_of(part[axis]));
    let parts = if divides { (whole[0] / part[0]) * (whole[1] / part[1]) } else { 0 };
    if (1..=most).contains(&parts) {
        return Ok(());
    }
    Err(Error::out_of_range(
        name,
        format!("{} x {} of {} x {}", whole[0], whole[1], part[0], part[1]),
        format!("1 to {most} whole parts"),
    ))
}

/// Which tile, counted row by row with so many in a row.
fn number([x, y]: [u32; 2], tile: [u32; 2], row: u32) -> u32 {
    x / tile[0] + row * (y / tile[1])
}

fn within([x, y]: [u32; 2], tile: [u32; 2]) -> [u32; 2] {
    [x % tile[0], y % tile[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIBLADES: Shape = Shape {
        spes_per_cell: 8,
        cells_per_blade: 2,
        blades_per_node: 2,
        nodes_per_unit: 180,
        units: 17,
    };

    #[test]
    fn tiles_of_2_by_16_fill_the_whole_machine() {
        let grid = Grid::new(306, 320).unwrap();
        let tiles = Tiles::cut([2, 16], TRIBLADES).unwrap();
        assert_eq!((tiles.blade, tiles.cell), ([2, 8], [2, 4]));
        let placement = Placement::tiled(grid, TRIBLADES, tiles).unwrap();
        let mut spes: Vec<u32> = (0..grid.ranks()).map(|rank| placement.spe(rank)).collect();
        spes.sort_unstable();
        assert_eq!(spes, (0..97_920).collect::<Vec<u32>>());
        assert_eq!(placement.in_use(), [8, 2, 2, 180, 17]);
    }

    #[test]
    fn the_link_follows_from_where_two_ranks_are() {
        let grid = Grid::new(306, 320).unwrap();
        let tiles = Tiles::cut([2, 16], TRIBLADES).unwrap();
        let placement = Placement::tiled(grid, TRIBLADES, tiles).unwrap();
        let link = |one, other| placement.link(grid.rank(one), grid.rank(other));
        assert_eq!(link([0, 0], [1, 0]), Link::WithinCell);
        assert_eq!(link([0, 3], [0, 4]), Link::BetweenCells);
        assert_eq!(link([0, 7], [0, 8]), Link::BetweenBlades);
        assert_eq!(link([1, 0], [2, 0]), Link::BetweenNodes);
        // A row of tiles has 153 nodes: the first unit ends in the second, after 27 of them.
        assert_eq!(link([0, 15], [0, 16]), Link::BetweenNodes);
        assert_eq!(link([52, 15], [52, 16]), Link::BetweenNodes);
        assert_eq!(link([54, 15], [54, 16]), Link::BetweenUnits);
        assert_eq!(link([53, 16], [54, 16]), Link::BetweenUnits);
        let row_major = Placement::row_major(grid, TRIBLADES).unwrap();
        assert_eq!(row_major.link(7, 8), Link::BetweenCells);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let tiled = |grid: [u32; 2], tiles| {
            let grid = Grid::new(grid[0], grid[1]).unwrap();
            Placement::tiled(grid, TRIBLADES, tiles).unwrap_err().to_string()
        };
        let tiles = Tiles { node: [2, 16], blade: [2, 8], cell: [2, 4] };
        // The last of 153 x 21 tiles has two ranks: 3,212 x 32 + 2.
        assert_eq!(
            tiled([306, 321], tiles),
            "ranks: found 306 x 321 that take 102786 SPEs, expected no more than 97920 SPEs"
        );
        assert_eq!(
            tiled([2, 16], Tiles { blade: [2, 4], ..tiles }),
            "a node's tile: found 2 x 16 of 2 x 4, expected 1 to 2 whole parts"
        );
        assert_eq!(
            Tiles::cut([3, 5], TRIBLADES).unwrap_err().to_string(),
            "tile: found 3 x 5, expected a side that can be cut into 2"
        );
    }
}

//! Sweep3D on the hosts of a machine of nodes alone, without its Cells: the baseline of what these gain.
//!
//! A rank runs on each core of the hosts, and sweeps what the SPEs of its Cell do otherwise, by blocks of as many
//! planes or half, a quarter and so on of them, whichever is the fastest: its blocks have more cells than an SPE's, and
//! filling the grid with them takes longer.
//! What a cell and an angle takes on a core is put in: no measured time of the hosts of a machine file is at hand.
//! At its peak rate a core takes [`Hosts::least`], which no program does, so that with it the hosts come out too
//! fast, and what the Cells gain too little.
//!
//! Messages between cores cost what the machine's file says of the hops that the Cells' messages take between hosts. They
//! are synchronous as the Cells' are, so that a sender waits for longer than under an MPI that keeps short messages.
//! Left out: that cores share a chip's memory and a node's adapter.

use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cluster::{
    Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Network, Placement, Shape, Steps,
    Tiles, Wavefront,
};
use mmgp_machine::{Machine, Transport};
use mmgp_sweep::Line;

use super::messages::shape;
use super::wavefront::BlockPlan;

/// Hosts of a machine, and what a cell takes on them.
#[derive(Debug)]
pub struct Hosts {
    /// A Cell stands for its core of the host.
    shape: Shape,
    network: Network,
    cell_and_angle: Seconds,
}

impl Hosts {
    /// The least time of a cell and angle on a core of the host, at its peak rate; none where the machine has no
    /// hosts.
    pub fn least(machine: &Machine) -> Option<Seconds> {
        machine.network.map(|network| network.host_time(Line::OPERATIONS))
    }

    /// Hosts on which a cell and an angle takes so long; none where the machine has no hosts.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a time below [`Hosts::least`].
    pub fn new(machine: &Machine, cell_and_angle: Seconds) -> Result<Option<Self>> {
        let (Some(least), Some(network)) = (Self::least(machine), machine.network) else {
            return Ok(None);
        };
        if !(least..Seconds(f64::INFINITY)).contains(&cell_and_angle) {
            return Err(Error::out_of_range(
                "time of a cell and angle on a core of the host",
                cell_and_angle.to_string(),
                format!("at least {least}, which its peak rate allows"),
            ));
        }
        let of_cells = shape(machine);
        let exchange = |by: Transport, hops: u32| {
            let latency = by.latency + network.hop * f64::from(hops);
            Curve::line(latency, by.rate).map(Exchange::symmetric)
        };
        // As far apart as most are, as in `messages`.
        let middle = of_cells.nodes_per_unit / 2;
        let other_unit = (of_cells.units.min(2) - 1) * of_cells.nodes_per_unit;
        let across = |node: u32| exchange(network.mpi(), network.crossbars(0, node) - 1);
        let exchanges = [
            Exchange::ideal(),
            exchange(network.shared(), 0)?,
            Exchange::ideal(),
            across(middle)?,
            across(other_unit + middle)?,
        ];
        let network = Network::new(exchanges);
        let shape = Shape {
            spes_per_cell: 1,
            cells_per_blade: of_cells.cells_per_blade * of_cells.blades_per_node,
            blades_per_node: 1,
            ..of_cells
        };
        Ok(Some(Self { shape, network, cell_and_angle }))
    }

    /// What a cell and an angle takes on a core.
    pub fn cell_and_angle(&self) -> Seconds {
        self.cell_and_angle
    }

    /// An iteration over so many planes on the hosts of all nodes that ranks on SPEs fill, where these have blocks
    /// of `block` and stand on nodes by `tiles`; none where they fill only a part of a node.
    ///
    /// # Errors
    /// What the simulation refuses.
    pub fn iteration(
        &self,
        ranks: Grid,
        tiles: Tiles,
        block: &BlockPlan,
        planes: u32,
    ) -> Result<Option<Seconds>> {
        let ([tx, ty], [cx, cy]) = (tiles.node, tiles.cell);
        if !ranks.px().is_multiple_of(tx) || !ranks.py().is_multiple_of(ty) {
            return Ok(None);
        }
        let ([it, jt], [angles, all]) = (block.cells, block.angles);
        let (cells, node) = ([it * cx, jt * cy], [tx / cx, ty / cy]);
        let grid = Grid::new(ranks.px() / cx, ranks.py() / cy)?;
        let tiles = Tiles { node, blade: node, cell: [1, 1] };
        let placement = Placement::tiled(grid, self.shape, tiles)?;
        let of_planes = |of_block: u32| {
            let face = |side: u32| Bytes(8 * u64::from(side * of_block * angles));
            let faces = Faces::same(grid, face(cells[1]), face(cells[0]));
            let steps =
                Steps { angle_blocks: all / angles, plane_blocks: planes.div_ceil(of_block) };
            let time = self.cell_and_angle * f64::from(cells[0] * cells[1] * of_block * angles);
            let wavefront = Wavefront::new(grid, steps, Blocks::same(time), faces)?;
            Cluster::new(wavefront, &placement, &self.network)
        };
        let halves = std::iter::successors(Some(block.planes), |&it| (it > 1).then_some(it / 2));
        let mut least = None;
        for cluster in halves.map(of_planes) {
            let time = cluster?.recurrence(2, Between::Nothing).next();
            least =
                Some(least.map_or(time, |least: Seconds| if time < least { time } else { least }));
        }
        Ok(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    const BLOCK: BlockPlan = BlockPlan { cells: [5, 5], planes: 20, angles: [6, 6], ranks: 32 };
    const TILES: Tiles = Tiles { node: [2, 16], blade: [2, 8], cell: [2, 4] };

    fn hosts(cell_and_angle: f64) -> Hosts {
        let machine = Machine::named("roadrunner").unwrap();
        Hosts::new(&machine, Seconds(cell_and_angle)).unwrap().unwrap()
    }

    fn iteration(hosts: &Hosts, ranks: [u32; 2]) -> Option<Seconds> {
        hosts.iteration(Grid::new(ranks[0], ranks[1]).unwrap(), TILES, &BLOCK, 400).unwrap()
    }

    #[test]
    fn the_cores_of_a_node_sweep_what_its_spes_do_and_send_through_memory() {
        // A core has 10 x 20 cells, four stand one behind the other along j, and each of four corners has two octants
        // of 400 / k blocks. The second core receives the first block after the first one has computed it, and
        // goes on with the next after it has computed, sent and received; the fourth computes its last one when that
        // has passed the third.
        let of_planes = |k: f64| {
            let block = 10.0 * 20.0 * k * 6.0 * 20e-9;
            let face = 0.9e-6 + 8.0 * 10.0 * k * 6.0 / 1.2e9;
            4.0 * (4.0 * block + 3.0 * face + (800.0 / k - 1.0) * (block + 2.0 * face))
        };
        let least = [20.0, 10.0, 5.0, 2.0, 1.0].map(of_planes).into_iter().min_by(f64::total_cmp);
        let time = iteration(&hosts(20e-9), [2, 16]).unwrap();
        assert_relative_eq!(time.0, least.unwrap(), max_relative = 1e-9);
        assert!(least.unwrap() < 0.99 * of_planes(20.0));
    }

    #[test]
    fn many_hosts_take_longer_than_those_of_a_node_by_filling() {
        let hosts = hosts(20e-9);
        let [node, many] = [[2, 16], [96, 96]].map(|ranks| iteration(&hosts, ranks).unwrap().0);
        // Blocks of k planes: S = 8 x 400 / k steps, and F = 2 (48 - 1) + 4 (24 - 1) to fill 48 x 24 cores. Messages are
        // not longer than two blocks of one plane each.
        let compute = |k: f64| 10.0 * 20.0 * k * 6.0 * 20e-9 * (3200.0 / k + 186.0);
        assert!(node < many && compute(1.0) < many && many < 1.5 * compute(1.0), "{node} {many}");
    }

    #[test]
    fn a_part_of_a_node_and_a_machine_without_hosts_have_no_baseline() {
        assert_eq!(iteration(&hosts(20e-9), [2, 8]), None);
        let qs22 = Machine::named("qs22").unwrap();
        assert_eq!(Hosts::least(&qs22), None);
        assert!(Hosts::new(&qs22, Seconds(20e-9)).unwrap().is_none());
    }

    #[test]
    fn no_core_is_faster_than_its_peak() {
        let machine = Machine::named("roadrunner").unwrap();
        // 25 operations, two a cycle, at 1.8 GHz.
        let least = Hosts::least(&machine).unwrap();
        assert_relative_eq!(least.0, 25.0 / 3.6e9, max_relative = 1e-12);
        let refused = Hosts::new(&machine, Seconds(5e-9)).unwrap_err().to_string();
        assert!(refused.contains("at least"), "{refused}");
    }
}

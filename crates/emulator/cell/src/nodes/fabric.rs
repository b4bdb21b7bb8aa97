//! The way from one Cell's host code to that of another: DaCS, MPI, DaCS.

use std::collections::BTreeMap;

use mmgp_base::units::{Bytes, Seconds, SimSpan};
use mmgp_machine::{Layout, Network, Transport};
use mmgp_sim::{Pool, Sim};

/// A Cell of one of the blades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seat {
    /// The blade, counted among those that are emulated.
    pub blade: usize,
    /// The Cell on it.
    pub cell: u32,
}

/// Hosts and network.
pub(crate) struct Fabric {
    sim: Sim,
    network: Network,
    cells_per_blade: u32,
    /// By blade and Cell.
    hosts: Vec<Host>,
    /// The node of each blade.
    nodes: Vec<u32>,
    adapters: BTreeMap<u32, Adapter>,
}

/// A Cell's core of the host, and what ties them.
struct Host {
    up: Pool,
    down: Pool,
    core: Pool,
}

/// The adapter of a node.
struct Adapter {
    out: Pool,
    into: Pool,
}

impl Fabric {
    pub fn new(sim: &Sim, network: Network, positions: &[u32], layout: Layout) -> Self {
        let one = |name: String| Pool::new(sim, &name, 1);
        let host = |(blade, cell): (u32, u32)| Host {
            up: one(format!("DaCS out of Cell {cell} of blade {blade}")),
            down: one(format!("DaCS into Cell {cell} of blade {blade}")),
            core: one(format!("the host's core of Cell {cell} of blade {blade}")),
        };
        let cells = |&blade: &u32| (0..layout.cells).map(move |cell| (blade, cell));
        let adapter = |node: u32| Adapter {
            out: one(format!("the adapter out of node {node}")),
            into: one(format!("the adapter into node {node}")),
        };
        let nodes: Vec<u32> =
            positions.iter().map(|position| position / network.blades_per_node).collect();
        Self {
            sim: sim.clone(),
            network,
            cells_per_blade: layout.cells,
            hosts: positions.iter().flat_map(cells).map(host).collect(),
            adapters: nodes.iter().map(|&node| (node, adapter(node))).collect(),
            nodes,
        }
    }

    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The node of a blade.
    pub fn node(&self, blade: usize) -> u32 {
        self.nodes[blade]
    }

    /// Carries a message from the memory of one Cell to that of another one of another blade.
    pub async fn carry(&self, from: Seat, to: Seat, bytes: Bytes) {
        self.up(from, bytes).await;
        let (source, target) = (self.nodes[from.blade], self.nodes[to.blade]);
        let core = &self.host(from).core;
        let transport = if source == target { self.network.shared() } else { self.network.mpi() };
        let (forward, Transport { latency, overhead, rate }) = (self.network.forward, transport);
        let passing = Seconds(bytes.0 as f64 / rate.0);
        if source == target {
            self.serve(core, forward + overhead + passing).await;
            self.wait(latency - overhead * 2.0).await;
        } else {
            self.serve(core, forward + overhead).await;
            {
                let _out = self.adapters[&source].out.acquire().await;
                let _into = self.adapters[&target].into.acquire().await;
                self.wait(passing).await;
            }
            let further = f64::from(self.network.crossbars(source, target) - 1);
            self.wait(latency - overhead * 2.0 + self.network.hop * further).await;
        }
        self.serve(&self.host(to).core, overhead + forward).await;
        self.down(to, bytes).await;
    }

    /// From a Cell to its core of the host.
    pub async fn up(&self, seat: Seat, bytes: Bytes) {
        self.dacs(&self.host(seat).up, bytes).await;
    }

    /// From a core of the host to its Cell.
    pub async fn down(&self, seat: Seat, bytes: Bytes) {
        self.dacs(&self.host(seat).down, bytes).await;
    }

    /// A Cell's core of the host works for so long, when it has passed on what came before.
    pub async fn work(&self, seat: Seat, time: Seconds) {
        self.serve(&self.host(seat).core, self.network.forward + time).await;
    }

    async fn dacs(&self, channel: &Pool, bytes: Bytes) {
        let dacs = self.network.dacs();
        self.serve(channel, dacs.occupied(bytes)).await;
        self.wait(dacs.latency - dacs.overhead).await;
    }

    async fn serve(&self, server: &Pool, time: Seconds) {
        let _served = server.acquire().await;
        self.wait(time).await;
    }

    async fn wait(&self, time: Seconds) {
        self.sim.sleep(SimSpan::from_seconds(time)).await;
    }

    fn host(&self, seat: Seat) -> &Host {
        &self.hosts[seat.blade * self.cells_per_blade as usize + seat.cell as usize]
    }
}

//! Several blades in one virtual time, with their hosts and the network between them.
//!
//! A *node* has some blades and a host, of which each Cell has a core to itself; units of nodes are
//! connected by switches. What it consists of, and what that costs, the machine's file says
//! ([`Network`]).
//!
//! # What a message between Cells of different blades passes
//! One stage after the other, so they are not overlapped; each stage that is *shared* serves one message
//! at a time, first come, first served. For a message of n bytes:
//!
//! | stage | shared by | occupied for | takes |
//! |---|---|---|---|
//! | DaCS, Cell to host | the SPEs of a Cell; a direction | `dacs_overhead` + n / `dacs_rate` | `dacs_latency` + n / `dacs_rate` |
//! | core of the host | both ways of its Cell | `forward` + overhead of the next stage | the same, of which the overhead counts for the next stage |
//! | memory, in a node | the core that sends | `shared_overhead` + n / `shared_rate` | `shared_latency` + n / `shared_rate` |
//! | adapters, between nodes | all of a node; a direction; at both ends at once | n / `mpi_rate` | `mpi_latency` + n / `mpi_rate` + `hop` for each crossbar after the first |
//! | core of the other host | as above | overhead + `forward` | `forward` |
//! | DaCS, host to Cell | as above | as above | as above |
//!
//! So alone it takes 2 (`dacs_latency` + n / `dacs_rate`) + 2 `forward` + latency + n / rate + hops.
//!
//! # What is left out
//! That the links between units and within their switches are shared, and half as many as the nodes. The
//! time that the software of DaCS takes from PPE and core while it is under way. Only the first blade
//! tells a trace what happens.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::Blade;
use crate::context::SpeImage;
use crate::mfc::Hazards;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, Seconds, SimSpan, SimTime};
use mmgp_machine::{Layout, Network, Transport};
use mmgp_sim::{Pool, Sim};

/// Blades of a machine of nodes, at work together.
pub struct Nodes {
    blades: Vec<Rc<Blade>>,
    /// The number of each in the whole machine.
    positions: Vec<u32>,
    fabric: Rc<Fabric>,
}

impl Nodes {
    /// `blades` blades from the first of the machine on, one of them `first`, the others like it.
    ///
    /// # Errors
    /// As [`Nodes::at`].
    pub fn beside(first: Rc<Blade>, blades: u32) -> Result<Self> {
        Self::at(first, (0..blades).collect())
    }

    /// The blades of the whole machine with these numbers, the first of them `first`, the others like
    /// it: node 0 has the first ones, node 1 the next ones and so on. What is not emulated is idle.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where `first` is of a machine without a network, or the machine has not
    /// that many blades, or one comes twice.
    pub fn at(first: Rc<Blade>, positions: Vec<u32>) -> Result<Self> {
        let Some(network) = first.machine.network else {
            let expected = "a machine whose file has a section [network], such as roadrunner";
            return Err(refused(first.machine.name.clone(), expected));
        };
        let all = network.nodes() * network.blades_per_node;
        let mut sorted = positions.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != positions.len() || sorted.last().is_none_or(|&last| last >= all) {
            let expected = format!("different blades, each below {all}");
            return Err(refused(format!("{positions:?}"), expected));
        }
        let fabric = Fabric::new(&first.sim, network, &positions, first.machine.layout);
        let others = (1..positions.len()).map(|_| Rc::new(first.another()));
        let blades = [Rc::clone(&first)].into_iter().chain(others).collect();
        Ok(Self { blades, positions, fabric: Rc::new(fabric) })
    }

    /// The blades, each of which numbers its Cells and SPEs from 0.
    pub fn blades(&self) -> &[Rc<Blade>] {
        &self.blades
    }

    /// The number of a blade in the whole machine.
    pub fn position(&self, blade: usize) -> u32 {
        self.positions[blade]
    }

    /// The node of a blade.
    pub fn node(&self, blade: usize) -> u32 {
        self.fabric.node(blade)
    }

    /// What connects them.
    pub fn network(&self) -> &Network {
        self.fabric.network()
    }

    pub(crate) fn fabric(&self) -> &Rc<Fabric> {
        &self.fabric
    }

    /// Creates contexts as [`Blade::create_contexts`] does, on all blades at the same time.
    ///
    /// # Errors
    /// As there.
    pub fn create_contexts(&self, image: &SpeImage) -> Result<()> {
        self.blades.iter().try_for_each(|blade| blade.create_contexts(image))
    }

    /// When all SPEs of all blades had their program.
    pub fn started(&self) -> SimTime {
        let started = self.blades.iter().map(|blade| blade.started());
        started.max().unwrap_or(SimTime::ZERO)
    }

    /// Chooses whether to look for hazards on all blades, as [`Blade::set_hazards`] does.
    pub fn set_hazards(&self, hazards: Hazards) {
        self.blades.iter().for_each(|blade| blade.set_hazards(hazards));
    }

    /// Runs everything to its end; the instant of the last event.
    ///
    /// # Errors
    /// The first fault of any blade, or [`Deadlock`](mmgp_sim::Deadlock).
    pub fn run(&self) -> Result<SimTime> {
        self.blades[0].run()
    }
}

fn refused(found: String, expected: impl Into<String>) -> Error {
    Error::out_of_range("blades", found, expected)
}

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
    /// Hosts by blade and Cell.
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

    /// Carries a message from a Cell to its core of the host.
    pub async fn up(&self, seat: Seat, bytes: Bytes) {
        self.dacs(&self.host(seat).up, bytes).await;
    }

    /// Carries a message from a core of the host to its Cell.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KernelTiming;
    use approx::assert_relative_eq;
    use mmgp_base::units::Bytes;
    use mmgp_machine::Machine;
    use std::cell::Cell;

    fn nodes(positions: &[u32]) -> Nodes {
        let machine = Machine::named("roadrunner").unwrap();
        let first = Rc::new(Blade::new(&machine, KernelTiming::Cached, 0.0));
        Nodes::at(first, positions.to_vec()).unwrap()
    }

    fn seat(blade: usize, cell: u32) -> Seat {
        Seat { blade, cell }
    }

    /// When the last of these messages has arrived.
    fn time(positions: &[u32], messages: &[(Seat, Seat, u64)]) -> f64 {
        let nodes = nodes(positions);
        let last = Rc::new(Cell::new(0.0));
        for &(from, to, bytes) in messages {
            let (fabric, sim) = (Rc::clone(nodes.fabric()), nodes.blades[0].sim.clone());
            let last = Rc::clone(&last);
            nodes.blades[0].sim.spawn("message", async move {
                fabric.carry(from, to, Bytes(bytes)).await;
                last.set(sim.now().seconds().0);
            });
        }
        nodes.run().unwrap();
        last.get()
    }

    #[track_caller]
    fn check(found: f64, by_hand: f64) {
        assert_relative_eq!(found, by_hand, max_relative = 1e-9);
    }

    #[test]
    fn a_message_alone_takes_the_sum_of_its_stages() {
        let network = *nodes(&[0]).network();
        let both = |bytes: f64| 2.0 * (3.5e-6 + bytes / 1.68e9) + 2.0 * 100e-9;
        let far = |bytes: f64| both(bytes) + 2.24e-6 + bytes / 2e9;
        assert_eq!(network.forward.0, 100e-9);
        // Blade 1 is of node 0; blade 2 of node 1, on its crossbar; 16 of node 8, on another one; 360 of
        // node 180, in another unit, where the crossbar has the same number; 376 where it has not.
        for bytes in [0, 1000] {
            let [here, there] = [(seat(0, 1), seat(1, 0), bytes)]
                .map(|one| [time(&[0, 1], &[one]), time(&[0, 2], &[one])])[0];
            let n = bytes as f64;
            check(here, both(n) + 0.9e-6 + n / 1.2e9);
            check(there, far(n));
            for (position, further) in [(16, 2.0), (360, 2.0), (376, 4.0), (12 * 360 + 16, 6.0)] {
                let found = time(&[0, position], &[(seat(0, 0), seat(1, 1), bytes)]);
                check(found, far(n) + further * 160e-9);
            }
        }
    }

    #[test]
    fn messages_wait_for_each_other_where_they_share_a_stage() {
        let bytes = 100_000;
        let n = bytes as f64;
        let alone = 2.0 * (3.5e-6 + n / 1.68e9) + 2.0 * 100e-9 + 2.24e-6 + n / 2e9;
        // Two of a Cell: the second leaves DaCS later by what the first occupies it for, which is the
        // narrowest stage.
        let two = [(seat(0, 0), seat(1, 0), bytes), (seat(0, 0), seat(1, 1), bytes)];
        check(time(&[0, 2], &two), alone + 1e-6 + n / 1.68e9);
        // Of two Cells of a node: they meet at its adapter.
        let two = [(seat(0, 0), seat(1, 0), bytes), (seat(0, 1), seat(1, 1), bytes)];
        check(time(&[0, 2], &two), alone + n / 2e9);
        // Of two nodes to one: at its adapter.
        let two = [(seat(0, 0), seat(2, 0), bytes), (seat(1, 0), seat(2, 1), bytes)];
        check(time(&[0, 2, 4], &two), alone + n / 2e9);
        // Towards each other: nowhere but at the cores, which have long done the one when the other comes.
        let two = [(seat(0, 0), seat(1, 0), bytes), (seat(1, 0), seat(0, 0), bytes)];
        check(time(&[0, 2], &two), alone);
    }

    #[test]
    fn only_blades_that_a_machine_has_can_be_connected() {
        let refused = |machine: &str, positions: Vec<u32>| {
            let machine = Machine::named(machine).unwrap();
            let first = Rc::new(Blade::new(&machine, KernelTiming::Cached, 0.0));
            Nodes::at(first, positions).err().unwrap().to_string()
        };
        assert!(refused("qs22", vec![0]).contains("such as roadrunner"));
        let most = "expected different blades, each below 6120";
        assert!(refused("roadrunner", vec![0, 6120]).contains(most));
        assert!(refused("roadrunner", vec![3, 3]).contains(most));
        assert!(refused("roadrunner", vec![]).contains(most));
    }

    #[test]
    fn a_fault_of_any_blade_ends_the_run_of_all() {
        let nodes = nodes(&[0, 1, 2]);
        let fault = nodes.blades()[2].fault();
        nodes.blades()[2].sim.spawn("program", async move {
            fault.raise(refused("x".into(), "y"));
            std::future::pending().await
        });
        assert_eq!(nodes.run().unwrap_err().to_string(), "blades: found x, expected y");
    }
}

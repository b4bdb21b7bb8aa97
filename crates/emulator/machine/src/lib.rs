//! The description of a machine: data, read from `models/machines/*.toml`.
//!
//! Read on at [`Machine`], which reads such a file.
//!
//! Every value carries its unit, its source and its [`Status`]; a file that leaves one out is
//! refused. A file may name another machine as its `base` and give only what differs.

pub mod figures;
mod hardware;
mod network;
mod reader;
mod software;

use mmgp_base::error::{Result, of_name};
use mmgp_base::table::Source;
use mmgp_base::units::Hertz;
use serde::Deserialize;

pub use hardware::{
    Banks, Cache, Eib, Flexio, Memory, Mfc, Numa, Participant, Ppe, PpeIssue, Spu, ThreadSharing,
};
pub use network::{Network, Transport};
pub use reader::{Provenance, Status};
pub use software::{
    Collectives, Interrupts, Kernel, KernelPath, Linux, LinuxScheduler, Messages, Mpi, Services,
};

/// The machines that are compiled in, by name.
const BUILT_IN: [(&str, &str); 5] = [
    ("ps3", include_str!("../models/machines/ps3.toml")),
    ("qs20", include_str!("../models/machines/qs20.toml")),
    ("qs20-cell", include_str!("../models/machines/qs20-cell.toml")),
    ("qs22", include_str!("../models/machines/qs22.toml")),
    ("roadrunner", include_str!("../models/machines/roadrunner.toml")),
];

/// A machine of Cell processors.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Machine {
    /// Short name, as on the command line.
    pub name: String,
    /// What it is, in a line.
    pub description: String,
    /// How many of what.
    pub layout: Layout,
    /// Clock of PPE and SPU.
    #[serde(rename = "clock.core")]
    pub clock: Hertz,
    /// Rate of the timebase register, with which programs take the time.
    #[serde(rename = "clock.timebase")]
    pub timebase: Hertz,
    /// The SPU's pipeline and local store.
    pub spu: Spu,
    /// The memory flow controller of an SPE.
    pub mfc: Mfc,
    /// The memory of each Cell.
    pub memory: Memory,
    /// The link between Cells.
    pub flexio: Flexio,
    /// The host core.
    pub ppe: Ppe,
    /// How the host core issues instructions.
    pub ppe_issue: PpeIssue,
    /// The caches of the host core.
    pub cache: Cache,
    /// The operating system.
    pub linux: Linux,
    /// What its services execute.
    pub kernel: Kernel,
    /// Messages among host processes.
    pub mpi: Mpi,
    /// Messages among programs on SPEs.
    pub messages: Messages,
    /// What connects it with others of its kind, where there are any.
    pub network: Option<Network>,
    /// The bus of each Cell.
    pub eib: Eib,
    /// The banks of each Cell's memory.
    pub banks: Banks,
    /// How memory is placed on the Cells.
    pub numa: Numa,
    /// Origins of all values, in the order of the sections' fields.
    #[serde(skip)]
    pub provenance: Vec<Provenance>,
}

/// How many of what a machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Layout {
    /// Cell processors, each with one PPE.
    pub cells: u32,
    /// Usable SPEs of each Cell.
    pub spes_per_cell: u32,
    /// Hardware threads of each PPE.
    pub threads_per_ppe: u32,
}

impl Layout {
    /// All SPEs of the machine: `N_APU`.
    pub fn spes(&self) -> u32 {
        self.cells * self.spes_per_cell
    }

    /// The hardware thread on which the process with that number begins, counted through all Cells: as
    /// many on each Cell, then on each thread of a PPE.
    pub fn home_thread(&self, process: u32) -> u32 {
        let turn = process / self.cells % self.threads_per_ppe;
        process % self.cells * self.threads_per_ppe + turn
    }
}

impl Machine {
    /// The names of the machines that are compiled in.
    pub fn built_in() -> Vec<String> {
        BUILT_IN.iter().map(|(name, _)| (*name).to_string()).collect()
    }

    /// A machine that is compiled in.
    pub fn named(name: &str) -> Result<Self> {
        Self::read(&built_in_source(name)?)
    }

    /// A machine from the text of its file.
    pub fn read(source: &Source) -> Result<Self> {
        reader::read(source)
    }
}

fn built_in_source(name: &str) -> Result<Source> {
    let (_, text) = of_name("machine", &BUILT_IN, |(name, _)| name, name)?;
    Ok(Source::new(&format!("models/machines/{name}.toml"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::Seconds;

    #[test]
    fn every_built_in_machine_can_be_read_and_bears_its_name() {
        for name in Machine::built_in() {
            let machine = Machine::named(&name).unwrap();
            assert_eq!(machine.name, name);
        }
    }

    #[test]
    fn a_base_may_have_a_base() {
        let text = "schema = 1\nname = \"mine\"\ndescription = \"x\"\nbase = \"qs20-cell\"\n[ppe]\n\
                    mmio_store = { value = 1e-6, unit = \"s\", status = \"assumed\", source = \"x\" }\n";
        let mine = Machine::read(&Source::new("mine.toml", text)).unwrap();
        let (cell, qs20) = (Machine::named("qs20-cell").unwrap(), Machine::named("qs20").unwrap());
        assert_eq!((mine.layout, mine.layout.spes()), (cell.layout, 8));
        assert_eq!(mine.ppe.mmio_store, Seconds(1e-6));
        assert_eq!((mine.ppe.mmio_load, mine.mfc), (qs20.ppe.mmio_load, qs20.mfc));
    }

    #[test]
    fn a_machine_on_a_base_differs_only_where_it_says_so() {
        let (qs20, ps3) = (Machine::named("qs20").unwrap(), Machine::named("ps3").unwrap());
        assert_eq!((qs20.layout.spes(), ps3.layout.spes()), (16, 6));
        assert_eq!(ps3.clock, Hertz(3.192e9));
        assert_eq!((qs20.spu, qs20.ppe), (ps3.spu, ps3.ppe));
    }

    #[test]
    fn only_a_machine_of_nodes_has_a_network_and_its_layout_is_that_of_a_blade() {
        let [qs22, all] = ["qs22", "roadrunner"].map(|name| Machine::named(name).unwrap());
        assert_eq!((qs22.network, qs22.layout), (None, all.layout));
        assert_eq!((qs22.spu, qs22.memory, qs22.messages), (all.spu, all.memory, all.messages));
        let network = all.network.unwrap();
        let spes = network.nodes() * network.blades_per_node * all.layout.spes();
        assert_eq!((network.nodes(), spes), (3060, 97_920));
        // A node's peak: four Cells, and a core of the host for each.
        let cells = 4.0 * (8.0 * 12.8 + 6.4);
        let hosts = 4.0 / network.host_time(1).0 * 1e-9;
        assert!((cells + hosts - 449.6).abs() < 1e-9, "{hosts}");
        // Two hops of DaCS and one of MPI.
        let transport = 2.0 * network.dacs_latency.0 + network.mpi_latency.0;
        assert!((transport - 9.24e-6).abs() < 1e-15, "{transport}");
    }

    #[test]
    fn a_collective_costs_what_was_measured_for_its_ranks() {
        let machine = Machine::named("qs20").unwrap();
        let costs = [1, 2, 4, 16, 40].map(|ranks| machine.mpi.collective_cost(ranks).0);
        assert_eq!(costs, [0.0, 16e-6, 118e-6, 842e-6, 842e-6]);
    }

    /// The machine with that change is refused because of what stands at `place`.
    fn check(change: (&str, &str), place: &str, message: &str) {
        let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == "qs20").unwrap();
        let changed = Source::new("my.toml", &text.replacen(change.0, change.1, 1));
        assert_ne!(*text, changed.text);
        let at = changed.position(changed.text.find(place).unwrap());
        let error = Machine::read(&changed).unwrap_err();
        assert_eq!(error.to_string(), format!("{at}: {message}"));
    }

    #[test]
    fn a_value_that_is_missing_negative_or_of_another_unit_is_refused_with_its_place() {
        check(
            ("read = { value = 22.83e9", "reed = { value = 22.83e9"),
            "{ value = 22.83e9",
            "found \"memory.reed\", expected one of read, write; did you mean \"read\"?",
        );
        check(
            ("queue = { value = 16", "queue = { value = -16"),
            "-16",
            "found -16, expected a whole number from 1 to 32",
        );
        check(
            ("value = 22.83e9, unit = \"byte/s\"", "value = 22.83, unit = \"GB/s\""),
            "\"GB/s\"",
            "found the unit \"GB/s\", expected \"byte/s\"",
        );
        check(
            (
                ", status = \"measured\", source = \"PPoPP 2007: switch",
                ", source = \"PPoPP 2007: switch",
            ),
            "{ value = 1.5e-6, unit",
            "found no value for \"linux.context_switch.status\", expected a string",
        );
        check(
            ("cells = { value = 2,", "cells = { value = 500,"),
            "[layout]",
            "found 4000 SPEs, expected at most 1024",
        );
        check(
            ("status = \"calibrated\"", "status = \"guessed\""),
            "\"guessed\"",
            "found the status \"guessed\", expected documented, measured, calibrated or assumed",
        );
    }
}

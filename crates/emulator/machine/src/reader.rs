//! Reads a machine's file, and the file of the machine it is based on.
//!
//! [`Machine`] and its sections are deserialised field by field: a section is asked for the value of each
//! field of its struct, and that value's table must have the unit, and be in the range, that [`bounds`]
//! gives for the field's type or for the value's name. What a struct has no field for is refused.

mod node;

use std::cell::RefCell;
use std::ops::RangeInclusive;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;
use mmgp_base::table::toml::{Document, Table};
use mmgp_base::units::Bytes;
use node::{Node, Refusal};
use serde::Deserialize;

use super::{Machine, Participant, built_in_source};

/// How far a value can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Given by the maker.
    Documented,
    /// Measured by somebody and published.
    Measured,
    /// Chosen so that the emulation meets published figures.
    Calibrated,
    /// No figure was found.
    Assumed,
}

/// A value of a machine file with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// Dotted name: `ppe.load`.
    pub name: String,
    /// The value, in `unit`; the first one of a table.
    pub value: f64,
    /// Unit.
    pub unit: String,
    /// How far it can be trusted.
    pub status: Status,
    /// Publication, measurement or reason.
    pub source: String,
}

const SCHEMA: u32 = 1;

/// Cells, SPEs of a Cell, or all SPEs: each has a local store in this computer's memory.
const MOST_UNITS: f64 = 1024.0;

/// Places of a ring.
const MOST_PLACES: usize = 24;

/// Rings of a bus, at most.
const MOST_RINGS: u32 = 64;

/// Unit and range of the value of that name, whose field is of that type. A range is wide enough for any
/// machine and too narrow for a wrong prefix to lead far: the emulation counts on it.
fn bounds(name: &str, field: &str) -> (&'static str, RangeInclusive<f64>) {
    match (name, field) {
        // An MFC keeps account of the places in its queues in 32 bits.
        ("mfc.queue" | "mfc.proxy_queue", _) => ("count", 1.0..=32.0),
        ("mfc.longest_list", _) => ("count", 1.0..=16384.0),
        ("ppe.line", _) => ("byte", 8.0..=65536.0),
        ("ppe_issue.threads" | "linux.interrupts", _) => ("choice", 0.0..=1.0),
        ("cache.page", _) => ("byte", 512.0..=1e9),
        ("linux.kernel", _) => ("release of Linux 2.6", 1.0..=39.0),
        // A time slice of nothing would never end.
        ("linux.time_slice" | "linux.latency" | "linux.minimum_granularity", _) => {
            ("s", 1e-6..=10.0)
        }
        ("mpi.send" | "mpi.receive" | "mpi.request", _) => ("instruction", 0.0..=1e6),
        ("mpi.backoff", _) => ("turn", 1.0..=1e6),
        ("eib.width", _) => ("byte", 1.0..=1e6),
        ("eib.start_interval", _) => ("bus cycle", 1.0..=1e3),
        ("eib.hop", _) => ("bus cycle", 0.0..=1e3),
        ("numa.page", _) => ("byte", 4096.0..=16_777_216.0),
        ("kernel.instruction", _) => ("cycle", 1.0..=100.0),
        (_, "path") => ("entry, instruction, lock, barrier, line, mmio", 0.0..=1e6),
        (_, "Cycles") => ("cycle", 0.0..=1e6),
        (_, "Bytes") => ("byte", 0.0..=1e9),
        (_, "Hertz") => ("Hz", 1e6..=1e12),
        (_, "Seconds") => ("s", 0.0..=1.0),
        (_, "BytesPerSecond") => ("byte/s", 1e6..=1e15),
        (_, "ratio") => ("ratio", 1.0..=10.0),
        _ => ("count", 1.0..=MOST_UNITS),
    }
}

pub(super) fn read(source: &Source) -> Result<Machine> {
    let own = Document::parse(source)?;
    let root = own.root();
    if root.count("schema", 1)? != SCHEMA {
        return Err(root.error("schema", "another schema", format!("{SCHEMA}")));
    }
    let base_sources = bases(&root)?;
    let bases = base_sources.iter().map(Document::parse).collect::<Result<Vec<_>>>()?;
    let bases = bases.iter().map(Document::root).collect();
    let layers = Layers { own: &root, bases, provenance: RefCell::default() };
    let machine = Machine::deserialize(Node { layers: &layers, name: "" });
    let mut machine = machine.map_err(|Refusal(error)| error)?;
    layers.check(&machine)?;
    machine.linux.services = machine.kernel.services((&machine.ppe, &machine.cache), machine.clock);
    machine.numa.page = Bytes(machine.numa.page.0.next_power_of_two());
    machine.provenance = layers.provenance.into_inner();
    Ok(machine)
}

/// The file of the base that a file names, that of the base's base, and so on.
fn bases(root: &Table<'_>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut named = root.optional_text("base")?.map(str::to_string);
    while let Some(name) = named {
        let source = built_in_source(&name)?;
        named = Document::parse(&source)?.root().optional_text("base")?.map(str::to_string);
        sources.push(source);
    }
    Ok(sources)
}

/// A machine's own file over those of its bases: a value is taken from the first that has it.
struct Layers<'a, 'd> {
    own: &'a Table<'d>,
    bases: Vec<Table<'d>>,
    provenance: RefCell<Vec<Provenance>>,
}

impl<'d> Layers<'_, 'd> {
    /// The sections of that name, of all layers that have it.
    fn sections(&self, name: &str) -> Result<Vec<Table<'d>>> {
        let layers = std::iter::once(self.own).chain(&self.bases);
        layers.filter_map(|layer| layer.optional_table(name).transpose()).collect()
    }

    /// The table of the value with that dotted name.
    fn value(&self, name: &str) -> Result<Table<'d>> {
        let (section, key) = name.split_once('.').unwrap_or((name, ""));
        match self.sections(section)?.iter().find(|table| table.has(key)) {
            Some(holder) => holder.table(key),
            None => {
                let found = format!("no value for {name:?}");
                Err(self.own.error(section, found, "a value with unit, source and status"))
            }
        }
    }

    /// Refuses what a section of the machine's own file, or the file itself, has no such field for.
    fn expect(&self, name: &str, fields: &[&str]) -> Result<()> {
        if !name.is_empty() {
            return match self.own.optional_table(name)? {
                Some(section) => section.expect_keys(fields),
                None => Ok(()),
            };
        }
        let mut known = vec!["schema", "base"];
        known.extend(fields.iter().filter(|field| !field.contains('.')));
        let dotted = fields.iter().filter_map(|field| field.split_once('.')).collect::<Vec<_>>();
        known.extend(dotted.iter().map(|(section, _)| section));
        self.own.expect_keys(&known)?;
        let (sections, keys): (Vec<&str>, Vec<&str>) = dotted.into_iter().unzip();
        sections.iter().try_for_each(|section| self.expect(section, &keys))
    }

    /// Checks unit, status and source of a value, and keeps them.
    fn note(&self, table: &Table<'_>, value: f64, unit: &str) -> Result<()> {
        let found = table.text("unit")?;
        if found != unit {
            let expected = format!("{unit:?}");
            return Err(table.error("unit", format!("the unit {found:?}"), expected));
        }
        let status = match table.text("status")? {
            "documented" => Status::Documented,
            "measured" => Status::Measured,
            "calibrated" => Status::Calibrated,
            "assumed" => Status::Assumed,
            other => {
                let expected = "documented, measured, calibrated or assumed";
                return Err(table.error("status", format!("the status {other:?}"), expected));
            }
        };
        let source = table.text("source")?;
        if source.trim().is_empty() {
            return Err(table.error("source", "an empty source", "where the value comes from"));
        }
        self.provenance.borrow_mut().push(Provenance {
            name: table.name().to_string(),
            value,
            unit: unit.to_string(),
            status,
            source: source.to_string(),
        });
        Ok(())
    }

    /// Refuses values that are possible each by itself and not together.
    fn check(&self, machine: &Machine) -> Result<()> {
        let layout = machine.layout;
        if f64::from(layout.spes()) > MOST_UNITS {
            let found = format!("{} SPEs", layout.spes());
            return Err(self.own.error("layout", found, format!("at most {MOST_UNITS}")));
        }
        let rings = machine.eib.rings;
        if rings < 2 || !rings.is_multiple_of(2) || rings > MOST_RINGS {
            let expected = format!("an even number from 2 to {MOST_RINGS}");
            return Err(self.value("eib.rings")?.error("value", rings.to_string(), expected));
        }
        // A unit that the machine does not use may keep its place.
        let order = &machine.eib.order;
        let is_there_once = |unit| order.iter().filter(|&&present| present == unit).count() == 1;
        let others = [Participant::Ppe, Participant::Memory, Participant::Link, Participant::Io];
        let needed = (0..layout.spes_per_cell).map(Participant::Spe).chain(others);
        if order.len() > MOST_PLACES || !needed.chain(order.iter().copied()).all(is_there_once) {
            return Err(self.participants("eib.order")?);
        }
        for (name, transport) in machine.network.iter().flat_map(|network| {
            [("dacs", network.dacs()), ("mpi", network.mpi()), ("shared", network.shared())]
        }) {
            let (most, found) = (transport.latency.0, transport.overhead.0);
            if found > most {
                let expected = format!("at most {name}_latency, {most:e}");
                let found = format!("{name}_overhead of {found:e} s");
                return Err(self.own.error("network", found, expected));
            }
        }
        Ok(())
    }

    /// The error of a list of units of the bus.
    fn participants(&self, name: &str) -> Result<Error> {
        let table = self.value(name)?;
        let expected = match name {
            "eib.order" => {
                "ppe, mic, bif, ioif1 and spe0, spe1, ... for each SPE of a Cell, once each"
            }
            _ => "names of units as in eib.order",
        };
        Ok(table.error("value", format!("{:?}", table.texts("value")?), expected))
    }
}

#[cfg(test)]
mod tests {
    use crate::Machine;
    use mmgp_base::table::Source;

    fn check(change: (&str, &str), found: &str, expected: &str) {
        let text = include_str!("../models/machines/qs20.toml");
        let changed = text.replacen(change.0, change.1, 1);
        assert_ne!(changed, text);
        let error = Machine::read(&Source::new("my.toml", &changed)).unwrap_err().to_string();
        assert!(error.contains(found) && error.contains(expected), "{error}");
    }

    #[test]
    fn a_ring_has_every_unit_once() {
        check(("\"spe3\", ", ""), r#""spe2", "ioif1""#, "once each");
        check(("\"ppe\", ", ""), r#"["spe0""#, "once each");
        check(("\"spe3\"", "\"spe2\""), r#""spe2", "spe2""#, "once each");
        check(("\"bif\"", "\"bus\""), r#""bus""#, "once each");
    }

    #[test]
    fn the_rules_of_the_rings_are_possible_ones() {
        check(("[\"mic\"]", "[\"xdr\"]"), r#""xdr""#, "as in eib.order");
        check(("rings = { value = 4", "rings = { value = 3"), "3", "an even number");
        check(("start_interval = { value = 3", "start_interval = { value = 0"), "0", "from 1");
    }

    #[test]
    fn what_no_section_has_is_refused_wherever_it_stands() {
        check(("timebase =", "time_base ="), "\"clock.time_base\"", "core, timebase");
        check(("[flexio]", "[flexi]"), "\"flexi\"", "did you mean \"flexio\"");
        check(("[mpi.collective]", "[mpi.colective]"), "\"mpi.colective\"", "collective");
    }

    #[test]
    fn a_message_keeps_others_waiting_for_no_longer_than_it_is_under_way() {
        let text = include_str!("../models/machines/roadrunner.toml");
        let changed =
            text.replacen("mpi_overhead = { value = 0.5e-6", "mpi_overhead = { value = 3e-6", 1);
        let error = Machine::read(&Source::new("my.toml", &changed)).unwrap_err().to_string();
        assert!(
            error.ends_with("found mpi_overhead of 3e-6 s, expected at most mpi_latency, 2.24e-6"),
            "{error}"
        );
    }
}

//! Reads a machine's file, and the file of the machine it is based on.

mod eib;
mod host;
mod messages;
mod mfc;
mod mpi;
mod network;

use std::ops::RangeInclusive;

use super::{Flexio, Layout, Machine, Memory, Ppe, Spu, built_in_source};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;
use mmgp_base::table::toml::{Document, Table};
use mmgp_base::units::{Bytes, BytesPerSecond, Cycles, Hertz, Seconds};

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
    /// Its unit.
    pub unit: String,
    /// How far it can be trusted.
    pub status: Status,
    /// Where it comes from.
    pub source: String,
}

const SCHEMA: u32 = 1;

/// Cells, SPEs of a Cell, or all SPEs: each has a local store in this computer's memory.
const MOST_UNITS: f64 = 1024.0;

pub(super) fn read(source: &Source) -> Result<Machine> {
    let own = Document::parse(source)?;
    let root = own.root();
    if root.count("schema", 1)? != SCHEMA {
        return Err(root.error("schema", "another schema", format!("{SCHEMA}")));
    }
    let base_sources = bases(&root)?;
    let bases = base_sources.iter().map(Document::parse).collect::<Result<Vec<_>>>()?;
    root.expect_keys(&[
        "schema",
        "name",
        "description",
        "base",
        "layout",
        "clock",
        "spu",
        "mfc",
        "memory",
        "flexio",
        "ppe",
        "ppe_issue",
        "cache",
        "linux",
        "mpi",
        "messages",
        "network",
        "eib",
        "banks",
        "numa",
    ])?;
    let bases = bases.iter().map(Document::root).collect();
    let mut layers = Layers { own: &root, bases, provenance: Vec::new() };
    let machine = layers.machine(root.text("name")?, root.text("description")?)?;
    Ok(Machine { provenance: layers.provenance, ..machine })
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
    provenance: Vec<Provenance>,
}

/// One section of a file, such as `[ppe]`, in all layers that have it.
struct Section<'d>(Vec<Table<'d>>);

impl<'d> Layers<'_, 'd> {
    fn machine(&mut self, name: &str, description: &str) -> Result<Machine> {
        let layout = self.layout()?;
        Ok(Machine {
            name: name.to_string(),
            description: description.to_string(),
            layout,
            clock: self.hertz("clock", "core")?,
            timebase: self.hertz("clock", "timebase")?,
            spu: self.spu()?,
            mfc: self.mfc()?,
            memory: self.memory()?,
            flexio: self.flexio()?,
            ppe: self.ppe()?,
            ppe_issue: self.ppe_issue()?,
            cache: self.cache()?,
            linux: self.linux()?,
            mpi: self.mpi()?,
            collective: self.collective()?,
            messages: self.messages()?,
            network: self.network()?,
            eib: self.eib(layout)?,
            banks: self.banks()?,
            numa: self.numa()?,
            provenance: Vec::new(),
        })
    }

    fn layout(&mut self) -> Result<Layout> {
        self.expect("layout", &["cells", "spes_per_cell", "threads_per_ppe"])?;
        self.expect("clock", &["core", "timebase"])?;
        let layout = Layout {
            cells: self.count("layout", "cells")?,
            spes_per_cell: self.count("layout", "spes_per_cell")?,
            threads_per_ppe: self.count("layout", "threads_per_ppe")?,
        };
        if f64::from(layout.spes()) > MOST_UNITS {
            let found = format!("{} SPEs", layout.spes());
            return Err(self.own.error("layout", found, format!("at most {MOST_UNITS}")));
        }
        Ok(layout)
    }

    fn spu(&mut self) -> Result<Spu> {
        const KEYS: [&str; 17] = [
            "simple_fixed",
            "shift",
            "byte",
            "single",
            "integer_multiply",
            "double",
            "double_block",
            "shuffle",
            "load",
            "channel",
            "branch",
            "taken_branch",
            "hint_distance",
            "fetch_line",
            "fetch",
            "local_store",
            "poll",
        ];
        self.expect("spu", &KEYS)?;
        Ok(Spu {
            simple_fixed: self.cycles("spu", "simple_fixed")?,
            shift: self.cycles("spu", "shift")?,
            byte: self.cycles("spu", "byte")?,
            single: self.cycles("spu", "single")?,
            integer_multiply: self.cycles("spu", "integer_multiply")?,
            double: self.cycles("spu", "double")?,
            double_block: self.cycles("spu", "double_block")?,
            shuffle: self.cycles("spu", "shuffle")?,
            load: self.cycles("spu", "load")?,
            channel: self.cycles("spu", "channel")?,
            branch: self.cycles("spu", "branch")?,
            taken_branch: self.cycles("spu", "taken_branch")?,
            hint_distance: self.cycles("spu", "hint_distance")?,
            fetch_line: self.count("spu", "fetch_line")?,
            fetch: self.cycles("spu", "fetch")?,
            local_store: self.bytes("spu", "local_store")?,
            poll: self.cycles("spu", "poll")?,
        })
    }

    fn memory(&mut self) -> Result<Memory> {
        self.expect("memory", &["read", "write"])?;
        Ok(Memory { read: self.rate("memory", "read")?, write: self.rate("memory", "write")? })
    }

    fn flexio(&mut self) -> Result<Flexio> {
        self.expect("flexio", &["rate", "stream", "latency"])?;
        Ok(Flexio {
            rate: self.rate("flexio", "rate")?,
            stream: self.rate("flexio", "stream")?,
            latency: self.seconds("flexio", "latency")?,
        })
    }

    fn ppe(&mut self) -> Result<Ppe> {
        const KEYS: [&str; 12] = [
            "integer",
            "load",
            "store",
            "float",
            "divide",
            "branch",
            "smt_slowdown",
            "line",
            "l1_data",
            "l1_instruction",
            "mmio_store",
            "mmio_load",
        ];
        self.expect("ppe", &KEYS)?;
        Ok(Ppe {
            integer: self.cycles("ppe", "integer")?,
            load: self.cycles("ppe", "load")?,
            store: self.cycles("ppe", "store")?,
            float: self.cycles("ppe", "float")?,
            divide: self.cycles("ppe", "divide")?,
            branch: self.cycles("ppe", "branch")?,
            smt_slowdown: self.quantity("ppe", "smt_slowdown", "ratio", 1.0..=10.0)?,
            line: self.whole("ppe", "line", "byte", 8.0..=65536.0).map(Bytes)?,
            l1_data: self.bytes("ppe", "l1_data")?,
            l1_instruction: self.bytes("ppe", "l1_instruction")?,
            mmio_store: self.seconds("ppe", "mmio_store")?,
            mmio_load: self.seconds("ppe", "mmio_load")?,
        })
    }

    fn count(&mut self, section: &'static str, key: &str) -> Result<u32> {
        self.whole(section, key, "count", 1.0..=MOST_UNITS).map(|value| value as u32)
    }

    fn cycles(&mut self, section: &'static str, key: &str) -> Result<Cycles> {
        self.whole(section, key, "cycle", 0.0..=1e6).map(Cycles)
    }

    fn bytes(&mut self, section: &'static str, key: &str) -> Result<Bytes> {
        self.whole(section, key, "byte", 0.0..=1e9).map(Bytes)
    }

    fn hertz(&mut self, section: &'static str, key: &str) -> Result<Hertz> {
        self.quantity(section, key, "Hz", 1e6..=1e12).map(Hertz)
    }

    fn seconds(&mut self, section: &'static str, key: &str) -> Result<Seconds> {
        self.quantity(section, key, "s", 0.0..=1.0).map(Seconds)
    }

    fn rate(&mut self, section: &'static str, key: &str) -> Result<BytesPerSecond> {
        self.quantity(section, key, "byte/s", 1e6..=1e15).map(BytesPerSecond)
    }

    fn whole(
        &mut self,
        section: &'static str,
        key: &str,
        unit: &str,
        range: RangeInclusive<f64>,
    ) -> Result<u64> {
        let (value, table) = self.entry(section, key, unit)?;
        if !range.contains(&value) || value.fract() != 0.0 {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            return Err(table.error("value", value.to_string(), expected));
        }
        Ok(value as u64)
    }

    /// A number in a range wide enough for any machine and too narrow for a wrong prefix to lead
    /// far: the emulation counts on it.
    fn quantity(
        &mut self,
        section: &'static str,
        key: &str,
        unit: &str,
        range: RangeInclusive<f64>,
    ) -> Result<f64> {
        let (value, table) = self.entry(section, key, unit)?;
        if !range.contains(&value) {
            let expected = format!("a number from {:e} to {:e}", range.start(), range.end());
            return Err(table.error("value", value.to_string(), expected));
        }
        Ok(value)
    }

    /// The value at `section.key`, which must be in `unit`, with its table for further complaints.
    fn entry(&mut self, section: &str, key: &str, unit: &str) -> Result<(f64, Table<'d>)> {
        let tables = self.section(section)?;
        let Some(holder) = tables.holder(key) else {
            return Err(self.missing(&format!("{section}.{key}")));
        };
        let table = holder.table(key)?;
        table.expect_keys(&["value", "unit", "source", "status"])?;
        let value = table.number("value")?;
        self.note(&table, value, unit)?;
        Ok((value, table))
    }

    /// Checks unit, status and source, and keeps them.
    fn note(&mut self, table: &Table<'_>, value: f64, unit: &str) -> Result<()> {
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
        self.provenance.push(Provenance {
            name: table.name().to_string(),
            value,
            unit: unit.to_string(),
            status,
            source: source.to_string(),
        });
        Ok(())
    }

    fn expect(&self, section: &str, keys: &[&str]) -> Result<()> {
        match self.own.optional_table(section)? {
            Some(table) => table.expect_keys(keys),
            None => Ok(()),
        }
    }

    fn section(&self, name: &str) -> Result<Section<'d>> {
        let layers = std::iter::once(self.own).chain(&self.bases);
        let tables = layers.filter_map(|layer| layer.optional_table(name).transpose());
        Ok(Section(tables.collect::<Result<_>>()?))
    }

    fn missing(&self, name: &str) -> Error {
        let found = format!("no value for {name:?}");
        let section = name.split('.').next().unwrap_or_default();
        self.own.error(section, found, "a value with unit, source and status")
    }
}

impl<'d> Section<'d> {
    /// The layer that has `key`.
    fn holder(&self, key: &str) -> Option<&Table<'d>> {
        self.0.iter().find(|table| table.has(key))
    }
}

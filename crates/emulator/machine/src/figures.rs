//! What has been published about the machines: figures to hold the emulated ones against, read
//! from `models/figures/*.toml`.
//!
//! A figure names the *program* that would measure it, so that an emulated machine is asked as the
//! real one was and never by reading a constant back. It also names the *constants* of the machine
//! file that were taken from it or chosen to meet it: agreement with such a figure shows that the
//! mechanism passes the constant through, and nothing more.

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;
use mmgp_base::table::toml::{Document, Table};
use mmgp_base::units::{BytesPerSecond, Seconds};

/// The files that are compiled in, in the order of the report.
const BUILT_IN: [(&str, &str); 8] = [
    ("spu", include_str!("../models/figures/spu.toml")),
    ("dma", include_str!("../models/figures/dma.toml")),
    ("eib", include_str!("../models/figures/eib.toml")),
    ("signals", include_str!("../models/figures/signals.toml")),
    ("ppe", include_str!("../models/figures/ppe.toml")),
    ("linux", include_str!("../models/figures/linux.toml")),
    ("mpi", include_str!("../models/figures/mpi.toml")),
    ("messages", include_str!("../models/figures/messages.toml")),
];

const SCHEMA: u32 = 1;

/// A published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it is about: `spu`, `dma`, `eib`, `signals`, `ppe`, `linux` or `mpi`.
    pub group: &'static str,
    /// The program that measures it.
    pub program: String,
    /// What the program is told, such as a number of bytes or ranks; 0 where it needs nothing.
    pub at: u32,
    /// What was found out: figures of one fact follow from one another, and count once.
    pub fact: String,
    /// What it is, in a few words.
    pub what: String,
    /// The published value, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// How the value binds.
    pub relation: Relation,
    /// The machines for which it holds, by name.
    pub machines: Vec<String>,
    /// Where it was published.
    pub source: String,
    /// How sure it is that this was published so.
    pub confirmed: Confirmation,
    /// Constants of the machine file that were taken from it or chosen to meet it, as `ppe.load`.
    pub constants: Vec<String>,
    /// Whether something of the machine that is no constant was chosen in view of it.
    pub informed: bool,
    /// What has to be said beside it; empty where nothing has.
    pub remark: String,
}

impl Figure {
    /// Its name in files: the program and what it is told.
    pub fn name(&self) -> String {
        match self.at {
            0 => self.program.clone(),
            at => format!("{}/{at}", self.program),
        }
    }

    /// The publication or file that it stands in: its source up to a colon, after which comes what it
    /// says there.
    pub fn document(&self) -> &str {
        self.source.split(": ").next().unwrap_or(&self.source)
    }
}

/// How a published value binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// It was measured.
    Equal,
    /// It was found to be smaller.
    Below,
    /// It was found to be larger.
    Above,
}

impl Relation {
    /// As it stands before a value: nothing, `<` or `>`.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::Below => "<",
            Self::Above => ">",
        }
    }
}

/// How sure it is that a figure was published as it stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The source, or its abstract, was read.
    Yes,
    /// It follows from figures that were read.
    Derived,
    /// It is remembered, and the source was not at hand.
    No,
    /// The source was read, and other figures or its own circumstances contradict it.
    Disputed,
}

impl Confirmation {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Derived => "derived",
            Self::No => "no",
            Self::Disputed => "disputed",
        }
    }
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// ns
    Nanosecond,
    /// us
    Microsecond,
    /// 10^9 byte/s
    GigabytePerSecond,
    /// 10^9 floating-point operations a second
    Gigaflops,
    /// 10^9 operations a second, of whatever kind
    Gigaops,
    /// cycles of the core clock
    Cycle,
    /// a ratio of two like quantities
    Ratio,
}

impl Unit {
    const ALL: [Self; 7] = [
        Self::Nanosecond,
        Self::Microsecond,
        Self::GigabytePerSecond,
        Self::Gigaflops,
        Self::Gigaops,
        Self::Cycle,
        Self::Ratio,
    ];

    /// Its symbol in files and tables.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Nanosecond => "ns",
            Self::Microsecond => "us",
            Self::GigabytePerSecond => "GB/s",
            Self::Gigaflops => "GFLOP/s",
            Self::Gigaops => "GOP/s",
            Self::Cycle => "cycle",
            Self::Ratio => "ratio",
        }
    }

    /// A quantity in this unit; none where it is of another kind.
    pub fn of(self, quantity: Quantity) -> Option<f64> {
        match (self, quantity) {
            (Self::Nanosecond, Quantity::Time(time)) => Some(1e9 * time.0),
            (Self::Microsecond, Quantity::Time(time)) => Some(1e6 * time.0),
            (Self::GigabytePerSecond, Quantity::Bandwidth(rate)) => Some(1e-9 * rate.0),
            (Self::Gigaflops | Self::Gigaops, Quantity::Performance(rate)) => Some(1e-9 * rate),
            (Self::Cycle, Quantity::Cycles(cycles)) => Some(cycles),
            (Self::Ratio, Quantity::Ratio(ratio)) => Some(ratio),
            _ => None,
        }
    }
}

/// What a program measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// A time.
    Time(Seconds),
    /// Data by time.
    Bandwidth(BytesPerSecond),
    /// Operations a second.
    Performance(f64),
    /// Cycles of the core clock, a mean over many.
    Cycles(f64),
    /// A ratio of two like quantities.
    Ratio(f64),
}

/// The published figures that hold for the machine of that name, in the order of the report.
///
/// # Errors
/// [`Error::UnknownName`] where none does.
pub fn published(machine: &str) -> Result<Vec<Figure>> {
    let holds = |figure: &Figure| figure.machines.iter().any(|name| name == machine);
    let figures: Vec<Figure> = all()?.into_iter().filter(holds).collect();
    if figures.is_empty() {
        let kind = "machine with published figures";
        return Err(Error::UnknownName { kind, name: machine.into(), known: machines()? });
    }
    Ok(figures)
}

/// The names of the machines for which some figure holds, in alphabetical order.
///
/// # Errors
/// None but for a mistake in the built-in files.
pub fn machines() -> Result<Vec<String>> {
    let mut names: Vec<String> = all()?.into_iter().flat_map(|it| it.machines).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// All published figures.
pub fn all() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (group, text) in BUILT_IN {
        figures.extend(read(group, &Source::new(&format!("models/figures/{group}.toml"), text))?);
    }
    Ok(figures)
}

/// The figures of a file, which are of that group.
///
/// # Errors
/// [`Error::Input`] with the place of what cannot be read.
pub fn read(group: &'static str, source: &Source) -> Result<Vec<Figure>> {
    let document = Document::parse(source)?;
    let root = document.root();
    root.expect_keys(&["schema", "figure"])?;
    if root.count("schema", 1)? != SCHEMA {
        return Err(root.error("schema", "another schema", format!("{SCHEMA}")));
    }
    let mut figures = Vec::new();
    for entry in root.tables("figure")? {
        figures.extend(family(group, &entry)?);
    }
    Ok(figures)
}

/// An entry of a file: one program at several arguments, each with its value.
fn family(group: &'static str, entry: &Table<'_>) -> Result<Vec<Figure>> {
    entry.expect_keys(&[
        "program",
        "at",
        "fact",
        "what",
        "value",
        "unit",
        "relation",
        "machines",
        "source",
        "confirmed",
        "constants",
        "informed",
        "remark",
    ])?;
    let values = entry.optional_numbers("value")?.unwrap_or_default();
    let places = if entry.has("at") { entry.counts("at")? } else { vec![0] };
    if values.len() != places.len() || !values.iter().all(|&value| value > 0.0) {
        let expected = format!("{} positive numbers, one for each of `at`", places.len());
        return Err(entry.error("value", format!("{values:?}"), expected));
    }
    let text = |key: &str| entry.text(key).map(str::to_string);
    let unit = choose(entry, "unit", Unit::ALL.map(|unit| (unit.symbol(), unit)))?;
    let relations = [Relation::Equal, Relation::Below, Relation::Above];
    let relation = match entry.has("relation") {
        true => choose(entry, "relation", relations.map(|relation| (relation.sign(), relation)))?,
        false => Relation::Equal,
    };
    let confirmations =
        [Confirmation::Yes, Confirmation::Derived, Confirmation::No, Confirmation::Disputed];
    let confirmed = choose(entry, "confirmed", confirmations.map(|it| (it.name(), it)))?;
    let (program, what, source) = (text("program")?, text("what")?, text("source")?);
    let fact = entry.optional_text("fact")?.unwrap_or(&program).to_string();
    let (machines, constants) = (entry.texts("machines")?, entry.texts("constants")?);
    let remark = entry.optional_text("remark")?.unwrap_or_default();
    let informed = match entry.has("informed") {
        true => choose(entry, "informed", [("yes", true)])?,
        false => false,
    };
    let figure = |(at, value): (u32, f64)| Figure {
        group,
        program: program.clone(),
        at,
        fact: fact.clone(),
        what: what.replace("{at}", &at.to_string()),
        value,
        unit,
        relation,
        machines: machines.clone(),
        source: source.clone(),
        confirmed,
        constants: constants.clone(),
        informed,
        remark: remark.to_string(),
    };
    Ok(places.into_iter().zip(values).map(figure).collect())
}

/// The item that the text at `key` names.
fn choose<T, const N: usize>(entry: &Table<'_>, key: &str, items: [(&str, T); N]) -> Result<T> {
    let found = entry.text(key)?;
    let names: Vec<&str> = items.iter().map(|(name, _)| *name).collect();
    let expected = format!("one of {}", names.join(", "));
    let chosen = items.into_iter().find(|(name, _)| *name == found);
    chosen.map(|(_, item)| item).ok_or_else(|| entry.error(key, format!("{found:?}"), expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_is_of_a_known_machine_and_no_two_share_a_name() {
        let mut names = BTreeSet::new();
        for figure in all().unwrap() {
            assert!(names.insert(figure.name()), "{} stands twice", figure.name());
            assert!(!figure.machines.is_empty(), "{} holds for no machine", figure.name());
            for machine in &figure.machines {
                Machine::named(machine).unwrap();
            }
        }
    }

    #[test]
    fn every_constant_that_a_figure_names_is_one_of_its_machines() {
        for figure in all().unwrap() {
            for name in &figure.machines {
                let machine = Machine::named(name).unwrap();
                for constant in &figure.constants {
                    let known = machine.provenance.iter().any(|it| &it.name == constant);
                    assert!(known, "{}: {name} has no constant {constant}", figure.name());
                }
            }
        }
    }

    fn check(entry: &str, message: &str) {
        let text = format!("schema = 1\n[[figure]]\n{entry}");
        let error = read("dma", &Source::new("my.toml", &text)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn a_mistake_in_a_file_is_reported_with_its_place() {
        check(
            "program = \"get\"\nat = [1, 2]\nvalue = [3.0]",
            "my.toml:5:9: found [3.0], expected 2 positive numbers, one for each of `at`",
        );
        check(
            "value = [3.0]\nunit = \"mile\"",
            "my.toml:4:8: found \"mile\", expected one of ns, us, GB/s, GFLOP/s, GOP/s, cycle, ratio",
        );
    }

    #[test]
    fn a_quantity_is_told_in_its_unit_and_in_no_other() {
        let time = Quantity::Time(Seconds(2.5e-6));
        assert_eq!(Unit::Microsecond.of(time), Some(2.5));
        assert_eq!(Unit::Nanosecond.of(time), Some(2500.0));
        assert_eq!(Unit::Gigaflops.of(time), None);
        assert_eq!(Unit::Gigaflops.of(Quantity::Performance(2e9)), Some(2.0));
        let rate = Quantity::Bandwidth(BytesPerSecond(25.6e9));
        assert_eq!(Unit::GigabytePerSecond.of(rate), Some(25.6));
    }
}

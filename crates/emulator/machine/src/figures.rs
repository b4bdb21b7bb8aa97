//! What has been published about the machines: figures to hold the emulated ones against, read
//! from `models/figures/*.toml`.
//!
//! A figure names the *program* that would measure it, so that an emulated machine is asked as the
//! real one was and never by reading a constant back. It also names the *constants* of the machine
//! file that were taken from it or chosen to meet it: agreement with such a figure shows that the
//! mechanism passes the constant through, and nothing more.

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;
use mmgp_base::units::{BytesPerSecond, Seconds};
use serde::Deserialize;
use toml::Spanned;

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
    /// Unit.
    pub unit: Unit,
    /// How the value binds.
    pub relation: Relation,
    /// The machines for which it holds, by name.
    pub machines: Vec<String>,
    /// Publication, and the place in it.
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
    /// Name in files: the program and what it is told.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Relation {
    /// Measured value.
    #[default]
    #[serde(rename = "")]
    Equal,
    /// Upper bound.
    #[serde(rename = "<")]
    Below,
    /// Lower bound.
    #[serde(rename = ">")]
    Above,
}

impl Relation {
    /// Sign before a value: nothing, `<` or `>`.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::Below => "<",
            Self::Above => ">",
        }
    }
}

/// How sure it is that a figure was published as it stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirmation {
    /// The source, or its abstract, was read.
    Yes,
    /// Derived from figures that were read.
    Derived,
    /// Remembered, without the source at hand.
    No,
    /// The source was read, and other figures or its own circumstances contradict it.
    Disputed,
}

impl Confirmation {
    /// Name in files.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// ns
    #[serde(rename = "ns")]
    Nanosecond,
    /// us
    #[serde(rename = "us")]
    Microsecond,
    /// 10^9 byte/s
    #[serde(rename = "GB/s")]
    GigabytePerSecond,
    /// 10^9 floating-point operations a second
    #[serde(rename = "GFLOP/s")]
    Gigaflops,
    /// 10^9 operations a second, of whatever kind
    #[serde(rename = "GOP/s")]
    Gigaops,
    /// cycles of the core clock
    #[serde(rename = "cycle")]
    Cycle,
    /// a ratio of two like quantities
    #[serde(rename = "ratio")]
    Ratio,
}

impl Unit {
    /// Symbol in files and tables.
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
        return Err(Error::unknown_name(kind, machine, machines()?));
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
    let wrong = |at: usize, found: &str, expected: &str| Error::Input {
        at: source.position(at),
        found: found.trim().into(),
        expected: expected.into(),
    };
    let file: FigureFile = toml::from_str(&source.text).map_err(|error| {
        wrong(error.span().map_or(0, |span| span.start), error.message(), "published figures")
    })?;
    if file.schema != SCHEMA {
        return Err(wrong(0, &format!("schema {}", file.schema), &format!("{SCHEMA}")));
    }
    let mut figures = Vec::new();
    for family in file.figure {
        let (start, family) = (family.span().start, family.into_inner());
        let places = family.at.len();
        if family.value.len() != places
            || !family.value.iter().all(|&value| value > 0.0 && value.is_finite())
        {
            let expected = format!("{places} positive numbers, one for each of `at`");
            return Err(wrong(start, &format!("{:?}", family.value), &expected));
        }
        figures.extend(family.figures(group));
    }
    Ok(figures)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureFile {
    schema: u32,
    figure: Vec<Spanned<Family>>,
}

/// An entry of a file: one program at several arguments, each with its value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    program: String,
    #[serde(default = "nowhere")]
    at: Vec<u32>,
    fact: Option<String>,
    what: String,
    value: Vec<f64>,
    unit: Unit,
    #[serde(default)]
    relation: Relation,
    machines: Vec<String>,
    source: String,
    confirmed: Confirmation,
    #[serde(default)]
    constants: Vec<String>,
    informed: Option<Yes>,
    #[serde(default)]
    remark: String,
}

/// The only thing that a file says of what was chosen in view of a figure.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Yes {
    Yes,
}

/// The argument of a program that needs none.
fn nowhere() -> Vec<u32> {
    vec![0]
}

impl Family {
    fn figures(&self, group: &'static str) -> impl Iterator<Item = Figure> {
        self.at.iter().zip(&self.value).map(move |(&at, &value)| Figure {
            group,
            program: self.program.clone(),
            at,
            fact: self.fact.as_ref().unwrap_or(&self.program).clone(),
            what: self.what.replace("{at}", &at.to_string()),
            value,
            unit: self.unit,
            relation: self.relation,
            machines: self.machines.clone(),
            source: self.source.clone(),
            confirmed: self.confirmed,
            constants: self.constants.clone(),
            informed: self.informed.is_some(),
            remark: self.remark.clone(),
        })
    }
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
            "program = \"get\"\nat = [1, 2]\nvalue = [3.0]\nwhat = \"x\"\nunit = \"ns\"\n\
             machines = []\nsource = \"x\"\nconfirmed = \"yes\"",
            "my.toml:2:1: found [3.0], expected 2 positive numbers, one for each of `at`",
        );
        check(
            "program = \"get\"\nat = [1, 2]\nvalue = [3.0, inf]\nwhat = \"x\"\nunit = \"ns\"\n\
             machines = []\nsource = \"x\"\nconfirmed = \"yes\"",
            "my.toml:2:1: found [3.0, inf], expected 2 positive numbers, one for each of `at`",
        );
        check(
            "value = [3.0]\nunit = \"mile\"",
            "my.toml:4:8: found unknown variant `mile`, expected one of `ns`, `us`, \
             `GB/s`, `GFLOP/s`, `GOP/s`, `cycle`, `ratio`, expected published figures",
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

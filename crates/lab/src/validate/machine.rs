//! The emulated machine held against what has been published about the real one.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::measure::figure::measure;
use crate::measure::on_threads;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::MachineFigure;
use mmgp_machine::figures::{self, Figure, Relation};
use mmgp_machine::{Machine, Status};

/// All published figures of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineCheck {
    /// The machine's name.
    pub machine: String,
    /// One row for each figure.
    pub figures: Vec<MachineFigure>,
    /// The constants of the machine that were chosen to meet published figures.
    pub calibrated: Vec<CalibratedConstant>,
}

/// A constant that was chosen so that the emulation meets published figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibratedConstant {
    /// The name of the constant, as `ppe.load`.
    pub constant: String,
    /// The value of the constant, in `unit`.
    pub value: f64,
    /// The unit of the value.
    pub unit: String,
    /// How many published figures it was chosen by.
    pub figures: usize,
}

/// How many published figures a calibrated constant should have been chosen by.
pub const FIGURES_FOR_A_CONSTANT: usize = 4;

/// How near to a published figure the emulated machine should be [%]; the SPU is known cycle
/// by cycle.
const TOLERANCE_PERCENT: f64 = 10.0;
const SPU_TOLERANCE_PERCENT: f64 = 1.0;

impl MachineCheck {
    /// The largest |error| of those figures that tell something: the independent ones that were
    /// read, or follow from what was, and that nothing contradicts [%].
    pub fn largest_error_percent(&self) -> f64 {
        let sure = |row: &&MachineFigure| ["yes", "derived"].contains(&row.confirmed.as_str());
        let telling = self.figures.iter().filter(|row| is_independent(row)).filter(sure);
        telling.map(|row| row.error_percent.abs()).fold(0.0, f64::max)
    }

    /// How many distinct facts are independent, and how many of those are met: by all of their figures.
    pub fn independent(&self) -> (usize, usize) {
        let mut facts: BTreeMap<&str, bool> = BTreeMap::new();
        for row in self.figures.iter().filter(|row| is_independent(row)) {
            let met = facts.entry(&row.fact).or_insert(true);
            *met &= is_met(row);
        }
        (facts.len(), facts.values().filter(|&&met| met).count())
    }

    /// How many figures have that basis.
    pub fn with_basis(&self, basis: Basis) -> usize {
        self.figures.iter().filter(|row| row.basis == basis.name()).count()
    }
}

/// What a published figure has to do with the constants of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// No constant was taken from what was found out there, nor from another figure on the same
    /// subject in the same document.
    Independent,
    /// A constant was taken from it, or from a figure with which it stands or falls, or a mechanism
    /// was chosen in view of it.
    Input,
    /// A constant was chosen so that it is met.
    Calibrated,
}

impl Basis {
    /// The name of the basis in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Input => "input",
            Self::Calibrated => "calibrated",
        }
    }
}

/// The basis of a figure among all those of a machine: of the constants that it names, or that others
/// of its fact or on its subject in its document name.
fn basis(machine: &Machine, all: &[Figure], figure: &Figure) -> Basis {
    let is_near = |other: &&Figure| {
        let same_fact = other.fact == figure.fact;
        same_fact || (other.group == figure.group && other.document() == figure.document())
    };
    let own = std::slice::from_ref(figure);
    let near = all.iter().filter(is_near);
    let status = |constant: &String| {
        machine.provenance.iter().find(|it| it.name == *constant).map(|it| it.status)
    };
    let of = |figures: &mut dyn Iterator<Item = &Figure>| {
        let constants: Vec<_> = figures.flat_map(|it| &it.constants).filter_map(status).collect();
        match &constants[..] {
            [] => None,
            all if all.contains(&Status::Calibrated) => Some(Basis::Calibrated),
            _ => Some(Basis::Input),
        }
    };
    let own = of(&mut own.iter()).or(figure.informed.then_some(Basis::Input));
    own.or_else(|| of(&mut near.into_iter())).unwrap_or(Basis::Independent)
}

/// Whether the figure tells anything of the machine beside its constants: see [`Basis`].
pub fn is_independent(row: &MachineFigure) -> bool {
    row.basis == Basis::Independent.name()
}

/// Whether the emulated machine is as near to the figure as it should be.
pub fn is_met(row: &MachineFigure) -> bool {
    let tolerance = if row.group == "spu" { SPU_TOLERANCE_PERCENT } else { TOLERANCE_PERCENT };
    row.error_percent.abs() <= tolerance
}

/// Measures every published figure of `machine` on so many threads of this computer; `finished` is
/// called after each.
///
/// # Errors
/// [`Error::UnknownName`] for a machine about which nothing has been published, and the first error
/// of a measurement.
pub fn check(
    machine: &Machine,
    threads: usize,
    finished: &(dyn Fn() + Sync),
) -> Result<MachineCheck> {
    let published = figures::published(&machine.name)?;
    let figures = on_threads(&published, threads, &|figure| {
        let row = row(machine, &published, figure);
        finished();
        row
    })?;
    let calibrated = calibrated(machine, &figures::all()?);
    Ok(MachineCheck { machine: machine.name.clone(), figures, calibrated })
}

fn row(machine: &Machine, published: &[Figure], figure: &Figure) -> Result<MachineFigure> {
    let quantity = measure(machine, figure)?;
    let emulated = figure.unit.of(quantity).ok_or_else(|| {
        Error::out_of_range(
            "a published figure",
            format!("{quantity:?} for {}", figure.name()),
            format!("a quantity in {}", figure.unit.symbol()),
        )
    })?;
    Ok(MachineFigure {
        group: figure.group.into(),
        figure: figure.name(),
        what: figure.what.clone(),
        relation: figure.relation.sign().into(),
        published: figure.value,
        emulated,
        unit: figure.unit.symbol().into(),
        error_percent: error_percent(figure, emulated),
        basis: basis(machine, published, figure).name().into(),
        fact: figure.fact.clone(),
        constants: figure.constants.join(" "),
        confirmed: figure.confirmed.name().into(),
        source: figure.source.clone(),
        remark: figure.remark.clone(),
    })
}

fn error_percent(figure: &Figure, emulated: f64) -> f64 {
    let error = 100.0 * (emulated - figure.value) / figure.value;
    match figure.relation {
        Relation::Equal => error,
        Relation::Below => error.max(0.0),
        Relation::Above => error.min(0.0),
    }
}

fn calibrated(machine: &Machine, figures: &[Figure]) -> Vec<CalibratedConstant> {
    let chosen = machine.provenance.iter().filter(|it| it.status == Status::Calibrated);
    chosen
        .map(|constant| CalibratedConstant {
            constant: constant.name.clone(),
            value: constant.value,
            unit: constant.unit.clone(),
            figures: figures.iter().filter(|it| it.constants.contains(&constant.name)).count(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(relation: Relation, emulated: f64, expected: f64) {
        let figures = figures::all().unwrap();
        let figure = Figure { value: 100.0, relation, ..figures[0].clone() };
        assert_eq!(error_percent(&figure, emulated), expected);
    }

    #[test]
    fn a_bound_that_is_kept_is_no_error() {
        check_error(Relation::Equal, 90.0, -10.0);
        check_error(Relation::Below, 90.0, 0.0);
        check_error(Relation::Below, 110.0, 10.0);
        check_error(Relation::Above, 110.0, 0.0);
        check_error(Relation::Above, 90.0, -10.0);
    }

    /// One pass over all figures, of which each is measured once: that takes seconds.
    #[test]
    fn every_figure_can_be_measured_and_says_what_is_not_understood_where_it_is_missed() {
        for name in figures::machines().unwrap() {
            let check = check(&Machine::named(&name).unwrap(), 2, &|| ()).unwrap();
            let published = figures::published(&name).unwrap();
            assert_eq!(check.figures.len(), published.len());
            for (row, published) in check.figures.iter().zip(published) {
                let (figure, error) = (&row.figure, row.error_percent);
                assert_eq!(*figure, published.name(), "in the same order");
                assert!(row.emulated > 0.0, "{figure} on {name}");
                let is_told = is_met(row) || !row.remark.is_empty();
                assert!(is_told, "{figure} on {name}: {error} %, and no remark");
            }
        }
    }

    #[test]
    fn the_telling_error_is_the_largest_of_independent_and_confirmed_figures() {
        let machine = Machine::named("qs22").unwrap();
        let published = figures::published("qs22").unwrap();
        let row = row(&machine, &published, &published[0]).unwrap();
        let figures = vec![row; 4];
        let mut check = MachineCheck { machine: "qs22".into(), figures, calibrated: Vec::new() };
        let changes = [
            (50.0, "calibrated", "yes"),
            (40.0, "independent", "no"),
            (30.0, "independent", "disputed"),
            (-7.0, "independent", "derived"),
        ];
        for (row, (error, basis, confirmed)) in check.figures.iter_mut().zip(changes) {
            (row.error_percent, row.basis, row.confirmed) = (error, basis.into(), confirmed.into());
        }
        assert_eq!(check.largest_error_percent(), 7.0);
    }
}

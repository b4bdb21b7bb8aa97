//! The terms of equation 11 as one table: whatever reads, writes, lists or looks up terms takes them
//! from here.
//!
//! What a term *does* in the equation stands in [`super::run`] alone.

mod value;

use super::parameters::{Phase, Terms};
use super::sensitivity::Entry;
pub use value::{TermValue, TermValueMut};

/// A term of equation 11; the order is that of parameter files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// T_HPU: [`Terms::t_hpu_s`].
    HpuTime,
    /// T_APU: [`Terms::t_apu_s`].
    ApuTime,
    /// C_APU: [`Terms::c_apu_s`].
    ApuSerialTime,
    /// N: [`Terms::offloads`].
    Offloads,
    /// O_offload: [`Terms::o_offload_s`].
    OffloadOverhead,
    /// T_CSW: [`Terms::t_csw_s`].
    ContextSwitch,
    /// g: [`Terms::g_s`].
    Gap,
    /// The number of collectives: [`Terms::collectives`].
    Collectives,
    /// alpha_m: [`Terms::alpha`].
    Alpha,
    /// O_COL: [`Terms::o_col_s`].
    CollectiveCost,
}

/// What a term is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// The whole run.
    Run,
    /// Every off-load.
    Offload,
    /// Every off-load and each of its APUs.
    OffloadAndApu,
    /// Every collective.
    Collective,
}

/// Row of the table of terms.
struct TermRow {
    term: Term,
    name: &'static str,
    symbol: &'static str,
    /// Symbol as a page writes it.
    label: &'static str,
    latex: &'static str,
    unit: &'static str,
    per: Per,
    quantity: &'static str,
    /// What the term adds to a sum \[s\].
    contribution: &'static str,
    /// Files that would give it a value.
    measured_by: &'static str,
    of_program: Field<Terms>,
    /// Field of a phase, where the phases of a program have a part of the term each.
    of_phase: Option<Field<Phase>>,
}

/// A field of what holds terms.
struct Field<H> {
    get: fn(&H) -> TermValue<'_>,
    get_mut: fn(&mut H) -> TermValueMut<'_>,
    copy: fn(&mut H, &H),
}

macro_rules! field {
    ($name:ident) => {
        Field {
            get: |holder| (&holder.$name).into(),
            get_mut: |holder| (&mut holder.$name).into(),
            copy: |to, from| to.$name.clone_from(&from.$name),
        }
    };
}

/// A row for each term: its field, which is also its name in files, and whether phases have it too;
/// symbol, label, LaTeX; unit, what it is counted for, and what it is; what it adds to a sum; what
/// measures it.
macro_rules! rows {
    ($($term:ident $field:ident $holders:ident;
       $symbol:literal, $label:literal, $latex:literal;
       $unit:literal $per:ident, $quantity:literal;
       $contribution:literal, $measured_by:literal;)*) => {
        [$(TermRow {
            term: Term::$term,
            name: stringify!($field),
            symbol: $symbol,
            label: $label,
            latex: $latex,
            unit: $unit,
            per: Per::$per,
            quantity: $quantity,
            contribution: $contribution,
            measured_by: $measured_by,
            of_program: field!($field),
            of_phase: rows!(@ $holders $field),
        }),*]
    };
    (@ program $field:ident) => { None };
    (@ phases $field:ident) => { Some(field!($field)) };
}

static TABLE: [TermRow; 10] = rows! {
    HpuTime t_hpu_s phases;
        "T_HPU(1,1)", "T_HPU", "$T_{\\mathrm{HPU}}(1,1)$";
        "s" Run, "time on the host in a sequential run";
        "t_hpu_s", "profile.csv";
    ApuTime t_apu_s phases;
        "T_APU(1,1)", "T_APU", "$T_{\\mathrm{APU}}(1,1)$";
        "s" Run, "APU time of the part that p APUs share";
        "t_apu_s", "profile.csv";
    ApuSerialTime c_apu_s phases;
        "C_APU", "C_APU", "$C_{\\mathrm{APU}}$";
        "s" Run, "APU time of the part that they cannot share";
        "c_apu_s", "profile.csv";
    Offloads offloads phases;
        "N", "N", "$N$";
        "1" Run, "off-loads in the run";
        "(offloads - 1)*(o_offload_s + t_csw_s)", "profile.csv";
    OffloadOverhead o_offload_s program;
        "O_offload", "O_offload", "$O_{\\mathrm{offload}}$";
        "s" Offload, "signal there and back, arguments, result";
        "offloads*o_offload_s", "offload.csv";
    ContextSwitch t_csw_s program;
        "T_CSW", "T_CSW", "$T_{\\mathrm{CSW}}$";
        "s" Offload, "context switch on the host";
        "offloads*t_csw_s", "context_switch.csv";
    Gap g_s phases;
        "g", "g", "$g$";
        "s" OffloadAndApu, "gap between off-loads";
        "offloads*p*g_s", "profile.csv, or runs.csv with several p,";
    Collectives collectives phases;
        "N_COL", "K", "$N_{\\mathrm{COL}}$";
        "1" Run, "collective operations in the run";
        "collectives*o_col_s", "profile.csv";
    Alpha alpha program;
        "alpha_m", "α", "$\\alpha_m$";
        "1" Run, "slowdown of host code under m threads";
        "(alpha - 1)*t_hpu_s", "alpha.csv, or runs.csv with several m,";
    CollectiveCost o_col_s program;
        "O_COL", "O_COL", "$O_{\\mathrm{COL}}$";
        "s" Collective, "global synchronisation";
        "collectives*o_col_s", "collective.csv";
};

impl Term {
    /// Terms in the order of parameter files.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.term)
    }

    /// Terms of which each phase of a program has its part.
    pub fn of_phases() -> impl Iterator<Item = Self> {
        TABLE.iter().filter(|row| row.of_phase.is_some()).map(|row| row.term)
    }

    fn row(self) -> &'static TermRow {
        &TABLE[self as usize]
    }

    /// Name in files.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The term of that name in files.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|term| term.name() == name)
    }

    /// The paper's symbol, in ASCII; the paper has none for the number of collectives.
    pub fn symbol(self) -> &'static str {
        self.row().symbol
    }

    /// The symbol on a page, without what it is a function of.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// The symbol in LaTeX.
    pub fn latex(self) -> &'static str {
        self.row().latex
    }

    /// `s`, or `1` for a number.
    pub fn unit(self) -> &'static str {
        self.row().unit
    }

    /// Whether it may be a table over m.
    pub fn is_over_m(self) -> bool {
        matches!(self, Term::Alpha | Term::CollectiveCost)
    }

    /// Whether it is counted, and not measured.
    pub fn is_count(self) -> bool {
        matches!(self, Term::Offloads | Term::Collectives)
    }

    /// What the term is, in words.
    pub fn quantity(self) -> &'static str {
        self.row().quantity
    }

    /// The number of the term with that index; of a term that is no table there is only the first.
    pub fn entry(self, index: usize) -> Entry {
        Entry { term: self, index }
    }

    /// What the term adds to a sum \[s\].
    pub(crate) fn contribution(self) -> &'static str {
        self.row().contribution
    }

    /// The value that leaves the term out of equation 11, above which estimates by runs alone lie. A
    /// program off-loads at least once, so that times per off-load mean something.
    pub(crate) fn neutral(self) -> f64 {
        match self {
            Term::Alpha | Term::Offloads => 1.0,
            _ => 0.0,
        }
    }

    /// The least that the term can be: nobody is slowed down by less than nothing.
    pub(crate) fn least(self) -> f64 {
        if self == Term::Alpha { 1.0 } else { 0.0 }
    }

    /// The files that would give the term a value.
    pub(crate) fn measured_by(self) -> &'static str {
        self.row().measured_by
    }
}

impl Per {
    /// Words that follow a unit: `per off-load`; nothing for the whole run.
    pub fn name(self) -> &'static str {
        match self {
            Per::Run => "",
            Per::Offload => "per off-load",
            Per::OffloadAndApu => "per off-load and APU",
            Per::Collective => "per collective",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::Estimate;
    use super::*;

    #[test]
    fn every_term_stands_at_its_own_place_in_the_table() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.term as usize, index);
            assert_eq!(Term::named(row.name), Some(row.term));
        }
    }

    #[test]
    fn a_term_that_is_set_is_that_term_and_no_other() {
        for term in Term::all() {
            let mut terms = Terms::nothing();
            terms.value_mut(term).set(Estimate::exact(7.0));
            let is_changed = |other: &Term| {
                let now = terms.value(*other).numbers().next().map(|(_, estimate)| estimate.value);
                now == Some(7.0)
            };
            assert_eq!(Term::all().filter(is_changed).collect::<Vec<_>>(), [term]);
            let mut copy = Terms::nothing();
            copy.copy_from(&terms, term);
            assert_eq!(copy, terms);
            let mut phase = Phase::nothing("");
            let Some(place) = phase.value_mut(term) else { continue };
            place.set(Estimate::exact(7.0));
            assert_eq!(phase.value(term), terms.value(term));
            let others = phase.values().filter(|(other, _)| *other != term);
            assert!(others.flat_map(|(_, value)| value.estimates).all(|each| each.value == 0.0));
        }
    }

    #[test]
    fn only_alpha_and_the_cost_of_collectives_may_be_tables() {
        let over_m: Vec<&str> = Term::all().filter(|it| it.is_over_m()).map(Term::name).collect();
        assert_eq!(over_m, ["alpha", "o_col_s"]);
    }

    #[test]
    fn a_label_is_the_symbol_without_what_it_is_a_function_of() {
        let label = Term::label;
        let found = [Term::HpuTime, Term::Gap, Term::Alpha, Term::CollectiveCost].map(label);
        assert_eq!(found, ["T_HPU", "g", "α", "O_COL"]);
    }

    #[test]
    fn collectives_that_are_not_counted_are_paid_for_with_every_off_load() {
        let mut terms = Terms::nothing();
        let per = |terms: &Terms| terms.per(Term::CollectiveCost).name();
        assert_eq!(per(&terms), "per off-load");
        terms.collectives = Some(Estimate::exact(2.0));
        assert_eq!(per(&terms), "per collective");
        assert_eq!(terms.per(Term::HpuTime).name(), "");
        assert_eq!(terms.per(Term::Gap).name(), "per off-load and APU");
    }
}

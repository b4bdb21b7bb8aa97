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

static TABLE: [TermRow; 10] = [
    TermRow {
        term: Term::HpuTime,
        name: "t_hpu_s",
        symbol: "T_HPU(1,1)",
        label: "T_HPU",
        latex: "$T_{\\mathrm{HPU}}(1,1)$",
        unit: "s",
        per: Per::Run,
        quantity: "time on the host in a sequential run",
        of_program: field!(t_hpu_s),
        of_phase: Some(field!(t_hpu_s)),
    },
    TermRow {
        term: Term::ApuTime,
        name: "t_apu_s",
        symbol: "T_APU(1,1)",
        label: "T_APU",
        latex: "$T_{\\mathrm{APU}}(1,1)$",
        unit: "s",
        per: Per::Run,
        quantity: "APU time of the part that p APUs share",
        of_program: field!(t_apu_s),
        of_phase: Some(field!(t_apu_s)),
    },
    TermRow {
        term: Term::ApuSerialTime,
        name: "c_apu_s",
        symbol: "C_APU",
        label: "C_APU",
        latex: "$C_{\\mathrm{APU}}$",
        unit: "s",
        per: Per::Run,
        quantity: "APU time of the part that they cannot share",
        of_program: field!(c_apu_s),
        of_phase: Some(field!(c_apu_s)),
    },
    TermRow {
        term: Term::Offloads,
        name: "offloads",
        symbol: "N",
        label: "N",
        latex: "$N$",
        unit: "1",
        per: Per::Run,
        quantity: "off-loads in the run",
        of_program: field!(offloads),
        of_phase: Some(field!(offloads)),
    },
    TermRow {
        term: Term::OffloadOverhead,
        name: "o_offload_s",
        symbol: "O_offload",
        label: "O_offload",
        latex: "$O_{\\mathrm{offload}}$",
        unit: "s",
        per: Per::Offload,
        quantity: "signal there and back, arguments, result",
        of_program: field!(o_offload_s),
        of_phase: None,
    },
    TermRow {
        term: Term::ContextSwitch,
        name: "t_csw_s",
        symbol: "T_CSW",
        label: "T_CSW",
        latex: "$T_{\\mathrm{CSW}}$",
        unit: "s",
        per: Per::Offload,
        quantity: "context switch on the host",
        of_program: field!(t_csw_s),
        of_phase: None,
    },
    TermRow {
        term: Term::Gap,
        name: "g_s",
        symbol: "g",
        label: "g",
        latex: "$g$",
        unit: "s",
        per: Per::OffloadAndApu,
        quantity: "gap between off-loads",
        of_program: field!(g_s),
        of_phase: Some(field!(g_s)),
    },
    TermRow {
        term: Term::Collectives,
        name: "collectives",
        symbol: "N_COL",
        label: "K",
        latex: "$N_{\\mathrm{COL}}$",
        unit: "1",
        per: Per::Run,
        quantity: "collective operations in the run",
        of_program: field!(collectives),
        of_phase: Some(field!(collectives)),
    },
    TermRow {
        term: Term::Alpha,
        name: "alpha",
        symbol: "alpha_m",
        label: "α",
        latex: "$\\alpha_m$",
        unit: "1",
        per: Per::Run,
        quantity: "slowdown of host code under m threads",
        of_program: field!(alpha),
        of_phase: None,
    },
    TermRow {
        term: Term::CollectiveCost,
        name: "o_col_s",
        symbol: "O_COL",
        label: "O_COL",
        latex: "$O_{\\mathrm{COL}}$",
        unit: "s",
        per: Per::Collective,
        quantity: "global synchronisation",
        of_program: field!(o_col_s),
        of_phase: None,
    },
];

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
        match self {
            Term::HpuTime => Entry::HpuTime,
            Term::ApuTime => Entry::ApuTime,
            Term::ApuSerialTime => Entry::ApuSerialTime,
            Term::Offloads => Entry::Offloads,
            Term::OffloadOverhead => Entry::OffloadOverhead,
            Term::ContextSwitch => Entry::ContextSwitch,
            Term::Gap => Entry::Gap,
            Term::Collectives => Entry::Collectives,
            Term::Alpha => Entry::Alpha(index),
            Term::CollectiveCost => Entry::Collective(index),
        }
    }

    /// The term that an entry belongs to, and which of its numbers it is.
    pub fn of(entry: Entry) -> (Self, usize) {
        match entry {
            Entry::HpuTime => (Term::HpuTime, 0),
            Entry::ApuTime => (Term::ApuTime, 0),
            Entry::ApuSerialTime => (Term::ApuSerialTime, 0),
            Entry::Offloads => (Term::Offloads, 0),
            Entry::OffloadOverhead => (Term::OffloadOverhead, 0),
            Entry::ContextSwitch => (Term::ContextSwitch, 0),
            Entry::Gap => (Term::Gap, 0),
            Entry::Collectives => (Term::Collectives, 0),
            Entry::Alpha(index) => (Term::Alpha, index),
            Entry::Collective(index) => (Term::CollectiveCost, index),
        }
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
            assert_eq!(Term::of(row.term.entry(0)), (row.term, 0));
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

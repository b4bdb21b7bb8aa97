//! What is known of a term, whatever its kind: to look at it, to change it.

use super::super::parameters::{Estimate, Interpolation, OverM, Phase, Terms};
use super::{Per, Term};

/// What is known of a term: nothing, one number, or one for each m of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermValue<'a> {
    /// Numbers; none where an optional term is absent.
    pub estimates: &'a [Estimate],
    /// The m of each, where the term is a table over m.
    pub m: Option<&'a [u32]>,
    /// What such a table is between and beyond them.
    pub interpolation: Interpolation,
}

impl<'a> TermValue<'a> {
    fn without_m(estimates: &'a [Estimate]) -> Self {
        Self { estimates, m: None, interpolation: Interpolation::Held }
    }

    /// Numbers, each with its m where it is one of a table.
    pub fn numbers(self) -> impl Iterator<Item = (Option<u32>, &'a Estimate)> {
        let Self { estimates, m, .. } = self;
        (0..estimates.len()).map(move |index| (m.map(|m| m[index]), &estimates[index]))
    }
}

impl<'a> From<&'a Estimate> for TermValue<'a> {
    fn from(estimate: &'a Estimate) -> Self {
        Self::without_m(std::slice::from_ref(estimate))
    }
}

impl<'a> From<&'a Option<Estimate>> for TermValue<'a> {
    fn from(estimate: &'a Option<Estimate>) -> Self {
        Self::without_m(estimate.as_slice())
    }
}

impl<'a> From<&'a OverM> for TermValue<'a> {
    fn from(term: &'a OverM) -> Self {
        match term {
            OverM::Constant(estimate) => estimate.into(),
            OverM::Table(table) => Self {
                estimates: &table.values,
                m: Some(&table.m),
                interpolation: table.interpolation,
            },
        }
    }
}

/// The place of a term, to change it; its kind says what may stand there.
#[derive(Debug, PartialEq)]
pub enum TermValueMut<'a> {
    /// Single number.
    Number(&'a mut Estimate),
    /// A number that may be absent.
    Optional(&'a mut Option<Estimate>),
    /// A number, or a table over m.
    OverM(&'a mut OverM),
}

impl<'a> TermValueMut<'a> {
    /// Numbers, as in [`TermValue::estimates`].
    pub fn estimates(self) -> &'a mut [Estimate] {
        match self {
            Self::Number(estimate) => std::slice::from_mut(estimate),
            Self::Optional(estimate) => estimate.as_mut_slice(),
            Self::OverM(OverM::Constant(estimate)) => std::slice::from_mut(estimate),
            Self::OverM(OverM::Table(table)) => &mut table.values,
        }
    }

    /// Makes it that one number, for all m.
    pub fn set(self, to: Estimate) {
        match self {
            Self::Number(estimate) => *estimate = to,
            Self::Optional(estimate) => *estimate = Some(to),
            Self::OverM(term) => *term = OverM::Constant(to),
        }
    }
}

impl<'a> From<&'a mut Estimate> for TermValueMut<'a> {
    fn from(estimate: &'a mut Estimate) -> Self {
        Self::Number(estimate)
    }
}

impl<'a> From<&'a mut Option<Estimate>> for TermValueMut<'a> {
    fn from(estimate: &'a mut Option<Estimate>) -> Self {
        Self::Optional(estimate)
    }
}

impl<'a> From<&'a mut OverM> for TermValueMut<'a> {
    fn from(term: &'a mut OverM) -> Self {
        Self::OverM(term)
    }
}

impl Terms {
    /// Terms of a program that takes no time: all of them 0, alpha 1 for all m, and collectives not
    /// counted.
    pub fn nothing() -> Self {
        let nothing = || Estimate::exact(0.0);
        Self {
            t_hpu_s: nothing(),
            t_apu_s: nothing(),
            c_apu_s: nothing(),
            offloads: nothing(),
            o_offload_s: nothing(),
            t_csw_s: nothing(),
            g_s: nothing(),
            collectives: None,
            alpha: OverM::Constant(Estimate::exact(1.0)),
            o_col_s: OverM::Constant(nothing()),
        }
    }

    /// What is known of a term.
    pub fn value(&self, term: Term) -> TermValue<'_> {
        (term.row().of_program.get)(self)
    }

    /// Value of a term, to change it.
    pub fn value_mut(&mut self, term: Term) -> TermValueMut<'_> {
        (term.row().of_program.get_mut)(self)
    }

    /// Makes a term what it is in others.
    pub fn copy_from(&mut self, others: &Self, term: Term) {
        (term.row().of_program.copy)(self, others);
    }

    /// The terms that are known, in the order of parameter files.
    pub fn values(&self) -> impl Iterator<Item = (Term, TermValue<'_>)> {
        let values = Term::all().map(|term| (term, self.value(term)));
        values.filter(|(_, value)| !value.estimates.is_empty())
    }

    /// What a term is counted for: without a count of collectives, every off-load pays for one.
    pub fn per(&self, term: Term) -> Per {
        match term.row().per {
            Per::Collective if self.collectives.is_none() => Per::Offload,
            per => per,
        }
    }
}

impl Phase {
    /// A phase that takes no time.
    pub fn nothing(name: &str) -> Self {
        let Terms { t_hpu_s, t_apu_s, c_apu_s, offloads, g_s, collectives, .. } = Terms::nothing();
        Self { name: name.into(), t_hpu_s, t_apu_s, c_apu_s, offloads, g_s, collectives }
    }

    /// What is known of its part of a term; nothing where phases have none.
    pub fn value(&self, term: Term) -> TermValue<'_> {
        let nothing = TermValue::without_m(&[]);
        term.row().of_phase.as_ref().map_or(nothing, |field| (field.get)(self))
    }

    /// Part of a term, to change it; `None` where phases have no part of the term.
    pub fn value_mut(&mut self, term: Term) -> Option<TermValueMut<'_>> {
        term.row().of_phase.as_ref().map(|field| (field.get_mut)(self))
    }

    /// Parts that are known, in the order of parameter files.
    pub fn values(&self) -> impl Iterator<Item = (Term, TermValue<'_>)> {
        let values = Term::of_phases().map(|term| (term, self.value(term)));
        values.filter(|(_, value)| !value.estimates.is_empty())
    }
}

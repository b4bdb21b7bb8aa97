//! What the micro-benchmarks and the profile determine without any run.

use super::profile::Program;
use super::shape::Choice;
use super::term::Term;
use super::{Inputs, Measurement, Settings, stated};
use super::{alpha, collective, context_switch, offload, profile};
use crate::model::Parameters;
use crate::model::parameters::{Estimate, OverM, Phase, Table, Terms};
use crate::model::sensitivity::Entry;
use crate::model::uncertainty::Correlation;
use mmgp_base::error::{Result, Warning};

/// The source of a value that nothing determines.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// The terms that files determine, each with the number of rows behind it.
pub(crate) struct Known {
    pub alpha: Option<(OverM, u64)>,
    pub o_offload_s: Option<(Estimate, u64)>,
    pub t_csw_s: Option<(Estimate, u64)>,
    pub o_col_s: Option<(OverM, u64)>,
    pub program: Option<(Program, u64)>,
    /// How the shapes of terms over m were chosen.
    pub choices: Vec<Choice>,
    /// How the errors of the entries of terms over m go together.
    pub correlations: Vec<Correlation>,
    pub warnings: Vec<Warning>,
}

impl Known {
    /// Evaluates every file that is given.
    pub fn from(inputs: &Inputs, settings: &Settings) -> Result<Self> {
        let term_choices = &settings.options.terms;
        let mut doubts = Doubts::default();
        let alpha = |file| alpha::alpha(file, term_choices.alpha, settings.apus);
        let collective = |file| collective::collective(file, term_choices, settings.apus);
        let context_switch = context_switch::context_switch;
        Ok(Self {
            alpha: doubts.part(inputs.alpha.as_ref().map(alpha).transpose()?),
            o_offload_s: doubts.part(inputs.offload.as_ref().map(offload::offload).transpose()?),
            t_csw_s: doubts.part(inputs.context_switch.as_ref().map(context_switch).transpose()?),
            o_col_s: doubts.part(inputs.collective.as_ref().map(collective).transpose()?),
            program: doubts.part(inputs.profile.as_ref().map(profile::program).transpose()?),
            choices: doubts.choices,
            correlations: doubts.correlations,
            warnings: doubts.warnings,
        })
    }

    /// The terms that nothing determines yet.
    pub fn unknown_terms(&self) -> Vec<Term> {
        let mut unknown = Vec::new();
        if self.program.is_none() {
            unknown.extend([Term::HpuTime, Term::ApuTime, Term::ApuSerialTime, Term::Gap]);
            unknown.push(Term::Offloads);
            // Without a known cost, the number of collectives is one with their cost.
            unknown.extend(self.o_col_s.is_some().then_some(Term::Collectives));
        }
        unknown.extend(self.alpha.is_none().then_some(Term::Alpha));
        unknown.extend(self.o_offload_s.is_none().then_some(Term::OffloadOverhead));
        unknown.extend(self.t_csw_s.is_none().then_some(Term::ContextSwitch));
        unknown.extend(self.o_col_s.is_none().then_some(Term::CollectiveCost));
        unknown.sort();
        unknown
    }

    /// The parameters with what is known, and with neutral values for the rest.
    pub fn parameters(&self, settings: &Settings) -> Parameters {
        let neutral = |term: Term| stated(term.neutral(), NOT_MEASURED);
        let (whole, phases) = match &self.program {
            Some((program, _)) => (program.whole.clone(), program.phases.clone()),
            None => {
                let collectives = self.o_col_s.is_some().then(|| neutral(Term::Collectives));
                let whole = Phase {
                    name: String::new(),
                    t_hpu_s: neutral(Term::HpuTime),
                    t_apu_s: neutral(Term::ApuTime),
                    c_apu_s: neutral(Term::ApuSerialTime),
                    offloads: neutral(Term::Offloads),
                    g_s: neutral(Term::Gap),
                    collectives,
                };
                (whole, Vec::new())
            }
        };
        let number = |known: &Option<(Estimate, u64)>, term: Term| {
            known.as_ref().map_or_else(|| neutral(term), |(estimate, _)| estimate.clone())
        };
        let over_m = |known: &Option<(OverM, u64)>, term: Term| {
            let known = known.as_ref().map(|(over_m, _)| over_m.clone());
            known.unwrap_or_else(|| OverM::Constant(neutral(term)))
        };
        Parameters {
            name: settings.name.clone(),
            decomposition: settings.decomposition,
            apus: settings.apus,
            terms: Terms {
                t_hpu_s: whole.t_hpu_s,
                t_apu_s: whole.t_apu_s,
                c_apu_s: whole.c_apu_s,
                offloads: whole.offloads,
                o_offload_s: number(&self.o_offload_s, Term::OffloadOverhead),
                t_csw_s: number(&self.t_csw_s, Term::ContextSwitch),
                g_s: whole.g_s,
                collectives: whole.collectives,
                alpha: over_m(&self.alpha, Term::Alpha),
                o_col_s: over_m(&self.o_col_s, Term::CollectiveCost),
            },
            phases,
            correlation: together(&self.correlations),
            refinements: None,
        }
    }
}

/// The correlations of terms whose errors are independent of one another.
fn together(correlations: &[Correlation]) -> Option<Correlation> {
    let all: Vec<Entry> = correlations.iter().flat_map(|each| each.entries().to_vec()).collect();
    let of = |one: Entry, other: Entry| match one == other {
        true => 1.0,
        false => correlations.iter().map(|each| each.of(one, other)).sum(),
    };
    let matrix = all.iter().flat_map(|&row| all.iter().map(move |&column| of(row, column)));
    let matrix = matrix.collect();
    (!all.is_empty())
        .then(|| Correlation::new(all, matrix).expect("invariant: blocks of correlations are one"))
}

/// What comes with measurements beside their values.
#[derive(Default)]
struct Doubts {
    choices: Vec<Choice>,
    correlations: Vec<Correlation>,
    warnings: Vec<Warning>,
}

impl Doubts {
    /// Parts a measurement from its doubts.
    fn part<T>(&mut self, measured: Option<Measurement<T>>) -> Option<(T, u64)> {
        measured.map(|measurement| {
            self.choices.extend(measurement.choices);
            self.correlations.extend(measurement.correlation);
            self.warnings.extend(measurement.warnings);
            (measurement.value, measurement.observations)
        })
    }
}

/// Gives the unknown terms the values that are believed of them, and says how their errors go
/// together; `unknown` keeps what the prior does not have.
pub(crate) fn believe(
    prior: &Parameters,
    base: &mut Parameters,
    unknown: &mut Vec<Term>,
) -> Option<Correlation> {
    let believed = |estimate: &Estimate| Estimate {
        source: Some(estimate.source.clone().unwrap_or_else(|| prior.name.clone())),
        combined_with: Vec::new(),
        ..estimate.clone()
    };
    let over_m = |term: &OverM| match term {
        OverM::Constant(estimate) => OverM::Constant(believed(estimate)),
        OverM::Table(table) => OverM::Table(Table {
            m: table.m.clone(),
            values: table.values.iter().map(believed).collect(),
        }),
    };
    let (known, terms) = (&prior.terms, &mut base.terms);
    let taken: Vec<Term> = unknown.clone();
    for term in &taken {
        match term {
            Term::HpuTime => terms.t_hpu_s = believed(&known.t_hpu_s),
            Term::ApuTime => terms.t_apu_s = believed(&known.t_apu_s),
            Term::ApuSerialTime => terms.c_apu_s = believed(&known.c_apu_s),
            Term::Gap => terms.g_s = believed(&known.g_s),
            Term::OffloadOverhead => terms.o_offload_s = believed(&known.o_offload_s),
            Term::ContextSwitch => terms.t_csw_s = believed(&known.t_csw_s),
            Term::Offloads => terms.offloads = believed(&known.offloads),
            Term::Collectives => {}
            Term::Alpha => terms.alpha = over_m(&known.alpha),
            Term::CollectiveCost => terms.o_col_s = over_m(&known.o_col_s),
        }
    }
    if taken.contains(&Term::Offloads) {
        terms.collectives = known.collectives.as_ref().map(believed);
    }
    unknown.clear();
    let correlation = prior.correlation.as_ref()?;
    let is_taken = |entry: &Entry| taken.contains(&Term::of(*entry));
    let entries: Vec<Entry> = correlation.entries().iter().copied().filter(is_taken).collect();
    let pairs = entries.iter().flat_map(|&one| entries.iter().map(move |&other| (one, other)));
    let matrix = pairs.map(|(one, other)| correlation.of(one, other)).collect();
    Correlation::new(entries, matrix).ok()
}

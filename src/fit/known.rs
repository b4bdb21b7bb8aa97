//! What the micro-benchmarks and the profile determine without any run.

use super::profile::Program;
use super::term::Term;
use super::{Inputs, Measurement, Settings, stated};
use super::{alpha, collective, context_switch, offload, profile};
use crate::error::{Result, Warning};
use crate::model::Parameters;
use crate::model::parameters::{Estimate, OverM, Phase, Terms};

/// The source of a value that nothing determines.
const NOT_MEASURED: &str = "not measured";

/// The terms that files determine, each with the number of rows behind it.
pub(crate) struct Known {
    pub alpha: Option<(OverM, u64)>,
    pub o_offload_s: Option<(Estimate, u64)>,
    pub t_csw_s: Option<(Estimate, u64)>,
    pub o_col_s: Option<(OverM, u64)>,
    pub program: Option<(Program, u64)>,
    pub warnings: Vec<Warning>,
}

impl Known {
    /// Evaluates every file that is given.
    pub fn from(inputs: &Inputs) -> Result<Self> {
        let mut warnings = Vec::new();
        Ok(Self {
            alpha: keep(inputs.alpha.as_ref().map(alpha::alpha).transpose()?, &mut warnings),
            o_offload_s: keep(
                inputs.offload.as_ref().map(offload::offload).transpose()?,
                &mut warnings,
            ),
            t_csw_s: keep(
                inputs.context_switch.as_ref().map(context_switch::context_switch).transpose()?,
                &mut warnings,
            ),
            o_col_s: keep(inputs.collective.as_ref().map(collective::collective), &mut warnings),
            program: keep(
                inputs.profile.as_ref().map(profile::program).transpose()?,
                &mut warnings,
            ),
            warnings,
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
            correlation: None,
            refinements: None,
        }
    }
}

/// Parts a measurement from its doubts.
fn keep<T>(measured: Option<Measurement<T>>, warnings: &mut Vec<Warning>) -> Option<(T, u64)> {
    measured.map(|measurement| {
        warnings.extend(measurement.warnings);
        (measurement.value, measurement.observations)
    })
}

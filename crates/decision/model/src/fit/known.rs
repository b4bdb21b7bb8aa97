//! Terms that micro-benchmarks and a profile determine without any run, those that they leave unknown, and
//! both as the evidence that predictions are conditioned on.

use super::inputs::{Inputs, Settings};
use super::inputs::{TermMeasurement, stated};
use super::runs::{Cell, Runs};
use super::shape::ShapeChoice;
use super::{collective, host, offload, profile};
use crate::models::Parameters;
use crate::models::observations::{Before, Evidence, Observation, Observations};
use crate::models::parameters::{Estimate, NOT_MEASURED, Phase, Terms};
use crate::models::sensitivity::{Correlation, Entry};
use crate::models::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::error::{Result, Warning};
use mmgp_base::units::Seconds;

/// The terms that files determine.
pub(crate) struct FileTerms {
    /// What files say of the terms; those that none knows have neutral values.
    terms: Terms,
    /// Parts of the terms, where the program has several phases.
    phases: Vec<Phase>,
    /// Terms that a file determines, with the number of rows behind each.
    rows: Vec<(Term, u64)>,
    /// How the shapes of terms over m were chosen.
    pub choices: Vec<ShapeChoice>,
    /// How the errors of the entries of terms over m go together.
    pub correlations: Vec<Correlation>,
    pub warnings: Vec<Warning>,
}

/// Terms that a profile determines.
const OF_PROFILE: [Term; 6] = [
    Term::HpuTime,
    Term::ApuTime,
    Term::ApuSerialTime,
    Term::Gap,
    Term::Offloads,
    Term::Collectives,
];

impl FileTerms {
    /// Evaluates every file that is given.
    pub fn from(inputs: &Inputs, settings: &Settings) -> Result<Self> {
        let (choices, apus) = (&settings.options.terms, settings.apus);
        let mut known = Self {
            terms: Terms::nothing(),
            phases: Vec::new(),
            rows: Vec::new(),
            choices: Vec::new(),
            correlations: Vec::new(),
            warnings: Vec::new(),
        };
        for term in Term::all().filter(|term| *term != Term::Collectives) {
            known.terms.value_mut(term).set(stated(term.neutral(), NOT_MEASURED));
        }
        if let Some(file) = &inputs.alpha {
            known.terms.alpha = known.take(&[Term::Alpha], host::alpha(file, choices.alpha, apus)?);
        }
        if let Some(file) = &inputs.offload {
            known.terms.o_offload_s = known.take(&[Term::OffloadOverhead], offload::offload(file)?);
        }
        if let Some(file) = &inputs.context_switch {
            known.terms.t_csw_s = known.take(&[Term::ContextSwitch], host::context_switch(file)?);
        }
        if let Some(file) = &inputs.collective {
            let measured = collective::collective(file, choices, apus)?;
            known.terms.o_col_s = known.take(&[Term::CollectiveCost], measured);
        }
        if let Some(file) = &inputs.profile {
            let program = known.take(&OF_PROFILE, profile::program(file)?);
            for (term, value) in program.whole.values() {
                for estimate in value.estimates {
                    known.terms.value_mut(term).set(estimate.clone());
                }
            }
            known.phases = program.phases;
        } else if inputs.collective.is_some() {
            // Without a known cost, the number of collectives is one with their cost.
            let neutral = stated(Term::Collectives.neutral(), NOT_MEASURED);
            known.terms.collectives = Some(neutral);
        }
        Ok(known)
    }

    /// Parts a measurement of some terms from what comes with its value.
    fn take<T>(&mut self, terms: &[Term], measured: TermMeasurement<T>) -> T {
        self.rows.extend(terms.iter().map(|term| (*term, measured.observations)));
        self.choices.extend(measured.choices);
        self.correlations.extend(measured.correlation);
        self.warnings.extend(measured.warnings);
        measured.value
    }

    /// The rows behind a term; `None` where no file determines it.
    pub fn rows(&self, term: Term) -> Option<u64> {
        self.rows.iter().find(|(known, _)| *known == term).map(|(_, rows)| *rows)
    }

    /// The terms that nothing determines yet.
    pub fn unknown_terms(&self) -> Vec<Term> {
        let is_unknown = |term: &Term| {
            let is_there = *term != Term::Collectives || self.terms.collectives.is_some();
            is_there && self.rows(*term).is_none()
        };
        CARRIERS.into_iter().filter(is_unknown).collect()
    }

    /// The parameters with what is known, and with neutral values for the rest.
    pub fn parameters(&self, settings: &Settings) -> Parameters {
        let Settings { name, decomposition, apus, .. } = settings;
        let mut parameters = Parameters::new(name, *decomposition, *apus, self.terms.clone());
        parameters.phases = self.phases.clone();
        parameters.correlation = together(&self.correlations);
        parameters
    }
}

/// The correlations of terms whose errors are independent of one another.
pub(crate) fn together(correlations: &[Correlation]) -> Option<Correlation> {
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

/// Gives the unknown terms the values that are believed of them, which leaves none of them
/// unknown, and says how their errors go together. Of an earlier fit that is what files said before its
/// runs, which count by themselves.
pub(crate) fn believe(
    prior: &Parameters,
    base: &mut Parameters,
    unknown: &mut Vec<Term>,
) -> Option<Correlation> {
    let (terms, correlation, left) = match &prior.evidence {
        None => (&prior.terms, &prior.correlation, &[][..]),
        Some(Evidence { before: Some(before), .. }) => {
            (&before.terms, &before.correlation, &before.unknown[..])
        }
        Some(Evidence { before: None, .. }) => return None,
    };
    let believed = |estimate: &Estimate| Estimate {
        source: Some(estimate.source.clone().unwrap_or_else(|| prior.name.clone())),
        combined_with: Vec::new(),
        ..estimate.clone()
    };
    let taken: Vec<Term> = unknown.iter().copied().filter(|term| !left.contains(term)).collect();
    let is_taken = |term: Term| match term {
        // Whoever counts the off-loads counts the collectives.
        Term::Collectives => taken.contains(&Term::Offloads),
        term => taken.contains(&term),
    };
    for term in Term::all().filter(|term| is_taken(*term)) {
        base.terms.copy_from(terms, term);
        for estimate in base.terms.value_mut(term).estimates() {
            *estimate = believed(estimate);
        }
    }
    unknown.retain(|term| left.contains(term));
    let correlation = correlation.as_ref()?;
    let is_taken = |entry: &Entry| taken.contains(&entry.term);
    let entries: Vec<Entry> = correlation.entries().iter().copied().filter(is_taken).collect();
    let pairs = entries.iter().flat_map(|&one| entries.iter().map(move |&other| (one, other)));
    let matrix = pairs.map(|(one, other)| correlation.of(one, other)).collect();
    Correlation::new(entries, matrix).ok()
}

impl Runs {
    /// A time for each configuration, and the scatter of repetitions.
    ///
    /// Configurations that mostly took no time are left out: they have no logarithm. A doubtful one
    /// counts for as much of a run as its variance leaves.
    pub fn observations(&self) -> Observations {
        let timed = self.cells.iter().filter(|cell| cell.log_time.is_finite());
        let squares: f64 = timed.clone().map(|cell| cell.log_squares).sum();
        let degrees: f64 = timed.clone().map(|cell| cell.count as f64 - 1.0).sum();
        let noise_variance = if degrees > 0.0 { squares / degrees } else { 0.0 };
        let observed = |cell: &Cell| Observation {
            mapping: Mapping::of(cell.m, cell.p),
            level: 0,
            time: Seconds(cell.log_time.exp()),
            repetitions: match cell.doubt > 0.0 {
                true => (noise_variance / (noise_variance + cell.doubt)).max(LEAST_OF_A_RUN),
                false => cell.count as f64,
            },
        };
        let all = timed.map(observed).collect();
        Observations::new(self.file.clone(), all, squares, degrees)
            .of_quantity(self.quantity.clone())
    }
}

/// A run that is in doubt counts at least for this part of one.
const LEAST_OF_A_RUN: f64 = 1e-3;

/// What a fit of these runs is conditioned on; `base` holds what files said, with the terms that
/// none of them knows, and `prior` is an earlier fit, whose runs count on.
pub(crate) fn evidence(
    runs: &Runs,
    base: &Parameters,
    unknown: &[Term],
    prior: Option<&Parameters>,
) -> Evidence {
    let earlier = prior.and_then(|prior| prior.evidence.as_ref()).map(|it| &it.observations);
    let observations = match earlier {
        Some(earlier) => earlier.clone().merged(runs.observations()),
        None => runs.observations(),
    };
    // Costs alone, of which nobody knows how often the program pays them, say nothing of its time.
    let is_unknown = |term| unknown.contains(&term);
    let is_program_known = !is_unknown(Term::HpuTime) || !is_unknown(Term::ApuTime);
    let before = is_program_known.then(|| Before {
        terms: of_a_file(base),
        correlation: base.correlation.clone(),
        unknown: unknown.to_vec(),
    });
    Evidence { observations, before }
}

/// The terms as a file can hold them: files may say of alpha what it cannot be.
fn of_a_file(base: &Parameters) -> Terms {
    let mut terms = base.terms.clone();
    for estimate in terms.value_mut(Term::Alpha).estimates() {
        estimate.value = estimate.value.max(Term::Alpha.neutral());
    }
    terms
}

/// The terms in the order in which they carry: of terms that cannot be told apart, the first carries
/// the sum. Of alpha it is the slope a of `alpha_m = 1 + a*(m - 1)` that runs tell of, its product
/// with T_HPU where that is unknown too.
pub(crate) const CARRIERS: [Term; 10] = [
    Term::HpuTime,
    Term::ApuTime,
    Term::ApuSerialTime,
    Term::Alpha,
    Term::Gap,
    Term::OffloadOverhead,
    Term::ContextSwitch,
    Term::CollectiveCost,
    Term::Offloads,
    Term::Collectives,
];

impl Term {
    /// The warning that goes with a neutral value.
    pub(crate) fn not_measured(self) -> Warning {
        Warning::NotMeasured {
            term: self.name(),
            taken: self.neutral(),
            measure: self.measured_by(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trials::{TERMS, truth};
    use super::*;
    use crate::models::parameters::Decomposition;
    use crate::toy;

    fn pair(entries: [Entry; 2], correlation: f64) -> Correlation {
        Correlation::new(entries.into(), vec![1.0, correlation, correlation, 1.0]).unwrap()
    }

    #[test]
    fn errors_of_different_files_do_not_go_together() {
        let alpha = [Term::Alpha.entry(1), Term::Alpha.entry(2)];
        let collective = [Term::CollectiveCost.entry(0), Term::CollectiveCost.entry(1)];
        let found = together(&[pair(alpha, 0.5), pair(collective, -0.25)]).unwrap();
        assert_eq!(found.entries(), [alpha, collective].concat());
        assert_eq!(found.row(0), [1.0, 0.5, 0.0, 0.0]);
        assert_eq!(found.row(3), [0.0, 0.0, -0.25, 1.0]);
        assert_eq!(together(&[]), None);
    }

    #[test]
    fn what_a_prior_is_believed_of_has_a_source_and_its_own_correlations_only() {
        let mut base = truth(Decomposition::Data, 0.1, TERMS);
        let mut prior = Parameters::new("as last year", base.decomposition, 16, base.terms.clone());
        prior.terms.t_apu_s = Estimate {
            std_error: Some(2.0),
            combined_with: vec!["g_s".into()],
            ..Estimate::exact(90.0)
        };
        prior.terms.g_s.source = Some("runs.csv".into());
        let entries = vec![Term::ApuTime.entry(0), Term::Gap.entry(0), Term::HpuTime.entry(0)];
        let matrix = vec![1.0, 0.5, 0.25, 0.5, 1.0, 0.125, 0.25, 0.125, 1.0];
        prior.correlation = Some(Correlation::new(entries, matrix).unwrap());
        let before = base.terms.t_hpu_s.clone();
        let mut unknown = vec![Term::ApuTime, Term::Gap];
        let correlation = believe(&prior, &mut base, &mut unknown).unwrap();
        assert_eq!(correlation, pair([Term::ApuTime.entry(0), Term::Gap.entry(0)], 0.5));
        let source = Some("as last year".into());
        let expected = Estimate { std_error: Some(2.0), source, ..Estimate::exact(90.0) };
        assert_eq!(base.terms.t_apu_s, expected);
        assert_eq!(base.terms.g_s.source.as_deref(), Some("runs.csv"));
        assert_eq!(base.terms.t_hpu_s, before);
        assert_eq!(unknown, []);
    }

    #[test]
    fn a_configuration_that_mostly_took_no_time_is_left_out() {
        let times: [((u32, u32), &[f64]); 4] = [
            ((1, 1), &[2.0, 2.0, 8.0]),
            ((1, 2), &[0.0, 0.0, 3.0]),
            ((2, 1), &[0.0]),
            ((2, 2), &[1.0, 1.0, 1.0]),
        ];
        let cells = times.map(|(mapping, times_s)| Cell::of(mapping, times_s)).to_vec();
        let found = Runs::new("runs.csv", cells).observations();
        let kept: Vec<_> = found.configurations.iter().map(|it| it.mapping).collect();
        assert_eq!(kept, [(1, 1), (2, 2)].map(|(m, p)| Mapping::of(m, p)));
        // The cube root of 32.
        approx::assert_relative_eq!(found.configurations[0].time.0, 3.174_802, max_relative = 1e-6);
        assert_eq!((found.configurations[0].repetitions, found.degrees_of_freedom), (3.0, 4.0));
    }

    #[test]
    fn a_run_in_doubt_counts_for_as_much_as_its_variance_leaves() {
        let doubtful = Cell { doubt: 0.04, ..Cell::of((2, 1), &[5.0]) };
        let cells = vec![Cell::of((1, 1), &[2.0, 2.1, 1.9]), doubtful];
        let found = Runs::new("runs.csv", cells).observations();
        let noise = found.scatter / 2.0;
        let expected = noise / (noise + 0.04);
        assert_eq!(found.configurations[1].repetitions, expected);
    }

    #[test]
    fn files_that_say_nothing_are_not_remembered() {
        let cells = vec![Cell::of((1, 1), &[2.0])];
        let runs = Runs::new("runs.csv", cells);
        let before = |base: &Parameters| evidence(&runs, base, &[Term::Gap], None).before;
        let known = toy::parameters(Decomposition::Data);
        let Before { terms, unknown, .. } = before(&known).unwrap();
        assert_eq!((terms, unknown), (known.terms.clone(), vec![Term::Gap]));
        // What an off-load costs says nothing of a program of which nobody knows how often it off-loads.
        let unknown = [Term::HpuTime, Term::ApuTime, Term::Gap];
        assert_eq!(evidence(&runs, &known, &unknown, None).before, None);
    }
}

//! The terms of equation 11 given timed runs: numbers that what is believed of times holds.
//!
//! Equation 11 with what files give, the terms that no file knows, and a misfit over it, is conditioned
//! on the runs ([`Posterior`]); of every value and of every sum that the runs determine it says the
//! logarithm, and how they go together. So a term is never negative, its error knows how far the equation
//! is off, and what nothing tells has an error of orders of magnitude.

mod read_outs;

use nalgebra::DMatrix;

use super::identifiability::{Group, Groups};
use super::report::TermSum;
use super::runs::Runs;
use super::shape;
use crate::belief::{
    AlphaGrowth, FASTER, Numbers, Posterior, Prior, Regressor, SLOWER, View, Work,
};
use crate::models::Parameters;
use crate::models::observations::{Evidence, Observations};
use crate::models::parameters::{Estimate, OverM, Terms};
use crate::models::sensitivity::Correlation;
use crate::models::terms::{Term, TermValueMut};
use crate::models::time_model::EQUATION_11;
use mmgp_base::error::Result;
pub use read_outs::Contradiction;
use read_outs::{Of, ReadOut, ReadOuts, contradictions};

/// The terms, and what else is believed of them.
pub(crate) struct TermsGivenRuns {
    pub parameters: Parameters,
    /// The sums of terms that no file knows, as the runs hold them.
    pub groups: Vec<Group>,
    /// Terms that no file knows and that change no run.
    pub silent: Vec<Term>,
    /// Terms that no file knows and that can take each other's place, and what would tell them apart.
    pub traded: (Vec<Term>, Option<(u32, u32)>),
    /// How many numbers the runs tell.
    pub estimated: usize,
    /// Values that files and runs say differently, the farthest apart first, where files do not hold.
    pub contradictions: Vec<Contradiction>,
    /// The shapes that alpha may have, with how likely each is, the likeliest first; none where a file
    /// knows it.
    pub growths: Vec<(shape::Shape, f64)>,
}

impl TermsGivenRuns {
    /// The sums that the runs cannot split.
    pub fn sums(&self) -> Vec<TermSum> {
        self.groups.iter().filter(|group| !group.carried.is_empty()).map(TermSum::of).collect()
    }
}

/// A part of a variance that runs took away and that is worth naming them for.
const NOTABLE: f64 = 0.01;

/// Size of correlations below which an entry's are left out where all are so small.
const FAINT: f64 = 1e-3;

/// Correlations are written to so many parts.
const PARTS: f64 = 1e9;

/// Files that hold for the program less likely than this contradict the runs.
const UNLIKELY: f64 = 0.5;

/// What is believed of times and of equation 11, given the runs.
pub(crate) struct TermBelief {
    /// What predictions weigh.
    pub all: Posterior,
    /// Equation 11 alone, where that is another belief: of files that say nothing of the program's time, or
    /// with a shape that is asked for.
    alone: Option<Posterior>,
}

/// Laws of scaling, which are looked at alone beside equation 11.
pub(crate) const LAWS: [&str; 2] = ["amdahl", "usl"];

/// What is looked at alone.
const VIEWS: &[&str] = &[EQUATION_11, LAWS[0], LAWS[1]];

impl TermBelief {
    /// Belief of parameters with evidence; `base` holds what files said of the terms but for those unknown.
    ///
    /// # Errors
    /// Errors of [`Posterior::new`].
    pub fn new(
        (base, unknown): (&Parameters, &[Term]),
        growth: Option<shape::Shape>,
        evidence: &Evidence,
    ) -> Result<Self> {
        let conditioned = Parameters { evidence: Some(evidence.clone()), ..base.clone() };
        let all = Posterior::new(&Prior::of(&conditioned).with_views(VIEWS), None)?;
        let growth = growth.and_then(growth_of).filter(|_| unknown.contains(&Term::Alpha));
        let is_known = evidence.before.is_some() || knows_nothing(unknown);
        let alone = match growth.is_none() && is_known {
            true => None,
            false => {
                let prior = Prior::of_terms(base, unknown, growth);
                Some(Posterior::new(&prior, Some(evidence.observations.clone()))?)
            }
        };
        Ok(Self { all, alone })
    }

    /// Equation 11 as if there were nothing else.
    pub fn equation_11(&self) -> View<'_> {
        self.alone.as_ref().map_or_else(|| self.all.view(Some(EQUATION_11)), |it| it.view(None))
    }
}

/// Whether files know nothing but counts.
fn knows_nothing(unknown: &[Term]) -> bool {
    Term::all().all(|term| term.is_count() || unknown.contains(&term))
}

/// The same terms, as if equation 11 were exactly right, alpha a line where nothing else is asked: least
/// squares.
///
/// # Errors
/// As [`given`].
pub(crate) fn without_misfit(
    base: &Parameters,
    unknown: &[Term],
    growth: Option<shape::Shape>,
    runs: &Runs,
) -> Result<Parameters> {
    let growth = growth.and_then(growth_of).unwrap_or(SHAPES[0].0);
    let prior = Prior::of_terms(base, unknown, Some(growth)).with_misfit(0.0)?;
    let observations = runs.observations();
    let exact = Posterior::new(&prior, Some(observations.clone()))?;
    Ok(read((base, unknown), &exact.view(None), (runs, &observations)).parameters)
}

/// The terms that files know, as `base` has them, and those that they do not, as what is believed of
/// equation 11 holds them.
pub(crate) fn read(
    (base, unknown): (&Parameters, &[Term]),
    equation_11: &View<'_>,
    (runs, observations): (&Runs, &Observations),
) -> TermsGivenRuns {
    let is_known = |term: Term| !unknown.contains(&term);
    let work = Work::knowing(base, unknown);
    let mut ms: Vec<u32> = runs.cells.iter().map(|cell| cell.m).filter(|&m| m > 1).collect();
    ms.dedup();
    let last_m = ms.last().copied().unwrap_or(2);
    let (told, costless): (Vec<Term>, Vec<Term>) =
        unknown.iter().partition(|&&term| costs(&base.terms, term, last_m));
    let found = Groups::of(&told, &work, runs);
    let traded = found.traded(&work, runs, base.apus);
    let growths = match unknown.contains(&Term::Alpha) {
        true => of_alpha(equation_11),
        false => Vec::new(),
    };
    let readings = ReadOuts {
        base,
        groups: &found.groups,
        ms: &ms,
        last_m,
        is_host_unknown: !is_known(Term::HpuTime),
    };
    let mut parameters = base.clone();
    readings.carry(&mut parameters, growths.first().map(|(shape, _)| *shape));
    let entries = readings.entries(equation_11, &parameters);
    let numbers =
        equation_11.numbers(|form| entries.iter().map(|it| readings.number(it, form)).collect());
    let is_contradicted = equation_11.contradicted() > UNLIKELY;
    let source = (observations.source.as_str(), is_contradicted);
    let estimated = put(&entries, &numbers, &mut parameters, source);
    parameters.correlation = correlation(&entries, &numbers);
    for Group { carrier, carried, .. } in &found.groups {
        if let Some(estimate) = parameters.terms.value_mut(*carrier).estimates().last_mut() {
            estimate.combined_with = carried.iter().map(|term| term.name().into()).collect();
        }
    }
    define_alpha_of_one(&mut parameters);
    rescale_phases(&mut parameters, base);
    let contradictions = match is_contradicted {
        true => contradictions(&entries, &numbers, base),
        false => Vec::new(),
    };
    let (groups, silent) = (found.groups, [found.silent, costless].concat());
    TermsGivenRuns { parameters, groups, silent, traded, estimated, contradictions, growths }
}

/// Whether one more of a term costs anything, as far as files know.
fn costs(terms: &Terms, term: Term, last_m: u32) -> bool {
    match term {
        Term::Offloads => terms.o_offload_s.value + terms.t_csw_s.value > 0.0,
        Term::Collectives => terms.o_col_at(last_m) > 0.0,
        _ => true,
    }
}

/// The ways in which alpha may grow by the shapes of which they are; a curve may be either of two.
const SHAPES: [(AlphaGrowth, shape::Shape); 5] = [
    (&[Regressor::FurtherThreads], shape::Shape::Linear),
    (&[Regressor::Levels], shape::Shape::Logarithmic),
    (&[Regressor::SecondProcess], shape::Shape::Constant),
    (FASTER, shape::Shape::Curve),
    (SLOWER, shape::Shape::Curve),
];

/// The one way to grow in a shape.
fn growth_of(shape: shape::Shape) -> Option<AlphaGrowth> {
    let mut ways = SHAPES.iter().filter(|(_, known)| *known == shape).map(|(growth, _)| *growth);
    ways.next().filter(|_| ways.next().is_none())
}

/// The shapes of alpha, the likeliest first.
fn of_alpha(equation_11: &View<'_>) -> Vec<(shape::Shape, f64)> {
    let mut shapes: Vec<(shape::Shape, f64)> = Vec::new();
    for (growth, weight) in equation_11.growths() {
        let Some((_, shape)) = SHAPES.iter().find(|(known, _)| *known == growth) else { continue };
        match shapes.iter_mut().find(|(known, _)| known == shape) {
            Some((_, sum)) => *sum += weight,
            None => shapes.push((*shape, weight)),
        }
    }
    shapes.sort_by(|one, other| other.1.total_cmp(&one.1));
    shapes
}

/// What a number with a standard deviation is in its unit: of a logarithm half of what holds it with 68 %.
fn in_units(least: Option<f64>, mean: f64, deviation: f64) -> (f64, f64) {
    match least {
        Some(least) => (least + mean.exp(), mean.exp() * deviation.sinh()),
        None => (mean, deviation),
    }
}

/// Writes all numbers; says how many of them runs tell. What they do not stays as its file has it, unless
/// files do not hold.
fn put(
    entries: &[ReadOut],
    numbers: &Numbers,
    parameters: &mut Parameters,
    (runs, is_contradicted): (&str, bool),
) -> usize {
    let mut estimated = 0;
    for (place, reading) in entries.iter().enumerate() {
        let variance = numbers.covariance[(place, place)].max(0.0);
        let (_, before) = numbers.before[place];
        let is_of_file = matches!(reading.of, Of::Value(_));
        let is_told = !is_of_file || variance < (1.0 - NOTABLE) * before;
        if !is_told && !is_contradicted || before == 0.0 {
            continue;
        }
        estimated += usize::from(is_told);
        let (value, error) = in_units(reading.least, numbers.means[place], variance.sqrt());
        let Some(estimate) = parameters.terms.estimate_mut(reading.entry) else { continue };
        let file = estimate.source.take().filter(|_| is_of_file);
        *estimate = Estimate {
            value: value.max(reading.entry.term.least()),
            std_error: Some(error),
            degrees_of_freedom: None,
            source: Some(file.map_or(runs.to_string(), |file| format!("{file} and {runs}"))),
            combined_with: Vec::new(),
        };
    }
    estimated
}

/// The correlations of what is not known exactly, where they are worth a line.
fn correlation(entries: &[ReadOut], numbers: &Numbers) -> Option<Correlation> {
    let variance = |row: usize| numbers.covariance[(row, row)];
    let of = |row: usize, column: usize| match row == column {
        true => 1.0,
        false => {
            let together = numbers.covariance[(row, column)] + numbers.covariance[(column, row)];
            let of = 0.5 * together / (variance(row) * variance(column)).sqrt();
            (PARTS * of.clamp(-1.0, 1.0)).round() / PARTS
        }
    };
    let known: Vec<usize> = (0..entries.len()).filter(|&row| variance(row) > 0.0).collect();
    let goes_with_another =
        |&row: &usize| known.iter().any(|&column| column != row && of(row, column).abs() > FAINT);
    let rows: Vec<usize> = known.iter().copied().filter(goes_with_another).collect();
    if rows.is_empty() {
        return None;
    }
    let matrix =
        DMatrix::from_fn(rows.len(), rows.len(), |row, column| of(rows[row], rows[column]));
    let entries = rows.iter().map(|&row| entries[row].entry).collect();
    let correlation = Correlation::new(entries, matrix.as_slice().to_vec());
    Some(correlation.expect("invariant: it was made from a covariance matrix"))
}

/// Alpha is 1 at m = 1 by definition, whatever table it stands in.
fn define_alpha_of_one(parameters: &mut Parameters) {
    let OverM::Table(table) = &mut parameters.terms.alpha else { return };
    if let (Some(1), Some(first)) = (table.m.first(), table.values.first_mut()) {
        (first.std_error, first.degrees_of_freedom) = (None, None);
    }
}

/// Keeps the phases adding up to the whole, of which the runs know more than the profile did.
fn rescale_phases(parameters: &mut Parameters, base: &Parameters) {
    for term in [Term::HpuTime, Term::ApuTime, Term::ApuSerialTime, Term::Gap] {
        let value = |terms: &Terms| terms.value(term).estimates[0].value;
        let (now, before) = (value(&parameters.terms), value(&base.terms));
        let factor = if before > 0.0 { now / before } else { 1.0 };
        let parts = parameters.phases.iter_mut().filter_map(|phase| phase.value_mut(term));
        for estimate in parts.flat_map(TermValueMut::estimates) {
            estimate.value *= factor;
            estimate.std_error = estimate.std_error.map(|error| error * factor);
        }
    }
}

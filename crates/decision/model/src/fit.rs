//! The parameters of the model, from whatever was measured.
//!
//! Micro-benchmarks and a sequential profile each determine terms of equation 11 directly, timed
//! runs of the program at several (m, p) determine some of their combinations: [`Inputs`] holds
//! the rows of both. All enter one likelihood, each value with its own standard error: runs correct
//! what they can see, files split what runs cannot.
//!
//! Runs alone cannot tell all terms apart. With `alpha_m = 1 + a*(m - 1)`, equation 11 holds four
//! combinations of them: what costs the same at every (m, p), `T_HPU + C_APU + N*(O_offload + T_CSW)`;
//! what grows with m, `a*T_HPU + N*O_COL`; what is shared, `T_APU`; and what grows with p, `N*g`. A sum
//! that cannot be split is estimated as one and put on one term, which is marked ([`combined_with`]).
//! Where the runs cannot even tell the combinations apart, a warning names the configuration to time
//! next.
//!
//! What is believed of the terms is what is believed of times, read out ([`belief`](crate::belief)):
//! the errors of terms know how far equation 11 is off, and what nothing tells has an error of orders
//! of magnitude. How sure the terms are, and how their errors go together, is part of the parameters.
//!
//! [`combined_with`]: crate::models::parameters::Estimate::combined_with
//!
//! ```
//! use mmgp_model::fit::{Inputs, Runs, Settings, fit};
//! use mmgp_model::models::parameters::Decomposition;
//! use mmgp_base::table::Source;
//!
//! // 2 + 12/(m*p) + p/2 seconds, and nothing that grows with m.
//! let text = "m,p,repetition,time_s\n1,1,1,14.5\n1,2,1,9\n2,1,1,8.5\n2,2,1,6\n1,4,1,7\n";
//! let (runs, _) = Runs::read(&Source::new("runs.csv", text))?;
//! let settings = Settings::new("toy", Decomposition::Data, 4);
//! let fitted = fit(&Inputs { runs: Some(runs), ..Inputs::default() }, &settings)?;
//! let terms = &fitted.parameters.terms;
//! assert!((terms.t_apu_s.value - 12.0).abs() < 2.0 * terms.t_apu_s.std_error.unwrap());
//! assert!(terms.t_hpu_s.combined_with.contains(&"c_apu_s".to_string()));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod collective;
mod host;
pub mod identifiability;
mod inputs;
mod known;
mod offload;
pub mod online;
mod profile;
pub mod refined;
pub mod report;
pub mod runs;
pub mod shape;
mod short_runs;
pub mod summary;
mod terms;
mod traced;

pub use inputs::{FileRows, Inputs, Options, Settings};
pub use refined::RefinedCounts;
pub use report::Report;
pub use runs::{Reading, Runs, WarmUp};
pub use short_runs::{estimate_threads, estimate_wavefront};
pub use traced::{TracedPart, TracedRegion, TracedReport};

use crate::models::Parameters;
use crate::models::observations::Evidence;
use crate::models::parameters::Decomposition;
use crate::models::terms::Term;
use known::FileTerms;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use report::{RunsReport, TermSum};
use terms::{TermBelief, TermsGivenRuns};
use traced::TracedRuns;

/// Parameters, how they were obtained, and warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct FitResult {
    /// The terms, each with standard error and source where they are known.
    pub parameters: Parameters,
    /// How each term was obtained, and how well the model meets the runs.
    pub report: Report,
    /// The refined model beside it, where its counts were given: terms of its own, and refinements.
    pub refined: Option<Parameters>,
    /// What traced runs say, where these stand in the place of equation 11.
    pub traced: Option<TracedReport>,
    /// Terms that no file knows and that these runs cannot tell apart, by their names in files:
    /// predictions rest on the runs all the same. A warning says what would tell.
    pub traded: Vec<&'static str>,
    /// Warnings about the result.
    pub warnings: Vec<Warning>,
}

/// Estimates all terms from what was measured.
///
/// # Errors
///
/// [`Error::TooLittleData`] where neither a profile nor runs are given, or where a file lacks the
/// rows that its term needs; [`Error::Fit`] where known terms add up to no time; [`Error::OutOfRange`]
/// for no APUs or no tasks.
pub fn fit(inputs: &Inputs, settings: &Settings) -> Result<FitResult> {
    let traced = inputs.terms.as_ref().map(TracedRuns::of).transpose()?;
    match &traced {
        // One rank of one thread: what a profile says.
        Some(runs) if inputs.profile.is_none() => {
            let inputs = Inputs { profile: Some(runs.profile()), ..inputs.clone() };
            fit_with(&inputs, settings, traced.as_ref())
        }
        _ => fit_with(inputs, settings, traced.as_ref()),
    }
}

fn fit_with(
    inputs: &Inputs,
    settings: &Settings,
    traced: Option<&TracedRuns>,
) -> Result<FitResult> {
    check(inputs, settings)?;
    inputs::check(inputs)?;
    let known = FileTerms::from(inputs, settings)?;
    let mut warnings = known.warnings.clone();
    let mut base = known.parameters(settings);
    if let Some(traced) = traced {
        let (terms, more) = traced.terms();
        base.traced = terms;
        let there = base.traced.as_mut().and_then(|terms| terms.processors.as_mut());
        if let Some((there, asked)) = there.zip(settings.options.processors) {
            there.count = there.count.max(asked);
        }
        warnings.extend(more);
    }
    base.quantity = inputs.quantity()?;
    let mut unknown = known.unknown_terms();
    if let Some(prior) = &inputs.prior {
        let believed = known::believe(prior, &mut base, &mut unknown);
        let all = known.correlations.iter().chain(believed.as_ref());
        base.correlation = known::together(&all.cloned().collect::<Vec<_>>());
    }
    let of_runs_alone = unknown.clone();
    let mut parameters = base.clone();
    let (mut traded, mut in_runs, mut evidence) = (Vec::new(), None, None);
    if let Some(runs) = &inputs.runs {
        check_runs(&base, runs)?;
        check_says_something(runs, &unknown, inputs)?;
        let found = known::evidence(runs, &base, &unknown, inputs.prior.as_ref());
        warnings.extend(beyond(&base, runs));
        warnings.extend(of_another_problem((&base, &unknown), runs));
        warnings.extend(runs.doubts());
        evidence = Some(found);
    }
    // Where parts of the time were traced, runs are of these and tell nothing of equation 11.
    if let (Some(runs), Some(found), None) = (&inputs.runs, &evidence, &base.traced) {
        let terms = (&base, &unknown[..]);
        let believed = TermBelief::new(terms, asked_growth(settings), found)?;
        let equation_11 = believed.equation_11();
        let given = terms::read(terms, &equation_11, (runs, &found.observations));
        warnings.extend(of_runs(&given, equation_11.contradicted(), runs));
        in_runs = Some(RunsReport::new(&given, &believed, runs));
        parameters = given.parameters;
        traded = given.traded.0.iter().map(|term| term.name()).collect();
        unknown = given.silent;
    }
    parameters.evidence = evidence.clone();
    if let Some((traced, terms)) = traced.zip(base.traced.as_ref()) {
        // Their whole times are runs like others.
        let mut whole =
            known::evidence(&traced.runs(terms), &base, &of_runs_alone, inputs.prior.as_ref());
        if let Some(found) = parameters.evidence.take() {
            whole.observations = whole.observations.merged(found.observations);
        }
        parameters.evidence = Some(whole);
    }
    let mut refined = refined(inputs, settings, (&base, &of_runs_alone), &parameters)?;
    warnings.extend(slowdowns(&mut parameters));
    if base.traced.is_none() {
        warnings.extend(unknown.iter().map(|term| term.not_measured()));
    }
    if let Some((refined, more)) = &mut refined {
        warnings.append(more);
        refined.evidence = evidence;
        // What equation 11 warns of, the refined model has too.
        slowdowns(refined);
    }
    let terms = report::terms(&parameters, &known, inputs.runs.as_ref());
    let name = settings.name.clone();
    let quantity = parameters.quantity.clone();
    let report = Report { name, quantity, terms, choices: known.choices, runs: in_runs };
    let refined = refined.map(|(refined, _)| refined);
    let said = traced.zip(base.traced.as_ref()).map(|(runs, terms)| runs.report(terms));
    Ok(FitResult { parameters, report, refined, traced: said, traded, warnings })
}

/// The shape of alpha that is asked for.
fn asked_growth(settings: &Settings) -> Option<shape::Shape> {
    match settings.options.terms.alpha {
        shape::Selection::Fixed(shape) => Some(shape),
        shape::Selection::CrossValidated => None,
    }
}

/// The refined model beside equation 11, where its counts are given, with what to say of it; with runs
/// its terms are those with which *it* meets them.
fn refined(
    inputs: &Inputs,
    settings: &Settings,
    (base, unknown): (&Parameters, &[Term]),
    fitted: &Parameters,
) -> Result<Option<(Parameters, Vec<Warning>)>> {
    let Some(counts) = &settings.options.counts else { return Ok(None) };
    let (refinements, warnings) = refined::refinements(fitted, inputs.memory.as_ref(), counts);
    let parameters = match &inputs.runs {
        None => Parameters { refinements: Some(refinements), ..fitted.clone() },
        Some(runs) => {
            let growth = asked_growth(settings);
            let exactly = |runs: &Runs| terms::without_misfit(base, unknown, growth, runs);
            let exact = refined::fit_beside(runs, &refinements, &exactly)?;
            let scaled = runs.scaled(&refined::factors(runs, &exact));
            let evidence = Evidence { observations: scaled.observations(), before: None };
            let believed = TermBelief::new((base, unknown), growth, &evidence)?;
            let observed = (&scaled, &evidence.observations);
            let given = terms::read((base, unknown), &believed.equation_11(), observed);
            Parameters { refinements: Some(refinements), ..given.parameters }
        }
    };
    Ok(Some((parameters, warnings)))
}

/// Logarithms need times above zero.
fn check_runs(base: &Parameters, runs: &Runs) -> Result<()> {
    let nothing = runs.cells.iter().find(|cell| cell.mean_s <= 0.0);
    let found = match nothing {
        Some(cell) => Some(format!("a time of 0 s for (m, p) = ({}, {})", cell.m, cell.p)),
        None if runs.cells.iter().any(|cell| cell.log_time.is_finite()) => None,
        None => Some("most times of each configuration are 0 s".into()),
    };
    if let Some(found) = found {
        let advice = "time longer runs, so that the clock can see them";
        return Err(Error::too_little(runs.file.clone(), found, advice));
    }
    if base.time(Mapping::SEQUENTIAL).0.is_finite() {
        return Ok(());
    }
    Err(Error::Fit("the known terms add up to no finite time".into()))
}

/// Runs of one configuration say nothing of another where nothing else does.
fn check_says_something(runs: &Runs, unknown: &[Term], inputs: &Inputs) -> Result<()> {
    let [only] = &runs.cells[..] else { return Ok(()) };
    let is_known = |term| !unknown.contains(&term);
    if inputs.prior.is_some() || is_known(Term::HpuTime) || is_known(Term::ApuTime) {
        return Ok(());
    }
    let other = if (only.m, only.p) == (1, 1) { "(1, 2)" } else { "(1, 1)" };
    Err(Error::too_little(
        runs.file.clone(),
        format!("runs of ({}, {}) alone, which say nothing of others", only.m, only.p),
        format!("also time {other}, or give profile.csv"),
    ))
}

/// Runs that the machine could not have held are used, but not without a word.
fn beyond(base: &Parameters, runs: &Runs) -> Option<Warning> {
    let is_beyond = |cell: &&runs::Cell| base.check(Mapping::of(cell.m, cell.p)).is_err();
    let count = runs.cells.iter().filter(is_beyond).count();
    let first = runs.cells.iter().find(is_beyond)?;
    Some(Warning::Note(format!(
        "{}: {count} configurations need more than {} APUs, the first (m, p) = ({}, {}); they were \
         used",
        runs.file, base.apus, first.m, first.p
    )))
}

/// Runs that all take many times what files add up to, or a small part of it, are hardly runs of what was
/// profiled.
fn of_another_problem((base, unknown): (&Parameters, &[Term]), runs: &Runs) -> Option<Warning> {
    if unknown.contains(&Term::HpuTime) || unknown.contains(&Term::ApuTime) {
        return None;
    }
    let ratios = runs.cells.iter().map(|it| it.mean_s / base.time(Mapping::of(it.m, it.p)).0);
    let (least, most) = ratios.fold((f64::INFINITY, 0.0_f64), |(a, b), it| (a.min(it), b.max(it)));
    let is_far = (least > FAR_OFF && least.is_finite()) || most < 1.0 / FAR_OFF;
    let times = match most.is_finite() {
        true => format!("{least:.3} to {most:.3} times"),
        false => format!("at least {least:.3} times"),
    };
    is_far.then(|| {
        Warning::Note(format!(
            "{}: the runs take {times} what the files add up to, so that these \
             say little of them; were they measured on the same problem, in the same unit? Profile what \
             ran, or leave the profile out",
            runs.file
        ))
    })
}

/// A time over what files make of it, above which or below the inverse of which it is of something else.
const FAR_OFF: f64 = 3.0;

/// What the reader of terms should know of the runs that they are given.
fn of_runs(given: &TermsGivenRuns, contradicted: f64, runs: &Runs) -> Vec<Warning> {
    let combined = |TermSum { on, terms }| Warning::Combined { on, sum: terms };
    let mut warnings: Vec<Warning> = given.sums().into_iter().map(combined).collect();
    if let (traded, next) = &given.traded
        && !traded.is_empty()
    {
        let traded: Vec<&str> = traded.iter().map(|term| term.contribution()).collect();
        let advice = match next {
            Some((m, p)) => format!("also time (m, p) = ({m}, {p}), or give profile.csv"),
            None => "give profile.csv".into(),
        };
        let first: Vec<String> =
            runs.cells.iter().take(4).map(|cell| format!("({}, {})", cell.m, cell.p)).collect();
        let more = if runs.cells.len() > 4 { ", ..." } else { "" };
        warnings.push(Warning::Note(format!(
            "{}: runs at (m, p) = {}{more} cannot tell apart {}; {advice}",
            runs.file,
            first.join(", "),
            traded.join(", ")
        )));
    }
    if !given.contradictions.is_empty() {
        let values: Vec<String> = given.contradictions.iter().map(ToString::to_string).collect();
        warnings.push(Warning::Note(format!(
            "runs and files contradict each other ({:.0} %), so that files count for little: {}",
            100.0 * contradicted,
            values.join("; ")
        )));
    }
    warnings
}

/// Slowdowns below 1 become 1; says which, unless their own errors explain it.
fn slowdowns(parameters: &mut Parameters) -> Option<Warning> {
    let mut contradictions = Vec::new();
    for entry in parameters.terms.entries() {
        let name = parameters.terms.name_of(entry);
        let Some(estimate) = parameters.terms.estimate_mut(entry) else { continue };
        if entry.term != Term::Alpha || estimate.value >= 1.0 {
            continue;
        }
        let by_chance = estimate.standard_error().map_or(0.0, |error| error.half_width());
        if estimate.value + by_chance < 1.0 - ROUNDING {
            let file = estimate.source.as_deref().unwrap_or("a file");
            contradictions.push(format!("{name} = {:.3} by {file}", estimate.value));
        }
        estimate.value = 1.0;
    }
    let first = contradictions.first()?;
    let more = match contradictions.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Some(Warning::Note(format!(
        "{first}{more}: several host threads cannot be faster each than one alone; 1 is taken; \
         measure one process and several by turns"
    )))
}

/// A fraction of a slowdown that is rounding.
const ROUNDING: f64 = 1e-9;

/// Refuses what cannot be fitted whatever the rows say.
fn check(inputs: &Inputs, settings: &Settings) -> Result<()> {
    let at_least_one = |name| Error::out_of_range(name, "0", "a whole number of at least 1");
    if settings.apus == 0 {
        return Err(at_least_one("apus"));
    }
    if settings.decomposition == (Decomposition::Task { tasks: 0 }) {
        return Err(at_least_one("tasks"));
    }
    if inputs.profile.is_none() && inputs.runs.is_none() && inputs.prior.is_none() {
        return Err(Error::too_little(
            "fit",
            "neither a profile nor timed runs",
            "give profile.csv or runs.csv",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

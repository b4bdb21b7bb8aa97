//! A fit as parameters, warnings and a report.

use super::bounds::Held;
use super::estimate::Spread;
use super::identify::Group;
use super::joint_fit::{Fit, HostTime};
use super::noise::{ASSUMED, Origin};
use super::prior::MEASURED_ONCE;
use super::report::{Convergence, RunsReport, Sum};
use super::request::Request;
use super::runs::Runs;
use super::unknowns::{Kind, Prior, Unknown};
use super::{bounds, diagnosis, report};
use crate::model::Parameters;
use crate::model::parameters::{Estimate, OverM, Terms};
use crate::model::sensitivity::Entry;
use crate::model::terms::{Term, ValueMut};
use crate::model::uncertainty::Correlation;
use mmgp_base::error::{Result, Warning};

/// From this share of what is known of a value on, the runs are named among its sources.
const NOTABLE: f64 = 0.01;

/// Below this size, a correlation is left out where all of an entry's are so small.
const FAINT: f64 = 1e-3;

/// The parameters with every estimate, its standard error and where it came from.
pub(crate) fn parameters(fit: &Fit, known: &Parameters, runs: &Runs) -> Parameters {
    let mut parameters = fit.base.clone();
    let estimated = &fit.estimated;
    let at = estimated.unknowns.parameters(estimated.minimum.solution.x.as_slice());
    let spread = &fit.spread;
    for (row, &entry) in spread.entries.iter().enumerate() {
        // Errors in common know no bound; a term does.
        let value = at.terms.estimate(entry).map_or(0.0, |estimate| estimate.value);
        let value = value.max(bounds::least(entry));
        let variance = spread.covariance[(row, row)];
        let std_error = variance.max(0.0).sqrt();
        // To the thousandth: what follows are digits of rounding.
        let degrees_of_freedom = (1e3 * spread.degrees_of_freedom[row]).round() / 1e3;
        let degrees_of_freedom =
            Some(degrees_of_freedom).filter(|degrees_of_freedom| *degrees_of_freedom < 1e6);
        let has_error = variance > 0.0 && is_known(fit, entry);
        let before = parameters.terms.estimate(entry).cloned();
        let estimate = Estimate {
            value,
            std_error: has_error.then_some(std_error),
            degrees_of_freedom: degrees_of_freedom.filter(|_| has_error),
            source: source(fit, entry, before.as_ref(), runs),
            combined_with: carried(fit, entry),
        };
        if let Some(place) = parameters.terms.estimate_mut(entry) {
            *place = estimate;
        }
    }
    if fit.host_time == HostTime::Conventional {
        parameters.terms.t_hpu_s.combined_with = carried(fit, Entry::HpuTime);
    }
    bounds::put(&fit.held, &mut parameters, &runs.file);
    define_alpha_of_one(&mut parameters);
    parameters.correlation = correlation(fit, spread);
    rescale_phases(&mut parameters, known);
    parameters
}

/// Alpha is 1 at m = 1 by definition, whatever table it stands in.
fn define_alpha_of_one(parameters: &mut Parameters) {
    let OverM::Table(table) = &mut parameters.terms.alpha else { return };
    if let (Some(1), Some(first)) = (table.m.first(), table.values.first_mut()) {
        (first.std_error, first.degrees_of_freedom) = (None, None);
    }
}

/// Without any measure of the noise, only what a file says has a standard error.
fn is_known(fit: &Fit, entry: Entry) -> bool {
    fit.estimated.noise.origin != Origin::Assumed
        || fit
            .estimated
            .unknowns
            .list
            .iter()
            .any(|unknown| unknown.moves(entry) && unknown.prior.is_some())
}

fn source(fit: &Fit, entry: Entry, before: Option<&Estimate>, runs: &Runs) -> Option<String> {
    let list = &fit.estimated.unknowns.list;
    // Of an entry made of several parts, the largest share of what is left of them counts.
    let left = |index: usize, prior: Prior| {
        fit.estimated.minimum.covariance[(index, index)] / prior.std_error.powi(2)
    };
    let parts = list.iter().enumerate().filter(|(_, unknown)| unknown.moves(entry));
    let left =
        parts.filter_map(|(index, unknown)| Some(left(index, unknown.prior?))).reduce(f64::min);
    let Some(left) = left else { return Some(runs.file.clone()) };
    let file = before.and_then(|estimate| estimate.source.clone()).unwrap_or_default();
    if left > 1.0 - NOTABLE { Some(file) } else { Some(format!("{file} and {}", runs.file)) }
}

fn carried(fit: &Fit, entry: Entry) -> Vec<String> {
    if fit.host_time == HostTime::Conventional && entry == Entry::ApuSerialTime {
        let mut others = carried(fit, Entry::HpuTime);
        others.retain(|term| term != Term::ApuSerialTime.name());
        others.insert(0, Term::HpuTime.name().to_string());
        return others;
    }
    let is_it = |group: &&Group| match entry {
        Entry::Alpha(_) => group.carrier == Term::Alpha,
        _ => group.carrier.entry(0) == entry,
    };
    let group = fit.verdict.groups.iter().find(is_it);
    let terms = group.map_or(&[][..], |group| &group.carried);
    terms.iter().map(|term| term.name().to_string()).collect()
}

fn correlation(fit: &Fit, spread: &Spread) -> Option<Correlation> {
    let error = |row: usize| spread.covariance[(row, row)].max(0.0).sqrt();
    let of = |row: usize, column: usize| match row == column {
        true => 1.0,
        false => {
            let covariance =
                0.5 * (spread.covariance[(row, column)] + spread.covariance[(column, row)]);
            (covariance / (error(row) * error(column))).clamp(-1.0, 1.0)
        }
    };
    let known: Vec<usize> = (0..spread.entries.len())
        .filter(|&row| error(row) > 0.0 && is_known(fit, spread.entries[row]))
        .collect();
    let goes_with_another =
        |&row: &usize| known.iter().any(|&column| column != row && of(row, column).abs() > FAINT);
    let rows: Vec<usize> = known.iter().copied().filter(goes_with_another).collect();
    if rows.is_empty() {
        return None;
    }
    let entries = rows.iter().map(|&row| spread.entries[row]).collect();
    let matrix = rows.iter().flat_map(|&row| rows.iter().map(move |&column| of(row, column)));
    let correlation = Correlation::new(entries, matrix.collect());
    Some(correlation.expect("invariant: it was made from a covariance matrix"))
}

/// Keeps the phases adding up to the whole, of which the runs know more than the profile did.
fn rescale_phases(parameters: &mut Parameters, known: &Parameters) {
    for term in [Term::HpuTime, Term::ApuTime, Term::ApuSerialTime, Term::Gap] {
        let value = |terms: &Terms| terms.value(term).estimates[0].value;
        let (now, before) = (value(&parameters.terms), value(&known.terms));
        let factor = if before > 0.0 { now / before } else { 1.0 };
        let parts = parameters.phases.iter_mut().filter_map(|phase| phase.value_mut(term));
        for estimate in parts.flat_map(ValueMut::estimates) {
            estimate.value *= factor;
            estimate.std_error = estimate.std_error.map(|error| error * factor);
        }
    }
}

/// What the reader should know.
pub(crate) fn warnings(fit: &Fit, known: &Parameters) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(of_host_time(fit));
    let conventional = fit.host_time == HostTime::Conventional;
    let is_said = |group: &Group| conventional && group.carrier == Term::HpuTime;
    let sums = fit.verdict.groups.iter().filter(|group| !group.carried.is_empty());
    for group in sums.filter(|group| !is_said(group)) {
        let (on, sum) = (group.carrier.name(), contributions(group));
        warnings.push(Warning::Combined { on, sum });
    }
    let solution = &fit.estimated.minimum.solution;
    let list = &fit.estimated.unknowns.list;
    let mut at_bound: Vec<Term> = list
        .iter()
        .zip(&solution.at_bound)
        .filter(|(unknown, held)| **held && unknown.prior.is_none())
        .filter(|(unknown, _)| !(conventional && unknown.term == Term::ApuSerialTime))
        .map(|(unknown, _)| unknown.term)
        .collect();
    at_bound.dedup();
    warnings.extend(
        at_bound.iter().map(|term| Warning::AtBound { term: term.name(), bound: term.neutral() }),
    );
    warnings.extend(measured_once(list, known));
    warnings.extend(of_noise(fit));
    warnings.extend(of_conflict(fit));
    warnings.extend(of_held(fit));
    warnings
}

fn measured_once(list: &[Unknown], known: &Parameters) -> Option<Warning> {
    let is_single = |unknown: &&Unknown| {
        let entry = match &unknown.kind {
            Kind::Common(parts) => parts.first().map(|(entry, _)| *entry),
            _ => unknown.entry(),
        };
        let estimate = entry.and_then(|entry| known.terms.estimate(entry));
        unknown.prior.is_some() && estimate.is_some_and(|estimate| estimate.std_error.is_none())
    };
    let mut terms: Vec<&str> =
        list.iter().filter(is_single).map(|unknown| unknown.term.name()).collect();
    terms.dedup();
    (!terms.is_empty()).then(|| {
        Warning::Note(format!(
            "{} measured once only: a standard error of {:.0} % is assumed; repeat the measurement",
            terms.join(", "),
            100.0 * MEASURED_ONCE
        ))
    })
}

fn of_noise(fit: &Fit) -> Option<Warning> {
    let noise = &fit.estimated.noise;
    if noise.origin == Origin::Assumed {
        return Some(Warning::Note(format!(
            "as many terms as runs: standard errors are unknown and a noise of {:.0} % is assumed; \
             time more configurations or repetitions",
            100.0 * ASSUMED
        )));
    }
    noise.misses().then(|| {
        let lack = noise.lack_of_fit.map_or(0.0, |lack| lack.probability);
        Warning::Note(format!(
            "the model misses the means of the runs by {:.2} % (standard deviation) beyond the \
             runs' own scatter of {:.2} % (probability {lack:.1e}); standard errors follow the \
             misfit",
            100.0 * noise.model,
            100.0 * noise.run
        ))
    })
}

fn of_conflict(fit: &Fit) -> Option<Warning> {
    let conflict = fit.estimated.conflict.as_ref().filter(|each| each.is_significant())?;
    let values: Vec<String> = conflict.values.iter().map(ToString::to_string).collect();
    Some(Warning::Note(format!(
        "runs and files contradict each other (probability {:.1e}), so the standard errors of what \
         files say were multiplied by {:.1}: {}",
        conflict.probability,
        conflict.stretch,
        values.join("; ")
    )))
}

/// One warning for the split that the runs do not tell.
fn of_host_time(fit: &Fit) -> Option<Warning> {
    (fit.host_time == HostTime::Conventional).then(|| {
        Warning::Note(format!(
            "the runs tell what grows with m, (alpha - 1)*t_hpu_s, but next to nothing of t_hpu_s \
             itself: it is taken as {:.3e} s, alpha is relative to that, and the error of what all \
             configurations have in common is c_apu_s's",
            fit.base.terms.t_hpu_s.value
        ))
    })
}

fn of_held(fit: &Fit) -> Option<Warning> {
    let farthest = |each: &&Held| (each.wanted - each.bound).abs();
    let held = fit.held.iter().max_by(|a, b| farthest(a).total_cmp(&farthest(b)))?;
    let more = match fit.held.len() {
        1 => String::new(),
        count => format!(" and {} other values", count - 1),
    };
    let name = fit.base.terms.name_of(held.entry);
    Some(Warning::Note(format!(
        "the runs contradict the files beyond reason in {name}{more}: {held}"
    )))
}

fn contributions(group: &Group) -> Vec<String> {
    let terms = [group.carrier].into_iter().chain(group.carried.iter().copied());
    let mut names: Vec<String> = terms.map(|term| term.contribution().to_string()).collect();
    names.dedup();
    names
}

/// How the fit meets the runs.
pub(crate) fn report(
    fit: &Fit,
    parameters: &Parameters,
    request: Request<'_>,
) -> Result<RunsReport> {
    let runs = request.runs;
    let solution = &fit.estimated.minimum.solution;
    let estimated = solution.at_bound.iter().filter(|&&held| !held).count();
    let of = |group: &Group| Sum { on: group.carrier.name(), terms: contributions(group) };
    let combined = fit.verdict.groups.iter().filter(|group| !group.carried.is_empty()).map(of);
    let examined = (fit.estimated.noise, diagnosis::diagnose(fit));
    Ok(RunsReport {
        combined: combined.collect(),
        condition: Some(fit.verdict.condition),
        convergence: Some(Convergence {
            iterations: solution.iterations,
            cost: solution.cost,
            termination: solution.termination.clone(),
            starts: solution.starts,
            agreeing: solution.agreeing,
        }),
        growth: fit.choice.clone(),
        conflict: fit.estimated.conflict.clone(),
        left_out_s: left_out_s(fit),
        ..report::RunsReport::new(parameters, runs, estimated, examined)
    })
}

/// Every configuration as predicted from all others \[s\]; none where one cannot be spared.
fn left_out_s(fit: &Fit) -> Vec<f64> {
    let Some(errors) = fit.estimated.spared() else { return Vec::new() };
    let points = fit.data.points.iter().zip(errors);
    points.map(|(point, error)| (point.log_time + error).exp()).collect()
}

#[cfg(test)]
mod tests;

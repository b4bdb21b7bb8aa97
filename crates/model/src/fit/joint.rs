//! The joint estimate: timed runs, micro-benchmarks and profile in one likelihood.

use nalgebra::DVector;

use super::averaging;
use super::bounds::{self, Within};
use super::data;
use super::design::{Design, Sensitivity};
use super::growth::{self, SHAPES};
use super::host_time;
use super::identify::{Group, Verdict, identify};
use super::joint_fit::{self, Fit, HostTime};
use super::least_squares::LeastSquares;
use super::measurement::stated;
use super::noise::Repetitions;
use super::outcome;
use super::prior;
use super::report::RunsReport;
use super::request::Request;
use super::runs::Runs;
use super::shape::{Choice, Reason, Selection, Shape, Trial};
use super::unknowns::{Kind, Unknown, Unknowns};
use crate::model::Parameters;
use crate::model::parameters::OverM;
use crate::model::sensitivity::Entry;
use crate::model::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};

/// The least T_HPU, in parts of the shortest time, where only runs tell what further threads add to
/// it: as a slowdown of less than that, it would be a number without meaning.
const LEAST_HOST_TIME: f64 = 1e-3;

/// Parameters that meet the runs.
pub(crate) struct Joint {
    pub parameters: Parameters,
    pub report: RunsReport,
    /// Unknowns that the runs say nothing about, or not by themselves.
    pub undetermined: Vec<Term>,
    pub warnings: Vec<Warning>,
}

/// Estimates all terms of `base` from the runs and from what files say of them; `unknown` are
/// those that no file knows.
pub(crate) fn fit(base: &Parameters, unknown: &[Term], request: Request<'_>) -> Result<Joint> {
    let runs = request.runs;
    let sensitivity = Sensitivity { base: base.clone(), unknown: unknown.to_vec() };
    let design = Design::new(&sensitivity, runs);
    let verdict = identify(&sensitivity, &design, runs)?;
    let mut undetermined = verdict.undetermined.clone();
    undetermined.extend(verdict.groups.iter().flat_map(|group| &group.separable));
    let fit = best_shape(&sensitivity, &design, verdict, request)?;
    let parameters = outcome::parameters(&fit, base, runs);
    let mut warnings = beyond(base, runs);
    warnings.extend(outcome::warnings(&fit, base));
    let report = outcome::report(&fit, &parameters, request)?;
    Ok(Joint { parameters, report, undetermined, warnings })
}

/// Relative residuals need times above zero.
pub(crate) fn check(base: &Parameters, runs: &Runs) -> Result<()> {
    if let Some(cell) = runs.cells.iter().find(|cell| cell.mean_s <= 0.0) {
        return Err(Error::TooLittleData {
            file: runs.file.clone(),
            found: format!("a time of 0 s for (m, p) = ({}, {})", cell.m, cell.p),
            advice: "time longer runs, so that the clock can see them".into(),
        });
    }
    if base.time(Mapping::of(1, 1)).0.is_finite() {
        return Ok(());
    }
    Err(Error::Fit("the known terms add up to no finite time".into()))
}

/// Runs that the machine could not have held are used, but not without a word.
fn beyond(base: &Parameters, runs: &Runs) -> Vec<Warning> {
    let beyond = |(m, p)| base.check(Mapping::of(m, p)).is_err();
    let cells: Vec<String> = runs
        .cells
        .iter()
        .filter(|cell| beyond((cell.m, cell.p)))
        .map(|cell| format!("({}, {})", cell.m, cell.p))
        .collect();
    let Some(first) = cells.first() else { return Vec::new() };
    vec![Warning::Note(format!(
        "{}: {} configurations need more than {} APUs, the first (m, p) = {first}; they were used",
        runs.file,
        cells.len(),
        base.apus
    ))]
}

/// The fit with the shape of alpha that predicts configurations best that it has not seen.
fn best_shape(
    sensitivity: &Sensitivity,
    design: &Design,
    verdict: Verdict,
    request: Request<'_>,
) -> Result<Fit> {
    let base = &sensitivity.base;
    let runs = request.runs;
    let start = start(design, &verdict.groups, sensitivity, runs)?;
    let grows = verdict.groups.iter().any(|group| group.carrier == Term::Alpha);
    let asked = match request.options.terms.alpha {
        Selection::Fixed(shape) if grows => Some([shape]),
        _ => None,
    };
    let shapes = match &asked {
        Some(asked) => asked,
        None if grows => &SHAPES[..],
        None => &SHAPES[..1],
    };
    let data = data::plain(request.runs);
    let mut shapes_tried = Vec::new();
    let mut fits: Vec<joint_fit::Trial> = Vec::new();
    for &shape in shapes {
        let growth = if grows { growth::alpha(shape, runs) } else { None };
        if grows && growth.is_none() {
            continue;
        }
        let (base, unknowns, start) = unknowns(base, &verdict.groups, growth, &start, request);
        if unknowns.list.len() > data.points.len() + sources(&unknowns) {
            continue;
        }
        // The linear shape is what the configurations were examined for already.
        if shape != Shape::Linear && !host_time::are_told_apart(&unknowns, &data.points, &start) {
            continue;
        }
        // A shape that the runs cannot hold has no minimum of its own; the linear one has.
        match joint_fit::Trial::of(base, &unknowns, &data, &start) {
            Err(_) if shape != Shape::Linear => continue,
            trial => fits.push(trial?),
        }
        shapes_tried.push(shape);
    }
    if fits.is_empty() {
        return Err(unfit_shape(request));
    }
    let left_out = growth::spared(&fits);
    let chosen = growth::choose(&left_out);
    let error = |errors: &Vec<f64>| (!errors.is_empty()).then(|| growth::size(errors));
    let tried = shapes_tried.iter().zip(&left_out);
    let tried =
        tried.map(|(&shape, errors)| Trial { shape, parameters: Vec::new(), error: error(errors) });
    let choice = grows.then(|| Choice {
        term: "alpha".into(),
        chosen: shapes_tried[chosen],
        reason: match (&asked, shapes_tried.len()) {
            (Some(_), _) => Reason::Asked,
            (_, 1) => Reason::TooFew,
            _ if chosen == 0 => Reason::Simplest,
            _ => Reason::LeastError,
        },
        tried: tried.collect(),
    });
    let mut trial = fits[chosen].clone();
    let mut host_time = HostTime::Known;
    if let Some(conventional) = host_time::by_convention(&trial, &data, &runs.file)? {
        (trial, host_time) = (conventional, HostTime::Conventional);
    }
    let all: Vec<_> = shapes_tried.iter().copied().zip(&fits).collect();
    let alone = [(shapes_tried[chosen], &trial)];
    let shapes = match host_time {
        _ if !grows || asked.is_some() => &[][..],
        HostTime::Known => &all,
        // Alpha of all others is relative to another T_HPU.
        HostTime::Conventional => &alone,
    };
    let spread = averaging::spread(&trial.within.estimated, shapes, &data);
    let joint_fit::Trial { base, within: Within { estimated, held, .. } } = trial;
    Ok(Fit { estimated, spread, verdict, base, choice, held, data, host_time })
}

/// The only shape that was allowed cannot be told from these runs.
fn unfit_shape(request: Request<'_>) -> Error {
    Error::TooLittleData {
        file: request.runs.file.clone(),
        found: "runs that cannot hold the shape asked for alpha".into(),
        advice: "time more m, each with several p, or leave the shape open".into(),
    }
}

fn sources(unknowns: &Unknowns) -> usize {
    unknowns.list.iter().filter(|unknown| unknown.prior.is_some()).count()
}

/// Where to start: the linear least squares of the runs, all files taken at their word.
fn start(
    design: &Design,
    groups: &[Group],
    sensitivity: &Sensitivity,
    runs: &Runs,
) -> Result<Vec<f64>> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let column = |group: &Group| {
        sensitivity
            .unknown
            .iter()
            .position(|&term| term == group.carrier)
            .expect("invariant: groups are of unknowns")
    };
    let a = design.columns.select_columns(&groups.iter().map(column).collect::<Vec<_>>());
    let x = LeastSquares { a: a.clone(), b: design.target.clone() }.solve()?.x;
    // A start at zero tells a relative method nothing of the unknown's size: a thousandth of what
    // would explain the shortest run does.
    let shortest = runs.cells.iter().map(|cell| cell.mean_s).fold(f64::INFINITY, f64::min);
    let least = |column: usize| {
        let steepest = (0..a.nrows()).map(|row| {
            let cell = &runs.cells[row];
            a[(row, column)].abs() * cell.mean_s / (cell.count as f64).sqrt()
        });
        1e-3 * shortest / steepest.fold(f64::MIN_POSITIVE, f64::max)
    };
    Ok(x.iter().enumerate().map(|(column, &value)| value.max(least(column))).collect())
}

/// The unknowns with the known parameters around them, and where to start: first what only the
/// runs tell, then what files do.
fn unknowns(
    base: &Parameters,
    groups: &[Group],
    growth: Option<(OverM, Vec<Vec<f64>>)>,
    start: &[f64],
    request: Request<'_>,
) -> (Parameters, Unknowns, DVector<f64>) {
    let Request { runs, correlations, .. } = request;
    let mut base = base.clone();
    let mut list = Vec::new();
    let mut from = Vec::new();
    let shortest = runs.cells.iter().map(|cell| cell.mean_s).fold(f64::INFINITY, f64::min);
    let grows = growth.is_some();
    // What further threads add is a product with T_HPU, which then must not be next to nothing.
    let lower = |entry| match entry {
        Entry::HpuTime if grows => LEAST_HOST_TIME * shortest,
        _ => bounds::least(entry),
    };
    let weights = growth.map_or_else(Vec::new, |(alpha, weights)| {
        base.terms.alpha = alpha;
        weights
    });
    for (group, &start) in groups.iter().zip(start) {
        for carried in &group.carried {
            let source = format!("carried by {}", group.carrier.name());
            base.terms.value_mut(*carried).set(stated(carried.neutral(), &source));
        }
        if group.carrier == Term::Alpha {
            // The design holds the product with T_HPU, or alpha's slope where T_HPU is known.
            let t_hpu = base.terms.t_hpu_s.value;
            let product = if t_hpu > 0.0 { start * t_hpu } else { start };
            for weights in &weights {
                let largest = weights.iter().copied().fold(0.0, f64::max);
                let kind = Kind::Growth(weights.clone());
                list.push(Unknown { term: Term::Alpha, kind, prior: None, lower: 0.0 });
                from.push(product / largest.max(1.0));
            }
            continue;
        }
        let entry = group.carrier.entry(0);
        list.push(Unknown {
            term: group.carrier,
            kind: Kind::Entry(entry),
            prior: None,
            lower: lower(entry),
        });
        from.push(start.max(lower(entry)));
    }
    for (unknown, value) in
        prior::measured(&base, grows, correlations, Repetitions::of(&runs.cells), lower)
    {
        list.push(unknown);
        from.push(value);
    }
    let unknowns = Unknowns::new(&base, list);
    (base, unknowns, DVector::from_vec(from))
}

#[cfg(test)]
mod tests;

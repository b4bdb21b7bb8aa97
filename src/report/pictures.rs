//! The pictures of the page: those of [`crate::plot`], which the page's script lets answer to a pointer.

use super::{Evaluation, Study};
use crate::answer::escaped;
use crate::decide::Configuration;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::plot::{
    Better, Kind, Measure, MeasuredTime, Picture, PredictedTime, Series, Standing, Times, answering,
};
use crate::quantity::Direction;
use crate::units::Seconds;

/// The most APUs of a picture of where the time goes: it is of all configurations.
const MOST_APUS: u32 = 4096;

/// Pictures of predicted and measured times, as HTML.
pub(super) fn of_times(study: &Study, known: &Evaluation) -> Result<String> {
    let times = times(study, known);
    let has_runs = known.timed.is_some();
    let of_errors = match has_runs {
        // What is believed given the runs has seen them.
        true => with_models(study, known, &times, &["equation 11", REFINED]),
        false => times.clone(),
    };
    let map = if has_runs {
        "Map of all (m, p) within what was timed"
    } else {
        "Map of all feasible (m, p)"
    };
    let (parameters, splits) = (&study.parameters, &*study.splits);
    let mut pictures = vec![
        ("Time by m", Kind::AgainstM(&times)),
        ("Time by p", Kind::AgainstP(&times)),
        ("Time of every configuration (m, p)", Kind::OverAll(&times)),
    ];
    if !times.measured.is_empty() {
        pictures.push(("Parity: predicted against measured", Kind::Parity(&of_errors)));
        pictures.push(("Residuals: error of each prediction", Kind::Residuals(&of_errors)));
    }
    pictures.push((map, Kind::HeatMap(&times)));
    if !times.measured.is_empty() {
        pictures.push(("Map of what was measured", Kind::MeasuredHeatMap(&times)));
    }
    if !splits.is_empty() || parameters.apus <= MOST_APUS {
        pictures.push(("Where the time goes", Kind::Breakdown { parameters, splits }));
    }
    pictures.into_iter().map(|(title, kind)| figure(title, kind)).collect()
}

/// The picture of the micro-benchmarks, as HTML; empty where there are none.
pub(super) fn of_benchmarks(study: &Study) -> Result<String> {
    figure("Micro-benchmarks", Kind::Benchmarks(&study.benchmarks))
}

/// A picture with what the script needs; empty where there is nothing to draw.
pub(super) fn figure(title: &str, kind: Kind<'_>) -> Result<String> {
    let svg = match answering(&Picture { title, kind }) {
        Err(Error::TooLittleData { .. }) => return Ok(String::new()),
        drawn => drawn?,
    };
    let title = escaped(title);
    Ok(format!(
        "<figure class=\"chart static\">\n<h3 class=\"unseen\">{title}</h3>\n\
         <div class=\"stage scroller\" tabindex=\"0\" role=\"group\" aria-label=\"{title}. Arrow keys \
         step through its points, Enter selects.\">\n{svg}</div>\n</figure>\n"
    ))
}

/// The name of the refined model after "predicted by".
const REFINED: &str = "the refined model";

/// What is ranked beside what was measured, and beside another model.
fn times(study: &Study, known: &Evaluation) -> Times {
    let rows = &known.ranking.configurations;
    let measured = match study.validation.is_empty() {
        false => study.validation.iter().filter_map(|row| MeasuredTime::once(row).ok()).collect(),
        true => rows.iter().filter_map(timed).collect(),
    };
    let predicted = |row: &Configuration| PredictedTime {
        mapping: row.mapping,
        time: row.time,
        interval: (row.low < row.high).then_some((row.low, row.high)),
        standing: match row.indistinguishable {
            true => Standing::Indistinguishable,
            false => Standing::Slower,
        },
    };
    let name = if known.timed.is_some() { "the models given the runs" } else { "equation 11" };
    let beside = if known.timed.is_some() { "equation 11" } else { REFINED };
    Times {
        measured,
        measured_as: "measured".into(),
        predicted: Series { name: name.into(), rows: rows.iter().map(predicted).collect() },
        beside: model(study, known, beside),
        measure: Default::default(),
        names: Default::default(),
        failed: Vec::new(),
    }
}

/// A configuration that the user timed.
fn timed(row: &Configuration) -> Option<MeasuredTime> {
    let run = row.measured?;
    let repetitions = run.repetitions.round().max(1.0) as u32;
    Some(MeasuredTime { mapping: row.mapping, time: run.time, repetitions })
}

/// The same measured times beside these models alone.
fn with_models(study: &Study, known: &Evaluation, times: &Times, names: &[&str; 2]) -> Times {
    let [first, second] = names.map(|name| model(study, known, name));
    let none = Series { name: names[0].into(), rows: Vec::new() };
    Times { predicted: first.unwrap_or(none), beside: second, ..times.clone() }
}

/// What a model predicts by itself; `None` where there is no such model.
fn model(study: &Study, known: &Evaluation, name: &str) -> Option<Series> {
    let parameters = &study.parameters;
    let is_refined = parameters.refinements.as_ref().is_some_and(|it| !it.names().is_empty());
    if name == REFINED && !is_refined {
        return None;
    }
    let time = |row: &Configuration| -> Seconds {
        if name == REFINED {
            parameters.refined_time(row.mapping)
        } else {
            parameters.time(row.mapping)
        }
    };
    let row = |it: &Configuration| PredictedTime {
        mapping: it.mapping,
        time: time(it),
        interval: None,
        standing: Standing::Slower,
    };
    Some(Series { name: name.into(), rows: known.ranking.configurations.iter().map(row).collect() })
}

/// What pictures of an objective show.
pub(crate) fn measure(objective: &Objective) -> Measure {
    let unit = objective.unit().unwrap_or_default().to_string();
    Measure {
        name: objective.name().into(),
        unit: (!objective.is_time()).then_some(unit),
        better: match objective.direction() {
            Direction::Least => Better::Smaller,
            Direction::Most => Better::Larger,
        },
    }
}

//! `mmgp complexity`

mod arguments;
mod constants;
mod counted;
mod report;
mod runs;
mod text;

use super::Answer;
use super::files::Guard;
use super::output::{Format, data};
use crate::complexity::{Algorithm, Constants};
use crate::error::{Error, Result};
use crate::table::Source;
pub use arguments::Arguments;
use report::Report;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    if let (Some(formulas), false) = (&arguments.formulas, arguments.app.is_usual()) {
        let found = format!("{formulas} beside {}", arguments.app.name());
        return Err(Error::out_of_range("--formulas", found, "either formulas or a program"));
    }
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    let guard = guard.reads("--formulas", arguments.formula_file());
    guard.writes("--out", arguments.out.as_deref()).check()?;
    let machine = arguments.scheduler.read(&arguments.machine)?;
    let constants = constants::of(&machine)?;
    let report = match &arguments.formulas {
        Some(name) => of_formulas(arguments, name, constants)?,
        None => runs::report(arguments, &machine, constants)?,
    };
    let text = match arguments.format {
        Format::Json => report.json(),
        Format::Csv => report.csv(),
        Format::Table => text::of(&report),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// What the formulas of an algorithm say at every combination of its sizes.
fn of_formulas(arguments: &Arguments, name: &str, constants: Constants) -> Result<Report> {
    let algorithm = match arguments.formula_file() {
        Some(path) => Algorithm::read(&Source::read(path)?)?,
        None => Algorithm::named(name)?,
    };
    let mut lists = Vec::new();
    let given = arguments.lists();
    for (size, default) in algorithm.sizes.iter() {
        let values = given.iter().find(|list| list.name == size);
        lists.push((size.to_string(), values.map_or(vec![default], |list| list.values.clone())));
    }
    let names: Vec<String> = lists.iter().map(|(name, _)| name.clone()).collect();
    if let Some(unknown) = given.iter().find(|list| !names.contains(&list.name)) {
        return Err(Error::UnknownName { kind: "size", name: unknown.name.clone(), known: names });
    }
    let points = arguments::combinations(&lists);
    let last = points.last().expect("invariant: every size has a value");
    let facts = algorithm.facts(last, &constants)?;
    let demands = points.iter().map(|sizes| algorithm.demand(sizes, &constants));
    let demands = demands.collect::<Result<Vec<_>>>()?;
    let rows = points.iter().cloned().zip(demands).map(|(sizes, demand)| (sizes, demand, None));
    let about = vec![algorithm.description.clone(), format!("Source: {}", algorithm.source)];
    let name = algorithm.name;
    Ok(Report::new((&name, about), (&arguments.machine.machine, constants), facts, rows.collect()))
}

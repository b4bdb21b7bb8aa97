//! The runs of a program that is counted.

use super::arguments::{Arguments, combinations};
use super::counted;
use super::report::Report;
use crate::Mapping;
use crate::apps::{Application, Once};
use crate::cell::{Blade, KernelTiming};
use crate::cli::input::Size;
use crate::cli::output::progress;
use crate::complexity::{Constants, CountedRuns, Counts, Demand, Sizes};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::runtime::Runtime;

/// Runs the program at every size and number of SPEs; what follows.
pub fn report(arguments: &Arguments, machine: &Machine, constants: Constants) -> Result<Report> {
    let size = arguments.app.size();
    let runs = CountedRuns::new(count_all(arguments, size, machine)?, "n")?;
    let facts = runs.facts(&constants);
    let row = |counts: &Counts| {
        (counts.sizes.clone(), Demand::of(counts, &constants), Some(counts.clone()))
    };
    let rows = runs.counts().iter().map(row).collect();
    let processes = match arguments.m {
        1 => "the host process".to_string(),
        m => format!("each of {m} host processes"),
    };
    let about = vec![format!("n: {}; p: SPEs of {processes}", size.name)];
    let machine = (&arguments.machine.machine[..], constants);
    let report = Report::new((arguments.app.name(), about), machine, facts, rows);
    Ok(report.growing(&runs, arguments.m))
}

/// Sizes of the input, then what else the program has.
fn lists(arguments: &Arguments, size: &Size) -> Result<Vec<(String, Vec<f64>)>> {
    let known = || size.further.iter().map(ToString::to_string);
    let unknown = arguments.vary.iter().find(|list| known().all(|name| name != list.name));
    if let Some(unknown) = unknown {
        let known = known().collect();
        return Err(Error::UnknownName { kind: "further size", name: unknown.name.clone(), known });
    }
    let ns = if arguments.n.is_empty() { size.defaults } else { &arguments.n };
    let n = ("n".to_string(), ns.iter().map(|&n| n as f64).collect());
    let further = arguments.vary.iter().map(|list| (list.name.clone(), list.values.clone()));
    Ok([n].into_iter().chain(further).collect())
}

/// The numbers of SPEs, with the processes.
fn mappings(arguments: &Arguments, size: &Size, machine: &Machine) -> Result<Vec<Mapping>> {
    let most = machine.layout.spes() / arguments.m;
    let mut ps = arguments.p.clone();
    if ps.is_empty() {
        ps = size.processors.iter().copied().filter(|&p| p <= most.max(1)).collect();
        // Of two no growth is known.
        ps.truncate(if ps.len() == 2 { 1 } else { ps.len() });
    }
    ps.iter().map(|&p| Mapping::new(arguments.m, p)).collect()
}

/// Runs the program at every size and mapping.
fn count_all(arguments: &Arguments, size: &Size, machine: &Machine) -> Result<Vec<Counts>> {
    if arguments.app.has_input() {
        return Err(Error::out_of_range(
            "--input",
            "mmgp complexity",
            "--n, at each of which an input is made",
        ));
    }
    let sizes = lists(arguments, size)?;
    let mappings = mappings(arguments, size, machine)?;
    let program = |sizes: Sizes| -> Result<(Sizes, Once)> {
        let program = arguments.app.at_size(&sizes)?;
        Ok((sizes, Once::new(program)))
    };
    let programs = combinations(&sizes).into_iter().map(program).collect::<Result<Vec<_>>>()?;
    let steps: u64 = programs.iter().map(|(_, program)| program.steps()).sum();
    let bar = progress("emulating", steps * mappings.len() as u64, arguments.quiet.into());
    let mut all = Vec::new();
    for (sizes, program) in &programs {
        for &mapping in &mappings {
            let blade = Blade::new(machine, KernelTiming::Cached, 0.0).telling(bar.steps());
            let on = Runtime::new(blade.counting(), arguments.scheduler.policy()?);
            let run = program.run(&on, mapping)?.run;
            let mut sizes = sizes.clone();
            sizes.set("p".into(), f64::from(mapping.p()));
            all.extend(counted::counts(sizes, &run, machine));
        }
    }
    Ok(all)
}

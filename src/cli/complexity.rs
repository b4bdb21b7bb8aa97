//! `mmgp complexity`

mod report;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::SchedulerArguments;
use super::input::{AppArguments, MachineArguments, Size, is_file};
use super::output::{Format, data, progress};
use crate::Mapping;
use crate::apps::run::Run;
use crate::apps::{Application, Once};
use crate::cell::counts::{Counts as MachineCounts, DmaCounts, HostCounts, SpeCounts};
use crate::cell::mfc::Direction;
use crate::cell::{Blade, KernelTiming};
use crate::complexity::Requests;
use crate::complexity::{Algorithm, Constants, CountedRuns, Counts, Demand, Sizes, formulas};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::measure::memory;
use crate::runtime::Runtime;
use crate::spu::{Class, Pipe, Stall};
use crate::table::Source;
use crate::units::{Bytes, BytesPerSecond};
use report::ComplexityReport;

/// Count what a program executes as it grows, and say what will bind it
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Sizes n of the input: sites (pbpi, raxml), nodes (list-ranking), the order of matrices (sgemm),
    /// off-loads of each stream (synthetic) [default: four of the program's own; that of the formulas]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    n: Vec<u64>,
    /// SPEs p of each host process [default: 1,2,4,8, with sgemm 1,2,4, as far as there are so many;
    /// that of the formulas]
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    p: Vec<u32>,
    /// Values of a further size of the program or of the formulas: s=16,32,64 for the sublists of
    /// list-ranking, b=1,2,4 for its DMA lists
    #[arg(long, value_name = "NAME=X,...")]
    vary: Vec<SizeList>,
    /// Host processes
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    m: u32,
    /// Take the triplet from formulas instead of runs: a TOML file, or matrix-product or list-ranking
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "m")]
    formulas: Option<String>,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp complexity
  mmgp complexity raxml --port tuned --n 500,1000,2000 --p 1,2,4
  mmgp complexity synthetic --n 100 --p 1 --format json
  mmgp complexity --formulas list-ranking --p 1,2,4,8 --vary s=64,128

Runs the program on the emulated machine at every size and number of SPEs, and counts what it \
executes: instructions by pipe, DMA requests by size, branches, host code. Prints how each count \
grows, the triplet <T_C, T_D, T_B> with constants, the four steps of the procedure, and the least \
time that the counts need beside the time that the run took. docs/emulator/complexity.md says more.";

/// The values of a size, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeList {
    name: String,
    values: Vec<f64>,
}

impl FromStr for SizeList {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || "expected a name, =, and numbers above 0 with commas between them";
        let (name, values) = text.split_once('=').ok_or_else(expected)?;
        let value = |text: &str| {
            let value = text.trim().parse::<f64>().ok();
            value.filter(|value| *value > 0.0 && value.is_finite()).ok_or_else(expected)
        };
        let values = values.split(',').map(value).collect::<std::result::Result<Vec<f64>, _>>()?;
        Ok(Self { name: name.trim().into(), values })
    }
}

impl Arguments {
    /// The file of the formulas, where they are not built in.
    fn formula_file(&self) -> Option<&Path> {
        let name = self.formulas.as_deref()?;
        let built_in = formulas::names().any(|known| known == name);
        (!built_in && is_file(name)).then_some(Path::new(name))
    }

    /// The sizes that were given, n and p among them.
    fn lists(&self) -> Vec<SizeList> {
        let n = self.n.iter().map(|&n| n as f64).collect();
        let p = self.p.iter().map(|&p| f64::from(p)).collect();
        let named =
            [("n", n), ("p", p)].map(|(name, values)| SizeList { name: name.into(), values });
        let given = named.into_iter().filter(|list| !list.values.is_empty());
        given.chain(self.vary.iter().cloned()).collect()
    }
}

/// Every combination of the values of these sizes, the last size running fastest.
fn combinations(lists: &[(String, Vec<f64>)]) -> Vec<Sizes> {
    let mut all = vec![Sizes::default()];
    for (name, values) in lists {
        let with = |before: &Sizes| -> Vec<Sizes> {
            let with_value = |&value: &f64| {
                let mut sizes = before.clone();
                sizes.set(name.clone(), value);
                sizes
            };
            values.iter().map(with_value).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    if let (Some(formulas), false) = (&arguments.formulas, arguments.app.is_usual()) {
        let found = format!("{formulas} beside {}", arguments.app.name());
        return Err(Error::out_of_range("--formulas", found, "either formulas or a program"));
    }
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    let guard = guard.reads("--formulas", arguments.formula_file());
    guard.writes("--out", arguments.out.as_deref()).check()?;
    let machine = arguments.scheduler.read(&arguments.machine)?;
    let constants = constants_of(&machine)?;
    let report = match &arguments.formulas {
        Some(name) => of_formulas(arguments, name, constants)?,
        None => of_runs(arguments, &machine, constants)?,
    };
    let text = match arguments.format {
        Format::Json => report.json(),
        Format::Csv => report.csv(),
        Format::Table => report.text(),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// What the formulas of an algorithm say at every combination of its sizes.
fn of_formulas(
    arguments: &Arguments,
    name: &str,
    constants: Constants,
) -> Result<ComplexityReport> {
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
        return Err(Error::unknown_name("size", &unknown.name, names));
    }
    let points = combinations(&lists);
    let last = points.last().expect("invariant: every size has a value");
    let facts = algorithm.facts(last, &constants)?;
    let demands = points.iter().map(|sizes| algorithm.demand(sizes, &constants));
    let demands = demands.collect::<Result<Vec<_>>>()?;
    let rows = points.iter().cloned().zip(demands).map(|(sizes, demand)| (sizes, demand, None));
    let about = vec![algorithm.description.clone(), format!("Source: {}", algorithm.source)];
    let name = algorithm.name;
    Ok(ComplexityReport::new(
        (&name, about),
        (&arguments.machine.machine, constants),
        facts,
        rows.collect(),
    ))
}

/// Bytes of a line of memory.
const LINE: u64 = 128;

/// The constants of a bound: of the machine's file, or measured on it by programs of their own.
fn constants_of(machine: &Machine) -> Result<Constants> {
    // A mixture of reading and writing is no faster than the faster one.
    let memory = BytesPerSecond(machine.memory.read.0.max(machine.memory.write.0));
    Ok(Constants {
        clock: machine.clock,
        latency: memory::latency(machine, Bytes(LINE))?,
        memory,
        accelerator: memory::rate(machine, 1)?,
        line: LINE as f64,
        penalty: machine.spu.taken_branch.0 as f64,
        double_block: machine.spu.double_block.0 as f64,
    })
}

/// Runs the program at every size and number of SPEs; what follows.
fn of_runs(
    arguments: &Arguments,
    machine: &Machine,
    constants: Constants,
) -> Result<ComplexityReport> {
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
    let report = ComplexityReport::new((arguments.app.name(), about), machine, facts, rows);
    Ok(report.growing(&runs, arguments.m))
}

/// Sizes of the input, then what else the program has.
fn lists_of(arguments: &Arguments, size: &Size) -> Result<Vec<(String, Vec<f64>)>> {
    let known = || size.further.iter().map(ToString::to_string);
    let unknown = arguments.vary.iter().find(|list| known().all(|name| name != list.name));
    if let Some(unknown) = unknown {
        return Err(Error::unknown_name("further size", &unknown.name, known()));
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
    let sizes = lists_of(arguments, size)?;
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
            all.extend(counts(sizes, &run, machine));
        }
    }
    Ok(all)
}

/// The counts of a run of those sizes; none where the machine did not count.
fn counts(sizes: Sizes, run: &Run, machine: &Machine) -> Option<Counts> {
    let counted = run.counts.as_ref()?;
    let SpeCounts { executed, outside, channels, dma, .. } = most_at_work(counted);
    let host = busiest(counted);
    let stall = |stall: Stall| (stall.name(), executed.stalls.of(stall) as f64);
    Some(Counts {
        sizes,
        even: executed.of_pipe(Pipe::Even) as f64,
        odd: executed.of_pipe(Pipe::Odd) as f64,
        double_precision: executed.of(Class::DoublePrecision) as f64,
        stalls: Stall::ALL.map(stall).to_vec(),
        outside: (outside.0 + channels.0) as f64,
        waited: most_at_work(counted).waited.seconds().0 * machine.clock.0,
        busy: most_at_work(counted).computed().0 as f64,
        branches: executed.conditional.executed as f64,
        taken: executed.conditional.taken as f64,
        hinted: executed.conditional.hinted as f64,
        wrong: executed.wrong_branches() as f64,
        commands: dma.commands as f64,
        lists: dma.lists as f64,
        requests: dma.all_requests() as f64,
        other_requests: dma.other_requests as f64,
        bytes: dma.bytes().0 as f64,
        by_size: by_size(dma),
        lines: dma.memory_lines.iter().sum::<u64>() as f64,
        all_lines: lines_of_busiest_memory(counted, machine),
        meanwhile: dma.mean_computed().unwrap_or(0.0),
        most_outstanding: dma.most_outstanding as f64,
        mean_outstanding: dma.mean_outstanding,
        host: host.cycles().0 as f64,
        signalling: signalling(host, machine),
        bursts: counted.hosts.values().map(|host| host.bursts).sum::<u64>() as f64,
        time: Some(run.time),
    })
}

/// The SPE that does most.
fn most_at_work(counted: &MachineCounts) -> &SpeCounts {
    // The first of several.
    let by_work = counted.spes.iter().rev().max_by_key(|spe| spe.computed());
    by_work.expect("invariant: a machine has SPEs")
}

/// The process that does most.
fn busiest(counted: &MachineCounts) -> HostCounts {
    let by_work = counted.hosts.values().rev().max_by_key(|host| host.cycles());
    by_work.copied().unwrap_or_default()
}

/// Cycles of a process's words to and from SPEs.
fn signalling(host: HostCounts, machine: &Machine) -> f64 {
    let stores = host.spe_stores as f64 * machine.ppe.mmio_store.0;
    (stores + host.spe_loads as f64 * machine.ppe.mmio_load.0) * machine.clock.0
}

fn lines_of_busiest_memory(counted: &MachineCounts, machine: &Machine) -> f64 {
    let of_spe = |spe: &SpeCounts, cell: usize| spe.dma.memory_lines.get(cell).copied();
    let cells = 0..machine.layout.cells as usize;
    let sum = |cell| counted.spes.iter().filter_map(|spe| of_spe(spe, cell)).sum::<u64>();
    cells.map(sum).max().unwrap_or(0) as f64
}

fn by_size(dma: &DmaCounts) -> Vec<Requests> {
    let requests = |(&(direction, bytes), &count): (&(Direction, Bytes), &u64)| Requests {
        direction: match direction {
            Direction::Get => "get",
            Direction::Put => "put",
        },
        bytes: bytes.0 as f64,
        count: count as f64,
    };
    dma.requests.iter().map(requests).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_name_and_numbers() {
        let list = SizeList { name: "b".into(), values: vec![4.0, 8.0, 0.5] };
        assert_eq!("b=4, 8,0.5".parse(), Ok(list));
        for wrong in ["b", "b=", "b=4,", "b=0", "b=-1", "b=many", "b=inf"] {
            assert!(wrong.parse::<SizeList>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_combination_comes_once_and_the_last_is_the_largest() {
        let lists = [("n".to_string(), vec![1.0, 2.0]), ("p".into(), vec![1.0, 4.0, 8.0])];
        let all: Vec<String> = combinations(&lists).iter().map(ToString::to_string).collect();
        assert_eq!(all.len(), 6);
        assert_eq!((all[1].as_str(), all[5].as_str()), ("n = 1, p = 4", "n = 2, p = 8"));
    }
}

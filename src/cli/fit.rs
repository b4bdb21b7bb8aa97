//! `mmgp fit`

pub mod flags;
mod report;
mod tables;
pub use report::{json, told, traced, why};
pub use tables::Tables;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Answer;
use super::choice::one_of;
use super::files::Guard;
use super::input::{self, RunArguments};
use super::output::{self, data, warn};
use crate::error::{Error, Result, Warning};
use crate::fit::identifiability::UndeterminedTerm;
use crate::fit::shape::{Selection, Shape, TermChoices};
use crate::fit::{FitResult, Options, Settings, fit};
use crate::intake::sheet::Origin;
use crate::intake::{Measurand, values};
use crate::models::parameters::Decomposition;
use crate::table::{self, Source};
use flags::OutputFiles;
use tables::{apus, inputs};

/// Estimate the parameters of the model from measured tables
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Concurrent matrix products: matrix_size,processes,repetition,time_s
    #[arg(long, value_name = "FILE")]
    alpha: Option<PathBuf>,
    /// Ping-pong: bytes,repetition,round_trips,time_s
    #[arg(long, value_name = "FILE")]
    offload: Option<PathBuf>,
    /// Processes that take turns: processes,repetition,switches,time_s[,mode]
    #[arg(long, value_name = "FILE")]
    context_switch: Option<PathBuf>,
    /// Collectives: operation,ranks,bytes,repetition,calls,time_s
    #[arg(long, value_name = "FILE")]
    collective: Option<PathBuf>,
    /// Sequential profile: phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,
    /// apu_serial_time_s,gap_time_s
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Traced runs, of probe: run,m,p,rank,phase,term,value,std_error,unit
    #[arg(long, value_name = "FILE")]
    terms: Option<PathBuf>,
    #[command(flatten)]
    runs: RunArguments,
    /// What is measured of the runs, where that is no time: a column, or an expression over columns,
    /// time, m and p: joules, work/time, 'max score'. What follows from the time, as a cost does, is
    /// asked of predict
    #[arg(long, value_name = "WHAT", requires = "runs")]
    objective: Option<String>,
    /// An answer for each value of a column of the timed runs: --out p.toml writes p-N-1000.toml, ...
    #[arg(long, value_name = "COLUMN", requires = "runs")]
    by: Option<String>,
    /// Parameters believed of what no file measures, each with its standard error: an earlier fit,
    /// a similar program
    #[arg(long, value_name = "NAME|FILE")]
    prior: Option<String>,
    /// Parameter file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write how each value was obtained as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Terms that must be known as themselves, not in a sum: t_hpu_s,g_s; exit code 1 and the
    /// reasons as JSON on standard output where the data cannot say
    #[arg(long, value_name = "TERMS", value_delimiter = ',')]
    require: Vec<String>,
    /// What is done always now; the word says so
    #[arg(long, value_name = "LOSS", hide = true)]
    robust: Option<String>,
    /// What the intervals of the terms take the place of; the word says so
    #[arg(long, value_name = "N", hide = true)]
    bootstrap: Option<String>,
    /// The seed of what is gone
    #[arg(long, value_name = "SEED", hide = true)]
    seed: Option<u64>,
    /// Shape of alpha over m; without it, cross-validation chooses that of a file, and where runs
    /// alone tell of it, all are weighed
    #[arg(long, value_parser = one_of(&SHAPES), value_name = "SHAPE")]
    alpha_shape: Option<Shape>,
    /// Shape of O_COL over ranks; without it, cross-validation chooses
    #[arg(long, value_parser = one_of(&SHAPES), value_name = "SHAPE")]
    collective_shape: Option<Shape>,
    /// The collective operation that the program calls; without it, the mean over all measured
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// The bytes that each rank contributes to it; without it, the mean over all measured
    #[arg(long, value_name = "BYTES")]
    operation_bytes: Option<u64>,
    /// Name of the parameter set
    #[arg(long, value_name = "TEXT", default_value = "fitted")]
    name: String,
    /// How the program divides its work among host threads
    #[arg(long, value_enum, default_value = "data")]
    decomposition: Division,
    /// Independent tasks of a task decomposition
    #[arg(long, value_name = "B", required_if_eq("decomposition", "task"), value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Option<u32>,
    /// APUs available; without it, as many as the largest measurement used
    #[arg(long, value_name = "N", conflicts_with = "machine", value_parser = clap::value_parser!(u32).range(1..))]
    apus: Option<u32>,
    /// Machine whose APUs are available: a built-in name or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Do not print what was found
    #[arg(long)]
    quiet: bool,
    /// Print how each term was obtained, every test, and all warnings
    #[arg(long, conflicts_with = "quiet")]
    verbose: bool,
    #[command(flatten)]
    counts: flags::CountFlags,
}

const HELP: &str = "\
Examples:
  mmgp fit --runs runs.csv --out params.toml
  mmgp fit --runs jobs.csv --columns m=ranks,p=threads,time=elapsed_ms
  mmgp fit --profile profile.csv --runs runs.csv --report fit.json
  mmgp fit --alpha alpha.csv --offload offload.csv --profile profile.csv \\
      --context-switch context_switch.csv --collective collective.csv \\
      --apus 16 --out params.toml
  mmgp fit --terms probe/terms.csv --runs runs.csv --out params.toml
  # exit code 1 if the data cannot tell these terms apart from others
  mmgp fit --runs runs.csv --require t_apu_s,g_s
  # beside equation 11, the refined model
  mmgp fit --profile profile.csv --runs runs.csv --hardware-contexts 4 \\
      --iterations 9995 --refined-out refined.toml

All files enter one estimate, each value with its own standard error: runs correct what they \
can see, the other files split what runs cannot.";

#[derive(Clone, Copy, ValueEnum)]
enum Division {
    /// One job whose data is cut into m pieces
    Data,
    /// Independent tasks dealt to m workers
    Task,
}

/// The shapes that a term may have over m.
const SHAPES: [(Shape, &str, &str); 5] = [
    (Shape::Constant, "constant", "The same for all m > 1"),
    (Shape::Linear, "linear", "In proportion to m - 1, or to the ranks"),
    (Shape::Logarithmic, "logarithmic", "In proportion to log2"),
    (Shape::Curve, "curve", "1 + a*(m - 1)^b, of alpha"),
    (Shape::Table, "table", "The value at each measured m, linear between"),
];

pub fn run(arguments: &Arguments) -> Result<Answer> {
    guard(arguments).check()?;
    if let (Some(column), None) = (&arguments.by, &arguments.out) {
        return Err(Error::out_of_range(
            "--by",
            format!("{column:?} without --out"),
            "--out FILE, beside which each value has a file of its own",
        ));
    }
    let mut answer = Answer::Done;
    each(arguments, &Tables::default(), &mut |runs, value| {
        let mut files = OutputFiles::of(arguments);
        if let (Some(column), Some(value)) = (&arguments.by, value) {
            files = files.by(column, value);
            if let Some(out) = &files.out {
                output::line(&format!("{column} = {value}: {}", out.display()));
            }
        }
        let this = one(arguments, runs, &files)?;
        if this != Answer::Done {
            answer = this;
        }
        Ok(())
    })?;
    Ok(answer)
}

/// Timed runs, and how they are read.
type RunTable<'a> = (Origin<'a>, &'a RunArguments);

/// What is called with the runs of an estimate, and the value of `--by`.
type EachEstimate<'e> = dyn FnMut(Option<RunTable<'_>>, Option<&str>) -> Result<()> + 'e;

/// Calls `one` with the runs of each estimate, and with the value that these have in the column of `--by`.
pub(super) fn each(
    arguments: &Arguments,
    tables: &Tables,
    one: &mut EachEstimate<'_>,
) -> Result<()> {
    let Some(path) = &arguments.runs.runs else { return one(None, None) };
    let read;
    let origin = match tables.get("runs") {
        Some(frame) => Origin::from(frame),
        None => {
            read = Source::read_any(path)?;
            Origin::from(&read)
        }
    };
    let runs = arguments.runs.measuring(measured(arguments)?);
    let Some(column) = &arguments.by else { return one(Some((origin, &runs)), None) };
    for value in values(origin, column, &runs.said.claims())? {
        let mut runs = runs.clone();
        runs.said.only = Some((column.clone(), value.clone()));
        one(Some((origin, &runs)), Some(&value))?;
    }
    Ok(())
}

/// What is measured of the runs, where that is no time.
fn measured(arguments: &Arguments) -> Result<Option<&str>> {
    let Some(objective) = arguments.objective.as_deref() else { return Ok(None) };
    if Measurand::is_needed(objective) {
        return Ok(Some(objective));
    }
    Err(Error::out_of_range(
        "--objective",
        format!("{objective}, which follows from what is measured"),
        "what is captured of the runs, as joules; predict takes this objective",
    ))
}

/// What the flags ask for, of these runs; with all warnings.
pub(super) fn estimate(
    arguments: &Arguments,
    tables: &Tables,
    runs: Option<RunTable<'_>>,
) -> Result<FitResult> {
    let mut warnings: Vec<Warning> = superseded(arguments).collect();
    let inputs = inputs(arguments, tables, runs, &mut warnings)?;
    let decomposition = match (arguments.decomposition, arguments.tasks) {
        (Division::Task, Some(tasks)) => Decomposition::Task { tasks },
        _ => Decomposition::Data,
    };
    let apus = apus(arguments, &inputs)?;
    let settings = Settings::new(&arguments.name, decomposition, apus).with(options(arguments));
    let mut fitted = fit(&inputs, &settings).map_err(flags::error)?;
    warnings.extend(fitted.warnings.into_iter().map(flags::warning));
    fitted.warnings = warnings;
    Ok(fitted)
}

/// One estimate, of these runs.
fn one(arguments: &Arguments, runs: Option<RunTable<'_>>, files: &OutputFiles) -> Result<Answer> {
    let line = output::waiting("fitting", arguments.quiet.into());
    let fitted = estimate(arguments, &Tables::default(), runs);
    line.finish_and_clear();
    let fitted = match fitted {
        Err(error @ Error::TooLittleData { .. }) if !arguments.require.is_empty() => {
            return report::refused(&error, &arguments.require);
        }
        fitted => fitted?,
    };
    let warnings = &fitted.warnings[..];
    let missing = missing(arguments, &fitted)?;
    if !missing.is_empty() {
        return report::undetermined(&missing, &arguments.require);
    }
    // OutputFiles first: whoever reads what is printed may go away.
    if let Some(path) = &files.report {
        table::write(path, report::json(&fitted.report, warnings))?;
    }
    if let (Some(path), Some(refined)) = (&files.refined_out, &fitted.refined) {
        table::write(path, refined.to_toml())?;
    }
    let text = fitted.parameters.to_toml();
    if files.out.is_some() {
        data(files.out.as_deref(), &text)?;
    }
    if arguments.verbose {
        output::line(&fitted.report);
        warn(warnings);
    } else {
        if output::Verbosity::from(arguments.quiet) == output::Verbosity::Usual {
            report::tell(warnings);
            output::line(&report::told(&fitted, report::width()));
        }
        report::warn(warnings);
    }
    if files.out.is_none() {
        data(None, &text)?;
    }
    Ok(Answer::Done)
}

/// The terms of `--require` that the data do not determine.
pub(super) fn missing(arguments: &Arguments, fitted: &FitResult) -> Result<Vec<UndeterminedTerm>> {
    let mut missing = fitted.undetermined(&arguments.require)?;
    for each in &mut missing {
        each.measure = flags::measure(each.measure);
    }
    Ok(missing)
}

fn guard(arguments: &Arguments) -> Guard {
    let guard = arguments.runs.guarded(Guard::default());
    guard
        .reads("--alpha", arguments.alpha.as_deref())
        .reads("--offload", arguments.offload.as_deref())
        .reads("--context-switch", arguments.context_switch.as_deref())
        .reads("--collective", arguments.collective.as_deref())
        .reads("--profile", arguments.profile.as_deref())
        .reads("--terms", arguments.terms.as_deref())
        .reads("--memory", arguments.counts.memory.as_deref())
        .reads("--prior", arguments.prior.as_deref().and_then(input::parameter_file))
        .reads("--machine", arguments.machine.as_deref().and_then(input::machine_file))
        .writes("--report", arguments.report.as_deref())
        .writes("--refined-out", arguments.counts.refined_out.as_deref())
        .writes("--out", arguments.out.as_deref())
}

fn options(arguments: &Arguments) -> Options {
    let selection =
        |shape: Option<Shape>| shape.map_or(Selection::CrossValidated, Selection::Fixed);
    Options {
        terms: TermChoices {
            alpha: selection(arguments.alpha_shape),
            collective: selection(arguments.collective_shape),
            operation: arguments.operation.clone(),
            operation_bytes: arguments.operation_bytes,
        },
        counts: arguments.counts.counts(),
        // Whoever says how many there are speaks of a machine that has them.
        processors: arguments.apus,
    }
}

/// What is said where words are given whose work is done otherwise.
fn superseded(arguments: &Arguments) -> impl Iterator<Item = Warning> {
    let robust = arguments.robust.is_some().then_some(
        "--robust is not needed any more: runs that are far from the others of their configuration are \
         always left out, and named",
    );
    let bootstrap = arguments.bootstrap.is_some().then_some(
        "--bootstrap is gone, its intervals are not computed: the intervals of times by `mmgp predict` \
         know how far models are off, which no resampling of runs does",
    );
    let seed = arguments.seed.is_some().then_some("--seed has nothing to draw any more");
    [robust, bootstrap, seed].into_iter().flatten().map(|text| Warning::Note(text.into()))
}

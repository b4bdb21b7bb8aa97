//! `mmgp study`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::files::{Files, Guard};
use super::input::SchedulerArguments;
use super::input::{AppArguments, MachineArguments, ThreadArguments, machine_file};
use super::output::{Verbosity, data, json, warn};
use super::transaction::{TransactionArguments, finished, identity, in_flags, provenance};
use super::validate::describe;
use super::{Answer, fit, plot, report};
use crate::answer::{Style, Table};
use crate::apps::{Application, Once};
use crate::decide::Ranking;
use crate::error::{Error, Result, Warning};
use crate::lab::study::{
    Choice, Choices, Mappings, Results, Study, StudyEnd, Subject, SweepChoices, ThreadChoices,
};
use crate::machine::Machine;
use crate::measure::{Emulated, Target as _};
use crate::objective::Objective;
use crate::plot::{CurvePanel, Curves, Format, Kind, Picture, draw};
use crate::quantity::Quantity;
use crate::report::ranking_table;
use crate::table;
use crate::units::Seconds;
use crate::validate::{Said, Summary};

/// The folder of a study that is given none.
pub const FOLDER: &str = "mmgp-study";

/// Do everything once: measure, fit, predict, emulate every (m, p), compare, draw
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// Folder for the files [default: mmgp-study; mmgp-study-2 and so on where that
    /// has a study of something else]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    transaction: TransactionArguments,
    #[command(flatten)]
    threads: ThreadArguments,
    /// No progress, no summary
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp study
  mmgp study raxml
  mmgp study pbpi --machine ps3 --input alignment.phy --out ps3

Leaves in the folder: alpha.csv, offload.csv, context_switch.csv, collective.csv, memory.csv \
and profile.csv (measured), params.toml (fitted), refined.toml (the same with the terms of the \
refined model), predictions.csv, validation.csv, split.csv (where the time of each run went), \
summary.json, study.json (where it all comes from), trace.json (what happens when, in the middle \
of a run of the predicted best), report.html (the page), validation.svg and all.svg (modelled against \
measured times), and manifest.json (what belongs together). `mmgp plot --study DIR` draws every other \
picture.

Until all is there it lies in a folder of its own, unfinished; files of an earlier study stay what they \
are. The same command goes on where it was interrupted, and on several computers with --shard.";

/// Configurations in the summary.
const SHOWN: usize = 5;

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    arguments.app.study(arguments, words)
}

impl Arguments {
    /// A study that is to leave these files.
    fn study(&self, words: &[OsString], files: &[&str]) -> Result<Study> {
        let guard = self.app.guarded(self.machine.guarded(Guard::default()));
        let mut inputs = self.app.files().to_vec();
        inputs.push(("--machine", machine_file(&self.machine.machine)));
        let identity = identity(words, &inputs, &[])?;
        let (folder, verbosity) = ((self.out.as_deref(), FOLDER), self.quiet.into());
        let study = self.transaction.study(folder, identity, (guard, files), verbosity)?;
        Ok(Study { threads: self.threads.count(), seed: self.app.seed(), ..study })
    }

    /// The machine under the scheduler.
    pub fn target(&self) -> Result<Emulated> {
        self.scheduler.target(&self.machine)
    }

    /// The machine by itself.
    pub fn plain_machine(&self) -> Result<Machine> {
        self.machine.read()
    }
}

/// There is nothing to choose of m where a program is one process.
pub fn of_one_process(arguments: &Arguments) -> Result<Answer> {
    Err(Error::out_of_range(
        "study",
        arguments.app.name(),
        "a program of several processes, or list-ranking; of this one `mmgp complexity` says what \
                   binds it",
    ))
}

/// Makes a study; `show` adds pictures and pages to its files, and says what a person would act on.
pub fn conduct<S: Subject>(
    study: Study,
    subject: &S,
    verbosity: Verbosity,
    show: impl FnOnce(&Results<S>, &[Warning]) -> Result<String>,
) -> Result<Answer> {
    let folder = study.folder.clone();
    match study.run(subject, &verbosity).map_err(in_flags)? {
        StudyEnd::Share(share) => finished(&share, &folder, verbosity),
        StudyEnd::Whole(results) => {
            let warnings = results.warnings.iter().cloned().map(fit::flags::warning);
            let warnings: Vec<Warning> = warnings.collect();
            let answer = show(&results, &warnings)?;
            results.commit()?;
            warn(&warnings);
            if verbosity == Verbosity::Usual {
                data(None, &answer)?;
            }
            Ok(Answer::Done)
        }
    }
}

/// Studies a program at every (m, p).
pub fn by_mapping(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let (target, app) = (arguments.target()?, Once::new(arguments.app.read()?));
    let subject = Mappings::new(&app, &target);
    let study = arguments.study(words, Mappings::FILES)?;
    conduct(study, &subject, arguments.quiet.into(), |results, warnings| {
        let folder = &results.unfinished();
        plot::write_all(folder, &subject.title(), &Files::of_study(folder))?;
        let of = (&arguments.app, &arguments.machine, words);
        let provenance = provenance(of, &app, &target, warnings)?;
        table::write(&folder.join(report::PROVENANCE), json(&provenance))?;
        report::write(folder)?;
        let ranking = results.predictions.ranking.as_ref().expect("invariant: it was predicted");
        let folder = results.folder().display();
        Ok(format!(
            "{} on {}, {} feasible configurations.\n{}\n\n{}\n{}{}{}\nEverything is in {folder}; open \
             {folder}/{} to look at it.\n",
            app.name(),
            target.description(),
            ranking.configurations.len(),
            ranking.choice,
            ranking_table(
                ranking.configurations.iter().take(SHOWN),
                &Objective::of(Quantity::Time)
            )
            .text(),
            describe(&results.comparison),
            near(ranking, &results.summary),
            results.summary.said.as_ref().map(said).unwrap_or_default(),
            report::PAGE
        ))
    })
}

/// What was said before anything ran, and what came of it.
fn said(said: &Said) -> String {
    let Said { within_intervals, intervals, at_most_percent, cost_percent, .. } = said;
    format!(
        "Said before any run: {within_intervals} of {intervals} times lie in their intervals of 95 %; the \
         choice was to cost at most {at_most_percent:.1} % (95 %), and costs {cost_percent:.1} %.\n"
    )
}

/// A sentence on the configurations that are so near to the best that the model's own error may hide their order.
fn near(ranking: &Ranking, summary: &Summary) -> String {
    let error = summary.models[0].mean_error_percent;
    let best = ranking.configurations[0].time.0;
    let near: Vec<String> = ranking.configurations[1..]
        .iter()
        .filter(|other| other.time.0 < best * (1.0 + error / 100.0))
        .map(|other| other.mapping.to_string())
        .collect();
    if near.is_empty() {
        return format!("No other configuration is predicted within {error:.1} % of the best.\n");
    }
    format!("Within {error:.1} % of the best by the prediction: {}.\n", near.join(", "))
}

/// Choices that are shown.
const MOST_SHOWN: usize = 8;

/// Studies list ranking: which p, how many sublists, how many DMA lists under way?
pub fn threads(
    subject: &ThreadChoices<'_>,
    arguments: &Arguments,
    words: &[OsString],
) -> Result<Answer> {
    let study = arguments.study(words, ThreadChoices::FILES)?;
    conduct(study, subject, arguments.quiet.into(), |results, _| {
        let choices = &results.comparison;
        let best = &choices.rows[0];
        let panel = |varied: usize| {
            let kept = (0..3).filter(|it| *it != varied);
            let kept: Vec<String> = kept
                .map(|it| format!("{} = {}", choices.dimensions[it], best.point.0[it]))
                .collect();
            let caption = format!("by {}, {}", choices.dimensions[varied], kept.join(", "));
            panel(choices, best, &[varied], caption)
        };
        let names = ["emulated", "predicted", "by the formula alone"].map(String::from).to_vec();
        let panels = [0, 1, 2].map(panel).to_vec();
        let curves = Curves { names, panels, x_title: "how many".into() };
        draw_choices(results, &format!("list-ranking on {}", subject.target.name()), &curves)?;
        let [p, sublists, buffers] = [0, 1, 2].map(|dimension| best.point.0[dimension]);
        let mut text = format!(
            "list-ranking of {} nodes on {}, {} choices of p, sublists and buffers.\n\
             Run p = {p}, --sublists {sublists}, --buffers {buffers}: it takes about {}.\n\n",
            subject.ranking.list().nodes(),
            subject.target.description(),
            choices.rows.len(),
            predicted(best)
        );
        let point = |choice: &Choice| choice.point.0.iter().map(u32::to_string).collect();
        text += &table_of(choices, choices.dimensions, point, "emulated");
        for model in &results.summary.models {
            text += &format!(
                "\nBy {}: mean error {:.1} %, maximum {:.1} %; its choice, {}, takes {:.1} % longer than the \
                 fastest that ran, {}.",
                model.model,
                model.mean_error_percent,
                model.max_error_percent,
                model.predicted_best,
                model.regret_percent,
                model.measured_best
            );
        }
        Ok(format!("{text}\n\nEverything is in {}.\n", results.folder().display()))
    })
}

/// Studies Sweep3D: how many ranks along i and j, which blocks of planes and angles, which ranks on a node?
pub fn sweep(
    subject: &SweepChoices<'_>,
    arguments: &Arguments,
    words: &[OsString],
) -> Result<Answer> {
    let study = arguments.study(words, SweepChoices::FILES)?;
    conduct(study, subject, arguments.quiet.into(), |results, _| {
        let choices = &results.comparison;
        let value = |choice: &Choice, name: &str| choices.value(choice, name);
        let by = |choice: &Choice, names: &[&str]| {
            let values: Vec<String> =
                names.iter().map(|name| value(choice, name).to_string()).collect();
            values.join(" x ")
        };
        let panel = |best: &&Choice| {
            let caption =
                format!("{} ranks, mmi = {}", by(best, &["px", "py"]), value(best, "mmi"));
            // Beside planes of a block, the rows of a tile follow from its columns.
            panel(choices, best, &[5, 0, 1, 2, 8], caption)
        };
        let curves = Curves {
            names: ["swept", "predicted"].map(String::from).to_vec(),
            panels: choices.best_of_each().iter().map(panel).collect(),
            x_title: "planes of a block".into(),
        };
        let machine = subject.machine();
        draw_choices(results, &format!("sweep3d on {}", machine.name), &curves)?;
        let mut text = format!(
            "sweep3d on {}, {} choices of ranks, planes and angles of a block.\n\n",
            machine.description,
            choices.rows.len()
        );
        for best in choices.best_of_each() {
            let [px, py] = ["px", "py"].map(|name| value(best, name));
            text += &format!(
                "{} cells on {} ranks: --processes {px}x{py} --mk {} --mmi {}, {} ranks on a node; an \
                 iteration takes about {}.\n",
                by(best, &["it", "jt", "kt"]),
                px * py,
                value(best, "mk"),
                value(best, "mmi"),
                by(best, &["tx", "ty"]),
                predicted(best)
            );
        }
        let cells = |choice: &Choice| {
            let one = |name| value(choice, name).to_string();
            vec![by(choice, &["px", "py"]), one("mk"), one("mmi"), by(choice, &["tx", "ty"])]
        };
        text += "\n";
        text += &table_of(choices, &["grid", "mk", "mmi", "node"], cells, "swept");
        let found = &results.summary.models[0];
        Ok(format!(
            "{text}\nMean error {:.1} %, maximum {:.1} %; the choice takes {:.1} % longer than the \
             fastest.\n\nEverything is in {}.\n",
            found.mean_error_percent,
            found.max_error_percent,
            found.regret_percent,
            results.folder().display()
        ))
    })
}

/// The predicted time of a choice, with its interval.
fn predicted(choice: &Choice) -> String {
    let [time, low, high] = choice.predicted_s.map(Seconds);
    format!("{time} ({low} .. {high})")
}

/// The first choices, by some cells of their points, with predicted and measured times.
fn table_of(
    choices: &Choices,
    columns: &[&str],
    cells: impl Fn(&Choice) -> Vec<String>,
    measured: &str,
) -> String {
    let rows = (1_u32..).zip(&choices.rows).take(MOST_SHOWN);
    let mut table = Table::of(rows).column("rank", Style::Plain, |(rank, _)| *rank);
    for (place, column) in columns.iter().enumerate() {
        table = table.people(*column, |(_, choice)| cells(choice)[place].clone());
    }
    table
        .headed("time_s", "predicted", Style::Time, |(_, choice)| choice.time_s())
        .people(measured, |(_, choice)| {
            choice.measured_s.map_or_else(String::new, |it| Seconds(it).to_string())
        })
        .text()
}

/// Times of the choices that differ from one in some dimensions, by the first of these.
fn panel(choices: &Choices, from: &Choice, differing: &[usize], caption: String) -> CurvePanel {
    let is_beside = |row: &&Choice| {
        let mut same = row.point.0.iter().zip(&from.point.0).enumerate();
        same.all(|(dimension, (one, other))| one == other || differing.contains(&dimension))
    };
    let series = |time: &dyn Fn(&Choice) -> Option<f64>| {
        let beside = choices.rows.iter().filter(is_beside);
        let mut points: Vec<(u32, f64)> =
            beside.filter_map(|row| Some((row.point.0[differing[0]], time(row)?))).collect();
        points.sort_by_key(|point| point.0);
        points
    };
    let mut all = vec![series(&|row| row.measured_s), series(&|row| Some(row.time_s()))];
    all.extend(choices.beside.map(|_| series(&|row| row.beside_s)));
    CurvePanel { caption, quantity: "time_s".into(), series: all }
}

/// Draws the picture of the choices beside the tables.
fn draw_choices<S: Subject>(results: &Results<S>, title: &str, curves: &Curves) -> Result<()> {
    let picture = draw(&Picture { title, kind: Kind::Curves(curves) }, Format::Svg)?;
    table::write(&results.unfinished().join("choices.svg"), picture)
}

//! Studies of other choices than (m, p): list ranking and Sweep3D.

use std::ffi::OsString;

use super::{Arguments, conduct};
use crate::answer::{Style, Table};
use crate::cli::Answer;
use crate::error::Result;
use crate::lab::study::{Choice, Choices, Results, Subject, SweepChoices, ThreadChoices};
use crate::plot::{CurvePanel, Curves, Format, Kind, Picture, draw};
use crate::table;
use crate::units::Seconds;

/// Choices that are shown.
const SHOWN: usize = 8;

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
    let rows = (1_u32..).zip(&choices.rows).take(SHOWN);
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

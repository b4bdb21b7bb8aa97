//! What a study of Sweep3D says and shows.

use crate::cli::output::aligned;
use crate::machine::Machine;
use crate::plot::{CurvePanel, Curves};
use crate::table::records::WavefrontChoice;
use crate::units::Seconds;
use crate::validate::wavefronts::WavefrontSummary;

/// Choices that are shown.
const SHOWN: usize = 8;

/// What a person would act on.
pub fn text(rows: &[WavefrontChoice], found: &WavefrontSummary, machine: &Machine) -> String {
    let mut text = format!(
        "sweep3d on {}, {} choices of ranks, planes and angles of a block.\n\n",
        machine.description,
        rows.len()
    );
    for best in best_of_each(rows) {
        let WavefrontChoice { it, jt, kt, px, py, mk, mmi, tx, ty, .. } = best;
        let [time, low, high] =
            [best.time_s, best.low_s, best.high_s].map(|it| Seconds(it).to_string());
        text += &format!(
            "{it} x {jt} x {kt} cells on {} ranks: --processes {px}x{py} --mk {mk} --mmi {mmi}, {tx} x {ty} ranks \
             on a node; an iteration takes about {time} ({low} .. {high}).\n",
            px * py
        );
    }
    text.push('\n');
    let time = |time: f64| Seconds(time).to_string();
    let cells = |row: &WavefrontChoice| {
        vec![
            row.rank.to_string(),
            format!("{} x {}", row.px, row.py),
            row.mk.to_string(),
            row.mmi.to_string(),
            format!("{} x {}", row.tx, row.ty),
            time(row.time_s),
            row.measured_s.0.map_or_else(String::new, time),
        ]
    };
    let shown: Vec<Vec<String>> = rows.iter().take(SHOWN).map(cells).collect();
    text += &aligned(&["rank", "grid", "mk", "mmi", "node", "predicted", "swept"], &shown);
    text += &format!(
        "\nMean error {:.1} %, maximum {:.1} %; the choice takes {:.1} % longer than the fastest.\n",
        found.mean_error_percent, found.max_error_percent, found.regret_percent
    );
    text
}

/// The fastest choice of each number of ranks, by these numbers.
fn best_of_each(rows: &[WavefrontChoice]) -> Vec<&WavefrontChoice> {
    let mut counts: Vec<u32> = rows.iter().map(|row| row.px * row.py).collect();
    counts.sort_unstable();
    counts.dedup();
    counts.iter().filter_map(|ranks| rows.iter().find(|row| row.px * row.py == *ranks)).collect()
}

/// Predicted and swept times by planes of a block, for the grids of the best choice of each number of ranks.
pub fn curves(rows: &[WavefrontChoice]) -> Curves {
    let panel = |best: &WavefrontChoice| {
        let is_beside = |row: &&WavefrontChoice| {
            (row.px, row.py, row.mmi, row.tx) == (best.px, best.py, best.mmi, best.tx)
        };
        let series = |time: fn(&WavefrontChoice) -> Option<f64>| {
            let beside = rows.iter().filter(is_beside);
            let mut points: Vec<(u32, f64)> =
                beside.filter_map(|row| Some((row.mk, time(row)?))).collect();
            points.sort_by_key(|point| point.0);
            points
        };
        CurvePanel {
            caption: format!("{} x {} ranks, mmi = {}", best.px, best.py, best.mmi),
            quantity: "time_s".into(),
            series: vec![series(|row| row.measured_s.0), series(|row| Some(row.time_s))],
        }
    };
    Curves {
        names: ["swept", "predicted"].map(String::from).to_vec(),
        panels: best_of_each(rows).into_iter().map(panel).collect(),
        x_title: "planes of a block".into(),
    }
}

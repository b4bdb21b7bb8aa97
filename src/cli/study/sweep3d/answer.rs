//! What a study of Sweep3D says and shows.

use super::candidates::Candidates;
use crate::cli::output::aligned;
use crate::machine::Machine;
use crate::plot::{CurvePanel, Curves};
use crate::table::records::WavefrontChoice;
use crate::units::Seconds;
use crate::validate::wavefronts::WavefrontSummary;

/// Choices that are shown.
const SHOWN: usize = 8;

/// What a person would act on.
pub fn text(
    rows: &[WavefrontChoice],
    found: &WavefrontSummary,
    (candidates, machine): (&Candidates, &Machine),
) -> String {
    let best = &rows[0];
    let [time, low, high] =
        [best.time_s, best.low_s, best.high_s].map(|it| Seconds(it).to_string());
    let [it, jt, kt] = candidates.fields.cells;
    let mut text = format!(
        "sweep3d of {it} x {jt} x {kt} cells on {}, {} choices of ranks, planes and angles of a block.\n\
         Run --processes {}x{} --mk {} --mmi {}, {} x {} ranks on a node: an iteration takes about {time} \
         ({low} .. {high}).\n\n",
        machine.description,
        rows.len(),
        best.px,
        best.py,
        best.mk,
        best.mmi,
        best.tx,
        best.ty
    );
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

/// Predicted and swept times by planes of a block, for the grids of the best choice of each number of ranks.
pub fn curves(rows: &[WavefrontChoice]) -> Curves {
    let mut counts: Vec<u32> = rows.iter().map(|row| row.px * row.py).collect();
    counts.sort_unstable();
    counts.dedup();
    let panel = |ranks: &u32| {
        let best = rows.iter().find(|row| row.px * row.py == *ranks)?;
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
        Some(CurvePanel {
            caption: format!("{} x {} ranks, mmi = {}", best.px, best.py, best.mmi),
            quantity: "time_s".into(),
            series: vec![series(|row| row.measured_s.0), series(|row| Some(row.time_s))],
        })
    };
    Curves {
        names: ["swept", "predicted"].map(String::from).to_vec(),
        panels: counts.iter().filter_map(panel).collect(),
        x_title: "planes of a block".into(),
    }
}

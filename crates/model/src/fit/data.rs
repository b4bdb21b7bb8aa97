//! The runs as the estimate takes them.

use super::estimate::Data;
use super::likelihood::Point;
use super::noise::Repetitions;
use super::runs::{Cell, Runs};

/// Means of the runs of each configuration, all runs alike.
pub(crate) fn plain(runs: &Runs) -> Data {
    let point = |cell: &Cell| Point {
        m: cell.m,
        p: cell.p,
        log_time: cell.mean_s.ln(),
        count: cell.count as f64,
    };
    Data {
        points: runs.cells.iter().map(point).collect(),
        repetitions: Repetitions::of(&runs.cells),
    }
}

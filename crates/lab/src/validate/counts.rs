//! What is counted of an emulated program for the refined model.

use crate::measure::target::Layout;
use mmgp_apps::Application;
use mmgp_apps::application::Traffic;
use mmgp_base::table::records::Profile;
use mmgp_cell as cell;
use mmgp_model::fit::refined::{self, Counts};
use mmgp_model::models::refined::Placement;

/// What the refined model asks of a program on a target, as a user would know it: from their
/// descriptions, and from how often the profile says that functions were called.
pub fn counts(app: &dyn Application, layout: Layout, profile: &[Profile]) -> Counts {
    let hardware_contexts = Some(layout.hardware_contexts);
    let Some(description) = app.description() else {
        return Counts { hardware_contexts, ..Counts::default() };
    };
    let placement = match description.placement {
        cell::Placement::OwnCell => Placement::ByProcess,
        cell::Placement::Interleaved | cell::Placement::BySpe => Placement::ByApu,
    };
    let once = || profile.iter().filter(|row| row.repetition == 1);
    let sum = |bytes: fn(&Traffic) -> u64| -> f64 {
        let of_row = |row: &Profile| {
            let of_function = description.traffic.iter().find(|it| it.function == row.phase);
            of_function.map_or(0.0, |it| row.offloads as f64 * bytes(it) as f64)
        };
        once().map(of_row).sum()
    };
    let offloads: u64 = once().map(|row| row.offloads).sum();
    let traffic = refined::Traffic {
        bytes: sum(|it| it.bytes),
        exposed_bytes: sum(|it| it.exposed_bytes) / offloads.max(1) as f64,
    };
    Counts {
        iterations: Some(description.iterations),
        hardware_contexts,
        traffic: (!description.traffic.is_empty()).then_some(traffic),
        memories: Some((layout.memories, placement)),
    }
}

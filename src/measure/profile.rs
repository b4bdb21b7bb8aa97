//! The sequential profile: one process, one SPE.

use super::ClockPhases;
use crate::apps::App;
use crate::cell::{Blade, KernelTiming, Progress};
use crate::error::Result;
use crate::machine::Machine;
use crate::runtime::{Edtlp, Runtime};
use crate::table::records::Profile;

/// Profiles the program so often; one row for each off-loaded function and repetition.
///
/// The host's time of a function is what leads to its off-loads; the collective that ends an
/// evaluation counts for the function before it.
pub fn profile(app: &App, machine: &Machine, repetitions: u32, seed: u64) -> Result<Vec<Profile>> {
    profile_telling(app, machine, repetitions, seed, &Progress::default())
}

/// The same, telling [so many steps](App::steps) in each repetition.
pub fn profile_telling(
    app: &App,
    machine: &Machine,
    repetitions: u32,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Profile>> {
    let mut phases = ClockPhases::new(seed);
    let mut rows = Vec::new();
    for repetition in 1..=repetitions {
        let blade = Blade::new(machine, KernelTiming::Cached, phases.next_phase());
        let on = Runtime::new(blade.telling(progress.clone()), Box::new(Edtlp));
        let run = app.emulate_on(&on, (1, 1))?.run;
        let collective = app.function_before_collective();
        rows.extend(run.functions.iter().map(|function| Profile {
            phase: function.name.to_string(),
            repetition,
            offloads: function.calls,
            collectives: if Some(function.name) == collective { function.calls } else { 0 },
            hpu_time_s: function.host.0,
            apu_parallel_time_s: function.apu_parallel.0,
            apu_serial_time_s: function.apu_serial.0,
            gap_time_s: function.gap.0,
        }));
    }
    Ok(rows)
}

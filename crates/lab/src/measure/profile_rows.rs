//! The sequential profile: one process, one APU.

use mmgp_apps::Application;
use mmgp_apps::run::Run;
use mmgp_base::table::records::Profile;

/// The rows of one sequential run, one for each off-loaded function.
///
/// The host's time of a function is what leads to its off-loads; the collective that ends an
/// evaluation counts for the function before it.
pub(super) fn rows(
    app: &dyn Application,
    run: Run,
    repetition: u32,
) -> impl Iterator<Item = Profile> {
    let collective = app.function_before_collective();
    run.functions.into_iter().map(move |function| Profile {
        phase: function.name.to_string(),
        repetition,
        offloads: function.calls,
        collectives: if Some(function.name) == collective { function.calls } else { 0 },
        hpu_time_s: function.host.0,
        apu_parallel_time_s: function.apu_parallel.0,
        apu_serial_time_s: function.apu_serial.0,
        gap_time_s: function.gap.0,
    })
}

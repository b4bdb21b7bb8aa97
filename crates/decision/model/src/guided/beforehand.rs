//! Equation 11 before it has seen more than one window.

use crate::fit::online::{self, Online};
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use crate::models::sensitivity::Entry;
use crate::models::uncertainty::Correlation;
use mmgp_base::Mapping;

/// The part of an off-load that is taken to be shared, and its standard error: that of one that
/// somebody thought worth sharing.
const SHARED: (f64, f64) = (0.8, 0.3);
/// What a further APU costs, relative to the off-load on one.
const GAP: (f64, f64) = (0.005, 0.03);
/// Standard error of the host burst, relative.
const HOST: f64 = 0.2;
/// How much slower host code becomes for each process to a context beyond the first, and the standard
/// error of that: 0 where processes take turns and each runs alone, 1 where they run at once.
const CONTENTION: (f64, f64) = (0.5, 0.4);
/// The least standard deviation of a window's time, relative.
const NOISE: f64 = 0.02;
/// Off-loads of a window whose noise counts as usual.
const USUAL_WINDOW: f64 = 128.0;
/// So many off-loads that dealing them in rounds is dividing them: the least common multiple of the
/// numbers up to 16.
const TASKS: u32 = 720_720;
/// So many processes are told apart at least.
const LEAST_M: u32 = 64;

/// The model that the first window gives, before it has learnt that window; `None` where nothing
/// was measured. Of the window it is told the mean burst \[s\], the mean off-load \[s\] and the
/// relative standard deviation of a cycle.
pub(super) fn online(
    mapping: Mapping,
    (burst_s, offload_s, deviation): (f64, f64, f64),
    contexts: u32,
    apus: u32,
) -> Option<Online> {
    let last_m = LEAST_M.max(apus).max(2 * mapping.m()).min(online::MOST_THREADS);
    let of = |value: f64, std_error: f64| Estimate {
        std_error: Some(std_error),
        ..Estimate::exact(value)
    };
    let alpha = alpha(contexts, last_m);
    let at_first = OverM::Table(alpha.clone());
    let mut terms = Terms {
        offloads: Estimate::exact(1.0),
        o_col_s: OverM::Constant(Estimate::exact(0.0)),
        alpha: at_first,
        ..Terms::nothing()
    };
    let host_s = burst_s / terms.alpha_at(mapping.m());
    // The off-load on one APU, from that on p.
    let whole_s = offload_s / (SHARED.0 / f64::from(mapping.p()) + 1.0 - SHARED.0);
    terms.t_hpu_s = of(host_s, HOST * host_s);
    terms.t_apu_s = of(SHARED.0 * whole_s, SHARED.1 * whole_s);
    terms.c_apu_s = of((1.0 - SHARED.0) * whole_s, SHARED.1 * whole_s);
    terms.g_s = of(GAP.0 * whole_s, GAP.1 * whole_s);
    let decomposition = Decomposition::Task { tasks: TASKS };
    let mut parameters = Parameters::new("guided", decomposition, apus, terms);
    // What is not shared is the rest of what is.
    let opposed = vec![1.0, -0.9, -0.9, 1.0];
    let entries = vec![Entry::ApuTime, Entry::ApuSerialTime];
    parameters.correlation = Correlation::new(entries, opposed).ok();
    let noise = NOISE.max(deviation / USUAL_WINDOW.sqrt());
    let beforehand = online::Beforehand { noise, unknown_error: 0.0 };
    Online::new(&parameters, beforehand, last_m).ok()
}

/// 1 up to the contexts; beyond them at each doubling a value of its own, as nothing is known.
fn alpha(contexts: u32, last_m: u32) -> Table {
    let (mut ms, mut values) = (vec![1], vec![Estimate::exact(1.0)]);
    let mut m = contexts.max(1);
    while m < 2 * last_m {
        let beyond = f64::from(m) / f64::from(contexts.max(1)) - 1.0;
        if m > 1 {
            ms.push(m);
            let std_error = Some(0.05 + CONTENTION.1 * beyond);
            let value = 1.0 + CONTENTION.0 * beyond;
            values.push(Estimate { std_error, ..Estimate::exact(value) });
        }
        m *= 2;
    }
    Table::new(ms, values)
}

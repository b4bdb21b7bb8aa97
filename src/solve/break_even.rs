//! From what size of a task off-loading pays, and up to how many APUs.
//!
//! Of one off-load, at m = 1, let t be the APU time that p APUs share, c the APU time that they
//! do not, and F the time that the host needs for the same work, relative to one APU. Off-loading
//! to p APUs takes (eq. 6, 7, with the context switch of eq. 10) and the host takes
//!
//! `t/p + c + O_offload + T_CSW + p*g` and `F*(t + c)`.
//!
//! With the granularity `G = t + c` and the shared part `s = t/G` held fixed, the two are equal at
//!
//! `G = (O_offload + T_CSW + p*g) / (F - 1 + s*(1 - 1/p))`,
//!
//! and off-loading pays for larger tasks where the denominator is above 0, for none otherwise.

use super::constraints::Constraints;
use crate::error::{Error, Result};
use crate::model::Parameters;
use crate::model::sensitivity::Entry;
use crate::units::Seconds;

/// What off-loading needs in order to pay.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEven {
    /// Time of the off-loaded part on the host, relative to one APU.
    pub host_factor: f64,
    /// APU time per off-load as the parameters have it, `(T_APU + C_APU)/N`.
    pub granularity: Seconds,
    /// The part of it that APUs share.
    pub shared_part: f64,
    /// One row for each p.
    pub rows: Vec<BreakEvenRow>,
    /// The p at which the time of an off-load is least.
    pub optimum: Optimum,
}

/// Off-loading to so many APUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakEvenRow {
    /// APUs.
    pub p: u32,
    /// The least APU time per off-load from which off-loading pays, with its 95 % interval; none
    /// where it never does.
    pub least_granularity: Option<(Seconds, Seconds, Seconds)>,
    /// Time of the off-loaded part on the host over that on p APUs, at the present granularity:
    /// above 1, off-loading pays.
    pub gain: f64,
}

/// Where a further APU no longer pays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// `sqrt(t/g)`, where `t/p + p*g` is least, with its 95 % interval; none where APUs cost
    /// nothing, so that every one of them pays.
    pub continuous: Option<(f64, f64, f64)>,
    /// The last APU, of those that may be chosen, that pays.
    pub last_p: u32,
}

/// When off-loading pays with p of all numbers that the constraints allow at m = 1.
///
/// # Errors
///
/// [`Error::OutOfRange`] for a factor that is not above 0, and for parameters without off-loads or
/// without APU time; [`Error::NothingFeasible`] where the constraints leave nothing at m = 1.
pub fn break_even(
    parameters: &Parameters,
    constraints: &Constraints,
    host_factor: f64,
) -> Result<BreakEven> {
    let terms = &parameters.terms;
    let error = |name, found: f64, expected: &str| {
        Err(Error::OutOfRange { name, found: found.to_string(), expected: expected.into() })
    };
    if !(host_factor > 0.0 && host_factor.is_finite()) {
        return error("host-factor", host_factor, "host time over the time of one APU, above 0");
    }
    let (shared, serial) = (terms.t_apu_s.value, terms.c_apu_s.value);
    let offloads = terms.offloads.value;
    if offloads <= 0.0 {
        return error("offloads", offloads, "off-loads to compare with, more than 0");
    }
    if shared + serial <= 0.0 {
        return error("t_apu_s + c_apu_s", shared + serial, "a time on APUs above 0");
    }
    let one_thread = Constraints { max_m: Some(1), ..*constraints };
    let space = one_thread.space(parameters.apus)?;
    let choices = space.choices(1);
    let rows = choices.iter().map(|p| row(parameters, p, host_factor)).collect();
    let per_offload = |p: u32| shared / offloads / f64::from(p) + terms.g_s.value * f64::from(p);
    let last_p = choices
        .iter()
        .fold(choices.at(0), |best, p| if per_offload(p) < per_offload(best) { p } else { best });
    Ok(BreakEven {
        host_factor,
        granularity: Seconds((shared + serial) / offloads),
        shared_part: shared / (shared + serial),
        rows,
        optimum: Optimum { continuous: optimum(parameters), last_p },
    })
}

fn row(parameters: &Parameters, p: u32, host_factor: f64) -> BreakEvenRow {
    let terms = &parameters.terms;
    let apus = f64::from(p);
    let (shared, serial) = (terms.t_apu_s.value, terms.c_apu_s.value);
    let total = shared + serial;
    let overhead = terms.o_offload_s.value + terms.t_csw_s.value + apus * terms.g_s.value;
    let saved_part = 1.0 - 1.0 / apus;
    let saved = host_factor - 1.0 + shared / total * saved_part;
    let granularity = total / terms.offloads.value;
    let on_apus = (shared / apus + serial) / terms.offloads.value + overhead;
    let least_granularity = (saved > 0.0).then(|| {
        let least = overhead / saved;
        // G = H/D: dG = dH/D - H/D^2 * dD, with D = F - 1 + s*(1 - 1/p) and s = t/(t + c).
        let by_part = -least / saved * saved_part / total.powi(2);
        let gradient = [
            (Entry::ApuTime, by_part * serial),
            (Entry::ApuSerialTime, -by_part * shared),
            (Entry::OffloadOverhead, 1.0 / saved),
            (Entry::ContextSwitch, 1.0 / saved),
            (Entry::Gap, apus / saved),
        ];
        let half_width = parameters.propagated(&gradient).half_width();
        let [low, high] = [least - half_width, least + half_width];
        (Seconds(least), Seconds(low.max(0.0)), Seconds(high))
    });
    BreakEvenRow { p, least_granularity, gain: host_factor * granularity / on_apus }
}

/// `sqrt(t/g)` per off-load with its interval, by `d ln p = (d ln T_APU - d ln N - d ln g)/2`.
fn optimum(parameters: &Parameters) -> Option<(f64, f64, f64)> {
    let terms = &parameters.terms;
    let (shared, offloads, gap) = (terms.t_apu_s.value, terms.offloads.value, terms.g_s.value);
    if shared == 0.0 || gap == 0.0 {
        return None;
    }
    let best = (shared / offloads / gap).sqrt();
    let gradient = [
        (Entry::ApuTime, best / (2.0 * shared)),
        (Entry::Offloads, -best / (2.0 * offloads)),
        (Entry::Gap, -best / (2.0 * gap)),
    ];
    let half_width = parameters.propagated(&gradient).half_width();
    Some((best, (best - half_width).max(0.0), best + half_width))
}

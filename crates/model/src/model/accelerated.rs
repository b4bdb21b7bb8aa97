//! Equations 6 and 7: one off-loading thread whose work p APUs share.

use mmgp_base::units::Seconds;

/// APU time of phase i when p APUs share its parallel part.
///
/// `T_APU,i(1,p) = T_APU,i(1,1)/p + C_APU,i` (eq. 6).
pub fn apu_time(parallel: Seconds, p: u32, serial: Seconds) -> Seconds {
    parallel / f64::from(p) + serial
}

/// Time of phase i with one host thread and p APUs.
///
/// `T_i(1,p) = T_HPU,i + T_APU,i(1,1)/p + C_APU,i + O_offload + p*g` (eq. 7).
pub fn phase_time(
    hpu: Seconds,
    parallel: Seconds,
    p: u32,
    serial: Seconds,
    offload_overhead: Seconds,
    gap: Seconds,
) -> Seconds {
    hpu + apu_time(parallel, p, serial) + offload_overhead + gap * f64::from(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_by_hand() {
        // 1 + 12/4 + 0.5 + 0.25 + 4*0.125 = 5.25
        let time =
            phase_time(Seconds(1.0), Seconds(12.0), 4, Seconds(0.5), Seconds(0.25), Seconds(0.125));
        assert_eq!(time, Seconds(5.25));
    }
}

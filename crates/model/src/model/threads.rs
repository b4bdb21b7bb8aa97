//! Equations 8 to 10: one of m host threads, in one phase.

use mmgp_base::units::Seconds;

/// Time of phase i on the k-th of m host threads.
///
/// `T_i^k(m,p) = T_HPU,i^k(m,p) + T_APU,i^k(m,p) + O_offload + p*g` (eq. 8).
pub fn thread_time(
    hpu: Seconds,
    apu: Seconds,
    offload_overhead: Seconds,
    p: u32,
    gap: Seconds,
) -> Seconds {
    hpu + apu + offload_overhead + gap * f64::from(p)
}

/// APU time of phase i for one thread, whose share of the parallel part is already 1/m.
///
/// `T_APU,i^k(m,p) = T_APU,i(m,1)/p + C_APU,i` (eq. 9).
pub fn thread_apu_time(parallel_of_thread: Seconds, p: u32, serial: Seconds) -> Seconds {
    parallel_of_thread / f64::from(p) + serial
}

/// HPU time of phase i for one of m threads.
///
/// `T_HPU,i^k(m,p) = alpha_m*T_HPU,i(1,p) + T_CSW + O_COL` (eq. 10).
pub fn thread_hpu_time(
    alpha: f64,
    hpu: Seconds,
    context_switch: Seconds,
    collective: Seconds,
) -> Seconds {
    hpu * alpha + context_switch + collective
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_by_hand() {
        let hpu = thread_hpu_time(1.5, Seconds(2.0), Seconds(0.25), Seconds(0.5));
        let apu = thread_apu_time(Seconds(8.0), 4, Seconds(1.0));
        assert_eq!(hpu, Seconds(3.75));
        assert_eq!(apu, Seconds(3.0));
        assert_eq!(thread_time(hpu, apu, Seconds(0.125), 4, Seconds(0.25)), Seconds(7.875));
    }
}

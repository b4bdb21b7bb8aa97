//! Equations 1 to 5: messages between processing units, and off-loading to one APU.

use mmgp_base::units::Seconds;

/// A message from unit i to unit j.
///
/// `C_ij = O_i + L + O_j` (eq. 1, after LogP): overhead of the sender, latency, overhead of the
/// receiver.
pub fn message(send_overhead: Seconds, latency: Seconds, receive_overhead: Seconds) -> Seconds {
    send_overhead + latency + receive_overhead
}

/// One off-load of a task that takes `apu` on the APU.
///
/// `T_offload(w2) = T_APU(w2) + O_r + O_s` (eq. 2): `O_s` loads code and arguments and starts the
/// APU, `O_r` returns and commits the result.
pub fn offloaded_task(apu: Seconds, receive: Seconds, send: Seconds) -> Seconds {
    apu + receive + send
}

/// A program with one off-loaded part between a host part before and one after.
///
/// `T = T_HPU(w1) + T_APU(w2) + O_r + O_s + T_HPU(w3)` (eq. 3).
pub fn one_offload(
    hpu_before: Seconds,
    apu: Seconds,
    receive: Seconds,
    send: Seconds,
    hpu_after: Seconds,
) -> Seconds {
    hpu_before + apu + receive + send + hpu_after
}

/// One phase: host time, APU time, and the overhead of its off-load.
///
/// `T = T_HPU + T_APU + O_offload`, with `O_offload = O_s + O_r` (eq. 4).
pub fn phase(hpu: Seconds, apu: Seconds, offload_overhead: Seconds) -> Seconds {
    hpu + apu + offload_overhead
}

/// A program of N phases, each given as host time, APU time and off-load overhead.
///
/// `T = sum over i of (T_HPU,i + T_APU,i + O_offload)` (eq. 5).
pub fn phases(phases: impl IntoIterator<Item = (Seconds, Seconds, Seconds)>) -> Seconds {
    phases.into_iter().map(|(hpu, apu, overhead)| phase(hpu, apu, overhead)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(f64) -> Seconds = Seconds;

    #[test]
    fn equations_3_and_4_agree_on_the_same_work() {
        let whole = one_offload(S(1.0), S(8.0), S(0.25), S(0.5), S(2.0));
        assert_eq!(whole, phase(S(1.0 + 2.0), S(8.0), S(0.25 + 0.5)));
        assert_eq!(whole, S(3.0) + offloaded_task(S(8.0), S(0.25), S(0.5)));
    }

    #[test]
    fn equation_5_adds_its_phases() {
        assert_eq!(phases([(S(1.0), S(2.0), S(0.5)), (S(4.0), S(8.0), S(0.25))]), S(15.75));
        assert_eq!(message(S(1.0), S(2.0), S(4.0)), S(7.0));
    }
}

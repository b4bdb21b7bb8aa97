//! Equations 1 to 10 of the paper, for one off-load and one phase, and that equation 11 is their
//! sum.

use super::super::parameters::{Decomposition, Estimate, OverM, Parameters, Terms};
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// `C_ij = O_i + L + O_j` (eq. 1).
fn message(send_overhead: Seconds, latency: Seconds, receive_overhead: Seconds) -> Seconds {
    send_overhead + latency + receive_overhead
}

/// `T_offload(w2) = T_APU(w2) + O_r + O_s` (eq. 2).
fn offloaded_task(apu: Seconds, [receive, send]: [Seconds; 2]) -> Seconds {
    apu + receive + send
}

/// `T = T_HPU(w1) + T_APU(w2) + O_r + O_s + T_HPU(w3)` (eq. 3).
fn one_offload(
    hpu_before: Seconds,
    apu: Seconds,
    [receive, send]: [Seconds; 2],
    hpu_after: Seconds,
) -> Seconds {
    hpu_before + apu + receive + send + hpu_after
}

/// `T = T_HPU + T_APU + O_offload` (eq. 4); eq. 5 is its sum over the phases.
fn phase(hpu: Seconds, apu: Seconds, offload_overhead: Seconds) -> Seconds {
    hpu + apu + offload_overhead
}

/// `T_APU,i(1,p) = T_APU,i(1,1)/p + C_APU,i` (eq. 6), and (eq. 9) with the 1/m of one of m threads
/// in T_APU,i.
fn apu_time(parallel: Seconds, p: u32, serial: Seconds) -> Seconds {
    parallel / f64::from(p) + serial
}

/// `T_HPU,i^k(m,p) = alpha_m*T_HPU,i(1,p) + T_CSW + O_COL` (eq. 10).
fn hpu_time(alpha: f64, hpu: Seconds, context_switch: Seconds, collective: Seconds) -> Seconds {
    hpu * alpha + context_switch + collective
}

/// `T_i^k(m,p) = T_HPU,i^k(m,p) + T_APU,i^k(m,p) + O_offload + p*g` (eq. 8; eq. 7 for m = 1).
fn thread_time(
    hpu: Seconds,
    apu: Seconds,
    offload_overhead: Seconds,
    p: u32,
    gap: Seconds,
) -> Seconds {
    phase(hpu, apu, offload_overhead) + gap * f64::from(p)
}

#[test]
fn an_off_load_by_hand() {
    let [one, two, eight] = [1.0, 2.0, 8.0].map(Seconds);
    let ends = [Seconds(0.25), Seconds(0.5)];
    assert_eq!(message(one, two, eight), Seconds(11.0));
    let whole = one_offload(one, eight, ends, two);
    assert_eq!(whole, phase(one + two, eight, ends[0] + ends[1]));
    assert_eq!(whole, one + two + offloaded_task(eight, ends));
    // 1 + 12/4 + 0.5 + 0.25 + 4*0.125
    let apu = apu_time(Seconds(12.0), 4, Seconds(0.5));
    assert_eq!(thread_time(one, apu, Seconds(0.25), 4, Seconds(0.125)), Seconds(5.25));
}

#[test]
fn equation_11_is_their_sum_over_equal_phases() {
    let terms = Terms {
        t_hpu_s: Estimate::exact(2.0),
        t_apu_s: Estimate::exact(32.0),
        c_apu_s: Estimate::exact(1.0),
        offloads: Estimate::exact(8.0),
        o_offload_s: Estimate::exact(0.125),
        t_csw_s: Estimate::exact(0.25),
        g_s: Estimate::exact(0.5),
        collectives: Some(Estimate::exact(4.0)),
        alpha: OverM::Constant(Estimate::exact(1.5)),
        o_col_s: OverM::Constant(Estimate::exact(0.0625)),
    };
    let parameters = Parameters {
        name: "toy".into(),
        decomposition: Decomposition::Data,
        apus: 16,
        quantity: mmgp_base::quantity::Quantity::Time,
        terms: terms.clone(),
        phases: vec![],
        correlation: None,
        refinements: None,
        evidence: None,
    };
    for (m, p) in [(1, 1), (1, 4), (4, 3), (16, 1)] {
        let per_phase = |estimate: &Estimate| Seconds(estimate.value / terms.offloads.value);
        let [switch, gap] = [&terms.t_csw_s, &terms.g_s].map(|term| Seconds(term.value));
        // Four collectives in eight phases: half a collective in each.
        let collective = Seconds(terms.o_col_at(m) / 2.0);
        let hpu = hpu_time(terms.alpha_at(m), per_phase(&terms.t_hpu_s), switch, collective);
        let parallel = per_phase(&terms.t_apu_s) / f64::from(m);
        let apu = apu_time(parallel, p, per_phase(&terms.c_apu_s));
        let phase = thread_time(hpu, apu, Seconds(terms.o_offload_s.value), p, gap);
        approx::assert_relative_eq!(
            parameters.time(Mapping::of(m, p)).0,
            (phase * terms.offloads.value).0,
            max_relative = 1e-14
        );
    }
}

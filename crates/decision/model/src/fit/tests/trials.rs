//! Runs of known programs, for tests of the joint fit.

use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::runs::{Cell, Runs};
use super::super::{FileRows, FitResult, Inputs, Settings, fit};
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use mmgp_base::Mapping;
use mmgp_base::table::records::{Alpha, Collective, ContextSwitch, Offload, OffloadMode, Profile};

/// A program whose alpha grows linearly by `slope`, on 16 APUs.
pub fn truth(decomposition: Decomposition, slope: f64, terms: [f64; 8]) -> Parameters {
    let [t_hpu, t_apu, c_apu, offloads, o_offload, t_csw, g, o_col] = terms.map(Estimate::exact);
    let alpha = (1..=16).map(|m| Estimate::exact(1.0 + slope * f64::from(m - 1)));
    let terms = Terms {
        t_hpu_s: t_hpu,
        t_apu_s: t_apu,
        c_apu_s: c_apu,
        collectives: Some(offloads.clone()),
        offloads,
        o_offload_s: o_offload,
        t_csw_s: t_csw,
        g_s: g,
        alpha: OverM::Table(Table::new((1..=16).collect(), alpha.collect())),
        o_col_s: OverM::Constant(o_col),
    };
    Parameters::new("truth", decomposition, 16, terms)
}

/// T_HPU 8, T_APU 120, C_APU 2, 1000 off-loads of 100 + 50 + 200*p us, 150 us a collective.
pub const TERMS: [f64; 8] = [8.0, 120.0, 2.0, 1000.0, 1e-4, 5e-5, 2e-4, 1.5e-4];

/// Every (m, p) that 16 APUs allow.
pub fn feasible() -> Vec<(u32, u32)> {
    (1..=16).flat_map(|m| (1..=16 / m).map(move |p| (m, p))).collect()
}

/// Runs of each configuration, exactly as the model says.
pub fn exact_runs(truth: &Parameters, configurations: &[(u32, u32)]) -> Runs {
    noisy_runs(truth, configurations, 0.0, 1)
}

/// Three runs of each configuration with Gaussian noise of relative deviation `noise`.
pub fn noisy_runs(
    truth: &Parameters,
    configurations: &[(u32, u32)],
    noise: f64,
    seed: u64,
) -> Runs {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let factor = Normal::new(1.0, noise).unwrap();
    let cell = |&(m, p): &(u32, u32)| {
        let time = truth.time(Mapping::of(m, p)).0;
        let times = [0; 3].map(|_| time * factor.sample(&mut random));
        Cell::of((m, p), &times)
    };
    Runs::new("runs.csv", configurations.iter().map(cell).collect())
}

/// The micro-benchmarks of a known program, each repeated once, without noise.
pub fn measured(truth: &Parameters) -> Inputs {
    let terms = &truth.terms;
    let twice =
        |count| (1..=2).flat_map(move |repetition| (1..=count).map(move |m| (repetition, m)));
    let alpha = twice(16).map(|(repetition, processes)| Alpha {
        matrix_size: 64,
        processes,
        repetition,
        time_s: terms.alpha_at(processes),
    });
    let collective = twice(16).map(|(repetition, ranks)| Collective {
        operation: "allreduce".into(),
        ranks,
        bytes: 8,
        repetition,
        calls: 1,
        time_s: terms.o_col_at(ranks),
    });
    let offload = [(1, 0), (2, 0), (1, 4096), (2, 4096)].map(|(repetition, bytes)| Offload {
        bytes,
        repetition,
        round_trips: 1,
        time_s: terms.o_offload_s.value + bytes as f64 * 1e-9,
        mode: OffloadMode::PingPong,
    });
    let time_s = terms.t_csw_s.value;
    let switches = [1, 2].map(|repetition| ContextSwitch {
        processes: 2,
        repetition,
        switches: 1,
        time_s,
        mode: "yield".into(),
    });
    let profile = [1, 2].map(|repetition| Profile {
        phase: "main".into(),
        repetition,
        offloads: terms.offloads.value as u64,
        collectives: terms.offloads.value as u64,
        hpu_time_s: terms.t_hpu_s.value,
        apu_parallel_time_s: terms.t_apu_s.value,
        apu_serial_time_s: terms.c_apu_s.value,
        gap_time_s: terms.offloads.value * terms.g_s.value,
    });
    Inputs {
        alpha: Some(file("alpha.csv", alpha.collect())),
        offload: Some(file("offload.csv", offload.into())),
        context_switch: Some(file("context_switch.csv", switches.into())),
        collective: Some(file("collective.csv", collective.collect())),
        profile: Some(file("profile.csv", profile.into())),
        runs: None,
        memory: None,
        prior: None,
        terms: None,
    }
}

fn file<R>(name: &str, rows: Vec<R>) -> FileRows<R> {
    FileRows { file: name.into(), rows }
}

/// Fits what is given of a program on 16 APUs.
pub fn fitted(inputs: &Inputs, decomposition: Decomposition) -> crate::Result<FitResult> {
    fit(inputs, &Settings::new("trial", decomposition, 16))
}

/// Inputs of runs alone.
pub fn only(runs: Runs) -> Inputs {
    Inputs { runs: Some(runs), ..Inputs::default() }
}

/// Runs row by row.
pub fn runs_of(rows: &[mmgp_base::table::records::Run]) -> Runs {
    let mut cells: Vec<Cell> = Vec::new();
    let mut configurations: Vec<(u32, u32)> = rows.iter().map(|row| (row.m, row.p)).collect();
    configurations.sort_unstable();
    configurations.dedup();
    for (m, p) in configurations {
        let times = rows.iter().filter(|row| (row.m, row.p) == (m, p)).map(|row| row.time_s);
        let times: Vec<f64> = times.collect();
        cells.push(Cell::of((m, p), &times));
    }
    Runs::new("runs.csv", cells)
}

//! A known program as somebody would measure it, with noise on every row.

use mmgp::Mapping;
use mmgp::models::Parameters;
use mmgp::table::csv;
use mmgp::table::records::{Alpha, Collective, ContextSwitch, Offload, OffloadMode, Profile, Run};

use crate::random::Random;
use crate::target::{Input, Part};

/// The files of a program: timed runs, the micro-benchmarks and a profile, or all of these.
pub fn files(random: &mut Random, truth: &Parameters) -> Input {
    let noise = random.pick(&[1e-4, 1e-3, 0.01, 0.03]);
    let mut parts = vec![Part::new("truth.toml", truth.to_toml())];
    let kind = random.below(3);
    if kind > 0 {
        parts.extend(benchmarks(random, truth, noise));
    }
    if kind < 2 {
        parts.push(Part::new("runs.csv", csv::write(&runs(random, truth, noise))));
    }
    Input(parts)
}

/// What a program takes: by the refined model where it has refinements.
pub fn time(truth: &Parameters, mapping: Mapping) -> f64 {
    match truth.refinements {
        Some(_) => truth.refined_time(mapping).0,
        None => truth.time(mapping).0,
    }
}

/// Runs of at least twelve configurations where there are as many, (1, 1) among them.
fn runs(random: &mut Random, truth: &Parameters, noise: f64) -> Vec<Run> {
    let apus = truth.apus;
    let all = (1..=apus).flat_map(|m| (1..=apus / m).map(move |p| (m, p)));
    let mut all: Vec<(u32, u32)> = all.collect();
    let wanted = random.within(12, 30) as usize;
    while all.len() > wanted {
        let place = 1 + random.below(all.len() - 1);
        all.remove(place);
    }
    let repetitions = random.within(2, 5);
    let mut rows = Vec::new();
    for (m, p) in all {
        let time = time(truth, Mapping::of(m, p));
        for repetition in 1..=repetitions {
            rows.push(Run { m, p, repetition, time_s: time * random.noise(noise) });
        }
    }
    rows
}

/// The micro-benchmarks and the profile, some repetitions of each.
pub fn benchmarks(random: &mut Random, truth: &Parameters, noise: f64) -> Vec<Part> {
    let terms = &truth.terms;
    let repetitions = random.within(2, 6);
    let mut noise = || random.noise(noise);
    let (mut alpha, mut collective, mut offload) = (Vec::new(), Vec::new(), Vec::new());
    let (mut context_switch, mut profile) = (Vec::new(), Vec::new());
    for repetition in 1..=repetitions {
        for m in 1..=truth.apus {
            let time_s = terms.alpha_at(m) * noise();
            alpha.push(Alpha { matrix_size: 64, processes: m, repetition, time_s });
            collective.push(Collective {
                operation: "allreduce".into(),
                ranks: m,
                bytes: 8,
                repetition,
                calls: 1000,
                time_s: 1000.0 * terms.o_col_at(m) * noise(),
            });
        }
        for bytes in [0, 4096] {
            let one = terms.o_offload_s.value * (1.0 + bytes as f64 / 1e5);
            offload.push(Offload {
                bytes,
                repetition,
                round_trips: 1000,
                time_s: 1000.0 * one * noise(),
                mode: OffloadMode::PingPong,
            });
        }
        let time_s = 1000.0 * terms.t_csw_s.value * noise();
        context_switch.push(ContextSwitch { processes: 2, repetition, switches: 1000, time_s });
        let offloads = terms.offloads.value as u64;
        profile.push(Profile {
            phase: "main".into(),
            repetition,
            offloads,
            collectives: offloads,
            hpu_time_s: terms.t_hpu_s.value * noise(),
            apu_parallel_time_s: terms.t_apu_s.value * noise(),
            apu_serial_time_s: terms.c_apu_s.value * noise(),
            gap_time_s: terms.offloads.value * terms.g_s.value * noise(),
        });
    }
    vec![
        Part::new("alpha.csv", csv::write(&alpha)),
        Part::new("collective.csv", csv::write(&collective)),
        Part::new("offload.csv", csv::write(&offload)),
        Part::new("context_switch.csv", csv::write(&context_switch)),
        Part::new("profile.csv", csv::write(&profile)),
    ]
}

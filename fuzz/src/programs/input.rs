//! Programs whose every term is known, and their files: as somebody would measure them, with noise on
//! every row, or contradictory and extreme.

use mmgp::Mapping;
use mmgp::models::Parameters;
use mmgp::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use mmgp::models::refined::Refinements;
use mmgp::table::records::{Alpha, Collective, ContextSwitch, Offload, OffloadMode, Profile, Run};
use mmgp::table::{Source, csv};

use crate::target::{Input, Random};

/// A program that somebody could have written: it takes from a millisecond to a day, and every term
/// has a part in it that is neither nothing nor all.
pub fn program(random: &mut Random, is_refined: bool) -> Parameters {
    let apus = random.pick(&[4, 8, 16, 16, 16]);
    let decomposition = match random.happens(0.3) {
        true => Decomposition::Task { tasks: random.within(apus, 4 * apus) },
        false => Decomposition::Data,
    };
    let seconds = random.power(-3.0, 5.0);
    let offloads = random.power(1.0, 6.0).round();
    let per_offload = seconds / offloads;
    let mut share = |low: f64, high: f64| Estimate::exact(random.power(low.log10(), high.log10()));
    let (t_hpu, t_apu, c_apu) = (share(0.01, 0.4), share(0.3, 3.0), share(0.003, 0.2));
    let each = [share(1e-4, 0.03), share(1e-4, 0.03), share(1e-4, 0.01), share(1e-4, 0.03)];
    let (slope, bend) = (share(0.01, 0.3).value, share(0.5, 1.5).value);
    // A form of the model's own, or another.
    let bend = if bend > 0.8 { 1.0 } else { bend };
    let scaled = |estimate: Estimate, by: f64| Estimate::exact(estimate.value * by);
    let [o_offload_s, t_csw_s, g_s, o_col] = each.map(|it| scaled(it, per_offload));
    let alpha = |m: u32| Estimate::exact(1.0 + slope * f64::from(m - 1).powf(bend));
    let terms = Terms {
        t_hpu_s: scaled(t_hpu, seconds),
        t_apu_s: scaled(t_apu, seconds),
        c_apu_s: scaled(c_apu, seconds),
        collectives: Some(Estimate::exact(offloads)),
        offloads: Estimate::exact(offloads),
        o_offload_s,
        t_csw_s,
        g_s,
        alpha: OverM::Table(Table::new((1..=apus).collect(), (1..=apus).map(alpha).collect())),
        o_col_s: OverM::Constant(o_col),
    };
    let mut parameters = Parameters::new("truth", decomposition, apus, terms);
    if is_refined {
        parameters.refinements = Some(Refinements {
            iterations: random.happens(0.5).then(|| random.within(apus, 20 * apus)),
            hardware_contexts: random.happens(0.5).then(|| random.within(2, 4)),
            work_growth_s: random
                .happens(0.5)
                .then(|| Estimate::exact(seconds * random.power(-4.0, -2.0))),
            ..Refinements::default()
        });
    }
    parameters
}

/// The files of a program: timed runs, the micro-benchmarks and a profile, or all of these.
pub fn files(random: &mut Random, truth: &Parameters) -> Input {
    let noise = random.pick(&[1e-4, 1e-3, 0.01, 0.03]);
    let mut parts = vec![Source::new("truth.toml", &truth.to_toml())];
    let kind = random.below(3);
    if kind > 0 {
        parts.extend(benchmarks(random, truth, noise));
    }
    if kind < 2 {
        parts.push(Source::new("runs.csv", &csv::write(&runs(random, truth, noise))));
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

/// Some of all (m, p), as many as wanted, (1, 1) among them.
fn configurations(random: &mut Random, apus: u32, wanted: usize) -> Vec<(u32, u32)> {
    let all = (1..=apus).flat_map(|m| (1..=apus / m).map(move |p| (m, p)));
    let mut all: Vec<(u32, u32)> = all.collect();
    while all.len() > wanted {
        let place = 1 + random.below(all.len() - 1);
        all.remove(place);
    }
    all
}

/// Runs of at least twelve configurations where there are as many, (1, 1) among them.
fn runs(random: &mut Random, truth: &Parameters, noise: f64) -> Vec<Run> {
    let wanted = random.within(12, 30) as usize;
    let chosen = configurations(random, truth.apus, wanted);
    let repetitions = random.within(2, 5);
    let mut rows = Vec::new();
    for (m, p) in chosen {
        let time = time(truth, Mapping::of(m, p));
        for repetition in 1..=repetitions {
            rows.push(Run { m, p, repetition, time_s: time * random.noise(noise) });
        }
    }
    rows
}

/// The micro-benchmarks and the profile, some repetitions of each.
fn benchmarks(random: &mut Random, truth: &Parameters, noise: f64) -> Vec<Source> {
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
        let mode = "yield".into();
        context_switch.push(ContextSwitch {
            processes: 2,
            repetition,
            switches: 1000,
            time_s,
            mode,
        });
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
        Source::new("alpha.csv", &csv::write(&alpha)),
        Source::new("collective.csv", &csv::write(&collective)),
        Source::new("offload.csv", &csv::write(&offload)),
        Source::new("context_switch.csv", &csv::write(&context_switch)),
        Source::new("profile.csv", &csv::write(&profile)),
    ]
}

/// The files of a program that contradict each other and themselves, with numbers as large and as small
/// as there are.
pub fn extreme(random: &mut Random) -> Input {
    let truth = program(random, false);
    let mut input = files(random, &truth);
    input.0.retain(|part| part.name != "runs.csv");
    if input.0.len() < 3 || random.happens(0.7) {
        input.0.push(Source::new("runs.csv", &odd_runs(random, &truth)));
    }
    if random.happens(0.3) {
        let place = random.below(input.0.len());
        if input.0[place].name != "runs.csv" && input.0.len() > 2 && place > 0 {
            input.0.remove(place);
        }
    }
    for part in input.0.iter_mut().skip(1) {
        distort(random, part);
    }
    if random.happens(0.2) {
        let scale = random.power(-300.0, 300.0);
        input.0.iter_mut().skip(1).for_each(|part| change_times(part, |time| time * scale));
    }
    input
}

/// Timed runs that are odd in one way.
fn odd_runs(random: &mut Random, truth: &Parameters) -> String {
    let mut rows: Vec<(u32, u32, u32, f64)> = Vec::new();
    let wanted = random.pick(&[1, 2, 3, 5, 10, 50]);
    let chosen = configurations(random, truth.apus, wanted);
    let kind = random.below(9);
    let (factor, wild) = (random.power(1.0, 8.0), random.power(-6.0, 6.0));
    let repetitions =
        if random.happens(0.003) { 100_000 / chosen.len() as u32 } else { random.within(1, 4) };
    for (m, p) in chosen {
        let mut time = truth.time(Mapping::of(m, p)).0;
        if kind == 0 {
            time = 1.0;
        }
        if kind == 1 {
            // The more, the slower: a slowdown that speeds up, or the other way round.
            time *= f64::from(m).powf(random.between(-3.0, 3.0));
        }
        for repetition in 1..=repetitions {
            let time_s = match kind {
                2 if repetition % 2 == 0 => time * 1e6,
                3 if random.happens(0.1) => time * wild,
                4 => time * random.noise(2.0),
                5 if random.happens(0.1) => 0.0,
                6 => random.power(-300.0, 300.0),
                _ => time,
            };
            rows.push((m, p, repetition, time_s));
        }
    }
    if kind == 7 {
        rows.iter_mut().for_each(|row| row.0 = (f64::from(row.0) * factor).min(4e9) as u32);
    }
    if kind == 8 {
        rows.iter_mut().for_each(|row| row.1 = (f64::from(row.1) * factor).min(4e9) as u32);
    }
    let lines =
        rows.iter().map(|(m, p, repetition, time)| format!("{m},{p},{repetition},{time}\n"));
    "m,p,repetition,time_s\n".to_string() + &lines.collect::<String>()
}

/// Changes cells of the columns of times of a table.
fn distort(random: &mut Random, part: &mut Source) {
    if part.text.len() > 100_000 || random.happens(0.4) {
        return;
    }
    let whole = [0.0, 1e-300, 1e300, 5e-324, f64::MAX, 1.0];
    let (kind, factor, set) = (random.below(5), random.power(-6.0, 6.0), random.pick(&whole));
    let keep_rows = random.happens(0.1).then(|| 1 + random.below(3));
    change_times(part, |time| match kind {
        0 => time * factor,
        1 => time * random.power(-6.0, 6.0),
        2 => set,
        3 if random.happens(0.1) => set,
        _ => time,
    });
    if let Some(rows) = keep_rows {
        part.text = part.text.split_inclusive('\n').take(1 + rows).collect();
    }
}

/// All times of a table; one beyond what a number can hold is the largest that it can.
fn change_times(part: &mut Source, mut change: impl FnMut(f64) -> f64) {
    let mut lines = part.text.lines();
    let Some(header) = lines.next() else { return };
    let is_time: Vec<bool> = header.split(',').map(|it| it.ends_with("_s")).collect();
    let mut text = header.to_string() + "\n";
    for line in lines {
        let cell = |(cell, is_time): (&str, &bool)| match cell.parse::<f64>() {
            Ok(time) if *is_time => change(time).min(f64::MAX).to_string(),
            _ => cell.to_string(),
        };
        let cells: Vec<String> = line.split(',').zip(&is_time).map(cell).collect();
        text += &(cells.join(",") + "\n");
    }
    part.text = text;
}

//! Files that contradict each other and themselves, and numbers as large and as small as there are.

use mmgp::Mapping;
use mmgp::models::Parameters;

use super::{checked, measured, truth};
use crate::random::Random;
use crate::target::{Input, Outcome, Part, Target};

/// An error or a finite answer, whatever the files say.
pub struct Extremes;

impl Target for Extremes {
    fn name(&self) -> &'static str {
        "extreme-programs"
    }

    fn about(&self) -> &'static str {
        "contradictory and extreme files: refused, or all that follows is finite"
    }

    fn cost(&self) -> u64 {
        50
    }

    fn most_seconds(&self) -> f64 {
        30.0
    }

    fn input(&self, random: &mut Random) -> Input {
        let program = truth::program(random, false);
        let mut input = measured::files(random, &program);
        input.0.retain(|part| part.name != "runs.csv");
        if input.0.len() < 3 || random.happens(0.7) {
            input.0.push(Part::new("runs.csv", runs(random, &program)));
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
            input.0.iter_mut().skip(1).for_each(|part| rescale(part, scale));
        }
        input
    }

    fn check(&self, input: &Input) -> Result<Outcome, String> {
        checked(input, false)
    }
}

/// Timed runs that are odd in one way.
fn runs(random: &mut Random, program: &Parameters) -> String {
    let mut rows: Vec<(u32, u32, u32, f64)> = Vec::new();
    let apus = program.apus;
    let all = (1..=apus).flat_map(|m| (1..=apus / m).map(move |p| (m, p)));
    let mut all: Vec<(u32, u32)> = all.collect();
    let wanted = random.pick(&[1, 2, 3, 5, 10, 50]);
    while all.len() > wanted {
        let place = random.below(all.len());
        all.remove(place);
    }
    let kind = random.below(9);
    let (factor, wild) = (random.power(1.0, 8.0), random.power(-6.0, 6.0));
    let repetitions =
        if random.happens(0.003) { 100_000 / all.len() as u32 } else { random.within(1, 4) };
    for (m, p) in all {
        let mut time = program.time(Mapping::of(m, p)).0;
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
fn distort(random: &mut Random, part: &mut Part) {
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

fn rescale(part: &mut Part, scale: f64) {
    change_times(part, |time| time * scale);
}

/// All times of a table; one beyond what a number can hold is the largest that it can.
fn change_times(part: &mut Part, mut change: impl FnMut(f64) -> f64) {
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

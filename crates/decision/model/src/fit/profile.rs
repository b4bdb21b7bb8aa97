//! The program's own terms, from the profile of a sequential run.

use std::collections::BTreeSet;

use super::inputs::{FileRows, Repetitions, TermMeasurement, repeated_once, warm_up};
use crate::models::parameters::{Estimate, Phase};
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning, shortened};
use mmgp_base::table::records::Profile;

/// What a profile knows: the terms of the whole, in the shape of a phase, and those of its parts.
pub(crate) struct Program {
    pub whole: Phase,
    /// Empty where the program is one phase.
    pub phases: Vec<Phase>,
}

/// Means over the repetitions, for each phase and for the whole.
///
/// The whole is summed within each repetition before its standard error is taken, so that what
/// the phases of a run have in common is not averaged away. `g` of the whole is the mean over all
/// off-loads: with `N*g = sum over i of N_i*g_i`, phases add up to the whole exactly.
pub(crate) fn program(measured: &FileRows<Profile>) -> Result<TermMeasurement<Program>> {
    let mut names: Vec<&str> = Vec::new();
    for row in &measured.rows {
        if !names.contains(&row.phase.as_str()) {
            names.push(&row.phase);
        }
    }
    let repetitions: BTreeSet<u32> = measured.rows.iter().map(|row| row.repetition).collect();
    let mut whole = vec![PhaseTotals::default(); repetitions.len()];
    let mut phases = Vec::new();
    let mut warnings = Vec::new();
    let mut times: Vec<Repetitions> = Vec::new();
    for name in names {
        let totals = totals_of_phase(measured, name, &repetitions)?;
        for (sum, part) in whole.iter_mut().zip(&totals) {
            sum.add(part);
        }
        warnings.extend(differing_counts(&measured.file, name, &totals));
        times.extend(TIMES.map(|time| (1..).zip(totals.iter().map(time)).collect()));
        phases.push(phase(name, &totals, &measured.file));
    }
    warnings.extend(warm_up(&measured.file, &times));
    if repetitions.len() == 1 {
        warnings.push(repeated_once("t_hpu_s", &measured.file));
    }
    let whole = phase("", &whole, &measured.file);
    if phases.len() == 1 {
        phases.clear();
    }
    let observations = repetitions.len() as u64;
    Ok(TermMeasurement::new(Program { whole, phases }, observations, warnings))
}

/// Totals of one repetition.
#[derive(Debug, Clone, Default)]
struct PhaseTotals {
    hpu_s: f64,
    apu_parallel_s: f64,
    apu_serial_s: f64,
    offloads: f64,
    collectives: f64,
    gap_s: f64,
}

impl PhaseTotals {
    fn of(row: &Profile) -> Self {
        Self {
            hpu_s: row.hpu_time_s,
            apu_parallel_s: row.apu_parallel_time_s,
            apu_serial_s: row.apu_serial_time_s,
            offloads: row.offloads as f64,
            collectives: row.collectives as f64,
            gap_s: row.gap_time_s,
        }
    }

    fn add(&mut self, part: &Self) {
        self.hpu_s += part.hpu_s;
        self.apu_parallel_s += part.apu_parallel_s;
        self.apu_serial_s += part.apu_serial_s;
        self.offloads += part.offloads;
        self.collectives += part.collectives;
        self.gap_s += part.gap_s;
    }
}

/// The phase's totals, one for each repetition of the profile.
fn totals_of_phase(
    measured: &FileRows<Profile>,
    name: &str,
    repetitions: &BTreeSet<u32>,
) -> Result<Vec<PhaseTotals>> {
    let rows: Vec<&Profile> = measured.rows.iter().filter(|row| row.phase == name).collect();
    let mut totals = Vec::with_capacity(repetitions.len());
    for &repetition in repetitions {
        let Some(row) = rows.iter().find(|row| row.repetition == repetition) else {
            return Err(Error::too_little(
                measured.file.clone(),
                format!("no row for phase {:?} in repetition {repetition}", shortened(name)),
                "give every phase a row in every repetition",
            ));
        };
        totals.push(PhaseTotals::of(row));
    }
    if rows.iter().any(|row| row.offloads == 0 && row.gap_time_s > 0.0) {
        return Err(Error::too_little(
            measured.file.clone(),
            format!("phase {:?} with a gap time but no off-loads", shortened(name)),
            "count its off-loads, or count that time as host time",
        ));
    }
    Ok(totals)
}

fn phase(name: &str, totals: &[PhaseTotals], file: &str) -> Phase {
    let mean =
        |field: fn(&PhaseTotals) -> f64| Mean::of(&totals.iter().map(field).collect::<Vec<_>>());
    let term = |field| mean(field).measured_in(file);
    let offloads = mean(|totals| totals.offloads);
    let gap = mean(|totals| totals.gap_s);
    let per_offload = if offloads.value > 0.0 { gap.per(offloads.value) } else { gap };
    Phase {
        name: name.to_string(),
        t_hpu_s: term(|totals| totals.hpu_s),
        t_apu_s: term(|totals| totals.apu_parallel_s),
        c_apu_s: term(|totals| totals.apu_serial_s),
        offloads: count(offloads, file),
        g_s: per_offload.measured_in(file),
        collectives: Some(count(mean(|totals| totals.collectives), file)),
    }
}

/// A count that all repetitions agree on is exact.
fn count(mean: Mean, file: &str) -> Estimate {
    let std_error = mean.std_error.filter(|&error| error > 0.0);
    Mean { std_error, ..mean }.measured_in(file)
}

/// The columns of times.
const TIMES: [fn(&PhaseTotals) -> f64; 4] = [
    |totals| totals.hpu_s,
    |totals| totals.apu_parallel_s,
    |totals| totals.apu_serial_s,
    |totals| totals.gap_s,
];

/// A column of counts: its name and its value in one repetition.
type Count = (&'static str, fn(&PhaseTotals) -> f64);

/// Counts of a sequential run should not depend on chance.
fn differing_counts(file: &str, name: &str, totals: &[PhaseTotals]) -> Vec<Warning> {
    let counts: [Count; 2] =
        [("offloads", |totals| totals.offloads), ("collectives", |totals| totals.collectives)];
    let differing = counts.iter().filter(|(_, count)| {
        totals.iter().any(|repetition| count(repetition) != count(&totals[0]))
    });
    differing
        .map(|(column, _)| {
            Warning::Note(format!(
                "{file}: {column} of phase {:?} differ between repetitions; their mean was used",
                shortened(name)
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(phase: &str, repetition: u32, offloads: u64, times: [f64; 4]) -> Profile {
        let [hpu_time_s, apu_parallel_time_s, apu_serial_time_s, gap_time_s] = times;
        Profile {
            phase: phase.into(),
            repetition,
            offloads,
            collectives: offloads / 2,
            hpu_time_s,
            apu_parallel_time_s,
            apu_serial_time_s,
            gap_time_s,
        }
    }

    fn check(rows: Vec<Profile>) -> Result<TermMeasurement<Program>> {
        program(&FileRows { file: "profile.csv".into(), rows })
    }

    #[test]
    fn phases_add_up_to_the_whole() {
        let result = check(vec![
            row("newview", 1, 100, [1.0, 20.0, 2.0, 0.5]),
            row("newview", 2, 100, [3.0, 22.0, 2.0, 0.7]),
            row("evaluate", 1, 300, [4.0, 8.0, 1.0, 0.3]),
            row("evaluate", 2, 300, [2.0, 8.0, 1.0, 0.3]),
        ]);
        let Program { whole, phases } = result.unwrap().value;
        let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["newview", "evaluate"]);
        assert_eq!(
            (whole.t_hpu_s.value, whole.t_apu_s.value, whole.c_apu_s.value),
            (5.0, 29.0, 3.0)
        );
        assert_eq!((whole.offloads.value, whole.collectives.unwrap().value), (400.0, 200.0));
        let gaps: f64 = phases.iter().map(|phase| phase.offloads.value * phase.g_s.value).sum();
        approx::assert_relative_eq!(whole.offloads.value * whole.g_s.value, gaps);
        // Host time is 1 + 4 and 3 + 2: the runs agree although the phases do not.
        assert_eq!(whole.t_hpu_s.std_error, Some(0.0));
        assert_eq!(phases[0].t_hpu_s.std_error, Some(1.0));
        assert_eq!(whole.offloads.std_error, None);
    }

    #[test]
    fn one_phase_is_the_whole() {
        let program = check(vec![row("main", 1, 4, [1.0, 2.0, 3.0, 4.0])]).unwrap().value;
        assert!(program.phases.is_empty());
        assert_eq!(program.whole.g_s.value, 1.0);
        assert_eq!(program.whole.g_s.std_error, None);
    }

    #[test]
    fn counts_that_differ_raise_a_doubt() {
        let times = [1.0, 2.0, 3.0, 4.0];
        let result = check(vec![row("main", 1, 4, times), row("main", 2, 5, times)]).unwrap();
        assert_eq!(result.value.whole.offloads.value, 4.5);
        assert_eq!(result.value.whole.offloads.std_error, Some(0.5));
        assert_eq!(
            result.warnings[0].to_string(),
            "profile.csv: offloads of phase \"main\" differ between repetitions; their mean was used"
        );
    }

    #[test]
    fn an_incomplete_profile_is_refused() {
        let times = [1.0, 2.0, 3.0, 0.0];
        let rows = vec![row("a", 1, 4, times), row("a", 2, 4, times), row("b", 1, 4, times)];
        assert_eq!(
            check(rows).err().unwrap().to_string(),
            "profile.csv: no row for phase \"b\" in repetition 2; give every phase a row in every \
             repetition"
        );
        assert_eq!(
            check(vec![row("a", 1, 0, [1.0, 2.0, 3.0, 4.0])]).err().unwrap().to_string(),
            "profile.csv: phase \"a\" with a gap time but no off-loads; count its off-loads, or \
             count that time as host time"
        );
    }

    #[test]
    fn a_phase_without_off_loads_has_no_gap() {
        let program = check(vec![row("setup", 1, 0, [1.0, 2.0, 3.0, 0.0])]).unwrap().value;
        assert_eq!((program.whole.offloads.value, program.whole.g_s.value), (0.0, 0.0));
    }

    #[test]
    fn a_slow_first_run_raises_a_doubt() {
        let run = |repetition, factor: f64| {
            row("main", repetition, 4, [1.0 * factor, 20.0 * factor, 2.0 * factor, 0.1 * factor])
        };
        let cold = vec![run(1, 1.3), run(2, 1.0), run(3, 1.01), run(4, 0.99)];
        let warning = check(cold).unwrap().warnings[0].to_string();
        assert!(warning.contains("the first repetition takes +30.0 %"), "{warning}");
        let warm = vec![run(1, 1.01), run(2, 1.0), run(3, 1.01), run(4, 0.99)];
        assert_eq!(check(warm).unwrap().warnings, []);
    }

    #[test]
    fn intervals_cover_the_truth_in_95_of_100_files() {
        use crate::fit::inputs::noise::{assert_covers, relative};
        let truths = [8.0, 120.0, 2.0, 0.5];
        let check_covers = |term: fn(&Phase) -> &Estimate, truth: f64| {
            assert_covers(|seed| {
                let mut noise = relative(seed);
                let phases = ["newview", "evaluate"];
                let rows = (1..=5).flat_map(|repetition| phases.map(|phase| (phase, repetition)));
                let mut half = |(phase, repetition)| {
                    row(phase, repetition, 100, truths.map(|time| 0.5 * time * noise(0.05)))
                };
                let rows: Vec<Profile> = rows.map(&mut half).collect();
                let whole = check(rows).unwrap().value.whole;
                (term(&whole).interval().unwrap(), truth)
            });
        };
        check_covers(|whole| &whole.t_hpu_s, 8.0);
        check_covers(|whole| &whole.t_apu_s, 120.0);
        check_covers(|whole| &whole.c_apu_s, 2.0);
        check_covers(|whole| &whole.g_s, 0.5 / 200.0);
    }
}

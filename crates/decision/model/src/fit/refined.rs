//! The terms of the refined model, from what a user can measure and count.

use std::collections::BTreeMap;

use super::inputs::{FileRows, stated};
use super::runs::{Cell, Runs};
use crate::models::Parameters;
use crate::models::parameters::Estimate;
use crate::models::refined::{Memory, Placement, Refinements};
use crate::statistics::Mean;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::MemoryStream;

/// What is counted or known of a program and its machine; every count is optional, and what it is
/// missing for stays off.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RefinedCounts {
    /// Pieces into which the shared loops can be cut, by the program's input.
    pub iterations: Option<u32>,
    /// Hardware contexts of the host, by the machine's description.
    pub hardware_contexts: Option<u32>,
    /// What the off-loads of a sequential run move, by the program's description.
    pub traffic: Option<Traffic>,
    /// Memories, by the machine's description, and how the data are dealt to them.
    pub memories: Option<(u32, Placement)>,
}

/// What the off-loads of a sequential run move between memory and APUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    /// Bytes of the whole run.
    pub bytes: f64,
    /// Bytes of an average off-load before the first and after the last computation.
    pub exposed_bytes: f64,
}

/// The refined terms of a program whose terms of equation 11 are known. Those of memory need
/// `memory.csv`, the traffic and the memories.
///
/// `demand = bytes/T_APU`, so that an APU that streams at that rate computes for T_APU;
/// `exposed = exposed bytes/bandwidth`.
///
/// Where `memory.csv` cannot say what a memory delivers, its terms stay off, with a warning.
pub fn refinements(
    parameters: &Parameters,
    memory: Option<&FileRows<MemoryStream>>,
    counts: &RefinedCounts,
) -> (Refinements, Vec<Warning>) {
    let (bandwidth, warnings) = match memory.map(bandwidth).transpose() {
        Ok(bandwidth) => (bandwidth, Vec::new()),
        Err(error) => {
            let warning = format!("no bandwidth of memory in the refined model: {error}");
            (None, vec![Warning::Note(warning)])
        }
    };
    let terms = &parameters.terms;
    let of_traffic = counts.traffic.zip(bandwidth).filter(|_| terms.t_apu_s.value > 0.0);
    let exposed = of_traffic.as_ref().map(|(traffic, bandwidth)| {
        let value = traffic.exposed_bytes / bandwidth.value;
        let relative = bandwidth.std_error.map(|error| error / bandwidth.value);
        let source = "bytes of the ends of an off-load, over the bandwidth of memory";
        Estimate { std_error: relative.map(|it| it * value), ..stated(value, source) }
    });
    let memory = of_traffic.zip(counts.memories).map(|((traffic, bandwidth), known)| {
        let value = traffic.bytes / terms.t_apu_s.value;
        let relative = terms.t_apu_s.std_error.map(|error| error / terms.t_apu_s.value);
        let source = "bytes of the off-loads, over t_apu_s";
        let demand = Estimate { std_error: relative.map(|it| it * value), ..stated(value, source) };
        let (memories, placement) = known;
        Memory { demand_bytes_per_s: demand, bandwidth_bytes_per_s: bandwidth, memories, placement }
    });
    let refinements = Refinements {
        iterations: counts.iterations,
        hardware_contexts: counts.hardware_contexts,
        exposed_transfer_s: exposed,
        memory,
        work_growth_s: None,
    };
    (refinements, warnings)
}

/// Terms with which the *refined* model meets the runs, `refinements` held.
///
/// Equation 11 is fitted by `fit` to the runs, each configuration scaled by the time of equation 11
/// over the refined one, with the terms found last; again until the ratio no longer changes.
/// Relative residuals then are those of the refined model, weighed by the derivatives of equation 11:
/// exact where the runs have no noise, and near the least squares of the refined model where they do.
///
/// # Errors
/// Those of `fit`, and [`Error::Fit`] where the times go on changing.
pub fn fit_beside(
    runs: &Runs,
    refinements: &Refinements,
    fit: &dyn Fn(&Runs) -> Result<Parameters>,
) -> Result<Parameters> {
    let refined = |runs: &Runs| -> Result<Parameters> {
        Ok(Parameters { refinements: Some(refinements.clone()), ..fit(runs)? })
    };
    let mut factors = vec![1.0; runs.cells.len()];
    for _ in 0..MOST_ROUNDS {
        let parameters = refined(&runs.scaled(&factors))?;
        let mut largest_change: f64 = 0.0;
        for (wanted, factor) in self::factors(runs, &parameters).into_iter().zip(&mut factors) {
            largest_change = largest_change.max((wanted / *factor - 1.0).abs());
            // The mean of both: a term that is too large makes its factor too small and the next
            // one too large again.
            *factor = (*factor * wanted).sqrt();
        }
        if largest_change <= SETTLED {
            return Ok(parameters);
        }
    }
    Err(Error::Fit(format!("the refined times still change after {MOST_ROUNDS} rounds")))
}

/// The time of each configuration by equation 11, over the refined one.
pub(crate) fn factors(runs: &Runs, parameters: &Parameters) -> Vec<f64> {
    let factor = |cell: &Cell| {
        let mapping = Mapping::of(cell.m, cell.p);
        parameters.time(mapping).0 / parameters.refined_time(mapping).0
    };
    runs.cells.iter().map(factor).collect()
}

/// A round halves what is left of the change, more or less.
const MOST_ROUNDS: u32 = 60;

/// Relative changes below this are little beside any noise.
const SETTLED: f64 = 3e-3;

/// What one memory delivers to as many APUs as ask \[byte/s\].
///
/// `bandwidth = max over k of [k*bytes/time of k]`, a time being the mean over its repetitions.
///
/// # Errors
/// [`Error::TooLittleData`] for a time of 0, and where the largest number of accelerators still
/// gets 2 % more in all than fewer, so that the memory may give more yet.
pub fn bandwidth(measured: &FileRows<MemoryStream>) -> Result<Estimate> {
    let mut times: BTreeMap<(u64, u32), Vec<f64>> = BTreeMap::new();
    for row in &measured.rows {
        times.entry((row.bytes, row.accelerators)).or_default().push(row.time_s);
    }
    let too_little =
        |found: String, advice: &str| Error::too_little(measured.file.clone(), found, advice);
    let mut rates: Vec<(u32, Estimate)> = Vec::new();
    for ((bytes, accelerators), times) in times {
        let time = Mean::of(&times);
        if time.value <= 0.0 {
            let found = format!("a time of 0 s for {accelerators} accelerators");
            return Err(too_little(found, "move more bytes, so that the clock can see them"));
        }
        let value = f64::from(accelerators) * bytes as f64 / time.value;
        let std_error = time.std_error.map(|error| value * error / time.value);
        rates.push((accelerators, Estimate { std_error, ..stated(value, &measured.file) }));
    }
    let last = rates.iter().map(|(accelerators, _)| *accelerators).max().unwrap_or(0);
    let fastest = |upto: u32| {
        let rates = rates.iter().filter(|(accelerators, _)| *accelerators <= upto);
        rates.map(|(_, rate)| rate).max_by(|a, b| a.value.total_cmp(&b.value))
    };
    let before = fastest(last.saturating_sub(1)).map_or(0.0, |rate| rate.value);
    match fastest(last) {
        Some(fastest) if fastest.value < (1.0 + STILL_GROWING) * before => Ok(fastest.clone()),
        _ => {
            let found = format!("a rate that still grows at {last} accelerators");
            Err(too_little(found, "let more accelerators stream at once, until they get no more"))
        }
    }
}

/// A memory that gives so much more to the last accelerator is not exhausted.
const STILL_GROWING: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::super::known::FileTerms;
    use super::super::terms::without_misfit;
    use super::super::tests::trials::{TERMS, exact_runs, feasible, truth};
    use super::super::{Inputs, Settings};
    use super::*;
    use crate::models::parameters::Decomposition;

    /// Two repetitions of 1 GB each, 4 % apart, at those total rates \[GB/s\].
    fn measured(rates: &[f64]) -> FileRows<MemoryStream> {
        let row = |index: usize, repetition: u32| {
            let (accelerators, bytes) = (index as u32 + 1, 1_000_000_000);
            let time = f64::from(accelerators) / rates[index];
            let time_s = time * (0.94 + 0.04 * f64::from(repetition));
            MemoryStream { accelerators, bytes, repetition, time_s }
        };
        let rows = (0..rates.len()).flat_map(|index| [row(index, 1), row(index, 2)]).collect();
        FileRows { file: "memory.csv".into(), rows }
    }

    #[test]
    fn the_bandwidth_is_the_most_that_all_together_get() {
        let found = bandwidth(&measured(&[8.0, 16.0, 20.0, 19.0])).unwrap();
        approx::assert_relative_eq!(found.value, 20e9, max_relative = 1e-12);
        // Times of 0.98 and 1.02: a mean that is 2 % uncertain.
        approx::assert_relative_eq!(found.std_error.unwrap(), 0.4e9, max_relative = 1e-9);
        assert_eq!(found.source.as_deref(), Some("memory.csv"));
        // The fourth still gets 1.25 % more, which is no growth.
        let found = bandwidth(&measured(&[8.0, 14.0, 16.0, 16.2])).unwrap();
        approx::assert_relative_eq!(found.value, 16.2e9, max_relative = 1e-12);
    }

    #[test]
    fn a_memory_that_is_not_exhausted_is_refused() {
        for rates in [&[8.0][..], &[8.0, 16.0, 17.0]] {
            let error = bandwidth(&measured(rates)).unwrap_err().to_string();
            assert!(error.contains("still grows at"), "{error}");
        }
    }

    #[test]
    fn terms_follow_from_counts_and_what_is_missing_stays_off() {
        // 120 s of T_APU; 240 GB make 2 GB/s, 20 kB at the ends of an off-load 1 us at 20 GB/s.
        let mut parameters = truth(Decomposition::Data, 0.0, TERMS);
        parameters.terms.t_apu_s.std_error = Some(1.2);
        let memory = measured(&[8.0, 16.0, 20.0, 20.0]);
        let counts = RefinedCounts {
            iterations: Some(2499),
            hardware_contexts: Some(4),
            traffic: Some(Traffic { bytes: 240e9, exposed_bytes: 20e3 }),
            memories: Some((2, Placement::ByProcess)),
        };
        let (all, warnings) = refinements(&parameters, Some(&memory), &counts);
        assert_eq!(warnings, []);
        let of_memory = all.memory.as_ref().unwrap();
        approx::assert_relative_eq!(of_memory.demand_bytes_per_s.value, 2e9, max_relative = 1e-12);
        let error = of_memory.demand_bytes_per_s.std_error.unwrap();
        approx::assert_relative_eq!(error, 0.02e9, max_relative = 1e-9);
        let exposed = all.exposed_transfer_s.as_ref().unwrap();
        approx::assert_relative_eq!(exposed.value, 1e-6, max_relative = 1e-12);
        // As uncertain as the bandwidth, by 2 %.
        approx::assert_relative_eq!(exposed.std_error.unwrap(), 2e-8, max_relative = 1e-9);
        assert_eq!(
            all.names(),
            ["iterations", "hardware_contexts", "exposed_transfer_s", "memory"]
        );
        let without = refinements(&parameters, None, &counts).0;
        assert_eq!(without.names(), ["iterations", "hardware_contexts"]);
        let (without, warnings) = refinements(&parameters, Some(&measured(&[8.0])), &counts);
        assert_eq!((without.memory, warnings.len()), (None, 1));
        let nothing = refinements(&parameters, Some(&memory), &RefinedCounts::default()).0;
        assert_eq!(nothing, Refinements::default());
        // APUs that compute nothing ask for no rate.
        parameters.terms.t_apu_s.value = 0.0;
        let without = refinements(&parameters, Some(&memory), &counts).0;
        assert_eq!(without.names(), ["iterations", "hardware_contexts"]);
    }

    /// The terms of equation 11 by these runs alone.
    fn by_runs(runs: &Runs) -> Result<Parameters> {
        let settings = Settings::new("toy", Decomposition::Data, 16);
        let known = FileTerms::from(&Inputs::default(), &settings)?;
        let (base, unknown) = (known.parameters(&settings), known.unknown_terms());
        without_misfit(&base, &unknown, None, runs)
    }

    #[test]
    fn terms_come_back_beside_refined_ones() {
        let known = truth(Decomposition::Data, 0.0, [4.0, 120.0, 0.0, 1000.0, 0.0, 0.0, 0.0, 0.0]);
        let memory = Memory {
            demand_bytes_per_s: Estimate::exact(2.5e9),
            bandwidth_bytes_per_s: Estimate::exact(20e9),
            memories: 2,
            placement: Placement::ByProcess,
        };
        let refinements = Refinements {
            iterations: Some(50),
            hardware_contexts: Some(2),
            memory: Some(memory),
            ..Refinements::default()
        };
        let known = Parameters { refinements: Some(refinements.clone()), ..known };
        let mut runs = exact_runs(&known, &feasible());
        for cell in &mut runs.cells {
            cell.mean_s = known.refined_time(Mapping::of(cell.m, cell.p)).0;
            cell.log_time = cell.mean_s.ln();
        }
        let found = fit_beside(&runs, &refinements, &by_runs).unwrap();
        approx::assert_relative_eq!(found.terms.t_hpu_s.value, 4.0, max_relative = 1e-2);
        approx::assert_relative_eq!(found.terms.t_apu_s.value, 120.0, max_relative = 1e-2);
        // Equation 11 itself does not meet these runs.
        let without = by_runs(&runs).unwrap();
        let missed = |&(m, p): &(u32, u32)| {
            let mapping = Mapping::of(m, p);
            (without.time(mapping).0 / known.refined_time(mapping).0 - 1.0).abs()
        };
        assert!(feasible().iter().map(missed).fold(0.0, f64::max) > 0.1);
    }
}

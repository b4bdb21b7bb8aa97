//! The main job on a script, without a machine.

mod scripted;

use mmgp_apps::Division;
use mmgp_base::Mapping;
use mmgp_base::table::records::{
    Alpha, Collective, ContextSwitch, MemoryStream, Offload, OffloadMode, Profile, Validation,
};
use mmgp_base::table::{MicroBenchmarks, Source, csv};
use mmgp_base::units::Seconds;
use mmgp_model::models::parameters::Decomposition;

use super::mappings::decomposition;
use super::*;
use crate::measure;
use crate::measure::{Layout, Target as _};
use scripted::{Scripted, Stub};

const STUB: Stub = Stub(Division::Data);
const APUS: u32 = 4;

const HPU: f64 = 4.0;
const APU: f64 = 8.0;
const SERIAL: f64 = 1.0;
const OFFLOADS: u64 = 1000;
const GAP: f64 = 1e-3;
const OFFLOAD: f64 = 1e-6;
const SWITCH: f64 = 2e-6;
const COLLECTIVE: f64 = 16e-6;

/// Equation 11 by hand, without a slowdown of the host.
fn time(mapping: Mapping) -> Seconds {
    let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
    let collective = if mapping.m() > 1 { COLLECTIVE } else { 0.0 };
    let each = OFFLOAD + SWITCH + collective + p * GAP;
    Seconds(HPU + APU / (m * p) + SERIAL + OFFLOADS as f64 * each)
}

/// What each term's own measurement would show.
fn micro_benchmarks() -> MicroBenchmarks {
    let all = |of: fn(u32, u32) -> f64| {
        let of_count =
            move |count| (1..=3).map(move |repetition| (count, repetition, of(count, repetition)));
        (1..=APUS).flat_map(of_count)
    };
    let alpha =
        |(processes, repetition, time_s)| Alpha { matrix_size: 100, processes, repetition, time_s };
    let offload = |(number, repetition, time_s)| {
        let (bytes, round_trips) = (8 * u64::from(number), 1000);
        Offload { bytes, repetition, round_trips, time_s, mode: OffloadMode::PingPong }
    };
    let switch = |(count, repetition, time_s)| ContextSwitch {
        processes: 2 * count,
        repetition,
        switches: 1000,
        time_s,
        mode: "yield".into(),
    };
    let collective = |(ranks, repetition, time_s)| Collective {
        operation: "allreduce".into(),
        ranks,
        bytes: 8,
        repetition,
        calls: 1000,
        time_s,
    };
    let memory = |(accelerators, repetition, time_s)| MemoryStream {
        accelerators,
        bytes: 1 << 20,
        repetition,
        time_s,
    };
    MicroBenchmarks {
        alpha: all(|_, _| 1.0).map(alpha).collect(),
        offload: all(|_, _| 1000.0 * OFFLOAD).map(offload).collect(),
        context_switch: all(|_, _| 1000.0 * SWITCH).map(switch).collect(),
        collective: all(|ranks, _| if ranks > 1 { 1000.0 * COLLECTIVE } else { 0.0 })
            .map(collective)
            .collect(),
        memory: all(|count, _| 1e-4 * f64::from(count)).map(memory).collect(),
    }
}

fn profile_rows() -> Vec<Profile> {
    let row = |repetition| Profile {
        phase: "work".into(),
        repetition,
        offloads: OFFLOADS,
        collectives: OFFLOADS,
        hpu_time_s: HPU,
        apu_parallel_time_s: APU,
        apu_serial_time_s: SERIAL,
        gap_time_s: OFFLOADS as f64 * GAP,
    };
    (1..=3).map(row).collect()
}

fn target() -> Scripted {
    let target = Scripted::timed(Layout::of_apus(APUS), time);
    target.with_micro_benchmarks(micro_benchmarks()).with_profile(profile_rows())
}

/// A new folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mmgp-{}-{name}", std::process::id()));
    table::create_folder(&folder).unwrap();
    folder
}

fn read<R: csv::Record>(folder: &Path, name: &str) -> Vec<R> {
    csv::read(&Source::read(&folder.join(name)).unwrap()).unwrap().0
}

#[test]
fn a_bench_writes_what_the_target_measures() {
    let (target, folder) = (target(), folder("bench"));
    let tables = measure::micro_benchmarks(&target, 3, 1, &()).unwrap();
    measure::write(&folder, &tables, &[]).unwrap();
    assert_eq!(read::<Alpha>(&folder, "alpha.csv"), micro_benchmarks().alpha);
    assert_eq!(read::<Collective>(&folder, "collective.csv"), micro_benchmarks().collective);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_profile_has_the_rows_that_the_target_measures() {
    assert_eq!(measure::profile(&target(), &STUB, 3, 1, &()).unwrap(), profile_rows());
}

#[test]
fn a_study_recovers_the_law_that_a_target_keeps_and_finds_its_best_mapping() {
    let (target, folder) = (target(), folder("study"));
    let study = Study { threads: 2, ..Study::new(&folder, Identity::new::<&str>(&[])) };
    let StudyEnd::Whole(results) = study.run(&Mappings::on(&STUB, &target), &()).unwrap() else {
        panic!("there are no shares")
    };
    assert_eq!(results.predictions.parameters.apus, APUS);
    let mut asked = target.asked();
    asked.sort();
    let all: Vec<Mapping> = mmgp_model::decide::feasible(APUS).collect();
    assert_eq!(asked, all);
    let summary = &results.summary.models[0];
    assert!(summary.max_error_percent < 1e-6, "{summary:?}");
    let best = [&summary.predicted_best, &summary.measured_best].map(ToString::to_string);
    assert_eq!(best, ["(4, 1)", "(4, 1)"]);
    let ranking = results.predictions.ranking.as_ref().unwrap();
    assert_eq!(ranking.configurations[0].mapping, Mapping::of(4, 1));
    assert!(!folder.join("validation.csv").exists());
    results.commit().unwrap();
    assert_eq!(read::<Validation>(&folder, "validation.csv").len(), all.len());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_share_of_a_study_runs_its_share_and_is_told_what_is_left() {
    let (target, folder) = (target(), folder("share"));
    let identity = Identity::new(&[("of", "shares".to_string())]);
    let study = Study { shard: "1/3".parse().unwrap(), ..Study::new(&folder, identity) };
    let StudyEnd::Share(share) = study.run(&Mappings::on(&STUB, &target), &()).unwrap() else {
        panic!("it is a share")
    };
    assert_eq!((share.shard().to_string(), target.asked().len()), ("1/3".into(), 3));
    let shares = crate::transaction::Shares::read(std::slice::from_ref(&folder)).unwrap();
    assert_eq!(shares.missing().len(), 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tasks_are_told_to_the_model() {
    assert_eq!(decomposition(&Stub(Division::Tasks(16))), Decomposition::Task { tasks: 16 });
    assert_eq!(decomposition(&STUB), Decomposition::Data);
    assert_eq!(target().name(), "scripted");
}

//! Rows of `terms.csv` and `profile.csv`.

use std::collections::BTreeMap;

use mmgp_base::table::records::{Maybe, Profile, TERMS, TermRow};

use crate::process::{Process, Region};
use crate::run::Traced;
use crate::symbols::{Names, names, readable};

/// The rows of a run.
struct Rows<'a> {
    run: &'a str,
    m: u32,
    p: u32,
    rows: Vec<TermRow>,
}

impl Rows<'_> {
    fn push(&mut self, rank: Option<u32>, phase: &str, term: &str, value: f64) {
        let at = (self.m, self.p);
        self.push_at(at, rank, (phase, term), (value, None));
    }

    fn push_at(
        &mut self,
        (m, p): (u32, u32),
        rank: Option<u32>,
        (phase, term): (&str, &str),
        (value, std_error): (f64, Option<f64>),
    ) {
        let unit = TERMS.iter().find(|(name, _)| *name == term).map_or("", |(_, unit)| unit);
        self.rows.push(TermRow {
            run: self.run.into(),
            m,
            p,
            rank: Maybe(rank),
            phase: phase.into(),
            term: term.into(),
            value,
            std_error: Maybe(std_error),
            unit: unit.into(),
        });
    }
}

/// The rows of `terms.csv` of a run of this name.
pub fn terms(traced: &Traced, run: &str) -> Vec<TermRow> {
    let (m, p) = (traced.ranks(), traced.threads());
    let names = names(&traced.processes);
    let mut rows = Rows { run, m, p, rows: Vec::new() };
    for process in &traced.processes {
        of_process(&mut rows, process, &names);
    }
    if let Some(count) = traced.processors() {
        rows.push(None, "", "processors", f64::from(count));
    }
    for timed in traced.processes.iter().flat_map(|it| &it.collectives) {
        let value = (timed.time, Some(timed.std_error));
        rows.push_at((timed.count, p), None, (&timed.name, "o_col"), value);
    }
    rows.rows
}

fn of_process(rows: &mut Rows<'_>, process: &Process, names: &Names) {
    let rank = Some(process.rank);
    rows.push(rank, "", "time", process.time);
    rows.push(rank, "", "t_hpu", process.host_time());
    rows.push(rank, "", "cpu", process.cpu);
    rows.push(rank, "", "switches", process.switches as f64);
    for region in process.off_loads() {
        let phase = names.of(region);
        for (term, value) in of_region(region, rows.p) {
            rows.push(rank, phase, term, value);
        }
    }
    // Functions of one name and other arguments are one.
    let mut kernels: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (name, calls, time) in &process.devices {
        let kernel = kernels.entry(readable(name)).or_default();
        *kernel = [kernel[0] + *calls as f64, kernel[1] + time];
    }
    for (name, [calls, time]) in &kernels {
        rows.push(rank, name, "offloads", *calls);
        rows.push(rank, name, "t_apu", *time);
    }
    if !process.devices.is_empty() {
        // Where kernels run beside one another, less than their sum.
        rows.push(rank, "", "t_apu", process.device_time);
    }
    for operation in &process.operations {
        let (phase, calls) = (&operation.name, operation.calls as f64);
        if operation.is_collective {
            let last = operation.of_last();
            rows.push(rank, phase, "collectives", calls);
            rows.push(rank, phase, "bytes", operation.bytes as f64);
            rows.push(rank, phase, "t_col", last);
            rows.push(rank, phase, "wait", operation.time - last);
        } else {
            rows.push(rank, phase, "messages", calls);
            rows.push(rank, phase, "bytes", operation.bytes as f64);
            rows.push(rank, phase, "p2p", operation.time);
        }
    }
    for timed in &process.empty {
        let value = (timed.time, Some(timed.std_error));
        rows.push_at((rows.m, timed.count), rank, ("", "g"), value);
    }
}

fn of_region(region: &Region, p: u32) -> [(&'static str, f64); 5] {
    [
        ("offloads", region.calls as f64),
        ("t_apu", region.work),
        ("c_apu", region.uneven(p)),
        ("o_offload", region.first.max(0.0)),
        ("gap", (region.time - region.slowest).max(0.0)),
    ]
}

/// The row of `profile.csv` of a run of one rank and one thread; none of another.
pub fn profile(traced: &Traced, repetition: u32) -> Option<Profile> {
    let [process] = &traced.processes[..] else { return None };
    let sum = |of: fn(&Region) -> f64| process.off_loads().iter().map(of).sum::<f64>();
    let collectives = process.operations.iter().filter(|it| it.is_collective);
    let kernels = process.devices.iter().map(|it| it.1);
    (traced.threads() == 1).then(|| Profile {
        phase: "all".into(),
        repetition,
        offloads: process.off_loads().iter().map(|it| it.calls).chain(kernels).sum(),
        collectives: collectives.map(|it| it.calls).sum(),
        hpu_time_s: process.host_time(),
        apu_parallel_time_s: sum(|it| it.work) + process.device_time,
        apu_serial_time_s: 0.0,
        gap_time_s: sum(|it| it.time - it.slowest).max(0.0),
    })
}

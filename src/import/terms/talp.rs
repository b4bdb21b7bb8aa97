//! TALP, the profiler of DLB: sums over the processors of a run or of each process, for each region
//! that the program names and for the run as a whole (`src/talp/talp_output.c` of
//! <https://github.com/bsc-pm/dlb>). All times are whole nanoseconds.
//!
//! Its sums are over the T processors of a process (`doc/user_guide/source/talp_metrics.rst`): of a
//! parallel region, `ompLoadImbalanceTime` is what its threads wait for the slowest and
//! `ompSchedulingTime` T times what the slowest does not work; `ompSerializationTime` is what the other
//! T - 1 are idle outside regions, before `mpiWorkerIdleTime` came to be also while one is in MPI. So
//!
//! `C_APU = ompLoadImbalanceTime/T`, `gap = ompSchedulingTime/T`,
//! `T_HPU = ompSerializationTime/(T - 1)` (less `mpiTime`), `T_APU = usefulTime - T_HPU`.

use super::{Division, Document, Format, Terms, amount, count};
use crate::error::{Answer, Error, Result};
use crate::intake::formats::{Node, Object};

/// DLB 3.5 and later.
pub(super) const FORMAT: Format = Format {
    name: "JSON of TALP (DLB 3.5)",
    recognises: |document| document.has("dlbVersion"),
    read,
};

/// DLB up to 3.4, which knows MPI alone.
pub(super) const OLD_FORMAT: Format = Format {
    name: "JSON of TALP (DLB 3.4)",
    recognises: |document| document.has("popMetrics") || document.has("popRaw"),
    read: read_old,
};

/// Name of the region that is all of a run, since DLB 3.5 and before.
const WHOLE: [&str; 2] = ["Global", "MPI Execution"];

/// The phase of a region.
fn phase(region: &str) -> &str {
    if WHOLE.contains(&region) { "" } else { region }
}

/// Part by which times may miss their sum: they are taken one after the other.
const CLOSURE: f64 = 0.1;

fn read(document: &Document<'_>, said: Division) -> Result<Terms> {
    let root = document.root();
    let application = root.get("Application").map(|it| it.object()).transpose()?;
    let resources = match root.get("resources") {
        Some(resources) => resources.object()?,
        None => {
            let regions = root.required("Application")?.object()?;
            regions.required(WHOLE[0])?.object()?
        }
    };
    let ranks = resources.get("numMpiRanks").filter(|it| it.plain_text().is_ok_and(|it| it != "0"));
    let m = document.count("m", ranks, said.m)?;
    let processors = resources.required("numCpus")?;
    let p = match said.p {
        Some(p) => p,
        None => share(processors, m)?,
    };
    let mut terms = Terms::new(document, m, p);
    if let Some(processes) = root.get("Process") {
        for (name, processes) in processes.object()?.entries() {
            of_processes(&mut terms, document, name, processes)?;
        }
        return Ok(terms);
    }
    let regions = match application {
        Some(regions) => regions,
        None => root.required("Application")?.object()?,
    };
    for (name, region) in regions.entries() {
        let region = region.object()?;
        let is_of_all =
            region.get("numMpiRanks").is_none_or(|it| count(it).is_ok_and(|it| it == m));
        if is_of_all || m == 1 {
            of_region(&mut terms, document, None, name, &region)?;
        } else {
            terms.note(&format!("the region {name:?} is not of all {m} ranks, and left out"));
        }
    }
    if m > 1 {
        terms.note("it holds no process by itself: values are means over the ranks");
    }
    Ok(terms)
}

/// Processors of each rank.
fn share(processors: Node<'_>, m: u32) -> Result<u32> {
    let all = count(processors)?;
    if !all.is_multiple_of(m) {
        return Err(
            processors.error(format!("{all} processors"), format!("a multiple of {m} ranks"))
        );
    }
    Ok(all / m)
}

/// The rows of a region, for each rank.
fn of_processes(
    terms: &mut Terms,
    document: &Document<'_>,
    name: &str,
    processes: Node<'_>,
) -> Result<()> {
    let records = processes.array()?;
    if records.len() != terms.m as usize {
        let found = format!("{} processes", records.len());
        return Err(processes.error(found, format!("one for each of {} ranks", terms.m)));
    }
    for (expected, record) in (0..).zip(records) {
        let record = record.object()?;
        let rank = record.required("rank")?;
        if amount(rank)? != f64::from(expected) {
            return Err(rank.error(rank.describe(), format!("rank {expected}")));
        }
        of_region(terms, document, Some(expected), name, &record)?;
    }
    Ok(())
}

/// The rows of a region of one rank, or of all as their mean.
fn of_region(
    terms: &mut Terms,
    document: &Document<'_>,
    rank: Option<u32>,
    name: &str,
    record: &Object<'_>,
) -> Result<()> {
    let phase = phase(name);
    let elapsed = amount(record.required("elapsedTime")?)? / 1e9;
    if elapsed == 0.0 {
        return Ok(());
    }
    let ranks = if rank.is_some() { 1.0 } else { f64::from(terms.m) };
    let sum = |key: &str| Ok::<_, Error>(amount(record.required(key)?)? / ranks);
    let time = |key: &str| Ok::<_, Error>(sum(key)? / 1e9);
    let sum_if = |key: &str| record.get(key).map(|_| time(key)).transpose();
    terms.add(rank, phase, "time", elapsed);
    let (useful, mpi, regions) = (time("usefulTime")?, time("mpiTime")?, sum("numOmpParallels")?);
    if mpi > 0.0 {
        terms.note("it does not tell collectives from messages: what MPI takes is in no term");
    }
    if regions == 0.0 {
        if phase.is_empty() {
            terms.note("it shows no OpenMP: host time and work in regions are in no term");
        }
        return Ok(());
    }
    let imbalance = time("ompLoadImbalanceTime")?;
    let scheduling = time("ompSchedulingTime")?;
    let serial = time("ompSerializationTime")?;
    let idle = sum_if("mpiWorkerIdleTime")?;
    let device = sum_if("gpuRuntimeTime")?.unwrap_or(0.0);
    let p = f64::from(terms.p);
    let all = useful + mpi + imbalance + scheduling + serial + idle.unwrap_or(0.0) + device;
    if phase.is_empty() && (all / elapsed / p - 1.0).abs() > CLOSURE {
        return Err(of_other_threads(document, terms.p, all / elapsed));
    }
    terms.add(rank, phase, "offloads", regions);
    terms.add(rank, phase, "c_apu", imbalance / p);
    terms.add(rank, phase, "gap", scheduling / p);
    if device > 0.0 {
        terms.note("times of GPUs are in no term");
    }
    if terms.p == 1 {
        terms.note("with one thread it does not tell host time from work in regions");
        return Ok(());
    }
    let outside = serial / (p - 1.0);
    let host = if idle.is_some() { outside } else { outside - mpi };
    let is_closed = |part: f64| part >= -CLOSURE * elapsed;
    if !(is_closed(host) && is_closed(useful - host)) {
        terms.note("MPI is called within regions: it does not tell host time from work in regions");
        return Ok(());
    }
    let host = host.clamp(0.0, useful);
    terms.add(rank, phase, "t_hpu", host);
    terms.add(rank, phase, "t_apu", useful - host);
    Ok(())
}

/// The error that the run has not had as many threads as processors.
fn of_other_threads(document: &Document<'_>, p: u32, threads: f64) -> Error {
    let found = format!("its times add up to those of {threads:.2} threads of a rank, not of {p}");
    let value = format!("{:.0}", threads.max(1.0));
    let answer = Answer { key: "p", value, meaning: "threads of each rank".into() };
    Error::ambiguous(&document.source.name, found, vec![answer])
}

fn read_old(document: &Document<'_>, said: Division) -> Result<Terms> {
    let root = document.root();
    let list = if root.any("popRaw").is_some() { "popRaw" } else { "popMetrics" };
    let list = root.required(list)?;
    let records = list.array()?.iter().map(Node::object).collect::<Result<Vec<_>>>()?;
    let first = records.first().ok_or_else(|| list.error("no region", "at least one"))?;
    let m = document.count("m", first.get("numRanks"), said.m)?;
    let p = match (said.p, first.get("numCpus")) {
        (None, Some(processors)) => share(processors, m)?,
        (said, _) => document.count("p", None, said)?,
    };
    let mut terms = Terms::new(document, m, p);
    for record in &records {
        let name = record.required("name")?.plain_text()?;
        let elapsed = amount(record.required("elapsedTime")?)? / 1e9;
        if record.get("numRanks").is_some_and(|it| count(it).is_ok_and(|it| it != m)) {
            terms.note(&format!("the region {name:?} is not of all {m} ranks, and left out"));
        } else if elapsed > 0.0 {
            terms.add(None, phase(&name), "time", elapsed);
        }
    }
    terms.note("DLB 3.4 knows no OpenMP and sums of MPI alone: but for times all is in no term");
    Ok(terms)
}

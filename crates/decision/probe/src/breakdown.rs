//! Where the time of a run went: its parts, and its regions.

use std::collections::BTreeMap;

use crate::process::{Process, Region};
use crate::run::Traced;
use crate::symbols::names;

/// A part of the time of the ranks \[s\].
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is.
    pub what: &'static str,
    /// Its mean over the ranks \[s\].
    pub mean: f64,
    /// The most of any rank \[s\].
    pub most: f64,
}

/// The parts of the time of a rank; their means make that of the run.
pub fn parts(traced: &Traced) -> Vec<Part> {
    let p = traced.threads();
    let regions = |of: fn(&Region, u32) -> f64| {
        move |it: &Process| it.off_loads().iter().map(|region| of(region, p)).sum::<f64>()
    };
    // Outside regions alone: what is in them is in their time.
    let messages = |is_collective: bool, is_last: bool| {
        move |it: &Process| {
            let of = it.operations.iter().filter(|it| it.is_collective == is_collective);
            of.map(|it| {
                let last = it.of_last().min(it.outside);
                if is_last { last } else { it.outside - last }
            })
            .sum::<f64>()
        }
    };
    let p2p = |it: &Process| {
        let of = it.operations.iter().filter(|it| !it.is_collective);
        of.map(|it| it.outside).sum::<f64>()
    };
    let part = |what: &'static str, of: &dyn Fn(&Process) -> f64| {
        let times = traced.processes.iter().map(of);
        let most = times.clone().fold(0.0, f64::max);
        Part { what, mean: times.sum::<f64>() / traced.processes.len() as f64, most }
    };
    let all = [
        part("host, outside off-loads and MPI", &Process::host_time),
        part(
            "regions: work, by its mean over threads",
            &regions(|it, p| it.slowest - it.uneven(p)),
        ),
        part("regions: imbalance of threads", &regions(|it, p| it.uneven(p))),
        part("regions: fork, join and waits", &regions(|it, _| it.time - it.slowest)),
        part("devices: kernels and copies", &|it: &Process| it.device_time),
        part("collectives, of the last to arrive", &messages(true, true)),
        part("collectives, waiting for others", &messages(true, false)),
        part("point to point", &p2p),
    ];
    all.into_iter().filter(|it| it.most > 0.0).collect()
}

/// A region, over all ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionShare {
    /// Its name.
    pub name: String,
    /// How often a rank entered it, in the mean.
    pub calls: f64,
    /// Time of a rank in it, in the mean \[s\].
    pub time: f64,
    /// The share of that time that threads wait for the slowest.
    pub imbalance: f64,
    /// The share of that time that is no work of the slowest thread either.
    pub overhead: f64,
}

/// The regions, the longest first.
pub fn regions(traced: &Traced) -> Vec<RegionShare> {
    let names = names(&traced.processes);
    let (ranks, p) = (traced.processes.len() as f64, traced.threads());
    let mut sums: BTreeMap<&String, [f64; 4]> = BTreeMap::new();
    for region in traced.processes.iter().flat_map(|it| &it.regions) {
        let sum = sums.entry(names.of(region)).or_default();
        let own =
            [region.calls as f64, region.time, region.uneven(p), region.time - region.slowest];
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    let share = |(name, [calls, time, imbalance, overhead]): (&String, [f64; 4])| RegionShare {
        name: name.clone(),
        calls: calls / ranks,
        time: time / ranks,
        imbalance: imbalance / time.max(f64::MIN_POSITIVE),
        overhead: overhead / time.max(f64::MIN_POSITIVE),
    };
    let mut shares: Vec<RegionShare> = sums.into_iter().map(share).collect();
    shares.sort_by(|one, other| other.time.total_cmp(&one.time));
    shares
}

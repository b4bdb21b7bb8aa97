//! Profiles of Score-P.
//!
//! A call of `!$omp parallel` is a region. Its time on a thread is work, but for barriers and MPI; all are
//! sums over the calls of one call path, so that C_APU is one of sums, and the least that it may be.

mod anchor;

use std::collections::BTreeMap;

use super::calls::{Calls, is_mpi};
use super::{Division, Document, Format, Terms};
use crate::error::Result;
use anchor::{Anchor, Values};

/// A `.cubex` of Score-P.
pub(super) const FORMAT: Format =
    Format { name: "a .cubex of Score-P", recognises: |document| document.archive.is_some(), read };

/// Name of the file that says what the others are.
pub(super) const ANCHOR: &str = "anchor.xml";

fn read(document: &Document<'_>, said: Division) -> Result<Terms> {
    let source = document.source;
    let archive = document.archive.expect("invariant: the format is recognised by it");
    let xml = anchor::elements(source)?;
    let anchor = Anchor::new(source, archive, xml.root_element())?;
    let m = document.agreed("m", anchor.ranks.len() as u32, said.m)?;
    let threads = anchor.ranks[0].len();
    if anchor.ranks.iter().any(|rank| rank.len() != threads) {
        return Err(source.error(0, "ranks of different numbers of threads", "as many of each"));
    }
    let p = document.agreed("p", threads as u32, said.p)?;
    let times = anchor.calls_with(&anchor.values(xml.root_element(), "time", "sec")?);
    let visits = anchor.values(xml.root_element(), "visits", "occ")?;
    let mut terms = Terms::new(document, m, p);
    let first: Vec<usize> = anchor.ranks.iter().map(|rank| rank[0]).collect();
    times.of(&first).write(&mut terms);
    anchor.calls_with(&visits).of(&first).write_collectives(&mut terms);
    if anchor.has_others {
        terms.note("what is no thread, such as a stream of a device, is in no term");
    }
    let is_region = |call: usize| anchor.calls[call].0.starts_with("!$omp parallel");
    let regions = anchor.outermost(None, &is_region);
    if regions.is_empty() {
        terms.note("it shows no OpenMP: host time and work in regions are in no term");
        return Ok(terms);
    }
    if p > 1 {
        terms.note(
            "it has sums over all calls of a region: c_apu may be more, and gap as much less",
        );
    }
    let profile = Profile { anchor, times, visits, regions };
    for rank in 0..m {
        profile.write(rank, &mut terms);
    }
    Ok(terms)
}

/// A profile with regions.
struct Profile<'a> {
    anchor: Anchor<'a>,
    /// Times of the call paths on each thread.
    times: Calls,
    visits: Values,
    /// Call paths that are regions and in none.
    regions: Vec<usize>,
}

impl Profile<'_> {
    /// Adds the rows of the regions of a rank, and of what is neither region nor MPI.
    fn write(&self, rank: u32, terms: &mut Terms) {
        const TERMS: [&str; 4] = ["offloads", "t_apu", "c_apu", "gap"];
        let first = self.anchor.ranks[rank as usize][0];
        let mut phases: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
        for &region in &self.regions {
            let values = self.of_region(region, &self.anchor.ranks[rank as usize]);
            for phase in [self.name(region), ""] {
                let sums = phases.entry(phase).or_default();
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
        }
        for (phase, values) in phases {
            for (term, value) in TERMS.iter().zip(values) {
                terms.add(Some(rank), phase, term, value);
            }
        }
        let is_apart =
            |call: usize| is_mpi(self.name(call)) || self.regions.binary_search(&call).is_ok();
        let whole = self.sum(first, None, &|_| true);
        terms.add(Some(rank), "", "t_hpu", (whole - self.sum(first, None, &is_apart)).max(0.0));
    }

    /// Calls of a region; work of all its threads, what the slowest works beyond their mean, and what is
    /// left of the region's time beyond its work and MPI.
    fn of_region(&self, region: usize, threads: &[usize]) -> [f64; 4] {
        let is_mpi = |call: usize| is_mpi(self.name(call));
        let is_barrier = |name: &str| name.starts_with("!$omp") && name.contains("barrier");
        let is_no_work = |call: usize| is_mpi(call) || is_barrier(self.name(call));
        let work = threads.iter().map(|&thread| {
            let waits = self.sum(thread, Some(region), &is_no_work);
            (self.times.time(thread, region) - waits).max(0.0)
        });
        let work: Vec<f64> = work.collect();
        let total: f64 = work.iter().sum();
        let slowest = work.iter().copied().fold(0.0, f64::max);
        let first = threads[0];
        let time = self.times.time(first, region) - self.sum(first, Some(region), &is_mpi);
        let calls = self.visits.rows.get(&region).map_or(0.0, |row| row[first]);
        [calls, total, slowest - total / threads.len() as f64, (time - slowest).max(0.0)]
    }

    /// Time of a thread in the call paths beneath another that are something.
    fn sum(&self, thread: usize, top: Option<usize>, is: &dyn Fn(usize) -> bool) -> f64 {
        self.anchor.outermost(top, is).into_iter().map(|call| self.times.time(thread, call)).sum()
    }

    fn name(&self, call: usize) -> &str {
        &self.anchor.calls[call].0
    }
}

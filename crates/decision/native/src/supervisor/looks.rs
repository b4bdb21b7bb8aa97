//! What the processes of a run do while it lives: how many threads work, and on which processors
//! they may.
//!
//! A look costs some ten microseconds a thread, so there are few: soon after the start, because many runs
//! are short, and then each two seconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mmgp_base::attempt::{PlacedProcesses, Placement};
use mmgp_base::table::{self, Source};

use super::family;
use crate::clock::Stopwatch;
use crate::{binding, cpu_list, host, pin};

/// When a run is looked at, from its start.
const FIRST: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// Time between two looks after these.
const PAUSE: Duration = Duration::from_secs(2);

/// So many times as long as a look took, there is no other.
const RARITY: u32 = 20;

/// The share of the time for which a thread that works ran or waited for a processor.
const WORKING: f64 = 0.1;

/// The most kinds of processes that are told.
const MOST: usize = 64;

/// All looks at a run.
pub(super) struct Looks {
    since: Stopwatch,
    count: usize,
    next: Duration,
    /// The time for which each thread ran or waited, at the last look \[ns\].
    before: BTreeMap<i32, u64>,
    before_s: f64,
    /// The time up to the look that counts, from the one before \[s\].
    interval_s: f64,
    counts: Option<Placement>,
    has_mpi: Option<bool>,
    most_threads: u32,
}

impl Looks {
    /// None so far, at a run that starts now.
    pub fn new(since: Stopwatch) -> Self {
        Self {
            since,
            count: 0,
            next: FIRST[0],
            before: BTreeMap::new(),
            before_s: 0.0,
            interval_s: 0.0,
            counts: None,
            has_mpi: None,
            most_threads: 0,
        }
    }

    /// The time to the next one.
    pub fn due_in(&self) -> Duration {
        self.since.left_of(self.next)
    }

    /// Looks, where it is time to.
    pub fn look_if_due(&mut self) {
        if !self.due_in().is_zero() {
            return;
        }
        let watch = Stopwatch::start();
        self.look();
        self.count += 1;
        let usual = match FIRST.get(self.count) {
            Some(&next) => next,
            None => self.next + PAUSE,
        };
        let took = Duration::from_secs_f64(watch.elapsed().0);
        let now = Duration::from_secs_f64(self.since.elapsed().0);
        self.next = usual.max(now + took * RARITY);
    }

    /// The look that tells most.
    pub fn finish(self) -> Option<Placement> {
        let (has_mpi, threads) = (self.has_mpi, self.most_threads);
        self.counts.map(|it| Placement { has_mpi, threads, ..it })
    }

    fn look(&mut self) {
        let at_s = self.since.elapsed().0;
        let interval_s = at_s - self.before_s;
        let before = std::mem::take(&mut self.before);
        self.before_s = at_s;
        let mut seen: BTreeMap<PlacedProcesses, u32> = BTreeMap::new();
        let (mut threads, mut wanted_s) = (0, 0.0);
        for process in family::descendants() {
            let mut placed =
                PlacedProcesses { processors: String::new(), working: 0, threads: 0, count: 0 };
            let (mut processors, mut of_process_ns) = (Vec::new(), 0);
            for thread in threads_of(process.as_raw()) {
                let Some(wanted_ns) = wanted_ns(process.as_raw(), thread) else { continue };
                let since_ns = wanted_ns - before.get(&thread).copied().unwrap_or(0).min(wanted_ns);
                self.before.insert(thread, wanted_ns);
                of_process_ns += since_ns;
                placed.threads += 1;
                placed.working += u32::from(since_ns as f64 * 1e-9 >= WORKING * interval_s);
                processors.extend(pin::allowed_to(thread));
            }
            threads += placed.threads;
            if placed.working == 0 || is_launcher(process.as_raw()) {
                continue;
            }
            wanted_s += of_process_ns as f64 * 1e-9;
            processors.sort_unstable();
            processors.dedup();
            placed.processors = cpu_list::written(&processors);
            *seen.entry(placed).or_default() += 1;
            // While it begins, libraries are still being loaded.
            if self.count > 0 && self.has_mpi != Some(true) {
                self.has_mpi = has_mpi(process.as_raw()).or(self.has_mpi);
            }
        }
        self.most_threads = self.most_threads.max(threads);
        let processes = seen.into_iter().map(|(of, count)| PlacedProcesses { count, ..of });
        let placement = Placement {
            at_s,
            processors: u32::try_from(host::cores()).unwrap_or(u32::MAX),
            has_mpi: None,
            threads,
            at_once: Some(wanted_s / interval_s),
            processes: processes.take(MOST).collect(),
        };
        // What is seen over a longer time is more than how it begins.
        let is_longer = interval_s > 1.5 * self.interval_s;
        let works_more = self.counts.as_ref().is_none_or(|it| placement.working() >= it.working());
        if !placement.processes.is_empty() && (is_longer || works_more) {
            (self.counts, self.interval_s) = (Some(placement), interval_s);
        }
    }
}

fn threads_of(process: i32) -> Vec<i32> {
    let names = table::names_in(Path::new(&format!("/proc/{process}/task")));
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// The time for which a thread ran, or waited for a processor that it could have run on \[ns\].
fn wanted_ns(process: i32, thread: i32) -> Option<u64> {
    let file = PathBuf::from(format!("/proc/{process}/task/{thread}/schedstat"));
    let text = Source::read(&file).ok()?.text;
    let mut numbers = text.split_whitespace().map_while(|it| it.parse::<u64>().ok());
    Some(numbers.next()? + numbers.next()?)
}

/// Whether a process starts others, and works no longer than that takes.
fn is_launcher(process: i32) -> bool {
    let name = table::bytes(Path::new(&format!("/proc/{process}/comm"))).unwrap_or_default();
    binding::starts_ranks(String::from_utf8_lossy(&name).trim())
}

/// Whether a process has a library of MPI; of one without any libraries nothing is known.
fn has_mpi(process: i32) -> Option<bool> {
    let files = table::bytes(Path::new(&format!("/proc/{process}/maps"))).ok()?;
    of_maps(&String::from_utf8_lossy(&files))
}

fn of_maps(maps: &str) -> Option<bool> {
    let names = || maps.lines().filter_map(|line| line.rsplit_once('/')).map(|(_, name)| name);
    let is_of_mpi = |name: &str| name.to_ascii_lowercase().contains("mpi");
    let is_c = |name: &str| name.starts_with("libc.") || name.starts_with("libc-");
    names().any(is_c).then(|| names().any(is_of_mpi))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_mpi_is_seen_among_those_of_a_process() {
        let line = |file: &str| format!("7f1-7f2 r-xp 00000000 fe:00 1573 /usr/lib/{file}\n");
        let c = line("libc.so.6");
        assert_eq!(of_maps(&(line("app") + &c)), Some(false));
        assert_eq!(of_maps(&(c.clone() + &line("libmpi.so.40.30.4"))), Some(true));
        assert_eq!(of_maps(&(c + &line("MPI.cpython-312-x86_64-linux-gnu.so"))), Some(true));
        assert_eq!(of_maps(&line("static")), None);
    }
}

//! The processors and caches of this computer, and what else goes on here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mmgp_base::error::Warning;
use mmgp_base::table::Source;
use mmgp_base::units::Percent;

use crate::clock::Stopwatch;
use crate::host::{self, Ticks};
use crate::pin::{processors, restrict};

/// The computer on which threads are measured.
pub struct Here {
    /// Processors, one of each core before the second of any.
    pub processors: Vec<usize>,
    /// Cores that they are of.
    cores: usize,
    /// Whether threads can be kept on them.
    pub is_pinned: bool,
    /// Bytes of their last caches together; none where nobody tells.
    caches: u64,
    /// Processes that ran or waited in the minute before the start.
    load: Option<f64>,
    ticks: Option<Ticks>,
}

/// A share of stolen time that is worth a word.
const STOLEN: f64 = 0.02;
/// What more than half a process more does to times is worth a word as well.
const LOADED: f64 = 0.5;
/// Least and most bytes beyond caches: enough for a clock, and in the memory of any computer.
const BEYOND: (u64, u64) = (128 << 20, 1 << 30);

impl Here {
    /// This computer as it is now.
    pub fn new() -> Self {
        let mut processors = processors();
        // A control group may grant less time than these processors have.
        processors.truncate(host::cores().max(1));
        let can_be_pinned = std::thread::scope(|scope| {
            scope.spawn(|| restrict(&processors[..1]).is_ok()).join().unwrap_or(false)
        });
        Self {
            cores: host::physical_cores(),
            is_pinned: can_be_pinned,
            caches: last_caches(&processors),
            load: host::load(),
            ticks: Ticks::now(),
            processors,
        }
    }

    /// Processors of so many threads: beyond these that there are, several have the same.
    pub fn places(&self, threads: u32) -> Vec<usize> {
        self.processors.iter().copied().cycle().take(threads as usize).collect()
    }

    /// The one processor of all threads that take turns.
    pub fn turns(&self, threads: u32) -> Vec<usize> {
        vec![self.processors[0]; threads as usize]
    }

    /// Numbers of threads that are measured: 1, 2, 3, 4, 6, 8, 12.. up to two for each processor, and those
    /// of cores and processors.
    pub fn threads(&self) -> Vec<u32> {
        let processors = self.processors.len() as u32;
        let steps = (0..).map(|power| 1_u32 << power).take_while(|&it| it <= 2 * processors);
        let steps = steps.flat_map(|it| [it, it + it / 2]).filter(|&it| it <= 2 * processors);
        let marks = [self.cores as u32, processors, 2 * processors];
        steps.chain(marks).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Bytes of which the last caches hold a quarter, as STREAM asks for.
    pub fn beyond_caches(&self) -> u64 {
        (4 * self.caches).clamp(BEYOND.0, BEYOND.1)
    }

    /// What times depend on beside what is measured, in words.
    pub fn conditions(&self) -> Vec<String> {
        let load = self.load.map_or("not told".into(), |load| format!("{load:.2}"));
        let mut all = vec![
            format!("{}: processors {}, cores {}", host::name(), self.processors.len(), self.cores),
            format!("frequency {}", frequency(self.processors[0])),
            format!("load {load} at the start"),
            format!("a reading of the clock takes {}", Stopwatch::cost()),
        ];
        all.extend(self.stolen().map(|share| format!("stolen {}", Percent(share))));
        all
    }

    fn stolen(&self) -> Option<f64> {
        Ticks::now()?.stolen_since(self.ticks?)
    }

    /// What makes the times those of something else, too.
    pub fn doubts(&self) -> Vec<Warning> {
        let pinned = (!self.is_pinned).then(|| {
            "threads could not be kept on processors: they may have shared some while others were idle"
                .to_string()
        });
        let load = self.load.filter(|&load| load > LOADED).map(|load| {
            format!(
                "{load:.1} processes ran or waited in the minute before, on {} processors: measure on an idle \
                 computer",
                self.processors.len()
            )
        });
        let stolen = self.stolen().filter(|&share| share > STOLEN).map(|share| {
            format!(
                "other virtual machines took {} of the processors' time (steal)",
                Percent(share)
            )
        });
        [pinned, load, stolen].into_iter().flatten().map(Warning::Note).collect()
    }
}

/// The frequency of a processor and who sets it, as far as the operating system tells.
fn frequency(processor: usize) -> String {
    let read = |path: &str| Source::read(Path::new(path)).ok().map(|it| it.text);
    let scaling = |name: &str| {
        let text = read(&format!("/sys/devices/system/cpu/cpu{processor}/cpufreq/scaling_{name}"));
        text.map(|it| it.trim().to_string())
    };
    let khz = scaling("cur_freq").and_then(|it| it.parse::<f64>().ok());
    let mhz = khz.map(|it| it / 1e3).or_else(|| {
        let text = read("/proc/cpuinfo")?;
        let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
        line.split(':').nth(1)?.trim().parse().ok()
    });
    let mhz = mhz.map_or("not told".into(), |mhz| format!("{mhz:.0} MHz"));
    scaling("governor").map_or(mhz.clone(), |governor| format!("{mhz} ({governor})"))
}

/// Bytes of all last caches of these processors, each once.
fn last_caches(processors: &[usize]) -> u64 {
    let last = |processor: &usize| {
        let read = |index: u32, name: &str| {
            let folder = format!("/sys/devices/system/cpu/cpu{processor}/cache/index{index}");
            Source::read(&Path::new(&folder).join(name)).ok().map(|it| it.text.trim().to_string())
        };
        let last = (0..8).take_while(|&index| read(index, "size").is_some()).last()?;
        let kilobytes: u64 = read(last, "size")?.strip_suffix('K')?.parse().ok()?;
        Some((read(last, "shared_cpu_list")?, kilobytes << 10))
    };
    processors.iter().filter_map(last).collect::<BTreeMap<String, u64>>().values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(processors: usize, cores: usize, expected: &[u32]) {
        let here = Here { processors: (0..processors).collect(), cores, ..Here::new() };
        assert_eq!(here.threads(), expected);
        let most = here.places(2 * processors as u32);
        assert!((0..processors).all(|it| most.iter().filter(|&&place| place == it).count() == 2));
    }

    #[test]
    fn threads_go_to_cores_then_to_siblings_then_beyond() {
        check(1, 1, &[1, 2]);
        check(2, 2, &[1, 2, 3, 4]);
        check(10, 5, &[1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]);
    }
}

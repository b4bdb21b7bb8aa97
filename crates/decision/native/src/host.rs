//! What this computer is and has.

#[cfg(unix)]
use std::collections::BTreeSet;
use std::path::Path;

use mmgp_base::table::{self, Source};

#[cfg(unix)]
pub use crate::pin::processors;
#[cfg(unix)]
use crate::{cpu_list, pin};

/// The name.
#[cfg(unix)]
pub fn name() -> String {
    nix::unistd::gethostname().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Processes that ran or waited for a processor, the mean of the last minute; `None` where the
/// operating system does not tell.
pub fn load() -> Option<f64> {
    let text = Source::read(Path::new("/proc/loadavg")).ok()?.text;
    text.split_whitespace().next()?.parse().ok()
}

/// Time of all processors of this computer since it started, in ticks (`proc(5)`, `/proc/stat`).
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    all: u64,
    /// What other virtual machines had.
    stolen: u64,
}

#[cfg(unix)]
impl Ticks {
    /// Those up to now; `None` where the operating system does not tell.
    pub fn now() -> Option<Self> {
        Self::read(&Source::read(Path::new("/proc/stat")).ok()?.text)
    }

    /// Those in the first line: user, nice, system, idle, iowait, irq, softirq, steal; guests are users.
    fn read(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let numbers = line.split_whitespace().map_while(|it| it.parse::<u64>().ok());
        let ticks: Vec<u64> = numbers.take(8).collect();
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    /// The share that was stolen since then; `None` where no tick went by.
    pub fn stolen_since(self, before: Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&all| all > 0)?;
        Some(self.stolen.checked_sub(before.stolen)? as f64 / all as f64)
    }
}

/// Processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Cores of these processors, however many hardware threads each has, and no more than [`cores`].
#[cfg(unix)]
pub fn physical_cores() -> usize {
    let all: BTreeSet<(i64, i64)> = processors().into_iter().map(pin::place).collect();
    all.len().clamp(1, cores())
}

/// Packages, each in a socket, in which this process may use a processor.
#[cfg(unix)]
pub fn sockets() -> usize {
    let all: BTreeSet<i64> = processors().into_iter().map(|it| pin::place(it).0).collect();
    all.len().max(1)
}

/// Domains of memory (NUMA) that have a processor which this process may use; one where the operating
/// system does not tell.
#[cfg(unix)]
pub fn numa_domains() -> usize {
    let folder = Path::new("/sys/devices/system/node");
    let allowed = processors();
    let has_one = |name: &String| {
        let text = Source::read(&folder.join(name).join("cpulist")).ok();
        text.is_some_and(|it| cpu_list::read(&it.text).iter().any(|it| allowed.contains(it)))
    };
    let is_domain = |name: &&String| name.starts_with("node");
    table::names_in(folder).iter().filter(is_domain).filter(|name| has_one(name)).count().max(1)
}

/// Cores, where nobody tells which processors are of one.
#[cfg(not(unix))]
pub fn physical_cores() -> usize {
    cores()
}

/// Sockets, of which one is known.
#[cfg(not(unix))]
pub fn sockets() -> usize {
    1
}

/// Domains of memory, of which one is known.
#[cfg(not(unix))]
pub fn numa_domains() -> usize {
    1
}

/// GPUs that this process may use: those that the environment names (`CUDA_VISIBLE_DEVICES`,
/// `ROCR_VISIBLE_DEVICES`), or else those whose device files are there.
pub fn gpus() -> usize {
    let named = ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"];
    if let Some(list) = named.into_iter().find_map(|name| std::env::var(name).ok()) {
        let is_one = |it: &&str| !it.trim().is_empty() && it.trim() != "-1" && *it != "NoDevFiles";
        return list.split(',').filter(is_one).count();
    }
    let count = |folder: &str, beginning: &str| {
        let is_one = |name: &String| {
            let number = name.strip_prefix(beginning).unwrap_or("");
            !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
        };
        table::names_in(Path::new(folder)).iter().filter(|name| is_one(name)).count()
    };
    match count("/dev", "nvidia") {
        // AMD's and Intel's, with what draws the screen among them.
        0 => count("/dev/dri", "renderD"),
        found => found,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_was_stolen_is_a_share_of_the_time_of_all_processors() {
        // 100 ticks of two processors, of which 5 were stolen; guests are among users.
        let before = Ticks::read("cpu  700 10 80 200 5 0 5 40 300 0\ncpu0 1 1\n").expect("ticks");
        let after = Ticks::read("cpu  770 10 90 210 8 0 7 45 370 0\ncpu0 2 2\n").expect("ticks");
        assert_eq!(after.stolen_since(before), Some(0.05));
        assert_eq!((before.stolen_since(before), before.stolen_since(after)), (None, None));
        // Kernels before 2.6.11 know no steal.
        assert_eq!(Ticks::read("cpu  700 10 80 200 5 0 5\n"), None);
    }
}

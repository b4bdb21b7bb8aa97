//! Which processors a command may use.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mmgp_base::Mapping;
use mmgp_base::table::Source;

use affinity::allowed;
pub(crate) use affinity::allowed_to;
pub(crate) use affinity::restrict;

/// Who says on which processors a run's threads are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pin {
    /// The program, its launcher, or the operating system.
    #[default]
    Launcher,
    /// The run gets `m * p` processors, on as many cores as there are, cores next to each other: p for
    /// each process, in its order.
    Cores,
}

impl Pin {
    /// Whether this operating system lets processors be chosen.
    pub const CORES_ARE_POSSIBLE: bool = cfg!(target_os = "linux");

    /// The processors of each process; none where somebody else says so, or there are too few.
    pub(crate) fn processors(self, mapping: Mapping) -> Vec<Vec<usize>> {
        let available = processors();
        let wanted = usize::try_from(mapping.apus()).unwrap_or(usize::MAX);
        if self == Self::Launcher || available.len() < wanted {
            return Vec::new();
        }
        let of_processes = available[..wanted].chunks(mapping.p() as usize);
        of_processes.map(<[usize]>::to_vec).collect()
    }
}

/// The processors that this process may use: one of each core before the second of any, cores in the
/// order of their package.
pub fn processors() -> Vec<usize> {
    in_order(allowed().into_iter().map(|processor| (place(processor), processor)))
}

/// The package of a processor and its core in that.
pub(crate) fn place(processor: usize) -> (i64, i64) {
    let number = |name: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/{name}");
        let text = Source::read(&PathBuf::from(path)).ok();
        text.and_then(|it| it.text.trim().parse::<i64>().ok())
    };
    // Without a topology every processor is a core.
    (number("physical_package_id").unwrap_or(0), number("core_id").unwrap_or(processor as i64))
}

/// Processors with the package and core that each is of.
fn in_order(all: impl Iterator<Item = ((i64, i64), usize)>) -> Vec<usize> {
    let mut seen: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    let mut ordered: Vec<(usize, (i64, i64), usize)> = Vec::new();
    for (core, processor) in all {
        let sibling = seen.entry(core).or_default();
        ordered.push((*sibling, core, processor));
        *sibling += 1;
    }
    ordered.sort_unstable();
    ordered.into_iter().map(|(_, _, processor)| processor).collect()
}

#[cfg(target_os = "linux")]
mod affinity {
    use std::io;
    use std::sync::OnceLock;

    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    /// The processors that this process may use.
    pub fn allowed() -> Vec<usize> {
        allowed_to(0)
    }

    /// The processors that a thread may use; none where it has ended.
    pub fn allowed_to(thread: i32) -> Vec<usize> {
        let Ok(set) = sched_getaffinity(Pid::from_raw(thread)) else { return Vec::new() };
        (0..CpuSet::count()).filter(|&it| set.is_set(it).unwrap_or(false)).collect()
    }

    /// Lets this thread, and what it starts, use these processors alone; all that there are for none.
    pub fn restrict(wanted: &[usize]) -> io::Result<()> {
        static AT_FIRST: OnceLock<CpuSet> = OnceLock::new();
        let this = Pid::from_raw(0);
        if wanted.is_empty() && AT_FIRST.get().is_none() {
            return Ok(());
        }
        let first = sched_getaffinity(this)?;
        let first = *AT_FIRST.get_or_init(|| first);
        let mut set = CpuSet::new();
        for &processor in wanted {
            set.set(processor)?;
        }
        Ok(sched_setaffinity(this, if wanted.is_empty() { &first } else { &set })?)
    }
}

/// Systems where nobody can choose.
#[cfg(not(target_os = "linux"))]
mod affinity {
    use std::io;

    pub fn allowed() -> Vec<usize> {
        (0..crate::host::cores()).collect()
    }

    pub fn allowed_to(_: i32) -> Vec<usize> {
        Vec::new()
    }

    pub fn restrict(wanted: &[usize]) -> io::Result<()> {
        if wanted.is_empty() { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_one_thread_before_any_has_two() {
        // Two packages of two cores of two threads, numbered as Linux does on Intel's.
        let core = |processor: usize| ((processor as i64 % 4) / 2, processor as i64 % 2);
        let order = in_order((0..8).map(|it| (core(it), it)));
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
        // Siblings side by side.
        let order = in_order((0..4).map(|it| ((0, it as i64 / 2), it)));
        assert_eq!(order, [0, 2, 1, 3]);
    }

    #[test]
    fn each_process_gets_its_own() {
        let all = processors();
        let one = Pin::Cores.processors(Mapping::of(1, 1));
        assert_eq!(one, [vec![all[0]]]);
        assert_eq!(Pin::Cores.processors(Mapping::of(u32::MAX, 2)), Vec::<Vec<usize>>::new());
        assert_eq!(Pin::Launcher.processors(Mapping::of(1, 1)), Vec::<Vec<usize>>::new());
    }
}

//! What a process of the sample says of its own time, for `mmgp probe`: its threads are no runtime's of OpenMP, and its
//! exchange is no MPI's.

use std::path::Path;

use mmgp_base::table;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};

use crate::clock::Stopwatch;
use crate::host;

/// The folder where it is to be said, where somebody asks.
const FOLDER: &str = "MMGP_PROBE_DIR";

/// Sums over the sweeps of a process, in seconds.
pub(super) struct Ledger {
    of: (usize, usize),
    since: Stopwatch,
    sweeps: u32,
    exchange: f64,
    time: f64,
    work: f64,
    slowest: f64,
    threads: usize,
}

impl Ledger {
    /// That of one of so many processes.
    pub fn new(number: usize, processes: usize) -> Self {
        Self {
            of: (number, processes),
            since: Stopwatch::start(),
            sweeps: 0,
            exchange: 0.0,
            time: 0.0,
            work: 0.0,
            slowest: 0.0,
            threads: 1,
        }
    }

    /// Adds an exchange that began then.
    pub fn exchanged(&mut self, began: Stopwatch) {
        self.exchange += began.elapsed().0;
    }

    /// Adds a sweep that began then, with the work of its threads \[s\].
    pub fn swept(&mut self, began: Stopwatch, work: &[f64]) {
        let (sum, slowest) = (work.iter().sum::<f64>(), work.iter().copied().fold(0.0, f64::max));
        self.sweeps += 1;
        self.time += began.elapsed().0;
        self.work += sum;
        self.slowest += slowest;
        self.threads = work.len();
    }

    /// Says all of it, where somebody asks: as the library of a probe does.
    pub fn write(&self) {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        let (number, processes) = self.of;
        let ns = |seconds: f64| (seconds * 1e9).round();
        let (cpu, switches) = used();
        let text = format!(
            "probe\t1\nprogram\tsample\nend\texit\nrank\t{number}\t{processes}\tthe sample of mmgp\ntime\t{}\t{}\t{switches}\n\
             host\t\t{}\nthreads\t{threads}\t0\t0\t\nregion\tsample\t0\tsweep\t{sweeps}\t{threads}\t{}\t{}\t{}\t0\n\
             mpi\texchange\t0\t{sweeps}\t0\t{exchange}\t{exchange}\t-1\nwhole\n",
            ns(self.since.elapsed().0),
            ns(cpu),
            host::cores(),
            ns(self.time),
            ns(self.work),
            ns(self.slowest),
            threads = self.threads,
            sweeps = self.sweeps,
            exchange = ns(self.exchange),
        );
        // A program does not fail because nobody can hear it.
        let _ = table::write(&Path::new(&folder).join(format!("sample.{number}")), text);
    }
}

/// CPU time of this process so far \[s\], and context switches that were not its own wish.
fn used() -> (f64, u64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (0.0, 0) };
    let seconds = |time: TimeVal| time.num_microseconds() as f64 * 1e-6;
    let switches = usage.involuntary_context_switches();
    (seconds(usage.user_time()) + seconds(usage.system_time()), switches as u64)
}

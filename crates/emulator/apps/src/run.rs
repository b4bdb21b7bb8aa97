//! What one run of a program on the emulated machine took, and where the time went.

use std::cell::RefCell;
use std::rc::Rc;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::Split;
use mmgp_base::units::{Seconds, SimSpan};
use mmgp_cell::Blade;
use mmgp_cell::counts::Counts;
use mmgp_cell::record::{FunctionTotals, Readings};
use mmgp_runtime::Runtime;

/// Refuses a value unless the condition holds, as `assert` would.
///
/// # Errors
/// [`Error::OutOfRange`] with what was found and what was expected.
pub(crate) fn require(
    condition: bool,
    name: &'static str,
    found: impl ToString,
    expected: impl Into<String>,
) -> Result<()> {
    if condition {
        return Ok(());
    }
    Err(Error::out_of_range(name, found.to_string(), expected))
}

/// What the life of a process comes to that is alone on a machine: all goes on until it has ended.
///
/// # Errors
/// What an SPE's program runs into.
pub(crate) fn alone<T: 'static>(
    blade: &Blade,
    life: impl Future<Output = T> + 'static,
) -> Result<T> {
    let outcome = Rc::new(RefCell::new(None));
    let found = Rc::clone(&outcome);
    blade.sim.spawn("rank 0", async move { *found.borrow_mut() = Some(life.await) });
    blade.run()?;
    Ok(outcome.take().expect("invariant: the process has come to its end"))
}

/// Totals of one off-loaded function over all processes, as the timebase showed them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Function {
    /// The name of the function.
    pub name: &'static str,
    /// Off-loads.
    pub calls: u64,
    /// Host time between the end of the previous off-load and the decision for this one.
    pub host: Seconds,
    /// Host time spent starting and collecting APUs.
    pub gap: Seconds,
    /// Time from the decision for an off-load until the host has collected it.
    pub offload: Seconds,
    /// APU time in loops that several APUs can share.
    pub apu_parallel: Seconds,
    /// Other APU time.
    pub apu_serial: Seconds,
}

impl Function {
    /// The functions with these names, by number, as a clock shows them.
    fn all(names: impl IntoIterator<Item = &'static str>, readings: &Readings) -> Vec<Self> {
        let seconds = |ticks| readings.ticks(ticks);
        let named = names.into_iter().zip(readings.functions());
        let function = |(name, totals): (_, FunctionTotals)| Self {
            name,
            calls: totals.calls,
            host: seconds(totals.host),
            gap: seconds(totals.gap),
            offload: seconds(totals.offload),
            apu_parallel: seconds(totals.parallel),
            apu_serial: seconds(totals.serial),
        };
        named.map(function).collect()
    }

    /// All its APU time.
    pub fn apu(&self) -> Seconds {
        self.apu_parallel + self.apu_serial
    }
}

/// Totals of a function that ran on the host instead, over all processes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HostFunction {
    /// The name of the function.
    pub name: &'static str,
    /// Calls.
    pub calls: u64,
    /// Time from call to return.
    pub time: Seconds,
}

/// Calls and time of three functions that run on the host, over all processes.
#[derive(Debug, Default)]
pub(crate) struct HostTotals([(u64, f64); 3]);

impl HostTotals {
    /// Adds the totals of a further process.
    pub fn add(&mut self, process: [(u64, SimSpan); 3]) {
        for ((count, sum), (calls, time)) in self.0.iter_mut().zip(process) {
            *count += calls;
            *sum += time.seconds().0;
        }
    }

    /// The totals as part of a run.
    pub fn functions(&self, names: &[&'static str; 3]) -> Vec<HostFunction> {
        let named = names.iter().zip(self.0);
        named
            .map(|(&name, (calls, time))| HostFunction { name, calls, time: Seconds(time) })
            .collect()
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Host processes, and APUs of each.
    pub mapping: Mapping,
    /// SPEs that its tasks could be given: those of the mapping, or all, as the scheduler has it.
    pub apus: u64,
    /// Time from the moment the programs of the SPEs are loaded to the end.
    pub time: Seconds,
    /// Time that all host processes together spent executing.
    pub hpu_busy: Seconds,
    /// Changes from one process to another on a hardware thread.
    pub context_switches: u64,
    /// DMA commands of all SPEs.
    pub dma_commands: u64,
    /// The off-loaded functions.
    pub functions: Vec<Function>,
    /// Functions that could have been off-loaded, but ran on the host.
    pub host_functions: Vec<HostFunction>,
    /// What ran, where the machine counts.
    pub counts: Option<Counts>,
}

impl Run {
    /// One of which nothing but its time is known.
    pub fn lasting(mapping: Mapping, time: Seconds) -> Self {
        Self {
            mapping,
            apus: mapping.apus(),
            time,
            hpu_busy: Seconds(0.0),
            context_switches: 0,
            dma_commands: 0,
            functions: Vec::new(),
            host_functions: Vec::new(),
            counts: None,
        }
    }

    /// What the machine recorded of a program with these off-loaded functions, which has ended.
    pub fn collect(on: &Runtime, mapping: Mapping, names: &[&'static str]) -> Self {
        let blade = on.blade();
        let recorder = &blade.recorder;
        Self {
            mapping,
            apus: on.spes_of(mapping),
            time: blade.sim.now().since(blade.started()).seconds(),
            hpu_busy: recorder.host_busy_time(),
            context_switches: blade.context_switches(),
            dma_commands: blade.dma_commands(),
            functions: Function::all(names.iter().copied(), recorder.own()),
            host_functions: Vec::new(),
            counts: blade.counts(),
        }
    }

    /// The same run with its off-loaded functions as another clock shows them.
    pub fn as_shown_by(&self, clock: &Readings) -> Self {
        let names = self.functions.iter().map(|function| function.name);
        Self { functions: Function::all(names, clock), ..self.clone() }
    }

    /// Off-loads of all functions and processes.
    pub fn offloads(&self) -> u64 {
        self.functions.iter().map(|function| function.calls).sum()
    }

    /// APU time of all functions, summed over the APUs.
    pub fn apu_busy(&self) -> Seconds {
        self.functions.iter().map(Function::apu).sum()
    }

    /// Mean time of an off-load, from the decision until it is collected; zero without off-loads.
    pub fn mean_offload(&self) -> Seconds {
        self.per_offload(self.functions.iter().map(|function| function.offload).sum())
    }

    /// Mean host time between off-loads of a process.
    pub fn mean_host_gap(&self) -> Seconds {
        self.per_offload(self.functions.iter().map(|function| function.host).sum())
    }

    /// Time of all its APUs together, busy or not.
    pub fn apu_whole(&self) -> Seconds {
        self.time * self.apus as f64
    }

    /// Mean time in which an APU was not busy, for each off-load; zero without off-loads.
    pub fn mean_apu_idle(&self) -> Seconds {
        self.per_offload(Seconds(self.apu_whole().0 - self.apu_busy().0))
    }

    /// The parts of the time, as a mean over the host processes.
    pub fn split(&self) -> Split {
        let (m, p) = (self.mapping.m(), self.mapping.p());
        let (processes, apus) = (f64::from(m), self.apus as f64);
        let total = |of: fn(&Function) -> Seconds| -> f64 {
            self.functions.iter().map(of).sum::<Seconds>().0
        };
        let (host_s, start_s) = (total(|it| it.host) / processes, total(|it| it.gap) / processes);
        let offload_s = total(|it| it.offload) / processes;
        let apu_shared_s = total(|it| it.apu_parallel) / apus;
        let apu_serial_s = total(|it| it.apu_serial) / apus;
        let rest = |whole: f64, parts: &[f64]| (whole - parts.iter().sum::<f64>()).max(0.0);
        Split {
            m,
            p,
            time_s: self.time.0,
            host_s,
            start_s,
            apu_shared_s,
            apu_serial_s,
            wait_s: rest(offload_s, &[start_s, apu_shared_s, apu_serial_s]),
            idle_s: rest(self.time.0, &[host_s, offload_s]),
        }
    }

    fn per_offload(&self, total: Seconds) -> Seconds {
        total / self.offloads().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_run_add_up_to_its_time() {
        let function = Function {
            name: "likelihood",
            calls: 8,
            host: Seconds(2.0),
            gap: Seconds(1.0),
            offload: Seconds(14.0),
            apu_parallel: Seconds(36.0),
            apu_serial: Seconds(3.0),
        };
        let functions = vec![function];
        let run = Run { functions, ..Run::lasting(Mapping::of(2, 3), Seconds(9.0)) };
        // Each of two processes: 1 s of host code, 7 s of off-loads of which half a second starts
        // APUs, 6 and 0.5 s that its three APUs work, and so nothing else; 1 s after its last.
        let expected = Split {
            m: 2,
            p: 3,
            time_s: 9.0,
            host_s: 1.0,
            start_s: 0.5,
            apu_shared_s: 6.0,
            apu_serial_s: 0.5,
            wait_s: 0.0,
            idle_s: 1.0,
        };
        assert_eq!(run.split(), expected);
        let longer = Run { time: Seconds(10.0), ..run };
        assert_eq!(longer.split(), Split { time_s: 10.0, idle_s: 2.0, ..expected });
    }
}

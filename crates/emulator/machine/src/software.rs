//! What runs on the host beside the program, as data: the operating system and the libraries for messages.

use std::collections::BTreeMap;

use mmgp_base::units::{Bytes, BytesPerSecond, Cycles, Hertz, Seconds};
use serde::{Deserialize, Deserializer};

use super::hardware::{Cache, Ppe};

/// The operating system.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Linux {
    /// Switch between processes by the user-level scheduler.
    pub context_switch: Seconds,
    /// How many times as long a switch to a process of the caller's choice takes, by `_yield_to`.
    pub yield_to: f64,
    /// Which scheduler the kernel has.
    #[serde(rename = "kernel")]
    pub scheduler: LinuxScheduler,
    /// Hardware thread that handles interrupts of SPEs.
    pub interrupts: Interrupts,
    /// Time slice of the O(1) scheduler.
    pub time_slice: Seconds,
    /// CFS: in this time, for one processor, every runnable process runs once...
    pub latency: Seconds,
    /// ...but none for less than this.
    pub minimum_granularity: Seconds,
    /// CFS: how far behind a woken process must be to preempt.
    pub wakeup_granularity: Seconds,
    /// Creation of an SPE context and of the thread that runs it.
    pub spe_context: Seconds,
    /// What its services take, by what their ways are made of.
    #[serde(skip)]
    pub services: Services,
}

/// What services of the kernel take.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Services {
    /// Switch between processes by `sched_yield`.
    pub yield_: Seconds,
    /// A `sched_yield` that finds nobody.
    pub yield_alone: Seconds,
    /// An operation on a semaphore that need not wait.
    pub semaphore: Seconds,
    /// From an SPE's interrupt until the process it wakes is in the run queue.
    pub interrupt: Seconds,
    /// A read of a mailbox's file, without the sleep and the switches.
    pub mailbox_read: Seconds,
    /// Return from the call that runs an SPE, and entry into it again.
    pub spe_run: Seconds,
}

/// Ways through the kernel, and what their steps take. Nobody published what a service takes on a PPE but
/// `sched_yield`: what each executes is counted in the sources, and has a price in common.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Kernel {
    /// An entry and its exit: both changes of privilege, and the pipeline filled again after each.
    pub crossing: Cycles,
    /// Cycles of an instruction, with the misses of its code.
    pub instruction: f64,
    /// Taking a lock that is free and releasing it, or changing a word atomically.
    pub lock: Cycles,
    /// `sched_yield` that switches to another process.
    #[serde(rename = "yield")]
    pub yield_: KernelPath,
    /// `sched_yield` that finds nobody.
    pub yield_alone: KernelPath,
    /// `semop` of one operation that need not wait.
    pub semop: KernelPath,
    /// An SPE's interrupt, up to the process that it wakes being in the run queue.
    pub interrupt: KernelPath,
    /// A read of a mailbox's file, without the sleep and the switches.
    pub mailbox_read: KernelPath,
    /// Return from `spu_run` after a stop, and entry into it again.
    pub spu_run: KernelPath,
}

/// What a way through the kernel is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "[u32; 6]")]
pub struct KernelPath {
    /// Entries, each with its exit.
    pub crossings: u32,
    /// Instructions.
    pub instructions: u32,
    /// Locks taken and released, and words changed atomically.
    pub locks: u32,
    /// Barriers by themselves.
    pub barriers: u32,
    /// Lines of data that the second-level cache has and the first has not.
    pub lines: u32,
    /// Loads and stores of problem state and of the interrupt controller, across the bus.
    pub mmio: u32,
}

impl From<[u32; 6]> for KernelPath {
    fn from([crossings, instructions, locks, barriers, lines, mmio]: [u32; 6]) -> Self {
        Self { crossings, instructions, locks, barriers, lines, mmio }
    }
}

impl Kernel {
    /// What its services take with such a cache, at such a clock.
    pub(crate) fn services(&self, (ppe, cache): (&Ppe, &Cache), clock: Hertz) -> Services {
        let time = |path: KernelPath| {
            let counted = [
                (path.crossings, self.crossing),
                (path.locks, self.lock),
                (path.barriers, ppe.barrier),
                (path.lines, cache.l2_hit),
            ];
            let cycles: u64 = counted.iter().map(|&(count, each)| u64::from(count) * each.0).sum();
            let cycles = cycles as f64 + f64::from(path.instructions) * self.instruction;
            Seconds(cycles / clock.0) + ppe.mmio_load * f64::from(path.mmio)
        };
        Services {
            yield_: time(self.yield_),
            yield_alone: time(self.yield_alone),
            semaphore: time(self.semop),
            interrupt: time(self.interrupt),
            mailbox_read: time(self.mailbox_read),
            spe_run: time(self.spu_run),
        }
    }
}

/// The schedulers that Linux 2.6 has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "u64")]
pub enum LinuxScheduler {
    /// The O(1) scheduler, with an active and an expired array; before 2.6.23.
    ConstantTime,
    /// The completely fair scheduler (CFS), with a queue in the order of virtual run time.
    Fair,
}

/// The hardware thread that handles interrupts of SPEs, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "u64")]
pub enum Interrupts {
    /// The first hardware thread of the machine, all of them.
    First,
    /// The hardware thread of the process that waits for it.
    Own,
}

impl From<u64> for Interrupts {
    fn from(all: u64) -> Self {
        if all == 0 { Self::First } else { Self::Own }
    }
}

impl From<u64> for LinuxScheduler {
    /// The scheduler of that release of Linux 2.6.
    fn from(release: u64) -> Self {
        if release < 23 { Self::ConstantTime } else { Self::Fair }
    }
}

/// Messages of MPI among host processes, through memory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Mpi {
    /// Instructions that the library executes to send a message.
    pub send: u64,
    /// Instructions that it executes to receive one.
    pub receive: u64,
    /// Instructions for a request object, of which a message has one whose send or receive does not block.
    pub request: u64,
    /// Packets of shared memory, those of all ranks together.
    pub packets: u32,
    /// Turns of the loop with which a rank that waits puts off its next look, at most.
    pub backoff: u64,
    /// What a collective takes.
    #[serde(skip)]
    pub collectives: Collectives,
    /// The longest message that is sent before its receiver asks for it.
    pub eager: Bytes,
    /// Rate at which data are copied within a Cell.
    pub copy: BytesPerSecond,
    /// Latency of word of a message from one Cell to another.
    pub remote_latency: Seconds,
    /// Rate at which data are copied from one Cell to another.
    pub remote_copy: BytesPerSecond,
    /// Software cost of a collective by number of ranks, increasing from 2.
    #[serde(deserialize_with = "times")]
    pub collective: Vec<(u32, Seconds)>,
}

fn times<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<(u32, Seconds)>, D::Error> {
    let times = BTreeMap::<u32, f64>::deserialize(table)?;
    Ok(times.into_iter().map(|(ranks, time)| (ranks, Seconds(time))).collect())
}

/// What a collective operation of all ranks takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Collectives {
    /// The messages of which it consists, those of all ranks for all by recursive doubling, as in MPICH 1.2.7.
    #[default]
    Messages,
    /// The same, those of all ranks for all to one rank and back.
    ReduceAndBroadcast,
    /// What was measured for that number of ranks: an input, which comes out again.
    Table,
}

impl Mpi {
    /// The software cost of a collective among so many ranks; none for one, and the last known
    /// beyond the table.
    pub fn collective_cost(&self, ranks: u32) -> Seconds {
        if ranks < 2 {
            return Seconds(0.0);
        }
        let known = self.collective.partition_point(|&(known, _)| known < ranks);
        let entry = self.collective.get(known).or(self.collective.last());
        entry.map_or(Seconds(0.0), |&(_, cost)| cost)
    }

    /// Time to copy data within a Cell.
    pub fn copy_time(&self, bytes: Bytes) -> Seconds {
        Seconds(bytes.0 as f64 / self.copy.0)
    }
}

/// What the library on an SPE executes for messages within one address space, beside the commands to its
/// MFC and the loops that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Messages {
    /// A send, up to its first look for the receiver's descriptor.
    pub send: Cycles,
    /// A receive, up to its descriptor.
    pub receive: Cycles,
    /// Time from the descriptor that was waited for to the first put.
    pub matched: Cycles,
    /// Preparing a put, without what the MFC's channel takes.
    pub put: Cycles,
    /// Time from the completion of a receive to its return.
    pub complete: Cycles,
    /// Combining a word with another one in a reduction.
    pub combine: Cycles,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    /// What functions of a path are counted to execute, with the way into the kernel and out of it where it is a
    /// call: entries, instructions, locks, barriers, lines, accesses across the bus.
    fn counted(kernel: &str, path: &str, is_call: bool) -> KernelPath {
        let of = |path: &str| {
            let text = include_str!("../models/kernel/paths.csv");
            let rows = text.lines().skip(1).map(|line| {
                // A file name with a comma stands in quotation marks.
                let (front, counts) = line.split_at(line.rmatch_indices(',').nth(4).unwrap().0);
                let counts: Vec<u32> =
                    counts[1..].split(',').map(|count| count.parse().unwrap()).collect();
                let mut words = front.split(',');
                (words.next().unwrap(), words.next().unwrap(), counts)
            });
            let own = rows.filter(|(of, name, _)| (*of, *name) == (kernel, path));
            own.fold([0; 5], |sums, (_, _, counts)| {
                std::array::from_fn(|place| sums[place] + counts[place])
            })
        };
        let [instructions, locks, barriers, lines, mmio] = of(path);
        assert!(instructions > 0, "{path}");
        let call = if is_call { of("syscall")[0] } else { 0 };
        KernelPath { crossings: 1, instructions: instructions + call, locks, barriers, lines, mmio }
    }

    #[test]
    fn ways_through_the_kernel_are_the_sums_of_what_was_counted() {
        for (machine, release) in [("qs20", "2.6.17"), ("ps3", "2.6.23")] {
            let Kernel { yield_, yield_alone, semop, interrupt, mailbox_read, spu_run, .. } =
                Machine::named(machine).unwrap().kernel;
            let ways = [
                ("yield", yield_),
                ("yield_alone", yield_alone),
                ("semop", semop),
                ("mailbox_read", mailbox_read),
                ("spu_run", spu_run),
                ("interrupt", interrupt),
            ];
            for (name, way) in ways {
                let counted = counted(release, name, name != "interrupt");
                // Calls of a hypervisor are entries, too.
                let counted = KernelPath { crossings: way.crossings, ..counted };
                assert_eq!(way, counted, "{name} of {machine}");
            }
        }
    }
}

//! What runs on the host beside the program, as data: the operating system and the libraries for messages.

use std::collections::BTreeMap;

use mmgp_base::units::{Bytes, BytesPerSecond, Cycles, Seconds};
use serde::{Deserialize, Deserializer};

/// The operating system.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Linux {
    /// Switch between processes by the user-level scheduler.
    pub context_switch: Seconds,
    /// Switch between processes by `sched_yield`, the system call included.
    #[serde(rename = "yield")]
    pub yield_: Seconds,
    /// How many times as long a switch to a process of the caller's choice takes, by `_yield_to`.
    pub yield_to: f64,
    /// Which scheduler the kernel has.
    #[serde(rename = "kernel")]
    pub scheduler: LinuxScheduler,
    /// A system call that switches to nobody.
    pub system_call: Seconds,
    /// An operation on a semaphore that need not wait, the system call included.
    pub semaphore: Seconds,
    /// Time from an SPE's interrupt until the process it wakes is in the run queue.
    pub interrupt: Seconds,
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
    /// The messages of which it consists.
    #[default]
    Messages,
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

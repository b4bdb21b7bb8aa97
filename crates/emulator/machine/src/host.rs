//! The host's caches and its operating system, as data.

use mmgp_base::units::{Bytes, Cycles, Seconds};

/// The caches of a PPE, which its hardware threads share, and its address translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// Lines of the first-level data cache that compete for one place.
    pub l1_data_ways: u32,
    /// Lines of the first-level instruction cache that compete for one place.
    pub l1_instruction_ways: u32,
    /// Second-level cache, for code and data.
    pub l2: Bytes,
    /// Lines of the second-level cache that compete for one place.
    pub l2_ways: u32,
    /// Load to use where the second level has the line.
    pub l2_hit: Cycles,
    /// Load to use where no cache has the line.
    pub memory: Cycles,
    /// Loads that missed the first level and can be under way.
    pub misses: u32,
    /// Page of virtual memory.
    pub page: Bytes,
    /// Per page that is not in the first-level translation buffer (ERAT), such as after another address
    /// space was in use.
    pub translation: Cycles,
    /// Pages that the first-level translation buffer for data holds.
    pub erat: u32,
    /// Pages of it that compete for one place.
    pub erat_ways: u32,
    /// Pages that the translation lookaside buffer (TLB) behind it holds.
    pub tlb: u32,
    /// Pages of it that compete for one place.
    pub tlb_ways: u32,
}

/// How the host core issues instructions, beyond the latencies of [`Ppe`](super::Ppe).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PpeIssue {
    /// Instructions that issue in a cycle at most, each to another unit.
    pub width: u32,
    /// Load of a double to its use in arithmetic.
    pub float_load: Cycles,
    /// Load of a word to its use in integer arithmetic.
    pub word_load: Cycles,
    /// Load of a vector to its use.
    pub vector_load: Cycles,
    /// Addition of vectors of floats to the use of the sum in another one.
    pub vector_float: Cycles,
    /// Integer operation to a load from the address that it computed.
    pub address: Cycles,
    /// From a branch that went the unexpected way to the instruction after it.
    pub misprediction: Cycles,
    /// A store to a load of the same bytes, as between the registers for doubles and for integers.
    pub forward: Cycles,
    /// How much slower two busy hardware threads are than one.
    pub threads: ThreadSharing,
}

/// Where it comes from how much slower two busy hardware threads are than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadSharing {
    /// It is put in: [`Ppe::smt_slowdown`](super::Ppe::smt_slowdown).
    Given,
    /// From the issue of both threads' instructions.
    Issued,
}

/// The operating system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linux {
    /// Switch between processes by the user-level scheduler.
    pub context_switch: Seconds,
    /// Switch between processes by `sched_yield`, the system call included.
    pub yield_: Seconds,
    /// How many times as long a switch to a process of the caller's choice takes, by `_yield_to`.
    pub yield_to: f64,
    /// Which scheduler the kernel has.
    pub scheduler: LinuxScheduler,
    /// A system call that switches to nobody.
    pub system_call: Seconds,
    /// An operation on a semaphore that need not wait, the system call included.
    pub semaphore: Seconds,
    /// From an SPE's interrupt until the process it wakes is in the run queue.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinuxScheduler {
    /// The O(1) scheduler, with an active and an expired array; before 2.6.23.
    ConstantTime,
    /// The completely fair scheduler (CFS), with a queue in the order of virtual run time.
    Fair,
}

impl LinuxScheduler {
    /// The scheduler of Linux 2.6.`release`.
    pub fn of_release(release: u64) -> Self {
        if release < 23 { Self::ConstantTime } else { Self::Fair }
    }
}

//! Faults that are injected into a machine, for people who write run-times: an SPE that stops or is
//! slow, interrupts that are lost, memory at a part of its rate.
//!
//! An injected fault ends no run, unlike a [`Fault`](crate::Fault), which is a program's error. It
//! strikes the mechanisms of the machine: the time of an SPU, the memory controller and its banks,
//! the way of an interrupt. What the run-time makes of it is what the run shows. Nothing that is computed
//! changes by a slow SPE or slow memory.
//!
//! Instants are those of virtual time from its start, so that creating the contexts of the SPEs and
//! loading their programs comes first, which the time of a run leaves out.
//!
//! # What each of them does
//! * An SPE that *stops*: its SPU executes nothing from that instant on, in the middle of a kernel
//!   too. Its MFC is another unit: what is in its queues goes on, as do commands of the host, and
//!   others reach its local store.
//! * A *slow* SPE: whatever its SPU does takes longer by the factor, channel commands included, while
//!   the fault lasts. Its MFC is as fast as ever.
//! * *Lost* interrupts: a process of the host that sleeps until one comes goes on sleeping. They are
//!   counted by SPE, from 1: each completion that a process sleeps for and each word in the
//!   interrupt mailbox. Whoever polls loses nothing.
//! * *Slow memory*: the memory controllers of all Cells carry that part of their rate, and a bank is
//!   busy for longer with each access that is asked for meanwhile. Latencies stay, as does what the host
//!   takes for its cache misses.

mod grammar;
mod strikes;
#[cfg(test)]
mod tests;

pub use grammar::Disturbance;
pub use strikes::Strike;
pub(crate) use strikes::{Access, Disturbances, Pulse, Rate};

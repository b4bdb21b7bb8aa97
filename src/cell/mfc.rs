//! The memory flow controller: DMA between local store and main memory.
//!
//! A command waits in a queue of 16, and its latency runs from the moment it was enqueued, so the
//! latencies of queued commands overlap. One engine moves the data of one command after the other,
//! in order, and shares the memory's bandwidth with the engines of other SPEs.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::eib::{Eib, Transfer};
use super::memory::EffectiveAddress;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::sim::{Permit, Pool, Sim, Watch};
use crate::spu::local_store::{LOCAL_STORE_BYTES, LocalAddress};
use crate::units::{Bytes, SimSpan, SimTime};

/// Which way a transfer goes, as the SPE sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From main memory into local store.
    Get,
    /// From local store into main memory.
    Put,
}

/// Tag groups of an MFC.
pub const TAGS: u8 = 32;

/// A DMA command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Which way.
    pub direction: Direction,
    /// Where in local store.
    pub local: LocalAddress,
    /// Where in main memory.
    pub effective: EffectiveAddress,
    /// How much.
    pub bytes: Bytes,
    /// Tag group to wait for, below [`TAGS`].
    pub tag: u8,
}

impl Command {
    /// The transfer that it asks the MFC of `spe` for.
    fn transfer(&self, spe: u32) -> Transfer {
        let (main, bytes) = (self.effective, self.bytes);
        let local = EffectiveAddress::local_store(spe, self.local);
        match self.direction {
            Direction::Get => Transfer { spe, from: main, to: local, bytes },
            Direction::Put => Transfer { spe, from: local, to: main, bytes },
        }
    }
}

/// The memory flow controller of one SPE; clones refer to the same.
#[derive(Clone)]
pub struct Mfc {
    shared: Rc<Shared>,
}

struct Shared {
    sim: Sim,
    spe: u32,
    eib: Rc<Eib>,
    places: Pool,
    queue: Watch<VecDeque<Queued>>,
    /// Commands of each tag group that are not complete.
    pending: [Cell<u32>; TAGS as usize],
    /// The tag status: bit t is set while no command of tag group t is pending.
    complete: Watch<u32>,
    issue: SimSpan,
    largest: Bytes,
    commands: Cell<u64>,
}

struct Queued {
    command: Command,
    since: SimTime,
    _place: Permit,
}

impl Mfc {
    /// The MFC of an SPE, with its engine at work.
    pub(super) fn new(sim: &Sim, machine: &Machine, eib: &Rc<Eib>, spe: u32) -> Self {
        let name = |what: &str| format!("{what} of SPE {spe}");
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            spe,
            eib: Rc::clone(eib),
            places: Pool::new(sim, &name("a place in the DMA queue"), machine.mfc.queue),
            queue: Watch::new(sim, &name("a command in the DMA queue"), VecDeque::new()),
            pending: Default::default(),
            complete: Watch::new(sim, &name("DMA tag groups"), u32::MAX),
            issue: machine.mfc.issue.at(machine.clock),
            largest: machine.mfc.largest,
            commands: Cell::new(0),
        });
        sim.spawn_daemon(name("DMA engine"), engine(Rc::clone(&shared)));
        Self { shared }
    }

    /// Puts a command into the queue, waiting for a place where it is full.
    ///
    /// # Errors
    /// [`Error::Dma`] where the command breaks a rule: the bus error of the hardware.
    pub async fn enqueue(&self, command: Command) -> Result<()> {
        let own = &self.shared;
        own.check(&command)?;
        own.sim.sleep(own.issue).await;
        let place = own.places.acquire().await;
        own.begin(command.tag);
        own.commands.set(own.commands.get() + 1);
        let queued = Queued { command, since: own.sim.now(), _place: place };
        own.queue.update(|queue| queue.push_back(queued));
        Ok(())
    }

    /// Waits until every command of the tag group is complete.
    pub async fn wait_for(&self, tag: u8) {
        self.shared.complete.wait_until(|complete| complete & (1 << tag) != 0).await;
    }

    /// Commands enqueued so far.
    pub fn commands(&self) -> u64 {
        self.shared.commands.get()
    }
}

impl Shared {
    /// A command of the tag group is pending.
    fn begin(&self, tag: u8) {
        let pending = &self.pending[usize::from(tag)];
        pending.set(pending.get() + 1);
        if pending.get() == 1 {
            self.complete.update(|complete| *complete &= !(1 << tag));
        }
    }

    /// A command of the tag group is complete.
    fn end(&self, tag: u8) {
        let pending = &self.pending[usize::from(tag)];
        pending.set(pending.get() - 1);
        if pending.get() == 0 {
            self.complete.update(|complete| *complete |= 1 << tag);
        }
    }

    fn check(&self, command: &Command) -> Result<()> {
        let Command { local, effective, bytes, tag, .. } = *command;
        let small = matches!(bytes.0, 1 | 2 | 4 | 8);
        let end = u64::from(local.0) + bytes.0;
        let broken = if !small && (bytes.0 == 0 || bytes.0 % 16 != 0) {
            "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes"
        } else if bytes > self.largest {
            "a transfer is at most 16384 bytes"
        } else if small
            && (effective.0 % bytes.0 != 0 || effective.0 % 16 != u64::from(local.0) % 16)
        {
            "a small transfer is naturally aligned, at the same offset in a quadword on both sides"
        } else if !small && (effective.0 % 16 != 0 || local.0 % 16 != 0) {
            "both addresses are multiples of 16"
        } else if end > u64::from(LOCAL_STORE_BYTES) {
            "a transfer stays within the local store"
        } else if !self.eib.memory().holds(effective, bytes) {
            "the effective address is mapped"
        } else if tag >= TAGS {
            "a tag is below 32"
        } else {
            return Ok(());
        };
        let command = format!(
            "{:?} of {} bytes, local store 0x{:05x}, memory 0x{:x}, tag {tag}",
            command.direction, bytes.0, local.0, effective.0
        );
        Err(Error::Dma { spe: self.spe, command, rule: broken })
    }
}

/// Moves the data of one command after the other.
async fn engine(own: Rc<Shared>) {
    loop {
        own.queue.wait_until(|queue| !queue.is_empty()).await;
        let first = own.queue.read(|queue| queue.front().map(|first| (first.command, first.since)));
        let Some((command, since)) = first else { continue };
        let transfer = command.transfer(own.spe);
        let memory = own.eib.memory();
        let latency = own.eib.latency(memory.unit(transfer.from), memory.unit(transfer.to));
        own.sim.sleep_until(since + latency).await;
        own.eib.carry(&transfer).await;
        memory.copy(transfer.from, transfer.to, transfer.bytes);
        own.end(command.tag);
        // It kept its place in the queue until now.
        own.queue.update(VecDeque::pop_front);
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;
    use crate::spu::local_store::LocalStore;
    use crate::spu::register::Quadword;
    use crate::units::Seconds;
    use approx::assert_relative_eq;
    use std::cell::RefCell;

    struct Bench {
        sim: Sim,
        memory: Rc<Memory>,
        store: Rc<RefCell<LocalStore>>,
        mfc: Mfc,
    }

    fn bench(spe: u32) -> Bench {
        let sim = Sim::new();
        let machine = Machine::named("qs20").unwrap();
        let memory = Rc::new(Memory::new(&machine));
        let store = Rc::clone(memory.local_store(spe));
        let eib = Rc::new(Eib::new(&sim, &machine, &memory));
        let mfc = Mfc::new(&sim, &machine, &eib, spe);
        Bench { sim, memory, store, mfc }
    }

    fn get(local: u32, effective: EffectiveAddress, bytes: u64, tag: u8) -> Command {
        let (local, bytes) = (LocalAddress(local), Bytes(bytes));
        Command { direction: Direction::Get, local, effective, bytes, tag }
    }

    /// Time of one transfer from the memory of Cell 0 that the SPE waits for.
    fn blocking(spe: u32, bytes: u64) -> f64 {
        let Bench { sim, memory, mfc, .. } = bench(spe);
        let from = memory.allocate(0, Bytes(bytes));
        sim.spawn("program", async move {
            mfc.enqueue(get(0, from, bytes, 0)).await.unwrap();
            mfc.wait_for(0).await;
        });
        sim.run().unwrap().seconds().0
    }

    #[test]
    fn a_blocking_transfer_takes_what_was_published() {
        // scotts/cellgen linear_model(): 352 ns for 4 KB, 633 for 8 KB, 1171 for 16 KB.
        for (bytes, published) in [(4096, 352e-9), (8192, 633e-9), (16384, 1171e-9)] {
            assert_relative_eq!(blocking(0, bytes), published, max_relative = 0.1);
        }
        assert_relative_eq!(blocking(0, 16), 109.3e-9 + 3.1e-9 + 1.0e-9, max_relative = 0.01);
    }

    #[test]
    fn a_transfer_from_the_other_cell_is_bound_by_the_link() {
        // 10 cycles issue, 109.3 + 100 ns latency, 16384 bytes at 6.25 GB/s.
        let by_hand = 3.125e-9 + 209.3e-9 + 16384.0 / 6.25e9;
        assert_relative_eq!(blocking(8, 16384), by_hand, max_relative = 1e-6);
    }

    #[test]
    fn the_data_arrive_with_the_tag() {
        let Bench { sim, memory, store, mfc } = bench(0);
        let from = memory.allocate(0, Bytes(128));
        memory.write(from, (0..8).map(Quadword::splat));
        let local = Rc::clone(&store);
        sim.spawn("program", async move {
            mfc.enqueue(get(256, from, 128, 3)).await.unwrap();
            assert_eq!(local.borrow().load(LocalAddress(256 + 112)), Quadword::ZERO);
            mfc.wait_for(3).await;
            assert_eq!(local.borrow().load(LocalAddress(256 + 112)), Quadword::splat(7));
            let back = Command { direction: Direction::Put, ..get(256 + 112, from, 16, 4) };
            mfc.enqueue(back).await.unwrap();
            mfc.wait_for(4).await;
        });
        sim.run().unwrap();
        assert_eq!(memory.read(from), Quadword::splat(7));
    }

    #[test]
    fn the_seventeenth_command_waits_for_a_place() {
        let Bench { sim, memory, mfc, .. } = bench(0);
        let from = memory.allocate(0, Bytes(16384));
        let clock = sim.clone();
        sim.spawn("program", async move {
            for _ in 0..16 {
                mfc.enqueue(get(0, from, 16384, 0)).await.unwrap();
            }
            // Sixteen issues of 10 cycles at 3.2 GHz.
            assert_relative_eq!(clock.now().seconds().0, 50e-9, max_relative = 1e-9);
            mfc.enqueue(get(0, from, 16384, 0)).await.unwrap();
            // The first is complete after its latency and 16 KB at 15.7 GB/s.
            let first = 3.125e-9 + 109.3e-9 + 16384.0 / 15.7e9;
            assert_relative_eq!(clock.now().seconds().0, first, max_relative = 1e-6);
        });
        sim.run().unwrap();
    }

    #[test]
    fn many_readers_share_the_memory_at_its_published_rate() {
        let sim = Sim::new();
        let machine = Machine::named("qs20").unwrap();
        let memory = Rc::new(Memory::new(&machine));
        let eib = Rc::new(Eib::new(&sim, &machine, &memory));
        let (readers, rounds) = (6, 100);
        for spe in 0..readers {
            let mfc = Mfc::new(&sim, &machine, &eib, spe);
            let from = memory.allocate(0, Bytes(16384));
            sim.spawn(format!("reader {spe}"), async move {
                for round in 0..rounds {
                    mfc.enqueue(get(0, from, 16384, round % 2)).await.unwrap();
                    mfc.wait_for((round + 1) % 2).await;
                }
                mfc.wait_for((rounds + 1) % 2).await;
            });
        }
        let Seconds(time) = sim.run().unwrap().seconds();
        let rate = 16384.0 * f64::from(readers) * f64::from(rounds) / time;
        assert_relative_eq!(rate, 22.83e9, max_relative = 0.02);
    }

    #[test]
    fn each_broken_rule_names_spe_command_and_rule() {
        let check = |change: fn(&mut Command), rule: &str| {
            let Bench { memory, mfc, .. } = bench(2);
            let mut command = get(0, memory.allocate(0, Bytes(65536)), 32, 0);
            change(&mut command);
            let error = mfc.shared.check(&command);
            let text = error.map_or_else(|error| error.to_string(), |()| "accepted".into());
            assert!(text.starts_with("SPE 2: Get of "), "{text}");
            assert!(text.ends_with(rule), "{text}");
        };
        check(|c| c.bytes = Bytes(24), "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes");
        check(|c| c.bytes = Bytes(0), "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes");
        check(|c| c.bytes = Bytes(16400), "a transfer is at most 16384 bytes");
        check(|c| c.local = LocalAddress(8), "both addresses are multiples of 16");
        check(
            |c| (c.bytes, c.local) = (Bytes(4), LocalAddress(8)),
            "a small transfer is naturally aligned, at the same offset in a quadword on both sides",
        );
        check(|c| c.local = LocalAddress(262_128), "a transfer stays within the local store");
        check(|c| c.effective = EffectiveAddress(1 << 39), "the effective address is mapped");
        check(|c| c.effective = c.effective.offset(65536), "the effective address is mapped");
        check(|c| c.tag = 32, "a tag is below 32");
    }
}

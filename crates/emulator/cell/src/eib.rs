//! The way of the data: from one unit of a blade to another.
//!
//! The units of a Cell sit around its element interconnect bus (EIB), whose rings carry data both
//! ways; the Cells of a blade are connected by a link. A transfer holds everything that it passes
//! at once and is done when its last byte has arrived:
//!
//! ```text
//! source port -> segments of a ring, the shorter way round -> destination port
//!    memory controller, if one end is memory; command bus; to the other Cell: link, its rings
//! ```
//!
//! Transfers are *flows*: what each of these can carry is shared fairly by those who pass it. Only
//! where flows are in one another's way on the rings is there arbitration line by line (see
//! `rings.rs`). Apart from this, an MFC has a number of lines outstanding at most (see `window.rs`),
//! and memory banks are busy for a while after each access.
//!
//! # What is left out
//! Short transfers of one MFC wait for their banks one after the other, though a real one has asked for
//! several lines by then; the elements of a list are asked for while others move, as they should be.
//! The time that a line takes from place to place. Reads and writes share the memory
//! controller without a cost of turning round. A transfer of all banks does not keep others from
//! a bank. The snooping of one Cell's commands by the other takes no room there but for transfers
//! between the Cells. With more than two Cells each is reached over one link, from all others.

mod arbiter;
mod rings;
mod route;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::memory::{Banks, EffectiveAddress, LINE, Memory};
use crate::memory::BusUnit;
use mmgp_base::units::{Bytes, Seconds, SimSpan, SimTime};
use mmgp_machine::Machine;
use mmgp_sim::{Flows, Pool, Sim};
use rings::{Passage, Rings};
use route::{Buses, Pace, Window};

/// What an MFC moves at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The SPE whose MFC asked for it; one of the two ends is its local store.
    pub spe: u32,
    /// Address of the data.
    pub from: EffectiveAddress,
    /// Address to which the data go.
    pub to: EffectiveAddress,
    /// How much.
    pub bytes: Bytes,
}

/// The buses of all Cells, with what is connected to them and the link between them.
pub struct Eib {
    sim: Sim,
    memory: Rc<Memory>,
    flows: Flows,
    buses: Buses,
    rings: RefCell<Rings>,
    /// The banks of each Cell's memory.
    banks: Vec<RefCell<Banks>>,
    /// The outstanding lines of each SPE's MFC, and whose turn it is to ask for more.
    windows: Vec<(Pool, RefCell<Window>)>,
    /// Lines that have passed each local store.
    local_store_lines: Vec<Cell<u64>>,
    delays: Delays,
}

/// Spans that depend on the two ends of a transfer.
struct Delays {
    memory: SimSpan,
    local_store: SimSpan,
    memory_round_trip: SimSpan,
    /// What each of them is longer by between the Cells.
    link: SimSpan,
}

impl Eib {
    /// The buses of a machine at rest.
    pub fn new(sim: &Sim, machine: &Machine, memory: &Rc<Memory>) -> Self {
        let flows = Flows::new(sim, "the arrival of its data");
        let window = |spe| {
            let turn = Pool::new(sim, &format!("the transfer before on SPE {spe}"), 1);
            (turn, RefCell::new(Window::new(machine.mfc.outstanding)))
        };
        Self {
            sim: sim.clone(),
            memory: Rc::clone(memory),
            buses: Buses::new(&flows, machine),
            rings: RefCell::new(Rings::new(machine)),
            flows,
            banks: vec![RefCell::new(Banks::new(&machine.banks)); machine.layout.cells as usize],
            windows: (0..machine.layout.spes()).map(window).collect(),
            local_store_lines: vec![Cell::new(0); machine.layout.spes() as usize],
            delays: Delays {
                memory: SimSpan::from_seconds(machine.mfc.latency),
                local_store: SimSpan::from_seconds(machine.eib.local_store),
                memory_round_trip: SimSpan::from_seconds(machine.eib.memory_round_trip),
                link: SimSpan::from_seconds(machine.flexio.latency),
            },
        }
    }

    /// What the machine's memories hold.
    pub(crate) fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// Time from the moment an MFC takes up a command to the arrival of its first byte, without
    /// contention.
    pub fn latency(&self, from: EffectiveAddress, to: EffectiveAddress) -> SimSpan {
        self.delay(self.memory.unit(from), self.memory.unit(to), self.delays.memory)
    }

    /// `memory` or the delay between local stores, and that of the link if it is passed.
    fn delay(&self, from: BusUnit, to: BusUnit, memory: SimSpan) -> SimSpan {
        let is_memory = |unit| matches!(unit, BusUnit::Memory { .. });
        let crosses = self.memory.cell_of(from) != self.memory.cell_of(to);
        let link = if crosses { self.delays.link } else { SimSpan::ZERO };
        link + if is_memory(from) || is_memory(to) { memory } else { self.delays.local_store }
    }

    /// How often the transfers that are done have accessed the local store of an SPE, those of
    /// other SPEs included: each time for a line of 128 bytes or a part of one.
    pub(crate) fn local_store_lines(&self, spe: u32) -> u64 {
        self.local_store_lines[spe as usize].get()
    }

    /// When all banks of a Cell's memory have done what they were asked for.
    pub(crate) fn banks_free(&self, cell: usize) -> SimTime {
        self.banks[cell].borrow().all_free()
    }

    /// When all places in the window of an SPE's MFC are free.
    pub(crate) fn window_open(&self, spe: u32) -> SimTime {
        let round_trip = self.delays.memory_round_trip.max(self.delays.local_store);
        self.windows[spe as usize].1.borrow().open(round_trip + self.delays.link)
    }

    /// Waits until the last byte of a transfer has arrived whose first byte arrives now. The
    /// contents are not moved: [`Memory::copy`] does that.
    ///
    /// The transfers of one MFC come one after the other, in the order of the calls.
    pub async fn carry(&self, transfer: &Transfer) {
        self.carry_asked(transfer, None).await;
    }

    /// The same for an element of a list, whose first byte could have come at `due`: memory was asked
    /// for it while earlier elements moved, so that its banks have been at work since then.
    pub async fn carry_due(&self, transfer: &Transfer, due: SimTime) {
        self.carry_asked(transfer, Some(due)).await;
    }

    async fn carry_asked(&self, transfer: &Transfer, due: Option<SimTime>) {
        let (turn, _) = &self.windows[transfer.spe as usize];
        let _turn = turn.acquire().await;
        let mut done = 0;
        while done < transfer.bytes.0 {
            let (from, to) = (transfer.from.offset(done), transfer.to.offset(done));
            let left = Bytes(transfer.bytes.0 - done);
            // Where memory changes from Cell to Cell, the way changes with it.
            let bytes = self.memory.at_home(from, left).min(self.memory.at_home(to, left));
            self.carry_part(&Transfer { from, to, bytes, ..*transfer }, due).await;
            done += bytes.0;
        }
    }

    /// Carries what has a single way.
    async fn carry_part(&self, part: &Transfer, due: Option<SimTime>) {
        let (from, to) = (self.memory.unit(part.from), self.memory.unit(part.to));
        let far = if from == (BusUnit::Spe { spe: part.spe }) { part.to } else { part.from };
        // The bus carries whole lines.
        let lines = lines_touched(far, part.bytes);
        let round_trip = self.delay(from, to, self.delays.memory_round_trip);
        let (_, window) = &self.windows[part.spe as usize];
        let asked = due.map(|due| due.max(window.borrow().next_free(round_trip)));
        for unit in [from, to] {
            if let BusUnit::Memory { cell } = unit {
                let now = self.sim.now();
                let begins = asked.unwrap_or(now).min(now);
                let banks = &self.banks[cell as usize];
                let free = banks.borrow_mut().occupy(far.0 / LINE, lines, begins);
                if free > now {
                    self.sim.sleep_until(free).await;
                }
            }
        }
        let bytes = (lines * LINE) as f64;
        let route = self.buses.route(from, to);
        let pace = Pace {
            line: SimSpan::from_seconds(Seconds(LINE as f64 / route.rate.min(route.stream))),
            round_trip,
        };
        let start = self.sim.now();
        let expected = window.borrow_mut().expect(lines, start, pace);
        let cap = bytes / expected.since(start).seconds().0;
        let flow = self.flows.begin(route.path(), cap, bytes);
        let passage = Passage { flow, cap, legs: route.legs, is_home: route.is_home };
        self.rings.borrow_mut().enter(&self.flows, passage);
        self.flows.end(flow).await;
        self.rings.borrow_mut().leave(&self.flows, flow);
        window.borrow_mut().delay(lines, start, expected, self.sim.now());
        for (unit, address) in [(from, part.from), (to, part.to)] {
            if let BusUnit::Spe { spe } = unit {
                let passed = &self.local_store_lines[spe as usize];
                passed.set(passed.get() + lines_touched(address, part.bytes));
            }
        }
    }
}

/// Lines that `bytes` from `at` on touch, the first and the last perhaps in part.
pub(crate) const fn lines_touched(at: EffectiveAddress, bytes: Bytes) -> u64 {
    (at.0 % LINE + bytes.0).div_ceil(LINE)
}

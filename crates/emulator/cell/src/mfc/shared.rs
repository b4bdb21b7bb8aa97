//! What the parts of an MFC have in common: its queues, its lanes, and what they reach.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::future::Future;
use std::rc::Rc;

use super::queue::Queue;
use super::rules::Rules;
use crate::board::Board;
use crate::channel::Channels;
use crate::command::{Direction, MfcOperation};
use crate::counts::Meter;
use crate::eib::Eib;
use crate::fault::Fault;
use crate::hazard::{Detector, Origin};
use crate::mfc::queue::{Begun, Lane};
use crate::trace::{Category, Span, Tracer, Track};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, SimSpan};
use mmgp_sim::{Permit, Sim, Watch};
use mmgp_spu::local_store::LocalStore;

/// One MFC.
pub(super) struct Controller {
    pub sim: Sim,
    pub spe: u32,
    pub eib: Rc<Eib>,
    /// Channels of all SPEs, to which signals are sent.
    pub channels: Rc<[Channels]>,
    pub store: Rc<RefCell<LocalStore>>,
    pub detector: Detector,
    pub fault: Fault,
    pub queue: Queue,
    pub proxy: Queue,
    pub gets: Lane,
    pub puts: Lane,
    /// The tag groups of lists that have stalled since the program last asked.
    pub stalled: Watch<u32>,
    /// Lists that wait to be acknowledged, with their tags.
    pub stalled_lists: RefCell<Vec<(u8, Begun)>>,
    pub commands: Cell<u64>,
    pub meter: Rc<Meter>,
    pub trace: Tracer,
    pub issue: SimSpan,
    pub access: SimSpan,
    pub list_fetch: SimSpan,
    pub atomic: SimSpan,
    pub claim: SimSpan,
    pub largest: Bytes,
    pub longest_list: u32,
}

impl Controller {
    /// An MFC with nothing to do.
    pub fn new(board: &Board, detector: &Detector, spe: u32) -> Self {
        let (sim, machine) = (&board.sim, &board.machine);
        let (sizes, cycles) =
            (&machine.mfc, |cycles: mmgp_base::units::Cycles| cycles.at(machine.clock));
        let name = |what: &str| format!("{what} of SPE {spe}");
        Self {
            sim: sim.clone(),
            spe,
            eib: Rc::clone(&board.eib),
            channels: Rc::clone(&board.channels),
            store: Rc::clone(board.eib.memory().local_store(spe)),
            detector: detector.clone(),
            fault: board.fault.clone(),
            queue: Queue::new(sim, sizes.queue, "a place in its DMA queue", "its DMA tag groups"),
            proxy: Queue::new(
                sim,
                sizes.proxy_queue,
                &name("a place in the proxy queue"),
                &name("proxy tag groups"),
            ),
            gets: Lane::new(sim, &name("a command for the get lane")),
            puts: Lane::new(sim, &name("a command for the put lane")),
            stalled: Watch::new(sim, "the stall of a DMA list", 0),
            stalled_lists: RefCell::default(),
            commands: Cell::new(0),
            meter: Rc::clone(&board.meters[spe as usize]),
            trace: board.trace.clone(),
            issue: cycles(sizes.issue),
            access: cycles(machine.spu.channel),
            list_fetch: cycles(sizes.list_fetch),
            atomic: cycles(sizes.atomic),
            claim: cycles(sizes.claim),
            largest: sizes.largest,
            longest_list: sizes.longest_list,
        }
    }

    /// Looks for hazards of a command that is about to enter a queue.
    pub fn look(&self, origin: Origin, command: (&MfcOperation, u8)) -> Result<()> {
        let sequence = Some(self.queue(origin).entered());
        self.detector.command(origin, command, sequence, &self.store)
    }

    /// Takes a place in a queue.
    pub fn enter(&self, origin: Origin, place: Permit, (operation, tag): (MfcOperation, u8)) {
        let queue = self.queue(origin);
        self.commands.set(self.commands.get() + 1);
        let now = self.sim.now();
        self.meter.enters(now, &operation);
        let computed = self.meter.computed(now);
        if let Some(ready) = queue.enter(place, operation, tag, (now, computed)) {
            self.begin(Begun { origin, ready }, &operation);
        }
    }

    /// The SPU waits for something.
    pub fn wait(&self, what: &'static str) -> Span {
        self.trace.span(Track::Spu(self.spe), Category::Wait, what)
    }

    /// The same, counted.
    pub async fn waiting<T>(&self, something: impl Future<Output = T>) -> T {
        let since = self.sim.now();
        let what = something.await;
        self.meter.waited(since, self.sim.now());
        what
    }

    /// A channel command takes its time.
    pub async fn channel(&self, span: SimSpan) {
        self.meter.channel(self.sim.now(), span);
        self.sim.sleep(span).await;
    }

    pub const fn queue(&self, origin: Origin) -> &Queue {
        match origin {
            Origin::Spu => &self.queue,
            Origin::Proxy => &self.proxy,
        }
    }

    pub fn rules(&self) -> Rules<'_> {
        Rules {
            spe: self.spe,
            memory: self.eib.memory(),
            spes: self.channels.len() as u32,
            largest: self.largest,
            longest_list: self.longest_list,
        }
    }

    pub const fn lane(&self, direction: Direction) -> &Lane {
        match direction {
            Direction::Get => &self.gets,
            Direction::Put => &self.puts,
        }
    }

    /// Gives a command that waits for nothing to its lane.
    pub fn begin(&self, begun: Begun, operation: &MfcOperation) {
        let lane = self.lane(operation.lane());
        lane.ready.update(|ready| ready.push(Reverse(begun)));
    }
}

//! What the parts of an MFC have in common: its queues, its lanes, and what they reach.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::fmt::Display;
use std::future::Future;
use std::rc::Rc;

use crate::blade::Board;
use crate::channel::{Channels, Signal};
use crate::command::{Command, Direction, ListCommand, LockLine, MfcOperation, SendSignal, TAGS};
use crate::counts::Meter;
use crate::eib::Eib;
use crate::fault::{BusError, Fault};
use crate::hazard::{Detector, Origin};
use crate::memory::Memory;
use crate::mfc::queue::{Begun, Lane, Queue};
use crate::trace::{Category, Span, Tracer, Track};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, SimSpan};
use mmgp_sim::{Permit, Sim, Watch};
use mmgp_spu::local_store::{LOCAL_STORE_BYTES, LocalStore};

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

/// The rules of the MFC of one SPE.
pub(super) struct Rules<'a> {
    pub spe: u32,
    pub memory: &'a Memory,
    /// SPEs of the machine.
    pub spes: u32,
    /// The largest transfer.
    pub largest: Bytes,
    /// The most elements of a list.
    pub longest_list: u32,
}

/// Whether a rule is kept, and the rule.
type Rule = (bool, &'static str);

impl Rules<'_> {
    /// A transfer, alone or as the element of a list.
    pub fn transfer(&self, command: &Command) -> Result<()> {
        let Command { local, effective, bytes, .. } = *command;
        let small = matches!(bytes.0, 1 | 2 | 4 | 8);
        let end = u64::from(local.0) + bytes.0;
        let same_offset = effective.0 % 16 == u64::from(local.0) % 16;
        self.keep(
            command,
            &[
                (
                    small || (bytes.0 > 0 && bytes.0 % 16 == 0),
                    "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes",
                ),
                (bytes <= self.largest, "a transfer is at most 16384 bytes"),
                (
                    !small || (effective.0 % bytes.0 == 0 && same_offset),
                    "a small transfer is naturally aligned, at the same offset in a quadword on \
                     both sides",
                ),
                (
                    small || (effective.0 % 16 == 0 && local.0 % 16 == 0),
                    "both addresses are multiples of 16",
                ),
                (end <= u64::from(LOCAL_STORE_BYTES), "a transfer stays within the local store"),
                self.mapped(effective, bytes),
                tag_rule(command.tag),
            ],
        )
    }

    /// A list without its elements, which the MFC sees when it fetches them.
    pub fn list(&self, command: &ListCommand) -> Result<()> {
        let end = u64::from(command.list.0) + command.list_bytes().0;
        let within = end <= u64::from(LOCAL_STORE_BYTES) && command.local.0 < LOCAL_STORE_BYTES;
        self.keep(
            command,
            &[
                (
                    (1..=self.longest_list).contains(&command.elements),
                    "a list has 1 to 2048 elements",
                ),
                (command.list.0.is_multiple_of(8), "a list begins at a multiple of 8"),
                (within, "a list and its data stay within the local store"),
                tag_rule(command.tag),
            ],
        )
    }

    /// An element of a list as a transfer: the rules for that, and that it does not reach over a
    /// multiple of 4 GB, for the upper half of the effective address belongs to the list.
    pub fn element(&self, element: &Command) -> Result<()> {
        let last = element.effective.offset(element.bytes.0.saturating_sub(1));
        let within = last.0 >> 32 == element.effective.0 >> 32;
        self.keep(element, &[(within, "a list element does not cross a multiple of 4 GB")])?;
        self.transfer(element)
    }

    /// A signal to the register that it names.
    pub fn signal(&self, command: &SendSignal) -> Result<()> {
        let target = Signal::at(command.register).filter(|&(spe, _)| spe < self.spes);
        self.keep(
            command,
            &[
                (
                    target.is_some(),
                    "the effective address is that of a signal-notification register",
                ),
                (
                    u64::from(command.local.0) % 16 == command.register.0 % 16,
                    "the word is at the register's offset in a quadword",
                ),
                (command.local.0 < LOCAL_STORE_BYTES, "a word lies within the local store"),
                tag_rule(command.tag),
            ],
        )
    }

    /// A lock line; `name` is that of the command.
    pub fn lock_line(&self, name: &str, line: &LockLine, tag: u8) -> Result<()> {
        let LockLine { local, effective } = *line;
        let aligned = local.0 % 128 == 0 && effective.0 % 128 == 0;
        let command = format_args!(
            "{name}, local store 0x{:05x}, effective address 0x{:x}",
            local.0, effective.0
        );
        self.keep(
            command,
            &[
                (aligned, "both addresses of a lock line are multiples of 128"),
                (local.0 < LOCAL_STORE_BYTES, "a lock line lies within the local store"),
                self.mapped(effective, LockLine::BYTES),
                tag_rule(tag),
            ],
        )
    }

    /// The tag of a command without addresses.
    pub fn tag(&self, name: &str, tag: u8) -> Result<()> {
        self.keep(format_args!("{name}, tag {tag}"), &[tag_rule(tag)])
    }

    fn mapped(&self, at: crate::EffectiveAddress, bytes: Bytes) -> Rule {
        (self.memory.holds(at, bytes), "the effective address is mapped")
    }

    fn keep(&self, command: impl Display, rules: &[Rule]) -> Result<()> {
        match rules.iter().find(|(kept, _)| !kept) {
            None => Ok(()),
            Some(&(_, rule)) => {
                Err(Error::other(BusError { spe: self.spe, command: command.to_string(), rule }))
            }
        }
    }
}

const fn tag_rule(tag: u8) -> Rule {
    (tag < TAGS, "a tag is below 32")
}

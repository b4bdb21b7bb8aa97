//! Finds what the hardware does not report: data that are touched while a DMA command may still move
//! them.
//!
//! A command is *pending* from its enqueueing until its tag group was waited for or found complete;
//! that it has ended meanwhile counts only once the program has asked. A hazard is
//! * a kernel that reads what a pending get writes,
//! * a kernel that writes what a pending command reads or writes,
//! * two pending commands of one SPE of which one writes what the other touches, in local store or
//!   outside, unless a fence or a barrier orders them.
//!
//! The SPU loads and stores whole quadwords, so kernels are checked by the quadword, commands by
//! the byte. Not looked at: what other SPEs and the host do to the same main memory, and transfers
//! from other SPEs into this local store.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::command::{Command, Direction, LockLine, Operation, Order, SendSignal};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;
use mmgp_spu::Accesses;
use mmgp_spu::local_store::{LOCAL_STORE_BYTES, LocalAddress, LocalStore};

/// Whether hazards are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hazards {
    /// No: a program with one runs on, as on the hardware.
    Ignored,
    /// Yes: the first one ends the run with [`Error::Hazard`]. Timing and results are the same,
    /// but kernels execute more slowly.
    Checked,
}

/// Who gave a command to an MFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The SPU, through channels.
    Spu,
    /// The PPE, through the proxy queue.
    Proxy,
}

/// What is done to some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Reads,
    Writes,
}

impl Touch {
    const fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Local,
    Effective,
}

/// Bytes that a command touches.
#[derive(Debug, Clone)]
struct Area {
    space: Space,
    bytes: Range<u64>,
    touch: Touch,
}

impl Area {
    /// The bytes that both touch, if that is a hazard.
    fn clash(&self, other: &Self) -> Option<Range<u64>> {
        let start = self.bytes.start.max(other.bytes.start);
        let end = self.bytes.end.min(other.bytes.end);
        let writes = self.touch == Touch::Writes || other.touch == Touch::Writes;
        (self.space == other.space && writes && start < end).then_some(start..end)
    }
}

/// A command that the program has not waited for.
struct Pending {
    origin: Origin,
    operation: Operation,
    tag: u8,
    areas: Vec<Area>,
    sealed: Cell<Sealed>,
}

/// Before which later commands of its queue a barrier that came since orders a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sealed {
    /// There was none.
    No,
    /// Those of its tag group: a command with a barrier, or `mfcsync`.
    Group,
    /// All: the `barrier` command.
    Queue,
}

/// Looks for hazards of one SPE.
pub(crate) struct Detector {
    spe: u32,
    mode: Rc<Cell<Hazards>>,
    pending: RefCell<Vec<Pending>>,
}

impl Detector {
    /// A detector that is at work while `mode` says so, from before the first command.
    pub fn new(spe: u32, mode: &Rc<Cell<Hazards>>) -> Self {
        Self { spe, mode: Rc::clone(mode), pending: RefCell::default() }
    }

    pub fn mode(&self) -> Hazards {
        self.mode.get()
    }

    /// A command enters a queue; `store` is where the elements of a list are found.
    pub(super) fn command(
        &self,
        origin: Origin,
        operation: &Operation,
        tag: u8,
        store: &RefCell<LocalStore>,
    ) -> Result<()> {
        if self.mode() == Hazards::Ignored {
            return Ok(());
        }
        let mut pending = self.pending.borrow_mut();
        if *operation == Operation::Barrier {
            let own = pending.iter().filter(|earlier| earlier.origin == origin);
            own.for_each(|earlier| earlier.sealed.set(Sealed::Queue));
            return Ok(());
        }
        let areas = areas(operation, &store.borrow());
        let in_order = |earlier: &Pending| {
            let same_group = earlier.tag == tag
                && (operation.order() != Order::Free
                    || earlier.operation.order() == Order::Barrier
                    || earlier.sealed.get() == Sealed::Group);
            earlier.origin == origin && (same_group || earlier.sealed.get() == Sealed::Queue)
        };
        for earlier in pending.iter().filter(|earlier| !in_order(earlier)) {
            for own in &areas {
                if let Some(bytes) = earlier.areas.iter().find_map(|other| own.clash(other)) {
                    return Err(self.error(&operation.to_string(), own, bytes, earlier));
                }
            }
        }
        if operation.order() == Order::Barrier {
            let group = |earlier: &&Pending| earlier.origin == origin && earlier.tag == tag;
            let open = |earlier: &&Pending| earlier.sealed.get() == Sealed::No;
            let before = pending.iter().filter(group).filter(open);
            before.for_each(|earlier| earlier.sealed.set(Sealed::Group));
        }
        let operation = *operation;
        pending.push(Pending { origin, operation, tag, areas, sealed: Cell::new(Sealed::No) });
        Ok(())
    }

    /// The program waited for these tag groups or found them complete.
    pub(super) fn waited(&self, origin: Origin, groups: u32) {
        let is_done =
            |pending: &Pending| pending.origin == origin && groups >> pending.tag & 1 != 0;
        self.pending.borrow_mut().retain(|pending| !is_done(pending));
    }

    /// The program itself touches local store: by a lock-line command, or outside a kernel.
    pub fn program(&self, who: &str, touch: Touch, at: LocalAddress, bytes: Bytes) -> Result<()> {
        let start = u64::from(at.0);
        let own = Area { space: Space::Local, bytes: start..start + bytes.0, touch };
        self.check(who, &own, |other| own.clash(other))
    }

    /// A kernel has run.
    pub fn kernel(&self, kernel: &str, accesses: &Accesses) -> Result<()> {
        for (touch, touched) in
            [(Touch::Reads, accesses.read()), (Touch::Writes, accesses.written())]
        {
            let everywhere = 0..u64::from(LOCAL_STORE_BYTES);
            let own = Area { space: Space::Local, bytes: everywhere, touch };
            self.check(&format!("kernel {kernel}"), &own, |other| {
                touched.first_run_within(&own.clash(other)?)
            })?;
        }
        Ok(())
    }

    fn check(
        &self,
        who: &str,
        own: &Area,
        clash: impl Fn(&Area) -> Option<Range<u64>>,
    ) -> Result<()> {
        for pending in self.pending.borrow().iter() {
            if let Some(bytes) = pending.areas.iter().find_map(&clash) {
                return Err(self.error(who, own, bytes, pending));
            }
        }
        Ok(())
    }

    fn error(&self, who: &str, own: &Area, bytes: Range<u64>, pending: &Pending) -> Error {
        Error::Hazard {
            spe: self.spe,
            access: who.to_string(),
            touch: own.touch.word(),
            space: match own.space {
                Space::Local => "local store",
                Space::Effective => "effective address",
            },
            first: bytes.start,
            last: bytes.end - 1,
            pending: pending.operation.to_string(),
            tag: pending.tag,
        }
    }
}

/// What a command touches: in local store, and outside it.
fn areas(operation: &Operation, store: &LocalStore) -> Vec<Area> {
    let area = |space, start: u64, bytes: Bytes, touch| {
        let bytes = start..start + bytes.0;
        Area { space, bytes, touch }
    };
    let local = |at: LocalAddress, bytes, touch| area(Space::Local, u64::from(at.0), bytes, touch);
    let transfer = |command: &Command| {
        let (inside, outside) = match command.direction {
            Direction::Get => (Touch::Writes, Touch::Reads),
            Direction::Put => (Touch::Reads, Touch::Writes),
        };
        [
            local(command.local, command.bytes, inside),
            area(Space::Effective, command.effective.0, command.bytes, outside),
        ]
    };
    match operation {
        Operation::Transfer(command) | Operation::Moved(command) => transfer(command).to_vec(),
        Operation::List(command) => {
            // A program that writes to the list itself may be right: a stalled list goes on as it
            // was changed meanwhile.
            command.transfers(store).iter().flat_map(transfer).collect()
        }
        // The register takes what comes, in any order.
        Operation::SendSignal(command) => {
            vec![local(command.local, SendSignal::BYTES, Touch::Reads)]
        }
        Operation::LockLine(line) => vec![
            local(line.local, LockLine::BYTES, Touch::Reads),
            area(Space::Effective, line.effective.0, LockLine::BYTES, Touch::Writes),
        ],
        Operation::Barrier | Operation::Synchronise => Vec::new(),
    }
}

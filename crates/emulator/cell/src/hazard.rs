//! Finds what the hardware does not report: data that two touch with nothing between them that puts
//! one after the other.
//!
//! # Who
//! Actors are the program of each SPE with its kernels; each DMA command, which begins when it is
//! given to its queue and is over when somebody *knows* it to be; and the host, whose processes count
//! as one. Time that has passed is no order: what happens to have ended without anybody having asked
//! is not known.
//!
//! # What is order
//! * What a program does comes after what it did before, and a command after what its issuer knew when
//!   it was given.
//! * The wait for a tag group, or a look that finds it complete: the group's commands are known.
//! * A fence: the command comes after all earlier ones of its tag group. A barrier, `mfcsync`: so do
//!   all later ones, after this one, too. The `barrier` command does it to its whole queue. So a
//!   barrier between two commands without one orders them.
//! * Mailboxes, word by word; signals, from the register's write to its read. `sndsig` tells what it
//!   is ordered after by itself: with a fence that of its tag group.
//! * A lock line: from `putllc` that stores, `putlluc` and `putqlluc` to a later atomic command on the
//!   line. `putqlluc` tells as `sndsig` does.
//! * A spin on local store: whoever has put the word there tells what that put is ordered after. So do
//!   messages among SPEs, whose descriptors and flags are such words.
//! * The host's stores into local store, and the flags of the off-load protocol.
//! * Proxy commands: the host is their issuer, and the wait for their tag group is the host's.
//!
//! # What is a hazard
//! Two touch the same byte, at least one writes, and the later does not know the earlier (two atomic
//! commands on a line are none); local store is read that nobody has written, by a program, a command or the
//! host; the run ends with a transfer that nobody has waited for. Kernels are watched by the quadword, which
//! is what an SPU loads and stores, everything else by the byte; whether local store is written, by the
//! quadword.
//!
//! What the loader of a program has written is: code, data, and what its image declares to be zero
//! ([`SpeImage::zeros`](crate::context::SpeImage::zeros)). Buffers are not.
//!
//! # How
//! A vector clock for each actor that lasts, with a component for each tag group of each queue: a number
//! of commands of it that are known to be complete. A command's own accesses are known to whoever's clock
//! has its number. The last write of each byte and the reads since are kept by ranges of bytes; what an
//! SPE does in its own local store by the quadword.
//!
//! What comes before what does not depend on when it happens. So an off-load that is computed before its
//! time goes by ([`Writer`](crate::element::Writer)) is looked at as it is computed, with what the host
//! knows when it begins, and once: playing its script tells nothing. Of instants, that of its beginning
//! is known; [`Blade::step_by_step`](crate::Blade::step_by_step) is for the others.
//!
//! # Not looked at
//! Main memory that the host fills or reads without [`HostProcess::reads`](crate::HostProcess::reads)
//! or [`HostProcess::writes`](crate::HostProcess::writes); processes of the host among each other; list
//! elements, which a program may change while the list stalls; whether a word that is spun on was written
//! before the spin; a kernel that reads a quadword that nobody has written and then stores it, which is how a
//! part of a quadword is stored. Where a program has filled local store without telling, only what is not
//! zero counts as written.

mod clock;
mod edges;
mod report;
mod shadow;
mod state;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use crate::command::{Command, Direction, LockLine, MfcOperation, SendSignal};
use crate::memory::{EffectiveAddress, Place};
use clock::Left;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_sim::Sim;
use mmgp_spu::Watch;
use mmgp_spu::local_store::{LocalAddress, LocalStore};
pub(crate) use report::{Mail, Origin, Touch};
use report::{Space, What, Who};
use shadow::ShadowAccess;
use state::Knowledge;

/// Whether hazards are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hazards {
    /// No: a program with one runs on, as on the hardware.
    Ignored,
    /// Yes: the first one ends the run with [`Hazard`](crate::Hazard). Timing
    /// and results are the same, but kernels execute more slowly.
    Checked,
}

/// Bytes of a memory, and what is done to them.
type Extent = ((Space, Range<u64>), Touch);

/// What all SPEs and processes of one virtual time have in common.
pub(crate) struct Watchdog {
    sim: Sim,
    mode: Cell<Hazards>,
    state: RefCell<Knowledge>,
}

impl Watchdog {
    pub fn new(sim: &Sim) -> Rc<Self> {
        let mode = if cfg!(test) { Hazards::Checked } else { Hazards::Ignored };
        Rc::new(Self { sim: sim.clone(), mode: Cell::new(mode), state: RefCell::default() })
    }

    /// Another blade, whose SPEs have these local stores; what its parts tell of themselves.
    pub fn blade(self: &Rc<Self>, stores: &[Rc<RefCell<LocalStore>>]) -> Detector {
        let (blade, first) = self.state.borrow_mut().add_blade(stores);
        Detector { core: Rc::clone(self), blade, first, spe: first }
    }

    pub fn mode(&self) -> Hazards {
        self.mode.get()
    }

    pub fn set_mode(&self, mode: Hazards) {
        self.mode.set(mode);
    }

    /// The run has ended.
    pub fn finish(&self) -> Result<()> {
        match self.mode() {
            Hazards::Ignored => Ok(()),
            Hazards::Checked => self.state.borrow().finish(self.sim.now()),
        }
    }
}

/// Looks for hazards of one SPE, or of the host of its blade.
#[derive(Clone)]
pub(crate) struct Detector {
    core: Rc<Watchdog>,
    blade: u32,
    /// The first SPE of the blade, among those of all.
    first: u32,
    /// The SPE, among those of all.
    spe: u32,
}

impl Detector {
    /// Detector of an SPE of the blade.
    pub fn of(&self, spe: u32) -> Self {
        Self { spe: self.first + spe, ..self.clone() }
    }

    pub fn core(&self) -> &Rc<Watchdog> {
        &self.core
    }

    pub fn mode(&self) -> Hazards {
        self.core.mode()
    }

    /// The state, where hazards are looked for.
    fn state(&self) -> Option<std::cell::RefMut<'_, Knowledge>> {
        (self.mode() != Hazards::Ignored).then(|| self.core.state.borrow_mut())
    }

    /// The memory and the place in it; nothing for registers.
    fn place(&self, at: EffectiveAddress, bytes: Bytes) -> Option<(Space, Range<u64>)> {
        let (space, start) = match at.place()? {
            Place::LocalStore { spe, address } => {
                (Space::Store(self.first + spe), u64::from(address.0))
            }
            Place::Memory { .. } | Place::Paged { .. } => (Space::Main(self.blade), at.0),
            Place::ProblemState { .. } => return None,
        };
        Some((space, start..start + bytes.0))
    }

    /// The program itself touches local store: by a lock-line command, or outside a kernel.
    pub fn program(
        &self,
        what: &'static str,
        touch: Touch,
        (at, bytes): (LocalAddress, Bytes),
        store: &RefCell<LocalStore>,
    ) -> Result<()> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let start = u64::from(at.0);
        let bytes = start..start + bytes.0;
        let what = What::Outside(what);
        state.program(self.spe, (what, self.core.sim.now()), touch, &bytes, &store.borrow())
    }

    /// The loader of the program has written local store, before the program begins; whether hazards
    /// are looked for yet or not.
    pub fn loaded(&self, at: LocalAddress, bytes: Bytes) {
        let start = u64::from(at.0);
        let mut state = self.core.state.borrow_mut();
        state.spes[self.spe as usize].store.accesses.fill(&(start..start + bytes.0));
    }

    /// A kernel runs, hazards being looked for.
    pub fn kernel<T>(
        &self,
        kernel: &'static str,
        store: &RefCell<LocalStore>,
        run: impl FnOnce(&mut LocalStore, Watch<'_>) -> T,
    ) -> Result<T> {
        let mut state = self.core.state.borrow_mut();
        let store = &mut *store.borrow_mut();
        let answer = run(store, state.begin_kernel(self.spe));
        state.end_kernel(self.spe, (kernel, self.core.sim.now()), store)?;
        Ok(answer)
    }

    /// The host touches memory.
    pub fn host(&self, touch: Touch, at: EffectiveAddress, bytes: Bytes) -> Result<()> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let Some((space, bytes)) = self.place(at, bytes) else { return Ok(()) };
        state.host(space, &bytes, touch, self.core.sim.now())
    }

    /// A command is given to a queue, which so many (`sequence`) have entered before it; `store` is where
    /// the elements of a list are found.
    pub fn command(
        &self,
        origin: Origin,
        (operation, tag): (&MfcOperation, u8),
        sequence: Option<u64>,
        store: &RefCell<LocalStore>,
    ) -> Result<()> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let state = &mut *state;
        let mut view = state.issuer(self.spe, origin).view();
        let queue = &mut state.spes[self.spe as usize].queues[origin as usize];
        let epoch = queue.enter(operation, tag, &mut view);
        if *operation == MfcOperation::Barrier {
            return Ok(());
        }
        let who = Who::Command { spe: self.spe, origin, operation: *operation };
        let record = state.record(who, self.core.sim.now());
        let view = Rc::new(view);
        let areas = self.areas(operation, &store.borrow());
        let is_transfer = matches!(operation, MfcOperation::Transfer(_) | MfcOperation::List(_));
        let writes = areas.iter().find(|area| is_transfer && area.1 == Touch::Writes);
        let writes = writes.map(|(place, _)| place.clone());
        let left = Left { epoch, sequence, record, view: Rc::clone(&view), writes };
        state.spes[self.spe as usize].queues[origin as usize].left.push(left);
        let own = (origin == Origin::Spu).then_some(self.spe);
        for ((space, bytes), touch) in areas {
            let is_main = matches!(space, Space::Main(_));
            let atomic = is_main && matches!(operation, MfcOperation::LockLine(_));
            let before = (!is_main).then(|| Rc::clone(&view));
            let access = ShadowAccess { epoch, touch, atomic, record, view: before };
            state.access((space, &bytes), &access, &view, own)?;
        }
        Ok(())
    }

    /// The program, or the host, waited for these tag groups or found them complete.
    pub fn waited(&self, origin: Origin, groups: u32) {
        let Some(mut state) = self.state() else { return };
        let state = &mut *state;
        let spe = &mut state.spes[self.spe as usize];
        let issuer = match origin {
            Origin::Spu => &mut spe.program,
            Origin::Proxy => &mut state.host,
        };
        spe.queues[origin as usize].waited(groups, issuer);
    }

    /// What a command touches: in local store, and outside it.
    fn areas(&self, operation: &MfcOperation, store: &LocalStore) -> Vec<Extent> {
        match operation {
            MfcOperation::Transfer(command) => self.moved(command.direction, &[*command]),
            MfcOperation::List(command) => self.moved(command.direction, &command.transfers(store)),
            // The register takes what comes, in any order.
            MfcOperation::SendSignal(command) => {
                vec![(self.local(command.local, SendSignal::BYTES), Touch::Reads)]
            }
            MfcOperation::LockLine(line) => {
                let inside = (self.local(line.local, LockLine::BYTES), Touch::Reads);
                let outside = self.place(line.effective, LockLine::BYTES);
                let outside = outside.map(|place| (place, Touch::Writes));
                [Some(inside), outside].into_iter().flatten().collect()
            }
            // It moves nothing.
            MfcOperation::Moved(_) | MfcOperation::Barrier | MfcOperation::Synchronise => {
                Vec::new()
            }
        }
    }

    fn local(&self, at: LocalAddress, bytes: Bytes) -> (Space, Range<u64>) {
        let start = u64::from(at.0);
        (Space::Store(self.spe), start..start + bytes.0)
    }

    /// What transfers of one command touch, which mostly follow each other in local store.
    fn moved(&self, direction: Direction, transfers: &[Command]) -> Vec<Extent> {
        let (inner, outer) = match direction {
            Direction::Get => (Touch::Writes, Touch::Reads),
            Direction::Put => (Touch::Reads, Touch::Writes),
        };
        let mut areas: Vec<Extent> = Vec::with_capacity(1 + transfers.len());
        for transfer in transfers {
            let (space, bytes) = self.local(transfer.local, transfer.bytes);
            match areas.last_mut() {
                Some(((_, before), _)) if before.end == bytes.start => before.end = bytes.end,
                _ => areas.push(((space, bytes), inner)),
            }
        }
        let outside = transfers.iter().filter_map(|it| self.place(it.effective, it.bytes));
        areas.extend(outside.map(|place| (place, outer)));
        areas
    }
}

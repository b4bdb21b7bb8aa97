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
//! time goes by ([`Writer`](crate::script::Writer)) is looked at as it is computed, with what the host
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
mod command;
mod edges;
mod element;
mod records;
mod report;
mod shadow;
mod state;
#[cfg(test)]
mod tests;
mod unwritten;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use crate::memory::{EffectiveAddress, Place};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_sim::Sim;
use mmgp_spu::Watch;
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use state::State;

/// Whether hazards are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hazards {
    /// No: a program with one runs on, as on the hardware.
    Ignored,
    /// Yes: the first one ends the run with [`Hazard`](crate::Hazard). Timing
    /// and results are the same, but kernels execute more slowly.
    Checked,
}

/// Who gave a command to an MFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
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

/// A memory: the local store of an SPE, or the main memory of a blade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Store(u32),
    Main(u32),
}

/// Where words wait on their way to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mail {
    Inbound,
    Outbound,
    Interrupt,
}

/// What all SPEs and processes of one virtual time have in common.
pub(crate) struct Core {
    sim: Sim,
    mode: Cell<Hazards>,
    state: RefCell<State>,
}

impl Core {
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
    core: Rc<Core>,
    blade: u32,
    /// The first SPE of the blade, among those of all.
    first: u32,
    /// The SPE, among those of all.
    spe: u32,
}

impl Detector {
    /// That of an SPE of the blade.
    pub fn of(&self, spe: u32) -> Self {
        Self { spe: self.first + spe, ..self.clone() }
    }

    pub fn core(&self) -> &Rc<Core> {
        &self.core
    }

    pub fn mode(&self) -> Hazards {
        self.core.mode()
    }

    /// The state, where hazards are looked for.
    fn state(&self) -> Option<std::cell::RefMut<'_, State>> {
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
        let what = report::What::Outside(what);
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
}

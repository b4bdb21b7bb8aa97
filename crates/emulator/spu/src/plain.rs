//! The SPU that only executes.

use super::Spu;
use super::channel::{Channel, Channels, connected};
use super::instruction::for_each_instruction;
use super::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use super::register::Quadword;
use super::semantics::{self, condition, preferred_slot};

/// Executes instructions and takes no time, so that a kernel compiles into plain code of the host.
#[derive(Debug)]
pub struct PlainSpu<'s, M = &'s mut LocalStore, O = ()> {
    store: M,
    channels: Option<&'s mut dyn Channels>,
    floating_point_status: Quadword,
    branch_observer: O,
}

/// Observes the control flow of a program: the outcome of each branch and halt. The unit type `()`
/// observes nothing and costs nothing.
pub(super) trait BranchObserver {
    /// A conditional branch was or was not taken, a conditional halt did or did not halt.
    fn decided(&mut self, taken: bool);

    /// An indirect branch went to `target`.
    fn jumped(&mut self, target: u32);
}

impl BranchObserver for () {
    #[inline(always)]
    fn decided(&mut self, _taken: bool) {}

    #[inline(always)]
    fn jumped(&mut self, _target: u32) {}
}

impl<'s> PlainSpu<'s> {
    /// An SPU with that local store and without channels.
    #[inline(always)]
    pub const fn new(store: &'s mut LocalStore) -> Self {
        Self::with_observers(store, ())
    }
}

impl<'s, M, O> PlainSpu<'s, M, O> {
    /// An SPU with that memory and without channels, whose branches are observed.
    #[inline(always)]
    pub(super) const fn with_observers(store: M, branch_observer: O) -> Self {
        Self { store, channels: None, floating_point_status: Quadword::ZERO, branch_observer }
    }

    /// Who has observed its branches.
    pub(super) const fn branch_observer(&self) -> &O {
        &self.branch_observer
    }

    /// The same SPU with those channels.
    #[must_use]
    pub fn with_channels(self, channels: &'s mut dyn Channels) -> Self {
        Self { channels: Some(channels), ..self }
    }
}

/// Methods that return whether a condition holds.
macro_rules! decide {
    ($($mnemonic:ident($($register:ident),*) = $condition:expr;)*) => {$(
        #[inline(always)]
        fn $mnemonic(&mut self, $($register: Quadword),*) -> bool {
            let taken = $condition;
            self.branch_observer.decided(taken);
            taken
        }
    )*};
}

/// The same by a register and an immediate.
macro_rules! decide_immediate {
    ($($mnemonic:ident;)*) => {$(
        #[inline(always)]
        fn $mnemonic(&mut self, ra: Quadword, i10: i16) -> bool {
            let taken = condition::$mnemonic(ra, i10);
            self.branch_observer.decided(taken);
            taken
        }
    )*};
}

/// Conditional branches to the address in a register.
macro_rules! decide_indirect {
    ($($mnemonic:ident = $condition:ident;)*) => {$(
        #[inline(always)]
        fn $mnemonic(&mut self, rt: Quadword, ra: Quadword) -> bool {
            let taken = condition::$condition(rt);
            self.branch_observer.decided(taken);
            if taken {
                self.branch_observer.jumped(ra.preferred());
            }
            taken
        }
    )*};
}

macro_rules! execute {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(always)]
        fn $mnemonic(&mut self, $($register: Quadword,)* $($immediate: $type)?) -> Quadword {
            semantics::$mnemonic($($register,)* $($immediate)?)
        }
    )*};
}

impl<M: QuadwordMemory, O: BranchObserver> Spu for PlainSpu<'_, M, O> {
    type Register = Quadword;

    for_each_instruction!(execute);

    #[inline(always)]
    fn lqr(&mut self, constant: Quadword) -> Quadword {
        constant
    }

    #[inline(always)]
    fn lqd(&mut self, displacement: i32, ra: Quadword) -> Quadword {
        self.store.load(semantics::displaced(ra, displacement))
    }

    #[inline(always)]
    fn lqx(&mut self, ra: Quadword, rb: Quadword) -> Quadword {
        self.store.load(semantics::indexed(ra, rb))
    }

    #[inline(always)]
    fn lqa(&mut self, address: LocalAddress) -> Quadword {
        self.store.load(address)
    }

    #[inline(always)]
    fn stqd(&mut self, rt: Quadword, displacement: i32, ra: Quadword) {
        self.store.store(semantics::displaced(ra, displacement), rt);
    }

    #[inline(always)]
    fn stqx(&mut self, rt: Quadword, ra: Quadword, rb: Quadword) {
        self.store.store(semantics::indexed(ra, rb), rt);
    }

    #[inline(always)]
    fn stqa(&mut self, rt: Quadword, address: LocalAddress) {
        self.store.store(address, rt);
    }

    #[inline(always)]
    fn stqr(&mut self, rt: Quadword, address: LocalAddress) {
        self.store.store(address, rt);
    }

    decide! {
        heq(ra, rb) = condition::heq(ra, rb);
        hgt(ra, rb) = condition::hgt(ra, rb);
        hlgt(ra, rb) = condition::hlgt(ra, rb);
        brz(rt) = condition::brz(rt);
        brnz(rt) = condition::brnz(rt);
        brhz(rt) = condition::brhz(rt);
        brhnz(rt) = condition::brhnz(rt);
    }

    decide_indirect! { biz = brz; binz = brnz; bihz = brhz; bihnz = brhnz; }

    decide_immediate! { heqi; hgti; hlgti; }

    #[inline(always)]
    fn hbrr(&mut self) {}

    #[inline(always)]
    fn hbra(&mut self) {}

    #[inline(always)]
    fn hbr(&mut self, _ra: Quadword) {}

    #[inline(always)]
    fn hbrp(&mut self) {}

    #[inline(always)]
    fn br(&mut self) {}

    #[inline(always)]
    fn bra(&mut self) {}

    #[inline(always)]
    fn brsl(&mut self, link: LocalAddress) -> Quadword {
        preferred_slot(link.0)
    }

    #[inline(always)]
    fn brasl(&mut self, link: LocalAddress) -> Quadword {
        preferred_slot(link.0)
    }

    #[inline(always)]
    fn bi(&mut self, ra: Quadword) {
        self.branch_observer.jumped(ra.preferred());
    }

    #[inline(always)]
    fn bisl(&mut self, ra: Quadword, link: LocalAddress) -> Quadword {
        self.branch_observer.jumped(ra.preferred());
        preferred_slot(link.0)
    }

    #[inline(always)]
    fn bisled(&mut self, _ra: Quadword, link: LocalAddress) -> (Quadword, bool) {
        let taken = connected(&mut self.channels).count(Channel::EVENT_STATUS) > 0;
        self.branch_observer.decided(taken);
        (preferred_slot(link.0), taken)
    }

    #[inline(always)]
    fn iret(&mut self) {}

    #[inline(always)]
    fn rdch(&mut self, channel: Channel) -> Quadword {
        preferred_slot(connected(&mut self.channels).read(channel).word)
    }

    #[inline(always)]
    fn rchcnt(&mut self, channel: Channel) -> Quadword {
        preferred_slot(connected(&mut self.channels).count(channel))
    }

    #[inline(always)]
    fn wrch(&mut self, channel: Channel, ra: Quadword) {
        connected(&mut self.channels).write(channel, ra.preferred());
    }

    #[inline(always)]
    fn mfspr(&mut self) -> Quadword {
        Quadword::ZERO
    }

    #[inline(always)]
    fn mtspr(&mut self, _ra: Quadword) {}

    #[inline(always)]
    fn fscrrd(&mut self) -> Quadword {
        self.floating_point_status
    }

    #[inline(always)]
    fn fscrwr(&mut self, ra: Quadword) {
        self.floating_point_status = ra;
    }

    #[inline(always)]
    fn stop(&mut self, signal: u16) {
        debug_assert!(signal < 1 << 14, "a stop signal has 14 bits");
    }

    #[inline(always)]
    fn stopd(&mut self, _rt: Quadword, _ra: Quadword, _rb: Quadword) {}

    #[inline(always)]
    fn sync(&mut self) {}

    #[inline(always)]
    fn syncc(&mut self) {}

    #[inline(always)]
    fn dsync(&mut self) {}

    #[inline(always)]
    fn nop(&mut self) {}

    #[inline(always)]
    fn lnop(&mut self) {}

    #[inline(always)]
    fn value(&self, register: Quadword) -> Quadword {
        register
    }
}

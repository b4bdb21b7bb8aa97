//! The SPU that only executes.

use super::Spu;
use super::channel::{Channel, Channels, connected};
use super::forward::methods;
use super::instruction::for_each_instruction;
use super::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use super::register::Quadword;
use super::semantics::{self, preferred_slot};

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

    /// What a conditional branch or halt returns.
    #[inline(always)]
    fn decided(&mut self, taken: bool) -> bool
    where
        O: BranchObserver,
    {
        self.branch_observer.decided(taken);
        taken
    }

    /// The same of a conditional branch to the address in a register.
    #[inline(always)]
    fn decided_to(&mut self, taken: bool, ra: Quadword) -> bool
    where
        O: BranchObserver,
    {
        if self.decided(taken) {
            self.branch_observer.jumped(ra.preferred());
        }
        taken
    }

    /// The same SPU with those channels.
    #[must_use]
    pub fn with_channels(self, channels: &'s mut dyn Channels) -> Self {
        Self { channels: Some(channels), ..self }
    }
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

    methods! { inline(always) spu:
        lqr(constant: Quadword) -> Quadword = constant;
        lqd(displacement: i32, ra: Quadword) -> Quadword =
            spu.store.load(semantics::displaced(ra, displacement));
        lqx(ra: Quadword, rb: Quadword) -> Quadword = spu.store.load(semantics::indexed(ra, rb));
        lqa(address: LocalAddress) -> Quadword = spu.store.load(address);
        stqd(rt: Quadword, displacement: i32, ra: Quadword) =
            spu.store.store(semantics::displaced(ra, displacement), rt);
        stqx(rt: Quadword, ra: Quadword, rb: Quadword) =
            spu.store.store(semantics::indexed(ra, rb), rt);
        stqa(rt: Quadword, address: LocalAddress) = spu.store.store(address, rt);
        stqr(rt: Quadword, address: LocalAddress) = spu.store.store(address, rt);

        heq(ra: Quadword, rb: Quadword) -> bool = spu.decided(semantics::heq(ra, rb));
        heqi(ra: Quadword, i10: i16) -> bool = spu.decided(semantics::heqi(ra, i10));
        hgt(ra: Quadword, rb: Quadword) -> bool = spu.decided(semantics::hgt(ra, rb));
        hgti(ra: Quadword, i10: i16) -> bool = spu.decided(semantics::hgti(ra, i10));
        hlgt(ra: Quadword, rb: Quadword) -> bool = spu.decided(semantics::hlgt(ra, rb));
        hlgti(ra: Quadword, i10: i16) -> bool = spu.decided(semantics::hlgti(ra, i10));

        brz(rt: Quadword) -> bool = spu.decided(semantics::brz(rt));
        brnz(rt: Quadword) -> bool = spu.decided(semantics::brnz(rt));
        brhz(rt: Quadword) -> bool = spu.decided(semantics::brhz(rt));
        brhnz(rt: Quadword) -> bool = spu.decided(semantics::brhnz(rt));
        biz(rt: Quadword, ra: Quadword) -> bool = spu.decided_to(semantics::brz(rt), ra);
        binz(rt: Quadword, ra: Quadword) -> bool = spu.decided_to(semantics::brnz(rt), ra);
        bihz(rt: Quadword, ra: Quadword) -> bool = spu.decided_to(semantics::brhz(rt), ra);
        bihnz(rt: Quadword, ra: Quadword) -> bool = spu.decided_to(semantics::brhnz(rt), ra);

        hbrr() = {}; hbra() = {}; hbr(_ra: Quadword) = {}; hbrp() = {};
        br() = {}; bra() = {}; iret() = {};
        brsl(link: LocalAddress) -> Quadword = preferred_slot(link.0);
        brasl(link: LocalAddress) -> Quadword = preferred_slot(link.0);
        bi(ra: Quadword) = spu.branch_observer.jumped(ra.preferred());
        bisl(ra: Quadword, link: LocalAddress) -> Quadword = {
            spu.branch_observer.jumped(ra.preferred());
            preferred_slot(link.0)
        };
        bisled(_ra: Quadword, link: LocalAddress) -> (Quadword, bool) = {
            let taken = connected(&mut spu.channels).count(Channel::EVENT_STATUS) > 0;
            (preferred_slot(link.0), spu.decided(taken))
        };

        rdch(channel: Channel) -> Quadword =
            preferred_slot(connected(&mut spu.channels).read(channel).word);
        rchcnt(channel: Channel) -> Quadword =
            preferred_slot(connected(&mut spu.channels).count(channel));
        wrch(channel: Channel, ra: Quadword) = {
            connected(&mut spu.channels).write(channel, ra.preferred());
        };
        mfspr() -> Quadword = Quadword::ZERO;
        mtspr(_ra: Quadword) = {};
        fscrrd() -> Quadword = spu.floating_point_status;
        fscrwr(ra: Quadword) = spu.floating_point_status = ra;

        stop(signal: u16) = debug_assert!(signal < 1 << 14, "a stop signal has 14 bits");
        stopd(_rt: Quadword, _ra: Quadword, _rb: Quadword) = {};
        sync() = {}; syncc() = {}; dsync() = {}; nop() = {}; lnop() = {};
    }

    #[inline(always)]
    fn value(&self, register: Quadword) -> Quadword {
        register
    }
}

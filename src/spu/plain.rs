//! The SPU that only executes.

use super::Spu;
use super::channel::{Channel, Channels, connected};
use super::instruction::for_each_instruction;
use super::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use super::register::Quadword;
use super::semantics::{self, condition, preferred_slot};

/// Executes instructions and takes no time, so that a kernel compiles into plain code of the host.
#[derive(Debug)]
pub struct PlainSpu<'s, M = LocalStore> {
    store: &'s mut M,
    channels: Option<&'s mut dyn Channels>,
    floating_point_status: Quadword,
}

impl<'s, M: QuadwordMemory> PlainSpu<'s, M> {
    /// An SPU with that local store and without channels.
    pub const fn new(store: &'s mut M) -> Self {
        Self { store, channels: None, floating_point_status: Quadword::ZERO }
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
            $condition
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

impl<M: QuadwordMemory> Spu for PlainSpu<'_, M> {
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
        biz(rt, _ra) = condition::brz(rt);
        binz(rt, _ra) = condition::brnz(rt);
        bihz(rt, _ra) = condition::brhz(rt);
        bihnz(rt, _ra) = condition::brhnz(rt);
    }

    #[inline(always)]
    fn heqi(&mut self, ra: Quadword, i10: i16) -> bool {
        condition::heqi(ra, i10)
    }

    #[inline(always)]
    fn hgti(&mut self, ra: Quadword, i10: i16) -> bool {
        condition::hgti(ra, i10)
    }

    #[inline(always)]
    fn hlgti(&mut self, ra: Quadword, i10: i16) -> bool {
        condition::hlgti(ra, i10)
    }

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
    fn bi(&mut self, _ra: Quadword) {}

    #[inline(always)]
    fn bisl(&mut self, _ra: Quadword, link: LocalAddress) -> Quadword {
        preferred_slot(link.0)
    }

    #[inline(always)]
    fn bisled(&mut self, _ra: Quadword, link: LocalAddress) -> (Quadword, bool) {
        let events = connected(&mut self.channels).count(Channel::EVENT_STATUS);
        (preferred_slot(link.0), events > 0)
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

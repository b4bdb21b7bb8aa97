//! Each instruction, executed and recorded with its class: a function of the host that kernels call,
//! so that a kernel compiles into little code.

use super::{Tagged, TimedSpu};
use crate::block::Kind;
use crate::channel::{Channel, connected};
use crate::instruction::{Class, Destination, for_each_instruction};
use crate::local_store::LocalAddress;
use crate::register::Quadword;
use crate::semantics::{self, condition, preferred_slot};
use crate::{BranchName, Spu};
use mmgp_base::units::Cycles;

macro_rules! execute_and_record {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(never)]
        fn $mnemonic(&mut self, $($register: Tagged,)* $($immediate: $type)?) -> Tagged {
            let value = semantics::$mnemonic($($register.value,)* $($immediate)?);
            let kind = const { Kind::new(Class::$class, Destination::$destination) };
            self.computed(kind, [$($register),*], value)
        }
    )*};
}

/// Conditional halts. Nothing waits for one that does not halt.
macro_rules! halts {
    ($($mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?);)*) => {$(
        #[inline(never)]
        fn $mnemonic(&mut self, $($register: Tagged,)* $($immediate: $type)?) -> bool {
            self.done(Class::SimpleFixed, [$($register),*]);
            condition::$mnemonic($($register.value,)* $($immediate)?)
        }
    )*};
}

/// Conditional branches, each with the relative one that has the same condition.
macro_rules! branches {
    ($($mnemonic:ident(rt $(, $target:ident)?) = $relative:ident;)*) => {$(
        #[inline(never)]
        fn $mnemonic(&mut self, rt: Tagged $(, $target: Tagged)?) -> bool {
            self.branch([rt $(, $target)?], condition::$relative(rt.value))
        }
    )*};
}

/// Stops and synchronisation: the pipeline treats them as branches, which end no block with a jump.
const CONTROL: Kind = Kind::new(Class::Branch, Destination::Nowhere);

impl Spu for TimedSpu<'_> {
    type Register = Tagged;

    for_each_instruction!(execute_and_record);

    #[inline(never)]
    fn lqr(&mut self, constant: Quadword) -> Tagged {
        self.computed(Kind::new(Class::LoadStore, Destination::New), [], constant)
    }

    #[inline(never)]
    fn lqd(&mut self, displacement: i32, ra: Tagged) -> Tagged {
        self.load([ra], semantics::displaced(ra.value, displacement))
    }

    #[inline(never)]
    fn lqx(&mut self, ra: Tagged, rb: Tagged) -> Tagged {
        self.load([ra, rb], semantics::indexed(ra.value, rb.value))
    }

    #[inline(never)]
    fn lqa(&mut self, address: LocalAddress) -> Tagged {
        self.load([], address)
    }

    #[inline(never)]
    fn stqd(&mut self, rt: Tagged, displacement: i32, ra: Tagged) {
        self.keep([rt, ra], semantics::displaced(ra.value, displacement), rt.value);
    }

    #[inline(never)]
    fn stqx(&mut self, rt: Tagged, ra: Tagged, rb: Tagged) {
        self.keep([rt, ra, rb], semantics::indexed(ra.value, rb.value), rt.value);
    }

    #[inline(never)]
    fn stqa(&mut self, rt: Tagged, address: LocalAddress) {
        self.keep([rt], address, rt.value);
    }

    #[inline(never)]
    fn stqr(&mut self, rt: Tagged, address: LocalAddress) {
        self.keep([rt], address, rt.value);
    }

    halts! {
        heq(ra, rb); heqi(ra; i10: i16); hgt(ra, rb); hgti(ra; i10: i16); hlgt(ra, rb);
        hlgti(ra; i10: i16);
    }

    branches! {
        brz(rt) = brz; brnz(rt) = brnz; brhz(rt) = brhz; brhnz(rt) = brhnz;
        biz(rt, ra) = brz; binz(rt, ra) = brnz; bihz(rt, ra) = brhz; bihnz(rt, ra) = brhnz;
    }

    #[inline(never)]
    fn hbrr(&mut self) {
        self.hint([], None);
    }

    #[inline(never)]
    fn hbra(&mut self) {
        self.hint([], None);
    }

    #[inline(never)]
    fn hbr(&mut self, ra: Tagged) {
        self.hint([ra], None);
    }

    #[inline(never)]
    fn hbrp(&mut self) {
        self.record(Kind::PREFETCH, [], None);
    }

    #[inline(never)]
    fn hbrr_for(&mut self, branch: BranchName) {
        self.hint([], Some(branch));
    }

    #[inline(never)]
    fn name_branch(&mut self, name: BranchName) {
        self.recorder.hints.name_branch(name);
    }

    #[inline(never)]
    fn label(&mut self) {
        self.recorder.begin_block();
    }

    #[inline(never)]
    fn br(&mut self) {
        self.jump([]);
    }

    #[inline(never)]
    fn bra(&mut self) {
        self.jump([]);
    }

    #[inline(never)]
    fn brsl(&mut self, link: LocalAddress) -> Tagged {
        self.call([], link, true)
    }

    #[inline(never)]
    fn brasl(&mut self, link: LocalAddress) -> Tagged {
        self.call([], link, true)
    }

    #[inline(never)]
    fn bi(&mut self, ra: Tagged) {
        self.jump([ra]);
    }

    #[inline(never)]
    fn bisl(&mut self, ra: Tagged, link: LocalAddress) -> Tagged {
        self.call([ra], link, true)
    }

    #[inline(never)]
    fn bisled(&mut self, ra: Tagged, link: LocalAddress) -> (Tagged, bool) {
        let taken = connected(&mut self.channels).count(Channel::EVENT_STATUS) > 0;
        (self.call([ra], link, taken), taken)
    }

    #[inline(never)]
    fn iret(&mut self) {
        self.jump([]);
    }

    #[inline(never)]
    fn rdch(&mut self, channel: Channel) -> Tagged {
        let read = connected(&mut self.channels).read(channel);
        let tag = self.barrier(Kind::new(Class::Channel, Destination::New), [], read.wait);
        Tagged { value: preferred_slot(read.word), tag }
    }

    #[inline(never)]
    fn rchcnt(&mut self, channel: Channel) -> Tagged {
        let count = connected(&mut self.channels).count(channel);
        let tag = self.barrier(Kind::new(Class::Channel, Destination::New), [], Cycles(0));
        Tagged { value: preferred_slot(count), tag }
    }

    #[inline(never)]
    fn wrch(&mut self, channel: Channel, ra: Tagged) {
        let wait = connected(&mut self.channels).write(channel, ra.value.preferred());
        self.barrier(Kind::new(Class::Channel, Destination::Nowhere), [ra], wait);
    }

    #[inline(never)]
    fn mfspr(&mut self) -> Tagged {
        let tag = self.barrier(Kind::new(Class::Channel, Destination::New), [], Cycles(0));
        Tagged { value: Quadword::ZERO, tag }
    }

    #[inline(never)]
    fn mtspr(&mut self, ra: Tagged) {
        self.barrier(Kind::new(Class::Channel, Destination::Nowhere), [ra], Cycles(0));
    }

    #[inline(never)]
    fn fscrrd(&mut self) -> Tagged {
        let tag = self.barrier(Kind::new(Class::DoublePrecision, Destination::New), [], Cycles(0));
        Tagged { value: self.floating_point_status, tag }
    }

    #[inline(never)]
    fn fscrwr(&mut self, ra: Tagged) {
        self.barrier(Kind::new(Class::IntegerMultiply, Destination::Nowhere), [ra], Cycles(0));
        self.floating_point_status = ra.value;
    }

    #[inline(never)]
    fn stop(&mut self, signal: u16) {
        debug_assert!(signal < 1 << 14, "a stop signal has 14 bits");
        self.barrier(CONTROL, [], Cycles(0));
    }

    #[inline(never)]
    fn stopd(&mut self, rt: Tagged, ra: Tagged, rb: Tagged) {
        self.barrier(CONTROL, [rt, ra, rb], Cycles(0));
    }

    #[inline(never)]
    fn sync(&mut self) {
        self.barrier(CONTROL, [], Cycles(0));
    }

    #[inline(never)]
    fn syncc(&mut self) {
        self.barrier(CONTROL, [], Cycles(0));
    }

    #[inline(never)]
    fn dsync(&mut self) {
        self.barrier(CONTROL, [], Cycles(0));
    }

    #[inline(never)]
    fn nop(&mut self) {
        self.done(Class::EvenNop, []);
    }

    #[inline(never)]
    fn lnop(&mut self) {
        self.done(Class::OddNop, []);
    }

    #[inline(never)]
    fn value(&self, register: Tagged) -> Quadword {
        register.value
    }
}

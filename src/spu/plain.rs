//! The SPU that only executes.

use super::instruction::for_each_instruction;
use super::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use super::register::Quadword;
use super::{Spu, semantics};

/// Executes instructions and takes no time, so that a kernel compiles into plain code of the host.
#[derive(Debug)]
pub struct PlainSpu<'s, M = LocalStore> {
    store: &'s mut M,
}

impl<'s, M: QuadwordMemory> PlainSpu<'s, M> {
    /// An SPU with that local store.
    pub const fn new(store: &'s mut M) -> Self {
        Self { store }
    }
}

macro_rules! execute {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident = $result:expr;)*) => {$(
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
    fn hbrr(&mut self) {}

    #[inline(always)]
    fn br(&mut self) {}

    #[inline(always)]
    fn brz(&mut self, rt: Quadword) -> bool {
        rt.preferred() == 0
    }

    #[inline(always)]
    fn brnz(&mut self, rt: Quadword) -> bool {
        rt.preferred() != 0
    }

    #[inline(always)]
    fn nop(&mut self) {}

    #[inline(always)]
    fn lnop(&mut self) {}

    #[inline(always)]
    fn value(&self, register: Quadword) -> Quadword {
        register
    }
}

//! An SPU each of whose instructions is a call of a function of the host.

use super::channel::Channel;
use super::instruction::for_each_instruction;
use super::local_store::LocalAddress;
use super::register::Quadword;
use super::{BranchName, Spu};

/// The SPU `S`, with its instructions kept out of the kernel's code. A kernel compiles into far less
/// code so, in far less time, and runs several times slower: for what is seldom run.
pub(super) struct Outlined<S>(pub S);

macro_rules! forward_instructions {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(never)]
        fn $mnemonic(
            &mut self,
            $($register: Self::Register,)*
            $($immediate: $type)?
        ) -> Self::Register {
            self.0.$mnemonic($($register,)* $($immediate)?)
        }
    )*};
}

macro_rules! forward {
    ($($mnemonic:ident($($operand:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[inline(never)]
        fn $mnemonic(&mut self, $($operand: $type),*) $(-> $result)? {
            self.0.$mnemonic($($operand),*)
        }
    )*};
}

impl<S: Spu> Spu for Outlined<S> {
    type Register = S::Register;

    for_each_instruction!(forward_instructions);

    forward! {
        lqr(constant: Quadword) -> S::Register;
        lqd(displacement: i32, ra: S::Register) -> S::Register;
        lqx(ra: S::Register, rb: S::Register) -> S::Register;
        lqa(address: LocalAddress) -> S::Register;
        stqd(rt: S::Register, displacement: i32, ra: S::Register);
        stqx(rt: S::Register, ra: S::Register, rb: S::Register);
        stqa(rt: S::Register, address: LocalAddress);
        stqr(rt: S::Register, address: LocalAddress);
        heq(ra: S::Register, rb: S::Register) -> bool;
        heqi(ra: S::Register, i10: i16) -> bool;
        hgt(ra: S::Register, rb: S::Register) -> bool;
        hgti(ra: S::Register, i10: i16) -> bool;
        hlgt(ra: S::Register, rb: S::Register) -> bool;
        hlgti(ra: S::Register, i10: i16) -> bool;
        label();
        hbrr();
        hbra();
        hbr(ra: S::Register);
        hbrp();
        hbrr_for(branch: BranchName);
        name_branch(name: BranchName);
        br();
        bra();
        brsl(link: LocalAddress) -> S::Register;
        brasl(link: LocalAddress) -> S::Register;
        bi(ra: S::Register);
        bisl(ra: S::Register, link: LocalAddress) -> S::Register;
        bisled(ra: S::Register, link: LocalAddress) -> (S::Register, bool);
        iret();
        brz(rt: S::Register) -> bool;
        brnz(rt: S::Register) -> bool;
        brhz(rt: S::Register) -> bool;
        brhnz(rt: S::Register) -> bool;
        biz(rt: S::Register, ra: S::Register) -> bool;
        binz(rt: S::Register, ra: S::Register) -> bool;
        bihz(rt: S::Register, ra: S::Register) -> bool;
        bihnz(rt: S::Register, ra: S::Register) -> bool;
        rdch(channel: Channel) -> S::Register;
        rchcnt(channel: Channel) -> S::Register;
        wrch(channel: Channel, ra: S::Register);
        mfspr() -> S::Register;
        mtspr(ra: S::Register);
        fscrrd() -> S::Register;
        fscrwr(ra: S::Register);
        stop(signal: u16);
        stopd(rt: S::Register, ra: S::Register, rb: S::Register);
        sync();
        syncc();
        dsync();
        nop();
        lnop();
    }

    #[inline(never)]
    fn value(&self, register: S::Register) -> Quadword {
        self.0.value(register)
    }
}

//! The methods of an SPU that are no instructions from registers to a register, as a table.

/// Calls a macro with every such method but those that look at the host's side.
macro_rules! for_each_other_method {
    ($macro:ident) => {
        $macro! {
            lqr(constant: Quadword) -> Self::Register;
            lqd(displacement: i32, ra: Self::Register) -> Self::Register;
            lqx(ra: Self::Register, rb: Self::Register) -> Self::Register;
            lqa(address: LocalAddress) -> Self::Register;
            stqd(rt: Self::Register, displacement: i32, ra: Self::Register);
            stqx(rt: Self::Register, ra: Self::Register, rb: Self::Register);
            stqa(rt: Self::Register, address: LocalAddress);
            stqr(rt: Self::Register, address: LocalAddress);
            heq(ra: Self::Register, rb: Self::Register) -> bool;
            heqi(ra: Self::Register, i10: i16) -> bool;
            hgt(ra: Self::Register, rb: Self::Register) -> bool;
            hgti(ra: Self::Register, i10: i16) -> bool;
            hlgt(ra: Self::Register, rb: Self::Register) -> bool;
            hlgti(ra: Self::Register, i10: i16) -> bool;
            label();
            hbrr();
            hbra();
            hbr(ra: Self::Register);
            hbrp();
            hbrr_for(branch: BranchName);
            name_branch(name: BranchName);
            br();
            bra();
            brsl(link: LocalAddress) -> Self::Register;
            brasl(link: LocalAddress) -> Self::Register;
            bi(ra: Self::Register);
            bisl(ra: Self::Register, link: LocalAddress) -> Self::Register;
            bisled(ra: Self::Register, link: LocalAddress) -> (Self::Register, bool);
            iret();
            brz(rt: Self::Register) -> bool;
            brnz(rt: Self::Register) -> bool;
            brhz(rt: Self::Register) -> bool;
            brhnz(rt: Self::Register) -> bool;
            biz(rt: Self::Register, ra: Self::Register) -> bool;
            binz(rt: Self::Register, ra: Self::Register) -> bool;
            bihz(rt: Self::Register, ra: Self::Register) -> bool;
            bihnz(rt: Self::Register, ra: Self::Register) -> bool;
            rdch(channel: Channel) -> Self::Register;
            rchcnt(channel: Channel) -> Self::Register;
            wrch(channel: Channel, ra: Self::Register);
            mfspr() -> Self::Register;
            mtspr(ra: Self::Register);
            fscrrd() -> Self::Register;
            fscrwr(ra: Self::Register);
            stop(signal: u16);
            stopd(rt: Self::Register, ra: Self::Register, rb: Self::Register);
            sync();
            syncc();
            dsync();
            nop();
            lnop();
        }
    };
}

pub(super) use for_each_other_method;

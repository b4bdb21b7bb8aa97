//! Instructions that touch more than registers. Their methods are written out in
//! [`Spu`](crate::Spu); here stands what an assembler needs to know of them.

use super::Immediate as Kind;
use super::Operand::{
    Address, Channel, Displaced, FalseTarget, Immediate, Label, OptionalImmediate, Source,
    SpecialRegister, Target,
};
use super::{Class, Instruction, Operand, Processor};

const fn of(mnemonic: &'static str, class: Class, operands: &'static [Operand]) -> Instruction {
    Instruction { mnemonic, class, operands, processor: Processor::CellBe }
}

const DISPLACED: Operand = Displaced(Kind::Displacement);
const SIGNED_10: Operand = Immediate(Kind::Signed10);

pub(super) const INSTRUCTIONS: &[Instruction] = &[
    of("lqa", Class::LoadStore, &[Target, Address]),
    of("lqd", Class::LoadStore, &[Target, DISPLACED]),
    of("lqr", Class::LoadStore, &[Target, Label]),
    of("lqx", Class::LoadStore, &[Target, Source, Source]),
    of("stqa", Class::LoadStore, &[Source, Address]),
    of("stqd", Class::LoadStore, &[Source, DISPLACED]),
    of("stqr", Class::LoadStore, &[Source, Label]),
    of("stqx", Class::LoadStore, &[Source, Source, Source]),
    // Conditional halts.
    of("heq", Class::SimpleFixed, &[FalseTarget, Source, Source]),
    of("heqi", Class::SimpleFixed, &[FalseTarget, Source, SIGNED_10]),
    of("hgt", Class::SimpleFixed, &[FalseTarget, Source, Source]),
    of("hgti", Class::SimpleFixed, &[FalseTarget, Source, SIGNED_10]),
    of("hlgt", Class::SimpleFixed, &[FalseTarget, Source, Source]),
    of("hlgti", Class::SimpleFixed, &[FalseTarget, Source, SIGNED_10]),
    // Branches.
    of("br", Class::Branch, &[Label]),
    of("bra", Class::Branch, &[Address]),
    of("brsl", Class::Branch, &[Target, Label]),
    of("brasl", Class::Branch, &[Target, Address]),
    of("brz", Class::Branch, &[Source, Label]),
    of("brnz", Class::Branch, &[Source, Label]),
    of("brhz", Class::Branch, &[Source, Label]),
    of("brhnz", Class::Branch, &[Source, Label]),
    of("bi", Class::Branch, &[Source]),
    of("bisl", Class::Branch, &[Target, Source]),
    of("bisled", Class::Branch, &[Target, Source]),
    of("biz", Class::Branch, &[Source, Source]),
    of("binz", Class::Branch, &[Source, Source]),
    of("bihz", Class::Branch, &[Source, Source]),
    of("bihnz", Class::Branch, &[Source, Source]),
    of("iret", Class::Branch, &[FalseTarget]),
    // The same, enabling or disabling interrupts where they branch.
    of("bie", Class::Branch, &[Source]),
    of("bid", Class::Branch, &[Source]),
    of("bisle", Class::Branch, &[Target, Source]),
    of("bisld", Class::Branch, &[Target, Source]),
    of("bislede", Class::Branch, &[Target, Source]),
    of("bisledd", Class::Branch, &[Target, Source]),
    of("bize", Class::Branch, &[Source, Source]),
    of("bizd", Class::Branch, &[Source, Source]),
    of("binze", Class::Branch, &[Source, Source]),
    of("binzd", Class::Branch, &[Source, Source]),
    of("bihze", Class::Branch, &[Source, Source]),
    of("bihzd", Class::Branch, &[Source, Source]),
    of("bihnze", Class::Branch, &[Source, Source]),
    of("bihnzd", Class::Branch, &[Source, Source]),
    of("irete", Class::Branch, &[FalseTarget]),
    of("iretd", Class::Branch, &[FalseTarget]),
    // Hints: the branch, then its target.
    of("hbr", Class::BranchHint, &[Label, Source]),
    of("hbra", Class::BranchHint, &[Label, Address]),
    of("hbrr", Class::BranchHint, &[Label, Label]),
    of("hbrp", Class::LoadStore, &[]),
    // Channels and special registers.
    of("rdch", Class::Channel, &[Target, Channel]),
    of("rchcnt", Class::Channel, &[Target, Channel]),
    of("wrch", Class::Channel, &[Channel, Source]),
    of("mfspr", Class::Channel, &[Target, SpecialRegister]),
    of("mtspr", Class::Channel, &[SpecialRegister, Source]),
    of("fscrrd", Class::DoublePrecision, &[Target]),
    of("fscrwr", Class::IntegerMultiply, &[FalseTarget, Source]),
    // Control.
    of("stop", Class::Branch, &[OptionalImmediate(Kind::StopSignal)]),
    of("stopd", Class::Branch, &[Source, Source, Source]),
    of("sync", Class::Branch, &[]),
    of("syncc", Class::Branch, &[]),
    of("dsync", Class::Branch, &[]),
    of("nop", Class::EvenNop, &[FalseTarget]),
    of("lnop", Class::OddNop, &[]),
    // The assembler's other name for `ori` with 0.
    of("lr", Class::SimpleFixed, &[Target, Source]),
];

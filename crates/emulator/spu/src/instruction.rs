//! The instruction set: one table, from which everything else that names an instruction follows.
//!
//! Instructions from registers to a register are one line each, in a file for each group. From the
//! line follow the method of [`Spu`](super::Spu), what it computes, plain and timed, and its
//! [`Instruction`]. Those that touch more are listed in `other` and written out where they execute.
//!
//! This is the Synergistic Processor Unit Instruction Set Architecture 1.2 as far as programs see
//! it. Indirect branches that enable or disable interrupts are known to an assembler, but have no
//! methods: nothing interrupts the emulated SPU.

use std::ops::RangeInclusive;

/// What an assembler and a timing tool know of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The assembler's name (`and_` and `or_` without the underscore that Rust asks for).
    pub mnemonic: &'static str,
    /// Class, from which its pipe follows.
    pub class: Class,
    /// Operands, in the assembler's order.
    pub operands: &'static [Operand],
    /// Who has it.
    pub processor: Processor,
}

/// The first processor that has an instruction; later ones have it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Processor {
    /// The Cell Broadband Engine of QS20, QS21 and PlayStation 3.
    CellBe,
    /// The PowerXCell 8i of QS22. On a Cell BE its own instructions are errors: an assembler must
    /// refuse them, and a kernel that uses one must only run on machines with that processor.
    PowerXCell8i,
}

/// One of the two execution pipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipe {
    /// Arithmetic.
    Even,
    /// Loads, stores, shuffles, branches and channels.
    Odd,
}

/// Instructions that the pipeline treats alike; the names in brackets are those of IBM's manuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Word arithmetic, logic, compares, immediates, select (FX2).
    SimpleFixed,
    /// Word and halfword shifts and rotates (FX3, WS).
    WordShift,
    /// Byte operations (FXB, BO).
    Byte,
    /// Single-precision arithmetic (FP6, SP).
    SinglePrecision,
    /// Integer multiply, conversion, interpolation (FP7, FI).
    IntegerMultiply,
    /// Double-precision arithmetic (FPD, DP).
    DoublePrecision,
    /// `nop`, which fills an even word.
    EvenNop,
    /// `lnop`, which fills an odd word.
    OddNop,
    /// Shuffles, quadword shifts and rotates, masks (SH).
    Shuffle,
    /// Loads and stores (LS).
    LoadStore,
    /// Branch hints (HB).
    BranchHint,
    /// Branches (BR).
    Branch,
    /// Channels and special registers (CH, SPR).
    Channel,
}

impl Class {
    /// All classes, in the order of their discriminants.
    pub const ALL: [Self; 13] = [
        Self::SimpleFixed,
        Self::WordShift,
        Self::Byte,
        Self::SinglePrecision,
        Self::IntegerMultiply,
        Self::DoublePrecision,
        Self::EvenNop,
        Self::OddNop,
        Self::Shuffle,
        Self::LoadStore,
        Self::BranchHint,
        Self::Branch,
        Self::Channel,
    ];

    /// The pipe that executes the class.
    #[inline]
    pub const fn pipe(self) -> Pipe {
        if (self as u8) < (Self::OddNop as u8) { Pipe::Even } else { Pipe::Odd }
    }
}

/// Place in which an instruction leaves its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// A register of its own.
    New,
    /// The register of its last operand, whose value is gone afterwards.
    LastOperand,
    /// No register: stores, hints, branches.
    Nowhere,
}

/// The instruction of that name.
pub fn lookup(mnemonic: &str) -> Option<&'static Instruction> {
    instructions().find(|instruction| instruction.mnemonic == mnemonic)
}

/// All instructions, group by group.
pub fn instructions() -> impl Iterator<Item = &'static Instruction> {
    GROUPS.into_iter().flatten()
}

impl Instruction {
    /// Place in which it leaves its result.
    pub fn destination(&self) -> Destination {
        let written = self.operands.iter().find(|operand| operand.is_written());
        match written {
            Some(Operand::Accumulator) => Destination::LastOperand,
            Some(_) => Destination::New,
            None => Destination::Nowhere,
        }
    }
}

/// Calls the macro `$expand` once for each group of instructions from registers to a register.
///
/// A line reads: what it does; mnemonic, registers read and, after a semicolon, the immediate,
/// whose name is its [`Immediate`]; class; the [`Destination`] (an accumulator that is
/// overwritten, which the assembler writes first, is called `rt` and stands last); in brackets the
/// [`Processor`] where it is not the first; and the result as an expression over the helpers of
/// `semantics`.
macro_rules! for_each_instruction {
    ($expand:ident) => {
        $crate::instruction::integer::integer!($expand);
        $crate::instruction::floating::floating!($expand);
    };
}
pub(super) use for_each_instruction;

const GROUPS: [&[Instruction]; 3] =
    [integer::INSTRUCTIONS, floating::INSTRUCTIONS, other::INSTRUCTIONS];

/// Writes a group as values.
macro_rules! as_values {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {
        pub(super) const INSTRUCTIONS: &[super::Instruction] = &[$(
            super::Instruction {
                mnemonic: super::assembler_name(stringify!($mnemonic)),
                class: super::Class::$class,
                operands: super::operands!($destination ($($register)*) $($immediate)?),
                processor: super::first_processor!($($processor)?),
            },
        )*];
    };
}

/// The operands of a line in the assembler's order.
macro_rules! operands {
    (New (ra) d7) => {
        &[
            $crate::instruction::Operand::Target,
            $crate::instruction::Operand::Displaced(
                $crate::instruction::Immediate::ShortDisplacement,
            ),
        ]
    };
    (New ($($register:ident)*) $($immediate:ident)?) => {
        super::operands!(Target ($($register)*) $($immediate)?)
    };
    (LastOperand (rt) $($immediate:ident)?) => {
        super::operands!(Accumulator () $($immediate)?)
    };
    (LastOperand (ra rb rt)) => {
        super::operands!(Accumulator (ra rb))
    };
    ($written:ident ($($register:ident)*) $($immediate:ident)?) => {
        &[
            $crate::instruction::Operand::$written,
            $({
                const _: &str = stringify!($register);
                $crate::instruction::Operand::Source
            },)*
            $($crate::instruction::Operand::Immediate(
                $crate::instruction::Immediate::named(stringify!($immediate)),
            ),)?
        ]
    };
}
use operands;

macro_rules! first_processor {
    () => {
        $crate::instruction::Processor::CellBe
    };
    ($processor:ident) => {
        $crate::instruction::Processor::$processor
    };
}
use first_processor;

// The groups use the macros above.
pub(super) mod floating;
pub(super) mod integer;
mod other;

/// Drops the underscore of the method names that would otherwise be Rust keywords or operators.
const fn assembler_name(method: &'static str) -> &'static str {
    match method.as_bytes() {
        [name @ .., b'_'] => method.split_at(name.len()).0,
        _ => method,
    }
}

// What stands behind a mnemonic in an assembler's line.

/// An operand, as the assembler writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A register that is written.
    Target,
    /// A register that is read.
    Source,
    /// A register that is read and then overwritten with the result.
    Accumulator,
    /// A register field that the hardware ignores, and that may be left out.
    FalseTarget,
    /// A number.
    Immediate(Immediate),
    /// A number that may be left out and is then 0.
    OptionalImmediate(Immediate),
    /// A number and, in brackets, a register that is read: `16($3)`.
    Displaced(Immediate),
    /// A place in the program, as a label or an address relative to the instruction.
    Label,
    /// A place in local store, as a label or an absolute address.
    Address,
    /// A channel, `$ch0` to `$ch127`.
    Channel,
    /// A special-purpose register, `$sp0` to `$sp127`.
    SpecialRegister,
}

impl Operand {
    /// Whether it names a register whose value is read.
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Source | Self::Accumulator | Self::Displaced(_))
    }

    /// Whether it names the register that receives the result.
    pub const fn is_written(self) -> bool {
        matches!(self, Self::Target | Self::Accumulator)
    }
}

/// A kind of immediate: which numbers an assembler's line may give.
///
/// Where the hardware only looks at bits and compilers write them signed or unsigned, both are
/// accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Immediate {
    /// Count of a shift or rotation: seven bits, signed or unsigned.
    Count,
    /// Displacement of an insertion control: seven bits, signed or unsigned \[bytes\].
    ShortDisplacement,
    /// Kinds of special values: seven bits.
    Unsigned7,
    /// A byte, signed or unsigned.
    Byte,
    /// Exponent of the power of two in a conversion. The instruction's field holds 155 minus it
    /// (from integers) or 173 minus it (to integers).
    Scale,
    /// Ten bits, signed.
    Signed10,
    /// Displacement of a load or store: a multiple of 16 \[bytes\].
    Displacement,
    /// Code that `stop` hands to the PPE: 14 bits.
    StopSignal,
    /// Sixteen bits, signed.
    Signed16,
    /// Sixteen bits, signed or unsigned.
    Halfword,
    /// Eighteen bits, or the address of a label.
    Unsigned18,
}

impl Immediate {
    /// The numbers that it may be.
    pub const fn range(self) -> RangeInclusive<i32> {
        match self {
            Self::Count | Self::ShortDisplacement => -64..=127,
            Self::Unsigned7 | Self::Scale => 0..=127,
            Self::Byte => -128..=255,
            Self::Signed10 => -512..=511,
            Self::Displacement => -8192..=8176,
            Self::StopSignal => 0..=0x3FFF,
            Self::Signed16 => -0x8000..=0x7FFF,
            Self::Halfword => -0x8000..=0xFFFF,
            Self::Unsigned18 => 0..=0x3_FFFF,
        }
    }

    /// What it must be a multiple of.
    pub const fn step(self) -> i32 {
        match self {
            Self::Displacement => 16,
            _ => 1,
        }
    }

    /// Whether `number` is one that it may be.
    pub fn admits(self, number: i64) -> bool {
        let (range, step) = (self.range(), i64::from(self.step()));
        (i64::from(*range.start())..=i64::from(*range.end())).contains(&number)
            && number % step == 0
    }

    /// The kind by the name that an immediate has in the table.
    ///
    /// # Panics
    /// For other names, when the table is compiled.
    pub(crate) const fn named(name: &str) -> Self {
        match name.as_bytes() {
            b"i7" => Self::Count,
            b"d7" => Self::ShortDisplacement,
            b"u7" => Self::Unsigned7,
            b"u8" => Self::Byte,
            b"scale" => Self::Scale,
            b"i10" => Self::Signed10,
            b"i16" => Self::Signed16,
            b"u16" => Self::Halfword,
            b"u18" => Self::Unsigned18,
            _ => panic!("the table names an unknown kind of immediate"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_stands_at_its_discriminant_and_in_its_pipe() {
        use Class::*;
        for (index, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, index);
            let odd = matches!(class, OddNop | Shuffle | LoadStore | BranchHint | Branch | Channel);
            assert_eq!(class.pipe() == Pipe::Odd, odd, "{class:?}");
        }
    }

    #[test]
    fn each_mnemonic_stands_once_and_is_found() {
        for entry in instructions() {
            let same = instructions().filter(|other| other.mnemonic == entry.mnemonic);
            assert_eq!(same.count(), 1, "{} stands twice", entry.mnemonic);
            assert_eq!(lookup(entry.mnemonic), Some(entry));
        }
        assert_eq!(lookup("addi"), None);
    }

    fn check(mnemonic: &str, class: Class, operands: &[Operand]) {
        let entry = lookup(mnemonic).expect("it is in the table");
        assert_eq!((entry.class, entry.operands), (class, operands), "{mnemonic}");
    }

    #[test]
    fn operands_stand_in_the_order_of_the_assembler() {
        use Operand::{Accumulator, Displaced, Source, Target};
        check("and", Class::SimpleFixed, &[Target, Source, Source]);
        check("dfma", Class::DoublePrecision, &[Accumulator, Source, Source]);
        check("fma", Class::SinglePrecision, &[Target, Source, Source, Source]);
        check("il", Class::SimpleFixed, &[Target, Operand::Immediate(Immediate::Signed16)]);
        check("iohl", Class::SimpleFixed, &[Accumulator, Operand::Immediate(Immediate::Halfword)]);
        check("cwd", Class::Shuffle, &[Target, Displaced(Immediate::ShortDisplacement)]);
        check("stqd", Class::LoadStore, &[Source, Displaced(Immediate::Displacement)]);
        let destination = |name| lookup(name).map(Instruction::destination);
        assert_eq!(destination("sfx"), Some(Destination::LastOperand));
        assert_eq!(destination("clz"), Some(Destination::New));
        assert_eq!(destination("brz"), Some(Destination::Nowhere));
    }

    #[test]
    fn only_the_double_compares_need_a_powerxcell() {
        let own: Vec<&str> = instructions()
            .filter(|entry| entry.processor == Processor::PowerXCell8i)
            .map(|entry| entry.mnemonic)
            .collect();
        assert_eq!(own, ["dfceq", "dfcmeq", "dfcgt", "dfcmgt", "dftsv"]);
    }
}

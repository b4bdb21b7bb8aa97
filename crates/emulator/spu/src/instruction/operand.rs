//! What stands behind a mnemonic in an assembler's line.

use std::ops::RangeInclusive;

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

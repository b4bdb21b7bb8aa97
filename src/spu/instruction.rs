//! The instruction set: one table, from which everything else that names an instruction follows.

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

/// Where an instruction leaves its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// In a register of its own.
    New,
    /// In the register of its last operand, whose value is gone afterwards.
    LastOperand,
    /// It has no result in a register: stores, hints, branches.
    Nowhere,
}

/// An instruction from registers to a register, as an assembler or a timing tool sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The assembler's name (`and_` and `or_` without the underscore that Rust asks for).
    pub mnemonic: &'static str,
    /// Its class.
    pub class: Class,
    /// How many registers it reads.
    pub registers: usize,
    /// How many immediates it takes, 0 or 1.
    pub immediates: usize,
    /// Where it leaves its result.
    pub destination: Destination,
}

/// Calls the macro `$expand` with the table of all instructions from registers to a register.
///
/// A line reads: what it does; mnemonic, registers read and, after a semicolon, the immediate;
/// class; the [`Destination`] (an accumulator that is overwritten, which the assembler writes first,
/// stands last); and the result as an expression over the
/// helpers of `semantics`. Loads, stores, hints and branches touch more than registers and are
/// written out in the implementations of [`Spu`](super::Spu).
macro_rules! for_each_instruction {
    ($expand:ident) => {
        $expand! {
            /// Immediate load word: the sign-extended immediate in every word.
            il(; i16: i16) SimpleFixed New = Quadword::splat(i16 as i32 as u32);
            /// Immediate load address: the 18-bit immediate in every word.
            ila(; i18: u32) SimpleFixed New = Quadword::splat(unsigned::<18>(i18));
            /// Immediate load halfword upper: the immediate in the upper half of every word.
            ilhu(; i16: u16) SimpleFixed New = Quadword::splat((i16 as u32) << 16);
            /// Immediate or halfword lower: the immediate or-ed into the lower halves.
            iohl(rt; i16: u16) SimpleFixed LastOperand = words(rt, |x| x | i16 as u32);

            /// Add word.
            a(ra, rb) SimpleFixed New = words2(ra, rb, u32::wrapping_add);
            /// Add word immediate.
            ai(ra; i10: i16) SimpleFixed New = words(ra, |x| x.wrapping_add(signed10(i10)));
            /// Subtract from word: `rb - ra`.
            sf(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| y.wrapping_sub(x));
            /// Subtract from word immediate: `i10 - ra`.
            sfi(ra; i10: i16) SimpleFixed New = words(ra, |x| signed10(i10).wrapping_sub(x));
            /// And.
            and_(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x & y);
            /// And with complement: `ra & !rb`.
            andc(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x & !y);
            /// And word immediate.
            andi(ra; i10: i16) SimpleFixed New = words(ra, |x| x & signed10(i10));
            /// Or.
            or_(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x | y);
            /// Or with complement: `ra | !rb`.
            orc(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x | !y);
            /// Or word immediate; with 0 it copies a register (the assembler's `lr`).
            ori(ra; i10: i16) SimpleFixed New = words(ra, |x| x | signed10(i10));
            /// Exclusive or.
            xor(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x ^ y);
            /// Nand.
            nand(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| !(x & y));
            /// Nor.
            nor(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| !(x | y));
            /// Select bits: where a bit of `rc` is 0 that of `ra`, where it is 1 that of `rb`.
            selb(ra, rb, rc) SimpleFixed New = select(ra, rb, rc);
            /// Compare equal word: all ones where equal.
            ceq(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| mask(x == y));
            /// Compare equal word immediate.
            ceqi(ra; i10: i16) SimpleFixed New = words(ra, |x| mask(x == signed10(i10)));
            /// Compare greater than word, signed: all ones where `ra > rb`.
            cgt(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| mask(x as i32 > y as i32));
            /// Compare greater than word immediate, signed.
            cgti(ra; i10: i16) SimpleFixed New =
                words(ra, |x| mask(x as i32 > signed10(i10) as i32));
            /// Compare logical greater than word, unsigned.
            clgt(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| mask(x > y));
            /// Compare logical greater than word immediate, unsigned.
            clgti(ra; i10: i16) SimpleFixed New = words(ra, |x| mask(x > signed10(i10)));

            /// Shift left word by the low six bits of each word of `rb`.
            shl(ra, rb) WordShift New = words2(ra, rb, shift_left);
            /// Shift left word immediate.
            shli(ra; i7: i16) WordShift New = words(ra, |x| shift_left(x, i7 as u32));
            /// Rotate word immediate, to the left.
            roti(ra; i7: i16) WordShift New = words(ra, |x| x.rotate_left(i7 as u32 % 32));
            /// Rotate and mask word: logical shift right by the negated count of each word.
            rotm(ra, rb) WordShift New =
                words2(ra, rb, |x, y| shift_right(x, y.wrapping_neg()));
            /// Rotate and mask word immediate: logical shift right by `-i7`.
            rotmi(ra; i7: i16) WordShift New = words(ra, |x| shift_right(x, -i7 as u32));
            /// Rotate and mask algebraic word immediate: arithmetic shift right by `-i7`.
            rotmai(ra; i7: i16) WordShift New =
                words(ra, |x| shift_right_algebraic(x, -i7 as u32));

            /// Multiply: the signed product of the lower halves of each word.
            mpy(ra, rb) IntegerMultiply New = words2(ra, rb, multiply_low);
            /// Multiply unsigned: the unsigned product of the lower halves of each word.
            mpyu(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| (x & 0xFFFF).wrapping_mul(y & 0xFFFF));
            /// Multiply high: upper half of `ra` times lower half of `rb`, shifted left by 16.
            mpyh(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| (x >> 16).wrapping_mul(y & 0xFFFF) << 16);
            /// Multiply and add: [`mpy`](Self::mpy) of `ra` and `rb` plus `rc`.
            mpya(ra, rb, rc) IntegerMultiply New =
                words2(words2(ra, rb, multiply_low), rc, u32::wrapping_add);

            /// Double add.
            dfa(ra, rb) DoublePrecision New = doubles2(ra, rb, |x, y| x + y);
            /// Double subtract: `ra - rb`.
            dfs(ra, rb) DoublePrecision New = doubles2(ra, rb, |x, y| x - y);
            /// Double multiply.
            dfm(ra, rb) DoublePrecision New = doubles2(ra, rb, |x, y| x * y);
            /// Double multiply and add, rounded once: `ra * rb + rt`.
            dfma(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| x.mul_add(y, z));
            /// Double multiply and subtract, rounded once: `ra * rb - rt`.
            dfms(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| x.mul_add(y, -z));
            /// Double negative multiply and subtract, rounded once: `rt - ra * rb`.
            dfnms(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| -x.mul_add(y, -z));
            /// Double negative multiply and add, rounded once: `-(ra * rb + rt)`.
            dfnma(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| -x.mul_add(y, z));

            /// Shuffle bytes: each byte of `rc` picks one of the 32 bytes of `ra` and `rb`, or
            /// 0x00, 0xFF, 0x80 where it starts with the bits 10, 110, 111.
            shufb(ra, rb, rc) Shuffle New = shuffle(ra, rb, rc);
            /// Rotate quadword by bytes to the left, count in the preferred slot of `rb`.
            rotqby(ra, rb) Shuffle New = rotate_bytes(ra, rb.preferred());
            /// Rotate quadword by bytes immediate to the left.
            rotqbyi(ra; i7: i16) Shuffle New = rotate_bytes(ra, i7 as u32);
            /// Shift left quadword by bytes, count in the preferred slot of `rb`.
            shlqby(ra, rb) Shuffle New = shift_left_bytes(ra, rb.preferred());
            /// Shift left quadword by bytes immediate.
            shlqbyi(ra; i7: i16) Shuffle New = shift_left_bytes(ra, i7 as u32);
            /// Rotate and mask quadword by bytes immediate: shift right by `-i7` bytes.
            rotqmbyi(ra; i7: i16) Shuffle New = shift_right_bytes(ra, -i7 as u32);
            /// Form select mask bytes immediate: each bit of the immediate becomes a byte.
            fsmbi(; i16: u16) Shuffle New = select_mask_bytes(i16);
            /// Form select mask for words: each of the low four bits of the preferred slot
            /// becomes a word.
            fsm(ra) Shuffle New = select_mask_words(ra.preferred());
        }
    };
}
pub(super) use for_each_instruction;

/// Writes the table as values.
macro_rules! as_values {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident = $result:expr;)*) => {
        /// Every instruction from registers to a register, in the order of the table.
        pub const INSTRUCTIONS: &[Instruction] = &[$(
            Instruction {
                mnemonic: assembler_name(stringify!($mnemonic)),
                class: Class::$class,
                registers: <[&str]>::len(&[$(stringify!($register)),*]),
                immediates: <[&str]>::len(&[$(stringify!($immediate))?]),
                destination: Destination::$destination,
            },
        )*];
    };
}
for_each_instruction!(as_values);

/// Drops the underscore of the method names that would otherwise be Rust keywords or operators.
const fn assembler_name(method: &'static str) -> &'static str {
    match method.as_bytes() {
        [name @ .., b'_'] => method.split_at(name.len()).0,
        _ => method,
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
    fn the_table_lists_each_mnemonic_once_with_its_operands() {
        let find = |name| {
            let mut found = INSTRUCTIONS.iter().filter(move |entry| entry.mnemonic == name);
            (found.next().copied(), found.next())
        };
        for entry in INSTRUCTIONS {
            assert_eq!(find(entry.mnemonic).1, None, "{} stands twice", entry.mnemonic);
        }
        let and = find("and").0.expect("`and` is in the table");
        assert_eq!((and.registers, and.immediates, and.class), (2, 0, Class::SimpleFixed));
        let dfma = find("dfma").0.expect("`dfma` is in the table");
        assert_eq!((dfma.registers, dfma.destination), (3, Destination::LastOperand));
        let il = find("il").0.expect("`il` is in the table");
        assert_eq!((il.registers, il.immediates), (0, 1));
    }
}

//! What stands behind a mnemonic: registers, channels, values, and memory operands.

use super::expression::{Place, Symbols, Value, expression};
use super::text::{Cursor, Mistake, Parsed};

/// One of the 128 registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegisterName(pub u8);

/// Registers of an SPU.
pub(super) const REGISTERS: usize = 128;

impl RegisterName {
    /// Register in which calls leave the address to return to.
    pub(super) const LINK: Self = Self(0);
    const STACK: Self = Self(1);
}

impl std::fmt::Display for RegisterName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "${}", self.0)
    }
}

/// An operand as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand<'t> {
    /// The byte at which it begins.
    pub(super) offset: usize,
    pub(super) text: &'t str,
    pub(super) meaning: Meaning,
}

/// What an operand means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// `$3`.
    Register(RegisterName),
    /// `$ch21` or `$MFC_Cmd`.
    Channel(i64),
    /// `$sp3`: a special-purpose register.
    Special(i64),
    /// `-16`, `label`, `.+8`.
    Value(Value),
    /// `-16($3)`, with the byte at which the register stands.
    Memory(Value, RegisterName),
}

impl Operand<'_> {
    /// Complains about it.
    pub(super) fn expected(&self, expected: impl Into<String>) -> Mistake {
        Mistake::new(self.offset, format!("`{}`", self.text), expected)
    }
}

/// Reads the operands of an instruction up to the end of its statement.
pub(super) fn operands<'t>(
    cursor: &mut Cursor<'t>,
    at: Place,
    symbols: &Symbols,
) -> Parsed<Vec<Operand<'t>>> {
    let mut operands = Vec::new();
    if cursor.is_at_end() {
        return Ok(operands);
    }
    loop {
        operands.push(operand(cursor, at, symbols)?);
        if cursor.is_at_end() {
            return Ok(operands);
        }
        if !cursor.eat(",") {
            return Err(cursor.expected("`,` or the end of the statement"));
        }
    }
}

fn operand<'t>(cursor: &mut Cursor<'t>, at: Place, symbols: &Symbols) -> Parsed<Operand<'t>> {
    let offset = cursor.offset();
    let meaning = if cursor.peek() == Some('$') {
        dollar(cursor)?
    } else {
        if is_bare_base(cursor.rest()) {
            return Err(cursor.expected("a displacement before the register, as in `0($3)`"));
        }
        let value = expression(cursor, at, symbols)?;
        if cursor.eat("(") { base(cursor, value)? } else { Meaning::Value(value) }
    };
    Ok(Operand { offset, text: cursor.since(offset), meaning })
}

/// Whether a register in parentheses comes next.
fn is_bare_base(rest: &str) -> bool {
    rest.strip_prefix('(').is_some_and(|inner| inner.trim_start().starts_with('$'))
}

/// The register behind the displacement of a memory operand.
fn base(cursor: &mut Cursor<'_>, displacement: Value) -> Parsed<Meaning> {
    let start = *cursor;
    let register = match cursor.peek() {
        Some('$') => dollar(cursor)?,
        _ => return Err(start.expected("a register from $0 to $127")),
    };
    let Meaning::Register(register) = register else {
        return Err(start.expected("a register from $0 to $127"));
    };
    if !cursor.eat(")") {
        return Err(cursor.expected("`)`"));
    }
    Ok(Meaning::Memory(displacement, register))
}

/// What begins with `$`, and the blanks behind it.
fn dollar(cursor: &mut Cursor<'_>) -> Parsed<Meaning> {
    let start = *cursor;
    cursor.take_letter();
    let name = cursor.take_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    cursor.skip_blanks();
    match name {
        "lr" | "LR" => return Ok(Meaning::Register(RegisterName::LINK)),
        "sp" | "SP" => return Ok(Meaning::Register(RegisterName::STACK)),
        _ => {}
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = name.parse().ok().filter(|&number: &u8| usize::from(number) < REGISTERS);
        let register = number.map(|number| Meaning::Register(RegisterName(number)));
        return register.ok_or_else(|| start.expected("a register from $0 to $127"));
    }
    if let Some(number) = numbered(name, "ch") {
        return Ok(Meaning::Channel(number));
    }
    if let Some(number) = numbered(name, "spr").or_else(|| numbered(name, "sp")) {
        return Ok(Meaning::Special(number));
    }
    let channel = CHANNELS.iter().find(|(channel, _)| channel.eq_ignore_ascii_case(name));
    match channel {
        Some(&(_, number)) => Ok(Meaning::Channel(number)),
        None => Err(start.expected("a register ($0 to $127, $lr, $sp) or a channel such as $ch21")),
    }
}

fn numbered(name: &str, prefix: &str) -> Option<i64> {
    let digits = name.strip_prefix(prefix)?;
    digits.parse().ok().filter(|&number: &i64| number >= 0)
}

/// The channels by their names in the Cell Broadband Engine Architecture, section "SPU channel map".
const CHANNELS: [(&str, i64); 28] = [
    ("SPU_RdEventStat", 0),
    ("SPU_WrEventMask", 1),
    ("SPU_WrEventAck", 2),
    ("SPU_RdSigNotify1", 3),
    ("SPU_RdSigNotify2", 4),
    ("SPU_WrDec", 7),
    ("SPU_RdDec", 8),
    ("MFC_WrMSSyncReq", 9),
    ("SPU_RdEventMask", 11),
    ("MFC_RdTagMask", 12),
    ("SPU_RdMachStat", 13),
    ("SPU_WrSRR0", 14),
    ("SPU_RdSRR0", 15),
    ("MFC_LSA", 16),
    ("MFC_EAH", 17),
    ("MFC_EAL", 18),
    ("MFC_Size", 19),
    ("MFC_TagID", 20),
    ("MFC_Cmd", 21),
    ("MFC_WrTagMask", 22),
    ("MFC_WrTagUpdate", 23),
    ("MFC_RdTagStat", 24),
    ("MFC_RdListStallStat", 25),
    ("MFC_WrListStallAck", 26),
    ("MFC_RdAtomicStat", 27),
    ("SPU_WrOutMbox", 28),
    ("SPU_RdInMbox", 29),
    ("SPU_WrOutIntrMbox", 30),
];

#[cfg(test)]
mod tests {
    use super::super::expression::Section;
    use super::super::text::statements;
    use super::*;

    fn read(text: &str) -> Parsed<Vec<Meaning>> {
        let (clean, statements) = statements(text)?;
        let at = Place { section: Section(0), address: 0, statement: 0 };
        let mut cursor = Cursor::new(&clean, statements[0]);
        let found = operands(&mut cursor, at, &Symbols::default())?;
        for operand in &found {
            assert!(text[operand.offset..].starts_with(operand.text));
        }
        Ok(found.iter().map(|operand| operand.meaning).collect())
    }

    fn check(text: &str, expected: &[Meaning]) {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
    }

    fn check_mistake(text: &str, offset: usize, found: &str, expected: &str) {
        assert_eq!(read(text), Err(Mistake::new(offset, found, expected)), "{text}");
    }

    const THREE: RegisterName = RegisterName(3);

    #[test]
    fn registers_have_numbers_and_two_of_them_names() {
        let register = |number| Meaning::Register(RegisterName(number));
        check("$0,$127, $lr , $sp", &[register(0), register(127), register(0), register(1)]);
        check("", &[]);
        let expected = "a register from $0 to $127";
        check_mistake("$3,$128", 3, "`$128`", expected);
        check_mistake("$", 0, "`$`", expected);
        check_mistake(
            "$r3",
            0,
            "`$r3`",
            "a register ($0 to $127, $lr, $sp) or a channel such as $ch21",
        );
    }

    #[test]
    fn channels_have_numbers_and_names() {
        check("$ch21, $MFC_Cmd", &[Meaning::Channel(21), Meaning::Channel(21)]);
        check("$sp3", &[Meaning::Special(3)]);
    }

    #[test]
    fn a_memory_operand_is_a_displacement_before_a_register() {
        let memory = |number| Meaning::Memory(Value::Number(number), THREE);
        check("-16($3), (2+2)*4 ( $3 )", &[memory(-16), memory(16)]);
        check_mistake("($3)", 0, "`(`", "a displacement before the register, as in `0($3)`");
        check_mistake("0(3)", 2, "`3`", "a register from $0 to $127");
        check_mistake("0($3", 4, "the end of the statement", "`)`");
    }

    #[test]
    fn operands_stand_between_commas() {
        check_mistake("$3 $4", 3, "`$4`", "`,` or the end of the statement");
        check_mistake("$3,", 3, "the end of the statement", "a number or a label");
    }
}

//! Where everything stands: labels, directives, and the addresses of the instructions.
//!
//! Of the directives, those that move the place of what follows are obeyed (alignment, data,
//! sections), because whether an instruction stands in the even or the odd word of a doubleword
//! decides whether it can be paired. All others say nothing about time and are skipped, save macros,
//! conditions and repetitions, which would have to be expanded.

use std::collections::BTreeMap;

use super::expression::{Place, Section, Symbols, Value, expression};
use super::text::{Cursor, Mistake, Parsed, Statement};

/// What stands in the listing, in its order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'t> {
    /// An instruction.
    Written {
        line: u64,
        at: Place,
        /// The byte at which it begins.
        offset: usize,
        mnemonic: &'t str,
        /// Cursor at its operands.
        operands: Cursor<'t>,
    },
    /// A word that an alignment fills with `nop` or `lnop`, whichever fits its place.
    Padding { line: u64, at: Place },
}

/// The listing's items and what its names stand for.
#[derive(Debug)]
pub(super) struct Layout<'t> {
    pub(super) items: Vec<Item<'t>>,
    pub(super) symbols: Symbols,
}

/// Goes through the statements of a text without comments.
pub(super) fn lay_out<'t>(text: &'t str, statements: &[Statement]) -> Parsed<Layout<'t>> {
    let mut layer = Layer::default();
    for (number, &statement) in statements.iter().enumerate() {
        layer.statement = number;
        layer.line = statement.line;
        layer.read(Cursor::new(text, statement))?;
    }
    Ok(Layout { items: layer.items, symbols: layer.symbols })
}

/// Bytes of an instruction.
const INSTRUCTION_BYTES: i64 = 4;

/// How far a section has come.
#[derive(Debug, Default)]
struct Progress {
    address: i64,
    /// Words of alignment since the last instruction: where another one follows, they are executed.
    padding: Vec<(u64, i64)>,
    /// Whether the last thing in it was an instruction or such a word.
    is_in_code: bool,
}

#[derive(Default)]
struct Layer<'t> {
    items: Vec<Item<'t>>,
    symbols: Symbols,
    /// The sections by name, `.text` being the empty one.
    sections: BTreeMap<&'t str, Section>,
    progress: BTreeMap<Section, Progress>,
    current: Section,
    previous: Section,
    pushed: Vec<Section>,
    statement: usize,
    line: u64,
}

impl<'t> Layer<'t> {
    fn here(&mut self) -> &mut Progress {
        self.progress.entry(self.current).or_default()
    }

    fn place(&mut self) -> Place {
        let address = self.here().address;
        Place { section: self.current, address, statement: self.statement }
    }

    fn read(&mut self, mut cursor: Cursor<'t>) -> Parsed<()> {
        while self.label(&mut cursor)? {}
        if cursor.is_at_end() {
            return Ok(());
        }
        let start = cursor;
        let Some(name) = cursor.name() else {
            return Err(start.expected("a label, an instruction or a directive"));
        };
        if cursor.eat("==") || cursor.eat("=") {
            return self.assign(name, &mut cursor);
        }
        if name.starts_with('.') {
            return self.directive(name, start, cursor);
        }
        self.instruction(name, start, cursor)
    }

    /// Goes over a label, if one comes next.
    fn label(&mut self, cursor: &mut Cursor<'t>) -> Parsed<bool> {
        let start = *cursor;
        let at = self.place();
        let digits = cursor.take_while(|letter| letter.is_ascii_digit());
        let name = if digits.is_empty() { cursor.name().unwrap_or_default() } else { digits };
        cursor.skip_blanks();
        if name.is_empty() || !cursor.eat(":") {
            *cursor = start;
            return Ok(false);
        }
        if digits.is_empty() {
            if self.symbols.define(name, Value::Place(at.section, at.address)).is_some() {
                return Err(start.expected("a label that is not defined further up"));
            }
        } else {
            let number = digits.parse();
            let number = number.map_err(|_| start.expected("a label of fewer digits"))?;
            self.symbols.define_local(number, at);
        }
        Ok(true)
    }

    fn assign(&mut self, name: &str, cursor: &mut Cursor<'t>) -> Parsed<()> {
        let at = self.place();
        let value = expression(cursor, at, &self.symbols)?;
        self.symbols.define(name, value);
        end(cursor)
    }

    fn instruction(
        &mut self,
        mnemonic: &'t str,
        start: Cursor<'t>,
        operands: Cursor<'t>,
    ) -> Parsed<()> {
        let at = self.place();
        if at.address % INSTRUCTION_BYTES != 0 {
            let found = format!("{} at address {:#x}", start.found(), at.address);
            let expected = "an address that is a multiple of 4 (`.align 2` after the data)";
            return Err(Mistake::new(start.offset(), found, expected));
        }
        for (line, address) in std::mem::take(&mut self.here().padding) {
            self.items.push(Item::Padding { line, at: Place { address, ..at } });
        }
        self.here().address += INSTRUCTION_BYTES;
        self.here().is_in_code = true;
        let (line, offset) = (self.line, start.offset());
        self.items.push(Item::Written { line, at, offset, mnemonic, operands });
        Ok(())
    }

    fn directive(
        &mut self,
        name: &'t str,
        start: Cursor<'t>,
        mut cursor: Cursor<'t>,
    ) -> Parsed<()> {
        match name {
            ".text" => self.switch(""),
            ".data" | ".bss" => self.switch(name),
            ".section" | ".pushsection" => {
                if name == ".pushsection" {
                    self.pushed.push(self.current);
                }
                let section = cursor.take_while(|letter| letter != ',' && !letter.is_whitespace());
                self.switch(if section == ".text" { "" } else { section });
            }
            ".popsection" => {
                let section = self.pushed.pop();
                self.enter(section.ok_or_else(|| start.expected("a `.pushsection` before"))?);
            }
            ".previous" => self.enter(self.previous),
            ".set" | ".equ" | ".equiv" => {
                let named = cursor.name().filter(|_| cursor.eat(","));
                let named = named.ok_or_else(|| cursor.expected("a name, a comma and a value"))?;
                return self.assign(named, &mut cursor);
            }
            ".align" | ".p2align" | ".balign" => return self.align(name, &mut cursor),
            ".org" => return self.origin(&mut cursor),
            _ if MUST_BE_EXPANDED.contains(&name) => {
                return Err(start.expected("a listing without macros, conditions and repetitions"));
            }
            _ => return self.data(name, &mut cursor),
        }
        Ok(())
    }

    fn switch(&mut self, name: &'t str) {
        // The section of code has number 0 whether or not it is named first.
        let next = Section(if name.is_empty() { 0 } else { self.sections.len() + 1 });
        let section = *self.sections.entry(name).or_insert(next);
        self.enter(section);
    }

    fn enter(&mut self, section: Section) {
        self.previous = std::mem::replace(&mut self.current, section);
    }

    /// A number that is known here.
    fn number(&mut self, cursor: &mut Cursor<'t>, expected: &str) -> Parsed<i64> {
        let start = *cursor;
        let at = self.place();
        match expression(cursor, at, &self.symbols)? {
            Value::Number(number) => Ok(number),
            _ => Err(start.expected(expected)),
        }
    }

    /// `.align 3` and `.p2align 3` go to the next multiple of 2^3 bytes, `.balign 8` to that of 8;
    /// a third operand says how many bytes that may take at most.
    fn align(&mut self, name: &str, cursor: &mut Cursor<'t>) -> Parsed<()> {
        let start = *cursor;
        let given = if cursor.is_at_end() { 0 } else { self.number(cursor, "a number")? };
        let is_power = name != ".balign";
        let bytes = match given {
            0..=18 if is_power => 1 << given,
            0 => 1,
            1.. if !is_power && given.count_ones() == 1 => given,
            _ if is_power => return Err(start.expected("an exponent of 2 from 0 to 18")),
            _ => return Err(start.expected("a power of 2")),
        };
        let mut most = i64::MAX;
        if cursor.eat(",") {
            let fill = *cursor;
            if !cursor.rest().starts_with(',') && self.here().is_in_code {
                return Err(fill.expected("no value to fill with: code is filled with nops"));
            }
            cursor.take_while(|letter| letter != ',');
            if cursor.eat(",") {
                most = self.number(cursor, "a number")?;
            }
        }
        end(cursor)?;
        let line = self.line;
        let here = self.here();
        let from = here.address;
        let to = (from + bytes - 1) / bytes * bytes;
        if to - from > most {
            return Ok(());
        }
        here.address = to;
        if here.is_in_code {
            here.padding.extend((from..to).step_by(4).map(|address| (line, address)));
        }
        Ok(())
    }

    fn origin(&mut self, cursor: &mut Cursor<'t>) -> Parsed<()> {
        let start = *cursor;
        let at = self.place();
        let to = match expression(cursor, at, &self.symbols)? {
            Value::Number(to) => to,
            Value::Place(section, to) if section == at.section => to,
            _ => return Err(start.expected("an address in this section")),
        };
        if to < at.address {
            return Err(start.expected(format!("an address from {:#x} on", at.address)));
        }
        self.pass(to - at.address);
        Ok(())
    }

    /// Goes over so many bytes that are no instructions.
    fn pass(&mut self, bytes: i64) {
        let here = self.here();
        here.address += bytes;
        if bytes > 0 {
            here.is_in_code = false;
            here.padding.clear();
        }
    }

    /// Data take their place; other directives take none.
    fn data(&mut self, name: &str, cursor: &mut Cursor<'t>) -> Parsed<()> {
        let bytes = match name {
            ".byte" | ".ascii" | ".asciz" | ".string" => 1,
            ".2byte" | ".short" | ".hword" | ".half" => 2,
            ".4byte" | ".word" | ".long" | ".int" | ".float" | ".single" => 4,
            ".8byte" | ".quad" | ".double" => 8,
            ".octa" => 16,
            ".space" | ".skip" | ".zero" => {
                let start = *cursor;
                let bytes = self.number(cursor, "a number of bytes")?;
                if bytes < 0 {
                    return Err(start.expected("a number of bytes from 0 on"));
                }
                self.pass(bytes);
                return Ok(());
            }
            ".fill" => {
                let times = self.number(cursor, "a number")?;
                let each = if cursor.eat(",") { self.number(cursor, "a number")? } else { 1 };
                self.pass(times.max(0).saturating_mul(each.clamp(0, 8)));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let (values, letters) = count(cursor.rest());
        self.pass(match name {
            ".ascii" => letters,
            ".asciz" | ".string" => letters + values,
            _ => values * bytes,
        });
        Ok(())
    }
}

/// Directives that make other code of the code between them, or bring some in.
const MUST_BE_EXPANDED: [&str; 22] = [
    ".macro", ".endm", ".rept", ".irp", ".irpc", ".endr", ".if", ".ifdef", ".ifndef", ".ifeq",
    ".ifne", ".ifb", ".ifnb", ".ifgt", ".ifge", ".iflt", ".ifle", ".else", ".elseif", ".endif",
    ".include", ".incbin",
];

fn end(cursor: &Cursor<'_>) -> Parsed<()> {
    if cursor.is_at_end() { Ok(()) } else { Err(cursor.expected("the end of the statement")) }
}

/// How many values stand between commas, and how many letters between quotes.
fn count(values: &str) -> (i64, i64) {
    if values.trim().is_empty() {
        return (0, 0);
    }
    let (mut count, mut letters, mut is_quoted) = (1, 0, false);
    let mut rest = values.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => count += 1,
            b'\\' if is_quoted => {
                letters += 1;
                // Up to three octal digits or one letter.
                let digits = after.iter().take(3).take_while(|it| matches!(it, b'0'..=b'7'));
                rest = &after[digits.count().max(1).min(after.len())..];
            }
            _ => letters += i64::from(is_quoted),
        }
    }
    (count, letters)
}

impl Default for Section {
    /// The section of code, in which a listing begins.
    fn default() -> Self {
        Self(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::statements;
    use super::*;

    /// The addresses of the instructions in a listing; those of padding are marked.
    fn addresses(text: &str) -> Parsed<Vec<String>> {
        let (clean, statements) = statements(text)?;
        let layout = lay_out(&clean, &statements)?;
        let name = |item: &Item<'_>| match *item {
            Item::Written { at, mnemonic, .. } => format!("{mnemonic} {:#x}", at.address),
            Item::Padding { at, .. } => format!("padding {:#x}", at.address),
        };
        Ok(layout.items.iter().map(name).collect())
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(addresses(text).expect("it is well-formed"), expected, "{text}");
    }

    fn check_mistake(text: &str, offset: usize, found: &str, expected: &str) {
        assert_eq!(addresses(text), Err(Mistake::new(offset, found, expected)), "{text}");
    }

    #[test]
    fn instructions_follow_one_another_by_four_bytes() {
        check("a\n b; x: c\n1: y: d", &["a 0x0", "b 0x4", "c 0x8", "d 0xc"]);
    }

    #[test]
    fn an_alignment_between_instructions_is_filled_with_instructions() {
        check(".align 3\na\n.align 3\nb", &["a 0x0", "padding 0x4", "b 0x8"]);
        check(
            "a\n.balign 16\nb",
            &["a 0x0", "padding 0x4", "padding 0x8", "padding 0xc", "b 0x10"],
        );
        check("a\nb\n.p2align 3\nc", &["a 0x0", "b 0x4", "c 0x8"]);
        check("a\n.p2align 4,,8\nb", &["a 0x0", "b 0x4"]);
        check("a\n.align 3\n", &["a 0x0"]);
    }

    #[test]
    fn data_move_what_follows_and_sections_count_for_themselves() {
        check("a\n.word 1, 2\nb", &["a 0x0", "b 0xc"]);
        check("a\n.byte 1\n.align 3\nb", &["a 0x0", "b 0x8"]);
        check(".ascii \"a,\\012\\n\"\n.asciz \"xyz\"\na", &["a 0x8"]);
        check(
            "a\n.data\n.space 3\n.text\nb\n.previous\n.byte 1\n.align 2\nc",
            &["a 0x0", "b 0x4", "c 0x4"],
        );
        check(".section .text.f,\"ax\",@progbits\na\n.text\nb", &["a 0x0", "b 0x0"]);
        check("n = 2\n.set size, n * 4\n.space size\na\n.org 0x10\nb", &["a 0x8", "b 0x10"]);
    }

    #[test]
    fn directives_that_say_nothing_of_time_are_skipped() {
        let skipped =
            ".file \"a.c\"\n.global f\n.type f, @function\n.size f,.-f\n.ident \"x; y\"\n";
        check(&format!("{skipped}.cfi_startproc\na"), &["a 0x0"]);
    }

    #[test]
    fn mistakes_are_told_where_they_stand() {
        check_mistake("a: b\na: c", 5, "`a`", "a label that is not defined further up");
        check_mistake(
            ".byte 1\na",
            8,
            "`a` at address 0x1",
            "an address that is a multiple of 4 (`.align 2` after the data)",
        );
        check_mistake(
            "a\n.rept 4",
            2,
            "`.rept`",
            "a listing without macros, conditions and repetitions",
        );
        check_mistake(
            "a\n.align 3,0",
            11,
            "`0`",
            "no value to fill with: code is filled with nops",
        );
        check_mistake(".align 19", 7, "`19`", "an exponent of 2 from 0 to 18");
        check_mistake(".balign 12", 8, "`12`", "a power of 2");
        check_mistake("$3", 0, "`$3`", "a label, an instruction or a directive");
        check_mistake(".space x", 7, "`x`", "a number of bytes");
    }
}

//! Constant expressions: numbers, labels, and what can be computed of them.

use std::collections::BTreeMap;

use super::text::{Cursor, Mistake, Parsed};

/// What an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Number(i64),
    /// A place: so many bytes after the beginning of a section.
    Place(Section, i64),
    /// An address that the linker fills in.
    Unknown,
}

/// The number of a section, in the order of their appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Section(pub(super) usize);

/// Place of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) section: Section,
    /// Bytes from the beginning of the section.
    pub(super) address: i64,
    /// The number of its statement.
    pub(super) statement: usize,
}

/// What names stand for.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    named: BTreeMap<String, Value>,
    /// Statements that each number marks that is used as a label, in their order.
    local: BTreeMap<u32, Vec<(usize, Value)>>,
}

impl Symbols {
    /// Gives a name its meaning and returns which it had.
    pub(super) fn define(&mut self, name: &str, value: Value) -> Option<Value> {
        self.named.insert(name.to_string(), value)
    }

    /// Marks a statement with a number.
    pub(super) fn define_local(&mut self, number: u32, at: Place) {
        let value = Value::Place(at.section, at.address);
        self.local.entry(number).or_default().push((at.statement, value));
    }

    fn local(&self, number: u32, direction: char, statement: usize) -> Option<Value> {
        let marks = self.local.get(&number)?;
        let found = match direction {
            'b' => marks.iter().rev().find(|(mark, _)| *mark <= statement),
            _ => marks.iter().find(|(mark, _)| *mark > statement),
        };
        found.map(|&(_, value)| value)
    }
}

/// Reads an expression and evaluates it.
pub(super) fn expression(cursor: &mut Cursor<'_>, at: Place, symbols: &Symbols) -> Parsed<Value> {
    Evaluation { symbols, at, depth: 0 }.sum(cursor, 0)
}

/// Parentheses around parentheses: each takes five calls, and a call stack ends. It is what Clang
/// grants a program (`-fbracket-depth`), far more than anybody writes.
const MOST_NESTED: usize = 256;

/// The operators by how strongly they bind, the weakest first, as GNU assemblers have them.
const OPERATORS: [&[&str]; 3] = [&["+", "-"], &["|", "&", "^"], &["*", "/", "%", "<<", ">>"]];

struct Evaluation<'s> {
    symbols: &'s Symbols,
    at: Place,
    /// Parentheses that are open.
    depth: usize,
}

impl Evaluation<'_> {
    /// Operands between operators that bind as strongly as those of `level`, or stronger.
    fn sum(&mut self, cursor: &mut Cursor<'_>, level: usize) -> Parsed<Value> {
        let Some(operators) = OPERATORS.get(level) else { return self.operand(cursor) };
        let mut left = self.sum(cursor, level + 1)?;
        loop {
            let start = cursor.offset();
            let Some(operator) = operators.iter().find(|operator| cursor.eat(operator)) else {
                return Ok(left);
            };
            let right = self.sum(cursor, level + 1)?;
            left = combine(operator, left, right).ok_or_else(|| {
                Mistake::new(start, format!("`{operator}`"), "an operation with a result")
            })?;
        }
    }

    /// What the operators before it make of a number, a label or an expression in parentheses.
    fn operand(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Value> {
        let start = cursor.offset();
        while ["-", "~", "+"].iter().any(|operator| cursor.eat(operator)) {}
        let operators = cursor.since(start);
        let value = self.primary(cursor)?;
        // The nearest to the operand works first.
        Ok(operators.chars().rev().fold(value, |value, operator| match operator {
            '-' => negate(value),
            // All bits turned over: -x - 1.
            '~' => combine("-", negate(value), Value::Number(1)).unwrap_or(Value::Unknown),
            _ => value,
        }))
    }

    fn primary(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Value> {
        let start = *cursor;
        if cursor.eat("(") {
            if self.depth == MOST_NESTED {
                return Err(start.expected(format!("at most {MOST_NESTED} nested parentheses")));
            }
            self.depth += 1;
            let inner = self.sum(cursor, 0)?;
            self.depth -= 1;
            if !cursor.eat(")") {
                return Err(cursor.expected("`)`"));
            }
            return Ok(inner);
        }
        match cursor.peek() {
            Some('0'..='9') => self.number(cursor),
            Some('\'') => character(cursor),
            Some('$') => Err(cursor.expected("a number or a label")),
            _ => self.symbol(cursor),
        }
    }

    /// A number, or a label that is one: `1f`, `2b`.
    fn number(&self, cursor: &mut Cursor<'_>) -> Parsed<Value> {
        let start = *cursor;
        let text = cursor.take_while(|letter| letter.is_ascii_alphanumeric());
        cursor.skip_blanks();
        let (digits, last) = text.split_at(text.len() - 1);
        if let (Ok(number), "f" | "b") = (digits.parse(), last)
            && !digits.is_empty()
        {
            let direction = if last == "f" { 'f' } else { 'b' };
            return self.symbols.local(number, direction, self.at.statement).ok_or_else(|| {
                let where_to = if direction == 'f' { "further down" } else { "further up" };
                start.expected(format!("a label `{number}:` {where_to}"))
            });
        }
        let value = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => u64::from_str_radix(&text[2..], 16),
            [b'0', b'b' | b'B', _, ..] => u64::from_str_radix(&text[2..], 2),
            [b'0', _, ..] => u64::from_str_radix(text, 8),
            _ => text.parse(),
        };
        // What fills 64 bits wraps to a negative number, as it does in the assembler.
        value
            .map(|value| Value::Number(value as i64))
            .map_err(|_| start.expected("a number: decimal, 0x hexadecimal, 0b binary or 0 octal"))
    }

    fn symbol(&self, cursor: &mut Cursor<'_>) -> Parsed<Value> {
        let Some(name) = cursor.name() else { return Err(cursor.expected("a number or a label")) };
        let value = match name {
            "." => Value::Place(self.at.section, self.at.address),
            _ => self.symbols.named.get(name).copied().unwrap_or(Value::Unknown),
        };
        if !cursor.eat("@") {
            return Ok(value);
        }
        let Some(part) = cursor.name() else { return Err(cursor.expected("h, ha or l")) };
        Ok(part_of(value, part))
    }
}

/// What the linker puts for `symbol@part`: a half of the address, for instance.
fn part_of(value: Value, part: &str) -> Value {
    match (value, part) {
        (Value::Number(value), "l") => Value::Number(value & 0xFFFF),
        (Value::Number(value), "h") => Value::Number(value >> 16 & 0xFFFF),
        // The upper half to which the lower one, with its sign, is added.
        (Value::Number(value), "ha") => Value::Number((value + 0x8000) >> 16 & 0xFFFF),
        _ => Value::Unknown,
    }
}

/// `'x`, `'x'` or `'\n`.
fn character(cursor: &mut Cursor<'_>) -> Parsed<Value> {
    let start = *cursor;
    cursor.take_letter();
    let letter = match cursor.take_letter() {
        Some('\\') => cursor.take_letter().map(|letter| match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        }),
        other => other,
    };
    cursor.eat("'");
    cursor.skip_blanks();
    let letter = letter.filter(char::is_ascii);
    let value = letter.map(|letter| Value::Number(i64::from(u32::from(letter))));
    value.ok_or_else(|| start.expected("a character after the quote"))
}

fn negate(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(number.wrapping_neg()),
        _ => Value::Unknown,
    }
}

/// Nothing where the hardware of the host would refuse.
fn combine(operator: &str, left: Value, right: Value) -> Option<Value> {
    use Value::{Number, Place, Unknown};
    Some(match (operator, left, right) {
        ("+", Place(section, place), Number(number))
        | ("+", Number(number), Place(section, place)) => {
            Place(section, place.wrapping_add(number))
        }
        ("-", Place(section, place), Number(number)) => Place(section, place.wrapping_sub(number)),
        ("-", Place(one, left), Place(other, right)) if one == other => Number(left - right),
        (_, Number(left), Number(right)) => Number(match operator {
            "+" => left.wrapping_add(right),
            "-" => left.wrapping_sub(right),
            "*" => left.wrapping_mul(right),
            "/" => left.checked_div(right)?,
            "%" => left.checked_rem(right)?,
            "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
            ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
            "|" => left | right,
            "&" => left & right,
            _ => left ^ right,
        }),
        _ => Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::super::text::statements;
    use super::*;

    const TEXT: Section = Section(0);
    const AT: Place = Place { section: TEXT, address: 0x20, statement: 5 };

    fn evaluate(text: &str) -> Parsed<Value> {
        let mut symbols = Symbols::default();
        symbols.define("loop", Value::Place(TEXT, 0x10));
        symbols.define("size", Value::Number(48));
        for (statement, address) in [(2, 0x8), (5, 0x20), (7, 0x30)] {
            symbols.define_local(1, Place { statement, address, ..AT });
        }
        let (clean, statements) = statements(text)?;
        let mut cursor = Cursor::new(&clean, statements[0]);
        let value = expression(&mut cursor, AT, &symbols)?;
        if cursor.is_at_end() { Ok(value) } else { Err(cursor.expected("the end")) }
    }

    fn check(text: &str, expected: i64) {
        assert_eq!(evaluate(text), Ok(Value::Number(expected)), "{text}");
    }

    fn check_place(text: &str, expected: i64) {
        assert_eq!(evaluate(text), Ok(Value::Place(TEXT, expected)), "{text}");
    }

    #[test]
    fn numbers_are_written_in_four_bases_and_as_characters() {
        check("42", 42);
        check("-0x1F", -31);
        check("0b101", 5);
        check("017", 15);
        check("0", 0);
        check("'A", 65);
        check("'A' + 1", 66);
        check("'\\n", 10);
        check("0xFFFFFFFFFFFFFFFF", -1);
    }

    #[test]
    fn operators_bind_as_in_gnu_assemblers() {
        check("2+3*4", 14);
        check("(2+3)*4", 20);
        check("4+6&3", 6); // `&` binds more strongly than `+`.
        check("1<<4|3", 19);
        check("7 - 2 - 1", 4);
        check("~0 % 4 / 1", -1);
        check("-size/16", -3);
    }

    #[test]
    fn signs_in_a_row_work_from_the_operand_outwards() {
        check("- ~ 4", 5);
        check("~ - + 4", 3);
        assert_eq!(evaluate("-~loop"), Ok(Value::Unknown));
        check(&("-".repeat(1_000_001) + "4"), -4);
    }

    #[test]
    fn parentheses_nest_as_deep_as_the_call_stack_certainly_holds() {
        let nested = |depth: usize| "(".repeat(depth) + "4" + &")".repeat(depth);
        check(&nested(256), 4);
        check(&"+(1)".repeat(300), 300);
        let expected = "at most 256 nested parentheses";
        assert_eq!(evaluate(&nested(257)), Err(Mistake::new(256, "`(`", expected)));
        assert_eq!(evaluate(&nested(20_000)), Err(Mistake::new(256, "`(`", expected)));
        assert_eq!(evaluate(&"-(".repeat(1_000_000)), Err(Mistake::new(513, "`(`", expected)));
    }

    #[test]
    fn labels_are_places_and_their_differences_numbers() {
        check_place("loop", 0x10);
        check_place(".+8", 0x28);
        check_place("loop-4", 0xC);
        check(".-loop", 0x10);
        assert_eq!(evaluate("printf+4"), Ok(Value::Unknown));
    }

    #[test]
    fn a_local_label_is_the_nearest_of_its_number_in_that_direction() {
        check_place("1b", 0x20);
        check_place("1f", 0x30);
        let mistake = evaluate("2f").expect_err("there is none");
        assert_eq!(mistake, Mistake::new(0, "`2f`", "a label `2:` further down"));
    }

    #[test]
    fn the_halves_of_a_number_are_known_and_those_of_an_address_are_not() {
        assert_eq!(part_of(Value::Number(0x1_9000), "l"), Value::Number(0x9000));
        assert_eq!(part_of(Value::Number(0x1_9000), "h"), Value::Number(1));
        assert_eq!(part_of(Value::Number(0x1_9000), "ha"), Value::Number(2));
        assert_eq!(evaluate("loop@ha"), Ok(Value::Unknown));
        check("size@l", 48);
    }

    #[test]
    fn what_is_no_expression_is_told_where_it_stands() {
        let number = "a number or a label";
        assert_eq!(evaluate("4+$3"), Err(Mistake::new(2, "`$3`", number)));
        assert_eq!(evaluate("4+"), Err(Mistake::new(2, "the end of the statement", number)));
        assert_eq!(evaluate("(4"), Err(Mistake::new(2, "the end of the statement", "`)`")));
        assert_eq!(evaluate("1 / 0"), Err(Mistake::new(2, "`/`", "an operation with a result")));
        assert_eq!(
            evaluate("0x1G"),
            Err(Mistake::new(
                0,
                "`0x1G`",
                "a number: decimal, 0x hexadecimal, 0b binary or 0 octal"
            ))
        );
    }
}

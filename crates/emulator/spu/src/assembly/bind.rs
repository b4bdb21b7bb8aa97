//! What an instruction of a listing reads, writes and leads to, its operands held against those
//! that it takes.

use super::expression::{Place, Value};
use super::operand::{Meaning, Operand, RegisterName};
use super::text::{Mistake, Parsed};
use crate::instruction::{Class, Immediate, Instruction, Operand as Form};

/// An instruction with its operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Bound {
    /// The registers that it reads.
    pub(super) reads: Vec<RegisterName>,
    /// The register that it writes.
    pub(super) writes: Option<RegisterName>,
    /// The places in the program that it names, in the order of its operands.
    places: Vec<Value>,
}

/// Target of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    /// The next instruction.
    Next,
    /// A branch, to `target` where that is a place in the listing.
    Branch { when: When, target: Option<Value> },
    /// Hint that the branch at `branch` will go to `target`; a target in a register is
    /// not known.
    Hint { branch: Value, target: Option<Value> },
}

/// When a branch is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Unconditionally.
    Always,
    /// Always, and what it leads to comes back.
    Call,
    /// A register or an event decides.
    Conditional,
}

/// Holds the operands of the instruction at `offset` against the forms of its table entry.
pub(super) fn bind(
    entry: &Instruction,
    operands: &[Operand<'_>],
    offset: usize,
    at: Place,
) -> Parsed<Bound> {
    let forms = forms(entry, operands, offset)?;
    let mut bound = Bound::default();
    for (form, operand) in forms.into_iter().zip(operands) {
        bound.take(form, operand)?;
    }
    if let Control::Hint { branch, .. } = bound.control(entry) {
        check_distance(branch, &operands[0], at)?;
    }
    Ok(bound)
}

/// The forms of so many operands: without those that may be left out, or with them.
fn forms(entry: &Instruction, operands: &[Operand<'_>], offset: usize) -> Parsed<Vec<Form>> {
    let is_optional = |form: &Form| matches!(form, Form::FalseTarget | Form::OptionalImmediate(_));
    let needed: Vec<Form> =
        entry.operands.iter().copied().filter(|form| !is_optional(form)).collect();
    if operands.len() == entry.operands.len() {
        return Ok(entry.operands.to_vec());
    }
    if operands.len() == needed.len() {
        return Ok(needed);
    }
    // What is too much is shown; what is missing is missed behind the mnemonic.
    let offset = operands.get(entry.operands.len()).map_or(offset, |operand| operand.offset);
    let expected = match (needed.len(), entry.operands.len()) {
        (0, 0) => "none".to_string(),
        (least, most) if least < most => format!("{least} or {most}"),
        (_, most) => most.to_string(),
    };
    let count = match operands.len() {
        1 => "1 operand".to_string(),
        count => format!("{count} operands"),
    };
    let found = format!("{count} of `{}`", entry.mnemonic);
    Err(Mistake::new(offset, found, format!("{expected}: `{}`", pattern(entry))))
}

/// How the instruction is written.
fn pattern(entry: &Instruction) -> String {
    let mut sources = ["$ra", "$rb", "$rc"].into_iter();
    let mut source = || sources.next().unwrap_or("$rd");
    let mut text = String::new();
    for form in entry.operands {
        let operand = match form {
            Form::Target | Form::Accumulator => "$rt".to_string(),
            Form::FalseTarget => "[$rt]".to_string(),
            Form::Source => source().to_string(),
            Form::Immediate(_) => "number".to_string(),
            Form::OptionalImmediate(_) => "[number]".to_string(),
            Form::Displaced(_) => format!("number({})", source()),
            Form::Label | Form::Address => "label".to_string(),
            Form::Channel => "$channel".to_string(),
            Form::SpecialRegister => "$special".to_string(),
        };
        text += if text.is_empty() { " " } else { "," };
        text += &operand;
    }
    format!("{}{text}", entry.mnemonic)
}

impl Bound {
    fn take(&mut self, form: Form, operand: &Operand<'_>) -> Parsed<()> {
        match form {
            // The field is ignored, so compilers write its number alone, too.
            Form::FalseTarget => match operand.meaning {
                Meaning::Register(_) | Meaning::Value(Value::Number(0..=127)) => {}
                _ => return Err(operand.expected("a register from $0 to $127")),
            },
            Form::Target | Form::Accumulator | Form::Source => {
                let Meaning::Register(register) = operand.meaning else {
                    return Err(operand.expected("a register from $0 to $127"));
                };
                if form.is_read() {
                    self.reads.push(register);
                }
                if form.is_written() {
                    self.writes = Some(register);
                }
            }
            Form::Immediate(kind) | Form::OptionalImmediate(kind) => {
                let Meaning::Value(value) = operand.meaning else {
                    return Err(operand.expected(numbers(kind)));
                };
                check_immediate(kind, value, operand)?;
            }
            Form::Displaced(kind) => {
                let Meaning::Memory(displacement, base) = operand.meaning else {
                    let expected = format!("{} before a register, as in `16($3)`", numbers(kind));
                    return Err(operand.expected(expected));
                };
                check_immediate(kind, displacement, operand)?;
                self.reads.push(base);
            }
            Form::Label | Form::Address => self.places.push(place(form, operand)?),
            Form::Channel => {
                check_number(operand, operand.channel(), "channel from $ch0 to $ch127")?
            }
            Form::SpecialRegister => {
                let expected = "special-purpose register from $sp0 to $sp127";
                check_number(operand, operand.special(), expected)?;
            }
        }
        Ok(())
    }

    /// Target of an instruction with these operands.
    pub(super) fn control(&self, entry: &Instruction) -> Control {
        let target = self.places.last().copied();
        match (entry.class, entry.operands) {
            (Class::BranchHint, [Form::Label, Form::Source]) => {
                Control::Hint { branch: self.places[0], target: None }
            }
            (Class::BranchHint, [Form::Label, _]) => {
                Control::Hint { branch: self.places[0], target }
            }
            (Class::Branch, [Form::Label | Form::Address | Form::Source | Form::FalseTarget]) => {
                Control::Branch { when: When::Always, target }
            }
            (Class::Branch, [Form::Source, Form::Label | Form::Source]) => {
                Control::Branch { when: When::Conditional, target }
            }
            (Class::Branch, [Form::Target, _]) => {
                // Branch indirect and set link if external data: as an event says.
                let is_on_event = entry.mnemonic.starts_with("bisled");
                let when = if is_on_event { When::Conditional } else { When::Call };
                Control::Branch { when, target }
            }
            // `stop`, `sync` and the like share the pipe of branches, but lead to the next.
            _ => Control::Next,
        }
    }
}

impl Operand<'_> {
    fn channel(&self) -> Option<i64> {
        match self.meaning {
            Meaning::Channel(number) => Some(number),
            _ => None,
        }
    }

    fn special(&self) -> Option<i64> {
        match self.meaning {
            Meaning::Special(number) => Some(number),
            _ => None,
        }
    }
}

fn check_number(operand: &Operand<'_>, number: Option<i64>, expected: &str) -> Parsed<()> {
    match number {
        Some(0..=127) => Ok(()),
        _ => Err(operand.expected(format!("a {expected}"))),
    }
}

/// The numbers that an immediate may be, for a message.
fn numbers(kind: Immediate) -> String {
    let range = kind.range();
    let what = match kind.step() {
        1 => "a number".to_string(),
        step => format!("a multiple of {step}"),
    };
    format!("{what} from {} to {}", range.start(), range.end())
}

/// An address, or a part of one, is filled in by the linker and fits, where there is room for it.
fn check_immediate(kind: Immediate, value: Value, operand: &Operand<'_>) -> Parsed<()> {
    use Immediate::{Displacement, Halfword, Signed10, Signed16, Unsigned18};
    let takes_addresses =
        matches!(kind, Displacement | Halfword | Signed10 | Signed16 | Unsigned18);
    match value {
        Value::Number(number) if kind.admits(number) => Ok(()),
        Value::Place(..) | Value::Unknown if takes_addresses => Ok(()),
        _ => Err(operand.expected(numbers(kind))),
    }
}

/// Bytes of local store, the range of all addresses.
const LOCAL_STORE_BYTES: i64 = crate::LOCAL_STORE_BYTES as i64;

/// The place that an operand names. Instructions hold it as a number of words.
fn place(form: Form, operand: &Operand<'_>) -> Parsed<Value> {
    let Meaning::Value(value) = operand.meaning else {
        return Err(operand.expected("a label or an address"));
    };
    let (lowest, what) = match form {
        Form::Label => (-LOCAL_STORE_BYTES, "a label or the address of a word in local store"),
        _ => (0, "a label or a multiple of 4 from 0 to 262140"),
    };
    match value {
        Value::Number(number) | Value::Place(_, number)
            if number % 4 != 0 || !(lowest..LOCAL_STORE_BYTES).contains(&number) =>
        {
            Err(operand.expected(what))
        }
        _ => Ok(value),
    }
}

/// A hint has nine bits for the way to its branch \[words\], which so must be in the listing.
fn check_distance(branch: Value, operand: &Operand<'_>, at: Place) -> Parsed<()> {
    let Value::Place(section, address) = branch else {
        return Err(operand.expected("a label of the listing, at the branch that is hinted"));
    };
    let words = (address - at.address) / 4;
    if section == at.section && !(-256..=255).contains(&words) {
        let found = format!("`{}`, {words} instructions from here", operand.text);
        let expected = "a branch at most 255 instructions further down or 256 further up";
        return Err(Mistake::new(operand.offset, found, expected));
    }
    Ok(())
}

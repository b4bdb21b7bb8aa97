//! Listings in the language of GNU assemblers for the SPU, and how long they take.
//!
//! ```
//! use mmgp_spu::assembly::Listing;
//! use mmgp_spu::instruction::Processor;
//! use mmgp_base::table::Source;
//!
//! let source = Source::new("twice.s", "twice:\n  a $3,$3,$3  # doubles\n  bi $lr\n");
//! let listing = Listing::read(&source, Processor::CellBe)?;
//! let mnemonics: Vec<&str> = listing.instructions().iter().map(|it| it.mnemonic).collect();
//! assert_eq!(mnemonics, ["a", "bi"]);
//! # Ok::<(), mmgp_base::error::Error>(())
//! ```
//!
//! A listing is read in three steps: `text` takes the comments away and cuts it into statements;
//! `layout` gives everything its address; `operand` and `bind` hold the operands, constant
//! `expression`s among them, against the table of instructions. [`Timeline`] is what the pipeline
//! makes of it.
//!
//! Left out: macros, conditions and repetitions, which the assembler can expand in its listing; and
//! what the linker knows, such as the distance to a label in another file.

mod bind;
mod expression;
mod layout;
mod operand;
mod text;
mod timeline;

use std::collections::BTreeMap;

use crate::instruction::{Class, Instruction, Processor, instructions};
use bind::{Bound, Control, When, bind};
use expression::{Place, Value};
use layout::{Item, Layout, lay_out};
use mmgp_base::error::{Error, Result, Warning, suggest};
use mmgp_base::table::Source;
use operand::operands;
use text::{Cursor, Mistake, Parsed, statements};

pub use operand::RegisterName;
pub use timeline::{Awaited, Iterations, Row, Timeline};

/// A listing that was read: instructions without mistakes, in the order in which they stand.
#[derive(Debug)]
pub struct Listing<'s> {
    source: &'s Source,
    instructions: Vec<Listed>,
}

/// An instruction of a listing.
#[derive(Debug)]
pub struct Listed {
    /// Line, counted from 1.
    pub line: u64,
    /// Name.
    pub mnemonic: &'static str,
    /// Text as written, without comments and spare blanks.
    pub text: String,
    /// Class, from which its pipe follows.
    pub class: Class,
    /// Who wrote it.
    pub origin: Origin,
    /// The byte of the source at which it begins.
    offset: usize,
    at: Place,
    operands: Bound,
    control: Control,
}

/// Who wrote an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The author of the listing.
    Listing,
    /// The assembler, which fills what a directive of alignment skips in code.
    Alignment,
}

impl<'s> Listing<'s> {
    /// Reads a listing for that processor.
    ///
    /// # Errors
    /// [`Error::Input`] at the first statement that the assembler would not take: an unknown
    /// mnemonic, an operand of the wrong kind or out of its range, an instruction that the
    /// processor does not have; at directives whose code would have to be expanded; and where there
    /// is no instruction at all.
    pub fn read(source: &'s Source, processor: Processor) -> Result<Self> {
        let in_source = |mistake: Mistake| mistake.in_source(source);
        let (text, statements) = statements(&source.text).map_err(in_source)?;
        let layout = lay_out(&text, &statements).map_err(in_source)?;
        let instructions = Reader::new(&layout, processor).read().map_err(in_source)?;
        if instructions.is_empty() {
            let end = source.text.trim_end().len();
            let mistake = Mistake::new(end, "no instruction", "at least one");
            return Err(mistake.in_source(source));
        }
        Ok(Self { source, instructions })
    }

    /// The instructions, in the order in which they stand.
    pub fn instructions(&self) -> &[Listed] {
        &self.instructions
    }

    /// Complains about an instruction.
    fn mistake(&self, listed: &Listed, found: String, expected: String) -> Error {
        Mistake::new(listed.offset, found, expected).in_source(self.source)
    }
}

struct Reader<'l, 't> {
    layout: &'l Layout<'t>,
    processor: Processor,
    table: BTreeMap<&'static str, &'static Instruction>,
}

impl<'l, 't> Reader<'l, 't> {
    fn new(layout: &'l Layout<'t>, processor: Processor) -> Self {
        let table = instructions().map(|entry| (entry.mnemonic, entry)).collect();
        Self { layout, processor, table }
    }

    fn read(&self) -> Parsed<Vec<Listed>> {
        let listed = |item: &Item<'t>| match *item {
            Item::Written { line, at, offset, mnemonic, operands } => {
                self.written(line, at, (offset, mnemonic), operands)
            }
            Item::Padding { line, at } => Ok(self.padding(line, at)),
        };
        self.layout.items.iter().map(listed).collect()
    }

    fn written(
        &self,
        line: u64,
        at: Place,
        (offset, mnemonic): (usize, &str),
        mut cursor: Cursor<'_>,
    ) -> Parsed<Listed> {
        let entry = self.entry(mnemonic, offset)?;
        let written = cursor.rest();
        let operands = operands(&mut cursor, at, &self.layout.symbols)?;
        let operands = bind(entry, &operands, offset, at)?;
        let words: Vec<&str> = [mnemonic].into_iter().chain(written.split_whitespace()).collect();
        Ok(Listed {
            line,
            mnemonic: entry.mnemonic,
            text: words.join(" "),
            class: entry.class,
            origin: Origin::Listing,
            offset,
            at,
            control: operands.control(entry),
            operands,
        })
    }

    fn entry(&self, mnemonic: &str, offset: usize) -> Parsed<&'static Instruction> {
        let Some(&entry) = self.table.get(mnemonic) else {
            let known: Vec<String> = self.table.keys().map(ToString::to_string).collect();
            let expected =
                format!("an instruction of the SPU{}", suggest(&mnemonic.to_lowercase(), &known));
            return Err(Mistake::new(offset, format!("`{mnemonic}`"), expected));
        };
        if entry.processor > self.processor {
            let found = format!("`{mnemonic}`, which only the PowerXCell 8i has");
            return Err(Mistake::new(offset, found, "an instruction of the Cell BE"));
        }
        Ok(entry)
    }

    /// Pads: in the even word of a doubleword stands an even-pipe instruction, in the odd word an odd one.
    fn padding(&self, line: u64, at: Place) -> Listed {
        let is_even = at.address % 8 == 0;
        let (mnemonic, class) =
            if is_even { ("nop", Class::EvenNop) } else { ("lnop", Class::OddNop) };
        Listed {
            line,
            mnemonic,
            text: mnemonic.to_string(),
            class,
            origin: Origin::Alignment,
            offset: 0,
            at,
            operands: Bound::default(),
            control: Control::Next,
        }
    }
}

impl Listing<'_> {
    /// Warnings about a straight line, or where `iterations` are known, about a loop.
    fn warnings(&self, iterations: Option<&Iterations>) -> Vec<Warning> {
        let (last, before) = self.instructions.split_last().expect("invariant: there is one");
        let mut warnings = Vec::new();
        let mut warning = |fits: &dyn Fn(&Listed) -> bool, among: &[&Listed], what: &str| {
            let fitting = among.iter().filter(|listed| fits(listed));
            let lines: Vec<String> = fitting.map(|listed| listed.line.to_string()).collect();
            if let Some(first) = lines.first() {
                let (name, and) = (&self.source.name, lines[1..].join(", "));
                let and = if and.is_empty() { and } else { format!(" (and lines {and})") };
                warnings.push(Warning::Note(format!("{name}:{first}: {what}{and}")));
            }
        };
        let before: Vec<&Listed> = before.iter().collect();
        warning(
            &|listed| is_branch(listed, When::Call),
            &before,
            "a call is timed as if what it calls took no time",
        );
        warning(
            &|listed| is_branch(listed, When::Always),
            &before,
            "what follows this branch is timed as if it came there without it",
        );
        warning(
            &|listed| is_branch(listed, When::Conditional) && listed.leads_back(),
            &before,
            "the loop that this branch closes is timed as if it ran once",
        );
        match iterations {
            None => warning(
                &Listed::leads_back,
                &[last],
                "the loop that this branch closes is timed once; `--iterations N` runs it N times",
            ),
            Some(iterations) => {
                let (ahead, inside) = before.split_at(iterations.first);
                if !inside.iter().any(|listed| listed.hints(last)) {
                    warning(
                        &|listed| listed.hints(last),
                        ahead,
                        "this hint is spent when its branch runs for the first time; whether the \
                         SPU keeps it for the next iterations is not known",
                    );
                }
            }
        }
        warnings
    }
}

fn is_branch(listed: &Listed, expected: When) -> bool {
    matches!(listed.control, Control::Branch { when, .. } if when == expected)
}

impl Listed {
    /// Whether it is a hint for that branch.
    fn hints(&self, to: &Self) -> bool {
        let place = Value::Place(to.at.section, to.at.address);
        matches!(self.control, Control::Hint { branch, .. } if branch == place)
    }

    fn leads_back(&self) -> bool {
        let Control::Branch { target: Some(Value::Place(section, address)), .. } = self.control
        else {
            return false;
        };
        section == self.at.section && address <= self.at.address
    }
}

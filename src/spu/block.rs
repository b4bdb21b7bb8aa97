//! A basic block: the instructions between two branches, and how to tell that the same code runs
//! again.

use super::instruction::{Class, Destination};

/// The most instructions that a block holds; what is longer is cut.
pub(super) const LONGEST_BLOCK: usize = 4096;

/// An instruction that ran, numbered in the order of execution, and so the value that it left in a
/// register. 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(super) struct Tag(pub(super) u32);

impl Tag {
    pub(super) const NONE: Self = Self(0);
}

/// What an instruction refers to: the values that it reads, and an instruction that it must follow
/// for another reason. That one is for a load the last store to its quadword of local store, for a
/// store the last access to it, and for a branch its hint.
pub(super) type References = [Tag; 4];

/// The most registers that an instruction reads.
const OPERANDS: usize = 3;

/// Class and destination of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    #[inline(always)]
    pub(super) const fn new(class: Class, destination: Destination) -> Self {
        Self(class as u8 | (destination as u8) << 4)
    }

    pub(super) const fn class(self) -> Class {
        Class::ALL[(self.0 & 0xF) as usize]
    }

    pub(super) const fn destination(self) -> Destination {
        match self.0 >> 4 {
            0 => Destination::New,
            1 => Destination::LastOperand,
            _ => Destination::Nowhere,
        }
    }

    pub(super) fn is_store(self) -> bool {
        self == Self::new(Class::LoadStore, Destination::Nowhere)
    }

    pub(super) fn is_load(self) -> bool {
        self == Self::new(Class::LoadStore, Destination::New)
    }
}

/// A value that an instruction of a block reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// It was computed before the block began.
    Before(Tag),
    /// The instruction of the block at that position computes it.
    Within(usize),
}

/// The instructions of a block in program order, as they ran once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code<'b> {
    pub(super) kinds: &'b [Kind],
    pub(super) references: &'b [References],
    /// The tag of the first instruction.
    pub(super) start: Tag,
}

impl Code<'_> {
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The values that the instruction at `position` reads, in the order of its operands.
    pub(super) fn reads(&self, position: usize) -> impl Iterator<Item = Value> {
        let operands = &self.references[position][..OPERANDS];
        operands.iter().filter(|&&tag| tag != Tag::NONE).map(|&tag| self.value(tag))
    }

    /// The positions within the block whose results the instruction at `position` reads.
    pub(super) fn sources(&self, position: usize) -> impl Iterator<Item = usize> {
        self.reads(position).filter_map(|value| match value {
            Value::Within(source) => Some(source),
            Value::Before(_) => None,
        })
    }

    /// The position within the block that the instruction at `position` must follow.
    pub(super) fn follows(&self, position: usize) -> Option<usize> {
        match self.value(self.references[position][OPERANDS]) {
            Value::Within(earlier) => Some(earlier),
            Value::Before(_) => None,
        }
    }

    /// The value whose register the instruction at `position` overwrites.
    pub(super) fn overwrites(&self, position: usize) -> Option<Value> {
        match self.kinds[position].destination() {
            Destination::LastOperand => self.reads(position).last(),
            Destination::New | Destination::Nowhere => None,
        }
    }

    /// Whether the block ends with a branch that was hinted.
    pub(super) fn is_hinted(&self) -> bool {
        self.kinds.last().is_some_and(|last| last.class() == Class::Branch)
            && self.follows(self.len() - 1).is_some()
    }

    fn value(&self, tag: Tag) -> Value {
        match tag.0.checked_sub(self.start.0) {
            Some(position) => Value::Within(position as usize),
            None => Value::Before(tag),
        }
    }

    /// The block without what differs from one execution to the next.
    pub(super) fn shape(&self) -> Shape {
        let relative = |tag| relative(tag, self.start);
        Shape {
            kinds: self.kinds.to_vec(),
            references: self.references.iter().map(|tags| tags.map(relative)).collect(),
        }
    }
}

/// What is the same each time a block runs: the kinds of its instructions, and the positions to
/// which they refer; -1 for what lies before the block.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) kinds: Vec<Kind>,
    references: Vec<[i32; 4]>,
}

impl Shape {
    /// Whether `code` has this shape. This is what timing an instruction costs once its block is
    /// known, so it is written without branches.
    pub(super) fn fits(&self, code: Code<'_>) -> bool {
        if self.kinds != code.kinds {
            return false;
        }
        let ran = code.references.as_flattened();
        let expected = self.references.as_flattened();
        let differences = ran.iter().zip(expected).fold(0, |differences, (&tag, &expected)| {
            differences | (relative(tag, code.start) ^ expected)
        });
        differences == 0
    }
}

/// Position in the block that begins at `start`; -1 for what lies before it.
#[inline(always)]
const fn relative(tag: Tag, start: Tag) -> i32 {
    let distance = tag.0.wrapping_sub(start.0) as i32;
    distance | distance >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_holds_every_class_and_destination() {
        for class in Class::ALL {
            for destination in [Destination::New, Destination::LastOperand, Destination::Nowhere] {
                let kind = Kind::new(class, destination);
                assert_eq!((kind.class(), kind.destination()), (class, destination));
            }
        }
    }

    fn check(kinds: [Class; 2], second: References, start: u32, expected: bool) {
        let of = |classes: [Class; 2]| classes.map(|class| Kind::new(class, Destination::New));
        let known_kinds = of([Class::LoadStore, Class::SimpleFixed]);
        let known = [[Tag(3), Tag(0), Tag(0), Tag(0)], [Tag(10), Tag(5), Tag(0), Tag(0)]];
        let shape = Code { kinds: &known_kinds, references: &known, start: Tag(10) }.shape();
        let references = [[Tag(3), Tag(0), Tag(0), Tag(0)], second];
        let code = Code { kinds: &of(kinds), references: &references, start: Tag(start) };
        assert_eq!(shape.fits(code), expected);
    }

    #[test]
    fn a_block_is_recognised_by_its_classes_and_by_where_its_operands_come_from() {
        let same = [Class::LoadStore, Class::SimpleFixed];
        check(same, [Tag(20), Tag(19), Tag(0), Tag(0)], 20, true);
        check(same, [Tag(19), Tag(19), Tag(0), Tag(0)], 20, false);
        check(same, [Tag(20), Tag(20), Tag(0), Tag(0)], 20, false);
        check(same, [Tag(20), Tag(19), Tag(0), Tag(20)], 20, false);
        check([Class::LoadStore, Class::WordShift], [Tag(20), Tag(19), Tag(0), Tag(0)], 20, false);
    }
}

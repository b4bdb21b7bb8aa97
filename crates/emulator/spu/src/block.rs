//! A basic block: the instructions between two branches, and how to tell that the same code runs
//! again.

use crate::BranchName;
use crate::instruction::{Class, Destination};

/// The most instructions that a block holds; what is longer is cut.
pub(super) const LONGEST_BLOCK: usize = 4096;

/// An instruction that ran, numbered in the order of execution, and so the value that it left in a
/// register. 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(super) struct Tag(pub(super) u32);

impl Tag {
    pub(super) const NONE: Self = Self(0);

    /// How far after `start` the instruction ran; negative for one before it.
    #[inline(always)]
    pub(super) const fn after(self, start: Self) -> i32 {
        self.0.wrapping_sub(start.0) as i32
    }
}

/// What an instruction refers to: the values that it reads, and an instruction that it must follow
/// for another reason. That one is for a load the last store to its quadword of local store, for a
/// store the last access to it, and for a branch its hint.
///
/// Each stands as its distance from the beginning of the block: as long as the position in a block
/// is known when a kernel is compiled, so are the references within the block, and to write them
/// down takes the host one store of a constant. A negative distance is a value from before the
/// block.
pub(super) type References = [i32; 4];

/// No operand. An instruction with fewer operands is another instruction than one whose operands
/// come from before the block, so this is no distance.
pub(super) const NOTHING: i32 = i32::MAX;

/// Nothing that it must follow, which is as good as something before the block.
pub(super) const FREE: i32 = i32::MIN;

/// The most registers that an instruction reads.
pub(super) const OPERANDS: usize = 3;

/// Class and destination of an instruction, and for a branch whether it was hinted, and whether it
/// is conditional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    #[inline(always)]
    pub(super) const fn new(class: Class, destination: Destination) -> Self {
        Self(class as u8 | (destination as u8) << 4)
    }

    /// A branch, where it leaves a link, and whether a hint for it is in the buffer.
    #[inline(always)]
    pub(super) const fn branch(link: Destination, hint: Tag) -> Self {
        let hinted = if hint.0 == Tag::NONE.0 { 0 } else { Self::HINTED };
        Self(Self::new(Class::Branch, link).0 | hinted)
    }

    const HINTED: u8 = 0x40;

    /// An `hbrp`, which goes where loads and stores go and is neither.
    pub(super) const PREFETCH: Self =
        Self(Self::new(Class::LoadStore, Destination::Nowhere).0 | 0x80);

    /// The same branch, taken or not as a register says.
    #[inline(always)]
    pub(super) const fn conditional(self) -> Self {
        Self(self.0 | Self::CONDITIONAL)
    }

    const CONDITIONAL: u8 = 0x80;

    pub(super) const fn is_conditional(self) -> bool {
        matches!(self.class(), Class::Branch) && self.0 & Self::CONDITIONAL != 0
    }

    pub(super) const fn is_hinted(self) -> bool {
        self.0 & Self::HINTED != 0
    }

    /// Not 0 where the two differ.
    #[inline(always)]
    pub(super) const fn differs(self, other: Self) -> u8 {
        self.0 ^ other.0
    }

    pub(super) const fn class(self) -> Class {
        Class::ALL[(self.0 & 0xF) as usize]
    }

    pub(super) const fn destination(self) -> Destination {
        match (self.0 >> 4) & 3 {
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
    /// Value computed before the block began.
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
        let read = operands.iter().filter(|&&distance| distance != NOTHING);
        read.map(|&distance| self.value(distance))
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
        self.kinds.last().is_some_and(|last| last.is_hinted())
    }

    fn value(&self, distance: i32) -> Value {
        match usize::try_from(distance) {
            Ok(position) => Value::Within(position),
            Err(_) => Value::Before(Tag(self.start.0.wrapping_add_signed(distance))),
        }
    }

    /// The block without what differs from one execution to the next.
    pub(super) fn shape(&self) -> Shape {
        let from_before = |(kind, references): (&Kind, &References)| {
            let [operands @ .., follows] = references;
            operands.iter().any(|&it| it < 0) || (kind.is_hinted() && *follows < 0)
        };
        let positions = (0..).zip(self.kinds.iter().zip(self.references));
        Shape {
            kinds: self.kinds.to_vec(),
            references: self.references.iter().map(|references| references.map(position)).collect(),
            open: positions
                .filter(|&(_, it)| from_before(it))
                .map(|(position, _)| position)
                .collect(),
        }
    }
}

/// What is the same each time a block runs: the kinds of its instructions, and the positions to
/// which they refer; -1 for what lies before the block.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) kinds: Vec<Kind>,
    references: Vec<[i32; 4]>,
    /// The positions of the instructions that refer to something before the block.
    pub(super) open: Vec<u16>,
}

impl Shape {
    /// Whether `code` has this shape.
    pub(super) fn fits(&self, code: Code<'_>) -> bool {
        if self.kinds.len() != code.len() {
            return false;
        }
        let mut kinds = 0;
        for (&expected, &ran) in self.kinds.iter().zip(code.kinds) {
            kinds |= expected.differs(ran);
        }
        let mut references = 0;
        let (expected, ran) = (self.references.as_flattened(), code.references.as_flattened());
        for (&expected, &distance) in expected.iter().zip(ran) {
            references |= position(distance) ^ expected;
        }
        kinds == 0 && references == 0
    }
}

/// Position in the block at that distance from its beginning; -1 for what lies before it.
#[inline(always)]
const fn position(distance: i32) -> i32 {
    distance | distance >> 31
}

/// The hint that ran last, until its branch runs, and the name of the branch that comes next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HintBuffer {
    hint: Option<Hint>,
    branch: Option<BranchName>,
}

#[derive(Debug, Clone, Copy)]
struct Hint {
    tag: Tag,
    /// The branch that it is for; none where it is for the next one.
    branch: Option<BranchName>,
}

impl HintBuffer {
    /// Puts a hint into the buffer; one that is there is lost.
    #[inline(always)]
    pub(super) const fn put(&mut self, tag: Tag, branch: Option<BranchName>) {
        self.hint = Some(Hint { tag, branch });
    }

    /// Names the branch that comes next.
    #[inline(always)]
    pub(super) const fn name_branch(&mut self, name: BranchName) {
        self.branch = Some(name);
    }

    /// The hint for the branch that runs now, if it is in the buffer.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Tag {
        let branch = self.branch.take();
        let hint = self.hint.filter(|hint| hint.branch.is_none() || hint.branch == branch);
        let Some(hint) = hint else { return Tag::NONE };
        self.hint = None;
        hint.tag
    }
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

    fn check(kinds: [Class; 2], second: References, expected: bool) {
        let of = |classes: [Class; 2]| classes.map(|class| Kind::new(class, Destination::New));
        let known_kinds = of([Class::LoadStore, Class::SimpleFixed]);
        let known = [[-7, NOTHING, NOTHING, FREE], [0, -5, NOTHING, FREE]];
        let shape = Code { kinds: &known_kinds, references: &known, start: Tag(10) }.shape();
        let references = [[-17, NOTHING, NOTHING, -3], second];
        let code = Code { kinds: &of(kinds), references: &references, start: Tag(20) };
        assert_eq!(shape.fits(code), expected);
    }

    #[test]
    fn a_block_is_recognised_by_its_classes_and_by_where_its_operands_come_from() {
        let same = [Class::LoadStore, Class::SimpleFixed];
        check(same, [0, -1, NOTHING, FREE], true);
        check(same, [0, NOTHING, NOTHING, FREE], false);
        check(same, [-1, -1, NOTHING, FREE], false);
        check(same, [0, 0, NOTHING, FREE], false);
        check(same, [0, -1, NOTHING, 0], false);
        check([Class::LoadStore, Class::WordShift], [0, -1, NOTHING, FREE], false);
    }

    #[test]
    fn a_branch_knows_whether_it_was_hinted_and_is_a_branch_all_the_same() {
        for link in [Destination::New, Destination::Nowhere] {
            let (hinted, unhinted) = (Kind::branch(link, Tag(3)), Kind::branch(link, Tag::NONE));
            assert!(hinted.is_hinted() && !unhinted.is_hinted());
            for kind in [hinted, unhinted] {
                assert_eq!((kind.class(), kind.destination()), (Class::Branch, link));
                assert!(!kind.is_conditional() && kind.conditional().is_conditional());
                let same = (kind.conditional().class(), kind.conditional().destination());
                assert_eq!(same, (Class::Branch, link));
            }
        }
    }
}

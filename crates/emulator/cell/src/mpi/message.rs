//! What ranks send each other.

use std::fmt;

use crate::ppe::Work;
use mmgp_base::units::Bytes;

/// Values of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `MPI_BYTE`
    Bytes(Vec<u8>),
    /// `MPI_LONG_LONG`
    Integers(Vec<i64>),
    /// `MPI_DOUBLE`
    Doubles(Vec<f64>),
}

/// How contributions are combined, value by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `MPI_SUM`; integers wrap around.
    Sum,
    /// `MPI_MIN`
    Minimum,
    /// `MPI_MAX`
    Maximum,
}

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The receiver's rank.
    pub rank: u32,
    /// A number by which the receiver chooses among messages.
    pub tag: u32,
}

/// Which messages are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// The sender's rank; any where absent (`MPI_ANY_SOURCE`).
    pub source: Option<u32>,
    /// The tag; any where absent (`MPI_ANY_TAG`).
    pub tag: Option<u32>,
}

/// A message that has been received.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The sender's rank.
    pub source: u32,
    /// Its tag.
    pub tag: u32,
    /// What it carries.
    pub data: Data,
}

/// Type and number of values: what all ranks must agree on in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    kind: &'static str,
    count: usize,
}

impl Shape {
    /// Whether MPI combines values of this type.
    pub(super) fn has_arithmetic(self) -> bool {
        self.kind != BYTES
    }
}

const BYTES: &str = "bytes";

impl Data {
    /// Its size.
    pub fn size(&self) -> Bytes {
        match self {
            Self::Bytes(values) => Bytes(values.len() as u64),
            Self::Integers(values) => Bytes(8 * values.len() as u64),
            Self::Doubles(values) => Bytes(8 * values.len() as u64),
        }
    }

    pub(super) const fn shape(&self) -> Shape {
        match self {
            Self::Bytes(values) => Shape { kind: BYTES, count: values.len() },
            Self::Integers(values) => Shape { kind: "integers", count: values.len() },
            Self::Doubles(values) => Shape { kind: "doubles", count: values.len() },
        }
    }

    /// This combined with `other`, value by value; nothing where their shapes differ or an
    /// operation on bytes is asked for, which MPI does not define.
    pub(super) fn combined(&self, other: &Self, reduction: Reduction) -> Option<Self> {
        if self.shape() != other.shape() {
            return None;
        }
        match (self, other) {
            (Self::Integers(a), Self::Integers(b)) => {
                let combine = |(&a, &b): (&i64, &i64)| match reduction {
                    Reduction::Sum => a.wrapping_add(b),
                    Reduction::Minimum => a.min(b),
                    Reduction::Maximum => a.max(b),
                };
                Some(Self::Integers(a.iter().zip(b).map(combine).collect()))
            }
            (Self::Doubles(a), Self::Doubles(b)) => {
                let combine = |(&a, &b): (&f64, &f64)| match reduction {
                    Reduction::Sum => a + b,
                    Reduction::Minimum => a.min(b),
                    Reduction::Maximum => a.max(b),
                };
                Some(Self::Doubles(a.iter().zip(b).map(combine).collect()))
            }
            _ => None,
        }
    }

    /// What combining it with another costs the host.
    pub(super) fn combining(&self) -> Work {
        let once = Work { loads: 2, stores: 1, ..Work::default() };
        match self {
            Self::Bytes(_) => Work::default(),
            Self::Integers(values) => Work { integers: 1, ..once } * values.len() as u64,
            Self::Doubles(values) => Work { floats: 1, ..once } * values.len() as u64,
        }
    }
}

impl Pattern {
    /// Any message.
    pub const ANY: Self = Self { source: None, tag: None };

    /// Whether a message is wanted.
    pub(super) fn matches(&self, source: u32, tag: u32) -> bool {
        self.source.is_none_or(|wanted| wanted == source)
            && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to rank {} with tag {}", self.rank, self.tag)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Some(source) => write!(f, "from rank {source}")?,
            None => f.write_str("from any rank")?,
        }
        match self.tag {
            Some(tag) => write!(f, " with tag {tag}"),
            None => f.write_str(" with any tag"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.kind)
    }
}

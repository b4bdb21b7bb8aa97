//! Which collectives the ranks have come to, and whether all mean the same.

use std::collections::VecDeque;
use std::fmt;

use super::message::{Reduction, Shape};

/// The collectives that some ranks have come to and others have not.
pub struct Ledger {
    open: VecDeque<Open>,
    /// Collectives that all ranks have come to.
    closed: u64,
    /// How many collectives each rank has come to.
    entered: Vec<u64>,
}

struct Open {
    signature: Signature,
    /// The rank that came first.
    first: u32,
    ranks: usize,
}

impl Ledger {
    pub fn new(size: u32) -> Self {
        Self { open: VecDeque::new(), closed: 0, entered: vec![0; size as usize] }
    }

    /// The number of the collective, or who came first and to what else.
    pub fn enter(&mut self, rank: u32, signature: Signature) -> Result<u64, (u32, Signature)> {
        let number = self.entered[rank as usize];
        self.entered[rank as usize] += 1;
        let index = (number - self.closed) as usize;
        if index == self.open.len() {
            self.open.push_back(Open { signature, first: rank, ranks: 0 });
        }
        let open = &mut self.open[index];
        if !open.signature.agrees(&signature) {
            return Err((open.first, open.signature));
        }
        open.signature.shape = open.signature.shape.or(signature.shape);
        open.ranks += 1;
        if index == 0 && open.ranks == self.entered.len() {
            self.open.pop_front();
            self.closed += 1;
        }
        Ok(number)
    }
}

/// What all ranks must agree on.
#[derive(Clone, Copy)]
pub struct Signature {
    pub operation: &'static str,
    pub reduction: Option<Reduction>,
    pub root: Option<u32>,
    /// Absent where a rank has no say in it.
    pub shape: Option<Shape>,
}

impl Signature {
    fn agrees(&self, other: &Self) -> bool {
        let same = (self.operation, self.reduction, self.root)
            == (other.operation, other.reduction, other.root);
        same && match (self.shape, other.shape) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// Whether MPI does not define it.
    pub fn reduces_bytes(&self) -> bool {
        self.reduction.is_some() && self.shape.is_some_and(|shape| !shape.has_arithmetic())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation)?;
        if let Some(shape) = self.shape {
            write!(f, " of {shape}")?;
        }
        if let Some(reduction) = self.reduction {
            let name = match reduction {
                Reduction::Sum => "sum",
                Reduction::Minimum => "minimum",
                Reduction::Maximum => "maximum",
            };
            write!(f, " ({name})")?;
        }
        self.root.map_or(Ok(()), |root| write!(f, " with root {root}"))
    }
}

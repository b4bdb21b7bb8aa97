//! The mapping (m, p) of a program onto a machine, which is what mmgp chooses.

use std::fmt;
use std::num::NonZeroU32;

use crate::error::{Error, Result};

/// A mapping of a program onto a machine: m concurrent host threads or processes, each of which
/// uses p APUs. Neither is zero; what is feasible is up to the machine. In the order of m, then p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mapping {
    m: NonZeroU32,
    p: NonZeroU32,
}

impl Mapping {
    /// (1, 1): one host thread with one APU.
    pub const SEQUENTIAL: Self = Self::of(1, 1);

    /// The mapping (m, p).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where m or p is 0.
    pub fn new(m: u32, p: u32) -> Result<Self> {
        let not_zero = |name, value| {
            NonZeroU32::new(value).ok_or_else(|| {
                Error::out_of_range(name, value.to_string(), "a whole number of at least 1")
            })
        };
        Ok(Self { m: not_zero("m", m)?, p: not_zero("p", p)? })
    }

    /// The mapping (m, p), for numbers that are known not to be zero, such as literals.
    ///
    /// # Panics
    /// Where m or p is 0.
    pub const fn of(m: u32, p: u32) -> Self {
        match (NonZeroU32::new(m), NonZeroU32::new(p)) {
            (Some(m), Some(p)) => Self { m, p },
            _ => panic!("invariant: a mapping has at least one host thread and one APU"),
        }
    }

    /// Concurrent host threads or processes.
    pub const fn m(self) -> u32 {
        self.m.get()
    }

    /// APUs that each of them uses.
    pub const fn p(self) -> u32 {
        self.p.get()
    }

    /// APUs in use, `m * p`.
    pub const fn apus(self) -> u64 {
        self.m() as u64 * self.p() as u64
    }
}

/// A mapping at one combination of the values that further factors of the program have. In the order of mappings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Processes m and APUs p of each.
    pub mapping: Mapping,
    /// Place of the combination in the list of all; 0 where there are no further factors.
    pub level: u32,
}

impl Site {
    /// Mapping at the combination of that place.
    pub const fn new(mapping: Mapping, level: u32) -> Self {
        Self { mapping, level }
    }

    /// APUs in use.
    pub const fn apus(self) -> u64 {
        self.mapping.apus()
    }
}

impl From<Mapping> for Site {
    fn from(mapping: Mapping) -> Self {
        Self::new(mapping, 0)
    }
}

impl fmt::Display for Mapping {
    /// Writes a mapping as `(4, 2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.m, self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_at_least_one_of_each() {
        let error = |m, p| Mapping::new(m, p).unwrap_err().to_string();
        assert_eq!(error(0, 4), "m: found 0, expected a whole number of at least 1");
        assert_eq!(error(4, 0), "p: found 0, expected a whole number of at least 1");
        assert_eq!(Mapping::new(4, 2).unwrap(), Mapping::of(4, 2));
    }

    #[test]
    fn mappings_stand_in_the_order_of_m_then_p() {
        assert!(Mapping::of(1, 16) < Mapping::of(2, 1));
        assert!(Mapping::of(2, 1) < Mapping::of(2, 2));
        assert_eq!(Mapping::of(u32::MAX, 2).apus(), 2 * u64::from(u32::MAX));
        assert_eq!(Mapping::of(4, 2).to_string(), "(4, 2)");
    }
}

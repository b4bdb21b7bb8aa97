//! Host code that walks through long vectors, line by line.

use super::hierarchy::Hierarchy;
use super::loads::AccessKind;
use mmgp_base::units::{Bytes, Cycles};

/// A stretch of a process's data that a function walks through once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Where it begins among the process's data.
    pub offset: u64,
    /// How long it is.
    pub bytes: Bytes,
    /// Whether it is read or written.
    pub kind: AccessKind,
}

/// Walks through several stretches side by side, each as fast as to end with the longest one, and
/// adds up what is waited for each line.
///
/// Left out: that a line which is loaded before the one waited for is used may be under way with it.
pub(super) fn stall(caches: &mut Hierarchy, base: u64, stretches: &[Stretch]) -> Cycles {
    let line = caches.line();
    let lines = |stretch: &Stretch| {
        let first = (base + stretch.offset) / line;
        first..(base + stretch.offset + stretch.bytes.0).div_ceil(line).max(first)
    };
    let longest = stretches.iter().map(|stretch| lines(stretch).count() as u64).max();
    let steps = longest.unwrap_or(0);
    let mut stall = Cycles(0);
    for step in 0..steps {
        for stretch in stretches {
            let lines = lines(stretch);
            let count = lines.end - lines.start;
            for line_number in count * step / steps..count * (step + 1) / steps {
                let address = (lines.start + line_number) * line;
                match stretch.kind {
                    AccessKind::Load => {
                        let level = caches.load(address);
                        stall += caches.stall(level);
                    }
                    AccessKind::Store => caches.store(address),
                }
            }
        }
    }
    stall
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_machine::Machine;

    fn stretch(offset: u64, bytes: u64, kind: AccessKind) -> Stretch {
        Stretch { offset, bytes: Bytes(bytes), kind }
    }

    #[test]
    fn each_line_is_waited_for_where_it_is_found_and_stores_are_not() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        // 256 lines fit the first level; from memory each takes 495 cycles longer.
        let vector = stretch(64, 100 * 128, AccessKind::Load);
        let other = stretch(1 << 20, 50 * 128, AccessKind::Load);
        // The first one touches 101 lines, for it begins in the middle of one.
        assert_eq!(stall(&mut caches, 0, &[vector, other]), Cycles(151 * 495));
        assert_eq!(stall(&mut caches, 0, &[vector, other]), Cycles(0));
        let out = stretch(1 << 21, 64 * 128, AccessKind::Store);
        assert_eq!(stall(&mut caches, 0, &[out]), Cycles(0));
        // What was stored is in the second level only.
        let again = Stretch { kind: AccessKind::Load, ..out };
        assert_eq!(stall(&mut caches, 0, &[again]), Cycles(64 * 31));
        assert_eq!(stall(&mut caches, 0, &[]), Cycles(0));
    }

    #[test]
    fn vectors_beyond_the_second_level_come_from_memory_again_and_again() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        let vectors = |count: u64| (0..count).map(|i| stretch(i * 29184, 29184, AccessKind::Load));
        let mut walk = |count| {
            vectors(count).map(|one| stall(&mut caches, 0, &[one]).0).sum::<u64>();
            vectors(count).map(|one| stall(&mut caches, 0, &[one]).0).sum::<u64>()
        };
        // 228 lines each: ten have 292 KB and stay in L2, forty have 1.2 MB.
        assert_eq!(walk(10), 2280 * 31);
        assert_eq!(walk(40), 9120 * 495);
    }
}

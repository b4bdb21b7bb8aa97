//! What the likelihood functions of both phylogenetic programs have in common: how vectors lie in main
//! memory, and how they are scaled on the host.
//!
//! A pattern all of whose entries are below 2^-256 in magnitude is multiplied by 2^256. Entries are
//! looked at until one is found that is not.

use crate::layout::{InMemory, Words};
use mmgp_base::units::Cycles;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::ppe::{Arithmetic, Order, Timed};
use mmgp_machine::Machine;
use mmgp_spu::Quadword;

arguments! {
    /// A conditional likelihood vector with its scaling counts.
    #[derive(Eq)]
    pub struct Vector {
        /// Doubles of each pattern.
        pub entries: EffectiveAddress,
        /// A word for each pattern.
        pub counts: EffectiveAddress,
    }
}

/// What a branch ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A tip, whose codes lie there.
    Tip(EffectiveAddress),
    /// An inner node with its vector.
    Inner(Vector),
}

/// An array in main memory, and bytes of it for each group of patterns.
pub type GroupArray = (EffectiveAddress, u64);

/// Bytes of the arrays of a branch's end for each group of patterns.
#[derive(Debug, Clone, Copy)]
pub struct EndBytes {
    /// Codes of a tip.
    pub codes: u64,
    /// Entries of a vector.
    pub entries: u64,
    /// Scaling counts of a vector.
    pub counts: u64,
}

impl EndBytes {
    /// The arrays of a vector.
    pub fn lanes_of(self, vector: Vector) -> [GroupArray; 2] {
        [(vector.entries, self.entries), (vector.counts, self.counts)]
    }

    /// The arrays of an end.
    pub fn lanes(self, end: End) -> Vec<GroupArray> {
        match end {
            End::Tip(codes) => vec![(codes, self.codes)],
            End::Inner(vector) => self.lanes_of(vector).to_vec(),
        }
    }
}

/// Marks the address of the codes of a tip: arrays begin at lines.
const TIP: u64 = 1;

impl InMemory for End {
    const BLANK: Self = Self::Inner(Vector::BLANK);

    fn pass(&mut self, words: &mut Words<'_>) {
        let mut vector = match *self {
            Self::Tip(codes) => Vector { entries: codes.offset(TIP), counts: EffectiveAddress(0) },
            Self::Inner(vector) => vector,
        };
        vector.pass(words);
        *self = match vector.entries.0 & TIP {
            0 => Self::Inner(vector),
            _ => Self::Tip(EffectiveAddress(vector.entries.0 - TIP)),
        };
    }
}

/// Doubles two by two as quadwords.
pub fn pairs(doubles: impl IntoIterator<Item = f64>) -> impl Iterator<Item = Quadword> {
    let mut doubles = doubles.into_iter();
    std::iter::from_fn(move || {
        let first = doubles.next()?;
        Some(Quadword::from_doubles([first, doubles.next().unwrap_or(0.0)]))
    })
}

/// 2^256, by which a pattern is scaled.
const SCALING: f64 =
    (1_u128 << 64) as f64 * (1_u128 << 64) as f64 * (1_u128 << 64) as f64 * (1_u128 << 64) as f64;
/// 2^-256, below which it is.
const THRESHOLD: f64 = 1.0 / SCALING;

/// ln 2^-256, for each time that a pattern was scaled.
pub const SCALING_LOG: f64 = -256.0 * std::f64::consts::LN_2;

/// What was found while patterns were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checks {
    /// Small entries; a pattern is left at the first one that is not.
    pub small: u32,
    /// Patterns that were scaled, since all their entries were small.
    pub scaled: u32,
}

/// Scales a pattern on the host if it needs it.
#[inline(always)]
pub fn scale<A: Arithmetic>(ppe: &mut A, entries: &mut [[f64; 4]]) -> Checks {
    let threshold = ppe.constant(THRESHOLD);
    let mut small = 0;
    for entry in entries.iter().flatten() {
        let entry = ppe.load(entry);
        let magnitude = ppe.absolute(entry);
        if !ppe.is_below(magnitude, threshold) {
            return Checks { small, scaled: 0 };
        }
        small += 1;
    }
    let scaling = ppe.load(&SCALING);
    for entry in entries {
        let four = ppe.load_four(entry);
        let large = ppe.multiply_four(four, [scaling; 4]);
        ppe.store_four(entry, large);
    }
    Checks { small, scaled: 1 }
}

/// Scales a pattern on the host if it needs it, and writes how often it was scaled: `below` times below.
#[inline(always)]
pub fn scale_and_count<A: Arithmetic>(
    ppe: &mut A,
    entries: &mut [[f64; 4]],
    below: A::Word,
    count: &mut i32,
) -> Checks {
    let checks = scale(ppe, entries);
    let sum = match checks.scaled {
        0 => below,
        _ => ppe.add_constant(below, 1),
    };
    ppe.store_word(count, sum);
    checks
}

/// What small entries cost beyond a look at the first entry of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    small: Cycles,
    scaled: Cycles,
}

impl Costs {
    /// Times the check of patterns of so many categories: the means of several in a row.
    pub fn measure(machine: &Machine, order: Order, categories: usize) -> Self {
        const PATTERNS: u64 = 16;
        let time = |first: f64, others: f64| {
            let mut timed = Timed::new(machine, order);
            for _ in 0..PATTERNS {
                let mut pattern = vec![[others; 4]; categories];
                pattern[0][0] = first;
                scale(&mut timed, &mut pattern);
            }
            timed.cycles().0
        };
        let none = time(1.0, 1.0);
        let longer = |cycles: u64| cycles.saturating_sub(none) / PATTERNS;
        let small = longer(time(f64::MIN_POSITIVE, 1.0));
        let all = longer(time(f64::MIN_POSITIVE, f64::MIN_POSITIVE));
        let scaled = all.saturating_sub(4 * categories as u64 * small);
        Self { small: Cycles(small), scaled: Cycles(scaled) }
    }

    /// What those checks took longer than as many patterns whose first entry is large.
    pub fn of(self, checks: Checks) -> Cycles {
        let small = u64::from(checks.small) * self.small.0;
        Cycles(small + u64::from(checks.scaled) * self.scaled.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_cell::ppe::Plain;

    /// What becomes of a pattern of one category.
    fn check(pattern: [f64; 4], scaled: [f64; 4], small: u32) {
        let mut entries = [pattern];
        let checks = scale(&mut Plain, &mut entries);
        assert_eq!((entries, checks.small), ([scaled], small));
        assert_eq!(checks.scaled, u32::from(scaled != pattern));
    }

    #[test]
    fn a_pattern_is_scaled_where_all_entries_are_small_in_magnitude() {
        let (tiny, least) = (2.0_f64.powi(-257), 2.0_f64.powi(-256));
        check([tiny, -tiny, 0.0, tiny], [0.5, -0.5, 0.0, 0.5], 4);
        check([tiny, -tiny, -least, tiny], [tiny, -tiny, -least, tiny], 2);
        check([least, tiny, tiny, tiny], [least, tiny, tiny, tiny], 0);
    }

    #[test]
    fn a_small_entry_costs_at_least_a_refill() {
        let machine = Machine::named("qs20").unwrap();
        let Costs { small, scaled } = Costs::measure(&machine, Order::Written, 4);
        // Refill 23, compare to branch 6, magnitude 10; then 16 products and twice as many words.
        assert!(small.0 >= 39 && small.0 < 60, "{small:?}");
        assert!(scaled.0 >= 32 && scaled.0 < 120, "{scaled:?}");
        let checks = Checks { small: 3, scaled: 2 };
        let cost = Costs { small, scaled }.of(checks);
        assert_eq!(cost, Cycles(3 * small.0 + 2 * scaled.0));
    }
}

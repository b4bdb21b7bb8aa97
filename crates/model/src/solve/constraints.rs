//! Which configurations may be chosen: what the machine holds, and what the user allows.

use crate::model::observations::Range;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

/// What a configuration must meet besides `m * p <= apus`, as `Constraints::NONE.max_m(4)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Constraints {
    min_m: u32,
    max_m: Option<u32>,
    min_p: u32,
    max_p: Option<u32>,
    m_divides: Option<u32>,
    p_divides: Option<u32>,
    apus_per_chip: Option<u32>,
}

/// The configurations that constraints leave on a machine, at least one.
///
/// For every m the p form a range from the least allowed to [`Self::last_p`], or, where p must
/// divide something, its divisors within that range; the range never grows with m.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    apus: u32,
    constraints: Constraints,
    /// The p that divide what they must, increasing.
    divisors: Option<Vec<u32>>,
}

/// The p that go with one m, increasing.
#[derive(Debug, Clone, Copy)]
pub struct Choices<'a> {
    first: u32,
    divisors: Option<&'a [u32]>,
    /// How many there are.
    pub count: u32,
}

impl Constraints {
    /// None but the number of APUs.
    pub const NONE: Self = Self {
        min_m: 1,
        max_m: None,
        min_p: 1,
        max_p: None,
        m_divides: None,
        p_divides: None,
        apus_per_chip: None,
    };

    /// The fewest host threads, at least 1.
    pub fn min_m(self, m: u32) -> Self {
        Self { min_m: m, ..self }
    }

    /// The most host threads, or no bound.
    pub fn max_m(self, m: impl Into<Option<u32>>) -> Self {
        Self { max_m: m.into(), ..self }
    }

    /// The fewest APUs for each thread, at least 1.
    pub fn min_p(self, p: u32) -> Self {
        Self { min_p: p, ..self }
    }

    /// The most APUs for each thread, or no bound.
    pub fn max_p(self, p: impl Into<Option<u32>>) -> Self {
        Self { max_p: p.into(), ..self }
    }

    /// Within the range of what was timed, where no other bound is set.
    #[must_use]
    pub(super) fn within(self, range: Range) -> Self {
        let least = |own: u32, timed: u32| if own > 1 { own } else { timed };
        Self {
            min_m: if self.max_m.is_some() { self.min_m } else { least(self.min_m, range.m.0) },
            max_m: self.max_m.or(Some(range.m.1)),
            min_p: if self.max_p.is_some() { self.min_p } else { least(self.min_p, range.p.0) },
            max_p: self.max_p.or(Some(range.p.1)),
            ..self
        }
    }

    /// A number that m must divide without rest, or none.
    pub fn m_divides(self, number: impl Into<Option<u32>>) -> Self {
        Self { m_divides: number.into(), ..self }
    }

    /// A number that p must divide without rest, or none.
    pub fn p_divides(self, number: impl Into<Option<u32>>) -> Self {
        Self { p_divides: number.into(), ..self }
    }

    /// The APUs of a chip, where those of a thread must lie on one chip, or none.
    ///
    /// A machine of N APUs has `N / c` chips of c APUs and one of what is left. A chip of c APUs
    /// holds `c / p` threads, whole ones, and no thread is split between chips.
    pub fn apus_per_chip(self, apus: impl Into<Option<u32>>) -> Self {
        Self { apus_per_chip: apus.into(), ..self }
    }

    /// What they leave on a machine with so many APUs.
    ///
    /// # Errors
    ///
    /// [`Error::NothingFeasible`] where they leave nothing, which names those that are to blame:
    /// a set of which none can be spared. [`Error::OutOfRange`] for a 0 in any of them.
    pub fn space(&self, apus: u32) -> Result<Space> {
        if let Some((name, _)) = self.set().iter().find(|(_, value)| *value == 0) {
            let expected = "a whole number of at least 1".into();
            return Err(Error::OutOfRange { name, found: "0".into(), expected });
        }
        let space = Space::of(*self, apus);
        if space.ms().next().is_some() {
            return Ok(space);
        }
        let mut blamed = *self;
        for (name, _) in self.set() {
            let without = blamed.without(name);
            if Space::of(without, apus).ms().next().is_none() {
                blamed = without;
            }
        }
        Err(Error::NothingFeasible { apus, constraints: blamed.set() })
    }

    /// The constraints that say something, by their names.
    fn set(&self) -> Vec<(&'static str, u32)> {
        let least = |value: u32| (value != 1).then_some(value);
        let all = [
            ("min_m", least(self.min_m)),
            ("max_m", self.max_m),
            ("min_p", least(self.min_p)),
            ("max_p", self.max_p),
            ("m_divides", self.m_divides),
            ("p_divides", self.p_divides),
            ("apus_per_chip", self.apus_per_chip),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn without(&self, name: &str) -> Self {
        let none = Self::NONE;
        match name {
            "min_m" => Self { min_m: none.min_m, ..*self },
            "max_m" => Self { max_m: None, ..*self },
            "min_p" => Self { min_p: none.min_p, ..*self },
            "max_p" => Self { max_p: None, ..*self },
            "m_divides" => Self { m_divides: None, ..*self },
            "p_divides" => Self { p_divides: None, ..*self },
            _ => Self { apus_per_chip: None, ..*self },
        }
    }
}

impl Space {
    fn of(constraints: Constraints, apus: u32) -> Self {
        let divisors = constraints.p_divides.map(|whole| {
            let last = constraints.max_p.unwrap_or(apus).min(apus).min(whole);
            (constraints.min_p..=last).filter(|&p| whole.is_multiple_of(p)).collect()
        });
        Self { apus, constraints, divisors }
    }

    /// The largest m to look at: there may be no p for it.
    pub(super) fn last_m(&self) -> u32 {
        let Constraints { max_m, m_divides, .. } = self.constraints;
        max_m.unwrap_or(self.apus).min(self.apus).min(m_divides.unwrap_or(u32::MAX))
    }

    /// Every m for which there is a p, increasing.
    pub fn ms(&self) -> impl Iterator<Item = u32> + '_ {
        let Constraints { min_m, m_divides, .. } = self.constraints;
        (min_m..=self.last_m())
            .filter(move |&m| m_divides.is_none_or(|whole| whole.is_multiple_of(m)))
            .take_while(|&m| self.choices(m).count > 0)
    }

    /// The largest p that m threads leave room for, whatever p must divide; 0 where there is
    /// none.
    pub fn last_p(&self, m: u32) -> u32 {
        let most = self.constraints.max_p.unwrap_or(self.apus).min(self.apus / m);
        let Some(chip) = self.constraints.apus_per_chip else { return most };
        let (chips, rest) = (self.apus / chip, self.apus % chip);
        let threads = |p: u32| chips * (chip / p) + rest / p;
        // The threads that fit never grow with p.
        let (mut fits, mut too_many) = (0, most.min(chip) + 1);
        while too_many - fits > 1 {
            let p = fits.midpoint(too_many);
            if threads(p) >= m {
                fits = p;
            } else {
                too_many = p;
            }
        }
        fits
    }

    /// The p that go with m.
    pub fn choices(&self, m: u32) -> Choices<'_> {
        let (first, last) = (self.constraints.min_p, self.last_p(m));
        let divisors = self.divisors.as_deref();
        let count = match divisors {
            Some(divisors) => divisors.partition_point(|&p| p <= last) as u32,
            None if last < first => 0,
            None => last - first + 1,
        };
        Choices { first, divisors, count }
    }

    /// Every one, by m, then p.
    pub fn configurations(&self) -> impl Iterator<Item = Mapping> + '_ {
        self.ms().flat_map(|m| self.choices(m).iter().map(move |p| Mapping::of(m, p)))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ms().map(|m| self.choices(m).count as usize).sum()
    }

    /// Whether a mapping is one of them.
    pub fn contains(&self, mapping: Mapping) -> bool {
        let (m, p) = (mapping.m(), mapping.p());
        let Constraints { min_m, max_m, m_divides, .. } = self.constraints;
        m >= min_m
            && m <= max_m.unwrap_or(self.apus).min(self.apus)
            && m_divides.is_none_or(|whole| whole.is_multiple_of(m))
            && self.choices(m).iter().any(|choice| choice == p)
    }
}

impl<'a> Choices<'a> {
    /// All from 1 to `last`.
    pub(super) fn up_to_last(last: u32) -> Self {
        Self { first: 1, divisors: None, count: last }
    }

    /// The p with that index, below [`Self::count`].
    pub fn at(&self, index: u32) -> u32 {
        match self.divisors {
            Some(divisors) => divisors[index as usize],
            None => self.first + index,
        }
    }

    /// All of them.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + 'a {
        (0..self.count).map(move |index| self.at(index))
    }

    /// How many are at most `p`.
    pub fn up_to(&self, p: u32) -> u32 {
        match self.divisors {
            Some(divisors) => {
                (divisors.partition_point(|&choice| choice <= p) as u32).min(self.count)
            }
            None => (p.saturating_add(1)).saturating_sub(self.first).min(self.count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left is what a look at every (m, p) leaves.
    fn check(constraints: Constraints, apus: u32, allows: impl Fn(u32, u32) -> bool) {
        let expected: Vec<Mapping> = (1..=apus)
            .flat_map(|m| (1..=apus / m).map(move |p| Mapping::of(m, p)))
            .filter(|it| allows(it.m(), it.p()))
            .collect();
        let space = constraints.space(apus).unwrap();
        assert_eq!(space.configurations().collect::<Vec<_>>(), expected, "{constraints:?}");
        for m in 1..=apus {
            for p in 1..=apus {
                let mapping = Mapping::of(m, p);
                assert_eq!(space.contains(mapping), expected.contains(&mapping), "{mapping}");
            }
        }
    }

    #[test]
    fn what_is_left_is_what_a_look_at_every_configuration_leaves() {
        let none = Constraints::NONE;
        check(none, 16, |_, _| true);
        check(none.max_m(5).min_p(2), 16, |m, p| m <= 5 && p >= 2);
        check(none.min_m(3).max_p(4), 20, |m, p| m >= 3 && p <= 4);
        check(none.p_divides(8), 16, |_, p| 8 % p == 0);
        check(none.m_divides(12).p_divides(6), 30, |m, p| 12 % m == 0 && 6 % p == 0);
    }

    /// Places threads one after the other on the first chip with room for them.
    fn fits(chips: &[u32], m: u32, p: u32) -> bool {
        chips.iter().map(|apus| apus / p).sum::<u32>() >= m
    }

    #[test]
    fn threads_are_packed_on_chips_without_splitting_one() {
        let of = |chip: u32| Constraints::NONE.apus_per_chip(chip);
        check(of(8), 16, |m, p| fits(&[8, 8], m, p));
        check(of(8), 21, |m, p| fits(&[8, 8, 5], m, p));
        // Six APUs of a chip that has eight by design.
        check(of(8), 6, |m, p| fits(&[6], m, p));
        let space = of(8).space(16).unwrap();
        // Three APUs each: two threads on each of two chips, not five on sixteen APUs.
        assert!(space.contains(Mapping::of(4, 3)) && !space.contains(Mapping::of(5, 3)));
        assert!(!space.contains(Mapping::of(1, 9)));
    }

    #[test]
    fn constraints_that_leave_nothing_are_named_without_the_innocent() {
        let message = |constraints: Constraints| constraints.space(16).unwrap_err().to_string();
        let none = Constraints::NONE;
        assert_eq!(
            message(none.min_m(20).p_divides(8)),
            "no (m, p) of 16 APUs meets min_m 20; relax it"
        );
        assert_eq!(
            message(none.min_m(3).max_m(9).min_p(6).p_divides(6)),
            "no (m, p) of 16 APUs meets min_m 3 and min_p 6 together; relax one of them"
        );
        assert_eq!(message(none.max_p(0)), "max_p: found 0, expected a whole number of at least 1");
    }
}

//! Which configurations may be chosen: what the machine holds, and what the user allows.

mod condition;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::models::observations::Range;
pub use condition::{Choices, Condition};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

/// What a configuration must meet besides `m * p <= apus`, as `Constraints::NONE.max_m(4)`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Constraints {
    min_m: u32,
    max_m: Option<u32>,
    min_p: u32,
    max_p: Option<u32>,
    m_divides: Option<u32>,
    p_divides: Option<u32>,
    apus_per_chip: Option<u32>,
    condition: Option<Arc<Condition>>,
    /// The only mappings that are allowed, in increasing order.
    among: Option<Arc<[Mapping]>>,
}

/// The configurations that constraints leave on a machine, at least one.
///
/// For every m the p form a range from the least allowed to the last that there is room for, or,
/// where p must divide something, its divisors within that range; the range never grows with m.
/// Under a condition or a table of what is allowed, m and p are any.
#[derive(Debug, Clone)]
pub struct Space {
    apus: u32,
    constraints: Constraints,
    /// The p that divide what they must, increasing.
    divisors: Option<Vec<u32>>,
    /// The p of each m, increasing, where they are any.
    listed: Option<BTreeMap<u32, Vec<u32>>>,
}

/// A condition is asked of so many configurations at most, which takes a second or two.
const MOST_ASKED: u64 = 20_000_000;

impl Constraints {
    /// Constraints of nothing but the number of APUs.
    pub const NONE: Self = Self {
        min_m: 1,
        max_m: None,
        min_p: 1,
        max_p: None,
        m_divides: None,
        p_divides: None,
        apus_per_chip: None,
        condition: None,
        among: None,
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

    /// Bounds by the range of what was timed, where no other bound is set and nothing is listed.
    #[must_use]
    pub(super) fn within(self, range: Range) -> Self {
        if self.among.is_some() {
            return self;
        }
        let least = |own: u32, timed: u32| if own > 1 { own } else { timed };
        Self {
            min_m: if self.max_m.is_some() { self.min_m } else { least(self.min_m, range.m.0) },
            max_m: self.max_m.or(Some(range.m.1)),
            min_p: if self.max_p.is_some() { self.min_p } else { least(self.min_p, range.p.0) },
            max_p: self.max_p.or(Some(range.p.1)),
            ..self
        }
    }

    /// The m that bounds ask for, where any are set.
    pub(super) fn bounds_of_m(&self) -> Option<(u32, u32)> {
        Self::bounds(self.min_m, self.max_m, self.m_divides)
    }

    /// The p that bounds ask for, where any are set.
    pub(super) fn bounds_of_p(&self) -> Option<(u32, u32)> {
        Self::bounds(self.min_p, self.max_p, self.p_divides)
    }

    fn bounds(least: u32, last: Option<u32>, whole: Option<u32>) -> Option<(u32, u32)> {
        let is_set = least > 1 || last.is_some() || whole.is_some();
        is_set.then(|| (least, last.or(whole).unwrap_or(u32::MAX)))
    }

    /// The same among these, where nothing is listed yet.
    #[must_use]
    pub(super) fn or_among(self, listed: Vec<Mapping>) -> Self {
        if self.among.is_some() { self } else { self.among(listed) }
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

    /// A condition that (m, p) must meet, or none.
    pub fn condition(self, condition: impl Into<Option<Condition>>) -> Self {
        Self { condition: condition.into().map(Arc::new), ..self }
    }

    /// The configurations that are allowed, or all. Whoever lists them knows what fits: of these,
    /// `m * p` may be more than the APUs, as where several processes share one.
    pub fn among(self, allowed: impl Into<Option<Vec<Mapping>>>) -> Self {
        let sorted = |mut allowed: Vec<Mapping>| {
            allowed.sort_unstable();
            allowed.dedup();
            allowed.into()
        };
        Self { among: allowed.into().map(sorted), ..self }
    }

    /// Whether the condition, if there is one, holds of a mapping on each of so many nodes.
    pub(super) fn hold_on(&self, nodes: u32, mapping: Mapping) -> bool {
        self.condition.as_ref().is_none_or(|condition| condition.holds(mapping, nodes))
    }

    /// What they leave on a machine with so many APUs, on one node.
    ///
    /// # Errors
    ///
    /// [`Error::NothingFeasible`] where they leave nothing, which names those that are to blame:
    /// a set of which none can be spared. [`Error::OutOfRange`] for a 0 in any of them, and for a
    /// condition on more than 20 million configurations.
    pub fn space(&self, apus: u32) -> Result<Space> {
        if let Some((name, _)) = self.set().iter().find(|(_, value)| value == "0") {
            let expected = "a whole number of at least 1";
            return Err(Error::out_of_range(name, "0", expected));
        }
        let space = Space::of(self.clone(), apus)?;
        if space.ms().next().is_some() {
            return Ok(space);
        }
        let mut blamed = self.clone();
        for (name, _) in self.set() {
            let without = blamed.clone().without(name);
            if Space::of(without.clone(), apus)?.ms().next().is_none() {
                blamed = without;
            }
        }
        Err(Error::NothingFeasible { apus, constraints: blamed.set() })
    }

    /// The constraints that say something, by their names.
    fn set(&self) -> Vec<(&'static str, String)> {
        let least = |value: u32| (value != 1).then_some(value);
        let listed = self.among.as_ref().map(|allowed| format!("({})", allowed.len()));
        let condition = self.condition.as_ref().map(|it| format!("\"{}\"", it.text()));
        let all = [
            ("min_m", least(self.min_m)),
            ("max_m", self.max_m),
            ("min_p", least(self.min_p)),
            ("max_p", self.max_p),
            ("m_divides", self.m_divides),
            ("p_divides", self.p_divides),
            ("apus_per_chip", self.apus_per_chip),
        ];
        all.into_iter()
            .map(|(name, value)| (name, value.map(|value| value.to_string())))
            .chain([("where", condition), ("configurations", listed)])
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    fn without(self, name: &str) -> Self {
        match name {
            "min_m" => self.min_m(1),
            "max_m" => self.max_m(None),
            "min_p" => self.min_p(1),
            "max_p" => self.max_p(None),
            "m_divides" => self.m_divides(None),
            "p_divides" => self.p_divides(None),
            "where" => self.condition(None),
            "configurations" => self.among(None),
            _ => self.apus_per_chip(None),
        }
    }
}

impl Space {
    fn of(constraints: Constraints, apus: u32) -> Result<Self> {
        let divisors = constraints.p_divides.map(|whole| {
            let last = constraints.max_p.unwrap_or(apus).min(apus).min(whole);
            (constraints.min_p..=last).filter(|&p| whole.is_multiple_of(p)).collect()
        });
        let mut space = Self { apus, constraints, divisors, listed: None };
        let Constraints { condition, among, .. } = space.constraints.clone();
        if condition.is_none() && among.is_none() {
            return Ok(space);
        }
        if among.is_none() {
            space.check_few()?;
        }
        let mut listed: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut list = |mapping: Mapping| {
            if space.constraints.hold_on(1, mapping) {
                listed.entry(mapping.m()).or_default().push(mapping.p());
            }
        };
        match &among {
            Some(among) => among.iter().filter(|it| space.allows(**it)).for_each(|it| list(*it)),
            None => space.configurations().for_each(&mut list),
        }
        space.listed = Some(listed);
        Ok(space)
    }

    /// Whether what is allowed may be looked at one by one.
    fn check_few(&self) -> Result<()> {
        let counts = self.ms().map(|m| u64::from(self.choices(m).count));
        let mut total = 0;
        for count in counts {
            total += count;
            if total > MOST_ASKED {
                return Err(Error::out_of_range(
                    "where",
                    format!("more than {MOST_ASKED} configurations to ask it of"),
                    "fewer; see max_m and max_p",
                ));
            }
        }
        Ok(())
    }

    /// Whether a configuration that is listed meets all constraints on numbers.
    fn allows(&self, mapping: Mapping) -> bool {
        let Constraints { min_m, max_m, min_p, max_p, m_divides, p_divides, .. } = self.constraints;
        let (m, p) = (mapping.m(), mapping.p());
        (min_m..=max_m.unwrap_or(u32::MAX)).contains(&m)
            && (min_p..=max_p.unwrap_or(u32::MAX)).contains(&p)
            && m_divides.is_none_or(|whole| whole.is_multiple_of(m))
            && p_divides.is_none_or(|whole| whole.is_multiple_of(p))
            && (self.constraints.apus_per_chip.is_none() || p <= self.last_p(m))
    }

    /// The largest m to look at: there may be no p for it.
    pub(super) fn last_m(&self) -> u32 {
        if let Some(listed) = &self.listed {
            return listed.keys().next_back().copied().unwrap_or(0);
        }
        let Constraints { max_m, m_divides, .. } = self.constraints;
        max_m.unwrap_or(self.apus).min(self.apus).min(m_divides.unwrap_or(u32::MAX))
    }

    /// Every m for which there is a p, increasing.
    pub fn ms(&self) -> impl Iterator<Item = u32> + '_ {
        let Constraints { min_m, m_divides, .. } = self.constraints;
        let last_m = if self.listed.is_none() { self.last_m() } else { 0 };
        let ranged = (min_m..=last_m)
            .filter(move |&m| m_divides.is_none_or(|whole| whole.is_multiple_of(m)))
            .take_while(|&m| self.choices(m).count > 0);
        self.listed.iter().flat_map(|listed| listed.keys().copied()).chain(ranged)
    }

    /// The largest p that m threads leave room for, whatever p must divide; 0 where there is
    /// none.
    fn last_p(&self, m: u32) -> u32 {
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
        let first = self.constraints.min_p;
        if let Some(listed) = &self.listed {
            let listed = listed.get(&m).map_or(&[][..], Vec::as_slice);
            return Choices { first, listed: Some(listed), count: listed.len() as u32 };
        }
        let last = self.last_p(m);
        let listed = self.divisors.as_deref();
        let count = match listed {
            Some(divisors) => divisors.partition_point(|&p| p <= last) as u32,
            None if last < first => 0,
            None => last - first + 1,
        };
        Choices { first, listed, count }
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
        if let Some(listed) = &self.listed {
            return listed.get(&m).is_some_and(|ps| ps.binary_search(&p).is_ok());
        }
        let Constraints { min_m, max_m, m_divides, .. } = self.constraints;
        m >= min_m
            && m <= max_m.unwrap_or(self.apus).min(self.apus)
            && m_divides.is_none_or(|whole| whole.is_multiple_of(m))
            && {
                let choices = self.choices(m);
                choices.up_to(p).checked_sub(1).is_some_and(|index| choices.at(index) == p)
            }
    }

    /// Whether there is a p for an m.
    pub(super) fn has(&self, m: u32) -> bool {
        let Constraints { min_m, m_divides, .. } = self.constraints;
        match &self.listed {
            Some(listed) => listed.contains_key(&m),
            None => {
                m >= min_m
                    && m_divides.is_none_or(|whole| whole.is_multiple_of(m))
                    && self.choices(m).count > 0
            }
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
        assert_eq!(space.count(), expected.len());
        for m in 1..=apus {
            for p in 1..=apus {
                let mapping = Mapping::of(m, p);
                assert_eq!(space.contains(mapping), expected.contains(&mapping), "{mapping}");
            }
        }
    }

    #[test]
    fn what_is_left_is_what_a_look_at_every_configuration_leaves() {
        let none = || Constraints::NONE;
        check(none(), 16, |_, _| true);
        check(none().max_m(5).min_p(2), 16, |m, p| m <= 5 && p >= 2);
        check(none().min_m(3).max_p(4), 20, |m, p| m >= 3 && p <= 4);
        check(none().p_divides(8), 16, |_, p| 8 % p == 0);
        check(none().m_divides(12).p_divides(6), 30, |m, p| 12 % m == 0 && 6 % p == 0);
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

    fn condition(text: &str) -> Condition {
        Condition::parse(text, &[("cores".into(), 12.0)]).expect("a good condition")
    }

    #[test]
    fn a_condition_leaves_any_m_and_p() {
        let of = |text: &str| Constraints::NONE.condition(condition(text));
        check(of("m*p <= cores && p != 2"), 16, |m, p| m * p <= 12 && p != 2);
        // Gaps between the m, and p that grow with m.
        check(of("m % 3 == 0 and p >= m / 2"), 40, |m, p| m % 3 == 0 && 2 * p >= m);
        check(of("m + p > 4").p_divides(8).max_m(5), 16, |m, p| m + p > 4 && 8 % p == 0 && m <= 5);
        check(of("nodes == 1"), 8, |_, _| true);
    }

    #[test]
    fn a_table_leaves_what_it_lists_also_beyond_the_apus() {
        let listed = [(4, 1), (1, 4), (8, 1), (1, 4), (2, 2)].map(|(m, p)| Mapping::of(m, p));
        let of = || Constraints::NONE.among(listed.to_vec());
        let left = |constraints: Constraints| -> Vec<(u32, u32)> {
            let space = constraints.space(4).unwrap();
            assert!(space.configurations().all(|mapping| space.contains(mapping)));
            space.configurations().map(|it| (it.m(), it.p())).collect()
        };
        assert_eq!(left(of()), [(1, 4), (2, 2), (4, 1), (8, 1)]);
        assert_eq!(left(of().max_m(4).min_p(2)), [(1, 4), (2, 2)]);
        assert_eq!(left(of().condition(condition("m != 2"))), [(1, 4), (4, 1), (8, 1)]);
        assert_eq!(left(of().apus_per_chip(2)), [(2, 2), (4, 1)]);
        assert!(!of().space(4).unwrap().contains(Mapping::of(3, 1)));
    }

    #[test]
    fn conditions_and_tables_are_blamed_by_name() {
        let message = |constraints: Constraints| constraints.space(16).unwrap_err().to_string();
        let none = || Constraints::NONE;
        assert_eq!(
            message(none().max_p(9).min_m(3).condition(condition("m < 3"))),
            "no (m, p) of 16 APUs meets min_m 3 and where \"m < 3\" together; relax one of them"
        );
        assert_eq!(
            message(none().min_p(3).among(vec![Mapping::of(1, 1), Mapping::of(2, 2)])),
            "no (m, p) of 16 APUs meets min_p 3 and configurations (2) together; relax one of them"
        );
        let many = none().condition(condition("m > 0")).space(100_000_000).unwrap_err().to_string();
        assert!(many.starts_with("where: found more than 20000000 configurations"), "{many}");
    }

    #[test]
    fn constraints_that_leave_nothing_are_named_without_the_innocent() {
        let message = |constraints: Constraints| constraints.space(16).unwrap_err().to_string();
        let none = || Constraints::NONE;
        assert_eq!(
            message(none().min_m(20).p_divides(8)),
            "no (m, p) of 16 APUs meets min_m 20; relax it"
        );
        assert_eq!(
            message(none().min_m(3).max_m(9).min_p(6).p_divides(6)),
            "no (m, p) of 16 APUs meets min_m 3 and min_p 6 together; relax one of them"
        );
        assert_eq!(
            message(none().max_p(0)),
            "max_p: found 0, expected a whole number of at least 1"
        );
    }

    #[test]
    fn what_was_timed_bounds_what_nobody_has_bounded() {
        let timed = Range { m: (2, 8), p: (3, 5) };
        let bounds = |constraints: Constraints| {
            let it = constraints.within(timed);
            [Some(it.min_m), it.max_m, Some(it.min_p), it.max_p].map(Option::unwrap)
        };
        assert_eq!(bounds(Constraints::NONE), [2, 8, 3, 5]);
        // Whoever asks for less than was timed, or more, gets it.
        assert_eq!(bounds(Constraints::NONE.max_m(16)), [1, 16, 3, 5]);
        assert_eq!(bounds(Constraints::NONE.max_p(4)), [2, 8, 1, 4]);
        assert_eq!(bounds(Constraints::NONE.min_m(4).min_p(4)), [4, 8, 4, 5]);
        let listed = Constraints::NONE.among(vec![Mapping::of(1, 1)]);
        assert_eq!(listed.clone().within(timed).set(), listed.set());
    }

    #[test]
    fn each_constraint_can_be_taken_away_by_its_name() {
        let all = Constraints::NONE
            .min_m(2)
            .max_m(3)
            .min_p(4)
            .max_p(5)
            .m_divides(6)
            .p_divides(7)
            .apus_per_chip(8)
            .condition(condition("m > p"))
            .among(vec![Mapping::of(1, 2)]);
        let mut left = all.clone();
        for (name, _) in all.set() {
            left = left.without(name);
            assert!(left.set().iter().all(|(other, _)| *other != name), "{name}");
        }
        assert_eq!(left.set(), []);
    }

    #[test]
    fn a_condition_is_asked_of_as_many_as_can_be() {
        let few = |apus: u32| Constraints::NONE.max_m(1).space(apus).unwrap().check_few();
        few(20_000_000).unwrap();
        assert!(few(20_000_001).is_err());
    }
}

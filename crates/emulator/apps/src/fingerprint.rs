//! What must be equal between runs for their times to be of the same work.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Relative difference of sums of the same terms that the order of additions explains: of up to 10^5
/// log likelihoods of patterns, each rounded to 2^-53.
pub const ORDER_OF_ADDITIONS: f64 = 1e-9;

/// Quantities of a run that do not depend on machine, mapping and scheduler, in an order of their
/// own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fingerprint {
    quantities: Vec<Quantity>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Quantity {
    name: Cow<'static, str>,
    value: f64,
    /// Relative difference that is no difference.
    tolerance: f64,
}

/// A quantity in which a run differs from another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The name of the quantity.
    pub name: Cow<'static, str>,
    /// What the run has.
    pub found: f64,
    /// What the other one has.
    pub expected: f64,
}

impl Fingerprint {
    /// The same with a count, which must be equal exactly.
    pub fn counting(self, name: &'static str, count: u64) -> Self {
        self.within(0.0, name, count as f64)
    }

    /// The same with a quantity that may differ by so much of the other run's.
    pub fn within(mut self, tolerance: f64, name: &'static str, value: f64) -> Self {
        self.quantities.push(Quantity { name: name.into(), value, tolerance });
        self
    }

    /// The first quantity in which it differs from that of another run, or the number of quantities;
    /// none where both runs did the same work. What is no number differs from everything.
    pub fn differs_from(&self, other: &Self) -> Option<Difference> {
        let mut pairs = self.quantities.iter().zip(&other.quantities);
        let far = |(own, other): (&Quantity, &Quantity)| {
            let near = (own.value - other.value).abs() <= own.tolerance * other.value.abs();
            let same = own.name == other.name && near;
            (!same).then_some(Difference {
                name: own.name.clone(),
                found: own.value,
                expected: other.value,
            })
        };
        let [found, expected] = [self, other].map(|it| it.quantities.len() as f64);
        let of_number = Difference { name: "number of results".into(), found, expected };
        pairs.find_map(far).or((found != expected).then_some(of_number))
    }
}

impl Difference {
    /// Describes it as in `(2, 4) ended with ln likelihood -7.5 where (1, 1) ended with -7`, for runs of these
    /// names.
    pub fn describe(&self, run: impl fmt::Display, other: impl fmt::Display) -> String {
        let Self { name, found, expected } = self;
        format!("{run} ended with {name} {found} where {other} ended with {expected}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(accepted: u64, log_likelihoods: &[f64]) -> Fingerprint {
        let first = Fingerprint::default().counting("accepted", accepted);
        let add = |sum: Fingerprint, &value: &f64| sum.within(1e-9, "ln likelihood", value);
        log_likelihoods.iter().fold(first, add)
    }

    fn check(one: &Fingerprint, other: &Fingerprint, expected: Option<&str>) {
        let found = one.differs_from(other).map(|it| it.describe("(2, 1)", "(1, 1)"));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn the_order_of_additions_makes_no_difference_and_anything_more_does() {
        check(&of(3, &[-1000.0]), &of(3, &[-1_000.000_000_9]), None);
        let far = "(2, 1) ended with ln likelihood -1000 where (1, 1) ended with -1000.0000011";
        check(&of(3, &[-1000.0]), &of(3, &[-1_000.000_001_1]), Some(far));
        let later = "(2, 1) ended with ln likelihood -6 where (1, 1) ended with -7";
        check(&of(3, &[-5.0, -6.0]), &of(3, &[-5.0, -7.0]), Some(later));
    }

    #[test]
    fn a_count_is_equal_or_it_differs() {
        let far = "(2, 1) ended with accepted 4 where (1, 1) ended with 3";
        check(&of(4, &[-1.0]), &of(3, &[-1.0]), Some(far));
    }

    #[test]
    fn what_is_missing_or_no_number_differs() {
        let less = "(2, 1) ended with number of results 2 where (1, 1) ended with 3";
        check(&of(1, &[-1.0]), &of(1, &[-1.0, -1.0]), Some(less));
        assert!(of(1, &[f64::NAN]).differs_from(&of(1, &[f64::NAN])).is_some());
    }
}

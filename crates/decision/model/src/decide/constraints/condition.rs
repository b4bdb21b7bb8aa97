//! Conditions on a mapping as people write them, `m*p <= cores && p <= 8`, and the p that
//! go with one m.

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::expression::{Expression, Kind, Names, is_name};

/// A condition on m, p and the number of nodes.
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    expression: Expression,
}

/// What it is on.
const VARIABLES: [&str; 3] = ["m", "p", "nodes"];

impl Condition {
    /// Reads a condition on `m`, `p` and `nodes`, in which names stand for the `constants`.
    /// Numbers are `f64`, so that `/` divides with a remainder behind the point.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the place of what cannot be read, in characters from 1, and for
    /// a constant that cannot be used: its name is taken or no name, its value is not finite.
    pub fn parse(text: &str, constants: &[(String, f64)]) -> Result<Self> {
        for (index, (name, value)) in constants.iter().enumerate() {
            let is_first = constants[..index].iter().all(|(earlier, _)| earlier != name);
            let is_free = is_name(name) && !VARIABLES.contains(&name.as_str());
            if !(is_free && is_first && value.is_finite()) {
                return Err(Error::out_of_range(
                    "constant",
                    format!("{name} = {value}"),
                    "a name of its own of letters, digits and _, other than m, p, nodes \
                               and operators, and a finite number",
                ));
            }
        }
        let names = Names { variables: &VARIABLES, constants };
        let expression = Expression::parse(text, Kind::Truth, names);
        let expression = expression.map_err(|mistake| {
            Error::out_of_range(
                "where",
                format!("{} at character {}", mistake.found, mistake.at),
                mistake.expected,
            )
        })?;
        Ok(Self { text: text.trim().into(), expression })
    }

    /// Condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds of a mapping on each of so many nodes.
    pub fn holds(&self, mapping: Mapping, nodes: u32) -> bool {
        let variables = [mapping.m(), mapping.p(), nodes].map(f64::from);
        self.expression.value(&variables) != 0.0
    }
}

/// The p that go with one m, increasing.
#[derive(Debug, Clone, Copy)]
pub struct Choices<'a> {
    pub(super) first: u32,
    /// Values of p and more, where they are not one after the other.
    pub(super) listed: Option<&'a [u32]>,
    /// How many there are.
    pub count: u32,
}

impl<'a> Choices<'a> {
    /// Choices from 1 to `last`.
    pub(in crate::decide) fn up_to_last(last: u32) -> Self {
        Self { first: 1, listed: None, count: last }
    }

    /// The p with that index, below [`Self::count`].
    pub fn at(&self, index: u32) -> u32 {
        match self.listed {
            Some(listed) => listed[index as usize],
            None => self.first + index,
        }
    }

    /// Values of p, increasing.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + 'a {
        (0..self.count).map(move |index| self.at(index))
    }

    /// How many are at most `p`.
    pub fn up_to(&self, p: u32) -> u32 {
        match self.listed {
            Some(listed) => (listed.partition_point(|&choice| choice <= p) as u32).min(self.count),
            None => (p.saturating_add(1)).saturating_sub(self.first).min(self.count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants() -> Vec<(String, f64)> {
        vec![("cores".into(), 16.0), ("memory_gb".into(), 31.5)]
    }

    /// A condition holds where a look at every mapping says so.
    fn check(text: &str, holds: impl Fn(u32, u32) -> bool) {
        let condition = Condition::parse(text, &constants()).expect("a good condition");
        for m in 1..=20 {
            for p in 1..=20 {
                assert_eq!(
                    condition.holds(Mapping::of(m, p), 2),
                    holds(m, p),
                    "{text}: ({m}, {p})"
                );
            }
        }
    }

    fn refused(text: &str, message: &str) {
        let error = Condition::parse(text, &constants()).expect_err("must be refused").to_string();
        assert_eq!(error, format!("where: found {message}"), "{text}");
    }

    #[test]
    fn a_condition_holds_as_it_is_read() {
        check("m*p <= cores && p <= 8", |m, p| m * p <= 16 && p <= 8);
        check("m * p<=cores and not p > 8", |m, p| m * p <= 16 && p <= 8);
        check("m == 1 || p == 1 && m < 5", |m, p| m == 1 || p == 1 && m < 5);
        check("(m == 1 or p == 1) and m < 5", |m, p| (m == 1 || p == 1) && m < 5);
        check("!(m >= p) || m != 3", |m, p| m < p || m != 3);
        check("not m == p and m > 2", |m, p| m != p && m > 2);
        check("cores % p == 0", |_, p| 16 % p == 0);
        check("nodes*m > 10", |m, _| 2 * m > 10);
        check("m*2.5 + 1e0 < memory_gb", |m, _| f64::from(m) * 2.5 + 1.0 < 31.5);
    }

    #[test]
    fn operators_bind_as_in_every_language() {
        check("2 + 3 * m - 1 == 7", |m, _| m == 2);
        check("16 / 4 / 2 == m", |m, _| m == 2);
        check("10 - 4 - 3 == p", |_, p| p == 3);
        check("-m + 5 > -p", |m, p| 5 + i64::from(p) > i64::from(m));
        check("7 % 4 * 2 == m", |m, _| m == 6);
        check("m / 2 == 1.5", |m, _| m == 3);
        // Nothing is smaller, larger or equal where nothing is divided.
        check("0 / (m - m) == m || m / 0 > p", |_, _| true);
        check("0 % 0 < m", |_, _| false);
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        let names = "expected m, p, nodes, a number or one of the constants cores, memory_gb";
        refused("m*p <= cpus", &format!("\"cpus\" at character 8, {names}"));
        refused("  m <=", &format!("the end at character 7, {names}"));
        refused("m * (p + ) < 3", &format!("\")\" at character 10, {names}"));
        refused("", &format!("the end at character 1, {names}"));
        refused("m <= 4 p", "\"p\" at character 8, expected an operator, such as <= or &&");
        refused("(m <= 4", "the end at character 8, expected an operator or )");
        refused("m <= 4)", "\")\" at character 7, expected an operator, such as <= or &&");
        refused("m = 4", "\"=\" at character 3, expected == to compare");
        refused("\u{b5} < 3 & m < 2", "\"&\" at character 7, expected &&");
        refused("m < 3cores", "\"3cores\" at character 5, expected a number");
        refused(
            "m ? 3",
            "\"?\" at character 3, expected names, numbers, parentheses and the operators + - * / % ^ \
             < <= > >= == != && || !",
        );
    }

    #[test]
    fn a_number_is_no_condition_and_a_condition_no_number() {
        refused("m*p", "a number at character 1, expected a condition, such as m*p <= 8");
        refused("m < 3 && p", "a number at character 10, expected a condition, such as m*p <= 8");
        refused("not m", "a number at character 5, expected a condition, such as m*p <= 8");
        refused("!m == 2", "a number at character 2, expected a condition, such as m*p <= 8");
        refused("m + (p < 2) > 1", "a condition at character 5, expected a number");
        refused(
            "1 < m < 4",
            "\"<\" at character 7, expected one comparison with <; join two by && or ||",
        );
    }

    #[test]
    fn what_is_too_deep_is_refused_and_what_is_long_is_not() {
        let deep = format!("{}m{} < 3", "(".repeat(1_000_000), ")".repeat(1_000_000));
        let error = Condition::parse(&deep, &[]).expect_err("must be refused").to_string();
        assert!(error.contains("at most 100 parentheses"), "{error}");
        let signs = format!("{}m < 3", "-".repeat(1_000_000));
        assert!(Condition::parse(&signs, &[]).is_err());
        let long = format!("m{} < 100001", " + 1".repeat(100_000));
        let condition = Condition::parse(&long, &[]).expect("a good condition");
        assert!(!condition.holds(Mapping::of(1, 1), 1));
        // Ninety-nine open parentheses keep as many values waiting.
        let nested = format!("{}m{} > 90", "1 + (".repeat(99), ")".repeat(99));
        let condition = Condition::parse(&nested, &[]).expect("a good condition");
        assert!(condition.holds(Mapping::of(1, 1), 1));
    }

    #[test]
    fn a_constant_has_a_name_of_its_own_and_a_value() {
        for (name, value) in
            [("m", 1.0), ("nodes", 1.0), ("2x", 1.0), ("a b", 1.0), ("a", f64::NAN)]
        {
            let error = Condition::parse("m < 2", &[(name.into(), value)]).expect_err("refused");
            assert!(
                error.to_string().starts_with(&format!("constant: found {name} = ")),
                "{error}"
            );
        }
        let twice = [("a".into(), 1.0), ("a".into(), 2.0)];
        assert!(Condition::parse("m < 2", &twice).is_err());
    }
}

//! What is minimised, and how it is said: the time, a rate, a cost, or an expression over these.
//!
//! Whatever is asked for is a power of the time, `time` or `1/time`, times a function of m, p and the
//! nodes of a configuration. Its logarithm is that of the time with something added for each
//! configuration, so that all that is believed of times holds for it: a
//! [`Posterior`](crate::belief::Posterior) that looks at an objective adds its [`offset`](Objective::offset).
//!
//! ```
//! use mmgp_base::Mapping;
//! use mmgp_base::quantity::Quantity;
//! use mmgp_base::units::Seconds;
//! use mmgp_model::objective::Objective;
//!
//! let cost = Objective::parse("cost", &Quantity::Time, None)?;
//! // Half an hour on eight cores.
//! let amount = cost.amount(Mapping::of(4, 2), Seconds(1800.0));
//! assert_eq!(cost.shown(amount), "4.000 core-h");
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::expression::{Expression, Kind, Names};
use mmgp_base::quantity::{Direction, Number, Quantity};
use mmgp_base::units::Seconds;

/// A number in the unit of an objective; [`Objective::shown`] gives it with the unit.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Amount(pub f64);

/// What is minimised or, of rates, maximised.
#[derive(Debug, Clone)]
pub struct Objective {
    quantity: Quantity,
    /// `None`: what was measured.
    formula: Option<ObjectiveFormula>,
    /// What may be given up for fewer cores, relative to the best.
    within: Option<f64>,
}

/// Something other than what was measured.
#[derive(Debug, Clone)]
struct ObjectiveFormula {
    name: String,
    /// Empty of an expression, of which nobody knows it.
    unit: String,
    expression: Expression,
    /// What the expression is multiplied by, in that unit.
    scale: f64,
    direction: Direction,
    per_node: Option<u32>,
}

/// What an expression may be over; `rate` where rates were measured.
const VARIABLES: [&str; 5] = ["time", "m", "p", "nodes", "rate"];

const SECONDS_PER_HOUR: f64 = 3600.0;

impl Objective {
    /// What was measured: the least time, or the largest rate.
    pub fn of(quantity: Quantity) -> Self {
        Self { quantity, formula: None, within: None }
    }

    /// The same where that was measured: a rate in another unit.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn of_quantity(&self, quantity: &Quantity) -> Result<Self> {
        let same = match &self.formula {
            None => Self::of(quantity.clone()),
            Some(formula) => Self::parse(&formula.name, quantity, formula.per_node)?,
        };
        Ok(same.within(self.within))
    }

    /// `time`, `rate`, `cost` (`time*m*p`), `node-hours` (`time*nodes`), or an expression over time, m,
    /// p, nodes and, of rates, rate; a node has places for `per_node` of `m*p`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what cannot be read, for what is not in proportion to the time or its
    /// inverse, and for nodes of which nobody says how many places they have.
    pub fn parse(text: &str, quantity: &Quantity, per_node: Option<u32>) -> Result<Self> {
        let core = |what: &str| match quantity {
            Quantity::Rate(unit) => (inverse(unit, what), 1.0),
            _ => (format!("{what}-h"), 1.0 / SECONDS_PER_HOUR),
        };
        let is_measured =
            [Some(quantity.name()), quantity.unit()].contains(&Some(Quantity::unit_said(text)));
        let (said, text) = Direction::said(text);
        let check = |direction: Direction| match said.is_none_or(|said| said == direction) {
            true => Ok(()),
            false => Err(not_better(text, direction)),
        };
        if is_measured {
            check(quantity.direction())?;
        }
        let (name, (unit, scale), expression) = match (text, quantity) {
            _ if is_measured => return Ok(Self::of(quantity.clone())),
            // Nothing is known of the time that an amount took.
            ("time" | "rate", _) | (_, Quantity::Amount(_)) => {
                return Err(not_measured(text, quantity));
            }
            ("cost", _) => ("cost", core("core"), "time*m*p"),
            ("node-hours", _) => ("node-hours", core("node"), "time*nodes"),
            (other, _) => (other, (String::new(), 1.0), other),
        };
        let names = &VARIABLES[..if quantity.is_time() { 4 } else { 5 }];
        let names = Names { variables: names, constants: &[] };
        let expression = Expression::parse(expression, Kind::Number, names);
        let expression = expression.map_err(|mistake| {
            Error::out_of_range(
                "objective",
                format!("{} at character {}", mistake.found, mistake.at),
                format!("{}; or cost or node-hours", mistake.expected),
            )
        })?;
        let direction = direction(text, &expression)?;
        check(direction)?;
        let name = name.to_string();
        let formula = ObjectiveFormula { name, unit, expression, scale, direction, per_node };
        if per_node.is_none() && formula.has_nodes() {
            return Err(Error::out_of_range(
                "per_node",
                format!("none, and the objective {text}"),
                "how many of m*p a node has places for, as 48",
            ));
        }
        Ok(Self { quantity: quantity.clone(), formula: Some(formula), within: None })
    }

    /// The choice is the one with the fewest cores, then the fewest m, among those that are expected to be
    /// no more than this above the best, relative to it.
    #[must_use]
    pub fn within(self, fraction: Option<f64>) -> Self {
        Self { within: fraction, ..self }
    }

    /// What may be given up for fewer cores.
    pub fn tolerance(&self) -> Option<f64> {
        self.within
    }

    /// What was measured.
    pub fn quantity(&self) -> &Quantity {
        &self.quantity
    }

    /// Whether it is what was measured.
    pub fn is_measured(&self) -> bool {
        self.formula.is_none()
    }

    /// Whether it is the time in seconds.
    pub fn is_time(&self) -> bool {
        self.is_measured() && self.quantity.is_time()
    }

    /// `time`, `rate`, `cost`, `node-hours` or the expression.
    pub fn name(&self) -> &str {
        match (&self.formula, &self.quantity) {
            (Some(formula), _) => &formula.name,
            (None, quantity) => quantity.name(),
        }
    }

    /// Unit; `None` of an expression.
    pub fn unit(&self) -> Option<&str> {
        match (&self.formula, &self.quantity) {
            (Some(formula), _) => Some(formula.unit.as_str()).filter(|unit| !unit.is_empty()),
            (None, quantity) => quantity.unit().or(Some("s")),
        }
    }

    /// What a configuration is that is better than all others: `fastest` or `best`.
    pub fn superlative(&self) -> &'static str {
        if self.is_measured() { self.quantity.superlative() } else { "best" }
    }

    /// Whether what is better is faster.
    pub fn is_speed(&self) -> bool {
        self.is_measured() && self.quantity.is_speed()
    }

    /// What one is that is so many times better: as `fast`, or as `good`.
    pub fn positive(&self) -> &'static str {
        if self.is_speed() { "fast" } else { "good" }
    }

    /// Direction in which amounts are better.
    pub fn direction(&self) -> Direction {
        match (&self.formula, &self.quantity) {
            (Some(formula), _) => formula.direction,
            (None, quantity) => quantity.direction(),
        }
    }

    /// What times of a configuration are multiplied by so that the least product is the best.
    pub fn factor(&self, mapping: Mapping) -> f64 {
        let Some(formula) = &self.formula else { return 1.0 };
        let of_one = formula.scale * formula.of_one(mapping);
        match formula.direction {
            Direction::Least => of_one,
            Direction::Most => 1.0 / of_one,
        }
    }

    /// The logarithm of that.
    pub fn offset(&self, mapping: Mapping) -> f64 {
        if self.is_measured() { 0.0 } else { self.factor(mapping).ln() }
    }

    /// Refuses a configuration of which it is no number above 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]
    pub fn check(&self, mapping: Mapping) -> Result<()> {
        let factor = self.factor(mapping);
        if factor > 0.0 && factor.is_finite() {
            return Ok(());
        }
        Err(Error::out_of_range(
            "objective",
            format!("{}, which is no number above 0 at {mapping}", self.name()),
            "an expression that is above 0 for every configuration in question",
        ))
    }

    /// What it is where a run takes this time.
    pub fn amount(&self, mapping: Mapping, time: Seconds) -> Amount {
        self.of_product(Seconds(time.0 * self.factor(mapping)))
    }

    /// What it is where a time and the [factor](Self::factor) have this product.
    pub(crate) fn of_product(&self, product: Seconds) -> Amount {
        match self.direction() {
            Direction::Least => Amount(product.0),
            Direction::Most => Amount(1.0 / product.0),
        }
    }

    /// The ends of its interval where the time has these, the smaller number first.
    pub fn ends(&self, mapping: Mapping, low: Seconds, high: Seconds) -> (Amount, Amount) {
        let (low, high) = (self.amount(mapping, low), self.amount(mapping, high));
        match self.direction() {
            Direction::Least => (low, high),
            Direction::Most => (high, low),
        }
    }

    /// An amount with its unit: `2.000 s`, `111.8 ns/day`, `12.30 core-h`.
    pub fn shown(&self, amount: Amount) -> String {
        if self.is_time() {
            return Seconds(amount.0).to_string();
        }
        match self.unit() {
            Some(unit) => format!("{} {unit}", Number(amount.0)),
            None => Number(amount.0).to_string(),
        }
    }

    /// What a run of a configuration makes of it: `2.000 s (1.900 s .. 2.100 s)`.
    pub fn with_interval(&self, mapping: Mapping, [time, low, high]: [Seconds; 3]) -> String {
        let shown = |amount| self.shown(amount);
        let (first, last) = self.ends(mapping, low, high);
        let middle = shown(self.amount(mapping, time));
        format!("{middle} ({} .. {})", shown(first), shown(last))
    }
}

impl Default for Objective {
    /// The least time.
    fn default() -> Self {
        Self::of(Quantity::Time)
    }
}

impl PartialEq for Objective {
    fn eq(&self, other: &Self) -> bool {
        let said = |it: &Self| {
            let per_node = it.formula.as_ref().and_then(|formula| formula.per_node);
            (it.quantity.clone(), it.name().to_string(), per_node, it.within)
        };
        said(self) == said(other)
    }
}

impl ObjectiveFormula {
    /// The value where the time is 1.
    fn of_one(&self, mapping: Mapping) -> f64 {
        let nodes = self.per_node.map_or(1, |places| mapping.apus().div_ceil(u64::from(places)));
        value(&self.expression, 1.0, mapping, nodes as f64)
    }

    /// Whether it depends on the number of nodes.
    fn has_nodes(&self) -> bool {
        let at = |nodes: f64| value(&self.expression, 1.0, Mapping::of(3, 5), nodes);
        at(2.0) != at(7.0)
    }
}

fn value(expression: &Expression, time: f64, mapping: Mapping, nodes: f64) -> f64 {
    let [m, p] = [mapping.m(), mapping.p()].map(f64::from);
    expression.value(&[time, m, p, nodes, 1.0 / time])
}

/// Whether an expression is in proportion to the time or to its inverse, by trials.
fn direction(text: &str, expression: &Expression) -> Result<Direction> {
    let mut found = None;
    for (m, p) in [(1, 1), (1, 6), (2, 3), (5, 1), (8, 4), (64, 2)] {
        for time in [0.01, 1.0, 700.0] {
            let at = |time: f64| value(expression, time, Mapping::of(m, p), 3.0);
            let (one, two) = (at(time), at(2.0 * time));
            if !(one.is_finite() && one > 0.0) {
                continue;
            }
            let is = |ratio: f64| (two / one / ratio - 1.0).abs() < 1e-9;
            let direction = match (is(2.0), is(0.5)) {
                (true, _) => Direction::Least,
                (_, true) => Direction::Most,
                _ => return Err(not_in_proportion(text)),
            };
            if found.is_some_and(|before| before != direction) {
                return Err(not_in_proportion(text));
            }
            found = Some(direction);
        }
    }
    found.ok_or_else(|| not_in_proportion(text))
}

fn not_in_proportion(text: &str) -> Error {
    Error::out_of_range(
        "objective",
        format!("{:?}, which is not in proportion to the time or to 1/time", text.trim()),
        "time or 1/time, times what m, p and nodes make, as time*m",
    )
}

fn not_better(text: &str, direction: Direction) -> Error {
    let (said, better) = match direction {
        Direction::Least => ("max", "less"),
        Direction::Most => ("min", "more"),
    };
    Error::out_of_range(
        "objective",
        format!("{said} {text}"),
        format!("{text}: {better} of it is better"),
    )
}

fn not_measured(text: &str, quantity: &Quantity) -> Error {
    let expected = match quantity {
        Quantity::Time => "time, cost or an expression such as time/m",
        Quantity::Rate(_) => "rate, cost or an expression such as rate*m",
        Quantity::Amount(unit) => unit,
    };
    Error::out_of_range(
        "objective",
        format!("{}, where runs are {quantity}", text.trim()),
        expected,
    )
}

/// The unit of the time of a unit of work at a rate: of `ns/day` and cores, `core-day/ns`.
fn inverse(unit: &str, what: &str) -> String {
    match unit.split_once('/') {
        Some((above, below)) => format!("{what}-{below}/{above}"),
        None => format!("{what}s/({unit})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str) -> Objective {
        Objective::parse(text, &Quantity::Time, Some(16)).unwrap()
    }

    fn rates(text: &str) -> Objective {
        Objective::parse(text, &Quantity::Rate("ns/day".into()), None).unwrap()
    }

    #[track_caller]
    fn check(objective: &Objective, time: f64, expected: &str) {
        let shown = objective.shown(objective.amount(Mapping::of(8, 4), Seconds(time)));
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_amount_is_what_is_asked_for_of_a_time() {
        check(&times("time"), 2.0, "2.000 s");
        // 32 cores on two nodes.
        check(&times("cost"), 1800.0, "16.00 core-h");
        check(&times("node-hours"), 1800.0, "1.000 node-h");
        check(&times("time/m"), 2.0, "0.2500");
        check(&times("500/time"), 2.0, "250.0");
        check(&rates("rate"), 0.01, "100.0 ns/day");
        check(&rates("cost"), 0.01, "0.3200 core-day/ns");
        check(&rates("rate*m"), 0.01, "800.0");
    }

    #[test]
    fn what_was_captured_is_an_objective_by_its_own_name_alone() {
        let parsed = |text: &str, quantity: &Quantity| Objective::parse(text, quantity, None);
        let (score, energy) = (Quantity::Rate("score".into()), Quantity::Amount("kJ".into()));
        for (text, quantity) in [
            ("max score", &score),
            ("score", &score),
            ("energy [kJ]", &energy),
            ("min kJ", &energy),
        ] {
            assert!(parsed(text, quantity).is_ok_and(|it| it.is_measured()), "{text}");
        }
        for (text, quantity) in [("min score", &score), ("cost", &energy), ("kJ/m", &energy)] {
            assert!(parsed(text, quantity).is_err(), "{text}");
        }
        assert!(parsed("min cost", &Quantity::Time).is_ok());
        let error = parsed("max time/m", &Quantity::Time).unwrap_err().to_string();
        assert_eq!(error, "objective: found max time/m, expected time/m: less of it is better");
    }

    #[test]
    fn the_least_product_is_the_best() {
        let mapping = Mapping::of(8, 4);
        for objective in [times("cost"), times("500/time"), rates("rate*m"), rates("rate")] {
            let product = |time: f64| time * objective.factor(mapping);
            let amounts = [1.0, 2.0].map(|time| objective.amount(mapping, Seconds(time)).0);
            assert!(product(1.0) < product(2.0));
            let is_less = amounts[0] < amounts[1];
            assert_eq!(is_less, objective.direction() == Direction::Least, "{objective:?}");
            let again = objective.of_product(Seconds(product(2.0))).0;
            approx::assert_relative_eq!(again, amounts[1], max_relative = 1e-12);
            assert!((objective.offset(mapping) - objective.factor(mapping).ln()).abs() < 1e-15);
        }
        assert_eq!(times("time").offset(mapping), 0.0);
    }

    #[test]
    fn what_is_not_in_proportion_to_the_time_is_refused() {
        let refused =
            |text: &str| Objective::parse(text, &Quantity::Time, None).unwrap_err().to_string();
        for text in ["time^2", "time + m", "m*p", "sqrt(time)", "-time", "max(time, 3)"] {
            let expected = format!(
                "objective: found {text:?}, which is not in proportion to the time or to 1/time, \
                 expected time or 1/time, times what m, p and nodes make, as time*m"
            );
            assert_eq!(refused(text), expected);
        }
        assert_eq!(
            refused("joules"),
            "objective: found \"joules\" at character 1, expected time, m, p, nodes or a number; or \
             cost or node-hours"
        );
        assert_eq!(
            refused("rate"),
            "objective: found rate, where runs are times, expected time, cost or an expression such \
             as time/m"
        );
        assert!(refused("node-hours").starts_with("per_node: found none, and the objective"));
    }

    #[test]
    fn a_configuration_without_a_number_is_refused() {
        let objective = times("time*(4 - m)");
        assert!(objective.check(Mapping::of(3, 1)).is_ok());
        let error = objective.check(Mapping::of(4, 1)).unwrap_err().to_string();
        assert!(error.contains("no number above 0 at (4, 1)"), "{error}");
    }
}

//! What is measured of a run where a user names it: a captured quantity, or an expression over such.

use mmgp_base::error::{Answer, Error, Result};
use mmgp_base::expression::{Expression, Kind, Names, names_in};
use mmgp_base::quantity::{Direction, Quantity};

use super::Planner;
use super::times::{TimeValue, Times, UnitOf};
use crate::claims::Variables;
use crate::is_in;
use crate::units::{Measure, Unit, measure_of};

/// A quantity that was captured from a column or from what a program prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedQuantity {
    /// What an expression calls it.
    pub variable: String,
    /// What it is called where it was captured.
    pub name: String,
    /// Which values of it are better, where that is known.
    pub better: Option<Direction>,
}

/// What is measured of each run: an expression over its time, m, p, and captured quantities.
///
/// ```
/// use mmgp_base::quantity::Quantity;
/// use mmgp_intake::{CapturedQuantity, Measurand};
///
/// let measurand = Measurand::parse("work/time", &[CapturedQuantity::named("work")])?;
/// // What takes longer does less of it a second: more is better.
/// assert_eq!(measurand.quantity(), &Quantity::Rate("work/time".into()));
/// // 500 in 4 s on (2, 8) are 125 a second; the inverse stands for the time.
/// assert_eq!(measurand.time(4.0, (2, 8), &[500.0]), Some(1.0 / 125.0));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Measurand {
    expression: Expression,
    quantity: Quantity,
    uses_time: bool,
}

/// What every run has; further variables are captured.
pub const OF_ALL_RUNS: [&str; 3] = ["time", "m", "p"];

/// Names of what costs something, in small letters without what is no letter: less of it is better.
const COSTS: &str = "amount energy energyj energykj totalenergy finalenergy etot etotal joule joules kj mj wh kwh \
    power watt watts cost costs price money usd eur euro euros dollar dollars credits corehours nodehours memory \
    mem memkb memmb memgb rss maxrss maxrsskb peakmem peakmemory carbon co2 cycles misses cachemisses faults \
    pagefaults error errors loss residual latency";

impl CapturedQuantity {
    /// One that an expression calls what it is called; the name may say which values are better.
    pub fn named(name: &str) -> Self {
        Self { variable: name.into(), name: name.into(), better: better(name) }
    }

    /// The same of a time, of which less is better.
    #[must_use]
    pub fn of_time(self) -> Self {
        Self { better: Some(Direction::Least), ..self }
    }
}

impl Measurand {
    /// Whether an objective names something that has to be captured from each run.
    pub fn is_needed(objective: &str) -> bool {
        let (_, text) = Direction::said(objective);
        let known = ["time", "m", "p", "nodes", "rate"];
        let is_word = ["cost", "node-hours"].contains(&text);
        !is_word && names_in(text).iter().any(|name| !known.contains(name))
    }

    /// Reads an expression over `time`, `m`, `p` and what is captured; `min` or `max` before it says which
    /// is better. Where neither stands there, it follows from what it is made of: less of a time, of energy
    /// or of another cost, more of a rate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with what cannot be read; [`Error::Ambiguous`] where nothing says which is
    /// better.
    pub fn parse(objective: &str, captured: &[CapturedQuantity]) -> Result<Self> {
        let (said, text) = Direction::said(objective);
        let variables = captured.iter().map(|it| it.variable.as_str());
        let variables: Vec<&str> = OF_ALL_RUNS.into_iter().chain(variables).collect();
        let names = Names { variables: &variables, constants: &[] };
        let expression = Expression::parse(text, Kind::Number, names).map_err(|mistake| {
            let known = captured.iter().map(|it| it.name.as_str());
            let known: Vec<&str> = OF_ALL_RUNS.into_iter().chain(known).collect();
            Error::out_of_range(
                "objective",
                format!("{} in {objective:?}", mistake.found),
                format!("an expression over {}", known.join(", ")),
            )
        })?;
        let shown = captured.iter().fold(text.to_string(), |text, it| {
            if it.variable == it.name { text } else { text.replace(&it.variable, &it.name) }
        });
        let trial = Trial { expression: &expression, captured };
        let uses_time = trial.changes_with(0).is_some();
        let direction = match said {
            Some(direction) => direction,
            None => trial.direction().ok_or_else(|| unclear(&shown))?,
        };
        let quantity = Quantity::of(direction, Quantity::unit_said(&shown));
        Ok(Self { expression, quantity, uses_time })
    }

    /// What an objective measures, whatever its names are captured from.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn quantity_of(objective: &str) -> Result<Quantity> {
        let (_, text) = Direction::said(objective);
        let names = names_in(text).into_iter().filter(|name| !OF_ALL_RUNS.contains(name));
        let captured: Vec<CapturedQuantity> = names.map(CapturedQuantity::named).collect();
        Ok(Self::parse(objective, &captured)?.quantity)
    }

    /// What it is.
    pub fn quantity(&self) -> &Quantity {
        &self.quantity
    }

    /// Whether it depends on the time of the run.
    pub fn uses_time(&self) -> bool {
        self.uses_time
    }

    /// What stands for the time of a run that took `time_s`, where the captured quantities are these;
    /// `None` where the expression is no number above 0.
    pub fn time(&self, time_s: f64, (m, p): (u32, u32), captured: &[f64]) -> Option<f64> {
        let mut values = vec![time_s, f64::from(m), f64::from(p)];
        values.extend(captured);
        let time = self.quantity.direction().as_time(self.expression.value(&values));
        (time > 0.0 && time.is_finite()).then_some(time)
    }
}

/// An expression that is tried out.
struct Trial<'a> {
    expression: &'a Expression,
    captured: &'a [CapturedQuantity],
}

impl Trial<'_> {
    /// Whether the value becomes larger with a variable; `None` where it does not change.
    fn changes_with(&self, variable: usize) -> Option<bool> {
        let values: Vec<f64> =
            (0..OF_ALL_RUNS.len() + self.captured.len()).map(|it| 3.0 + it as f64).collect();
        let mut more = values.clone();
        more[variable] *= 2.0;
        let [one, two] = [&values, &more].map(|values| self.expression.value(values));
        (one != two).then_some(two > one)
    }

    /// Which values are better, where all that it is made of says the same.
    fn direction(&self) -> Option<Direction> {
        let of_captured = self.captured.iter().map(|it| it.better);
        let senses = [Some(Direction::Least), None, None].into_iter().chain(of_captured);
        let mut all = senses.enumerate().filter_map(|(variable, better)| {
            let is_larger = self.changes_with(variable)?;
            Some(match (better?, is_larger) {
                (Direction::Least, true) | (Direction::Most, false) => Direction::Least,
                _ => Direction::Most,
            })
        });
        let first = all.next()?;
        all.all(|it| it == first).then_some(first)
    }
}

/// Which values of what is called so are better, where the name says it.
pub(super) fn better(name: &str) -> Option<Direction> {
    match measure_of(name) {
        Measure::Time(_) => return Some(Direction::Least),
        Measure::Rate(_) => return Some(Direction::Most),
        Measure::Other(_) => {}
    }
    let words = name.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase);
    let plain: String = words.clone().collect();
    (is_cost(&plain) || words.into_iter().any(|word| is_cost(&word))).then_some(Direction::Least)
}

/// Whether a name, in small letters and without what is no letter, is that of a cost.
pub(super) fn is_cost(plain: &str) -> bool {
    is_in(COSTS, plain)
}

fn unclear(text: &str) -> Error {
    let answer = |word: &str, meaning: &str| Answer {
        key: "objective",
        value: format!("{word} {text}"),
        meaning: meaning.into(),
    };
    let found = format!("nothing says whether less or more of {text:?} is better");
    let answers = vec![answer("min", "if less is better"), answer("max", "if more is better")];
    Error::ambiguous("the objective", found, answers)
}

impl Planner<'_> {
    /// An expression over columns, the time, m and p.
    pub(super) fn derived(&mut self, objective: &str) -> Result<Times> {
        let objective = objective.trim();
        let (_, text) = Direction::said(objective);
        let said = &objective[..objective.len() - text.len()];
        let Variables { text: plain, names, places } =
            Variables::of(text, self.sheet, &OF_ALL_RUNS);
        let captured: Vec<CapturedQuantity> = names
            .into_iter()
            .zip(&places)
            .map(|(variable, &place)| CapturedQuantity {
                variable,
                ..CapturedQuantity::named(self.name(place))
            })
            .collect();
        let measurand = Measurand::parse(&format!("{said}{plain}"), &captured)?;
        let times = match measurand.uses_time() {
            true => self.usual_times()?,
            // Whether a row has a time does not matter then.
            false => {
                let place = places.first().copied().unwrap_or(0);
                Times::one(TimeValue::Column(place), UnitOf::Known(Unit::Seconds))
            }
        };
        for &place in &places {
            self.taken[place] = true;
        }
        let quantity = measurand.quantity();
        let better = match quantity.direction() {
            Direction::Least => "less is better",
            Direction::Most => "more is better",
        };
        self.say(quantity.name(), text, better);
        Ok(Times { derived: Some((measurand, places)), ..times })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurand(objective: &str) -> Result<Measurand> {
        let captured = |name: &&str| objective.contains(name.trim());
        let names = ["joules", "work", "gflops", "score"].into_iter().filter(captured);
        Measurand::parse(objective, &names.map(CapturedQuantity::named).collect::<Vec<_>>())
    }

    #[test]
    fn what_it_is_made_of_says_which_is_better() {
        let quantity = |text: &str| measurand(text).unwrap().quantity().clone();
        let [least, most] = [Direction::Least, Direction::Most]
            .map(|direction| move |unit: &str| Quantity::of(direction, unit));
        assert_eq!(quantity("joules"), least("joules"));
        assert_eq!(quantity("joules*time"), least("joules*time"));
        assert_eq!(quantity("work/time"), most("work/time"));
        assert_eq!(quantity("work/joules"), most("work/joules"));
        assert_eq!(quantity("gflops"), most("gflops"));
        assert_eq!(quantity("gflops/joules"), most("gflops/joules"));
        assert_eq!(quantity("max score"), most("score"));
        assert_eq!(quantity("min score/m"), least("score/m"));
    }

    #[test]
    fn what_nothing_says_is_asked() {
        for text in ["work", "joules/time", "work*m"] {
            let Err(Error::Ambiguous { answers, .. }) = measurand(text) else {
                panic!("{text} was understood");
            };
            assert_eq!(answers[0].value, format!("min {text}"));
        }
        let error = measurand("joules +").unwrap_err().to_string();
        assert!(error.contains("an expression over time, m, p, joules"), "{error}");
    }

    #[test]
    fn what_is_in_every_run_needs_no_capture() {
        for text in ["time", "cost", "node-hours", "time/m", "500/time", "rate*nodes", "sqrt(time)"]
        {
            assert!(!Measurand::is_needed(text), "{text}");
        }
        for text in ["joules", "work/time", "energy [J]", "max score"] {
            assert!(Measurand::is_needed(text), "{text}");
        }
    }

    #[test]
    fn a_run_without_a_number_above_0_has_no_value() {
        let per_joule = measurand("work/joules").unwrap();
        assert_eq!(per_joule.time(1.0, (1, 1), &[4.0, 8.0]), Some(0.5));
        assert_eq!(per_joule.time(1.0, (1, 1), &[4.0, 0.0]), None);
        assert_eq!(per_joule.time(1.0, (1, 1), &[f64::NAN, 1.0]), None);
        assert!(!per_joule.uses_time() && measurand("work/time").unwrap().uses_time());
    }
}

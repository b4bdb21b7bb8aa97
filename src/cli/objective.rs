//! What is best, as every command that chooses is told.

use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Mapping;
use crate::error::{Error, Result};
use crate::intake::{CapturedQuantity, Measurand};
use crate::objective::Objective;
use crate::quantity::{Direction, Quantity};
use crate::table::csv;
use crate::units::Seconds;

/// What is best.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "What is best")]
pub struct ObjectiveArguments {
    /// What is minimised: time; cost (time*m*p, in core-hours); node-hours (time*nodes, with
    /// --per-node); or an expression over time, m, p and nodes in proportion to time or to 1/time, which
    /// is maximised then: time/m for m replicas at once, 500/time. Where runs are rates (--rate), rate
    /// is maximised, and may stand in the expression. What is captured of each run, from a column or by
    /// --capture, may be all of it or stand in it: joules, work/time, 'max score' [default: time, of
    /// rates rate]
    #[arg(long, value_name = "WHAT")]
    pub objective: Option<String>,
    /// Take the cheapest, with the fewest m*p, then the fewest m, of what is expected to be no more than
    /// this slower than the fastest, or above the least of another objective
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub within: Option<f64>,
}

/// How large nodes are, where nothing else of the command says so.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "What is best")]
pub struct NodeSize {
    /// A node has places for so many of m*p: a configuration takes ceil(m*p/N) nodes, which --objective
    /// knows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_node: Option<u32>,
}

impl ObjectiveArguments {
    /// What is minimised where that was measured; nodes have so many places.
    ///
    /// # Errors
    /// As [`Objective::parse`], in flags.
    pub fn objective(&self, quantity: &Quantity, per_node: Option<u32>) -> Result<Objective> {
        let objective = match &self.objective {
            Some(text) => parsed("--objective", text, (quantity, per_node))?,
            None => Objective::of(quantity.clone()),
        };
        Ok(objective.within(self.within))
    }

    /// What is measured of each run where that is captured, by these names.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a name that nothing captures; as [`Measurand::parse`].
    pub fn measurand(&self, captured: &[&str]) -> Result<Option<Measurand>> {
        let Some(text) = self.captured() else { return Ok(None) };
        let captured: Vec<CapturedQuantity> =
            captured.iter().map(|name| CapturedQuantity::named(name)).collect();
        let measurand = Measurand::parse(text, &captured);
        measurand.map(Some).map_err(|error| match error {
            Error::OutOfRange { found, expected, .. } => Error::out_of_range(
                "--objective",
                found,
                format!("{expected}; --capture NAME=REGEX takes one from the output"),
            ),
            other => other,
        })
    }

    /// What a driver is to tell of each run: times, unless the objective names what is captured.
    ///
    /// # Errors
    /// As [`Measurand::parse`].
    pub fn quantity(&self) -> Result<Quantity> {
        self.captured().map_or(Ok(Quantity::Time), Measurand::quantity_of)
    }

    /// The objective where it names what is captured of each run.
    pub fn captured(&self) -> Option<&str> {
        self.objective.as_deref().filter(|text| Measurand::is_needed(text))
    }

    /// Refuses what a question about times does not answer.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where anything is given.
    pub fn refuse_with(&self, question: &str) -> Result<()> {
        let flag = match (&self.objective, self.within) {
            (Some(_), _) => "--objective",
            (None, Some(_)) => "--within",
            (None, None) => return Ok(()),
        };
        Err(Error::out_of_range(
            flag,
            format!("{question} beside it"),
            format!("one of them: {question} is about times"),
        ))
    }
}

/// The objective that a flag says, and an error in words of flags.
pub fn parsed(
    flag: &'static str,
    text: &str,
    (quantity, per_node): (&Quantity, Option<u32>),
) -> Result<Objective> {
    Objective::parse(text, quantity, per_node).map_err(|error| match error {
        Error::OutOfRange { name: "objective", found, mut expected } => {
            if text.trim() == "rate" {
                expected += "; --rate COLUMN names a column of rates";
            } else if Measurand::is_needed(text) {
                expected +=
                    &format!("; what is captured is read with the runs: fit {flag} '{text}'");
            }
            Error::out_of_range(flag, found, expected)
        }
        Error::OutOfRange { name: "per_node", found, expected } => {
            Error::out_of_range("--per-node", found, expected)
        }
        other => other,
    })
}

/// The objectives of `--pareto`.
///
/// # Errors
/// As [`parsed`], and for fewer than two.
pub fn several(
    names: &[String],
    (quantity, per_node): (&Quantity, Option<u32>),
) -> Result<Vec<Objective>> {
    if names.len() < 2 {
        return Err(Error::out_of_range(
            "--pareto",
            names.join(","),
            "two objectives or more, as time,cost",
        ));
    }
    names.iter().map(|text| parsed("--pareto", text, (quantity, per_node))).collect()
}

/// The columns of a row for programs, by their names.
#[derive(Default)]
pub struct Fields(Vec<(String, Value)>);

impl Fields {
    /// With a further column.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// With what is predicted of a configuration: its time or rate, and the objective where it is another,
    /// each with its interval; `unit` is that of the objective.
    pub fn with_amounts(
        self,
        objective: &Objective,
        mapping: Mapping,
        [time, low, high]: [Seconds; 3],
    ) -> Self {
        let quantity = objective.quantity();
        let (first, last) = quantity.ends(low, high);
        let [middle, first, last] = [time, first, last].map(|it| quantity.number(it));
        let name = quantity.name();
        let names = match quantity {
            Quantity::Time => ["time_s", "low_s", "high_s"].map(String::from),
            _ => [name.into(), format!("{name}_low"), format!("{name}_high")],
        };
        let fields = names.into_iter().zip([middle, first, last]);
        let fields = fields.fold(self, |all, (name, value)| all.with(name, value));
        if objective.is_time() {
            return fields;
        }
        if objective.is_measured() {
            return fields.with("unit", objective.unit());
        }
        let fields = match quantity.unit() {
            Some(unit) => fields.with(format!("{name}_unit"), unit),
            None => fields,
        };
        let (first, last) = objective.ends(mapping, low, high);
        fields
            .with("objective", objective.amount(mapping, time).0)
            .with("objective_low", first.0)
            .with("objective_high", last.0)
            .with("unit", objective.unit())
    }

    /// With what is predicted of a configuration, without an interval.
    pub fn with_amount(self, objective: &Objective, mapping: Mapping, time: Seconds) -> Self {
        let quantity = objective.quantity();
        let fields = self.with(column(quantity), quantity.number(time));
        match (objective.is_time(), objective.is_measured()) {
            (true, _) => fields,
            (false, true) => fields.with("unit", objective.unit()),
            (false, false) => fields
                .with("objective", objective.amount(mapping, time).0)
                .with("unit", objective.unit()),
        }
    }

    /// What is known of a choice that ran; nothing where none did.
    pub fn of_choice(objective: &Objective, choice: Option<(Mapping, Seconds)>) -> Self {
        match choice {
            Some((mapping, time)) => Self::default().with_amount(objective, mapping, time),
            None => Self::default().with(column(objective.quantity()), Value::Null),
        }
    }

    /// The names of the columns.
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The fields of CSV.
    pub fn texts(&self) -> Vec<String> {
        let text = |(_, value): &(String, Value)| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.0.iter().map(text).collect()
    }
}

/// What the column of what was measured is called.
pub fn column(quantity: &Quantity) -> &'static str {
    if quantity.is_time() { "time_s" } else { quantity.name() }
}

/// Rows of the same columns as CSV.
pub fn csv(rows: &[Fields]) -> String {
    let names = rows.first().map(Fields::names).unwrap_or_default();
    csv::write_fields(&names, rows.iter().map(Fields::texts))
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// An objective for programs.
#[derive(Serialize)]
pub struct Said {
    name: String,
    unit: Option<String>,
    /// `least` or `most`.
    best: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<f64>,
}

impl Said {
    /// `None` of the time in seconds, of which nothing is given up.
    pub fn of(objective: &Objective) -> Option<Self> {
        let is_usual = objective.is_time() && objective.tolerance().is_none();
        (!is_usual).then(|| Self::always(objective))
    }

    /// Also of the time in seconds.
    pub fn always(objective: &Objective) -> Self {
        Self {
            name: objective.name().into(),
            unit: objective.unit().map(str::to_string),
            best: match objective.direction() {
                Direction::Least => "least",
                Direction::Most => "most",
            },
            within: objective.tolerance(),
        }
    }
}

/// A part of a whole above 0, as in `1%` or `0.5`: a number is per cent with or without its sign.
pub fn percent(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|it| *it > 0.0 && it.is_finite());
    number.map(|it| it / 100.0).ok_or_else(|| format!("{text:?} is no per cent above 0, as in 1%"))
}

//! What is best, as every command that chooses is told.

use clap::Args;

use crate::Mapping;
use crate::answer::Object;
use crate::belief::{Basis, MeanShare};
use crate::error::{Error, Result};
use crate::intake::{CapturedQuantity, Measurand};
use crate::objective::Objective;
use crate::quantity::{Direction, Quantity};
use crate::units::Seconds;

/// What is best.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "What is best")]
pub struct ObjectiveArguments {
    /// What is minimised: time; cost (time*m*p, in core-hours); node-hours (time*nodes, with
    /// --per-node); or an expression over time, m, p and nodes in proportion to time or to 1/time, which
    /// is maximised then: time/m for m replicas at once, 500/time. Where runs are rates (--rate), rate
    /// is maximised, and may stand in the expression. What is captured of each run, from a column or by
    /// --capture or as one of several times (--time-from), may be all of it or stand in it: joules,
    /// work/time, 'max score' [default: time, of rates rate]
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
    /// The errors of [`Objective::parse`], in flags.
    pub fn objective(&self, quantity: &Quantity, per_node: Option<u32>) -> Result<Objective> {
        let objective = match &self.objective {
            Some(text) => parsed("--objective", text, (quantity, per_node))?,
            None => Objective::of(quantity.clone()),
        };
        Ok(objective.within(self.within))
    }

    /// What is measured of each run where that is made of these.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a name that nothing captures; as [`Measurand::parse`].
    pub fn measurand(&self, captured: &[CapturedQuantity]) -> Result<Option<Measurand>> {
        let Some(text) = self.captured() else { return Ok(None) };
        let measurand = Measurand::parse(text, captured);
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
    /// The errors of [`Measurand::parse`].
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
        other => other.renamed(|name| if name == "per_node" { "--per-node" } else { name }),
    })
}

/// The objectives of `--pareto`.
///
/// # Errors
/// The errors of [`parsed`], and one for fewer than two.
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

/// What is predicted of a configuration, for programs: m and p, its time or rate, and the objective where it is
/// another, each with its interval; `unit` is that of the objective.
pub fn predicted(
    objective: &Objective,
    mapping: Mapping,
    [time, low, high]: [Seconds; 3],
) -> Object {
    let quantity = objective.quantity();
    let (first, last) = quantity.ends(low, high);
    let name = quantity.name();
    let names = match quantity {
        Quantity::Time => ["time_s", "low_s", "high_s"].map(String::from),
        _ => [name.into(), format!("{name}_low"), format!("{name}_high")],
    };
    let numbers = names.into_iter().zip([time, first, last]);
    let object = numbers.fold(configuration(mapping), |all, (name, number)| {
        all.with(name, quantity.number(number))
    });
    if objective.is_time() {
        return object;
    }
    if objective.is_measured() {
        return object.with("unit", objective.unit());
    }
    let (first, last) = objective.ends(mapping, low, high);
    object
        .with_some(format!("{name}_unit"), quantity.unit())
        .with("objective", objective.amount(mapping, time).0)
        .with("objective_low", first.0)
        .with("objective_high", last.0)
        .with("unit", objective.unit())
}

/// A configuration for programs.
pub fn configuration(mapping: Mapping) -> Object {
    Object::new().with("m", mapping.m()).with("p", mapping.p())
}

/// What is known of a choice, for programs, without its interval; missing where nothing ran.
pub fn amount(objective: &Objective, choice: Option<(Mapping, Seconds)>) -> Object {
    let quantity = objective.quantity();
    let number = choice.map(|(_, time)| quantity.number(time));
    let object = Object::new().with(column(quantity), number);
    let Some((mapping, time)) = choice else { return object };
    match (objective.is_time(), objective.is_measured()) {
        (true, _) => object,
        (false, true) => object.with("unit", objective.unit()),
        (false, false) => object
            .with("objective", objective.amount(mapping, time).0)
            .with("unit", objective.unit()),
    }
}

/// The name of the column of what was measured.
pub fn column(quantity: &Quantity) -> &'static str {
    if quantity.is_time() { "time_s" } else { quantity.name() }
}

/// What was measured, for programs, where that is no time.
pub fn measured(quantity: &Quantity) -> Option<Object> {
    quantity.unit().map(|unit| Object::new().with(quantity.name(), unit))
}

/// An objective for programs.
pub fn described(objective: &Objective) -> Object {
    let best = match objective.direction() {
        Direction::Least => "least",
        Direction::Most => "most",
    };
    Object::new()
        .with("name", objective.name())
        .with("unit", objective.unit())
        .with("best", best)
        .with_some("within", objective.tolerance())
}

/// An objective for programs, unless it is the time in seconds, of which nothing is given up.
pub fn unusual(objective: &Objective) -> Option<Object> {
    let is_usual = objective.is_time() && objective.tolerance().is_none();
    (!is_usual).then(|| described(objective))
}

/// What predictions rest on, for programs.
pub fn basis(basis: &Basis) -> Object {
    let mean = |it: &MeanShare| Object::new().with("mean", &it.mean).with("weight", it.weight);
    Object::new()
        .with("timed", basis.timed)
        .with("runs", &basis.runs)
        .with("misfit", basis.misfit)
        .with("noise", basis.noise)
        .with("means", basis.means.iter().map(mean).collect::<Vec<_>>())
}

/// A part of a whole above 0, as in `1%` or `0.5`: a number is per cent with or without its sign.
pub fn percent(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|it| *it > 0.0 && it.is_finite());
    number.map(|it| it / 100.0).ok_or_else(|| format!("{text:?} is no per cent above 0, as in 1%"))
}

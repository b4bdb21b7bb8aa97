//! How a table is read: what each column is for, and why.

mod measurand;
mod numbers;
mod plain;
mod reading;
mod times;
mod unit;
mod watch;
mod wide;

use mmgp_base::error::{Answer, Error, Result};
use mmgp_base::quantity::Quantity;

use crate::claims::{Claims, Columns, Filter};
use crate::is_in;
use crate::names::{self, Role, role_of};
use crate::outcomes::are_of;
use crate::sheet::{Heading, Sheet};
use crate::survey::{Look, Survey};
use crate::units::{Comma, Measure, measure_of};
use measurand::is_cost;
pub use measurand::{CapturedQuantity, Measurand, OF_ALL_RUNS};
use numbers::Number;
pub use numbers::configurations;
pub use reading::Reading;
use times::Times;

/// How a table of timed runs is read.
///
/// ```
/// use mmgp_base::table::Source;
/// use mmgp_intake::{Claims, Plan, formats};
///
/// let source = Source::new("jobs.csv", "nprocs;OMP_NUM_THREADS;Elapsed [ms]\n4;2;1500\n");
/// let sheet = formats::sheet(&source, &Default::default())?;
/// let plan = Plan::of(&sheet, &Claims::default())?;
/// let mut runs = Vec::new();
/// plan.read(&sheet, &mut |entry| { runs.push(entry.run); true })?;
/// assert_eq!((runs[0].m, runs[0].p, runs[0].repetition, runs[0].time_s), (4, 2, 1, 1.5));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
pub struct Plan {
    m: Number,
    p: Number,
    times: Times,
    /// The column of the repetition, where it is called so.
    repetition: Option<usize>,
    /// The column that looks as if it numbered the repetitions.
    numbering: Option<usize>,
    /// Columns that say whether a run was good.
    failures: Vec<(usize, Role)>,
    /// The standard deviation of what a row is the mean of, and how many runs it is of.
    spread: Option<(usize, usize)>,
    filter: Option<Filter>,
    /// A column, and the only text of it that is read.
    only: Option<(usize, String)>,
    /// Columns that nobody has claimed.
    watched: Vec<usize>,
    /// Columns that are passed over by their names, of which there are several values.
    circumstances: Vec<usize>,
    /// Columns of the repetition, in which a row may be said to be the mean of others.
    statistics: Vec<usize>,
    /// Columns of words, in which a run may be said to have failed.
    remarks: Vec<usize>,
    /// The column of the times, where all have as many decimals, and how many.
    decimals: Option<(usize, usize)>,
    comma: Comma,
    /// What was said of the columns.
    said: Columns,
    /// What each part of a run is read from, for people: `m`, `"ranks"`, why.
    pub parts: Vec<Part>,
}

/// What a part of a run is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `m`, `p`, `time`, `repetition`, `failure`, `passed over`.
    pub role: &'static str,
    /// The column or the expression.
    pub from: String,
    /// Why; empty where the name says it.
    pub why: String,
}

/// Names of what was measured beside the time, other than costs, in small letters: it tells results apart,
/// not programs.
const MEASURED: &str = "cpu cpupercent cpus cpuutilization user sys system usertime systime systemtime cputime \
    contextswitches involuntaryswitches steal load loadavg temperature freq frequency ipc efficiency \
    parallelefficiency";

impl Plan {
    /// Understands a table, with what a user says of it.
    ///
    /// # Errors
    /// [`Error::Ambiguous`] with what could be said, where the names leave something open;
    /// [`Error::UnknownName`] for a column that is not there.
    pub fn of(sheet: &Sheet<'_>, claims: &Claims) -> Result<Self> {
        let survey = Survey::of(sheet)?;
        Planner::new(sheet, &survey, claims).plan()
    }

    /// What the table has: times, rates in their unit, or what a user asked for.
    pub fn quantity(&self) -> Quantity {
        self.times.quantity()
    }

    /// The columns that may tell programs apart, and that nobody has claimed.
    pub fn factors(&self, sheet: &Sheet<'_>) -> Vec<Part> {
        let part = |&place: &usize| Part {
            role: "factor",
            from: format!("{:?}", sheet.columns[place].name),
            why: "must be the same in all runs of one (m, p)".into(),
        };
        self.watched.iter().map(part).collect()
    }

    /// The plan in a line, where something had to be found out; `None` of a table that is called as mmgp
    /// calls it.
    pub fn line(&self, sheet: &Sheet<'_>) -> Option<String> {
        Self::line_of(&self.parts, sheet)
    }

    fn line_of(parts: &[Part], sheet: &Sheet<'_>) -> Option<String> {
        let is_plain = |part: &Part| match part.role {
            "m" | "p" | "repetition" => part.from == format!("\"{}\"", part.role),
            "time" => part.from == "\"time_s\"",
            _ => part.role == "failure" && part.from == "\"status\"",
        };
        if parts.iter().all(is_plain) {
            return None;
        }
        let said: Vec<String> = parts.iter().map(Part::to_string).collect();
        Some(format!("{}: {}", sheet.called(), said.join("; ")))
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { role, from, why } = self;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        match *role {
            "passed over" => write!(f, "passed over {from}{why}"),
            "failure" => write!(f, "failures by {from}{why}"),
            _ => write!(f, "{role} is {from}{why}"),
        }
    }
}

/// A plan in the making.
struct Planner<'a> {
    sheet: &'a Sheet<'a>,
    survey: &'a Survey,
    claims: &'a Claims,
    /// What the name of each column says that it is for.
    roles: Vec<Option<Role>>,
    /// What the name of each column says that was measured.
    measures: Vec<Measure>,
    /// Columns that have a role.
    taken: Vec<bool>,
    parts: Vec<Part>,
}

impl<'a> Planner<'a> {
    fn new(sheet: &'a Sheet<'a>, survey: &'a Survey, claims: &'a Claims) -> Self {
        let role = |(heading, look): (&Heading, &Look)| {
            // Of a corner between ranks and threads, what is below it.
            let name = heading.name.split('\\').next().unwrap_or_default();
            let is_labelled = look.labels > 0 && look.labels + 2 >= look.filled;
            role_of(name).or_else(|| look.label.filter(|_| is_labelled))
        };
        let roles = sheet.columns.iter().zip(&survey.columns).map(role).collect();
        let measures = sheet.columns.iter().map(|heading| measure_of(&heading.name)).collect();
        let taken = vec![false; sheet.columns.len()];
        Self { sheet, survey, claims, roles, measures, taken, parts: Vec::new() }
    }

    fn plan(mut self) -> Result<Plan> {
        let ignored = self.ignored()?;
        let only = self.only()?;
        let filter = self.claims.filter.as_deref().map(|text| Filter::parse(text, self.sheet));
        let filter = filter.transpose()?;
        let wide = self.wide();
        let failures = self.failures();
        let (m, p) = self.configuration(&wide)?;
        let times = self.times(wide)?;
        let spread = if times.are_derived() { None } else { self.spread(&times) };
        let (repetition, numbering) = self.repetition(&times)?;
        self.check_marks(&times, filter.is_some())?;
        let watched = self.watched(&ignored);
        let remarks = self.remarks(&watched, &ignored);
        let circumstances = self.circumstances(&ignored, repetition.or(numbering));
        let decimals = self.decimals(&times);
        let are_repetitions = |place: &usize| self.roles[*place] == Some(Role::Repetition);
        let statistics = (0..self.roles.len()).filter(are_repetitions).collect();
        let comma = self.survey.comma;
        let parts = self.parts;
        let plan = Plan {
            m,
            p,
            times,
            repetition,
            numbering,
            failures,
            spread,
            filter,
            only,
            watched,
            circumstances,
            statistics,
            remarks,
            decimals,
            comma,
            said: self.claims.columns.clone(),
            parts,
        };
        Ok(plan)
    }

    /// The name of a column.
    fn name(&self, place: usize) -> &str {
        &self.sheet.columns[place].name
    }

    /// Gives a column a role, and says so.
    fn take(&mut self, role: &'static str, place: usize, why: &str) {
        self.taken[place] = true;
        let from = format!("{:?}", self.name(place));
        self.parts.push(Part { role, from, why: why.into() });
    }

    fn say(&mut self, role: &'static str, from: impl Into<String>, why: &str) {
        self.parts.push(Part { role, from: from.into(), why: why.into() });
    }

    /// The columns that are not taken.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.taken.len()).filter(|&place| !self.taken[place])
    }

    /// The columns that have that role by name and are not taken.
    fn with_role(&self, role: Role) -> Vec<usize> {
        self.free().filter(|&place| self.roles[place] == Some(role)).collect()
    }

    fn ambiguous(&self, found: String, answers: Vec<Answer>) -> Error {
        Error::ambiguous(self.sheet.origin.name(), found, answers)
    }

    /// A column that was named by a user.
    fn named(&self, name: &str) -> Result<usize> {
        self.sheet.named(name)
    }

    fn ignored(&mut self) -> Result<Vec<usize>> {
        let ignored: Result<Vec<usize>> =
            self.claims.ignored.iter().map(|name| self.named(name)).collect();
        let ignored = ignored?;
        for &place in &ignored {
            self.take("passed over", place, "as asked");
        }
        Ok(ignored)
    }

    fn only(&mut self) -> Result<Option<(usize, String)>> {
        let Some((name, value)) = &self.claims.only else { return Ok(None) };
        let place = self.named(name)?;
        self.taken[place] = true;
        Ok(Some((place, value.clone())))
    }

    /// Columns that say how a run ended.
    fn failures(&mut self) -> Vec<(usize, Role)> {
        let mut failures = Vec::new();
        for place in 0..self.taken.len() {
            let Some(role) = self.roles[place] else { continue };
            let values = self.survey.columns[place].values.iter().map(String::as_str);
            if !self.taken[place] && are_of(role, values) {
                self.take("failure", place, "");
                failures.push((place, role));
            }
        }
        failures
    }

    /// The standard deviation of what a row is the mean of, and the number of runs.
    fn spread(&mut self, times: &Times) -> Option<(usize, usize)> {
        let deviations = self.with_role(Role::Deviation);
        let &deviation = deviations.first()?;
        let is_of_runs = |place: &usize| {
            names::is_count(self.name(*place)) && self.survey.columns[*place].are_counts()
        };
        let count = self.free().find(is_of_runs);
        match count {
            Some(count) if times.is_one_column() => {
                self.take("deviation", deviation, "");
                self.take("runs", count, "each row is their mean");
                Some((deviation, count))
            }
            _ => {
                self.take("passed over", deviation, "of how many runs it is, nothing says");
                None
            }
        }
    }

    /// The column that is called repetition, and one that looks as if it numbered them.
    fn repetition(&mut self, times: &Times) -> Result<(Option<usize>, Option<usize>)> {
        if let Some(name) = self.claims.columns.of("repetition") {
            let place = self.named(name)?;
            self.take("repetition", place, "");
            return Ok((Some(place), None));
        }
        let exact = self.sheet.column("repetition").filter(|&place| !self.taken[place]);
        if let (Some(place), true) = (exact, times.is_one_column()) {
            self.take("repetition", place, "");
            return Ok((Some(place), None));
        }
        let numbers = |place: &usize| {
            let look = &self.survey.columns[*place];
            look.numbers == look.filled
                && look.values.iter().all(|text| text.parse::<u32>().is_ok())
        };
        let numbering = self.with_role(Role::Repetition).into_iter().find(numbers);
        if let Some(place) = numbering {
            self.take("repetition", place, "");
        }
        Ok((None, numbering))
    }

    /// Columns that are passed over as circumstances and have several values.
    fn circumstances(&self, ignored: &[usize], numbers: Option<usize>) -> Vec<usize> {
        let is_circumstance = |place: &usize| {
            let is_passed_over = self.is_residual(*place)
                || matches!(self.roles[*place], Some(Role::Circumstance | Role::Repetition));
            let looks = self.survey.columns[*place].values.len();
            is_passed_over && looks > 1 && !ignored.contains(place) && numbers != Some(*place)
        };
        (0..self.taken.len()).filter(is_circumstance).collect()
    }

    /// Whether a column that is called as failures are has numbers that are none: how far a result is off.
    fn is_residual(&self, place: usize) -> bool {
        let look = &self.survey.columns[place];
        let values = || look.values.iter().map(String::as_str);
        let is_none = |role| !are_of(role, values());
        let role = self.roles[place].filter(|it| matches!(it, Role::Failure | Role::Success));
        role.is_some_and(is_none) && look.filled > 0 && look.numbers == look.filled
    }

    /// Columns of words that are passed over or that nobody has claimed.
    fn remarks(&self, watched: &[usize], ignored: &[usize]) -> Vec<usize> {
        let is_remark = |place: &usize| {
            let look = &self.survey.columns[*place];
            let is_passed_over = self.roles[*place] == Some(Role::Circumstance);
            let is_free = watched.contains(place) || (is_passed_over && !ignored.contains(place));
            is_free && look.numbers < look.filled
        };
        (0..self.taken.len()).filter(is_remark).collect()
    }

    /// Columns that nobody has claimed and that may tell programs apart; those that cannot are passed over.
    fn watched(&mut self, ignored: &[usize]) -> Vec<usize> {
        let mut watched = Vec::new();
        for place in 0..self.taken.len() {
            if self.taken[place] || ignored.contains(&place) {
                continue;
            }
            let (name, look) = (self.name(place), &self.survey.columns[place]);
            let measure = &self.measures[place];
            let is_result = !matches!(measure, Measure::Other(_))
                || measure.is_of_processors()
                || is_measured(name);
            let of_name = self.roles[place];
            let is_circumstance = look.are_instants()
                || self.is_residual(place)
                || matches!(of_name, Some(Role::Circumstance | Role::Unit | Role::Repetition));
            // The index that pandas and R print before the first name.
            let is_index = place == 0 && name == "field 1" && look.numbers == look.filled;
            let is_constant = look.values.len() <= 1;
            if is_result || is_circumstance || is_index {
                self.take("passed over", place, "");
            } else {
                watched.push(place);
                if is_constant {
                    self.taken[place] = true;
                }
            }
        }
        watched
    }
}

fn is_measured(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    is_cost(&plain) || is_in(MEASURED, &plain)
}

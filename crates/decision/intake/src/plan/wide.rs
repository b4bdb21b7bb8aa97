//! Tables with a column for each m, p or repetition.

use mmgp_base::error::{Answer, Result};
use mmgp_base::quantity::with_unit;

use super::Planner;
use super::times::{TimeColumn, TimeValue, Times, UnitOf};
use crate::names::{Role, numbered, role_of_stem};
use crate::units::{Measure, Unit, duration, measure_of};

/// Numbers in names that count processes or threads begin with no more than this,
const MOST_OF_LEAST: u32 = 8;

/// and end with no more than this.
const MOST_IN_NAMES: u32 = 8192;

/// Repetitions differ by less than this factor.
const ALIKE: f64 = 1.25;

/// Number of rows that are looked at.
const SPREADS: usize = 50;

/// A table with a column for each m, p or repetition.
pub(super) struct Wide {
    /// `m`, `p` or `repetition`.
    pub key: &'static str,
    /// The columns and the numbers in their names.
    columns: Vec<(usize, u32)>,
    /// What stands before the number.
    stem: String,
}

impl Wide {
    /// Whether a user names it: by what all its names begin with, `time_t*`.
    pub(super) fn is(&self, said: &str) -> bool {
        said.strip_suffix('*') == Some(self.stem.as_str())
    }
}

impl Planner<'_> {
    /// Whether the table has a column for each m, p or repetition.
    pub(super) fn wide(&self) -> Option<Wide> {
        let claims = self.claims;
        if claims.columns.of("time").is_some()
            || claims.rate.is_some()
            || claims.objective.is_some()
        {
            return None;
        }
        let mut groups = self.groups();
        for key in ["m", "p"] {
            let is_said = |it: &Wide| self.claims.columns.of(key).is_some_and(|said| it.is(said));
            if let Some(place) = groups.iter().position(is_said) {
                let group = groups.swap_remove(place);
                return group.columns.iter().all(|it| it.1 > 0).then_some(Wide { key, ..group });
            }
        }
        let is_known = |group: &Wide| role_of_stem(&group.stem).is_some();
        let known = groups.iter().position(is_known).unwrap_or(0);
        let mut group = groups.into_iter().nth(known)?;
        let has = |role: Role, key: &str| self.has_number(role, key);
        let mut numbers: Vec<u32> = group.columns.iter().map(|it| it.1).collect();
        numbers.sort_unstable();
        let (least, most) = (numbers[0], numbers[numbers.len() - 1]);
        let is_numbering = least <= 1 && (most - least) as usize + 1 == numbers.len();
        // Sizes, years and percentiles begin higher.
        if !is_numbering && (least > MOST_OF_LEAST || most > MOST_IN_NAMES) {
            return None;
        }
        let are_alike = self.spread_in_rows(&group) < ALIKE;
        group.key = match role_of_stem(&group.stem) {
            Some(Role::Threads) => "p",
            Some(Role::Processes) => "m",
            Some(Role::Repetition) => "repetition",
            _ if group.stem.is_empty() && is_numbering && are_alike => "repetition",
            _ if group.stem.is_empty() && has(Role::Processes, "m") && !has(Role::Threads, "p") => {
                "p"
            }
            _ if group.stem.is_empty() && has(Role::Threads, "p") && !has(Role::Processes, "m") => {
                "m"
            }
            _ if matches!(measure_of(&group.stem), Measure::Time(_)) || group.stem == "t" => {
                "repetition"
            }
            _ => return None,
        };
        // Repetitions are numbered, and take about the same time.
        let is_right = match group.key {
            "repetition" => is_numbering && are_alike,
            _ => least > 0,
        };
        is_right.then_some(group)
    }

    /// Columns of times whose names have the same words and different numbers.
    fn groups(&self) -> Vec<Wide> {
        let mut groups: Vec<Wide> = Vec::new();
        for place in 0..self.taken.len() {
            let is_free = !self.taken[place] && self.survey.columns[place].are_times();
            let Some((stem, number)) = numbered(self.name(place)).filter(|_| is_free) else {
                continue;
            };
            match groups.iter_mut().find(|group| group.stem == stem) {
                Some(group) => group.columns.push((place, number)),
                None => groups.push(Wide { key: "", columns: vec![(place, number)], stem }),
            }
        }
        groups.retain(|group| group.columns.len() > 1);
        groups
    }

    /// Whether a column or a user says where m or p stands.
    fn has_number(&self, role: Role, key: &str) -> bool {
        self.sheet.column(key).is_some()
            || (0..self.roles.len()).any(|place| self.roles[place] == Some(role))
            || self.claims.columns.of(key).is_some()
    }

    /// What would make of columns with numbers in their names one for each p or m, where the table has no
    /// other.
    pub(super) fn wide_answers(&self) -> Vec<Answer> {
        let is_possible = |group: &&Wide| {
            let is_time = matches!(measure_of(&group.stem), Measure::Time(_) | Measure::Other(_));
            is_time && group.columns.iter().all(|it| it.1 > 0)
        };
        let groups = self.groups();
        let stem = groups.iter().find(is_possible).map(|group| &group.stem);
        let keys = [("p", Role::Threads), ("m", Role::Processes)];
        let free = keys.into_iter().filter(|(key, role)| !self.has_number(*role, key));
        let answer = |(key, _): (&str, Role)| {
            let said = format!("{key}={}*", stem?);
            Some(self.columns_answer(said, "a column of times for each"))
        };
        free.filter_map(answer).collect()
    }

    /// The factor by which the times of a row differ that stand in these columns, in the median.
    fn spread_in_rows(&self, group: &Wide) -> f64 {
        let mut spreads = Vec::new();
        // What is wrong with a row is said when it is read.
        let _ = self.sheet.visit_while(&mut |row| {
            let value = |&(place, _): &(usize, u32)| {
                duration(&row[place].text, self.survey.comma).map(|it| it.seconds)
            };
            let times: Vec<f64> = group.columns.iter().filter_map(value).collect();
            let (least, most) =
                times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &it| (a.min(it), b.max(it)));
            if times.len() > 1 && least > 0.0 {
                spreads.push(most / least);
            }
            spreads.len() < SPREADS
        });
        spreads.sort_by(f64::total_cmp);
        spreads.get(spreads.len() / 2).copied().unwrap_or(1.0)
    }

    pub(super) fn wide_times(&mut self, wide: Wide) -> Result<Times> {
        let unit = match (measure_of(&wide.stem), with_unit(&wide.stem)) {
            (Measure::Time(Some(unit)), _) => Some(unit),
            (_, Some((_, unit))) => Some(self.unit_in_brackets(&wide.stem, unit)?),
            _ => match self.unit_of_corner()? {
                None => self.unit_above()?,
                of_corner => of_corner,
            },
        };
        let names: Vec<&str> = wide.columns.iter().map(|&(place, _)| self.name(place)).collect();
        let why = match unit {
            Some(unit) => format!("in {}", unit.symbol()),
            None => "no unit in their names, taken as seconds".to_string(),
        };
        let why = format!("a column for each {}; {why}", wide.key);
        let from = names.join(", ");
        self.say("time", from, &why);
        for &(place, _) in &wide.columns {
            self.taken[place] = true;
        }
        let timed = |&(place, number): &(usize, u32)| TimeColumn {
            value: TimeValue::Column(place),
            heading: Some(number),
        };
        let columns = wide.columns.iter().map(timed).collect();
        Ok(Times::several(columns, UnitOf::Known(unit.unwrap_or(Unit::Seconds))))
    }

    /// The unit in brackets behind the first name of a table with a column for each number: `ranks (ms)`.
    fn unit_of_corner(&self) -> Result<Option<Unit>> {
        let name = self.name(0);
        let unit = with_unit(name).map(|(_, unit)| unit);
        match measure_of(unit.unwrap_or(name)) {
            Measure::Rate(unit) => {
                let found = format!("{name:?} is a rate ({unit}), and no time");
                Err(self.ambiguous(found, Vec::new()))
            }
            Measure::Time(Some(unit)) => Ok(Some(unit)),
            _ => Ok(unit.and_then(Unit::named)),
        }
    }

    /// The unit of time that stands in brackets behind the names of all columns.
    fn unit_in_brackets(&self, stem: &str, unit: &str) -> Result<Unit> {
        let found = || format!("{unit:?} behind {stem:?} is no unit of time that is known");
        Unit::named(unit).ok_or_else(|| self.ambiguous(found(), Vec::new()))
    }
}

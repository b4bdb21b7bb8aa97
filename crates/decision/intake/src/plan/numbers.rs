//! Where m and p stand, and tables of configurations that may be chosen.

use std::collections::BTreeSet;

use mmgp_base::Mapping;
use mmgp_base::error::{Answer, Error, Result, Warning};
use mmgp_base::expression::{Expression, Kind, Names};

use super::wide::Wide;
use super::{Plan, Planner};
use crate::claims::{Claims, Columns, Variables};
use crate::formats;
use crate::names::{self, Role};
use crate::sheet::{Field, Origin};
use crate::survey::{Survey, is_count, pair};
use crate::units::{Comma, Measure, number};

/// The place of a whole number of a run.
pub(super) enum Number {
    /// No place: the number is 1.
    One,
    Column(usize),
    Formula(Formula),
    /// The first or the second number of a text such as `8x4`.
    Part(usize, usize),
    /// The number in the name of the time's column.
    Heading,
}

/// An expression over columns.
pub(super) struct Formula {
    expression: Expression,
    places: Vec<usize>,
    text: String,
}

impl Formula {
    /// The value of a row; not a number where a column has none.
    pub fn value(&self, row: &[Field<'_>], comma: Comma) -> f64 {
        let value = |&place: &usize| number(&row[place].text, comma).unwrap_or(f64::NAN);
        self.expression.value(&self.places.iter().map(value).collect::<Vec<_>>())
    }

    pub fn places(&self) -> &[usize] {
        &self.places
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Number {
    /// The number of a row; `None` where there is no whole number of at least 1.
    pub fn of(&self, row: &[Field<'_>], heading: Option<u32>, comma: Comma) -> Option<u32> {
        match self {
            Self::One => Some(1),
            Self::Column(place) => count(&row[*place].text, comma),
            Self::Formula(formula) => whole(formula.value(row, comma)),
            Self::Part(place, index) => pair(&row[*place].text).map(|it| [it.0, it.1][*index]),
            Self::Heading => heading,
        }
    }

    /// The column at which a row is wrong where it has no such number.
    pub fn place(&self) -> usize {
        match self {
            Self::One | Self::Heading => 0,
            Self::Column(place) | Self::Part(place, _) => *place,
            Self::Formula(formula) => formula.places.first().copied().unwrap_or(0),
        }
    }
}

fn count(text: &str, comma: Comma) -> Option<u32> {
    if let Ok(count) = text.parse::<u32>() {
        return (count >= 1).then_some(count);
    }
    number(text, comma).map_or_else(|| names::labelled_count(text).map(|it| it.0), whole)
}

/// A whole number that counts something, to within what a quotient is rounded by.
fn whole(value: f64) -> Option<u32> {
    let nearest = value.round();
    ((value - nearest).abs() <= 1e-9 * nearest && is_count(nearest)).then_some(nearest as u32)
}

impl Planner<'_> {
    /// Finds the places of m and p.
    pub(super) fn configuration(&mut self, wide: &Option<Wide>) -> Result<(Number, Number)> {
        if let Some((name, is_p_first)) = self.claims.columns.split() {
            let place = self.named(name)?;
            return Ok(self.both(place, is_p_first));
        }
        let m = self.number("m", Role::Processes, wide)?;
        let p = self.number("p", Role::Threads, wide)?;
        match (m, p) {
            (Some(m), Some(p)) => Ok((m, p)),
            (Some(m), None) => self.of_cores(m),
            (None, Some(p)) => match self.by_nodes()? {
                Some(m) => Ok((m, p)),
                None => {
                    self.check_cores(&p)?;
                    let m = self.one("m", &p, "no column is called as processes are")?;
                    Ok((m, p))
                }
            },
            (None, None) => match self.by_nodes()? {
                Some(m) => self.of_cores(m),
                None => self.pair().ok_or_else(|| self.nowhere()),
            },
        }
    }

    /// The only column of two numbers in each text, where its name or words beside these say which counts
    /// what.
    fn pair(&mut self) -> Option<(Number, Number)> {
        let order = |&place: &usize| {
            let look = &self.survey.columns[place];
            let is_possible = look.pairs > 0 && look.pairs + 2 >= look.filled;
            let by_words = || {
                let mut orders = look
                    .values
                    .iter()
                    .filter(|it| pair(it).is_some())
                    .map(|text| names::is_p_first(text));
                let first = orders.next()??;
                orders.all(|other| other == Some(first)).then_some(first)
            };
            let is_p_first = names::is_p_first_by_name(self.name(place)).or_else(by_words);
            is_p_first.filter(|_| is_possible).map(|it| (place, it))
        };
        let free: Vec<usize> = self.free().collect();
        let found: Vec<(usize, bool)> = free.iter().filter_map(order).collect();
        let [(place, is_p_first)] = found[..] else { return None };
        Some(self.both(place, is_p_first))
    }

    /// m and p in a column of texts such as `8x4`.
    fn both(&mut self, place: usize, is_p_first: bool) -> (Number, Number) {
        let (m, p) = if is_p_first { (1, 0) } else { (0, 1) };
        self.take(if is_p_first { "p, m" } else { "m, p" }, place, "");
        (Number::Part(place, m), Number::Part(place, p))
    }

    /// Finds a number by what was said, by the headings of a wide table, by the name itself, or by the dictionary.
    fn number(
        &mut self,
        key: &'static str,
        role: Role,
        wide: &Option<Wide>,
    ) -> Result<Option<Number>> {
        let said = self.claims.columns.of(key);
        if wide.as_ref().is_some_and(|it| it.key == key && said.is_none_or(|said| it.is(said))) {
            return Ok(Some(Number::Heading));
        }
        if let Some(said) = said {
            return self.said(key, said).map(Some);
        }
        let exact = self.sheet.column(key).filter(|&place| !self.taken[place]);
        let exact = exact.filter(|_| !(key == "m" && self.has_sizes()));
        let looks = &self.survey.columns;
        let is_size = |place: usize| self.has_sizes() && self.name(place).eq_ignore_ascii_case("m");
        let all = self.with_role(role).into_iter();
        let by_role = all.filter(|&place| looks[place].are_counts() && !is_size(place));
        // Beside `ranks`, m may be a size.
        let others = by_role.filter(|&place| Some(place) != exact);
        let found: Vec<usize> = exact.into_iter().chain(others).collect();
        match found[..] {
            [] => Ok(None),
            [place] => {
                self.take(key, place, "");
                Ok(Some(Number::Column(place)))
            }
            _ => Err(self.any_of(key, key, &found, Vec::new())),
        }
    }

    /// Whether m, n and k are the sizes of matrices.
    fn has_sizes(&self) -> bool {
        let has =
            |size: &str| self.sheet.columns.iter().any(|it| it.name.eq_ignore_ascii_case(size));
        has("m") && has("n") && has("k")
    }

    /// A column, or an expression over columns, that a user named.
    fn said(&mut self, key: &'static str, said: &str) -> Result<Number> {
        if let Ok(place) = self.named(said) {
            self.take(key, place, "");
            return Ok(Number::Column(place));
        }
        let formula = self.formula(said)?;
        self.say(key, formula.text(), "");
        Ok(Number::Formula(formula))
    }

    /// An expression over columns.
    pub(super) fn formula(&mut self, text: &str) -> Result<Formula> {
        let Variables { text: plain, names, places } = Variables::of(text, self.sheet, &[]);
        let variables: Vec<&str> = names.iter().map(String::as_str).collect();
        let known = Names { variables: &variables, constants: &[] };
        let Ok(expression) = Expression::parse(&plain, Kind::Number, known) else {
            return Err(self.named(text).expect_err("invariant: it is no column"));
        };
        for &place in &places {
            self.taken[place] = true;
        }
        Ok(Formula { expression, places, text: text.into() })
    }

    /// m by nodes and the processes on each.
    fn by_nodes(&mut self) -> Result<Option<Number>> {
        let (nodes, on_each) =
            (self.with_role(Role::Nodes), self.with_role(Role::ProcessesPerNode));
        let ([nodes], [on_each]) = (&nodes[..], &on_each[..]) else { return Ok(None) };
        let text = format!("{}*{}", self.name(*nodes), self.name(*on_each));
        self.said("m", &text).map(Some)
    }

    /// m, and p where no column is called as threads are: by all cores, or 1.
    fn of_cores(&mut self, m: Number) -> Result<(Number, Number)> {
        let p = self.p_of_cores(&m)?;
        Ok((m, p))
    }

    fn p_of_cores(&mut self, m: &Number) -> Result<Number> {
        let all = self.with_role(Role::AllCores);
        let some = self.with_role(Role::Cores);
        let is_of_slurm = self.sheet.format.starts_with("sacct");
        let Some(&place) = all.first().or(some.first()) else {
            return self.one("p", m, "no column is called as threads are");
        };
        let of_m = match m {
            Number::Column(column) => self.name(*column).to_string(),
            Number::Formula(formula) => format!("({})", formula.text()),
            _ => {
                let name = self.name(place).to_string();
                return self.said("p", &name);
            }
        };
        let name = self.name(place).to_string();
        let quotient = format!("{name}/{of_m}");
        if !all.is_empty() || is_of_slurm {
            return self.said("p", &quotient);
        }
        let answers = vec![
            self.columns_answer(format!("p={quotient}"), "they are those of all processes"),
            self.columns_answer(format!("p={name}"), "they are those of each"),
        ];
        Err(self.ambiguous(format!("{name:?} may be of one process or of all"), answers))
    }

    /// Asks about cores where nothing says how many processes there were.
    fn check_cores(&self, p: &Number) -> Result<()> {
        let all = self.with_role(Role::AllCores).into_iter();
        let cores = all.chain(self.with_role(Role::Cores)).next();
        let (Some(cores), Number::Column(threads)) = (cores, p) else { return Ok(()) };
        let (cores, threads) = (self.name(cores), self.name(*threads));
        let answers = vec![
            self.columns_answer(format!("m={cores}/{threads}"), "they are those of all processes"),
            self.columns_answer("m=1".into(), "there was one process"),
        ];
        Err(self.ambiguous(format!("how many processes used {cores:?} is not said"), answers))
    }

    /// 1 for the dimension that a table does not have: where the other varies, it is what was varied.
    fn one(&mut self, key: &'static str, other: &Number, why: &str) -> Result<Number> {
        let values = |place: usize| self.survey.columns[place].values.len();
        let varies = match other {
            Number::Column(place) | Number::Part(place, _) => values(*place) > 1,
            // Of several rows, each is of something.
            Number::Heading => self.survey.columns.iter().all(|look| look.filled <= 1),
            _ => true,
        };
        if varies {
            self.say(key, "1", why);
            return Ok(Number::One);
        }
        let answer = self.columns_answer(format!("{key}=1"), "if it was 1");
        Err(self.ambiguous(format!("{why}, so that {key} is not known"), vec![answer]))
    }

    /// The error where neither m nor p is found, with what could be.
    fn nowhere(&self) -> Error {
        let is_pair = |place: &usize| {
            let look = &self.survey.columns[*place];
            let is_time = matches!(self.measures[*place], Measure::Time(_));
            let is_free = !is_time && self.roles[*place].is_none();
            is_free && look.pairs > 0 && look.pairs + 2 >= look.filled
        };
        let names = self.all_names();
        let found = format!("found the columns {names}, none of which is called as m or p are");
        if let Some(place) = self.free().find(is_pair) {
            let name = self.name(place);
            let answer = |key: &str, meaning| self.columns_answer(format!("{key}={name}"), meaning);
            let both = vec![answer("m,p", "processes first"), answer("p,m", "threads first")];
            return self.ambiguous(found, both);
        }
        let counts = self.free().filter(|&place| {
            let look = &self.survey.columns[place];
            let is_possible = matches!(
                self.roles[place],
                None | Some(Role::Nodes | Role::Cores | Role::AllCores)
            );
            look.are_counts() && is_possible && look.values.len() > 1
        });
        let counts: Vec<&str> = counts.map(|place| self.name(place)).collect();
        let answers = match counts[..] {
            [] => Vec::new(),
            [one] => ["m", "p"].map(|key| self.columns_answer(format!("{key}={one}"), "")).to_vec(),
            [one, other, ..] => vec![
                self.columns_answer(format!("m={one},p={other}"), ""),
                self.columns_answer(format!("m={other},p={one}"), ""),
            ],
        };
        self.ambiguous(found, answers)
    }

    /// The error where any of these columns may hold what a key is for, with further answers first.
    pub(super) fn any_of(
        &self,
        what: &str,
        key: &str,
        places: &[usize],
        mut answers: Vec<Answer>,
    ) -> Error {
        let names: Vec<&str> = places.iter().map(|&place| self.name(place)).collect();
        let answer = |name: &&str| self.columns_answer(format!("{key}={name}"), "");
        answers.extend(names.iter().map(answer));
        self.ambiguous(format!("{what} may be any of the columns {}", names.join(", ")), answers)
    }

    /// What could be said of columns, beside what was said.
    pub(super) fn columns_answer(&self, more: String, meaning: &str) -> Answer {
        let value = self.claims.columns.with(&more);
        Answer { key: "columns", value, meaning: meaning.into() }
    }
}

/// The configurations of a table, each once, in their order. A table of timed runs is one, too: what it says
/// beyond m and p, and how often, is passed over.
///
/// ```
/// use mmgp_base::table::Source;
/// use mmgp_intake::{Columns, configurations};
///
/// let source = Source::new("allowed.csv", "ranks,threads\n8,1\n4,2\n");
/// let (allowed, _) = configurations(&source, &Columns::default())?;
/// assert_eq!((allowed[1].m(), allowed[1].p()), (4, 2));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
///
/// # Errors
/// As [`Plan::of`] and [`Plan::read`], but that no time need be there.
pub fn configurations<'a>(
    origin: impl Into<Origin<'a>>,
    columns: &Columns,
) -> Result<(Vec<Mapping>, Vec<Warning>)> {
    let sheet = formats::sheet(origin, columns)?;
    let survey = Survey::of(&sheet)?;
    let claims = Claims { columns: columns.clone(), ..Claims::default() };
    let mut planner = Planner::new(&sheet, &survey, &claims);
    let (m, p) = planner.configuration(&None)?;
    let mut allowed = Vec::new();
    let mut seen = BTreeSet::new();
    sheet.rows.visit(&mut |row| {
        let mut counts = [1; 2];
        for (number, count) in [&m, &p].into_iter().zip(&mut counts) {
            *count = number.of(row, None, survey.comma).ok_or_else(|| {
                let (field, name) = (&row[number.place()], &sheet.columns[number.place()].name);
                let expected = format!("a whole number from 1 to {}", u32::MAX);
                sheet.error(field.at, format!("{:?} in column {name:?}", field.text), expected)
            })?;
        }
        let mapping = Mapping::new(counts[0], counts[1])?;
        if seen.insert(mapping) {
            allowed.push(mapping);
        }
        Ok(())
    })?;
    if allowed.is_empty() {
        return Err(sheet.no_rows());
    }
    let line = Plan::line_of(&planner.parts, &sheet).map(Warning::Understood);
    Ok((allowed, line.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::table::Source;

    type Read = (Vec<(u32, u32)>, Vec<String>);

    fn read(columns: &str, text: &str) -> Result<Read> {
        let columns = if columns.is_empty() { Columns::default() } else { columns.parse()? };
        let (allowed, warnings) = configurations(&Source::new("x.csv", text), &columns)?;
        let allowed = allowed.iter().map(|mapping| (mapping.m(), mapping.p())).collect();
        Ok((allowed, warnings.iter().map(Warning::to_string).collect()))
    }

    #[test]
    fn each_configuration_is_allowed_once_whatever_else_a_row_says() {
        let text = "# big\nm;p;gpus;time_ms;repetition\n8;1;4;x;1\n2;4;4;x;1\n8;1;4;x;2\n";
        assert_eq!(read("", text).unwrap(), (vec![(8, 1), (2, 4)], Vec::new()));
        let chosen = read("m=a,p=b", "b,a,wall\n1,8,3.5\n").unwrap();
        assert_eq!(chosen.0, [(8, 1)]);
        assert_eq!(chosen.1, ["x.csv, CSV: m is \"a\"; p is \"b\""]);
    }

    #[test]
    fn a_table_of_nothing_or_of_something_else_is_refused_at_its_place() {
        let refused = |text: &str| read("", text).unwrap_err().to_string();
        assert_eq!(
            refused("m,p\n"),
            "x.csv:2:1: found no rows, expected at least one row below the header"
        );
        assert_eq!(
            refused("m,p\n4,0\n"),
            "x.csv:2:3: found \"0\" in column \"p\", expected a whole number from 1 to 4294967295"
        );
    }
}

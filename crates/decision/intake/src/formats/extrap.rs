//! The text of Extra-P: lines of a keyword and its values.
//!
//! `PARAMETER m p`, `POINTS (1 1) (1 2) ..`, `REGION name`, `METRIC name`, and for each point in turn a line
//! `DATA` with the values there. As from its JSON, a row has the parameters by their names, `callpath` where
//! there are regions, `metric`, and the value, whose column is called as the metric where the file has only
//! one, and `value` otherwise.

use std::collections::BTreeSet;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::{BYTE_ORDER_MARK, Source};

use super::delimited::{LineTable, headings};
use crate::sheet::Field;

/// Keywords that lines begin with.
const KEYWORDS: [&str; 5] = ["PARAMETER", "POINTS", "REGION", "METRIC", "DATA"];

/// The metric each of whose regions must have data at every point; others may be kept for some.
const TIME: &str = "time";

/// A word of the text; its place is where it lies in the source's text.
type Fragment<'a> = &'a str;

/// What has been read so far.
struct Reader<'a> {
    source: &'a Source,
    parameters: Vec<Fragment<'a>>,
    points: Vec<Vec<Fragment<'a>>>,
    region: Option<Fragment<'a>>,
    metric: Option<Fragment<'a>>,
    /// `DATA` lines since the last `METRIC` or `REGION`.
    data: usize,
    /// The first metric beside the time without as many lines of data as points.
    uneven: Option<Error>,
    values: Vec<PointValue<'a>>,
}

/// A value at a point.
struct PointValue<'a> {
    /// Which point.
    point: usize,
    region: Option<Fragment<'a>>,
    metric: Fragment<'a>,
    text: Fragment<'a>,
}

/// The table of a text whose first word is a keyword; `None` of another.
pub(super) fn table(source: &Source) -> Option<Result<LineTable<'_>>> {
    let mut lines = lines(source);
    let keyword = lines.next().and_then(|line| line.split_whitespace().next())?;
    KEYWORDS.contains(&keyword).then(|| Reader::of(source).read())
}

/// The lines that are neither empty nor comments, without blanks around them.
fn lines(source: &Source) -> impl Iterator<Item = &str> {
    let lines = source.text.trim_start_matches(BYTE_ORDER_MARK).split('\n').map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl<'a> Reader<'a> {
    fn of(source: &'a Source) -> Self {
        Self {
            source,
            parameters: Vec::new(),
            points: Vec::new(),
            region: None,
            metric: None,
            data: 0,
            uneven: None,
            values: Vec::new(),
        }
    }

    fn read(mut self) -> Result<LineTable<'a>> {
        for line in lines(self.source) {
            let end = line.find(char::is_whitespace).unwrap_or(line.len());
            let (keyword, rest) = line.split_at(end);
            match keyword {
                "PARAMETER" if !self.points.is_empty() => {
                    let found = "PARAMETER behind POINTS".into();
                    return Err(self.error(keyword, found, "all parameters before the points"));
                }
                "PARAMETER" => self.parameters.extend(rest.split_whitespace()),
                "POINTS" => self.points(keyword, rest)?,
                "REGION" => {
                    self.end_of_data(keyword)?;
                    self.region = Some(rest.trim());
                }
                "METRIC" => {
                    self.end_of_data(keyword)?;
                    self.metric = Some(rest.trim());
                }
                "DATA" => self.data(keyword, rest)?,
                _ => {
                    let expected = "PARAMETER, POINTS, REGION, METRIC or DATA";
                    return Err(self.error(keyword, format!("{keyword:?}"), expected));
                }
            }
        }
        let end = &self.source.text[self.source.text.len()..];
        self.end_of_data(end)?;
        self.table(end)
    }

    /// `(1 2) (3 4)`, with blanks anywhere between.
    fn points(&mut self, keyword: Fragment<'a>, mut rest: Fragment<'a>) -> Result<()> {
        if self.parameters.is_empty() {
            return Err(self.error(keyword, "POINTS before PARAMETER".into(), "PARAMETER m p"));
        }
        let expected = format!("({})", self.parameters.join(" "));
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return Ok(());
            }
            let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            // The points of a single parameter may stand without parentheses.
            let (inside, after) = match inside {
                Some(found) => found,
                None if self.parameters.len() == 1 && !rest.contains('(') => {
                    rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()))
                }
                None => return Err(self.error(rest, format!("{:?}", first_word(rest)), &expected)),
            };
            let point: Vec<Fragment<'a>> = inside.split_whitespace().collect();
            if point.len() != self.parameters.len() {
                return Err(self.error(rest, format!("{:?}", shortened(inside)), &expected));
            }
            self.points.push(point);
            rest = after;
        }
    }

    fn data(&mut self, keyword: Fragment<'a>, rest: Fragment<'a>) -> Result<()> {
        let Some(metric) = self.metric else {
            return Err(self.error(keyword, "DATA before METRIC".into(), "METRIC time"));
        };
        let point = self.data;
        self.data += 1;
        if point >= self.points.len() {
            return self.refuse_uneven(keyword, metric);
        }
        if point == 0 {
            self.check_points(keyword)?;
        }
        let before = self.values.len();
        let region = self.region;
        let values = rest.split_whitespace().map(|text| PointValue { point, region, metric, text });
        self.values.extend(values);
        if self.values.len() == before {
            return Err(self.error(keyword, "no values".into(), "at least one time"));
        }
        Ok(())
    }

    /// Every point has had its data.
    fn end_of_data(&mut self, at: Fragment<'a>) -> Result<()> {
        if let Some(metric) = self.metric
            && self.data > 0
            && self.data < self.points.len()
        {
            self.refuse_uneven(at, metric)?;
        }
        self.data = 0;
        Ok(())
    }

    fn check_points(&self, at: Fragment<'a>) -> Result<()> {
        let mut known = BTreeSet::new();
        let Some(twice) = self.points.iter().find(|point| !known.insert(*point)) else {
            return Ok(());
        };
        let pair = |(name, text): (&Fragment<'a>, &Fragment<'a>)| format!("{name} = {text}");
        let named: Vec<String> = self.parameters.iter().zip(twice).map(pair).collect();
        let found = format!("the point {} twice in POINTS", named.join(", "));
        Err(self.error(at, found, "each point once"))
    }

    /// Refuses the data of a time at once, and of another metric where the file has no time.
    fn refuse_uneven(&mut self, at: Fragment<'a>, metric: Fragment<'a>) -> Result<()> {
        let found = format!("{} lines of DATA for {} points", self.data, self.points.len());
        let error = self.error(at, found, "as many lines of DATA as points");
        if metric == TIME {
            return Err(error);
        }
        self.uneven.get_or_insert(error);
        Ok(())
    }

    fn table(mut self, end: Fragment<'a>) -> Result<LineTable<'a>> {
        let has_time = self.values.iter().any(|value| value.metric == TIME);
        if let Some(error) = self.uneven.take().filter(|_| !has_time) {
            return Err(error);
        }
        let Some(first) = self.values.first() else {
            return Err(self.error(end, "no DATA".into(), "METRIC time, and DATA for each point"));
        };
        let is_only = self.values.iter().all(|value| value.metric == first.metric);
        let is_free = !self.parameters.contains(&first.metric);
        let value = if is_only && is_free { first.metric } else { "value" };
        let has_regions = self.values.iter().any(|value| value.region.is_some());
        let at = self.place(first.text);
        let named = |name: &'static str| Field { text: name.into(), at };
        let mut names: Vec<Field<'a>> = self.parameters.iter().map(|it| self.field(it)).collect();
        names.extend(has_regions.then(|| named("callpath")));
        names.push(named("metric"));
        names.push(Field { text: value.into(), at });
        let columns = headings(self.source, &names)?;
        let rows: Vec<Vec<Field<'a>>> =
            self.values.iter().map(|value| self.row(value, has_regions)).collect();
        Ok(LineTable { columns, rows: Box::new(rows) })
    }

    fn row(&self, value: &PointValue<'a>, has_regions: bool) -> Vec<Field<'a>> {
        let at = self.place(value.text);
        let mut row: Vec<Field<'a>> =
            self.points[value.point].iter().map(|coordinate| self.field(coordinate)).collect();
        let region =
            value.region.map_or(Field { text: "".into(), at }, |region| self.field(region));
        row.extend(has_regions.then_some(region));
        row.push(self.field(value.metric));
        row.push(self.field(value.text));
        row
    }

    fn field(&self, word: Fragment<'a>) -> Field<'a> {
        Field { text: word.into(), at: self.place(word) }
    }

    /// Place at which a word begins in the file \[bytes\].
    fn place(&self, word: Fragment<'a>) -> usize {
        let start = self.source.text.as_ptr() as usize;
        (word.as_ptr() as usize).saturating_sub(start)
    }

    fn error(&self, at: Fragment<'a>, found: String, expected: &str) -> Error {
        self.source.error(self.place(at), found, expected)
    }
}

fn first_word(text: &str) -> &str {
    shortened(text.split_whitespace().next().unwrap_or_default())
}

/// A text as long as a message can hold.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(60)]
}

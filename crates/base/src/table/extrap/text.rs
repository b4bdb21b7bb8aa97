//! The text format: lines of a keyword and its values.

use super::super::records::Run;
use super::super::{BYTE_ORDER_MARK, Source};
use super::{Columns, Names, Numbered, Order};
use crate::error::{Error, Position, Result};

/// A word of the text; its place is where it lies in the source's text.
type Word<'a> = &'a str;

/// What has been read so far.
struct Reader<'a> {
    source: &'a Source,
    names: Names<'a>,
    parameters: Vec<Word<'a>>,
    points: Vec<(u32, u32)>,
    metric: Option<Word<'a>>,
    /// `DATA` lines since the last `METRIC` or `REGION`.
    data: usize,
    /// Regions with the metric of the time and data.
    timed: usize,
    runs: Numbered,
}

/// All runs of an Extra-P text file: `PARAMETER m p`, `POINTS (1 1) (1 2) ..`, `REGION name`,
/// `METRIC time`, and a line `DATA` with the values at each point in turn.
///
/// # Errors
/// [`Error::Input`] as [`super::json`], and where `DATA` lines and points are not equally many.
pub fn text(source: &Source, columns: &Columns) -> Result<Vec<Run>> {
    let names = Names::of(columns);
    let mut reader = Reader {
        source,
        names,
        parameters: Vec::new(),
        points: Vec::new(),
        metric: None,
        data: 0,
        timed: 0,
        runs: Numbered::of(names.unit),
    };
    let text = source.text.trim_start_matches(BYTE_ORDER_MARK);
    for line in text.split('\n') {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (keyword, rest) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
        match keyword {
            "PARAMETER" => reader.parameters.extend(rest.split_whitespace()),
            "POINTS" => reader.points(keyword, rest)?,
            "REGION" => reader.end_of_data(keyword)?,
            "METRIC" => reader.metric(keyword, rest.trim())?,
            "DATA" => reader.data(keyword, rest)?,
            _ => {
                let expected = "PARAMETER, POINTS, REGION, METRIC or DATA";
                return Err(reader.error(keyword, format!("{keyword:?}"), expected));
            }
        }
    }
    reader.end_of_data(&source.text[source.text.len()..])?;
    if reader.timed == 0 {
        return Err(reader.error(
            &source.text[source.text.len()..],
            format!("no DATA of {}", names.metric()),
            &names.one_region(),
        ));
    }
    Ok(reader.runs.into_runs())
}

impl<'a> Reader<'a> {
    /// `(1 2) (3 4)`, with blanks anywhere between.
    fn points(&mut self, keyword: Word<'a>, mut rest: Word<'a>) -> Result<()> {
        let Some(order) = Order::of(&self.parameters, self.names) else {
            let found = match self.parameters[..] {
                [] => "POINTS before PARAMETER".into(),
                _ => format!("the parameters {}", self.parameters.join(", ")),
            };
            return Err(self.error(keyword, found, &self.names.parameters()));
        };
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return Ok(());
            }
            let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            let Some((inside, after)) = inside else {
                return Err(self.error(rest, format!("{:?}", first_word(rest)), "(m p)"));
            };
            let words: Vec<Word<'a>> = inside.split_whitespace().collect();
            let [first, second] = words[..] else {
                return Err(self.error(rest, format!("{:?}", shortened(inside)), "(m p)"));
            };
            let point = order.point([self.count(first)?, self.count(second)?]);
            self.points.push(point);
            rest = after;
        }
    }

    fn metric(&mut self, keyword: Word<'a>, name: Word<'a>) -> Result<()> {
        self.end_of_data(keyword)?;
        self.metric = Some(name);
        Ok(())
    }

    fn data(&mut self, keyword: Word<'a>, rest: Word<'a>) -> Result<()> {
        let Some(metric) = self.metric else {
            return Err(self.error(
                keyword,
                "DATA before METRIC".into(),
                &format!("METRIC {}", self.names.metric),
            ));
        };
        let index = self.data;
        self.data += 1;
        if metric != self.names.metric {
            return Ok(());
        }
        if index == 0 {
            self.timed += 1;
        }
        if self.timed > 1 {
            return Err(self.error(keyword, self.names.second_metric(), &self.names.one_region()));
        }
        let Some(&point) = self.points.get(index) else {
            return Err(self.uneven(keyword));
        };
        if index == 0 {
            self.check_points(keyword)?;
        }
        let mut values = rest.split_whitespace().peekable();
        if values.peek().is_none() {
            return Err(self.error(keyword, "no values".into(), "at least one time"));
        }
        for word in values {
            let time = self.seconds(word)?;
            self.runs.push(point, time);
        }
        Ok(())
    }

    /// Every point has had its data.
    fn end_of_data(&mut self, at: Word<'a>) -> Result<()> {
        if self.metric == Some(self.names.metric) && self.data > 0 && self.data != self.points.len()
        {
            return Err(self.uneven(at));
        }
        self.data = 0;
        Ok(())
    }

    fn check_points(&self, at: Word<'a>) -> Result<()> {
        let mut sorted = self.points.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(&[(m, p), _]) => {
                let found = format!("the point m = {m}, p = {p} twice in POINTS");
                Err(self.error(at, found, "each point once"))
            }
            Some(_) => Ok(()),
        }
    }

    fn uneven(&self, at: Word<'a>) -> Error {
        let found = format!("{} lines of DATA for {} points", self.data, self.points.len());
        self.error(at, found, "as many lines of DATA as points")
    }

    fn count(&self, word: Word<'a>) -> Result<u32> {
        match word.parse::<u32>() {
            Ok(count) if count >= 1 => Ok(count),
            _ => {
                let expected = format!("a whole number from 1 to {}", u32::MAX);
                Err(self.error(word, format!("{:?}", shortened(word)), &expected))
            }
        }
    }

    fn seconds(&self, word: Word<'a>) -> Result<f64> {
        match word.parse::<f64>() {
            Ok(time) if time.is_finite() && time >= 0.0 => Ok(time),
            _ => {
                let expected = "a finite time of 0 s or more";
                Err(self.error(word, format!("{:?}", shortened(word)), expected))
            }
        }
    }

    fn error(&self, at: Word<'a>, found: String, expected: &str) -> Error {
        Error::Input { at: self.position(at), found, expected: expected.into() }
    }

    fn position(&self, word: Word<'a>) -> Position {
        let start = self.source.text.as_ptr() as usize;
        self.source.position((word.as_ptr() as usize).saturating_sub(start))
    }
}

fn first_word(text: &str) -> &str {
    shortened(text.split_whitespace().next().unwrap_or_default())
}

/// As much as a message can hold.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(60)]
}

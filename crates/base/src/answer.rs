//! Answers: named values and tables, each said once, and seen by people, in CSV, in JSON, in Markdown and
//! in HTML.
//!
//! A [`Table`] has columns, each with its name for programs, its heading for people, how people see its
//! values ([`Style`]), and what a row has in it. An [`Object`] is one such row, or what stands beside a
//! table: an object of JSON, a header and a row of CSV, a line for each value for people.
//!
//! ```
//! use mmgp_base::answer::{Style, Table};
//!
//! let table = Table::of([(1_u32, 0.5), (2, 0.25)])
//!     .column("p", Style::Plain, |row| row.0)
//!     .headed("time_s", "time", Style::Time, |row| row.1);
//! assert_eq!(table.text(), "p      time\n1  500.0 ms\n2  250.0 ms\n");
//! assert_eq!(table.csv(), "p,time_s\n1,0.5\n2,0.25\n");
//! ```

mod value;

use serde::{Serialize, Serializer};

use crate::table::csv::write_fields;
use crate::units::Seconds;

pub use value::Value;

impl<R> From<&Table<R>> for Value {
    fn from(of: &Table<R>) -> Self {
        of.objects().into()
    }
}

/// Who sees a value of an [`Object`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    All,
    /// Readers of JSON.
    Json,
    /// Readers of CSV, and people.
    Flat,
}

/// Named values in the order in which they are told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(Vec<(String, Value, Audience)>);

impl Object {
    /// An object without values.
    pub fn new() -> Self {
        Self::default()
    }

    fn for_audience(mut self, audience: Audience, name: String, value: Value) -> Self {
        self.0.push((name, value, audience));
        self
    }

    /// Adds a value that all see, as far as it is no list and no object.
    pub fn with(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let value = value.into();
        let is_nested = matches!(value, Value::List(_) | Value::Object(_));
        let audience = if is_nested { Audience::Json } else { Audience::All };
        self.for_audience(audience, name.into(), value)
    }

    /// Adds a value where there is one.
    pub fn with_some(self, name: impl Into<String>, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a value to JSON alone.
    pub fn json(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.for_audience(Audience::Json, name.into(), value.into())
    }

    /// Adds a value to CSV, and for people.
    pub fn flat(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.for_audience(Audience::Flat, name.into(), value.into())
    }

    /// All values of this one, then those of another.
    pub fn followed_by(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn fields(&self) -> impl Iterator<Item = (&str, String)> {
        let flat = self.0.iter().filter(|(_, _, audience)| *audience != Audience::Json);
        flat.map(|(name, value, _)| (name.as_str(), value.field()))
    }

    /// A header and a row.
    pub fn csv(&self) -> String {
        csv(std::slice::from_ref(self))
    }

    /// The values for people, a line each; what there is not is left out.
    pub fn lines(&self) -> String {
        let fields: Vec<(&str, String)> =
            self.fields().filter(|(_, field)| !field.is_empty()).collect();
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        fields.iter().map(|(name, field)| format!("{name:<width$}  {field}\n")).collect()
    }
}

/// Objects with the same names as CSV.
pub fn csv(rows: &[Object]) -> String {
    let names: Vec<&str> = rows.iter().take(1).flat_map(Object::fields).map(|it| it.0).collect();
    write_fields(&names, rows.iter().map(|row| row.fields().map(|(_, field)| field).collect()))
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        values.into_iter().fold(Self::new(), |object, (name, value)| object.with(name, value))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let told = self.0.iter().filter(|(_, _, audience)| *audience != Audience::Flat);
        serializer.collect_map(told.map(|(name, value, _)| (name, value)))
    }
}

/// How people see the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Style {
    /// Shown as it is.
    Plain,
    /// A number with so many digits behind the point.
    Digits(usize),
    /// The same, of so many times the number: thousandths, millionths.
    Times(f64, usize),
    /// A number with four digits behind the point, one below 0.01 with a power of ten.
    Small,
    /// A part of 1 in per cent, with so many digits behind the point.
    Percent(usize),
    /// A number that is in per cent, with so many digits behind the point.
    InPercent(usize),
    /// Seconds with four digits that count, in a unit that suits.
    Time,
}

impl Style {
    /// The value for people; a dash where there is none.
    pub fn shown(self, value: &Value) -> String {
        match (self, value) {
            (_, Value::Missing) => "-".into(),
            (Self::Digits(digits), Value::Number(number)) => format!("{number:.digits$}"),
            (Self::Times(factor, digits), Value::Number(number)) => {
                format!("{:.digits$}", factor * number)
            }
            (Self::Small, Value::Number(number)) if *number != 0.0 && number.abs() < 0.01 => {
                format!("{number:.3e}")
            }
            (Self::Small, Value::Number(number)) => format!("{number:.4}"),
            (Self::Percent(digits), Value::Number(share)) => {
                format!("{:.digits$} %", 100.0 * share)
            }
            (Self::InPercent(digits), Value::Number(percent)) => format!("{percent:.digits$} %"),
            (Self::Time, Value::Number(seconds)) => Seconds(*seconds).to_string(),
            (_, value) => value.field(),
        }
    }
}

/// A column: what programs are told of each row, and what people see of it.
struct Column {
    /// Name for programs; none where people alone see it.
    name: Option<String>,
    values: Vec<Value>,
    /// Heading for people; none where programs alone are told.
    heading: Option<String>,
    cells: Vec<String>,
    /// Whether people see it aligned to the left, as words are.
    is_left: bool,
}

/// Rows under columns.
pub struct Table<R> {
    rows: Vec<R>,
    columns: Vec<Column>,
}

impl<R> Table<R> {
    /// A table of these rows, without columns yet.
    pub fn of(rows: impl IntoIterator<Item = R>) -> Self {
        Self { rows: rows.into_iter().collect(), columns: Vec::new() }
    }

    /// Adds a column that has the same name for all.
    pub fn column<V: Into<Value>>(self, name: &str, style: Style, value: impl Fn(&R) -> V) -> Self {
        self.headed(name, name, style, value)
    }

    /// Adds a column that people see under a heading of its own.
    pub fn headed<V: Into<Value>>(
        mut self,
        name: impl Into<String>,
        heading: impl Into<String>,
        style: Style,
        value: impl Fn(&R) -> V,
    ) -> Self {
        let values: Vec<Value> = self.rows.iter().map(|row| value(row).into()).collect();
        let cells = values.iter().map(|value| style.shown(value)).collect();
        let (name, heading) = (Some(name.into()), Some(heading.into()));
        self.columns.push(Column { name, values, heading, cells, is_left: false });
        self
    }

    /// Adds a column for programs alone.
    pub fn programs<V: Into<Value>>(
        mut self,
        name: impl Into<String>,
        value: impl Fn(&R) -> V,
    ) -> Self {
        let values = self.rows.iter().map(|row| value(row).into()).collect();
        let (name, cells) = (Some(name.into()), Vec::new());
        self.columns.push(Column { name, values, heading: None, cells, is_left: false });
        self
    }

    /// Adds a column for people alone.
    pub fn people(mut self, heading: impl Into<String>, cell: impl Fn(&R) -> String) -> Self {
        let cells = self.rows.iter().map(cell).collect();
        let (heading, values) = (Some(heading.into()), Vec::new());
        self.columns.push(Column { name: None, values, heading, cells, is_left: false });
        self
    }

    /// Aligns the last column to the left.
    pub fn left(mut self) -> Self {
        self.columns.iter_mut().rev().take(1).for_each(|column| column.is_left = true);
        self
    }

    fn seen(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().filter_map(|it| Some((it.heading.as_deref()?, it)))
    }

    fn told(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().filter_map(|it| Some((it.name.as_deref()?, it)))
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table for people: columns as wide as their widest cell.
    pub fn text(&self) -> String {
        let width = |(heading, column): (&str, &Column)| {
            let cells = column.cells.iter().map(|cell| cell.chars().count());
            (cells.chain([heading.chars().count()]).max().unwrap_or(0), column.is_left)
        };
        let widths: Vec<(usize, bool)> = self.seen().map(width).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded = cells.zip(&widths).map(|(cell, &(width, is_left))| match is_left {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
            format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        let mut text = line(&mut self.seen().map(|(heading, _)| heading));
        for row in 0..self.rows.len() {
            text += &line(&mut self.seen().map(|(_, column)| column.cells[row].as_str()));
        }
        text
    }

    /// The table for people, in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rules = self.seen().map(|(_, column)| if column.is_left { "---|" } else { "--:|" });
        let rules: String = rules.collect();
        let mut text = line(&mut self.seen().map(|(heading, _)| heading)) + "|" + &rules + "\n";
        for row in 0..self.rows.len() {
            text += &line(&mut self.seen().map(|(_, column)| column.cells[row].as_str()));
        }
        text
    }

    /// The table for people, in HTML; the caption is for those who do not see it.
    pub fn html(&self, caption: &str) -> String {
        let cell = |tag: &str, column: &Column, text: &str| {
            let class = if column.is_left { " class=\"text\"" } else { "" };
            format!("<{tag}{class}>{}</{}>", escaped(text), &tag[..2])
        };
        let header = self.seen().map(|(heading, column)| cell("th scope=\"col\"", column, heading));
        let row = |row: usize| {
            let cells = self.seen().map(|(_, column)| cell("td", column, &column.cells[row]));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let (header, rows) = (header.collect::<String>(), (0..self.rows.len()).map(row));
        let rows: String = rows.collect();
        format!(
            "<div class=\"scroller\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {caption}\">\n\
             <table class=\"data\">\n<caption class=\"unseen\">{caption}</caption>\n\
             <thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
        )
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.told().map(|(name, _)| name).collect();
        let row = |row: usize| self.told().map(|(_, column)| column.values[row].field()).collect();
        write_fields(&names, (0..self.rows.len()).map(row))
    }

    /// Each row as an object.
    pub fn objects(&self) -> Vec<Object> {
        let row = |row: usize| {
            let with = |object: Object, (name, column): (&str, &Column)| {
                object.with(name, column.values[row].clone())
            };
            self.told().fold(Object::new(), with)
        };
        (0..self.rows.len()).map(row).collect()
    }
}

/// Text that is text wherever it stands in HTML.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // HTML has no way to write the others.
            letter if letter.is_control() && !letter.is_whitespace() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<(&'static str, Option<f64>)> {
        Table::of([("a|b", Some(0.125)), ("c", None)])
            .column("name", Style::Plain, |row| row.0)
            .left()
            .headed("share", "%", Style::Percent(1), |row| row.1)
            .programs("is_there", |row| row.1.is_some())
            .people("mark", |row| if row.1.is_none() { "!".into() } else { String::new() })
    }

    #[test]
    fn every_format_follows_from_the_same_columns() {
        assert_eq!(table().text(), "name       %  mark\na|b   12.5 %\nc          -     !\n");
        assert_eq!(table().csv(), "name,share,is_there\na|b,0.125,true\nc,,false\n");
        assert_eq!(
            table().markdown(),
            "| name | % | mark |\n|---|--:|--:|\n| a\\|b | 12.5 % |  |\n| c | - | ! |\n"
        );
        let html = table().html("parts");
        assert!(html.contains("<th scope=\"col\" class=\"text\">name</th>"), "{html}");
        assert!(html.contains("<tr><td class=\"text\">a|b</td><td>12.5 %</td><td></td></tr>\n"));
        let json = serde_json::to_string(&table().objects()).unwrap();
        assert_eq!(
            json,
            "[{\"name\":\"a|b\",\"share\":0.125,\"is_there\":true},\
             {\"name\":\"c\",\"share\":null,\"is_there\":false}]"
        );
    }

    #[test]
    fn lists_are_for_json_and_their_parts_for_people() {
        let object = Object::new()
            .with("steps_s", [1.5, 2.0])
            .flat("step_1_s", 1.5)
            .with("wrong", 0_u32)
            .with("none", None::<f64>)
            .with_some("left_out", None::<f64>);
        assert_eq!(object.lines(), "step_1_s  1.5\nwrong     0\n");
        assert_eq!(object.csv(), "step_1_s,wrong,none\n1.5,0,\n");
        let json = serde_json::to_string(&object).unwrap();
        assert_eq!(json, "{\"steps_s\":[1.5,2.0],\"wrong\":0,\"none\":null}");
    }

    #[test]
    fn numbers_are_shown_as_the_column_says() {
        let shown = |style: Style| style.shown(&Value::Number(0.012_345));
        let styles = [Style::Plain, Style::Digits(3), Style::Times(1e3, 1), Style::Percent(0)];
        assert_eq!(styles.map(shown), ["0.012345", "0.012", "12.3", "1 %"]);
        assert_eq!(shown(Style::Time), "12.35 ms");
    }
}

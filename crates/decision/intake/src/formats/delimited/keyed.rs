//! Lines of `key=value`, as programs log them; no line names the columns.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use mmgp_base::error::Result;

use super::lines::{Line, Text, field, lines, unnamed};
use super::{LineFormat, LineTable};
use crate::sheet::{Field, Heading};

pub(super) const FORMAT: LineFormat = LineFormat {
    name: "lines of key=value",
    table: |text| separator(text).map(|separator| table(text, separator)),
};

/// What may stand between fields; of those that make equally many, the first. A blank is any number of
/// blanks.
const SEPARATORS: [char; 5] = ['|', ';', '\t', ',', ' '];

/// The separator that makes the most fields with keys, and then the fewest without, in each of the first
/// lines; at least two of the first line's have keys.
fn separator(text: &Text<'_>) -> Option<char> {
    let first_lines = text.first_lines();
    let counts = |separator: char| {
        let count = |line: &Line<'_>| {
            let fields = fields(*line, separator);
            let keyed =
                fields.iter().filter(|(key, value)| key.is_some() && !has_key(value)).count();
            (keyed, fields.len() - keyed)
        };
        let counts: Vec<(usize, usize)> = first_lines.iter().map(count).collect();
        let (first, plain) = counts[0];
        let is_keyed = first >= 2 && counts.iter().all(|(keyed, _)| *keyed >= 1);
        is_keyed.then_some((first, Reverse(plain), separator))
    };
    let found: Vec<_> = SEPARATORS.into_iter().filter_map(counts).collect();
    let best = found.iter().rev().max_by_key(|(keyed, plain, _)| (*keyed, *plain));
    best.map(|(_, _, separator)| *separator)
}

/// Whether there is a further key inside of a value.
fn has_key(value: &Field<'_>) -> bool {
    let mut words = value.text.split_whitespace();
    words.any(|word| word.split_once('=').is_some_and(|(key, _)| is_key(key)))
}

fn is_key(text: &str) -> bool {
    let is_of_key = |it: char| it.is_alphanumeric() || "_-./()[]".contains(it);
    text.starts_with(|it: char| it.is_alphabetic() || it == '_' || it == '-')
        && text.chars().all(is_of_key)
}

fn table<'a>(text: &Text<'a>, separator: char) -> Result<LineTable<'a>> {
    let source = text.source;
    let (mut columns, mut places) = (Vec::new(), BTreeMap::new());
    for line in lines(&source.text, text.start) {
        for (index, (key, value)) in fields(line, separator).into_iter().enumerate() {
            let name = key.map_or_else(|| unnamed(index), |key| key.text.into_owned());
            places.entry(name).or_insert_with_key(|name| {
                columns.push(Heading { name: name.clone(), at: value.at });
                columns.len() - 1
            });
        }
    }
    let width = columns.len();
    let split = move |line: Line<'a>, row: &mut Vec<Field<'a>>| {
        row.resize(width, field("", line.at));
        let mut is_there = vec![false; width];
        for (index, (key, value)) in fields(line, separator).into_iter().enumerate() {
            let name = key.map_or_else(|| unnamed(index), |key| key.text.into_owned());
            let place = places[&name];
            if std::mem::replace(&mut is_there[place], true) {
                let found = format!("a second {name:?} in the line");
                return Err(source.error(value.at, found, "only one"));
            }
            row[place] = value;
        }
        Ok(())
    };
    LineTable::of_lines(source, Ok(columns), text.start, split)
}

/// The keys, where there are, and the values of a line.
fn fields(line: Line<'_>, separator: char) -> Vec<(Option<Field<'_>>, Field<'_>)> {
    let mut fields = Vec::new();
    let (mut at, mut rest) = (line.at, line.text);
    while !rest.is_empty() {
        let end = end(rest, separator);
        let part = &rest[..end];
        if separator != ' ' || !part.is_empty() {
            fields.push(pair(part, at, separator));
        }
        let next = end + rest[end..].chars().next().map_or(0, char::len_utf8);
        at += next;
        rest = &rest[next..];
    }
    // A separator at the end of a line is none.
    if fields.last().is_some_and(|(key, value)| key.is_none() && value.text.is_empty()) {
        fields.pop();
    }
    fields
}

/// Place at which the part ends that a line begins with; separators in quotes do not end it.
fn end(rest: &str, separator: char) -> usize {
    let mut quote = None;
    let is_end = |(at, letter): &(usize, char)| {
        let begins = rest[..*at].ends_with('=');
        match quote {
            None if (*letter == '"' || *letter == '\'') && begins => quote = Some(*letter),
            None => return *letter == separator || (separator == ' ' && letter.is_whitespace()),
            Some(open) if open == *letter => quote = None,
            Some(_) => {}
        }
        false
    };
    rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at)
}

fn pair(part: &str, at: usize, separator: char) -> (Option<Field<'_>>, Field<'_>) {
    let found = part.split_once('=').filter(|(key, _)| is_key(key.trim()));
    let Some((key, value)) = found else { return (None, field(part, at)) };
    // Where blanks separate, a sign may stand behind a value as in a sentence.
    let value = if separator == ' ' { value.trim_end_matches([',', ';']) } else { value };
    let mut value = field(value, at + key.len() + 1);
    if let Cow::Borrowed(text) = value.text
        && let Some(quote) = text.chars().next().filter(|it| matches!(it, '"' | '\''))
        && let Some(inner) = text[1..].strip_suffix(quote)
    {
        value.text = inner.trim().into();
    }
    (Some(field(key, at)), value)
}

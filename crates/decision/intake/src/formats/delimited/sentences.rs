//! Lines that say the same of each run, with other numbers: `4 MPI ranks, 2 threads: 12.5 seconds`. The words
//! beside a number name its column. A run may take several lines, the same for each.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use mmgp_base::error::Result;

use super::lines::{Line, Text, headings, lines};
use super::{LineFormat, LineTable};
use crate::names::{Role, role_of};
use crate::sheet::{Field, Heading, unnamed};
use crate::units::{Comma, Measure, Unit, duration, measure_of};

pub(super) const FORMAT: LineFormat = LineFormat { name: "lines of words and numbers", table };

/// A run takes no more lines.
const MOST_LINES: usize = 12;

/// A text with more bytes is no such log.
const LONGEST: usize = 1 << 20;

/// A duration with more letters is none \[bytes\].
const LONGEST_DURATION: usize = 32;

/// A line taken apart: its numbers, and the words before the first, between them, and behind the last.
#[derive(Clone)]
struct Sentence<'a> {
    line: Line<'a>,
    words: Vec<&'a str>,
    numbers: Vec<&'a str>,
}

fn table<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
    if text.source.text.len() > LONGEST {
        return None;
    }
    let all: Vec<Sentence<'a>> = lines(&text.source.text, text.start).map(Sentence::of).collect();
    let is_period = |count: &usize| {
        let repeats = all.iter().skip(*count).zip(&all).all(|(one, other)| one.is_like(other));
        all.len() >= 2 * count && repeats
    };
    let count = (1..=MOST_LINES).find(is_period)?;
    // What a last run lacks, it has not said.
    let runs: Vec<&[Sentence<'a>]> = all.chunks_exact(count).collect();
    let names: Option<Vec<Vec<Field<'a>>>> = runs[0].iter().map(Sentence::names).collect();
    let names = names?.concat();
    let is_of_run = |name: &Field<'a>| {
        matches!(measure_of(&name.text), Measure::Time(_))
            || matches!(role_of(&name.text), Some(Role::Processes | Role::Threads))
    };
    let has_letters =
        |line: &Sentence<'a>| line.words.iter().any(|it| it.contains(char::is_alphabetic));
    let are_sentences = runs[0].iter().all(has_letters);
    if names.len() < 2 || !are_sentences || !names.iter().any(is_of_run) {
        return None;
    }
    let rows: Vec<Vec<Field<'a>>> =
        runs.iter().map(|run| run.iter().flat_map(Sentence::fields).collect()).collect();
    Some(
        headings(text.source, &distinct(names))
            .map(|columns| LineTable { columns, rows: Box::new(rows) }),
    )
}

/// The names, each with a number behind it where it was there before.
fn distinct(names: Vec<Field<'_>>) -> Vec<Field<'_>> {
    let mut all: Vec<Field<'_>> = Vec::with_capacity(names.len());
    for name in names {
        let count = all.iter().filter(|it| it.text == name.text).count();
        let text = match count {
            0 => name.text,
            _ => Cow::Owned(format!("{} {}", name.text, count + 1)),
        };
        all.push(Field { text, at: name.at });
    }
    all
}

impl<'a> Sentence<'a> {
    fn of(line: Line<'a>) -> Self {
        let text = line.text;
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        let (mut begin, mut at) = (0, 0);
        while at < text.len() {
            let length = number_at(text, at);
            if length == 0 {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            words.push(&text[begin..at]);
            numbers.push(&text[at..at + length]);
            at += length;
            begin = at;
        }
        words.push(&text[begin..]);
        Self { line, words, numbers }
    }

    /// Whether both have the same words.
    fn is_like(&self, other: &Self) -> bool {
        let same =
            |(one, other): (&&str, &&str)| one.split_whitespace().eq(other.split_whitespace());
        self.words.len() == other.words.len() && self.words.iter().zip(&other.words).all(same)
    }

    fn place(&self, part: &str) -> usize {
        self.line.at + (part.as_ptr() as usize - self.line.text.as_ptr() as usize)
    }

    fn fields(&self) -> Vec<Field<'a>> {
        let field = |number: &&'a str| Field { text: (*number).into(), at: self.place(number) };
        self.numbers.iter().map(field).collect()
    }

    /// The names of its numbers, on the side on which more of them are known; `None` where neither is
    /// better and they differ, unless the line begins with a number or with a name that is known.
    fn names(&self) -> Option<Vec<Field<'a>>> {
        let (before, behind) = (self.names_on(Side::Before), self.names_on(Side::Behind));
        let known = |names: &[Field<'a>]| names.iter().filter(|name| is_known(&name.text)).count();
        match known(&before).cmp(&known(&behind)) {
            Ordering::Greater => Some(before),
            Ordering::Less => Some(behind),
            Ordering::Equal if parts(self.words[0]).is_empty() => Some(behind),
            Ordering::Equal => {
                let is_same = |(one, other): (&Field<'a>, &Field<'a>)| {
                    one.text == other.text || !(is_known(&one.text) || is_known(&other.text))
                };
                let are_same = before.iter().zip(&behind).all(is_same);
                (are_same || is_known(&before[0].text)).then_some(before)
            }
        }
    }

    /// The names of its numbers, where a phrase between two is of the number on that side. Of two phrases
    /// and more, each is of the number next to it.
    fn names_on(&self, side: Side) -> Vec<Field<'a>> {
        let phrases: Vec<Vec<&'a str>> = self.words.iter().map(|words| parts(words)).collect();
        let last = phrases.len() - 1;
        let name = |(place, number): (usize, &&'a str)| {
            let is_free = |words: usize, other: Side| {
                words == 0 || words == last || phrases[words].len() > 1 || side == other
            };
            let before = phrases[place].last().filter(|_| is_free(place, Side::Before));
            let behind = phrases[place + 1].first();
            let follows = |unit: &&&str| self.words[place + 1].trim_start().starts_with(**unit);
            let unit = behind.filter(|it| Unit::named(it).is_some()).filter(follows);
            let behind = behind.filter(|_| is_free(place + 1, Side::Behind));
            let before = before.map(|it| known_part(it, Side::Before));
            let behind = behind.map(|it| known_part(it, Side::Behind));
            let name = match (unit, side) {
                (Some(unit), _) => Some(format!("{} [{unit}]", before.unwrap_or("time")).into()),
                (None, Side::Before) => before.or(behind).map(Cow::Borrowed),
                (None, Side::Behind) => behind.or(before).map(Cow::Borrowed),
            };
            let text = name.unwrap_or_else(|| format!("number {}", place + 1).into());
            Field { text, at: self.place(number) }
        };
        self.numbers.iter().enumerate().map(name).collect()
    }
}

/// The side of a number on which its name stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

/// A phrase, or its word next to the number where that alone is known.
fn known_part(phrase: &str, side: Side) -> &str {
    let mut words = phrase.split_whitespace().map(|it| it.trim_start_matches('-'));
    let word = if side == Side::Before { words.next_back() } else { words.next() };
    word.filter(|word| !is_known(phrase) && is_known(word)).unwrap_or(phrase)
}

/// Whether a name says what it is of.
fn is_known(name: &str) -> bool {
    role_of(name).is_some() || matches!(measure_of(name), Measure::Time(_) | Measure::Rate(_))
}

/// The phrases between marks and words such as `and`.
fn parts(words: &str) -> Vec<&str> {
    let is_mark = |it: char| ",:;|=()[]<>".contains(it);
    let clean = |text: &str| -> (usize, usize) {
        let inner = text.trim_matches(|it: char| !it.is_alphanumeric());
        (inner.as_ptr() as usize - words.as_ptr() as usize, inner.len())
    };
    let mut parts = Vec::new();
    for phrase in words.split(is_mark) {
        let mut rest = phrase;
        let joint = |text: &str| {
            let places = JOINTS.iter().filter_map(|joint| Some((text.find(joint)?, joint.len())));
            places.min()
        };
        while let Some((place, length)) = joint(rest) {
            parts.push(clean(&rest[..place]));
            // The blank at its end may begin another.
            rest = &rest[place + length - 1..];
        }
        parts.push(clean(rest));
    }
    let inner = |&(at, length): &(usize, usize)| &words[at..at + length];
    parts.iter().filter(|(_, length)| *length > 0).map(inner).collect()
}

/// Words between two phrases.
const JOINTS: [&str; 7] = [" x ", " \u{d7} ", " and ", " with ", " by ", " on ", " using "];

/// How long the number or the duration is that begins there \[bytes\]; 0 of none.
fn number_at(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let before = text[..at].chars().next_back();
    if !rest.starts_with(|it: char| it.is_ascii_digit()) || before == Some('.') {
        return 0;
    }
    let rest_of_word = &rest[..rest.floor_char_boundary(LONGEST_DURATION)];
    let end = rest_of_word.find(char::is_whitespace).unwrap_or(rest_of_word.len());
    let word = &rest_of_word[..end];
    let word = word.trim_end_matches([',', ';', ':', '|', ')', ']', '.']);
    let is_first = before.is_none_or(|it| !it.is_alphanumeric());
    let is_clock = word.contains(':') || word.contains(['h', 'm']);
    if is_first && is_clock && duration(word, Comma::Thousands).is_some_and(|it| it.has_unit) {
        return word.len();
    }
    let end = plain_number(rest);
    // An error behind a number is a part of it: `9.5 \u{b1} 0.2`, `9.5 (0.2)`.
    let behind = rest[end..].trim_start();
    let signs = ["\u{b1}", "+/-", "+-", "("];
    let Some(sign) = signs.iter().find(|sign| behind.starts_with(**sign)) else { return end };
    let error = behind[sign.len()..].trim_start();
    let length = plain_number(error);
    let is_closed = *sign != "(" || error[length..].starts_with(')');
    match length > 0 && is_closed {
        true => rest.len() - error.len() + length + usize::from(*sign == "("),
        false => end,
    }
}

/// How long the number is that a text begins with \[bytes\]; 0 of none. Signs between thousands or before
/// decimals are parts of it.
fn plain_number(rest: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(rest);
    while let Some(behind) = rest[end..].strip_prefix(['.', ',']).filter(|_| end > 0) {
        match digits(behind) {
            0 => break,
            count => end += count + 1,
        }
    }
    if end == 0 {
        return 0;
    }
    if let Some(behind) = rest[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(behind.starts_with(['+', '-']));
        let exponent = digits(&behind[sign..]);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    end
}

/// Lines of `key=value`, as programs log them; no line names the columns.
pub(super) const KEYED: LineFormat = LineFormat {
    name: "lines of key=value",
    table: |text| separator(text).map(|separator| keyed(text, separator)),
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

fn keyed<'a>(text: &Text<'a>, separator: char) -> Result<LineTable<'a>> {
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
        row.resize(width, Field::of("", line.at));
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
    let Some((key, value)) = found else { return (None, Field::of(part, at)) };
    // Where blanks separate, a sign may stand behind a value as in a sentence.
    let value = if separator == ' ' { value.trim_end_matches([',', ';']) } else { value };
    let mut value = Field::of(value, at + key.len() + 1);
    if let Cow::Borrowed(text) = value.text
        && let Some(quote) = text.chars().next().filter(|it| matches!(it, '"' | '\''))
        && let Some(inner) = text[1..].strip_suffix(quote)
    {
        value.text = inner.trim().into();
    }
    (Some(Field::of(key, at)), value)
}

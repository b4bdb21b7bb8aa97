//! The header of a CSV file: which columns there are, and where.

use csv::ByteRecord;

use super::super::{BYTE_ORDER_MARK, Source};
use super::{ColumnRequest, FileColumn};
use crate::error::{
    Error, Position, Result, Warning, is_in_another_unit, is_near_spelling, nearest, shortened,
};

/// The header of a file, and how its fields are separated.
pub(super) struct Header<'a> {
    pub source: &'a Source,
    separator: char,
    pub names: Vec<String>,
    record: ByteRecord,
}

/// What may stand between fields; of those that come equally often in a header, the first.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// What stands between the fields of the first line that is no comment.
pub(super) fn separator(text: &str) -> char {
    let mut lines = text.trim_start_matches(BYTE_ORDER_MARK).lines();
    let header = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut quoted = false;
    for letter in header.chars() {
        quoted ^= letter == '"';
        if let (false, Some(which)) = (quoted, SEPARATORS.iter().position(|it| *it == letter)) {
            counts[which] += 1;
        }
    }
    let most = counts.into_iter().max().unwrap_or(0);
    let first = counts.iter().position(|&count| count == most);
    SEPARATORS[first.expect("invariant: one of them is the largest")]
}

/// The byte at which a record begins: its own position is where the one before it ended, ahead of
/// the comments and empty lines between them.
pub(super) fn start(source: &Source, record: &ByteRecord) -> usize {
    let mut start = record.position().map_or(0, |position| position.byte() as usize);
    loop {
        let rest = &source.text[start..];
        start += match rest.chars().next() {
            Some('#') => rest.find('\n').map_or(rest.len(), |newline| newline + 1),
            Some(skipped @ ('\n' | '\r' | BYTE_ORDER_MARK)) => skipped.len_utf8(),
            _ => return start,
        };
    }
}

impl<'a> Header<'a> {
    pub fn new(source: &'a Source, separator: char, record: ByteRecord) -> Self {
        let names = record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Self { source, separator, names, record }
    }

    /// The columns that are wanted, with their places.
    pub fn columns(&self, wanted: &[ColumnRequest<'a>]) -> Result<Vec<FileColumn<'a>>> {
        let find = |&ColumnRequest { name, default }: &ColumnRequest<'a>| {
            let mut places = (0..self.names.len()).filter(|&index| self.names[index] == name);
            let missing = default.is_some().then_some(self.names.len());
            let Some(index) = places.next().or(missing) else {
                return Err(self.missing(name, wanted));
            };
            if let Some(second) = places.next() {
                return Err(self.error(second, format!("a second column {name:?}"), "only one"));
            }
            Ok(FileColumn { name, index, default: default.unwrap_or_default() })
        };
        wanted.iter().map(find).collect()
    }

    /// Each column that is not wanted is a warning, unless it was meant to be one that is missing:
    /// what it says would be lost without a word.
    pub fn warnings(&self, wanted: &[ColumnRequest<'a>]) -> Result<Vec<Warning>> {
        let is_unknown =
            |index: &usize| !wanted.iter().any(|wanted| wanted.name == self.names[*index]);
        let unknown: Vec<usize> = (0..self.names.len()).filter(is_unknown).collect();
        let missing: Vec<&str> = wanted
            .iter()
            .map(|wanted| wanted.name)
            .filter(|name| !self.names.iter().any(|it| it == name))
            .collect();
        for &index in &unknown {
            let name = &self.names[index];
            if let Some(meant) = missing.iter().find(|known| is_near_spelling(name, known)) {
                let found = format!("the column {:?}", shortened(name));
                let expected = format!("{meant:?} if that is meant, else a name less like it");
                return Err(self.error(index, found, &expected));
            }
        }
        let missing: Vec<String> = missing.into_iter().map(String::from).collect();
        let warning = |(at, &index): (Position, &usize)| Warning::UnknownColumn {
            at,
            name: self.names[index].clone(),
            missing: missing.clone(),
        };
        Ok(self.positions(&self.record, &unknown).zip(&unknown).map(warning).collect())
    }

    /// The error for a header without the column `wanted`, at the one that could have been meant.
    fn missing(&self, wanted: &str, all: &[ColumnRequest<'a>]) -> Error {
        let names = &self.names;
        let found = format!("the columns {}", names.join(", "));
        let is_unknown = |name: &&String| !all.iter().any(|wanted| wanted.name == name.as_str());
        let unknown: Vec<&String> = names.iter().filter(is_unknown).collect();
        let place = |name: &str| names.iter().position(|it| it == name).unwrap_or(0);
        if let Some(other) = unknown.iter().find(|name| is_in_another_unit(name, wanted)) {
            let advice = format!("a column {wanted:?}; {other:?} would be in another unit");
            return self.error(place(other), found, &advice);
        }
        let Some(near) = nearest(wanted, &unknown) else {
            return self.error(0, found, &format!("a column {wanted:?}"));
        };
        let advice = format!("a column {wanted:?}; did you mean that by {:?}?", shortened(near));
        self.error(place(near), found, &advice)
    }

    fn error(&self, index: usize, found: String, expected: &str) -> Error {
        let at = self.positions(&self.record, &[index]).next();
        let at = at.expect("invariant: each column has a place");
        Error::Input { at, found, expected: expected.into() }
    }

    /// The places at which the fields of `record` with those indices, which ascend, begin. Each is sought from
    /// the one before it, so that all together take one pass over the row.
    pub fn positions(
        &self,
        record: &ByteRecord,
        indices: &[usize],
    ) -> impl Iterator<Item = Position> {
        let mut offset = start(self.source, record);
        let mut at = self.source.position(offset);
        let mut fields = 0;
        let mut quoted = false;
        let is_blank = |letter| letter == ' ' || letter == '\t' && self.separator != '\t';
        indices.iter().map(move |&index| {
            let rest = &self.source.text[offset..];
            let field = rest.find(|letter: char| {
                if fields == index && !is_blank(letter) {
                    return true;
                }
                quoted ^= letter == '"';
                fields += usize::from(letter == self.separator && !quoted);
                at.place = at.place.behind(letter);
                false
            });
            offset += field.unwrap_or(rest.len());
            at.clone()
        })
    }
}

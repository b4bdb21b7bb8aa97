//! Columns in expressions, which may have any names.

use crate::sheet::Sheet;

/// An expression over the columns of a table, each called by a name that an expression can have.
pub(crate) struct Variables {
    /// The expression.
    pub text: String,
    /// What it calls the columns that it uses.
    pub names: Vec<String>,
    /// Where these columns are.
    pub places: Vec<usize>,
}

impl Variables {
    /// The columns are found by their names as they stand, the longest first: `cores/MPI ranks`; but for
    /// names that mean something else.
    pub fn of(text: &str, sheet: &Sheet<'_>, other: &[&str]) -> Self {
        let is_meant = |&place: &usize| !other.contains(&sheet.columns[place].name.as_str());
        let mut columns: Vec<usize> = (0..sheet.columns.len()).filter(is_meant).collect();
        columns.sort_by_key(|&place| std::cmp::Reverse(sheet.columns[place].name.len()));
        let (mut plain, mut rest, mut before) = (String::new(), text, None);
        let (mut names, mut places) = (Vec::new(), Vec::new());
        while let Some(letter) = rest.chars().next() {
            let begins = |place: &&usize| {
                let name = sheet.columns[**place].name.as_str();
                let next = rest.strip_prefix(name).map(|behind| behind.chars().next());
                let joins = |one: Option<char>, other: Option<char>| {
                    one.is_some_and(is_of_name) && other.is_some_and(is_of_name)
                };
                let is_whole =
                    |next| !joins(before, Some(letter)) && !joins(name.chars().next_back(), next);
                next.is_some_and(is_whole)
            };
            let Some(&place) = columns.iter().find(begins) else {
                plain.push(letter);
                (before, rest) = (Some(letter), &rest[letter.len_utf8()..]);
                continue;
            };
            let name = format!("column_{place}_");
            plain += &name;
            if !places.contains(&place) {
                names.push(name);
                places.push(place);
            }
            (before, rest) = (Some('_'), &rest[sheet.columns[place].name.len()..]);
        }
        Self { text: plain, names, places }
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

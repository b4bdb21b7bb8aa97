//! From the text of a listing to statements, and through one statement from left to right.

use mmgp_base::error::Error;
use mmgp_base::table::Source;

/// What is wrong with a listing, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The byte at which it stands.
    pub(super) offset: usize,
    pub(super) found: String,
    pub(super) expected: String,
}

impl Mistake {
    pub(super) fn new(
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { offset, found: found.into(), expected: expected.into() }
    }

    pub(super) fn in_source(self, source: &Source) -> Error {
        let Self { offset, found, expected } = self;
        Error::Input { at: source.position(offset), found, expected }
    }
}

pub(super) type Parsed<T> = Result<T, Mistake>;

/// A statement: where it begins and ends, and its line counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: u64,
}

/// The text without its comments, every byte in its place, and the statements in it.
///
/// Comments reach from `#` or `//` to the end of the line or stand between `/*` and `*/`; a
/// statement ends with its line or at `;`. In strings and character constants none of these means
/// anything.
pub(super) fn statements(text: &str) -> Parsed<(String, Vec<Statement>)> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        start: 0,
        clean: Vec::with_capacity(text.len()),
        statements: Vec::new(),
    };
    scanner.run()?;
    let clean = String::from_utf8(scanner.clean);
    // Comments are replaced byte by byte and whole, quotes and separators are ASCII.
    let clean = clean.expect("invariant: a text without its comments is as much UTF-8 as with");
    Ok((clean, scanner.statements))
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    line: u64,
    /// Offset at which the current statement begins.
    start: usize,
    clean: Vec<u8>,
    statements: Vec<Statement>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Parsed<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match (byte, self.bytes.get(self.at + 1)) {
                (b'\n', _) => {
                    self.end_statement();
                    self.line += 1;
                }
                (b';', _) => self.end_statement(),
                (b'#', _) | (b'/', Some(b'/')) => self.blank_until(|rest| rest[0] == b'\n'),
                (b'/', Some(b'*')) => self.block_comment()?,
                (b'"', _) => self.string()?,
                (b'\'', _) => self.character(),
                _ => self.keep(1),
            }
        }
        self.end_statement();
        Ok(())
    }

    /// Ends the statement at the separator that comes next.
    fn end_statement(&mut self) {
        self.statements.push(Statement { start: self.start, end: self.at, line: self.line });
        self.keep(1);
        self.start = self.at;
    }

    fn keep(&mut self, count: usize) {
        let end = self.bytes.len().min(self.at + count);
        self.clean.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
    }

    fn blank_until(&mut self, ends: impl Fn(&[u8]) -> bool) {
        while self.at < self.bytes.len() && !ends(&self.bytes[self.at..]) {
            self.clean.push(b' ');
            self.at += 1;
        }
    }

    /// A comment over several lines is one blank: the statement goes on behind it.
    fn block_comment(&mut self) -> Parsed<()> {
        let opened = self.at;
        self.clean.extend(b"  ");
        self.at += 2;
        self.blank_until(|rest| rest.starts_with(b"*/"));
        if self.at == self.bytes.len() {
            return Err(Mistake::new(opened, "a comment without an end", "`*/` after it"));
        }
        self.clean.extend(b"  ");
        self.at += 2;
        let newlines = self.bytes[opened..self.at].iter().filter(|&&byte| byte == b'\n').count();
        let is_first = self.clean[self.start..].iter().all(u8::is_ascii_whitespace);
        self.line += newlines as u64;
        if is_first {
            self.start = self.at;
        }
        Ok(())
    }

    fn string(&mut self) -> Parsed<()> {
        let opened = self.at;
        self.keep(1);
        loop {
            match self.bytes.get(self.at) {
                None | Some(b'\n') => {
                    return Err(Mistake::new(opened, "a string without an end", "`\"` after it"));
                }
                Some(b'\\') => self.keep(2),
                Some(b'"') => {
                    self.keep(1);
                    return Ok(());
                }
                Some(_) => self.keep(1),
            }
        }
    }

    /// `'x`, with or without a quote behind it, and `'\n`.
    fn character(&mut self) {
        self.keep(1);
        match self.bytes.get(self.at) {
            None | Some(b'\n') => return,
            Some(b'\\') => self.keep(2),
            Some(_) => self.keep(1),
        }
        if self.bytes.get(self.at) == Some(&b'\'') {
            self.keep(1);
        }
    }
}

/// A place in a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'t> {
    /// The whole text without comments.
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, statement: Statement) -> Self {
        let mut cursor = Self { text, at: statement.start, end: statement.end };
        cursor.skip_blanks();
        cursor
    }

    /// The byte at which it stands.
    pub(super) const fn offset(&self) -> usize {
        self.at
    }

    /// What is left of the statement.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The text between an earlier place and this one, without the blanks at its end.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text[start..self.at].trim_end()
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Goes over `token` and the blanks behind it, if it comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len();
            self.skip_blanks();
        }
        is_next
    }

    /// Goes over the letters that fit.
    pub(super) fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|letter| !fits(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Goes over one letter.
    pub(super) fn take_letter(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// A name of letters, digits, `_`, `.` and `$` that begins with none of the digits, and the
    /// blanks behind it.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        let starts = |letter: char| letter.is_ascii_alphabetic() || "_.".contains(letter);
        self.peek().filter(|&letter| starts(letter))?;
        let name =
            self.take_while(|letter| starts(letter) || letter.is_ascii_digit() || letter == '$');
        self.skip_blanks();
        Some(name)
    }

    /// What stands here, for a message.
    pub(super) fn found(&self) -> String {
        let mut ahead = *self;
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_.$@".contains(letter);
        match ahead.take_while(is_word) {
            "" => ahead.peek().map_or("the end of the statement".into(), |it| format!("`{it}`")),
            word => format!("`{word}`"),
        }
    }

    /// Complains about what stands here.
    pub(super) fn expected(&self, expected: impl Into<String>) -> Mistake {
        Mistake::new(self.at, self.found(), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a text, each with its line, without those that are empty.
    fn check(text: &str, expected: &[(u64, &str)]) {
        let (clean, statements) = statements(text).expect("it is well-formed");
        assert_eq!(clean.len(), text.len());
        let found: Vec<(u64, &str)> = statements
            .iter()
            .map(|it| (it.line, clean[it.start..it.end].trim()))
            .filter(|(_, statement)| !statement.is_empty())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn statements_end_with_their_line_or_at_a_semicolon() {
        check("a 1; b 2\n\nc 3", &[(1, "a 1"), (1, "b 2"), (3, "c 3")]);
        check("a\r\nb\r\n", &[(1, "a"), (2, "b")]);
    }

    #[test]
    fn comments_are_blank_and_keep_everything_in_its_place() {
        check("# µ; x\na 1 # b; c\n", &[(2, "a 1")]);
        check("a 8/2 // b\nc /* d; \" */ e", &[(1, "a 8/2"), (2, "c            e")]);
        check("/* a\n b\n*/ c; d", &[(3, "c"), (3, "d")]);
    }

    #[test]
    fn separators_and_comments_mean_nothing_within_quotes() {
        check(".ascii \"a;\\\"#//\"; b", &[(1, ".ascii \"a;\\\"#//\""), (1, "b")]);
        check("il $3,'#\nil $3,';'; b", &[(1, "il $3,'#"), (2, "il $3,';'"), (2, "b")]);
    }

    #[test]
    fn what_is_opened_must_be_closed() {
        let mistake = |text| statements(text).expect_err("it is not closed");
        assert_eq!(
            mistake("a\n/* b\n"),
            Mistake::new(2, "a comment without an end", "`*/` after it")
        );
        assert_eq!(
            mistake(".ascii \"b\nc\""),
            Mistake::new(7, "a string without an end", "`\"` after it")
        );
    }
}

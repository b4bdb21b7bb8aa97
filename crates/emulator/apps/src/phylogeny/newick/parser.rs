//! The nodes of a Newick text as they stand, before anything is asked of their shape.

use super::error;
use mmgp_base::error::Result;
use mmgp_base::table::Source;

/// What ends a name or a number that is not quoted, beside blanks.
pub(super) const ENDS_NAME: &str = "()[],:;";

/// A node of the text.
#[derive(Debug)]
pub(super) struct Node {
    /// The name or label, without quotes; may be empty.
    pub name: String,
    /// Length of the branch above it, finite and not negative.
    pub length: Option<f64>,
    /// The children, by index.
    pub children: Vec<usize>,
    /// The byte at which it begins.
    pub offset: usize,
    /// The byte after its name, where a length would begin.
    pub end: usize,
}

/// All nodes of a text, in the order in which they begin; the outermost is the first.
#[derive(Debug)]
pub(super) struct Parsed {
    pub nodes: Vec<Node>,
}

impl Parsed {
    /// The nodes without children, in the order of the text.
    pub fn tips(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.children.is_empty())
    }

    /// Parses `source`, which must hold one tree and nothing else.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser { source, offset: 0 };
        let mut nodes: Vec<Node> = Vec::new();
        // The nodes whose parenthesis is not closed yet, the innermost on top: the text may nest
        // deeper than a call stack.
        let mut open: Vec<usize> = Vec::new();
        parser.skip_blanks()?;
        if parser.peek() != Some('(') {
            return Err(parser.unexpected("a tree: `(`"));
        }
        loop {
            parser.skip_blanks()?;
            let index = nodes.len();
            let start = parser.offset;
            if let Some(&parent) = open.last() {
                nodes[parent].children.push(index);
            }
            nodes.push(Node {
                name: String::new(),
                length: None,
                children: Vec::new(),
                offset: start,
                end: start,
            });
            if parser.take('(') {
                open.push(index);
                continue;
            }
            parser.finish(&mut nodes[index])?;
            while !parser.take(',') {
                if !parser.take(')') {
                    return Err(parser.unexpected("`,` or `)`"));
                }
                let closed = open.pop().expect("invariant: the loop ends with the outermost");
                parser.finish(&mut nodes[closed])?;
                if open.is_empty() {
                    return parser.end().map(|()| Self { nodes });
                }
            }
        }
    }
}

struct Parser<'a> {
    source: &'a Source,
    offset: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.source.text[self.offset..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.offset += wanted.len_utf8();
        }
        found
    }

    /// Skips blanks and comments, which may nest.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            self.offset += self.rest().len() - self.rest().trim_start().len();
            if self.peek() != Some('[') {
                return Ok(());
            }
            let mut depth = 0_usize;
            let end = self.rest().find(|c| {
                match c {
                    '[' => depth += 1,
                    ']' => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            match end {
                Some(end) => self.offset += end + 1,
                None => {
                    let found = "a comment that does not end";
                    return Err(error(self.source, self.offset, found, "`]`"));
                }
            }
        }
    }

    /// What follows a tip's start or a closed parenthesis: a name and a length, either of which
    /// may be missing.
    fn finish(&mut self, node: &mut Node) -> Result<()> {
        self.skip_blanks()?;
        node.name = self.name()?;
        node.end = self.offset;
        self.skip_blanks()?;
        if self.take(':') {
            self.skip_blanks()?;
            node.length = Some(self.length()?);
            self.skip_blanks()?;
        }
        Ok(())
    }

    fn name(&mut self) -> Result<String> {
        let start = self.offset;
        if !self.take('\'') {
            return Ok(self.word().to_string());
        }
        let mut name = String::new();
        loop {
            let Some(quote) = self.rest().find('\'') else {
                return Err(error(self.source, start, "a quote that does not end", "`'`"));
            };
            name.push_str(&self.rest()[..quote]);
            self.offset += quote + 1;
            // Two quotes in a row stand for one within the name.
            if !self.take('\'') {
                return Ok(name);
            }
            name.push('\'');
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || ENDS_NAME.contains(c);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.offset += word.len();
        word
    }

    fn length(&mut self) -> Result<f64> {
        let start = self.offset;
        let word = self.word();
        let expected = match word.parse::<f64>() {
            Ok(length) if length.is_finite() && length >= 0.0 => return Ok(length),
            Ok(_) => "a finite length of 0 or more",
            Err(_) => "a branch length",
        };
        Err(error(self.source, start, format!("{word:?}"), expected))
    }

    /// The semicolon, and nothing but blanks after it.
    fn end(&mut self) -> Result<()> {
        if !self.take(';') {
            return Err(self.unexpected("`;`"));
        }
        self.skip_blanks()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("nothing after the tree")),
        }
    }

    fn unexpected(&self, expected: &str) -> mmgp_base::error::Error {
        let found = match self.peek() {
            Some(character) => format!("{character:?}"),
            None => "the end of the text".into(),
        };
        error(self.source, self.offset, found, expected)
    }
}

//! Alignments of nucleotide sequences.

mod formats;

use std::collections::BTreeMap;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

/// The code of a residue of which nothing is known: gap, `?`, `N`, `X`, `.` or `O`.
pub const UNDETERMINED: u8 = 15;

/// The letter written for each code: the bits of A, C, G and T from the lowest.
const LETTERS: &[u8; 16] = b"?ACMGRSVTWYHKDB-";

/// Sequences of equal length, one for each taxon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// The taxa's names, not empty and all different.
    pub names: Vec<String>,
    /// The residues of each taxon as sets of nucleotides: A = 1, C = 2, G = 4, T = 8, the IUPAC
    /// ambiguity codes as sums of these, and [`UNDETERMINED`] = 15. All rows have one length.
    pub rows: Vec<Vec<u8>>,
}

impl Alignment {
    /// Number of sequences.
    pub fn taxa(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns.
    pub fn sites(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// Reads FASTA, where the first character that is not blank is `>`, or else PHYLIP.
    ///
    /// FASTA: a name is the first word after `>`; blanks within sequences are skipped.
    ///
    /// PHYLIP: the header holds the numbers of taxa and sites and nothing else. Blanks within
    /// sequences and empty lines are skipped. The format does not say of itself which of its
    /// variants it is; the first of these readings that fits every count wins:
    /// 1. relaxed (a name ends at the first blank), sequential (a sequence is complete before the
    ///    next one begins);
    /// 2. relaxed, interleaved (blocks of one line for each taxon, names in the first block only);
    /// 3. strict (a name is the first ten characters of its line), sequential;
    /// 4. strict, interleaved.
    ///
    /// # Errors
    /// `Input` with the place of the first mistake. Where no reading of a PHYLIP file fits, it is
    /// the mistake in the likeliest: interleaved where the lines divide evenly among the taxa, and
    /// strict where its first line is nearer to the stated number of sites that way.
    pub fn read(source: &Source) -> Result<Self> {
        match source.text.trim_start().chars().next() {
            None => {
                let expected = "an alignment in FASTA or PHYLIP format";
                Err(source.error(source.text.len(), "an empty file", expected))
            }
            Some('>') => formats::read_fasta(source),
            Some(_) => formats::read_phylip(source),
        }
    }

    /// The text of a relaxed, sequential PHYLIP file, a line for each taxon. Blanks within names
    /// become `_`, undetermined residues `-`.
    pub fn to_phylip(&self) -> String {
        let mut text = format!("{} {}\n", self.taxa(), self.sites());
        for (name, row) in self.names.iter().zip(&self.rows) {
            text.extend(name.chars().map(|c| if c.is_whitespace() { '_' } else { c }));
            text.push(' ');
            text.extend(row.iter().map(|&code| char::from(LETTERS[usize::from(code)])));
            text.push('\n');
        }
        text
    }
}

/// The set of nucleotides that a letter stands for, upper or lower case.
fn code(letter: char) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        'U' => Some(8),
        '?' | 'N' | 'X' | 'O' | '.' => Some(UNDETERMINED),
        other => {
            LETTERS.iter().position(|&known| char::from(known) == other).map(|code| code as u8)
        }
    }
}

/// The sequences of a file as they are gathered, with the checks common to all formats.
struct Gathered<'a> {
    source: &'a Source,
    alignment: Alignment,
    seen: BTreeMap<&'a str, usize>,
}

impl<'a> Gathered<'a> {
    fn new(source: &'a Source) -> Self {
        let alignment = Alignment { names: Vec::new(), rows: Vec::new() };
        Self { source, alignment, seen: BTreeMap::new() }
    }

    /// Begins the next sequence; `name` stands at byte `offset`.
    fn begin(&mut self, name: &'a str, offset: usize) -> Result<()> {
        if name.is_empty() {
            return Err(self.error(offset, "an empty name", "the name of a taxon"));
        }
        if let Some(first) = self.seen.insert(name, offset) {
            let line = self.source.position(first).line;
            let found = format!("the name {name:?} a second time");
            return Err(self.error(offset, found, format!("a name unlike that of line {line}")));
        }
        self.alignment.names.push(name.to_string());
        self.alignment.rows.push(Vec::new());
        Ok(())
    }

    /// Appends the residues in `text`, which stands at byte `offset`, to a taxon's sequence, which
    /// may not become longer than `sites`.
    fn append(&mut self, taxon: usize, text: &str, offset: usize, sites: usize) -> Result<()> {
        for (index, letter) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let Some(code) = code(letter) else {
                let found = format!("the character {letter:?}");
                return Err(self.error(offset + index, found, "a nucleotide"));
            };
            if self.alignment.rows[taxon].len() == sites {
                let found = format!("more characters for {:?}", self.alignment.names[taxon]);
                return Err(self.error(offset + index, found, format!("{sites}")));
            }
            self.alignment.rows[taxon].push(code);
        }
        Ok(())
    }

    /// Refuses a sequence that is not of the length `expected`; it ends before byte `offset`.
    fn expect_length(
        &self,
        taxon: usize,
        expected: usize,
        offset: usize,
        reason: &str,
    ) -> Result<()> {
        let length = self.alignment.rows[taxon].len();
        if length == expected {
            return Ok(());
        }
        let found = format!("{length} characters for {:?}", self.alignment.names[taxon]);
        Err(self.error(offset, found, format!("{expected} {reason}")))
    }

    fn error(&self, offset: usize, found: impl Into<String>, expected: impl Into<String>) -> Error {
        let at = self.source.position(offset);
        Error::Input { at, found: found.into(), expected: expected.into() }
    }
}

/// A line that is not blank, without its line break, and the byte at which it begins.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Line<'a> {
    fn all(source: &'a Source) -> Vec<Self> {
        let mut offset = 0;
        let mut lines = Vec::new();
        for text in source.text.split_inclusive('\n') {
            if !text.trim().is_empty() {
                lines.push(Self { text: text.trim_end(), offset });
            }
            offset += text.len();
        }
        lines
    }

    /// The first word, and the rest of the line.
    fn split_word(self) -> (Self, Self) {
        let start = self.text.len() - self.text.trim_start().len();
        let end =
            self.text[start..].find(char::is_whitespace).map_or(self.text.len(), |e| e + start);
        (self.part(start, end), self.part(end, self.text.len()))
    }

    fn part(self, start: usize, end: usize) -> Self {
        Self { text: &self.text[start..end], offset: self.offset + start }
    }

    /// The byte after the last.
    fn end(self) -> usize {
        self.offset + self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_the_nucleotide_code_is_the_set_that_the_iupac_gives_it() {
        // Nomenclature Committee of the IUB 1984, table 1.
        for (letter, set) in [
            ('R', "AG"),
            ('Y', "CT"),
            ('W', "AT"),
            ('S', "CG"),
            ('M', "AC"),
            ('K', "GT"),
            ('H', "ACT"),
            ('B', "CGT"),
            ('V', "ACG"),
            ('D', "AGT"),
            ('N', "ACGT"),
            ('T', "T"),
            ('U', "T"),
            ('-', "ACGT"),
            ('?', "ACGT"),
            ('X', "ACGT"),
            ('O', "ACGT"),
            ('.', "ACGT"),
        ] {
            let sum = set.chars().map(|base| 1 << "ACGT".find(base).unwrap()).sum::<u8>();
            assert_eq!(code(letter), Some(sum), "{letter}");
            assert_eq!(code(letter.to_ascii_lowercase()), Some(sum), "{letter}");
        }
        assert_eq!(code('E'), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let alignment = Alignment {
            names: vec!["one".into(), "two".into()],
            rows: vec![(1..16).collect(), (1..16).rev().collect()],
        };
        let text = alignment.to_phylip();
        assert_eq!(text, "2 15\none ACMGRSVTWYHKDB-\ntwo -BDKHYWTVSRGMCA\n");
        assert_eq!(Alignment::read(&Source::new("x.phy", &text)).unwrap(), alignment);
    }

    #[test]
    fn an_empty_file_is_refused() {
        let error = Alignment::read(&Source::new("x.phy", " \n")).unwrap_err();
        let message =
            "x.phy:2:1: found an empty file, expected an alignment in FASTA or PHYLIP format";
        assert_eq!(error.to_string(), message);
    }
}

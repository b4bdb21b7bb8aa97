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
            let first = self.source.position(first).place;
            let found = format!("the name {name:?} a second time");
            return Err(self.error(offset, found, format!("a name unlike that of {first}")));
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

/// The least empirical frequency of a state.
const LEAST_FREQUENCY: f64 = 1e-3;

/// The iteration of frequencies has converged where none changes by more than this.
const SETTLED: f64 = 1e-12;

/// The site patterns of an alignment. Sites evolve independently, so equal columns have equal
/// likelihoods, and a kernel computes one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns {
    /// The code of each taxon's residue in every pattern, as in [`Alignment::rows`].
    pub tips: Vec<Vec<u8>>,
    /// The number of columns that show each pattern, at least 1.
    pub weights: Vec<u32>,
    /// The pattern of each column of the alignment; none for a column without any determined
    /// residue, whose likelihood is 1 whatever the tree.
    pub of_site: Vec<Option<usize>>,
}

impl Patterns {
    /// Compresses the columns, compared by their codes. Patterns come in the order of their first
    /// column; columns without any determined residue are dropped, so there may be none at all.
    pub fn compress(alignment: &Alignment) -> Self {
        let mut tips = vec![Vec::new(); alignment.taxa()];
        let mut weights = Vec::new();
        let mut index_of = BTreeMap::new();
        let mut of_site = Vec::with_capacity(alignment.sites());
        for site in 0..alignment.sites() {
            let column: Vec<u8> = alignment.rows.iter().map(|row| row[site]).collect();
            if column.iter().all(|&code| code == UNDETERMINED) {
                of_site.push(None);
                continue;
            }
            let next = weights.len();
            let index = *index_of.entry(column).or_insert_with_key(|column: &Vec<u8>| {
                for (tip, &code) in tips.iter_mut().zip(column) {
                    tip.push(code);
                }
                weights.push(0);
                next
            });
            weights[index] += 1;
            of_site.push(Some(index));
        }
        Self { tips, weights, of_site }
    }

    /// Empirical frequencies of A, C, G, T, of sum 1: every determined residue counts 1, an
    /// ambiguous one is shared among its states in the proportion of the frequencies, which is
    /// iterated until they converge; undetermined ones do not count. No frequency is below 0.001, so
    /// that a state that never occurs has a rate; without any determined residue all are equal.
    pub(crate) fn frequencies(&self) -> [f64; 4] {
        let mut counts = [0_u64; 16];
        for codes in &self.tips {
            for (&code, &weight) in codes.iter().zip(&self.weights) {
                counts[usize::from(code)] += u64::from(weight);
            }
        }
        counts[usize::from(UNDETERMINED)] = 0;
        let total: u64 = counts.iter().sum();
        let mut frequencies = [0.25; 4];
        if total == 0 {
            return frequencies;
        }
        loop {
            let mut shares = [0.0; 4];
            for (code, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let allowed = |state: &usize| code >> state & 1 == 1;
                let sum: f64 = (0..4).filter(allowed).map(|state| frequencies[state]).sum();
                for state in (0..4).filter(allowed) {
                    shares[state] += count as f64 * frequencies[state] / sum;
                }
            }
            let next = floored(shares.map(|share| share / total as f64));
            let moved = |(one, other): (&f64, &f64)| (one - other).abs() > SETTLED;
            if !next.iter().zip(&frequencies).any(moved) {
                return next;
            }
            frequencies = next;
        }
    }

    /// Number of distinct patterns.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether no column had a determined residue.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

/// Frequencies of at least [`LEAST_FREQUENCY`] and of sum 1.
fn floored(frequencies: [f64; 4]) -> [f64; 4] {
    let lifted = frequencies.map(|frequency| frequency.max(LEAST_FREQUENCY));
    let sum: f64 = lifted.iter().sum();
    lifted.map(|frequency| frequency / sum)
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

#[cfg(test)]
mod patterns_tests {
    use std::collections::BTreeSet;

    use approx::assert_abs_diff_eq;

    use super::super::tests::{SIM12, SIM24, patterns, shared_data};
    use super::*;

    #[test]
    fn equal_columns_become_one_and_undetermined_ones_none() {
        let alignment = Alignment {
            names: vec!["a".into(), "b".into()],
            rows: vec![vec![8, 1, 15, 8, 1], vec![2, 15, 15, 2, 1]],
        };
        let patterns = Patterns::compress(&alignment);
        assert_eq!(patterns.tips, [[8, 1, 1], [2, 15, 1]]);
        assert_eq!(patterns.weights, [2, 1, 1]);
        assert_eq!(patterns.of_site, [Some(0), Some(1), None, Some(0), Some(2)]);
    }

    fn check_frequencies(rows: [Vec<u8>; 2], expected: [f64; 4]) {
        let names = vec!["a".into(), "b".into()];
        let alignment = Alignment { names, rows: rows.into() };
        let found = Patterns::compress(&alignment).frequencies();
        for (found, expected) in found.iter().zip(expected) {
            assert_abs_diff_eq!(*found, expected, epsilon = 1e-9);
        }
    }

    #[test]
    fn frequencies_share_what_is_ambiguous_in_their_own_proportion() {
        // A, A, A, C, G, T and gaps
        check_frequencies(
            [vec![1, 1, 1, 15], vec![2, 4, 8, 15]],
            [0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0],
        );
        // A, A, C, G, T and one of A or C: a = (2 + a / (a + c)) / 6 and c = (1 + c / (a + c)) / 6,
        // so a = 2 c = 2 (1 + 1/3) / 6.
        check_frequencies(
            [vec![1, 1, 2], vec![4, 8, 3]],
            [4.0 / 9.0, 2.0 / 9.0, 1.0 / 6.0, 1.0 / 6.0],
        );
        check_frequencies([vec![15; 2], vec![15; 2]], [0.25; 4]);
        // A state that does not occur
        let sum = 1.001;
        check_frequencies(
            [vec![1, 2], vec![1, 4]],
            [0.5 / sum, 0.25 / sum, 0.25 / sum, 0.001 / sum],
        );
    }

    #[test]
    fn shipped_alignments_have_as_many_patterns_as_different_columns() {
        for [text, _] in [SIM12, SIM24] {
            // By lines of text: the name is one word, and no column is without a residue.
            let rows: Vec<&[u8]> = text
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(' '))
                .map(|(_, row)| row.trim().as_bytes())
                .collect();
            let columns: BTreeSet<Vec<u8>> =
                (0..rows[0].len()).map(|site| rows.iter().map(|row| row[site]).collect()).collect();
            assert_eq!(patterns(text).len(), columns.len());
        }
    }

    #[test]
    fn real_alignments_have_the_published_number_of_patterns() {
        for (name, taxa, sites, count) in [
            ("hypo42", 42, 1167, 228),
            ("brown41", 41, 1665, 1075),
            ("cognato44", 44, 1897, 800),
            ("devitt69", 69, 823, 78),
            ("dornburg40", 40, 5000, 1420),
            ("leache10_50k", 10, 50_000, 2594),
        ] {
            let Some(source) = shared_data(&format!("{name}.phy")) else { return };
            let alignment = Alignment::read(&source).unwrap();
            assert_eq!((alignment.taxa(), alignment.sites()), (taxa, sites), "{name}");
            assert_eq!(Patterns::compress(&alignment).len(), count, "{name}");
        }
    }
}

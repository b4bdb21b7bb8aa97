//! Alignments in text: PHYLIP and FASTA.

use super::{Alignment, Gathered, Line};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

/// The width of a strict name [characters].
const STRICT_NAME: usize = 10;

/// The end of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Names {
    /// The first blank.
    Relaxed,
    /// Ten characters.
    Strict,
}

impl Names {
    /// The name at the start of a line, and what follows it.
    fn split(self, line: Line<'_>) -> (Line<'_>, Line<'_>) {
        match self {
            Self::Relaxed => line.split_word(),
            Self::Strict => {
                let tenth = line.text.char_indices().nth(STRICT_NAME);
                let end = tenth.map_or(line.text.len(), |(index, _)| index);
                let name = line.part(0, end);
                let blanks = match name.text.trim_start() {
                    "" => 0,
                    text => name.text.len() - text.len(),
                };
                let name = name.part(blanks, blanks + name.text.trim().len());
                (name, line.part(end, line.text.len()))
            }
        }
    }
}

/// The order in which the lines of the sequences come.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Layout {
    Sequential,
    Interleaved,
}

/// What the first line states.
#[derive(Debug, Clone, Copy)]
struct Header {
    taxa: usize,
    sites: usize,
}

pub(super) fn read_phylip(source: &Source) -> Result<Alignment> {
    let lines = Line::all(source);
    let (first, lines) = lines.split_first().expect("invariant: the file is not empty");
    let header = read_header(source, *first)?;
    let likeliest = likeliest_reading(header, lines);
    let mut likeliest_error = None;
    for names in [Names::Relaxed, Names::Strict] {
        for layout in [Layout::Sequential, Layout::Interleaved] {
            let result = match layout {
                Layout::Sequential => read_sequential(source, header, names, lines),
                Layout::Interleaved => read_interleaved(source, header, names, lines),
            };
            match result {
                Ok(alignment) => return Ok(alignment),
                Err(error) if (names, layout) == likeliest => likeliest_error = Some(error),
                Err(_) => {}
            }
        }
    }
    Err(likeliest_error.expect("invariant: the likeliest reading is one of the four"))
}

fn read_header(source: &Source, line: Line<'_>) -> Result<Header> {
    let numbers: Vec<Option<usize>> = line
        .text
        .split_whitespace()
        .map(|word| word.parse().ok().filter(|&number| number > 0))
        .collect();
    match numbers[..] {
        [Some(taxa), Some(sites)] => Ok(Header { taxa, sites }),
        _ => {
            // A line may be a whole sequence; the message shows enough of it to be recognised.
            let shown: String = line.text.trim().chars().take(40).collect();
            let expected = "a PHYLIP header, the numbers of taxa and of sites, or FASTA";
            Err(source.error(line.offset, format!("{shown:?}"), expected))
        }
    }
}

fn likeliest_reading(header: Header, lines: &[Line<'_>]) -> (Names, Layout) {
    let layout = match lines.len() % header.taxa {
        0 => Layout::Interleaved,
        _ => Layout::Sequential,
    };
    let distance = |names: Names| {
        lines.first().map_or(0, |&line| {
            let (_, residues) = names.split(line);
            let count = residues.text.chars().filter(|c| !c.is_whitespace()).count();
            count.abs_diff(header.sites)
        })
    };
    let strict_is_nearer = distance(Names::Strict) < distance(Names::Relaxed);
    (if strict_is_nearer { Names::Strict } else { Names::Relaxed }, layout)
}

fn read_sequential(
    source: &Source,
    header: Header,
    names: Names,
    lines: &[Line<'_>],
) -> Result<Alignment> {
    let Header { taxa, sites } = header;
    let mut gathered = Gathered::new(source);
    let mut lines = lines.iter().copied();
    for taxon in 0..taxa {
        let line = lines.next().ok_or_else(|| too_few(&gathered, taxa))?;
        let (name, residues) = names.split(line);
        gathered.begin(name.text, name.offset)?;
        gathered.append(taxon, residues.text, residues.offset, sites)?;
        let mut end = line.end();
        while gathered.alignment.rows[taxon].len() < sites {
            let Some(line) = lines.next() else { break };
            gathered.append(taxon, line.text, line.offset, sites)?;
            end = line.end();
        }
        gathered.expect_length(taxon, sites, end, "as in the header")?;
    }
    match lines.next() {
        None => Ok(gathered.alignment),
        Some(line) => {
            let expected = format!("{taxa} sequences as in the header");
            Err(gathered.error(line.offset, "a further line", expected))
        }
    }
}

fn read_interleaved(
    source: &Source,
    header: Header,
    names: Names,
    lines: &[Line<'_>],
) -> Result<Alignment> {
    let Header { taxa, sites } = header;
    let mut gathered = Gathered::new(source);
    for (index, &line) in lines.iter().enumerate() {
        let taxon = index % taxa;
        let residues = if index < taxa {
            let (name, residues) = names.split(line);
            gathered.begin(name.text, name.offset)?;
            residues
        } else {
            line
        };
        gathered.append(taxon, residues.text, residues.offset, sites)?;
        // In the last block all lengths are known from the header, before that from the first
        // line of the block.
        if index + taxa >= lines.len() {
            gathered.expect_length(taxon, sites, line.end(), "as in the header")?;
        } else {
            let in_block = gathered.alignment.rows[0].len();
            gathered.expect_length(taxon, in_block, line.end(), "as in the block's first line")?;
        }
    }
    if lines.len() < taxa {
        return Err(too_few(&gathered, taxa));
    }
    if !lines.len().is_multiple_of(taxa) {
        let found = format!("{} lines in the last block", lines.len() % taxa);
        return Err(gathered.error(source.text.len(), found, format!("{taxa}")));
    }
    Ok(gathered.alignment)
}

fn too_few(gathered: &Gathered<'_>, taxa: usize) -> Error {
    let found = format!("the end after {} of the sequences", gathered.alignment.names.len());
    gathered.error(gathered.source.text.len(), found, format!("{taxa} as in the header"))
}

pub(super) fn read_fasta(source: &Source) -> Result<Alignment> {
    let mut gathered = Gathered::new(source);
    let mut end_of_last = 0;
    for line in Line::all(source) {
        let taxa = gathered.alignment.names.len();
        match line.text.trim_start().strip_prefix('>') {
            Some(title) => {
                check_length(&gathered, end_of_last)?;
                let title = line.part(line.text.len() - title.len(), line.text.len());
                let (name, _) = title.split_word();
                gathered.begin(name.text, name.offset)?;
            }
            None => gathered.append(taxa - 1, line.text, line.offset, usize::MAX)?,
        }
        end_of_last = line.end();
    }
    check_length(&gathered, end_of_last)?;
    Ok(gathered.alignment)
}

/// Refuses a last sequence that is empty or not as long as the first; it ends before byte `end`.
fn check_length(gathered: &Gathered<'_>, end: usize) -> Result<()> {
    let rows = &gathered.alignment.rows;
    let Some(last) = rows.len().checked_sub(1) else { return Ok(()) };
    if rows[last].is_empty() {
        let found = format!("no sequence for {:?}", gathered.alignment.names[last]);
        return Err(gathered.error(end, found, "nucleotides"));
    }
    gathered.expect_length(last, rows[0].len(), end, "as in the first sequence")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: [&str; 2], rows: [&str; 2]) {
        let alignment = Alignment::read(&Source::new("x.phy", text)).unwrap();
        assert_eq!(alignment.names, names);
        let sites = rows[0].len();
        let expected = format!("2 {sites}\n{} {}\n{} {}\n", names[0], rows[0], names[1], rows[1]);
        assert_eq!(alignment.to_phylip(), expected.replace("  ", " "));
    }

    #[test]
    fn relaxed_sequential_files_are_read() {
        check("2 4\na ACGT\nlong_name_of_b TG CA\n", ["a", "long_name_of_b"], ["ACGT", "TGCA"]);
        check(" 2  4\n\na  AC\n GT\nb\n  TG\n CA", ["a", "b"], ["ACGT", "TGCA"]);
    }

    #[test]
    fn relaxed_interleaved_files_are_read() {
        check("2 6\na ACGT\nb TGCA\n\nAA\nCC\n", ["a", "b"], ["ACGTAA", "TGCACC"]);
    }

    #[test]
    fn strict_names_are_ten_characters_wide() {
        check(
            "2 4\nlong_nam_aACGT\nlong_nam_bTG\nCA\n",
            ["long_nam_a", "long_nam_b"],
            ["ACGT", "TGCA"],
        );
        check(
            "2 6\nturtle    ACGT\nHomosapiensTGCA\nAA\nCC\n"
                .replace("Homosapiens", "Homosapien")
                .as_str(),
            ["turtle", "Homosapien"],
            ["ACGTAA", "TGCACC"],
        );
    }

    #[test]
    fn strict_names_may_hold_blanks() {
        let text = "2 4\nP. pan    ACGT\nH. sapiensTGCA\n";
        let alignment = Alignment::read(&Source::new("x.phy", text)).unwrap();
        assert_eq!(alignment.names, ["P. pan", "H. sapiens"]);
        assert_eq!(alignment.to_phylip(), "2 4\nP._pan ACGT\nH._sapiens TGCA\n");
    }

    fn check_refused(text: &str, message: &str) {
        let error = Alignment::read(&Source::new("x.phy", text)).expect_err("must be refused");
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn a_wrong_header_is_refused() {
        let expected = "expected a PHYLIP header, the numbers of taxa and of sites, or FASTA";
        check_refused("ACGT\nACGT\n", &format!("x.phy:1:1: found \"ACGT\", {expected}"));
        check_refused("2 4 I\na ACGT\n", &format!("x.phy:1:1: found \"2 4 I\", {expected}"));
        check_refused("0 4\n", &format!("x.phy:1:1: found \"0 4\", {expected}"));
        check_refused("2 -4\n", &format!("x.phy:1:1: found \"2 -4\", {expected}"));
    }

    #[test]
    fn a_wrong_count_of_taxa_is_refused() {
        check_refused(
            "2 4\na ACGT\n",
            "x.phy:3:1: found the end after 1 of the sequences, expected 2 as in the header",
        );
        check_refused(
            "2 4\n",
            "x.phy:2:1: found the end after 0 of the sequences, expected 2 as in the header",
        );
        check_refused(
            "2 4\na ACGT\nb ACGT\nc ACGT\n",
            "x.phy:4:1: found a further line, expected 2 sequences as in the header",
        );
    }

    #[test]
    fn a_wrong_length_is_refused() {
        check_refused(
            "2 4\na ACG\nb ACGT\n",
            "x.phy:2:6: found 3 characters for \"a\", expected 4 as in the header",
        );
        check_refused(
            "2 4\na ACGTA\nb ACGT\n",
            "x.phy:2:7: found more characters for \"a\", expected 4",
        );
        check_refused(
            "2 8\na ACGT\nb ACG\nACGT\nACGT\n",
            "x.phy:3:6: found 3 characters for \"b\", expected 4 as in the block's first line",
        );
    }

    #[test]
    fn an_unknown_character_or_a_wrong_name_is_refused() {
        check_refused(
            "2 4\na ACGT\nb AC!T\n",
            "x.phy:3:5: found the character '!', expected a nucleotide",
        );
        check_refused(
            "2 4\na ACGT\na ACGT\n",
            "x.phy:3:1: found the name \"a\" a second time, expected a name unlike that of line 2",
        );
        check_refused(
            "2 4\nlong_nam_aACGT\n          TGCA\n",
            "x.phy:3:1: found an empty name, expected the name of a taxon",
        );
    }
}

#[cfg(test)]
mod fasta_tests {
    use super::*;

    #[test]
    fn names_end_at_a_blank_and_sequences_run_over_lines() {
        let text = ">a first\r\nAC GT\r\n\r\nA\r\n> b\r\nnnnnt\r\n";
        let alignment = Alignment::read(&Source::new("x.fa", text)).unwrap();
        assert_eq!(alignment.names, ["a", "b"]);
        assert_eq!(alignment.rows, [[1, 2, 4, 8, 1], [15, 15, 15, 15, 8]]);
    }

    fn check_refused(text: &str, message: &str) {
        let error = Alignment::read(&Source::new("x.fa", text)).expect_err("must be refused");
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn each_mistake_names_file_line_column_found_and_expected() {
        check_refused(
            ">a\nACGT\n>b\nACG\n>c\nACGT\n",
            "x.fa:4:4: found 3 characters for \"b\", expected 4 as in the first sequence",
        );
        check_refused(
            ">a\nACGT\n>b\nACGTT",
            "x.fa:4:6: found 5 characters for \"b\", expected 4 as in the first sequence",
        );
        check_refused(">a\nACéT\n", "x.fa:2:3: found the character 'é', expected a nucleotide");
        check_refused(">a\n>b\nA\n", "x.fa:1:3: found no sequence for \"a\", expected nucleotides");
        check_refused(
            ">a\nAC\n>a\nAC\n",
            "x.fa:3:2: found the name \"a\" a second time, expected a name unlike that of line 1",
        );
        check_refused(">\nAC\n", "x.fa:1:2: found an empty name, expected the name of a taxon");
    }
}

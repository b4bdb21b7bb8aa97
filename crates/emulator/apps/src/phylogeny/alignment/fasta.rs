//! FASTA: a line `>name ...` before the lines of each sequence.

use super::{Alignment, Gathered, Line};
use mmgp_base::error::Result;
use mmgp_base::table::Source;

pub(super) fn read(source: &Source) -> Result<Alignment> {
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

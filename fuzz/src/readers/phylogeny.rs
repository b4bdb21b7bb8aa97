//! Trees in Newick, alignments in PHYLIP and FASTA.

use mmgp::apps::phylogeny::alignment::Alignment;
use mmgp::apps::phylogeny::newick;
use mmgp::table::Source;

use super::{Kind, Reader, first_unsound, judged};
use crate::mutation::Format;
use crate::target::Outcome;

fn tree(source: &Source) -> Result<Outcome, String> {
    let names: Vec<String> = ["a", "b", "c d", "e"].map(String::from).to_vec();
    judged(newick::read(source, &names), source, |tree| {
        if let Err(error) = tree.check() {
            return Some(format!("no tree was read: {error}"));
        }
        first_unsound(tree.branches().map(|branch| tree.branch_length(branch)))
    })
}

fn alignment(source: &Source) -> Result<Outcome, String> {
    judged(Alignment::read(source), source, |alignment| {
        (alignment.taxa() == 0 || alignment.sites() == 0).then(|| "nothing was read".into())
    })
}

const TEXT: Kind = Kind {
    format: Format::Text,
    words: &["((", "))", "[x]", "'it''s'", ":0.1", "ACGT", "acgtn-?", ">", "4 8"],
};

pub const READERS: &[Reader] = &[
    TEXT.read(
        ("newick", "tree.nwk"),
        &["((a:0.1,b:0.25):1e-3,'c d':0.5,e:0);\n", "(a:1,(b:2,('c d':1,e:1)0.9:0.5)[x]:0.1);"],
        tree,
    ),
    TEXT.read(
        ("phylip", "alignment.phy"),
        &["4 8\na         ACGTACGT\nb         ACGTACGA\nc         ACG-ACGA\nd         ACGTNCGA\n"],
        alignment,
    ),
    TEXT.read(
        ("fasta", "alignment.fa"),
        &[">a\nACGT\nACGT\n>b\nACGTACGA\n>c\nACG-\nACGA\n>d\nACGTNCGA\n"],
        alignment,
    ),
];

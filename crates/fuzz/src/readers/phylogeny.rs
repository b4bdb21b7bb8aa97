//! Trees in Newick, alignments in PHYLIP and FASTA.

use mmgp::apps::phylogeny::alignment::Alignment;
use mmgp::apps::phylogeny::newick;
use mmgp::table::Source;

use super::{Reader, first_unsound, judged};
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

const fn text(
    name: &'static str,
    file: &'static str,
    seeds: &'static [&'static str],
    check: fn(&Source) -> Result<Outcome, String>,
) -> Reader {
    let words = &["((", "))", "[x]", "'it''s'", ":0.1", "ACGT", "acgtn-?", ">", "4 8"];
    Reader { name, file, format: Format::Text, seeds, words, check }
}

pub const READERS: &[Reader] = &[
    text(
        "newick",
        "tree.nwk",
        &["((a:0.1,b:0.25):1e-3,'c d':0.5,e:0);\n", "(a:1,(b:2,('c d':1,e:1)0.9:0.5)[x]:0.1);"],
        tree,
    ),
    text(
        "phylip",
        "alignment.phy",
        &["4 8\na         ACGTACGT\nb         ACGTACGA\nc         ACG-ACGA\nd         ACGTNCGA\n"],
        alignment,
    ),
    text(
        "fasta",
        "alignment.fa",
        &[">a\nACGT\nACGT\n>b\nACGTACGA\n>c\nACG-\nACGA\n>d\nACGTNCGA\n"],
        alignment,
    ),
];

//! Trees in Newick, alignments in PHYLIP and FASTA.

use mmgp::apps::phylogeny::alignment::Alignment;
use mmgp::apps::phylogeny::newick;
use mmgp::table::Source;

use super::{fuzz, sane};

#[test]
fn newick_trees() {
    let names: Vec<String> = ["a", "b", "c d", "e"].map(String::from).to_vec();
    fuzz(
        &["((a:0.1,b:0.25):1e-3,'c d':0.5,e:0);\n", "(a:1,(b:2,('c d':1,e:1)0.9:0.5)[x]:0.1);"],
        |text| {
            sane(newick::read(&Source::new("x.nwk", text), &names), |tree| {
                tree.check().expect("an invariant of what was read");
                tree.branches().map(|branch| tree.branch_length(branch)).collect()
            })
        },
    );
}

#[test]
fn phylip_alignments() {
    fuzz(
        &["4 8\na         ACGTACGT\nb         ACGTACGA\nc         ACG-ACGA\nd         ACGTNCGA\n"],
        |text| sane(Alignment::read(&Source::new("x.phy", text)), |_| Vec::new()),
    );
}

#[test]
fn fasta_alignments() {
    fuzz(&[">a\nACGT\nACGT\n>b\nACGTACGA\n>c\nACG-\nACGA\n>d\nACGTNCGA\n"], |text| {
        sane(Alignment::read(&Source::new("x.fa", text)), |_| Vec::new())
    });
}

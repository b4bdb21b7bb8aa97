//! `mmgp emulate raxml simulate-alignment`

use std::path::PathBuf;

use clap::{Args, FromArgMatches as _};

use crate::apps::phylogeny::{newick, simulate};
use crate::cli::Answer;
use crate::cli::files::Guard;
use crate::cli::input::Tool;
use crate::cli::output::data;
use crate::error::Result;
use crate::table::{self, Source};

/// Simulated alignments, in the place of a run of RAxML.
pub const SIMULATE_ALIGNMENT: Tool = Tool {
    name: "simulate-alignment",
    add: Arguments::augment_args,
    run: |matches| run(&Arguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit())),
};

/// Simulate an alignment along a tree, under JC69
#[derive(Args)]
#[command(after_help = HELP)]
struct Arguments {
    /// Taxa of a random tree, up to 2^20
    #[arg(long, value_name = "N", required_unless_present = "tree", conflicts_with = "tree")]
    taxa: Option<usize>,
    /// Columns of the alignment, up to 2^28 residues in all
    #[arg(long, value_name = "N")]
    sites: usize,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Mean length of the branches of a random tree [expected substitutions per site]
    #[arg(long, value_name = "LENGTH", default_value_t = 0.1)]
    mean_branch: f64,
    /// Tree to simulate along (Newick), instead of a random one
    #[arg(long, value_name = "FILE")]
    tree: Option<PathBuf>,
    /// Alignment to write (relaxed PHYLIP); without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// File for the tree (Newick)
    #[arg(long, value_name = "FILE")]
    tree_out: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  mmgp emulate raxml simulate-alignment --taxa 24 --sites 1000 --out a.phy
  mmgp emulate raxml simulate-alignment --tree a.nwk --sites 1000 --out a.phy";

fn run(arguments: &Arguments) -> Result<Answer> {
    Guard::default()
        .reads("--tree", arguments.tree.as_deref())
        .writes("--out", arguments.out.as_deref())
        .writes("--tree-out", arguments.tree_out.as_deref())
        .check()?;
    let (tree, names) = match (&arguments.tree, arguments.taxa) {
        (Some(path), _) => newick::read_named(&Source::read(path)?)?,
        (None, taxa) => {
            let taxa = taxa.unwrap_or_default();
            let tree = simulate::tree(taxa, arguments.mean_branch, arguments.seed)?;
            (tree, simulate::names(taxa))
        }
    };
    let alignment = simulate::alignment(&tree, &names, arguments.sites, arguments.seed)?;
    data(arguments.out.as_deref(), &alignment.to_phylip())?;
    if let Some(path) = &arguments.tree_out {
        table::write(path, newick::write(&tree, &names))?;
    }
    Ok(Answer::Done)
}

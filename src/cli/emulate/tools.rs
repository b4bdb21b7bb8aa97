//! The subcommands of `mmgp emulate raxml`: likelihoods of trees, and simulated alignments.

use std::path::PathBuf;
use std::rc::Rc;

use clap::{Args, FromArgMatches as _};

use crate::answer::{Object, Style, Table};
use crate::apps::Port;
use crate::apps::phylogeny::substitution::Model;
use crate::apps::phylogeny::substitution::notation::Notation;
use crate::apps::phylogeny::{Patterns, Tree, newick, simulate};
use crate::apps::raxml::engine::{self, Engine};
use crate::apps::raxml::run_alone;
use crate::cell::{Blade, KernelTiming};
use crate::cli::Answer;
use crate::cli::files::Guard;
use crate::cli::input::{self, Tool};
use crate::cli::output::{Format, Verbosity, data, json, waiting, warn};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::runtime::{Edtlp, Runtime};
use crate::table::{self, Source};

/// Likelihoods of given trees, in the place of a run of RAxML.
pub const LIKELIHOOD: Tool = Tool {
    name: "likelihood",
    add: LikelihoodArguments::augment_args,
    run: |matches| {
        likelihood(
            &LikelihoodArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit()),
        )
    },
};

/// Log-likelihood of a tree, through RAxML's SPU kernels
#[derive(Args)]
#[command(after_help = HELP)]
struct LikelihoodArguments {
    /// Alignment: a PHYLIP or FASTA file, or a built-in one (sim12, sim24, sim42,
    /// sim107)
    #[arg(long, value_name = "NAME|FILE")]
    alignment: String,
    /// Tree with branch lengths (Newick); nothing is optimised
    #[arg(long, value_name = "FILE")]
    tree: PathBuf,
    /// Model of substitution, as below
    #[arg(long, value_name = "MODEL", default_value = "JC69")]
    model: String,
    /// One row for each site, too
    #[arg(long)]
    per_site: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

const HELP: &str = "\
Examples:
  mmgp emulate raxml likelihood --alignment a.phy --tree a.nwk
  mmgp emulate raxml likelihood --alignment a.phy --tree a.nwk --per-site \\
      --format csv --model 'HKY{2.5}+F{.3,.2,.2,.3}+G4{.5}'

Models: JC69 (or JC), HKY85{kappa} (or HKY), GTR{ac,ag,at,cg,ct,gt}, each with
  +F{a,c,g,t}  frequencies of sum 1; without it, all are equal (always in JC69)
  +G4{alpha}   four mean-Gamma rates (or +G); without it, every site has rate 1

Trees are binary; where the outermost node has two branches, they are joined, for the \
likelihood does not depend on the root. Residues may be ambiguous; columns without any \
determined one have likelihood 1.";

fn likelihood(arguments: &LikelihoodArguments) -> Result<Answer> {
    let notation = Notation::parse(&Source::new("--model", &arguments.model))?;
    let alignment = input::alignment(&arguments.alignment)?;
    let tree = newick::read(&Source::read(&arguments.tree)?, &alignment.names)?;
    let patterns = Rc::new(Patterns::compress(&alignment));
    if patterns.is_empty() {
        let found = "no column with a determined character";
        return Err(Error::out_of_range("the alignment", found, "one"));
    }
    warn(&engine::warnings(&tree));
    let model = notation.model(patterns.len());
    let line = waiting("likelihood", Verbosity::Usual);
    let (log_likelihood, terms) = evaluate(&patterns, tree, model, arguments.per_site)?;
    line.finish_and_clear();
    let sites = terms.as_deref().map(|terms| sites(&patterns, terms));
    let object = Object::new()
        .json("model", arguments.model.trim())
        .json("taxa", alignment.taxa())
        .json("sites", alignment.sites())
        .json("patterns", patterns.len())
        .with("log_likelihood", log_likelihood)
        .with_some("per_site", sites.as_ref());
    let summary = format!(
        "{} taxa, {} sites, {} patterns\nln likelihood {log_likelihood} under {}\n",
        alignment.taxa(),
        alignment.sites(),
        patterns.len(),
        arguments.model.trim()
    );
    let text = match (arguments.format, sites) {
        (Format::Json, _) => json(&object),
        (Format::Csv, None) => object.csv(),
        (Format::Csv, Some(sites)) => sites.csv(),
        (Format::Table, None) => summary,
        (Format::Table, Some(sites)) => format!("{summary}\n{}", sites.text()),
    };
    data(None, &text)?;
    Ok(Answer::Done)
}

/// ln likelihood of the whole and, where wanted, of each pattern, by one SPE.
fn evaluate(
    patterns: &Rc<Patterns>,
    tree: Tree,
    model: Model,
    per_site: bool,
) -> Result<(f64, Option<Vec<f64>>)> {
    let blade = Blade::new(&Machine::named("qs20")?, KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    run_alone(&on, (1, Port::Tuned), patterns, async move |engine| {
        engine.read_vectors_once();
        let view = engine::update(engine, &tree, &model).await;
        let whole = engine.evaluate(view.ends, view.z).await;
        let terms = match per_site {
            true => Some(engine.evaluate_patterns(view.ends, view.z).await),
            false => None,
        };
        (whole, terms)
    })
}

/// The columns of the alignment, each with its pattern, numbered in the order of the first columns that show
/// them; one without a determined residue has neither pattern nor weight.
fn sites(patterns: &Patterns, terms: &[f64]) -> Table<(usize, Option<usize>)> {
    Table::of(patterns.of_site.iter().copied().enumerate())
        .column("site", Style::Plain, |(site, _)| site + 1)
        .column("pattern", Style::Plain, |(_, pattern)| pattern.map(|pattern| pattern + 1))
        .column("weight", Style::Plain, |(_, pattern)| {
            pattern.map(|pattern| patterns.weights[pattern])
        })
        .column("log_likelihood", Style::Plain, |(_, pattern)| {
            pattern.map_or(0.0, |pattern| terms[pattern])
        })
}

/// Simulated alignments, in the place of a run of RAxML.
pub const SIMULATE_ALIGNMENT: Tool = Tool {
    name: "simulate-alignment",
    add: SimulationArguments::augment_args,
    run: |matches| {
        simulate_alignment(
            &SimulationArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit()),
        )
    },
};

/// Simulate an alignment along a tree, under JC69
#[derive(Args)]
#[command(after_help = SIMULATION_HELP)]
struct SimulationArguments {
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

const SIMULATION_HELP: &str = "\
Examples:
  mmgp emulate raxml simulate-alignment --taxa 24 --sites 1000 --out a.phy
  mmgp emulate raxml simulate-alignment --tree a.nwk --sites 1000 --out a.phy";

fn simulate_alignment(arguments: &SimulationArguments) -> Result<Answer> {
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

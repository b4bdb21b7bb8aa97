//! The program as a whole: the same chain everywhere, and the right likelihood.

mod coupled;
mod posterior;

use super::chain::ChainHost;
use super::coupling::ChainState;
use super::grid::gather;
use super::proposal::DEFAULT_PRIOR_RATE;
use super::trace::{Inference, SampleSink};
use super::{Pbpi, *};
use crate::phylogeny::alignment::Alignment;
use crate::phylogeny::tests::{SIM12, SIM24, immediately, patterns, shared_data, sim12};
use crate::phylogeny::{Patterns, Stream, Tree, jukes_cantor, newick};
use crate::run::Run;
use approx::assert_relative_eq;
use mmgp_base::error::Result;
use mmgp_base::table::Source;
use mmgp_cell::KernelTiming;
use mmgp_cell::ppe::Work;
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};

fn emulate(pbpi: &Pbpi, m: u32, p: u32) -> (Run, Inference) {
    let machine = Machine::named("qs20").unwrap();
    pbpi.emulate(&machine, Mapping::of(m, p), KernelTiming::Cached, 0.0).unwrap()
}

/// The same chains, their likelihoods but for the order of additions.
fn assert_same(one: &Inference, other: &Inference, what: &str) {
    assert_eq!(one.chains.len(), other.chains.len(), "{what}");
    for (one, other) in one.chains.iter().zip(&other.chains) {
        assert_eq!((&one.tree, one.place), (&other.tree, other.place), "{what}");
        assert_eq!(one.proposals, other.proposals, "{what}");
        assert_eq!(one.generations.len(), other.generations.len(), "{what}");
        for (one, other) in one.generations.iter().zip(&other.generations) {
            assert_eq!(one.accepted, other.accepted, "{what}");
            assert_relative_eq!(one.proposed, other.proposed, max_relative = 1e-9);
            assert_relative_eq!(one.log_likelihood, other.log_likelihood, max_relative = 1e-9);
        }
    }
    assert_eq!(one.swaps, other.swaps, "{what}");
}

#[test]
fn all_feasible_configurations_run_the_same_chain() {
    let pbpi = Pbpi::new(sim12(), None, 3, 30).unwrap();
    let (_, first) = emulate(&pbpi, 1, 1);
    assert!(first.accepted() > 0 && first.accepted() < 30, "the chain moves and refuses");
    for m in 1..=16 {
        for p in 1..=16 / m {
            let (run, trace) = emulate(&pbpi, m, p);
            assert_eq!(run.mapping, Mapping::of(m, p));
            assert_same(&trace, &first, &format!("({m}, {p})"));
        }
    }
}

#[test]
fn the_placement_of_the_data_changes_no_result() {
    let pbpi = Pbpi::new(sim12(), None, 3, 5).unwrap();
    let (_, own) = emulate(&pbpi, 1, 16);
    for placement in [Placement::Interleaved, Placement::BySpe] {
        let (_, trace) = emulate(&pbpi.clone().placed(placement), 1, 16);
        assert_eq!(trace, own, "{placement:?}");
    }
}

#[test]
fn every_likelihood_of_a_chain_is_that_of_its_tree() {
    let patterns = sim12();
    let pbpi = Pbpi::new(patterns.clone(), None, 5, 40).unwrap();
    let plain = |tree: &Tree| jukes_cantor::log_likelihood(tree, &patterns);
    let (_, trace) = emulate(&pbpi, 3, 2);
    assert_relative_eq!(trace.cold().start, plain(&pbpi.tree), max_relative = 1e-12);
    assert_relative_eq!(trace.log_likelihood(), plain(&trace.cold().tree), max_relative = 1e-12);
}

#[test]
fn timing_kernels_once_for_each_shape_gives_the_same_run_as_timing_every_call() {
    let pbpi = Pbpi::new(sim12(), None, 1, 3).unwrap();
    let machine = Machine::named("ps3").unwrap();
    let run = |timing| pbpi.emulate(&machine, Mapping::of(2, 3), timing, 0.0).unwrap();
    assert_eq!(run(KernelTiming::Cached), run(KernelTiming::Exact));
}

#[test]
fn more_processes_than_groups_of_patterns_are_idle_but_right() {
    let mut patterns = sim12();
    patterns.weights.truncate(9);
    patterns.tips.iter_mut().for_each(|codes| codes.truncate(9));
    let pbpi = Pbpi::new(patterns.clone(), None, 1, 2).unwrap();
    let (run, trace) = emulate(&pbpi, 16, 1);
    let plain = jukes_cantor::log_likelihood(&trace.cold().tree, &patterns);
    assert_relative_eq!(trace.log_likelihood(), plain, max_relative = 1e-12);
    assert!(run.offloads() > 0);
}

#[test]
fn a_machine_without_the_spes_is_refused() {
    let pbpi = Pbpi::new(sim12(), None, 1, 1).unwrap();
    let ps3 = Machine::named("ps3").unwrap();
    let error = pbpi.emulate(&ps3, Mapping::of(2, 4), KernelTiming::Cached, 0.0).unwrap_err();
    assert_eq!(error.to_string(), "m = 2, p = 4 needs 8 APUs, but there are 6");
}

#[test]
fn an_alignment_without_a_character_is_refused() {
    let gaps = patterns(">a\n----\n>b\n----\n>c\n----\n");
    let error = Pbpi::new(gaps, None, 1, 1).unwrap_err();
    let expected =
        "the alignment: found no column with a determined character, expected at least one";
    assert_eq!(error.to_string(), expected);
}

/// The log-likelihood that libpll-2 and others give under JC69 without rate categories.
fn reference(table: &Source, alignment: &str) -> Option<f64> {
    let line = table.text.lines().find(|line| {
        line.starts_with(&format!("{alignment},"))
            && line.contains("JC69")
            && line.contains(",0,libpll-2")
    })?;
    // alignment,tree_file,"model",alpha,program,lnL,note
    line.split(',').rev().nth(1)?.parse().ok()
}

/// Holds the likelihood with which a chain at (m, p) starts on a tree against an expected one.
fn check_start(alignment: &Source, tree: &Source, (m, p): (u32, u32), expected: f64) {
    let alignment = Alignment::read(alignment).unwrap();
    let tree = newick::read(tree, &alignment.names).unwrap();
    let pbpi = Pbpi::new(Patterns::compress(&alignment), Some(tree), 1, 0).unwrap();
    let (_, trace) = emulate(&pbpi, m, p);
    assert_relative_eq!(trace.cold().start, expected, max_relative = 1e-9);
}

/// PhyML's values under JC69 in data/reference_lnl.csv.
#[test]
fn shipped_alignments_have_the_likelihood_that_phyml_gives_them() {
    for ([alignment, tree], at, expected) in
        [(SIM12, (4, 4), -4947.7067251762), (SIM24, (2, 8), -16527.8558867231)]
    {
        let [alignment, tree] = [alignment, tree].map(|text| Source::new("it", text));
        check_start(&alignment, &tree, at, expected);
    }
}

#[test]
fn real_alignments_have_the_likelihood_that_other_programs_give_them() {
    let Some(table) = shared_data("reference_lnl.csv") else { return };
    for (name, m, p) in [("hypo42", 1, 1), ("brown41", 4, 4), ("leache10_50k", 2, 8)] {
        let alignment = shared_data(&format!("{name}.phy")).unwrap();
        let tree = shared_data(&format!("trees/{name}.nwk")).unwrap();
        check_start(&alignment, &tree, (m, p), reference(&table, name).unwrap());
    }
}

#[test]
fn every_port_runs_the_same_chain_and_only_the_tuned_one_is_fast() {
    let tuned = Pbpi::new(sim12(), None, 3, 5).unwrap();
    let (tuned_run, first) = emulate(&tuned, 2, 2);
    let (naive_run, naive) = emulate(&tuned.clone().ported(Port::Naive), 2, 2);
    let (host_run, host) = emulate(&tuned.clone().ported(Port::Ppe), 2, 2);
    assert_same(&naive, &first, "naive");
    assert_same(&host, &first, "host");
    assert!(naive_run.time > tuned_run.time * 2.0, "{naive_run:?}");
    assert!(host_run.time > tuned_run.time, "{host_run:?}");
    let calls = host_run.host_functions.iter().map(|function| (function.name, function.calls));
    assert!(calls.eq(tuned_run.functions.iter().map(|it| (it.name, it.calls))));
    assert_eq!((host_run.offloads(), host_run.dma_commands), (0, 0));
    // The naive port waits for every transfer, so none of its bytes is hidden.
    for traffic in tuned.ported(Port::Naive).description().unwrap().traffic {
        assert_eq!(traffic.exposed_bytes, traffic.bytes);
    }
}

/// An alignment of so many taxa in which every code occurs.
fn of_all_codes(taxa: usize, count: usize) -> Patterns {
    let mut stream = Stream::new(7, 0);
    let mut tip = || (0..count).map(|_| 1 + stream.index(15) as u8).collect::<Vec<_>>();
    let tips: Vec<_> = (0..taxa).map(|_| tip()).collect();
    for code in 1..16 {
        assert!(tips.iter().all(|tip| tip.contains(&code)), "code {code}");
    }
    Patterns { tips, weights: vec![1; count], of_site: Vec::new() }
}

#[test]
fn tips_of_any_code_at_any_place_of_a_tree_are_right_in_every_port() {
    // The root joins three tips; two tips and a node; three nodes. Nodes join two tips, or one and a
    // node, or two nodes.
    let trees = [
        (3, "(t01:0.1,t02:0.2,t03:0.3);"),
        (5, "(((t01:0.1,t02:0.2):0.3,t03:0.1):0.2,t04:0.1,t05:0.1);"),
        (
            8,
            "((t01:0.1,t02:0.2):0.1,((t03:0.1,t04:1):0.2,(t05:1,t06:0.1):0.1):0.3,\
             (t07:1,t08:2):0.1);",
        ),
    ];
    for (taxa, tree) in trees {
        let patterns = of_all_codes(taxa, 330);
        let tree = newick::read(&Source::new("tree", tree), &simulate::names(taxa)).unwrap();
        let plain = jukes_cantor::log_likelihood(&tree, &patterns);
        let pbpi = Pbpi::new(patterns, Some(tree), 1, 0).unwrap();
        for port in [Port::Tuned, Port::Unfused, Port::Naive, Port::Ppe] {
            // With (2, 6) a process has 165 patterns in 42 groups, and shares begin with groups 0, 7,
            // 14, 21, 28, 35: codes at 0, 12, 8, 4, 0, 12 bytes in a quadword.
            for (m, p) in [(1, 1), (2, 6)] {
                let (_, trace) = emulate(&pbpi.clone().ported(port), m, p);
                let found = trace.cold().start;
                assert_relative_eq!(found, plain, max_relative = 1e-12);
            }
        }
    }
}

#[test]
fn chains_on_rows_of_the_host_are_those_of_the_spes() {
    let coupling = Coupling::new(2, 0.2, 2).unwrap().on_rows(2).unwrap();
    let pbpi = Pbpi::new(sim12(), None, 3, 8).unwrap().coupled(coupling);
    let (_, first) = emulate(&pbpi, 2, 1);
    let (_, host) = emulate(&pbpi.ported(Port::Ppe), 4, 1);
    assert_same(&host, &first, "host");
}

/// Computes every likelihood from scratch, and takes no time.
struct Plain<'a> {
    patterns: &'a Patterns,
}

impl ChainHost for Plain<'_> {
    async fn begin(&mut self) {}

    fn end(&mut self) {}

    async fn work(&mut self, _: Work) {}

    async fn evaluate(&mut self, _: usize, tree: &Tree, _: &[usize]) -> f64 {
        jukes_cantor::log_likelihood(tree, self.patterns)
    }

    fn accept(&mut self, _: usize, _: &[usize]) {}

    fn done(&self) {}

    async fn exchange(&mut self, row: u32, _: ChainState) -> ChainState {
        unreachable!("invariant: without a machine all chains are on one row, not on {row}")
    }
}

impl Pbpi {
    /// Runs the same chains on this computer, without a machine: every likelihood is computed from
    /// scratch in double precision, and differs from an emulated one by rounding.
    ///
    /// # Errors
    /// `OutOfRange` where a first tree cannot be made, which [`Self::new`] has ruled out.
    pub(super) fn infer(&self, sink: Option<SampleSink>) -> Result<Inference> {
        let coupling = self.coupling.on_rows(1)?;
        let alone = Self { coupling, ..self.clone() };
        let collector = self.collector(sink);
        let host = Plain { patterns: &self.patterns };
        let row = alone.row(host, self.first_chains()?, Some(&collector))?;
        let outcome = immediately(row.run(0));
        Ok(gather([outcome], &collector))
    }
}

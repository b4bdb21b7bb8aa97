//! Several chains: the same on every grid, and their samples in order.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;

fn coupled(chains: u32, generations: u32) -> Pbpi {
    let coupling = Coupling::new(chains, 0.02, 5).unwrap();
    Pbpi::new(sim12(), None, 3, generations).unwrap().coupled(coupling)
}

fn on_rows(pbpi: &Pbpi, rows: u32) -> Pbpi {
    let coupling = pbpi.coupling.on_rows(rows).unwrap();
    pbpi.clone().coupled(coupling)
}

#[test]
fn the_grid_changes_nothing_of_what_chains_go_through() {
    let pbpi = coupled(4, 60);
    let plain = pbpi.infer(None).unwrap();
    assert!(plain.swaps.accepted > 0 && plain.swaps.accepted < plain.swaps.tried);
    assert_eq!(plain.swaps.tried, 12);
    let places: std::collections::BTreeSet<usize> =
        plain.chains.iter().map(|chain| chain.place).collect();
    assert_eq!(places, (0..4).collect());
    for (m, p, rows) in [
        (1, 1, 1),
        (4, 2, 1),
        (2, 1, 2),
        (4, 3, 2),
        (16, 1, 2),
        (3, 1, 3),
        (6, 2, 3),
        (4, 4, 4),
        (8, 2, 4),
    ] {
        let (_, inference) = emulate(&on_rows(&pbpi, rows), m, p);
        assert_same(&inference, &plain, &format!("({m}, {p}) on {rows} rows"));
    }
}

#[test]
fn chains_differ_and_each_has_the_likelihood_of_its_tree() {
    let pbpi = coupled(3, 20);
    let patterns = sim12();
    let (_, inference) = emulate(&on_rows(&pbpi, 3), 3, 2);
    for chain in &inference.chains {
        let plain = jukes_cantor::log_likelihood(&chain.tree, &patterns);
        assert_relative_eq!(chain.log_likelihood(), plain, max_relative = 1e-12);
    }
    let [one, two, three] = [0, 1, 2].map(|chain| inference.chains[chain].start);
    assert!(one != two && two != three && one != three);
}

#[test]
fn the_first_of_coupled_chains_begins_as_the_only_one_does() {
    // Up to the first swap, in the fifth generation, it knows nothing of the others.
    let (single, first) = (coupled(1, 5).infer(None), coupled(4, 5).infer(None));
    let (single, first) = (single.unwrap(), first.unwrap());
    assert_eq!(single.chains[0].generations, first.chains[0].generations);
}

#[test]
fn a_tree_that_is_given_is_the_first_of_every_chain() {
    let tree = coupled(1, 1).tree;
    let coupling = Coupling::new(3, 0.1, 5).unwrap();
    let pbpi = Pbpi::new(sim12(), Some(tree), 3, 1).unwrap().coupled(coupling);
    let inference = pbpi.infer(None).unwrap();
    assert!(inference.chains.iter().all(|chain| chain.start == inference.chains[0].start));
}

#[test]
fn rows_share_the_work_and_pay_for_their_messages() {
    let pbpi = coupled(2, 20);
    let time = |pbpi: &Pbpi, m| emulate(pbpi, m, 1).0.time.0;
    let (one_row, two_rows) = (time(&pbpi, 1), time(&on_rows(&pbpi, 2), 2));
    // Chains differ in what they touch, so a row waits for the other at a swap.
    assert!(two_rows > 0.5 * one_row && two_rows < 0.75 * one_row, "{two_rows} of {one_row}");
    // The grid of one row sums over all processes, which costs more than over half of them.
    assert!(time(&on_rows(&pbpi, 2), 4) < time(&pbpi, 4));
}

#[test]
fn rows_that_do_not_divide_the_processes_are_refused() {
    let machine = Machine::named("qs20").unwrap();
    let pbpi = on_rows(&coupled(2, 1), 2);
    let error = pbpi.emulate(&machine, Mapping::of(3, 1), KernelTiming::Cached, 0.0).unwrap_err();
    let expected =
        "rows of processes: found 2, expected a divisor of m = 3, so that rows are equally long";
    assert_eq!(error.to_string(), expected);
}

/// Keeps what is sampled.
#[derive(Default)]
struct Kept(Vec<(u32, f64, Tree)>);

impl Samples for Kept {
    fn take(&mut self, sample: &Sample<'_>) {
        self.0.push((sample.generation, sample.log_likelihood, sample.tree.clone()));
    }
}

#[test]
fn the_cold_chain_is_sampled_in_order_wherever_it_is() {
    let sampling = Sampling::new(2, 0.5).unwrap();
    let pbpi = coupled(4, 60).sampled(sampling).unwrap();
    let kept = |rows: u32| {
        let kept = Rc::new(RefCell::new(Kept::default()));
        let blade = crate::phylogeny::tests::qs20();
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        let sink = Some(kept.clone() as SampleSink);
        let (_, inference) = on_rows(&pbpi, rows).emulate_on(&on, Mapping::of(4, 1), sink).unwrap();
        (kept.take().0, inference)
    };
    let (first, inference) = kept(1);
    assert_eq!(inference.samples, 30);
    // Half of them are burnt.
    assert_eq!(inference.splits.weight(), 15.0);
    let generations: Vec<u32> = first.iter().map(|sample| sample.0).collect();
    assert_eq!(generations, (1..=30).map(|sample| 2 * sample).collect::<Vec<_>>());
    let last = first.last().unwrap();
    assert_eq!(&last.2, &inference.cold().tree);
    for rows in [2, 4] {
        let (samples, other) = kept(rows);
        assert_eq!(other.splits, inference.splits);
        for (one, other) in samples.iter().zip(&first) {
            assert_eq!((one.0, &one.2), (other.0, &other.2));
            assert_relative_eq!(one.1, other.1, max_relative = 1e-9);
        }
    }
}

#[test]
fn a_chain_too_short_for_a_sample_after_the_burn_in_is_refused() {
    let sampled = |every, burn_in, generations| {
        let sampled = coupled(1, generations).sampled(Sampling::new(every, burn_in).unwrap());
        sampled.map(|pbpi| pbpi.infer(None).unwrap().consensus().is_some())
    };
    assert!(sampled(10, 0.5, 20).unwrap());
    assert!(sampled(10, 0.5, 19).unwrap());
    let error = sampled(20, 0.0, 19).unwrap_err().to_string();
    let expected = "generations between two samples: found 20 for 19 generations, expected a sample after the burn-in";
    assert_eq!(error, expected);
    assert!(sampled(10, 0.9, 15).is_err());
    assert!(Sampling::new(0, 0.0).is_err());
    assert!(Sampling::new(1, 1.0).is_err());
}

#[test]
fn without_sampling_nothing_is_sampled_and_there_is_no_consensus() {
    let inference = coupled(1, 5).infer(None).unwrap();
    assert_eq!((inference.samples, inference.consensus()), (0, None));
}

#[test]
fn the_consensus_of_a_long_chain_is_the_tree_that_the_sites_evolved_on() {
    let tree = simulate::tree(8, 0.15, 5).unwrap();
    let alignment = simulate::alignment(&tree, &simulate::names(8), 800, 5).unwrap();
    let pbpi = Pbpi::new(Patterns::compress(&alignment), None, 1, 12_000).unwrap();
    let pbpi = pbpi.sampled(Sampling::new(10, 0.25).unwrap()).unwrap();
    let inference = pbpi.infer(None).unwrap();
    let consensus = inference.consensus().unwrap();
    assert_eq!(consensus.branches().len(), 8 - 3);
    let text = consensus.write(&pbpi.names);
    let read = newick::read(&Source::new("x.nwk", &text), &pbpi.names).unwrap();
    assert_eq!(read.splits(), tree.splits());
    // The tree is as long as it was, but for the few sites.
    let total = |tree: &Tree| tree.branches().map(|node| tree.branch_length(node)).sum::<f64>();
    assert!((total(&read) / total(&tree) - 1.0).abs() < 0.15, "{text}");
}

#[test]
fn proposals_are_counted_by_sort() {
    let inference = coupled(2, 200).infer(None).unwrap();
    let counted = inference.proposals();
    assert_eq!(counted.map(|(_, tally)| tally.tried).iter().sum::<u64>(), 400);
    assert_eq!(
        counted.map(|(_, tally)| tally.accepted).iter().sum::<u64>(),
        inference.accepted() as u64
    );
    // A quarter each: binomial of 400, standard deviation 8.7.
    assert!(counted.iter().all(|(_, tally)| tally.tried.abs_diff(100) < 35), "{counted:?}");
}

#[test]
fn the_original_rule_accepts_whatever_is_likelier() {
    let pbpi = coupled(1, 400);
    let refused_though_likelier = |acceptance| {
        let inference = pbpi.clone().accepting(acceptance).infer(None).unwrap();
        let trace = &inference.chains[0];
        let mut before = trace.start;
        let mut refused = 0;
        for generation in &trace.generations {
            refused += u32::from(!generation.accepted && generation.proposed > before);
            before = generation.log_likelihood;
        }
        refused
    };
    assert_eq!(refused_though_likelier(Acceptance::Original), 0);
    assert!(refused_though_likelier(Acceptance::MetropolisHastings) > 0);
}

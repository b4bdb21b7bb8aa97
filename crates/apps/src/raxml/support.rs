//! What an analysis leaves behind: the best tree, the trees of the bootstraps, and how many of
//! these support each branch of the best one.

use std::fmt::Write;

use super::search::{Inference, Task};
use crate::phylogeny::splits::SplitCounts;
use crate::phylogeny::substitution::SiteRates;
use crate::phylogeny::{Tree, newick};

/// The files that a user of RAxML looks for, as text; those of what was not computed are absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The likeliest tree.
    pub best_tree: Option<String>,
    /// The same with supports [%] as labels of its inner nodes, where there are bootstraps.
    pub bipartitions: Option<String>,
    /// The trees of the bootstraps, one a line, in their order.
    pub bootstraps: Option<String>,
    /// The likelihoods, the model, and what each search took.
    pub info: String,
}

impl Report {
    /// On the results of tasks, in whatever order, for taxa of these names.
    pub fn new(results: &[(Task, Inference)], names: &[String]) -> Self {
        let mut results: Vec<&(Task, Inference)> = results.iter().collect();
        results.sort_by_key(|(task, _)| *task);
        let is_bootstrap = |task: &Task| matches!(task, Task::Bootstrap(_));
        let bootstraps: Vec<&Tree> = results
            .iter()
            .filter(|(task, _)| is_bootstrap(task))
            .map(|(_, result)| &result.tree)
            .collect();
        let best = best(results.iter().filter(|(task, _)| !is_bootstrap(task)).copied());
        let lines = bootstraps.iter().map(|tree| newick::write(tree, names)).collect::<String>();
        let supported =
            best.map(|(_, best)| (&best.tree, &bootstraps)).filter(|(_, trees)| !trees.is_empty());
        Self {
            best_tree: best.map(|(_, best)| newick::write(&best.tree, names)),
            bipartitions: supported.map(|(tree, bootstraps)| draw(tree, bootstraps, names)),
            bootstraps: Some(lines).filter(|_| !bootstraps.is_empty()),
            info: info(&results, best.map(|(task, _)| *task)),
        }
    }
}

/// The inference of the highest ln likelihood, the first of equal ones.
fn best<'a>(
    inferences: impl Iterator<Item = &'a (Task, Inference)>,
) -> Option<&'a (Task, Inference)> {
    inferences.reduce(
        |best, next| {
            if next.1.log_likelihood > best.1.log_likelihood { next } else { best }
        },
    )
}

/// For each node of `tree` the share of `bootstraps` that have the split of the branch above it, in
/// [0, 1]; none for tips and the root.
pub fn supports(tree: &Tree, bootstraps: &[&Tree]) -> Vec<Option<f64>> {
    let mut counts = SplitCounts::new(tree.taxa());
    bootstraps.iter().for_each(|bootstrap| counts.add(bootstrap, 1.0));
    counts.supports(tree)
}

/// The tree with its supports in per cent, rounded, as labels.
fn draw(tree: &Tree, bootstraps: &[&Tree], names: &[String]) -> String {
    let supports = supports(tree, bootstraps);
    let label = |node: usize| supports[node].map(|share| format!("{:.0}", 100.0 * share));
    newick::write_labelled(tree, names, label)
}

fn info(results: &[&(Task, Inference)], best: Option<Task>) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        writeln!(text, "{line}").expect("invariant: writing to a string cannot fail");
    };
    for (task, result) in results {
        let Inference { log_likelihood, first_log_likelihood, counts, .. } = result;
        line(format!(
            "{}: ln likelihood {log_likelihood:.6}, of the first tree {first_log_likelihood:.6}; \
             newview {} (tip/tip {}, tip/inner {}, inner/inner {}), makenewz {}, evaluate {}",
            name(*task),
            counts.newview(),
            counts.tip_tip,
            counts.tip_inner,
            counts.inner_inner,
            counts.makenewz,
            counts.evaluate + counts.evaluate_patterns,
        ));
    }
    let found = results.iter().find(|(task, _)| Some(*task) == best);
    if let Some((task, Inference { log_likelihood, model, .. })) = found {
        line(format!("best tree: {}, ln likelihood {log_likelihood:.6}", name(*task)));
        let [ac, ag, at, cg, ct, gt] = model.substitution.exchangeabilities;
        line(format!("rates: ac {ac:.6} ag {ag:.6} at {at:.6} cg {cg:.6} ct {ct:.6} gt {gt:.6}"));
        let [a, c, g, t] = model.substitution.frequencies;
        line(format!("frequencies: a {a:.6} c {c:.6} g {g:.6} t {t:.6}"));
        line(match &model.rates {
            SiteRates::Gamma { alpha, .. } => format!("alpha: {alpha:.6}"),
            SiteRates::Categories { rates, .. } => format!("categories: {}", rates.len()),
        });
    }
    text
}

fn name(task: Task) -> String {
    match task {
        Task::Inference(number) => format!("inference {number}"),
        Task::Bootstrap(number) => format!("bootstrap {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phylogeny::substitution::{Model, Substitution};
    use crate::raxml::search::Counts;
    use mmgp_base::table::Source;

    fn names() -> Vec<String> {
        ["a", "b", "c", "d", "e"].map(String::from).to_vec()
    }

    fn result(task: Task, log_likelihood: f64, tree: &str) -> (Task, Inference) {
        let model =
            Model { substitution: Substitution::jc69(), rates: SiteRates::gamma(0.5).unwrap() };
        let tree = newick::read(&Source::new("x.nwk", tree), &names()).unwrap();
        let counts = Counts { tip_tip: 2, makenewz: 7, ..Counts::default() };
        let inference =
            Inference { tree, log_likelihood, model, first_log_likelihood: -99.0, counts };
        (task, inference)
    }

    const TREE: &str = "((a:1,b:1):1,(c:1,d:1):1,e:1);";
    const OTHER: &str = "((a:1,b:1):1,(c:1,e:1):1,d:1);";

    #[test]
    fn the_best_tree_carries_the_shares_of_the_bootstraps() {
        let mut results = vec![
            result(Task::Bootstrap(2), -1.0, TREE),
            result(Task::Inference(1), -10.0, TREE),
            result(Task::Inference(0), -11.0, OTHER),
            result(Task::Bootstrap(0), -1.0, OTHER),
            result(Task::Bootstrap(1), -1.0, TREE),
        ];
        let report = Report::new(&results, &names());
        // ab in all three, cd in two.
        assert_eq!(report.bipartitions.as_deref(), Some("((a:1,b:1)100:1,(c:1,d:1)67:1,e:1);\n"));
        assert_eq!(report.best_tree.as_deref(), Some("((a:1,b:1):1,(c:1,d:1):1,e:1);\n"));
        assert_eq!(report.bootstraps, Some(format!("{OTHER}\n{TREE}\n{TREE}\n")));
        let last = "alpha: 0.500000\n";
        assert!(report.info.starts_with("inference 0: ln likelihood -11.000000"), "{report:?}");
        assert!(report.info.contains("best tree: inference 1, ln likelihood -10.000000\n"));
        assert!(report.info.ends_with(last), "{report:?}");
        results.reverse();
        assert_eq!(Report::new(&results, &names()), report, "whatever the order");
    }

    #[test]
    fn what_was_not_computed_is_absent() {
        let inference = [result(Task::Inference(0), -10.0, TREE)];
        let report = Report::new(&inference, &names());
        assert!(report.best_tree.is_some());
        assert_eq!((report.bipartitions, report.bootstraps), (None, None));
        let bootstrap = [result(Task::Bootstrap(0), -10.0, TREE)];
        let report = Report::new(&bootstrap, &names());
        assert_eq!((report.best_tree, report.bipartitions), (None, None));
        assert!(report.bootstraps.is_some());
    }
}

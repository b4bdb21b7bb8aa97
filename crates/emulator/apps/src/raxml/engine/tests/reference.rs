//! Likelihoods held against values that libpll-2, PhyML, IQ-TREE, and MrBayes with BEAGLE computed.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{By, EVERYBODY, Problem, notation, on_plain_engine, runtime};
use crate::phylogeny::substitution::{Model, SiteRates};
use crate::phylogeny::tests::{SIM12, SIM24, shared_data, shared_path};
use crate::phylogeny::{Alignment, Patterns, Tree, newick};
use crate::raxml::engine::{Engine, NewView, update, z_of};
use crate::raxml::{Port, run_alone};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mmgp_base::table::Source;
use serde::Deserialize;

/// A row of a table of reference values.
#[derive(Debug, Clone, Deserialize)]
struct Row {
    alignment: String,
    /// The model as this project writes it, or in words.
    model: String,
    #[serde(default)]
    alpha: f64,
    program: String,
    #[serde(rename = "lnL")]
    log_likelihood: f64,
    #[serde(default)]
    note: String,
}

impl Row {
    fn read_all(text: &str) -> Vec<Self> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().collect::<Result<_, _>>().expect("a table of reference values")
    }

    /// The largest difference from the right value: what rounding of the printed value and the
    /// programs' own approximation of mean-Gamma rates leave.
    fn tolerance(&self) -> f64 {
        let program = self.program.split_whitespace().next().unwrap_or_default();
        let gamma_rates = if self.alpha > 0.0 && self.alpha < 0.3 { 1e-4 } else { 0.0 };
        let relative = 1e-9 * self.log_likelihood.abs();
        let printed: f64 = match program {
            "libpll-2" | "PhyML" => 0.0,
            "IQ-TREE" => 0.5e-4,
            "MrBayes" => 0.5e-6,
            _ => panic!("a new program: {self:?}"),
        };
        printed + relative.max(gamma_rates)
    }

    fn check(&self, found: f64) {
        let difference = (found - self.log_likelihood).abs();
        assert!(difference <= self.tolerance(), "{found} differs by {difference}: {self:?}");
    }

    /// The model as this project writes it, from `GTR rates(AC,...)=1.2,... freqs(A,...)=... +G4`.
    fn notation(&self) -> String {
        let list = |key: &str| {
            let (_, after) = self.model.split_once(key)?;
            let (_, after) = after.split_once('=')?;
            Some(after.split(' ').next().unwrap_or(after).to_string())
        };
        let (rates, frequencies) = (list("rates(").unwrap(), list("freqs(").unwrap());
        let mut text = match self.model.split(' ').next() {
            Some("JC69") => "JC69".to_string(),
            Some("HKY85") => {
                let kappa = rates.split(',').nth(1).unwrap();
                format!("HKY85{{{kappa}}}+F{{{frequencies}}}")
            }
            _ => format!("GTR{{{rates}}}+F{{{frequencies}}}"),
        };
        if self.alpha > 0.0 {
            text += &format!("+G4{{{}}}", self.alpha);
        }
        text
    }
}

/// A shared alignment, unpacked where it is compressed, and its tree.
fn shared_alignment(name: &str) -> (Source, Source) {
    let tree = shared_data(&format!("trees/{name}.nwk")).expect("the tree is beside the table");
    let text = match shared_path(&format!("{name}.phy")) {
        Some(path) => Source::read(&path).expect("a file that is there can be read"),
        None => unpacked(&format!("{name}.phy.xz")),
    };
    (text, tree)
}

#[allow(clippy::disallowed_methods)] // `table` reads text, and this is none.
fn unpacked(name: &str) -> Source {
    let path = shared_path(name).expect("the alignment is beside the table");
    let packed = std::fs::read(path).expect("a file that is there can be read");
    let mut text = Vec::new();
    lzma_rs::xz_decompress(&mut packed.as_slice(), &mut text).expect("an xz file");
    Source::new(name, &String::from_utf8(text).expect("an alignment is text"))
}

/// Holds what `by` computes against the rows of the shared table whose alignment is `chosen`, which
/// are so many. Each value is computed once and compared with those of all programs.
fn check_shared(by: By, chosen: impl Fn(&str) -> bool, count: usize) {
    let Some(table) = shared_data("reference_lnl.csv") else { return };
    let mut groups: BTreeMap<(String, String), Vec<Row>> = BTreeMap::new();
    let rows = Row::read_all(&table.text).into_iter();
    for row in rows.filter(|row| chosen(&row.alignment)) {
        groups.entry((row.alignment.clone(), row.notation())).or_default().push(row);
    }
    let (mut compared, mut worst) = (0, 0.0_f64);
    for ((alignment, model), rows) in groups {
        let (text, tree) = shared_alignment(&alignment);
        let found = by.log_likelihood(&Problem::new(&text, &tree, &model));
        for row in rows {
            // PhyML evaluates sites of a likelihood below 2^-256 wrongly.
            if row.note.contains("OUTLIER") {
                assert!((found - row.log_likelihood).abs() > 1.0, "no outlier: {row:?}");
                continue;
            }
            row.check(found);
            compared += 1;
            if row.program.starts_with("libpll-2") && !(0.01..0.3).contains(&row.alpha) {
                worst = worst.max((found / row.log_likelihood - 1.0).abs());
            }
        }
    }
    eprintln!("{by:?}: {compared} values, at most {worst:.1e} from libpll-2");
    assert_eq!(compared, count);
}

#[test]
fn the_plain_engine_agrees_with_other_programs_on_real_alignments() {
    check_shared(By::Plain, |_| true, 246);
}

#[test]
fn the_tuned_kernels_agree_with_other_programs_on_real_alignments() {
    check_shared(By::Kernels(8, Port::Tuned), |_| true, 246);
}

#[test]
fn the_naive_kernels_agree_with_other_programs_on_real_alignments() {
    // Scalar and with branches: ten times as slow as the others, so only the smallest.
    check_shared(By::Kernels(1, Port::Naive), |name| ["hypo42", "flu327"].contains(&name), 72);
}

/// The values of `data/reference_lnl.csv`, whose README says where they come from.
#[test]
fn shipped_alignments_have_the_likelihood_that_other_programs_give_them() {
    let shipped = |name: &str| if name == "sim12" { SIM12 } else { SIM24 };
    let rows = Row::read_all(include_str!("../../../../data/reference_lnl.csv"));
    assert_eq!(rows.len(), 24);
    for by in EVERYBODY {
        for row in &rows {
            let [alignment, tree] = shipped(&row.alignment).map(|text| Source::new("it", text));
            row.check(by.log_likelihood(&Problem::new(&alignment, &tree, &row.model)));
        }
    }
}

pub(super) const GTR: &str = "GTR{1.2,3.5,0.8,0.9,4.1,1.0}+F{0.30,0.22,0.18,0.30}";

#[test]
fn every_site_of_a_real_alignment_is_as_likely_as_other_programs_say() {
    let Some(table) = shared_data("persite_hypo42_GTR_G4_0.5.csv") else { return };
    let (text, tree) = shared_alignment("hypo42");
    let problem = Problem::new(&text, &tree, &format!("{GTR}+G4{{0.5}}"));
    let mut reader = csv::Reader::from_reader(table.text.as_bytes());
    let sites: Vec<[f64; 5]> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    let patterns = &problem.patterns;
    assert_eq!(sites.len(), patterns.of_site.len());
    for by in EVERYBODY {
        let terms = by.pattern_log_likelihoods(&problem);
        for (&[site, weight, libpll, iqtree, phyml], pattern) in sites.iter().zip(&patterns.of_site)
        {
            let pattern = pattern.expect("every column of this alignment has a pattern");
            assert_eq!(f64::from(patterns.weights[pattern]), weight, "site {site}");
            let found = terms[pattern];
            assert!((found - libpll).abs() < 1e-10, "{by:?} site {site}: {found}, {libpll}");
            // Printed with six digits, of the logarithm and of the likelihood.
            let last_digit = if found <= -10.0 { 1e-4 } else { 1e-5 };
            let iqtree_difference = (found - iqtree).abs();
            assert!(iqtree_difference < 0.51 * last_digit, "site {site}: {found}, {iqtree}");
            assert!((found - phyml).abs() < 0.55e-5, "{by:?} site {site}: {found}, {phyml}");
        }
    }
}

/// A quarter of the columns at each of four rates. Equal columns may have different rates, so every
/// column is a pattern of its own.
#[test]
fn categories_of_rates_are_as_likely_as_other_programs_say() {
    let Some(table) = shared_data("cat_reference_lnl.csv") else { return };
    let mut reader = csv::Reader::from_reader(table.text.as_bytes());
    let parts: Vec<(String, String, f64, f64, f64)> =
        reader.deserialize().collect::<Result<_, _>>().unwrap();
    let (text, tree) = shared_alignment("hypo42");
    let alignment = Alignment::read(&text).unwrap();
    let sites = alignment.sites();
    let patterns = Patterns {
        tips: alignment.rows.clone(),
        weights: vec![1; sites],
        of_site: (0..sites).map(Some).collect(),
    };
    let rates = SiteRates::Categories {
        rates: vec![0.2, 0.6, 1.2, 2.0],
        of_pattern: (0..sites).map(|site| site as u32 % 4).collect(),
    };
    let problem = Problem {
        patterns: Rc::new(patterns),
        tree: newick::read(&tree, &alignment.names).unwrap(),
        model: Model { substitution: notation(GTR).substitution, rates },
    };
    for by in EVERYBODY {
        let terms = by.pattern_log_likelihoods(&problem);
        for (category, (_, part, libpll, phyml, iqtree)) in parts.iter().enumerate() {
            let of_part = |&site: &usize| category == 4 || site % 4 == category;
            let found: f64 = (0..sites).filter(of_part).map(|site| terms[site]).sum();
            assert_relative_eq!(found, *libpll, max_relative = 1e-9);
            assert_relative_eq!(found, *phyml, max_relative = 1e-9);
            assert!((found - iqtree).abs() < 2e-4, "{part}: {found}, {iqtree}");
        }
        let whole = by.log_likelihood(&problem);
        assert_relative_eq!(whole, parts[4].2, max_relative = 1e-9);
    }
}

/// ln likelihoods at branch lengths, what one step of Newton's method makes of each, and where many
/// lead, all at the branch between the root and its first child.
#[derive(Debug)]
pub(super) struct AtBranch {
    pub(super) log_likelihoods: Vec<f64>,
    pub(super) steps: Vec<f64>,
    pub(super) optimum: f64,
}

impl AtBranch {
    async fn compute(
        engine: &mut impl Engine,
        (tree, model): (&Tree, &Model),
        lengths: &[f64],
    ) -> Self {
        update(engine, tree, model).await;
        let root = tree.root();
        let [first, second, third] = tree.children(root).collect::<Vec<_>>()[..] else {
            unreachable!("a root has three children")
        };
        let z = [second, third].map(|child| z_of(tree.branch_length(child)));
        engine.newview(NewView { node: root, children: [second, third], z }).await;
        let ends = [first, root];
        let (mut log_likelihoods, mut steps) = (Vec::new(), Vec::new());
        for &length in lengths {
            let z = z_of(length);
            log_likelihoods.push(engine.evaluate(ends, z).await);
            steps.push(-engine.makenewz(ends, z, 1).await.ln());
        }
        let optimum = -engine.makenewz(ends, 0.9, 100).await.ln();
        Self { log_likelihoods, steps, optimum }
    }

    pub(super) fn by(by: By, problem: &Problem, lengths: Vec<f64>) -> Self {
        let Problem { patterns, tree, model } = problem.clone();
        match by {
            By::Plain => on_plain_engine(problem, async move |engine| {
                Self::compute(engine, (&tree, &model), &lengths).await
            }),
            By::Kernels(p, port) => {
                run_alone(&runtime(), (p, port), &patterns, async move |engine| {
                    Self::compute(engine, (&tree, &model), &lengths).await
                })
                .unwrap()
            }
        }
    }
}

#[test]
fn branches_have_the_derivatives_and_optima_of_other_programs() {
    let Some(table) = shared_data("branch_derivative_reference.csv") else { return };
    let (text, tree) = shared_alignment("hypo42");
    let mut reader = csv::Reader::from_reader(table.text.as_bytes());
    let mut compared = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let number = |column: usize| record[column].parse::<f64>().unwrap();
        let model = match &record[1] {
            "1" => GTR.to_string(),
            _ => format!("{GTR}+G4{{{}}}", &record[2]),
        };
        let problem = Problem::new(&text, &tree, &model);
        compared += 1;
        for by in EVERYBODY {
            if let Some(optimum) = record[3].strip_prefix("optimum ") {
                let optimum: f64 = optimum.parse().unwrap();
                let found = AtBranch::by(by, &problem, vec![optimum]);
                assert_abs_diff_eq!(found.optimum, optimum, epsilon = 1e-8);
                assert_relative_eq!(found.log_likelihoods[0], number(4), max_relative = 1e-9);
                continue;
            }
            let (b, first, second) = (number(3), number(5), -number(6));
            let h = b / 100.0;
            let around = [b, b - 2.0 * h, b - h, b + h, b + 2.0 * h];
            let found = AtBranch::by(by, &problem, around.to_vec());
            let [at, below_2, below, above, above_2] = found.log_likelihoods[..] else { panic!() };
            assert_relative_eq!(at, number(4), max_relative = 1e-9);
            // Differences of fourth order
            let slope = (8.0 * (above - below) - (above_2 - below_2)) / (12.0 * h);
            let curvature =
                (16.0 * (above + below) - (above_2 + below_2) - 30.0 * at) / (12.0 * h * h);
            assert_relative_eq!(slope, first, max_relative = 1e-5);
            assert_relative_eq!(curvature, second, max_relative = 1e-4);
            // u = -b, so g = -dlnL/db and h = d2lnL/db2; the step is -g/h in u, and z no more than
            // 0.25 z + 0.75.
            let z = (-b).exp();
            let stepped = (z * (first / second).exp()).min(0.25 * z + 0.75);
            assert_relative_eq!(found.steps[0], -stepped.ln(), max_relative = 1e-9);
        }
    }
    assert_eq!(compared, 6);
}

use nalgebra::DMatrix;

use super::super::data;
use super::super::identify::Verdict;
use super::super::runs::Cell;
use super::super::settings::Options;
use super::super::trials::{TERMS, ended_at, truth};
use super::super::unknowns::Unknowns;
use super::*;
use crate::model::parameters::{Decomposition, Phase, Table};

fn group(carrier: Term, carried: &[Term]) -> Group {
    Group { carrier, carried: carried.to_vec(), separable: Vec::new() }
}

/// An unknown of the runs alone, or one that a file says something of.
fn unknown(term: Term, is_measured: bool) -> Unknown {
    let prior = Prior { value: 1.0, std_error: 0.5, degrees_of_freedom: None, size: 1.0 };
    let kind = Kind::Entry(term.entry(0));
    Unknown { term, kind, prior: is_measured.then_some(prior), lower: 0.0 }
}

fn runs() -> Runs {
    let cells = [10.0, 6.0, 5.0].into_iter().zip(1..);
    let cells = cells.map(|(time, p)| Cell::of((1, p), &[time; 4])).collect();
    Runs { file: "runs.csv".into(), cells }
}

/// A fit of these unknowns at 1 each, with these entries and their covariance, row by row.
fn fit_of(list: Vec<Unknown>, spread: &[(Entry, f64)], covariance: &[f64]) -> Fit {
    let base = truth(Decomposition::Data, 0.1, TERMS);
    let x = vec![1.0; list.len()];
    let mut estimated = ended_at(Unknowns::new(&base, list), &x);
    estimated.minimum.residuals = vec![0.1, 0.0, -0.2];
    estimated.minimum.leverages = vec![0.5, 0.5, 0.75];
    let (entries, degrees_of_freedom): (Vec<Entry>, Vec<f64>) = spread.iter().copied().unzip();
    let covariance = DMatrix::from_row_slice(entries.len(), entries.len(), covariance);
    Fit {
        estimated,
        spread: Spread { entries, covariance, degrees_of_freedom },
        verdict: Verdict { groups: Vec::new(), undetermined: Vec::new(), condition: 12.5 },
        base,
        choice: None,
        held: Vec::new(),
        data: data::plain(&runs()),
        host_time: HostTime::Known,
    }
}

fn parameters_of(fit: &Fit) -> Parameters {
    parameters(fit, &fit.base, &runs())
}

#[test]
fn an_error_is_the_root_of_its_variance_and_nothing_that_is_exact_has_one() {
    let spread = [(Entry::HpuTime, 7.00049), (Entry::ApuTime, 4.0), (Entry::Gap, 1e6)];
    let list = [Term::HpuTime, Term::ApuTime, Term::Gap].map(|term| unknown(term, false));
    let fit = fit_of(list.into(), &spread, &[0.04, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25]);
    let terms = parameters_of(&fit).terms;
    let errors = [&terms.t_hpu_s, &terms.t_apu_s, &terms.g_s]
        .map(|estimate| (estimate.std_error, estimate.degrees_of_freedom));
    // Degrees of freedom to the thousandth; a million of them are as good as all.
    assert_eq!(errors, [(Some(0.2), Some(7.0)), (None, None), (Some(0.5), None)]);
}

#[test]
fn without_any_measure_of_the_noise_only_what_a_file_says_has_an_error() {
    let list = vec![unknown(Term::HpuTime, false), unknown(Term::ApuTime, true)];
    let spread = [(Entry::HpuTime, 4.0), (Entry::ApuTime, 4.0)];
    let mut fit = fit_of(list, &spread, &[0.04, 0.02, 0.02, 0.04]);
    fit.estimated.noise.origin = Origin::Assumed;
    let found = parameters_of(&fit);
    assert_eq!((found.terms.t_hpu_s.std_error, found.terms.t_apu_s.std_error), (None, Some(0.2)));
    // Nor do two errors go together of which one is not known.
    assert_eq!(found.correlation, None);
}

#[test]
fn errors_that_go_together_are_kept_and_faint_ones_are_not() {
    let entries = [Entry::HpuTime, Entry::ApuTime, Entry::Gap, Entry::ContextSwitch];
    let terms = [Term::HpuTime, Term::ApuTime, Term::Gap, Term::ContextSwitch];
    // Errors of 0.2, 1, 0 and 2 s: -0.1 of 0.2*1 in the mean of both sides, and 0.0004 of 2.
    let covariance = [
        [0.04, -0.125, 0.0, 0.0],
        [-0.075, 1.0, 0.0, 0.0008],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0008, 0.0, 4.0],
    ];
    let list = terms.map(|term| unknown(term, false)).into();
    let fit = fit_of(list, &entries.map(|entry| (entry, 4.0)), &covariance.concat());
    let found = parameters_of(&fit).correlation.unwrap();
    assert_eq!(found.entries(), [Entry::HpuTime, Entry::ApuTime]);
    approx::assert_relative_eq!(found.row(0)[1], -0.5, max_relative = 1e-12);
}

#[test]
fn a_sum_names_what_it_stands_for_on_every_entry_of_its_carrier() {
    let list = [Term::HpuTime, Term::ApuTime].map(|term| unknown(term, false));
    let spread = [(Entry::ApuTime, 4.0), (Entry::Alpha(1), 4.0), (Entry::Alpha(2), 4.0)];
    let mut fit = fit_of(list.into(), &spread, &[0.0; 9]);
    fit.verdict.groups =
        vec![group(Term::Alpha, &[Term::Gap]), group(Term::HpuTime, &[Term::ApuSerialTime])];
    let terms = parameters_of(&fit).terms;
    let OverM::Table(alpha) = &terms.alpha else { panic!("a table") };
    assert_eq!(alpha.values[1].combined_with, ["g_s"]);
    assert_eq!(alpha.values[2].combined_with, ["g_s"]);
    assert!(terms.t_apu_s.combined_with.is_empty());
}

#[test]
fn what_is_the_same_everywhere_is_told_on_both_terms_where_the_host_time_is_a_convention() {
    let list = vec![unknown(Term::ApuSerialTime, false), unknown(Term::Gap, false)];
    let spread = [(Entry::ApuSerialTime, 4.0), (Entry::Gap, 4.0)];
    let mut fit = fit_of(list, &spread, &[0.04, 0.0, 0.0, 0.04]);
    fit.host_time = HostTime::Conventional;
    fit.verdict.groups = vec![
        group(Term::HpuTime, &[Term::ApuSerialTime, Term::OffloadOverhead]),
        group(Term::ContextSwitch, &[Term::CollectiveCost]),
    ];
    fit.estimated.minimum.solution.at_bound = vec![true, true];
    let terms = parameters_of(&fit).terms;
    assert_eq!(terms.t_hpu_s.combined_with, ["c_apu_s", "o_offload_s"]);
    assert_eq!(terms.c_apu_s.combined_with, ["t_hpu_s", "o_offload_s"]);
    // One warning says so; what else is a sum, or at its bound, has its own.
    let warnings = warnings(&fit, &fit.base);
    assert_eq!(warnings.len(), 3);
    assert!(warnings[0].to_string().contains("next to nothing of t_hpu_s itself"));
    assert!(matches!(&warnings[1], Warning::Combined { on: "t_csw_s", .. }), "{warnings:?}");
    assert_eq!(warnings[2], Warning::AtBound { term: "g_s", bound: 0.0 });
}

#[test]
fn what_was_measured_once_is_said_of_single_values_and_of_errors_in_common() {
    let mut known = truth(Decomposition::Data, 0.1, TERMS);
    known.terms.g_s.std_error = Some(1e-6);
    let common = |entry| Kind::Common(vec![(entry, 0.1)]);
    let list = [
        unknown(Term::ApuTime, true),
        // Not measured by a file, and measured more than once.
        unknown(Term::HpuTime, false),
        unknown(Term::Gap, true),
        Unknown { kind: common(Entry::Alpha(1)), ..unknown(Term::Alpha, true) },
        Unknown { kind: common(Entry::Gap), ..unknown(Term::Gap, true) },
    ];
    let warning = measured_once(&list, &known).unwrap().to_string();
    assert!(warning.starts_with("t_apu_s, alpha measured once only: "), "{warning}");
    assert!(warning.contains("a standard error of 10 % is assumed"), "{warning}");
    assert_eq!(measured_once(&list[1..3], &known), None);
}

#[test]
fn the_value_that_a_bound_moved_most_is_named_with_the_number_of_the_others() {
    let mut fit = fit_of(Vec::new(), &[], &[]);
    assert_eq!(of_held(&fit), None);
    let held = |entry, bound, measured, wanted| Held { entry, bound, measured, wanted };
    fit.held.push(held(Entry::ApuSerialTime, 0.0, 2.0, -0.5));
    let said = "in c_apu_s: its file says 2.0000e0, the runs want -5.0000e-1; 0 is taken";
    let alone = of_held(&fit).unwrap().to_string();
    assert!(alone.ends_with(said), "{alone}");
    // Others that were moved by 0.25 and by 0.001.
    fit.held.push(held(Entry::Alpha(3), 1.0, 1.25, 0.75));
    fit.held.push(held(Entry::Gap, 0.0, 1e-3, -1e-3));
    let told = of_held(&fit).unwrap().to_string();
    assert!(told.contains("in c_apu_s and 2 other values: "), "{told}");
}

#[test]
fn alpha_at_one_thread_is_exact() {
    let uncertain =
        Estimate { std_error: Some(0.1), degrees_of_freedom: Some(3.0), ..Estimate::exact(1.0) };
    let errors = |m: [u32; 2]| {
        let mut parameters = truth(Decomposition::Data, 0.1, TERMS);
        let table = Table::new(m.into(), vec![uncertain.clone(), uncertain.clone()]);
        parameters.terms.alpha = OverM::Table(table);
        define_alpha_of_one(&mut parameters);
        let OverM::Table(table) = parameters.terms.alpha else { panic!("a table") };
        [0, 1].map(|index: usize| {
            table.values[index].std_error.zip(table.values[index].degrees_of_freedom)
        })
    };
    let known = Some((0.1, 3.0));
    assert_eq!(errors([1, 2]), [None, known]);
    assert_eq!(errors([2, 4]), [known, known]);
}

#[test]
fn phases_keep_their_parts_of_what_the_runs_correct() {
    let known =
        truth(Decomposition::Data, 0.1, [8.0, 120.0, 0.0, 1000.0, 1e-4, 5e-5, 2e-4, 1.5e-4]);
    let mut parameters = known.clone();
    parameters.terms.t_hpu_s.value = 12.0;
    parameters.terms.c_apu_s.value = 3.0;
    let uncertain = |value| Estimate { std_error: Some(0.5), ..Estimate::exact(value) };
    let phase = |t_hpu_s| Phase {
        name: "main".into(),
        t_hpu_s: uncertain(t_hpu_s),
        t_apu_s: uncertain(60.0),
        c_apu_s: uncertain(0.0),
        offloads: Estimate::exact(500.0),
        g_s: uncertain(2e-4),
        collectives: None,
    };
    parameters.phases = vec![phase(2.0), phase(6.0)];
    rescale_phases(&mut parameters, &known);
    let told = |estimate: &Estimate| (estimate.value, estimate.std_error.unwrap());
    // 12 s in place of 8: half as much again. Of nothing, nobody has a part.
    let found = parameters.phases.iter().map(|phase| told(&phase.t_hpu_s));
    assert_eq!(found.collect::<Vec<_>>(), [(3.0, 0.75), (9.0, 0.75)]);
    assert_eq!(told(&parameters.phases[0].t_apu_s), (60.0, 0.5));
    assert_eq!(told(&parameters.phases[0].c_apu_s), (0.0, 0.5));
}

#[test]
fn the_report_tells_how_the_fit_was_made_and_what_it_says_of_runs_it_had_not_seen() {
    let list = [Term::HpuTime, Term::ApuTime, Term::Gap].map(|term| unknown(term, false));
    let mut fit = fit_of(list.into(), &[], &[]);
    fit.estimated.minimum.solution.at_bound = vec![false, true, false];
    let (runs, options) = (runs(), Options::default());
    let request = Request { runs: &runs, correlations: &[], options: &options };
    let report = report(&fit, &fit.base, request).unwrap();
    assert_eq!((report.estimated, report.condition), (2, Some(12.5)));
    // A residual of 0.1 of which the point itself made a half is 0.2 without it.
    let expected = [10.0 * 0.2_f64.exp(), 6.0, 5.0 * (-0.8_f64).exp()];
    assert_eq!(report.left_out_s.len(), 3);
    for (found, expected) in report.left_out_s.iter().zip(expected) {
        approx::assert_relative_eq!(*found, expected, max_relative = 1e-12);
    }
    fit.estimated.minimum.leverages[2] = 1.0;
    assert!(left_out_s(&fit).is_empty());
}

mod recovery;
mod soundness;
pub(super) mod trials;

use super::shape::TermChoices;
use super::*;
use crate::models::parameters::OverM;
use mmgp_base::Mapping;
use mmgp_base::table::records::Profile;
use trials::*;

const DATA: Decomposition = Decomposition::Data;
const TASK: Decomposition = Decomposition::Task { tasks: 16 };

/// Every time of the terms is the truth's, to rounding where files say all of it; else to within what the
/// least noise that is believed in leaves.
fn check_predictions(fitted: &FitResult, truth: &Parameters) {
    let most = if fitted.report.runs.is_some() { 2e-3 } else { 1e-9 };
    for (m, p) in feasible() {
        let (found, expected) =
            (fitted.parameters.time(Mapping::of(m, p)).0, truth.time(Mapping::of(m, p)).0);
        approx::assert_relative_eq!(found, expected, max_relative = most);
    }
}

fn messages(fitted: &FitResult) -> Vec<String> {
    fitted.warnings.iter().map(Warning::to_string).collect()
}

#[test]
fn all_terms_come_back_from_their_files() {
    for decomposition in [DATA, TASK] {
        let truth = truth(decomposition, 0.08, TERMS);
        let fitted = fitted(&measured(&truth), decomposition).unwrap();
        check_predictions(&fitted, &truth);
        let (found, expected) = (fitted.parameters.terms, truth.terms);
        approx::assert_relative_eq!(found.o_offload_s.value, expected.o_offload_s.value);
        approx::assert_relative_eq!(found.g_s.value, expected.g_s.value);
        assert_eq!(found.t_hpu_s.source.as_deref(), Some("profile.csv"));
        assert_eq!(fitted.warnings, []);
    }
}

#[test]
fn runs_alone_predict_exactly_and_mark_the_sum() {
    for decomposition in [DATA, TASK] {
        let truth = truth(decomposition, 0.08, TERMS);
        let inputs = only(exact_runs(&truth, &feasible()));
        let fitted = fitted(&inputs, decomposition).unwrap();
        check_predictions(&fitted, &truth);
        let terms = &fitted.parameters.terms;
        // 8 + 2 + 1000*(100 + 50 + 150) us, and 1000*200 us for each APU.
        approx::assert_relative_eq!(terms.t_hpu_s.value, 10.3, max_relative = 1e-3);
        approx::assert_relative_eq!(terms.t_apu_s.value, 120.0, max_relative = 1e-3);
        approx::assert_relative_eq!(terms.g_s.value, 0.2, max_relative = 1e-2);
        assert_eq!(terms.t_hpu_s.combined_with, ["c_apu_s", "o_offload_s", "t_csw_s"]);
        assert_eq!(
            messages(&fitted),
            [
                "t_hpu_s stands for a sum that these data cannot split: t_hpu_s + c_apu_s + \
                 offloads*o_offload_s + offloads*t_csw_s",
                "alpha stands for a sum that these data cannot split: (alpha - 1)*t_hpu_s + \
                 collectives*o_col_s",
                "offloads was not measured and is taken as 1; give profile.csv to measure it"
            ]
        );
    }
}

#[test]
fn what_a_file_measures_splits_what_the_runs_cannot() {
    let truth = truth(DATA, 0.08, TERMS);
    let all = Inputs { runs: Some(exact_runs(&truth, &feasible())), ..measured(&truth) };
    let without_alpha = Inputs { alpha: None, ..all.clone() };
    let without_profile = Inputs { profile: None, ..all.clone() };
    let without_overheads = Inputs { offload: None, context_switch: None, collective: None, ..all };
    for inputs in [&without_alpha, &without_profile, &without_overheads] {
        check_predictions(&fitted(inputs, DATA).unwrap(), &truth);
    }
    let slope = fitted(&without_alpha, DATA).unwrap().parameters.terms;
    approx::assert_relative_eq!(slope.alpha_at(11), 1.8, max_relative = 5e-3);
    approx::assert_relative_eq!(slope.t_hpu_s.value, 8.0, max_relative = 5e-3);
    // With alpha known, host time is the part that alpha slows down.
    let program = fitted(&without_profile, DATA).unwrap().parameters.terms;
    approx::assert_relative_eq!(program.t_hpu_s.value, 8.0, max_relative = 5e-3);
    assert!(program.t_hpu_s.combined_with.is_empty());
    // What collectives cost grows with m where nobody knows; here it does not, and is no collective's.
    let overhead = fitted(&without_overheads, DATA).unwrap().parameters.terms.o_offload_s;
    approx::assert_relative_eq!(overhead.value, 3e-4, max_relative = 0.1);
    assert_eq!(overhead.combined_with, ["t_csw_s"]);
}

#[test]
fn what_runs_tell_next_to_nothing_of_comes_from_its_file_alone() {
    let truth = truth(DATA, 0.08, TERMS);
    let mut inputs = measured(&truth);
    for (row, factor) in inputs.offload.iter_mut().flat_map(|it| &mut it.rows).zip([0.9999, 1.0001])
    {
        row.time_s *= factor;
    }
    for (row, factor) in inputs.profile.iter_mut().flat_map(|it| &mut it.rows).zip([0.9, 1.1]) {
        row.apu_parallel_time_s *= factor;
    }
    // Two phases, of which each is a half.
    let halves = inputs.profile.iter().flat_map(|it| &it.rows).flat_map(|row| {
        ["first", "second"].map(|phase| Profile {
            phase: phase.into(),
            offloads: row.offloads / 2,
            collectives: row.collectives / 2,
            hpu_time_s: row.hpu_time_s / 2.0,
            apu_parallel_time_s: row.apu_parallel_time_s / 2.0,
            apu_serial_time_s: row.apu_serial_time_s / 2.0,
            gap_time_s: row.gap_time_s / 2.0,
            ..row.clone()
        })
    });
    inputs.profile = Some(FileRows { file: "profile.csv".into(), rows: halves.collect() });
    inputs.runs = Some(noisy_runs(&truth, &feasible(), 0.01, 1));
    let parameters = fitted(&inputs, DATA).unwrap().parameters;
    let terms = &parameters.terms;
    assert_eq!(terms.o_offload_s.source.as_deref(), Some("offload.csv"));
    assert_eq!(terms.t_apu_s.source.as_deref(), Some("profile.csv and runs.csv"));
    // The phases still add up to the whole, of which the runs know more than the profile.
    assert!((terms.t_apu_s.value - 120.0).abs() > 0.01, "{}", terms.t_apu_s.value);
    let sum: f64 = parameters.phases.iter().map(|it| it.t_apu_s.value).sum();
    approx::assert_relative_eq!(sum, terms.t_apu_s.value, max_relative = 1e-12);
}

#[test]
fn what_nothing_determines_is_neutral_and_said() {
    let truth = truth(DATA, 0.08, TERMS);
    let inputs = Inputs { profile: measured(&truth).profile, ..Inputs::default() };
    let fitted = fitted(&inputs, DATA).unwrap();
    // 8 + 120/8 + 2 + 1000*4*200 us
    approx::assert_relative_eq!(
        fitted.parameters.time(Mapping::of(2, 4)).0,
        25.8,
        max_relative = 1e-12
    );
    let taken = |(term, taken, file)| {
        format!("{term} was not measured and is taken as {taken}; give {file} to measure it")
    };
    let expected = [
        ("alpha", 1, "alpha.csv, or runs.csv with several m,"),
        ("o_offload_s", 0, "offload.csv"),
        ("t_csw_s", 0, "context_switch.csv"),
        ("o_col_s", 0, "collective.csv"),
    ];
    assert_eq!(messages(&fitted), expected.map(taken));
}

#[test]
fn nothing_gives_nothing() {
    let inputs = Inputs { profile: None, ..measured(&truth(DATA, 0.08, TERMS)) };
    assert_eq!(
        fitted(&inputs, DATA).unwrap_err().to_string(),
        "fit: neither a profile nor timed runs; give profile.csv or runs.csv"
    );
    let settings = Settings::new("", DATA, 0);
    assert_eq!(
        fit(&inputs, &settings).unwrap_err().to_string(),
        "apus: found 0, expected a whole number of at least 1"
    );
    let error = fitted(&inputs, Decomposition::Task { tasks: 0 }).unwrap_err().to_string();
    assert_eq!(error, "tasks: found 0, expected a whole number of at least 1");
}

#[test]
fn a_truth_under_noise_comes_back_within_its_standard_errors() {
    let mut deviations: [Vec<f64>; 4] = Default::default();
    let truths = [
        (DATA, 0.08, TERMS),
        (DATA, 0.3, [20.0, 360.0, 0.6, 1500.0, 7e-5, 2e-6, 3e-4, 1e-5]),
        (TASK, 0.1, [30.0, 118.0, 50.0, 100.0, 1e-4, 2e-6, 2e-2, 0.0]),
    ];
    for (seed, (decomposition, slope, terms)) in
        (1..=20).flat_map(|seed| truths.map(|truth| (seed, truth)))
    {
        let truth = truth(decomposition, slope, terms);
        let inputs = only(noisy_runs(&truth, &feasible(), 0.02, seed));
        let found = fitted(&inputs, decomposition).unwrap().parameters.terms;
        let [t_hpu, t_apu, c_apu, offloads, o_offload, t_csw, g, o_col] = terms;
        let sum = t_hpu + c_apu + offloads * (o_offload + t_csw + o_col);
        let OverM::Table(alpha) = &found.alpha else { panic!("a table") };
        let last = alpha.values.last().unwrap();
        let pairs = [
            (&found.t_hpu_s, sum),
            (&found.t_apu_s, t_apu),
            (&found.g_s, offloads * g),
            (last, 1.0 + 15.0 * slope * t_hpu / sum),
        ];
        for ((estimate, truth), all) in pairs.into_iter().zip(&mut deviations) {
            all.push((estimate.value - truth) / estimate.std_error.unwrap());
        }
    }
    // In units of its standard error, a deviation squared is 1 on average; the mean of 60 has
    // the standard error sqrt(2/60) = 0.18, of which three are allowed; errors that know that the equation
    // may be off are wider.
    for all in deviations {
        let mean_square = all.iter().map(|each| each * each).sum::<f64>() / all.len() as f64;
        assert!((0.3..1.54).contains(&mean_square), "{mean_square}");
        assert!(all.iter().all(|each| each.abs() < 4.0));
    }
}

/// What is said of runs of these configurations, which do not tell the terms.
fn check_traded(configurations: &[(u32, u32)], expected: &str) {
    let truth = truth(DATA, 0.08, TERMS);
    let fitted = fitted(&only(exact_runs(&truth, configurations)), DATA).unwrap();
    let messages = messages(&fitted);
    assert!(messages.contains(&expected.to_string()), "{messages:?}");
    // An error of a factor says that next to nothing is known.
    let told = &fitted.parameters.terms.t_apu_s;
    assert!(told.std_error.is_none_or(|error| error > 0.2 * told.value), "{told:?}");
    let said = fitted.summary().to_string();
    assert!(said.contains("They do not tell the terms of equation 11"), "{said}");
}

#[test]
fn too_few_configurations_name_the_one_to_time_next() {
    for (only, other) in [((1, 1), "(1, 2)"), ((4, 2), "(1, 1)")] {
        let runs = self::only(exact_runs(&truth(DATA, 0.08, TERMS), &[only]));
        assert_eq!(
            fitted(&runs, DATA).unwrap_err().to_string(),
            format!(
                "runs.csv: runs of ({}, {}) alone, which say nothing of others; also time {other}, or \
                 give profile.csv",
                only.0, only.1
            )
        );
    }
    // T_HPU - 17, T_APU + 16, a*T_HPU + 1, N*g + 1 leaves these three times as they are. It
    // changes that of (2, 3) by 31/3 s of the 71/3 s that its parts add up to, 44 %, and no
    // other by as much.
    check_traded(
        &[(1, 1), (1, 16), (16, 1)],
        "runs.csv: runs at (m, p) = (1, 1), (1, 16), (16, 1) cannot tell apart t_hpu_s, t_apu_s, \
         (alpha - 1)*t_hpu_s, offloads*p*g_s; also time (m, p) = (2, 3), or give profile.csv",
    );
}

#[test]
fn who_follows_the_advice_gets_a_fit_from_few_configurations() {
    for decomposition in [DATA, TASK] {
        let truth = truth(decomposition, 0.08, TERMS);
        let mut configurations = vec![(1, 1), (2, 1)];
        let fitted = loop {
            let fitted = fitted(&only(exact_runs(&truth, &configurations)), decomposition).unwrap();
            if fitted.traded.is_empty() {
                break fitted;
            }
            let messages = messages(&fitted);
            let advice = messages.iter().find(|it| it.contains("also time")).unwrap();
            configurations.push(advised(advice));
            assert!(configurations.len() <= 5, "{configurations:?}");
        };
        check_predictions(&fitted, &truth);
    }
}

/// The (m, p) that a message says to time.
fn advised(message: &str) -> (u32, u32) {
    let advice = message.split("also time (m, p) = (").nth(1).unwrap();
    let (m, rest) = advice.split_once(", ").unwrap();
    (m.parse().unwrap(), rest.split_once(')').unwrap().0.parse().unwrap())
}

#[test]
fn runs_at_one_m_leave_alpha_open() {
    let truth = truth(DATA, 0.08, TERMS);
    let runs = exact_runs(&truth, &[(1, 1), (1, 2), (1, 4), (1, 8)]);
    let fitted = fitted(&only(runs), DATA).unwrap();
    approx::assert_relative_eq!(
        fitted.parameters.time(Mapping::of(1, 16)).0,
        truth.time(Mapping::of(1, 16)).0,
        max_relative = 1e-3
    );
    assert_eq!(fitted.parameters.terms.alpha_at(4), 1.0);
    let alpha = "alpha was not measured and is taken as 1";
    assert!(messages(&fitted).iter().any(|message| message.starts_with(alpha)));
}

#[test]
fn a_run_must_take_some_time() {
    let refused = |runs: &Runs| fitted(&only(runs.clone()), DATA).unwrap_err().to_string();
    let mut runs = exact_runs(&truth(DATA, 0.08, TERMS), &[(1, 1), (1, 2)]);
    for cell in &mut runs.cells {
        cell.log_time = f64::NEG_INFINITY;
    }
    assert_eq!(
        refused(&runs),
        "runs.csv: most times of each configuration are 0 s; time longer runs, so that the clock can \
         see them"
    );
    runs.cells[1].mean_s = 0.0;
    assert_eq!(
        refused(&runs),
        "runs.csv: a time of 0 s for (m, p) = (1, 2); time longer runs, so that the clock can \
         see them"
    );
}

#[test]
fn runs_beyond_the_machine_are_used_and_named() {
    let truth = truth(DATA, 0.08, TERMS);
    let runs = exact_runs(&truth, &[(1, 1), (1, 4), (2, 2), (8, 1), (4, 8)]);
    assert!(
        messages(&fitted(&only(runs), DATA).unwrap()).contains(
            &"runs.csv: 1 configurations need more than 16 APUs, the first (m, p) = (4, 8); they \
          were used"
                .to_string()
        )
    );
}

#[test]
fn the_report_says_how_every_term_was_obtained() {
    let truth = truth(DATA, 0.08, TERMS);
    let inputs = Inputs {
        profile: None,
        runs: Some(noisy_runs(&truth, &feasible(), 0.02, 5)),
        ..measured(&truth)
    };
    let report = fitted(&inputs, DATA).unwrap().report;
    let rows = |term| report.terms.iter().find(|line| line.term == term).unwrap().observations;
    assert_eq!(["alpha", "t_csw_s", "t_hpu_s", "offloads"].map(rows), [32, 2, 150, 0]);
    let text = report.to_string();
    for part in [
        "Parameters of trial",
        "alpha",
        "runs.csv",
        "context_switch.csv",
        "carried by c_apu_s",
        "150 runs of 50 configurations",
        "noise of a run",
        "c_apu_s stands for c_apu_s + (offloads - 1)*(o_offload_s + t_csw_s)",
        "predictions weigh ",
        "left out, mmgp",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn times_that_no_clock_shows_are_refused_and_not_computed_with() {
    let truth = truth(DATA, 0.08, TERMS);
    for (factor, found) in [(1e-300, "e-298"), (1e300, "e302")] {
        let mut runs = exact_runs(&truth, &feasible());
        runs.cells[0].mean_s *= factor;
        let error = fitted(&only(runs), DATA).unwrap_err().to_string();
        assert!(error.contains(found) && error.contains("(1, 1) in runs.csv"), "{error}");
    }
    let mut inputs = measured(&truth);
    inputs.collective.as_mut().unwrap().rows[3].time_s = 1e300;
    let error = fitted(&inputs, DATA).unwrap_err().to_string();
    assert_eq!(error, "size: found 1e300 for collective.csv, expected 0, or from 1e-30 to 1e30");
}

/// The time at 32 threads is the same whether 8 APUs or 32 were named.
fn check_on_8_and_on_32(inputs: &Inputs, terms: TermChoices) -> f64 {
    let time = |apus: u32| {
        let options = Options { terms: terms.clone(), ..Options::default() };
        let settings = Settings::new("trial", DATA, apus).with(options);
        fit(inputs, &settings).unwrap().parameters.time(Mapping::of(32, 1)).0
    };
    approx::assert_relative_eq!(time(8), time(32), max_relative = 1e-9);
    time(8)
}

#[test]
fn a_shape_goes_on_beyond_the_runs_whatever_number_of_apus_was_named() {
    use shape::Selection::Fixed;
    use shape::Shape::{Constant, Linear, Logarithmic};
    // 8*(1 + 0.08*31) + 120/32 + 2 + 0.5 s, and a collective along a line that starts at 2 ranks.
    let configurations: Vec<(u32, u32)> = feasible().into_iter().filter(|it| it.0 <= 8).collect();
    let mut truth = truth(DATA, 0.08, TERMS);
    let runs = only(noisy_runs(&truth, &configurations, 0.001, 1));
    truth.terms.o_col_s = crate::toy::table(&[1, 16], &[1e-4, 4e-4]);
    let files = measured(&truth);
    let of_runs = |shape| {
        let choices = TermChoices { alpha: Fixed(shape), ..TermChoices::default() };
        check_on_8_and_on_32(&runs, choices)
    };
    let of_files = |alpha, collective| {
        let (alpha, collective) = (Fixed(alpha), Fixed(collective));
        check_on_8_and_on_32(&files, TermChoices { alpha, collective, ..TermChoices::default() })
    };
    approx::assert_relative_eq!(of_runs(Linear), 34.09, max_relative = 0.02);
    let expected = 34.09 - 0.15 + 0.1 + 0.3 * 31.0 / 15.0;
    approx::assert_relative_eq!(of_files(Linear, Linear), expected, max_relative = 1e-6);
    // What grows more slowly has grown less, and what does not grow least.
    assert!(of_runs(Constant) + 1.0 < of_runs(Logarithmic));
    assert!(of_runs(Logarithmic) + 1.0 < of_runs(Linear));
    assert!(of_files(Linear, Constant) + 0.05 < of_files(Linear, Logarithmic));
    assert!(of_files(Linear, Logarithmic) + 0.05 < of_files(Linear, Linear));
}

#[test]
fn a_slowdown_below_one_is_one_and_its_file_is_named() {
    let truth = truth(DATA, 0.08, TERMS);
    let mut inputs = measured(&truth);
    for row in &mut inputs.alpha.as_mut().unwrap().rows {
        row.time_s = if row.processes > 1 { 0.25 } else { 1.0 };
    }
    let alone = fitted(&inputs, DATA).unwrap();
    assert!((2..=16).all(|m| alone.parameters.terms.alpha_at(m) == 1.0));
    assert!(messages(&alone).iter().any(|each| each.contains("0.250 by alpha.csv")));
    // Runs that want a slowdown get it, and say that the file contradicts them.
    let with_runs = Inputs { runs: Some(noisy_runs(&truth, &feasible(), 0.01, 1)), ..inputs };
    let joined = fitted(&with_runs, DATA).unwrap();
    assert!((2..=16).all(|m| joined.parameters.terms.alpha_at(m) >= 1.0));
    assert!(messages(&joined).iter().any(|each| each.contains("contradict")));
}

#[test]
fn files_that_the_runs_contradict_are_named_and_trusted_less() {
    let truth = truth(DATA, 0.08, TERMS);
    let exact = measured(&truth);
    for factor in [1.1, 1.3] {
        let mut inputs =
            Inputs { runs: Some(noisy_runs(&truth, &feasible(), 0.01, 4)), ..exact.clone() };
        let mut repeated = Vec::new();
        for row in &inputs.profile.as_ref().unwrap().rows {
            for (repetition, noise) in [(1, 0.999), (2, 1.0), (3, 1.001)] {
                // The profile saw more shared work than there is.
                let apu_parallel_time_s = row.apu_parallel_time_s * factor * noise;
                repeated.push(Profile { repetition, apu_parallel_time_s, ..row.clone() });
            }
        }
        inputs.profile.as_mut().unwrap().rows = repeated;
        let fitted = fitted(&inputs, DATA).unwrap();
        let agreement = fitted.report.runs.as_ref().unwrap().agreement.clone().unwrap();
        assert!(agreement.contradicted > 0.9, "{}", agreement.contradicted);
        assert_eq!(agreement.values[0].entry, "t_apu_s");
        approx::assert_relative_eq!(agreement.values[0].elsewhere.0, 120.0, max_relative = 0.05);
        // The runs know better, and say so.
        let t_apu = &fitted.parameters.terms.t_apu_s;
        approx::assert_relative_eq!(t_apu.value, 120.0, max_relative = 0.03);
        assert!((t_apu.value - 120.0).abs() < 2.0 * t_apu.std_error.unwrap());
        let contradict = "runs and files contradict each other";
        assert!(messages(&fitted).iter().any(|each| each.starts_with(contradict)));
    }
}

#[test]
fn runs_of_another_problem_than_the_profile_are_asked_about() {
    let truth = truth(DATA, 0.08, TERMS);
    let asked = |factor: f64| {
        let mut runs = exact_runs(&truth, &[(1, 1), (2, 4), (8, 1)]);
        for cell in &mut runs.cells {
            (cell.mean_s, cell.log_time) = (cell.mean_s * factor, cell.log_time + factor.ln());
        }
        let fitted = fitted(&Inputs { runs: Some(runs), ..measured(&truth) }, DATA).unwrap();
        messages(&fitted).iter().any(|each| each.contains("measured on the same problem"))
    };
    assert_eq!([1e-3, 0.5, 1.0, 2.0, 60.0].map(asked), [true, false, false, false, true]);
}

#[test]
fn what_runs_say_beyond_the_bounds_of_terms_leaves_next_to_nothing_of_them() {
    // Every further APU saves time that no sharing explains, and every further thread, too.
    let truth = truth(DATA, 0.0, [8.0, 120.0, 2.0, 1000.0, 0.0, 0.0, 0.0, 0.0]);
    let mut rows = Vec::new();
    for (m, p) in feasible() {
        let less = 0.02 * f64::from(p) + 0.02 * f64::from(m);
        let time_s = truth.time(Mapping::of(m, p)).0 - less;
        rows.push(mmgp_base::table::records::Run { m, p, repetition: 1, time_s });
    }
    let terms = fitted(&only(runs_of(&rows)), DATA).unwrap().parameters.terms;
    assert!((0.0..5e-3).contains(&terms.g_s.value), "{:?}", terms.g_s);
    // How large it may be all the same is known.
    assert!((0.0..0.05).contains(&terms.g_s.interval().unwrap().1), "{:?}", terms.g_s);
    assert!((1.0..1.01).contains(&terms.alpha_at(16)), "{}", terms.alpha_at(16));
}

#[test]
fn runs_at_one_p_cannot_split_the_gap_off() {
    let truth = truth(DATA, 0.08, TERMS);
    let runs = exact_runs(&truth, &[(1, 2), (2, 2), (4, 2), (8, 2)]);
    let fitted = fitted(&only(runs), DATA).unwrap();
    approx::assert_relative_eq!(
        fitted.parameters.time(Mapping::of(6, 2)).0,
        truth.time(Mapping::of(6, 2)).0,
        max_relative = 1e-2
    );
    let terms = &fitted.parameters.terms;
    assert_eq!(terms.g_s.value, 0.0);
    assert_eq!(terms.g_s.source.as_deref(), Some("carried by t_hpu_s"));
    assert!(terms.t_hpu_s.combined_with.contains(&"g_s".to_string()));
}

#[test]
fn a_model_that_misses_the_runs_is_doubted() {
    // Noise of 0.1 %, but every even m is 5 % slower than the model can say.
    let mut runs = noisy_runs(&truth(DATA, 0.08, TERMS), &feasible(), 0.001, 3);
    for cell in runs.cells.iter_mut().filter(|cell| cell.m % 2 == 0) {
        (cell.mean_s, cell.log_time) = (cell.mean_s * 1.05, cell.log_time + 1.05_f64.ln());
    }
    let mut repeated = runs.clone();
    let once = fitted(&only(runs), DATA).unwrap();
    let of_runs = once.report.runs.unwrap();
    assert!(of_runs.exact < 1e-6, "{}", of_runs.exact);
    // About half of the configurations are 5 % off, so all of them 2.5 %.
    assert!((0.01..0.1).contains(&of_runs.basis.misfit), "{}", of_runs.basis.misfit);
    // Repeating the same runs a thousand times teaches next to nothing about such a model.
    let error = once.parameters.terms.t_apu_s.std_error.unwrap();
    for cell in &mut repeated.cells {
        (cell.count, cell.log_squares) = (1000 * cell.count, 1000.0 * cell.log_squares);
    }
    let again = fitted(&only(repeated), DATA).unwrap().parameters.terms.t_apu_s;
    approx::assert_relative_eq!(again.std_error.unwrap(), error, max_relative = 0.1);
}

/// T = K + T_APU/p + p*N*g at many p, eight runs each with a noise of 2 %: least squares by hand.
#[test]
fn without_a_misfit_standard_errors_are_those_of_the_normal_equations() {
    let ps = [1, 2, 3, 4, 6, 8, 12, 16];
    let times = ps.map(|p| 10.0 + 60.0 / f64::from(p) + 0.8 * f64::from(p));
    let cells = ps.iter().zip(&times).map(|(&p, &time)| {
        let log_squares = 7.0 * 0.02_f64.powi(2);
        runs::Cell { log_squares, ..runs::Cell::of((1, p), &[time; 8]) }
    });
    let runs = Runs::new("runs.csv", cells.collect());
    let base = FileTerms::from(&Inputs::default(), &Settings::new("", DATA, 16)).unwrap();
    let (base, unknown) = (base.parameters(&Settings::new("", DATA, 16)), base.unknown_terms());
    let terms = terms::without_misfit(&base, &unknown, None, &runs).unwrap().terms;
    let design = nalgebra::DMatrix::from_fn(ps.len(), 3, |row, column| {
        let p = f64::from(ps[row]);
        [1.0, 1.0 / p, p][column] / times[row]
    });
    let observations = runs.observations();
    let noise = observations.scatter / observations.degrees_of_freedom;
    let covariance = (design.transpose() * &design).try_inverse().unwrap() * (noise / 8.0);
    for (place, found, value) in
        [(0, &terms.t_hpu_s, 10.0), (1, &terms.t_apu_s, 60.0), (2, &terms.g_s, 0.8)]
    {
        let ideal = covariance[(place, place)].sqrt();
        approx::assert_relative_eq!(found.value, value, max_relative = 1e-3);
        approx::assert_relative_eq!(found.std_error.unwrap(), ideal, max_relative = 0.03);
    }
}

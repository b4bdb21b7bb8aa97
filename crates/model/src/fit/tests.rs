use super::shape::TermChoices;
use super::trials::*;
use super::*;
use crate::model::parameters::OverM;
use mmgp_base::Mapping;
use mmgp_base::table::records::Profile;

const DATA: Decomposition = Decomposition::Data;
const TASK: Decomposition = Decomposition::Task { tasks: 16 };

/// Every feasible prediction of the fit is the truth's, to rounding.
fn check_predictions(fitted: &Fitted, truth: &Parameters) {
    for (m, p) in feasible() {
        let (found, expected) =
            (fitted.parameters.time(Mapping::of(m, p)).0, truth.time(Mapping::of(m, p)).0);
        approx::assert_relative_eq!(found, expected, max_relative = 1e-9);
    }
}

fn messages(fitted: &Fitted) -> Vec<String> {
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
        approx::assert_relative_eq!(terms.t_hpu_s.value, 10.3, max_relative = 1e-9);
        approx::assert_relative_eq!(terms.t_apu_s.value, 120.0, max_relative = 1e-9);
        approx::assert_relative_eq!(terms.g_s.value, 0.2, max_relative = 1e-8);
        assert_eq!(terms.t_hpu_s.combined_with, ["c_apu_s", "o_offload_s", "t_csw_s", "o_col_s"]);
        assert_eq!(
            messages(&fitted),
            [
                "t_hpu_s stands for a sum that these data cannot split: t_hpu_s + c_apu_s + \
                 offloads*o_offload_s + offloads*t_csw_s + collectives*o_col_s",
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
    approx::assert_relative_eq!(slope.alpha_at(11), 1.8, max_relative = 1e-9);
    approx::assert_relative_eq!(slope.t_hpu_s.value, 8.0, max_relative = 1e-6);
    // With alpha known, host time is the part that alpha slows down.
    let program = fitted(&without_profile, DATA).unwrap().parameters.terms;
    approx::assert_relative_eq!(program.t_hpu_s.value, 8.0, max_relative = 1e-8);
    assert!(program.t_hpu_s.combined_with.is_empty());
    let overhead = fitted(&without_overheads, DATA).unwrap().parameters.terms.o_offload_s;
    approx::assert_relative_eq!(overhead.value, 3e-4, max_relative = 1e-8);
    assert_eq!(overhead.combined_with, ["t_csw_s", "o_col_s"]);
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
    inputs.profile = Some(Measured { file: "profile.csv".into(), rows: halves.collect() });
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
fn runs_and_files_meet_by_the_weight_of_their_errors() {
    // Next to nothing but host time: 10 s by two profiles, 10 +- 0.02; 10.06 s by eight runs with a noise
    // of 0.4 %, 10.06 +- 0.0142.
    let row = |repetition, hpu_time_s| Profile {
        phase: "main".into(),
        repetition,
        offloads: 1,
        collectives: 0,
        hpu_time_s,
        apu_parallel_time_s: 0.0,
        apu_serial_time_s: 0.0,
        gap_time_s: 0.0,
    };
    let rows = vec![row(1, 9.98), row(2, 10.02)];
    let squared_deviations_s2 = 7.0 * (0.004 * 10.06_f64).powi(2);
    let cell = runs::Cell { squared_deviations_s2, ..runs::Cell::of((1, 1), &[10.06; 8]) };
    let inputs = Inputs {
        profile: Some(Measured { file: "profile.csv".into(), rows }),
        runs: Some(Runs { file: "runs.csv".into(), cells: vec![cell] }),
        ..measured(&truth(DATA, 0.08, [10.0, 0.0, 0.0, 1.0, 1e-9, 1e-9, 0.0, 1e-9]))
    };
    let found = fitted(&inputs, DATA).unwrap().parameters.terms.t_hpu_s;
    let of_runs = (0.004 * 10.06_f64).powi(2) / 8.0;
    let weights = [1.0 / 0.02_f64.powi(2), 1.0 / of_runs];
    let sum: f64 = weights.iter().sum();
    let expected = (10.0 * weights[0] + 10.06 * weights[1]) / sum;
    approx::assert_relative_eq!(found.value, expected, max_relative = 1e-5);
    approx::assert_relative_eq!(found.std_error.unwrap(), sum.recip().sqrt(), max_relative = 1e-2);
    // Variances add: weights are squared over the degrees of freedom of each, 1 of the profile, 7 of
    // the runs.
    let degrees_of_freedom = sum.powi(2) / (weights[0].powi(2) / 1.0 + weights[1].powi(2) / 7.0);
    approx::assert_relative_eq!(
        found.degrees_of_freedom.unwrap(),
        degrees_of_freedom,
        max_relative = 2e-2
    );
    assert_eq!(found.source.as_deref(), Some("profile.csv and runs.csv"));
}

#[test]
fn files_that_the_runs_contradict_are_named_and_trusted_less() {
    let truth = truth(DATA, 0.08, TERMS);
    let exact = measured(&truth);
    let mut inputs = Inputs { runs: Some(noisy_runs(&truth, &feasible(), 0.01, 4)), ..exact };
    let mut repeated = Vec::new();
    for row in &inputs.profile.as_ref().unwrap().rows {
        for (repetition, factor) in [(1, 0.999), (2, 1.0), (3, 1.001)] {
            // The profile saw 30 % more shared work than there is.
            let apu_parallel_time_s = row.apu_parallel_time_s * 1.3 * factor;
            repeated.push(Profile { repetition, apu_parallel_time_s, ..row.clone() });
        }
    }
    inputs.profile.as_mut().unwrap().rows = repeated;
    let fitted = fitted(&inputs, DATA).unwrap();
    let conflict = fitted.report.runs.as_ref().unwrap().conflict.clone().unwrap();
    assert!(conflict.is_significant() && conflict.probability < 1e-6);
    assert_eq!(conflict.values[0].entry, "t_apu_s");
    approx::assert_relative_eq!(conflict.values[0].elsewhere.0, 120.0, max_relative = 0.05);
    assert!(conflict.stretch > 10.0, "{}", conflict.stretch);
    // The runs know better, and now they may say so.
    let t_apu = &fitted.parameters.terms.t_apu_s;
    approx::assert_relative_eq!(t_apu.value, 120.0, max_relative = 0.03);
    assert!(messages(&fitted).iter().any(|each| each.starts_with("runs and files contradict")));
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
    // the standard error sqrt(2/60) = 0.18, of which three are allowed.
    for all in deviations {
        let mean_square = all.iter().map(|each| each * each).sum::<f64>() / all.len() as f64;
        assert!((0.46..1.54).contains(&mean_square), "{mean_square}");
        assert!(all.iter().all(|each| each.abs() < 4.0));
    }
}

#[test]
fn a_term_that_would_be_negative_ends_at_its_bound() {
    // Every further APU saves time that no sharing explains.
    let truth = truth(DATA, 0.08, [8.0, 120.0, 2.0, 1000.0, 0.0, 0.0, 0.0, 0.0]);
    let mut runs = exact_runs(&truth, &feasible());
    for cell in &mut runs.cells {
        cell.mean_s -= 0.02 * f64::from(cell.p);
    }
    let fitted_gap = fitted(&only(runs), DATA).unwrap();
    assert_eq!(fitted_gap.parameters.terms.g_s.value, 0.0);
    // How large it may be all the same is known.
    assert!(fitted_gap.parameters.terms.g_s.interval().unwrap().1 > 0.0);
    assert!(fitted_gap.warnings.contains(&Warning::AtBound { term: "g_s", bound: 0.0 }));
    assert!(fitted_gap.parameters.terms.t_apu_s.std_error.is_some());
}

#[test]
fn threads_that_speed_the_host_up_end_at_alpha_1() {
    let mut runs = exact_runs(&truth(DATA, 0.0, TERMS), &feasible());
    for cell in &mut runs.cells {
        cell.mean_s -= 0.05 * f64::from(cell.m);
    }
    let fitted = fitted(&only(runs), DATA).unwrap();
    assert_eq!(fitted.parameters.terms.alpha_at(16), 1.0);
    assert!(fitted.warnings.contains(&Warning::AtBound { term: "alpha", bound: 1.0 }));
}

#[test]
fn where_no_bound_holds_the_likelihood_is_level() {
    let truth = truth(DATA, 0.2, TERMS);
    let runs = noisy_runs(&truth, &feasible(), 0.02, 7);
    let found = fitted(&only(runs.clone()), DATA).unwrap().parameters.terms;
    let t_hpu = found.t_hpu_s.value;
    let slope = t_hpu * (found.alpha_at(16) - 1.0) / 15.0;
    let x = nalgebra::Vector4::new(t_hpu, slope, found.t_apu_s.value, found.g_s.value);
    // The same four combinations, written out: 1, m - 1, 1/(m*p), p. The derivative of the sum of
    // squares is the sum of ln(T/t)/T times each, 0 beside what its parts add up to.
    let mut level = nalgebra::Vector4::zeros();
    let mut size = nalgebra::Vector4::zeros();
    for cell in &runs.cells {
        let (m, p) = (f64::from(cell.m), f64::from(cell.p));
        let row = nalgebra::Vector4::new(1.0, m - 1.0, 1.0 / (m * p), p);
        let time = row.dot(&x);
        let part = row * ((time / cell.mean_s).ln() / time);
        level += part;
        size += part.abs();
    }
    for (level, size) in level.iter().zip(size.iter()) {
        assert!(level.abs() < 1e-8 * size, "{level} of {size}");
    }
}

/// What is said of runs of these configurations, which do not tell the terms.
fn check_untold(configurations: &[(u32, u32)], expected: &str) {
    let truth = truth(DATA, 0.08, TERMS);
    let fitted = fitted(&only(exact_runs(&truth, configurations)), DATA).unwrap();
    let untold = fitted.untold.as_ref().unwrap();
    assert_eq!(untold.configurations, configurations.len());
    assert_eq!(messages(&fitted), [expected]);
    assert_eq!(fitted.parameters.terms.t_apu_s.value, 0.0);
    assert!(fitted.parameters.evidence.is_some());
    let said = fitted.summary().to_string();
    assert!(said.contains("They do not tell the terms of equation 11"), "{said}");
}

#[test]
fn too_few_configurations_name_the_one_to_time_next() {
    check_untold(
        &[(1, 1)],
        "runs.csv: runs at (m, p) = (1, 1) cannot tell apart t_hpu_s, t_apu_s; also time \
         (m, p) = (1, 16), or give profile.csv",
    );
    // T_HPU - 17, T_APU + 16, a*T_HPU + 1, N*g + 1 leaves these three times as they are. It
    // changes that of (2, 3) by 31/3 s of the 71/3 s that its parts add up to, 44 %, and no
    // other by as much.
    check_untold(
        &[(1, 1), (1, 16), (16, 1)],
        "runs.csv: runs at (m, p) = (1, 1), (1, 16), (16, 1) cannot tell apart t_hpu_s, \
         t_apu_s, (alpha - 1)*t_hpu_s, offloads*p*g_s; also time (m, p) = (2, 3), or give \
         profile.csv",
    );
}

#[test]
fn who_follows_the_advice_gets_a_fit_from_few_configurations() {
    for decomposition in [DATA, TASK] {
        let truth = truth(decomposition, 0.08, TERMS);
        let mut configurations = vec![(1, 1), (2, 1)];
        let fitted = loop {
            let fitted = fitted(&only(exact_runs(&truth, &configurations)), decomposition).unwrap();
            if fitted.untold.is_none() {
                break fitted;
            }
            configurations.push(advised(&messages(&fitted)[0]));
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
        max_relative = 1e-9
    );
    assert_eq!(fitted.parameters.terms.alpha_at(4), 1.0);
    let alpha = "alpha was not measured and is taken as 1";
    assert!(messages(&fitted).iter().any(|message| message.starts_with(alpha)));
}

#[test]
fn runs_at_one_p_cannot_split_the_gap_off() {
    let truth = truth(DATA, 0.08, TERMS);
    let runs = exact_runs(&truth, &[(1, 2), (2, 2), (4, 2), (8, 2)]);
    let fitted = fitted(&only(runs), DATA).unwrap();
    approx::assert_relative_eq!(
        fitted.parameters.time(Mapping::of(6, 2)).0,
        truth.time(Mapping::of(6, 2)).0,
        max_relative = 1e-9
    );
    let terms = &fitted.parameters.terms;
    assert_eq!(terms.g_s.value, 0.0);
    assert_eq!(terms.g_s.source.as_deref(), Some("carried by t_hpu_s"));
    assert!(terms.t_hpu_s.combined_with.contains(&"g_s".to_string()));
    assert!(messages(&fitted).iter().any(|message| message.starts_with("g_s was not measured")));
}

#[test]
fn a_run_must_take_some_time() {
    let mut runs = exact_runs(&truth(DATA, 0.08, TERMS), &[(1, 1), (1, 2)]);
    runs.cells[1].mean_s = 0.0;
    assert_eq!(
        fitted(&only(runs), DATA).unwrap_err().to_string(),
        "runs.csv: a time of 0 s for (m, p) = (1, 2); time longer runs, so that the clock can \
         see them"
    );
}

#[test]
fn a_model_that_misses_the_runs_is_doubted() {
    // Noise of 0.1 %, but every even m is 5 % slower than the model can say.
    let mut runs = noisy_runs(&truth(DATA, 0.08, TERMS), &feasible(), 0.001, 3);
    for cell in runs.cells.iter_mut().filter(|cell| cell.m % 2 == 0) {
        cell.mean_s *= 1.05;
    }
    let mut repeated = runs.clone();
    let fitted = fitted(&only(runs), DATA).unwrap();
    let message = "the model misses the means of the runs by ";
    assert!(messages(&fitted).iter().any(|each| each.starts_with(message)));
    // About half of the configurations are 5 % off, so all of them 2.5 %, at worst.
    let deviation = fitted.report.runs.unwrap().noise.model;
    assert!((0.01..0.028).contains(&deviation), "{deviation}");
    // Repeating the same runs a thousand times teaches next to nothing about such a model.
    let error = fitted.parameters.terms.t_apu_s.std_error.unwrap();
    for cell in &mut repeated.cells {
        cell.count *= 1000;
        cell.squared_deviations_s2 *= 1000.0;
    }
    let again = super::trials::fitted(&only(repeated), DATA).unwrap();
    let again = again.parameters.terms.t_apu_s.std_error.unwrap();
    approx::assert_relative_eq!(again, error, max_relative = 1e-3);
}

#[test]
fn as_many_runs_as_terms_leave_no_standard_error() {
    let mut runs = exact_runs(&truth(DATA, 0.08, TERMS), &[(1, 1), (1, 4), (2, 2), (8, 1)]);
    for cell in &mut runs.cells {
        cell.count = 1;
    }
    let fitted = fitted(&only(runs), DATA).unwrap();
    assert_eq!(fitted.parameters.terms.t_apu_s.std_error, None);
    assert!(messages(&fitted).iter().any(|each| each.starts_with("as many terms as runs")));
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
        "converged: ",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn standard_errors_are_those_of_the_normal_equations() {
    let cell = |p, mean_s| runs::Cell {
        squared_deviations_s2: mean_s * mean_s * 1e-4,
        ..runs::Cell::of((1, p), &[mean_s; 8])
    };
    let runs =
        Runs { file: "runs.csv".into(), cells: vec![cell(1, 10.0), cell(2, 6.5), cell(4, 5.5)] };
    let found = fitted(&only(runs), DATA).unwrap().parameters.terms;
    // T = K + T_APU/p + p*N*g at three p: the terms are linear in the three means.
    let inverse =
        nalgebra::Matrix3::new(1.0, 1.0, 1.0, 1.0, 0.5, 2.0, 1.0, 0.25, 4.0).try_inverse().unwrap();
    // Each mean has variance s^2*t^2/8 with s^2 = 3*1e-4/21.
    let variance = 3e-4 / 21.0 / 8.0;
    let error = |row: usize| {
        let terms = [10.0_f64, 6.5, 5.5].iter().enumerate();
        terms.map(|(column, t)| (inverse[(row, column)] * t).powi(2) * variance).sum::<f64>().sqrt()
    };
    approx::assert_relative_eq!(found.t_hpu_s.std_error.unwrap(), error(0), max_relative = 1e-8);
    approx::assert_relative_eq!(found.t_apu_s.std_error.unwrap(), error(1), max_relative = 1e-8);
}

#[test]
fn growth_with_m_is_kept_where_nothing_else_is_constant() {
    let truth = truth(DATA, 0.0, [1e-30, 120.0, 0.0, 1.0, 0.0, 0.0, 0.1, 0.0]);
    let mut runs = exact_runs(&truth, &feasible());
    for cell in &mut runs.cells {
        cell.mean_s += 0.5 * f64::from(cell.m - 1);
    }
    let expected = runs.clone();
    let fitted = fitted(&only(runs), DATA).unwrap();
    for cell in expected.cells {
        let found = fitted.parameters.time(Mapping::of(cell.m, cell.p)).0;
        // T_HPU is a thousandth of the shortest time at least.
        approx::assert_relative_eq!(found, cell.mean_s, max_relative = 1e-3);
    }
    // As a ratio to that, alpha is large and known as well as what grows with m.
    let terms = &fitted.parameters.terms;
    assert!(terms.alpha_at(16) < 1e4, "{}", terms.alpha_at(16));
    assert_eq!(terms.t_hpu_s.std_error, None);
    assert!(terms.c_apu_s.combined_with.contains(&"t_hpu_s".to_string()));
    let split = messages(&fitted);
    assert!(split[0].contains("next to nothing of t_hpu_s itself"), "{split:?}");
}

#[test]
fn what_no_run_of_one_thread_tells_is_neither_a_constant_slowdown_nor_a_conflict_with_files() {
    let truth = truth(DATA, 0.08, TERMS);
    let configurations: Vec<(u32, u32)> =
        feasible().into_iter().filter(|each| each.0 > 1).collect();
    let fitted = fitted(&only(noisy_runs(&truth, &configurations, 0.1, 3)), DATA).unwrap();
    let runs = fitted.report.runs.as_ref().unwrap();
    let tried: Vec<shape::Shape> =
        runs.growth.iter().flat_map(|choice| &choice.tried).map(|trial| trial.shape).collect();
    assert!(!tried.contains(&shape::Shape::Constant), "{tried:?}");
    assert!(!tried.contains(&shape::Shape::Table), "{tried:?}");
    assert_eq!(runs.conflict, None);
    for entry in fitted.parameters.terms.entries() {
        let estimate = fitted.parameters.terms.estimate(entry).unwrap();
        assert!(estimate.std_error.is_none_or(|error| error < 100.0), "{entry:?} {estimate:?}");
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

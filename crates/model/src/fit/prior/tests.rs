use super::*;

#[test]
fn trigamma_of_one_and_of_a_half() {
    use std::f64::consts::PI;
    approx::assert_relative_eq!(trigamma(1.0), PI.powi(2) / 6.0, max_relative = 1e-12);
    approx::assert_relative_eq!(trigamma(0.5), PI.powi(2) / 2.0, max_relative = 1e-12);
    approx::assert_relative_eq!(inverse_trigamma(PI.powi(2) / 6.0), 1.0, max_relative = 1e-9);
}

#[test]
fn variances_that_differ_by_chance_are_pooled() {
    let moderated = moderate(&[(1.0, 4.0), (1.5, 4.0), (0.7, 4.0), (1.2, 8.0)]);
    // (4*1 + 4*1.5 + 4*0.7 + 8*1.2)/20
    for (variance, degrees_of_freedom) in moderated {
        approx::assert_relative_eq!(variance, 1.12, max_relative = 1e-12);
        assert_eq!(degrees_of_freedom, 20.0);
    }
}

#[test]
fn variances_that_differ_in_truth_stay_apart() {
    let moderated = moderate(&[(1e-6, 40.0), (1.0, 40.0), (1e6, 40.0), (1e3, 40.0)]);
    assert!(moderated[2].0 / moderated[0].0 > 1e11);
    approx::assert_relative_eq!(moderated[2].0, 1e6, max_relative = 0.1);
    assert!(moderated[0].1 < 42.0);
}

#[test]
fn variances_that_differ_more_than_by_chance_are_drawn_towards_a_common_one() {
    let moderated = moderate(&[-1.0_f64, 0.0, 1.0].map(|log| (log.exp(), 40.0)));
    // The logarithms have the variance 1; with 40 degrees of freedom, chance makes trigamma(20) of that,
    // and -ln 0.01 times as much (the quantile of chi squared of 2 degrees of freedom) once in 100.
    let excess = 1.0 + trigamma(20.0) * 0.01_f64.ln();
    let further = moderated[0].1 - 40.0;
    approx::assert_relative_eq!(trigamma(further / 2.0), excess, max_relative = 1e-9);
    let bias = |half: f64| digamma(half) - half.ln();
    let common = (bias(further / 2.0) - bias(20.0)).exp();
    for (log, (variance, degrees_of_freedom)) in [-1.0_f64, 0.0, 1.0].into_iter().zip(moderated) {
        let expected = (further * common + 40.0 * log.exp()) / (further + 40.0);
        approx::assert_relative_eq!(variance, expected, max_relative = 1e-12);
        assert_eq!(degrees_of_freedom, further + 40.0);
    }
}

fn measured_of(entry: Entry, estimate: &Estimate, relative_variance: f64) -> Measured<'_> {
    Measured { entry, estimate, relative_variance, degrees_of_freedom: Some(4.0) }
}

#[test]
fn errors_in_common_make_up_the_covariance_of_the_values() {
    let entries = [Entry::Alpha(1), Entry::Alpha(2), Entry::HpuTime];
    let values = [1.2, 1.5, 7.0].map(Estimate::exact);
    let variances = [0.01, 0.04, 0.09];
    let all: Vec<Measured<'_>> =
        (0..3).map(|index| measured_of(entries[index], &values[index], variances[index])).collect();
    let correlation = Correlation::new(entries[..2].to_vec(), vec![1.0, 0.5, 0.5, 1.0]).unwrap();
    let factors = in_common(&all, &correlation);
    assert_eq!(factors.len(), 2);
    let mut covariance = [[0.0; 2]; 2];
    for (unknown, start) in &factors {
        let Kind::Common(parts) = &unknown.kind else { panic!("{:?}", unknown.kind) };
        assert_eq!((parts[0].0, parts[1].0, parts.len()), (entries[0], entries[1], 2));
        for row in 0..2 {
            for column in 0..2 {
                covariance[row][column] += parts[row].1 * parts[column].1;
            }
        }
        let prior = unknown.prior.unwrap();
        assert_eq!((*start, prior.value, prior.std_error), (0.0, 0.0, 1.0));
        assert_eq!(prior.degrees_of_freedom, Some(4.0));
        let of_values = parts.iter().zip([1.2, 1.5]).map(|((_, part), value)| part / value);
        let mean_square = of_values.map(|relative: f64| relative.powi(2)).sum::<f64>() / 2.0;
        approx::assert_relative_eq!(prior.size, 1.0 / mean_square.sqrt(), max_relative = 1e-12);
    }
    // Standard errors of 10 % of 1.2 and 20 % of 1.5.
    let expected = [[0.12 * 0.12, 0.5 * 0.12 * 0.3], [0.5 * 0.12 * 0.3, 0.3 * 0.3]];
    for (found, expected) in covariance.iter().flatten().zip(expected.iter().flatten()) {
        approx::assert_relative_eq!(found, expected, max_relative = 1e-12);
    }
}

#[test]
fn values_of_one_file_say_of_each_others_noise_with_the_runs_beside_a_profile() {
    let of_file = |value| Estimate { source: Some("profile.csv".into()), ..Estimate::exact(value) };
    let (hpu, apu) = (of_file(2.0), of_file(3.0));
    let silent = Repetitions { squares: 0.0, degrees_of_freedom: 8.0 };
    let once = Repetitions { squares: 0.004, degrees_of_freedom: 0.0 };
    let runs = Repetitions { squares: 0.004, degrees_of_freedom: 8.0 };
    let of_another = Estimate { source: Some("offload.csv".into()), ..Estimate::exact(5.0) };
    let variances = |entries: [Entry; 2], runs| {
        let mut all = vec![
            measured_of(entries[0], &hpu, 1e-4),
            measured_of(entries[1], &apu, 2e-4),
            measured_of(Entry::Gap, &of_another, 3e-4),
        ];
        moderate_by_file(&mut all, runs);
        assert_eq!(all[2].relative_variance, 3e-4);
        [all[0].relative_variance, all[1].relative_variance]
    };
    let profile = [Entry::HpuTime, Entry::ApuTime];
    // Two values say nothing of each other, nor do runs that were made once or do not differ.
    assert_eq!(variances(profile, silent), [1e-4, 2e-4]);
    assert_eq!(variances(profile, once), [1e-4, 2e-4]);
    // Five repetitions each of variance 5e-4 and 1e-3, and runs of 5e-4: (4*5e-4 + 4*1e-3 + 4e-3)/16.
    for variance in variances(profile, runs) {
        approx::assert_relative_eq!(variance, 6.25e-4 / 5.0, max_relative = 1e-12);
    }
    // What is no profile is no run of the program.
    assert_eq!(variances([Entry::HpuTime, Entry::OffloadOverhead], runs), [1e-4, 2e-4]);
}

/// The entries that files say something of, where each has this source.
fn told(source: &str, grows: bool) -> Vec<Entry> {
    use crate::fit::trials::{TERMS, truth};
    let mut base = truth(crate::model::parameters::Decomposition::Data, 0.1, TERMS);
    base.terms.alpha = crate::toy::table(&[1, 2, 4], &[1.0, 1.1, 1.3]);
    for entry in base.terms.entries() {
        base.terms.estimate_mut(entry).unwrap().source = Some(source.into());
    }
    let once = Repetitions { squares: 0.0, degrees_of_freedom: 0.0 };
    let all = measured(&base, grows, &[], once, |_| 0.0);
    all.into_iter().filter_map(|(unknown, _)| unknown.entry()).collect()
}

#[test]
fn files_tell_of_all_but_counts_and_alpha_at_one_or_where_runs_tell_of_its_growth() {
    let others = [
        Entry::HpuTime,
        Entry::ApuTime,
        Entry::ApuSerialTime,
        Entry::OffloadOverhead,
        Entry::ContextSwitch,
        Entry::Gap,
        Entry::Collective(0),
    ];
    let without_alpha = told("a.csv", true);
    assert_eq!(without_alpha.len(), others.len());
    assert!(others.iter().all(|entry| without_alpha.contains(entry)), "{without_alpha:?}");
    let all = told("a.csv", false);
    assert_eq!(all.len(), others.len() + 2);
    assert!(all.contains(&Entry::Alpha(1)) && all.contains(&Entry::Alpha(2)), "{all:?}");
    assert_eq!(told(NOT_MEASURED, false), []);
    assert_eq!(told("carried by t_hpu_s", false), []);
}

#[test]
fn values_that_go_together_to_rounding_have_one_error_in_common() {
    let entries = [Entry::Alpha(1), Entry::Alpha(2)];
    let values = [1.2, 1.5].map(Estimate::exact);
    let all: Vec<Measured<'_>> =
        (0..2).map(|index| measured_of(entries[index], &values[index], 0.01)).collect();
    let axes = |apart: f64| {
        let matrix = vec![1.0, 1.0 - apart, 1.0 - apart, 1.0];
        in_common(&all, &Correlation::new(entries.to_vec(), matrix).unwrap()).len()
    };
    assert_eq!([0.0, 1e-10].map(axes), [1, 2]);
}

use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::Mapping;
use crate::belief::{Posterior, untold_deviation};
use crate::decide::feasible;
use crate::models::observations::{Evidence, Observation, Observations};

/// A model that C has, which gives it back at its end.
struct LoadedModel(*mut Model);

impl std::ops::Deref for LoadedModel {
    type Target = Model;

    fn deref(&self) -> &Model {
        // SAFETY: it is loaded, and given back by `drop` alone.
        unsafe { &*self.0 }
    }
}

impl Drop for LoadedModel {
    fn drop(&mut self) {
        // SAFETY: it is loaded, and nobody uses it any more.
        unsafe { mmgp_free(self.0) };
    }
}

/// A model from a text, as C gets it.
fn loaded(text: &str, options: Option<&Options>) -> LoadedModel {
    let options = options.map_or(null(), std::ptr::from_ref);
    let mut model = null_mut();
    // SAFETY: the text has its length, and the pointers point to what they should.
    let status =
        unsafe { mmgp_load_text(text.as_ptr().cast(), text.len(), options, &raw mut model) };
    assert_eq!(status, OK, "{}", last_message());
    LoadedModel(model)
}

fn last_message() -> String {
    // SAFETY: the message ends with a zero and lives as long as this thread.
    unsafe { CStr::from_ptr(mmgp_message()) }.to_str().expect("UTF-8").to_string()
}

const LEARNING: Options = Options { noise: 0.02, unknown_error: 0.1, ..Options::USUAL };

#[test]
fn every_time_and_interval_is_that_of_the_library() {
    let parameters = published("pbpi-qs20").unwrap();
    let text = parameters.to_toml().replace("value = 1.3", "value = 1.3, std_error = 0.2");
    let parameters = Parameters::read(&Source::new("p", &text)).unwrap();
    let model = loaded(&text, None);
    for mapping in feasible(16) {
        let (m, p) = (mapping.m(), mapping.p());
        let mut time = 0.0;
        let mut prediction = Prediction { time_s: 0.0, low_s: 0.0, high_s: 0.0 };
        // SAFETY: the model is loaded.
        unsafe {
            assert_eq!(mmgp_time(model.0, m, p, &raw mut time), OK);
            assert_eq!(mmgp_predict(model.0, m, p, &raw mut prediction), OK);
        }
        approx::assert_relative_eq!(time, parameters.time(mapping).0, max_relative = 1e-14);
        assert_eq!(prediction.time_s, time);
        // Only T_HPU is uncertain; it counts alpha times.
        let of_terms = 0.2 * parameters.terms.alpha_at(m) / time;
        // No run tells how far the model is off: 10 %.
        let width = (1.959_963_984_540_054 * of_terms.hypot(untold_deviation())).exp();
        approx::assert_relative_eq!(prediction.low_s, time / width, max_relative = 1e-9);
        approx::assert_relative_eq!(prediction.high_s, time * width, max_relative = 1e-9);
    }
}

#[test]
fn the_best_is_the_first_of_all_within_the_limits() {
    for name in published_names() {
        let parameters = published(name).unwrap();
        let model = loaded(&parameters.to_toml(), None);
        for limits in [(0, 0, 0), (8, 0, 0), (16, 3, 0), (16, 0, 2), (1, 1, 1), (99, 99, 99)] {
            let (apus, max_m, max_p) = limits;
            let or = |limit: u32| if limit == 0 { 16 } else { limit.min(16) };
            let expected = feasible(or(apus))
                .filter(|it| it.m() <= or(max_m) && it.p() <= or(max_p))
                .min_by(|&a, &b| parameters.time(a).0.total_cmp(&parameters.time(b).0))
                .map(|it| (it.m(), it.p()));
            let limits = Limits { apus, max_m, max_p };
            let mut choice = Choice { m: 0, p: 0, time_s: 0.0 };
            // SAFETY: the model is loaded, and the limits and the choice live here.
            unsafe { assert_eq!(mmgp_best(model.0, &raw const limits, &raw mut choice), OK) };
            assert_eq!(Some((choice.m, choice.p)), expected, "{name} {limits:?}");
        }
    }
}

/// A host that takes 100 s, beside which the work of accelerators shows in the fifth digit at most.
#[test]
fn of_what_cannot_be_told_apart_the_best_has_the_fewest_cores() {
    let of_host = |t_apu_s: f64, g_s: f64, alpha: f64| {
        format!(
            "schema = 1\nname = \"host\"\ndecomposition = \"data\"\napus = 64\n[terms]\nt_hpu_s = 100.0\n\
             t_apu_s = {t_apu_s:?}\nc_apu_s = 0.0\noffloads = 1\no_offload_s = 0.0\nt_csw_s = 0.0\n\
             g_s = {g_s:?}\nalpha = {{ m = [2, 4], value = [1.0, {alpha:?}] }}\no_col_s = 0.0\n"
        )
    };
    for (t_apu_s, g_s, alpha) in
        [(1e-3, 0.0, 1.0), (0.99, 0.0, 1.0), (3.0, 1e-4, 1.0), (3.0, 0.01, 0.999), (0.0, 0.0, 1.0)]
    {
        let text = of_host(t_apu_s, g_s, alpha);
        let parameters = Parameters::read(&Source::new("p", &text)).unwrap();
        let time = |it: &Mapping| parameters.time(*it).0;
        let least = feasible(64).map(|it| time(&it)).fold(f64::INFINITY, f64::min);
        let printed = |time: f64| format!("{time:.3e}");
        let tied = feasible(64).filter(|it| printed(time(it)) == printed(least));
        let expected = tied.min_by_key(|it| (it.apus(), it.m())).map(|it| (it.m(), it.p()));
        let model = loaded(&text, None);
        let found = model.best(Limits::default());
        assert_eq!(Some((found.m, found.p)), expected, "{text}");
        assert_eq!(found.time_s, time(&Mapping::of(found.m, found.p)));
    }
}

/// Runs of PBPI up to (4, 4), of which those with p = 4 take 1.5 times as long as equation 11 says.
fn with_runs() -> Parameters {
    let mut parameters = published("pbpi-qs20").unwrap();
    let observed = |(m, p): (u32, u32)| {
        let mapping = Mapping::of(m, p);
        let time = parameters.time(mapping) * if p == 4 { 1.5 } else { 1.0 };
        Observation { mapping, level: 0, time, repetitions: 3.0 }
    };
    let timed = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (4, 4)];
    let observations = Observations::new("runs.csv", timed.map(observed).to_vec(), 1e-4, 18.0);
    parameters.evidence = Some(Evidence { observations, before: None });
    parameters
}

#[test]
fn where_runs_are_known_times_and_intervals_are_of_the_posterior() {
    let parameters = with_runs();
    let model = loaded(&parameters.to_toml(), None);
    let mappings: Vec<Mapping> = feasible(16).collect();
    let posterior = Posterior::of(&parameters).unwrap();
    let marginals = posterior.marginals(&mappings);
    for (index, &mapping) in mappings.iter().enumerate() {
        let (m, p) = (mapping.m(), mapping.p());
        let found = model.predict(m, p).unwrap();
        let (time, deviation) = if m <= 4 && p <= 4 {
            (marginals.time(index).0, marginals.deviation(index))
        } else {
            (parameters.time(mapping).0, untold_deviation())
        };
        approx::assert_relative_eq!(found.time_s, time, max_relative = 1e-9);
        // Runs with p = 4 took 1.5 times as long.
        assert_eq!(found.time_s > 1.3 * parameters.time(mapping).0, m <= 4 && p == 4);
        assert_eq!(model.time(m, p), Ok(found.time_s));
        let width = (1.959_963_984_540_054 * deviation).exp();
        approx::assert_relative_eq!(found.low_s, time / width, max_relative = 1e-9);
        approx::assert_relative_eq!(found.high_s, time * width, max_relative = 1e-9);
    }
}

#[test]
fn however_little_is_known_an_interval_has_ends() {
    let options = Options { unknown_error: 1e30, ..LEARNING };
    let model = loaded(&published("pbpi-qs20").unwrap().to_toml(), Some(&options));
    let found = model.predict(4, 4).unwrap();
    assert!(0.0 < found.low_s && found.low_s < found.time_s, "{found:?}");
    assert!(found.time_s < found.high_s && found.high_s.is_finite(), "{found:?}");
}

#[test]
fn the_best_lies_within_the_runs_unless_the_limits_say_how_far_to_go() {
    let parameters = with_runs();
    let model = loaded(&parameters.to_toml(), None);
    let time = |mapping: &Mapping| model.time(mapping.m(), mapping.p()).unwrap();
    let check = |limits: (u32, u32, u32), (max_m, max_p): (u32, u32)| {
        let (apus, limit_m, limit_p) = limits;
        let expected = feasible(if apus == 0 { 16 } else { apus })
            .filter(|it| it.m() <= max_m && it.p() <= max_p)
            .min_by(|one, other| time(one).total_cmp(&time(other)))
            .map(|it| (it.m(), it.p()));
        let found = model.best(Limits { apus, max_m: limit_m, max_p: limit_p });
        assert_eq!(Some((found.m, found.p)), expected, "{limits:?}");
        assert_eq!(found.time_s, model.time(found.m, found.p).unwrap());
    };
    check((0, 0, 0), (4, 4));
    check((8, 0, 0), (4, 4));
    check((0, 2, 0), (2, 4));
    check((0, 16, 0), (16, 4));
    check((0, 0, 16), (4, 16));
    check((0, 16, 16), (16, 16));
    check((1, 0, 0), (4, 4));
}

#[test]
fn limits_below_all_runs_are_kept_to() {
    let mut parameters = with_runs();
    let evidence = parameters.evidence.as_mut().unwrap();
    evidence.observations.configurations.retain(|it| it.mapping.p() > 1);
    let model = loaded(&parameters.to_toml(), None);
    for (limits, expected) in [((0, 3, 1), (3, 1)), ((1, 0, 0), (1, 1)), ((2, 0, 0), (1, 2))] {
        let (apus, max_m, max_p) = limits;
        let found = model.best(Limits { apus, max_m, max_p });
        assert_eq!((found.m, found.p), expected);
        assert!(found.time_s.is_finite());
    }
}

#[test]
fn a_sample_is_learnt_as_the_time_that_it_is() {
    let model = loaded(&with_runs().to_toml(), Some(&LEARNING));
    let before = model.time(4, 4).unwrap();
    // What was expected is no surprise, and changes nothing.
    assert!(model.learn(4, 4, before).unwrap().abs() < 1e-9);
    approx::assert_relative_eq!(model.time(4, 4).unwrap(), before, max_relative = 1e-12);
    for _ in 0..500 {
        model.learn(4, 4, 1.1 * before).unwrap();
    }
    approx::assert_relative_eq!(model.time(4, 4).unwrap(), 1.1 * before, max_relative = 1e-3);
}

#[test]
fn of_a_large_range_the_timed_configurations_are_known() {
    let mut parameters = with_runs();
    parameters.apus = 1 << 16;
    let mapping = Mapping::of(256, 128);
    let far = Observation { mapping, level: 0, time: parameters.time(mapping), repetitions: 3.0 };
    parameters.evidence.as_mut().unwrap().observations.configurations.push(far);
    let misfit = Misfit::of(&parameters, 1 << 16).unwrap();
    for observed in &parameters.evidence.as_ref().unwrap().observations.configurations {
        let (m, p) = (observed.mapping.m(), observed.mapping.p());
        let time = parameters.time(observed.mapping).0 * misfit.at(m, p).expect("known").factor;
        approx::assert_relative_eq!(time, observed.time.0, max_relative = 0.05);
    }
    assert_eq!(misfit.at(3, 1), None);
    assert_eq!((misfit.at(257, 1), misfit.at(1, 129)), (None, None));
}

#[test]
fn refined_terms_without_runs_count_too() {
    let text = format!("{}[refined]\niterations = 5\n", published("pbpi-qs20").unwrap().to_toml());
    let parameters = Parameters::read(&Source::new("p", &text)).unwrap();
    let model = loaded(&text, None);
    for mapping in feasible(16) {
        let found = model.predict(mapping.m(), mapping.p()).unwrap();
        let expected = parameters.refined_time(mapping).0;
        approx::assert_relative_eq!(found.time_s, expected, max_relative = 1e-9);
        assert!(found.high_s / found.low_s > 1.4);
    }
}

#[test]
fn every_failure_has_its_code_and_message() {
    let model = loaded(&published("pbpi-qs20").unwrap().to_toml(), None);
    let mut time = 7.0;
    let mut none = null_mut();
    let check = |status: Status, expected: Status, text: &str| {
        assert_eq!((status, last_message().as_str()), (expected, text));
    };
    let name = |text: &str| CString::new(text).expect("no zero inside");
    // SAFETY: every pointer is null or points to what it should.
    unsafe {
        let out = &raw mut time;
        check(
            mmgp_time(model.0, 5, 4, out),
            INFEASIBLE,
            "m = 5, p = 4 needs 20 APUs, but there are 16",
        );
        check(mmgp_time(model.0, 0, 4, out), BAD_ARGUMENT, "m and p must be at least 1");
        check(mmgp_time(null(), 1, 1, out), BAD_ARGUMENT, "model is null");
        check(mmgp_time(model.0, 1, 1, null_mut()), BAD_ARGUMENT, "time_s is null");
        let status = mmgp_add_sample(model.0, 1, 1, f64::NAN, null_mut());
        check(status, BAD_ARGUMENT, "time_s = NaN: found no finite time above 0 s");
        let status = mmgp_add_sample(model.0, 1, 1, 300.0, null_mut());
        assert_eq!(status, NOTHING_TO_LEARN);
        assert!(last_message().contains("unknown_error"), "{}", last_message());
        let status = mmgp_load_text(c"a = [".as_ptr(), 5, null(), &raw mut none);
        assert_eq!(status, BAD_INPUT);
        assert!(last_message().starts_with("parameters:1:6: found "), "{}", last_message());
        let status = mmgp_load_text(c"\xff".as_ptr(), 1, null(), &raw mut none);
        check(status, BAD_INPUT, "the text is not UTF-8");
        let status = mmgp_load(name("/nowhere/x.toml").as_ptr(), null(), &raw mut none);
        assert_eq!(status, CANNOT_READ);
        let options = Options { noise: -1.0, ..LEARNING };
        let status = mmgp_load(name("pbpi-qs20").as_ptr(), &raw const options, &raw mut none);
        check(status, BAD_ARGUMENT, "noise: found -1.0, expected a finite number above 0");
        let options = Options { max_m: 2, ..LEARNING };
        let mut small = null_mut();
        assert_eq!(mmgp_load(name("pbpi-qs20").as_ptr(), &raw const options, &raw mut small), OK);
        let text = "m = 3, but the model was loaded for at most 2 host threads";
        check(mmgp_time(small, 3, 1, out), INFEASIBLE, text);
        mmgp_free(small);
        mmgp_free(null_mut());
    }
    assert!(none.is_null() && time == 7.0, "a failure writes nothing");
}

#[test]
fn a_long_message_is_cut_between_letters() {
    message::write(format_args!("{}\0{}", "a", "µ".repeat(1000)));
    let text = last_message();
    assert!(text.starts_with("a µµ") && text.len() <= 511 && text.len() >= 508, "{}", text.len());
}

/// T_APU moves with every sample, and 4,096 rows take so long to write that a reader who saw half of
/// them would see two different values of it.
#[test]
fn readers_see_whole_samples_while_writers_add_them() {
    let text = published("pbpi-qs20").unwrap().to_toml();
    let model = loaded(&text.replace("apus = 16", "apus = 4096"), Some(&LEARNING));
    let model: &Model = &model;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if !model.is_whole() {
                        done.store(true, Ordering::Relaxed);
                        panic!("half of a sample");
                    }
                    let prediction = model.predict(4, 4).unwrap();
                    assert!(prediction.low_s <= prediction.time_s);
                }
            });
        }
        let first = model.time(4, 4).unwrap();
        let writers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    for round in 0..2000 {
                        model.learn(4, 4, first * (1.0 + f64::from(round % 2))).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(model.samples(), 4000);
    assert_eq!(model.time(4, 4), Ok(model.learner_time(4, 4)));
}

/// What `predict` says of a time, whoever loads the same file through this interface is told.
#[test]
fn times_are_those_that_predict_says() {
    use crate::decide::{Constraints, candidates};
    use crate::fit::{Inputs, Runs, Settings, fit};
    use crate::models::parameters::Decomposition;

    let truths: [fn(f64, f64) -> f64; 3] = [
        |m, p| 12.0 + 3.0 * m + 400.0 / (m * p) + 1.5 * p,
        |m, p| 5.0 + 40.0 / m + 300.0 / (m * p),
        |m, p| 6.0 + (360.0 / (m * p)).max(50.0) + 4.0 * p,
    ];
    for truth in truths {
        let mapping = |(m, p): (u32, u32)| Mapping::of(m, p);
        let ran = [(1, 1), (1, 4), (2, 2), (4, 1), (4, 4), (8, 2), (16, 1), (2, 8), (1, 16)];
        let row = |at: (u32, u32)| crate::table::records::Run {
            m: at.0,
            p: at.1,
            repetition: 1,
            time_s: truth(f64::from(at.0), f64::from(at.1)),
        };
        let (runs, _) = Runs::from_rows("runs.csv", &ran.map(row)).unwrap();
        let inputs = Inputs { runs: Some(runs), ..Inputs::default() };
        let settings = Settings::new("program", Decomposition::Data, 16);
        let parameters = fit(&inputs, &settings).unwrap().parameters;
        let posterior = Posterior::of(&parameters).unwrap();
        let asked = candidates(&posterior, &Constraints::NONE, 16).unwrap().mappings;
        assert!(ran.iter().all(|&it| asked.contains(&mapping(it))));
        let marginals = posterior.marginals(&asked);
        let model = loaded(&parameters.to_toml(), None);
        for (index, it) in asked.iter().enumerate() {
            let found = model.predict(it.m(), it.p()).unwrap();
            let expected = marginals.time(index).0;
            approx::assert_relative_eq!(found.time_s, expected, max_relative = 1e-9);
        }
    }
}

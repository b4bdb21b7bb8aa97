use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::solve::feasible;

/// A model from a text, as C gets it.
fn loaded(text: &str, options: Option<&Options>) -> *mut Model {
    let options = options.map_or(null(), std::ptr::from_ref);
    let mut model = null_mut();
    // SAFETY: the text has its length, and the pointers point to what they should.
    let status =
        unsafe { mmgp_load_text(text.as_ptr().cast(), text.len(), options, &raw mut model) };
    assert_eq!(status, OK, "{}", last_message());
    model
}

fn last_message() -> String {
    // SAFETY: the message ends with a zero and lives as long as this thread.
    unsafe { CStr::from_ptr(mmgp_message()) }.to_str().expect("UTF-8").to_string()
}

const LEARNING: Options = Options { noise: 0.02, unknown_error: 0.1, max_m: 0 };

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
            assert_eq!(mmgp_time(model, m, p, &raw mut time), OK);
            assert_eq!(mmgp_predict(model, m, p, &raw mut prediction), OK);
        }
        approx::assert_relative_eq!(time, parameters.time(mapping).0, max_relative = 1e-14);
        assert_eq!(prediction.time_s, time);
        // Only T_HPU is uncertain; it counts alpha times.
        let half_width = 1.959_963_984_540_054 * 0.2 * parameters.terms.alpha_at(m);
        approx::assert_relative_eq!(time - prediction.low_s, half_width, max_relative = 1e-9);
        approx::assert_relative_eq!(prediction.high_s - time, half_width, max_relative = 1e-9);
    }
    // SAFETY: the model is loaded, and nobody uses it any more.
    unsafe { mmgp_free(model) };
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
            unsafe { assert_eq!(mmgp_best(model, &raw const limits, &raw mut choice), OK) };
            assert_eq!(Some((choice.m, choice.p)), expected, "{name} {limits:?}");
        }
        // SAFETY: the model is loaded, and nobody uses it any more.
        unsafe { mmgp_free(model) };
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
            mmgp_time(model, 5, 4, out),
            INFEASIBLE,
            "m = 5, p = 4 needs 20 APUs, but there are 16",
        );
        check(mmgp_time(model, 0, 4, out), BAD_ARGUMENT, "m and p must be at least 1");
        check(mmgp_time(null(), 1, 1, out), BAD_ARGUMENT, "model is null");
        check(mmgp_time(model, 1, 1, null_mut()), BAD_ARGUMENT, "time_s is null");
        let status = mmgp_add_sample(model, 1, 1, f64::NAN, null_mut());
        check(status, BAD_ARGUMENT, "time_s = NaN: found no finite time above 0 s");
        let status = mmgp_add_sample(model, 1, 1, 300.0, null_mut());
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
        mmgp_free(model);
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
    // SAFETY: the model is loaded and given back only after the threads have ended.
    let model_ref = unsafe { &*model };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if !model_ref.is_whole() {
                        done.store(true, Ordering::Relaxed);
                        panic!("half of a sample");
                    }
                    let prediction = model_ref.predict(4, 4).unwrap();
                    assert!(prediction.low_s <= prediction.time_s);
                }
            });
        }
        let first = model_ref.time(4, 4).unwrap();
        let writers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    for round in 0..2000 {
                        model_ref.learn(4, 4, first * (1.0 + f64::from(round % 2))).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(model_ref.samples(), 4000);
    assert_eq!(model_ref.time(4, 4), Ok(model_ref.learner_time(4, 4)));
    // SAFETY: the threads have ended.
    unsafe { mmgp_free(model) };
}

use super::*;
use crate::models::published;

/// PBPI with runs that take a quarter longer than equation 11 says; (2, 8) is the fastest of them.
fn timed() -> (Study, Observations) {
    let parameters = published("pbpi-qs20").expect("it is shipped");
    let observed = |(m, p, factor): (u32, u32, f64)| {
        let mapping = Mapping::of(m, p);
        Observation { mapping, level: 0, time: parameters.time(mapping) * factor, repetitions: 3.0 }
    };
    let times = [(1, 1, 1.25), (1, 8, 1.25), (4, 2, 1.25), (4, 4, 1.6), (2, 8, 1.2), (2, 1, 1.25)];
    let runs = Observations::new("runs.csv", times.map(observed).into(), 1e-4, 12.0);
    let study = Study { observations: Some(runs.clone()), ..Study::new(parameters) };
    (study, runs)
}

fn told(study: &Study) -> serde_json::Value {
    let page = page(study).expect("a page");
    let (_, after) = page.split_once("id=\"data\">").expect("it has data");
    let (json, _) = after.split_once("</script>").expect("they end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_page_ranks_what_is_believed_given_the_runs_and_keeps_the_times_of_equation_11() {
    let (study, runs) = timed();
    let data = told(&study);
    let columns = &data["configurations"];
    let posterior = Posterior::new(&Prior::of(&study.parameters), Some(runs.clone())).unwrap();
    let column = |name: &str| -> Vec<f64> {
        columns[name].as_array().expect(name).iter().map(|it| it.as_f64().expect(name)).collect()
    };
    let (ms, ps) = (column("m"), column("p"));
    let mappings: Vec<Mapping> =
        ms.iter().zip(&ps).map(|(&m, &p)| Mapping::of(m as u32, p as u32)).collect();
    let marginals = posterior.marginals(&mappings);
    let (equation_11, believed) = (column("time_s"), column("believed_s"));
    let ranked_by = column("ranked_by_s");
    for (k, &mapping) in mappings.iter().enumerate() {
        // The reader of JSON may miss the last digit.
        let is_same = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-12;
        assert!(is_same(equation_11[k], study.parameters.time(mapping).0), "{mapping}");
        assert!(is_same(believed[k], marginals.time(k).0), "{mapping}");
        let measured = runs.of(mapping);
        let shown = columns["measured_s"][k].as_f64();
        assert_eq!(shown.is_some(), measured.is_some(), "{mapping}");
        assert!(shown.zip(measured).is_none_or(|(it, run)| is_same(it, run.time.0)), "{mapping}");
        assert_eq!(columns["repetitions"][k].as_f64(), measured.map(|it| it.repetitions));
    }
    assert!(ranked_by.is_sorted(), "{ranked_by:?}");
    assert_eq!(data["measured"], serde_json::json!({ "m": [1, 4], "p": [1, 8] }));
    assert!(mappings.iter().all(|it| it.apus() <= 16), "{mappings:?}");
}

#[test]
fn the_answer_says_which_was_the_fastest_that_was_timed() {
    let (study, runs) = timed();
    let html = page(&study).expect("a page");
    let (answer, _) = html.split_once("</section>").expect("it ends");
    let fastest = runs.fastest().expect("there are runs");
    let words = format!("the fastest that was timed is {} with {}", fastest.mapping, fastest.time);
    assert!(answer.contains(&words), "{answer}");
    assert!(!answer.contains("emulat"), "{answer}");
}

#[test]
fn without_runs_equation_11_decides_whatever_refined_terms_there_are() {
    let mut parameters = published("pbpi-qs20").expect("it is shipped");
    let refinements =
        crate::models::refined::Refinements { iterations: Some(5), ..Default::default() };
    parameters.refinements = Some(refinements);
    let data = told(&Study::new(parameters));
    let columns = &data["configurations"];
    assert!(columns["believed_s"].is_null() && data["measured"].is_null());
    let times = columns["time_s"].as_array().expect("a column");
    let is_refined = |k: usize| {
        let refined = columns["refined_s"][k].as_f64().expect("a time");
        (times[k].as_f64().expect("a time") / refined - 1.0).abs() < 1e-12
    };
    assert!(!(0..times.len()).all(is_refined));
    let is_within = |k: usize| {
        let of = |name: &str| columns[name][k].as_f64().expect(name);
        of("low_s") < of("time_s") && of("time_s") < of("high_s")
    };
    let time = |k: usize| times[k].as_f64().expect("a time");
    assert!((0..times.len()).all(is_within));
    assert!((1..times.len()).all(|k| time(k - 1) <= time(k) * (1.0 + 1e-12)));
}

#[test]
fn a_page_of_too_many_configurations_shows_those_that_have_a_chance() {
    let mut parameters = published("pbpi-qs20").expect("it is shipped");
    parameters.apus = 100_000;
    let data = told(&Study::new(parameters));
    let shown = data["configurations"]["m"].as_array().expect("a column").len();
    assert!((20..=256).contains(&shown), "{shown}");
}

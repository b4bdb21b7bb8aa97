//! What is best by another measure than the time: rates, costs, what is near the fastest.

use serde_json::Value;

use crate::Folder;

/// T(m, p) = 3 + 0.2 m + 100/(m p) s for m up to 8 and p up to 4.
fn time(m: u32, p: u32) -> f64 {
    let (m, p) = (f64::from(m), f64::from(p));
    3.0 + 0.2 * m + 100.0 / (m * p)
}

fn table(column: &str, of: impl Fn(u32, u32) -> f64) -> String {
    let grid = [1, 2, 4, 8].into_iter().flat_map(|m| [1, 2, 4].map(|p| (m, p)));
    let rows: String = grid.map(|(m, p)| format!("{m},{p},{}\n", of(m, p))).collect();
    format!("m,p,{column}\n{rows}")
}

/// A folder with the parameters of times, and of the rates 864/T.
fn folder() -> Folder {
    let folder = Folder::with("times.csv", table("time_s", time));
    folder.write("rates.csv", table("ns/day", |m, p| 864.0 / time(m, p)));
    folder.succeeds(&["fit", "--runs", "times.csv", "--out", "times.toml", "--quiet"]);
    let rates = ["fit", "--runs", "rates.csv", "--rate", "ns/day", "--out", "rates.toml"];
    folder.succeeds(&[&rates[..], &["--quiet"]].concat());
    folder
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let text = folder.succeeds(&[&["predict"], arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).expect("JSON")
}

fn choice(answer: &Value) -> (u64, u64) {
    let [m, p] = ["m", "p"].map(|key| answer["choice"][key].as_u64().expect(key));
    (m, p)
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
}

/// No key says that something is seconds, and no text has a time.
fn has_no_seconds(text: &str) {
    assert!(!text.contains("_s\":") && !text.contains(" s ") && !text.contains(" ms"), "{text}");
}

#[test]
fn rates_stay_rates_in_every_answer() {
    let folder = folder();
    let text = folder.succeeds(&["predict", "--params", "rates.toml"]);
    // 864 / 7.725 s.
    assert!(text.starts_with("Run (8, 4): it makes about 111."), "{text}");
    assert!(text.contains("The fastest that was timed is (8, 4) with 111.8 ns/day."), "{text}");
    has_no_seconds(&text);
    let answer = json(&folder, &["--params", "rates.toml"]);
    has_no_seconds(&answer.to_string());
    assert_eq!(choice(&answer), (8, 4));
    assert_eq!(
        (&answer["choice"]["unit"], &answer["objective"]["best"]),
        (&"ns/day".into(), &"most".into())
    );
    let rows = answer["configurations"].as_array().expect("a list");
    let [low, rate, high] =
        ["rate_low", "rate", "rate_high"].map(|key| rows[1][key].as_f64().expect(key));
    assert!(low < rate && rate < high, "{low} {rate} {high}");
    near(&rows[1]["rate"], 864.0 / time(4, 4));
    // What (4, 4) lacks of the best.
    near(&rows[1]["expected_regret"], 864.0 / time(8, 4) - 864.0 / time(4, 4));
    let csv = folder.succeeds(&["predict", "--params", "rates.toml", "--format", "csv"]);
    assert!(csv.starts_with("rank,m,p,rate,rate_low,rate_high,unit,"), "{csv}");
    for question in [&["--next"][..], &["--explain"], &["--scale", "t_apu_s=0.5"]] {
        has_no_seconds(
            &json(&folder, &[&["--params", "rates.toml"], question].concat()).to_string(),
        );
    }
    let page = folder.succeeds(&["report", "rates.toml"]);
    assert!(page.contains("Predicted rate") && page.contains(" ns/day"), "{page}");
    folder.succeeds(&["plot", "--params", "rates.toml", "--kind", "heat-map", "--out", "map.svg"]);
    let map = folder.read("map.svg");
    assert!(map.contains("predicted rate [ns/day]") && map.contains("fastest: (8, 4) with 111."));
}

#[test]
fn the_terms_of_rates_are_said_to_be_no_seconds() {
    let folder = folder();
    let run =
        folder.mmgp(&["fit", "--runs", "rates.csv", "--rate", "ns/day", "--report", "fit.json"]);
    assert!(run.stdout.contains("[objective]\nrate = \"ns/day\"\n"), "{}", run.stdout);
    let said = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("terms are shares of the time of one unit of work, 1/(ns/day), not seconds")
    );
    assert!(folder.read("fit.json").contains("\"rate\": \"ns/day\""));
    // They are read back from either format.
    let exported = folder.succeeds(&["export", "--params", "rates.toml", "--to", "json"]);
    folder.write("rates.json", exported);
    let [one, other] =
        ["rates.toml", "rates.json"].map(|it| folder.succeeds(&["predict", "--params", it]));
    assert_eq!(one, other);
}

#[test]
fn a_cost_is_the_time_of_all_cores() {
    let folder = folder();
    let answer = json(&folder, &["--params", "times.toml", "--objective", "cost"]);
    assert_eq!(choice(&answer), (1, 1));
    near(&answer["choice"]["objective"], time(1, 1) / 3600.0);
    near(&answer["choice"]["time_s"], time(1, 1));
    assert_eq!(answer["choice"]["unit"], "core-h");
    let rows = answer["configurations"].as_array().expect("a list");
    let last = rows.last().expect("twelve");
    assert_eq!((&last["m"], &last["p"]), (&8.into(), &4.into()));
    let cost = |m: u32, p: u32| time(m, p) * f64::from(m * p) / 3600.0;
    near(&last["expected_regret"], cost(8, 4) - cost(1, 1));
    // Per node of eight, everything up to that many costs its time.
    let nodes = ["--params", "times.toml", "--objective", "node-hours", "--per-node", "8"];
    assert_eq!(choice(&json(&folder, &nodes)), (2, 4));
    // Work over time is a rate.
    let work = json(&folder, &["--params", "times.toml", "--objective", "864/time"]);
    assert_eq!((choice(&work), &work["objective"]["best"]), ((8, 4), &"most".into()));
    near(&work["choice"]["objective"], 864.0 / time(8, 4));
}

#[test]
fn what_is_not_much_slower_with_the_fewest_cores_is_taken() {
    let folder = folder();
    // (4, 4) takes 10.05 s of 7.725 s, 30.1 % more; (8, 2) with as many cores 10.85 s.
    let within = |percent: &str| json(&folder, &["--params", "times.toml", "--within", percent]);
    assert_eq!((choice(&within("5%")), choice(&within("33%"))), ((8, 4), (4, 4)));
    let answer = within("33%");
    assert!(answer["choice"]["probability_within"].as_f64().expect("a number") > 0.95);
    assert_eq!(answer["configurations"][0]["m"], 8);
    let sentence = answer["choice"]["sentence"].as_str().expect("a text");
    assert!(
        sentence.contains("16 cores instead of the 32 of (8, 4); within 33 % of the fastest with")
    );
    let rates = json(&folder, &["--params", "rates.toml", "--within", "33%"]);
    assert_eq!(choice(&rates), (4, 4));
}

#[test]
fn what_is_equal_as_printed_goes_to_the_fewest_cores() {
    // Whatever runs takes ten seconds.
    let folder = Folder::with("same.csv", table("time_s", |_, _| 10.0));
    folder.succeeds(&["fit", "--runs", "same.csv", "--out", "same.toml", "--quiet"]);
    let answer = json(&folder, &["--params", "same.toml", "--model", "flat"]);
    let apus = |row: &Value| row["m"].as_u64().expect("m") * row["p"].as_u64().expect("p");
    let rows = answer["configurations"].as_array().expect("a list");
    assert_eq!(rows[0]["time_s"], rows[1]["time_s"], "{rows:?}");
    assert!(rows.is_sorted_by_key(apus) && choice(&answer) == (1, 1), "{rows:?}");
}

#[test]
fn nothing_on_the_front_is_beaten_in_both() {
    let folder = folder();
    let front = json(&folder, &["--params", "times.toml", "--pareto", "time,cost"]);
    let rows = front["front"].as_array().expect("a list");
    let of =
        |key: &str| rows.iter().map(|row| row[key].as_f64().expect("a number")).collect::<Vec<_>>();
    let (times, costs) = (of("time"), of("cost"));
    assert!(times.is_sorted() && costs.iter().rev().is_sorted(), "{rows:?}");
    let found: Vec<(f64, f64)> = of("m").into_iter().zip(of("p")).collect();
    assert_eq!(found, [(8.0, 4.0), (4.0, 4.0), (2.0, 4.0), (1.0, 4.0), (1.0, 2.0), (1.0, 1.0)]);
    let text = folder.succeeds(&["predict", "--params", "rates.toml", "--pareto", "rate,cost"]);
    assert!(text.starts_with("6 of 12 configurations: ") && text.contains("core-day/ns"), "{text}");
    folder.succeeds(&["plot", "--params", "rates.toml", "--kind", "pareto", "--out", "front.svg"]);
    let picture = folder.read("front.svg");
    assert!(
        picture.contains("rate [ns/day]") && picture.contains("cost [core-day/ns]"),
        "{picture}"
    );
    assert_eq!(["(8, 4)", "(4, 4)", "(8, 2)"].map(|it| picture.contains(it)), [true, true, false]);
    let page = folder.succeeds(&["report", "times.toml", "--pareto", "time,cost"]);
    assert!(page.contains("What no other beats in time and cost alike: "), "{page}");
}

#[cfg(unix)]
#[test]
fn a_search_is_of_the_objective_as_well() {
    let folder = Folder::new();
    for (m, p) in [(1, 1), (1, 4), (4, 1), (4, 4), (2, 2), (1, 1), (4, 4)] {
        let (time, m, p) = (time(m, p).to_string(), m.to_string(), p.to_string());
        folder.succeeds(&["tell", "--out", "tune", "--m", &m, "--p", &p, "--time", &time]);
    }
    let ask = |objective: &[&str]| -> Value {
        let declared = ["ask", "--m", "1,2,4", "--p", "1,2,4", "--out", "tune"];
        serde_json::from_str(&folder.succeeds(&[&declared, objective].concat())).expect("JSON")
    };
    let best = |answer: &Value| answer["best"].to_string();
    let (fastest, cheapest) = (ask(&[]), ask(&["--objective", "cost"]));
    assert_eq!([best(&fastest), best(&cheapest)], ["[4,4]", "[1,1]"]);
    near(&cheapest["objective"], time(1, 1) / 3600.0);
    near(&cheapest["time_s"], time(1, 1));
    assert!(fastest["objective"].is_null() && cheapest["unit"] == "core-h", "{fastest}");
    // Of these (1, 4) takes 28.2 s, 2.8 times as long.
    assert_eq!(best(&ask(&["--within", "190%"])), "[1,4]");
}

#[test]
fn what_has_no_answer_is_refused_with_what_would_have_one() {
    let folder = folder();
    let refused = |arguments: &[&str], message: &str| {
        folder.refuses(&[&["predict", "--params"], arguments].concat(), message);
    };
    refused(
        &["times.toml", "--objective", "time^2"],
        "objective: found \"time^2\", which is not in proportion to the time or to 1/time, expected time \
         or 1/time, times what m, p and nodes make, as time*m",
    );
    refused(
        &["times.toml", "--objective", "rate"],
        "objective: found rate, where runs are times, expected time, cost or an expression such as \
         time/m; --rate COLUMN names a column of rates",
    );
    refused(
        &["rates.toml", "--objective", "time"],
        "objective: found time, where runs are rates in ns/day, expected rate, cost or an expression such \
         as rate*m",
    );
    refused(
        &["times.toml", "--objective", "node-hours"],
        "per-node: found none, and the objective node-hours, expected how many of m*p a node has places \
         for, as 48",
    );
    let run = folder.mmgp(&[
        "predict",
        "--params",
        "times.toml",
        "--runs",
        "rates.csv",
        "--rate",
        "ns/day",
    ]);
    let mixed =
        "error: runs: found rates in ns/day, expected times, as what they are held against\n";
    assert!(run.code == Some(2) && run.stderr.ends_with(mixed), "{}", run.stderr);
    refused(
        &["rates.toml", "--break-even", "--host-factor", "2"],
        "break-even: found parameters of rates in ns/day, whose terms are no seconds, expected parameters \
         that were fitted to times",
    );
    refused(
        &["times.toml", "--objective", "cost", "--explain"],
        "objective: found --explain beside it, expected one of them: --explain is about times",
    );
    refused(
        &["times.toml", "--pareto", "time"],
        "pareto: found time, expected two objectives or more, as time,cost",
    );
}

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
    folder.json(&[&["predict"], arguments, &["--format", "json"]].concat())
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
    let exported = folder.succeeds(&["export", "--params", "rates.toml", "--to", "json"]);
    assert!(exported.contains("\"rate\": \"ns/day\""), "{exported}");
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
        folder.json(&[&declared, objective].concat())
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

/// Watts that (m, p) draw.
fn watts(m: u32, p: u32) -> f64 {
    100.0 + 15.0 * f64::from(m * p)
}

/// A table with the time, the energy and the work of each run.
fn energies() -> String {
    let energy = |m, p| time(m, p) * watts(m, p);
    let grid = [1, 2, 4, 8].into_iter().flat_map(|m| [1, 2, 4].map(|p| (m, p)));
    let row = |(m, p)| format!("{m},{p},{},{},{}\n", time(m, p), energy(m, p), 500 * m);
    format!("m,p,time_s,joules,work\n{}", grid.map(row).collect::<String>())
}

#[test]
fn what_is_captured_in_a_column_is_an_objective() {
    let folder = Folder::with("runs.csv", energies());
    let fit = |objective: &str| {
        let run = ["fit", "--runs", "runs.csv", "--objective", objective, "--out", "p.toml"];
        folder.mmgp(&[&run[..], &["--quiet"]].concat())
    };
    let predicted = |objective: &str| {
        assert_eq!(fit(objective).code, Some(0), "{objective}");
        json(&folder, &["--params", "p.toml", "--objective", objective])
    };
    let energy = predicted("joules");
    has_no_seconds(&energy.to_string());
    // 10.05 s of 340 W; (8, 4) needs 580 W for 7.725 s, (2, 4) 220 W for 15.9 s.
    assert_eq!(choice(&energy), (4, 4), "{energy}");
    near(&energy["choice"]["amount"], time(4, 4) * watts(4, 4));
    assert_eq!(
        (&energy["objective"]["unit"], &energy["objective"]["best"]),
        (&"joules".into(), &"least".into())
    );
    let text = folder.succeeds(&["predict", "--params", "p.toml"]);
    assert!(text.starts_with("Run (4, 4): it needs about "), "{text}");
    assert!(text.contains("The best that was timed is"), "{text}");
    let rate = predicted("work/time");
    assert_eq!((choice(&rate), &rate["objective"]["best"]), ((8, 4), &"most".into()));
    near(&rate["choice"]["rate"], 4000.0 / time(8, 4));
    // The energy and the delay, of all that is measured.
    near(&predicted("joules*time")["choice"]["amount"], time(4, 4).powi(2) * watts(4, 4));
    let unclear = fit("work");
    assert_eq!(unclear.code, Some(2));
    assert!(
        unclear.stderr.contains("--objective 'max work'") && !unclear.stderr.contains("e work"),
        "{}",
        unclear.stderr
    );
    assert_eq!(choice(&predicted("max work")).0, 8);
    assert!(fit("joule").stderr.contains("an expression over time, m, p"));
    assert!(fit("cost").stderr.contains("predict takes this objective"));
    let page = folder.succeeds(&["report", "p.toml", "--objective", "max work"]);
    assert!(page.contains("Predicted rate"), "{page}");
}

#[test]
fn a_run_without_what_is_captured_is_no_run() {
    let text = energies() + "8,8,5.0,FAILED,4000\n8,16,4.0,0,4000\n";
    let folder = Folder::with("runs.csv", text);
    let look = folder.mmgp(&["look", "runs.csv", "--objective", "joules"]);
    assert_eq!(look.code, Some(2));
    assert!(
        look.stderr.ends_with(
            "runs.csv:15:10: found \"0\" in column \"joules\", expected what makes joules a number above \
             0\n"
        ),
        "{}",
        look.stderr
    );
    let but = ["look", "runs.csv", "--objective", "joules", "--filter", "joules != 0"];
    let look = folder.mmgp(&but);
    assert!(look.stderr.contains("\"FAILED\" in column \"joules\""), "{}", look.stderr);
    assert!(look.stdout.contains("12 runs of 12 configurations"), "{}", look.stdout);
}

#[cfg(unix)]
#[test]
fn what_a_program_prints_is_captured_for_an_objective() {
    let folder = Folder::new();
    // Watts are 10 + m*p, the time is 1 + 16/(m*p).
    let script = "n=$((MMGP_M * MMGP_P)); echo Time: $((16 + 256 / n)) s; \
                  echo Energy: $(((10 + n) * (16 + 256 / n))) J";
    let tune = |more: &[&str]| {
        let declared = ["tune", "--m", "1,2,4", "--p", "1,2,4", "--out", "out", "--quiet"];
        let time = ["--time-from", "Time: ([0-9]+) s"];
        folder.mmgp(&[&declared[..], &time, more, &["--", "sh", "-c", script]].concat())
    };
    let joules = ["--capture", "joules=Energy: ([0-9]+) J", "--objective", "joules"];
    let found = tune(&joules);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let summary = folder.read_json("out/summary.json");
    let apus = |best: &Value| best[0].as_u64().expect("m") * best[1].as_u64().expect("p");
    // 16*10 + 256 + 16 n + 2560/n is least at n = 16, then at 8.
    assert!(apus(&summary["best"]) >= 8, "{summary}");
    assert_eq!(summary["unit"], "joules");
    has_no_seconds(&summary.to_string());
    let log = super::tune::log(&folder, "out");
    assert_eq!(log[0]["amount"], log[0]["captured"]["joules"]);
    // What it leaves is read as what it is, or refused with the line that reads it.
    let refused = folder.mmgp(&["fit", "--runs", "out/runs.csv"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--objective 'amount [joules]'"), "{}", refused.stderr);
    let fit = |file: &str, objective: &[&str]| {
        folder.succeeds(&[&["fit", "--runs", file][..], objective, &["--quiet"]].concat())
    };
    let energy = fit("out/runs.csv", &["--objective", "amount [joules]"]);
    assert!(energy.contains("amount = \"joules\"\n"), "{energy}");
    let of_log = fit("out/log.jsonl", &["--objective", "joules"]);
    let terms =
        |text: &str| text.split("[terms]").nth(1).expect("terms").replace("log.jsonl", "runs.csv");
    assert_eq!(terms(&of_log), terms(&energy));
    assert!(!fit("out/log.jsonl", &[]).contains("[objective]"));
    // Another objective is another search.
    let other = tune(&["--capture", "joules=Energy: ([0-9]+) J", "--objective", "joules*time"]);
    assert!(other.stderr.contains("--objective was \"joules\""), "{}", other.stderr);
    let elsewhere = ["tune", "--m", "1", "--p", "1", "--emit", "script", "--capture", "j=J: (.*)"];
    folder.refuses(
        &[&elsewhere[..], &["--objective", "min j", "--", "true"]].concat(),
        "--emit: found runs whose output is to be read, expected runs that are timed by the wall clock, \
         without --time-from, --rate-from, --time-json, --capture and --check: another engine starts them",
    );
    let nothing = tune(&["--objective", "joules"]);
    assert!(nothing.stderr.contains("--capture NAME=REGEX"), "{}", nothing.stderr);
}

#[cfg(unix)]
#[test]
fn a_driver_tells_what_it_measured() {
    let folder = Folder::new();
    let ask = || -> Value {
        let declared = ["ask", "--m", "1,2", "--p", "1,2", "--objective", "max score"];
        folder.json(&declared)
    };
    assert!(ask()["rate"].is_null());
    for (m, p, score) in [("1", "1", "10"), ("2", "2", "40"), ("1", "2", "20")] {
        let told = ["tell", "--m", m, "--p", p, "--objective", "max score", "--value", score];
        folder.succeeds(&told);
    }
    let answer = ask();
    assert_eq!(answer["best"].to_string(), "[2,2]");
    assert_eq!(answer["unit"], "score");
    // What follows from the time is no value of its own.
    let told = ["tell", "--m", "2", "--p", "1", "--objective", "time/m", "--value", "5"];
    let message = "--objective: found time/m, which follows from the time, expected --time TIME of the run; ask \
                   takes this objective";
    folder.refuses(&told, message);
}

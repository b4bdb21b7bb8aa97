//! `mmgp ask` and `mmgp tell`.

use serde_json::Value;

use crate::tune::{log, of};
use crate::{Folder, Run};

/// What `mmgp ask` prints.
fn ask(folder: &Folder, count: &str) -> Value {
    let arguments = ["ask", "--m", "1..4", "--p", "1", "--out", "out", "--count", count];
    serde_json::from_str(&folder.succeeds(&arguments)).expect("JSON")
}

fn tell(folder: &Folder, id: &str, m: &str, found: [&str; 2]) -> Run {
    let of = ["tell", "--out", "out", "--id", id, "--m", m, "--p", "1"];
    folder.mmgp(&[&of[..], &found].concat())
}

#[test]
fn a_driver_of_ones_own_asks_and_tells() {
    let folder = Folder::new();
    let first = ask(&folder, "3");
    assert_eq!(ask(&folder, "3"), first, "asking changes nothing");
    assert_eq!((first["runs"].as_array().map(Vec::len), &first["best"]), (Some(3), &Value::Null));
    let m = |index: usize| first["runs"][index]["m"].to_string();
    assert_eq!(tell(&folder, "1", &m(0), ["--time", "90ms"]).code, Some(0));
    assert_eq!(tell(&folder, "2", &m(1), ["--failed", "no memory"]).code, Some(0));
    assert_eq!(tell(&folder, "3", &m(2), ["--above", "5s"]).code, Some(0));
    let again = tell(&folder, "3", &m(2), ["--time", "6s"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("--id") && again.stderr.contains("told before"));
    let log = log(&folder, "out");
    assert_eq!(of(&log, "status"), ["ok", "failed", "timeout"]);
    assert_eq!((&log[0]["time_s"], &log[1]["reason"]), (&0.09.into(), &"no memory".into()));
    assert_eq!((&log[2]["wall_s"], &log[2]["time_s"]), (&5.0.into(), &Value::Null));
    let then = ask(&folder, "9");
    assert_eq!(then["best"].as_array().map(|it| it[0].to_string()), Some(m(0)));
    let runs = then["runs"].as_array().expect("a list");
    let failed = &first["runs"][1]["m"];
    assert!(runs.iter().all(|run| run["m"] != *failed), "{then}");
    let both = folder.mmgp(&["tell", "--m", "1", "--p", "1", "--time", "1", "--failed", "x"]);
    assert_eq!(both.code, Some(2));
}

/// A configuration that is asked of a driver by that name, if one is.
fn asked_by(folder: &Folder, worker: &str) -> Option<(u64, u64)> {
    let arguments = ["ask", "--m", "1..4", "--p", "1", "--out", "out", "--worker", worker];
    let answer: Value = serde_json::from_str(&folder.succeeds(&arguments)).expect("JSON");
    let run = answer["runs"].get(0)?;
    Some((run["id"].as_u64().expect("an id"), run["m"].as_u64().expect("m")))
}

#[test]
fn drivers_with_names_have_runs_of_their_own() {
    let folder = Folder::new();
    let (one, other) = (asked_by(&folder, "a"), asked_by(&folder, "b"));
    assert_ne!(one.map(|it| it.0), other.map(|it| it.0));
    assert_ne!(one.map(|it| it.1), other.map(|it| it.1));
    // Until it is told, the same.
    assert_eq!(asked_by(&folder, "a"), one);
    let (id, m) = one.expect("a run");
    let wrong = tell(&folder, &id.to_string(), &(m % 4 + 1).to_string(), ["--time", "1s"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("for which it was asked"), "{}", wrong.stderr);
    assert_eq!(tell(&folder, &id.to_string(), &m.to_string(), ["--time", "1s"]).code, Some(0));
    assert_ne!(asked_by(&folder, "a"), one);
    // All that is worth a run is in somebody's hands.
    let names: Vec<String> = (0..6).map(|it| format!("w{it}")).collect();
    let further: Vec<_> = names.iter().map(|it| asked_by(&folder, it)).collect();
    assert!(further.last() == Some(&None), "{further:?}");
}

#[test]
fn what_was_not_declared_is_not_told() {
    let folder = Folder::new();
    ask(&folder, "1");
    let undeclared = tell(&folder, "1", "9", ["--time", "1s"]);
    assert_eq!(undeclared.code, Some(2));
    assert!(undeclared.stderr.contains("(9, 1), which was not declared"), "{}", undeclared.stderr);
    let flags = ["tell", "--out", "out", "--m", "1", "--p", "1", "--time", "1", "--param", "a=b"];
    let factor = folder.mmgp(&flags);
    assert!(factor.stderr.contains("--param: found a=b, expected none"), "{}", factor.stderr);
    // Of a table with one such nothing is told.
    folder.write("results.csv", "m,p,time_s\n1,1,3\n9,1,2\n");
    let table = folder.mmgp(&["tell", "--out", "out", "--results", "results.csv"]);
    assert_eq!(table.code, Some(2));
    assert!(table.stderr.contains("(9, 1), which was not declared"), "{}", table.stderr);
    assert_eq!(folder.read("out/log.jsonl"), "");
    let large = tell(&folder, "18446744073709551615", "1", ["--time", "1s"]);
    assert!(large.code == Some(2) && large.stderr.contains("--id"), "{}", large.stderr);
}

#[test]
fn a_damaged_line_is_taken_out_on_request() {
    let folder = Folder::new();
    ask(&folder, "1");
    tell(&folder, "1", "1", ["--time", "1s"]);
    let whole = folder.read("out/log.jsonl");
    folder.write("out/log.jsonl", &(whole.clone() + "{\"id\":2,\u{1b}[31m\n"));
    let refused = tell(&folder, "2", "2", ["--time", "1s"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--repair"), "{}", refused.stderr);
    let repaired = folder.mmgp(&["ask", "--m", "1..4", "--p", "1", "--out", "out", "--repair"]);
    assert_eq!(repaired.code, Some(0));
    assert!(repaired.stderr.contains("log.jsonl:2: lost: {\"id\":2,?[31m"), "{}", repaired.stderr);
    assert_eq!(folder.read("out/log.jsonl"), whole);
    assert!(folder.read("out/log.damaged-1.jsonl").contains("\"id\":2"));
}

/// Four drivers at once, as processes of their own.
#[test]
fn of_what_several_drivers_tell_at_once_nothing_is_lost_doubled_or_refused() {
    let folder = Folder::new();
    let driver = &|worker: usize| {
        let name = format!("w{worker}");
        let mut told = Vec::new();
        loop {
            let all = ["ask", "--m", "1..4", "--p", "1..4", "--until-regret", "1%"];
            let of = ["--out", "out", "--worker", &name];
            let answer = folder.succeeds(&[&all[..], &of].concat());
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            if answer["settled"] == true || told.len() > 40 {
                return told;
            }
            let Some(run) = answer["runs"].get(0) else { continue };
            let [id, m, p] = ["id", "m", "p"].map(|it| run[it].to_string());
            let time =
                format!("{}ms", 100 * m.len() as u64 + 10 * id.parse::<u64>().unwrap_or(0) % 7);
            let tell = ["tell", "--out", "out", "--id", &id, "--m", &m, "--p", &p, "--time", &time];
            folder.succeeds(&tell);
            told.push(id.parse::<u64>().expect("an id"));
        }
    };
    let mut told: Vec<u64> = std::thread::scope(|scope| {
        let drivers: Vec<_> = (0..4).map(|worker| scope.spawn(move || driver(worker))).collect();
        drivers.into_iter().flat_map(|it| it.join().expect("a driver")).collect()
    });
    told.sort_unstable();
    let mut logged: Vec<u64> =
        log(&folder, "out").iter().map(|it| it["id"].as_u64().expect("an id")).collect();
    logged.sort_unstable();
    assert_eq!(told, logged);
    logged.dedup();
    assert_eq!((told.len() >= 5, logged.len()), (true, told.len()));
}

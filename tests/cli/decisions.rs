//! What `mmgp predict` answers about the choice: constraints, what-if, explanations, the next
//! measurement, break-even, phases and nodes.

use serde_json::Value;

use crate::Folder;

/// PBPI with errors that go together, two phases, and a table that ends at twelve threads.
const PARAMETERS: &str = r#"schema = 1
name = "uncertain"
decomposition = "data"
apus = 16
[terms]
t_hpu_s     = { value = 1.3, std_error = 0.02, degrees_of_freedom = 4 }
t_apu_s     = { value = 370.0, std_error = 4.0, degrees_of_freedom = 4 }
c_apu_s     = { value = 1.72, std_error = 0.05 }
offloads    = { value = 2000 }
o_offload_s = { value = 70e-9, std_error = 1e-9 }
t_csw_s     = { value = 2e-6, std_error = 1e-7 }
g_s         = { value = 0.4e-3, std_error = 0.05e-3 }
collectives = { value = 20000 }
alpha       = { value = 1.28, std_error = 0.03 }
[terms.o_col_s]
m = [1, 2, 4, 8, 12]
value = [0.0, 16e-6, 118e-6, 265e-6, 573e-6]
std_error = [0.0, 1e-6, 5e-6, 12e-6, 30e-6]
[correlation]
entries = ["t_hpu_s", "c_apu_s"]
t_hpu_s = [1.0, -0.8]
c_apu_s = [-0.8, 1.0]
[[phases]]
name = "a"
t_hpu_s = { value = 0.3, std_error = 0.01 }
t_apu_s = { value = 350.0, std_error = 4.0 }
c_apu_s = 0.72
offloads = 1000
g_s = 0.1e-3
collectives = 10000
[[phases]]
name = "b"
t_hpu_s = { value = 1.0, std_error = 0.01 }
t_apu_s = { value = 20.0, std_error = 0.1 }
c_apu_s = 1.0
offloads = 1000
g_s = 0.7e-3
collectives = 10000
"#;

fn predict(arguments: &[&str]) -> String {
    let folder = Folder::with("p.toml", PARAMETERS);
    folder.succeeds(&[&["predict", "--params", "p.toml"], arguments].concat())
}

fn json(arguments: &[&str]) -> Value {
    let text = predict(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).expect("JSON")
}

/// The answer is the same table in CSV, with this header and so many rows.
fn check_csv(arguments: &[&str], header: &str, rows: usize) {
    let csv = predict(&[arguments, &["--format", "csv"]].concat());
    assert_eq!(csv.lines().next(), Some(header));
    assert_eq!(csv.lines().count(), rows + 1, "{csv}");
}

#[test]
fn every_choice_has_its_regret_and_the_best_is_among_those_not_told_from_it() {
    let answer = json(&[]);
    let configurations = answer["configurations"].as_array().expect("a list");
    assert_eq!(configurations.len(), 50);
    let number = |row: &Value, column: &str| row[column].as_f64().expect("a number");
    assert_eq!(number(&configurations[0], "indistinguishable"), 1.0);
    for row in configurations {
        let apus = number(row, "m") * number(row, "p");
        assert!((number(row, "efficiency") - number(row, "speedup") / apus).abs() < 1e-12);
        assert!(number(row, "expected_regret_s") >= 0.0);
    }
    let sum: f64 = configurations.iter().map(|row| number(row, "probability_best")).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    // The expected regret of the best is about the least.
    let least = configurations.iter().map(|row| number(row, "expected_regret_s"));
    let least = least.fold(f64::INFINITY, f64::min);
    assert!(number(&configurations[0], "expected_regret_s") <= least + 0.1);
}

#[test]
fn constraints_are_met_and_those_that_leave_nothing_are_named() {
    let answer = json(&["--p-divides", "8", "--max-m", "3", "--apus-per-chip", "8"]);
    let configurations = answer["configurations"].as_array().expect("a list");
    // Two chips: m = 1, 2 with p = 1, 2, 4, 8; m = 3 with p = 1, 2, 4.
    assert_eq!((answer["feasible"].as_u64(), configurations.len()), (Some(11), 11));
    let folder = Folder::with("p.toml", PARAMETERS);
    folder.refuses(
        &["predict", "--params", "p.toml", "--min-m", "3", "--min-p", "8", "--max-p", "12"],
        "no (m, p) of 16 APUs meets --min-m 3 and --min-p 8 together; relax one of them",
    );
}

#[test]
fn what_if_compares_with_the_best_as_given() {
    let answer =
        json(&["--apus", "32", "--scale", "g_s=0.5", "--scale", "t_apu_s=4", "--top", "1"]);
    let what_if = &answer["what_if"];
    let [m, p] = ["m", "p"].map(|key| what_if["changed"][key].clone());
    let best = &answer["configurations"][0];
    assert_eq!([&best["m"], &best["p"]], [&m, &p]);
    assert_eq!(what_if["changed"]["time_s"], best["time_s"]);
    assert!(json(&[])["what_if"].is_null());
    assert!(predict(&["--scale", "c_apu_s=0"]).contains("As given, the best is ("));
    let folder = Folder::with("p.toml", PARAMETERS);
    folder.refuses(
        &["predict", "--params", "p.toml", "--scale", "o_ofload_s=0.5"],
        "there is no term \"o_ofload_s\"; did you mean \"o_offload_s\"? known: t_hpu_s, t_apu_s, \
         c_apu_s, offloads, o_offload_s, t_csw_s, g_s, collectives, alpha, o_col_s",
    );
}

#[test]
fn an_explanation_adds_up() {
    let answer = json(&["--m", "4", "--p", "4", "--explain"]);
    let sum = |list: &str, key: &str| -> f64 {
        let parts = answer[list].as_array().expect("a list").iter();
        parts.map(|part| part[key].as_f64().expect("a number")).sum()
    };
    let time = answer["time_s"].as_f64().expect("a number");
    assert!((sum("breakdown", "time_s") - time).abs() < 1e-9 * time);
    // 22 % of misfit beside some 2 % of the terms.
    let misfit = answer["misfit_share"].as_f64().expect("a number");
    assert!(0.95 < misfit && misfit < 1.0, "{misfit}");
    let shares = sum("terms", "variance_share");
    assert!(shares > 0.0 && shares < 0.1, "{shares}");
    let header = "term,value,std_error,derivative,elasticity,variance_share";
    check_csv(&["--m", "4", "--p", "4", "--explain"], header, 10);
    let table = predict(&["--explain"]);
    assert!(table.contains("% due to "), "{table}");
}

#[test]
fn the_next_measurement_is_ranked_by_what_it_gains() {
    let answer = json(&["--next", "--noise", "0.01"]);
    let gains: Vec<f64> = answer["measurements"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| row["gain_s"].as_f64().expect("a number"))
        .collect();
    assert!(gains.len() > 50 && gains.is_sorted_by(|one, other| one >= other));
    check_csv(&["--next", "--top", "3"], "rank,measure,m,p,gain_s,std_error_of_best_s", 3);
    assert!(predict(&["--next"]).contains("noise of 8.8 % (--noise)"));
}

#[test]
fn break_even_needs_a_host_and_answers_for_every_p() {
    let arguments = ["--break-even", "--host-factor", "2.5"];
    check_csv(&arguments, "p,least_granularity_s,low_s,high_s,gain", 16);
    let answer = json(&arguments);
    assert_eq!(answer["break_even"].as_array().map(Vec::len), Some(16));
    let folder = Folder::with("p.toml", PARAMETERS);
    folder.refuses(
        &["predict", "--params", "p.toml", "--break-even", "--host-factor", "0"],
        "host-factor: found 0, expected host time over the time of one APU, above 0",
    );
}

#[test]
fn phases_keep_their_own_p_while_changing_is_cheap() {
    let plan = |cost: &str| {
        let answer = json(&["--per-phase", "--change-cost", cost, "--phase-rounds", "10"]);
        answer["plans"][0].clone()
    };
    let cheap = plan("0");
    assert_ne!(cheap["p"][0], cheap["p"][1], "{cheap}");
    assert_eq!(cheap["changes"], 19);
    let dear = plan("100");
    assert_eq!(dear["p"][0], dear["p"][1], "{dear}");
    assert_eq!(dear["changes"], 0);
    let folder = Folder::new();
    folder.refuses(
        &["predict", "--params", "pbpi-qs20", "--per-phase"],
        "phases: found none, expected [[phases]] in the parameter file",
    );
}

#[test]
fn nodes_multiply_the_configurations_and_cost_what_they_are_said_to() {
    let one = json(&["--nodes", "1"]);
    let alone = json(&[]);
    let first =
        |answer: &Value, key: &str| answer["configurations"][0][key].as_f64().expect("a number");
    for key in ["m", "p", "time_s", "low_s", "high_s", "speedup"] {
        let [with, without] = [first(&one, key), first(&alone, key)];
        assert!((with - without).abs() < 1e-9 * without, "{key}: {with} {without}");
    }
    assert_eq!(json(&["--nodes", "3", "--node-overhead", "1e-6"])["feasible"], 150);
    // 20,000 collectives of 1 s each: nobody leaves the first node.
    assert_eq!(json(&["--nodes", "3", "--node-overhead", "1"])["configurations"][0]["n"], 1);
}

/// The same configurations in the same order, with the same times to the last digits.
fn check_same(one: &Value, other: &Value) {
    let rows = |answer: &Value| answer["configurations"].as_array().expect("a list").clone();
    let (one, other) = (rows(one), rows(other));
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert_eq!((&one["m"], &one["p"]), (&other["m"], &other["p"]));
        for key in ["time_s", "low_s", "high_s"] {
            let [a, b] = [one, other].map(|row| row[key].as_f64().expect("a number"));
            assert!((a / b - 1.0).abs() < 1e-9, "{key}: {a} {b}");
        }
    }
}

#[test]
fn the_refined_model_ranks_where_the_parameters_have_its_terms() {
    let refined = "[refined]\niterations = 100\nwork_growth_s = { value = 1.5, std_error = 0.1 }\n";
    let folder = Folder::with(
        "r.toml",
        PARAMETERS.replace("[[phases]]\nname = \"a\"", &{
            refined.to_string() + "[[phases]]\nname = \"a\""
        }),
    );
    let predict = |arguments: &[&str]| {
        let all = [&["predict", "--params", "r.toml", "--format", "json"], arguments].concat();
        serde_json::from_str::<Value>(&folder.succeeds(&all)).expect("JSON")
    };
    let refined = predict(&["--model", "refined"]);
    assert_eq!(refined["feasible"], 50);
    // Without a word, what knows more decides.
    check_same(&predict(&[]), &refined);
    check_same(&predict(&["--model", "mmgp"]), &json(&[]));
    let time = |answer: &Value, at: (u32, u32)| {
        let rows = answer["configurations"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["m"] == at.0 && row["p"] == at.1);
        row.expect("feasible")["time_s"].as_f64().expect("a number")
    };
    // Three further APUs, and 7 of 100 iterations on the slowest of 16 APUs instead of 6.25.
    let expected = 3.0 * 1.5 + 370.0 / 16.0 * (7.0 / 6.25 - 1.0);
    let found = time(&refined, (4, 4)) - time(&json(&[]), (4, 4));
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    let explained = predict(&["--model", "refined", "--m", "4", "--p", "4", "--explain"]);
    let names: Vec<&str> = explained["breakdown"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|part| part["name"].as_str().expect("a name"))
        .collect();
    assert!(names.contains(&"work growth") && names.contains(&"uneven division"), "{names:?}");
    let next = predict(&["--model", "refined", "--next"]);
    let mut measured = next["measurements"].as_array().expect("a list").iter();
    assert!(measured.any(|it| it["measure"] == "work_growth_s"));
    let follows = |what: &str| format!("{what} follows from the terms of equation 11 alone");
    for (question, reason) in [
        (&["--per-phase"][..], follows("the p of each phase")),
        (&["--break-even", "--host-factor", "1"], follows("what off-loading costs")),
        (&["--nodes", "2"], "nodes are put around the terms of equation 11 alone".into()),
    ] {
        let asked = [&["predict", "--params", "r.toml", "--model", "refined"], question].concat();
        folder.refuses(&asked, &format!("model: found refined, expected mmgp: {reason}"));
    }
    folder.refuses(
        &["predict", "--params", "pbpi-qs20", "--model", "refined"],
        "there is no model \"refined\"; known: mmgp, amdahl, amdahl-2, usl, mmgp+1/m+1/p, all-terms, \
         flat",
    );
}

#[test]
fn of_too_many_configurations_to_weigh_those_that_have_a_chance_are() {
    let folder = Folder::with("p.toml", PARAMETERS);
    let predict = |arguments: &[&str]| -> (Value, String) {
        let all = [&["predict", "--params", "p.toml", "--format", "json"], arguments].concat();
        let run = folder.mmgp(&all);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        (serde_json::from_str(&run.stdout).expect("JSON"), run.stderr)
    };
    // 5,000 configurations are the most that are ranked.
    let narrow = |most: &str| predict(&["--apus", "300000", "--max-m", "8", "--max-p", most]);
    let ((few, silent), (many, told)) = (narrow("625"), narrow("626"));
    assert_eq!(few["configurations"].as_array().map(Vec::len), Some(5000));
    assert!(!silent.contains("to hope for"), "{silent}");
    assert_eq!(many["feasible"], 8 * 626);
    assert!(told.contains("of 5008 configurations the "), "{told}");
    for key in ["m", "p", "time_s", "low_s"] {
        assert_eq!(few["configurations"][0][key], many["configurations"][0][key]);
    }
    assert!(many["choice"]["costs_at_most"].is_number());
    // Any number is answered.
    let (all, _) = predict(&["--apus", "300000"]);
    assert_eq!(all["feasible"], 3_829_833);
}

//! `mmgp report`, as far as it can be seen without a browser.

use super::Folder;

/// What the page's script is told.
fn data(page: &str) -> serde_json::Value {
    let (_, after) = page.split_once("id=\"data\">").expect("the page has data");
    let (json, _) = after.split_once("</script>").expect("they end");
    serde_json::from_str(json).expect("they are JSON")
}

fn numbers(column: &serde_json::Value) -> Vec<f64> {
    let items = column.as_array().expect("a column");
    items.iter().map(|item| item.as_f64().expect("a number")).collect()
}

fn of_rows(rows: &[serde_json::Value], column: &str) -> Vec<f64> {
    rows.iter().map(|row| row[column].as_f64().expect(column)).collect()
}

#[test]
fn a_page_of_parameters_has_the_ranking_that_predict_prints() {
    let folder = Folder::new();
    folder.succeeds(&["report", "pbpi-qs20", "--out", "page.html", "--title", "a title"]);
    let page = folder.read("page.html");
    assert!(page.contains("<title>a title</title>") && page.contains("(m, p) = (4, 4)"));
    let data = data(&page);
    let predicted = folder.json(&["predict", "--params", "pbpi-qs20", "--format", "json"]);
    let rows = predicted["configurations"].as_array().expect("a list");
    assert_eq!(rows.len(), 50);
    assert_eq!(data["choice"], predicted["choice"]["sentence"]);
    for column in ["m", "p", "low_s", "high_s", "probability_best", "regret_95_s"] {
        assert_eq!(numbers(&data["configurations"][column]), of_rows(rows, column), "{column}");
    }
    // One is that of equation 11, the other has been through its logarithm.
    let times = numbers(&data["configurations"]["time_s"]);
    for (time, predicted) in times.iter().zip(of_rows(rows, "time_s")) {
        assert!((time / predicted - 1.0).abs() < 1e-12, "{time} {predicted}");
    }
    for nothing in ["believed_s", "refined_s", "measured_s", "split"] {
        assert!(data["configurations"][nothing].is_null(), "{nothing}");
    }
    assert_eq!(page, folder.succeeds(&["report", "pbpi-qs20", "--title", "a title"]));
}

/// Times of a program that runs into the bandwidth of its memory beyond eight APUs.
fn runs() -> String {
    let mut rows = String::from("m,p,repetition,time_s\n");
    for (m, p) in [(1, 1), (1, 4), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (1, 8)] {
        let busy = f64::from((m * p).min(8));
        for (repetition, scatter) in [(1, 1.004), (2, 0.996)] {
            let time = (2.0 + 60.0 / busy + 0.1 * f64::from(p)) * scatter;
            rows += &format!("{m},{p},{repetition},{time}\n");
        }
    }
    rows
}

#[test]
fn a_page_of_runs_has_the_ranking_that_predict_prints_with_them() {
    let folder = Folder::with("runs.csv", runs());
    folder.succeeds(&["fit", "--runs", "runs.csv", "--quiet", "--out", "params.toml"]);
    let page = folder.succeeds(&["report", "params.toml", "--runs", "runs.csv"]);
    let data = data(&page);
    let with_runs = ["--params", "params.toml", "--runs", "runs.csv", "--format", "json"];
    let predicted = folder.json(&[&["predict"][..], &with_runs].concat());
    let rows = predicted["configurations"].as_array().expect("a list");
    assert_eq!(data["choice"], predicted["choice"]["sentence"]);
    let columns = &data["configurations"];
    assert_eq!(numbers(&columns["believed_s"]), of_rows(rows, "time_s"));
    for column in ["m", "p", "low_s", "high_s", "probability_best", "expected_regret_s"] {
        assert_eq!(numbers(&columns[column]), of_rows(rows, column), "{column}");
    }
    let measured: Vec<_> = rows.iter().map(|row| row["measured_s"].clone()).collect();
    assert_eq!(columns["measured_s"], serde_json::Value::from(measured));
    let (answer, _) = page.split_once("</section>").expect("the answer ends");
    assert!(answer.contains("the fastest that was timed is (4, 2)"), "{answer}");
    assert!(!page.contains("emulat"));
    // The parameters have the runs that they were fitted with.
    let own = folder.succeeds(&["report", "params.toml"]);
    assert_eq!(self::data(&own)["configurations"], *columns);
}

#[test]
fn what_reading_the_runs_warned_of_stands_on_the_page() {
    let folder =
        Folder::with("jobs.csv", runs().replace("time_s", "elapsed_ms") + "4,4,3,TIMEOUT\n");
    let columns = ["--columns", "time=elapsed_ms"];
    let run = folder.mmgp(&[&["report", "pbpi-qs20", "--runs", "jobs.csv"][..], &columns].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let data = data(&run.stdout);
    let warnings = data["warnings"].as_array().expect("warnings");
    for said in ["\"elapsed_ms\" (in ms)", "1 run failed and was left out"] {
        let warning = warnings.iter().filter_map(|it| it.as_str()).find(|it| it.contains(said));
        assert!(warning.is_some_and(|it| run.stderr.contains(it)), "{said}: {}", run.stderr);
    }
    assert_eq!(data["provenance"]["inputs"][0]["role"], "timed runs");
}

#[test]
fn every_picture_of_times_can_be_of_runs() {
    let folder = Folder::with("runs.csv", runs());
    folder.succeeds(&["fit", "--runs", "runs.csv", "--quiet", "--out", "params.toml"]);
    let draw = |kind: &str, more: &[&str]| {
        let usual = ["plot", "--params", "params.toml", "--kind", kind, "--out", "a.svg"];
        folder.succeeds(&[&usual[..], more].concat());
        folder.read("a.svg")
    };
    for kind in ["m", "p", "all", "combined", "heat-map", "heat-map-measured"] {
        let picture = draw(kind, &["--runs", "runs.csv"]);
        assert!(picture.contains("measured"), "{kind}");
        // The parameters have them.
        assert!(picture == draw(kind, &[]), "{kind}");
    }
    for kind in ["parity", "residuals"] {
        let picture = draw(kind, &[]);
        assert!(picture.contains("predicted by the models given the other runs"), "{kind}");
    }
    let lacking = "plot --kind m: no parameters; give it with --params NAME|FILE, or the folder of a \
                   study with --study DIR";
    folder.refuses(&["plot", "--runs", "runs.csv", "--kind", "m", "--out", "b.svg"], lacking);
    let lacking = "plot --kind m: no validation.csv; give it with --validation FILE, or the folder of \
                   a study with --study DIR";
    folder.refuses(&["plot", "--params", "pbpi-qs20", "--kind", "m", "--out", "b.svg"], lacking);
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let page = Folder::new().succeeds(&["report", "raxml-qs20"]);
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    for wanted in ["http:", "https:", "src=", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!without_names.contains(wanted), "the page holds {wanted}");
    }
    // What styles point at is in the page itself.
    assert_eq!(page.matches("url(").count(), page.matches("url(#").count());
    assert!(page.contains("default-src 'none'"));
}

const HOSTILE: &str = "</script><script>alert(1)</script><!-- \" ' &amp; \u{202e}";

#[test]
fn a_name_is_text_wherever_it_stands_in_the_page() {
    let folder = Folder::new();
    let published = super::shipped("models/published/pbpi-qs20.toml");
    let named = published.lines().map(|line| match line.split_once(" = ") {
        Some(("name", _)) => format!("name = {HOSTILE:?}\n").replace("\\u{202e}", "\u{202e}"),
        _ => line.replace("source = \"", "source = \"<script>alert(2)</script>") + "\n",
    });
    folder.write("params.toml", named.collect::<String>());
    let page = folder.succeeds(&["report", "."]);
    let tame = folder.succeeds(&["report", "pbpi-qs20"]);
    for mark in ["<script", "</script", "<!--"] {
        assert_eq!(page.matches(mark).count(), tame.matches(mark).count(), "{mark}");
    }
    assert_eq!(data(&page)["title"], HOSTILE);
    let source = &data(&page)["parameters"]["terms"]["t_hpu_s"]["source"];
    assert!(source.as_str().expect("a source").starts_with("<script>"), "{source}");
}

#[test]
fn a_folder_without_parameters_says_how_to_make_them() {
    let folder = Folder::new();
    let advice = "no params.toml; `mmgp study --out here` makes everything, `mmgp fit --out \
                  here/params.toml` that";
    std::fs::create_dir(folder.path("here")).expect("a folder");
    folder.refuses(&["report", "here"], &format!("here: {advice}"));
    let advice = advice.replace("here", "mmgp-study");
    folder.refuses(&["report"], &format!("mmgp-study: {advice}"));
}

#[test]
fn a_study_that_does_not_say_where_it_comes_from_is_refused_with_the_place() {
    let folder = Folder::with("params.toml", super::shipped("models/published/pbpi-qs20.toml"));
    folder.write("study.json", "{\n \"seed\": \"one\"}");
    let run = folder.mmgp(&["report", "."]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("study.json:2:14: found invalid type"), "{}", run.stderr);
}

#[test]
fn refined_terms_of_other_parameters_are_left_out_and_said_so() {
    let published = super::shipped("models/published/pbpi-qs20.toml");
    let folder = Folder::with("params.toml", &published);
    folder.write("refined.toml", published.clone() + "\n[refined]\niterations = 2499\n");
    let refined = |folder: &Folder| {
        let run = folder.mmgp(&["report", "."]);
        (data(&run.stdout)["configurations"]["refined_s"].is_array(), run.stderr)
    };
    assert_eq!(refined(&folder), (true, String::new()));
    folder.write("params.toml", published.replace("370.0", "371.0"));
    let (is_refined, stderr) = refined(&folder);
    assert!(!is_refined && stderr.contains("refined.toml has other terms"), "{stderr}");
}

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

#[test]
fn a_page_of_parameters_has_the_ranking_that_predict_prints() {
    let folder = Folder::new();
    folder.succeeds(&["report", "pbpi-qs20", "--out", "page.html", "--title", "a title"]);
    let page = folder.read("page.html");
    assert!(page.contains("<title>a title</title>") && page.contains("(m, p) = (4, 4)"));
    let data = data(&page);
    let predicted = folder.succeeds(&["predict", "--params", "pbpi-qs20", "--format", "json"]);
    let predicted: serde_json::Value = serde_json::from_str(&predicted).expect("JSON");
    let rows = predicted["configurations"].as_array().expect("a list");
    assert_eq!(rows.len(), 50);
    assert_eq!(data["choice"], predicted["choice"]["sentence"]);
    for column in ["m", "p", "time_s", "low_s", "high_s", "probability_best", "regret_95_s"] {
        let of_rows: Vec<f64> =
            rows.iter().map(|row| row[column].as_f64().expect(column)).collect();
        assert_eq!(numbers(&data["configurations"][column]), of_rows, "{column}");
    }
    for nothing in ["refined_s", "measured_s", "split"] {
        assert!(data["configurations"][nothing].is_null(), "{nothing}");
    }
    assert_eq!(page, folder.succeeds(&["report", "pbpi-qs20", "--title", "a title"]));
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

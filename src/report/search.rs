//! What a page says of a search: the answer in its words, its course, and every attempt.

use super::pictures::figure;
use crate::answer::{Table, escaped};
use crate::error::Result;
use crate::plot::{CurvePanel, Curves, Kind};

/// A search as a page shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    /// What to run, in the user's words.
    pub sentence: String,
    /// What stands below it.
    pub details: Vec<String>,
    /// What m and p are called.
    pub names: (String, String),
    /// What was measured, with its unit.
    pub measured: String,
    /// The regret that is good enough, relative to the fastest.
    pub limit: f64,
    /// All attempts, in the order in which they ended.
    pub attempts: Vec<Row>,
}

/// An attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The place of the attempt in the order.
    pub order: u64,
    /// Processes.
    pub m: u32,
    /// APUs or threads of each.
    pub p: u32,
    /// Further factors, the repetition, whether it was to warm up.
    pub kind: String,
    /// How it ended, and why if not well.
    pub status: String,
    /// The number that counts, of what was measured.
    pub number: Option<f64>,
    /// The time from its start to its end \[s\].
    pub wall_s: Option<f64>,
    /// CPU time \[s\].
    pub cpu_s: Option<f64>,
    /// Peak memory \[KiB\].
    pub max_rss_kb: Option<u64>,
    /// The choice after it, in the user's words.
    pub best: Option<String>,
    /// What that choice is expected to cost, relative to the fastest.
    pub expected: Option<f64>,
    /// What it costs at most (95 %).
    pub regret: Option<f64>,
}

/// The answer, as HTML.
pub(super) fn answer(search: &Search, title: &str) -> String {
    let details: String =
        search.details.iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect();
    format!(
        "<section id=\"answer\" aria-labelledby=\"answer-title\">\n<p class=\"of\"><bdi>{}</bdi></p>\n\
         <h1 id=\"answer-title\">{}</h1>\n{details}<p><a href=\"#course\">The course of the \
         search</a>, <a href=\"#log\">every run</a></p>\n</section>",
        escaped(title),
        escaped(&search.sentence)
    )
}

/// The course and the log, as HTML that needs no script.
pub(super) fn sections(search: &Search) -> Result<String> {
    let (of_m, of_p) = &search.names;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let number = |value: Option<f64>| or_dash(value.map(|value| format!("{value:.4}")));
    let percent = |value: Option<f64>| or_dash(value.map(|it| format!("{:.1} %", 100.0 * it)));
    let memory = |kib: u64| format!("{:.1}", kib as f64 / 1024.0);
    let table = Table::of(&search.attempts)
        .people("#", |row| row.order.to_string())
        .people(of_m, |row| row.m.to_string())
        .people(of_p, |row| row.p.to_string())
        .people("kind", |row| row.kind.clone())
        .people("ended", |row| row.status.clone())
        .left()
        .people(&search.measured, |row| number(row.number))
        .people("wall [s]", |row| number(row.wall_s))
        .people("CPU [s]", |row| number(row.cpu_s))
        .people("memory [MiB]", |row| or_dash(row.max_rss_kb.map(memory)))
        .people("best then", |row| or_dash(row.best.clone()))
        .people("expected to cost", |row| percent(row.expected))
        .people("at most (95 %)", |row| percent(row.regret))
        .html("every run");
    let picture = picture(search)?;
    Ok(format!(
        "<section id=\"course\" aria-labelledby=\"course-heading\">\n\
         <h2 id=\"course-heading\">The course of the search</h2>\n\
         <p class=\"note\">What the choice may cost after each run: at most (95 %), what is expected, and what \
         is good enough.</p>\n{picture}</section>\n\
         <section id=\"log\" aria-labelledby=\"log-heading\">\n<h2 id=\"log-heading\">Every run</h2>\n\
         {table}</section>\n"
    ))
}

/// The regret by runs.
fn picture(search: &Search) -> Result<String> {
    let points = |of: fn(&Row) -> Option<f64>| -> Vec<(u32, f64)> {
        let point = |it: &Row| Some((it.order as u32, (100.0 * of(it)?).max(LEAST)));
        search.attempts.iter().filter_map(point).collect()
    };
    let limit = (100.0 * search.limit).max(LEAST);
    let last = search.attempts.len().max(2) as u32;
    let series =
        vec![points(|it| it.regret), points(|it| it.expected), vec![(1, limit), (last, limit)]];
    let panel = CurvePanel { caption: String::new(), quantity: "regret [%]".into(), series };
    let names = ["at most (95 %)", "expected", "good enough"].map(String::from);
    let curves = Curves { names: names.into(), panels: vec![panel], x_title: "runs".into() };
    figure("What the choice may cost, by runs", Kind::Curves(&curves))
}

/// A regret below this is drawn as this \[%\].
const LEAST: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> Search {
        let row = |order: u64, regret| Row {
            order,
            m: 4,
            p: 2,
            status: "failed: <script>alert(1)</script>".into(),
            regret,
            ..Row::default()
        };
        Search {
            sentence: "4 ranks of 2 threads: 1 s & more".into(),
            names: ("ranks".into(), "threads".into()),
            limit: 0.01,
            attempts: vec![row(1, None), row(2, Some(0.5)), row(3, Some(0.008))],
            ..Search::default()
        }
    }

    #[test]
    fn what_programs_say_is_text() {
        let html = answer(&search(), "<b>") + &sections(&search()).expect("a picture");
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(html.contains("failed: &lt;script&gt;") && html.contains("1 s &amp; more"));
    }

    #[test]
    fn every_attempt_is_a_row_and_every_regret_a_point() {
        let html = sections(&search()).expect("a picture");
        assert_eq!(html.matches("<tr><td>").count(), 3);
        assert!(html.contains("<th scope=\"col\">ranks</th>"));
        for spot in
            ["at most (95 %): 50.0, at 2", "at most (95 %): 0.800, at 3", "good enough: 1.00, at 3"]
        {
            assert_eq!(html.matches(spot).count(), 1, "{spot} in {html}");
        }
    }

    #[test]
    fn a_search_without_any_regret_has_a_picture_as_well() {
        let nothing = Search { limit: 0.01, ..Search::default() };
        let html = sections(&nothing).expect("a picture");
        assert!(html.contains("<svg") && !html.contains("NaN"));
    }
}

//! What a page says of a search: the answer in its words, its course, and every attempt.

use super::template::escaped;

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
    /// Its place in the order.
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
    /// From its start to its end \[s\].
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
pub(super) fn sections(search: &Search) -> String {
    let (of_m, of_p) = &search.names;
    let header = [
        "#",
        of_m,
        of_p,
        "kind",
        "ended",
        &search.measured,
        "wall [s]",
        "CPU [s]",
        "memory [MiB]",
        "best then",
        "expected to cost",
        "at most (95 %)",
    ];
    let header: String =
        header.iter().map(|name| format!("<th scope=\"col\">{}</th>", escaped(name))).collect();
    let rows: String = search.attempts.iter().map(row).collect();
    format!(
        "<section id=\"course\" aria-labelledby=\"course-heading\">\n\
         <h2 id=\"course-heading\">The course of the search</h2>\n\
         <figure class=\"static scroller\" tabindex=\"0\">\n<figcaption>What the choice may cost, by \
         timed runs: at most (95 %), and below it what is expected; the line across is what is good \
         enough.</figcaption>\n{}\n\
         </figure>\n</section>\n\
         <section id=\"log\" aria-labelledby=\"log-heading\">\n<h2 id=\"log-heading\">Every run</h2>\n\
         <div class=\"scroller\" tabindex=\"0\" role=\"region\" aria-label=\"Table: every run\">\n\
         <table class=\"data\">\n<caption class=\"unseen\">Every run</caption>\n\
         <thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n",
        picture(search)
    )
}

/// The column that says how an attempt ended.
const STATUS: usize = 4;

fn row(row: &Row) -> String {
    let number = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.4}"));
    let memory = row.max_rss_kb.map_or("–".into(), |kib| format!("{:.1}", kib as f64 / 1024.0));
    let percent = |it: Option<f64>| it.map_or("–".into(), |it| format!("{:.1} %", 100.0 * it));
    let cells = [
        row.order.to_string(),
        row.m.to_string(),
        row.p.to_string(),
        row.kind.clone(),
        row.status.clone(),
        number(row.number),
        number(row.wall_s),
        number(row.cpu_s),
        memory,
        row.best.clone().unwrap_or_else(|| "–".into()),
        percent(row.expected),
        percent(row.regret),
    ];
    let cell = |(place, text): (usize, &String)| {
        let class = if place == STATUS { " class=\"text\"" } else { "" };
        format!("<td{class}>{}</td>", escaped(text))
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!("<tr>{cells}</tr>\n")
}

/// Size of the picture, and the room around its axes.
const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// The regret by runs, on a logarithmic scale, in the colour of the text around it.
fn picture(search: &Search) -> String {
    let points = |of: fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |it: &Row| Some((it.order as f64, (100.0 * of(it)?).max(LEAST)));
        search.attempts.iter().filter_map(point).collect()
    };
    let lines = [(points(|it| it.regret), 2.0), (points(|it| it.expected), 1.0)];
    let last = search.attempts.len().max(2) as f64;
    let limit = (100.0 * search.limit).max(LEAST);
    let values = lines.iter().flat_map(|(points, _)| points).map(|it| it.1).chain([limit]);
    let low = 10_f64.powf(values.clone().fold(f64::INFINITY, f64::min).log10().floor());
    let high = 10_f64.powf(values.fold(low * 10.0, f64::max).log10().ceil());
    let x = |run: f64| LEFT + (run - 1.0) / (last - 1.0) * (WIDTH - LEFT - RIGHT);
    let y = |percent: f64| {
        let share = (percent / low).ln() / (high / low).ln();
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-label=\"Regret by runs\" fill=\"currentColor\" font-size=\"12\">\n"
    );
    let text = |x: f64, y: f64, anchor: &str, text: &str| {
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
    };
    let mut tick = low;
    while tick <= high * 1.001 {
        let at = y(tick);
        svg += &format!(
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" \
             stroke=\"currentColor\" opacity=\"0.2\"/>\n",
            WIDTH - RIGHT
        );
        svg += &text(LEFT - 6.0, at + 4.0, "end", &format!("{tick} %"));
        tick *= 10.0;
    }
    let step = (last / 10.0).ceil() as u64;
    for run in (1..=last as u64).filter(|run| *run == 1 || run % step.max(1) == 0) {
        svg += &text(x(run as f64), HEIGHT - BOTTOM + 18.0, "middle", &run.to_string());
    }
    svg += &text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, "middle", "runs");
    let at = y(limit);
    svg += &format!(
        "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" \
         stroke=\"currentColor\" stroke-dasharray=\"6 4\"/>\n",
        WIDTH - RIGHT
    );
    for (points, width) in &lines {
        let path: Vec<String> =
            points.iter().map(|&(run, regret)| format!("{:.1},{:.1}", x(run), y(regret))).collect();
        svg += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" \
             stroke-width=\"{width}\"/>\n",
            path.join(" ")
        );
    }
    for &(run, regret) in lines.iter().flat_map(|(points, _)| points) {
        svg += &format!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>run {run}: \
             {regret:.2} %</title></circle>\n",
            x(run),
            y(regret)
        );
    }
    svg + "</svg>"
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
        let html = answer(&search(), "<b>") + &sections(&search());
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(html.contains("failed: &lt;script&gt;") && html.contains("1 s &amp; more"));
    }

    #[test]
    fn every_attempt_is_a_row_and_every_regret_a_point() {
        let html = sections(&search());
        assert_eq!((html.matches("<tr><td>").count(), html.matches("<circle").count()), (3, 2));
        assert!(html.contains("<th scope=\"col\">ranks</th>"));
        // 50 % and 0.8 % lie on scales from 0.1 % to 100 %: at 1 - log10(100/50)/3 of the height.
        let height = HEIGHT - TOP - BOTTOM;
        let at = TOP + height * 2.0_f64.log10() / 3.0;
        assert!(html.contains(&format!("cy=\"{at:.1}\"")), "{html}");
    }

    #[test]
    fn a_search_without_any_regret_has_a_picture_as_well() {
        let nothing = Search { limit: 0.01, ..Search::default() };
        assert!(sections(&nothing).contains("<svg"));
        assert!(!sections(&nothing).contains("NaN"));
    }
}

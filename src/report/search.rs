//! The page of a search: the answer in its words, what ran where, what is expected of every configuration that
//! may be chosen, its course, and every attempt.

use super::pictures::{figure, measure};
use super::template::of_search;
use crate::Mapping;
use crate::answer::{Object, Table, escaped};
use crate::error::Result;
use crate::objective::Objective;
use crate::plot::{
    CurvePanel, Curves, Kind, MeasuredTime, Names, PredictedTime, Series, SpeedUp, Standing, Times,
};
use crate::quantity::Quantity;
use crate::units::Seconds;

/// A search as a page shows it: everything is of this search, and of what may be chosen in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// What to run, in the user's words.
    pub sentence: String,
    /// What stands below it.
    pub details: Vec<String>,
    /// What m and p are called.
    pub names: (String, String),
    /// What was measured.
    pub quantity: Quantity,
    /// The regret that is good enough, relative to the fastest.
    pub limit: f64,
    /// The command, the computer, the days: names and what they were.
    pub origin: Vec<(String, String)>,
    /// What makes the times doubtful.
    pub warnings: Vec<String>,
    /// What was captured of each run beside what was measured, as headings.
    pub captured: Vec<String>,
    /// The further factors of what stands in the pictures, as they are typed; empty where there are none.
    pub pictured: String,
    /// All that may be chosen.
    pub configurations: Vec<SearchedConfiguration>,
    /// The runs as speed-ups, where they can be.
    pub speed_up: Option<SpeedUp>,
    /// All attempts, in the order in which they ended.
    pub attempts: Vec<Row>,
    /// What the page lacks, and why.
    pub absent: Vec<String>,
}

/// A configuration that may be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchedConfiguration {
    /// The configuration.
    pub mapping: Mapping,
    /// Its further factors, as they are typed; empty where there are none.
    pub with: String,
    /// What it is believed to take, with its interval (95 %) \[s\]; `None` before anything ran well.
    pub believed: Option<[Seconds; 3]>,
    /// The times of its runs \[s\].
    pub times: Vec<Seconds>,
    /// Why it cannot be chosen: how its runs ended.
    pub trouble: Option<String>,
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
    /// Its further factors, as they are typed.
    pub with: String,
    /// The repetition, whether it was to warm up.
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
    /// Load of the computer before it.
    pub load: Option<f64>,
    /// What was captured of it, in the order of the search's.
    pub captured: Vec<Option<f64>>,
    /// The choice after it, in the user's words.
    pub best: Option<String>,
    /// What that choice is expected to cost, relative to the fastest.
    pub expected: Option<f64>,
    /// What it costs at most (95 %).
    pub regret: Option<f64>,
}

/// The sections of the page, by id and name.
const SECTIONS: [(&str, &str); 7] = [
    ("answer", "Answer"),
    ("origin", "What ran"),
    ("warnings", "Warnings"),
    ("pictures", "Pictures"),
    ("course", "The course of the search"),
    ("ranking", "Every configuration"),
    ("log", "Every run"),
];

/// The page of a search, from its runs alone: the content of an HTML file with words, pictures and tables that
/// sort.
///
/// # Errors
/// Those of the pictures.
pub fn page(title: &str, search: &Search) -> Result<String> {
    let all = [
        answer(search, title),
        origin(search),
        warnings(search),
        pictures(search)?,
        course(search)?,
        configurations(search),
        log(search),
    ];
    let section = |((id, name), html): (&(&str, &str), &String)| match *id {
        "answer" => html.clone(),
        _ => format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{name}</h2>\n\
             {html}</section>\n"
        ),
    };
    let body: String = SECTIONS.iter().zip(&all).map(section).collect();
    let rows: Vec<Object> = pictured(search).map(|it| spot(search, it)).collect();
    let data = serde_json::to_string(&rows).expect("invariant: the data have string keys only");
    Ok(of_search(title, &SECTIONS, &body, &data))
}

/// Configurations that stand in the pictures: those with the further factors of the choice.
fn pictured(search: &Search) -> impl Iterator<Item = &SearchedConfiguration> {
    search.configurations.iter().filter(|it| it.with == search.pictured)
}

/// What a picture tells of a configuration.
fn spot(search: &Search, of: &SearchedConfiguration) -> Object {
    let quantity = &search.quantity;
    let (m, p) = (of.mapping.m(), of.mapping.p());
    let (of_m, of_p) = &search.names;
    let mut lines = vec![format!("{of_m}: {m}, {of_p}: {p}")];
    lines.extend(of.believed.map(|[time, low, high]| {
        format!("expected {}, {} (95 %)", quantity.shown(time), quantity.interval(low, high))
    }));
    lines.extend((!of.times.is_empty()).then(|| {
        let (runs, time) = (of.times.len(), quantity.shown(geometric_mean(&of.times)));
        format!("measured {time}, {runs} {}", if runs == 1 { "run" } else { "runs" })
    }));
    lines.extend(of.trouble.clone());
    Object::new().with("m", m).with("p", p).with("lines", lines)
}

/// The answer, as HTML.
fn answer(search: &Search, title: &str) -> String {
    format!(
        "<section id=\"answer\" aria-labelledby=\"answer-title\">\n<p class=\"of\"><bdi>{}</bdi></p>\n\
         <h1 id=\"answer-title\">{}</h1>\n{}</section>\n",
        escaped(title),
        escaped(&search.sentence),
        paragraphs(&search.details)
    )
}

fn paragraphs(lines: &[String]) -> String {
    lines.iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect()
}

fn origin(search: &Search) -> String {
    let fact = |(name, text): &(String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(text))
    };
    format!("<dl class=\"facts\">\n{}</dl>\n", search.origin.iter().map(fact).collect::<String>())
}

fn warnings(search: &Search) -> String {
    let none = ["There are none.".to_string()];
    let warnings = if search.warnings.is_empty() { &none[..] } else { &search.warnings };
    paragraphs(warnings) + &paragraphs(&search.absent)
}

/// The map of what may be chosen and the speed-up.
fn pictures(search: &Search) -> Result<String> {
    let of = |time: Seconds| Seconds(search.quantity.number(time));
    let rows = || pictured(search).filter(|it| it.trouble.is_none());
    let predicted = rows().filter_map(|it| {
        let [time, low, high] = it.believed?;
        let (time, interval) = (of(time), Some(search.quantity.ends(low, high)));
        let interval = interval.map(|(low, high)| (of(low), of(high)));
        Some(PredictedTime { mapping: it.mapping, time, interval, standing: Standing::Slower })
    });
    let measured = rows().filter(|it| !it.times.is_empty()).map(|it| MeasuredTime {
        mapping: it.mapping,
        time: of(geometric_mean(&it.times)),
        repetitions: it.times.len() as u32,
    });
    let failed = pictured(search).filter_map(|it| Some((it.mapping, it.trouble.clone()?)));
    let times = Times {
        measured: measured.collect(),
        measured_as: "measured".into(),
        predicted: Series { name: "expected".into(), rows: predicted.collect() },
        beside: None,
        measure: measure(&Objective::of(search.quantity.clone())),
        names: Names::of_user(search.names.clone()),
        failed: failed.collect(),
    };
    let mut html = match search.pictured.as_str() {
        "" => String::new(),
        with => format!("<p class=\"note\">With {}.</p>\n", escaped(with)),
    };
    html += &figure("What every configuration takes", Kind::HeatMap(&times))?;
    if let Some(speed_up) = &search.speed_up {
        html += &figure("Speed-up and efficiency", Kind::SpeedUp(speed_up))?;
    }
    Ok(html)
}

/// The geometric mean of times, at least one.
pub fn geometric_mean(times: &[Seconds]) -> Seconds {
    let sum: f64 = times.iter().map(|time| time.0.ln()).sum();
    Seconds((sum / times.len() as f64).exp())
}

/// What was measured, with its unit: `time [s]`, `rate [ns/day]`.
fn in_unit(quantity: &Quantity) -> String {
    format!("{} [{}]", quantity.name(), quantity.unit().unwrap_or("s"))
}

/// The course, as HTML that needs no script.
fn course(search: &Search) -> Result<String> {
    Ok("<p class=\"note\">What the choice may cost after each run: at most (95 %), what is expected, and what \
        is good enough.</p>\n"
        .to_string()
        + &picture(search)?)
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".into())
}

fn number(value: Option<f64>) -> String {
    // Four digits that count.
    let decimals = |value: f64| (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    or_dash(value.map(|value| match value == 0.0 {
        true => "0".into(),
        false => format!("{value:.*}", decimals(value)),
    }))
}

/// All that may be chosen, the best first, what cannot be chosen last.
fn configurations(search: &Search) -> String {
    let (of_m, of_p) = &search.names;
    let quantity = &search.quantity;
    let shown = |time: Seconds| number(Some(quantity.number(time)));
    let mut rows: Vec<&SearchedConfiguration> = search.configurations.iter().collect();
    let order = |it: &SearchedConfiguration| it.believed.map_or(f64::INFINITY, |[time, ..]| time.0);
    rows.sort_by(|one, other| {
        let trouble = one.trouble.is_some().cmp(&other.trouble.is_some());
        trouble.then(order(one).total_cmp(&order(other)))
    });
    let ends = |[_, low, high]: [Seconds; 3]| {
        let (low, high) = quantity.ends(low, high);
        format!("{} .. {}", shown(low), shown(high))
    };
    let mut table = Table::of(rows)
        .people(of_m, |row| row.mapping.m().to_string())
        .people(of_p, |row| row.mapping.p().to_string());
    if !search.pictured.is_empty() {
        table = table.people("with", |row| row.with.clone()).left();
    }
    table
        .people(format!("expected {}", in_unit(quantity)), |row| {
            or_dash(row.believed.map(|[time, ..]| shown(time)))
        })
        .people("95 %", |row| or_dash(row.believed.map(ends)))
        .people("runs", |row| row.times.len().to_string())
        .people("measured", |row| {
            or_dash((!row.times.is_empty()).then(|| shown(geometric_mean(&row.times))))
        })
        .people("", |row| match (&row.trouble, row.times.is_empty()) {
            (Some(trouble), _) => trouble.clone(),
            (None, true) => "did not run".into(),
            (None, false) => String::new(),
        })
        .left()
        .html("every configuration")
}

/// The log, as HTML that needs no script.
fn log(search: &Search) -> String {
    let (of_m, of_p) = &search.names;
    let percent = |value: Option<f64>| or_dash(value.map(|it| format!("{:.1} %", 100.0 * it)));
    let memory = |kib: u64| format!("{:.1}", kib as f64 / 1024.0);
    let mut table = Table::of(&search.attempts)
        .people("#", |row| row.order.to_string())
        .people(of_m, |row| row.m.to_string())
        .people(of_p, |row| row.p.to_string());
    if !search.pictured.is_empty() {
        table = table.people("with", |row| row.with.clone()).left();
    }
    let table = table
        .people("kind", |row| row.kind.clone())
        .people("ended", |row| row.status.clone())
        .left()
        .people(in_unit(&search.quantity), |row| number(row.number));
    let captured = |table: Table<_>, (place, heading): (usize, &String)| {
        table.people(heading, |row: &&Row| number(row.captured.get(place).copied().flatten()))
    };
    search
        .captured
        .iter()
        .enumerate()
        .fold(table, captured)
        .people("wall [s]", |row| number(row.wall_s))
        .people("CPU [s]", |row| number(row.cpu_s))
        .people("memory [MiB]", |row| or_dash(row.max_rss_kb.map(memory)))
        .people("load", |row| or_dash(row.load.map(|it| format!("{it:.1}"))))
        .people("best then", |row| or_dash(row.best.clone()))
        .people("expected to cost", |row| percent(row.expected))
        .people("at most (95 %)", |row| percent(row.regret))
        .html("every run")
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
            captured: vec![Some(0.375)],
            ..Row::default()
        };
        let of = |m: u32, trouble: Option<&str>| SearchedConfiguration {
            mapping: Mapping::of(m, 2),
            with: String::new(),
            believed: Some([1.0, 0.9, 1.1].map(|it| Seconds(it / f64::from(m)))),
            times: vec![Seconds(1.0)],
            trouble: trouble.map(String::from),
        };
        Search {
            sentence: "4 ranks of 2 threads: 1 s & more".into(),
            details: Vec::new(),
            names: ("ranks".into(), "threads".into()),
            quantity: Quantity::Time,
            limit: 0.01,
            origin: vec![("command".into(), "./a <b>".into())],
            warnings: Vec::new(),
            captured: vec!["i/o [s]".into()],
            pictured: String::new(),
            configurations: vec![of(4, None), of(8, Some("failed: <no> memory"))],
            speed_up: None,
            attempts: vec![row(1, None), row(2, Some(0.5)), row(3, Some(0.008))],
            absent: vec!["No parameters: <why>".into()],
        }
    }

    #[test]
    fn what_programs_say_is_text() {
        let html = page("<b>", &search()).expect("a picture");
        assert!(!html.contains("<script>alert") && !html.contains("<b>"), "{html}");
        for text in [
            "failed: &lt;script&gt;",
            "1 s &amp; more",
            "./a &lt;b&gt;",
            "failed: &lt;no&gt; memory",
            "No parameters: &lt;why&gt;",
        ] {
            assert!(html.contains(text), "{text}");
        }
    }

    #[test]
    fn every_attempt_is_a_row_and_every_regret_a_point() {
        let html = page("t", &search()).expect("a picture");
        assert_eq!(html.matches("<tr><td>").count(), 3 + 2);
        assert!(html.contains("<th scope=\"col\">ranks</th>"));
        assert!(html.contains("<th scope=\"col\">i/o [s]</th>"));
        assert_eq!(html.matches("<td>0.3750</td>").count(), 3);
        for spot in
            ["at most (95 %): 50.0, at 2", "at most (95 %): 0.800, at 3", "good enough: 1.00, at 3"]
        {
            assert_eq!(html.matches(spot).count(), 1, "{spot} in {html}");
        }
    }

    #[test]
    fn a_search_of_which_nothing_is_known_has_a_page_as_well() {
        let nothing = Search { configurations: Vec::new(), attempts: Vec::new(), ..search() };
        let html = page("t", &nothing).expect("a picture");
        let still = html.split("<script>").next().unwrap_or_default();
        assert!(still.contains("<svg") && !still.contains("NaN"));
    }
}

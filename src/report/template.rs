//! Frames of pages: one HTML file, into which style, script and data are put, or words and tables alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::data::WhatIfData;
use super::{Evaluation, Study, answer, figures};
use crate::answer::escaped;
use crate::error::Result;

const PAGE: &str = include_str!("page/page.html");
/// The frame of a page without scripts.
const PLAIN: &str = include_str!("page/plain.html");
const STYLE: &str = include_str!("page/style.css");

/// What-if, which stands on its own: parts of a script in the order in which they stand in a page.
macro_rules! what_if {
    ($($more:literal),*) => {
        [
            include_str!("page/text.js"),
            include_str!("page/equations.js"),
            include_str!("page/study.js"),
            include_str!("page/charts.js"),
            include_str!("page/objective.js"),
            include_str!("page/tables_of_parameters.js"),
            include_str!("page/what_if.js"),
            include_str!("page/what_if_plot.js"),
            include_str!("page/what_if_panel.js"),
            include_str!("page/what_if_section.js"),
            $(include_str!($more)),*
        ]
    };
}

/// The page's script.
const SCRIPT: [&str; 15] = what_if!(
    "page/panel.js",
    "page/tables.js",
    "page/table_of_configurations.js",
    "page/tables_of_study.js",
    "page/main.js"
);

/// The script of a page that has what-if alone.
const WHAT_IF: [&str; 11] = what_if!("page/main_of_what_if.js");

/// The script of the page of a search: its pictures answer to a pointer, its tables sort.
const SEARCH: [&str; 5] = [
    include_str!("page/text.js"),
    include_str!("page/search.js"),
    include_str!("page/charts.js"),
    include_str!("page/sortable.js"),
    include_str!("page/main_of_search.js"),
];

/// What is put into the frame.
pub(super) struct Filling<'a> {
    /// Any text.
    pub title: &'a str,
    /// HTML.
    pub answer: &'a str,
    /// HTML.
    pub plots: &'a str,
    /// HTML.
    pub figures: &'a str,
    /// HTML.
    pub benchmarks: &'a str,
    /// JSON.
    pub data: &'a str,
}

/// The whole page.
pub(super) fn filled(filling: &Filling<'_>) -> String {
    let script = SCRIPT.concat();
    let policy = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'\">",
        hash(&script),
        hash(STYLE)
    );
    // In the order of the marks: what is put in may hold the text of another mark.
    let parts = [
        ("<!--TITLE-->", escaped(filling.title)),
        ("<!--CSP-->", policy),
        ("/*STYLE*/", STYLE.to_string()),
        ("<!--ANSWER-->", filling.answer.to_string()),
        ("<!--PLOTS-->", filling.plots.to_string()),
        ("<!--FIGURES-->", filling.figures.to_string()),
        ("<!--BENCHMARKS-->", filling.benchmarks.to_string()),
        ("<!--DATA-->", inert(filling.data)),
        ("/*SCRIPT*/", script),
    ];
    joined(PAGE, &parts)
}

/// A page of text, tables and pictures, which runs no script; its sections by id and name, and their
/// HTML.
pub(super) fn plain(title: &str, sections: &[(&str, &str)], body: &str) -> String {
    still(title, sections, body, None)
}

/// The page of a search, whose pictures tell what these data say of each configuration, in JSON.
pub(super) fn of_search(title: &str, sections: &[(&str, &str)], body: &str, data: &str) -> String {
    still(title, sections, body, Some((&SEARCH, data)))
}

/// The same, below which what-if stands, of these data in JSON.
pub(super) fn with_what_if(
    title: &str,
    sections: &[(&str, &str)],
    body: &str,
    data: &str,
) -> String {
    still(title, sections, body, Some((&WHAT_IF, data)))
}

/// A page with a script and the data that it goes by, if any; the section of what-if is there for its
/// script alone.
fn still(
    title: &str,
    sections: &[(&str, &str)],
    body: &str,
    scripted: Option<(&[&str], &str)>,
) -> String {
    let script = scripted.map_or_else(String::new, |(parts, _)| parts.concat());
    let allowed = match scripted {
        None => String::new(),
        Some(_) => format!("script-src 'sha256-{}'; ", hash(&script)),
    };
    let policy = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         {allowed}style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">",
        hash(STYLE)
    );
    let link = |(id, name): &(&str, &str)| format!("<a href=\"#{id}\">{}</a>\n", escaped(name));
    let mut links: String = sections.iter().map(link).collect();
    let mut section = String::new();
    if scripted.is_some_and(|(parts, _)| parts == WHAT_IF) {
        links += "<a href=\"#what-if\" data-scripted hidden>What if</a>\n";
        section = what_if_section().into();
    }
    let scripts = scripted.map_or_else(String::new, |(_, data)| {
        format!(
            "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{script}</script>\n",
            inert(data)
        )
    });
    let parts = [
        ("<!--TITLE-->", escaped(title)),
        ("<!--CSP-->", policy),
        ("/*STYLE*/", STYLE.to_string()),
        ("<!--SECTIONS-->", links),
        ("<!--BODY-->", body.to_string()),
        ("<!--WHAT-IF-->", section),
        ("<!--SCRIPTS-->", scripts),
    ];
    joined(PLAIN, &parts)
}

/// The section of what-if, as it stands in the whole page.
fn what_if_section() -> &'static str {
    let begin = PAGE.find("<section id=\"what-if\"").expect("invariant: the page has what-if");
    let length = PAGE[begin..].find("</section>").expect("invariant: it ends") + "</section>".len();
    &PAGE[begin..begin + length]
}

/// A frame with its marks replaced, which stand in the same order.
fn joined(frame: &str, parts: &[(&str, String)]) -> String {
    let length: usize = parts.iter().map(|(_, part)| part.len()).sum();
    let mut page = String::with_capacity(frame.len() + length);
    let mut rest = frame;
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).expect("invariant: the page has every mark");
        page += before;
        page += part;
        rest = after;
    }
    page + rest
}

/// The hash of a text, as a content security policy names what it allows.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// JSON that ends no script element, whatever its strings hold. These letters stand in strings
/// only, where `\u` may write them.
fn inert(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe += &format!("\\u{:04x}", u32::from(letter));
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// More rows are not read.
const MOST_ROWS: usize = 200;

/// The sections, by id and name.
const SECTIONS: [(&str, &str); 3] =
    [("answer", "Answer"), ("ranking", "Ranking"), ("figures", "Pictures")];

/// The whole page.
pub(super) fn page(study: &Study, known: &Evaluation) -> Result<String> {
    let all = [answer::html(study, known), every_configuration(known), figures(&study.figures)];
    let named = SECTIONS.iter().zip(&all).filter(|(_, html)| !html.is_empty());
    let sections: Vec<(&str, &str)> = named.map(|(section, _)| *section).collect();
    let section = |((id, name), html): (&(&str, &str), &String)| match *id {
        _ if html.is_empty() => String::new(),
        "answer" => html.clone(),
        _ => format!("<section id=\"{id}\">\n<h2>{name}</h2>\n{html}</section>\n"),
    };
    let body: String = SECTIONS.iter().zip(&all).map(section).collect();
    let data = serde_json::to_string(&WhatIfData::new(study, known));
    let data = data.expect("invariant: the page's data has string keys only");
    Ok(with_what_if(&study.title, &sections, &body, &data))
}

/// Every configuration, best first, and what the reader should know.
fn every_configuration(known: &Evaluation) -> String {
    let configurations = known.ranking.configurations.iter().take(MOST_ROWS);
    let table = answer::ranking_table(configurations, &known.ranking.choice.objective);
    let warnings = known.warnings.iter().map(|it| format!("<p>{}</p>\n", escaped(it)));
    table.html("every configuration") + &warnings.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_searched_for_marks() {
        let every_mark = "<!--TITLE--><!--CSP-->/*STYLE*/<!--ANSWER--><!--DATA-->/*SCRIPT*/";
        let filling = Filling {
            title: "t",
            answer: every_mark,
            plots: "",
            figures: every_mark,
            benchmarks: "",
            data: "{\"d\":1}",
        };
        let page = filled(&filling);
        assert_eq!(page.matches(every_mark).count(), 2);
        assert_eq!(page.matches("{\"d\":1}").count(), 1);
        assert_eq!(page.matches(&SCRIPT.concat()).count(), 1);
    }

    #[test]
    fn text_stays_text_in_html_and_in_json() {
        let hostile = "</script><script>alert(\"'&'\")</script>\u{0}";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}']), "{safe}");
        let json = serde_json::to_string(hostile).expect("a string");
        let safe = inert(&json);
        assert!(!safe.contains(['<', '>', '&']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).expect("JSON"), hostile);
    }
}

//! The page of another objective than the time in seconds: words, tables and pictures that stand as they
//! are, and what-if, which is its only script.

use super::data::WhatIf;
use super::template::with_what_if;
use super::{Evaluation, Study, answer, figures, ranking, search};
use crate::answer::escaped;
use crate::error::Result;

/// More rows are not read.
const MOST_ROWS: usize = 200;

/// The sections, by id and name.
const SECTIONS: [(&str, &str); 3] =
    [("answer", "Answer"), ("ranking", "Ranking"), ("figures", "Pictures")];

/// The whole page.
pub(super) fn page(study: &Study, known: &Evaluation) -> Result<String> {
    let answer = match &study.search {
        Some(found) => search::answer(found, &study.title) + &search::sections(found)?,
        None => answer::html(study, known),
    };
    let all = [answer, every_configuration(known), figures(&study.figures)];
    let named = SECTIONS.iter().zip(&all).filter(|(_, html)| !html.is_empty());
    let sections: Vec<(&str, &str)> = named.map(|(section, _)| *section).collect();
    let section = |((id, name), html): (&(&str, &str), &String)| match *id {
        _ if html.is_empty() => String::new(),
        "answer" => html.clone(),
        _ => format!("<section id=\"{id}\">\n<h2>{name}</h2>\n{html}</section>\n"),
    };
    let body: String = SECTIONS.iter().zip(&all).map(section).collect();
    let data = serde_json::to_string(&WhatIf::new(study, known));
    let data = data.expect("invariant: the page's data has string keys only");
    Ok(with_what_if(&study.title, &sections, &body, &data))
}

/// Every configuration, best first, and what the reader should know.
fn every_configuration(known: &Evaluation) -> String {
    let configurations = known.ranking.configurations.iter().take(MOST_ROWS);
    let table = ranking::table(configurations, &known.ranking.choice.objective);
    let warnings = known.warnings.iter().map(|it| format!("<p>{}</p>\n", escaped(it)));
    table.html("every configuration") + &warnings.collect::<String>()
}

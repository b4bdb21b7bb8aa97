//! Parameters as a table in Markdown.

use super::left_out::basis;
use crate::models::parameters::{Decomposition, Estimate, Parameters};
use crate::models::terms::{Term, Value};

/// A heading, a line on decomposition and APUs, one on what predictions rest on, and a table of the
/// terms: symbol, name, m, value, standard error, 95 % interval, unit, source. Each phase has a
/// table of its own.
///
/// Correlations are not carried over.
pub fn markdown(parameters: &Parameters) -> String {
    let parameters = &parameters.tabulated(parameters.apus);
    let mut text = format!("## {}\n\n{}\n\n", escaped(&parameters.name), summary(parameters));
    if let Some(basis) = basis(parameters) {
        text += &format!("{}.\n\n", escaped(&basis));
    }
    text += &table(parameters.terms.values());
    for phase in &parameters.phases {
        text += &format!("\n### {}\n\n", escaped(&phase.name));
        text += &table(phase.values());
    }
    if parameters.correlation.is_some() {
        text += "\nThe correlations of the errors are not shown.\n";
    }
    text
}

fn summary(parameters: &Parameters) -> String {
    let work = match parameters.decomposition {
        Decomposition::Data => "Data decomposition".to_string(),
        Decomposition::Task { tasks } => format!("Task decomposition of {tasks} tasks"),
    };
    format!("{work}; {} APUs. Terms of equation 11 of MMGP.", parameters.apus)
}

fn table<'a>(terms: impl Iterator<Item = (Term, Value<'a>)>) -> String {
    let mut text = String::from(
        "| symbol | term | m | value | standard error | 95 % interval | unit | source |\n\
         |---|---|--:|--:|--:|---|---|---|\n",
    );
    for (term, value) in terms {
        for (m, estimate) in value.numbers() {
            let m = m.map(|m| m.to_string()).unwrap_or_default();
            text += &format!(
                "| {} | `{}` | {m} | {} | {} | {} | {} | {} |\n",
                escaped(term.symbol()),
                term.name(),
                estimate.value,
                estimate.std_error.map(|error| error.to_string()).unwrap_or_default(),
                interval(estimate),
                term.unit(),
                source(estimate),
            );
        }
    }
    text
}

fn interval(estimate: &Estimate) -> String {
    estimate.interval().map(|(low, high)| format!("{low} to {high}")).unwrap_or_default()
}

fn source(estimate: &Estimate) -> String {
    let mut text = estimate.source.as_deref().map(escaped).unwrap_or_default();
    if !estimate.combined_with.is_empty() {
        let separator = if text.is_empty() { "" } else { "; " };
        let others = estimate.combined_with.join(" + ");
        text += &format!("{separator}stands for a sum with {}", escaped(&others));
    }
    text
}

/// Text that Markdown shows as it is, in one cell of a table.
fn escaped(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        match letter {
            '&' => line += "&amp;",
            '<' => line += "&lt;",
            '>' => line += "&gt;",
            letter if letter.is_control() => line.push(' '),
            '\u{2028}' | '\u{2029}' => line.push(' '),
            letter if letter.is_ascii_punctuation() && !",.;:'\"%/()=?-".contains(letter) => {
                line.extend(['\\', letter]);
            }
            letter => line.push(letter),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bare, everything};
    use super::*;

    #[test]
    fn every_number_has_a_row_with_its_interval() {
        let text = markdown(&everything());
        assert!(
            text.starts_with("## PBPI \"107\", QS20\n\nTask decomposition of 16 tasks; 16 APUs.")
        );
        // 1.3 and 1.28 -+ 1.959964 * 0.02 and 0.01
        assert!(
            text.contains("| T\\_HPU(1,1) | `t_hpu_s` |  | 1.3 | 0.02 | 1.2608007203"),
            "{text}"
        );
        assert!(text.contains("| alpha\\_m | `alpha` | 2 | 1.28 | 0.01 | 1.26040036"), "{text}");
        assert!(text.contains("### newview, \"left\"\n"), "{text}");
        assert!(text.contains("stands for a sum with t\\_csw\\_s \\+ o\\_col\\_s |\n"), "{text}");
    }

    #[test]
    fn a_cell_holds_any_text_in_one_line() {
        let mut parameters = bare();
        parameters.terms.t_hpu_s.source = Some("a|b\n<i>`*\\".into());
        let text = markdown(&parameters);
        assert!(text.contains("| a\\|b &lt;i&gt;\\`\\*\\\\ |\n"), "{text}");
    }
}

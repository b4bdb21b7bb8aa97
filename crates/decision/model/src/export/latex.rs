//! Parameters as a table in LaTeX.

use super::left_out::basis;
use crate::models::parameters::{Decomposition, Parameters};
use crate::models::terms::{Term, Value};

/// A `tabular` of the terms that needs no package: symbol, m, value, standard error, unit, source;
/// a rule and a row with its name above the terms of each phase; below all, what predictions rest on.
///
/// It is UTF-8, which LaTeX reads by itself since 2018. Intervals and correlations are not carried
/// over.
pub fn latex(parameters: &Parameters) -> String {
    let parameters = &parameters.tabulated(parameters.apus);
    let work = match parameters.decomposition {
        Decomposition::Data => "data decomposition".to_string(),
        Decomposition::Task { tasks } => format!("task decomposition of {tasks} tasks"),
    };
    let mut text = format!(
        "% Terms of equation 11 of MMGP; intervals and correlations are not carried over.\n\
         \\begin{{tabular}}{{lrrrll}}\n\
         \\multicolumn{{6}}{{l}}{{{}: {work}, {} APUs}} \\\\\n\\hline\n\
         term & $m$ & value & std.\\ error & unit & source \\\\\n\\hline\n",
        escaped(&parameters.name),
        parameters.apus,
    );
    text += &rows(parameters.terms.values());
    for phase in &parameters.phases {
        text += &format!("\\hline\n\\multicolumn{{6}}{{l}}{{{}}} \\\\\n", escaped(&phase.name));
        text += &rows(phase.values());
    }
    text += "\\hline\n";
    if let Some(basis) = basis(parameters) {
        let cell = "\\multicolumn{6}{p{0.9\\linewidth}}";
        text += &format!("{cell}{{{}.}} \\\\\n", escaped(&basis));
    }
    text += "\\end{tabular}\n";
    text
}

fn rows<'a>(terms: impl Iterator<Item = (Term, Value<'a>)>) -> String {
    let mut text = String::new();
    for (term, value) in terms {
        for (m, estimate) in value.numbers() {
            text += &format!(
                "{} & {} & {} & {} & {} & {} \\\\\n",
                term.latex(),
                m.map(|m| m.to_string()).unwrap_or_default(),
                number(estimate.value),
                estimate.std_error.map(number).unwrap_or_default(),
                if term.unit() == "1" { "" } else { term.unit() },
                estimate.source.as_deref().map(escaped).unwrap_or_default(),
            );
        }
    }
    text
}

/// `1.6e-5` as `$1.6 \times 10^{-5}$`.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("${digits} \\times 10^{{{exponent}}}$"),
        None => format!("${}$", text.strip_suffix(".0").unwrap_or(&text)),
    }
}

/// Text that LaTeX sets as it is, within one line.
fn escaped(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => line += "\\textbackslash{}",
            '~' => line += "\\textasciitilde{}",
            '^' => line += "\\textasciicircum{}",
            '<' => line += "\\textless{}",
            '>' => line += "\\textgreater{}",
            '|' => line += "\\textbar{}",
            '"' => line += "\\char34{}",
            // Two of them would be a dash.
            '-' if line.ends_with('-') => line += "{}-",
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => line.extend(['\\', letter]),
            letter if letter.is_control() => line.push(' '),
            letter => line.push(letter),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::tests::everything;
    use super::*;

    #[test]
    fn every_row_has_six_cells() {
        let mut parameters = everything();
        parameters.name = "100% & {more} \\ $x_1^2~#\n--".into();
        let text = latex(&parameters);
        let title = "100\\% \\& \\{more\\} \\textbackslash{} \\$x\\_1\\textasciicircum{}2\
                     \\textasciitilde{}\\# -{}-: task decomposition of 16 tasks, 16 APUs}";
        assert!(text.contains(title), "{text}");
        let cells = |line: &str| line.replace("\\&", "").matches('&').count();
        let rows: Vec<&str> =
            text.lines().filter(|line| line.ends_with("\\\\") && !line.contains("multi")).collect();
        assert_eq!(rows.len(), 1 + 11 + 5);
        assert!(rows.iter().all(|row| cells(row) == 5), "{text}");
        assert!(text.contains("$C_{\\mathrm{APU}}$ &  & $0.30000000000000004$ &  & s &  \\\\\n"));
        assert!(text.contains("$O_{\\mathrm{COL}}$ &  & $1.6 \\times 10^{-5}$ &  & s &  \\\\\n"));
    }
}

//! Parameters as tables: CSV, Markdown and LaTeX, and as one JSON object.

use super::basis;
use crate::models::parameters::{Decomposition, Estimate, Parameters};
use crate::models::terms::{Term, TermValue};

const COLUMNS: [&str; 8] =
    ["term", "phase", "m", "value", "unit", "std_error", "source", "combined_with"];

/// Writes a row for each value, below the header
/// `term,phase,m,value,unit,std_error,source,combined_with`.
///
/// `phase` is empty for a term of the whole program, `m` for a value that is not one of a table
/// over m; terms in `combined_with` are separated by spaces. What is not known is empty. The name,
/// the decomposition and the number of APUs are not values of terms and are left out.
pub fn csv(parameters: &Parameters) -> String {
    let parameters = &parameters.tabulated(parameters.apus);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let in_memory = "invariant: writing to memory cannot fail";
    writer.write_record(COLUMNS).expect(in_memory);
    let whole = parameters.terms.values().map(|(term, value)| ("", term, value));
    let phases = parameters
        .phases
        .iter()
        .flat_map(|phase| phase.values().map(|(term, value)| (phase.name.as_str(), term, value)));
    for (phase, term, value) in whole.chain(phases) {
        for (m, estimate) in value.numbers() {
            writer.write_record(row(phase, term, m, estimate)).expect(in_memory);
        }
    }
    String::from_utf8(writer.into_inner().expect(in_memory)).expect("invariant: fields are text")
}

fn row(phase: &str, term: Term, m: Option<u32>, estimate: &Estimate) -> [String; 8] {
    [
        term.name().to_string(),
        phase.to_string(),
        m.map(|m| m.to_string()).unwrap_or_default(),
        estimate.value.to_string(),
        term.unit().to_string(),
        estimate.std_error.map(|error| error.to_string()).unwrap_or_default(),
        estimate.source.clone().unwrap_or_default(),
        estimate.combined_with.join(" "),
    ]
}

/// Writes one JSON object in the layout of schema 1, or of schema 2 where there are refined terms or runs,
/// indented by two spaces.
///
/// ```json
/// {
///   "schema": 1,
///   "name": "RAxML on QS20",
///   "decomposition": {"kind": "task", "tasks": 16},
///   "apus": 16,
///   "terms": {
///     "t_hpu_s": {"value": 8.8, "std_error": 0.1, "degrees_of_freedom": 4.0, "low": 8.52,
///       "high": 9.08, "source": "profile.csv"},
///     "o_offload_s": {"value": 7e-8, "combined_with": ["t_csw_s"]},
///     "alpha": {"m": [1, 2], "value": [1.0, 1.28], "std_error": [null, 0.01]},
///     "o_col_s": {"value": 0.0}
///   },
///   "phases": [{"name": "newview", "terms": {"t_hpu_s": {"value": 8.8}}}],
///   "correlation": {"entries": ["t_hpu_s", "alpha(2)"], "matrix": [[1.0, -0.4], [-0.4, 1.0]]}
/// }
/// ```
///
/// Terms have their names in parameter files, seconds where the name ends in `_s`. The
/// decomposition of kind `data` has no `tasks`. A term over m is either one value or a table, in
/// which all that stands beside `value` are lists beside `m`, with `null` (an empty list for
/// `combined_with`) where only this value lacks it. What is wholly unknown is left out, and so is
/// `phases` where the program is one phase. `low` and `high` are the ends of the 95 % interval that
/// follows from `std_error` and its degrees of freedom; `correlation` is that of the errors, entries
/// of a table by their m. `refined`, `runs` and `before_runs` have the keys of the tables of these
/// names in a parameter file. `schema/parameters-1.json` and `schema/parameters-2.json` are the JSON
/// Schemas of both layouts.
pub fn json(parameters: &Parameters) -> String {
    let text = serde_json::to_string_pretty(parameters);
    text.expect("invariant: the keys are text and the numbers are numbers") + "\n"
}

/// A heading, a line on decomposition and APUs, one on what predictions rest on, and a table of the
/// terms: symbol, name, m, value, standard error, 95 % interval, unit, source. Each phase has a
/// table of its own.
///
/// Correlations are not carried over.
pub fn markdown(parameters: &Parameters) -> String {
    let parameters = &parameters.tabulated(parameters.apus);
    let mut text =
        format!("## {}\n\n{}\n\n", escaped_in_markdown(&parameters.name), summary(parameters));
    if let Some(basis) = basis(parameters) {
        text += &format!("{}.\n\n", escaped_in_markdown(&basis));
    }
    text += &table(parameters.terms.values());
    for phase in &parameters.phases {
        text += &format!("\n### {}\n\n", escaped_in_markdown(&phase.name));
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

fn table<'a>(terms: impl Iterator<Item = (Term, TermValue<'a>)>) -> String {
    let mut text = String::from(
        "| symbol | term | m | value | standard error | 95 % interval | unit | source |\n\
         |---|---|--:|--:|--:|---|---|---|\n",
    );
    for (term, value) in terms {
        for (m, estimate) in value.numbers() {
            let m = m.map(|m| m.to_string()).unwrap_or_default();
            text += &format!(
                "| {} | `{}` | {m} | {} | {} | {} | {} | {} |\n",
                escaped_in_markdown(term.symbol()),
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
    let mut text = estimate.source.as_deref().map(escaped_in_markdown).unwrap_or_default();
    if !estimate.combined_with.is_empty() {
        let separator = if text.is_empty() { "" } else { "; " };
        let others = estimate.combined_with.join(" + ");
        text += &format!("{separator}stands for a sum with {}", escaped_in_markdown(&others));
    }
    text
}

/// Text that Markdown shows as it is, in one cell of a table.
fn escaped_in_markdown(text: &str) -> String {
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
        escaped_in_latex(&parameters.name),
        parameters.apus,
    );
    text += &rows(parameters.terms.values());
    for phase in &parameters.phases {
        text += &format!(
            "\\hline\n\\multicolumn{{6}}{{l}}{{{}}} \\\\\n",
            escaped_in_latex(&phase.name)
        );
        text += &rows(phase.values());
    }
    text += "\\hline\n";
    if let Some(basis) = basis(parameters) {
        let cell = "\\multicolumn{6}{p{0.9\\linewidth}}";
        text += &format!("{cell}{{{}.}} \\\\\n", escaped_in_latex(&basis));
    }
    text += "\\end{tabular}\n";
    text
}

fn rows<'a>(terms: impl Iterator<Item = (Term, TermValue<'a>)>) -> String {
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
                estimate.source.as_deref().map(escaped_in_latex).unwrap_or_default(),
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
fn escaped_in_latex(text: &str) -> String {
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
    use super::super::tests::{bare, everything};
    use super::*;
    use crate::models::parameters::{OverM, Table};

    #[test]
    fn every_value_has_a_row_with_what_is_known_of_it() {
        let text = csv(&everything());
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "term,phase,m,value,unit,std_error,source,combined_with",
                "t_hpu_s,,,1.3,s,0.02,profile.csv,",
                "t_apu_s,,,370,s,,,",
                "c_apu_s,,,0.30000000000000004,s,,,",
                "offloads,,,20000,1,,,",
                "o_offload_s,,,0.00000007,s,,,t_csw_s o_col_s",
                "t_csw_s,,,0,s,,,",
                "g_s,,,0.00004,s,,,",
                "collectives,,,100,1,,,",
                "alpha,,1,1,1,,,",
                "alpha,,2,1.28,1,0.01,alpha.csv,",
                "o_col_s,,,0.000016,s,,,",
                "t_hpu_s,\"newview, \"\"left\"\"\",,0.5,s,,,",
                "t_apu_s,\"newview, \"\"left\"\"\",,370,s,,,",
                "c_apu_s,\"newview, \"\"left\"\"\",,0.25,s,,,",
                "offloads,\"newview, \"\"left\"\"\",,20000,1,,,",
                "g_s,\"newview, \"\"left\"\"\",,0.00004,s,,,",
            ],
        );
    }

    #[test]
    fn what_is_absent_has_no_row() {
        let terms: Vec<String> = csv(&bare())
            .lines()
            .skip(1)
            .map(|line| line.split(',').next().expect("a first field").to_string())
            .collect();
        let present = Term::all().filter(|term| *term != Term::Collectives);
        assert_eq!(terms, present.map(Term::name).collect::<Vec<_>>());
    }

    #[test]
    fn a_number_is_read_back_exactly_from_csv() {
        for value in [0.1 + 0.2, 5e-324, 1.797_693_134_862_315_7e308, 7e-8, 1.0 / 3.0] {
            let mut parameters = bare();
            parameters.terms.t_hpu_s.value = value;
            let text = csv(&parameters);
            let field = text.lines().nth(1).and_then(|row| row.split(',').nth(3)).expect("a value");
            assert_eq!(field.parse::<f64>().expect("a number").to_bits(), value.to_bits());
        }
    }

    /// Compares without the line breaks and indentation.
    fn check_json(parameters: &Parameters, expected: &str) {
        let one_line = |text: &str| text.lines().map(str::trim).collect::<String>();
        assert_eq!(one_line(&json(parameters)), one_line(expected));
    }

    #[test]
    fn everything_that_is_known_is_written_in_the_order_of_a_parameter_file() {
        check_json(
            &everything(),
            r#"
            {
            "schema": 1,
            "name": "PBPI \"107\", QS20",
            "decomposition": {"kind": "task","tasks": 16},
            "apus": 16,
            "terms": {
                "t_hpu_s": {"value": 1.3,"std_error": 0.02,"low": 1.2608007203091989,
                    "high": 1.3391992796908012,"source": "profile.csv"},
                "t_apu_s": {"value": 370.0},
                "c_apu_s": {"value": 0.30000000000000004},
                "offloads": {"value": 20000.0},
                "o_offload_s": {"value": 7e-8,"combined_with": ["t_csw_s","o_col_s"]},
                "t_csw_s": {"value": 0.0},
                "g_s": {"value": 0.00004},
                "collectives": {"value": 100.0},
                "alpha": {
                    "m": [1,2],
                    "value": [1.0,1.28],
                    "std_error": [null,0.01],
                    "low": [null,1.2604003601545994],
                    "high": [null,1.2995996398454006],
                    "source": [null,"alpha.csv"]
                },
                "o_col_s": {"value": 0.000016}
            },
            "phases": [
                {
                    "name": "newview, \"left\"",
                    "terms": {
                        "t_hpu_s": {"value": 0.5},
                        "t_apu_s": {"value": 370.0},
                        "c_apu_s": {"value": 0.25},
                        "offloads": {"value": 20000.0},
                        "g_s": {"value": 0.00004}
                    }
                }
            ]
            }"#,
        );
    }

    #[test]
    fn what_is_absent_is_left_out() {
        check_json(
            &bare(),
            r#"
            {
            "schema": 1,
            "name": "bare",
            "decomposition": {"kind": "data"},
            "apus": 16,
            "terms": {
                "t_hpu_s": {"value": 1.0},
                "t_apu_s": {"value": 370.0},
                "c_apu_s": {"value": 0.30000000000000004},
                "offloads": {"value": 20000.0},
                "o_offload_s": {"value": 0.0},
                "t_csw_s": {"value": 0.0},
                "g_s": {"value": 0.00004},
                "alpha": {"value": 1.28},
                "o_col_s": {"value": 0.000016}
            }
            }"#,
        );
    }

    #[test]
    fn the_sums_of_a_table_stand_beside_its_m() {
        let mut parameters = bare();
        let sum = Estimate { combined_with: vec!["t_csw_s".into()], ..Estimate::exact(2.0) };
        let table = Table::new(vec![1, 4], vec![Estimate::exact(0.0), sum]);
        parameters.terms.o_col_s = OverM::Table(table);
        let object: serde_json::Value =
            serde_json::from_str(&json(&parameters)).expect("a JSON object");
        assert_eq!(
            object["terms"]["o_col_s"],
            serde_json::json!({"m": [1, 4], "value": [0.0, 2.0], "combined_with": [[], ["t_csw_s"]]})
        );
    }

    #[test]
    fn a_number_is_read_back_exactly_from_json() {
        for value in [0.1 + 0.2, 5e-324, 1.797_693_134_862_315_7e308, 7e-8, 1.0 / 3.0] {
            let mut parameters = bare();
            parameters.terms.t_hpu_s.value = value;
            let text = json(&parameters);
            // serde_json reads with the last bit undecided, so the digits are read by `f64` itself.
            let digits = text
                .lines()
                .find_map(|line| line.trim().strip_prefix("\"value\": "))
                .expect("the first value is that of t_hpu_s");
            assert_eq!(digits.parse::<f64>().expect("a number").to_bits(), value.to_bits());
        }
    }

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

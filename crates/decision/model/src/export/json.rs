//! Parameters as one JSON object.

use crate::models::Parameters;

/// One JSON object in the layout of schema 1, or of schema 2 where there are refined terms or runs,
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
/// Schemas of both layouts, and [`Parameters::read`] reads them back exactly.
pub fn json(parameters: &Parameters) -> String {
    let text = serde_json::to_string_pretty(parameters);
    text.expect("invariant: the keys are text and the numbers are numbers") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bare, everything};
    use super::*;
    use crate::models::parameters::{Estimate, OverM, Table};

    /// Compares without the line breaks and indentation.
    fn check(parameters: &Parameters, expected: &str) {
        let one_line = |text: &str| text.lines().map(str::trim).collect::<String>();
        assert_eq!(one_line(&json(parameters)), one_line(expected));
    }

    #[test]
    fn everything_that_is_known_is_written_in_the_order_of_a_parameter_file() {
        check(
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
        check(
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
    fn a_number_is_read_back_exactly() {
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
}

//! Parameters as a table: one row for each value.

use crate::models::parameters::{Estimate, Parameters};
use crate::models::terms::Term;

const COLUMNS: [&str; 8] =
    ["term", "phase", "m", "value", "unit", "std_error", "source", "combined_with"];

/// One row for each value, below the header
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

#[cfg(test)]
mod tests {
    use super::super::tests::{bare, everything};
    use super::*;

    fn check(parameters: &Parameters, expected: &[&str]) {
        let text = csv(parameters);
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_value_has_a_row_with_what_is_known_of_it() {
        check(
            &everything(),
            &[
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
        assert_eq!(
            terms,
            [
                "t_hpu_s",
                "t_apu_s",
                "c_apu_s",
                "offloads",
                "o_offload_s",
                "t_csw_s",
                "g_s",
                "alpha",
                "o_col_s"
            ]
        );
    }

    #[test]
    fn a_number_is_read_back_exactly() {
        for value in [0.1 + 0.2, 5e-324, 1.797_693_134_862_315_7e308, 7e-8, 1.0 / 3.0] {
            let mut parameters = bare();
            parameters.terms.t_hpu_s.value = value;
            let text = csv(&parameters);
            let field = text.lines().nth(1).and_then(|row| row.split(',').nth(3)).expect("a value");
            assert_eq!(field.parse::<f64>().expect("a number").to_bits(), value.to_bits());
        }
    }
}

//! Parameters in TOML and JSON, and descriptions of machines.

use mmgp::Mapping;
use mmgp::machine::Machine;
use mmgp::model::Parameters;
use mmgp::table::Source;

use super::{Read, fuzz, sane};

const TOML: &str = r#"schema = 1
name = "PBPI on QS20"
decomposition = "task"
tasks = 16
apus = 16
[terms]
t_hpu_s = { value = 1.5, std_error = 0.02, degrees_of_freedom = 4, source = "profile.csv" }
t_apu_s = 370.0
c_apu_s = { value = 1.75 }
offloads = { value = 2 }
o_offload_s = { value = 70e-9 }
t_csw_s = { value = 2e-6 }
g_s = { value = 0.8, combined_with = ["t_csw_s"] }
alpha = [{ m = 1, value = 1.0 }, { m = 2, value = 1.28, std_error = 0.01 }]
o_col_s = { m = [1, 2, 4], value = [0.0, 16e-6, 118e-6], std_error = [0, 1e-6, 1e-6] }
[[phases]]
name = "a"
t_hpu_s = 1.5
t_apu_s = 370
c_apu_s = 1.75
offloads = 2
g_s = 0.8
[correlation]
entries = ["t_hpu_s", "alpha(2)"]
t_hpu_s = [1.0, -0.4]
"alpha(2)" = [-0.4, 1.0]
"#;

const JSON: &str = r#"{"schema": 1, "name": "x", "decomposition": {"kind": "task", "tasks": 16},
"apus": 16, "terms": {"t_hpu_s": {"value": 1.5, "std_error": 0.25, "degrees_of_freedom": 4, "low": 1, "high": 2},
"t_apu_s": {"value": 0.3}, "c_apu_s": {"value": 1}, "offloads": {"value": 8},
"o_offload_s": {"value": 1e-7, "combined_with": ["t_csw_s"]}, "t_csw_s": {"value": 0},
"g_s": {"value": 0, "source": "profile.csv"}, "collectives": {"value": 3},
"alpha": {"m": [1, 2], "value": [1, 1.25], "std_error": [null, 0.5], "combined_with": [[], ["t_hpu_s"]]},
"o_col_s": {"value": 0}},
"phases": [{"name": "a", "terms": {"t_hpu_s": {"value": 1.5}, "t_apu_s": {"value": 0.3},
"c_apu_s": {"value": 1}, "offloads": {"value": 8}, "g_s": {"value": 0}, "collectives": {"value": 3}}}],
"correlation": {"entries": ["t_hpu_s", "alpha(2)"], "matrix": [[1, -0.5], [-0.5, 1]]}}"#;

fn parameters(text: &str) -> Result<Read, String> {
    let result = Parameters::read(&Source::new("x", text));
    if let Ok(read) = &result {
        let again = Parameters::read(&Source::new("x.toml", &read.to_toml()));
        if again.as_ref().ok() != Some(read) {
            return Err(format!("{again:?} instead of {read:?}"));
        }
    }
    sane(result, |parameters| {
        let terms = &parameters.terms;
        let estimates = terms.entries().into_iter().filter_map(|entry| terms.estimate(entry));
        let known = estimates.flat_map(|known| {
            [Some(known.value), known.std_error, known.degrees_of_freedom].into_iter().flatten()
        });
        // Finite values of any size may be given, whose sum is beyond what a number can hold.
        let time = parameters.time(Mapping::of(3, 2)).0;
        known.chain((!time.is_infinite()).then_some(time)).collect()
    })
}

#[test]
fn parameters_in_toml() {
    fuzz(&[TOML], parameters);
}

#[test]
fn parameters_in_json() {
    fuzz(&[JSON], parameters);
}

#[test]
fn machines() {
    const QS20: &str = include_str!("../../../models/machines/qs20.toml");
    fuzz(&[QS20], |text| sane(Machine::read(&Source::new("x.toml", text)), |_| Vec::new()));
}

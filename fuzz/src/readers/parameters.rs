//! Parameters in TOML and JSON, and formulas of algorithms.

use mmgp::Mapping;
use mmgp::complexity::formulas::Algorithm;
use mmgp::models::Parameters;
use mmgp::table::Source;

use super::{Kind, Reader, first_unsound, judged};
use crate::mutation::Format;
use crate::target::Outcome;

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

const REFINED: &str = r#"schema = 2
name = "fitted"
decomposition = "data"
apus = 16
[terms]
t_hpu_s = { value = 1.5, std_error = 0.02 }
t_apu_s = 370.0
c_apu_s = 1.75
offloads = 2
o_offload_s = 70e-9
t_csw_s = 2e-6
g_s = 0.8
alpha = 1.28
o_col_s = 0
[refined]
iterations = 41
hardware_contexts = 4
work_growth_s = { value = 1e-3, std_error = 1e-4 }
[runs]
source = "runs.csv"
m = [1, 2]
p = [1, 1]
time_s = [373.0, 190.0]
repetitions = [3, 3]
scatter = 1e-4
degrees_of_freedom = 4
"#;

fn parameters(source: &Source) -> Result<Outcome, String> {
    judged(Parameters::read(source), source, |read| {
        let text = read.to_toml();
        match Parameters::read(&Source::new("x.toml", &text)) {
            Ok(again) if again == read => {}
            Ok(_) => return Some(format!("reads otherwise what it wrote: {text:?}")),
            Err(error) => return Some(format!("does not read what it wrote: {error}: {text:?}")),
        }
        let terms = &read.terms;
        let estimates = terms.entries().into_iter().filter_map(|entry| terms.estimate(entry));
        let known = estimates.flat_map(|known| {
            [Some(known.value), known.std_error, known.degrees_of_freedom].into_iter().flatten()
        });
        // Finite values of any size may be given, whose sum is beyond what a number can hold.
        let time = read.time(Mapping::of(3, 2)).0;
        first_unsound(known.chain((!time.is_infinite()).then_some(time)))
    })
}

fn formulas(source: &Source) -> Result<Outcome, String> {
    judged(Algorithm::read(source), source, |algorithm| {
        algorithm
            .sizes
            .iter()
            .any(|(_, size)| !size.is_finite())
            .then(|| "a size is no number".into())
    })
}

pub const READERS: &[Reader] = &[
    Reader {
        name: "parameters-toml",
        file: "params.toml",
        kind: Kind {
            format: Format::Toml,
            words: &[
                "memory_demand_bytes_per_s",
                "interpolation",
                "line",
                "logarithm",
                "[refined]\n",
                "[runs]\n",
            ],
        },
        seeds: &[TOML, REFINED],
        check: parameters,
    },
    Reader {
        name: "formulas-toml",
        file: "formulas.toml",
        kind: Kind {
            format: Format::Toml,
            words: &["log2(n)", "n^3", "max(n, p)", "n/0", "((((", "-n", "sqrt(", "min(s, b)"],
        },
        seeds: &[
            include_str!("../../../models/complexity/list-ranking.toml"),
            include_str!("../../../models/complexity/matrix-product.toml"),
        ],
        check: formulas,
    },
];

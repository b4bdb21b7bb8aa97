//! Errors of the library in the words of the command line.

use crate::error::Error;

/// What the library calls something, and the flag that sets it.
const FLAGS: [(&str, &str); 15] = [
    ("min_m", "--min-m"),
    ("max_m", "--max-m"),
    ("min_p", "--min-p"),
    ("max_p", "--max-p"),
    ("m_divides", "--m-divides"),
    ("p_divides", "--p-divides"),
    ("apus_per_chip", "--apus-per-chip"),
    ("where", "--where"),
    ("configurations", "--configurations"),
    ("misfit", "--misfit"),
    ("host_factor", "--host-factor"),
    ("change_cost", "--change-cost"),
    ("rounds", "--phase-rounds"),
    ("per_message", "--node-overhead"),
    ("per_step", "--node-collective"),
];

/// The same error with flags for the names of what they set.
pub fn translated(error: Error) -> Error {
    let flag = |name: &'static str| {
        FLAGS.iter().find(|(known, _)| *known == name).map_or(name, |(_, flag)| *flag)
    };
    match error {
        Error::NothingFeasible { apus, constraints } => {
            let of_flags = constraints.into_iter().map(|(name, value)| (flag(name), value));
            Error::NothingFeasible { apus, constraints: of_flags.collect() }
        }
        Error::OutOfRange { name, found, expected } => {
            let name = flag(name).trim_start_matches('-');
            let words = FLAGS.iter().fold(expected, |text, (known, flag)| {
                if known.contains('_') { text.replace(known, flag) } else { text }
            });
            Error::out_of_range(name, found, words)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Changes, Constraints, plan_phases};
    use crate::models::published;
    use crate::units::Seconds;

    #[test]
    fn what_the_library_names_is_told_by_its_flag() {
        let told =
            |constraints: Constraints| translated(constraints.space(16).unwrap_err()).to_string();
        assert_eq!(
            told(Constraints::NONE.min_m(3).min_p(8).max_p(9)),
            "no (m, p) of 16 APUs meets --min-m 3 and --min-p 8 together; relax one of them"
        );
        assert_eq!(
            told(Constraints::NONE.apus_per_chip(0)),
            "apus-per-chip: found 0, expected a whole number of at least 1"
        );
    }

    #[test]
    fn what_would_help_is_told_by_its_flag() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.apus = 3_000_000;
        let terms = parameters.terms.clone();
        let phase = crate::models::parameters::Phase {
            name: "all".into(),
            t_hpu_s: terms.t_hpu_s,
            t_apu_s: terms.t_apu_s,
            c_apu_s: terms.c_apu_s,
            offloads: terms.offloads,
            g_s: terms.g_s,
            collectives: terms.collectives,
        };
        parameters.phases = vec![phase];
        let mut changes = Changes { cost: Seconds(0.0), rounds: 1 };
        let told = |changes: Changes| {
            let error = plan_phases(&parameters, &Constraints::NONE, changes).unwrap_err();
            translated(error).to_string()
        };
        assert_eq!(
            told(changes),
            "apus: found 3000000 numbers of APUs for each of 1 phases, expected fewer; see --max-p \
             and --p-divides"
        );
        changes.rounds = 0;
        assert_eq!(told(changes), "phase-rounds: found 0, expected at least 1");
    }
}

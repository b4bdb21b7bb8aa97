//! The parameter sets that the MMGP paper published, compiled in, each figure with its source.

use super::parameters::Parameters;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

/// Name, file name for messages, and text of every published set.
const PUBLISHED: [(&str, &str, &str); 2] = [
    (
        "pbpi-qs20",
        "models/published/pbpi-qs20.toml",
        include_str!("../../models/published/pbpi-qs20.toml"),
    ),
    (
        "raxml-qs20",
        "models/published/raxml-qs20.toml",
        include_str!("../../models/published/raxml-qs20.toml"),
    ),
];

/// The names that [`published`] knows.
pub fn published_names() -> impl Iterator<Item = &'static str> {
    PUBLISHED.iter().map(|(name, ..)| *name)
}

/// The published parameter set of that name; [`Error::UnknownName`] lists the known ones.
pub fn published(name: &str) -> Result<Parameters> {
    match PUBLISHED.iter().find(|(known, ..)| *known == name) {
        Some((_, file, text)) => Parameters::read(&Source::new(file, text)),
        None => Err(Error::UnknownName {
            kind: "parameter set",
            name: name.to_string(),
            known: published_names().map(str::to_string).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::Mapping;

    /// The best of all (m, p) that 16 APUs can hold, by evaluating every one.
    fn check_optimum(name: &str, optimum: (u32, u32)) {
        let parameters = published(name).unwrap();
        assert_eq!(parameters.apus, 16);
        let feasible: Vec<(u32, u32)> =
            (1..=16).flat_map(|m| (1..=16 / m).map(move |p| (m, p))).collect();
        assert_eq!(feasible.len(), 50);
        let best = feasible.into_iter().min_by(|a, b| {
            parameters
                .time(Mapping::of(a.0, a.1))
                .0
                .total_cmp(&parameters.time(Mapping::of(b.0, b.1)).0)
        });
        assert_eq!(best, Some(optimum));
    }

    #[test]
    fn pbpi_is_fastest_with_four_threads_of_four_spes() {
        check_optimum("pbpi-qs20", (4, 4));
    }

    #[test]
    fn raxml_is_fastest_with_one_spe_for_each_of_sixteen_tasks() {
        check_optimum("raxml-qs20", (16, 1));
    }

    #[test]
    fn the_published_times_by_hand() {
        // 1.28*1.3 + 370/16 + 1.72 + 4*0.8 + 20000*118e-6, and N = 1 off-load of 2.07 us
        let pbpi = published("pbpi-qs20").unwrap().time(Mapping::of(4, 4)).0;
        approx::assert_relative_eq!(pbpi, 32.069_002_07, max_relative = 1e-12);
        // One task each: (1.28*8.8 + 118 + 157) / 16
        let raxml = published("raxml-qs20").unwrap().time(Mapping::of(16, 1)).0;
        approx::assert_relative_eq!(raxml, 286.264 / 16.0, max_relative = 1e-12);
    }

    #[test]
    fn every_published_figure_names_its_source() {
        for name in published_names() {
            let terms = published(name).unwrap().terms;
            for entry in terms.entries() {
                assert!(terms.estimate(entry).unwrap().source.is_some(), "{name} {entry:?}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        assert_eq!(
            published("pbpi-qs2").unwrap_err().to_string(),
            "there is no parameter set \"pbpi-qs2\"; did you mean \"pbpi-qs20\"? \
             known: pbpi-qs20, raxml-qs20"
        );
    }
}

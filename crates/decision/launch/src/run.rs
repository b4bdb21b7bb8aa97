//! One run that somebody else starts.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::attempt::Order;

/// A run, with every placeholder filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The configuration.
    pub mapping: Mapping,
    /// What it answers.
    pub order: Order,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What is set in its environment; what [`Self::variables`] names is added.
    pub env: BTreeMap<String, String>,
    /// Its working directory, which is made if it is missing; that of whoever starts it if none.
    pub dir: Option<String>,
}

impl Run {
    /// What it always finds in its environment: `MMGP_ID`, `MMGP_M`, `MMGP_P`, `MMGP_NODES`,
    /// `MMGP_REP`, and where there is a limit `MMGP_LIMIT` \[s\].
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let Order { id, nodes, repetition, limit, .. } = &self.order;
        let mut variables = vec![
            ("MMGP_ID", id.to_string()),
            ("MMGP_M", self.mapping.m().to_string()),
            ("MMGP_P", self.mapping.p().to_string()),
            ("MMGP_NODES", nodes.to_string()),
            ("MMGP_REP", repetition.to_string()),
        ];
        variables.extend(limit.map(|limit| ("MMGP_LIMIT", limit.0.to_string())));
        variables
    }

    /// What is set in its environment: [`Self::variables`] first, which nothing replaces.
    pub(crate) fn environment(&self) -> Vec<(&str, String)> {
        let mut all: Vec<(&str, String)> = self.variables();
        for (name, value) in &self.env {
            if all.iter().all(|(known, _)| known != name) {
                all.push((name, value.clone()));
            }
        }
        all
    }

    /// The command that sets its environment and becomes `launcher` followed by the program.
    pub(crate) fn words(&self, launcher: Vec<String>) -> Vec<String> {
        let mut words = vec!["env".to_string()];
        words.extend(self.environment().iter().map(|(name, value)| format!("{name}={value}")));
        let command = [launcher, self.argv.clone()].concat();
        if command.first().is_some_and(|program| program.contains('=')) {
            // `env` would take it for one more variable.
            words.extend(["sh", "-c", r#"exec "$0" "$@""#].map(String::from));
        }
        words.extend(command);
        words
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use mmgp_base::units::Seconds;

    use super::*;

    /// The first repetition at (m, p) of a command.
    pub(crate) fn run(id: u64, m: u32, p: u32, argv: &[&str]) -> Run {
        let mapping = Mapping::of(m, p);
        let order = Order { id, nodes: 1, factors: [].into(), repetition: 1, limit: None };
        let argv = argv.iter().map(|word| word.to_string()).collect();
        Run { mapping, order, argv, env: BTreeMap::new(), dir: None }
    }

    /// The same, stopped after `limit_s`.
    pub(crate) fn limited(run: Run, limit_s: f64) -> Run {
        let order = Order { limit: Some(Seconds(limit_s)), ..run.order };
        Run { order, ..run }
    }

    #[test]
    fn nothing_replaces_the_variables_that_say_which_run_it_is() {
        let mut run = run(3, 4, 2, &["x=y"]);
        run.env = [("MMGP_ID", "9"), ("A", "1 2")].map(|(k, v)| (k.into(), v.into())).into();
        let words = run.words(Vec::new());
        let expected = ["env", "MMGP_ID=3", "MMGP_M=4", "MMGP_P=2", "MMGP_NODES=1", "MMGP_REP=1"];
        assert_eq!(words[..6], expected);
        assert_eq!(words[6..], ["A=1 2", "sh", "-c", r#"exec "$0" "$@""#, "x=y"]);
    }
}

//! What is printed.

use serde_json::{Map, Value, json};

use crate::cli::output::{aligned, json as pretty};
use crate::complexity::{Bound, Constants, Counts, Demand, Part, QUANTITIES};
use crate::machine::Machine;

/// The counts of all runs, with what follows from them.
pub struct Report {
    app: String,
    machine: String,
    constants: Constants,
    runs: Vec<Counted>,
}

/// A run with its bound.
struct Counted {
    counts: Counts,
    bound: Bound,
}

impl Report {
    pub fn new(app: &str, machine: &Machine, constants: Constants, runs: Vec<Counts>) -> Self {
        let counted = |counts: Counts| {
            let bound = Bound::of(&Demand::of(&counts, &constants), &constants);
            Counted { counts, bound }
        };
        let runs = runs.into_iter().map(counted).collect();
        Self { app: app.into(), machine: machine.name.clone(), constants, runs }
    }

    /// For people.
    pub fn table(&self) -> String {
        let header: Vec<&str> =
            ["n", "p"].into_iter().chain(QUANTITIES.iter().map(|it| it.name)).collect();
        let row = |run: &Counted| {
            let sizes = ["n", "p"].map(|name| run.counts.sizes.of(name).unwrap_or(0.0).to_string());
            let counts = QUANTITIES.iter().map(|it| (it.count)(&run.counts).round().to_string());
            sizes.into_iter().chain(counts).collect()
        };
        let rows: Vec<Vec<String>> = self.runs.iter().map(row).collect();
        let mut text = format!("{} on {}\n\n{}\n", self.app, self.machine, aligned(&header, &rows));
        let header: Vec<&str> = ["n", "p"]
            .into_iter()
            .chain(Part::ALL.map(Part::name))
            .chain(["bound", "time", "ratio", "binds", "by"])
            .collect();
        let row = |run: &Counted| {
            let sizes = ["n", "p"].map(|name| run.counts.sizes.of(name).unwrap_or(0.0).to_string());
            let parts = Part::ALL.map(|part| run.bound.part(part).to_string());
            let (part, factor) = run.bound.binding();
            let time = run.counts.time;
            let rest = [
                run.bound.time().to_string(),
                time.map_or(String::new(), |it| it.to_string()),
                time.map_or(String::new(), |it| format!("{:.3}", run.bound.time().0 / it.0)),
                run.bound.dominating().map_or("none", Part::name).to_string(),
                format!("{} x{factor:.2}", part.name()),
            ];
            sizes.into_iter().chain(parts).chain(rest).collect()
        };
        let rows: Vec<Vec<String>> = self.runs.iter().map(row).collect();
        text += &aligned(&header, &rows);
        text
    }

    pub fn json(&self) -> String {
        let runs: Vec<Value> = self
            .runs
            .iter()
            .map(|run| {
                let mut object = Map::new();
                for (name, size) in run.counts.sizes.iter() {
                    object.insert(name.into(), json!(size));
                }
                for it in &QUANTITIES {
                    object.insert(it.name.into(), json!((it.count)(&run.counts)));
                }
                Value::Object(object)
            })
            .collect();
        pretty(
            &json!({"app": self.app, "machine": self.machine, "latency_s": self.constants.latency.0, "runs": runs}),
        )
    }

    pub fn csv(&self) -> String {
        String::new()
    }
}

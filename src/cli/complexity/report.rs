//! What is printed, in numbers.

use serde_json::{Map, Value, json};

use crate::cli::output::json as pretty;
use crate::complexity::growth::Term;
use crate::complexity::{
    Bound, Constants, Counts, Demand, Facts, Form, Growth, Part, QUANTITIES, Runs, Sizes,
};
use crate::table::csv::write_fields;

/// What runs or formulas say.
pub struct Report {
    /// The program or algorithm.
    pub title: String,
    /// Lines about it.
    pub about: Vec<String>,
    pub machine: String,
    /// Host processes; none of formulas.
    pub m: Option<u32>,
    pub constants: Constants,
    pub rows: Vec<Row>,
    /// As many as [`QUANTITIES`], where there are several runs.
    pub growths: Option<Vec<Growth>>,
    /// Sizes that took one value.
    pub fixed: Vec<String>,
    /// The four steps.
    pub steps: [String; 4],
}

/// A run, or a point of formulas.
pub struct Row {
    pub sizes: Sizes,
    pub bound: Bound,
    /// What a run counted.
    pub counts: Option<Counts>,
}

impl Row {
    /// The bound over the time that the run took.
    pub fn ratio(&self) -> Option<f64> {
        let time = self.counts.as_ref()?.time?;
        Some(self.bound.time().0 / time.0)
    }
}

impl Report {
    pub fn new(
        (title, about): (&str, Vec<String>),
        (machine, constants): (&str, Constants),
        facts: Facts,
        rows: Vec<(Sizes, Demand, Option<Counts>)>,
    ) -> Self {
        let row = |(sizes, demand, counts): (Sizes, Demand, Option<Counts>)| Row {
            sizes,
            bound: Bound::of(&demand, &constants),
            counts,
        };
        Self {
            title: title.into(),
            about,
            machine: machine.into(),
            m: None,
            constants,
            rows: rows.into_iter().map(row).collect(),
            growths: None,
            fixed: Vec::new(),
            steps: facts.steps(&constants),
        }
    }

    /// With how the counts of runs of so many processes grow.
    pub fn growing(self, runs: &Runs, m: u32) -> Self {
        let fixed = runs.fixed().into_iter().map(String::from).collect();
        Self { growths: runs.growths().map(<[Growth]>::to_vec), fixed, m: Some(m), ..self }
    }

    /// The names of the sizes.
    pub fn names(&self) -> Vec<&str> {
        self.rows.first().map_or_else(Vec::new, |row| row.sizes.names().collect())
    }

    /// Each part that dominates some of the rows, with their number; the rest last, without a name.
    pub fn dominating(&self) -> Vec<(Option<Part>, usize)> {
        let count = |part| self.rows.iter().filter(|row| row.bound.dominating() == part).count();
        let parts = Part::ALL.into_iter().map(Some).chain([None]);
        parts.map(|part| (part, count(part))).filter(|(_, count)| *count > 0).collect()
    }

    /// As one object.
    pub fn json(&self) -> String {
        let Constants { latency, memory, accelerator, line, penalty, double_block, clock } =
            self.constants;
        let constants = json!({
            "clock_hz": clock.0, "latency_s": latency.0, "memory_bytes_per_s": memory.0,
            "spe_bytes_per_s": accelerator.0, "line_bytes": line, "branch_penalty_cycles": penalty,
            "double_block_cycles": double_block,
        });
        let growths = self.growths.iter().flatten().zip(&QUANTITIES);
        let growths = growths.map(|(growth, quantity)| {
            let Growth { terms, error, rivals } = growth;
            json!({
                "name": quantity.name, "of": quantity.of.name(), "growth": growth.to_string(),
                "terms": terms.iter().map(term).collect::<Vec<Value>>(),
                "relative_error": error, "poor": growth.is_poor(),
                "rivals": rivals.iter().map(|forms| texts(forms)).collect::<Vec<_>>(),
            })
        });
        pretty(&json!({
            "program": self.title, "machine": self.machine, "m": self.m, "constants": constants,
            "runs": self.rows.iter().map(row).collect::<Vec<Value>>(),
            "growths": growths.collect::<Vec<Value>>(),
            "steps": self.steps,
        }))
    }

    /// A row for each run.
    pub fn csv(&self) -> String {
        let sizes = self.names();
        let counted = self.rows.iter().any(|row| row.counts.is_some());
        let quantities = QUANTITIES.iter().filter(|_| counted).map(|quantity| quantity.name);
        let parts = Part::ALL.map(|part| format!("{}_s", part.name()));
        let header: Vec<&str> = ["program", "machine", "m"]
            .into_iter()
            .chain(sizes.iter().copied())
            .chain(quantities)
            .chain(parts.iter().map(String::as_str))
            .chain(["bound_s", "time_s", "binds", "by_factor", "dominates"])
            .collect();
        let row = |row: &Row| {
            let Row { bound, counts, .. } = row;
            let m = self.m.map_or_else(String::new, |m| m.to_string());
            let mut fields = vec![self.title.clone(), self.machine.clone(), m];
            fields.extend(row.sizes.iter().map(|(_, size)| size.to_string()));
            let of_run = |counts: &Counts| QUANTITIES.map(|it| (it.count)(counts).to_string());
            fields.extend(counts.iter().flat_map(of_run));
            fields.extend(Part::ALL.map(|part| bound.part(part).0.to_string()));
            let time = counts.as_ref().and_then(|counts| counts.time);
            let (part, factor) = bound.binding();
            fields.extend([
                bound.time().0.to_string(),
                time.map_or_else(String::new, |time| time.0.to_string()),
                part.name().into(),
                factor.to_string(),
                bound.dominating().map_or("none", Part::name).into(),
            ]);
            fields
        };
        write_fields(&header, self.rows.iter().map(row))
    }
}

fn texts(forms: &[Form]) -> Vec<String> {
    forms.iter().map(Form::to_string).collect()
}

fn term(term: &Term) -> Value {
    let Term { form, coefficient, std_error, alike } = term;
    json!({
        "form": form.to_string(), "coefficient": coefficient, "std_error": std_error,
        "cannot_be_told_from": texts(alike),
    })
}

fn row(row: &Row) -> Value {
    let mut object = Map::new();
    let mut set = |name: &str, value: Value| object.insert(name.into(), value);
    for (name, size) in row.sizes.iter() {
        set(name, json!(size));
    }
    if let Some(counts) = &row.counts {
        for quantity in &QUANTITIES {
            set(quantity.name, json!((quantity.count)(counts)));
        }
        let requests = counts.by_size.iter().map(
            |it| json!({ "direction": it.direction, "bytes": it.bytes, "requests": it.count }),
        );
        set("transfers", requests.collect());
        set("dma_commands", json!(counts.commands));
        set("dma_lists", json!(counts.lists));
        set("most_outstanding", json!(counts.most_outstanding));
        set("mean_outstanding", json!(counts.mean_outstanding));
        set("taken", json!(counts.taken));
        set("host_bursts", json!(counts.bursts));
        set("waited_cycles", json!(counts.waited));
        let stalls = counts.stalls.iter().map(|(cause, cycles)| (cause.to_string(), json!(cycles)));
        set("stalls_cycles", Value::Object(stalls.collect()));
        set("time_s", json!(counts.time.map(|time| time.0)));
    }
    for part in Part::ALL {
        set(&format!("{}_s", part.name()), json!(row.bound.part(part).0));
    }
    let (part, factor) = row.bound.binding();
    set("bound_s", json!(row.bound.time().0));
    set("binds", json!(part.name()));
    set("by_factor", json!(factor));
    set("dominates", json!(row.bound.dominating().map(Part::name)));
    Value::Object(object)
}

//! Parameters as the text of a file; floats are written with as many digits as give them back.

use super::super::observations::{Before, Evidence, Observation};
use super::super::parameters::{Decomposition, Estimate, Parameters, Terms};
use super::super::refined::Refinements;
use super::super::sensitivity::{Correlation, Entry};
use super::super::terms::{Per, Term, TermValue};
use super::super::traced::{Processors, RegionGrowth, TracedTerms};
use super::SCHEMAS;
use mmgp_base::quantity::Direction;

pub(super) fn parameters(parameters: &Parameters) -> String {
    let mut text = FileText(String::new());
    text.pair("schema", SCHEMAS[usize::from(parameters.needs_schema_2())]);
    text.pair("name", quoted(&parameters.name));
    match parameters.decomposition {
        Decomposition::Data => text.pair("decomposition", quoted("data")),
        Decomposition::Task { tasks } => {
            text.pair("decomposition", quoted("task"));
            text.pair("tasks", tasks);
        }
    }
    text.pair("apus", parameters.apus);
    let quantity = &parameters.quantity;
    if let Some(unit) = quantity.unit() {
        let comment = match quantity.direction() {
            Direction::Most => OF_RATES,
            Direction::Least => OF_AMOUNTS,
        };
        text.line(format!("\n# {comment}\n[objective]"));
        text.pair(quantity.name(), quoted(unit));
    }
    text.line("\n[terms]");
    text.terms(&parameters.terms);
    for phase in &parameters.phases {
        text.line("\n[[phases]]");
        text.pair("name", quoted(&phase.name));
        for (term, value) in phase.values() {
            text.pair(term.name(), written(value));
        }
    }
    text.correlation("correlation", parameters.correlation.as_ref(), &parameters.terms);
    if let Some(refinements) = &parameters.refinements {
        text.refined(refinements);
    }
    if let Some(traced) = &parameters.traced {
        text.traced(traced);
    }
    if let Some(evidence) = &parameters.evidence {
        text.evidence(evidence, parameters);
    }
    text.0
}

/// What stands above the unit of rates.
const OF_RATES: &str = "Runs are rates in this unit: every [s] below is the inverse of it, a share of \
                        the time of one unit of work";

/// What stands above the unit of amounts.
const OF_AMOUNTS: &str =
    "Runs are amounts in this unit, of which less is better: every [s] below is it";

/// The text as far as it is written.
struct FileText(String);

impl FileText {
    fn line(&mut self, line: impl AsRef<str>) {
        self.0 += line.as_ref();
        self.0.push('\n');
    }

    fn pair(&mut self, name: &str, value: impl ToString) {
        self.line(format!("{name} = {}", value.to_string()));
    }

    fn commented(&mut self, name: &str, comment: &str, value: impl ToString) {
        self.line(format!("# {comment}"));
        self.pair(name, value);
    }

    fn terms(&mut self, terms: &Terms) {
        for (term, value) in terms.values() {
            self.commented(term.name(), &comment(term, terms.per(term)), written(value));
        }
    }

    fn correlation(&mut self, heading: &str, correlation: Option<&Correlation>, terms: &Terms) {
        let Some(correlation) = correlation else { return };
        let name = |&entry: &Entry| quoted(&terms.name_of(entry));
        let names: Vec<String> = correlation.entries().iter().map(name).collect();
        self.line(format!("\n# How the errors of the terms go together\n[{heading}]"));
        self.pair("entries", array(&names));
        for (index, name) in names.iter().enumerate() {
            self.line(format!("{name} = {:?}", correlation.row(index)));
        }
    }

    fn traced(&mut self, traced: &TracedTerms) {
        self.line("\n# What traced runs say of the program's parts, in the place of equation 11\n[traced]");
        let pair = |(one, other, by): (&str, &str, f64)| {
            format!("[{}, {}, {by:?}]", quoted(one), quoted(other))
        };
        let pairs: Vec<String> = traced.correlations().map(pair).collect();
        self.commented("correlation", "How the errors of sizes go together", array(&pairs));
        let RegionGrowth { by_m, by_p } = traced.regions;
        self.commented(
            "regions",
            "Powers with which the number of regions of a rank grows",
            format!("{{ by_m = {by_m:?}, by_p = {by_p:?} }}"),
        );
        if let Some(Processors { count, computing }) = traced.processors {
            self.commented(
                "processors",
                "Processors that all ranks and threads share, and the share of its time that a rank needs one",
                format!("{{ count = {count}, computing = {computing:?} }}"),
            );
        }
        self.line("\n# Sizes of the shapes that parts have [s]\n[traced.sizes]");
        for (shape, size) in traced.sizes() {
            self.pair(shape.name, inline_table(properties(size)));
        }
    }

    fn refined(&mut self, refinements: &Refinements) {
        let Refinements {
            iterations,
            hardware_contexts,
            exposed_transfer_s,
            memory,
            work_growth_s,
        } = refinements;
        self.line("\n# The refined model, beside equation 11\n[refined]");
        let mut known = |name, comment, value: Option<String>| {
            if let Some(value) = value {
                self.commented(name, comment, value);
            }
        };
        let count = |count: &u32| count.to_string();
        let estimate = |estimate: &Estimate| inline_table(properties(estimate));
        let memory = memory.as_ref();
        known("iterations", "I: iterations of the shared loop", iterations.as_ref().map(count));
        known(
            "hardware_contexts",
            "H: hardware contexts of the host",
            hardware_contexts.as_ref().map(count),
        );
        known(
            "exposed_transfer_s",
            "First and last block of an off-load on their memory [s per off-load and APU]",
            exposed_transfer_s.as_ref().map(estimate),
        );
        known(
            "memory_demand_bytes_per_s",
            "What an APU streams [byte/s of T_APU]",
            memory.map(|memory| estimate(&memory.demand_bytes_per_s)),
        );
        known(
            "memory_bandwidth_bytes_per_s",
            "What a memory delivers [byte/s]",
            memory.map(|memory| estimate(&memory.bandwidth_bytes_per_s)),
        );
        known(
            "memories",
            "Memories of that bandwidth",
            memory.map(|memory| count(&memory.memories)),
        );
        known(
            "memory_of",
            "What is dealt to the memories in turn",
            memory.map(|memory| quoted(memory.placement.name())),
        );
        known(
            "work_growth_s",
            "APU time that every further APU of a thread adds [s]",
            work_growth_s.as_ref().map(estimate),
        );
    }

    fn evidence(&mut self, evidence: &Evidence, parameters: &Parameters) {
        let runs = &evidence.observations;
        let column = |of: &dyn Fn(&Observation) -> String| {
            array(&runs.configurations.iter().map(of).collect::<Vec<_>>())
        };
        self.line("\n# What was timed: the mean of each configuration\n[runs]");
        self.pair("source", quoted(&runs.source));
        self.pair("m", column(&|it| it.mapping.m().to_string()));
        self.pair("p", column(&|it| it.mapping.p().to_string()));
        self.pair("time_s", column(&|it| format!("{:?}", it.time.0)));
        self.pair("equation_11_s", column(&|it| format!("{:?}", parameters.time(it.mapping).0)));
        self.pair("repetitions", column(&|it| format!("{:?}", it.repetitions)));
        self.line("# Squared deviations of the logarithms");
        self.pair("scatter", format!("{:?}", runs.scatter));
        self.pair("degrees_of_freedom", format!("{:?}", runs.degrees_of_freedom));
        let Some(Before { terms, correlation, unknown }) = &evidence.before else { return };
        let names: Vec<String> = unknown.iter().map(|term| quoted(term.name())).collect();
        self.line("\n# What files said before the runs\n[before_runs]");
        self.pair("unknown", array(&names));
        self.line("[before_runs.terms]");
        self.terms(terms);
        self.correlation("before_runs.correlation", correlation.as_ref(), terms);
    }
}

/// What stands above a term.
fn comment(term: Term, per: Per) -> String {
    let (symbol, quantity) = (term.symbol(), term.quantity());
    match (term, term.unit(), per) {
        // The paper has no symbol for them.
        (Term::Collectives, ..) => "Collective operations in the run".into(),
        (_, "1", _) => format!("{symbol}: {quantity}"),
        (_, unit, Per::Run) => format!("{symbol}: {quantity} [{unit}]"),
        (_, unit, per) => format!("{symbol}: {quantity} [{unit} {}]", per.name()),
    }
}

/// A key and its value in TOML, where there is one.
type KeyValue = (&'static str, Option<String>);

fn written(value: TermValue<'_>) -> String {
    let interpolation: KeyValue = ("interpolation", value.interpolation.name().map(quoted));
    let Some(m) = value.m else {
        return value.estimates.iter().map(properties).map(inline_table).collect();
    };
    columns(m, value.estimates, interpolation.clone()).unwrap_or_else(|| {
        let row = |(index, (m, estimate)): (usize, (&u32, &Estimate))| {
            let interpolation = if index == 0 { interpolation.1.clone() } else { None };
            let m: KeyValue = ("m", Some(m.to_string()));
            inline_table(
                [m].into_iter()
                    .chain(properties(estimate))
                    .chain([("interpolation", interpolation)]),
            )
        };
        let rows: Vec<String> = m.iter().zip(value.estimates).enumerate().map(row).collect();
        format!("[\n    {},\n]", rows.join(",\n    "))
    })
}

/// A table by columns, where what is known of its entries has the same shape for all.
fn columns(m: &[u32], estimates: &[Estimate], interpolation: KeyValue) -> Option<String> {
    let first = estimates.first()?;
    let alike = |estimate: &Estimate| {
        estimate.std_error.is_some() == first.std_error.is_some()
            && estimate.degrees_of_freedom.is_some() == first.degrees_of_freedom.is_some()
            && estimate.source == first.source
            && estimate.combined_with.is_empty()
    };
    if !estimates.iter().all(alike) {
        return None;
    }
    let column = |of: fn(&Estimate) -> Option<f64>| {
        let numbers: Option<Vec<f64>> = estimates.iter().map(of).collect();
        numbers.map(|numbers| format!("{numbers:?}"))
    };
    Some(inline_table([
        ("m", Some(format!("{m:?}"))),
        ("value", column(|estimate| Some(estimate.value))),
        ("std_error", column(|estimate| estimate.std_error)),
        ("degrees_of_freedom", column(|estimate| estimate.degrees_of_freedom)),
        ("source", first.source.as_deref().map(quoted)),
        interpolation,
    ]))
}

/// What is known of an estimate.
fn properties(estimate: &Estimate) -> [KeyValue; 5] {
    let number = |number: f64| format!("{number:?}");
    let sum: Vec<String> = estimate.combined_with.iter().map(|name| quoted(name)).collect();
    [
        ("value", Some(number(estimate.value))),
        ("std_error", estimate.std_error.map(number)),
        ("degrees_of_freedom", estimate.degrees_of_freedom.map(number)),
        ("source", estimate.source.as_deref().map(quoted)),
        ("combined_with", (!sum.is_empty()).then(|| array(&sum))),
    ]
}

fn inline_table(pairs: impl IntoIterator<Item = KeyValue>) -> String {
    let written = |(name, value): KeyValue| value.map(|value| format!("{name} = {value}"));
    let pairs: Vec<String> = pairs.into_iter().filter_map(written).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn array(values: &[String]) -> String {
    format!("[{}]", values.join(", "))
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => quoted += &format!("\\u{:04X}", u32::from(letter)),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}

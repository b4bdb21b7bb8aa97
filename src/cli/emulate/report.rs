//! What is printed of a run.

use std::path::{Path, PathBuf};

use super::{Arguments, Format, Once, output};
use crate::answer::{Object, Style, Table};
use crate::apps::{Ran, run};
use crate::cell::ppe::HostCompiler;
use crate::cli::choice::name_of;
use crate::cli::input::HOST_COMPILERS;
use crate::error::Result;
use crate::machine::Machine;
use crate::table;
use crate::units::Seconds;

/// What a program says of a run.
#[derive(Default)]
pub struct ProgramReport {
    /// Named values, which follow those of the run.
    pub values: Object,
    /// Stands below the table, for people.
    pub text: String,
    /// Files that the program was asked for, with what is in them.
    pub files: Vec<(PathBuf, String)>,
    /// Files of the folder of the run, where there is one; the report stands above the text of the first.
    pub folder: Vec<(&'static str, String)>,
}

impl ProgramReport {
    /// The report of a program that says these values alone.
    pub fn of(values: Object) -> Self {
        Self { values, ..Self::default() }
    }

    /// The report in a format.
    pub fn print(&self, format: Format) -> String {
        match format {
            Format::Json => output::json(&self.values),
            Format::Csv => self.values.csv(),
            Format::Table => self.values.lines() + &self.text,
        }
    }
}

/// A run, by the names of the columns of the project's tables, and what the program says of it.
pub(super) struct RunReport {
    all: ProgramReport,
    for_people: String,
}

impl RunReport {
    /// The report of a run, with what the scheduler has learnt.
    pub fn new(
        (arguments, machine): (&Arguments, &Machine),
        (program, ran): (&dyn Once, &Ran),
        account: Option<String>,
    ) -> Self {
        let run = &ran.run;
        let own = program.report(ran);
        let calls = |calls: u64, apus: u32| (calls.max(1) * u64::from(apus)) as f64;
        let on_spes = run.functions.iter().map(|it| {
            (it.name, it.calls, it.apu(), 1e6 * it.apu().0 / calls(it.calls, run.mapping.p()))
        });
        let on_host = run.host_functions.iter().map(|it: &run::HostFunction| {
            (it.name, it.calls, it.time, 1e6 * it.time.0 / calls(it.calls, 1))
        });
        let on_spes = functions("apu", on_spes.collect(), run.apu_busy());
        let host_total = run.host_functions.iter().map(|it| it.time).sum();
        let on_host = functions("hpu", on_host.collect(), host_total);
        let compiler = arguments.app.port().map_or(HostCompiler::Gcc, |it| it.host_compiler);
        let values = Object::new()
            .with("app", program.application().name())
            .with("machine", &machine.name)
            .with("m", run.mapping.m())
            .with("p", run.mapping.p())
            .with("scheduler", arguments.scheduler.name())
            .with("collectives", arguments.scheduler.collectives())
            .with("host_compiler", name_of(&HOST_COMPILERS, &compiler))
            .with("seed", arguments.app.seed())
            .with("time_s", run.time)
            .with("hpu_busy_s", run.hpu_busy)
            .with("apu_busy_s", run.apu_busy())
            .with("offloads", run.offloads())
            .with("offload_mean_us", 1e6 * run.mean_offload().0)
            .with("hpu_gap_mean_us", 1e6 * run.mean_host_gap().0)
            .with("context_switches", run.context_switches)
            .with("functions", &on_spes)
            .with_some("host_functions", (!on_host.is_empty()).then_some(&on_host))
            .followed_by(own.values);
        let functions = if on_host.is_empty() { on_spes } else { on_host };
        let account = account.map_or_else(String::new, |account| format!("\n{account}"));
        let text = format!("{account}\n{}{}", functions.text(), own.text);
        let for_people = values.lines() + &text;
        Self { all: ProgramReport { values, text, ..own }, for_people }
    }

    /// The report in a format.
    pub fn print(&self, format: Format) -> String {
        self.all.print(format)
    }

    /// Writes the files that the program was asked for.
    pub fn write_files(&self) -> Result<()> {
        self.all.files.iter().try_for_each(|(path, text)| table::write(path, text))
    }

    /// Writes the files of a folder, where the program leaves more there than a report; whether it does.
    pub fn write_folder(&self, folder: &Path) -> Result<bool> {
        let mut above = self.for_people.as_str();
        if self.all.folder.is_empty() {
            return Ok(false);
        }
        table::create_folder(folder)?;
        for (name, text) in &self.all.folder {
            table::write(&folder.join(name), format!("{above}{text}"))?;
            above = "";
        }
        Ok(true)
    }
}

/// The functions of a kind of processor, each with its calls, its time and its mean time \[us\].
fn functions(
    processor: &str,
    functions: Vec<(&'static str, u64, Seconds, f64)>,
    total: Seconds,
) -> Table<(&'static str, u64, Seconds, f64)> {
    Table::of(functions)
        .headed("name", "function", Style::Plain, |it| it.0)
        .column("calls", Style::Plain, |it| it.1)
        .column(&format!("{processor}_time_s"), Style::Digits(6), |it| it.2)
        .headed("share_percent", "share", Style::InPercent(1), |it| {
            100.0 * it.2.0 / total.0.max(f64::MIN_POSITIVE)
        })
        .column(&format!("{processor}_mean_us"), Style::Digits(2), |it| it.3)
}

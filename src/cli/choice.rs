//! What may be chosen: values of a flag by their names; configurations by a condition on them, or a table of
//! them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::files::Guard;
use crate::Mapping;
use crate::decide::{Condition, Constraints};
use crate::error::{Error, Result, Warning};
use crate::intake::{Columns, configurations};
use crate::native::host;
use crate::table::Source;

/// The values that a flag may have, each with its name and what help says of it.
pub type NamedValues<T> = [(T, &'static str, &'static str)];

/// A parser of one of these values by its name.
pub fn one_of<T: Copy + Send + Sync>(
    all: &'static NamedValues<T>,
) -> impl TypedValueParser<Value = T> {
    let names = all.iter().map(|(_, name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).map(|text| {
        let found = all.iter().find(|(_, name, _)| *name == text);
        found.expect("invariant: the text is one of the names").0
    })
}

/// The name of one of these values.
pub fn name_of<T: PartialEq>(all: &NamedValues<T>, value: &T) -> &'static str {
    all.iter().find(|(known, _, _)| known == value).expect("invariant: each value has a name").1
}

/// What may be chosen, beside bounds on m and p.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Constraints on the configurations")]
pub struct ChoiceArguments {
    /// Condition on m, p, nodes and constants: 'm*p <= cores && p <= 8'; + - * / % ( ), < <= > >=
    /// == !=, && || ! or and, or, not. cores (hardware threads), physical_cores, sockets, numa
    /// (domains of memory) and gpus are what this computer lets mmgp use, unless --constant sets
    /// them
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// A constant of --where; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant, requires = "condition")]
    constant: Vec<(String, f64)>,
    /// Only these configurations: a CSV file with the columns m and p, also such that use more
    /// APUs than there are, as where processes share one
    #[arg(long, value_name = "FILE")]
    configurations: Option<PathBuf>,
}

impl ChoiceArguments {
    /// Adds the file of the configurations to what is read.
    pub fn guarded(&self, guard: Guard) -> Guard {
        guard.reads("--configurations", self.configurations.as_deref())
    }

    /// The constraints with these among them; `columns` are those of the table.
    pub fn added_to(
        &self,
        mut constraints: Constraints,
        columns: &Columns,
        warnings: &mut Vec<Warning>,
    ) -> Result<Constraints> {
        if let Some(text) = &self.condition {
            let condition = Condition::parse(text, &self.constants()).map_err(in_flags)?;
            constraints = constraints.condition(condition);
        }
        if let Some(path) = &self.configurations {
            let (allowed, more) = configurations(&Source::read_any(path)?, columns)?;
            warnings.extend(more);
            constraints = constraints.among(allowed);
        }
        Ok(constraints)
    }

    /// The configurations of these that may be chosen, or of the table where there is one, by the nodes that
    /// each takes.
    pub fn of(
        &self,
        listed: Option<Vec<Mapping>>,
        nodes: &dyn Fn(Mapping) -> u32,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Mapping>> {
        let mut allowed = listed.unwrap_or_default();
        if let Some(path) = &self.configurations {
            let (table, more) = configurations(&Source::read_any(path)?, &Columns::default())?;
            warnings.extend(more);
            allowed = table;
        }
        if let Some(text) = &self.condition {
            let condition = Condition::parse(text, &self.constants()).map_err(in_flags)?;
            allowed.retain(|&mapping| condition.holds(mapping, nodes(mapping)));
        }
        allowed.sort_unstable();
        allowed.dedup();
        Ok(allowed)
    }

    /// Whether there is a table of configurations.
    pub fn has_table(&self) -> bool {
        self.configurations.is_some()
    }

    /// Whether there is a condition.
    pub fn has_condition(&self) -> bool {
        self.condition.is_some()
    }

    /// The constants that were given, and what this computer has where they are not.
    fn constants(&self) -> Vec<(String, f64)> {
        let mut constants = self.constant.clone();
        for (name, count) in HERE {
            if !constants.iter().any(|(known, _)| known == name) {
                constants.push((name.into(), count() as f64));
            }
        }
        constants
    }
}

/// A count of this computer by its name in conditions.
type HostCount = (&'static str, fn() -> usize);

/// What conditions know of this computer.
const HERE: [HostCount; 5] = [
    ("cores", host::cores),
    ("physical_cores", host::physical_cores),
    ("sockets", host::sockets),
    ("numa", host::numa_domains),
    ("gpus", host::gpus),
];

fn constant(text: &str) -> std::result::Result<(String, f64), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim().parse()));
    match pair {
        Some((name, Ok(value))) => Ok((name.into(), value)),
        _ => Err("expected NAME=VALUE with a number, as in cores=16".into()),
    }
}

/// An error of the library in the words of flags.
fn in_flags(error: Error) -> Error {
    error.renamed(|name| match name {
        "where" => "--where",
        "constant" => "--constant",
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        choice: ChoiceArguments,
    }

    fn constraints(arguments: &[&str]) -> Result<Constraints> {
        let all = ["mmgp"].into_iter().chain(arguments.iter().copied());
        let choice = Cli::try_parse_from(all).expect("good flags").choice;
        choice.added_to(Constraints::NONE, &Columns::default(), &mut Vec::new())
    }

    fn left(arguments: &[&str]) -> Vec<(u32, u32)> {
        let space = constraints(arguments).and_then(|it| it.space(4)).expect("some are left");
        space.configurations().map(|mapping| (mapping.m(), mapping.p())).collect()
    }

    #[test]
    fn a_condition_is_asked_with_its_constants() {
        let condition = "m*p <= cores && p > low";
        let flags = ["--where", condition, "--constant", "cores=2", "--constant", "low=1"];
        assert_eq!(left(&flags), [(1, 2)]);
        // Every computer has a core.
        assert_eq!(left(&["--where", "m*p <= cores or cores >= 1"]).len(), 8);
        assert_eq!(left(&[]).len(), 8);
    }

    #[test]
    fn a_mistake_is_named_by_its_flag() {
        let refused = |arguments: &[&str]| constraints(arguments).unwrap_err().to_string();
        assert_eq!(
            refused(&["--where", "m*p <= cpus"]),
            "--where: found \"cpus\" at character 8, expected m, p, nodes, a number or one of the \
             constants cores, physical_cores, sockets, numa, gpus"
        );
        let error = refused(&["--where", "m < 2", "--constant", "m=2"]);
        assert!(error.starts_with("--constant: found m = 2, expected a name"), "{error}");
        assert!(Cli::try_parse_from(["mmgp", "--where", "m < 2", "--constant", "a=x"]).is_err());
        assert!(Cli::try_parse_from(["mmgp", "--constant", "a=1"]).is_err());
    }

    #[test]
    fn a_table_is_all_there_is() {
        let file = std::env::temp_dir().join(format!("mmgp-choice-{}.csv", std::process::id()));
        crate::table::write(&file, "m,p\n8,1\n2,2\n").expect("it is written");
        let path = file.display().to_string();
        assert_eq!(left(&["--configurations", &path]), [(2, 2), (8, 1)]);
        let space = constraints(&["--configurations", &path, "--where", "m > 2"]).unwrap();
        assert!(space.space(4).unwrap().contains(Mapping::of(8, 1)));
        std::fs::remove_file(&file).expect("it is removed");
    }
}

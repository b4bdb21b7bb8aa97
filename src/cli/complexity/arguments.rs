//! What the command is asked.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;

use crate::cli::input::scheduler::SchedulerArguments;
use crate::cli::input::{AppArguments, MachineArguments, is_file};
use crate::cli::output::Format;
use crate::complexity::Sizes;
use crate::complexity::formulas;

/// Count what a program executes as it grows, and say what will bind it
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    pub machine: MachineArguments,
    /// Sizes n of the input: sites (pbpi, raxml), nodes (list-ranking), the order of matrices (sgemm),
    /// off-loads of each stream (synthetic) [default: four of the program's own; that of the formulas]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub n: Vec<u64>,
    /// SPEs p of each host process [default: 1,2,4,8, with sgemm 1,2,4, as far as there are so many;
    /// that of the formulas]
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub p: Vec<u32>,
    /// Values of a further size of the program or of the formulas: s=16,32,64 for the sublists of
    /// list-ranking, b=1,2,4 for its DMA lists
    #[arg(long, value_name = "NAME=X,...")]
    pub vary: Vec<List>,
    /// Host processes
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub m: u32,
    /// Take the triplet from formulas instead of runs: a TOML file, or matrix-product or list-ranking
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "m")]
    pub formulas: Option<String>,
    #[command(flatten)]
    pub scheduler: SchedulerArguments,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp complexity
  mmgp complexity raxml --port tuned --n 500,1000,2000 --p 1,2,4
  mmgp complexity synthetic --n 100 --p 1 --format json
  mmgp complexity --formulas list-ranking --p 1,2,4,8 --vary s=64,128

Runs the program on the emulated machine at every size and number of SPEs, and counts what it \
executes: instructions by pipe, DMA requests by size, branches, host code. Prints how each count \
grows, the triplet <T_C, T_D, T_B> with constants, the four steps of the procedure, and the least \
time that the counts need beside the time that the run took. COMPLEXITY.md says more.";

/// The values of a size.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// Its name.
    pub name: String,
    /// Its values, at least one.
    pub values: Vec<f64>,
}

impl FromStr for List {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a name, =, and numbers above 0 with commas between them";
        let (name, values) = text.split_once('=').ok_or_else(expected)?;
        let value = |text: &str| {
            let value = text.trim().parse::<f64>().ok();
            value.filter(|value| *value > 0.0 && value.is_finite()).ok_or_else(expected)
        };
        let values = values.split(',').map(value).collect::<Result<Vec<f64>, _>>()?;
        Ok(Self { name: name.trim().into(), values })
    }
}

impl Arguments {
    /// The file of the formulas, where they are not built in.
    pub fn formula_file(&self) -> Option<&Path> {
        let name = self.formulas.as_deref()?;
        let built_in = formulas::names().any(|known| known == name);
        (!built_in && is_file(name)).then_some(Path::new(name))
    }

    /// The sizes that were given, n and p among them.
    pub fn lists(&self) -> Vec<List> {
        let n = self.n.iter().map(|&n| n as f64).collect();
        let p = self.p.iter().map(|&p| f64::from(p)).collect();
        let named = [("n", n), ("p", p)].map(|(name, values)| List { name: name.into(), values });
        let given = named.into_iter().filter(|list| !list.values.is_empty());
        given.chain(self.vary.iter().cloned()).collect()
    }
}

/// Every combination of the values of these sizes, the last size running fastest.
pub fn combinations(lists: &[(String, Vec<f64>)]) -> Vec<Sizes> {
    let mut all = vec![Sizes::default()];
    for (name, values) in lists {
        let with = |before: &Sizes| -> Vec<Sizes> {
            let with_value = |&value: &f64| {
                let mut sizes = before.clone();
                sizes.set(name.clone(), value);
                sizes
            };
            values.iter().map(with_value).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_name_and_numbers() {
        let list = List { name: "b".into(), values: vec![4.0, 8.0, 0.5] };
        assert_eq!("b=4, 8,0.5".parse(), Ok(list));
        for wrong in ["b", "b=", "b=4,", "b=0", "b=-1", "b=many", "b=inf"] {
            assert!(wrong.parse::<List>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_combination_comes_once_and_the_last_is_the_largest() {
        let lists = [("n".to_string(), vec![1.0, 2.0]), ("p".into(), vec![1.0, 4.0, 8.0])];
        let all: Vec<String> = combinations(&lists).iter().map(ToString::to_string).collect();
        assert_eq!(all.len(), 6);
        assert_eq!((all[1].as_str(), all[5].as_str()), ("n = 1, p = 4", "n = 2, p = 8"));
    }
}

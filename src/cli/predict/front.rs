//! `mmgp predict --pareto`

use clap::Args;
use serde::Serialize;

use super::Asked;
use crate::cli::objective::{self as best, Fields, Said};
use crate::cli::output::{Format, aligned, json};
use crate::decide::{Point, front};
use crate::error::Result;
use crate::objective::Objective;

#[derive(Args)]
#[command(next_help_heading = "What is best")]
pub struct FrontArguments {
    /// Print what no other beats in every one of several objectives, each as --objective takes it:
    /// time,cost
    #[arg(long, value_name = "WHAT,WHAT", value_delimiter = ',', group = "question")]
    #[arg(conflicts_with_all = ["m", "objective", "within"])]
    pareto: Vec<String>,
}

impl FrontArguments {
    /// The objectives, where the question is asked.
    pub fn asked(&self) -> Option<&[String]> {
        (!self.pareto.is_empty()).then_some(&self.pareto)
    }
}

#[derive(Serialize)]
struct Json {
    configurations: usize,
    objectives: Vec<Said>,
    front: Vec<Fields>,
}

pub fn text(asked: &Asked<'_>, names: &[String], per_node: Option<u32>) -> Result<String> {
    let quantity = asked.posterior.objective().quantity();
    let objectives = best::several(names, (quantity, per_node))?;
    let mappings = asked.mappings()?;
    let all = front(&asked.posterior, &mappings, &objectives)?;
    let shown = &all[..all.len().min(asked.shown)];
    let fields = || shown.iter().map(|point| fields(point, &objectives)).collect::<Vec<_>>();
    Ok(match asked.format {
        Format::Table => {
            sentence(all.len(), mappings.len(), &objectives) + &table(shown, asked, &objectives)
        }
        Format::Csv => best::csv(&fields()),
        Format::Json => json(&Json {
            configurations: mappings.len(),
            objectives: objectives.iter().map(Said::always).collect(),
            front: fields(),
        }),
    })
}

fn sentence(count: usize, of: usize, objectives: &[Objective]) -> String {
    let names: Vec<&str> = objectives.iter().map(Objective::name).collect();
    format!(
        "{count} of {of} configurations: one of these is as good as any other, or better, in {} \
         alike.\n\n",
        names.join(" and ")
    )
}

fn table(points: &[Point], asked: &Asked<'_>, objectives: &[Objective]) -> String {
    let mut header = vec!["m", "p"];
    for objective in objectives {
        header.extend([objective.name(), "95 % interval"]);
    }
    header.push("measured");
    let row = |point: &Point| {
        let Point { mapping, time, low, high } = *point;
        let mut cells = vec![mapping.m().to_string(), mapping.p().to_string()];
        for objective in objectives {
            let (low, high) = objective.ends(mapping, low, high);
            cells.push(objective.shown(objective.amount(mapping, time)));
            cells.push(format!("{} .. {}", objective.shown(low), objective.shown(high)));
        }
        let quantity = asked.posterior.objective().quantity();
        let measured = asked.posterior.measured(mapping);
        cells.push(measured.map_or_else(|| "-".into(), |it| quantity.shown(it.time)));
        cells
    };
    aligned(&header, &points.iter().map(row).collect::<Vec<_>>())
}

fn fields(point: &Point, objectives: &[Objective]) -> Fields {
    let Point { mapping, time, low, high } = *point;
    let mut fields = Fields::default().with("m", mapping.m()).with("p", mapping.p());
    for objective in objectives {
        let (low, high) = objective.ends(mapping, low, high);
        let name = objective.name();
        fields = fields
            .with(name, objective.amount(mapping, time).0)
            .with(format!("{name}_low"), low.0)
            .with(format!("{name}_high"), high.0)
            .with(format!("{name}_unit"), objective.unit());
    }
    fields
}

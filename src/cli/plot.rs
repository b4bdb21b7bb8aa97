//! `mmgp plot`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Answer;
use super::output::warnings;
use crate::error::Result;
use crate::plot::{Figure, Format, Kind, draw};
use crate::table::records::Validation;
use crate::table::{self, Source, csv};

/// Draw modelled against measured times
#[derive(Args)]
#[command(after_help = "Example: mmgp plot --validation validation.csv --out validation.svg")]
pub struct Arguments {
    /// validation.csv, as study and validate write it
    #[arg(long, value_name = "FILE")]
    validation: PathBuf,
    /// Picture to write: .svg or .png
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which picture
    #[arg(long, value_enum, default_value = "combined")]
    kind: Picture,
    /// Title above the picture
    #[arg(long, value_name = "TEXT", default_value = "Modelled and measured times")]
    title: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Picture {
    /// All three below on one page
    Combined,
    /// Time against m, at p = 1
    M,
    /// Time against p, at m = 1
    P,
    /// All (m, p), grouped by m
    All,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let format = Format::from_path(&arguments.out)?;
    let (rows, doubts) = csv::read::<Validation>(&Source::read(&arguments.validation)?)?;
    warnings(&doubts);
    let kind = match arguments.kind {
        Picture::Combined => Kind::Combined,
        Picture::M => Kind::AgainstM,
        Picture::P => Kind::AgainstP,
        Picture::All => Kind::OverAll,
    };
    let picture = draw(&Figure { title: &arguments.title, rows: &rows, kind }, format)?;
    table::write(&arguments.out, picture)?;
    Ok(Answer::Done)
}

/// Draws all pictures of a validation into a folder, as SVG and as PNG.
pub fn write_all(folder: &Path, title: &str, rows: &[Validation]) -> Result<()> {
    let kinds = [
        ("by_m", Kind::AgainstM),
        ("by_p", Kind::AgainstP),
        ("all", Kind::OverAll),
        ("validation", Kind::Combined),
    ];
    for (name, kind) in kinds {
        for (ending, format) in [("svg", Format::Svg), ("png", Format::Png)] {
            let picture = draw(&Figure { title, rows, kind }, format)?;
            table::write(&folder.join(format!("{name}.{ending}")), picture)?;
        }
    }
    Ok(())
}

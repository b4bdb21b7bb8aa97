//! The product of matrices on the command line.

use clap::Args;

use super::{AppArguments, Entry, Size, single};
use crate::apps::Application;
use crate::apps::sgemm::{NAME, Sgemm};
use crate::cli::emulate::SgemmOnce;
use crate::cli::study;
use crate::complexity::Sizes;
use crate::error::{Error, Result};

/// How it is read.
pub const ENTRY: Entry = Entry {
    name: NAME,
    read: |arguments| Ok(Box::new(read(arguments)?)),
    once: |arguments, emulate| {
        emulate.samples().refuse(NAME)?;
        Ok(Box::new(SgemmOnce(read(arguments)?)))
    },
    size: Size {
        name: "order of the matrices",
        defaults: &[256, 512, 768],
        processors: &[1, 2, 4],
        further: &[],
        at: at_size,
    },
    study: study::of_one_process,
    native: None,
    plain: None,
    mapping: single,
    folder_files: &[],
    flags: &[("order of the matrices", "--size"), ("processes of the product", "--m")],
};

/// Matrices of the order that n says.
fn at_size(arguments: &AppArguments, sizes: &Sizes) -> Result<Box<dyn Application>> {
    let order = sizes.of("n").map_or(0, |n| n as u32);
    Ok(Box::new(of_order(arguments, order)?))
}

/// The matrices.
fn read(arguments: &AppArguments) -> Result<Sgemm> {
    of_order(arguments, arguments.sgemm.size)
}

fn of_order(arguments: &AppArguments, order: u32) -> Result<Sgemm> {
    let reads_none = "a program that reads an alignment; matrices come from --size and --seed";
    let on_spes = "a program with several versions; this one runs on the SPEs, tuned";
    let others = [
        ("--input", arguments.input.is_some(), reads_none),
        ("--tree", arguments.tree.is_some(), reads_none),
        ("--port", arguments.port.is_some(), on_spes),
    ];
    if let Some((name, _, expected)) = others.into_iter().find(|(_, is_given, _)| *is_given) {
        let (found, expected) = (format!("--app {NAME}"), expected.into());
        return Err(Error::OutOfRange { name, found, expected });
    }
    let sgemm = Sgemm::random(order, arguments.seed)?;
    Ok(sgemm.placed(arguments.placement.into()))
}

/// Its matrices.
#[derive(Args)]
pub struct SgemmArguments {
    /// Rows and columns of each matrix, a multiple of 64 up to 4096
    #[arg(long, value_name = "N", default_value_t = 256)]
    size: u32,
}

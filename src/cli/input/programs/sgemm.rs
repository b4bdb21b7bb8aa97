//! The product of matrices on the command line.

use std::ffi::OsString;

use clap::Args;

use super::{Entry, Program, Size};
use crate::apps::Application;
use crate::apps::sgemm::{NAME, Sgemm};
use crate::cli::emulate::{self, Once};
use crate::cli::input::{PlacementArguments, SeedArguments};
use crate::cli::{Answer, study};
use crate::complexity::Sizes;
use crate::error::Result;

/// The program on the command line.
pub const ENTRY: Entry = Entry {
    flags: &[("order of the matrices", "--size"), ("processes of the product", "--m")],
    ..Entry::of::<SgemmArguments>(
        NAME,
        "A product of matrices of one process",
        Size { processors: &[1, 2, 4], ..Size::new("order of the matrices", &[256, 512, 768]) },
    )
};

/// Flags of a product of matrices.
#[derive(Args)]
pub struct SgemmArguments {
    /// Rows and columns of each matrix, a multiple of 64 up to 4096
    #[arg(long, value_name = "N", default_value_t = 256)]
    size: u32,
    #[command(flatten)]
    seed: SeedArguments,
    #[command(flatten)]
    placement: PlacementArguments,
}

impl SgemmArguments {
    fn of_order(&self, order: u32) -> Result<Sgemm> {
        Ok(Sgemm::random(order, self.seed.seed)?.placed(self.placement.placement))
    }
}

impl Program for SgemmArguments {
    fn seed(&self) -> u64 {
        self.seed.seed
    }

    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.of_order(self.size)?))
    }

    fn once(&self, _: &emulate::Arguments) -> Result<Box<dyn Once>> {
        Ok(Box::new(self.of_order(self.size)?))
    }

    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.of_order(sizes.of("n").map_or(0, |n| n as u32))?))
    }

    fn study(&self, arguments: &study::Arguments, _: &[OsString]) -> Result<Answer> {
        study::of_one_process(arguments)
    }
}

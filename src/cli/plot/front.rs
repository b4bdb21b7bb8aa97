//! `mmgp plot --kind pareto`

use super::{Arguments, Material, PictureArgument};
use crate::cli::objective::several;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::plot::{self, Format, Kind, Picture};
use crate::quantity::Quantity;

/// The front of two objectives.
pub(super) fn draw(
    arguments: &Arguments,
    material: &Material,
    (title, format): (&str, Format),
) -> Result<Vec<u8>> {
    let Some(timed) = &material.timed else {
        let runs = ("timed runs", "--runs FILE, or parameters that were fitted to runs");
        return Err(PictureArgument::Pareto.without(runs));
    };
    let per_node = arguments.node_size.per_node;
    let front = timed.front(&two(&arguments.pareto, timed.objective().quantity(), per_node)?)?;
    plot::draw(&Picture { title, kind: Kind::Front(&front) }, format)
}

/// The two objectives of a picture.
pub fn two(names: &[String], quantity: &Quantity, per_node: Option<u32>) -> Result<[Objective; 2]> {
    let usual = || vec![quantity.name().to_string(), "cost".into()];
    let names = if names.is_empty() { usual() } else { names.to_vec() };
    let objectives = several(&names, (quantity, per_node))?;
    <[Objective; 2]>::try_from(objectives).map_err(|all| {
        Error::out_of_range("--pareto", format!("{} objectives", all.len()), "two, for a picture")
    })
}

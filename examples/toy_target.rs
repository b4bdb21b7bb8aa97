//! A target of one's own: it runs no command, for it knows the time of every (m, p) by a formula.

use super::TargetEntry;
use crate::Mapping;
use crate::attempt::{Attempt, Order, Status};
use crate::cli::tune::Interrupt;
use crate::error::Result;
use crate::target::Target;
use crate::units::Seconds;

/// The target on the command line.
pub const ENTRY: TargetEntry = TargetEntry {
    name: "toy",
    about: "A formula, which runs nothing",
    start: |_, _| Ok((Box::new(Toy), Interrupt::default())),
};

/// `T = 64/(m*p) + m` seconds.
struct Toy;

impl Target for Toy {
    type Workload = Order;
    type Ran = Attempt;

    fn name(&self) -> &str {
        ENTRY.name
    }

    fn description(&self) -> &str {
        ENTRY.about
    }

    fn run(&self, order: &Order, mapping: Mapping) -> Result<Attempt> {
        let time = Seconds(64.0 / mapping.apus() as f64 + f64::from(mapping.m()));
        let attempt = Attempt::new(order.id, mapping.m(), mapping.p(), Status::Ok);
        let (repetition, params) = (order.repetition, order.factors.clone());
        Ok(Attempt {
            repetition,
            params,
            wall_s: Some(time.0),
            time_s: Some(time.0),
            time_source: "formula".into(),
            ..attempt
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_as_long_as_the_formula_says() {
        let order =
            Order { id: 3, nodes: 1, factors: Default::default(), repetition: 2, limit: None };
        let attempt = Toy.run(&order, Mapping::of(2, 4)).unwrap();
        assert_eq!((attempt.id, attempt.repetition, attempt.time_s), (3, 2, Some(10.0)));
        assert_eq!(ENTRY.name, "toy");
    }
}

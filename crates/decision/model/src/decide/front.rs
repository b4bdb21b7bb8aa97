//! What no other configuration beats in every one of several objectives (Pareto's front).

use std::cmp::Ordering;

use crate::belief::{Posterior, as_printed};
use crate::objective::Objective;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::Seconds;

/// A configuration of the front.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Which.
    pub mapping: Mapping,
    /// Predicted time; of rates, that of one unit of work.
    pub time: Seconds,
    /// Lower end of its 95 % interval.
    pub low: Seconds,
    /// Upper end.
    pub high: Seconds,
}

/// The configurations that are predicted to be beaten by no other in all objectives, the best in the first
/// objective first. Of those that are equal in all by the four digits that are printed, it has the one with
/// the fewest cores.
///
/// # Errors
/// [`mmgp_base::Error::OutOfRange`] for no mapping or too many, and for one of which an objective is no
/// number above 0.
pub fn front(
    posterior: &Posterior,
    mappings: &[Mapping],
    objectives: &[Objective],
) -> Result<Vec<Point>> {
    super::check(mappings, super::Sampling::new(1, 1))?;
    for objective in objectives {
        mappings.iter().try_for_each(|&mapping| objective.check(mapping))?;
    }
    let marginals = posterior.marginals(mappings);
    let point = |(index, &mapping): (usize, &Mapping)| {
        let factor = posterior.objective().factor(mapping);
        let [low, high] = [0.025, 0.975].map(|share| marginals.quantile(index, share) / factor);
        Point { mapping, time: marginals.time(index) / factor, low, high }
    };
    let with_products = |point: Point| {
        let product = |of: &Objective| as_printed(point.time.0 * of.factor(point.mapping));
        (point, objectives.iter().map(product).collect())
    };
    let all = mappings.iter().enumerate().map(point).map(with_products);
    let mut all: Vec<(Point, Vec<f64>)> = all.collect();
    all.sort_by(order);
    let mut front: Vec<(Point, Vec<f64>)> = Vec::new();
    for (point, own) in all {
        // Whatever beats or equals it stands before it.
        let beats = |other: &(Point, Vec<f64>)| other.1.iter().zip(&own).all(|(a, b)| a <= b);
        if !front.iter().any(beats) {
            front.push((point, own));
        }
    }
    Ok(front.into_iter().map(|(point, _)| point).collect())
}

/// By the first objective, then the next, then the fewest cores.
fn order((one, own): &(Point, Vec<f64>), (other, others): &(Point, Vec<f64>)) -> Ordering {
    let by_products = own.iter().zip(others).map(|(a, b)| a.total_cmp(b));
    let cores = |it: &Point| (it.mapping.apus(), it.mapping);
    by_products.fold(Ordering::Equal, Ordering::then).then(cores(one).cmp(&cores(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::{Decomposition, Estimate, OverM, Parameters, Terms};
    use mmgp_base::quantity::Quantity;

    /// 3 s on the host, half as much more with several threads, and 100 s of work that all share.
    fn posterior() -> Posterior {
        let terms = Terms {
            t_hpu_s: Estimate::exact(3.0),
            t_apu_s: Estimate::exact(100.0),
            alpha: OverM::Constant(Estimate::exact(1.5)),
            ..Terms::nothing()
        };
        Posterior::of_model(Parameters::new("toy", Decomposition::Data, 8, terms))
    }

    fn found(objectives: &[&str]) -> Vec<(u32, u32)> {
        let objective = |text: &&str| Objective::parse(text, &Quantity::Time, None).unwrap();
        let objectives: Vec<Objective> = objectives.iter().map(objective).collect();
        let mappings: Vec<Mapping> = crate::decide::feasible(8).collect();
        let front = front(&posterior(), &mappings, &objectives).unwrap();
        front.iter().map(|it| (it.mapping.m(), it.mapping.p())).collect()
    }

    #[test]
    fn nothing_on_the_front_is_beaten_in_all_objectives() {
        // One thread is always better than several with as many APUs; each further APU costs more.
        let one_thread: Vec<(u32, u32)> = (1..=8).map(|p| (1, p)).collect();
        assert_eq!(found(&["time"]), [(1, 8)]);
        assert_eq!(found(&["cost", "time"]), one_thread);
        let the_other_way: Vec<(u32, u32)> = one_thread.into_iter().rev().collect();
        assert_eq!(found(&["time", "cost"]), the_other_way);
    }

    #[test]
    fn of_what_is_equal_in_all_the_cheapest_is_on_the_front() {
        // (1, 1) and (1, 2) are the same by this, as it takes 103 s and 53 s.
        assert_eq!(found(&["time/(3 + 100/p)*max(m, 1)*max(p, 2)"]), [(1, 1)]);
    }
}

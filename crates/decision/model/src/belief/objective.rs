//! What is added to the logarithms of times: what if, and the objective.

use std::rc::Rc;

use super::{Posterior, Prior};
use crate::models::observations::Observations;
use crate::models::time_model::TimeModel;
use crate::objective::Objective;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::quantity::Quantity;

impl Posterior {
    /// The same where an objective is looked at: all times are multiplied by its factors, and choices are
    /// by the least product. What was measured stays as it is.
    #[must_use]
    pub fn towards(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// What is minimised.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// What if a model held in the place of another: every time changes by the ratio of both, and the
    /// misfit stays. The runs are those of the program as it is.
    #[must_use]
    pub fn what_if(self, is: Rc<dyn TimeModel>, would_be: Rc<dyn TimeModel>) -> Self {
        Self { what_if: Some((is, would_be)), ..self }
    }

    /// By how much the logarithm of a time changes by that, and by the objective.
    pub(super) fn change(&self, mapping: Mapping) -> f64 {
        let ratio = |(is, would_be): &(Rc<dyn TimeModel>, Rc<dyn TimeModel>)| {
            would_be.time(mapping).0 / is.time(mapping).0
        };
        // A time of nothing has no ratio to another.
        let ratio = self.what_if.as_ref().map(ratio);
        let what_if = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0).map_or(0.0, f64::ln);
        what_if + self.objective.offset(mapping)
    }
}

/// What was measured, by parameters and runs alike.
pub(super) fn quantity(prior: &Prior, further: Option<&Observations>) -> Result<Quantity> {
    let mut known = prior.quantity.clone();
    for observations in prior.evidence.as_ref().into_iter().chain(further) {
        match &known {
            Some(known) => known.check_same(&observations.quantity)?,
            None => known = Some(observations.quantity.clone()),
        }
    }
    Ok(known.unwrap_or_default())
}

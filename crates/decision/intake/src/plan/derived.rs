//! What is measured instead of the time, where a user names it.

use mmgp_base::error::Result;
use mmgp_base::quantity::{Direction, Quantity};

use super::Planner;
use super::times::{Times, UnitOf, Value, amount};
use crate::measurand::{Captured, Measurand, OF_ALL_RUNS};
use crate::sheet::Field;
use crate::units::{Comma, Unit};
use crate::variables::Variables;

/// What is measured instead of the time.
pub(super) struct Derived {
    measurand: Measurand,
    /// The columns of what it is over.
    places: Vec<usize>,
}

impl Derived {
    /// What it is.
    pub fn quantity(&self) -> &Quantity {
        self.measurand.quantity()
    }

    /// What stands for the time of a run of a row that took so long; `None` where the row does not have it.
    pub fn time(
        &self,
        seconds: Option<f64>,
        (row, point): (&[Field<'_>], (u32, u32)),
        comma: Comma,
    ) -> Option<f64> {
        let of = |&place: &usize| amount(&row[place].text, comma).unwrap_or(f64::NAN);
        let captured: Vec<f64> = self.places.iter().map(of).collect();
        self.measurand.time(seconds.unwrap_or(f64::NAN), point, &captured)
    }

    /// What a row must have to be a run.
    pub fn expected(&self) -> String {
        format!("what makes {} a number above 0", self.quantity().unit().unwrap_or("it"))
    }
}

impl Planner<'_> {
    /// An expression over columns, the time, m and p.
    pub(super) fn derived(&mut self, objective: &str) -> Result<Times> {
        let objective = objective.trim();
        let (_, text) = Direction::said(objective);
        let said = &objective[..objective.len() - text.len()];
        let Variables { text: plain, names, places } =
            Variables::of(text, self.sheet, &OF_ALL_RUNS);
        let captured: Vec<Captured> = names
            .into_iter()
            .zip(&places)
            .map(|(variable, &place)| Captured { variable, name: self.name(place).into() })
            .collect();
        let measurand = Measurand::parse(&format!("{said}{plain}"), &captured)?;
        let times = match measurand.uses_time() {
            true => self.usual_times()?,
            // Whether a row has a time does not matter then.
            false => {
                let place = places.first().copied().unwrap_or(0);
                Times::one(Value::Column(place), UnitOf::Known(Unit::Seconds))
            }
        };
        for &place in &places {
            self.taken[place] = true;
        }
        let quantity = measurand.quantity();
        let better = match quantity.direction() {
            Direction::Least => "less is better",
            Direction::Most => "more is better",
        };
        self.say(quantity.name(), text, better);
        Ok(times.with(Derived { measurand, places }))
    }
}

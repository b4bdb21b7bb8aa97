//! Times for pictures of a user's own runs: what is believed given all of them, and, where predictions
//! are held against measured times, what is believed of each given the others.

use super::{Arguments, Material, PictureArgument};
use crate::Mapping;
use crate::belief::{Posterior, Prior};
use crate::cli::objective::{NodeSize, ObjectiveArguments, several};
use crate::decide::{self, Configuration, Constraints, Sampling};
use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::models::observations::{Observation, Observations};
use crate::objective::Objective;
use crate::plot::{
    self, Format, Front, FrontPoint, Kind, MeasuredTime, Picture, PredictedTime, Series, Standing,
    Times,
};
use crate::quantity::Quantity;
use crate::report::measure;
use crate::units::Seconds;

/// Parameters and the runs of the program.
pub struct TimedRuns {
    parameters: Parameters,
    posterior: Posterior,
}

/// The most configurations of which each is left out to see what the others say of it: each is a fit.
const MOST_LEFT_OUT: usize = 60;

impl TimedRuns {
    /// The runs that parameters were fitted with, and further ones; `None` where there are
    /// no runs.
    pub fn new(
        parameters: Parameters,
        further: Option<Observations>,
        best: (&ObjectiveArguments, &NodeSize),
    ) -> Result<Option<Self>> {
        if further.is_none() && parameters.evidence.is_none() {
            return Ok(None);
        }
        let posterior = Posterior::new(&Prior::of(&parameters), further)?;
        let quantity = posterior.objective().quantity();
        let objective = best.0.objective(quantity, best.1.per_node)?;
        let posterior = posterior.towards(objective);
        Ok(posterior.range().is_some().then_some(Self { parameters, posterior }))
    }

    /// What is believed of every configuration within what was timed.
    pub fn times(&self) -> Result<Times> {
        let apus = self.parameters.apus;
        let mappings = decide::candidates(&self.posterior, &Constraints::NONE, apus)?.mappings;
        let sampling = Sampling::new(Sampling::USUAL_DRAWS, 1);
        let ranking = decide::rank(&self.posterior, &mappings, sampling)?;
        let rows = ranking.configurations.iter().map(|it| self.predicted(it)).collect();
        Ok(self.beside("the models given the runs", rows))
    }

    /// What is believed of them by two objectives.
    pub fn front(&self, objectives: &[Objective; 2]) -> Result<Front> {
        let apus = self.parameters.apus;
        let mappings = decide::candidates(&self.posterior, &Constraints::NONE, apus)?.mappings;
        let front = decide::front(&self.posterior, &mappings, objectives)?;
        let marginals = self.posterior.marginals(&mappings);
        let point = |(index, &mapping): (usize, &Mapping)| {
            let time = marginals.time(index) / self.objective().factor(mapping);
            let amount = |objective: &Objective| objective.amount(mapping, time).0;
            FrontPoint {
                mapping,
                amounts: [amount(&objectives[0]), amount(&objectives[1])],
                is_on_front: front.iter().any(|it| it.mapping == mapping),
            }
        };
        Ok(Front {
            measures: [measure(&objectives[0]), measure(&objectives[1])],
            points: mappings.iter().enumerate().map(point).collect(),
        })
    }

    /// Predictions of what ran that have not seen it: those of the other runs or, where these are too
    /// few or too many, of equation 11 alone.
    pub fn unseen(&self) -> Result<Times> {
        let observed = &self.posterior.observations().configurations;
        if !(2..=MOST_LEFT_OUT).contains(&observed.len()) {
            let of_equation_11 = |it: &Observation| {
                let (mapping, standing) = (it.mapping, Standing::Slower);
                let time = self.drawn(mapping, self.parameters.time(mapping));
                PredictedTime { mapping, time, interval: None, standing }
            };
            let rows = observed.iter().map(of_equation_11).collect();
            return Ok(self.beside("equation 11", rows));
        }
        let rows = observed.iter().map(|it| self.left_out(it)).collect::<Result<_>>()?;
        Ok(self.beside("the models given the other runs", rows))
    }

    /// What the other runs say of one.
    fn left_out(&self, left_out: &Observation) -> Result<PredictedTime> {
        let mapping = left_out.mapping;
        let mut others = self.posterior.observations().clone();
        others.configurations.retain(|observed| observed.mapping != mapping);
        let mut parameters = self.parameters.clone();
        let posterior = match &mut parameters.evidence {
            Some(evidence) => {
                evidence.observations = others;
                Posterior::of(&parameters)?
            }
            None => Posterior::new(&Prior::of(&parameters), Some(others))?,
        };
        let times = posterior.marginals(&[mapping]);
        let [low, high] = times.interval(0);
        let (time, interval) =
            (self.drawn(mapping, times.time(0)), self.ends(mapping, (low, high)));
        Ok(PredictedTime { mapping, time, interval, standing: Standing::Slower })
    }

    /// What is drawn.
    pub fn objective(&self) -> &Objective {
        self.posterior.objective()
    }

    /// What is drawn of a time: the objective.
    fn drawn(&self, mapping: Mapping, time: Seconds) -> Seconds {
        Seconds(self.objective().amount(mapping, time).0)
    }

    /// The ends of the interval that is drawn; `None` where it is none.
    fn ends(
        &self,
        mapping: Mapping,
        (low, high): (Seconds, Seconds),
    ) -> Option<(Seconds, Seconds)> {
        let (first, last) = self.objective().ends(mapping, low, high);
        (low < high).then_some((Seconds(first.0), Seconds(last.0)))
    }

    fn predicted(&self, row: &Configuration) -> PredictedTime {
        let standing =
            if row.indistinguishable { Standing::Indistinguishable } else { Standing::Slower };
        let interval = self.ends(row.mapping, (row.low, row.high));
        let time = self.drawn(row.mapping, row.time);
        PredictedTime { mapping: row.mapping, time, interval, standing }
    }

    /// Predictions beside the runs.
    fn beside(&self, name: &str, rows: Vec<PredictedTime>) -> Times {
        let measured = |it: &Observation| MeasuredTime {
            mapping: it.mapping,
            time: self.drawn(it.mapping, it.time),
            repetitions: it.repetitions.round().max(1.0) as u32,
        };
        let observed = &self.posterior.observations().configurations;
        Times {
            measured: observed.iter().map(measured).collect(),
            measured_as: "measured".into(),
            predicted: Series { name: name.into(), rows },
            beside: None,
            measure: measure(self.objective()),
            names: Default::default(),
            failed: Vec::new(),
        }
    }
}

/// The front of two objectives.
pub(super) fn draw_front(
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

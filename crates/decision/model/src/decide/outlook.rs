//! What a search needs to know of the configurations that have a chance: what a run of each is worth,
//! how likely each is faster than the choice, and what that may cost.

use super::gain::Learning;
use super::regret::Regret;
use crate::belief::{Joint, Posterior};
use crate::models::observations::Observed;
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// So many configurations are weighed: those that ran, and those that may be the fastest.
const MOST: usize = 128;

/// What is believed of the configurations that have a chance.
pub struct Outlook {
    mappings: Vec<Mapping>,
    joint: Joint,
    learning: Learning,
    /// Of each configuration, how often it ran.
    repetitions: Vec<f64>,
    /// What its times are multiplied by in the objective.
    factors: Vec<f64>,
}

/// So many draws tell what a choice may cost: a probability of 5 % to half a per cent.
const DRAWS: u32 = 1_500;

/// They are the same for the same runs.
const SEED: u64 = 1;

impl Outlook {
    /// Of those of `mappings` that ran or have a chance to be the fastest, in their order.
    pub fn new(posterior: &Posterior, mappings: &[Mapping]) -> Self {
        let mappings = weighed(posterior, mappings);
        let joint = posterior.joint(&mappings);
        let ran = |mapping: &Mapping| posterior.measured(*mapping).map_or(0.0, |it| it.repetitions);
        let objective = posterior.objective();
        Self {
            factors: mappings.iter().map(|&mapping| objective.factor(mapping)).collect(),
            learning: Learning::new(&joint, posterior.noise_variance()),
            repetitions: mappings.iter().map(ran).collect(),
            joint,
            mappings,
        }
    }

    /// Those that are weighed.
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// The time that is expected of the configuration at a place, a median.
    pub fn time(&self, place: usize) -> Seconds {
        Seconds(self.learning.log_times()[place].exp() / self.factors[place])
    }

    /// Whether the configuration at a place is no better than that at another where it takes this long or
    /// longer.
    pub fn is_no_better(&self, place: usize, longer_than: Seconds, other: usize) -> bool {
        let product = |place: usize, time: Seconds| time.0 * self.factors[place];
        product(place, longer_than) >= product(other, self.time(other))
    }

    /// How often it ran.
    pub fn repetitions(&self, place: usize) -> f64 {
        self.repetitions[place]
    }

    /// By how much a run of it lowers the expected cost of the choice, relative to that.
    pub fn gain(&self, place: usize) -> f64 {
        let (variance, covariances) = self.learning.run(place);
        self.learning.gain_of(covariances.into_iter(), variance)
    }

    /// How likely the configuration at one place takes longer than that at another by more than this,
    /// relative to the other.
    pub fn slower(&self, one: usize, other: usize, regret: f64) -> f64 {
        self.joint.slower((one, other), regret.ln_1p())
    }

    /// What it may cost to choose the configuration at a place.
    pub fn regret(&self, choice: usize) -> Regret {
        let draws = self.joint.draws(DRAWS, SEED);
        Regret::of(draws.column_iter().map(|column| (column[choice], column.min())))
    }
}

/// Those that ran, and of the others those of which there is the most to hope for.
fn weighed(posterior: &Posterior, mappings: &[Mapping]) -> Vec<Mapping> {
    if mappings.len() <= MOST {
        return mappings.to_vec();
    }
    let ran: Vec<Option<Observed>> = mappings.iter().map(|&it| posterior.measured(it)).collect();
    let marginals = posterior.marginals(mappings);
    let hopes: Vec<f64> = (0..mappings.len()).map(|place| marginals.hope(place)).collect();
    let mut places: Vec<usize> = (0..mappings.len()).collect();
    places.sort_by(|&one, &other| {
        let by_hope = hopes[one].total_cmp(&hopes[other]);
        ran[other].is_some().cmp(&ran[one].is_some()).then(by_hope)
    });
    places.truncate(MOST);
    places.sort_unstable();
    places.into_iter().map(|place| mappings[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::decide::feasible;
    use crate::models::observations::Observations;
    use crate::models::parameters::Decomposition;

    fn outlook(times: &[(u32, u32, f64, f64)], space: &[Mapping]) -> Outlook {
        let observed = |&(m, p, time_s, repetitions): &(u32, u32, f64, f64)| Observed {
            mapping: Mapping::of(m, p),
            time: Seconds(time_s),
            repetitions,
        };
        let all: Vec<Observed> = times.iter().map(observed).collect();
        let degrees: f64 = all.iter().map(|it| it.repetitions - 1.0).sum();
        // Noise of 2 %.
        let observations = Observations::new("runs.csv", all, degrees * 4e-4, degrees);
        let posterior = Posterior::new(&Prior::of_runs(Decomposition::Data), Some(observations));
        Outlook::new(&posterior.unwrap(), space)
    }

    #[test]
    fn two_that_ran_are_told_apart_by_their_noise() {
        let both = [Mapping::of(1, 2), Mapping::of(2, 1)];
        let slower = |repetitions: f64, by: f64| {
            let times = [(1, 2, 10.0, repetitions), (2, 1, 10.3, repetitions)];
            outlook(&times, &both).slower(1, 0, by)
        };
        // 3 % of a standard error of 2 % sqrt(2/50) = 0.4 %, widened as two configurations tell little.
        assert!(slower(50.0, 0.0) > 0.99 && slower(50.0, 0.05) < 0.01, "{}", slower(50.0, 0.05));
        assert!((0.6..0.99).contains(&slower(2.0, 0.0)), "{}", slower(2.0, 0.0));
        // Once each, nobody knows the noise.
        assert!(slower(1.0, 0.0) < slower(2.0, 0.0));
    }

    #[test]
    fn of_thousands_those_that_ran_and_the_most_hopeful_are_weighed() {
        let space: Vec<Mapping> = feasible(300).collect();
        let time = |m: u32, p: u32| 10.0 + f64::from(m) + 300.0 / f64::from(m * p) + f64::from(p);
        let ran = [(1, 1), (300, 1), (1, 300), (17, 17), (4, 4)];
        let times = ran.map(|(m, p)| (m, p, time(m, p), 1.0));
        let outlook = outlook(&times, &space);
        assert_eq!(outlook.mappings().len(), MOST);
        assert!(outlook.mappings().is_sorted());
        let has = |m, p| outlook.mappings().contains(&Mapping::of(m, p));
        assert!(ran.iter().all(|&(m, p)| has(m, p)));
        // The fastest.
        assert!(has(7, 7) && !has(290, 1));
        let ran = outlook.repetitions.iter().filter(|it| **it > 0.0).count();
        assert_eq!(ran, times.len());
    }

    #[test]
    fn what_never_ran_is_worth_a_run_and_what_ran_often_hardly_one() {
        let both = [Mapping::of(1, 2), Mapping::of(2, 1), Mapping::of(2, 2)];
        let outlook = outlook(&[(1, 2, 10.0, 4.0), (2, 1, 10.3, 25.0)], &both);
        assert_eq!([0, 1, 2].map(|place| outlook.repetitions(place)), [4.0, 25.0, 0.0]);
        let gain = outlook.gain(2);
        assert!(0.0 < gain && gain < 1.0, "{gain}");
        assert!(outlook.gain(1) < gain);
    }

    #[test]
    fn what_a_choice_costs_falls_once_its_rivals_ran() {
        let both = [Mapping::of(1, 2), Mapping::of(2, 1)];
        let regret = |times: &[(u32, u32, f64, f64)]| outlook(times, &both).regret(0);
        let before = regret(&[(1, 2, 10.0, 4.0)]);
        let after = regret(&[(1, 2, 10.0, 4.0), (2, 1, 14.0, 4.0)]);
        assert!(before.expected() > 0.01, "{}", before.expected());
        assert!(before.at_most(0.95) > before.expected());
        assert_eq!((after.expected(), after.exceeds(0.0)), (0.0, 0.0));
    }
}

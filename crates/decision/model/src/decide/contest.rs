//! Joint draws of the times of those configurations that have a chance: who wins, and what it costs
//! to choose another.
//!
//! [`Outlook`] is what a search asks of them: what a run of each is worth, how likely each is faster than
//! the choice, and what that may cost.

use std::sync::OnceLock;

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::Sampling;
use super::next::{Learning, Regret};
use crate::belief::{Joint, Marginals, Posterior};
use crate::models::observations::Observation;
use crate::objective::Amount;
use crate::statistics::least_of_most;
use mmgp_base::quantity::Direction;
use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Site};

/// Number of configurations that are drawn together: those of which there is the most to hope for. The
/// probability of any other to be the best counts as none.
const MOST_DRAWN: usize = 128;

/// Probability to be faster than the choice from which on a configuration cannot be told from it.
const CANNOT_BE_TOLD: f64 = 0.05;

/// The draws.
pub(super) struct Contest {
    /// The mappings that are drawn.
    pub mappings: Vec<Mapping>,
    /// The place among `mappings` of each configuration that is drawn.
    places: Vec<Option<usize>>,
    /// The place of the choice.
    pub choice: usize,
    /// Logarithms of the times, by the factors of the objective, a column for each draw.
    draws: DMatrix<f64>,
    /// The least of each draw.
    least: Vec<f64>,
    direction: Direction,
    /// The amounts that these are of, and their mean.
    best: Vec<f64>,
    expected_best: f64,
}

/// What is at stake with one configuration.
pub(super) struct Stake {
    pub probability_best: f64,
    pub expected_regret: Amount,
    pub regret_95: Amount,
    pub indistinguishable: bool,
}

impl Contest {
    /// Lets those that have a chance run in every draw.
    pub fn new(
        posterior: &Posterior,
        (all, chosen): (&[Mapping], usize),
        marginals: &Marginals,
        sampling: Sampling,
    ) -> Self {
        let drawn = contenders(chosen, all.len(), marginals);
        let mappings: Vec<Mapping> = drawn.iter().map(|&index| all[index]).collect();
        let mut places = vec![None; all.len()];
        for (place, &index) in drawn.iter().enumerate() {
            places[index] = Some(place);
        }
        let draws = posterior.joint(&mappings).draws(sampling.draws, sampling.seed);
        let choice = drawn.iter().position(|&index| index == chosen).unwrap_or(0);
        let direction = posterior.objective().direction();
        Self::of_draws((mappings, places), choice, (draws, direction))
    }

    /// Contest of mappings that are drawn, and the place among them of each configuration.
    fn of_draws(
        (mappings, places): (Vec<Mapping>, Vec<Option<usize>>),
        choice: usize,
        (draws, direction): (DMatrix<f64>, Direction),
    ) -> Self {
        let least: Vec<f64> = draws.column_iter().map(|column| column.min()).collect();
        let best: Vec<f64> = least.iter().map(|&log| amount(direction, log)).collect();
        let expected_best = best.iter().sum::<f64>() / best.len() as f64;
        Self { mappings, places, choice, draws, least, direction, best, expected_best }
    }

    /// The mean of the best amount.
    pub fn expected_best(&self) -> Amount {
        Amount(self.expected_best)
    }

    /// How likely the choice is no more than this above the best of all, relative to it.
    pub fn within(&self, tolerance: f64) -> f64 {
        1.0 - self.regret().exceeds(tolerance)
    }

    /// Whether there is nothing to choose from.
    pub fn is_alone(&self) -> bool {
        self.places.len() == 1
    }

    /// What the choice may cost.
    pub fn regret(&self) -> Regret {
        let times = self.draws.row(self.choice);
        Regret::of(times.iter().copied().zip(self.least.iter().copied()))
    }

    /// What there is to hope for: two standard deviations below the expected logarithm.
    fn hope(&self, place: usize) -> f64 {
        let row = self.draws.row(place);
        row.mean() - 2.0 * row.variance().sqrt()
    }

    /// What may be run, that of which there is the most to hope for first: each with the expected cost,
    /// relative to the fastest, of the best of what ran before, what `ran` says of the mappings drawn,
    /// and all that are run up to it.
    ///
    /// Runs that lower the expected cost most. By what lowers the cost at 95 % most, the best that ran is a
    /// little worse: on 40 splits of 23 programs that others timed, 5.3 % from the fastest after one run
    /// instead of 5.1, 2.8 after two instead of 2.7.
    pub fn confirmations(&self, ran: &[bool], most: usize) -> Vec<(usize, f64)> {
        let count = self.least.len();
        let mut kept = vec![f64::INFINITY; count];
        for (place, _) in ran.iter().enumerate().filter(|(_, ran)| **ran) {
            for (kept, time) in kept.iter_mut().zip(self.draws.row(place).iter()) {
                *kept = kept.min(*time);
            }
        }
        let cost = |kept: &[f64], place: usize| {
            let row = self.draws.row(place);
            let each = row.iter().zip(kept).zip(&self.least);
            let sum: f64 =
                each.map(|((time, kept), least)| (time.min(*kept) - least).exp_m1()).sum();
            sum / count as f64
        };
        let mut confirmations: Vec<(usize, f64)> = Vec::new();
        if !ran.contains(&true) {
            // The choice is run in any case: there is nothing yet to hold another run against.
            confirmations.push((self.choice, cost(&kept, self.choice)));
            kept = self.draws.row(self.choice).iter().copied().collect();
        }
        while confirmations.len() < most {
            let left = (0..self.mappings.len()).filter(|&place| {
                !ran[place] && !confirmations.iter().any(|(taken, _)| *taken == place)
            });
            let hopes = left.map(|place| (place, self.hope(place)));
            let Some((place, _)) = hopes.reduce(|a, b| if b.1 < a.1 { b } else { a }) else {
                break;
            };
            let cost = cost(&kept, place);
            for (kept, time) in kept.iter_mut().zip(self.draws.row(place).iter()) {
                *kept = kept.min(*time);
            }
            confirmations.push((place, cost));
        }
        confirmations
    }

    /// What is at stake with the configuration of that index.
    pub fn stake(&self, index: usize, marginals: &Marginals) -> Stake {
        let Some(place) = self.places[index] else {
            let (expected, at_95) = match self.direction {
                Direction::Least => {
                    (marginals.expected(index).0, marginals.quantile(index, 0.95).0)
                }
                Direction::Most => {
                    let at_95 = 1.0 / marginals.quantile(index, 0.95).0;
                    (marginals.expected_inverse(index), at_95)
                }
            };
            let over = |amount: f64| Amount(self.beyond(amount, self.expected_best).max(0.0));
            return Stake {
                probability_best: 0.0,
                expected_regret: over(expected),
                regret_95: over(at_95),
                indistinguishable: false,
            };
        };
        let count = self.least.len() as f64;
        let (mut wins, mut faster) = (0.0, 0.0);
        let mut regrets = Vec::with_capacity(self.least.len());
        for (draw, (&time, &least)) in self.draws.row(place).iter().zip(&self.least).enumerate() {
            wins += f64::from(u8::from(time <= least));
            faster += f64::from(u8::from(time <= self.draws[(self.choice, draw)]));
            regrets.push(self.beyond(amount(self.direction, time), self.best[draw]));
        }
        let mean = regrets.iter().sum::<f64>() / count;
        Stake {
            probability_best: wins / count,
            expected_regret: Amount(mean),
            regret_95: Amount(least_of_most(&mut regrets, 0.95)),
            indistinguishable: faster / count >= CANNOT_BE_TOLD,
        }
    }

    /// Excess of an amount over a better one.
    fn beyond(&self, amount: f64, best: f64) -> f64 {
        match self.direction {
            Direction::Least => amount - best,
            Direction::Most => best - amount,
        }
    }
}

/// The amount whose product of time and factor has this logarithm.
fn amount(direction: Direction, log: f64) -> f64 {
    match direction {
        Direction::Least => log.exp(),
        Direction::Most => (-log).exp(),
    }
}

/// Contenders by their indices: those of which there is the most to hope for, and the choice.
fn contenders(chosen: usize, count: usize, marginals: &Marginals) -> Vec<usize> {
    let mut drawn: Vec<usize> = (0..count).collect();
    if count > MOST_DRAWN {
        let hopes: Vec<f64> = drawn.iter().map(|&it| marginals.hope(it)).collect();
        drawn.sort_by(|&one, &other| hopes[one].total_cmp(&hopes[other]));
        drawn.truncate(MOST_DRAWN);
        if !drawn.contains(&chosen) {
            drawn[MOST_DRAWN - 1] = chosen;
        }
        drawn.sort_unstable();
    }
    drawn
}

/// Number of configurations that are weighed: those that ran, and those that may be the fastest.
const MOST: usize = 128;

/// What is believed of the configurations that have a chance.
pub struct Outlook {
    sites: Vec<Site>,
    joint: Joint,
    learning: Learning,
    /// Number of runs of each configuration.
    repetitions: Vec<f64>,
    /// What its times are multiplied by in the objective.
    factors: Vec<f64>,
    /// Logarithms of the times that were drawn together, a column for each draw, once they are asked for.
    draws: OnceLock<DMatrix<f64>>,
    /// The standard deviation of the logarithm of a single run's time.
    noise: f64,
    /// Whether nothing tells any that ran from any other.
    is_flat: bool,
}

/// What one configuration takes of what another takes: a median and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The lower end.
    pub low: f64,
    /// The median.
    pub middle: f64,
    /// The upper end.
    pub high: f64,
}

/// Number of draws that tell what a choice may cost: a probability of 5 % to half a per cent.
const DRAWS: u32 = 1_500;

/// They are the same for the same runs.
const SEED: u64 = 1;

impl Outlook {
    /// Outlook on those of `sites` that ran or have a chance to be the fastest, in their order.
    pub fn new(posterior: &Posterior, sites: &[Site]) -> Self {
        let sites = weighed(posterior, sites);
        let joint = posterior.joint(&sites);
        let ran = |site: &Site| posterior.measured(*site).map_or(0.0, |it| it.repetitions);
        let objective = posterior.objective();
        Self {
            factors: sites.iter().map(|site| objective.factor(site.mapping)).collect(),
            learning: Learning::new(&joint, posterior.noise_variance()),
            repetitions: sites.iter().map(ran).collect(),
            draws: OnceLock::new(),
            noise: posterior.noise_variance().sqrt(),
            is_flat: is_flat(posterior),
            joint,
            sites,
        }
    }

    /// The standard deviation of the logarithm of a single run's time, as repetitions tell.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Whether repetitions say so much of the noise that all that ran may be equal: by the test of Fisher, one
    /// that is right about equals in 19 of 20 programs.
    pub fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// Sites that are weighed.
    pub fn sites(&self) -> &[Site] {
        &self.sites
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

    /// Share by which a run of it lowers the expected cost of the choice.
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
        Regret::of(self.draws().column_iter().map(|column| (column[choice], column.min())))
    }

    /// What the configuration at one place takes, of what that at another does, in the objective; `None`
    /// where it is not sure, with 95 %, which of them takes less.
    pub fn ratio(&self, one: usize, other: usize) -> Option<Ratio> {
        let ratios = self.draws().column_iter().map(|column| (column[one] - column[other]).exp());
        let mut ratios: Vec<f64> = ratios.collect();
        let [low, middle, high] = [0.025, 0.5, 0.975].map(|it| least_of_most(&mut ratios, it));
        (low > 1.0 || high < 1.0).then_some(Ratio { low, middle, high })
    }

    fn draws(&self) -> &DMatrix<f64> {
        self.draws.get_or_init(|| self.joint.draws(DRAWS, SEED))
    }
}

/// Repetitions that say how large the noise is, at least.
const FEWEST_REPETITIONS: f64 = 4.0;

/// How probable a scatter is at most that equals do not have.
const NOT_OF_EQUALS: f64 = 0.95;

/// Whether the scatter of the configurations' times about their mean may be that of the noise: a one-way
/// analysis of variance of the logarithms.
fn is_flat(posterior: &Posterior) -> bool {
    let observations = posterior.observations();
    let (squares, degrees) = (observations.scatter, observations.degrees_of_freedom);
    let all = &observations.configurations;
    if all.len() < 2 || degrees < FEWEST_REPETITIONS || !observations.bounds.is_empty() {
        return false;
    }
    let objective = posterior.objective();
    let log = |it: &Observation| (it.time.0 * objective.factor(it.mapping)).ln();
    let runs: f64 = all.iter().map(|it| it.repetitions).sum();
    let mean = all.iter().map(|it| it.repetitions * log(it)).sum::<f64>() / runs;
    let between: f64 = all.iter().map(|it| it.repetitions * (log(it) - mean).powi(2)).sum();
    let further = all.len() as f64 - 1.0;
    let Ok(fisher) = FisherSnedecor::new(further, degrees) else { return false };
    between / further <= fisher.inverse_cdf(NOT_OF_EQUALS) * squares / degrees
}

/// Sites that ran, and of the others those of which there is the most to hope for.
fn weighed(posterior: &Posterior, sites: &[Site]) -> Vec<Site> {
    if sites.len() <= MOST {
        return sites.to_vec();
    }
    let ran: Vec<Option<Observation>> = sites.iter().map(|&it| posterior.measured(it)).collect();
    let marginals = posterior.marginals(sites);
    let hopes: Vec<f64> = (0..sites.len()).map(|place| marginals.hope(place)).collect();
    let mut places: Vec<usize> = (0..sites.len()).collect();
    places.sort_by(|&one, &other| {
        let by_hope = hopes[one].total_cmp(&hopes[other]);
        ran[other].is_some().cmp(&ran[one].is_some()).then(by_hope)
    });
    places.truncate(MOST);
    places.sort_unstable();
    places.into_iter().map(|place| sites[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::decide::feasible;
    use crate::models::observations::Observations;
    use crate::models::parameters::Decomposition;

    /// Three configurations in four draws, of which the second is the choice and the third was not
    /// drawn with them; the times of the drawn ones by rows.
    fn contest(times: [[f64; 4]; 3]) -> Contest {
        let draws = DMatrix::from_fn(3, 4, |row, column| times[row][column].ln());
        of_draws(draws)
    }

    fn of_draws(draws: DMatrix<f64>) -> Contest {
        let mappings = [(1, 1), (1, 2), (2, 1)].map(|(m, p)| Mapping::of(m, p)).to_vec();
        let places = vec![Some(0), Some(1), Some(2)];
        Contest::of_draws((mappings, places), 1, (draws, Direction::Least))
    }

    const TIMES: [[f64; 4]; 3] = [[1.0, 4.0, 3.0, 3.0], [2.0, 2.0, 2.0, 2.0], [4.0, 1.0, 1.0, 2.0]];

    #[track_caller]
    fn check_confirmations(ran: [bool; 3], most: usize, expected: &[(usize, f64)]) {
        let found = contest(TIMES).confirmations(&ran, most);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            approx::assert_abs_diff_eq!(found.1, expected.1, epsilon = 1e-12);
        }
    }

    #[test]
    fn what_is_run_next_lowers_the_cost_of_the_best_that_ran() {
        // The choice alone costs 0.75; with the third the best of both is 2, 1, 1, 2 where the least is
        // 1, 1, 1, 2; with the first nothing is left.
        check_confirmations([false; 3], 9, &[(1, 0.75), (2, 0.25), (0, 0.0)]);
        check_confirmations([false; 3], 2, &[(1, 0.75), (2, 0.25)]);
        // The third has run: the first makes it perfect, and the choice adds nothing any more.
        check_confirmations([false, false, true], 1, &[(0, 0.0)]);
        check_confirmations([false, false, true], 9, &[(0, 0.0), (1, 0.0)]);
        check_confirmations([true; 3], 9, &[]);
    }

    #[test]
    fn among_equals_the_first_is_run_first() {
        let same = contest([[2.0; 4], [3.0; 4], [2.0; 4]]);
        let first = same.confirmations(&[false, true, false], 1);
        assert_eq!(first, [(0, 0.0)]);
    }

    #[test]
    fn what_is_at_stake_is_counted_over_the_draws() {
        // Of one certain configuration beside those that are drawn nothing is asked of the marginals.
        let parameters = crate::models::published("pbpi-qs20").unwrap();
        let marginals = Posterior::of(&parameters).unwrap().marginals(&[Mapping::SEQUENTIAL]);
        let contest = contest(TIMES);
        let check = |index: usize, wins: f64, regret: f64, most: f64| {
            let stake = contest.stake(index, &marginals);
            approx::assert_relative_eq!(stake.probability_best, wins, max_relative = 1e-12);
            approx::assert_relative_eq!(stake.expected_regret.0, regret, max_relative = 1e-12);
            approx::assert_relative_eq!(stake.regret_95.0, most, max_relative = 1e-12);
        };
        // The least times are 1, 1, 1, 2.
        check(0, 0.25, (3.0 + 2.0 + 1.0) / 4.0, 3.0);
        check(1, 0.25, 3.0 / 4.0, 1.0);
        check(2, 0.75, 3.0 / 4.0, 3.0);
        assert!((0..3).all(|index| contest.stake(index, &marginals).indistinguishable));
        // Never faster than the choice.
        let slow = self::contest([[3.0; 4], [2.0; 4], [2.5; 4]]);
        let told = [0, 1, 2].map(|index| slow.stake(index, &marginals).indistinguishable);
        assert_eq!(told, [false, true, false]);
    }

    fn off_by_a_tenth(parameters: &crate::models::Parameters) -> Posterior {
        let prior = crate::belief::Prior::of(parameters).with_misfit(0.1).unwrap();
        Posterior::new(&prior, None).unwrap()
    }

    #[test]
    fn what_has_no_chance_loses_what_it_takes_longer_than_the_least() {
        let parameters = crate::models::published("pbpi-qs20").unwrap();
        let marginals = off_by_a_tenth(&parameters).marginals(&[Mapping::SEQUENTIAL]);
        let mut contest = contest(TIMES);
        contest.places = vec![None];
        let stake = contest.stake(0, &marginals);
        // The least times are 1, 1, 1, 2; the model is off by 10 % and a fifth of that.
        let (time, deviation) = (parameters.time(Mapping::SEQUENTIAL).0, 0.0104_f64.sqrt());
        let mean = time * 0.0052_f64.exp() - 1.25;
        approx::assert_relative_eq!(stake.expected_regret.0, mean, max_relative = 1e-5);
        let most = time * (1.644_854 * deviation).exp() - 1.25;
        approx::assert_relative_eq!(stake.regret_95.0, most, max_relative = 1e-5);
        assert_eq!((stake.probability_best, stake.indistinguishable), (0.0, false));
    }

    #[test]
    fn those_that_may_be_the_fastest_are_drawn_and_the_choice_in_any_case() {
        let parameters = crate::models::published("pbpi-qs20").unwrap();
        let all: Vec<Mapping> = crate::decide::feasible(40).collect();
        let marginals = off_by_a_tenth(&parameters).marginals(&all);
        let mut by_time: Vec<usize> = (0..all.len()).collect();
        by_time.sort_by(|&a, &b| parameters.time(all[a]).0.total_cmp(&parameters.time(all[b]).0));
        let check = |first: usize, kept: usize| {
            let drawn = contenders(first, all.len(), &marginals);
            assert_eq!(drawn.len(), MOST_DRAWN);
            assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]), "{drawn:?}");
            assert!(drawn.contains(&first));
            assert!(by_time[..kept].iter().all(|index| drawn.contains(index)));
        };
        check(by_time[0], MOST_DRAWN);
        check(*by_time.last().unwrap(), MOST_DRAWN - 1);
    }

    #[test]
    fn what_is_faster_than_the_choice_in_a_twentieth_of_the_draws_cannot_be_told_from_it() {
        let parameters = crate::models::published("pbpi-qs20").unwrap();
        let marginals = Posterior::of(&parameters).unwrap().marginals(&[Mapping::SEQUENTIAL]);
        // Faster in 1 of 40 draws, the choice, and faster in 2 of them.
        let faster_in = [1, 0, 2];
        let contest = of_draws(DMatrix::from_fn(3, 40, |row, draw| match row {
            1 => 0.0,
            _ if draw < faster_in[row] => -0.1,
            _ => 0.1,
        }));
        let told = [0, 1, 2].map(|index| contest.stake(index, &marginals).indistinguishable);
        assert_eq!(told, [false, true, true]);
    }

    fn outlook(times: &[(u32, u32, f64, f64)], space: &[Mapping]) -> Outlook {
        let observed = |&(m, p, time_s, repetitions): &(u32, u32, f64, f64)| Observation {
            mapping: Mapping::of(m, p),
            level: 0,
            time: Seconds(time_s),
            repetitions,
        };
        let all: Vec<Observation> = times.iter().map(observed).collect();
        let degrees: f64 = all.iter().map(|it| it.repetitions - 1.0).sum();
        // Noise of 2 %.
        let observations = Observations::new("runs.csv", all, degrees * 4e-4, degrees);
        let posterior = Posterior::new(&Prior::of_runs(Decomposition::Data), Some(observations));
        let sites: Vec<Site> = space.iter().map(|&it| it.into()).collect();
        Outlook::new(&posterior.unwrap(), &sites)
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
        assert_eq!(outlook.sites().len(), MOST);
        assert!(outlook.sites().is_sorted());
        let has = |m, p| outlook.sites().contains(&Mapping::of(m, p).into());
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

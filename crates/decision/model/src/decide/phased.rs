//! A number of APUs of its own for each phase of a program, where changing it costs.
//!
//! The phases of a parameter file follow one another, once or in so many equal rounds; their terms
//! are totals over all rounds. At a fixed m the time is the sum of equation 11 over the phases,
//! each at its p, and of a cost for every change of p: between phases that follow one another, and
//! between the last and the first where another round follows. The least of all plans comes from
//! dynamic programming, exactly.

use std::borrow::Cow;

use super::constraints::{Choices, Constraints};
use super::equation_11;
use crate::models::Parameters;
use crate::models::run::Row;
use crate::models::sensitivity::Entry;
use crate::models::terms::Term;
use crate::models::time_model::TimeModel;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning, shortened};
use mmgp_base::units::Seconds;

/// What changes cost, and how often the phases repeat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changes {
    /// Every change of p between two phases, 0 or more.
    pub cost: Seconds,
    /// How often the phases follow one another, at least 1.
    pub rounds: u32,
}

/// How to run the phases with m threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Host threads.
    pub m: u32,
    /// APUs of each thread in each phase, in the order of the phases.
    pub ps: Vec<u32>,
    /// Time of each phase, over all rounds.
    pub phase_times: Vec<Seconds>,
    /// Changes of p in the whole run.
    pub changes: u64,
    /// Time of the run, changes included.
    pub time: Seconds,
    /// Lower end of its 95 % interval; the cost of a change counts as exact.
    pub low: Seconds,
    /// Upper end of that interval.
    pub high: Seconds,
    /// The best single p for all phases, and the time with it.
    pub single: (u32, Seconds),
}

/// The best plan for every m, the fastest first, and the warnings about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plans {
    /// Ties by m.
    pub plans: Vec<Plan>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// Most steps that the search of one m may take.
const MOST_STEPS: u64 = 2_000_000_000;

/// The best plan for every m.
///
/// # Errors
///
/// [`Error::OutOfRange`] for another model than equation 11, parameters without phases, no rounds,
/// a negative cost or too many APUs; [`Error::NothingFeasible`] where the constraints leave
/// nothing.
pub fn plan_phases(
    model: &dyn TimeModel,
    constraints: &Constraints,
    changes: Changes,
) -> Result<Plans> {
    let parameters = equation_11(model, "the p of each phase follows")?;
    let phases: Vec<Parameters> =
        parameters.phases.iter().map(|phase| parameters.of_phase(phase)).collect();
    let space = constraints.space(parameters.apus)?;
    let widest = space.ms().map(|m| u64::from(space.choices(m).count)).max().unwrap_or(0);
    check(changes, phases.len(), widest)?;
    let mut plans: Vec<Plan> = space
        .ms()
        .map(|m| {
            let rows: Vec<Row> = phases.iter().map(|phase| phase.row(m)).collect();
            plan(parameters, &phases, (m, space.choices(m)), (&rows, changes))
        })
        .collect();
    plans.sort_by(|one, other| one.time.0.total_cmp(&other.time.0).then(one.m.cmp(&other.m)));
    let mut warnings = model.warnings(1..=space.ms().last().unwrap_or(1));
    let unsure: Vec<Cow<'_, str>> = parameters
        .phases
        .iter()
        .filter(|phase| [&phase.t_hpu_s, &phase.t_apu_s].iter().any(|x| x.std_error.is_none()))
        .map(|phase| shortened(&phase.name))
        .collect();
    if !unsure.is_empty() {
        warnings.push(Warning::Note(format!(
            "intervals know nothing of the uncertainty of {}: these phases have no standard errors \
             of their own",
            unsure.join(", ")
        )));
    }
    Ok(Plans { plans, warnings })
}

fn check(changes: Changes, phases: usize, widest: u64) -> Result<()> {
    let error =
        |name, found: String, expected: &str| Err(Error::out_of_range(name, found, expected));
    if phases == 0 {
        return error("phases", "none".into(), "[[phases]] in the parameter file");
    }
    if changes.rounds == 0 {
        return error("rounds", "0".into(), "at least 1");
    }
    if !(changes.cost.0 >= 0.0 && changes.cost.0.is_finite()) {
        return error("change_cost", changes.cost.0.to_string(), "seconds, 0 or more");
    }
    if widest.saturating_mul(widest).saturating_mul(phases as u64) > MOST_STEPS {
        let found = format!("{widest} numbers of APUs for each of {phases} phases");
        return error("apus", found, "fewer; see max_p and p_divides");
    }
    Ok(())
}

fn plan(
    parameters: &Parameters,
    phases: &[Parameters],
    (m, choices): (u32, Choices<'_>),
    (rows, changes): (&[Row], Changes),
) -> Plan {
    let times: Vec<Vec<f64>> =
        rows.iter().map(|row| choices.iter().map(|p| row.at(p).0).collect()).collect();
    let picked = cheapest(&times, changes);
    let sum = |index: usize| times.iter().map(|times| times[index]).sum::<f64>();
    let single = (0..choices.count as usize)
        .min_by(|&one, &other| sum(one).total_cmp(&sum(other)))
        .expect("invariant: a row of the space has a p");
    let ps: Vec<u32> = picked.iter().map(|&index| choices.at(index as u32)).collect();
    let phase_times: Vec<Seconds> =
        picked.iter().zip(&times).map(|(&index, times)| Seconds(times[index])).collect();
    let changed = changed(&picked, changes.rounds);
    let time = phase_times.iter().copied().sum::<Seconds>() + changes.cost * changed as f64;
    let half_width = half_width(parameters, phases, m, &ps);
    Plan {
        m,
        ps,
        phase_times,
        changes: changed,
        time,
        low: Seconds((time.0 - half_width).max(0.0)),
        high: Seconds(time.0 + half_width),
        single: (choices.at(single as u32), Seconds(sum(single))),
    }
}

/// Changes in a run of so many rounds.
fn changed(picked: &[usize], rounds: u32) -> u64 {
    let within = picked.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
    let between = u64::from(picked.first() != picked.last());
    within * u64::from(rounds) + between * u64::from(rounds - 1)
}

/// The choice for each phase that makes the sum of times and changes least; `times[i][c]` is the
/// time of phase i with choice c.
///
/// Least cost up to each phase and choice, for every first choice: a choice is either kept from the phase
/// before, or changed to from the cheapest there.
fn cheapest(times: &[Vec<f64>], changes: Changes) -> Vec<usize> {
    let choices = times[0].len();
    let within = changes.cost.0 * f64::from(changes.rounds);
    let between = changes.cost.0 * f64::from(changes.rounds - 1);
    // Without another round the first choice need not be known at the end.
    let firsts: Vec<Option<usize>> =
        if between > 0.0 { (0..choices).map(Some).collect() } else { vec![None] };
    let mut best = (f64::INFINITY, Vec::new());
    let mut from = vec![vec![0; choices]; times.len()];
    for first in firsts {
        let allowed = |choice: usize| first.is_none_or(|first| first == choice);
        let mut costs: Vec<f64> = (0..choices)
            .map(|choice| if allowed(choice) { times[0][choice] } else { f64::INFINITY })
            .collect();
        for (phase, times) in times.iter().enumerate().skip(1) {
            let cheapest = index_of_least(&costs);
            let changed = costs[cheapest] + within;
            for choice in 0..choices {
                let is_kept = costs[choice] <= changed;
                from[phase][choice] = if is_kept { choice } else { cheapest };
                costs[choice] = times[choice] + costs[choice].min(changed);
            }
        }
        if let Some(first) = first {
            for (choice, cost) in costs.iter_mut().enumerate() {
                *cost += if choice == first { 0.0 } else { between };
            }
        }
        let last = index_of_least(&costs);
        if costs[last] < best.0 {
            best = (costs[last], traced(&from, last));
        }
    }
    best.1
}

fn index_of_least(costs: &[f64]) -> usize {
    let least = (0..costs.len()).min_by(|&one, &other| costs[one].total_cmp(&costs[other]));
    least.expect("invariant: there is a choice")
}

/// The choices that led to the last one.
fn traced(from: &[Vec<usize>], last: usize) -> Vec<usize> {
    let mut choices = vec![last];
    let mut choice = last;
    for from in from.iter().skip(1).rev() {
        choice = from[choice];
        choices.push(choice);
    }
    choices.reverse();
    choices
}

/// Half the width of the 95 % interval of a plan \[s\]: the machine's terms are the same in all
/// phases, so what they do to the phases adds up; each phase's own terms have errors of their own.
fn half_width(parameters: &Parameters, phases: &[Parameters], m: u32, ps: &[u32]) -> f64 {
    let mut of_machine: Vec<(Entry, f64)> = Vec::new();
    let mut variance = 0.0;
    for (phase, &p) in phases.iter().zip(ps) {
        let (shared, own): (Vec<_>, Vec<_>) = phase
            .gradient(Mapping::of(m, p))
            .into_iter()
            .partition(|(entry, _)| is_of_machine(*entry));
        variance += phase.propagated(&own).half_width().powi(2);
        for (entry, slope) in shared {
            match of_machine.iter_mut().find(|(known, _)| *known == entry) {
                Some((_, sum)) => *sum += slope,
                None => of_machine.push((entry, slope)),
            }
        }
    }
    variance += parameters.propagated(&of_machine).half_width().powi(2);
    variance.sqrt()
}

/// Whether a phase has this entry from the machine rather than of its own.
fn is_of_machine(entry: Entry) -> bool {
    use Term::*;
    matches!(entry.term, OffloadOverhead | ContextSwitch | Alpha | CollectiveCost)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::models::parameters::{Decomposition, Estimate, OverM, Phase, Terms};

    /// The least cost of all combinations, the plainest way there is.
    fn brute_force(times: &[Vec<f64>], changes: Changes) -> f64 {
        let choices = times[0].len();
        let combinations = choices.pow(times.len() as u32);
        let cost = |combination: usize| {
            let picked: Vec<usize> = (0..times.len())
                .map(|phase| combination / choices.pow(phase as u32) % choices)
                .collect();
            cost(times, &picked, changes)
        };
        (0..combinations).map(cost).fold(f64::INFINITY, f64::min)
    }

    /// Walks through all rounds and counts.
    fn cost(times: &[Vec<f64>], picked: &[usize], changes: Changes) -> f64 {
        let walked: Vec<usize> = (0..changes.rounds).flat_map(|_| picked.iter().copied()).collect();
        let changed = walked.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let sum: f64 = picked.iter().zip(times).map(|(&choice, times)| times[choice]).sum();
        sum + changes.cost.0 * changed as f64
    }

    #[test]
    fn the_plan_is_the_cheapest_of_all_combinations() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(5);
        for _ in 0..2000 {
            let (phases, choices) = (random.random_range(1..6), random.random_range(1..6));
            let times: Vec<Vec<f64>> = (0..phases)
                .map(|_| (0..choices).map(|_| random.random::<f64>()).collect())
                .collect();
            let cost_of_change = random.random::<f64>() * [0.0, 0.05, 0.3, 2.0][choices % 4];
            let changes =
                Changes { cost: Seconds(cost_of_change), rounds: random.random_range(1..4) };
            let picked = cheapest(&times, changes);
            let expected = brute_force(&times, changes);
            approx::assert_relative_eq!(
                cost(&times, &picked, changes),
                expected,
                max_relative = 1e-12
            );
        }
    }

    /// A phase that many APUs help, and one that they hinder.
    fn two_phases() -> Parameters {
        let value = |value: f64| Estimate { std_error: Some(0.01), ..Estimate::exact(value) };
        let phase = |name: &str, t_apu_s: f64, g_s: f64| Phase {
            name: name.into(),
            t_hpu_s: value(0.0),
            t_apu_s: value(t_apu_s),
            c_apu_s: value(0.0),
            offloads: Estimate::exact(1.0),
            g_s: value(g_s),
            collectives: None,
        };
        let terms = Terms {
            t_hpu_s: value(0.0),
            t_apu_s: value(17.0),
            c_apu_s: value(0.0),
            offloads: Estimate::exact(2.0),
            o_offload_s: value(0.5),
            g_s: value(0.5),
            alpha: OverM::Constant(Estimate::exact(10.0)),
            ..Terms::nothing()
        };
        let phases = vec![phase("wide", 16.0, 0.0), phase("narrow", 1.0, 1.0)];
        Parameters { phases, ..Parameters::new("two", Decomposition::Data, 8, terms) }
    }

    #[test]
    fn a_phase_keeps_its_own_p_while_changes_are_cheap() {
        let parameters = two_phases();
        let max_one = Constraints::NONE.max_m(1);
        let plan = |cost: f64, rounds: u32| {
            let changes = Changes { cost: Seconds(cost), rounds };
            plan_phases(&parameters, &max_one, changes).unwrap().plans.remove(0)
        };
        // 16/8 + 0.5 and 1/1 + 1*1 + 0.5, and one change.
        let cheap = plan(0.25, 1);
        assert_eq!((cheap.ps.as_slice(), cheap.changes), ([8, 1].as_slice(), 1));
        approx::assert_relative_eq!(cheap.time.0, 2.5 + 2.5 + 0.25, max_relative = 1e-15);
        // Ten rounds change 19 times: a single p = 4 takes 4 + 4.25 + 1 = 9.25.
        let dear = plan(0.25, 10);
        assert_eq!((dear.ps.as_slice(), dear.changes), ([4, 4].as_slice(), 0));
        approx::assert_relative_eq!(dear.time.0, 9.25, max_relative = 1e-15);
        assert_eq!(dear.single, (4, dear.time));
        // Errors of 0.01: T_APU/8 and 8 g of the first; T_APU/1 and g of the second; T_HPU and
        // C_APU of both; the overhead of an off-load is one number in both.
        let sum = (1.0 / 64.0 + 64.0) + (1.0 + 1.0) + 2.0 * 2.0 + 2.0 * 2.0f64;
        let half_width = 1.959_963_985 * 0.01 * sum.sqrt();
        approx::assert_relative_eq!(cheap.high.0 - cheap.time.0, half_width, max_relative = 1e-9);
        approx::assert_relative_eq!(cheap.time.0 - cheap.low.0, half_width, max_relative = 1e-9);
    }

    #[test]
    fn parameters_without_phases_are_refused() {
        let mut parameters = two_phases();
        parameters.phases.clear();
        let changes = Changes { cost: Seconds(0.0), rounds: 1 };
        let error = plan_phases(&parameters, &Constraints::NONE, changes).unwrap_err();
        assert_eq!(
            error.to_string(),
            "phases: found none, expected [[phases]] in the parameter file"
        );
    }

    #[test]
    fn changes_are_counted_within_rounds_and_between_them() {
        // Within a round 0 -> 1 and 1 -> 2, between two rounds 2 -> 0.
        assert_eq!(changed(&[0, 1, 1, 2], 1), 2);
        assert_eq!(changed(&[0, 1, 1, 2], 5), 2 * 5 + 4);
        assert_eq!(changed(&[0, 1, 1, 0], 5), 2 * 5);
        assert_eq!(changed(&[3], 5), 0);
    }

    #[test]
    fn of_equal_plans_the_one_of_the_first_choice_is_taken() {
        let changes = Changes { cost: Seconds(0.5), rounds: 2 };
        assert_eq!(cheapest(&[vec![1.0; 3], vec![1.0; 3]], changes), [0, 0]);
    }

    #[test]
    fn a_phase_without_errors_of_its_own_is_named() {
        let changes = Changes { cost: Seconds(0.0), rounds: 1 };
        let said = |parameters: &Parameters| {
            let plans = plan_phases(parameters, &Constraints::NONE.max_m(1), changes).unwrap();
            let said: Vec<String> = plans.warnings.iter().map(ToString::to_string).collect();
            said.into_iter().filter(|it| it.contains("these phases")).collect::<Vec<_>>()
        };
        let mut parameters = two_phases();
        assert!(said(&parameters).is_empty());
        parameters.phases[1].t_apu_s.std_error = None;
        assert_eq!(
            said(&parameters),
            ["intervals know nothing of the uncertainty of narrow: these phases have no standard \
              errors of their own"]
        );
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        let with = |cost: f64, rounds: u32, phases: usize, widest: u64| {
            check(Changes { cost: Seconds(cost), rounds }, phases, widest)
        };
        // 20 phases times 10,000 squared steps.
        with(0.0, 1, 20, 10_000).unwrap();
        let refused = |given: Result<()>, name: &str| {
            let error = given.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}: found ")), "{error}");
        };
        refused(with(0.0, 1, 20, 10_001), "apus");
        refused(with(0.0, 0, 1, 1), "rounds");
        for cost in [-1.0, f64::INFINITY, f64::NAN] {
            refused(with(cost, 1, 1, 1), "change_cost");
        }
    }
}

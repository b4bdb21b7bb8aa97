//! A ranking that can be believed.

use std::collections::BTreeSet;

use mmgp::Mapping;
use mmgp::decide::Ranking;
use mmgp::table::Source;
use mmgp::table::csv;
use mmgp::table::records::Prediction;

/// Every configuration once, each time within its interval, probabilities that are some, regrets
/// that are not negative; and a table of it that is read back as the same.
pub fn check(ranking: &Ranking, mappings: &[Mapping]) -> Result<(), String> {
    let ranked: BTreeSet<Mapping> = ranking.configurations.iter().map(|it| it.mapping).collect();
    if ranked.len() != mappings.len() || ranking.configurations.len() != mappings.len() {
        return Err(format!("configurations ranked: {} of {}", ranked.len(), mappings.len()));
    }
    let mut certain = 0.0;
    for (it, rank) in ranking.configurations.iter().zip(1..) {
        let times = [it.low.0, it.time.0, it.high.0, it.expected_regret.0, it.regret_95.0];
        let others = [it.speedup, it.efficiency];
        let is_sound = times.iter().chain(&others).all(|it| it.is_finite() && *it >= 0.0)
            && it.low <= it.time
            && it.time <= it.high
            && it.probability_best.is_none_or(|it| (0.0..=1.0).contains(&it))
            && it.rank == rank;
        if !is_sound {
            return Err(format!("a configuration that cannot be: {it:?}"));
        }
        certain += it.probability_best.unwrap_or(0.0);
    }
    let has_probabilities = ranking.configurations.iter().all(|it| it.probability_best.is_some());
    // Several may be as fast in a draw.
    if has_probabilities && certain < 1.0 - 1e-9 {
        return Err(format!("probabilities that add up to less than all: {certain}"));
    }
    let rows: Vec<Prediction> = ranking.configurations.iter().map(Prediction::from).collect();
    let text = csv::write(&rows);
    match csv::read::<Prediction>(&Source::new("predictions.csv", &text)) {
        Ok((again, _)) if again == rows => {}
        Ok(_) => return Err(format!("predictions.csv is read otherwise: {text:?}")),
        Err(error) => return Err(format!("predictions.csv is not read: {error}: {text:?}")),
    }
    let said = format!("{}\n{}", ranking.choice, ranking.choice.advice().unwrap_or_default());
    super::written::no_odd_numbers(&said, "the choice")
}

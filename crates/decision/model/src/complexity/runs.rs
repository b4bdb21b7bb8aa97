//! What several runs say together.

use std::collections::BTreeSet;

use mmgp_base::error::Result;

use super::bound::Constants;
use super::counts::{Counts, QUANTITIES, Sizes};
use super::growth::{FEWEST_SIZES, Forms, Growth, short};
use super::steps::{Facts, Overlap, Told, Transfers};

/// Runs of one program at several sizes.
#[derive(Debug, Clone)]
pub struct Runs {
    counts: Vec<Counts>,
    /// As many as [`QUANTITIES`]; none where there is one run.
    growths: Option<Vec<Growth>>,
    input: String,
}

impl Runs {
    /// Those, at least one; the last is the largest. `input` names the size of their input.
    ///
    /// # Errors
    /// [`Error::TooLittleData`](mmgp_base::Error::TooLittleData) where a size varies, but takes fewer
    /// than [`FEWEST_SIZES`] values.
    ///
    /// # Panics
    /// Without runs.
    pub fn new(counts: Vec<Counts>, input: &str) -> Result<Self> {
        assert!(!counts.is_empty(), "invariant: there are runs");
        let sizes: Vec<Sizes> = counts.iter().map(|counts| counts.sizes.clone()).collect();
        let growths = match &counts[..] {
            [_] => None,
            _ => Some(Forms::of(&sizes)?),
        };
        let growth = |forms: &Forms| -> Result<Vec<Growth>> {
            let of = |count: fn(&Counts) -> f64| {
                forms.growth(&counts.iter().map(count).collect::<Vec<f64>>())
            };
            QUANTITIES.iter().map(|quantity| of(quantity.count)).collect()
        };
        let growths = growths.as_ref().map(growth).transpose()?;
        Ok(Self { counts, growths, input: input.into() })
    }

    /// What each of them executed.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// How each of the [`QUANTITIES`] grows; none where there is one run.
    pub fn growths(&self) -> Option<&[Growth]> {
        self.growths.as_deref()
    }

    /// The largest.
    pub fn largest(&self) -> &Counts {
        self.counts.last().expect("invariant: there are runs")
    }

    /// The sizes that all of them have in common.
    pub fn fixed(&self) -> Vec<&str> {
        let names = self.largest().sizes.names();
        names.filter(|name| self.values(name) == 1).collect()
    }

    /// How many values a size takes.
    fn values(&self, name: &str) -> usize {
        let all = self.counts.iter().filter_map(|counts| counts.sizes.of(name));
        all.map(f64::to_bits).collect::<BTreeSet<u64>>().len()
    }

    /// What the procedure asks about them, with numbers from the largest.
    pub fn facts(&self, constants: &Constants) -> Facts {
        let largest = self.largest();
        let Counts { meanwhile, most_outstanding, mean_outstanding, .. } = *largest;
        let by_size: Vec<(f64, f64)> =
            largest.by_size.iter().map(|requests| (requests.bytes, requests.count)).collect();
        let overlap = Overlap { meanwhile, most: most_outstanding, mean: mean_outstanding };
        Facts {
            at: largest.sizes.clone(),
            input: self.input.clone(),
            host: self.told("host_cycles"),
            accelerator: self.told("instructions"),
            accelerator_unit: "instructions",
            requests: self.told("requests"),
            transfers: Transfers::of(&by_size, constants),
            per_request: self.told("per_request"),
            overlap: Some(overlap),
            branches: self.told("branches"),
            wrong: self.told("wrong"),
            cycles: largest.busy,
        }
    }

    /// What is told of the quantity of that name.
    fn told(&self, name: &str) -> Told {
        let number = QUANTITIES.iter().position(|quantity| quantity.name == name);
        let number = number.expect("invariant: the names are those of the list");
        let value = (QUANTITIES[number].count)(self.largest());
        let at = &self.largest().sizes;
        match &self.growths {
            None => Told { text: short(value), value, grows: None },
            Some(growths) => {
                let growth = &growths[number];
                let varies = self.values(&self.input) >= FEWEST_SIZES;
                let grows = varies.then(|| growth.grows_with(&self.input, at));
                let about = if growth.is_poor() { "about " } else { "" };
                Told { text: format!("{about}{growth}"), value, grows }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complexity::counts::Requests;
    use mmgp_base::units::{BytesPerSecond, Hertz, Seconds};

    const CONSTANTS: Constants = Constants {
        clock: Hertz(3.2e9),
        latency: Seconds(90e-9),
        memory: BytesPerSecond(22e9),
        accelerator: BytesPerSecond(14e9),
        line: 128.0,
        penalty: 18.0,
        double_block: 6.0,
    };

    /// A program that streams n numbers in blocks of 2 KB, 256 numbers each, ten instructions and
    /// eleven cycles for each number, and one hinted branch that is wrong once a block.
    fn streaming(n: f64, p: f64) -> Counts {
        let blocks = n / 256.0 / p;
        Counts {
            sizes: Sizes::new([("n", n), ("p", p)]),
            even: 6.0 * n / p,
            odd: 4.0 * n / p,
            busy: 11.0 * n / p,
            requests: blocks,
            by_size: vec![Requests { direction: "get", bytes: 2048.0, count: blocks }],
            branches: n / p,
            wrong: blocks,
            host: 1000.0,
            ..Counts::default()
        }
    }

    #[test]
    fn the_triplet_of_a_program_that_streams_is_found() {
        let sizes = [1.0, 2.0, 4.0].map(|times| times * 65536.0);
        let all = sizes.iter().flat_map(|&n| [1.0, 2.0, 4.0].map(|p| streaming(n, p)));
        let runs = Runs::new(all.collect(), "n").unwrap();
        let facts = runs.facts(&CONSTANTS);
        assert_eq!((facts.host.text.as_str(), facts.host.grows), ("1000", Some(false)));
        assert_eq!(facts.accelerator.text, "10 n/p");
        // 1/256 requests and branches, 11 x 256 cycles for each.
        assert_eq!(
            (facts.requests.text.as_str(), facts.requests.grows),
            ("0.003906 n/p", Some(true))
        );
        assert_eq!(
            (facts.per_request.text.as_str(), facts.per_request.grows),
            ("2816", Some(false))
        );
        assert_eq!(
            (facts.branches.text.as_str(), facts.wrong.text.as_str()),
            ("n/p", "0.003906 n/p")
        );
        assert_eq!(facts.transfers.map(|it| (it.mean, it.short)), Some((2048.0, 0.0)));
        assert_eq!(facts.at.to_string(), "n = 262144, p = 4");
    }

    #[test]
    fn one_run_has_counts_and_no_growth() {
        let runs = Runs::new(vec![streaming(65536.0, 1.0)], "n").unwrap();
        assert!(runs.growths().is_none());
        let facts = runs.facts(&CONSTANTS);
        assert_eq!((facts.requests.text.as_str(), facts.requests.grows), ("256", None));
        assert_eq!(runs.fixed(), ["n", "p"]);
        let two = vec![streaming(1000.0, 1.0), streaming(2000.0, 1.0)];
        assert!(Runs::new(two, "n").is_err());
    }
}

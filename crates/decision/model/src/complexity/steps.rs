//! The procedure of four steps, with numbers.
//!
//! 1. T_C.
//! 2. T_D: where it is constant, computation dominates whatever a request takes. Else the sizes of
//!    the transfers matter.
//! 3. An accelerator computes while it waits. Where the computation for each request grows with the
//!    input, latency can be hidden; where it is constant, ceil((L + C)/C) buffers hide it.
//! 4. T_B: keep it small, or make branches predictable.
//!
//! [`CountedRuns`] says what several runs tell together.

use super::bound::Constants;
use super::growth::{FEWEST_SIZES, Forms, Growth, short};
use super::{Counts, QUANTITIES, Sizes};
use mmgp_base::error::Result;

/// What is known of an algorithm, from runs or from formulas.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The sizes at which the numbers below are taken: the largest of the runs.
    pub at: Sizes,
    /// The name of the size of the input.
    pub input: String,
    /// Cycles of the host.
    pub host: Fact,
    /// Instructions of the accelerator that does most; by formulas, its cycles.
    pub accelerator: Fact,
    /// What those are.
    pub accelerator_unit: &'static str,
    /// Requests of that accelerator.
    pub requests: Fact,
    /// Their sizes; none without requests.
    pub transfers: Option<Transfers>,
    /// Cycles that it computes for each request.
    pub per_request: Fact,
    /// What overlapped in the run; none by formulas.
    pub overlap: Option<Overlap>,
    /// Conditional branches of that accelerator.
    pub branches: Fact,
    /// Branches that pay the penalty.
    pub wrong: Fact,
    /// Cycles of that accelerator, of which wrong branches take a part.
    pub cycles: f64,
}

/// A quantity: how it is written, what it is, and whether it grows with the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// A growth with constants, or a formula.
    pub text: String,
    /// Value at the sizes.
    pub value: f64,
    /// Whether it becomes larger with the input; unknown where that was one size.
    pub grows: Option<bool>,
}

/// The sizes of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfers {
    /// The smallest \[bytes\].
    pub smallest: f64,
    /// The largest \[bytes\].
    pub largest: f64,
    /// The mean \[bytes\].
    pub mean: f64,
    /// The part of them that is shorter than a line.
    pub short: f64,
}

/// How requests and computation overlapped in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// Cycles computed between a request and its completion, as a mean.
    pub meanwhile: f64,
    /// The most requests under way at once.
    pub most: f64,
    /// The mean number while there was any.
    pub mean: f64,
}

/// How many requests must be under way so that the latency is hidden behind the computation for
/// each: ceil((L + C)/C); none where nothing is computed.
pub fn buffers(latency: f64, computation: f64) -> Option<f64> {
    (computation > 0.0).then(|| ((latency + computation) / computation).ceil())
}

impl Facts {
    /// The four steps in words.
    pub fn steps(&self, constants: &Constants) -> [String; 4] {
        [
            self.computation(),
            self.transfers(constants),
            self.hiding(constants),
            self.branching(constants),
        ]
    }

    fn computation(&self) -> String {
        let Self { host, accelerator, accelerator_unit, at, .. } = self;
        format!(
            "T_C: the host {} cycles, an SPE {} {accelerator_unit} ({} and {} at {at}).",
            host.text,
            accelerator.text,
            short(host.value),
            short(accelerator.value),
        )
    }

    fn transfers(&self, constants: &Constants) -> String {
        let Self { requests, input, .. } = self;
        let Some(transfers) = self.transfers else {
            return "T_D = 0: no requests, so that computation is all there is.".into();
        };
        let Transfers { smallest, largest, mean, short: part } = transfers;
        let sizes = if smallest == largest {
            format!("Each moves {} bytes", short(mean))
        } else {
            let (smallest, largest, mean) = (short(smallest), short(largest), short(mean));
            format!("They move {smallest} to {largest} bytes, {mean} as a mean")
        };
        let lines = match part {
            0.0 => String::new(),
            _ => format!(
                "; {:.0} % are shorter than a line of {} bytes and cost a whole one",
                100.0 * part,
                constants.line
            ),
        };
        let growth = match requests.grows {
            Some(true) => format!("It grows with {input}, so the transfers matter."),
            Some(false) => format!(
                "It does not grow with {input}: for a large input computation dominates, and the \
                 latency can be ignored."
            ),
            None => format!("One {input} does not tell whether it grows."),
        };
        format!("T_D = {} requests of an SPE. {growth} {sizes}{lines}.", requests.text)
    }

    fn hiding(&self, constants: &Constants) -> String {
        let (latency, Fact { text, value, grows }) =
            (constants.latency_cycles(), &self.per_request);
        if self.transfers.is_none() {
            return "Between a request and its completion: there is none.".into();
        }
        let Some(buffers) = buffers(latency, *value) else {
            return "For each request nothing is computed: no number of buffers hides it.".into();
        };
        let input = &self.input;
        let growth = match grows {
            Some(true) => format!("grows with {input}, so that the latency can be hidden"),
            Some(false) => format!("does not grow with {input}"),
            None => format!("may grow with {input} or not: there is one"),
        };
        let overlap = self.overlap.map_or(String::new(), |Overlap { meanwhile, most, mean }| {
            format!(
                " In the run {} of these cycles lay between a request and its completion, with {} \
                 requests under way at most and {} as a mean.",
                short(meanwhile),
                short(most),
                short(mean)
            )
        });
        format!(
            "For each request an SPE computes C = {text} cycles ({} here), which {growth}. A request \
             takes L = {} cycles, so that ceil((L + C)/C) = {buffers} must be under way.{overlap}",
            short(*value),
            short(latency)
        )
    }

    fn branching(&self, constants: &Constants) -> String {
        let Self { branches, wrong, cycles, .. } = self;
        let lost = wrong.value * constants.penalty;
        let part = if *cycles > 0.0 { 100.0 * lost / cycles } else { 0.0 };
        format!(
            "T_B = {} conditional branches of an SPE. {} branches go wrong, at {} cycles each: \
             {part:.1} % of its cycles.",
            branches.text, wrong.text, constants.penalty
        )
    }
}

/// Runs of one program at several sizes.
#[derive(Debug, Clone)]
pub struct CountedRuns {
    counts: Vec<Counts>,
    /// Growths of all [`QUANTITIES`]; none where there is one run.
    growths: Option<Vec<Growth>>,
    input: String,
}

impl CountedRuns {
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
        Sizes::values(self.counts.iter().map(|counts| &counts.sizes), name)
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
    fn told(&self, name: &str) -> Fact {
        let number = QUANTITIES.iter().position(|quantity| quantity.name == name);
        let number = number.expect("invariant: the names are those of the list");
        let value = (QUANTITIES[number].count)(self.largest());
        let at = &self.largest().sizes;
        match &self.growths {
            None => Fact { text: short(value), value, grows: None },
            Some(growths) => {
                let growth = &growths[number];
                let varies = self.values(&self.input) >= FEWEST_SIZES;
                let grows = varies.then(|| growth.grows_with(&self.input, at));
                let about = if growth.is_poor() { "about " } else { "" };
                Fact { text: format!("{about}{growth}"), value, grows }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complexity::Requests;
    use crate::complexity::bound::tests::CELL;

    #[test]
    fn list_ranking_needs_five_buffers_where_latency_is_288_cycles_and_computation_75() {
        // (288 + 75) / 75 = 4.84.
        assert_eq!(buffers(288.0, 75.0), Some(5.0));
        assert_eq!(buffers(288.0, 288.0), Some(2.0));
        assert_eq!(buffers(288.0, 1e9), Some(2.0));
        assert_eq!(buffers(288.0, 0.0), None);
    }

    fn told(text: &str, value: f64, grows: Option<bool>) -> Fact {
        Fact { text: text.into(), value, grows }
    }

    fn facts() -> Facts {
        Facts {
            at: Sizes::new([("n", 1000.0), ("p", 8.0)]),
            input: "n".into(),
            host: told("64", 64.0, Some(false)),
            accelerator: told("75 n/p", 9375.0, Some(true)),
            accelerator_unit: "cycles",
            requests: told("n/p", 125.0, Some(true)),
            transfers: Some(Transfers { smallest: 16.0, largest: 16.0, mean: 16.0, short: 1.0 }),
            per_request: told("75", 75.0, Some(false)),
            overlap: Some(Overlap { meanwhile: 75.0, most: 4.0, mean: 3.5 }),
            branches: told("2 n/p", 250.0, Some(true)),
            wrong: told("0.1 n/p", 12.5, Some(true)),
            cycles: 9375.0,
        }
    }

    #[test]
    fn the_steps_tell_what_the_numbers_say() {
        let [one, two, three, four] = facts().steps(&CELL);
        let first =
            "T_C: the host 64 cycles, an SPE 75 n/p cycles (64 and 9375 at n = 1000, p = 8).";
        assert_eq!(one, first);
        assert!(
            two.contains(
                "It grows with n, so the transfers matter. Each moves 16 bytes; 100 % are"
            )
        );
        assert!(three.contains("which does not grow with n. A request takes L = 288 cycles"));
        assert!(three.contains("ceil((L + C)/C) = 5 must be under way. In the run 75 of these"));
        // 12.5 x 18 of 9,375 cycles.
        assert!(four.contains("0.1 n/p branches go wrong, at 18 cycles each: 2.4 % of"), "{four}");
        let constant = Facts { requests: told("12", 12.0, Some(false)), ..facts() };
        assert!(constant.steps(&CELL)[1].contains("computation dominates"));
        let none = Facts { transfers: None, ..facts() };
        assert!(none.steps(&CELL)[1].starts_with("T_D = 0"));
    }

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
        let runs = CountedRuns::new(all.collect(), "n").unwrap();
        let facts = runs.facts(&CELL);
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
        let runs = CountedRuns::new(vec![streaming(65536.0, 1.0)], "n").unwrap();
        assert!(runs.growths().is_none());
        let facts = runs.facts(&CELL);
        assert_eq!((facts.requests.text.as_str(), facts.requests.grows), ("256", None));
        assert_eq!(runs.fixed(), ["n", "p"]);
        let two = vec![streaming(1000.0, 1.0), streaming(2000.0, 1.0)];
        assert!(CountedRuns::new(two, "n").is_err());
    }
}

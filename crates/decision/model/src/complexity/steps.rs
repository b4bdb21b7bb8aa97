//! The procedure of four steps, with numbers.
//!
//! 1. T_C.
//! 2. T_D: where it is constant, computation dominates whatever a request takes. Else the sizes of
//!    the transfers matter.
//! 3. An accelerator computes while it waits. Where the computation for each request grows with the
//!    input, latency can be hidden; where it is constant, ceil((L + C)/C) buffers hide it.
//! 4. T_B: keep it small, or make branches predictable.

use super::bound::Constants;
use super::counts::Sizes;
use super::growth::short;

/// What is known of an algorithm, from runs or from formulas.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The sizes at which the numbers below are taken: the largest of the runs.
    pub at: Sizes,
    /// The name of the size of the input.
    pub input: String,
    /// Cycles of the host.
    pub host: Told,
    /// Instructions of the accelerator that does most; by formulas, its cycles.
    pub accelerator: Told,
    /// What those are.
    pub accelerator_unit: &'static str,
    /// Its requests.
    pub requests: Told,
    /// Their sizes; none without requests.
    pub transfers: Option<Transfers>,
    /// Cycles that it computes for each request.
    pub per_request: Told,
    /// What overlapped in the run; none by formulas.
    pub overlap: Option<Overlap>,
    /// Its conditional branches.
    pub branches: Told,
    /// Branches that pay the penalty.
    pub wrong: Told,
    /// All its cycles, of which wrong branches take a part.
    pub cycles: f64,
}

/// A quantity: how it is written, what it is, and whether it grows with the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// A growth with constants, or a formula.
    pub text: String,
    /// Its value at the sizes.
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
        let (latency, Told { text, value, grows }) =
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

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::{BytesPerSecond, Hertz, Seconds};

    #[test]
    fn list_ranking_needs_five_buffers_where_latency_is_288_cycles_and_computation_75() {
        // (288 + 75) / 75 = 4.84.
        assert_eq!(buffers(288.0, 75.0), Some(5.0));
        assert_eq!(buffers(288.0, 288.0), Some(2.0));
        assert_eq!(buffers(288.0, 1e9), Some(2.0));
        assert_eq!(buffers(288.0, 0.0), None);
    }

    fn told(text: &str, value: f64, grows: Option<bool>) -> Told {
        Told { text: text.into(), value, grows }
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
        let constants = Constants {
            clock: Hertz(3.2e9),
            latency: Seconds(90e-9),
            memory: BytesPerSecond(22e9),
            accelerator: BytesPerSecond(14e9),
            line: 128.0,
            penalty: 18.0,
            double_block: 6.0,
        };
        let [one, two, three, four] = facts().steps(&constants);
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
        assert!(constant.steps(&constants)[1].contains("computation dominates"));
        let none = Facts { transfers: None, ..facts() };
        assert!(none.steps(&constants)[1].starts_with("T_D = 0"));
    }
}

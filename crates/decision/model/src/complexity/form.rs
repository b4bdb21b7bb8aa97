//! The forms by which a count may grow: products of powers of the sizes and of their logarithms.

use std::fmt;

use super::counts::Sizes;

/// A product of factors; of none, 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form(Vec<Factor>);

/// A power of a size, times its logarithm or not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Factor {
    size: String,
    power: i32,
    logarithm: bool,
}

/// Powers and logarithms of the first size, that of the input.
const OF_INPUT: [(i32, bool); 6] =
    [(0, false), (0, true), (1, false), (1, true), (2, false), (3, false)];
/// Of the number of processors.
const OF_PROCESSORS: [(i32, bool); 4] = [(0, false), (-1, false), (1, false), (0, true)];
/// Of other sizes, as of a buffer.
const OF_OTHERS: [(i32, bool); 4] = [(0, false), (-1, false), (1, false), (-2, false)];

/// More factors than in n^2/(p b^2) are in no form.
const MOST_FACTORS: usize = 3;

impl Form {
    /// All forms over sizes of these names, of which `p` counts processors and the first other is
    /// that of the input; the simple ones first.
    pub fn all<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let mut forms = vec![Self(Vec::new())];
        let mut has_input = false;
        for name in names {
            let powers: &[_] = match name {
                "p" => &OF_PROCESSORS,
                _ if has_input => &OF_OTHERS,
                _ => &OF_INPUT,
            };
            has_input |= name != "p";
            let with = |form: &Self| -> Vec<Self> {
                powers
                    .iter()
                    .map(|&(power, logarithm)| form.times(name, power, logarithm))
                    .collect()
            };
            forms = forms.iter().flat_map(with).collect();
        }
        forms.retain(|form| form.0.len() <= MOST_FACTORS);
        forms.sort_by_key(Self::cost);
        forms
    }

    fn times(&self, name: &str, power: i32, logarithm: bool) -> Self {
        let mut factors = self.0.clone();
        if power != 0 || logarithm {
            factors.push(Factor { size: name.into(), power, logarithm });
        }
        Self(factors)
    }

    /// How far from simple it is.
    pub fn cost(&self) -> u32 {
        let of = |factor: &Factor| factor.power.unsigned_abs() + u32::from(factor.logarithm);
        self.0.iter().map(of).sum()
    }

    /// Its value at these sizes; none where one of its sizes is not among them, or where it is not
    /// finite there.
    pub fn at(&self, sizes: &Sizes) -> Option<f64> {
        let mut value = 1.0;
        for Factor { size, power, logarithm } in &self.0 {
            let size = sizes.of(size)?;
            value *= size.powi(*power) * if *logarithm { size.log2() } else { 1.0 };
        }
        value.is_finite().then_some(value)
    }

    /// Whether it becomes larger with the size of that name.
    pub fn grows_with(&self, name: &str) -> bool {
        let grows = |factor: &Factor| factor.power > 0 || factor.power == 0 && factor.logarithm;
        self.0.iter().any(|factor| factor.size == name && grows(factor))
    }
}

/// `1`, `n log n`, `n/p`, `n^2/(p b^2)`.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = |size: &str, power: u32| match power {
            1 => size.to_string(),
            _ => format!("{size}^{power}"),
        };
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for factor in &self.0 {
            let magnitude = factor.power.unsigned_abs();
            if factor.power < 0 {
                below.push(power(&factor.size, magnitude));
            } else if factor.power > 0 {
                above.push(power(&factor.size, magnitude));
            }
            if factor.logarithm {
                above.push(format!("log {}", factor.size));
            }
        }
        let above = if above.is_empty() { "1".into() } else { above.join(" ") };
        match &below[..] {
            [] => f.write_str(&above),
            [only] => write!(f, "{above}/{only}"),
            _ => write!(f, "{above}/({})", below.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Form {
        let all = Form::all(["n", "p", "b", "s"]);
        all.into_iter().find(|form| form.to_string() == text).expect("it is a form")
    }

    fn check(text: &str, by_hand: f64) {
        let sizes = Sizes::new([("n", 64.0), ("p", 4.0), ("b", 2.0), ("s", 32.0)]);
        assert_eq!(form(text).at(&sizes), Some(by_hand), "{text}");
    }

    #[test]
    fn a_form_has_the_value_that_it_shows() {
        check("1", 1.0);
        check("n", 64.0);
        check("log n", 6.0);
        check("n log n", 384.0);
        check("n/p", 16.0);
        check("n^2/p", 1024.0);
        check("n^3/p", 65536.0);
        check("n^2/(p b^2)", 256.0);
        check("n b/s", 4.0);
    }

    #[test]
    fn a_form_knows_what_it_grows_with() {
        assert!(form("n b/s").grows_with("n") && form("log n").grows_with("n"));
        assert!(!form("n/p").grows_with("p") && !form("1").grows_with("n"));
    }
}

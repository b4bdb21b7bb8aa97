//! How a count grows with the sizes of the runs.
//!
//! Counts are held against each [`GrowthForm`] and against each sum of two, with coefficients that are
//! not negative, by their relative errors. A fit is judged by runs that it has not seen: each is left
//! out in turn. Of those that are nearly as good as the best the simplest is taken, and two terms
//! only where they halve the error of one.

use std::fmt;

use mmgp_base::error::{Error, Result};
use nalgebra::DMatrix;

use crate::statistics::Design;

use super::{GrowthForm, Sizes};

/// How a count grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Terms, two at most; none where the count was 0 in all runs.
    pub terms: Vec<GrowthTerm>,
    /// Root mean square of the relative errors at runs that were left out; 0 without terms.
    pub error: f64,
    /// Other growths that fit nearly as well and whose largest term is another, the simplest first,
    /// without coefficients.
    pub rivals: Vec<Vec<GrowthForm>>,
}

/// A term of a growth.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthTerm {
    /// How it grows.
    pub form: GrowthForm,
    /// What it is multiplied by.
    pub coefficient: f64,
    /// Standard error of that.
    pub std_error: f64,
    /// Forms that the sizes of the runs cannot tell from it.
    pub alike: Vec<GrowthForm>,
}

/// Values that a size must have taken before its part in a growth is looked for.
pub const FEWEST_SIZES: usize = 3;

/// Errors that a fit does not fall below: what is left of exact counts by rounding.
const EXACT: f64 = 1e-9;

/// Errors of two fits that are told apart: one that exceeds the other by this factor.
const NEARLY: f64 = 1.25;

/// Factor by which a second term must bring the error down.
const WORTH_A_TERM: f64 = 0.5;

/// Relative difference below which only one of two forms is tried.
const ALIKE: f64 = 1e-9;

/// Most rivals that are named.
const MOST_RIVALS: usize = 3;

/// The forms that the sizes of some runs can tell apart.
pub struct Forms {
    forms: Vec<FormCandidate>,
}

/// A form with its values at all runs, and those that have the same there up to a factor.
struct FormCandidate {
    form: GrowthForm,
    values: Vec<f64>,
    alike: Vec<GrowthForm>,
}

/// A fit of one or two candidates.
#[derive(Debug, Clone)]
struct Fit {
    /// Numbers of the candidates; the second is the first where there is one term.
    of: (usize, usize),
    coefficients: Vec<f64>,
    std_errors: Vec<f64>,
    left_out: f64,
    cost: u32,
}

impl Forms {
    /// Forms over all names that the sizes of these runs have.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] where a size takes two values, or all take but one.
    pub fn of(sizes: &[Sizes]) -> Result<Self> {
        let names: Vec<&str> = sizes.first().map_or_else(Vec::new, |first| first.names().collect());
        check(sizes, &names)?;
        let mut forms: Vec<FormCandidate> = Vec::new();
        for form in GrowthForm::all(names) {
            let values: Option<Vec<f64>> = sizes.iter().map(|sizes| form.at(sizes)).collect();
            let Some(values) = values.filter(|values| values.iter().any(|&value| value != 0.0))
            else {
                continue;
            };
            match forms.iter_mut().find(|known| are_alike(&known.values, &values)) {
                Some(known) => known.alike.push(form),
                None => forms.push(FormCandidate { form, values, alike: Vec::new() }),
            }
        }
        Ok(Self { forms })
    }

    /// How a count grows that was so much in each of the runs.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] where no form can be judged, as there are too few runs.
    pub fn growth(&self, counts: &[f64]) -> Result<Growth> {
        if counts.iter().all(|&count| count == 0.0) {
            return Ok(Growth { terms: Vec::new(), error: 0.0, rivals: Vec::new() });
        }
        let weights = weights(counts);
        let all = 0..self.forms.len();
        let fit = |of| self.fit(of, counts, &weights);
        let singles = all.clone().filter_map(|one| fit((one, one))).collect();
        let pairs =
            all.clone().flat_map(|one| (one + 1..self.forms.len()).map(move |two| (one, two)));
        let pairs = pairs.filter_map(fit).collect();
        let (Some(single), pair) = (FitChoice::among(singles), FitChoice::among(pairs)) else {
            return Err(Error::too_little(
                "the runs",
                format!("{} of them", counts.len()),
                "let each size take one value more",
            ));
        };
        let worth = |pair: &FitChoice| {
            single.best.left_out > EXACT && pair.best.left_out < WORTH_A_TERM * single.best.left_out
        };
        let FitChoice { best, rivals } = pair.filter(worth).unwrap_or(single);
        let leading = self.leading(&best);
        let rivals = rivals.iter().filter(|rival| self.leading(rival) != leading);
        let rivals = rivals.map(|rival| self.forms_of(rival)).take(MOST_RIVALS).collect();
        Ok(Growth { terms: self.terms(&best), error: best.left_out, rivals })
    }

    /// The candidate of a fit that makes up most of it in the last run.
    fn leading(&self, fit: &Fit) -> usize {
        let part = |(number, coefficient): (usize, &f64)| {
            let value = self.forms[number].values.last().copied().unwrap_or(0.0);
            (number, coefficient * value)
        };
        let parts = [fit.of.0, fit.of.1].into_iter().zip(&fit.coefficients).map(part);
        let most = parts.max_by(|(_, one), (_, other)| one.total_cmp(other));
        most.map_or(fit.of.0, |(number, _)| number)
    }

    fn forms_of(&self, fit: &Fit) -> Vec<GrowthForm> {
        let all = self.terms(fit).into_iter();
        all.map(|term| term.form).collect()
    }

    fn terms(&self, fit: &Fit) -> Vec<GrowthTerm> {
        let numbers = [fit.of.0, fit.of.1];
        let found = fit.coefficients.iter().zip(&fit.std_errors);
        let term = |(number, (&coefficient, &std_error)): (usize, (&f64, &f64))| {
            let FormCandidate { form, alike, .. } = &self.forms[number];
            GrowthTerm { form: form.clone(), coefficient, std_error, alike: alike.clone() }
        };
        numbers.into_iter().zip(found).map(term).collect()
    }

    /// The least squares of the relative errors; none where a coefficient would be negative, or a run
    /// could not be left out.
    fn fit(&self, of: (usize, usize), counts: &[f64], weights: &[f64]) -> Option<Fit> {
        let numbers = [of.0, of.1];
        let terms = if of.0 == of.1 { 1 } else { 2 };
        let columns = DMatrix::from_fn(counts.len(), terms, |run, term| {
            self.forms[numbers[term]].values[run]
        });
        let design = Design::new(columns, weights.iter().map(|weight| weight.powi(2)))?;
        let solution = design.solve(counts);
        let mut left_out = 0.0;
        for (residual, leverage) in solution.residuals.iter().zip(design.leverages()) {
            if leverage > 1.0 - INDISPENSABLE {
                return None;
            }
            left_out += (residual / (1.0 - leverage)).powi(2);
        }
        let runs = counts.len() as f64;
        let variance = solution.squares() / (runs - terms as f64);
        if solution.coefficients.iter().any(|&it| it <= 0.0) {
            return None;
        }
        let std_errors = design.variances().iter().map(|it| (variance * it).sqrt()).collect();
        let costs = numbers.map(|number| self.forms[number].form.cost());
        Some(Fit {
            of,
            coefficients: solution.coefficients,
            std_errors,
            left_out: (left_out / runs).sqrt(),
            cost: costs[..terms].iter().sum(),
        })
    }
}

/// A run that is fitted by itself but for less than this cannot be left out.
const INDISPENSABLE: f64 = 1e-8;

/// The best of several fits, and those nearly as good.
struct FitChoice {
    best: Fit,
    rivals: Vec<Fit>,
}

impl FitChoice {
    /// The simplest of those that are nearly as good as the best.
    fn among(mut fits: Vec<Fit>) -> Option<Self> {
        let least = fits.iter().map(|fit| fit.left_out).reduce(f64::min)?;
        fits.retain(|fit| fit.left_out <= NEARLY * least + EXACT);
        fits.sort_by(|one, other| {
            one.cost.cmp(&other.cost).then(one.left_out.total_cmp(&other.left_out))
        });
        let mut fits = fits.into_iter();
        let best = fits.next()?;
        Some(Self { best, rivals: fits.collect() })
    }
}

/// Weights of one over each count, so that relative errors count; over their mean where a count is 0.
fn weights(counts: &[f64]) -> Vec<f64> {
    let mean = counts.iter().map(|count| count.abs()).sum::<f64>() / counts.len() as f64;
    let weight = |&count: &f64| 1.0 / if count == 0.0 { mean } else { count.abs() };
    counts.iter().map(weight).collect()
}

fn norm(column: &[f64]) -> f64 {
    column.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Whether one is a multiple of the other.
fn are_alike(one: &[f64], other: &[f64]) -> bool {
    let (a, b) = (norm(one), norm(other));
    one.iter().zip(other).all(|(x, y)| (x / a - y / b).abs() <= ALIKE)
}

/// Refuses sizes that vary too little.
fn check(sizes: &[Sizes], names: &[&str]) -> Result<()> {
    let few = |found: String, more: usize, name: &str| {
        Error::too_little(
            "the runs",
            found,
            format!("a growth needs {FEWEST_SIZES} values of it: give {more} more, as in --{name}"),
        )
    };
    for name in names {
        let count = Sizes::values(sizes, name);
        if count > 1 && count < FEWEST_SIZES {
            let found = format!("{name} takes {count} values");
            return Err(few(found, FEWEST_SIZES - count, name));
        }
    }
    match names.first() {
        Some(first) if names.iter().all(|name| Sizes::values(sizes, name) == 1) => {
            Err(few(format!("{first} takes 1 value"), FEWEST_SIZES - 1, first))
        }
        _ => Ok(()),
    }
}

impl Growth {
    /// Whether no form fits well, so that what it says of larger sizes is worth little.
    pub fn is_poor(&self) -> bool {
        self.error > POOR
    }

    /// Value at these sizes.
    pub fn at(&self, sizes: &Sizes) -> f64 {
        let value = |term: &GrowthTerm| Some(term.coefficient * term.form.at(sizes)?);
        self.terms.iter().filter_map(value).sum()
    }

    /// Whether it becomes larger with the size of that name: by a term that is at least a twentieth
    /// of it at these sizes.
    pub fn grows_with(&self, name: &str, at: &Sizes) -> bool {
        let whole = self.at(at);
        let counts = |term: &&GrowthTerm| {
            term.form.at(at).is_some_and(|value| term.coefficient * value >= NOTICEABLE * whole)
        };
        self.terms.iter().filter(counts).any(|term| term.form.grows_with(name))
    }
}

/// The error from which on a growth is poor.
pub const POOR: f64 = 0.1;

/// The part of a count that a term must make up to be noticed.
const NOTICEABLE: f64 = 0.05;

/// `1.2e3 + 96.1 n/p`.
impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (index, GrowthTerm { form, coefficient, .. }) in self.terms.iter().enumerate() {
            let plus = if index == 0 { "" } else { " + " };
            let (form, coefficient) = (form.to_string(), short(*coefficient));
            match (form.strip_prefix('1'), coefficient.as_str()) {
                (Some(rest), _) => write!(f, "{plus}{coefficient}{rest}")?,
                (None, "1") => write!(f, "{plus}{form}")?,
                (None, _) => write!(f, "{plus}{coefficient} {form}")?,
            }
        }
        Ok(())
    }
}

/// A number in four digits, whole below a million, with an exponent where it is large or small.
pub fn short(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-3..1e6).contains(&magnitude) {
        let digits = if magnitude == 0.0 { 0 } else { magnitude.log10().floor() as i32 };
        let text = format!("{number:.*}", (3 - digits).clamp(0, 6) as usize);
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text,
        };
    }
    format!("{number:.3e}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Every combination of these sizes.
    fn grid(sizes: &[(&str, &[f64])]) -> Vec<Sizes> {
        let mut all = vec![Sizes::default()];
        for (name, values) in sizes {
            let with = |before: Sizes| {
                values.iter().map(move |&value| {
                    let mut sizes = before.clone();
                    sizes.set((*name).into(), value);
                    sizes
                })
            };
            all = all.into_iter().flat_map(with).collect();
        }
        all
    }

    const N: (&str, &[f64]) = ("n", &[1000.0, 2000.0, 4000.0, 8000.0]);
    const P: (&str, &[f64]) = ("p", &[1.0, 2.0, 4.0, 8.0]);
    const B: (&str, &[f64]) = ("b", &[1.0, 2.0, 4.0]);
    const S: (&str, &[f64]) = ("s", &[8.0, 32.0, 128.0]);

    /// The growth of what is generated with errors of one percent.
    fn generated(sizes: &[Sizes], truth: impl Fn(&Sizes) -> f64) -> Growth {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let noise = Normal::new(1.0, 0.01).unwrap();
        let counts: Vec<f64> =
            sizes.iter().map(|sizes| truth(sizes) * noise.sample(&mut random)).collect();
        Forms::of(sizes).unwrap().growth(&counts).unwrap()
    }

    fn check(
        sizes: &[Sizes],
        truth: impl Fn(&dyn Fn(&str) -> f64) -> f64,
        expected: &[(&str, f64)],
    ) {
        let growth = generated(sizes, |sizes| truth(&|name| sizes.of(name).unwrap()));
        let forms: Vec<String> = growth.terms.iter().map(|term| term.form.to_string()).collect();
        assert_eq!(forms, expected.iter().map(|(form, _)| *form).collect::<Vec<_>>(), "{growth}");
        for (term, (_, coefficient)) in growth.terms.iter().zip(expected) {
            let errors = (term.coefficient - coefficient).abs() / term.std_error;
            assert!(errors < 3.0, "{growth}: off by {errors} standard errors");
        }
        assert!(growth.error > 0.005 && growth.error < 0.02, "{}", growth.error);
    }

    #[test]
    fn a_growth_that_generated_the_counts_is_found() {
        let runs = grid(&[N, P]);
        check(&runs, |_| 700.0, &[("1", 700.0)]);
        check(&runs, |of| 3.0 * of("n"), &[("n", 3.0)]);
        check(&runs, |of| 3.0 * of("n") * of("n").log2(), &[("n log n", 3.0)]);
        check(&runs, |of| 12.0 * of("n") / of("p"), &[("n/p", 12.0)]);
        check(&runs, |of| 0.5 * of("n").powi(2) / of("p"), &[("n^2/p", 0.5)]);
        check(&runs, |of| 0.25 * of("n").powi(3) / of("p"), &[("n^3/p", 0.25)]);
        check(&runs, |of| 900.0 + 12.0 * of("n") / of("p"), &[("1", 900.0), ("n/p", 12.0)]);
        check(&runs, |of| 250e3 + 9e4 * of("p"), &[("1", 250e3), ("p", 9e4)]);
    }

    #[test]
    fn growths_over_further_sizes_are_found() {
        let product = grid(&[N, P, B]);
        let truth = |of: &dyn Fn(&str) -> f64| 2.0 * of("n").powi(2) / (of("p") * of("b").powi(2));
        check(&product, truth, &[("n^2/(p b^2)", 2.0)]);
        let ranking = grid(&[N, ("p", &[4.0]), B, S]);
        check(&ranking, |of| 1.5 * of("n") * of("b") / of("s"), &[("n b/s", 1.5)]);
    }

    #[test]
    fn what_the_runs_cannot_tell_apart_is_named() {
        let growth = generated(&grid(&[N, ("p", &[4.0])]), |sizes| 5.0 * sizes.of("n").unwrap());
        let [GrowthTerm { form, alike, .. }] = &growth.terms[..] else {
            panic!("one term: {growth}")
        };
        assert_eq!(form.to_string(), "n");
        let alike: Vec<String> = alike.iter().map(GrowthForm::to_string).collect();
        assert_eq!(alike, ["n/p", "n p", "n log p"]);
    }

    #[test]
    fn sizes_that_vary_too_little_are_an_error_that_says_how_many_more() {
        let refused = |n: &[f64], p: &[f64]| {
            let error = Forms::of(&grid(&[("n", n), ("p", p)])).err().expect("refused");
            error.to_string()
        };
        let advice = "a growth needs 3 values of it: give";
        let few = format!("the runs: n takes 2 values; {advice} 1 more, as in --n");
        assert_eq!(refused(&[1.0, 2.0], &[1.0, 2.0, 4.0]), few);
        let few = format!("the runs: p takes 2 values; {advice} 1 more, as in --p");
        assert_eq!(refused(&[1.0, 2.0, 4.0], &[1.0, 8.0]), few);
        let few = format!("the runs: n takes 1 value; {advice} 2 more, as in --n");
        assert_eq!(refused(&[100.0], &[4.0]), few);
    }

    #[test]
    fn exact_counts_leave_no_error_and_zeros_no_term() {
        let runs = grid(&[N, P]);
        let forms = Forms::of(&runs).unwrap();
        let counts: Vec<f64> =
            runs.iter().map(|it| 12.0 + 3.0 * it.of("n").unwrap() / it.of("p").unwrap()).collect();
        let growth = forms.growth(&counts).unwrap();
        assert_eq!(growth.to_string(), "12 + 3 n/p");
        assert!(growth.error < 1e-9, "{}", growth.error);
        let [GrowthTerm { coefficient, .. }, _] = growth.terms[..] else { panic!("two terms") };
        assert_relative_eq!(coefficient, 12.0, max_relative = 1e-6);
        assert!(growth.grows_with("n", &runs[0]) && !growth.grows_with("p", &runs[0]));
        assert_eq!(forms.growth(&vec![0.0; runs.len()]).unwrap().to_string(), "0");
    }

    #[test]
    fn the_error_of_runs_left_out_is_that_of_fitting_without_each() {
        // y = c n at n = 1, 2, 4: without the first c is the mean of 2 and 2, and so on.
        let runs = grid(&[("n", &[1.0, 2.0, 4.0])]);
        let counts = [1.0, 4.0, 8.0];
        let forms = Forms::of(&runs).unwrap();
        let linear = forms.forms.iter().position(|it| it.form.to_string() == "n").unwrap();
        let fit = forms.fit((linear, linear), &counts, &weights(&counts)).unwrap();
        // Rows n/y = 1, 1/2, 1/2 against 1; c = sum(n/y) / sum((n/y)^2) over the others.
        let without = |rows: [f64; 2]| (rows[0] + rows[1]) / (rows[0].powi(2) + rows[1].powi(2));
        let errors = [1.0 - without([0.5, 0.5]), 1.0 - 0.5 * without([1.0, 0.5])];
        let mean = (errors[0].powi(2) + 2.0 * errors[1].powi(2)) / 3.0;
        assert_relative_eq!(fit.left_out, mean.sqrt(), max_relative = 1e-12);
    }

    #[test]
    fn numbers_are_short() {
        let check = |number: f64, text: &str| assert_eq!(short(number), text);
        check(12.0, "12");
        check(12.3456, "12.35");
        check(0.0123456, "0.01235");
        check(999999.0, "999999");
        check(1234567.0, "1.235e6");
        check(0.0, "0");
    }
}

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

fn check(sizes: &[Sizes], truth: impl Fn(&dyn Fn(&str) -> f64) -> f64, expected: &[(&str, f64)]) {
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
    let [Term { form, alike, .. }] = &growth.terms[..] else { panic!("one term: {growth}") };
    assert_eq!(form.to_string(), "n");
    let alike: Vec<String> = alike.iter().map(Form::to_string).collect();
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
    let [Term { coefficient, .. }, _] = growth.terms[..] else { panic!("two terms") };
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

//! Arithmetic and conditions as people write them: `n^2 / (p * b)`, `m*p <= cores && p <= 8`.
//!
//! A parser of our own, because every mistake is to be shown where it stands, in the words of what
//! can be said here, and a condition is to be told from a number before it is used.

mod parser;

use parser::{Token, tokens};

/// A number or a condition over variables.
#[derive(Debug, Clone)]
pub struct Expression {
    steps: Vec<Step>,
}

/// A step of the evaluation. True is 1 and false is 0.
#[derive(Debug, Clone, Copy)]
enum Step {
    Number(f64),
    /// A variable, by its place among all.
    Variable(usize),
    /// A function of the last value.
    One(fn(f64) -> f64),
    /// An operator on the two last values.
    Two(Operator),
}

type Operator = fn(f64, f64) -> f64;

/// What an expression, or a part of one, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Such as `m*p`.
    Number,
    /// Such as `m < 4`.
    Truth,
}

/// The names that an expression may use.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// Names whose values come with each evaluation.
    pub variables: &'a [&'a str],
    /// Names that stand for a number.
    pub constants: &'a [(String, f64)],
}

/// What cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What stands there.
    pub found: String,
    /// The character at which it stands, from 1.
    pub at: usize,
    /// What would have been right.
    pub expected: String,
}

impl Mistake {
    fn new(found: &str, at: usize, expected: &str) -> Self {
        Self { found: found.into(), at, expected: expected.into() }
    }
}

/// Parentheses and signs within one another that are read; more could exhaust the stack.
const DEEPEST: u32 = 100;

impl Expression {
    /// Reads an expression of that kind. Numbers are `f64`, so that `/` divides with a remainder
    /// behind the point.
    pub fn parse(text: &str, kind: Kind, names: Names<'_>) -> Result<Self, Mistake> {
        Ok(Self { steps: parser::steps(text, kind, names)? })
    }

    /// The value where the variables have these; 1 and 0 for what is true and false.
    pub fn value(&self, variables: &[f64]) -> f64 {
        let mut values = [0.0; DEEPEST as usize];
        let mut more: Vec<f64>;
        // Each operand that waits for an operator needs a place, of which there are few.
        let values = if self.steps.len() <= values.len() {
            &mut values[..]
        } else {
            more = vec![0.0; self.steps.len()];
            &mut more[..]
        };
        let mut count = 0;
        for step in &self.steps {
            match *step {
                Step::One(function) => values[count - 1] = function(values[count - 1]),
                Step::Two(operator) => {
                    count -= 1;
                    values[count - 1] = operator(values[count - 1], values[count]);
                }
                Step::Number(number) => values[count] = number,
                Step::Variable(place) => values[count] = variables[place],
            }
            count += usize::from(matches!(step, Step::Number(_) | Step::Variable(_)));
        }
        values[0]
    }
}

/// Whether a text is one name, and no operator.
pub fn is_name(text: &str) -> bool {
    tokens(text).is_ok_and(|tokens| {
        matches!(&tokens[..], [(Token::Name(_), _), (Token::End, _)])
            && !["and", "or", "not"].contains(&text)
    })
}

/// The names in a text that may be an expression, without those of functions.
pub fn names_in(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words = text.split(|letter: char| !is_part(letter)).filter(|word| !word.is_empty());
    let is_of_expressions =
        |word: &&str| parser::is_function(word) || ["and", "or", "not"].contains(word);
    words
        .filter(|word| {
            !word.starts_with(|it: char| it.is_ascii_digit()) && !is_of_expressions(word)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a number over n = 64, p = 4 and the constant c = 0.5.
    fn check(text: &str, by_hand: f64) {
        let constants = [("c".to_string(), 0.5)];
        let names = Names { variables: &["n", "p"], constants: &constants };
        let number = Expression::parse(text, Kind::Number, names).expect("a good expression");
        assert_eq!(number.value(&[64.0, 4.0]), by_hand, "{text}");
    }

    fn refused(text: &str, found: &str, at: usize, expected: &str) {
        let names = Names { variables: &["n", "p"], constants: &[] };
        let mistake = Expression::parse(text, Kind::Number, names).expect_err("a mistake");
        assert_eq!(mistake, Mistake::new(found, at, expected), "{text}");
    }

    #[test]
    fn powers_bind_strongest_and_from_the_right() {
        check("n^2/p", 1024.0);
        check("2 * p^2", 32.0);
        check("-p^2", -16.0);
        check("2^3^2", 512.0);
        check("p^-1 * n", 16.0);
        check("(2 * p)^2", 64.0);
    }

    #[test]
    fn functions_take_one_or_two_numbers() {
        check("n * log(n)", 384.0);
        check("ln(1)", 0.0);
        check("ceil(n / 10) + floor(n / 10)", 13.0);
        check("max(n, p) - min(n, 2 * p)", 56.0);
        check("sqrt(n) * c", 4.0);
        refused("log n", "\"log\"", 1, "log( with a number in parentheses");
        refused("log()", "\")\"", 5, "n, p or a number");
        refused("max(n)", "\")\"", 6, "a comma and the second number of max");
        refused("min(n, p, 2)", "\",\"", 9, "an operator or )");
        refused("n < p", "a condition", 1, "a number");
    }
}

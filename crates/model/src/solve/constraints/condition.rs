//! Conditions on a mapping as people write them: `m*p <= cores && p <= 8`.
//!
//! A parser of our own, because every mistake is to be shown where it stands, in the words of what
//! can be said here, and a condition is to be told from a number before it is used.

mod parser;
mod tokens;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use parser::steps;
use tokens::{Token, tokens};

/// A condition on m, p and the number of nodes.
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    steps: Vec<Step>,
}

/// A step of the evaluation. True is 1 and false is 0.
#[derive(Debug, Clone, Copy)]
enum Step {
    Number(f64),
    M,
    P,
    Nodes,
    Negate,
    Not,
    /// On the two last values.
    Two(Operator),
}

type Operator = fn(f64, f64) -> f64;

/// Parentheses and signs within one another that are read; more could exhaust the stack.
const DEEPEST: u32 = 100;

impl Condition {
    /// Reads a condition on `m`, `p` and `nodes`, in which names stand for the `constants`.
    /// Numbers are `f64`, so that `/` divides with a remainder behind the point.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the place of what cannot be read, in characters from 1, and for
    /// a constant that cannot be used: its name is taken or no name, its value is not finite.
    pub fn parse(text: &str, constants: &[(String, f64)]) -> Result<Self> {
        for (index, (name, value)) in constants.iter().enumerate() {
            let is_first = constants[..index].iter().all(|(earlier, _)| earlier != name);
            let is_name = tokens(name).is_ok_and(|tokens| {
                matches!(&tokens[..], [(Token::Name(_), _), (Token::End, _)])
                    && !["m", "p", "nodes", "and", "or", "not"].contains(&name.as_str())
            });
            if !(is_name && is_first && value.is_finite()) {
                return Err(Error::OutOfRange {
                    name: "constant",
                    found: format!("{name} = {value}"),
                    expected: "a name of its own of letters, digits and _, other than m, p, nodes \
                               and operators, and a finite number"
                        .into(),
                });
            }
        }
        Ok(Self { text: text.trim().into(), steps: steps(text, constants)? })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds of a mapping on each of so many nodes.
    pub fn holds(&self, mapping: Mapping, nodes: u32) -> bool {
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
                Step::Negate => values[count - 1] = -values[count - 1],
                Step::Not => values[count - 1] = 1.0 - values[count - 1],
                Step::Two(operator) => {
                    count -= 1;
                    values[count - 1] = operator(values[count - 1], values[count]);
                }
                Step::Number(number) => values[count] = number,
                Step::M => values[count] = f64::from(mapping.m()),
                Step::P => values[count] = f64::from(mapping.p()),
                Step::Nodes => values[count] = f64::from(nodes),
            }
            count += usize::from(matches!(step, Step::Number(_) | Step::M | Step::P | Step::Nodes));
        }
        values[0] != 0.0
    }
}

fn error(found: &str, at: usize, expected: &str) -> Error {
    Error::OutOfRange {
        name: "where",
        found: format!("{found} at character {at}"),
        expected: expected.into(),
    }
}

#[cfg(test)]
mod tests;

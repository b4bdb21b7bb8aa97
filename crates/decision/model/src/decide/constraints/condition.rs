//! Conditions on a mapping as people write them: `m*p <= cores && p <= 8`.

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::expression::{Expression, Kind, Names, is_name};

/// A condition on m, p and the number of nodes.
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    expression: Expression,
}

/// What it is on.
const VARIABLES: [&str; 3] = ["m", "p", "nodes"];

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
            let is_free = is_name(name) && !VARIABLES.contains(&name.as_str());
            if !(is_free && is_first && value.is_finite()) {
                return Err(Error::out_of_range(
                    "constant",
                    format!("{name} = {value}"),
                    "a name of its own of letters, digits and _, other than m, p, nodes \
                               and operators, and a finite number",
                ));
            }
        }
        let names = Names { variables: &VARIABLES, constants };
        let expression = Expression::parse(text, Kind::Truth, names);
        let expression = expression.map_err(|mistake| {
            Error::out_of_range(
                "where",
                format!("{} at character {}", mistake.found, mistake.at),
                mistake.expected,
            )
        })?;
        Ok(Self { text: text.trim().into(), expression })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds of a mapping on each of so many nodes.
    pub fn holds(&self, mapping: Mapping, nodes: u32) -> bool {
        let variables = [mapping.m(), mapping.p(), nodes].map(f64::from);
        self.expression.value(&variables) != 0.0
    }
}

#[cfg(test)]
mod tests;

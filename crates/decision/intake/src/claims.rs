//! What a user says of a table beyond what it says itself.

use mmgp_base::error::{Error, Result};
use mmgp_base::expression::{Expression, Kind, Names};

use crate::columns::Columns;
use crate::sheet::{Field, Sheet};
use crate::variables::Variables;

/// What a user says of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// Which columns hold what.
    pub columns: Columns,
    /// A column of rates, of which more is better, instead of a time. A unit of work takes the inverse.
    pub rate: Option<String>,
    /// What is measured instead of the time: a column, or an expression over columns, `time`, `m` and `p`
    /// ([`Measurand`](crate::Measurand)).
    pub objective: Option<String>,
    /// A condition on columns that a row must meet: `N == 10000 and mode == "hybrid"`.
    pub filter: Option<String>,
    /// A column and the text that a row must have in it.
    pub only: Option<(String, String)>,
    /// Columns that may vary among the repetitions of a run.
    pub ignored: Vec<String>,
}

/// A condition on the columns of a table, ready to be asked.
pub(crate) struct Filter {
    expression: Expression,
    /// The columns of its variables.
    places: Vec<usize>,
    /// The texts that it compares with.
    texts: Vec<String>,
}

/// The first of the numbers that stand for texts; no column has such numbers.
const TEXT: f64 = -9.007e15;

impl Filter {
    /// Reads a condition whose names are columns of the sheet; texts stand in quotes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the place of what cannot be read.
    pub fn parse(text: &str, sheet: &Sheet<'_>) -> Result<Self> {
        let (plain, texts) = without_texts(text);
        let Variables { text: plain, names, places } = Variables::of(&plain, sheet, &[]);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let constant = |index: usize| (format!("text_{index}_"), TEXT - index as f64);
        let constants: Vec<(String, f64)> = (0..texts.len()).map(constant).collect();
        let names_of = Names { variables: &names, constants: &constants };
        let expression = Expression::parse(&plain, Kind::Truth, names_of).map_err(|mistake| {
            let known: Vec<&str> = sheet.columns.iter().map(|it| it.name.as_str()).collect();
            let known = known.join(", ");
            Error::out_of_range(
                "filter",
                format!("{} in {text:?}", mistake.found),
                format!("a condition on columns, texts in quotes; columns are {known}"),
            )
        })?;
        Ok(Self { expression, places, texts })
    }

    /// Whether a row meets it.
    pub fn holds(&self, row: &[Field<'_>]) -> bool {
        let value = |&place: &usize| {
            let text = row[place].text.as_ref();
            if let Some(index) = self.texts.iter().position(|known| known == text) {
                return TEXT - index as f64;
            }
            text.parse().unwrap_or(f64::NAN)
        };
        let values: Vec<f64> = self.places.iter().map(value).collect();
        self.expression.value(&values) != 0.0
    }
}

/// The condition with a name for each text in quotes, and the texts.
fn without_texts(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut texts) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start] as char;
        let Some(length) = rest[start + 1..].find(quote) else { break };
        plain += &rest[..start];
        plain += &format!("text_{}_", texts.len());
        texts.push(rest[start + 1..start + 1 + length].to_string());
        rest = &rest[start + 2 + length..];
    }
    (plain + rest, texts)
}

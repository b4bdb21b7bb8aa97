//! Conditions on a mapping as people write them: `m*p <= cores && p <= 8`.
//!
//! ```text
//! condition  = and { ("||" | "or") and }         and = not { ("&&" | "and") not }
//! not        = "not" not | comparison            comparison = sum [ ("<" | "<=" | ...) sum ]
//! sum        = product { ("+" | "-") product }   product = sign { ("*" | "/" | "%") sign }
//! sign       = ("-" | "!") sign | number | name | "(" condition ")"
//! ```
//!
//! A parser of our own, because every mistake is to be shown where it stands, in the words of what
//! can be said here, and a condition is to be told from a number before it is used. It leaves the
//! condition as steps for a stack, so that nothing recurses where it is evaluated.

mod tokens;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
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

/// What a part of a condition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Truth,
}

impl Kind {
    fn described(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Truth => "a condition",
        }
    }
}

/// The operators between two operands: how strongly they bind, what they take and give.
const OPERATORS: [(&str, u8, Kind, Kind, Operator); 15] = [
    ("||", OR, Kind::Truth, Kind::Truth, f64::max),
    ("or", OR, Kind::Truth, Kind::Truth, f64::max),
    ("&&", AND, Kind::Truth, Kind::Truth, f64::min),
    ("and", AND, Kind::Truth, Kind::Truth, f64::min),
    ("<", COMPARISON, Kind::Number, Kind::Truth, |a, b| f64::from(a < b)),
    ("<=", COMPARISON, Kind::Number, Kind::Truth, |a, b| f64::from(a <= b)),
    (">", COMPARISON, Kind::Number, Kind::Truth, |a, b| f64::from(a > b)),
    (">=", COMPARISON, Kind::Number, Kind::Truth, |a, b| f64::from(a >= b)),
    ("==", COMPARISON, Kind::Number, Kind::Truth, |a, b| f64::from(a == b)),
    ("!=", COMPARISON, Kind::Number, Kind::Truth, |a, b| f64::from(a != b)),
    ("+", SUM, Kind::Number, Kind::Number, |a, b| a + b),
    ("-", SUM, Kind::Number, Kind::Number, |a, b| a - b),
    ("*", PRODUCT, Kind::Number, Kind::Number, |a, b| a * b),
    ("/", PRODUCT, Kind::Number, Kind::Number, |a, b| a / b),
    ("%", PRODUCT, Kind::Number, Kind::Number, |a, b| a % b),
];

const OR: u8 = 1;
const AND: u8 = 2;
const COMPARISON: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;

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
        for (name, value) in constants {
            let is_name = tokens(name).is_ok_and(|tokens| {
                matches!(&tokens[..], [(Token::Name(_), _), (Token::End, _)])
                    && !["m", "p", "nodes"].contains(&name.as_str())
            });
            if !(is_name && value.is_finite()) {
                return Err(Error::OutOfRange {
                    name: "constant",
                    found: format!("{name} = {value}"),
                    expected: "a name of letters, digits and _, other than m, p and nodes, and a \
                               finite number"
                        .into(),
                });
            }
        }
        let mut parser = Parser { tokens: &tokens(text)?, constants, steps: Vec::new(), depth: 0 };
        let start = parser.at();
        let kind = parser.operands(OR)?;
        if *parser.next() != Token::End {
            return Err(parser.error("an operator, such as <= or &&"));
        }
        parser.expect(kind, Kind::Truth, start)?;
        Ok(Self { text: text.trim().into(), steps: parser.steps })
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

struct Parser<'a> {
    /// With the character at which each begins; the last is the end.
    tokens: &'a [(Token, usize)],
    constants: &'a [(String, f64)],
    steps: Vec<Step>,
    depth: u32,
}

impl Parser<'_> {
    fn next(&self) -> &Token {
        &self.tokens[0].0
    }

    /// The character at which the next token begins.
    fn at(&self) -> usize {
        self.tokens[0].1
    }

    fn advance(&mut self) {
        // The end stays.
        self.tokens = &self.tokens[usize::from(self.tokens.len() > 1)..];
    }

    /// Operands with operators that bind at least so strongly between them.
    fn operands(&mut self, least: u8) -> Result<Kind> {
        let start = self.at();
        let mut kind = if least <= COMPARISON && *self.next() == Token::Name("not".into()) {
            self.prefixed(COMPARISON, Kind::Truth, Step::Not)?
        } else {
            self.sign()?
        };
        while let Some(&(name, binding, takes, gives, operator)) = self.operator(least) {
            self.expect(kind, takes, start)?;
            self.advance();
            let second = self.at();
            let found = self.operands(binding + 1)?;
            self.expect(found, takes, second)?;
            self.steps.push(Step::Two(operator));
            kind = gives;
            if binding == COMPARISON && self.operator(COMPARISON).is_some_and(|it| it.1 == binding)
            {
                let expected = format!("one comparison with {name}; join two by && or ||");
                return Err(self.error(&expected));
            }
        }
        Ok(kind)
    }

    fn operator(&self, least: u8) -> Option<&'static (&'static str, u8, Kind, Kind, Operator)> {
        let word = match self.next() {
            Token::Name(word) => word.as_str(),
            Token::Symbol(word) => word,
            Token::Number(_) | Token::End => return None,
        };
        OPERATORS.iter().find(|operator| operator.0 == word && operator.1 >= least)
    }

    /// What follows a prefix, which is next and takes and gives `kind`.
    fn prefixed(&mut self, least: u8, kind: Kind, step: Step) -> Result<Kind> {
        self.advance();
        let start = self.at();
        self.deeper()?;
        let found = if least == PRODUCT { self.sign()? } else { self.operands(least)? };
        self.depth -= 1;
        self.expect(found, kind, start)?;
        self.steps.push(step);
        Ok(kind)
    }

    fn sign(&mut self) -> Result<Kind> {
        let step = match self.next() {
            Token::Symbol("-") => return self.prefixed(PRODUCT, Kind::Number, Step::Negate),
            Token::Symbol("!") => return self.prefixed(PRODUCT, Kind::Truth, Step::Not),
            Token::Symbol("(") => {
                self.advance();
                self.deeper()?;
                let kind = self.operands(OR)?;
                self.depth -= 1;
                if *self.next() != Token::Symbol(")") {
                    return Err(self.error("an operator or )"));
                }
                self.advance();
                return Ok(kind);
            }
            Token::Number(number) => Step::Number(*number),
            Token::Name(name) => self.named(name)?,
            Token::Symbol(_) | Token::End => return Err(self.error(&self.names())),
        };
        self.advance();
        self.steps.push(step);
        Ok(Kind::Number)
    }

    fn named(&self, name: &str) -> Result<Step> {
        match name {
            "m" => Ok(Step::M),
            "p" => Ok(Step::P),
            "nodes" => Ok(Step::Nodes),
            _ => match self.constants.iter().find(|(known, _)| known == name) {
                Some((_, value)) => Ok(Step::Number(*value)),
                None => Err(self.error(&self.names())),
            },
        }
    }

    /// What may stand for a number.
    fn names(&self) -> String {
        let names: Vec<&str> = self.constants.iter().map(|(name, _)| name.as_str()).collect();
        match &names[..] {
            [] => "m, p, nodes or a number".into(),
            [only] => format!("m, p, nodes, a number or the constant {only}"),
            _ => format!("m, p, nodes, a number or one of the constants {}", names.join(", ")),
        }
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        match self.depth {
            ..=DEEPEST => Ok(()),
            _ => Err(self.error(&format!("at most {DEEPEST} parentheses within one another"))),
        }
    }

    fn expect(&self, found: Kind, expected: Kind, start: usize) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let expected = match expected {
            Kind::Truth => "a condition, such as m*p <= 8",
            Kind::Number => "a number",
        };
        Err(error(found.described(), start, expected))
    }

    fn error(&self, expected: &str) -> Error {
        match self.next() {
            Token::End => error("the end", self.at(), expected),
            Token::Number(number) => error(&number.to_string(), self.at(), expected),
            Token::Name(word) => error(&format!("{word:?}"), self.at(), expected),
            Token::Symbol(word) => error(&format!("{word:?}"), self.at(), expected),
        }
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

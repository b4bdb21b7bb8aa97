//! The grammar of conditions.
//!
//! ```text
//! condition  = and { ("||" | "or") and }         and = not { ("&&" | "and") not }
//! not        = "not" not | comparison            comparison = sum [ ("<" | "<=" | ...) sum ]
//! sum        = product { ("+" | "-") product }   product = sign { ("*" | "/" | "%") sign }
//! sign       = ("-" | "!") sign | number | name | "(" condition ")"
//! ```
//!
//! A condition is left as steps for a stack, so that nothing recurses where it is evaluated.

use mmgp_base::error::{Error, Result};

use super::tokens::{Token, tokens};
use super::{DEEPEST, Operator, Step, error};

/// The steps of a condition in which names stand for the `constants`.
pub(super) fn steps(text: &str, constants: &[(String, f64)]) -> Result<Vec<Step>> {
    let mut parser = Parser { tokens: &tokens(text)?, constants, steps: Vec::new(), depth: 0 };
    let start = parser.at();
    let kind = parser.operands(OR)?;
    if *parser.next() != Token::End {
        return Err(parser.error("an operator, such as <= or &&"));
    }
    parser.expect(kind, Kind::Truth, start)?;
    Ok(parser.steps)
}

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

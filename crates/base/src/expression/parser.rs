//! The words and the grammar of expressions.
//!
//! ```text
//! condition  = and { ("||" | "or") and }         and = not { ("&&" | "and") not }
//! not        = "not" not | comparison            comparison = sum [ ("<" | "<=" | ...) sum ]
//! sum        = product { ("+" | "-") product }   product = sign { ("*" | "/" | "%") sign }
//! sign       = ("-" | "!") sign | power          power = operand [ "^" sign ]
//! operand    = number | name | name "(" sum [ "," sum ] ")" | "(" condition ")"
//! ```
//!
//! An expression is left as steps for a stack, so that nothing recurses where it is evaluated.

use super::{DEEPEST, Kind, Mistake, Names, Operator, Step};

type Result<T> = std::result::Result<T, Mistake>;

/// The steps of an expression of that kind.
pub(super) fn steps(text: &str, kind: Kind, names: Names<'_>) -> Result<Vec<Step>> {
    let mut parser = Parser { tokens: &tokens(text)?, names, steps: Vec::new(), depth: 0 };
    let start = parser.at();
    let found = parser.operands(OR)?;
    if *parser.next() != Token::End {
        return Err(parser.error(match kind {
            Kind::Truth => "an operator, such as <= or &&",
            Kind::Number => "an operator, such as + or *",
        }));
    }
    parser.expect(found, kind, start)?;
    Ok(parser.steps)
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

/// The functions, by what they do with the numbers before them.
const FUNCTIONS: [(&str, Step); 7] = [
    ("log", Step::One(f64::log2)),
    ("ln", Step::One(f64::ln)),
    ("sqrt", Step::One(f64::sqrt)),
    ("ceil", Step::One(f64::ceil)),
    ("floor", Step::One(f64::floor)),
    ("min", Step::Two(f64::min)),
    ("max", Step::Two(f64::max)),
];

/// Whether a name is that of a function.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name)
}

struct Parser<'a> {
    /// The words that are left, with the character at which each begins; the last is the end.
    tokens: &'a [(Token, usize)],
    names: Names<'a>,
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
            self.prefixed(COMPARISON, Kind::Truth, Step::One(|value| 1.0 - value))?
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
        match self.next() {
            Token::Symbol("-") => self.prefixed(PRODUCT, Kind::Number, Step::One(|value| -value)),
            Token::Symbol("!") => self.prefixed(PRODUCT, Kind::Truth, Step::One(|it| 1.0 - it)),
            _ => self.power(),
        }
    }

    fn power(&mut self) -> Result<Kind> {
        let start = self.at();
        let kind = self.operand()?;
        if *self.next() != Token::Symbol("^") {
            return Ok(kind);
        }
        self.expect(kind, Kind::Number, start)?;
        self.prefixed(PRODUCT, Kind::Number, Step::Two(f64::powf))
    }

    fn operand(&mut self) -> Result<Kind> {
        let step = match self.next() {
            Token::Symbol("(") => {
                self.advance();
                self.deeper()?;
                let kind = self.operands(OR)?;
                self.depth -= 1;
                self.closed()?;
                return Ok(kind);
            }
            Token::Number(number) => Step::Number(*number),
            Token::Name(name) => match self.named(name) {
                Some(step) => step,
                None => return self.function(),
            },
            Token::Symbol(_) | Token::End => return Err(self.error(&self.known())),
        };
        self.advance();
        self.steps.push(step);
        Ok(Kind::Number)
    }

    fn closed(&mut self) -> Result<()> {
        if *self.next() != Token::Symbol(")") {
            return Err(self.error("an operator or )"));
        }
        self.advance();
        Ok(())
    }

    /// A function of one or two numbers, whose name is next; or a name that nobody knows.
    fn function(&mut self) -> Result<Kind> {
        let found = match self.next() {
            Token::Name(name) => FUNCTIONS.iter().find(|(known, _)| known == name),
            _ => None,
        };
        let Some(&(name, step)) = found else { return Err(self.error(&self.known())) };
        let opens = self.tokens.get(1).is_some_and(|(next, _)| *next == Token::Symbol("("));
        if !opens {
            return Err(self.error(&format!("{name}( with a number in parentheses")));
        }
        self.advance();
        self.advance();
        self.deeper()?;
        self.argument()?;
        if matches!(step, Step::Two(_)) {
            if *self.next() != Token::Symbol(",") {
                return Err(self.error(&format!("a comma and the second number of {name}")));
            }
            self.advance();
            self.argument()?;
        }
        self.depth -= 1;
        self.closed()?;
        self.steps.push(step);
        Ok(Kind::Number)
    }

    fn argument(&mut self) -> Result<()> {
        let start = self.at();
        let kind = self.operands(SUM)?;
        self.expect(kind, Kind::Number, start)
    }

    fn named(&self, name: &str) -> Option<Step> {
        let place = self.names.variables.iter().position(|variable| *variable == name);
        let constant = || self.names.constants.iter().find(|(known, _)| known == name);
        place.map(Step::Variable).or_else(|| constant().map(|(_, value)| Step::Number(*value)))
    }

    /// What may stand for a number.
    fn known(&self) -> String {
        let variables = self.names.variables.join(", ");
        let constants: Vec<&str> =
            self.names.constants.iter().map(|(name, _)| name.as_str()).collect();
        match &constants[..] {
            [] => format!("{variables} or a number"),
            [only] => format!("{variables}, a number or the constant {only}"),
            _ => format!("{variables}, a number or one of the constants {}", constants.join(", ")),
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
        Err(Mistake::new(found.described(), start, expected))
    }

    fn error(&self, expected: &str) -> Mistake {
        match self.next() {
            Token::End => Mistake::new("the end", self.at(), expected),
            Token::Number(number) => Mistake::new(&number.to_string(), self.at(), expected),
            Token::Name(word) => Mistake::new(&format!("{word:?}"), self.at(), expected),
            Token::Symbol(word) => Mistake::new(&format!("{word:?}"), self.at(), expected),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    Symbol(&'static str),
    End,
}

/// The longer ones first.
const SYMBOLS: [&str; 18] = [
    "&&", "||", "<=", ">=", "==", "!=", "<", ">", "!", "+", "-", "*", "/", "%", "^", "(", ")", ",",
];

/// The words, each with its first character, from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut at = 1;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        at += rest[..blank].chars().count();
        rest = &rest[blank..];
        let Some(first) = rest.chars().next() else { break };
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
        let (token, length) = if let Some(symbol) = symbol {
            (Token::Symbol(symbol), symbol.len())
        } else if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest);
            let number = rest[..length].parse().map_err(|_| refused(&rest[..length], at))?;
            (Token::Number(number), length)
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
            (Token::Name(rest[..length].into()), length)
        } else {
            return Err(refused(&rest[..first.len_utf8()], at));
        };
        tokens.push((token, at));
        at += rest[..length].chars().count();
        rest = &rest[length..];
    }
    tokens.push((Token::End, at));
    Ok(tokens)
}

/// Bytes of the number at the front: `8`, `2.5`, `1e9`, and what runs on into it: `8x`.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    let ends = |letter: char| {
        let is_exponent_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E');
        before = letter;
        !(letter.is_alphanumeric() || matches!(letter, '.' | '_') || is_exponent_sign)
    };
    text.find(ends).unwrap_or(text.len())
}

fn refused(found: &str, at: usize) -> Mistake {
    let expected = match found {
        "=" => "== to compare",
        "&" => "&&",
        "|" => "||",
        _ if found.starts_with(|first: char| first.is_ascii_digit()) => "a number",
        _ => "names, numbers, parentheses and the operators + - * / % ^ < <= > >= == != && || !",
    };
    Mistake::new(&format!("{found:?}"), at, expected)
}

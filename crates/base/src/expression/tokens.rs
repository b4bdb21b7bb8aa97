//! The words of an expression.

use super::Mistake;

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
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Mistake> {
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

//! Lists and ranges of whole numbers, as on a command line.

use std::str::FromStr;

/// Whole numbers of at least 1, increasing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values(pub Vec<u32>);

/// Most values of a list; more are a slip of the pen.
const MOST: usize = 100_000;

impl FromStr for Values {
    type Err = String;

    /// Parses `1,2,4`, `1..64`, `4..64+4`, `1..64*2` and lists of these.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut values = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, rest)) => range(part, first, rest, &mut values)?,
                None => values.push(number(part)?),
            }
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self(values))
    }
}

fn number(text: &str) -> Result<u32, String> {
    let number = text.trim().parse::<u32>().ok().filter(|&it| it > 0);
    number.ok_or_else(|| {
        format!("{text:?} is no whole number of at least 1 and no range, as in 1,2,4 or 1..64")
    })
}

fn range(part: &str, first: &str, rest: &str, values: &mut Vec<u32>) -> Result<(), String> {
    let (last, step, grows) = match (rest.split_once('+'), rest.split_once('*')) {
        (Some((last, step)), _) => (last, number(step)?, false),
        (_, Some((last, factor))) => (last, number(factor)?, true),
        _ => (rest, 1, false),
    };
    let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
    if first > last {
        return Err(format!("{part}: the first is above the last"));
    }
    if grows && step < 2 {
        return Err(format!("{part}: a factor is at least 2"));
    }
    let mut next = Some(first);
    while let Some(value) = next.filter(|&it| it <= last) {
        values.push(value);
        if values.len() > MOST {
            return Err(format!("{part}: more than {MOST} values"));
        }
        next = if grows { value.checked_mul(step) } else { value.checked_add(step) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_steps_and_factors_are_read() {
        let check = |text: &str, values: &[u32]| {
            assert_eq!(text.parse::<Values>().expect("values").0, values, "{text}");
        };
        check("1,2,4", &[1, 2, 4]);
        check("3..5", &[3, 4, 5]);
        check("4..16+4", &[4, 8, 12, 16]);
        check("1..64*2", &[1, 2, 4, 8, 16, 32, 64]);
        check("8, 1..3,2", &[1, 2, 3, 8]);
        check("4294967295..4294967295*2", &[u32::MAX]);
        for wrong in ["", "0", "a", "1..", "5..3", "1..9*1", "1..9+0", "1..4294967295", "1,,2"] {
            assert!(wrong.parse::<Values>().is_err(), "{wrong}");
        }
    }
}

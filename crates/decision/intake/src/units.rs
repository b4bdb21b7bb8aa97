//! Units of time: how people spell them in names of columns, and durations as programs print them.
//!
//! What is not known is said to be unknown, and never taken as seconds here.
//!
//! ```
//! use mmgp_intake::{Comma, Measure, Unit, duration, measure_of};
//!
//! assert_eq!(measure_of("wall_ms_mean"), Measure::Time(Some(Unit::Milliseconds)));
//! assert_eq!(measure_of("mean time"), Measure::Time(None));
//! assert_eq!(measure_of("ns/day"), Measure::Rate("ns/day".into()));
//! assert_eq!(measure_of("time_ticks"), Measure::Other("ticks".into()));
//! assert_eq!(duration("1m12.5s", Comma::Thousands).map(|it| it.seconds), Some(72.5));
//! assert_eq!(duration("5 m", Comma::Thousands), None);
//! ```

mod measure;
#[cfg(test)]
mod tests;
mod words;

use crate::is_in;
use std::borrow::Cow;

pub use measure::{Measure, measure_of};

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// d
    Days,
    /// h
    Hours,
    /// min
    Minutes,
    /// s
    Seconds,
    /// ms
    Milliseconds,
    /// us
    Microseconds,
    /// ns
    Nanoseconds,
}

/// The spellings of each unit, in small letters. A lone `m` may be minutes or metres and is none.
const SPELLINGS: [(Unit, &str); 7] = [
    (Unit::Days, "d day days tag tage"),
    (Unit::Hours, "h hr hrs hour hours stunde stunden"),
    (Unit::Minutes, "min mins minute minutes minuten"),
    (
        Unit::Seconds,
        "s sec secs second seconds sek sekunde sekunden secondes segundos seg segs secondi \u{79d2}",
    ),
    (
        Unit::Milliseconds,
        "ms msec msecs milli millis millisec millisecs millisecond milliseconds millisekunden \u{6beb}\u{79d2}",
    ),
    (
        Unit::Microseconds,
        "us usec usecs \u{b5}s \u{3bc}s \u{b5}sec \u{3bc}sec micro micros microsec microsecs \
         microsecond microseconds mikrosekunden",
    ),
    (
        Unit::Nanoseconds,
        "ns nsec nsecs nano nanos nanosec nanosecs nanosecond nanoseconds nanosekunden",
    ),
];

impl Unit {
    /// The unit of a spelling, in any capitals; `None` for what is no unit of time, or may be another.
    pub fn named(spelling: &str) -> Option<Self> {
        let lower = spelling.trim().to_lowercase();
        let bare = lower.strip_suffix('.').unwrap_or(&lower);
        SPELLINGS.iter().find(|(_, spellings)| is_in(spellings, bare)).map(|(unit, _)| *unit)
    }

    /// The symbol: d, h, min, s, ms, us or ns.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Days => "d",
            Self::Hours => "h",
            Self::Minutes => "min",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// A number of these units in seconds. The quotients are the numbers nearest to the true ones.
    pub fn seconds(self, value: f64) -> f64 {
        match self {
            Self::Days => value * 86_400.0,
            Self::Hours => value * 3600.0,
            Self::Minutes => value * 60.0,
            Self::Seconds => value,
            Self::Milliseconds => value / 1e3,
            Self::Microseconds => value / 1e6,
            Self::Nanoseconds => value / 1e9,
        }
    }
}

/// What a comma in a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comma {
    /// The sign before the decimals.
    Decimal,
    /// The sign between thousands.
    Thousands,
}

/// The finite number nearest to a text; `None` of another text, and of one that may be two numbers.
///
/// Commas or, where these stand before decimals, points may stand between thousands, as blanks and
/// apostrophes may; all groups must be whole. Where commas stand before decimals, `1.234` may be two numbers.
pub fn number(text: &str, comma: Comma) -> Option<f64> {
    if let Some(number) = plain_number(text, comma) {
        return Some(number);
    }
    let text = text.trim().replace('\u{2212}', "-");
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let sign = if text.starts_with('-') { "-" } else { "" };
    // Fortran writes 1.5D+02.
    let end =
        unsigned.find(['e', 'E']).or_else(|| unsigned.find("D+")).or_else(|| unsigned.find("D-"));
    let (mantissa, exponent) =
        end.map_or((unsigned, "0"), |end| (&unsigned[..end], &unsigned[end + 1..]));
    let (mark, group) = if comma == Comma::Decimal { (',', '.') } else { ('.', ',') };
    let (whole, decimals) = mantissa.split_once(mark).unwrap_or((mantissa, ""));
    let plain = match without_groups(whole, group) {
        // Thousands, or a point before decimals.
        Some(_)
            if comma == Comma::Decimal && whole.matches('.').count() == 1 && whole == mantissa =>
        {
            end.map(|_| mantissa.to_string())?
        }
        Some(whole) => format!("{whole}.{decimals}"),
        None if comma == Comma::Decimal && whole == mantissa => whole.to_string(),
        None => return None,
    };
    let has_digits = plain.bytes().any(|it| it.is_ascii_digit());
    let is_plain = plain.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let number: f64 = format!("{sign}{plain}e{exponent}").parse().ok()?;
    (has_digits && is_plain && number.is_finite()).then_some(number)
}

/// The number of digits with one point or none among them, as nearly all are, where that cannot be another;
/// `None` of any other text.
#[inline]
fn plain_number(text: &str, comma: Comma) -> Option<f64> {
    let is_plain = comma == Comma::Thousands
        && text.bytes().all(|it| it.is_ascii_digit() || it == b'.')
        && text.starts_with(|it: char| it.is_ascii_digit());
    let number: f64 = is_plain.then(|| text.parse().ok()).flatten()?;
    number.is_finite().then_some(number)
}

/// A whole number without the signs between its groups of three digits; `None` of wrong groups.
fn without_groups(whole: &str, group: char) -> Option<String> {
    let marks = [group, ' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}'];
    let Some(mark) = whole.chars().find(|it| marks.contains(it)) else { return Some(whole.into()) };
    let groups: Vec<&str> = whole.split(mark).collect();
    let is_number = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
    let is_first = matches!(groups[0].len(), 1..=3) && !groups[0].starts_with('0');
    let is_good =
        is_first && groups[1..].iter().all(|it| it.len() == 3) && groups.iter().all(is_number);
    is_good.then(|| groups.concat())
}

/// Words in brackets behind a number that say which of several it is, and nothing of the number.
const REMARKS: [&str; 7] = ["best", "fastest", "min", "baseline", "reference", "ref", "optimal"];

/// The text before an error, `103.2 \u{b1} 0.5`, with the unit that stands behind it: `103.2 \u{b1} 0.5 ms`; also
/// before a number or a remark in brackets, `103.2 (0.5)`, and without a sign that it is about so much, or
/// that there is a note to it: `~103.2`, `103.2*`.
pub fn without_error(text: &str) -> Cow<'_, str> {
    let text = text
        .trim()
        .trim_start_matches(['~', '\u{2248}'])
        .trim_end_matches(['*', '\u{2020}'])
        .trim();
    let signs = ["\u{b1}", "+/-", "+-"];
    let Some((value, error)) = signs.iter().find_map(|sign| text.split_once(sign)) else {
        return without_brackets(text).into();
    };
    let unit = error.trim_start_matches(|it: char| !it.is_alphabetic());
    match value.contains(char::is_alphabetic) {
        true => value.into(),
        false => format!("{value}{unit}").into(),
    }
}

/// The text before an error, a share or a remark in brackets at its end.
fn without_brackets(text: &str) -> &str {
    let Some((value, inner)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) else {
        return text;
    };
    let is_number = inner.trim_end_matches(['x', '%', '\u{d7}']).parse::<f64>().is_ok();
    let is_remark = REMARKS.iter().any(|remark| inner.eq_ignore_ascii_case(remark));
    if is_number || is_remark { value.trim_end() } else { text }
}

/// A duration that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration {
    /// Length in seconds; without a unit, the number as it stands.
    pub seconds: f64,
    /// Whether the text itself says the unit, or has colons between hours, minutes and seconds.
    pub has_unit: bool,
}

/// The duration that a text is, without an error behind it: `103.2`, `1.5 min`, `1m12.3s`, `1h 2m`,
/// `0:01:12.3`, `1-02:03:04`, `1 day, 2:03:04`, `PT1M12.3S`. Two numbers with a colon are minutes and seconds.
pub fn duration(text: &str, comma: Comma) -> Option<Duration> {
    if let Some(seconds) = plain_number(text, comma) {
        return Some(Duration { seconds, has_unit: false });
    }
    let text = without_error(text);
    let text = text.trim();
    if let Some(value) = number(text, comma) {
        return value.is_sign_positive().then_some(Duration { seconds: value, has_unit: false });
    }
    let seconds = if let Some(rest) = text.strip_prefix('P') {
        of_iso_8601(rest, comma)
    } else if text.contains(':') {
        match text.split_once(", ") {
            Some((days, clock)) => Some(of_parts(days, comma)? + of_clock(clock, comma)?),
            None => of_clock(text, comma),
        }
    } else {
        of_parts(text, comma)
    };
    Some(Duration { seconds: seconds.filter(|it| it.is_finite())?, has_unit: true })
}

/// Digits with a point, or a comma where it stands before decimals, but no groups and no sign.
fn decimal(text: &str, comma: Comma) -> Option<f64> {
    let text = if comma == Comma::Decimal { text.replace(',', ".") } else { text.to_string() };
    let is_plain = text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Numbers with units, the longest first: `1h 2m`.
fn of_parts(text: &str, comma: Comma) -> Option<f64> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let (mut rest, mut seconds, mut count) = (text, 0.0, 0);
    let mut longest = f64::INFINITY;
    while !rest.is_empty() {
        let (value, spelling, behind) = part(rest);
        let value = if count == 0 { number(value, comma) } else { decimal(value, comma) };
        // Beside another part, m is minutes.
        let is_minutes = spelling.eq_ignore_ascii_case("m") && (count > 0 || !behind.is_empty());
        let unit = if is_minutes { Unit::Minutes } else { Unit::named(spelling)? };
        let value = value.filter(|it| it.is_sign_positive())?;
        let is_whole = value.fract() == 0.0 || behind.is_empty();
        if unit.seconds(1.0) >= longest || !is_whole {
            return None;
        }
        (longest, rest, count) = (unit.seconds(1.0), behind, count + 1);
        seconds += unit.seconds(value);
    }
    (count > 0).then_some(seconds)
}

/// The number at the start of a text, the letters behind it, and the rest.
fn part(text: &str) -> (&str, &str, &str) {
    let is_exponent = |at: usize| {
        let mut signs = text[at..].chars();
        let (letter, next) = (signs.next(), signs.next());
        let is_sign = next.is_some_and(|it| matches!(it, '+' | '-'));
        let is_digit = next.is_some_and(|it| it.is_ascii_digit());
        matches!(letter, Some('e' | 'E')) && (is_sign || is_digit) || letter == Some('D') && is_sign
    };
    let starts = text.char_indices().find(|&(at, sign)| sign.is_alphabetic() && !is_exponent(at));
    let (value, rest) = text.split_at(starts.map_or(text.len(), |(at, _)| at));
    let end = rest.find(|it: char| !it.is_alphabetic()).unwrap_or(rest.len());
    let (spelling, behind) = rest.split_at(end);
    let behind = behind.strip_prefix(',').filter(|it| it.starts_with(' ')).unwrap_or(behind);
    (value.trim(), spelling, behind.trim())
}

/// `[[days-]hours:]minutes:seconds`.
fn of_clock(text: &str, comma: Comma) -> Option<f64> {
    let whole = |text: &str| {
        let is_whole = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        is_whole.then(|| text.parse::<f64>().ok()).flatten()
    };
    let (days, clock) =
        text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [minutes, seconds] if days.is_none() => (None, minutes, seconds),
        [hours, minutes, seconds] => (Some(hours), minutes, seconds),
        _ => return None,
    };
    // A ratio such as 16:9 has one digit.
    let has_two_digits = |it: &str| it.bytes().take_while(u8::is_ascii_digit).count() == 2;
    if !has_two_digits(seconds) || (hours.is_some() && !has_two_digits(minutes)) {
        return None;
    }
    let days = days.map_or(Some(0.0), whole).map(|it| (it, days.is_some()))?;
    let hour = hours.map_or(Some(0.0), whole)?;
    let (minute, second) = (whole(minutes)?, decimal(seconds, comma)?);
    let is_good = second < 60.0 && (hours.is_none() || minute < 60.0) && (!days.1 || hour < 24.0);
    is_good.then_some(days.0 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

/// A duration of ISO 8601 without its `P`; years and months have no fixed length.
fn of_iso_8601(text: &str, comma: Comma) -> Option<f64> {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let mut seconds = 0.0;
    for (part, lengths) in [
        (date, &[('W', 604_800.0), ('D', 86_400.0)][..]),
        (time.unwrap_or_default(), &[('H', 3600.0), ('M', 60.0), ('S', 1.0)][..]),
    ] {
        let (mut rest, mut lengths) = (part, lengths.iter());
        while !rest.is_empty() {
            let end = rest.find(|it: char| it.is_ascii_uppercase())?;
            let (_, length) = lengths.find(|(letter, _)| rest[end..].starts_with(*letter))?;
            seconds += decimal(&rest[..end], comma)? * length;
            rest = &rest[end + 1..];
        }
    }
    let is_empty = time.map_or(date.is_empty(), str::is_empty);
    (!is_empty).then_some(seconds)
}

//! How texts go wrong: by words, digits, bytes and lines, and by what their format is made of.

use crate::target::Random;

/// What a text is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Rows of fields.
    Csv,
    /// Tables of keys.
    Toml,
    /// Anything else, JSON among it.
    Text,
}

/// What files go wrong by.
const WORDS: &str = "¦-1¦-0¦0¦1¦2¦-3.5¦1e999¦-1e999¦1e-999¦1e300¦1e-300¦5e-324¦1.7976931348623157e308¦\
    9007199254740993¦nan¦NaN¦inf¦-inf¦infinity¦4294967295¦4294967296¦18446744073709551615¦\
    18446744073709551616¦-9223372036854775808¦0x10¦1_000¦+1¦.5¦5.¦1e¦null¦true¦{¦}¦[¦]¦(¦)¦\
    ,¦;¦:¦\"¦'¦\"\"\"¦\n¦\r\n¦\r¦\t¦ ¦#¦=¦\u{0}¦\u{feff}¦\u{b5}¦\u{1f600}¦\u{2028}¦\\u0000¦\
    \\ud800¦\\¦[[¦[[a]]\n¦[a.b]\n¦a.b = 1\n¦m¦p¦time¦time_s¦time_ms¦value¦std_error¦\
    schema = 1¦\"m\": 1¦[1, 2]¦{}¦[]¦\"\"¦1,1,1,1¦9999999999999999999999999999";

/// A text made of one of `seeds` by a few changes, and in which one in eight is random bytes.
pub fn damaged(
    random: &mut Random,
    seeds: &[impl AsRef<str>],
    format: Format,
    words: &str,
) -> String {
    if random.happens(0.125) {
        let length = random.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| random.within(0, 255) as u8).collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let seed = |random: &mut Random| seeds[random.below(seeds.len())].as_ref();
    let mut text = seed(random).as_bytes().to_vec();
    for _ in 0..random.within(1, 4) {
        let other = seed(random);
        change(random, &mut text, (format, words), other);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Changes a text once.
fn change(random: &mut Random, text: &mut Vec<u8>, (format, words): (Format, &str), other: &str) {
    let at = random.below(text.len() + 1);
    match random.below(24) {
        0..=4 => {
            let new = word(random, words);
            replace_word(text, at, &new);
        }
        5..=8 => {
            let digit = b'0' + random.within(0, 9) as u8;
            if let Some(old) = text[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *old = digit;
            }
        }
        9..=11 => {
            let new = word(random, words);
            text.splice(at..at, new.bytes());
        }
        12 | 13 => {
            let end = (at + random.below(256)).min(text.len());
            text.drain(at..end);
        }
        14 => {
            let line = line_at(text, at);
            let to = random.below(text.len() + 1);
            text.splice(to..to, line);
        }
        15 => {
            let count = random.below(8).min(text.len() - at);
            let bytes: Vec<u8> = (0..count).map(|_| random.within(0, 255) as u8).collect();
            text.splice(at..at + count, bytes);
        }
        16 => text.truncate(at),
        17 => {
            let from = other.floor_char_boundary(random.below(other.len() + 1));
            text.truncate(at);
            text.extend_from_slice(&other.as_bytes()[from..]);
        }
        _ => match format {
            Format::Csv => change_lines(random, text, ',', words),
            Format::Toml => change_lines(random, text, '=', words),
            Format::Text => {
                let new = word(random, words);
                replace_word(text, at, &new);
            }
        },
    }
}

fn word(random: &mut Random, words: &str) -> String {
    if random.happens(0.1) {
        return (random.power(-320.0, 308.0)).to_string();
    }
    let own = !words.is_empty() && random.happens(0.5);
    random.word(if own { words } else { WORDS }).to_string()
}

/// A word for what stands at a place, up to the next border of a word.
fn replace_word(text: &mut Vec<u8>, at: usize, new: &str) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-_".contains(byte);
    let before = text[..at].iter().rev().take_while(|byte| is_word(byte)).count();
    let after = text[at..].iter().take_while(|byte| is_word(byte)).count();
    let length = after.max(usize::from(before == 0 && at < text.len()));
    text.splice(at - before..at + length, new.bytes());
}

/// The line about a place from there on, with its end.
fn line_at(text: &[u8], at: usize) -> Vec<u8> {
    let end = text[at..].iter().position(|&byte| byte == b'\n');
    text[at..end.map_or(text.len(), |end| at + end + 1)].to_vec()
}

/// Lines and their fields: dropped, doubled, exchanged, given another value. Rows have columns, which change in
/// all of them; of keys and values, those of a line.
fn change_lines(random: &mut Random, text: &mut Vec<u8>, separator: char, words: &str) {
    let whole = String::from_utf8_lossy(text);
    let mut lines: Vec<String> = whole.lines().map(String::from).collect();
    if lines.is_empty() {
        return;
    }
    let (row, again) = (random.below(lines.len()), random.below(lines.len()));
    let width = lines[row].split(separator).count();
    let (one, other) = (random.below(width), random.below(width));
    let kind = random.below(8);
    let new = match kind {
        // The value of one key under another.
        0 => lines[again].split(separator).nth(one).unwrap_or_default().to_string(),
        _ => word(random, words),
    };
    let change = |line: &mut String, change: &dyn Fn(&mut Vec<String>)| {
        let mut fields: Vec<String> = line.split(separator).map(String::from).collect();
        if one.max(other) < fields.len() {
            change(&mut fields);
            *line = fields.join(&separator.to_string());
        }
    };
    let changed = if separator == ',' { 0..lines.len() } else { row..row + 1 };
    match kind {
        0..=2 => change(&mut lines[row], &|fields| fields[one].clone_from(&new)),
        3 => lines.swap(row, again),
        4 => lines.insert(again, lines[row].clone()),
        _ => {
            let in_each = |fields: &mut Vec<String>| match kind {
                5 => drop(fields.remove(one)),
                6 => fields.swap(one, other),
                _ => fields.insert(other, fields[one].clone()),
            };
            lines[changed].iter_mut().for_each(|line| change(line, &in_each));
        }
    }
    let end = if random.happens(0.05) { "\r\n" } else { "\n" };
    *text = (lines.join(end) + end).into_bytes();
}

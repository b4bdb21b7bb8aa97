//! What a command prints: searched as it comes, and kept to its end, however much it is.

use std::io::{BufRead as _, BufReader, Read};

use regex_lite::Regex;

use super::protocol::Match;

/// So much of the end is kept, in bytes.
const KEPT: usize = 256 * 1024;

/// Longer lines are searched in pieces, in bytes.
const LONGEST_LINE: u64 = 64 * 1024;

/// What was read of one stream.
#[derive(Default)]
pub(super) struct Reading {
    pub matches: Vec<Option<Match>>,
    pub end: String,
}

/// Reads a stream to its end. A stream that breaks ends there.
pub(super) fn read(stream: impl Read, patterns: &[Regex]) -> Reading {
    let mut reader = BufReader::new(stream);
    let mut read = Reading { matches: vec![None; patterns.len()], end: String::new() };
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        for (found, pattern) in read.matches.iter_mut().zip(patterns) {
            // Of several in one line the last counts as well.
            if let Some(last) = pattern.captures_iter(&text).last() {
                let names = pattern.capture_names().map(|name| name.map(str::to_string));
                let groups = last.iter().map(|group| group.map(|it| it.as_str().to_string()));
                *found = Some(Match { groups: names.zip(groups).collect() });
            }
        }
        read.end.push_str(&text);
        if read.end.len() > 2 * KEPT {
            let cut = read.end.ceil_char_boundary(read.end.len() - KEPT);
            read.end.drain(..cut);
        }
    }
    let cut = read.end.ceil_char_boundary(read.end.len().saturating_sub(KEPT));
    read.end.drain(..cut);
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_match_counts_and_the_end_is_kept() {
        let text = "time: 1 s\nnoise\ntime: 2 s time: 3 s\n".to_string() + &"x\n".repeat(KEPT);
        let time = Regex::new(r"time: (?<s>\d+)").expect("a pattern");
        let none = Regex::new("never").expect("a pattern");
        let found = read(text.as_bytes(), &[time, none]);
        let last = found.matches[0].as_ref().expect("a match");
        assert_eq!(last.groups[1], (Some("s".into()), Some("3".into())));
        assert_eq!((found.matches[1].is_none(), found.end.len()), (true, KEPT));
    }

    #[test]
    fn garbage_is_read_over() {
        let mut bytes = vec![0xff, 0, 0xfe];
        bytes.extend(std::iter::repeat_n(b'y', 3 * LONGEST_LINE as usize));
        bytes.extend(b"\nt=5");
        let found = read(&bytes[..], &[Regex::new("t=([0-9])").expect("a pattern")]);
        assert_eq!(found.matches[0].as_ref().map(|it| it.groups.len()), Some(2));
    }
}

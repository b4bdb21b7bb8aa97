//! What a command prints: searched as it comes, and kept to its end, however much it is.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use regex_lite::Regex;

use super::Match;

/// Bytes of the end that are kept.
const KEPT: usize = 256 * 1024;

/// Longer lines are searched in pieces, in bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// What was read of one stream.
#[derive(Default)]
pub(super) struct Reading {
    /// The last match of each pattern.
    pub matches: Vec<Option<Match>>,
    /// The end of all.
    pub end: String,
}

/// A stream of a command.
pub(super) struct Output {
    /// Absent once it has ended.
    stream: Option<std::fs::File>,
    patterns: Vec<Regex>,
    /// What was read and is no whole line yet.
    line: Vec<u8>,
    reading: Reading,
}

impl Output {
    /// A stream that is searched for these.
    pub fn new(stream: Option<impl Into<OwnedFd>>, patterns: &[Regex]) -> Self {
        let reading = Reading { matches: vec![None; patterns.len()], end: String::new() };
        let stream = stream.map(|stream| stream.into().into());
        Self { stream, patterns: patterns.to_vec(), line: Vec::new(), reading }
    }

    /// Whether there may be more to read.
    pub fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// What is waited for.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Reads what there is, or waits for it; a stream that breaks ends there.
    pub fn read(&mut self) {
        let mut bytes = [0; LONGEST_LINE];
        let Some(stream) = &mut self.stream else { return };
        match stream.read(&mut bytes) {
            Ok(0) => self.stream = None,
            Ok(count) => self.take(&bytes[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.stream = None,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend(piece);
            if piece.ends_with(b"\n") || self.line.len() >= LONGEST_LINE {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        // A `$` stands before the end of the line.
        let line = text.trim_end_matches(['\n', '\r']);
        for (found, pattern) in self.reading.matches.iter_mut().zip(&self.patterns) {
            // Of several in one line the last counts as well.
            if let Some(last) = pattern.captures_iter(line).last() {
                let names = pattern.capture_names().map(|name| name.map(str::to_string));
                let groups = last.iter().map(|group| group.map(|it| it.as_str().to_string()));
                let span = last.get(1).map_or((0, 0), |group| (group.start(), group.end()));
                let groups = names.zip(groups).collect();
                *found = Some(Match { groups, line: line.into(), span });
            }
        }
        let end = &mut self.reading.end;
        end.push_str(&text);
        if end.len() > 2 * KEPT {
            let cut = end.ceil_char_boundary(end.len() - KEPT);
            end.drain(..cut);
        }
        self.line.clear();
    }

    /// What was read of it.
    pub fn finish(mut self) -> Reading {
        self.end_line();
        let end = &mut self.reading.end;
        let cut = end.ceil_char_boundary(end.len().saturating_sub(KEPT));
        end.drain(..cut);
        self.reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of these bytes.
    fn read(bytes: &[u8], patterns: &[&str]) -> Reading {
        let patterns: Vec<Regex> =
            patterns.iter().map(|it| Regex::new(it).expect("a pattern")).collect();
        let mut output = Output::new(None::<OwnedFd>, &patterns);
        // In pieces that end anywhere.
        bytes.chunks(1000).for_each(|piece| output.take(piece));
        output.finish()
    }

    #[test]
    fn the_last_match_counts_and_the_end_is_kept() {
        let text = "time: 1 s\nnoise\ntime: 2 s time: 3 s\n".to_string() + &"x\n".repeat(KEPT);
        let found = read(text.as_bytes(), &[r"time: (?<s>\d+)", "never"]);
        let last = found.matches[0].as_ref().expect("a match");
        assert_eq!(last.groups[1], (Some("s".into()), Some("3".into())));
        assert_eq!((found.matches[1].is_none(), found.end.len()), (true, KEPT));
    }

    #[test]
    fn garbage_is_read_over() {
        let mut bytes = vec![0xff, 0, 0xfe];
        bytes.extend(std::iter::repeat_n(b'y', 3 * LONGEST_LINE));
        bytes.extend(b"\nt=5");
        let found = read(&bytes, &["t=([0-9])"]);
        assert_eq!(found.matches[0].as_ref().map(|it| it.groups.len()), Some(2));
    }
}

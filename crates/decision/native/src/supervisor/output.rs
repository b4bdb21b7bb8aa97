//! What a command prints: searched as it comes, and kept to its end, however much it is.
//!
//! Watching must take no time from what is watched. So what is printed is read in large pieces into
//! one buffer, searched there many lines at once, and no line is looked at by itself.

use std::borrow::Cow;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::Match;
use super::line_regex::{LineRegex, after, line_end};

/// Bytes of the end that are kept.
const KEPT: usize = 256 * 1024;

/// Bytes that are read at once, at most.
const PIECE: usize = 256 * 1024;

/// Bytes after which what was read is searched: few enough that a command does not end long before it is
/// noticed.
const SEARCHED: usize = 64 * 1024;

/// Longer lines are searched in pieces, in bytes.
const LONGEST_LINE: usize = KEPT;

/// Bytes that two pieces of a line share, so that what stands in both is found.
const SHARED: usize = 64 * 1024;

/// Bytes of the buffer at most: what is kept beside a piece that is read, several times over.
const BUFFER: usize = 4 * KEPT;

/// Bytes of the buffer at first: most commands print little, and to clear more would take longer than
/// these run.
const FIRST_BUFFER: usize = 16 * 1024;

/// Bytes in a pipe at which a command may soon have to wait: half of what it holds unless it is told
/// otherwise.
const FULL: usize = 32 * 1024;

/// Bytes that a pipe is to hold of which so much was read at once.
#[cfg(target_os = "linux")]
const LARGE_PIPE: i32 = 1024 * 1024;

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
    patterns: Vec<LineRegex>,
    /// What was read last, to `filled`.
    buffer: Vec<u8>,
    filled: usize,
    /// Where in the buffer that begins which was not searched yet.
    searched: usize,
    /// Whether no line begins there.
    is_within_line: bool,
    is_pipe_large: bool,
    matches: Vec<Option<Match>>,
}

impl Output {
    /// A stream that is searched for these.
    pub fn new(stream: Option<impl Into<OwnedFd>>, patterns: &[LineRegex]) -> Self {
        Self {
            stream: stream.map(|stream| stream.into().into()),
            patterns: patterns.to_vec(),
            buffer: vec![0; FIRST_BUFFER],
            filled: 0,
            searched: 0,
            is_within_line: false,
            is_pipe_large: false,
            matches: vec![None; patterns.len()],
        }
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
        self.make_room();
        let Some(stream) = &mut self.stream else { return };
        let end = self.buffer.len().min(self.filled + PIECE);
        match stream.read(&mut self.buffer[self.filled..end]) {
            Ok(0) => self.stream = None,
            Ok(count) => {
                if count >= FULL && !self.is_pipe_large {
                    enlarge(stream.as_fd());
                    self.is_pipe_large = true;
                }
                self.took(count);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.stream = None,
        }
    }

    /// Takes in so many bytes more that are in the buffer.
    fn took(&mut self, count: usize) {
        self.filled += count;
        if self.filled - self.searched >= SEARCHED {
            self.search();
        }
    }

    /// Makes the buffer larger, or lets go of what was searched and is before the end that is kept, where a
    /// piece would have no room.
    fn make_room(&mut self) {
        let size = self.buffer.len();
        if size - self.filled >= PIECE.min(size / 2) {
            return;
        }
        if size < BUFFER {
            self.buffer.resize(2 * size, 0);
            return;
        }
        // What was not searched is less than the longest line, which is no longer than this.
        let start = self.filled - KEPT;
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
        self.searched -= start;
    }

    /// Searches the whole lines that were not searched yet, or a piece of one that is too long.
    fn search(&mut self) {
        let left = &self.buffer[self.searched..self.filled];
        if self.patterns.is_empty() {
            self.searched = self.filled;
        } else if let Some(end) = line_end(left) {
            let end = self.searched + end;
            self.search_to(end, 0);
            (self.searched, self.is_within_line) = (end, false);
        } else if left.len() >= LONGEST_LINE {
            // What reaches to the end may be longer; the next piece has it as well.
            self.search_to(self.filled, 1);
            (self.searched, self.is_within_line) = (self.filled - SHARED, true);
        }
    }

    /// Searches to a place in the buffer for matches that end so many bytes before it.
    fn search_to(&mut self, end: usize, before: usize) {
        let text = text_of(&self.buffer[self.searched..end]);
        // What stands before a match shows that no line begins there.
        let from = if self.is_within_line { after(&text, 0) } else { 0 };
        let most = text.len().saturating_sub(before);
        for (found, pattern) in self.matches.iter_mut().zip(&self.patterns) {
            if let Some(last) = pattern.last(&text, from, most) {
                *found = Some(last);
            }
        }
    }

    /// What was read of it.
    pub fn finish(mut self) -> Reading {
        self.search();
        if self.searched < self.filled {
            self.search_to(self.filled, 0);
        }
        let end = text_of(&self.buffer[..self.filled]);
        let cut = end.ceil_char_boundary(end.len().saturating_sub(KEPT));
        Reading { matches: self.matches, end: end[cut..].into() }
    }
}

/// Text of bytes; the usual case is seen fast.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Has a pipe hold more, so that a command that prints much waits less; where that is not allowed, it
/// stays as it is.
fn enlarge(pipe: BorrowedFd<'_>) {
    #[cfg(target_os = "linux")]
    let _ = nix::fcntl::fcntl(pipe, nix::fcntl::FcntlArg::F_SETPIPE_SZ(LARGE_PIPE));
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// What is read of these bytes, written in pieces of so many.
    fn read_in(pieces: usize, bytes: &[u8], patterns: &[&str]) -> Reading {
        let patterns: Vec<LineRegex> =
            patterns.iter().map(|it| LineRegex::new(it).expect("a pattern")).collect();
        let (reader, mut writer) = std::io::pipe().expect("there are pipes");
        let bytes = bytes.to_vec();
        let writes = std::thread::spawn(move || {
            bytes.chunks(pieces).for_each(|piece| writer.write_all(piece).expect("it is read"));
        });
        let mut output = Output::new(Some(reader), &patterns);
        while output.is_open() {
            output.read();
        }
        writes.join().expect("all is written");
        output.finish()
    }

    fn read(bytes: &[u8], patterns: &[&str]) -> Reading {
        read_in(100_000, bytes, patterns)
    }

    fn first_group(reading: &Reading) -> Option<&str> {
        reading.matches[0].as_ref()?.groups[1].1.as_deref()
    }

    #[test]
    fn the_last_match_counts_and_the_end_is_kept() {
        let text = "time: 1 s\nnoise\ntime: 2 s time: 3 s\n".to_string() + &"x\n".repeat(KEPT);
        for pieces in [1000, 70_000, 1 << 20] {
            let found = read_in(pieces, text.as_bytes(), &[r"time: (?<s>\d+)", "never"]);
            assert_eq!(first_group(&found), Some("3"));
            assert_eq!((found.matches[1].is_none(), found.end.len()), (true, KEPT));
        }
    }

    /// At every place of the pieces in which a stream is read, searched and let go of.
    #[test]
    fn a_match_is_found_wherever_pieces_end() {
        let line = "^answer: (\\d+) of (\\d+)$";
        for size in [FULL, SEARCHED, PIECE, BUFFER - PIECE, BUFFER, 2 * BUFFER] {
            for before in (size - 16..=size + 2).step_by(3) {
                let filler = "12345 7\n".repeat(before / 8) + &"\n".repeat(before % 8);
                let text = filler + "answer: 42 of 43\n" + &"7\n".repeat(BUFFER);
                assert_eq!(first_group(&read(text.as_bytes(), &[line])), Some("42"), "{before}");
            }
        }
    }

    /// What is found in these bytes by a pattern, where they are searched after exactly so many.
    fn found_in(bytes: &[u8], pattern: &str) -> Option<Match> {
        let pattern = LineRegex::new(pattern).expect("a pattern");
        let mut output = Output::new(None::<OwnedFd>, &[pattern]);
        output.buffer.resize(BUFFER, 0);
        for piece in bytes.chunks(SEARCHED) {
            output.make_room();
            output.buffer[output.filled..output.filled + piece.len()].copy_from_slice(piece);
            output.took(piece.len());
        }
        output.finish().matches.remove(0)
    }

    #[test]
    fn a_line_without_end_is_searched_in_pieces_that_share_what_stands_in_both() {
        for end_of_piece in [LONGEST_LINE, 2 * LONGEST_LINE - SHARED, 4 * LONGEST_LINE - 3 * SHARED]
        {
            for before in end_of_piece - 9..=end_of_piece + 1 {
                for behind in [1, LONGEST_LINE, 2 * BUFFER] {
                    let text = "x".repeat(before) + "t=12345 s" + &"x".repeat(behind);
                    let found = found_in(text.as_bytes(), "t=([0-9]+)").expect("a match");
                    assert_eq!(found.groups[1].1.as_deref(), Some("12345"), "{before} {behind}");
                }
            }
        }
    }

    #[test]
    fn a_piece_of_a_line_is_neither_its_begin_nor_its_end() {
        let text = "a".to_string() + &"x".repeat(3 * BUFFER) + "z";
        assert_eq!(found_in(text.as_bytes(), "^(x)"), None);
        assert_eq!(found_in(text.as_bytes(), "(x)$"), None);
        assert!(
            found_in(text.as_bytes(), "^a").is_some() && found_in(text.as_bytes(), "xz$").is_some()
        );
        // Letters of several bytes are cut anywhere.
        let text = "\u{b5}".repeat(BUFFER) + "t=5";
        assert!(found_in(text.as_bytes(), "^\u{b5}{3}").is_some());
        assert!(found_in(text.as_bytes(), "\u{b5}t=5$").is_some());
    }

    #[test]
    fn garbage_is_read_over() {
        let mut bytes = vec![0xff, 0, 0xfe];
        bytes.extend(std::iter::repeat_n(b'y', 3 * LONGEST_LINE));
        bytes.extend(b"\nt=5");
        assert_eq!(first_group(&read(&bytes, &["t=([0-9])"])), Some("5"));
    }

    /// Time of this thread on a processor.
    #[cfg(target_os = "linux")]
    fn cpu_s() -> f64 {
        use nix::sys::resource::{UsageWho, getrusage};
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("it is known");
        let seconds = |it: nix::sys::time::TimeVal| it.tv_sec() as f64 + 1e-6 * it.tv_usec() as f64;
        seconds(usage.user_time()) + seconds(usage.system_time())
    }

    /// 64 MiB, whose lines nearly match, in a third of a second of a processor: released code takes a
    /// tenth of that, and one that looks at each line three seconds.
    #[test]
    #[cfg(target_os = "linux")]
    fn watching_costs_next_to_nothing() {
        let line = "Step 4711  Temp 300.0  TotEng -98765.4321  Press 1.0133  Time none s\n";
        for (line, pattern) in [(line, "Time ([0-9.]+) s"), ("y\n", "^Loop time of (.*) on")] {
            let text = line.repeat((64 << 20) / line.len());
            let before = cpu_s();
            let found = read_in(1 << 20, text.as_bytes(), &[pattern]);
            let took = cpu_s() - before;
            assert!(found.matches[0].is_none() && took < 0.32, "{took} s for {pattern}");
        }
    }
}

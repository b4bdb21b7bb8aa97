//! Regular expressions that are looked for in many lines at once, and match within one.

use regex::Regex;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, HirKind, Look};

use super::Match;

/// A regular expression of which no match is longer than a line. `^` and `$` are the ends of a line, which
/// ends at `\n`, `\r\n` or `\r`: what a terminal writes over is one, too.
///
/// Whole texts are searched as fast as the engine goes, lines are looked for around what is found
/// alone.
#[derive(Clone)]
pub(super) struct LineRegex(Regex);

/// Bytes that are searched at once: the last match counts, so that of many none before the last of these is
/// looked at.
const BLOCK: usize = 8 * 1024;

/// Bytes of a line on either side of a match that are kept.
const AROUND: usize = 4 * 1024;

impl LineRegex {
    /// # Errors
    /// What is wrong with the text, in words.
    pub fn new(text: &str) -> Result<Self, String> {
        let hir = regex_syntax::parse(text).map_err(|error| error.to_string())?;
        let within = within_line(hir).to_string();
        Regex::new(&within).map(Self).map_err(|error| error.to_string())
    }

    /// The last match in a text of which the first begins at `from` or later and all end at `most` or
    /// earlier.
    pub fn last(&self, text: &str, from: usize, most: usize) -> Option<Match> {
        let mut end = text.len();
        while end > from {
            let start = match line_end(&text.as_bytes()[..end.saturating_sub(BLOCK)]) {
                Some(start) if start > from => start,
                _ => 0,
            };
            let (block, from) = (&text[start..end], if start == 0 { from } else { 0 });
            if let Some(place) = self.last_in(block, from, most.saturating_sub(start)) {
                return self.match_at(block, place);
            }
            end = start;
        }
        None
    }

    /// Where the last match begins.
    fn last_in(&self, block: &str, from: usize, most: usize) -> Option<usize> {
        let (mut last, mut at) = (None, from);
        while let Some(found) = self.0.find_at(block, at) {
            if found.end() > most {
                break;
            }
            last = Some(found.start());
            at = if found.is_empty() { after(block, found.end()) } else { found.end() };
            if at > block.len() {
                break;
            }
        }
        last
    }

    /// The match that begins there, in its line.
    fn match_at(&self, text: &str, at: usize) -> Option<Match> {
        let found = self.0.captures_at(text, at)?;
        let whole = found.get(0)?;
        let start = line_end(&text.as_bytes()[..whole.start()]).unwrap_or(0);
        let start = text.ceil_char_boundary(start.max(whole.start().saturating_sub(AROUND)));
        let rest = &text[whole.end()..];
        let end = whole.end() + rest.find(['\n', '\r']).unwrap_or(rest.len()).min(AROUND);
        let end = text.floor_char_boundary(end);
        let names = self.0.capture_names().map(|name| name.map(str::to_string));
        let groups = found.iter().map(|group| group.map(|it| it.as_str().to_string()));
        let span = found.get(1).map_or((0, 0), |it| (it.start() - start, it.end() - start));
        Some(Match { groups: names.zip(groups).collect(), line: text[start..end].into(), span })
    }
}

/// Behind the last end of a line.
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|&byte| byte == b'\n' || byte == b'\r').map(|at| at + 1)
}

/// Behind the character that begins there.
pub(super) fn after(text: &str, at: usize) -> usize {
    if at < text.len() { text.ceil_char_boundary(at + 1) } else { at + 1 }
}

/// The same with the ends of a line where it has those of the text, and without ends of lines in what it
/// matches. Boundaries of words are of ASCII, because the engine is slow with others.
fn within_line(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(text) if text.0.iter().any(|it| b"\n\r".contains(it)) => Hir::fail(),
        HirKind::Literal(text) => Hir::literal(text.0),
        HirKind::Class(class) => Hir::class(without_ends(class)),
        HirKind::Look(look) => Hir::look(match look {
            Look::Start | Look::StartLF | Look::StartCRLF => Look::StartCRLF,
            Look::End | Look::EndLF | Look::EndCRLF => Look::EndCRLF,
            Look::WordAscii | Look::WordUnicode => Look::WordAscii,
            Look::WordAsciiNegate | Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartAscii | Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndAscii | Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfAscii | Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfAscii | Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        }),
        HirKind::Repetition(mut it) => {
            it.sub = Box::new(within_line(*it.sub));
            Hir::repetition(it)
        }
        HirKind::Capture(mut it) => {
            it.sub = Box::new(within_line(*it.sub));
            Hir::capture(it)
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(within_line).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(within_line).collect())
        }
    }
}

fn without_ends(class: Class) -> Class {
    match class {
        Class::Unicode(mut class) => {
            let ends = ['\n', '\r'].map(|end| ClassUnicodeRange::new(end, end));
            class.difference(&ClassUnicode::new(ends));
            Class::Unicode(class)
        }
        Class::Bytes(mut class) => {
            let ends = [b'\n', b'\r'].map(|end| ClassBytesRange::new(end, end));
            class.difference(&ClassBytes::new(ends));
            Class::Bytes(class)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_within_a_line_and_anchors_are_its_ends() {
        let check = |pattern: &str, text: &str, found: Option<&str>| {
            let regex = LineRegex::new(pattern).expect("a pattern");
            let last = regex.last(text, 0, text.len());
            let whole = last.as_ref().and_then(|it| it.groups[0].1.as_deref());
            assert_eq!(whole, found, "{pattern} in {text:?}");
        };
        check("^b$", "ab\nb\nbc\n", Some("b"));
        check(r"\Ab\z", "ab\nb\r\nbc\r\n", Some("b"));
        check("(?-m)^b", "ab\nba", Some("b"));
        // Blanks, and whatever else, do not reach over the end of a line.
        check(r"a\s+b", "a\nb\na  b\na\n", Some("a  b"));
        check("a[^x]*", "a1\na2\n1", Some("a2"));
        check("(?s)a.*", "a1\na2\n1", Some("a2"));
        check("a\nb", "a\nb", None);
        check("50%.*", "10%\r50%\r60%\n", Some("50%"));
        check(r"\bT=\d", "µT=1 xT=2\n", Some("T=1"));
        check("x*", "a\n", Some(""));
        check("µ+", "aµµb", Some("µµ"));
    }

    #[test]
    fn the_line_and_the_place_in_it_are_told() {
        let text = "first: 1 s\ntime: 2 s, time: 3 s or so\r\nlast\n".to_string();
        let regex = LineRegex::new(r"time: (?<s>\d+)").expect("a pattern");
        let check = |text: &str| {
            let found = regex.last(text, 0, text.len()).expect("a match");
            assert_eq!(found.line, "time: 2 s, time: 3 s or so");
            assert_eq!(&found.line[found.span.0..found.span.1], "3");
            assert_eq!(found.groups[1], (Some("s".into()), Some("3".into())));
        };
        check(&text);
        // Far from the end, and where a block ends anywhere in it.
        for more in [1, BLOCK - 20, BLOCK, 3 * BLOCK] {
            check(&(text.clone() + &"x\n".repeat(more)));
            check(&("x\n".repeat(more) + &text + &"y".repeat(more)));
        }
    }
}

//! Lines no wider than a terminal.

/// Lines broken between words so that none is wider, as far as words allow; what continues a line is
/// set in by two columns more.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut rest = line;
        let mut first = true;
        loop {
            let set_in = if first { 0 } else { indent + 2 };
            let room = width.saturating_sub(set_in).max(1);
            let cut = place_to_cut(rest, room);
            let (head, tail) = rest.split_at(cut);
            lines.push(format!("{}{}", " ".repeat(set_in), head.trim_end()));
            rest = tail.trim_start();
            first = false;
            if rest.is_empty() {
                break;
            }
        }
    }
    lines.join("\n")
}

/// The place after the last word that has room, or after the first where none has.
fn place_to_cut(text: &str, room: usize) -> usize {
    if text.chars().count() <= room {
        return text.len();
    }
    let begins = text.len() - text.trim_start().len();
    // A per cent sign stays with its number.
    let is_space = |at: usize| at > begins && !text[at + 1..].starts_with('%');
    let spaces = text.char_indices().enumerate();
    let spaces = spaces.filter(|(_, (at, c))| *c == ' ' && is_space(*at));
    let mut cut = None;
    for (column, (at, _)) in spaces {
        if column > room && cut.is_some() {
            break;
        }
        cut = Some(at);
        if column > room {
            break;
        }
    }
    cut.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_set_in() {
        let check = |text: &str, width: usize, expected: &str| {
            assert_eq!(wrapped(text, width), expected);
        };
        check("one two three", 13, "one two three");
        check("one two three", 9, "one two\n  three");
        check("  one two three\nfour", 10, "  one two\n    three\nfour");
        check("off by 44 % of", 10, "off by\n  44 % of");
        check("unbreakable word", 4, "unbreakable\n  word");
    }
}

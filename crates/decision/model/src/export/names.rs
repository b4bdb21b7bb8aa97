//! Names and texts of a user inside the text of a program: whatever they hold, it stays one word
//! or one comment.

use std::fmt::Write;

/// The longest identifier, which every compiler keeps apart.
const MOST: usize = 48;

/// A lower-case identifier of ASCII letters, digits and single underscores; it follows a prefix, so
/// it may begin with a digit or be a keyword.
pub(super) fn identifier(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars().map(|letter| letter.to_ascii_lowercase()) {
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
        } else if !word.is_empty() && !word.ends_with('_') {
            word.push('_');
        }
    }
    word.truncate(MOST);
    let word = word.trim_end_matches('_');
    if word.is_empty() { "parameters".into() } else { word.into() }
}

/// One line of printable ASCII, in which nothing can end a comment of any of the languages.
pub(super) fn comment(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        match letter {
            ' '..='~' => line.push(letter),
            letter if letter.is_whitespace() || letter.is_control() => line.push(' '),
            letter => {
                let _ = write!(line, "<U+{:04X}>", u32::from(letter));
            }
        }
    }
    // "*/" ends a comment of C, "--" one of XML, and a line that ends in "\" goes on in the next.
    let mut line = line.replace('\\', "/").replace("*/", "* /").replace("/*", "/ *");
    while line.contains("--") {
        line = line.replace("--", "- -");
    }
    line.trim().to_string()
}

/// The inside of a string between double quotes in JSON's notation, in ASCII; Python reads the same.
pub(super) fn quoted(text: &str) -> String {
    let mut inside = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => inside.extend(['\\', letter]),
            ' '..='~' => inside.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(inside, "\\u{unit:04x}");
                }
            }
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_one_identifier() {
        for (name, expected) in [
            ("PBPI \"107\", QS20", "pbpi_107_qs20"),
            ("", "parameters"),
            ("µ*/\n", "parameters"),
            ("int", "int"),
            ("-- a -- b --", "a_b"),
            ("\u{202e}x\\", "x"),
        ] {
            assert_eq!(identifier(name), expected);
        }
        assert_eq!(identifier(&"ab ".repeat(100)).len(), 47);
    }

    #[test]
    fn nothing_ends_a_comment_before_its_end() {
        assert_eq!(comment("a */ b /* c --> d\r\n\\"), "a * / b / * c - -> d  /");
        assert_eq!(comment("a *\\ b /\\* c"), "a * / b // * c");
        assert_eq!(comment("---"), "- - -");
        assert_eq!(comment("\u{202e}µ"), "<U+202E><U+00B5>");
    }

    #[test]
    fn a_string_is_read_back_by_a_reader_of_json() {
        for text in ["a \"b\" \\ c", "line\nend\u{0}", "µ \u{1f600} \u{202e}"] {
            let json = format!("\"{}\"", quoted(text));
            assert!(json.is_ascii());
            assert_eq!(serde_json::from_str::<String>(&json).expect("a string"), text);
        }
    }
}

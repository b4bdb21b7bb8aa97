//! Words as a shell reads them.

use std::fmt::Write;

/// A word so that bash reads it as it is. Without control characters any POSIX shell does: those
/// are written as in `$'\n'`, so that a command stays on one line.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    if !word.contains(|letter: char| letter.is_ascii_control()) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str(r"\n"),
            '\t' => text.push_str(r"\t"),
            _ if letter.is_ascii_control() => {
                write!(text, r"\x{:02x}", u32::from(letter)).expect("invariant: a string grows");
            }
            _ => text.push(letter),
        }
    }
    text + "'"
}

/// The words of a command on one line.
pub fn command_line<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn bash_reads_every_word_as_it_was() {
        let words = [
            "",
            "plain",
            "a b",
            "it's",
            "\"q\"",
            "$HOME `id` $(id)",
            "a\nb\t\u{1}f\u{7f}'\\",
            "~",
            "*?[x]{a,b}",
            "!x;&|<>()#",
            "\\n",
            "é \u{1F600}",
            "-n",
            "a=b",
            "\n'",
            "{} {1}",
        ];
        let line = format!("printf '%s\\0' {}", command_line(&words));
        assert_eq!(line.lines().count(), 1);
        let Ok(output) = Command::new("bash").args(["-c", &line]).output() else {
            return testing::skipped("bash");
        };
        let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
        assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), expected);
    }
}

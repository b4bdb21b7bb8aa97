//! Words beside numbers that say what these count: `8 ranks`, `mpi8_omp4`, `OMP=4 MPI=8`, `ranks x threads`.

use crate::names::{Role, role_of};

/// Single letters and stubs that count processes or threads where they stand beside a number.
const STUBS: [(Role, &str); 2] = [
    (Role::Processes, "r rank task proc worker mpi ntmpi"),
    (Role::Threads, "t th thd thrds omp ntomp"),
];

/// A part of a text.
enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let kind = |it: char| (it.is_ascii_digit(), it.is_alphabetic());
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|it: char| kind(it) != kind(first)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        match kind(first) {
            (true, _) => tokens.push(Token::Number(token)),
            (_, true) if !["x", "X", "by", "and"].contains(&token) => {
                tokens.push(Token::Word(token));
            }
            _ => {}
        }
        rest = behind;
    }
    tokens
}

/// Whether a word counts processes or threads.
pub fn role_of_word(word: &str) -> Option<Role> {
    let lower = word.to_lowercase();
    let role = |word: &str| {
        let found = role_of(word).filter(|it| matches!(it, Role::Processes | Role::Threads));
        let is_stub = |list: &str| list.split_whitespace().any(|stub| stub == word);
        found.or_else(|| STUBS.iter().find(|(_, list)| is_stub(list)).map(|(role, _)| *role))
    };
    // As in `4OMPx8MPI`.
    role(&lower).or_else(|| role(lower.strip_suffix('x')?))
}

/// The whole numbers in a text, each with what the word behind it, or before it where the text begins with
/// a word, says that it counts.
fn labelled(text: &str) -> Vec<(u32, Option<Role>)> {
    let tokens = tokens(text);
    let is_behind = matches!(tokens.first(), Some(Token::Number(_)));
    let mut numbers = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let Token::Number(digits) = token else { continue };
        let other = match is_behind {
            true => tokens.get(place + 1),
            false => place.checked_sub(1).and_then(|place| tokens.get(place)),
        };
        let role = match other {
            Some(Token::Word(word)) => role_of_word(word).map(|role| (*word, role)),
            _ => None,
        };
        numbers.push((digits.parse().unwrap_or(0), role));
    }
    // Beside threads, p is processes.
    let is_p = |label: &Option<(&str, Role)>| {
        label.is_some_and(|(word, _)| word.eq_ignore_ascii_case("p"))
    };
    let has_threads = numbers
        .iter()
        .any(|(_, label)| !is_p(label) && label.is_some_and(|(_, role)| role == Role::Threads));
    let role = |label: Option<(&str, Role)>| match is_p(&label) && has_threads {
        true => Some(Role::Processes),
        false => label.map(|(_, role)| role),
    };
    numbers.into_iter().map(|(number, label)| (number, role(label))).collect()
}

/// The only number of a text such as `8 ranks`, and what it counts.
pub fn count(text: &str) -> Option<(u32, Role)> {
    match labelled(text)[..] {
        [(number, Some(role))] if number >= 1 && !text.contains(['.', ',']) => Some((number, role)),
        _ => None,
    }
}

/// Whether the second of the two numbers of a text counts processes, and the first threads; `None` where
/// words do not say it.
pub fn is_p_first(text: &str) -> Option<bool> {
    match labelled(text)[..] {
        [(_, Some(Role::Processes)), (_, Some(Role::Threads))] => Some(false),
        [(_, Some(Role::Threads)), (_, Some(Role::Processes))] => Some(true),
        _ => None,
    }
}

/// As [`is_p_first`], of the two numbers in a column that is called so: `ranks x threads`.
pub fn is_p_first_by_name(name: &str) -> Option<bool> {
    let mut roles = Vec::new();
    for token in tokens(name) {
        let Token::Word(word) = token else { continue };
        let known = role_of_word(word).filter(|_| word.len() > 1);
        match known.or_else(|| role_of(word)) {
            Some(role @ (Role::Processes | Role::Threads)) if !roles.contains(&role) => {
                roles.push(role);
            }
            Some(Role::Nodes | Role::Cores | Role::AllCores) => return None,
            _ => {}
        }
    }
    match roles[..] {
        [Role::Processes, Role::Threads] => Some(false),
        [Role::Threads, Role::Processes] => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_numbers_say_what_they_count() {
        for text in [
            "mpi8_omp4",
            "8 ranks x 4 threads",
            "8R4T",
            "8MPI x 4OMP",
            "-np 8 -ntomp 4",
            "8 ranks, 4 threads/rank",
            "8p4t",
            "jacobi_np8_nt4",
            "MPI ranks = 8, OMP threads = 4",
        ] {
            assert_eq!(is_p_first(text), Some(false), "{text}");
        }
        for text in ["OMP=4 MPI=8", "4OMPx8MPI", "t4_r8", "4 threads on 8 ranks"] {
            assert_eq!(is_p_first(text), Some(true), "{text}");
        }
        for text in ["8x4", "n8t4", "case 8, mesh 4", "8 ranks", "a8_b4"] {
            assert_eq!(is_p_first(text), None, "{text}");
        }
        assert_eq!(count("8 ranks"), Some((8, Role::Processes)));
        assert_eq!(count("OMP=4"), Some((4, Role::Threads)));
        for text in ["8", "run 4", "1.5 t", "8x4", "4 nodes"] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_says_which_number_comes_first() {
        for name in ["MPI x OMP", "ranks \u{d7} threads", "layout (procs, threads/proc)"] {
            assert_eq!(is_p_first_by_name(name), Some(false), "{name}");
        }
        assert_eq!(is_p_first_by_name("threads x ranks"), Some(true));
        for name in ["config", "nodes x ranks x threads", "ranks"] {
            assert_eq!(is_p_first_by_name(name), None, "{name}");
        }
    }
}

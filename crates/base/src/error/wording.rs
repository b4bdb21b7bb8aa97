//! How messages quote what they found, and which name was likely meant.

use std::borrow::Cow;

/// Messages quote no more of a file than this [characters], which is more than any name or number
/// that belongs into one.
const MOST_SHOWN: usize = 300;

/// The characters that are left at either end of a text that is cut.
const ENDS_SHOWN: usize = 60;

/// A text as messages show it: what is too long, a field of megabytes for instance, by its two ends
/// and the number of characters between them.
pub fn shortened(text: &str) -> Cow<'_, str> {
    // So many bytes are as many characters at most.
    if text.len() <= MOST_SHOWN {
        return text.into();
    }
    let head = text.char_indices().nth(ENDS_SHOWN).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().nth_back(ENDS_SHOWN - 1).map_or(0, |(at, _)| at);
    let left_out = text.get(head..tail).map_or(0, |between| between.chars().count());
    if left_out + 2 * ENDS_SHOWN <= MOST_SHOWN {
        return text.into();
    }
    format!("{}[... {left_out} characters ...]{}", &text[..head], &text[tail..]).into()
}

/// What could have been meant, and all that is known.
pub(super) fn alternatives(name: &str, known: &[String]) -> String {
    let nearest = suggest(name, known);
    let end = if nearest.is_empty() { ";" } else { "" };
    let known: Vec<Cow<'_, str>> = known.iter().map(|name| shortened(name)).collect();
    format!("{nearest}{end} known: {}", known.join(", "))
}

/// `; did you mean "x"?` where a known name is near.
pub fn suggest(name: &str, known: &[impl AsRef<str>]) -> String {
    nearest(name, known)
        .map_or_else(String::new, |near| format!("; did you mean {:?}?", shortened(near)))
}

/// The known name that `name` was likely meant to be: the only one that it begins, or the one that
/// differs in the fewest letters, in no more than a third of them. Capitals do not count, and two
/// neighbours that changed places count as one. A name in another unit was not mistyped.
pub fn nearest<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let mut begun = known.iter().filter(|it| it.as_ref().to_lowercase().starts_with(&name));
    if let (2.., Some(only), None) = (name.chars().count(), begun.next(), begun.next()) {
        return Some(only.as_ref());
    }
    if known.iter().any(|candidate| is_in_another_unit(&name, candidate.as_ref())) {
        return None;
    }
    let letters_of_name = name.chars().count();
    let near = |candidate: &'a str| {
        let lower = candidate.to_lowercase();
        let letters = candidate.chars().count();
        // Each letter too many is a change, and to compare texts of megabytes would take minutes.
        if letters_of_name.abs_diff(lower.chars().count()) * 3 > letters.max(3) {
            return None;
        }
        let changes = strsim::osa_distance(&name, &lower);
        (changes * 3 <= letters.max(3) && changes < letters).then_some((changes, candidate))
    };
    let (_, name) = known.iter().filter_map(|candidate| near(candidate.as_ref())).min()?;
    Some(name)
}

/// Units of time that stand at the end of a column's name.
const UNITS: [&str; 6] = ["s", "ms", "us", "ns", "min", "h"];

/// Whether two names are of the same quantity, each in a unit of its own: to rename one would
/// change every value.
pub fn is_in_another_unit(name: &str, wanted: &str) -> bool {
    fn split(name: &str) -> Option<(&str, &str)> {
        let (quantity, unit) = name.rsplit_once('_')?;
        UNITS.contains(&unit).then_some((quantity, unit))
    }
    let (one, other) = (split(name), split(wanted));
    one.zip(other).is_some_and(|(one, other)| one.0 == other.0 && one.1 != other.1)
}

/// Whether a column's name is a misspelling of `known` beyond reasonable doubt: the same up to
/// capitals, or, of names of four letters and more, one letter away.
pub fn is_near_spelling(name: &str, known: &str) -> bool {
    let (name, known) = (name.to_lowercase(), known.to_lowercase());
    let (letters, others) = (known.chars().count(), name.chars().count());
    // To compare texts of megabytes would take minutes.
    let is_close = letters >= 4 && letters.abs_diff(others) <= 1;
    name == known
        || is_close
            && !is_in_another_unit(&name, &known)
            && strsim::osa_distance(&name, &known) == 1
}

//! Every reader against damaged files and random bytes: what is refused is refused at a place in
//! the text, what is read is sane, and what is read and can be written is read back as the same.

mod documents;
mod tables;

use std::path::Path;

use mmgp::table::{self, Source};

use crate::mutation::{Format, damaged};
use crate::random::Random;
use crate::target::{Input, Outcome, Target};

/// One reader for each kind of file.
pub fn targets() -> Vec<Target> {
    tables::targets().into_iter().chain(documents::targets()).collect()
}

/// What reads a text and checks what was read.
type Check = fn(&Source) -> Result<Outcome, String>;

/// A reader of a kind of file, whose good files lie in a folder of `corpus`, with words that go wrong in it
/// beside those that go wrong everywhere.
fn reader(name: &'static str, format: Format, words: &'static str, check: Check) -> Target {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files = table::files_in(&folder).expect("a folder of good files");
    let text = |file: &String| Source::read(&folder.join(file)).expect("a good file").text;
    let corpus: Vec<String> = files.iter().map(text).collect();
    let seeds = corpus.clone();
    let input = move |random: &mut Random| Input::of(name, damaged(random, &seeds, format, words));
    Target { corpus, ..Target::new(name, input, move |input| check(&input.first())) }
}

/// What is wrong where one of the numbers is negative or not finite.
fn first_unsound(numbers: impl IntoIterator<Item = f64>) -> Option<String> {
    let is_sound = |number: &f64| *number >= 0.0 && number.is_finite();
    let unsound = numbers.into_iter().find(|number| !is_sound(number))?;
    Some(format!("a number was read: {unsound}"))
}

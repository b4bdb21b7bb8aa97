//! Every reader against damaged files and random bytes: what is refused is refused at a place in
//! the text, what is read is sane, and what is read and can be written is read back as the same.

mod foreign;
mod machine;
mod parameters;
mod phylogeny;
mod tables;
mod traces;

use mmgp::Result as Read;
use mmgp::table::Source;

use crate::mutation::{Format, damaged};
use crate::random::Random;
use crate::target::{Input, Outcome, Seen, Target, refused};

/// One reader for each kind of file.
pub fn targets() -> Vec<Box<dyn Target>> {
    all().map(|&reader| Box::new(reader) as Box<dyn Target>).collect()
}

fn all() -> impl Iterator<Item = &'static Reader> {
    let all = [
        tables::READERS,
        foreign::READERS,
        parameters::READERS,
        machine::READERS,
        phylogeny::READERS,
        traces::READERS,
    ];
    all.into_iter().flatten()
}

/// A reader of a kind of file.
#[derive(Clone, Copy)]
pub struct Reader {
    /// Of the target.
    pub name: &'static str,
    /// What the file is called.
    pub file: &'static str,
    pub kind: Kind,
    /// Good files.
    pub seeds: &'static [&'static str],
    /// Reads a text and checks what was read.
    pub check: fn(&Source) -> Result<Outcome, String>,
}

/// A kind of file.
#[derive(Clone, Copy)]
pub struct Kind {
    /// What it is made of.
    pub format: Format,
    /// Words of it beside those that go wrong everywhere.
    pub words: &'static [&'static str],
}

impl Kind {
    /// A reader of such files.
    pub const fn read(
        self,
        (name, file): (&'static str, &'static str),
        seeds: &'static [&'static str],
        check: fn(&Source) -> Result<Outcome, String>,
    ) -> Reader {
        Reader { name, file, kind: self, seeds, check }
    }
}

impl Target for Reader {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "refused at a place in the text, or sane, and the same when written and read again"
    }

    fn input(&self, random: &mut Random) -> Input {
        Input::of(self.file, damaged(random, self.seeds, self.kind.format, self.kind.words))
    }

    fn check(&self, input: &Input) -> Result<Outcome, String> {
        (self.check)(&input.first())
    }
}

/// What a reader did, `wrong` saying what is wrong with what was read.
fn judged<T>(
    result: Read<T>,
    source: &Source,
    wrong: impl FnOnce(T) -> Option<String>,
) -> Result<Outcome, String> {
    match result {
        Err(error) => refused(&error, source),
        Ok(value) => wrong(value).map_or(Ok(Seen::Taken.into()), Err),
    }
}

/// What is wrong where one of the numbers is negative or not finite.
fn first_unsound(numbers: impl IntoIterator<Item = f64>) -> Option<String> {
    let is_sound = |number: &f64| *number >= 0.0 && number.is_finite();
    let unsound = numbers.into_iter().find(|number| !is_sound(number))?;
    Some(format!("a number was read: {unsound}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_good_file_is_read() {
        for reader in all() {
            for seed in reader.seeds {
                let outcome = (reader.check)(&Source::new(reader.file, seed));
                assert_eq!(outcome, Ok(Seen::Taken.into()), "{}:\n{seed}", reader.name);
            }
        }
    }
}

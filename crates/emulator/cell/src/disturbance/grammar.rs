//! How people write faults.

use std::fmt;
use std::str::FromStr;

use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Seconds, SimSpan, SimTime};
use mmgp_machine::Layout;

/// A fault to inject, as it is written: `spe 3 stops at 2 ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbance {
    text: String,
    pub(super) sort: Sort,
}

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Stops {
        spe: u32,
        at: SimTime,
    },
    Slow {
        spe: u32,
        part: Part,
        during: During,
    },
    /// One interrupt, counted from 1.
    LosesOne {
        spe: u32,
        number: u64,
    },
    Loses {
        spe: u32,
        during: During,
    },
    SlowMemory {
        part: Part,
        during: During,
    },
}

/// A part of a rate, less than all of it and more than nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub of: u32,
    pub whole: u32,
}

/// From an instant on, up to another one or for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct During {
    pub from: SimTime,
    pub to: Option<SimTime>,
}

impl During {
    /// Whether it lasts at that instant.
    pub fn contains(self, at: SimTime) -> bool {
        self.from <= at && self.to.is_none_or(|to| at < to)
    }
}

impl Disturbance {
    /// The forms that there are, an example each.
    pub const EXAMPLES: [&'static str; 5] = [
        "spe 3 stops at 2 ms",
        "spe 3 at 1/2 from 1 ms to 3 ms",
        "interrupt 5 of spe 2 lost",
        "interrupts of spe 2 lost from 1 ms",
        "memory at 1/2 from 1 ms",
    ];

    /// Whether a machine has what it strikes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the numbers of the SPEs that there are.
    pub fn check(&self, layout: Layout) -> Result<()> {
        match self.sort.spe() {
            Some(spe) if spe >= layout.spes() => Err(Error::out_of_range(
                "fault to inject",
                format!("SPE {spe} in {:?}", self.text),
                format!("an SPE that the machine has: 0 to {}", layout.spes() - 1),
            )),
            _ => Ok(()),
        }
    }

    /// What is said of it once it has struck: `spe 3 stopped at 2 ms`.
    pub(super) fn as_struck(&self) -> String {
        self.text.replace(" stops ", " stopped ")
    }
}

impl Sort {
    fn spe(self) -> Option<u32> {
        match self {
            Self::Stops { spe, .. }
            | Self::Slow { spe, .. }
            | Self::LosesOne { spe, .. }
            | Self::Loses { spe, .. } => Some(spe),
            Self::SlowMemory { .. } => None,
        }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Disturbance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut words = Words::new(text);
        let sort = words.sort()?;
        words.end()?;
        Ok(Self { text: words.words.join(" "), sort })
    }
}

/// The words of a fault, and how many have been read.
struct Words {
    words: Vec<String>,
    read: usize,
}

impl Words {
    /// In lower case; a unit may follow its number without a space.
    fn new(text: &str) -> Self {
        let mut apart = String::with_capacity(text.len());
        let mut before = ' ';
        for letter in text.chars().flat_map(char::to_lowercase) {
            if before.is_ascii_digit() && letter.is_alphabetic() {
                apart.push(' ');
            }
            apart.push(letter);
            before = letter;
        }
        Self { words: apart.split_whitespace().map(Into::into).collect(), read: 0 }
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.read).map(String::as_str)
    }

    fn next_is(&mut self, wanted: &str) -> bool {
        let is = self.peek() == Some(wanted);
        self.read += usize::from(is);
        is
    }

    /// What is wrong with the next word.
    fn refuse(&self, expected: &str, example: usize) -> Error {
        let found = match (self.peek(), self.read.checked_sub(1)) {
            (Some(word), None) => format!("{word:?}"),
            (Some(word), Some(before)) => format!("{word:?} after {:?}", self.words[before]),
            (None, None) => "nothing".into(),
            (None, Some(before)) => format!("nothing after {:?}", self.words[before]),
        };
        let expected = format!("{expected}, as in {:?}", Disturbance::EXAMPLES[example]);
        Error::out_of_range("fault to inject", found, expected)
    }

    fn expect(&mut self, wanted: &str, example: usize) -> Result<()> {
        if self.next_is(wanted) {
            Ok(())
        } else {
            Err(self.refuse(&format!("{wanted:?}"), example))
        }
    }

    /// The next word as whatever `read` makes of it.
    fn value<T>(
        &mut self,
        read: impl FnOnce(&str) -> Option<T>,
        expected: &str,
        example: usize,
    ) -> Result<T> {
        let value = self.peek().and_then(read);
        let value = value.ok_or_else(|| self.refuse(expected, example))?;
        self.read += 1;
        Ok(value)
    }

    fn sort(&mut self) -> Result<Sort> {
        if self.next_is("spe") {
            let spe = self.spe(0)?;
            if self.next_is("stops") {
                self.expect("at", 0)?;
                return Ok(Sort::Stops { spe, at: self.time(0)? });
            }
            if !self.next_is("at") {
                return Err(self.refuse("\"stops\" or \"at\"", 0));
            }
            let part = self.part(1)?;
            Ok(Sort::Slow { spe, part, during: self.during(1)? })
        } else if self.next_is("interrupt") {
            let number = |word: &str| word.parse().ok().filter(|&number: &u64| number > 0);
            let number = self.value(number, "the number of an interrupt, from 1", 2)?;
            let spe = self.of_spe(2)?;
            self.expect("lost", 2)?;
            Ok(Sort::LosesOne { spe, number })
        } else if self.next_is("interrupts") {
            let spe = self.of_spe(3)?;
            self.expect("lost", 3)?;
            Ok(Sort::Loses { spe, during: self.during(3)? })
        } else if self.next_is("memory") {
            self.expect("at", 4)?;
            let part = self.part(4)?;
            Ok(Sort::SlowMemory { part, during: self.during(4)? })
        } else {
            Err(self.refuse("\"spe\", \"interrupt\", \"interrupts\" or \"memory\"", 0))
        }
    }

    fn spe(&mut self, example: usize) -> Result<u32> {
        self.value(|word| word.parse().ok(), "the number of an SPE, from 0", example)
    }

    fn of_spe(&mut self, example: usize) -> Result<u32> {
        self.expect("of", example)?;
        self.expect("spe", example)?;
        self.spe(example)
    }

    fn part(&mut self, example: usize) -> Result<Part> {
        let part = |word: &str| {
            let (of, whole) = word.split_once('/')?;
            let part = Part { of: of.parse().ok()?, whole: whole.parse().ok()? };
            // So that what many of them make together can be reckoned exactly.
            (0 < part.of && part.of < part.whole && part.whole <= 1000).then_some(part)
        };
        let expected = "a part of its rate, a fraction between 1/1000 and 999/1000";
        self.value(part, expected, example)
    }

    /// `from` an instant, and perhaps `to` another one.
    fn during(&mut self, example: usize) -> Result<During> {
        self.expect("from", example)?;
        let from = self.time(example)?;
        let begins = self.read;
        if !self.next_is("to") {
            return Ok(During { from, to: None });
        }
        let to = self.time(example)?;
        if to > from {
            return Ok(During { from, to: Some(to) });
        }
        self.read = begins + 1;
        Err(self.refuse("an end after its beginning", 1))
    }

    fn time(&mut self, example: usize) -> Result<SimTime> {
        let number = |word: &str| {
            let number = word.parse().ok().filter(|number: &f64| number.is_finite());
            number.filter(|&number| number >= 0.0)
        };
        let number = self.value(number, "a time, a number with its unit", example)?;
        let unit = |word: &str| match word {
            "s" => Some(1.0),
            "ms" => Some(1e3),
            "us" => Some(1e6),
            "ns" => Some(1e9),
            _ => None,
        };
        let unit = self.value(unit, "a unit of time: s, ms, us or ns", example)?;
        let seconds = Seconds(number / unit);
        if seconds.0 > LONGEST {
            self.read -= 2;
            return Err(self.refuse("a time of at most 10000 s", example));
        }
        Ok(SimTime::ZERO + SimSpan::from_seconds(seconds))
    }

    fn end(&self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.refuse("the end of the fault, or another --inject", 1)),
        }
    }
}

/// Virtual time lasts 5 hours \[s\].
const LONGEST: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(microseconds: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_ticks(1_000_000_000 * microseconds)
    }

    #[track_caller]
    fn check(text: &str, sort: Sort) {
        assert_eq!(text.parse::<Disturbance>().unwrap().sort, sort);
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(text.parse::<Disturbance>().unwrap_err().to_string(), message);
    }

    #[test]
    fn every_form_is_read() {
        let half = Part { of: 1, whole: 2 };
        let during = |from, to: Option<u64>| During { from: at(from), to: to.map(at) };
        check("spe 3 stops at 2 ms", Sort::Stops { spe: 3, at: at(2000) });
        check(
            " SPE 3  stops at 1.5us ",
            Sort::Stops { spe: 3, at: SimTime::ZERO + SimSpan::from_ticks(1_500_000_000) },
        );
        let slow = |during| Sort::Slow { spe: 0, part: half, during };
        check("spe 0 at 1/2 from 1 ms to 3 ms", slow(during(1000, Some(3000))));
        check("spe 0 at 1/2 from 0 s", slow(during(0, None)));
        check("interrupt 5 of spe 2 lost", Sort::LosesOne { spe: 2, number: 5 });
        check(
            "interrupts of spe 2 lost from 1000 ns",
            Sort::Loses { spe: 2, during: during(1, None) },
        );
        check(
            "memory at 1/2 from 1ms",
            Sort::SlowMemory { part: half, during: during(1000, None) },
        );
        for example in Disturbance::EXAMPLES {
            assert_eq!(example.parse::<Disturbance>().unwrap().to_string(), example);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_expected_and_an_example() {
        check_refused(
            "spe three stops at 2 ms",
            "fault to inject: found \"three\" after \"spe\", expected the number of an SPE, from 0, \
             as in \"spe 3 stops at 2 ms\"",
        );
        check_refused(
            "spe 3 stops at 2",
            "fault to inject: found nothing after \"2\", expected a unit of time: s, ms, us or ns, \
             as in \"spe 3 stops at 2 ms\"",
        );
        check_refused(
            "memory at 3/2 from 1 ms",
            "fault to inject: found \"3/2\" after \"at\", expected a part of its rate, a fraction \
             between 1/1000 and 999/1000, as in \"memory at 1/2 from 1 ms\"",
        );
        check_refused(
            "spe 3 at 1/2 from 3 ms to 3 ms",
            "fault to inject: found \"3\" after \"to\", expected an end after its beginning, as in \
             \"spe 3 at 1/2 from 1 ms to 3 ms\"",
        );
        check_refused(
            "",
            "fault to inject: found nothing, expected \"spe\", \"interrupt\", \"interrupts\" or \
             \"memory\", as in \"spe 3 stops at 2 ms\"",
        );
        check_refused(
            "spe 3 stops at 2 ms now",
            "fault to inject: found \"now\" after \"ms\", expected the end of the fault, or another \
             --inject, as in \"spe 3 at 1/2 from 1 ms to 3 ms\"",
        );
        for text in ["interrupt 0 of spe 2 lost", "spe 3 stops at -1 ms", "spe 3 stops at 1e9 s"] {
            assert!(text.parse::<Disturbance>().is_err(), "{text}");
        }
    }
}

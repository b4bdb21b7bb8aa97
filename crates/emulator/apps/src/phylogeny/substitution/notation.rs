//! Models as text: `GTR{1.2,3.5,0.8,0.9,4.1,1}+F{0.3,0.22,0.18,0.3}+G4{0.5}`.

use std::ops::Range;

use super::{Model, SiteRates, Substitution};
use mmgp_base::error::{Error, Result, suggest};
use mmgp_base::table::Source;

/// The most by which given frequencies may miss a sum of 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// What a model's text says.
#[derive(Debug, Clone, PartialEq)]
pub struct Notation {
    /// Between states.
    pub substitution: Substitution,
    /// Rates over sites, where they vary: [`SiteRates::Gamma`].
    pub gamma: Option<SiteRates>,
}

impl Notation {
    /// Reads `NAME{..}+F{..}+G4{..}`. Names may be in upper or lower case:
    /// * `JC69` or `JC`; `HKY85{kappa}` or `HKY{kappa}`; `GTR{ac,ag,at,cg,ct,gt}`;
    /// * `+F{a,c,g,t}`: frequencies of sum 1; without it, all are equal. Not with JC69;
    /// * `+G4{alpha}` or `+G{alpha}`: four mean-Gamma rates; without it, all sites have rate 1.
    ///
    /// # Errors
    /// `Input` with the column of the first mistake.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = NotationParser { source, offset: 0 };
        let (name, name_at) = parser.word();
        let base = Base::named(name).ok_or_else(|| {
            let known = Base::NAMES.map(String::from);
            let suggestion = suggest(&name.to_ascii_uppercase(), &known);
            parser.mistake(name_at, shown(name), format!("JC69, HKY85 or GTR{suggestion}"))
        })?;
        let rates = match base {
            Base::JukesCantor => Vec::new(),
            Base::Hasegawa => parser.numbers("kappa", 1)?,
            Base::General => parser.numbers("exchangeabilities (AC, AG, AT, CG, CT, GT)", 6)?,
        };
        let (mut frequencies, mut gamma) = (None, None);
        while parser.take('+') {
            let (part, at) = parser.word();
            match (part.to_ascii_uppercase().as_str(), base) {
                ("F", Base::JukesCantor) => {
                    let expected = "no frequencies in JC69, where they are equal";
                    return Err(parser.mistake(at, "F", expected));
                }
                ("F", _) if frequencies.is_none() => frequencies = Some(parser.frequencies()?),
                ("G" | "G4", _) if gamma.is_none() => gamma = Some(parser.gamma()?),
                ("F" | "G" | "G4", _) => {
                    return Err(parser.mistake(at, format!("+{part} a second time"), "it once"));
                }
                _ => return Err(parser.mistake(at, shown(part), "F{..} or G4{..} after +")),
            }
        }
        if parser.offset < source.text.len() {
            let at = parser.offset;
            return Err(parser.mistake(at, parser.next_shown(), "+F{..}, +G4{..} or the end"));
        }
        let frequencies = frequencies.unwrap_or([0.25; 4]);
        let substitution = match rates[..] {
            [] => Ok(Substitution::jc69()),
            [kappa] => Substitution::hky(kappa, frequencies),
            [ac, ag, at, cg, ct, gt] => Substitution::gtr([ac, ag, at, cg, ct, gt], frequencies),
            _ => unreachable!("invariant: models have 0, 1 or 6 numbers"),
        };
        Ok(Self { substitution: substitution?, gamma })
    }

    /// The model for an alignment of so many patterns.
    pub fn model(&self, patterns: usize) -> Model {
        let rates = self.gamma.clone().unwrap_or_else(|| SiteRates::single(patterns));
        Model { substitution: self.substitution.clone(), rates }
    }
}

/// What stands before the first `+`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Base {
    JukesCantor,
    Hasegawa,
    General,
}

impl Base {
    const NAMES: [&'static str; 5] = ["JC69", "JC", "HKY85", "HKY", "GTR"];

    fn named(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "JC69" | "JC" => Some(Self::JukesCantor),
            "HKY85" | "HKY" => Some(Self::Hasegawa),
            "GTR" => Some(Self::General),
            _ => None,
        }
    }
}

fn shown(text: &str) -> String {
    if text.is_empty() { "no name".into() } else { format!("{text:?}") }
}

struct NotationParser<'a> {
    source: &'a Source,
    /// The next byte to read.
    offset: usize,
}

impl<'a> NotationParser<'a> {
    fn rest(&self) -> &'a str {
        &self.source.text[self.offset..]
    }

    fn skip_blanks(&mut self) {
        self.offset += self.rest().len() - self.rest().trim_start().len();
    }

    /// The text up to one of `ends`, without blanks around it, and where it begins.
    fn until(&mut self, ends: &[char]) -> (&'a str, usize) {
        self.skip_blanks();
        let (rest, at) = (self.rest(), self.offset);
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.offset += text.len();
        (text.trim_end(), at)
    }

    fn word(&mut self) -> (&'a str, usize) {
        self.until(&['{', '}', '+', ','])
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(wanted);
        if found {
            self.offset += wanted.len_utf8();
        }
        found
    }

    fn next_shown(&self) -> String {
        match self.rest().chars().next() {
            Some(character) => format!("{character:?}"),
            None => "the end".into(),
        }
    }

    /// `count` positive numbers in braces.
    fn numbers(&mut self, what: &str, count: usize) -> Result<Vec<f64>> {
        Ok(self.located_numbers(what, count)?.into_iter().map(|(number, _)| number).collect())
    }

    /// The same, with where each stands.
    fn located_numbers(&mut self, what: &str, count: usize) -> Result<Vec<(f64, Range<usize>)>> {
        let all = match count {
            1 => what.to_string(),
            _ => format!("{count} {what}"),
        };
        if !self.take('{') {
            return Err(self.mistake(self.offset, self.next_shown(), format!("{{ and {all}")));
        }
        let mut numbers = Vec::with_capacity(count);
        loop {
            let (text, at) = self.until(&['{', '}', '+', ',']);
            // A sign or an exponent's sign belongs to the number.
            let (text, at) = self.with_signs(text, at);
            if text.is_empty() {
                let expected = format!("a number of {all}");
                return Err(self.mistake(self.offset, self.next_shown(), expected));
            }
            match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number > 0.0 => {
                    numbers.push((number, at..at + text.len()));
                }
                _ => return Err(self.mistake(at, shown(text), "a positive number")),
            }
            if self.take(',') {
                continue;
            }
            if self.rest().starts_with('}') && numbers.len() != count {
                let found = format!("{} in braces", plural(numbers.len(), "number"));
                return Err(self.mistake(self.offset, found, all));
            }
            if self.take('}') {
                return Ok(numbers);
            }
            return Err(self.mistake(self.offset, self.next_shown(), "a comma or }"));
        }
    }

    /// Goes on where a number was cut at a `+`: at its start or after its `e`.
    fn with_signs(&mut self, text: &'a str, at: usize) -> (&'a str, usize) {
        let cut = self.rest().starts_with('+') && (text.is_empty() || text.ends_with(['e', 'E']));
        if !cut {
            return (text, at);
        }
        self.offset += 1;
        self.until(&['{', '}', '+', ',']);
        (self.source.text[at..self.offset].trim_end(), at)
    }

    fn frequencies(&mut self) -> Result<[f64; 4]> {
        let start = self.offset;
        let numbers = self.numbers("frequencies (A, C, G, T)", 4)?;
        let sum: f64 = numbers.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let shown = (sum * 1e9).round() / 1e9;
            return Err(self.mistake(start, format!("frequencies of sum {shown}"), "a sum of 1"));
        }
        Ok(numbers.try_into().expect("invariant: four were asked for"))
    }

    fn gamma(&mut self) -> Result<SiteRates> {
        let numbers = self.located_numbers("shape (alpha)", 1)?;
        let [(alpha, ref place)] = numbers[..] else { unreachable!("invariant: one") };
        SiteRates::gamma(alpha).map_err(|error| match error {
            Error::OutOfRange { found, expected, .. } => {
                self.mistake(place.start, format!("the shape {found}"), expected)
            }
            other => other,
        })
    }

    fn mistake(
        &self,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        let at = self.source.position(offset);
        Error::Input { at, found: found.into(), expected: expected.into() }
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREQUENCIES: [f64; 4] = [0.30, 0.22, 0.18, 0.30];

    fn parse(text: &str) -> Result<Notation> {
        Notation::parse(&Source::new("--model", text))
    }

    fn check(text: &str, substitution: Result<Substitution>, alpha: Option<f64>) {
        let gamma = alpha.map(|alpha| SiteRates::gamma(alpha).unwrap());
        let expected = Notation { substitution: substitution.unwrap(), gamma };
        assert_eq!(parse(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn models_are_what_their_text_says() {
        check("JC69", Ok(Substitution::jc69()), None);
        check("jc+G{0.5}", Ok(Substitution::jc69()), Some(0.5));
        check("HKY85{2.5}", Substitution::hky(2.5, [0.25; 4]), None);
        check("HKY{2.5}+F{.30,.22,.18,.30}", Substitution::hky(2.5, FREQUENCIES), None);
        let rates = [1.2, 3.5, 0.8, 0.9, 4.1, 1.0];
        let gtr = || Substitution::gtr(rates, FREQUENCIES);
        check("GTR{1.2,3.5,0.8,0.9,4.1,1.0}+F{.3,.22,.18,.3}+G4{0.1}", gtr(), Some(0.1));
        check(" GTR {1.2, 3.5,0.8,0.9,4.1,1} +G4{1e-1} + F{.3,.22,.18,.3} ", gtr(), Some(0.1));
        check("GTR{+1.2,35e-1,0.8,0.9,4.1,1e+0}+F{.3,.22,.18,.3}", gtr(), None);
    }

    #[test]
    fn frequencies_that_add_up_to_nearly_one_are_divided_by_their_sum() {
        let model = parse("HKY{2}+F{0.2500005,0.25,0.25,0.25}").unwrap().substitution;
        assert_eq!(model.frequencies.iter().sum::<f64>(), 1.0);
    }

    fn check_refused(text: &str, column: usize, found: &str, expected: &str) {
        let error = parse(text).expect_err(text).to_string();
        assert_eq!(error, format!("--model:1:{column}: found {found}, expected {expected}"));
    }

    #[test]
    fn names_that_are_not_known_are_refused() {
        let known = "JC69, HKY85 or GTR";
        check_refused("", 1, "no name", known);
        check_refused("{1}", 1, "no name", known);
        check_refused("WAG", 1, "\"WAG\"", known);
        check_refused("JC6", 1, "\"JC6\"", &format!("{known}; did you mean \"JC69\"?"));
        check_refused("gtrr{1}", 1, "\"gtrr\"", &format!("{known}; did you mean \"GTR\"?"));
        check_refused("JC69+I", 6, "\"I\"", "F{..} or G4{..} after +");
        check_refused("JC69+", 6, "no name", "F{..} or G4{..} after +");
        check_refused("JC69+G8{0.5}", 6, "\"G8\"", "F{..} or G4{..} after +");
        check_refused("JC69+G{1}+G{1}", 11, "+G a second time", "it once");
    }

    #[test]
    fn braces_and_commas_are_asked_for() {
        check_refused("HKY", 4, "the end", "{ and kappa");
        check_refused("HKY+G4{1}", 4, "'+'", "{ and kappa");
        check_refused("HKY{2.5", 8, "the end", "a comma or }");
        check_refused("HKY{", 5, "the end", "a number of kappa");
        check_refused("HKY{2}}", 7, "'}'", "+F{..}, +G4{..} or the end");
        check_refused("JC69{1}", 5, "'{'", "+F{..}, +G4{..} or the end");
        check_refused("HKY{2}+F", 9, "the end", "{ and 4 frequencies (A, C, G, T)");
        check_refused("HKY{2}+F{.5,,.5}", 13, "','", "a number of 4 frequencies (A, C, G, T)");
    }

    #[test]
    fn numbers_are_counted_and_positive() {
        let all = "6 exchangeabilities (AC, AG, AT, CG, CT, GT)";
        check_refused("GTR{1,2,3}", 10, "3 numbers in braces", all);
        check_refused("GTR{1,2,3,4,5,6,7}", 18, "7 numbers in braces", all);
        check_refused("HKY{x}", 5, "\"x\"", "a positive number");
        check_refused("HKY{-1}", 5, "\"-1\"", "a positive number");
        check_refused("HKY{2}+F{.5,.5,0,0}", 16, "\"0\"", "a positive number");
        check_refused("HKY{NaN}", 5, "\"NaN\"", "a positive number");
        check_refused("HKY{inf}", 5, "\"inf\"", "a positive number");
        check_refused("HKY{2}+F{.3,.3,.3,.2}", 9, "frequencies of sum 1.1", "a sum of 1");
        check_refused("JC69+G4{0}", 9, "\"0\"", "a positive number");
        let range = "a number from 0.001 to 10000";
        check_refused("JC69+G4{100000}", 9, "the shape 100000", range);
        check_refused(
            "JC69+F{.25,.25,.25,.25}",
            6,
            "F",
            "no frequencies in JC69, where they are equal",
        );
    }
}

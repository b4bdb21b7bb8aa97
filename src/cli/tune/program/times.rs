//! Which of what a program prints is its time, and what else is taken.

use super::ProgramArguments;
use crate::error::{Error, Result};
use crate::native::{Capture, Pattern, PrintedKind, TimeSource};

impl ProgramArguments {
    /// The name among several times of a run that an objective is, if it is one.
    pub fn counted<'a>(&self, objective: Option<&'a str>) -> Option<&'a str> {
        let name = objective?.trim();
        let is_one = |text: &String| text.split_once('=').is_some_and(|(it, _)| it == name);
        (self.time_from.len() > 1 && self.time_from.iter().any(is_one)).then_some(name)
    }

    /// Several times of a run, each by its name.
    fn named_times(&self) -> Result<Vec<Capture>> {
        if self.time_from.len() < 2 {
            return Ok(Vec::new());
        }
        let named = |text: &String| {
            let (name, pattern) = text.split_once('=').ok_or_else(|| {
                Error::out_of_range(
                    "--time-from",
                    format!("{text:?} as one of several"),
                    "NAME=REGEX for each, as total='Total: ([0-9.]+) s'",
                )
            })?;
            Capture::of_time(name, pattern).map_err(|error| error.renamed(|_| "--time-from"))
        };
        self.time_from.iter().map(named).collect()
    }

    /// Everything that is captured from the output.
    pub(super) fn captures(&self) -> Result<Vec<Capture>> {
        let capture = |(name, pattern): &(String, String)| {
            Capture::new(name, pattern).map_err(|error| error.renamed(|_| "--capture"))
        };
        let mut captures = self.named_times()?;
        for further in self.capture.iter().map(capture) {
            captures.push(further?);
        }
        let mut keys: Vec<String> = captures.iter().map(Capture::key).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(captures),
            Some(pair) => Err(Error::out_of_range(
                if self.time_from.len() > 1 { "--time-from" } else { "--capture" },
                format!("{} twice", pair[0]),
                "a name of its own for each quantity",
            )),
        }
    }

    /// The source of the time that counts: by name, or the first of several.
    pub(super) fn time_source(
        &self,
        counted: Option<&str>,
        captures: &[Capture],
    ) -> Result<TimeSource> {
        let printed = |text: Option<&String>, printed: PrintedKind, flag: &'static str| {
            let pattern = text.map(|text| Pattern::new(text, printed));
            pattern.transpose().map_err(|error| error.renamed(|_| flag))
        };
        if self.time_from.len() > 1 {
            let is_counted = |it: &&Capture| counted.is_none_or(|name| name == it.name);
            let first = captures.iter().find(is_counted).and_then(Capture::time_source);
            return Ok(first.expect("invariant: several times are the first captures"));
        }
        let time = printed(self.time_from.first(), PrintedKind::Time, "--time-from")?;
        let rate = printed(self.rate_from.as_ref(), PrintedKind::Rate, "--rate-from")?;
        Ok(match (time.or(rate), &self.time_json) {
            (Some(pattern), _) => TimeSource::Output(pattern),
            (None, Some(path)) => TimeSource::Json(keys(path)?),
            (None, None) => TimeSource::Wall,
        })
    }
}

fn keys(path: &str) -> Result<Vec<String>> {
    let keys: Vec<String> = path.split('.').map(str::to_string).collect();
    if keys.iter().any(String::is_empty) {
        return Err(Error::out_of_range(
            "--time-json",
            format!("{path:?}"),
            "keys with points between them, as in timing.total_s",
        ));
    }
    Ok(keys)
}

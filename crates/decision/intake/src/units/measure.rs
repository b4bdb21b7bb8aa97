//! What the name of a column or of a printed quantity says that it is.

use super::Unit;
use super::words::{COUNTED, Kind, SCALES, SIMULATED, UNITS_BEHIND, Word, words};

/// What the name of a column or of a printed quantity says that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// A time, also one of a step or of a piece of work; `None` where the name has no unit.
    Time(Option<Unit>),
    /// A rate, of which more is better; its unit, or the word for it.
    Rate(String),
    /// Neither, or a time in a unit that is not known; the unit where there is one, else the name.
    /// Time of processors, which is no wall time, is `processor time`.
    Other(String),
}

/// What is said of the time of processors.
const OF_PROCESSORS: &str = "processor time";

impl Measure {
    /// Whether it is the time of processors, which is no wall time.
    pub fn is_of_processors(&self) -> bool {
        matches!(self, Self::Other(what) if what == OF_PROCESSORS)
    }
}

/// What the name of a column or of a printed quantity says that it is.
pub fn measure_of(name: &str) -> Measure {
    let name = name.trim();
    let other = || Measure::Other(name.into());
    if name.contains("^-1") || name.contains("**-1") || name.contains("\u{207b}\u{b9}") {
        return Measure::Rate(name.into());
    }
    let mut words = words(name);
    let is_quotient =
        |pair: &[Word]| matches!(pair[0].kind, Kind::Per | Kind::Slash) && pair[1].unit().is_some();
    let is_per_time = words.windows(2).any(is_quotient);
    let is_to = |index: usize| words.get(index).is_some_and(|it| it.is("to"));
    let is_set = |index: usize| {
        words[index].kind == Kind::NoTime
            // From end to end.
            && !(words[index].is("end") && (is_to(index + 1) || is_to(index.wrapping_sub(1))))
            && !(words[index].is(SIMULATED) && is_per_time)
    };
    // A time step is set; the time of a step is measured.
    let is_step = |pair: &[Word]| pair[0].is("time") && pair[1].is("step steps");
    if name.contains(['^', '%'])
        || name.contains("**")
        || (0..words.len()).any(is_set)
        || words.windows(2).any(is_step)
    {
        return other();
    }
    if let Some(place) = words.iter().position(|it| matches!(it.kind, Kind::Per | Kind::Slash)) {
        if let Some(measure) = quotient(&words, place) {
            return measure;
        }
        // What the time is divided by is no matter; a unit behind it is of the time, if that is named.
        let has_time =
            words[..place].iter().any(|it| matches!(it.kind, Kind::Time | Kind::WeakTime));
        let is_of_time = |it: &Word| it.in_brackets() || (has_time && it.unit().is_some());
        let behind = &words[place + 1..];
        let is_unclear =
            |it: &Word| it.kind == Kind::Time || (it.unit().is_some() && !is_of_time(it));
        if behind.is_empty() || behind.iter().any(is_unclear) {
            return other();
        }
        let mut index = 0;
        words.retain(|it| {
            index += 1;
            index <= place || is_of_time(it) || (has_time && it.kind == Kind::Number)
        });
    }
    minutes(&mut words, name);
    let mut units = words.iter().enumerate().filter(|(_, it)| it.unit().is_some());
    match (units.next(), units.next()) {
        (Some((_, one)), Some((place, two)))
            if one.unit() == two.unit() && units.next().is_none() =>
        {
            with_unit(&words, place).unwrap_or_else(other)
        }
        (Some(_), Some(_)) => other(),
        (Some((place, _)), None) => with_unit(&words, place).unwrap_or_else(other),
        (None, _) => without_unit(&words).unwrap_or_else(other),
    }
}

/// What a quotient with a unit of time above or below is; `None` of another.
fn quotient(words: &[Word], place: usize) -> Option<Measure> {
    let above = place.checked_sub(1).map(|index| &words[index]);
    let below = words.get(place + 1)?;
    let is_slash = words[place].kind == Kind::Slash;
    let is_countable = |word: &Word| word.is(COUNTED) || word.kind == Kind::Unknown;
    // `min/step` is in minutes, `min/max` is not; `h/dx` and `S/N` are ratios, `s/it` is in seconds.
    let unit_below = below.unit().or_else(|| {
        let is_minute = below.kind == Kind::Least && above.is_some_and(is_countable);
        is_minute.then_some(Unit::Minutes)
    });
    let unit_above = above.and_then(|it| match it.unit() {
        Some(unit) if it.text.chars().count() == 1 && unit_below.is_none() => {
            (unit == Unit::Seconds && below.text.chars().count() > 1).then_some(unit)
        }
        None if it.kind == Kind::Least
            && is_slash
            && (below.is(COUNTED) || unit_below.is_some()) =>
        {
            Some(Unit::Minutes)
        }
        found => found,
    });
    let rate = || {
        let above = above.map_or("1", |it| &it.text);
        Some(Measure::Rate(format!("{above}/{}", below.text)))
    };
    match (unit_above, unit_below) {
        // Of two units the longer is the wall time: nanoseconds a day are simulated.
        (Some(one), Some(other)) if one.seconds(1.0) <= other.seconds(1.0) => rate(),
        (Some(unit), _) => {
            let behind = &words[place + 2..];
            let is_other = |it: &Word| it.unit().is_some_and(|it| it != unit) && it.in_brackets();
            let is_scaled = place > 1 && is_scale(&words[place - 2]);
            if behind.iter().any(is_other) || is_scaled {
                return Some(Measure::Other(text(words)));
            }
            Some(match words.iter().any(|it| it.kind == Kind::Processor) {
                true => Measure::Other(OF_PROCESSORS.into()),
                false => Measure::Time(Some(unit)),
            })
        }
        // The quantity over its unit, as in tables of physics: `time/s`.
        (None, Some(unit)) if is_slash && above?.kind == Kind::Time => {
            Some(Measure::Time(Some(unit)))
        }
        (None, Some(_)) => rate(),
        // The unit may be that of a later denominator: `tokens/gpu/s`.
        (None, None) => {
            let is_quotient = |it: &Word| matches!(it.kind, Kind::Per | Kind::Slash);
            let is_below = |pair: &[Word]| is_quotient(&pair[0]) && pair[1].unit().is_some();
            let has_time = words.iter().any(|it| matches!(it.kind, Kind::Time | Kind::WeakTime));
            let text = text(words).replace(" / ", "/");
            words[place + 1..].windows(2).any(is_below).then_some(match has_time {
                true => Measure::Other(text),
                false => Measure::Rate(text),
            })
        }
    }
}

/// Makes `min` minutes where it is the unit, and a qualifier where it is the least.
fn minutes(words: &mut [Word], name: &str) {
    let has_unit = words.iter().any(|it| it.unit().is_some());
    for index in 0..words.len() {
        if words[index].kind != Kind::Least {
            continue;
        }
        let is_behind_in = index > 0 && words[index - 1].is("in");
        let has_time_behind =
            words[index..].iter().any(|it| matches!(it.kind, Kind::Time | Kind::WeakTime));
        words[index].kind = if has_unit || (has_time_behind && !words[index].in_brackets()) {
            Kind::Qualifier
        } else if words[index].in_brackets()
            || is_behind_in
            || name.eq_ignore_ascii_case("time_min")
        {
            // `time_min` is how mmgp itself writes minutes.
            Kind::Unit(Unit::Minutes)
        } else {
            Kind::Unknown
        };
    }
}

/// Whether a word before a unit makes it another one.
fn is_scale(word: &Word) -> bool {
    let is_letter = word.kind == Kind::Unknown && word.text.chars().count() == 1;
    word.kind == Kind::Number || word.is(SCALES) || is_letter
}

/// The words with blanks between them.
fn text(words: &[Word]) -> String {
    words.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// What a name with a unit of time is; `None` where it is not clear.
fn with_unit(words: &[Word], place: usize) -> Option<Measure> {
    let word = &words[place];
    let unit = word.unit()?;
    let has = |kinds: &[Kind]| words.iter().any(|it| kinds.contains(&it.kind));
    if has(&[Kind::Processor]) {
        return Some(Measure::Other(OF_PROCESSORS.into()));
    }
    let before = place.checked_sub(1).map(|index| &words[index]);
    if before.is_some_and(|it| is_scale(it) && it.depth == word.depth) {
        return Some(Measure::Other(text(&words[place - 1..=place])));
    }
    let is_known = !has(&[Kind::Unknown]);
    let is_behind = place > 0 && place + 1 == words.len();
    let is_unit = word.in_brackets() || is_behind || !word.is(UNITS_BEHIND);
    let is_rate = has(&[Kind::Rate]) || (has(&[Kind::WeakRate]) && !word.in_brackets());
    if is_rate || !is_unit {
        return None;
    }
    // `iter_s` may be a rate; nobody counts by the millisecond.
    let is_clear = unit.seconds(1.0) < 1.0 || !before.is_some_and(|it| it.is(COUNTED));
    // A letter is a unit beside a statistic: `mean_s`; h may be the width of a grid.
    let is_mean = unit == Unit::Seconds && words.iter().any(|it| it.kind == Kind::Qualifier);
    let is_spelled = word.text.chars().count() > 1 || is_mean;
    let is_time = has(&[Kind::Time, Kind::WeakTime, Kind::Letter])
        || (is_known && (word.in_brackets() && words.len() > 1 || is_clear && is_spelled));
    is_time.then_some(Measure::Time(Some(unit)))
}

/// What a name without a unit of time is; `None` where it is neither a time nor a rate.
fn without_unit(words: &[Word]) -> Option<Measure> {
    let place = |kind: Kind| words.iter().position(|it| it.kind == kind);
    let is_known = place(Kind::Unknown).is_none();
    let time = place(Kind::Time);
    if place(Kind::Processor).is_some() {
        return time.map(|_| Measure::Other(OF_PROCESSORS.into()));
    }
    let weak_rate = place(Kind::WeakRate).filter(|_| is_known);
    let rate = place(Kind::Rate).or(weak_rate);
    if let Some(rate) = rate.filter(|&rate| time.is_none_or(|time| time < rate)) {
        let is_merit = words[rate].is("merit figure fom");
        let text = if is_merit { "figure of merit" } else { &words[rate].text };
        return Some(Measure::Rate(text.into()));
    }
    let Some(time) = time else {
        let is_time = is_known && place(Kind::WeakTime).is_some();
        return is_time.then_some(Measure::Time(None));
    };
    let behind =
        words[time..].iter().filter(|it| matches!(it.kind, Kind::Unknown | Kind::WeakRate));
    let unknown: Vec<&str> = behind.map(|it| it.text.as_str()).collect();
    Some(if unknown.is_empty() { Measure::Time(None) } else { Measure::Other(unknown.join(" ")) })
}

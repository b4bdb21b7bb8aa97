//! Units of time: how people spell them in names of columns, and durations as programs print them.
//!
//! What is not known is said to be unknown, and never taken as seconds here.
//!
//! ```
//! use mmgp_intake::{Comma, Measure, Unit, duration, measure_of};
//!
//! assert_eq!(measure_of("wall_ms_mean"), Measure::Time(Some(Unit::Milliseconds)));
//! assert_eq!(measure_of("mean time"), Measure::Time(None));
//! assert_eq!(measure_of("ns/day"), Measure::Rate("ns/day".into()));
//! assert_eq!(measure_of("time_ticks"), Measure::Other("ticks".into()));
//! assert_eq!(duration("1m12.5s", Comma::Thousands).map(|it| it.seconds), Some(72.5));
//! assert_eq!(duration("5 m", Comma::Thousands), None);
//! ```

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

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// d
    Days,
    /// h
    Hours,
    /// min
    Minutes,
    /// s
    Seconds,
    /// ms
    Milliseconds,
    /// us
    Microseconds,
    /// ns
    Nanoseconds,
}

/// The spellings of each unit, in small letters. A lone `m` may be minutes or metres and is none.
const SPELLINGS: [(Unit, &str); 7] = [
    (Unit::Days, "d day days tag tage"),
    (Unit::Hours, "h hr hrs hour hours stunde stunden"),
    (Unit::Minutes, "min mins minute minutes minuten"),
    (Unit::Seconds, "s sec secs second seconds sek sekunde sekunden secondes segundos secondi"),
    (
        Unit::Milliseconds,
        "ms msec msecs milli millis millisec millisecs millisecond milliseconds millisekunden",
    ),
    (
        Unit::Microseconds,
        "us usec usecs \u{b5}s \u{3bc}s \u{b5}sec \u{3bc}sec micro micros microsec microsecs \
         microsecond microseconds mikrosekunden",
    ),
    (
        Unit::Nanoseconds,
        "ns nsec nsecs nano nanos nanosec nanosecs nanosecond nanoseconds nanosekunden",
    ),
];

impl Unit {
    /// The unit of a spelling, in any capitals; `None` for what is no unit of time, or may be another.
    pub fn named(spelling: &str) -> Option<Self> {
        let lower = spelling.trim().to_lowercase();
        let bare = lower.strip_suffix('.').unwrap_or(&lower);
        SPELLINGS.iter().find(|(_, spellings)| is_in(spellings, bare)).map(|(unit, _)| *unit)
    }

    /// The symbol: d, h, min, s, ms, us or ns.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Days => "d",
            Self::Hours => "h",
            Self::Minutes => "min",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// A number of these units in seconds. The quotients are the numbers nearest to the true ones.
    pub fn seconds(self, value: f64) -> f64 {
        match self {
            Self::Days => value * 86_400.0,
            Self::Hours => value * 3600.0,
            Self::Minutes => value * 60.0,
            Self::Seconds => value,
            Self::Milliseconds => value / 1e3,
            Self::Microseconds => value / 1e6,
            Self::Nanoseconds => value / 1e9,
        }
    }
}

/// Words for a time, whatever stands before them.
const TIMES: &str = "time times wallclocktime wallclock walltime walltimes runtime runtimes exectime \
    realtime elapsedtime elapsed duration durations makespan latency latencies timing timings zeit zeiten \
    laufzeit ausf\u{fc}hrungszeit ausfuehrungszeit rechenzeit gesamtzeit dauer temps dur\u{e9}e duree \
    tiempo";

/// Words for a time only where every other word is known: a wall may be of stone.
const WEAK_TIMES: &str = "wall real tempo";

/// Words that change nothing of the unit.
const QUALIFIERS: &str = "mean means avg average median med min max minimum maximum total sum best worst \
    fastest slowest mittel mittelwert mittlere wall clock run runs job jobs iter iters iteration iterations \
    step steps of in real solve solver loop loops main region all measured value raw or on for the to \
    solution exec execution compute computation kernel program process app application simulation \
    benchmark bench test phase section overall whole parallel figure gesamt";

/// Words before a unit that may be the numerator of a rate: `iter_s`.
const COUNTED: &str = "run runs job jobs iter iters iteration iterations step steps loop loops";

/// Words for time of processors.
const PROCESSORS: &str = "cpu cpus user sys system utime stime processor";

/// Words for rates in any company.
const RATES: &str = "flops kflops mflops gflops tflops pflops lups mlups glups mups gups throughput \
    bandwidth tps qps iops fps mips speedup merit fom bps kbps mbps gbps hz khz mhz ghz";

/// Words for rates only where every other word is known: `learning_rate` is a factor, no result.
const WEAK_RATES: &str = "rate efficiency performance speed score ops";

/// Words for what was set, for an instant, a statistic of another dimension, or a quotient of times.
const NO_TIMES: &str = "limit timelimit timeout interval period delay requested budget start started end \
    ended begin submit submitted stamp timestamp datetime date deadline warmup sleep eta queue queued \
    pending since reserved eligible planned estimated estimate expected predicted prediction modelled \
    reference ref target sampling learning arrival injection simulated sim timestep timesteps dt unit \
    units zone timezone idle wait waiting freq frequency lifetime uptime id name index count num number \
    std stddev stdev sd deviation sigma var variance relative rel normalized normalised norm ratio \
    percent pct fraction share diff difference delta error log log2 log10 ln sqrt inverse squared";

/// Words before a unit that make it another: `core_hours`, `kilo seconds`.
const SCALES: &str = "core cores node nodes gpu gpus kilo mega giga centi deci pico femto hundred \
    thousand million";

/// Words that are units only behind others: alone they are parts of a date, of a simulated span or prefixes.
const UNITS_BEHIND: &str = "second minute hour day days milli micro nano sekunde stunde tag tage";

/// Layouts of durations in names, longest first; the texts below them say their unit.
const LAYOUTS: [&str; 6] = ["dd-hh:mm:ss", "d-hh:mm:ss", "hh:mm:ss", "h:mm:ss", "mm:ss", "m:ss"];

/// What a word of a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Time,
    WeakTime,
    /// A lone `t`, which may also be threads or tokens.
    Letter,
    Unit(Unit),
    /// `min`: minutes, or the least.
    Least,
    Qualifier,
    Number,
    Processor,
    Rate,
    WeakRate,
    NoTime,
    /// The word `per`.
    Per,
    /// The sign `/`.
    Slash,
    Unknown,
}

/// A word of a name.
struct Word {
    text: String,
    kind: Kind,
    /// Brackets around it.
    depth: u32,
}

impl Word {
    fn new(text: &str, depth: u32) -> Self {
        let lower = text.to_lowercase();
        let kind = match lower.as_str() {
            "t" => Kind::Letter,
            "min" => Kind::Least,
            "per" | "pro" => Kind::Per,
            // A lone d may be a dimension or a distance.
            "d" if depth == 0 => Kind::Unknown,
            word if is_in(NO_TIMES, word) => Kind::NoTime,
            word if is_in(TIMES, word) => Kind::Time,
            word if is_in(WEAK_TIMES, word) => Kind::WeakTime,
            word if is_in(QUALIFIERS, word) || is_percentile(word) => Kind::Qualifier,
            word if is_in(PROCESSORS, word) => Kind::Processor,
            word if is_in(RATES, word) => Kind::Rate,
            word if is_in(WEAK_RATES, word) => Kind::WeakRate,
            word if word.bytes().all(|it| it.is_ascii_digit()) => Kind::Number,
            word => Unit::named(word).map_or(Kind::Unknown, Kind::Unit),
        };
        Self { text: text.into(), kind, depth }
    }

    fn is(&self, list: &str) -> bool {
        is_in(list, &self.text.to_lowercase())
    }

    fn in_brackets(&self) -> bool {
        self.depth > 0
    }

    fn unit(&self) -> Option<Unit> {
        match self.kind {
            Kind::Unit(unit) => Some(unit),
            _ => None,
        }
    }
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Whether a word is such as `p95`.
fn is_percentile(word: &str) -> bool {
    word.strip_prefix('p')
        .is_some_and(|it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_digit()))
}

/// The words of a name, and each `/`.
fn words(name: &str) -> Vec<Word> {
    let mut name = name.to_string();
    for layout in LAYOUTS {
        name = name.replace(layout, " ").replace(&layout.to_uppercase(), " ");
    }
    let (mut words, mut chunk, mut depth) = (Vec::new(), String::new(), 0_u32);
    for sign in name.chars().chain([' ']) {
        if sign.is_alphanumeric() {
            chunk.push(sign);
            continue;
        }
        add_chunk(&mut words, &std::mem::take(&mut chunk), depth);
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '/' => {
                words.push(Word { text: "/".into(), kind: Kind::Slash, depth });
            }
            _ => {}
        }
    }
    // `milli seconds` and `milliSeconds` are one word.
    for index in (1..words.len()).rev() {
        let joined = format!("{}{}", words[index - 1].text, words[index].text);
        if words[index - 1].is("milli micro nano") && Unit::named(&joined).is_some() {
            words[index - 1] = Word::new(&joined, words[index].depth);
            words.remove(index);
        }
    }
    words
}

/// Adds the words of letters and digits without a gap: parts between capitals, numbers, glued endings.
fn add_chunk(words: &mut Vec<Word>, chunk: &str, depth: u32) {
    let whole = Word::new(chunk, depth);
    if chunk.is_empty() || whole.kind != Kind::Unknown {
        words.extend((!chunk.is_empty()).then_some(whole));
        return;
    }
    let (mut parts, mut last) = (vec![String::new()], ' ');
    for sign in chunk.chars() {
        let begins = (last.is_lowercase() && sign.is_uppercase())
            || (last.is_ascii_digit() && !sign.is_ascii_digit());
        if begins {
            parts.push(String::new());
        }
        parts.iter_mut().next_back().expect("invariant: never empty").push(sign);
        last = sign;
    }
    for part in parts {
        let bare = part.trim_end_matches(|it: char| it.is_ascii_digit());
        // The number behind a unit is a power.
        let is_plain = bare.is_empty() || Unit::named(bare).is_some();
        let word = Word::new(if is_plain { &part } else { bare }, depth);
        match (word.kind, glued(&word.text)) {
            (Kind::Unknown, Some(glued)) => {
                words.extend(glued.iter().map(|it| Word::new(it, depth)));
            }
            _ => words.push(word),
        }
    }
}

/// The words of a known word before a word for a time, and a unit of several letters behind it:
/// `walltimesec`, `jobruntime`. A single `s` is a plural.
fn glued(word: &str) -> Option<Vec<String>> {
    let lower = word.to_lowercase();
    let times = TIMES.split_whitespace().chain(["wall"]);
    times
        .filter_map(|time| Some((time, lower.split_once(time)?)))
        .find(|(time, (before, after))| {
            let is_before =
                before.is_empty() || is_in(QUALIFIERS, before) || is_in(PROCESSORS, before);
            let is_unit = after.len() > 1 && Unit::named(after).is_some();
            is_before && (is_unit || (after.is_empty() && *time != "wall"))
        })
        .map(|(time, (before, after))| {
            [before, time, after]
                .iter()
                .filter(|it| !it.is_empty())
                .map(|it| it.to_string())
                .collect()
        })
}

/// What the name of a column or of a printed quantity says that it is.
pub fn measure_of(name: &str) -> Measure {
    let name = name.trim();
    let other = || Measure::Other(name.into());
    if name.contains("^-1") || name.contains("**-1") || name.contains("\u{207b}\u{b9}") {
        return Measure::Rate(name.into());
    }
    let mut words = words(name);
    let is_to = |index: usize| words.get(index).is_some_and(|it| it.is("to"));
    let is_set = |index: usize| {
        words[index].kind == Kind::NoTime
            // From end to end.
            && !(words[index].is("end") && (is_to(index + 1) || is_to(index.wrapping_sub(1))))
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
                true => Measure::Other("processor time".into()),
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
        return Some(Measure::Other("processor time".into()));
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
        return time.map(|_| Measure::Other("processor time".into()));
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

/// What a comma in a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comma {
    /// The sign before the decimals.
    Decimal,
    /// The sign between thousands.
    Thousands,
}

/// The finite number nearest to a text; `None` of another text, and of one that may be two numbers.
///
/// Commas or, where these stand before decimals, points may stand between thousands, as blanks and
/// apostrophes may; all groups must be whole. Where commas stand before decimals, `1.234` may be two numbers.
pub fn number(text: &str, comma: Comma) -> Option<f64> {
    let text = text.trim().replace('\u{2212}', "-");
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let sign = if text.starts_with('-') { "-" } else { "" };
    // Fortran writes 1.5D+02.
    let end =
        unsigned.find(['e', 'E']).or_else(|| unsigned.find("D+")).or_else(|| unsigned.find("D-"));
    let (mantissa, exponent) =
        end.map_or((unsigned, "0"), |end| (&unsigned[..end], &unsigned[end + 1..]));
    let (mark, group) = if comma == Comma::Decimal { (',', '.') } else { ('.', ',') };
    let (whole, decimals) = mantissa.split_once(mark).unwrap_or((mantissa, ""));
    let plain = match without_groups(whole, group) {
        // Thousands, or a point before decimals.
        Some(_)
            if comma == Comma::Decimal && whole.matches('.').count() == 1 && whole == mantissa =>
        {
            end.map(|_| mantissa.to_string())?
        }
        Some(whole) => format!("{whole}.{decimals}"),
        None if comma == Comma::Decimal && whole == mantissa => whole.to_string(),
        None => return None,
    };
    let has_digits = plain.bytes().any(|it| it.is_ascii_digit());
    let is_plain = plain.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let number: f64 = format!("{sign}{plain}e{exponent}").parse().ok()?;
    (has_digits && is_plain && number.is_finite()).then_some(number)
}

/// A whole number without the signs between its groups of three digits; `None` of wrong groups.
fn without_groups(whole: &str, group: char) -> Option<String> {
    let marks = [group, ' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'];
    let Some(mark) = whole.chars().find(|it| marks.contains(it)) else { return Some(whole.into()) };
    let groups: Vec<&str> = whole.split(mark).collect();
    let is_number = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
    let is_first = matches!(groups[0].len(), 1..=3) && !groups[0].starts_with('0');
    let is_good =
        is_first && groups[1..].iter().all(|it| it.len() == 3) && groups.iter().all(is_number);
    is_good.then(|| groups.concat())
}

/// A duration that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration {
    /// Its length in seconds; without a unit, the number as it stands.
    pub seconds: f64,
    /// Whether the text itself says the unit, or has colons between hours, minutes and seconds.
    pub has_unit: bool,
}

/// The duration that a text is: `103.2`, `1.5 min`, `1m12.3s`, `1h 2m`, `0:01:12.3`, `1-02:03:04`,
/// `1 day, 2:03:04`, `PT1M12.3S`. Two numbers with a colon are minutes and seconds.
pub fn duration(text: &str, comma: Comma) -> Option<Duration> {
    let text = text.trim();
    if let Some(value) = number(text, comma) {
        return value.is_sign_positive().then_some(Duration { seconds: value, has_unit: false });
    }
    let seconds = if let Some(rest) = text.strip_prefix('P') {
        of_iso_8601(rest, comma)
    } else if text.contains(':') {
        match text.split_once(", ") {
            Some((days, clock)) => Some(of_parts(days, comma)? + of_clock(clock, comma)?),
            None => of_clock(text, comma),
        }
    } else {
        of_parts(text, comma)
    };
    Some(Duration { seconds: seconds.filter(|it| it.is_finite())?, has_unit: true })
}

/// Digits with a point, or a comma where it stands before decimals, but no groups and no sign.
fn decimal(text: &str, comma: Comma) -> Option<f64> {
    let text = if comma == Comma::Decimal { text.replace(',', ".") } else { text.to_string() };
    let is_plain = text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Numbers with units, the longest first: `1h 2m`.
fn of_parts(text: &str, comma: Comma) -> Option<f64> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let (mut rest, mut seconds, mut count) = (text, 0.0, 0);
    let mut longest = f64::INFINITY;
    while !rest.is_empty() {
        let (value, spelling, behind) = part(rest);
        let value = if count == 0 { number(value, comma) } else { decimal(value, comma) };
        // Beside another part, m is minutes.
        let is_minutes = spelling.eq_ignore_ascii_case("m") && (count > 0 || !behind.is_empty());
        let unit = if is_minutes { Unit::Minutes } else { Unit::named(spelling)? };
        let value = value.filter(|it| it.is_sign_positive())?;
        let is_whole = value.fract() == 0.0 || behind.is_empty();
        if unit.seconds(1.0) >= longest || !is_whole {
            return None;
        }
        (longest, rest, count) = (unit.seconds(1.0), behind, count + 1);
        seconds += unit.seconds(value);
    }
    (count > 0).then_some(seconds)
}

/// The number at the start of a text, the letters behind it, and the rest.
fn part(text: &str) -> (&str, &str, &str) {
    let is_exponent = |at: usize| {
        let mut signs = text[at..].chars();
        let (letter, next) = (signs.next(), signs.next());
        let is_sign = next.is_some_and(|it| matches!(it, '+' | '-'));
        let is_digit = next.is_some_and(|it| it.is_ascii_digit());
        matches!(letter, Some('e' | 'E')) && (is_sign || is_digit) || letter == Some('D') && is_sign
    };
    let starts = text.char_indices().find(|&(at, sign)| sign.is_alphabetic() && !is_exponent(at));
    let (value, rest) = text.split_at(starts.map_or(text.len(), |(at, _)| at));
    let end = rest.find(|it: char| !it.is_alphabetic()).unwrap_or(rest.len());
    let (spelling, behind) = rest.split_at(end);
    let behind = behind.strip_prefix(',').filter(|it| it.starts_with(' ')).unwrap_or(behind);
    (value.trim(), spelling, behind.trim())
}

/// `[[days-]hours:]minutes:seconds`.
fn of_clock(text: &str, comma: Comma) -> Option<f64> {
    let whole = |text: &str| {
        let is_whole = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        is_whole.then(|| text.parse::<f64>().ok()).flatten()
    };
    let (days, clock) =
        text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [minutes, seconds] if days.is_none() => (None, minutes, seconds),
        [hours, minutes, seconds] => (Some(hours), minutes, seconds),
        _ => return None,
    };
    // A ratio such as 16:9 has one digit.
    let has_two_digits = |it: &str| it.bytes().take_while(u8::is_ascii_digit).count() == 2;
    if !has_two_digits(seconds) || (hours.is_some() && !has_two_digits(minutes)) {
        return None;
    }
    let days = days.map_or(Some(0.0), whole).map(|it| (it, days.is_some()))?;
    let hour = hours.map_or(Some(0.0), whole)?;
    let (minute, second) = (whole(minutes)?, decimal(seconds, comma)?);
    let is_good = second < 60.0 && (hours.is_none() || minute < 60.0) && (!days.1 || hour < 24.0);
    is_good.then_some(days.0 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

/// A duration of ISO 8601 without its `P`; years and months have no fixed length.
fn of_iso_8601(text: &str, comma: Comma) -> Option<f64> {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let mut seconds = 0.0;
    for (part, lengths) in [
        (date, &[('W', 604_800.0), ('D', 86_400.0)][..]),
        (time.unwrap_or_default(), &[('H', 3600.0), ('M', 60.0), ('S', 1.0)][..]),
    ] {
        let (mut rest, mut lengths) = (part, lengths.iter());
        while !rest.is_empty() {
            let end = rest.find(|it: char| it.is_ascii_uppercase())?;
            let (_, length) = lengths.find(|(letter, _)| rest[end..].starts_with(*letter))?;
            seconds += decimal(&rest[..end], comma)? * length;
            rest = &rest[end + 1..];
        }
    }
    let is_empty = time.map_or(date.is_empty(), str::is_empty);
    (!is_empty).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names stand between `|`.
    fn check(names: &str, is_right: impl Fn(&Measure) -> bool) {
        for name in names.split('|').map(str::trim) {
            let measure = measure_of(name);
            assert!(is_right(&measure), "{name:?} is {measure:?}");
        }
    }

    fn check_time(unit: Option<Unit>, names: &str) {
        check(names, |it| *it == Measure::Time(unit));
    }

    fn check_number(text: &str, decimal: Option<f64>, thousands: Option<f64>) {
        assert_eq!(number(text, Comma::Decimal), decimal, "{text:?} with decimal commas");
        assert_eq!(number(text, Comma::Thousands), thousands, "{text:?} with commas at thousands");
    }

    fn check_duration(text: &str, seconds: f64) {
        let found =
            duration(text, Comma::Thousands).unwrap_or_else(|| panic!("{text:?} is refused"));
        assert!((found.seconds - seconds).abs() <= 1e-15 * seconds, "{text:?}: {}", found.seconds);
        assert!(found.has_unit, "{text:?} has a unit");
    }

    #[test]
    fn every_unit_has_its_length_and_each_of_its_spellings_in_any_capitals() {
        for (unit, nanoseconds) in [
            (Unit::Days, 86_400_000_000_000.0),
            (Unit::Hours, 3_600_000_000_000.0),
            (Unit::Minutes, 60_000_000_000.0),
            (Unit::Seconds, 1_000_000_000.0),
            (Unit::Milliseconds, 1_000_000.0),
            (Unit::Microseconds, 1000.0),
            (Unit::Nanoseconds, 1.0),
        ] {
            assert_eq!(unit.seconds(1.0), nanoseconds / 1e9);
            assert_eq!(Unit::named(unit.symbol()), Some(unit));
            let (_, spellings) = SPELLINGS.iter().find(|(known, _)| *known == unit).unwrap();
            for spelling in spellings.split_whitespace() {
                assert_eq!(Unit::named(spelling), Some(unit), "{spelling}");
                assert_eq!(Unit::named(&spelling.to_uppercase()), Some(unit), "{spelling}");
                check_duration(&format!("2 {spelling}"), 2.0 * nanoseconds / 1e9);
                check_time(Some(unit), &format!("elapsed [{spelling}]"));
            }
        }
    }

    #[test]
    fn every_unit_is_known_by_the_spellings_that_people_use() {
        let named = |list: &str| list.split(' ').map(Unit::named).collect::<Vec<_>>();
        assert_eq!(named("s sec secs second seconds Sec."), [Some(Unit::Seconds); 6]);
        assert_eq!(named("ms msec milli millis milliseconds"), [Some(Unit::Milliseconds); 5]);
        assert_eq!(named("us usec \u{b5}s \u{3bc}s micros"), [Some(Unit::Microseconds); 5]);
        assert_eq!(named("ns nsec nanos nanoseconds"), [Some(Unit::Nanoseconds); 4]);
        assert_eq!(named("min minutes"), [Some(Unit::Minutes); 2]);
        assert_eq!(named("h hr hours"), [Some(Unit::Hours); 3]);
        assert_eq!(named("m ks ps cs cycles  ss"), [None; 7]);
    }

    #[test]
    fn a_unit_of_time_is_found_wherever_it_stands_in_a_name() {
        check_time(Some(Unit::Days), "days/ns | time (d) | elapsed days");
        check_time(Some(Unit::Hours), "hour/ns | wall_h | Laufzeit [h] | hours");
        check_time(
            Some(Unit::Minutes),
            "runtime (minutes) | time_min | wall [min] | min/step | min/ns",
        );
        check_time(Some(Unit::Minutes), "time in min | elapsed_mins");
        let seconds = "time_s | time (s) | time/s | Zeit [s] | Ausf\u{fc}hrungszeit (s) | walltimesec | \
            Elapsed [sec] | avg time in seconds | s/step | sec per iteration | mean_s | t_s | seconds | \
            min_time_s | time_s_1 | TIME_S | s/it | end-to-end time (s) | Time (s/step) | run [s] | Time, s | \
            time to solution [s] | kernel_time_s";
        check_time(Some(Unit::Seconds), seconds);
        let milliseconds = "timems | timeMs | TIME_MS | elapsed_msec | ms_per_iter | wall_ms_mean | t_ms | \
            elapsed_milliseconds | median(ms) | latency_p99_ms | compute_ms | ms | time_mSec | iter_ms | \
            elapsedMilliSeconds | elapsed milli seconds | time per token [ms] | score (ms) | runtimems | \
            time_per_iter_ms | time_ms_min | time per step per core [ms]";
        check_time(Some(Unit::Milliseconds), milliseconds);
        check_time(
            Some(Unit::Microseconds),
            "time_usec | wall[\u{b5}s] | t (\u{3bc}s) | us/cell/step",
        );
        check_time(
            Some(Unit::Nanoseconds),
            "time.duration.ns | real_ns | elapsedNs | s_ns_time [ns/step]",
        );
    }

    #[test]
    fn a_time_without_a_unit_has_none() {
        let names = "time | elapsed | runtime | wall_clock | mean time | real_time | JobRuntime | wallclock | \
            elapsed_value | real | wall | ElapsedRaw | time1 | Dauer | temps | time per step | time/step | \
            job_completion_time | min_time | time_max | walltimes | totaltime | time_to_solution | \
            Elapsed (wall clock) time (h:mm:ss or m:ss) | parallel time | time per 1000 steps";
        check_time(None, names);
    }

    #[test]
    fn a_rate_is_known_by_its_denominator_or_its_word() {
        let units = [
            ("ns/day | Performance (ns/day)", "ns/day"),
            ("tokens_per_s", "tokens/s"),
            ("steps per second", "steps/second"),
            ("throughput GB/s", "GB/s"),
            ("t/s", "t/s"),
            ("1/s | rate [1/s]", "1/s"),
            ("tokens/gpu/s", "tokens/gpu/s"),
            ("mean_speedup", "speedup"),
            ("figure_of_merit", "figure of merit"),
            ("time efficiency", "efficiency"),
        ];
        for (names, unit) in units {
            check(names, |it| *it == Measure::Rate(unit.into()));
        }
        let names = "it/s | tokens/sec | MB/s | img/s | req/s | ops_per_sec | Hz | GFLOP/s | GFLOPS | gflops | \
            mflops | tflops | flops | MLUPS | MUPS | GUPS | tps | bandwidth | qps | iops | rate | fps | speed | \
            performance | score | MIPS | ops | it/min | it per min | GB s^-1 | cells/s/core | us/day | \
            steps/rank/s | steps per rank per second";
        check(names, |it| matches!(it, Measure::Rate(_)));
    }

    #[test]
    fn a_unit_that_is_not_known_is_never_taken_as_seconds() {
        let units = [
            ("time_foo", "foo"),
            ("time_ticks", "ticks"),
            ("elapsed_jiffies", "jiffies"),
            ("time_ps", "ps"),
            ("time [m]", "m"),
            ("elapsed_min", "min"),
            ("time_100ns", "100 ns"),
            ("time_k_s", "k s"),
            ("core_hours", "core hours"),
            ("cpu_time | user_s | sys time (ms) | cputime | CPU s/step", "processor time"),
            ("cycles", "cycles"),
            ("wall_kcycles", "wall_kcycles"),
        ];
        for (names, unit) in units {
            check(names, |it| *it == Measure::Other(unit.into()));
        }
    }

    #[test]
    fn a_name_that_is_unclear_or_of_something_else_is_no_time_and_no_rate() {
        let is_other = |it: &Measure| matches!(it, Measure::Other(_));
        let rates_without_their_sign = "tokens_sec | iter_s | it_s | MB_s | ns_day | gflops_s | throughput_s | \
            samples/time | steps per wall second | steps per 10 seconds";
        check(rates_without_their_sign, is_other);
        let set = "time_limit_s | timeout_ms | start_time | timestep | time_step_s | delay_us | grain_us | days | \
            arrival_rate (1/s) | sim_ns | grain [us] | simulated days";
        check(set, is_other);
        let factors = "m | p | t | s | h | d | mode | N | size | grid_h | max_h | learning_rate | num_ops | min | \
            mean | day | second | items | perms | minus | wall_thickness | clock_GHz_freq | parallel | ";
        check(factors, is_other);
        let no_times = "stddev_s | time_ms2 | time [s^2] | % time | elapsed_unit | log_time | nanoTime | \
            micro_benchmark_time | wall_ms [s] | ms_per_iter [us] | second_run | min/max | max/min | \
            h/dx | S/N | d/D";
        check(no_times, is_other);
    }

    #[test]
    fn a_number_is_the_nearest_whatever_stands_between_its_thousands() {
        check_number("0.3", Some(0.3), Some(0.3));
        check_number("103,2000", Some(103.2), None);
        check_number("1.234,5", Some(1234.5), None);
        check_number("1,234.5", None, Some(1234.5));
        check_number("1,234,567", None, Some(1_234_567.0));
        check_number("28,400", Some(28.4), Some(28_400.0));
        check_number("1.234.567", Some(1_234_567.0), None);
        check_number("1\u{a0}234", Some(1234.0), Some(1234.0));
        check_number("-1'234", Some(-1234.0), Some(-1234.0));
        check_number("1.5e3", Some(1500.0), Some(1500.0));
        check_number("1.234e3", Some(1234.0), Some(1234.0));
        check_number("0.7725D+01", Some(7.725), Some(7.725));
        check_number(" +5. ", Some(5.0), Some(5.0));
    }

    #[test]
    fn a_text_that_is_no_number_or_may_be_two_is_refused() {
        check_number("1.234", None, Some(1.234));
        check_number("1,23", Some(1.23), None);
        let wrong =
            "|-|.|,|nan|inf|1e999|1e|1 23|1,2345.6|0,123,456|1'234 567|12 s|1.2.3|--1|1,,234|e5";
        for text in wrong.split('|') {
            check_number(text, None, None);
        }
    }

    #[test]
    fn a_duration_is_read_as_programs_print_it() {
        for (text, seconds) in [
            ("72 s", 72.0),
            ("72s", 72.0),
            ("1m12.3s", 72.3),
            ("1m31.50s", 91.5),
            (" 1m 5.2s", 65.2),
            ("1h2m3s", 3723.0),
            ("1h 2m", 3720.0),
            ("2d 3h", 183_600.0),
            ("0:01:12.3", 72.3),
            ("00:01:43.20", 103.2),
            ("1-02:03:04", 93_784.0),
            ("1 day, 2:03:04", 93_784.0),
            ("1:15.90", 75.9),
            ("100:00", 6000.0),
            ("1,234.5 ms", 1.2345),
            ("1.5 min", 90.0),
            ("1.5e3 ms", 1.5),
            ("1 min, 3 sec.", 63.0),
            ("1m60.00s", 120.0),
            ("PT1M12.3S", 72.3),
            ("P1DT2H", 93_600.0),
        ] {
            check_duration(text, seconds);
        }
        let plain = Some(Duration { seconds: 103.2, has_unit: false });
        assert_eq!(duration("103.2", Comma::Thousands), plain);
        assert_eq!(duration("103,2", Comma::Decimal), plain);
        assert_eq!(duration("1:15,9", Comma::Decimal).map(|it| it.seconds), Some(75.9));
    }

    #[test]
    fn a_text_that_is_no_duration_is_refused() {
        let wrong = "|s|5 m|-1|-1 s|-0:01|1h -2m|1s 2m|1m 2m|1.5h 2m|72 s CPU|11.4 ns/day|1:60|1:60:00|1:5|\
            16:9|1-02:03|1-24:00:00|1:2:3:4|1:|2026-01-01 00:00:00|2026-01-01T00:00:00|P|PT|P1M|PT1S2M|\
            P1DT|3 kcycles|0:01:12,345|1,5 s|nan s|1 2 s";
        for text in wrong.split('|') {
            assert_eq!(duration(text, Comma::Thousands), None, "{text:?}");
        }
    }
}

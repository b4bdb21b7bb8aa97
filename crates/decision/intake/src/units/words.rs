//! The words of the name of a column, and what each says of its unit.

use super::Unit;
use crate::is_in;

/// Words for a time, whatever stands before them.
const TIMES: &str = "time times wallclocktime wallclock walltime walltimes runtime runtimes exectime \
    realtime elapsedtime elapsed duration durations makespan latency latencies timing timings zeit zeiten \
    laufzeit ausf\u{fc}hrungszeit ausfuehrungszeit rechenzeit gesamtzeit dauer temps dur\u{e9}e duree \
    tiempo tempodeexecucao \u{65f6}\u{95f4} \u{8fd0}\u{884c}\u{65f6}\u{95f4} \u{8017}\u{65f6} \u{6642}\u{9593}";

/// Words for a time only where every other word is known: a wall may be of stone.
const WEAK_TIMES: &str = "wall real tempo";

/// Words that change nothing of the unit.
const QUALIFIERS: &str = "mean means avg average median med min max minimum maximum total sum best worst \
    fastest slowest mittel mittelwert mittlere wall clock run runs job jobs iter iters iteration iterations \
    step steps of in real solve solver loop loops main region all measured value raw or on for the to \
    solution exec execution compute computation kernel program process app application simulation \
    benchmark bench test phase section overall whole parallel figure gesamt taken took spent";

/// Words for what is set, but not before `per` or `/` and a unit of time: timesteps/s are a rate.
pub(super) const SIMULATED: &str = "timestep timesteps simulated sim";

/// Words before a unit that may be the numerator of a rate: `iter_s`.
pub(super) const COUNTED: &str =
    "run runs job jobs iter iters iteration iterations step steps loop loops";

/// Words for time of processors.
const PROCESSORS: &str = "cpu cpus user sys system utime stime processor";

/// Words for rates in any company.
const RATES: &str = "flops kflops mflops gflops tflops pflops lups mlups glups mups gups throughput \
    bandwidth tps qps iops fps mips sypd speedup merit fom bps kbps mbps gbps hz khz mhz ghz";

/// Words for rates only where every other word is known: `learning_rate` is a factor, no result.
const WEAK_RATES: &str = "rate efficiency performance speed score ops";

/// Words for what was set, for an instant, a statistic of another dimension, or a quotient of times.
const NO_TIMES: &str = "limit timelimit timeout interval period delay requested budget start started end \
    ended begin submit submitted stamp timestamp datetime date deadline warmup sleep eta queue queued \
    pending since reserved eligible planned estimated estimate expected predicted prediction modelled \
    reference ref target sampling learning arrival injection simulated sim timestep timesteps dt unit \
    units zone timezone idle wait waiting freq frequency lifetime uptime id name index count num number \
    std stddev stdev sd deviation sigma var variance relative rel normalized normalised norm ratio \
    aggregate aggregated cumulative accumulated summed percent pct fraction share diff difference delta error log log2 log10 ln sqrt inverse squared";

/// Words before a unit that make it another: `core_hours`, `kilo seconds`.
pub(super) const SCALES: &str = "core cores node nodes gpu gpus kilo mega giga centi deci pico femto hundred \
    thousand million";

/// Words that are units only behind others: alone they are parts of a date, of a simulated span or prefixes.
pub(super) const UNITS_BEHIND: &str =
    "second minute hour day days milli micro nano sekunde stunde tag tage";

/// Layouts of durations in names, longest first; the texts below them say their unit.
const LAYOUTS: [&str; 6] = ["dd-hh:mm:ss", "d-hh:mm:ss", "hh:mm:ss", "h:mm:ss", "mm:ss", "m:ss"];

/// What a word of a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) struct Word {
    pub text: String,
    pub kind: Kind,
    /// Brackets around it.
    pub depth: u32,
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

    pub fn is(&self, list: &str) -> bool {
        is_in(list, &self.text.to_lowercase())
    }

    pub fn in_brackets(&self) -> bool {
        self.depth > 0
    }

    pub fn unit(&self) -> Option<Unit> {
        match self.kind {
            Kind::Unit(unit) => Some(unit),
            _ => None,
        }
    }
}

/// Whether a word is such as `p95`.
fn is_percentile(word: &str) -> bool {
    word.strip_prefix('p')
        .is_some_and(|it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_digit()))
}

/// The words of a name, and each `/`.
pub(super) fn words(name: &str) -> Vec<Word> {
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

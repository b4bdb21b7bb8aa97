//! Traces in the trace-event format of Chrome, as `mmgp emulate --trace` writes them: read event by
//! event, keeping nothing but spans.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Source;
use crate::error::Result;

/// A trace: spans of time on tracks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The time lines: those of host processes first, then by the numbers in the file.
    pub tracks: Vec<Track>,
    /// The names of the categories, which spans count from 0.
    pub categories: Vec<String>,
}

/// A time line.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Name of the track; `thread 7` where the file has none. Where several tracks share one, the name of
    /// its process stands before it.
    pub name: String,
    /// Spans in the order of the file.
    pub spans: Vec<Span>,
}

/// A span of time in which one thing was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// When it began \[s\].
    pub start_s: f64,
    /// When it ended \[s\].
    pub end_s: f64,
    /// Which of the trace's categories.
    pub category: u8,
}

/// The most categories that a trace may have.
const MOST_CATEGORIES: usize = 256;

/// Process and thread of a trace.
type TrackId = (u64, u64);

/// What the file says so far.
#[derive(Default)]
struct TraceReader {
    categories: Vec<String>,
    spans: BTreeMap<TrackId, Vec<Span>>,
    threads: BTreeMap<TrackId, String>,
    processes: BTreeMap<u64, String>,
}

/// One event; what other programs add is skipped.
#[derive(Deserialize)]
struct SpanEvent<'a> {
    #[serde(borrow)]
    ph: Cow<'a, str>,
    #[serde(default)]
    pid: u64,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default, borrow)]
    name: Cow<'a, str>,
    #[serde(default, borrow)]
    cat: Cow<'a, str>,
    #[serde(default, borrow)]
    args: Option<SpanArguments<'a>>,
}

#[derive(Deserialize)]
struct SpanArguments<'a> {
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
}

impl Trace {
    /// Reads complete events (`X`) and names (`M`), and skips all others.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with the place where the text is no trace, and where it holds no span.
    pub fn read(source: &Source) -> Result<Self> {
        let mut reading = TraceReader::default();
        let expected = "a trace as mmgp emulate --trace writes it";
        read_events(source, expected, |event| reading.event(&event))?;
        let trace = reading.trace();
        if trace.tracks.is_empty() {
            let expected = "a trace with at least one event of phase X";
            return Err(source.error(source.text.len(), "no event that takes time", expected));
        }
        Ok(trace)
    }
}

impl TraceReader {
    fn event(&mut self, event: &SpanEvent<'_>) -> std::result::Result<(), String> {
        let place = (event.pid, event.tid);
        let argument = || event.args.as_ref().and_then(|it| it.name.as_deref()).map(String::from);
        match (&*event.ph, &*event.name) {
            ("M", "thread_name") => self.threads.extend(argument().map(|name| (place, name))),
            ("M", "process_name") => {
                self.processes.extend(argument().map(|name| (event.pid, name)));
            }
            ("X", _) => {
                if !(event.dur >= 0.0 && event.ts.is_finite() && event.dur.is_finite()) {
                    return Err(format!("an event from {} for {} us", event.ts, event.dur));
                }
                let category = self.category(&event.cat)?;
                let (start_s, end_s) = (event.ts * 1e-6, (event.ts + event.dur) * 1e-6);
                self.spans.entry(place).or_default().push(Span { start_s, end_s, category });
            }
            _ => {}
        }
        Ok(())
    }

    fn category(&mut self, name: &str) -> std::result::Result<u8, String> {
        let known = self.categories.iter().position(|known| known == name);
        let index = known.unwrap_or(self.categories.len());
        if index >= MOST_CATEGORIES {
            return Err(format!("more than {MOST_CATEGORIES} categories"));
        }
        if known.is_none() {
            self.categories.push(name.to_string());
        }
        Ok(index as u8)
    }

    fn trace(self) -> Trace {
        let Self { categories, spans, threads, processes } = self;
        let name = |place: &TrackId| {
            let own = threads.get(place).cloned();
            own.unwrap_or_else(|| format!("thread {}", place.1))
        };
        let mut tracks: Vec<(bool, Track)> = Vec::new();
        let names: Vec<String> = spans.keys().map(name).collect();
        for ((place, spans), own) in spans.into_iter().zip(&names) {
            let process = processes.get(&place.0);
            let is_machine = process.is_none_or(|name| name != "Host processes");
            let is_shared = names.iter().filter(|name| *name == own).count() > 1;
            let name = match process.filter(|_| is_shared) {
                Some(process) => format!("{process} {own}"),
                None => own.clone(),
            };
            tracks.push((is_machine, Track { name, spans }));
        }
        tracks.sort_by_key(|(is_machine, _)| *is_machine);
        Trace { tracks: tracks.into_iter().map(|(_, track)| track).collect(), categories }
    }
}

/// Which of the processes of a run a trace is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Ranks {
    /// The process, counted from 0.
    pub rank: u32,
    /// Number of processes.
    pub world_size: u32,
}

/// Hands every event to `take` in the order of the file, as what `E` keeps of it. The file is an
/// object with the events, or the events alone, as the format allows both. What it says of other processes
/// is given back.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) that something else was `expected`, with the place where the
/// text is no JSON, an event is no `E`, or `take` refuses one; that place is within the event or at its end.
pub(super) fn read_events<'a, E: Deserialize<'a>>(
    source: &'a Source,
    expected: &str,
    take: impl FnMut(E) -> std::result::Result<(), String>,
) -> Result<Option<Ranks>> {
    let mut deserializer = serde_json::Deserializer::from_str(&source.text);
    let mut take = take;
    let read = Whole { take: &mut take, event: PhantomData }.deserialize(&mut deserializer);
    let read = read.and_then(|ranks| deserializer.end().map(|()| ranks));
    read.map_err(|error| source.json_error(&source.text, &error, expected))
}

/// The whole file, or the list of events in it.
struct Whole<'t, E, F> {
    take: &'t mut F,
    event: PhantomData<E>,
}

impl<'de, E, F> DeserializeSeed<'de> for Whole<'_, E, F>
where
    E: Deserialize<'de>,
    F: FnMut(E) -> std::result::Result<(), String>,
{
    type Value = Option<Ranks>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Option<Ranks>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, E, F> Visitor<'de> for Whole<'_, E, F>
where
    E: Deserialize<'de>,
    F: FnMut(E) -> std::result::Result<(), String>,
{
    type Value = Option<Ranks>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"traceEvents\", or a list of events")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Option<Ranks>, A::Error> {
        let mut ranks = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "traceEvents" {
                map.next_value_seed(Whole { take: &mut *self.take, event: PhantomData })?;
            } else if key == "distributedInfo" {
                // One that does not say the rank must not pass for a run of one process.
                ranks = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(ranks)
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut events: A,
    ) -> std::result::Result<Option<Ranks>, A::Error> {
        while let Some(event) = events.next_element::<E>()? {
            (self.take)(event).map_err(serde::de::Error::custom)?;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Trace> {
        Trace::read(&Source::new("run.json", text))
    }

    const EVENTS: &str = r#"[
{"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"SPE 0"}},
{"ph":"M","pid":2,"tid":9,"name":"process_name","args":{"name":"Host processes"}},
{"ph":"X","pid":1,"tid":7,"ts":500.25,"dur":1.5,"name":"node","cat":"kernel","args":{"bytes":8}},
{"ph":"s","pid":1,"tid":7,"ts":500.5,"name":"start","id":3},
{"ph":"X","pid":2,"tid":9,"ts":0,"dur":3,"name":"a \"name\"","cat":"mpi"}
]"#;

    #[test]
    fn spans_are_in_seconds_on_their_tracks_the_host_first() {
        let trace = read(EVENTS).unwrap();
        assert_eq!(trace.categories, ["kernel", "mpi"]);
        let names: Vec<&str> = trace.tracks.iter().map(|track| track.name.as_str()).collect();
        assert_eq!(names, ["thread 9", "SPE 0"]);
        let [span] = trace.tracks[1].spans[..] else { panic!("one span") };
        approx::assert_relative_eq!(span.start_s, 500.25e-6, max_relative = 1e-14);
        approx::assert_relative_eq!(span.end_s, 501.75e-6, max_relative = 1e-14);
        assert_eq!(span.category, 0);
    }

    #[test]
    fn both_forms_of_the_format_are_read() {
        let object = format!(r#"{{"displayTimeUnit":"ns","traceEvents":{EVENTS},"more":[1]}}"#);
        assert_eq!(read(&object).unwrap(), read(EVENTS).unwrap());
    }

    fn check_error(text: &str, place: &str) {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(place), "{error}");
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_place() {
        check_error("", "run.json:1:1: ");
        // Columns are of characters, not of bytes.
        check_error("[{\"name\":\"\u{e9}\u{e9}\" 1}]", "run.json:1:15: found expected `,` or `}`");
        check_error("[\n{\"ph\":\"X\",\"ts\":1,\"dur\":2},\n{\"ph\":1}]", "run.json:3:");
        check_error("[\n{\"ph\":\"X\",\"ts\":1,\"dur\":-2}]", "run.json:2:");
        check_error("{\"traceEvents\":[]}", "run.json:1:19: found no event that takes time");
        check_error("[{\"ph\":\"X\",\"ts\":1,\"dur\":2}] x", "run.json:1:");
        check_error("7", "run.json:1:");
    }

    #[test]
    fn a_trace_with_too_many_categories_is_refused() {
        let events: Vec<String> = (0..300)
            .map(|index| format!(r#"{{"ph":"X","ts":1,"dur":2,"cat":"{index}"}}"#))
            .collect();
        check_error(
            &format!("[{}]", events.join(",\n")),
            "run.json:258:1: found more than 256 categories",
        );
    }
}

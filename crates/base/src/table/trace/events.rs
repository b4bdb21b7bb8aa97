//! The events of a trace in the trace-event format of Chrome, one after the other.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::Result;
use crate::table::Source;
use crate::table::json::mistake;

/// Which of the processes of a run a trace is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(in crate::table) struct Ranks {
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
/// [`Error::Input`](crate::error::Error::Input) that something else was `expected`, with the place where the text is no JSON,
/// an event is no `E`, or `take` refuses one; that place is within the event or at its end.
pub(in crate::table) fn read<'a, E: Deserialize<'a>>(
    source: &'a Source,
    expected: &str,
    take: impl FnMut(E) -> std::result::Result<(), String>,
) -> Result<Option<Ranks>> {
    let mut deserializer = serde_json::Deserializer::from_str(&source.text);
    let mut take = take;
    let read = Whole { take: &mut take, event: PhantomData }.deserialize(&mut deserializer);
    let read = read.and_then(|ranks| deserializer.end().map(|()| ranks));
    read.map_err(|error| mistake(source, &source.text, &error, expected))
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
                let value = map.next_value::<&serde_json::value::RawValue>()?;
                ranks = serde_json::from_str(value.get()).ok();
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

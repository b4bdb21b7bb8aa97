//! Results that are kept as they come.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use mmgp_base::Result;
use mmgp_base::table::{self, Lines, Loss, Source};

use crate::measure::Shard;
use crate::measure::on_threads;
use crate::observer::Observer;

/// A line of the file of results.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// What the result is of.
    of: String,
    is: Box<RawValue>,
}

/// Results by what they are of, as JSON.
pub type KeptLines = BTreeMap<String, String>;

/// The results that a folder keeps so far.
pub struct Kept {
    known: KeptLines,
    lines: Mutex<Lines>,
}

impl Kept {
    /// Goes on with the results in a file, or begins it.
    ///
    /// # Errors
    /// [`Input`](mmgp_base::Error::Input) for a line that is no result; [`Write`](mmgp_base::Error::Write).
    pub fn open(path: &Path) -> Result<Self> {
        let (lines, text) = Lines::open(path)?;
        Ok(Self { known: parse(&text)?, lines: Mutex::new(lines) })
    }

    /// Does something for all items, with its progress, but for those of which a result is kept.
    ///
    /// # Errors
    /// The first error in the order of the items; [`Write`](mmgp_base::Error::Write).
    pub fn all<I: Sync + Debug, T: Serialize + DeserializeOwned + Send>(
        &self,
        what: &'static str,
        items: &[I],
        (threads, observer): (usize, &dyn Observer),
        job: &(dyn Fn(&I) -> Result<T> + Sync),
    ) -> Result<Vec<T>> {
        let step = observer.begin(what, items.len() as u64);
        on_threads(items, threads, &|item| {
            let result = self.one(&format!("{what}: {item:?}"), || job(item));
            step();
            result
        })
    }

    /// Does something for a share of the items; gives all results where that is all of them, and `None` where others
    /// have the rest.
    ///
    /// # Errors
    /// As [`Kept::all`].
    pub fn share<I: Sync + Debug, T: Serialize + DeserializeOwned + Send>(
        &self,
        shard: Shard,
        (what, items): (&'static str, &[I]),
        how: (usize, &dyn Observer),
        job: &(dyn Fn(&I) -> Result<T> + Sync),
    ) -> Result<Option<Vec<T>>> {
        let items: Vec<&I> = shard.of(items).collect();
        let done = self.all(what, &items, how, &|item| job(*item))?;
        Ok(shard.is_whole().then_some(done))
    }

    /// The result that is kept, or that of the job.
    ///
    /// # Errors
    /// Those of the job; [`Write`](mmgp_base::Error::Write).
    pub fn one<T: Serialize + DeserializeOwned>(
        &self,
        of: &str,
        job: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let known = self.known.get(of);
        if let Some(result) = known.and_then(|text| serde_json::from_str(text).ok()) {
            return Ok(result);
        }
        let result = job()?;
        let is = serde_json::value::to_raw_value(&result);
        let is = is.expect("invariant: results have string keys only");
        let line = serde_json::to_string(&Line { of: of.into(), is });
        let line = line.expect("invariant: a line has string keys only");
        self.lines().append(&line, Loss::IsCheap)?;
        Ok(result)
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Results by what they are of.
///
/// # Errors
/// [`Input`](mmgp_base::Error::Input) at a line that is none.
pub fn parse(source: &Source) -> Result<KeptLines> {
    let mut known = KeptLines::new();
    let expected = "a result as it was kept; they may be discarded";
    for text in source.text.split_inclusive('\n') {
        let line: Line = serde_json::from_str(text)
            .map_err(|error| source.json_error(text, &error, expected))?;
        known.insert(line.of, line.is.get().into());
    }
    Ok(known)
}

/// Writes results as they are kept.
///
/// # Errors
/// [`Write`](mmgp_base::Error::Write).
pub fn write(path: &Path, kept: &KeptLines) -> Result<()> {
    let line = |(of, is): (&String, &String)| {
        let is = RawValue::from_string(is.clone()).expect("invariant: it was JSON");
        let line = serde_json::to_string(&Line { of: of.clone(), is });
        line.expect("invariant: a line has string keys only") + "\n"
    };
    table::write(path, kept.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_was_kept_is_not_done_again_and_is_the_same_to_the_last_bit() {
        let folder = std::env::temp_dir().join(format!("mmgp-kept-{}", std::process::id()));
        table::create_folder(&folder).unwrap();
        let path = folder.join("kept.jsonl");
        let runs = AtomicU32::new(0);
        let items: Vec<u32> = (1..=9).collect();
        let all = |shard: &str| {
            let kept = Kept::open(&path).unwrap();
            let job = |item: &u32| {
                runs.fetch_add(1, Ordering::Relaxed);
                Ok(1.0 / f64::from(*item))
            };
            let how: (usize, &dyn Observer) = (3, &());
            kept.share(shard.parse().unwrap(), ("inverses", &items), how, &job).unwrap()
        };
        assert_eq!(all("2/4"), None);
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        // Killed while a line was written, which then is not there.
        let text = Source::read(&path).unwrap().text;
        let last = text.trim_end().rfind('\n').unwrap();
        table::write(&path, &text[..last + 9]).unwrap();
        let expected: Vec<f64> = items.iter().map(|&item| 1.0 / f64::from(item)).collect();
        assert_eq!(all("1/1"), Some(expected.clone()));
        assert_eq!(runs.load(Ordering::Relaxed), 2 + 8);
        assert_eq!(all("1/1"), Some(expected));
        assert_eq!(runs.load(Ordering::Relaxed), 2 + 8);
        table::write(&path, "{}\n").unwrap();
        let error = Kept::open(&path).err().unwrap().to_string();
        assert!(error.contains("kept.jsonl:1:2: found missing field `of`"), "{error}");
        table::remove_folder(&folder).unwrap();
    }
}

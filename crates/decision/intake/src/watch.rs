//! What else varies among the runs of one (m, p).

use std::collections::{BTreeMap, BTreeSet};

use crate::sheet::Field;

/// Different values that are remembered of a column.
const REMEMBERED: usize = 1000;

/// Times of one configuration farther apart than this are hardly repetitions.
const FAR: f64 = 1.3;

/// A circumstance with more values tells nothing apart.
const MOST_OF_CIRCUMSTANCE: usize = 20;

/// Columns that nobody has claimed, while rows go by.
pub(crate) struct Watch {
    columns: Vec<Watched>,
    /// The values of the first run of each configuration, and its times.
    first: BTreeMap<(u32, u32), First>,
}

/// What is known of the runs of a configuration.
struct First {
    values: Vec<String>,
    least: f64,
    most: f64,
    runs: u64,
}

/// A column that nobody has claimed.
pub(crate) struct Watched {
    pub place: usize,
    /// Whether it is a circumstance by its name, which matters where times are far apart.
    is_circumstance: bool,
    /// The first configuration among whose runs it varies.
    pub varies_at: Option<(u32, u32)>,
    pub values: BTreeSet<String>,
}

impl Watch {
    pub fn new(places: &[usize], circumstances: &[usize]) -> Self {
        let watched = |is_circumstance| {
            move |&place: &usize| Watched {
                place,
                is_circumstance,
                varies_at: None,
                values: BTreeSet::new(),
            }
        };
        let of_names = circumstances.iter().map(watched(true));
        Self {
            columns: places.iter().map(watched(false)).chain(of_names).collect(),
            first: BTreeMap::new(),
        }
    }

    /// Looks at a run that took so long.
    pub fn add(&mut self, point: (u32, u32), row: &[Field<'_>], time_s: f64) {
        if self.columns.is_empty() {
            return;
        }
        let text = |column: &Watched| row[column.place].text.to_string();
        let first = self.first.entry(point).or_insert_with(|| First {
            values: self.columns.iter().map(text).collect(),
            least: time_s,
            most: time_s,
            runs: 0,
        });
        first.runs += 1;
        (first.least, first.most) = (first.least.min(time_s), first.most.max(time_s));
        for (column, first) in self.columns.iter_mut().zip(&first.values) {
            let text = row[column.place].text.as_ref();
            if text != first && column.varies_at.is_none() {
                column.varies_at = Some(point);
            }
            if column.values.len() < REMEMBERED && !column.values.contains(text) {
                column.values.insert(text.to_string());
            }
        }
    }

    /// Whether the times of most configurations with several runs are far apart.
    fn is_far_apart(&self) -> bool {
        let several = || self.first.values().filter(|first| first.runs > 1);
        let far = several().filter(|first| first.most > FAR * first.least).count();
        far > 0 && 2 * far >= several().count()
    }

    /// All of them.
    pub fn columns(&self) -> impl Iterator<Item = &Watched> {
        self.columns.iter()
    }

    /// Those that vary; circumstances, where the times are so far apart that one of them may be why.
    pub fn varying(&self, rows: u64) -> impl Iterator<Item = &Watched> {
        let is_far_apart = self.is_far_apart();
        self.columns.iter().filter(move |column| {
            let count = column.values.len();
            let is_meant = !column.is_circumstance
                || (is_far_apart && count <= MOST_OF_CIRCUMSTANCE && 2 * count as u64 <= rows);
            column.varies_at.is_some() && is_meant
        })
    }
}

impl Watched {
    /// Whether it is something that was measured: numbers with decimals, most of them different.
    pub fn is_measured(&self, rows: u64) -> bool {
        let has_decimals = |text: &&String| {
            text.parse::<f64>().is_ok_and(|number| number.fract() != 0.0 || text.contains('.'))
        };
        let count = self.values.len();
        let decimal = self.values.iter().filter(has_decimals).count();
        2 * decimal > count && (count == REMEMBERED || 2 * count as u64 > rows)
    }
}

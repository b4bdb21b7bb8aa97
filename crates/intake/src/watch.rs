//! What else varies among the runs of one (m, p).

use std::collections::{BTreeMap, BTreeSet};

use crate::sheet::Field;

/// Different values that are remembered of a column.
const REMEMBERED: usize = 1000;

/// Columns that nobody has claimed, while rows go by.
pub(crate) struct Watch {
    columns: Vec<Watched>,
    /// The values of the first run of each configuration.
    first: BTreeMap<(u32, u32), Vec<String>>,
}

/// A column that nobody has claimed.
pub(crate) struct Watched {
    pub place: usize,
    /// The first configuration among whose runs it varies.
    pub varies_at: Option<(u32, u32)>,
    pub values: BTreeSet<String>,
}

impl Watch {
    pub fn new(places: Vec<usize>) -> Self {
        let watched = |place| Watched { place, varies_at: None, values: BTreeSet::new() };
        Self { columns: places.into_iter().map(watched).collect(), first: BTreeMap::new() }
    }

    /// Looks at a run.
    pub fn add(&mut self, point: (u32, u32), row: &[Field<'_>]) {
        if self.columns.is_empty() {
            return;
        }
        let text = |column: &Watched| row[column.place].text.to_string();
        let first =
            self.first.entry(point).or_insert_with(|| self.columns.iter().map(text).collect());
        for (column, first) in self.columns.iter_mut().zip(first) {
            let text = row[column.place].text.as_ref();
            if text != first && column.varies_at.is_none() {
                column.varies_at = Some(point);
            }
            if column.values.len() < REMEMBERED && !column.values.contains(text) {
                column.values.insert(text.to_string());
            }
        }
    }

    /// Those that vary.
    pub fn varying(&self) -> impl Iterator<Item = &Watched> {
        self.columns.iter().filter(|column| column.varies_at.is_some())
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

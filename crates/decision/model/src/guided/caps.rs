//! The most APUs that are worth while for each function.

use super::window::{BATCH, FUNCTIONS, OfFunction, Sample, Window, place_of};

/// A function gets no APUs that make it faster by less than this.
const WORTH_SHARING: f64 = 1.02;
/// By so many standard errors two means of one function must differ to be told apart.
const TOLD_APART: f64 = 2.0;

/// How functions share, under choices with the same m.
#[derive(Debug, Clone)]
pub(super) struct Caps {
    columns: usize,
    /// Off-loads of each function at each p: a row for each function.
    functions: Vec<Sample>,
    /// For each function at the current p.
    caps: [u32; FUNCTIONS],
    /// How often one of these was found to be another while a choice held.
    pub changes: u64,
}

impl Caps {
    pub fn new(apus: u32) -> Self {
        let columns = apus as usize + 1;
        let functions = vec![Sample::EMPTY; columns * FUNCTIONS];
        Self { columns, functions, caps: [u32::MAX; FUNCTIONS], changes: 0 }
    }

    pub fn forget(&mut self) {
        self.functions.fill(Sample::EMPTY);
        self.caps.fill(u32::MAX);
    }

    /// The most APUs that are worth while for a function.
    pub fn of(&self, function: u32) -> u32 {
        self.caps[place_of(function)]
    }

    fn row(&self, place: usize) -> &[Sample] {
        &self.functions[place * self.columns..(place + 1) * self.columns]
    }

    /// Learns how functions share from a window at p, and answers how much less an off-load will take on
    /// the average now that none gets APUs that are of no use to it \[s\].
    pub fn learn(&mut self, p: u32, window: &Window) -> f64 {
        // The choice of p is that of the function if it is the only one.
        if window.by_function.iter().filter(|it| it.offload.count > 0.0).count() < 2 {
            return 0.0;
        }
        let (mut saved, mut count) = (0.0, 0.0);
        for (place, of_function) in window.by_function.iter().enumerate() {
            let measured = &of_function.offload;
            if measured.count == 0.0 {
                continue;
            }
            self.functions[place * self.columns + of_function.shares as usize].merge(measured, 1.0);
            let row = self.row(place);
            // With more APUs than it ever had it is tried first.
            let is_known = row[p as usize].count > 0.0 || of_function.shares < p;
            if let Some(fewest) = fewest(row, p).filter(|_| is_known) {
                let less = (measured.mean - row[fewest as usize].mean).max(0.0);
                saved += if of_function.shares > fewest { measured.count * less } else { 0.0 };
                let cap = if fewest == p { u32::MAX } else { fewest };
                self.changes += u64::from(cap.min(p) != self.caps[place].min(p));
                self.caps[place] = cap;
            }
            count += measured.count;
        }
        if count > 0.0 { saved / count } else { 0.0 }
    }

    /// The off-loads of a function in a window, as they will be with no more APUs than are worth while.
    pub fn capped(&self, place: usize, of_function: &OfFunction) -> Sample {
        let cap = self.caps[place];
        if of_function.shares <= cap {
            return of_function.offload;
        }
        of_function.offload.about(self.row(place)[cap as usize].mean)
    }

    /// A choice of p follows: every function is to show what it makes of more APUs.
    pub fn choose(&mut self, p: u32) {
        for place in 0..FUNCTIONS {
            let row = self.row(place);
            self.caps[place] = match (row[p as usize].count > 0.0, fewest(row, p)) {
                (true, Some(fewest)) => fewest,
                _ => u32::MAX,
            };
        }
    }

    /// A choice follows that was measured with these.
    pub fn choose_again(&mut self, caps: [u32; FUNCTIONS]) {
        self.caps = caps;
    }

    /// As they are now.
    pub fn all(&self) -> [u32; FUNCTIONS] {
        self.caps
    }

    /// With another number of processes on the host, off-loads may wait longer for it, and say nothing
    /// of those before.
    pub fn choose_others(&mut self) {
        self.functions.fill(Sample::EMPTY);
    }
}

/// The fewest APUs, up to p, with which a function is as fast as it gets; where it cannot be told that it
/// is as fast with fewer than p, these.
fn fewest(row: &[Sample], p: u32) -> Option<u32> {
    let known = || (1..=p).filter(|&p| row[p as usize].count > 0.0);
    let least = known().map(|p| row[p as usize].mean).fold(f64::INFINITY, f64::min);
    let fewest = known().find(|&p| row[p as usize].mean <= WORTH_SHARING * least)?;
    let (few, all) = (&row[fewest as usize], &row[p as usize]);
    if all.count == 0.0 {
        return Some(fewest);
    }
    let error = few.relative_error().hypot(all.relative_error()) * f64::from(BATCH).sqrt();
    let is_told = (WORTH_SHARING * all.mean / few.mean).ln() > TOLD_APART * error;
    Some(if is_told { fewest } else { p })
}

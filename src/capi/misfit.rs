//! How far equation 11 is off, as the runs tell that come with parameters: a factor and a width for
//! every configuration, made once and read without a lock.

use crate::Mapping;
use crate::belief::{Posterior, untold_deviation};
use crate::decide::{Constraints, candidates};
use crate::error::Result;
use crate::fit::online::MOST_THREADS;
use crate::models::Parameters;
use crate::models::observations::Range;
use crate::statistics::quantile_97_5;

/// The most configurations that are looked up; more are equation 11.
const MOST: usize = 4096;

/// No interval is wider to either side, so that its ends are numbers.
const WIDEST: f64 = 1e9;

/// What no level of p has for its column.
const NONE: u32 = u32::MAX;

/// What is known of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// The time over that of equation 11.
    pub factor: f64,
    /// How far the ends of its 95 % interval are from its time, as a factor.
    pub width: f64,
    /// What is chosen by over the time of equation 11: the time with the caution of every choice.
    pub cautious: f64,
    /// Whether it is in question where nobody says how far to go.
    pub in_question: bool,
}

impl Correction {
    /// What is known where equation 11 alone tells a time, whose logarithm has this standard deviation.
    pub fn untold(deviation: f64, in_question: bool) -> Self {
        Self { factor: 1.0, width: width(deviation), cautious: deviation.exp(), in_question }
    }
}

/// A table over levels of m and p; empty where equation 11 is all that is known.
pub struct Misfit {
    range: Option<Range>,
    /// The first entry of each m from 1, and the number of its entries, by p.
    rows: Box<[(u32, u32)]>,
    /// The column of each p from 1.
    columns: Box<[u32]>,
    levels_of_p: Box<[u32]>,
    entries: Box<[Correction]>,
}

impl Misfit {
    /// The misfit by the runs that the parameters come with, within their range, for m up to `last_m`; where files
    /// speak, of all that the machine has room for, as far as the table holds it.
    ///
    /// # Errors
    /// As [`Posterior::of`].
    pub fn of(parameters: &Parameters, last_m: u32) -> Result<Self> {
        let has_refined = parameters.refinements.as_ref().is_some_and(|it| !it.names().is_empty());
        if parameters.evidence.is_none() && !has_refined && parameters.traced.is_none() {
            return Ok(Self::of_levels(None, &[], &[], 0));
        }
        let posterior = Posterior::of(parameters)?;
        let apus = parameters.apus;
        let in_question = candidates(&posterior, &Constraints::NONE, apus)?.mappings;
        let ran = posterior.observations().configurations.iter().map(|it| it.mapping);
        let known = Range::of(ran.chain(in_question.iter().copied()));
        // Files speak of all that the machine has room for.
        let of_runs = known.filter(|_| !posterior.has_files() && posterior.range().is_some());
        let range = of_runs.unwrap_or(Range { m: (1, last_m), p: (1, apus) });
        let (ms, ps) = levels(&posterior, range, last_m, apus);
        let mut table = Self::of_levels(Some(range), &ms, &ps, apus);
        let fitting =
            |&m: &u32| ps.iter().take(fitting(m, &ps, apus)).map(move |&p| Mapping::new(m, p));
        let mappings = ms.iter().flat_map(fitting).collect::<Result<Vec<Mapping>>>()?;
        let marginals = posterior.marginals(&mappings);
        let known = |(index, &mapping): (usize, &Mapping)| {
            let over = |log_time: f64| (log_time - parameters.time(mapping).0.ln()).exp();
            let known = Correction {
                factor: over(marginals.log_time(index)),
                width: width(marginals.deviation(index)),
                cautious: over(marginals.caution(index)),
                in_question: in_question.binary_search(&mapping).is_ok(),
            };
            // A time of nothing has no ratio to another.
            let is_usable = known.factor.is_normal() && known.width.is_finite();
            if is_usable {
                known
            } else {
                Correction::untold(untold_deviation(), known.in_question)
            }
        };
        table.entries = mappings.iter().enumerate().map(known).collect();
        Ok(table)
    }

    /// The places of entries that are still to come.
    fn of_levels(range: Option<Range>, ms: &[u32], ps: &[u32], apus: u32) -> Self {
        let mut rows = vec![(0, 0); ms.last().map_or(0, |&m| m as usize)];
        let mut next = 0;
        for &m in ms {
            let count = fitting(m, ps, apus) as u32;
            rows[m as usize - 1] = (next, count);
            next += count;
        }
        let mut columns = vec![NONE; ps.last().map_or(0, |&p| p as usize)];
        for (&p, column) in ps.iter().zip(0..) {
            columns[p as usize - 1] = column;
        }
        Self {
            range: range.filter(|_| next > 0),
            rows: rows.into(),
            columns: columns.into(),
            levels_of_p: ps.into(),
            entries: Box::default(),
        }
    }

    /// What is known of (m, p), both at least 1.
    #[inline]
    pub fn at(&self, m: u32, p: u32) -> Option<Correction> {
        let &(start, count) = self.rows.get(m as usize - 1)?;
        let &column = self.columns.get(p as usize - 1)?;
        (column < count).then(|| self.entries[(start + column) as usize])
    }

    /// Time over that of equation 11; 1 where nothing is known.
    #[inline]
    pub fn factor(&self, m: u32, p: u32) -> f64 {
        self.at(m, p).map_or(1.0, |known| known.factor)
    }

    /// The smallest and the largest m and p that the table is about; `None` of an empty one.
    pub fn range(&self) -> Option<Range> {
        self.range
    }

    /// All p that are known at m, with what is known.
    pub fn row(&self, m: u32) -> impl Iterator<Item = (u32, &Correction)> {
        let (start, count) = self.rows.get(m as usize - 1).copied().unwrap_or_default();
        let entries = &self.entries[start as usize..(start + count) as usize];
        self.levels_of_p.iter().copied().zip(entries)
    }
}

/// How far the ends of the 95 % interval are from a time whose logarithm has this standard
/// deviation, as a factor.
pub fn width(deviation: f64) -> f64 {
    (quantile_97_5(None) * deviation).exp().min(WIDEST)
}

/// How many of increasing `ps` leave m*p within the APUs.
fn fitting(m: u32, ps: &[u32], apus: u32) -> usize {
    ps.partition_point(|&p| u64::from(m) * u64::from(p) <= u64::from(apus))
}

/// The m and p of the table: all in the range, or where these are too many those that were timed, or
/// every second one of them.
fn levels(posterior: &Posterior, range: Range, last_m: u32, apus: u32) -> (Vec<u32>, Vec<u32>) {
    let last_p = apus.min(MOST_THREADS);
    let all = |(first, last): (u32, u32), most: u32| (first..=last.min(most)).collect::<Vec<u32>>();
    let too_many =
        |ms: &[u32], ps: &[u32]| ms.iter().map(|&m| fitting(m, ps, apus)).sum::<usize>() > MOST;
    let (mut ms, mut ps) = (all(range.m, last_m), all(range.p, last_p));
    if too_many(&ms, &ps) {
        let timed = |of: fn(Mapping) -> u32, most: u32| {
            let configurations = &posterior.observations().configurations;
            let mut levels: Vec<u32> = configurations.iter().map(|it| of(it.mapping)).collect();
            levels.retain(|&level| level <= most);
            levels.sort_unstable();
            levels.dedup();
            levels
        };
        (ms, ps) = (timed(Mapping::m, last_m), timed(Mapping::p, last_p));
    }
    while too_many(&ms, &ps) {
        let longer = if ms.len() > ps.len() { &mut ms } else { &mut ps };
        let mut index = 0;
        longer.retain(|_| {
            index += 1;
            index % 2 == 1
        });
    }
    (ms, ps)
}

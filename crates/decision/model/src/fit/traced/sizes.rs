//! Sizes of the shapes that parts of the time have, given what parts were in traced runs.
//!
//! Of as many runs as a part has shapes each size follows; of fewer, what is measured is shared among all shapes
//! that may have made it, each as likely as the runs say, and their errors tell: they are large and go together, so that the sum is
//! known where it was measured and less and less elsewhere. No size is below zero.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector};

use super::{Seen, TracedRuns};
use crate::models::parameters::Estimate;
use crate::models::traced::{Processors, RegionGrowth, SHAPES, Shape, TracedTerms};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;

/// How far a part of one run is from its mean over runs, relative. Assumed.
const SCATTER: f64 = 0.02;

/// What a part is known to at best, of the whole time.
const OF_TIME: f64 = 0.001;

/// Shares of the work by which a thread may be late, as uneven loops are. Assumed.
const LATE: f64 = 0.25;

/// A side along which runs may not have been traced.
struct Unseen {
    /// What there is one of.
    what: &'static str,
    count: fn(Mapping) -> u32,
    /// What may be lost with several.
    shape: &'static str,
}

const UNSEEN: [Unseen; 2] = [
    Unseen { what: "threads", count: |at| at.p(), shape: "uneven_threads_s" },
    Unseen { what: "ranks", count: |at| at.m(), shape: "uneven_work_s" },
];

/// Standard error of what is lost along a side that nobody traced, of the work. Assumed.
const LOST: f64 = 0.25;

/// No shape is less likely beside the others. Assumed.
const UNLIKELY: f64 = 0.02;

impl Seen {
    /// What the rank with most host time, and that with most work, have beyond the mean; together 1.
    fn excess_of_ranks(&self) -> [f64; 2] {
        let count = self.of_ranks.len() as f64;
        let excess = [0, 1].map(|place| {
            let all = self.of_ranks.values().map(|it| it[place]);
            all.clone().fold(0.0, f64::max) - all.sum::<f64>() / count
        });
        let both = excess[0] + excess[1];
        if both > 0.0 { excess.map(|it| it / both) } else { [0.5, 0.5] }
    }
}

impl TracedRuns {
    /// The sizes of all parts; `None` where one configuration alone was traced.
    pub fn terms(&self) -> (Option<TracedTerms>, Vec<Warning>) {
        if self.seen.len() < 2 {
            let said = format!(
                "{}: one configuration was traced, which cannot tell what ranks share from what each repeats: trace \
                 one inside as well, as 4 ranks of 4 threads",
                self.file
            );
            return (None, vec![Warning::Probed(said)]);
        }
        let mut terms = TracedTerms::of(self.growth(), self.processors());
        for shapes in SHAPES.chunk_by(|one, other| one.part == other.part) {
            self.add_part(shapes, &mut terms);
        }
        let untold =
            |(at, seen): (&Mapping, &Seen)| (*at, seen.part(*at, "REST") / seen.of(*at, "time"));
        let untold = self.seen.iter().map(untold).filter(|(_, share)| *share > 0.0);
        let warning = untold.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(at, share)| {
            let said =
                format!("{}: {:.0} % of the time at {at} is in no term", self.file, 100.0 * share);
            Warning::Probed(said)
        });
        let unseen = UNSEEN.iter().filter_map(|of| self.leave_open(of, &mut terms));
        let unseen: Vec<Warning> = unseen.collect();
        (Some(terms), warning.into_iter().chain(unseen).collect())
    }

    /// Says of a side along which nothing was traced that what is lost there is not known.
    fn leave_open(&self, of: &Unseen, terms: &mut TracedTerms) -> Option<Warning> {
        if self.seen.keys().any(|&at| (of.count)(at) > 1) {
            return None;
        }
        let work = self.seen[&Mapping::SEQUENTIAL].of(Mapping::SEQUENTIAL, "time");
        let size = Estimate { std_error: Some(LOST * work), ..Estimate::exact(0.0) };
        terms.set(of.shape, size).expect("invariant: a shape has its name");
        let Unseen { what, .. } = of;
        let said = format!(
            "{}: no traced run has several {what}, so that what is lost among them is not known: trace one that has",
            self.file
        );
        Some(Warning::Probed(said))
    }

    /// The processors of the machine that was traced on, and how much of a rank's time they are needed; `None`
    /// where the file does not say.
    pub fn processors(&self) -> Option<Processors> {
        let one = self.seen.get(&Mapping::SEQUENTIAL)?;
        let of = |term| one.of(Mapping::SEQUENTIAL, term);
        let (count, cpu) = (of("processors"), of("cpu"));
        let is_told = count >= 1.0 && cpu > 0.0;
        let computing = (cpu / of("time")).min(1.0);
        is_told.then_some(Processors { count: count as u32, computing })
    }

    /// How the number of regions of a rank grows: of all powers that meet the runs the smallest.
    fn growth(&self) -> RegionGrowth {
        let counts =
            self.seen.iter().map(|(&mapping, seen)| (mapping, seen.of(mapping, "offloads")));
        let counts: Vec<(Mapping, f64)> = counts.filter(|(_, count)| *count > 0.0).collect();
        let Some((_, at_one)) = counts.iter().find(|(at, _)| *at == Mapping::SEQUENTIAL).copied()
        else {
            return RegionGrowth::default();
        };
        let logs = DMatrix::from_fn(counts.len(), 2, |row, column| {
            let at = counts[row].0;
            f64::from(if column == 0 { at.m() } else { at.p() }).ln()
        });
        let over = DVector::from_iterator(
            counts.len(),
            counts.iter().map(|(_, count)| (count / at_one).ln()),
        );
        let powers = logs.svd(true, true).solve(&over, 1e-9);
        powers.map_or_else(
            |_| RegionGrowth::default(),
            |it| RegionGrowth { by_m: it[0], by_p: it[1] },
        )
    }

    /// The measured values of a part, each with its standard error \[s\].
    fn points(&self, part: &str) -> Vec<(Mapping, f64, f64)> {
        let of = |(&mapping, seen): (&Mapping, &Seen)| {
            let value = seen.part(mapping, part);
            let scatter = SCATTER / (seen.runs as f64).sqrt();
            let error = (scatter * value).hypot(OF_TIME * seen.of(mapping, "time"));
            (mapping, value, error)
        };
        let mut points: Vec<(Mapping, f64, f64)> = self.seen.iter().map(of).collect();
        if part == "T_COL" {
            points.extend(self.timed_collectives());
        }
        points
    }

    /// What the program's collectives take on fewer ranks than it was traced on, by those that were timed
    /// beside it: as many times longer as they were in the run.
    fn timed_collectives(&self) -> Vec<(Mapping, f64, f64)> {
        let Some((&most, seen)) = self.seen.iter().max_by_key(|(mapping, _)| mapping.m()) else {
            return Vec::new();
        };
        let of = |ranks: u32| -> f64 {
            self.collectives.values().filter_map(|times| times.get(&ranks)).sum()
        };
        let (whole, at_most) = (seen.of(most, "t_col"), of(most.m()));
        let ranks: BTreeSet<u32> =
            self.collectives.values().flat_map(BTreeMap::keys).copied().collect();
        let between = ranks.into_iter().filter(|&ranks| ranks > 1 && ranks < most.m());
        let point = |ranks: u32| {
            let time = whole * of(ranks) / at_most;
            (Mapping::new(ranks, 1).ok().filter(|_| at_most > 0.0), time)
        };
        let found = between
            .map(point)
            .filter_map(|(mapping, time)| Some((mapping?, time, 0.2 * time + 1e-12)));
        found.collect()
    }

    /// How likely a shape is to have made what its part is, beside the others of the part.
    fn likely(&self, shape: &str, terms: &TracedTerms) -> f64 {
        let size = |name: &str| {
            terms.sizes().find(|(it, _)| it.name == name).map_or(0.0, |(_, size)| size.value)
        };
        let Some((&at, seen)) = self.seen.iter().max_by_key(|(at, _)| (at.p(), at.m())) else {
            return 1.0;
        };
        match shape {
            // What one thread is late by is some of its share of the work, unless it is much of it: then it is work of
            // its own, that ranks share as they share the rest.
            "serial_repeated_s" | "serial_shared_s" | "uneven_threads_s" => {
                let late = seen.part(at, "C_APU") / seen.part(at, "T_APU/p").max(f64::MIN_POSITIVE);
                let uneven = 1.0 / (1.0 + (late / LATE).powi(2));
                let (repeated, shared) = (size("work_repeated_s"), size("work_shared_s"));
                let shared = shared / (repeated + shared).max(f64::MIN_POSITIVE);
                match shape {
                    "uneven_threads_s" => uneven,
                    "serial_shared_s" => (1.0 - uneven) * shared,
                    _ => (1.0 - uneven) * (1.0 - shared),
                }
            }
            // By what the slowest ranks had more of.
            "uneven_ranks_s" => seen.excess_of_ranks()[0],
            "uneven_work_s" => seen.excess_of_ranks()[1],
            _ => 1.0,
        }
        .max(UNLIKELY)
    }

    fn add_part(&self, shapes: &[Shape], terms: &mut TracedTerms) {
        let points = self.points(shapes[0].part);
        let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
        if most <= 0.0 {
            return;
        }
        // Each shape at its largest where it was measured is what a size of `most` makes of it.
        // What is nowhere but where nothing was is nothing.
        let scaled = |shape| {
            let all = points.iter().map(|point| (terms.at(shape, point.0), point.1));
            let is_there = all.clone().any(|(at, value)| at > 0.0 && value > 0.0);
            let scale = all.map(|(at, _)| at).fold(0.0, f64::max);
            (shape, if is_there { scale } else { 0.0 })
        };
        let mut kept: Vec<(&Shape, f64)> =
            shapes.iter().map(scaled).filter(|(_, scale)| *scale > 0.0).collect();
        let (sizes, errors) = loop {
            let design = DMatrix::from_fn(points.len(), kept.len(), |row, column| {
                let (shape, scale) = kept[column];
                terms.at(shape, points[row].0) / scale
            });
            let likely: Vec<f64> =
                kept.iter().map(|(shape, _)| self.likely(shape.name, terms)).collect();
            let (sizes, errors) = conditioned(&design, &points, most, &likely);
            let negative = (0..kept.len()).filter(|&it| sizes[it] < 0.0);
            match negative.min_by(|&one, &other| sizes[one].total_cmp(&sizes[other])) {
                Some(worst) if kept.len() > 1 => _ = kept.remove(worst),
                _ => break (sizes, errors),
            }
        };
        for (index, &(shape, by)) in kept.iter().enumerate() {
            let size = Estimate {
                std_error: Some(errors[(index, index)].sqrt() / by),
                source: Some(self.file.clone()),
                ..Estimate::exact(sizes[index].max(0.0) / by)
            };
            let set = terms.set(shape.name, size);
            set.expect("invariant: a shape has its name");
            for (before, (other, _)) in kept.iter().enumerate().take(index) {
                let both = (errors[(index, index)] * errors[(before, before)]).sqrt();
                let correlation = (errors[(index, before)] / both).clamp(-1.0, 1.0);
                let said = terms.correlate(other.name, shape.name, correlation);
                said.expect("invariant: shapes have their names");
            }
        }
    }
}

/// Sizes given values that they add up to, beforehand together the largest value, each as much of it as it is likely
/// to have made, to within all of it.
fn conditioned(
    design: &DMatrix<f64>,
    points: &[(Mapping, f64, f64)],
    most: f64,
    likely: &[f64],
) -> (DVector<f64>, DMatrix<f64>) {
    let count = design.ncols();
    let all: f64 = likely.iter().sum();
    let share = DVector::from_iterator(count, likely.iter().map(|it| it / all));
    let mean = &share * most;
    let before = DMatrix::from_diagonal(&(share * most * most * count as f64));
    let errors = DVector::from_iterator(points.len(), points.iter().map(|point| point.2.powi(2)));
    let values = DVector::from_iterator(points.len(), points.iter().map(|point| point.1));
    let seen = design * &before * design.transpose() + DMatrix::from_diagonal(&errors);
    let inverse =
        seen.pseudo_inverse(1e-300).unwrap_or_else(|_| DMatrix::zeros(points.len(), points.len()));
    let gain = &before * design.transpose() * inverse;
    let sizes = &mean + &gain * (values - design * &mean);
    let after = &before - gain * design * &before;
    (sizes, (&after + after.transpose()) / 2.0)
}

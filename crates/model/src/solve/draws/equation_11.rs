//! Equation 11 in every draw, exactly: its rows are linear in a few columns.

use std::mem::take;

use super::super::uncertainty::Uncertainty;
use super::{Column, DrawnRow};
use crate::model::Parameters;
use crate::model::equation_11::End;
use crate::model::parameters::OverM;
use crate::model::sensitivity::Entry;
use mmgp_base::Mapping;

/// The parameters in every draw.
#[derive(Debug, Clone)]
pub(super) struct Equation11Draws {
    hpu: Column,
    alpha: Vec<Column>,
    collective: Vec<Column>,
    collectives: Column,
    /// `C_APU + N*(O_offload + T_CSW)` \[s\].
    serial: Vec<f64>,
    /// T_APU \[s\].
    shared: Vec<f64>,
    /// `N*g` \[s\].
    growing: Vec<f64>,
    beyond: [(Option<End>, Column); 2],
}

impl Equation11Draws {
    /// From the draws of every source of error.
    pub fn new(
        parameters: &Parameters,
        uncertainty: &Uncertainty<'_>,
        mut drawn: Vec<Vec<f64>>,
        count: usize,
    ) -> Self {
        let terms = &parameters.terms;
        let mut column = |place: usize, value: f64| match uncertainty.source(place) {
            // Every column is asked for once.
            Some(index) => Column::Drawn(take(&mut drawn[index])),
            None => Column::Same(value),
        };
        let entries = terms.entries();
        let mut next_place = entries.len();
        let beyond = parameters.ends().map(|end| {
            let drawn = end.map_or(Column::Same(0.0), |_| {
                next_place += 1;
                column(next_place - 1, 0.0)
            });
            (end, drawn)
        });
        let mut of = |entry: Entry| {
            let value = terms.estimate(entry).map_or(0.0, |estimate| estimate.value);
            match entries.binary_search(&entry) {
                Ok(place) => column(place, value),
                Err(_) => Column::Same(value),
            }
        };
        let mut table = |over: &OverM, entry: fn(usize) -> Entry| -> Vec<Column> {
            (0..over.estimates().len()).map(|index| of(entry(index))).collect()
        };
        let alpha = table(&terms.alpha, Entry::Alpha);
        let collective = table(&terms.o_col_s, Entry::Collective);
        let offloads = of(Entry::Offloads);
        let mut serial = vec![0.0; count];
        of(Entry::OffloadOverhead).add_to(&mut serial, 1.0);
        of(Entry::ContextSwitch).add_to(&mut serial, 1.0);
        offloads.multiply(&mut serial);
        of(Entry::ApuSerialTime).add_to(&mut serial, 1.0);
        let mut growing = of(Entry::Gap).filled(count);
        offloads.multiply(&mut growing);
        let is_counted = terms.collectives.is_some();
        Self {
            hpu: of(Entry::HpuTime),
            alpha,
            collective,
            collectives: if is_counted { of(Entry::Collectives) } else { offloads },
            serial,
            shared: of(Entry::ApuTime).filled(count),
            growing,
            beyond,
        }
    }

    /// Equation 11 at m in the first `count` draws.
    pub fn row(&self, parameters: &Parameters, m: u32, count: usize) -> DrawnRow<'_> {
        let terms = &parameters.terms;
        let slope = |wanted: Entry| {
            let gradient = parameters.gradient(Mapping::of(m, 1));
            gradient.iter().find(|(entry, _)| *entry == wanted).map_or(0.0, |(_, slope)| *slope)
        };
        // The fraction of the totals that falls to the slowest thread.
        let fraction = slope(Entry::ApuSerialTime);
        let mut constant = vec![1.0; count];
        if m > 1 {
            self.over_m((&terms.alpha, 1.0), (&self.alpha, &self.beyond[0]), m, &mut constant);
        }
        self.hpu.multiply(&mut constant);
        let mut collective = vec![0.0; count];
        let columns = (&self.collective[..], &self.beyond[1]);
        self.over_m((&terms.o_col_s, 0.0), columns, m, &mut collective);
        self.collectives.multiply(&mut collective);
        for ((constant, collective), serial) in
            constant.iter_mut().zip(&collective).zip(&self.serial)
        {
            *constant = fraction * (*constant + collective + serial);
        }
        DrawnRow::Form {
            constant,
            shared: (&self.shared[..count], slope(Entry::ApuTime)),
            growing: (&self.growing[..count], fraction),
        }
    }

    /// A term over m, with what it is at m = 1, in every draw.
    fn over_m(
        &self,
        (over, at_one): (&OverM, f64),
        (columns, (end, beyond)): (&[Column], &(Option<End>, Column)),
        m: u32,
        values: &mut [f64],
    ) {
        let weights = over.weights(m);
        let known: f64 = weights.iter().map(|(_, weight)| weight).sum();
        values.fill(at_one * (1.0 - known));
        for (index, weight) in weights {
            columns[index].add_to(values, weight);
        }
        let error = end.map_or(0.0, |end| end.error_at(m));
        if error > 0.0 {
            beyond.add_to(values, error);
            values.iter_mut().for_each(|value| *value = value.max(0.0));
        }
    }
}

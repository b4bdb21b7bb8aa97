//! The sections of bus, banks and pages.

use super::super::eib::{Banks, Eib, Numa, Participant};
use super::{Layers, Layout};
use crate::error::Result;
use crate::units::Bytes;

/// Places of a ring.
const MOST_PLACES: usize = 24;

impl Layers<'_, '_> {
    pub(super) fn eib(&mut self, layout: Layout) -> Result<Eib> {
        const KEYS: [&str; 7] = [
            "order",
            "rings",
            "width",
            "clock_ratio",
            "command",
            "local_store",
            "memory_round_trip",
        ];
        self.expect("eib", &KEYS)?;
        Ok(Eib {
            order: self.order(layout)?,
            rings: self.count("eib", "rings")?,
            width: self.bytes("eib", "width")?,
            clock_ratio: self.count("eib", "clock_ratio")?,
            command: self.bytes("eib", "command")?,
            local_store: self.seconds("eib", "local_store")?,
            memory_round_trip: self.seconds("eib", "memory_round_trip")?,
        })
    }

    pub(super) fn banks(&mut self) -> Result<Banks> {
        self.expect("banks", &["count", "cycle"])?;
        Ok(Banks { count: self.count("banks", "count")?, cycle: self.seconds("banks", "cycle")? })
    }

    pub(super) fn numa(&mut self) -> Result<Numa> {
        self.expect("numa", &["page"])?;
        let page = self.whole("numa", "page", "byte", 4096.0..=16_777_216.0)?;
        Ok(Numa { page: Bytes(page.next_power_of_two()) })
    }

    /// Who is connected where, at most [`MOST_PLACES`]; a unit that the machine does not use may keep its place.
    fn order(&mut self, layout: Layout) -> Result<Vec<Participant>> {
        let section = self.section("eib")?;
        let holder = section.holder("order").ok_or_else(|| self.missing("eib.order"))?;
        let table = holder.table("order")?;
        table.expect_keys(&["value", "unit", "source", "status"])?;
        let names = table.texts("value")?;
        let expected = "ppe, mic, bif, ioif1 and spe0, spe1, ... for each SPE of a Cell, once each";
        let order: Option<Vec<Participant>> = names.iter().map(|name| participant(name)).collect();
        let order = order.filter(|order| {
            let has = |unit| order.iter().filter(|&&present| present == unit).count() == 1;
            let all_spes = (0..layout.spes_per_cell).map(Participant::Spe);
            order.len() <= MOST_PLACES
                && all_spes.chain(order.iter().copied()).all(has)
                && [Participant::Ppe, Participant::Memory, Participant::Link].into_iter().all(has)
        });
        let order = order.ok_or_else(|| table.error("value", format!("{names:?}"), expected))?;
        self.note(&table, order.len() as f64, "unit")?;
        Ok(order)
    }
}

fn participant(name: &str) -> Option<Participant> {
    match name {
        "ppe" => Some(Participant::Ppe),
        "mic" => Some(Participant::Memory),
        "bif" => Some(Participant::Link),
        "ioif1" => Some(Participant::Io),
        _ => name.strip_prefix("spe")?.parse().ok().map(Participant::Spe),
    }
}

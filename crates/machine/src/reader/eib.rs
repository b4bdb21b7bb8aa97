//! The sections of bus, banks and pages.

use super::super::eib::{Banks, Eib, Numa, Participant};
use super::{Layers, Layout};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;

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
                && [Participant::Ppe, Participant::Memory, Participant::Link, Participant::Io]
                    .into_iter()
                    .all(has)
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

#[cfg(test)]
mod tests {
    use crate::Machine;
    use mmgp_base::table::Source;

    fn check(change: (&str, &str), found: &str) {
        let text = include_str!("../../models/machines/qs20.toml");
        let changed = text.replacen(change.0, change.1, 1);
        assert_ne!(changed, text);
        let error = Machine::read(&Source::new("my.toml", &changed)).unwrap_err().to_string();
        assert!(error.contains(found) && error.contains("once each"), "{error}");
    }

    #[test]
    fn a_ring_has_every_unit_once() {
        check(("\"spe3\", ", ""), r#""spe2", "ioif1""#);
        check(("\"ppe\", ", ""), r#"["spe0""#);
        check(("\"spe3\"", "\"spe2\""), r#""spe2", "spe2""#);
        check(("\"bif\"", "\"bus\""), r#""bus""#);
    }
}

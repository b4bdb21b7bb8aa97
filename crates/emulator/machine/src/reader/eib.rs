//! The sections of bus, banks and pages.

use super::super::eib::{Banks, Eib, Numa, Participant};
use super::{Layers, Layout};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;

/// Places of a ring.
const MOST_PLACES: usize = 24;

/// Rings of a bus, at most.
const MOST_RINGS: f64 = 64.0;

impl Layers<'_, '_> {
    pub(super) fn eib(&mut self, layout: Layout) -> Result<Eib> {
        const KEYS: [&str; 11] = [
            "order",
            "rings",
            "width",
            "start_interval",
            "transfers_per_ring",
            "hop",
            "priority",
            "clock_ratio",
            "command",
            "local_store",
            "memory_round_trip",
        ];
        self.expect("eib", &KEYS)?;
        Ok(Eib {
            order: self.order(layout)?,
            rings: self.rings()?,
            width: Bytes(self.whole("eib", "width", "byte", 1.0..=1e6)?),
            start_interval: self.whole("eib", "start_interval", "bus cycle", 1.0..=1e3)? as u32,
            transfers_per_ring: self.count("eib", "transfers_per_ring")?,
            hop: self.whole("eib", "hop", "bus cycle", 0.0..=1e3)? as u32,
            priority: self.priority()?,
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

    /// As many one way round as the other.
    fn rings(&mut self) -> Result<u32> {
        let (rings, table) = self.entry("eib", "rings", "count")?;
        if rings < 2.0 || rings % 2.0 != 0.0 || rings > MOST_RINGS {
            let expected = format!("an even number from 2 to {MOST_RINGS}");
            return Err(table.error("value", rings.to_string(), expected));
        }
        Ok(rings as u32)
    }

    /// Who is connected where, at most [`MOST_PLACES`]; a unit that the machine does not use may keep its place.
    fn order(&mut self, layout: Layout) -> Result<Vec<Participant>> {
        let expected = "ppe, mic, bif, ioif1 and spe0, spe1, ... for each SPE of a Cell, once each";
        self.participants("order", expected, |order| {
            let has = |unit| order.iter().filter(|&&present| present == unit).count() == 1;
            let all_spes = (0..layout.spes_per_cell).map(Participant::Spe);
            order.len() <= MOST_PLACES
                && all_spes.chain(order.iter().copied()).all(has)
                && [Participant::Ppe, Participant::Memory, Participant::Link, Participant::Io]
                    .into_iter()
                    .all(has)
        })
    }

    /// Who goes first on the rings; perhaps nobody.
    fn priority(&mut self) -> Result<Vec<Participant>> {
        self.participants("priority", "names of units as in eib.order", |_| true)
    }

    /// A list of units that is as it should be.
    fn participants(
        &mut self,
        key: &'static str,
        expected: &str,
        is_right: impl FnOnce(&[Participant]) -> bool,
    ) -> Result<Vec<Participant>> {
        let section = self.section("eib")?;
        let holder = section.holder(key).ok_or_else(|| self.missing(&format!("eib.{key}")))?;
        let table = holder.table(key)?;
        table.expect_keys(&["value", "unit", "source", "status"])?;
        let names = table.texts("value")?;
        let units: Option<Vec<Participant>> = names.iter().map(|name| participant(name)).collect();
        let units = units.filter(|units| is_right(units));
        let units = units.ok_or_else(|| table.error("value", format!("{names:?}"), expected))?;
        self.note(&table, units.len() as f64, "unit")?;
        Ok(units)
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

    fn check(change: (&str, &str), found: &str, expected: &str) {
        let text = include_str!("../../models/machines/qs20.toml");
        let changed = text.replacen(change.0, change.1, 1);
        assert_ne!(changed, text);
        let error = Machine::read(&Source::new("my.toml", &changed)).unwrap_err().to_string();
        assert!(error.contains(found) && error.contains(expected), "{error}");
    }

    #[test]
    fn a_ring_has_every_unit_once() {
        check(("\"spe3\", ", ""), r#""spe2", "ioif1""#, "once each");
        check(("\"ppe\", ", ""), r#"["spe0""#, "once each");
        check(("\"spe3\"", "\"spe2\""), r#""spe2", "spe2""#, "once each");
        check(("\"bif\"", "\"bus\""), r#""bus""#, "once each");
    }

    #[test]
    fn the_rules_of_the_rings_are_possible_ones() {
        check(("[\"mic\"]", "[\"xdr\"]"), r#""xdr""#, "as in eib.order");
        check(("rings = { value = 4", "rings = { value = 3"), "3", "an even number");
        check(("start_interval = { value = 3", "start_interval = { value = 0"), "0", "from 1");
    }
}

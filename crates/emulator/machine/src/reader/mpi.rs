//! Reads the section `[mpi]`.

use super::Layers;
use crate::{Collectives, Mpi};
use mmgp_base::error::Result;
use mmgp_base::units::Seconds;

impl Layers<'_, '_> {
    pub(super) fn mpi(&mut self) -> Result<Mpi> {
        const KEYS: [&str; 9] = [
            "send",
            "receive",
            "packets",
            "backoff",
            "eager",
            "copy",
            "remote_latency",
            "remote_copy",
            "collective",
        ];
        self.expect("mpi", &KEYS)?;
        Ok(Mpi {
            send: self.whole("mpi", "send", "instruction", 0.0..=1e6)?,
            receive: self.whole("mpi", "receive", "instruction", 0.0..=1e6)?,
            packets: self.count("mpi", "packets")?,
            backoff: self.whole("mpi", "backoff", "turn", 1.0..=1e6)?,
            collectives: Collectives::Messages,
            eager: self.bytes("mpi", "eager")?,
            copy: self.rate("mpi", "copy")?,
            remote_latency: self.seconds("mpi", "remote_latency")?,
            remote_copy: self.rate("mpi", "remote_copy")?,
        })
    }

    pub(super) fn collective(&mut self) -> Result<Vec<(u32, Seconds)>> {
        let section = self.section("mpi")?;
        let holder = section.holder("collective").ok_or_else(|| self.missing("mpi.collective"))?;
        let table = holder.table("collective")?;
        table.expect_keys(&["ranks", "value", "unit", "source", "status"])?;
        let ranks = table.counts("ranks")?;
        let costs = table.optional_numbers("value")?.unwrap_or_default();
        let rising = ranks.windows(2).all(|pair| pair[0] < pair[1]);
        if ranks.first().is_none_or(|&first| first < 2) || !rising {
            return Err(table.error("ranks", format!("{ranks:?}"), "increasing numbers from 2"));
        }
        if costs.len() != ranks.len() || !costs.iter().all(|cost| (0.0..=1.0).contains(cost)) {
            let expected = format!("{} times from 0 to 1 s, one for each of ranks", ranks.len());
            return Err(table.error("value", format!("{costs:?}"), expected));
        }
        self.note(&table, costs[0], "s")?;
        Ok(ranks.into_iter().zip(costs.into_iter().map(Seconds)).collect())
    }
}

//! Figures of messages among SPEs.

use super::{Program, dma};
use crate::measure::messages::times;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::MessageTime;
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds};
use mmgp_cluster::Link;
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;

pub(super) const PROGRAMS: [Program; 4] = [
    Program { name: "put-issue", measure: dma::issue },
    Program { name: "message-transport", measure: transport },
    Program {
        name: "message-rate-within-cell",
        measure: |machine, bytes| rate(machine, Link::WithinCell, bytes),
    },
    Program {
        name: "message-rate-between-cells",
        measure: |machine, bytes| rate(machine, Link::BetweenCells, bytes),
    },
];

/// Half a round trip of no bytes between nodes.
fn transport(machine: &Machine, _: u32) -> Result<Quantity> {
    let found = message(machine, Link::BetweenNodes, Bytes(0))?;
    Ok(Quantity::Time(Seconds(found.half_round_trip_s)))
}

/// Rate of messages of that size that follow one another.
fn rate(machine: &Machine, link: Link, bytes: u32) -> Result<Quantity> {
    let found = message(machine, link, Bytes(bytes.into()))?;
    Ok(Quantity::Bandwidth(BytesPerSecond(found.rate_bytes_per_s.0.unwrap_or(0.0))))
}

/// What messages of that size take on a link.
fn message(machine: &Machine, link: Link, bytes: Bytes) -> Result<MessageTime> {
    let mut found = times(machine, &[bytes], 1)?.into_iter();
    found.find(|row| row.link == link.name()).ok_or_else(|| {
        Error::out_of_range("links", link.name(), format!("one that {} has", machine.name))
    })
}

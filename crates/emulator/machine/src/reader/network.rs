//! Reads the section `[network]`.

use super::Layers;
use crate::{Network, Transport};
use mmgp_base::error::Result;

impl Layers<'_, '_> {
    /// What connects machines of this kind, where the file or a base of it says so.
    pub(super) fn network(&mut self) -> Result<Option<Network>> {
        const KEYS: [&str; 18] = [
            "blades_per_node",
            "nodes_per_unit",
            "units",
            "nodes_per_crossbar",
            "near_units",
            "hop",
            "dacs_latency",
            "dacs_overhead",
            "dacs_rate",
            "mpi_latency",
            "mpi_overhead",
            "mpi_rate",
            "shared_latency",
            "shared_overhead",
            "shared_rate",
            "forward",
            "stored",
            "room",
        ];
        self.expect("network", &KEYS)?;
        if self.section("network")?.0.is_empty() {
            return Ok(None);
        }
        Ok(Some(Network {
            blades_per_node: self.count("network", "blades_per_node")?,
            nodes_per_unit: self.count("network", "nodes_per_unit")?,
            units: self.count("network", "units")?,
            nodes_per_crossbar: self.count("network", "nodes_per_crossbar")?,
            near_units: self.count("network", "near_units")?,
            hop: self.seconds("network", "hop")?,
            dacs: self.transport(["dacs_latency", "dacs_overhead", "dacs_rate"])?,
            mpi: self.transport(["mpi_latency", "mpi_overhead", "mpi_rate"])?,
            shared: self.transport(["shared_latency", "shared_overhead", "shared_rate"])?,
            forward: self.seconds("network", "forward")?,
            stored: self.bytes("network", "stored")?,
            room: self.count("network", "room")?,
        }))
    }

    fn transport(&mut self, [latency, overhead, rate]: [&str; 3]) -> Result<Transport> {
        let transport = Transport {
            latency: self.seconds("network", latency)?,
            overhead: self.seconds("network", overhead)?,
            rate: self.rate("network", rate)?,
        };
        let (most, found) = (transport.latency.0, transport.overhead.0);
        if found > most {
            let expected = format!("at most {latency}, {most:e}");
            let found = format!("{overhead} of {found:e} s");
            return Err(self.own.error("network", found, expected));
        }
        Ok(transport)
    }
}

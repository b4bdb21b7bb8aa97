//! Reads what a machine's file says of its memory flow controllers.

use super::super::Mfc;
use super::Layers;
use mmgp_base::error::Result;

impl Layers<'_, '_> {
    pub(super) fn mfc(&mut self) -> Result<Mfc> {
        const KEYS: [&str; 13] = [
            "queue",
            "issue",
            "largest",
            "latency",
            "outstanding",
            "proxy_queue",
            "longest_list",
            "list_fetch",
            "atomic",
            "claim",
            "inbound_mailbox",
            "outbound_mailbox",
            "interrupt_mailbox",
        ];
        self.expect("mfc", &KEYS)?;
        Ok(Mfc {
            queue: self.queue("mfc", "queue")?,
            issue: self.cycles("mfc", "issue")?,
            largest: self.bytes("mfc", "largest")?,
            latency: self.seconds("mfc", "latency")?,
            outstanding: self.count("mfc", "outstanding")?,
            proxy_queue: self.queue("mfc", "proxy_queue")?,
            longest_list: self.whole("mfc", "longest_list", "count", 1.0..=16384.0)? as u32,
            list_fetch: self.cycles("mfc", "list_fetch")?,
            atomic: self.cycles("mfc", "atomic")?,
            claim: self.cycles("mfc", "claim")?,
            inbound_mailbox: self.count("mfc", "inbound_mailbox")?,
            outbound_mailbox: self.count("mfc", "outbound_mailbox")?,
            interrupt_mailbox: self.count("mfc", "interrupt_mailbox")?,
        })
    }

    /// Places in a queue of an MFC, which keeps account of them in 32 bits.
    fn queue(&mut self, section: &'static str, key: &str) -> Result<u32> {
        self.whole(section, key, "count", 1.0..=32.0).map(|value| value as u32)
    }
}

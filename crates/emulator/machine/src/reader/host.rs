//! Reads the sections `[ppe_issue]`, `[cache]` and `[linux]`.

use super::Layers;
use crate::{Cache, Linux, LinuxScheduler, PpeIssue, ThreadSharing};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Seconds};

impl Layers<'_, '_> {
    pub(super) fn ppe_issue(&mut self) -> Result<PpeIssue> {
        const KEYS: [&str; 9] = [
            "width",
            "float_load",
            "word_load",
            "vector_load",
            "vector_float",
            "address",
            "misprediction",
            "forward",
            "threads",
        ];
        self.expect("ppe_issue", &KEYS)?;
        Ok(PpeIssue {
            width: self.count("ppe_issue", "width")?,
            float_load: self.cycles("ppe_issue", "float_load")?,
            word_load: self.cycles("ppe_issue", "word_load")?,
            vector_load: self.cycles("ppe_issue", "vector_load")?,
            vector_float: self.cycles("ppe_issue", "vector_float")?,
            address: self.cycles("ppe_issue", "address")?,
            misprediction: self.cycles("ppe_issue", "misprediction")?,
            forward: self.cycles("ppe_issue", "forward")?,
            threads: match self.whole("ppe_issue", "threads", "choice", 0.0..=1.0)? {
                0 => ThreadSharing::Given,
                _ => ThreadSharing::Issued,
            },
        })
    }

    pub(super) fn cache(&mut self) -> Result<Cache> {
        const KEYS: [&str; 13] = [
            "l1_data_ways",
            "l1_instruction_ways",
            "l2",
            "l2_ways",
            "l2_hit",
            "memory",
            "misses",
            "page",
            "translation",
            "erat",
            "erat_ways",
            "tlb",
            "tlb_ways",
        ];
        self.expect("cache", &KEYS)?;
        Ok(Cache {
            l1_data_ways: self.count("cache", "l1_data_ways")?,
            l1_instruction_ways: self.count("cache", "l1_instruction_ways")?,
            l2: self.bytes("cache", "l2")?,
            l2_ways: self.count("cache", "l2_ways")?,
            l2_hit: self.cycles("cache", "l2_hit")?,
            memory: self.cycles("cache", "memory")?,
            misses: self.count("cache", "misses")?,
            page: self.whole("cache", "page", "byte", 512.0..=1e9).map(Bytes)?,
            translation: self.cycles("cache", "translation")?,
            erat: self.count("cache", "erat")?,
            erat_ways: self.count("cache", "erat_ways")?,
            tlb: self.count("cache", "tlb")?,
            tlb_ways: self.count("cache", "tlb_ways")?,
        })
    }

    pub(super) fn linux(&mut self) -> Result<Linux> {
        const KEYS: [&str; 12] = [
            "context_switch",
            "yield",
            "yield_to",
            "kernel",
            "system_call",
            "semaphore",
            "interrupt",
            "time_slice",
            "latency",
            "minimum_granularity",
            "wakeup_granularity",
            "spe_context",
        ];
        self.expect("linux", &KEYS)?;
        Ok(Linux {
            context_switch: self.seconds("linux", "context_switch")?,
            yield_: self.seconds("linux", "yield")?,
            yield_to: self.quantity("linux", "yield_to", "ratio", 1.0..=10.0)?,
            scheduler: LinuxScheduler::of_release(self.whole(
                "linux",
                "kernel",
                "release of Linux 2.6",
                1.0..=39.0,
            )?),
            system_call: self.seconds("linux", "system_call")?,
            semaphore: self.seconds("linux", "semaphore")?,
            interrupt: self.seconds("linux", "interrupt")?,
            time_slice: self.positive_seconds("linux", "time_slice")?,
            latency: self.positive_seconds("linux", "latency")?,
            minimum_granularity: self.positive_seconds("linux", "minimum_granularity")?,
            wakeup_granularity: self.seconds("linux", "wakeup_granularity")?,
            spe_context: self.seconds("linux", "spe_context")?,
        })
    }

    /// A time slice of nothing would never end.
    fn positive_seconds(&mut self, section: &'static str, key: &str) -> Result<Seconds> {
        self.quantity(section, key, "s", 1e-6..=10.0).map(Seconds)
    }
}

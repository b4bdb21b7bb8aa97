//! Flags of `mmgp fit` for the refined model: what is counted or known of program and machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::fit::RefinedCounts;
use crate::fit::refined::Traffic;
use crate::models::refined::Placement;

#[derive(Args)]
#[command(next_help_heading = "Refined model, fitted beside equation 11")]
pub struct CountFlags {
    /// Pieces into which the shared loops can be cut: division is uneven
    #[arg(long, value_name = "I", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Hardware contexts of the host: switches and queueing only beyond
    #[arg(long, value_name = "H", value_parser = clap::value_parser!(u32).range(1..))]
    hardware_contexts: Option<u32>,
    /// Accelerators that stream from one memory: accelerators,bytes,repetition,time_s
    #[arg(long, value_name = "FILE")]
    pub memory: Option<PathBuf>,
    /// Memories of the machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    memories: Option<u32>,
    /// How the data are dealt to them
    #[arg(long, value_enum, value_name = "BY", default_value = "process")]
    placement: Dealt,
    /// Bytes that all off-loads of a sequential run move
    #[arg(long, value_name = "BYTES", requires = "memory")]
    moved_bytes: Option<f64>,
    /// Bytes of them that an off-load waits for, before its first and after its last computation
    #[arg(long, value_name = "BYTES", requires = "moved_bytes")]
    exposed_bytes: Option<f64>,
    /// Parameter file of the refined model to write
    #[arg(long, value_name = "FILE")]
    pub refined_out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dealt {
    /// All APUs of a process stream from the memory of its own
    Process,
    /// Each APU streams its part from a memory of its own
    Apu,
}

impl CountFlags {
    /// The counts; `None` where no flag asks for the refined model.
    pub fn counts(&self) -> Option<RefinedCounts> {
        let traffic = self
            .moved_bytes
            .map(|bytes| Traffic { bytes, exposed_bytes: self.exposed_bytes.unwrap_or(0.0) });
        let placement = match self.placement {
            Dealt::Process => Placement::ByProcess,
            Dealt::Apu => Placement::ByApu,
        };
        let is_asked = self.iterations.is_some()
            || self.hardware_contexts.is_some()
            || traffic.is_some()
            || self.refined_out.is_some();
        is_asked.then_some(RefinedCounts {
            iterations: self.iterations,
            hardware_contexts: self.hardware_contexts,
            traffic,
            memories: self.memories.map(|memories| (memories, placement)),
        })
    }
}

//! Faults that are injected into the emulated machine.

use clap::Args;

use crate::cell::Disturbance;
use crate::error::{Error, Result};

#[derive(Args)]
pub struct FaultArguments {
    /// Fault to inject into the machine, any number of them: 'spe 3 stops at 2 ms', 'spe 3 at 1/2 from
    /// 1 ms to 3 ms', 'interrupt 5 of spe 2 lost', 'interrupts of spe 2 lost from 1 ms', 'memory at 1/2
    /// from 1 ms' (to 2 ms); times in s, ms, us or ns
    #[arg(long = "inject", value_name = "FAULT")]
    faults: Vec<Disturbance>,
}

impl FaultArguments {
    /// Those that there are.
    pub fn all(&self) -> &[Disturbance] {
        &self.faults
    }

    /// Nothing is injected where nothing is emulated.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn refuse(&self) -> Result<()> {
        let Some(first) = self.faults.first() else { return Ok(()) };
        Err(Error::out_of_range(
            "--inject",
            format!("\"{first}\""),
            "none where no machine is emulated",
        ))
    }
}

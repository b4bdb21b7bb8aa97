//! What runs on the SPEs: the arguments are fetched, and time goes by.

use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::Spe;
use mmgp_cell::element::{Element, Timed};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::script::Writer;
use mmgp_runtime::{Call, Loop, SpeProgram, Writing};
use mmgp_spu::{LocalAddress, Quadword};

/// What its function is called.
pub const FUNCTIONS: [&str; 1] = ["task"];
/// Its number.
pub const FUNCTION: u32 = 0;

/// Bytes of the arguments: a quadword.
pub const ARGUMENTS_BYTES: Bytes = Bytes(16);
/// Where they go in local store.
const ARGUMENTS: LocalAddress = LocalAddress(0);
const TAG: u8 = 0;

/// The program.
#[derive(Debug)]
pub struct SyntheticProgram;

impl SyntheticProgram {
    async fn serve(&self, spe: &impl Element, call: Call) -> Result<()> {
        let get = Command::new(Direction::Get, ARGUMENTS, call.arguments, ARGUMENTS_BYTES, TAG);
        spe.enqueue(get).await?;
        spe.wait_for(TAG).await;
        let Quadword([alone, shared]) = spe.read(ARGUMENTS, ARGUMENTS_BYTES)?[0];
        if call.share == 0 {
            spe.spend(Cycles(alone)).await;
        }
        if shared > 0 {
            // The first of them has what does not divide.
            let (shares, share) = (u64::from(call.shares), u64::from(call.share));
            let rest = u64::from(share < shared % shares);
            spe.loop_begins();
            spe.spend(Cycles(shared / shares + rest)).await;
            spe.loop_ends();
        }
        Ok(())
    }
}

impl SpeProgram for SyntheticProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let timed = Timed::new(spe);
        self.serve(&timed, call).await?;
        Ok(timed.into_loops())
    }

    fn write<'a>(&'a self, writer: &'a Writer, call: Call) -> Option<Writing<'a>> {
        Some(Box::pin(self.serve(writer, call)))
    }
}

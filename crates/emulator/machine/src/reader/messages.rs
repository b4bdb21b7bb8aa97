//! Reads the section `[messages]`.

use super::Layers;
use crate::Messages;
use mmgp_base::error::Result;

impl Layers<'_, '_> {
    pub(super) fn messages(&mut self) -> Result<Messages> {
        self.expect("messages", &["send", "receive", "matched", "put", "complete", "combine"])?;
        Ok(Messages {
            send: self.cycles("messages", "send")?,
            receive: self.cycles("messages", "receive")?,
            matched: self.cycles("messages", "matched")?,
            put: self.cycles("messages", "put")?,
            complete: self.cycles("messages", "complete")?,
            combine: self.cycles("messages", "combine")?,
        })
    }
}

//! What one tells another: mailboxes, signals, lock lines, words in local store, the host.

use super::report::What;
use super::state::{Knowledge, Line, SpeState};
use super::{Detector, Mail, Origin, Touch};
use crate::command::LockLine;
use crate::memory::Signal;
use crate::memory::{EffectiveAddress, LINE};
use mmgp_base::error::Result;
use mmgp_spu::local_store::LocalAddress;

impl Knowledge {
    fn spe(&mut self, spe: u32) -> &mut SpeState {
        &mut self.spes[spe as usize]
    }
}

const fn index(signal: Signal) -> usize {
    match signal {
        Signal::One => 0,
        Signal::Two => 1,
    }
}

/// Mailboxes and signals.
impl Detector {
    /// A word is written to a mailbox: by the host, or by the SPU on its way out. In a full one it takes
    /// the place of the last.
    pub fn posted(&self, mail: Mail, overwrites: bool) {
        let Some(mut state) = self.state() else { return };
        let view = match mail {
            Mail::Inbound => state.host.view(),
            Mail::Outbound | Mail::Interrupt => state.spe(self.spe).program.view(),
        };
        let words = state.spe(self.spe).mail.entry(mail).or_default();
        if overwrites {
            words.pop_back();
        }
        words.push_back(view);
    }

    /// A word is read.
    pub fn fetched(&self, mail: Mail) {
        let Some(mut state) = self.state() else { return };
        let word = state.spe(self.spe).mail.get_mut(&mail).and_then(|words| words.pop_front());
        let Some(view) = word else { return };
        match mail {
            Mail::Inbound => state.spe(self.spe).program.hear(&view),
            Mail::Outbound | Mail::Interrupt => state.host.hear(&view),
        }
    }

    /// The signal of a command of this MFC arrives at an SPE, the one before which so many have entered
    /// its queue.
    pub fn signalled(&self, (origin, sequence): (Origin, u64), to: u32, signal: Signal) {
        let Some(mut state) = self.state() else { return };
        let to = self.first + to;
        if let Some(view) = state.spe(self.spe).queues[origin as usize].seen(sequence) {
            state.spe(to).signals[index(signal)].join_view(&view);
        }
    }

    /// The host writes a signal.
    pub fn signalled_by_host(&self, signal: Signal) {
        let Some(mut state) = self.state() else { return };
        let view = state.host.view();
        state.spe(self.spe).signals[index(signal)].join_view(&view);
    }

    /// The SPU reads a signal.
    pub fn heard_signal(&self, signal: Signal) {
        let Some(mut state) = self.state() else { return };
        let SpeState { program, signals, .. } = state.spe(self.spe);
        program.clock().join(&std::mem::take(&mut signals[index(signal)]));
    }
}

/// Lock lines.
impl Detector {
    const fn line(&self, at: EffectiveAddress) -> Line {
        (self.blade, at.0 / LINE)
    }

    /// An atomic command has read a line, or written it.
    pub fn atomic(&self, what: &'static str, at: EffectiveAddress, touch: Touch) -> Result<()> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let Some((space, bytes)) = self.place(at, LockLine::BYTES) else { return Ok(()) };
        let own = (self.spe, What::Outside(what), self.core.sim.now());
        self.pass(&mut state, at, touch);
        state.atomic(own, space, &bytes, touch)
    }

    /// The same of a line of which the data are another's to know.
    pub fn changed_line(&self, at: EffectiveAddress) {
        let Some(mut state) = self.state() else { return };
        self.pass(&mut state, at, Touch::Writes);
    }

    /// The program learns what whoever wrote the line knew, and tells what it knows itself.
    fn pass(&self, state: &mut Knowledge, at: EffectiveAddress, touch: Touch) {
        let line = self.line(at);
        let Knowledge { spes, lines, .. } = state;
        let program = &mut spes[self.spe as usize].program;
        let told = lines.entry(line).or_default();
        program.clock().join(told);
        if touch == Touch::Writes {
            told.join_view(&program.view());
        }
    }

    /// The `putqlluc` is done before which so many have entered its queue.
    pub fn line_put(&self, (origin, sequence): (Origin, u64), at: EffectiveAddress) {
        let Some(mut state) = self.state() else { return };
        if let Some(view) = state.spe(self.spe).queues[origin as usize].seen(sequence) {
            state.lines.entry(self.line(at)).or_default().join_view(&view);
        }
    }

    /// The host stores into a line, having loaded it.
    pub fn host_changes_line(&self, at: EffectiveAddress) {
        let Some(mut state) = self.state() else { return };
        let Knowledge { host, lines, .. } = &mut *state;
        let told = lines.entry(self.line(at)).or_default();
        host.clock().join(told);
        told.join_view(&host.view());
    }
}

/// Words in memory.
impl Detector {
    /// The program has seen a word of its local store that it waited for.
    pub fn saw(&self, at: LocalAddress) {
        let Some(mut state) = self.state() else { return };
        let SpeState { program, shadow, .. } = state.spe(self.spe);
        let Some(writer) = shadow.writer(at.0.into()) else { return };
        let view = writer.view.as_ref().expect("invariant: it is local store");
        program.hear(&view.with(writer.epoch));
    }

    /// The program tells the host, which hears it at [`Detector::host_hears`].
    pub fn tells_host(&self) {
        let Some(mut state) = self.state() else { return };
        let SpeState { program, to_host, .. } = state.spe(self.spe);
        to_host.join_view(&program.view());
    }

    pub fn host_hears(&self) {
        let Some(mut state) = self.state() else { return };
        let Knowledge { spes, host, .. } = &mut *state;
        host.clock().join(&spes[self.spe as usize].to_host);
    }

    /// The host tells the program, which hears it at [`Detector::hears_host`].
    pub fn host_tells(&self) {
        let Some(mut state) = self.state() else { return };
        let Knowledge { spes, host, .. } = &mut *state;
        spes[self.spe as usize].from_host.join_view(&host.view());
    }

    pub fn hears_host(&self) {
        let Some(mut state) = self.state() else { return };
        let SpeState { program, from_host, .. } = state.spe(self.spe);
        program.clock().join(from_host);
    }
}

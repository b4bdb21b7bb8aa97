//! What a process says of its own accesses, for who looks for hazards.

use super::HostProcess;
use crate::Spe;
use crate::hazard::Touch;
use crate::memory::EffectiveAddress;
use mmgp_base::units::Bytes;

impl HostProcess {
    /// What the host's program is about to load from memory that SPEs have put: where hazards are looked
    /// for and the host does not know the puts to be complete, the run ends with
    /// [`Hazard`](crate::Hazard). Takes no time.
    pub fn reads(&self, at: EffectiveAddress, bytes: Bytes) {
        self.touches(Touch::Reads, at, bytes);
    }

    /// The same of what it is about to store.
    pub fn writes(&self, at: EffectiveAddress, bytes: Bytes) {
        self.touches(Touch::Writes, at, bytes);
    }

    fn touches(&self, touch: Touch, at: EffectiveAddress, bytes: Bytes) {
        if let Err(hazard) = self.detector.host(touch, at, bytes) {
            self.fault.raise(hazard);
        }
    }

    /// It tells an SPE something by a flag, which that one sees at [`Spe::hears_host`].
    pub fn tells(&self, spe: &Spe) {
        spe.detector().host_tells();
    }

    /// It has seen what an SPE has told it by [`Spe::tells_host`].
    pub fn hears(&self, spe: &Spe) {
        spe.detector().host_hears();
    }
}

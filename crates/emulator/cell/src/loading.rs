//! How far the loading of the SPEs' programs is.

use mmgp_base::units::SimTime;

/// The contexts that are being created.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Loading {
    /// How many.
    pub under_way: u32,
    /// When the last one was ready.
    pub ended: SimTime,
}

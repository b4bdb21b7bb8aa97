//! Local store that is read before anybody has written it, nor the loader has filled it with zeros.

use std::cell::RefCell;
use std::ops::Range;

use super::Space;
use super::element::Store;
use super::report::{Side, place};
use crate::fault::Hazard;
use mmgp_base::error::{Error, Result};
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use mmgp_spu::register::Quadword;

/// What the program of the SPE has read at its event `value`.
pub(super) fn of_program(
    spe: u32,
    (store, contents): (&mut Store, &LocalStore),
    value: u64,
    later: &Side<'_>,
) -> Result<()> {
    let read = store.accesses.take_unwritten();
    // A store of less than a quadword loads the rest of it, and stores that again.
    let written = store.accesses.written().by_quadword();
    let alone = read.into_iter().filter(|&quadword| written[quadword] != value as u32);
    refuse(spe, alone.filter(|&quadword| is_zero(contents, quadword)).min(), later)
}

/// What a command reads there, or the host.
pub(super) fn of_others(
    spe: u32,
    (store, contents): (&Store, &RefCell<LocalStore>),
    bytes: &Range<u64>,
    later: &Side<'_>,
) -> Result<()> {
    let mut read = store.accesses.unwritten(bytes);
    refuse(spe, read.find(|&quadword| is_zero(&contents.borrow(), quadword)), later)
}

fn refuse(spe: u32, quadword: Option<usize>, later: &Side<'_>) -> Result<()> {
    let Some(quadword) = quadword else { return Ok(()) };
    let start = 16 * quadword as u64;
    Err(Error::other(Hazard {
        place: place(Space::Store(spe), start..start + 16),
        later: later.text(),
        problem: "but",
        earlier: "nobody has written it before".into(),
    }))
}

/// Where it is not, somebody has written it without telling.
fn is_zero(contents: &LocalStore, quadword: usize) -> bool {
    contents.load(LocalAddress(16 * quadword as u32)) == Quadword::ZERO
}

//! When the SPU branches and halts.

use super::signed10;
use crate::register::Quadword;

// The conditions of branches, all by the preferred slot; a halfword is its lower half.

#[inline(always)]
pub(crate) const fn brz(rt: Quadword) -> bool {
    rt.preferred() == 0
}

#[inline(always)]
pub(crate) const fn brnz(rt: Quadword) -> bool {
    rt.preferred() != 0
}

#[inline(always)]
pub(crate) const fn brhz(rt: Quadword) -> bool {
    rt.preferred() as u16 == 0
}

#[inline(always)]
pub(crate) const fn brhnz(rt: Quadword) -> bool {
    rt.preferred() as u16 != 0
}

// The conditions of halts.

#[inline(always)]
pub(crate) const fn heq(ra: Quadword, rb: Quadword) -> bool {
    ra.preferred() == rb.preferred()
}

#[inline(always)]
pub(crate) fn heqi(ra: Quadword, i10: i16) -> bool {
    ra.preferred() == signed10(i10)
}

#[inline(always)]
pub(crate) const fn hgt(ra: Quadword, rb: Quadword) -> bool {
    ra.preferred() as i32 > rb.preferred() as i32
}

#[inline(always)]
pub(crate) fn hgti(ra: Quadword, i10: i16) -> bool {
    ra.preferred() as i32 > signed10(i10) as i32
}

#[inline(always)]
pub(crate) const fn hlgt(ra: Quadword, rb: Quadword) -> bool {
    ra.preferred() > rb.preferred()
}

#[inline(always)]
pub(crate) fn hlgti(ra: Quadword, i10: i16) -> bool {
    ra.preferred() > signed10(i10)
}

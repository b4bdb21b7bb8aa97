//! Stores of one register to many places.

use mmgp_spu::Spu;

/// Stores `value` from `at` on, `STORES` quadwords a turn, for `left` turns, at least one: the odd pipe stores,
/// the even pipe counts beside it.
#[inline(always)]
pub fn store_turns<S: Spu, const STORES: u32>(
    spu: &mut S,
    value: S::Register,
    mut at: S::Register,
    mut left: S::Register,
) {
    loop {
        spu.label();
        spu.hbrr();
        for place in 0..STORES as i32 {
            spu.stqd(value, 16 * place, at);
        }
        at = spu.ai(at, 16 * STORES as i16);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            break;
        }
    }
}

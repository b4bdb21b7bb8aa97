//! The vectors at the ends of a branch, group by group.

use crate::raxml::model_block::TIP_VECTORS_OFFSET;
use crate::raxml::{End, Rates};
use mmgp_spu::{LocalAddress, Spu};

/// An end, at a group. Which kind it is is known before the loop begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Walk<R> {
    Tip { codes: R, tip_vectors: R },
    Inner { vectors: R, counts: R, bytes_per_group: R },
}

/// An end's vector of one pattern: where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vector<R> {
    base: R,
    displacement: i32,
    /// Quadwords after which it begins again: a tip has the same in each category.
    period: usize,
}

impl<R: Copy> Vector<R> {
    /// Two entries of the vector.
    #[inline(always)]
    pub(super) fn quadword<S: Spu<Register = R>>(&self, spu: &mut S, index: usize) -> R {
        spu.lqd(self.displacement + 16 * (index % self.period) as i32, self.base)
    }
}

impl<R: Copy> Walk<R> {
    #[inline(always)]
    pub(super) fn begin<S: Spu<Register = R>>(
        spu: &mut S,
        end: End,
        model: LocalAddress,
        rates: Rates,
    ) -> Self {
        match end {
            End::Tip { codes } => Self::Tip {
                codes: spu.ila(codes.0),
                tip_vectors: spu.ila(model.offset(TIP_VECTORS_OFFSET).0),
            },
            End::Inner { vectors, counts } => Self::Inner {
                vectors: spu.ila(vectors.0),
                counts: spu.ila(counts.0),
                bytes_per_group: spu.il(rates.vector_bytes_per_group().0 as i16),
            },
        }
    }

    /// The vectors of the four patterns of the group.
    #[inline(always)]
    pub(super) fn vectors<S: Spu<Register = R>>(self, spu: &mut S, rates: Rates) -> [Vector<R>; 4] {
        match self {
            Self::Tip { codes, tip_vectors } => {
                let codes = spu.lqd(0, codes);
                let offsets = spu.shli(codes, 5);
                let addresses = spu.a(offsets, tip_vectors);
                let of = |base| Vector { base, displacement: 0, period: 2 };
                [
                    of(addresses),
                    of(spu.rotqbyi(addresses, 4)),
                    of(spu.rotqbyi(addresses, 8)),
                    of(spu.rotqbyi(addresses, 12)),
                ]
            }
            Self::Inner { vectors, .. } => {
                let size = 8 * rates.entries() as i32;
                let of = |pattern| Vector {
                    base: vectors,
                    displacement: size * pattern,
                    period: usize::MAX,
                };
                [of(0), of(1), of(2), of(3)]
            }
        }
    }

    /// The scaling counts of the group.
    #[inline(always)]
    pub(super) fn counts<S: Spu<Register = R>>(self, spu: &mut S) -> Option<R> {
        match self {
            Self::Tip { .. } => None,
            Self::Inner { counts, .. } => Some(spu.lqd(0, counts)),
        }
    }

    /// The end at the next group.
    #[inline(always)]
    pub(super) fn next<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        match self {
            Self::Tip { codes, tip_vectors } => Self::Tip { codes: spu.ai(codes, 16), tip_vectors },
            Self::Inner { vectors, counts, bytes_per_group } => Self::Inner {
                vectors: spu.a(vectors, bytes_per_group),
                counts: spu.ai(counts, 16),
                bytes_per_group,
            },
        }
    }
}

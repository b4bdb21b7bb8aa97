//! What leaves over a face of the grid.

use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Shape, Spu};

use super::{face_bytes, named, pairs};

/// Adds what flows out over a face to a running sum in the two lanes of a quadword:
/// `sum += cosine w outflow`. The leakage is the sum of both lanes times the area of a cell's face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leakage {
    /// Elements of the face, at least one.
    pub elements: u32,
    /// Angles, one to six.
    pub angles: u32,
    /// The face.
    pub face: LocalAddress,
    /// What [`leakage_weights`](super::leakage_weights) made: one element.
    pub weights: LocalAddress,
    /// The sum, read and written.
    pub sum: LocalAddress,
}

/// Elements of a turn.
const TOGETHER: u32 = 4;

impl Leakage {
    #[inline(always)]
    fn add<S: Spu, const PAIRS: usize>(&self, spu: &mut S) {
        let mut weights = [spu.lqa(self.weights); PAIRS];
        for (pair, weight) in weights.iter_mut().enumerate().skip(1) {
            *weight = spu.lqa(self.weights.offset(Bytes(16 * pair as u64)));
        }
        let before = spu.lqa(self.sum);
        let mut face = spu.ila(self.face.0);
        // Sums of their own for elements and pairs beside one another, so that none waits for another.
        let mut sums = [[before; PAIRS]; TOGETHER as usize];
        sums.as_flattened_mut().iter_mut().for_each(|sum| *sum = spu.il(0));
        for _ in 0..self.elements % TOGETHER {
            Self::element(spu, face, &weights, &mut sums[0]);
            face = spu.ai(face, 16 * PAIRS as i16);
        }
        if self.elements >= TOGETHER {
            let mut left = spu.ila(self.elements / TOGETHER);
            loop {
                spu.label();
                spu.hbrr();
                for sum in &mut sums {
                    Self::element(spu, face, &weights, sum);
                    face = spu.ai(face, 16 * PAIRS as i16);
                }
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
        let mut sum = before;
        for own in sums.as_flattened() {
            sum = spu.dfa(sum, *own);
        }
        spu.stqa(sum, self.sum);
    }

    /// Adds an element.
    #[inline(always)]
    fn element<S: Spu, const PAIRS: usize>(
        spu: &mut S,
        face: S::Register,
        weights: &[S::Register; PAIRS],
        sums: &mut [S::Register; PAIRS],
    ) {
        for (pair, (&weight, sum)) in weights.iter().zip(sums).enumerate() {
            let outflow = spu.lqd(16 * pair as i32, face);
            *sum = spu.dfma(weight, outflow, *sum);
        }
    }
}

kernel! {
    Leakage -> (), |kernel, spu|
    shape: Shape::new(named!(kernel.angles, "add what leaks"), kernel.elements);
    blocks: {
        input face[face_bytes(kernel.angles); kernel.elements];
        input weights[face_bytes(kernel.angles); 1];
        output sum[Bytes(16); 1];
    }
    run: match pairs(kernel.angles) {
        1 => kernel.add::<S, 1>(spu),
        2 => kernel.add::<S, 2>(spu),
        _ => kernel.add::<S, 3>(spu),
    };
}

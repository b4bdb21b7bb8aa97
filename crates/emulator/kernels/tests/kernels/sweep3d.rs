//! The kernels against the plain code of crate `sweep`, and their time.

mod iteration;
mod line;
mod sums;
mod time;

use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, LocalStore, Quadword};
use mmgp_sweep::{Direction, FixUp, Line as PlainLine, MOMENTS, Moments, Sign};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use mmgp_kernels::sweep3d::*;

const TOTAL: LocalAddress = LocalAddress(0x1000);
const SOURCE: LocalAddress = LocalAddress(0x2000);
const FLUX: LocalAddress = LocalAddress(0x4000);
const I_FACE: LocalAddress = LocalAddress(0x6000);
const J_FACE: LocalAddress = LocalAddress(0x7000);
const K_FACE: LocalAddress = LocalAddress(0x9000);
const COEFFICIENTS_AT: LocalAddress = LocalAddress(0xB000);

fn put(store: &mut LocalStore, at: LocalAddress, quadwords: &[Quadword]) {
    let bytes = Bytes(16 * quadwords.len() as u64);
    store.slice_mut(at, bytes).copy_from_slice(quadwords);
}

fn get(store: &LocalStore, at: LocalAddress, bytes: Bytes, count: usize) -> &[Quadword] {
    store.slice(at, Bytes(bytes.0 * count as u64))
}

/// The moments of cells, two quadwords each.
fn pack_moments(cells: &[Moments]) -> Vec<Quadword> {
    let doubles = cells.as_flattened().as_chunks::<2>().0;
    doubles.iter().map(|&pair| Quadword::from_doubles(pair)).collect()
}

/// External sources and the fluxes phi_0 of the iteration before.
fn unpack_external(quadwords: &[Quadword]) -> (Vec<f64>, Vec<f64>) {
    quadwords.iter().map(|quadword| quadword.doubles().into()).unzip()
}

/// A face, whose elements have so many angles one after the other.
fn pack_face(face: &[f64], angles: usize) -> Vec<Quadword> {
    face.chunks_exact(angles).flat_map(leakage_weights).collect()
}

/// A face from its quadwords.
fn unpack_face(quadwords: &[Quadword], angles: usize) -> Vec<f64> {
    let element = |pairs: &[Quadword]| -> Vec<f64> {
        pairs.iter().flat_map(|pair| pair.doubles()).take(angles).collect()
    };
    quadwords.chunks_exact(angles.div_ceil(2)).flat_map(element).collect()
}

/// The kernel of so many cells and angles.
fn line_of(cells: usize, angles: usize, sign: Sign, fix_up: FixUp) -> Line {
    Line {
        cells: cells as u32,
        angles: angles as u32,
        sign,
        fix_up,
        total: TOTAL,
        source: SOURCE,
        flux: FLUX,
        i_face: I_FACE,
        j_face: J_FACE,
        k_face: K_FACE,
        coefficients: COEFFICIENTS_AT,
    }
}

/// What a line works on.
#[derive(Debug, Clone, PartialEq)]
struct Data {
    directions: Vec<Direction>,
    total: Vec<f64>,
    source: Vec<Moments>,
    flux: Vec<Moments>,
    i_face: Vec<f64>,
    j_face: Vec<f64>,
    k_face: Vec<f64>,
}

impl Data {
    /// Data of cells so thick that outflows become negative where `thickness` is some units and more.
    fn random(seed: u64, cells: usize, angles: usize, thickness: f64) -> Self {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut number = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        let direction = |_| Direction {
            coefficients: [0; 3].map(|_: i32| number(0.2, 2.0) / thickness),
            moments: [1.0, number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0)],
            weight: number(0.01, 0.03),
        };
        let directions = (0..angles).map(direction).collect();
        let mut moments =
            |_| [number(0.0, 1.0), number(-0.2, 0.2), number(-0.2, 0.2), number(-0.2, 0.2)];
        let source = (0..cells).map(&mut moments).collect();
        let flux = (0..cells).map(&mut moments).collect();
        let total = (0..cells).map(|_| number(0.5, 2.0)).collect();
        // From inflows near 0 to those that are far too many for their source.
        let mut face = |count: usize| -> Vec<f64> {
            (0..count).map(|_| number(0.0, 1.0) * 10_f64.powi(number(-3.0, 2.0) as i32)).collect()
        };
        Self {
            i_face: face(angles),
            j_face: face(angles * cells),
            k_face: face(angles * cells),
            directions,
            total,
            source,
            flux,
        }
    }

    /// Data that are the same in every cell, where no outflow becomes negative.
    fn calm(cells: usize, angles: usize) -> Self {
        let direction =
            Direction { coefficients: [9.0; 3], moments: [1.0, 0.5, 0.5, 0.7], weight: 0.02 };
        Self {
            directions: vec![direction; angles],
            total: vec![1.0; cells],
            source: vec![[1.0, 0.0, 0.0, 0.0]; cells],
            flux: vec![[0.0; 4]; cells],
            i_face: vec![1.0; angles],
            j_face: vec![1.0; angles * cells],
            k_face: vec![1.0; angles * cells],
        }
    }

    fn kernel(&self, sign: Sign, fix_up: FixUp) -> Line {
        line_of(self.total.len(), self.directions.len(), sign, fix_up)
    }

    fn packed(&self) -> LocalStore {
        let angles = self.directions.len();
        let mut store = LocalStore::new();
        put(&mut store, TOTAL, &pack_total(&self.total));
        put(&mut store, SOURCE, &pack_moments(&self.source));
        put(&mut store, FLUX, &pack_moments(&self.flux));
        put(&mut store, I_FACE, &pack_face(&self.i_face, angles));
        put(&mut store, J_FACE, &pack_face(&self.j_face, angles));
        put(&mut store, K_FACE, &pack_face(&self.k_face, angles));
        put(&mut store, COEFFICIENTS_AT, &coefficients(&self.directions));
        store
    }

    /// The same after a sweep, from local store.
    fn unpacked(&self, store: &LocalStore) -> Self {
        let (cells, angles) = (self.total.len(), self.directions.len());
        let element = face_bytes(angles as u32);
        let face = |at, count| unpack_face(get(store, at, element, count), angles);
        Self {
            flux: unpack_moments(get(store, FLUX, MOMENTS_BYTES, cells)),
            i_face: face(I_FACE, 1),
            j_face: face(J_FACE, cells),
            k_face: face(K_FACE, cells),
            ..self.clone()
        }
    }

    /// The same after a plain sweep, and its fix-ups.
    fn swept(&self, sign: Sign, fix_up: FixUp) -> (Self, u64) {
        let mut swept = self.clone();
        let mut line = PlainLine {
            total: &self.total,
            source: &self.source,
            flux: &mut swept.flux,
            i_face: &mut swept.i_face,
            j_face: &mut swept.j_face,
            k_face: &mut swept.k_face,
        };
        let fixed = line.sweep(&self.directions, sign, fix_up);
        (swept, fixed)
    }
}

const _: () = assert!(MOMENTS == 4);

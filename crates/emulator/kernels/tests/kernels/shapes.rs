//! What every kernel says of itself, held against what it does at random places with random data:
//! that kernels of one [`Shape`] take one time, and that a kernel touches nothing but its blocks.

use crate::cell_be;
use mmgp_base::units::Bytes;
use mmgp_kernels::Version;
use mmgp_kernels::raxml::{Child, End, GAMMA_CATEGORIES, MAX_CATEGORIES, Rates};
use mmgp_kernels::sgemm::{ClearMatrix, Retarget, Sgemm};
use mmgp_kernels::{logarithm, pbpi, raxml, sgemm, sweep3d};
use mmgp_spu::local_store::{Access, Block};
use mmgp_spu::{
    Accesses, Branches, Compiler, Journal, Kernel, LOCAL_STORE_BYTES, LastRuns, LocalAddress,
    LocalStore, Path, PortUse, Quadword, Stopwatch, execute_on_path, execute_watched,
};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

const VERSIONS: [Version; 3] = [Version::Naive, Version::Unfused, Version::Tuned];

/// Combinations of options: version, rates, tips, terms and groups.
const COMBINATIONS: u32 = VERSIONS.len() as u32 * 2 * 3 * 2 * 2;

/// Name, turns, compiler and path of a kernel, and nothing of the shape beside them: one that says
/// otherwise what it branches on has another name.
type Key = (&'static str, u32, Compiler, Option<Path>);

/// Kernels with data, and the times that were seen.
struct Trial {
    random: Xoshiro256PlusPlus,
    /// The place where the next block may begin.
    free: u32,
    /// The options: of so many layouts in a row, each has others.
    combination: usize,
    version: Version,
    rates: Rates,
    /// Ends or children that are tips, the first ones.
    tips: usize,
    with_terms: bool,
    groups: u32,
    category_count: u32,
    stopwatches: BTreeMap<Compiler, Stopwatch>,
    seen: BTreeMap<Key, (u64, PortUse)>,
    /// Runs of a shape, and a path, that had been seen.
    repeated: u32,
}

impl Trial {
    fn new(seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            free: 0,
            combination: 0,
            version: Version::Tuned,
            rates: Rates::Cat,
            tips: 0,
            with_terms: false,
            groups: 1,
            category_count: 1,
            stopwatches: BTreeMap::new(),
            seen: BTreeMap::new(),
            repeated: 0,
        }
    }

    /// Chooses another layout, and the options that come next.
    fn shuffle(&mut self) {
        self.free = 16 * self.random.random_range(0..64);
        let mut rest = self.combination;
        let mut choose = |count: usize| {
            let chosen = rest % count;
            rest /= count;
            chosen
        };
        self.version = VERSIONS[choose(VERSIONS.len())];
        self.rates = [Rates::Gamma, Rates::Cat][choose(2)];
        self.tips = choose(3);
        self.with_terms = choose(2) > 0;
        self.groups = 1 + choose(2) as u32;
        self.combination += 1;
        self.category_count = match self.rates {
            Rates::Gamma => GAMMA_CATEGORIES,
            Rates::Cat => self.random.random_range(1..=MAX_CATEGORIES),
        };
    }

    /// A place with that many bytes, some way behind the last one.
    fn place(&mut self, bytes: u64) -> LocalAddress {
        let at = self.free;
        self.free += (bytes as u32).next_multiple_of(16) + 16 * self.random.random_range(0..20);
        assert!(self.free < LOCAL_STORE_BYTES, "the blocks do not fit");
        LocalAddress(at)
    }

    fn of_groups(&mut self, each: Bytes) -> LocalAddress {
        self.place(u64::from(self.groups) * each.0)
    }

    fn of_categories(&mut self, each: Bytes) -> LocalAddress {
        self.place(u64::from(self.category_count) * each.0)
    }

    fn vectors(&mut self) -> LocalAddress {
        self.of_groups(self.rates.vector_bytes_per_group())
    }

    /// Random data for each block that is read, as its name says.
    fn fill<K: Kernel>(&mut self, kernel: &K) -> LocalStore {
        let mut store = LocalStore::new();
        // Some vectors are so small that they are scaled.
        let scale = if self.random.random_bool(0.3) { 1e-90 } else { 1.0 };
        for block in kernel.blocks() {
            match block.name {
                "table" => logarithm::write_table(&mut store, block.address),
                "tables" => raxml::write_tables(&mut store, block.address),
                _ => {
                    for quadword in store.slice_mut(block.address, block.size) {
                        *quadword = self.quadword(block.name, scale);
                    }
                }
            }
        }
        store
    }

    fn quadword(&mut self, block: &str, scale: f64) -> Quadword {
        let words = match block {
            "codes" => 1..=15,
            "categories" => 0..=self.category_count - 1,
            "counts" | "left_counts" | "right_counts" => 0..=3,
            "weights" => {
                return Quadword::from_doubles(
                    [0; 2].map(|_| f64::from(self.random.random_range(0..3))),
                );
            }
            "derivatives" => {
                return Quadword::from_doubles([0; 2].map(|_| self.random.random_range(-5.0..5.0)));
            }
            "vectors" | "left" | "right" => {
                let entry = |_| scale * self.random.random_range(0.1..1.0);
                return Quadword::from_doubles([0; 2].map(entry));
            }
            _ => {
                return Quadword::from_doubles([0; 2].map(|_| self.random.random_range(0.1..0.9)));
            }
        };
        Quadword::from_words([0; 4].map(|_: u32| self.random.random_range(words.clone())))
    }

    /// Runs the kernel and holds it to what it says and to what was seen of its shape.
    fn check<K: Kernel>(&mut self, kernel: &K) {
        kernel.validate().expect("the blocks lie one behind the other");
        let store = self.fill(kernel);
        self.check_on(kernel, &store);
    }

    fn check_on<K: Kernel>(&mut self, kernel: &K, store: &LocalStore) {
        let shape = kernel.shape();
        let path = || execute_on_path(kernel, &mut store.clone(), &mut Journal::default(), None).1;
        let path = (shape.branches == Branches::OnData).then(path);
        let stopwatch = self.stopwatches.entry(shape.compiler);
        let stopwatch = stopwatch.or_insert_with(|| Stopwatch::new(cell_be(), shape.compiler));
        let (_, profile) = stopwatch.time(kernel, &mut store.clone());
        let time = (profile.cycles.0, profile.port_use());
        let key = (shape.name, shape.turns, shape.compiler, path);
        match self.seen.get(&key) {
            Some(before) => {
                assert_eq!(*before, time, "{shape:?}");
                self.repeated += 1;
            }
            None => _ = self.seen.insert(key, time),
        }
        let mut accesses = Accesses::default();
        execute_watched(kernel, &mut store.clone(), accesses.watch(1));
        let blocks = kernel.blocks();
        check_within(kernel.name(), accesses.read(), &blocks);
        let written: Vec<Block> =
            blocks.into_iter().filter(|block| block.access == Access::Write).collect();
        check_within(kernel.name(), accesses.written(), &written);
    }
}

/// Checks that what was touched lies in the blocks.
fn check_within(kernel: &str, touched: &LastRuns, blocks: &[Block]) {
    let mut ranges: Vec<_> = blocks
        .iter()
        .map(|block| (u64::from(block.address.0), u64::from(block.address.0) + block.size.0))
        .collect();
    ranges.push((u64::from(LOCAL_STORE_BYTES), u64::from(LOCAL_STORE_BYTES)));
    ranges.sort_unstable();
    let mut end = 0_u64;
    for (start, next) in ranges {
        let outside = end.next_multiple_of(16)..start.max(end.next_multiple_of(16));
        assert_eq!(touched.first_bytes(1, &outside), None, "{kernel} beside its blocks");
        end = end.max(next);
    }
}

/// Runs kernels at random; so many runs at least must be of a shape, and a path, seen before.
fn check(seed: u64, runs: u32, repeated: u32, run: impl Fn(&mut Trial)) {
    let mut trial = Trial::new(seed);
    for _ in 0..runs {
        trial.shuffle();
        run(&mut trial);
    }
    assert!(trial.repeated >= repeated, "only {} shapes came again", trial.repeated);
}

#[test]
fn kernels_of_pbpi_take_one_time_for_each_shape_and_touch_their_blocks_alone() {
    use pbpi::{
        CODE_BYTES_PER_GROUP, COUNT_BYTES_PER_GROUP, FREQUENCY_BYTES, MATRIX_BYTES,
        TIP_TABLE_BYTES, VECTOR_BYTES_PER_GROUP, WEIGHT_BYTES_PER_GROUP,
    };
    check(1, 60, 60, |trial| {
        let (version, groups) = (trial.version, trial.groups);
        let matrices = [0; 3].map(|_| trial.place(MATRIX_BYTES.0));
        let vectors = [0; 3].map(|_| trial.of_groups(VECTOR_BYTES_PER_GROUP));
        let counts = [0; 3].map(|_| trial.of_groups(COUNT_BYTES_PER_GROUP));
        let out = trial.of_groups(VECTOR_BYTES_PER_GROUP);
        let out_counts = trial.of_groups(COUNT_BYTES_PER_GROUP);
        trial.check(&pbpi::NodeUpdate {
            version,
            groups,
            left_matrix: matrices[0],
            right_matrix: matrices[1],
            left: vectors[0],
            right: vectors[1],
            out,
            left_counts: counts[0],
            right_counts: counts[1],
            out_counts,
        });
        trial.check(&pbpi::RootProduct {
            version,
            groups,
            matrices,
            vectors,
            out,
            counts,
            out_counts,
        });
        let kernel = pbpi::LikelihoodSum {
            version,
            groups,
            root: out,
            counts: out_counts,
            weights: trial.of_groups(WEIGHT_BYTES_PER_GROUP),
            frequencies: trial.place(FREQUENCY_BYTES.0),
            table: trial.place(logarithm::TABLE_BYTES.0),
            result: trial.place(16),
        };
        trial.check(&kernel);
        // Codes begin at any group.
        let before = CODE_BYTES_PER_GROUP.0 * trial.random.random_range(0..4);
        let codes = trial.place(before + u64::from(groups) * CODE_BYTES_PER_GROUP.0);
        let codes = codes.offset(Bytes(before));
        let tip_table = trial.place(TIP_TABLE_BYTES.0);
        trial.check(&pbpi::TipVectors { version, groups, codes, tip_table, out: vectors[0] });
    });
}

#[test]
fn newview_takes_one_time_for_each_shape_and_touches_its_blocks_alone() {
    use raxml::{CATEGORY_BYTES_PER_GROUP, CODE_BYTES_PER_GROUP, COUNT_BYTES_PER_GROUP};
    check(2, 3 * COMBINATIONS, COMBINATIONS, |trial| {
        let child = |trial: &mut Trial, is_tip: bool| {
            if is_tip {
                let products = match trial.rates {
                    Rates::Gamma => trial.place(raxml::TIP_PRODUCT_BYTES.0),
                    Rates::Cat => trial.of_categories(raxml::MATRIX_BYTES),
                };
                return Child::Tip { codes: trial.of_groups(CODE_BYTES_PER_GROUP), products };
            }
            Child::Inner {
                vectors: trial.vectors(),
                counts: trial.of_groups(COUNT_BYTES_PER_GROUP),
                matrices: trial.of_categories(raxml::MATRIX_BYTES),
            }
        };
        let kernel = raxml::NewView {
            version: trial.version,
            rates: trial.rates,
            groups: trial.groups,
            category_count: trial.category_count,
            left: child(trial, trial.tips > 0),
            right: child(trial, trial.tips > 1),
            model: trial.place(raxml::MODEL_BYTES.0),
            categories: trial.of_groups(CATEGORY_BYTES_PER_GROUP),
            out: trial.vectors(),
            out_counts: trial.of_groups(COUNT_BYTES_PER_GROUP),
        };
        trial.check(&kernel);
    });
}

fn ends(trial: &mut Trial) -> [End; 2] {
    [0, 1].map(|side| {
        let is_tip = side < trial.tips;
        if is_tip {
            return End::Tip { codes: trial.of_groups(raxml::CODE_BYTES_PER_GROUP) };
        }
        let vectors = trial.vectors();
        End::Inner { vectors, counts: trial.of_groups(raxml::COUNT_BYTES_PER_GROUP) }
    })
}

#[test]
fn evaluate_takes_one_time_for_each_shape_and_touches_its_blocks_alone() {
    check(3, 3 * COMBINATIONS, COMBINATIONS, |trial| {
        let kernel = raxml::Evaluate {
            version: trial.version,
            rates: trial.rates,
            groups: trial.groups,
            category_count: trial.category_count,
            model: trial.place(raxml::MODEL_BYTES.0),
            ends: ends(trial),
            diagonal: trial.of_categories(raxml::DIAGONAL_BYTES),
            categories: trial.of_groups(raxml::CATEGORY_BYTES_PER_GROUP),
            weights: trial.of_groups(raxml::WEIGHT_BYTES_PER_GROUP),
            terms: trial.with_terms.then(|| trial.of_groups(raxml::TERM_BYTES_PER_GROUP)),
            tables: trial.place(raxml::TABLES_BYTES.0),
            result: trial.place(16),
        };
        trial.check(&kernel);
    });
}

#[test]
fn makenewz_takes_one_time_for_each_shape_and_touches_its_blocks_alone() {
    check(4, 2 * COMBINATIONS, COMBINATIONS, |trial| {
        let (version, rates, groups) = (trial.version, trial.rates, trial.groups);
        let category_count = trial.category_count;
        let model = trial.place(raxml::MODEL_BYTES.0);
        let [branch, derivatives, result] = [0; 3].map(|_| trial.place(16));
        let tables = trial.place(raxml::TABLES_BYTES.0);
        let ends = ends(trial);
        let sums = trial.vectors();
        let factors = trial.of_categories(raxml::FACTOR_BYTES);
        let categories = trial.of_groups(raxml::CATEGORY_BYTES_PER_GROUP);
        let weights = trial.of_groups(raxml::WEIGHT_BYTES_PER_GROUP);
        trial.check(&raxml::SumTable { version, rates, groups, model, ends, out: sums });
        let out = factors;
        trial.check(&raxml::NewtonFactors { version, category_count, model, branch, out, tables });
        trial.check(&raxml::Derivatives {
            version,
            rates,
            groups,
            category_count,
            sums,
            factors,
            categories,
            weights,
            result,
        });
        trial.check(&raxml::NewtonStep { version, derivatives, branch, tables });
    });
}

#[test]
fn tables_by_category_take_one_time_for_each_shape_and_touch_their_blocks_alone() {
    check(5, 80, 80, |trial| {
        let (version, category_count) = (trial.version, trial.category_count);
        let model = trial.place(raxml::MODEL_BYTES.0);
        let tables = trial.place(raxml::TABLES_BYTES.0);
        let branches = trial.place(16);
        let [left, right] = [0; 2].map(|_| trial.of_categories(raxml::MATRIX_BYTES));
        let out = trial.of_categories(raxml::DIAGONAL_BYTES);
        let branch = branches;
        trial.check(&raxml::Transition {
            version,
            category_count,
            model,
            branches,
            left,
            right,
            tables,
        });
        trial.check(&raxml::Diagonal { version, category_count, model, branch, out, tables });
        let matrices = trial.place(u64::from(GAMMA_CATEGORIES) * raxml::MATRIX_BYTES.0);
        let out = trial.place(raxml::TIP_PRODUCT_BYTES.0);
        trial.check(&raxml::TipProducts { version, matrices, model, out });
    });
}

#[test]
fn sgemm_takes_one_time_and_touches_its_blocks_alone() {
    check(6, 3, 2, |trial| {
        let [a, b, c] = [0; 3].map(|_| trial.place(sgemm::MATRIX_BYTES.0));
        let kernel = Sgemm { a, b, c, tiles: trial.place(sgemm::TILES_BYTES.0) };
        kernel.validate().expect("the blocks lie one behind the other");
        let mut store = trial.fill(&kernel);
        kernel.place_tiles(&mut store);
        trial.check_on(&kernel, &store);
    });
}

#[test]
fn what_goes_on_between_products_takes_one_time_and_touches_its_blocks_alone() {
    check(7, 6, 4, |trial| {
        let (out, first) = (trial.place(sgemm::MATRIX_BYTES.0), trial.place(16));
        trial.check(&ClearMatrix { out });
        let tiles = trial.place(sgemm::TILES_BYTES.0);
        trial.check(&Retarget { first, tiles });
    });
}

#[test]
fn kernels_of_sweep3d_take_one_time_for_each_shape_and_touch_their_blocks_alone() {
    use mmgp_sweep::{CrossSections, FixUp, Sign};
    use sweep3d::{EXTERNAL_BYTES, MOMENTS_BYTES, TOTAL_BYTES};
    check(8, 400, 800, |trial| {
        let cells = trial.random.random_range(1..5_u32);
        let angles = trial.random.random_range(1..=6);
        let element = sweep3d::face_bytes(angles).0;
        let place = |trial: &mut Trial, each: Bytes| trial.place(u64::from(cells) * each.0);
        let [source, flux] = [0; 2].map(|_| place(trial, MOMENTS_BYTES));
        let external = place(trial, EXTERNAL_BYTES);
        let [j_face, k_face] = [0; 2].map(|_| place(trial, Bytes(element)));
        let i_face = trial.place(element);
        let [is_up, is_fixed] = [0; 2].map(|_| trial.random.random::<bool>());
        let line = sweep3d::Line {
            cells,
            angles,
            sign: if is_up { Sign::Plus } else { Sign::Minus },
            fix_up: if is_fixed { FixUp::On } else { FixUp::Off },
            total: place(trial, TOTAL_BYTES),
            source,
            flux,
            i_face,
            j_face,
            k_face,
            coefficients: trial.place(sweep3d::coefficients_bytes(angles).0),
        };
        trial.check(&line);
        let cross_sections = CrossSections { total: 1.0, isotropic: 0.5, linear: 0.6 };
        trial.check(&sweep3d::Source { cells, cross_sections, flux, external, source });
        let sums = trial.place(32);
        trial.check(&sweep3d::Error { cells, flux, external, sums });
        let (face, weights, sum) = (j_face, i_face, sums);
        trial.check(&sweep3d::Leakage { elements: cells, angles, face, weights, sum });
    });
}

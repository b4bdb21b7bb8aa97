//! Figures of the SPU: how many cycles a kernel takes, and what it computes in that time.

use super::{Bench, Program};
use mmgp_base::error::Result;
use mmgp_cell::pipeline;
use mmgp_kernels::sgemm::{FLOPS, Sgemm};
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_spu::{Compiler, Kernel, LocalAddress, LocalStore, Quadword, Shape, Spu, time};

pub(super) const PROGRAMS: [Program; 17] = [
    Program { name: "single-precision-peak", measure: single_precision_peak },
    Program { name: "double-precision-peak", measure: double_precision_peak },
    Program { name: "pipelined-double-precision-peak", measure: double_precision_peak },
    Program { name: "sgemm", measure: sgemm },
    Program { name: "dfma-and-lnop", measure: dfma_and_lnop },
    Program { name: "loop-without-hint", measure: |machine, _| short_loop(machine, Hint::Without) },
    Program { name: "loop-with-hint", measure: |machine, _| short_loop(machine, Hint::With) },
    Program { name: "fma-stress-loop", measure: |machine, _| stress_loop(machine, Stress::Single) },
    Program {
        name: "dfma-stress-loop",
        measure: |machine, _| stress_loop(machine, Stress::Double),
    },
    Program {
        name: "mpya-stress-loop",
        measure: |machine, _| stress_loop(machine, Stress::Integer),
    },
    Program {
        name: "shufb-stress-loop",
        measure: |machine, _| stress_loop(machine, Stress::Shuffle),
    },
    Program { name: "dual-stress-loop", measure: |machine, _| stress_loop(machine, Stress::Both) },
    Program { name: "fma-stress", measure: |machine, spes| stress(machine, spes, Stress::Single) },
    Program { name: "dfma-stress", measure: |machine, spes| stress(machine, spes, Stress::Double) },
    Program {
        name: "mpya-stress",
        measure: |machine, spes| stress(machine, spes, Stress::Integer),
    },
    Program {
        name: "shufb-stress",
        measure: |machine, spes| stress(machine, spes, Stress::Shuffle),
    },
    Program { name: "dual-stress", measure: |machine, spes| stress(machine, spes, Stress::Both) },
];

/// Iterations of each loop: so many that the first and the last do not show.
const ITERATIONS: u32 = 1000;

fn single_precision_peak(machine: &Machine, spes: u32) -> Result<Quantity> {
    performance(machine, spes, &Chains(Precision::Single), 8 * Chains::INSTRUCTIONS)
}

fn double_precision_peak(machine: &Machine, spes: u32) -> Result<Quantity> {
    performance(machine, spes, &Chains(Precision::Double), 4 * Chains::INSTRUCTIONS)
}

fn stress(machine: &Machine, spes: u32, stress: Stress) -> Result<Quantity> {
    performance(machine, spes, &StressLoop(stress), stress.operations() * stress.pairs())
}

/// Operations a second while so many SPEs of one Cell run a kernel whose every iteration does so many.
fn performance<K: Kernel + Copy + 'static>(
    machine: &Machine,
    spes: u32,
    kernel: &K,
    operations: u32,
) -> Result<Quantity> {
    let bench = Bench::with_spes(machine, spes)?;
    for index in 0..spes {
        let (spe, kernel) = (bench.blade.spe(index).clone(), *kernel);
        bench.start(&format!("SPE {index}"), async move {
            spe.compute(&kernel).await;
            Ok(())
        });
    }
    let operations = f64::from(spes) * f64::from(ITERATIONS) * f64::from(operations);
    Ok(Quantity::Performance(operations / bench.run()?.0))
}

/// The published kernel was scheduled by hand, and so is this one.
fn sgemm(machine: &Machine, _: u32) -> Result<Quantity> {
    let kernel = Sgemm {
        a: LocalAddress(0x10000),
        b: LocalAddress(0x14000),
        c: LocalAddress(0x18000),
        tiles: LocalAddress(0x1C000),
    };
    kernel.validate()?;
    let mut store = LocalStore::new();
    kernel.place_tiles(&mut store);
    let (_, profile) = time(&kernel, &mut store, &pipeline(machine), Compiler::PROGRAM_ORDER);
    let seconds = profile.cycles.0 as f64 / machine.clock.0;
    Ok(Quantity::Performance(FLOPS as f64 / seconds))
}

/// Cycles of one iteration of a kernel's loop, its instructions in the order of the program.
fn cycles_per_iteration<K: Kernel>(machine: &Machine, kernel: &K) -> f64 {
    let mut store = LocalStore::new();
    let (_, profile) = time(kernel, &mut store, &pipeline(machine), Compiler::PROGRAM_ORDER);
    profile.cycles.0 as f64 / f64::from(ITERATIONS)
}

fn dfma_and_lnop(machine: &Machine, _: u32) -> Result<Quantity> {
    Ok(Quantity::Cycles(cycles_per_iteration(machine, &DoublePairs)))
}

fn short_loop(machine: &Machine, hint: Hint) -> Result<Quantity> {
    Ok(Quantity::Cycles(cycles_per_iteration(machine, &ShortLoop(hint))))
}

fn stress_loop(machine: &Machine, stress: Stress) -> Result<Quantity> {
    Ok(Quantity::Cycles(cycles_per_iteration(machine, &StressLoop(stress))))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    Single,
    Double,
}

/// Multiply-adds in so many independent chains that no latency shows, in a long hinted loop.
#[derive(Debug, Clone, Copy)]
struct Chains(Precision);

impl Chains {
    const CHAINS: u32 = 16;
    /// Multiply-adds of an iteration.
    const INSTRUCTIONS: u32 = 64 * Self::CHAINS;
}

impl Kernel for Chains {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("chains of multiply-add", self.0 as u32)
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let factor = spu.lqr(Quadword::ZERO);
        let mut sums = [factor; Self::CHAINS as usize];
        for sum in &mut sums {
            *sum = spu.lqr(Quadword::ZERO);
        }
        let mut left = spu.ila(ITERATIONS);
        loop {
            spu.label();
            spu.hbrr();
            for _ in 0..Self::INSTRUCTIONS / Self::CHAINS {
                for sum in &mut sums {
                    *sum = match self.0 {
                        Precision::Single => spu.fma(factor, factor, *sum),
                        Precision::Double => spu.dfma(factor, factor, *sum),
                    };
                }
            }
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
}

/// Pairs of a double-precision multiply-add and an `lnop`, in a straight line.
struct DoublePairs;

impl Kernel for DoublePairs {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("pairs of dfma and lnop", 0)
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let factor = spu.lqr(Quadword::ZERO);
        let mut sums = [factor; 13];
        for sum in &mut sums {
            *sum = spu.lqr(Quadword::ZERO);
        }
        for pair in 0..ITERATIONS as usize {
            let sum = &mut sums[pair % 13];
            *sum = spu.dfma(factor, factor, *sum);
            spu.lnop();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    With,
    Without,
}

/// The loop by which cellmark measures a hint: five `lnop`, the count, five `lnop`, the branch; the
/// hint, where there is one, in front of all.
struct ShortLoop(Hint);

impl Kernel for ShortLoop {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("short loop", self.0 as u32)
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let mut left = spu.ila(ITERATIONS);
        loop {
            spu.label();
            if self.0 == Hint::With {
                spu.hbrr();
            }
            for _ in 0..5 {
                spu.lnop();
            }
            left = spu.ai(left, -1);
            for _ in 0..5 {
                spu.lnop();
            }
            if !spu.brnz(left) {
                break;
            }
        }
    }
}

/// What a loop keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stress {
    /// The even pipe, with multiply-adds of singles.
    Single,
    /// The even pipe, with multiply-adds of doubles.
    Double,
    /// The even pipe, with multiply-adds of halfwords, into words.
    Integer,
    /// The odd pipe.
    Shuffle,
    /// Both: multiply-adds of singles beside shuffles.
    Both,
}

impl Stress {
    /// Pairs of instructions of an iteration.
    const fn pairs(self) -> u32 {
        match self {
            Self::Single | Self::Both => 384,
            Self::Double => 208,
            Self::Integer => 224,
            Self::Shuffle => 576,
        }
    }

    /// Chains in which the pairs depend on each other: as many as hide the latency.
    const fn chains(self) -> usize {
        match self {
            Self::Single | Self::Both => 6,
            Self::Double => 13,
            Self::Integer => 7,
            Self::Shuffle => 4,
        }
    }

    /// What its author counts as the operations of a pair: of each lane the product and the sum, and
    /// the word that is moved.
    const fn operations(self) -> u32 {
        match self {
            Self::Single | Self::Integer => 8,
            Self::Double | Self::Shuffle => 4,
            Self::Both => 12,
        }
    }
}

/// The loops by which cellmark loads the pipes: pairs of an instruction of either pipe, one of them
/// perhaps empty; no hint, because it cannot reach so far.
#[derive(Debug, Clone, Copy)]
struct StressLoop(Stress);

impl Kernel for StressLoop {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("stress loop", self.0 as u32)
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let Self(stress) = *self;
        let factor = spu.lqr(Quadword::ZERO);
        let (mut sums, mut moved) = ([factor; 13], [factor; 6]);
        for sum in &mut sums {
            *sum = spu.lqr(Quadword::ZERO);
        }
        let mut left = spu.ila(ITERATIONS);
        loop {
            spu.label();
            for pair in 0..stress.pairs() as usize {
                let chain = pair % stress.chains();
                let sum = sums[chain];
                sums[chain] = match stress {
                    Stress::Single | Stress::Both => spu.fma(factor, factor, sum),
                    Stress::Double => spu.dfma(factor, factor, sum),
                    Stress::Integer => spu.mpya(factor, factor, sum),
                    Stress::Shuffle => {
                        spu.nop();
                        sum
                    }
                };
                if let Stress::Shuffle | Stress::Both = stress {
                    moved[chain] = spu.shufb(moved[chain], factor, factor);
                } else {
                    spu.lnop();
                }
            }
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles of an iteration on a Cell BE, to a tenth.
    fn check(kernel: &impl Kernel, by_hand: f64) {
        let machine = Machine::named("qs20").unwrap();
        let cycles = cycles_per_iteration(&machine, kernel);
        assert!((cycles - by_hand).abs() < 0.1, "{cycles} cycles, by hand {by_hand}");
    }

    #[test]
    fn loops_take_what_a_count_by_hand_says() {
        // Without a hint: lnop 0 to 4, ai in an odd word 5, lnop 6 to 10, branch 11, then 18 lost.
        check(&ShortLoop(Hint::Without), 12.0 + 18.0);
        // With it: the branch waits until 16 cycles after the hint, which issues in cycle 0.
        check(&ShortLoop(Hint::With), 17.0);
        // 384 pairs, ai 384, branch when its result is there 386, then 18 lost.
        check(&StressLoop(Stress::Single), 387.0 + 18.0);
        check(&StressLoop(Stress::Both), 387.0 + 18.0);
        check(&StressLoop(Stress::Integer), 227.0 + 18.0);
        check(&StressLoop(Stress::Shuffle), 579.0 + 18.0);
        // The last lnop 1663, ai 1664.
        check(&StressLoop(Stress::Double), 1667.0 + 18.0);
        // dfma 0, nothing until 7, lnop 7, the next dfma 8.
        check(&DoublePairs, 8.0);
    }

    #[test]
    fn six_spes_compute_six_times_as_much_as_one() {
        let machine = Machine::named("ps3").unwrap();
        let [one, six] = [1, 6].map(|spes| single_precision_peak(&machine, spes).unwrap());
        let (Quantity::Performance(one), Quantity::Performance(six)) = (one, six) else {
            panic!("{one:?} and {six:?} are no performance");
        };
        assert!((six / one - 6.0).abs() < 1e-9);
        assert!(single_precision_peak(&machine, 7).is_err());
    }
}

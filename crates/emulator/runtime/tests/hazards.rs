//! Hazards of off-loads are found whether what they compute comes first or each operation takes its time:
//! the same ones, the second way with the instants of both sides.

use std::rc::Rc;

use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles, SimTime};
use mmgp_cell::context::SpeImage;
use mmgp_cell::element::Writer;
use mmgp_cell::element::{Element, Number, Timed};
use mmgp_cell::mfc::{Command, Direction, Hazards, Order};
use mmgp_cell::record::Loop;
use mmgp_cell::{Blade, EffectiveAddress, KernelTiming, Spe};
use mmgp_machine::Machine;
use mmgp_runtime::{Call, Edtlp, Runtime, Signalling, SpeProgram, Task, Writing};
use mmgp_spu::{Kernel, LocalAddress, Quadword, Shape, Spu};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK: Bytes = Bytes(1024);
const DATA: LocalAddress = LocalAddress(0x1000);
const RESULT: LocalAddress = LocalAddress(0x2000);
const MESSAGE: LocalAddress = LocalAddress(0x3000);
const OTHER: LocalAddress = LocalAddress(0x4000);
const UNWRITTEN: LocalAddress = LocalAddress(0x8000);

/// Loads a quadword and stores it with the results.
struct Copy(LocalAddress);

impl Kernel for Copy {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("copy", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let value = spu.lqa(self.0);
        spu.stqa(value, RESULT);
    }
}

/// What a call does, the second half of which is right or wrong.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Gets a block, computes, and puts one, waiting or not for the one or the other.
    Stream { awaits_get: bool, awaits_put: bool },
    /// Puts its block where another SPE puts its own, or beside it.
    Share { apart: bool },
    /// Tells the other SPE of a block that it puts there, with a fence or without.
    Tell { fenced: bool },
    /// Reads what nobody has written: it was to come from the first SPE.
    Miss(Reader),
    /// Commands, waits, loads, stores and kernels as they come, from that seed.
    Random(u64),
}

/// What of a program reads.
#[derive(Debug, Clone, Copy)]
enum Reader {
    Kernel,
    Program,
    Put,
}

/// One of them.
struct Program(Act);

/// One command that is waited for at once.
async fn transfer(spe: &impl Element, command: Command) -> Result<()> {
    spe.enqueue(command).await?;
    spe.wait_for(command.tag).await;
    Ok(())
}

/// Twelve acts, each right or wrong by what came before; two SPEs mostly keep to their own blocks.
async fn random(spe: &impl Element, call: Call, mut random: Xoshiro256PlusPlus) -> Result<()> {
    for _ in 0..12 {
        let local = if random.random_bool(0.5) { DATA } else { RESULT };
        let share = if random.random_bool(0.95) { call.share } else { 1 - call.share };
        let tag = random.random_range(0..3);
        match random.random_range(0..8) {
            0..3 => {
                let direction =
                    if random.random_bool(0.5) { Direction::Get } else { Direction::Put };
                let place = random.random_range(0..4) * u64::from(call.shares) + u64::from(share);
                let effective = match random.random_bool(0.1) {
                    true => EffectiveAddress::local_store(share, OTHER),
                    false => call.arguments.offset(BLOCK.0 / 4 * place),
                };
                let order = [Order::Free, Order::Fence, Order::Barrier][random.random_range(0..3)];
                let command = Command::new(direction, local, effective, Bytes(BLOCK.0 / 4), tag);
                spe.enqueue(Command { order, ..command }).await?;
                if random.random_bool(0.8) {
                    spe.wait_for(tag).await;
                }
            }
            3 => spe.wait_for(tag).await,
            4 => drop(spe.read(local, BLOCK)?),
            5 => spe.write(local, &[Quadword::splat(1); 2])?,
            6 => spe.compute(&Copy(DATA)).await,
            _ => spe.spend(Cycles(random.random_range(0..2000))).await,
        }
    }
    for tag in 0..3 {
        spe.wait_for(tag).await;
    }
    Ok(())
}

impl Program {
    async fn serve(&self, spe: &impl Element, call: Call) -> Result<()> {
        let Call { arguments, share, .. } = call;
        let own = arguments.offset(BLOCK.0 * u64::from(share));
        let put = |to| Command::new(Direction::Put, RESULT, to, BLOCK, 1);
        spe.spend(Cycles(1000)).await;
        match self.0 {
            Act::Random(seed) => {
                let seed = 2 * seed + u64::from(share);
                return random(spe, call, Xoshiro256PlusPlus::seed_from_u64(seed)).await;
            }
            Act::Stream { awaits_get, awaits_put } => {
                let get = Command::new(Direction::Get, DATA, own, BLOCK, 0);
                spe.enqueue(get).await?;
                if awaits_get {
                    spe.wait_for(0).await;
                }
                spe.compute(&Copy(DATA)).await;
                spe.wait_for(0).await;
                spe.enqueue(put(own)).await?;
                if awaits_put {
                    spe.wait_for(1).await;
                }
            }
            Act::Share { apart } => {
                spe.write(RESULT, &[Quadword::splat(share); 64])?;
                transfer(spe, put(if apart { own } else { arguments })).await?;
            }
            Act::Miss(_) if share == 0 => {}
            Act::Miss(Reader::Kernel) => spe.compute(&Copy(UNWRITTEN)).await,
            Act::Miss(Reader::Program) => drop(spe.read(UNWRITTEN, BLOCK)?),
            Act::Miss(Reader::Put) => {
                transfer(spe, Command::new(Direction::Put, UNWRITTEN, own, BLOCK, 1)).await?;
            }
            Act::Tell { fenced } if share == 0 => {
                spe.write(RESULT, &[Quadword::splat(7), Quadword([1, 0])])?;
                let there = |at| EffectiveAddress::local_store(1, at);
                let data = Command::new(Direction::Put, RESULT, there(DATA), BLOCK, 1);
                spe.enqueue(data).await?;
                let order = if fenced { Order::Fence } else { Order::Free };
                let told = Command::new(Direction::Put, RESULT, there(MESSAGE), Bytes(32), 1);
                transfer(spe, Command { order, ..told }).await?;
            }
            Act::Tell { .. } => {
                spe.message(MESSAGE, Number::Is(1)).await;
                spe.write(MESSAGE, &[Quadword::ZERO; 2])?;
                spe.read(DATA, BLOCK)?;
            }
        }
        Ok(())
    }
}

impl SpeProgram for Program {
    const FUNCTIONS: &'static [&'static str] = &["act"];

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let timed = Timed::new(spe);
        self.serve(&timed, call).await?;
        Ok(timed.into_loops())
    }

    fn write<'a>(&'a self, writer: &'a Writer, call: Call) -> Option<Writing<'a>> {
        Some(Box::pin(self.serve(writer, call)))
    }
}

/// Blocks and messages are zero when the program begins, and nothing else is.
fn image() -> SpeImage {
    SpeImage {
        name: "acts",
        code: Bytes(0x1000),
        data: Vec::new(),
        buffers: Bytes(0x8000),
        zeros: [DATA, RESULT, MESSAGE, OTHER].map(|at| (at, BLOCK)).to_vec(),
        stack: Bytes(0x1000),
    }
}

/// When the run ends of one process with `p` SPEs that off-loads twice.
fn run(act: Act, hazards: Hazards, step_by_step: bool) -> Result<SimTime> {
    let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
    blade.set_hazards(hazards);
    let blade = if step_by_step { blade.step_by_step() } else { blade };
    assert_eq!(blade.is_functional_first(), !step_by_step);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    on.load(&Rc::new(Program(act)), Signalling::Memory);
    let blade = on.blade();
    blade.create_contexts(&image())?;
    let spes = on.assign(Mapping::of(1, 2))?.remove(0);
    let process = on.process(0, spes);
    let data = blade.memory.allocate(0, Bytes(2 * BLOCK.0));
    blade.sim.spawn("rank 0", async move {
        process.resume().await;
        for _ in 0..2 {
            process.writes(data, Bytes(2 * BLOCK.0));
            process.run(Task::new(0, 2, &|_| data)).await;
            process.reads(data, Bytes(2 * BLOCK.0));
        }
        process.finish(0);
    });
    blade.run()
}

/// What is reported, each number with a point (an instant) in its place.
fn without_instants(report: &str) -> String {
    let words = report.split(' ').map(|word| if word.contains('.') { "..." } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn has_hazard(act: Act, words: [&str; 3]) {
    let [first, by_step] =
        [false, true].map(|step| run(act, Hazards::Checked, step).unwrap_err().to_string());
    for word in words {
        assert!(by_step.contains(word), "{act:?}: no {word} in {by_step}");
    }
    assert_eq!(without_instants(&first), without_instants(&by_step), "{act:?}");
    assert_ne!(first, by_step, "{act:?}: off-loads take time");
    assert!(run(act, Hazards::Ignored, false).is_ok(), "{act:?}");
}

#[test]
fn right_off_loads_take_the_same_time_whether_hazards_are_looked_for_or_not() {
    let right = [
        Act::Stream { awaits_get: true, awaits_put: true },
        Act::Share { apart: true },
        Act::Tell { fenced: true },
    ];
    for act in right {
        let plain = run(act, Hazards::Ignored, true).unwrap();
        for (hazards, step_by_step) in
            [(Hazards::Ignored, false), (Hazards::Checked, false), (Hazards::Checked, true)]
        {
            let ended = run(act, hazards, step_by_step).unwrap();
            assert_eq!(ended, plain, "{act:?}, {hazards:?}, {step_by_step}");
        }
    }
}

#[test]
fn a_kernel_that_does_not_wait_for_its_data_is_found() {
    let act = Act::Stream { awaits_get: false, awaits_put: true };
    has_hazard(act, ["SPE 0, kernel copy", "reads it", "SPE 0, Get"]);
}

#[test]
fn results_that_are_not_waited_for_are_found() {
    let act = Act::Stream { awaits_get: true, awaits_put: false };
    has_hazard(act, ["SPE 0, Put", "writes it", "reads it"]);
}

#[test]
fn two_spes_of_a_task_that_put_to_one_place_are_found() {
    has_hazard(Act::Share { apart: false }, ["SPE 1, Put", "writes it", "SPE 0, Put"]);
}

#[test]
fn hazards_of_random_off_loads_are_found_both_ways_or_neither() {
    let (mut found, programs) = (0, testing::seeds(1000));
    for seed in 0..programs {
        let act = Act::Random(seed);
        let [first, by_step] = [false, true].map(|step| run(act, Hazards::Checked, step));
        assert_eq!(first.is_err(), by_step.is_err(), "seed {seed}: {first:?}, {by_step:?}");
        if let (Ok(first), Ok(by_step)) = (&first, &by_step) {
            assert_eq!(first, by_step, "seed {seed}");
        }
        found += u64::from(first.is_err());
    }
    assert!((programs / 5..programs * 4 / 5).contains(&found), "{found} of {programs}");
}

#[test]
fn a_message_that_overtakes_its_data_is_found() {
    has_hazard(Act::Tell { fenced: false }, ["SPE 1, the program", "reads it", "SPE 0, Put"]);
}

#[test]
fn local_store_that_is_read_before_it_was_written_is_found() {
    let place = "local store 0x8000 to 0x800f of SPE 1: SPE 1";
    for (reader, who) in [
        (Reader::Kernel, "SPE 1, kernel copy, at"),
        (Reader::Program, "SPE 1, the program, at"),
        (Reader::Put, "SPE 1, Put of 1024 bytes"),
    ] {
        has_hazard(Act::Miss(reader), [place, who, "reads it; but nobody has written it before"]);
    }
}

//! Local store that is read before anybody has written it.

use super::*;
use crate::context::SpeImage;
use mmgp_base::units::{Seconds, SimSpan};

const UNWRITTEN: LocalAddress = LocalAddress(0x8000);

/// What is reported of SPE 0.
fn of_one<A>(life: impl FnOnce(Spe, EffectiveAddress) -> A) -> String
where
    A: Future<Output = Result<()>> + 'static,
{
    of_spes(life, nothing)
}

/// A quadword of that place in the local store of SPE 1.
fn there(at: LocalAddress) -> EffectiveAddress {
    EffectiveAddress::local_store(1, at)
}

#[track_caller]
fn check_found(report: &str, place: &str, who: &str) {
    let begin = format!("hazard at local store {place}: {who}");
    let end = "us, reads it; but nobody has written it before";
    assert!(report.starts_with(&begin) && report.ends_with(end), "{report}");
}

#[test]
fn by_a_kernel() {
    let report = of_one(|spe, _| async move {
        spe.compute(&Copy(UNWRITTEN, DATA)).await;
        Ok(())
    });
    check_found(&report, "0x8000 to 0x800f of SPE 0", "SPE 0, kernel copy, at 0.0000 ");
}

#[test]
fn by_a_program_outside_its_kernels() {
    let report = of_one(|spe, _| async move {
        spe.write(UNWRITTEN, &[Quadword::ZERO])?;
        spe.read(UNWRITTEN, Bytes(32)).map(|_| ())
    });
    check_found(&report, "0x8010 to 0x801f of SPE 0", "SPE 0, the program, at 0.0000 ");
}

#[test]
fn by_a_put() {
    let report = of_one(|spe, at| async move {
        spe.write(UNWRITTEN, &[Quadword::ZERO; 2])?;
        spe.mfc.enqueue(Command::new(Direction::Put, UNWRITTEN, at, Bytes(128), 3)).await?;
        spe.mfc.wait_for(3).await;
        Ok(())
    });
    let who =
        "SPE 0, Put of 128 bytes, local store 0x08000, effective address 0x0, tag 3, given at";
    check_found(&report, "0x8020 to 0x802f of SPE 0", who);
}

#[test]
fn by_a_get_of_another_spe() {
    let report = of_one(|spe, _| async move {
        spe.mfc.enqueue(get(there(UNWRITTEN), 3)).await?;
        spe.mfc.wait_for(3).await;
        Ok(())
    });
    check_found(&report, "0x8000 to 0x800f of SPE 1", "SPE 0, Get of 128 bytes");
}

#[test]
fn by_the_host() {
    let report = report(nothing, nothing, |host, _, _| async move {
        host.resume().await;
        host.reads(there(UNWRITTEN), Bytes(4));
        host.release();
        Ok(())
    });
    check_found(&report, "0x8000 to 0x800f of SPE 1", "the host, at");
}

#[test]
fn what_a_kernel_or_a_get_or_the_program_has_written_is_written_zero_or_not() {
    let right = of_one(|spe, at| async move {
        spe.mfc.enqueue(get(at, 0)).await?;
        spe.mfc.wait_for(0).await;
        spe.compute(&Copy(DATA, UNWRITTEN)).await;
        spe.compute(&Copy(UNWRITTEN, DATA)).await;
        spe.write(UNWRITTEN.offset(Bytes(16)), &[Quadword::ZERO])?;
        spe.read(UNWRITTEN, Bytes(32))?;
        spe.mfc.enqueue(Command::new(Direction::Put, UNWRITTEN, at, Bytes(32), 0)).await?;
        spe.mfc.wait_for(0).await;
        Ok(())
    });
    assert_eq!(right, "");
}

/// A kernel that sets the first word of a quadword to zero, as a compiler stores a word.
struct StoreWord(LocalAddress);

impl Kernel for StoreWord {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("store a word", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let (word, at) = (spu.il(0), spu.ila(self.0.0));
        let place = spu.cwd(at, 0);
        let rest = spu.lqa(self.0);
        let whole = spu.shufb(word, rest, place);
        spu.stqa(whole, self.0);
    }
}

#[test]
fn a_store_of_a_word_reads_nothing_though_it_loads_the_quadword() {
    let right = of_one(|spe, _| async move {
        spe.compute(&StoreWord(UNWRITTEN)).await;
        spe.compute(&Copy(UNWRITTEN, DATA)).await;
        Ok(())
    });
    assert_eq!(right, "");
}

#[test]
fn what_the_loader_fills_with_zeros_is_written_and_nothing_beside_it() {
    let read = |at: LocalAddress| {
        let blade = blade();
        let image = SpeImage {
            name: "toy",
            code: Bytes(0x4000),
            data: Vec::new(),
            buffers: Bytes(0x10000),
            zeros: vec![(UNWRITTEN, Bytes(32))],
            stack: Bytes(0),
        };
        blade.create_contexts(&image).unwrap();
        let spe = blade.spe(2).clone();
        spe.store.borrow_mut().store(UNWRITTEN, Quadword::splat(7));
        start(&blade, async move {
            spe.sim.sleep(SimSpan::from_seconds(Seconds(1.0))).await;
            spe.read(at, Bytes(16)).map(|found| assert_eq!(found, [Quadword::ZERO]))
        });
        blade.run().map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(read(UNWRITTEN), "");
    assert_eq!(read(UNWRITTEN.offset(Bytes(16))), "");
    let who = "SPE 2, the program, at 1000000.0000 ";
    check_found(&read(UNWRITTEN.offset(Bytes(32))), "0x8020 to 0x802f of SPE 2", who);
    check_found(&read(LocalAddress(0x7FF0)), "0x7ff0 to 0x7fff of SPE 2", who);
}

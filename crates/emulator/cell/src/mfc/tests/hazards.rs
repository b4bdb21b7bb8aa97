//! The detector finds planted hazards and is silent where there are none.

use super::*;
use mmgp_spu::{Kernel, Shape, Spu};

/// Adds the quadwords at two addresses into the second.
struct Add(u32, u32);

impl Kernel for Add {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("add", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let (first, second) = (spu.lqa(LocalAddress(self.0)), spu.lqa(LocalAddress(self.1)));
        let sum = spu.a(first, second);
        spu.stqa(sum, LocalAddress(self.1));
    }
}

/// Asserts what the detector says of a program; nothing where it should be silent.
#[track_caller]
fn check(hazard: &str, program: impl AsyncFnOnce(Spe, EffectiveAddress) -> Result<()> + 'static) {
    let outcome = run(4, |spe, _, from| {
        // What the program was loaded with.
        spe.store.borrow_mut().slice_mut(LocalAddress(0), Bytes(0x4000)).fill(Quadword::splat(1));
        program(spe, from)
    });
    let text = outcome.map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(text, hazard);
}

#[test]
fn a_kernel_that_reads_what_a_get_may_still_write_is_found() {
    check(
        "hazard at local store 0x1000 to 0x100f of SPE 4: SPE 4, kernel add, at 0.0031 us, reads it; \
         unordered with SPE 4, Get of 128 bytes, local store 0x01000, effective address 0x0, tag 3, \
         given at 0.0031 us, writes it",
        async |spe, from| {
            spe.mfc.enqueue(get(0x1000, from, 128).tagged(3)).await?;
            spe.compute(&Add(0x1000, 0x2000)).await;
            Ok(())
        },
    );
}

#[test]
fn a_kernel_that_overwrites_what_a_put_may_still_read_is_found_even_if_it_has_ended() {
    check(
        "hazard at local store 0x1040 to 0x104f of SPE 4: SPE 4, kernel add, at 312.5031 us, writes it; \
         unordered with SPE 4, Put of 128 bytes, local store 0x01000, effective address 0x0, tag 3, \
         given at 0.0031 us, reads it",
        async |spe, from| {
            spe.mfc.enqueue(put(0x1000, from, 128).tagged(3)).await?;
            spe.spend(mmgp_base::units::Cycles(1_000_000)).await;
            spe.compute(&Add(0x2000, 0x1040)).await;
            Ok(())
        },
    );
}

#[test]
fn two_gets_into_one_buffer_are_found() {
    check(
        "hazard at local store 0x1040 to 0x107f of SPE 4: SPE 4, Get of 64 bytes, local store 0x01040, \
         effective address 0x80, tag 1, given at 0.0062 us, writes it; unordered with SPE 4, Get of \
         128 bytes, local store 0x01000, effective address 0x0, tag 0, given at 0.0031 us, writes it",
        async |spe, from| {
            spe.mfc.enqueue(get(0x1000, from, 128)).await?;
            spe.mfc.enqueue(get(0x1040, from.offset(128), 64).tagged(1)).await
        },
    );
}

#[test]
fn a_get_of_what_a_put_may_still_write_outside_is_found() {
    check(
        "hazard at effective address 0x10 to 0x1f: SPE 4, Get of 16 bytes, local store 0x02000, \
         effective address 0x10, tag 1, given at 0.0062 us, reads it; unordered with SPE 4, Putl of \
         1 elements at 0x00080, local store 0x01000, tag 0, given at 0.0031 us, writes it",
        async |spe, from| {
            let element = ListElement::new(from, Bytes(128), AfterElement::Continue);
            let list = LocalAddress(0x80);
            write_list(&mut spe.store.borrow_mut(), list, &[element]);
            let (direction, local) = (Direction::Put, LocalAddress(0x1000));
            let (elements, high, order) = (1, from, Order::Free);
            let command = ListCommand { direction, local, list, elements, high, tag: 0, order };
            spe.mfc.enqueue_list(command).await?;
            spe.mfc.enqueue(get(0x2000, from.offset(16), 16).tagged(1)).await
        },
    );
}

#[test]
fn the_program_outside_its_kernels_is_watched_too() {
    check(
        "hazard at local store 0x1000 to 0x100f of SPE 4: SPE 4, the program, at 0.0031 us, writes it; \
         unordered with SPE 4, Put of 16 bytes, local store 0x01000, effective address 0x0, tag 0, \
         given at 0.0031 us, reads it",
        async |spe, from| {
            spe.mfc.enqueue(put(0x1000, from, 16)).await?;
            spe.read(LocalAddress(0x1000), Bytes(16))?;
            spe.write(LocalAddress(0x1000), &[Quadword::ZERO])
        },
    );
}

#[test]
fn who_waits_or_orders_has_no_hazard() {
    check("", async |spe, from| {
        let mfc = &spe.mfc;
        // Reading what a put reads is none.
        mfc.enqueue(put(0x1000, from, 128)).await?;
        spe.compute(&Add(0x1000, 0x2000)).await;
        // A fence orders a get after the put, and a look that finds the group complete is as good
        // as a wait.
        mfc.enqueue(get(0x1000, from, 128).ordered(Order::Fence)).await?;
        while mfc.status(1).await == 0 {}
        spe.compute(&Add(0x2000, 0x1000)).await;
        // A barrier holds for all that come later, the barrier command for all groups.
        mfc.enqueue(get(0x1000, from, 128).ordered(Order::Barrier)).await?;
        mfc.enqueue(put(0x1000, from, 128)).await?;
        mfc.barrier(0).await?;
        mfc.enqueue(get(0x1000, from, 128).tagged(9)).await?;
        mfc.wait_for_all(0b10_0000_0001).await;
        // Those of a tag group are kept in order by an mfcsync, or a barrier elsewhere, between them.
        mfc.enqueue(put(0x1000, from, 128)).await?;
        mfc.mfcsync(0).await?;
        mfc.enqueue(put(0x1000, from, 128)).await?;
        mfc.enqueue(get(0x2000, from.offset(128), 128).ordered(Order::Barrier)).await?;
        mfc.enqueue(get(0x1000, from, 128)).await?;
        mfc.wait_for(0).await;
        Ok(())
    });
}

#[test]
fn a_fence_orders_nothing_that_comes_later() {
    check(
        "hazard at local store 0x1000 to 0x107f of SPE 4: SPE 4, Put of 128 bytes, local store 0x01000, \
         effective address 0x0, tag 0, given at 0.0062 us, reads it; unordered with SPE 4, Getf of \
         128 bytes, local store 0x01000, effective address 0x0, tag 0, given at 0.0031 us, writes it",
        async |spe, from| {
            spe.mfc.enqueue(get(0x1000, from, 128).ordered(Order::Fence)).await?;
            spe.mfc.enqueue(put(0x1000, from, 128)).await
        },
    );
}

#[test]
fn nobody_looks_where_hazards_are_ignored() {
    let blade = blade();
    blade.set_hazards(Hazards::Ignored);
    let from = blade.memory.allocate(0, Bytes(128));
    spawn(&blade, 0, |spe| async move {
        spe.mfc.enqueue(get(0x1000, from, 128)).await?;
        spe.mfc.enqueue(get(0x1000, from, 128)).await?;
        spe.compute(&Add(0x1000, 0x2000)).await;
        Ok(())
    });
    blade.run().unwrap();
}

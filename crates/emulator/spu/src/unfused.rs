//! An SPU whose compiler fuses nothing.

use super::channel::Channel;
use super::forward::for_each_other_method;
use super::instruction::for_each_instruction;
use super::local_store::LocalAddress;
use super::register::Quadword;
use super::{BranchName, Spu};

/// Another SPU, for a kernel whose source multiplies and adds apart: what is written as
/// [`Spu::multiply_add`] or [`Spu::subtract_product`] becomes two instructions, each of which rounds.
/// A `dfma` that the kernel writes itself stays one.
#[derive(Debug)]
pub struct Unfused<'s, S>(&'s mut S);

impl<'s, S> Unfused<'s, S> {
    /// Around another SPU.
    #[inline(always)]
    pub const fn new(spu: &'s mut S) -> Self {
        Self(spu)
    }
}

macro_rules! forward_instructions {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(always)]
        fn $mnemonic(
            &mut self,
            $($register: S::Register,)*
            $($immediate: $type)?
        ) -> S::Register {
            self.0.$mnemonic($($register,)* $($immediate)?)
        }
    )*};
}

macro_rules! forward {
    ($($mnemonic:ident($($operand:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[inline(always)]
        fn $mnemonic(&mut self, $($operand: $type),*) $(-> $result)? {
            self.0.$mnemonic($($operand),*)
        }
    )*};
}

impl<S: Spu> Spu for Unfused<'_, S> {
    type Register = S::Register;

    for_each_instruction!(forward_instructions);

    for_each_other_method!(forward);

    #[inline(always)]
    fn multiply_add(
        &mut self,
        ra: Self::Register,
        rb: Self::Register,
        rc: Self::Register,
    ) -> Self::Register {
        let product = self.0.dfm(ra, rb);
        self.0.dfa(product, rc)
    }

    #[inline(always)]
    fn subtract_product(
        &mut self,
        ra: Self::Register,
        rb: Self::Register,
        rc: Self::Register,
    ) -> Self::Register {
        let product = self.0.dfm(ra, rb);
        self.0.dfs(rc, product)
    }

    #[inline(always)]
    fn value(&self, register: Self::Register) -> Quadword {
        self.0.value(register)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, LocalStore, Profile, Shape, execute, time};
    use super::*;
    use crate::pipeline::tests::CELL_BE;

    /// 1/3 * 3 - 1 and 1 - 1/3 * 3, which are 0 where the product is rounded first.
    struct Thirds {
        fused: bool,
    }

    fn thirds<S: Spu>(spu: &mut S) -> [f64; 2] {
        let mut both = |x| spu.lqr(Quadword::from_doubles([x; 2]));
        let (third, three, one, minus_one) = (both(1.0 / 3.0), both(3.0), both(1.0), both(-1.0));
        let below = spu.multiply_add(third, three, minus_one);
        let above = spu.subtract_product(third, three, one);
        [below, above].map(|it| spu.value(it).doubles()[0])
    }

    impl Kernel for Thirds {
        type Output = [f64; 2];
        fn shape(&self) -> Shape {
            Shape::new("thirds", 0)
        }
        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> [f64; 2] {
            if self.fused { thirds(spu) } else { thirds(&mut Unfused::new(spu)) }
        }
    }

    #[test]
    fn a_product_and_a_sum_are_two_instructions_and_two_roundings() {
        let check = |fused, expected: [f64; 2], double_precision| {
            let kernel = Thirds { fused };
            assert_eq!(execute(&kernel, &mut LocalStore::new()), expected);
            let compiler = kernel.shape().compiler;
            let (found, profile): (_, Profile) =
                time(&kernel, &mut LocalStore::new(), &CELL_BE, compiler);
            assert_eq!((found, profile.double_precision()), (expected, double_precision));
        };
        check(false, [0.0, 0.0], 4);
        // 1/3 is 2^-54/3 * ... too small by a sixth of 2^-52: three of them are 2^-54 short of 1.
        check(true, [-(2.0f64.powi(-54)), 2.0f64.powi(-54)], 2);
    }
}

//! Superinstructions: two cheap f32 ops in one loop, d = second(first(a, b), c), each with its own rounding.

use std::marker::PhantomData;

use super::{Leaf, Loop, leaf};

/// One half of a pair. A binary step takes the value so far and one more operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Add,
    Sub,
    /// operand − value
    Rsub,
    Mul,
    Max,
    Min,
    Div,
    Neg,
    Abs,
}

trait Half {
    fn f(t: f32, x: f32) -> f32;
}

macro_rules! halves {
    ($($name:ident |$t:ident, $x:ident| $e:expr;)*) => {$(
        struct $name;
        impl Half for $name {
            #[inline(always)]
            fn f($t: f32, $x: f32) -> f32 { $e }
        }
    )*};
}

halves! {
    Add |t, x| t + x;
    Sub |t, x| t - x;
    Rsub |t, x| x - t;
    Mul |t, x| t * x;
    Max |t, x| if t < x || x.is_nan() { x } else { t };
    Min |t, x| if x < t || x.is_nan() { x } else { t };
    Div |t, x| t / x;
    Neg |t, _x| -t;
    Abs |t, _x| t.abs();
}

struct Pair<F, G, const BV: bool, const CV: bool>(PhantomData<(F, G)>);

impl<F: Half, G: Half, const BV: bool, const CV: bool> Loop for Pair<F, G, BV, CV> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
        let (d, a, b, c) = (d.cast::<f32>(), a.cast::<f32>(), b.cast::<f32>(), c.cast::<f32>());
        if n == 0 {
            return;
        }
        // SAFETY: the caller passes n valid elements for vectors and one for scalars.
        unsafe {
            let (y, z) = (*b, *c);
            for i in 0..n {
                let t = F::f(*a.add(i), if BV { *b.add(i) } else { y });
                *d.add(i) = G::f(t, if CV { *c.add(i) } else { z });
            }
        }
    }
}

fn forms<F: Half, G: Half>(b_vector: bool, c_vector: bool) -> Leaf {
    match (b_vector, c_vector) {
        (false, false) => leaf::<Pair<F, G, false, false>>(),
        (false, true) => leaf::<Pair<F, G, false, true>>(),
        (true, false) => leaf::<Pair<F, G, true, false>>(),
        (true, true) => leaf::<Pair<F, G, true, true>>(),
    }
}

fn second<F: Half>(b_vector: bool, second: Step, c_vector: bool) -> Leaf {
    match second {
        Step::Add => forms::<F, Add>(b_vector, c_vector),
        Step::Sub => forms::<F, Sub>(b_vector, c_vector),
        Step::Rsub => forms::<F, Rsub>(b_vector, c_vector),
        Step::Mul => forms::<F, Mul>(b_vector, c_vector),
        Step::Max => forms::<F, Max>(b_vector, c_vector),
        Step::Min => forms::<F, Min>(b_vector, c_vector),
        Step::Div => forms::<F, Div>(b_vector, c_vector),
        Step::Neg => forms::<F, Neg>(b_vector, false),
        Step::Abs => forms::<F, Abs>(b_vector, false),
    }
}

/// The loop of a pair; `a` is a vector, and unary steps ignore their operand, which must still be readable.
pub(crate) fn pair(first: Step, b_vector: bool, then: Step, c_vector: bool) -> Leaf {
    match first {
        Step::Add => second::<Add>(b_vector, then, c_vector),
        Step::Sub => second::<Sub>(b_vector, then, c_vector),
        Step::Rsub => second::<Rsub>(b_vector, then, c_vector),
        Step::Mul => second::<Mul>(b_vector, then, c_vector),
        Step::Max => second::<Max>(b_vector, then, c_vector),
        Step::Min => second::<Min>(b_vector, then, c_vector),
        Step::Div => second::<Div>(b_vector, then, c_vector),
        Step::Neg => second::<Neg>(false, then, c_vector),
        Step::Abs => second::<Abs>(false, then, c_vector),
    }
}

//! Superinstructions: two cheap f32 ops in one loop, d = second(first(a, b), c), each with its own rounding.

use std::marker::PhantomData;

use super::{Leaf, Loop, leaf};

/// One half of a pair. A binary step takes the value so far and one more operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// value + operand
    Add,
    /// value − operand
    Sub,
    /// operand − value
    Rsub,
    /// value · operand
    Mul,
    /// max(value, operand)
    Max,
    /// min(value, operand)
    Min,
    /// −value
    Neg,
    /// |value|
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
    Max |t, x| if (t < x) | x.is_nan() { x } else { t };
    Min |t, x| if (x < t) | x.is_nan() { x } else { t };
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

/// All operand forms of a pair of binary steps, or those of which only one has an operand.
macro_rules! forms {
    ($f:ty, $g:ty; $b:expr, $c:expr) => {
        match ($b, $c) {
            (false, false) => leaf::<Pair<$f, $g, false, false>>(),
            (false, true) => leaf::<Pair<$f, $g, false, true>>(),
            (true, false) => leaf::<Pair<$f, $g, true, false>>(),
            (true, true) => leaf::<Pair<$f, $g, true, true>>(),
        }
    };
    ($f:ty, $g:ty; first $b:expr) => {
        if $b { leaf::<Pair<$f, $g, true, false>>() } else { leaf::<Pair<$f, $g, false, false>>() }
    };
    ($f:ty, $g:ty; second $c:expr) => {
        if $c { leaf::<Pair<$f, $g, false, true>>() } else { leaf::<Pair<$f, $g, false, false>>() }
    };
}

fn after_binary<F: Half>(b: bool, then: Step, c: bool) -> Leaf {
    match then {
        Step::Add => forms!(F, Add; b, c),
        Step::Sub => forms!(F, Sub; b, c),
        Step::Rsub => forms!(F, Rsub; b, c),
        Step::Mul => forms!(F, Mul; b, c),
        Step::Max => forms!(F, Max; b, c),
        Step::Min => forms!(F, Min; b, c),
        Step::Neg => forms!(F, Neg; first b),
        Step::Abs => forms!(F, Abs; first b),
    }
}

fn after_unary<F: Half>(then: Step, c: bool) -> Leaf {
    match then {
        Step::Add => forms!(F, Add; second c),
        Step::Sub => forms!(F, Sub; second c),
        Step::Rsub => forms!(F, Rsub; second c),
        Step::Mul => forms!(F, Mul; second c),
        Step::Max => forms!(F, Max; second c),
        Step::Min => forms!(F, Min; second c),
        Step::Neg => leaf::<Pair<F, Neg, false, false>>(),
        Step::Abs => leaf::<Pair<F, Abs, false, false>>(),
    }
}

/// The loop of a pair; `a` is a vector, and unary steps ignore their operand, which must still be readable.
pub fn pair(first: Step, b_vector: bool, then: Step, c_vector: bool) -> Leaf {
    match first {
        Step::Add => after_binary::<Add>(b_vector, then, c_vector),
        Step::Sub => after_binary::<Sub>(b_vector, then, c_vector),
        Step::Rsub => after_binary::<Rsub>(b_vector, then, c_vector),
        Step::Mul => after_binary::<Mul>(b_vector, then, c_vector),
        Step::Max => after_binary::<Max>(b_vector, then, c_vector),
        Step::Min => after_binary::<Min>(b_vector, then, c_vector),
        Step::Neg => after_unary::<Neg>(then, c_vector),
        Step::Abs => after_unary::<Abs>(then, c_vector),
    }
}

//! Pointwise rows over one arithmetic type. Each table row is one line; operand forms (vector or scalar) are generic.

use std::marker::PhantomData;

use scalar::f8::{E4M3, E5M2};
use scalar::{DType, ScalarOp};

use super::{Leaf, Loop, half, leaf, math};

/// The type that an op computes in; registers hold u64 as I64 and f16/bf16 as F32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arith {
    /// 0 or 1 in a byte.
    Bool,
    /// Wrapping.
    I32,
    /// Wrapping.
    I64,
    /// Wrapping.
    U64,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Arith {
    /// The type that values of a dtype are computed in.
    pub fn of(dtype: DType) -> Arith {
        match dtype {
            DType::Bool => Arith::Bool,
            DType::I8 | DType::U8 | DType::I16 | DType::U16 | DType::I32 => Arith::I32,
            DType::U32 | DType::I64 => Arith::I64,
            DType::U64 => Arith::U64,
            DType::F8E4M3 | DType::F8E5M2 | DType::F16 | DType::BF16 | DType::F32 => Arith::F32,
            DType::F64 => Arith::F64,
        }
    }
}

/// A unary function on elements.
pub(crate) trait Un {
    type A: Copy;
    type O: Copy;
    fn f(a: Self::A) -> Self::O;
}

/// A binary function on elements.
pub(crate) trait Bin {
    type A: Copy;
    type O: Copy;
    fn f(a: Self::A, b: Self::A) -> Self::O;
}

pub(crate) struct Map<U>(PhantomData<U>);

impl<U: Un> Loop for Map<U> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
        let (d, a) = (d.cast::<U::O>(), a.cast::<U::A>());
        for i in 0..n {
            // SAFETY: the caller passes n valid elements.
            unsafe { *d.add(i) = U::f(*a.add(i)) };
        }
    }
}

/// Applies a function to the destination itself.
pub(crate) struct InPlace<U>(PhantomData<U>);

impl<T: Copy, U: Un<A = T, O = T>> Loop for InPlace<U> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, _a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
        let d = d.cast::<T>();
        for i in 0..n {
            // SAFETY: the caller passes n valid elements.
            unsafe { *d.add(i) = U::f(*d.add(i)) };
        }
    }
}

struct Zip<B, const AV: bool, const BV: bool>(PhantomData<B>);

impl<B: Bin, const AV: bool, const BV: bool> Loop for Zip<B, AV, BV> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
        let (d, a, b) = (d.cast::<B::O>(), a.cast::<B::A>(), b.cast::<B::A>());
        if n == 0 {
            return;
        }
        // SAFETY: the caller passes n valid elements for vectors and one for scalars.
        unsafe {
            let (x, y) = (*a, *b);
            for i in 0..n {
                *d.add(i) = B::f(if AV { *a.add(i) } else { x }, if BV { *b.add(i) } else { y });
            }
        }
    }
}

pub(crate) fn zip<B: Bin>(vectors: u8) -> Leaf {
    match vectors & 3 {
        1 => leaf::<Zip<B, true, false>>(),
        2 => leaf::<Zip<B, false, true>>(),
        _ => leaf::<Zip<B, true, true>>(),
    }
}

struct Choose<T, const CV: bool, const AV: bool, const BV: bool>(PhantomData<T>);

impl<T: Copy, const CV: bool, const AV: bool, const BV: bool> Loop for Choose<T, CV, AV, BV> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, cond: *const u8, a: *const u8, b: *const u8, n: usize) {
        let (d, a, b) = (d.cast::<T>(), a.cast::<T>(), b.cast::<T>());
        for i in 0..n {
            // SAFETY: the caller passes n valid elements for vectors and one for scalars.
            unsafe {
                let (x, y) = (*a.add(if AV { i } else { 0 }), *b.add(if BV { i } else { 0 }));
                *d.add(i) = if *cond.add(if CV { i } else { 0 }) != 0 { x } else { y };
            }
        }
    }
}

struct MulAdd<T, const AV: bool, const BV: bool, const CV: bool>(PhantomData<T>);

macro_rules! mul_add {
    ($($t:ty)*) => {$(
        impl<const AV: bool, const BV: bool, const CV: bool> Loop for MulAdd<$t, AV, BV, CV> {
            #[inline(always)]
            unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
                let (d, a, b, c) = (d.cast::<$t>(), a.cast::<$t>(), b.cast::<$t>(), c.cast::<$t>());
                for i in 0..n {
                    // SAFETY: the caller passes n valid elements for vectors and one for scalars.
                    unsafe {
                        let (x, y) = (*a.add(if AV { i } else { 0 }), *b.add(if BV { i } else { 0 }));
                        *d.add(i) = x.mul_add(y, *c.add(if CV { i } else { 0 }));
                    }
                }
            }
        }
    )*};
}
mul_add!(f32 f64);

macro_rules! three {
    ($loop:ident, $t:ty, $vectors:expr) => {
        match $vectors & 7 {
            1 => leaf::<$loop<$t, true, false, false>>(),
            2 => leaf::<$loop<$t, false, true, false>>(),
            3 => leaf::<$loop<$t, true, true, false>>(),
            4 => leaf::<$loop<$t, false, false, true>>(),
            5 => leaf::<$loop<$t, true, false, true>>(),
            6 => leaf::<$loop<$t, false, true, true>>(),
            _ => leaf::<$loop<$t, true, true, true>>(),
        }
    };
}

/// `select` for elements of a size in bytes.
fn select(size: usize, vectors: u8) -> Leaf {
    match size {
        1 => three!(Choose, u8, vectors),
        4 => three!(Choose, u32, vectors),
        _ => three!(Choose, u64, vectors),
    }
}

struct Philox<const KV: bool, const CV: bool>;

impl<const KV: bool, const CV: bool> Loop for Philox<KV, CV> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
        let (d, a, b) = (d.cast::<i64>(), a.cast::<u64>(), b.cast::<u64>());
        // SAFETY: the caller passes n valid elements for vectors, one for scalars, and the stream id in `c`.
        unsafe {
            let stream = *c.cast::<u32>();
            for i in 0..n {
                let (key, counter) = (*a.add(if KV { i } else { 0 }), *b.add(if CV { i } else { 0 }));
                *d.add(i) = i64::from(philox(key, counter, stream));
            }
        }
    }
}

/// Word `counter mod 4` of Philox4x32-10 block (counter div 4, stream) under `key` (Salmon et al., SC 2011).
#[inline(always)]
fn philox(key: u64, counter: u64, stream: u32) -> u32 {
    let block = counter >> 2;
    let mut x = [block as u32, (block >> 32) as u32, stream, 0];
    let (mut k0, mut k1) = (key as u32, (key >> 32) as u32);
    for _ in 0..10 {
        let (p0, p1) = (u64::from(x[0]) * 0xD251_1F53, u64::from(x[2]) * 0xCD9E_8D57);
        x = [(p1 >> 32) as u32 ^ x[1] ^ k0, p1 as u32, (p0 >> 32) as u32 ^ x[3] ^ k1, p0 as u32];
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    let low = if counter & 1 != 0 { x[1] } else { x[0] };
    let high = if counter & 1 != 0 { x[3] } else { x[2] };
    if counter & 2 != 0 { high } else { low }
}

/// The random-number loop; operand `c` points at the stream id.
pub fn philox_leaf(vectors: u8) -> Leaf {
    match vectors & 3 {
        1 => leaf::<Philox<true, false>>(),
        2 => leaf::<Philox<false, true>>(),
        _ => leaf::<Philox<true, true>>(),
    }
}

macro_rules! unary_table {
    ($name:ident, $t:ty; $($row:ident => $o:ty, |$a:ident| $e:expr;)*) => {
        fn $name(op: ScalarOp) -> Option<Leaf> {
            match op {
                $(ScalarOp::$row => {
                    struct Row;
                    impl Un for Row {
                        type A = $t;
                        type O = $o;
                        #[inline(always)]
                        fn f($a: $t) -> $o { $e }
                    }
                    Some(leaf::<Map<Row>>())
                })*
                _ => None,
            }
        }
    };
}

macro_rules! binary_table {
    ($name:ident, $t:ty; $($row:ident => $o:ty, |$a:ident, $b:ident| $e:expr;)*) => {
        fn $name(op: ScalarOp, vectors: u8) -> Option<Leaf> {
            match op {
                $(ScalarOp::$row => {
                    struct Row;
                    impl Bin for Row {
                        type A = $t;
                        type O = $o;
                        #[inline(always)]
                        fn f($a: $t, $b: $t) -> $o { $e }
                    }
                    Some(zip::<Row>(vectors))
                })*
                _ => None,
            }
        }
    };
}

macro_rules! float_tables {
    ($unary:ident, $binary:ident, $floor_div:ident, $t:ident) => {
        unary_table! { $unary, $t;
            Neg => $t, |a| -a;
            Abs => $t, |a| a.abs();
            Sign => $t, |a| if a > 0.0 { 1.0 } else if a < 0.0 { -1.0 } else if a.is_nan() { a } else { 0.0 };
            Sqrt => $t, |a| a.sqrt();
            Rsqrt => $t, |a| 1.0 / a.sqrt();
            Recip => $t, |a| 1.0 / a;
            Floor => $t, |a| a.floor();
            Ceil => $t, |a| a.ceil();
            Trunc => $t, |a| a.trunc();
            Round => $t, |a| a.round_ties_even();
            IsNan => u8, |a| u8::from(a.is_nan());
            IsInf => u8, |a| u8::from(a.is_infinite());
        }
        binary_table! { $binary, $t;
            Add => $t, |a, b| a + b;
            Sub => $t, |a, b| a - b;
            Mul => $t, |a, b| a * b;
            Div => $t, |a, b| a / b;
            Max => $t, |a, b| if (a < b) | b.is_nan() { b } else { a };
            Min => $t, |a, b| if (b < a) | b.is_nan() { b } else { a };
            Rem => $t, |a, b| a % b;
            Mod => $t, |a, b| python_mod(f64::from(a), f64::from(b)) as $t;
            FloorDiv => $t, |a, b| $floor_div(a, b);
            Lt => u8, |a, b| u8::from(a < b);
            Le => u8, |a, b| u8::from(a <= b);
            Gt => u8, |a, b| u8::from(a > b);
            Ge => u8, |a, b| u8::from(a >= b);
            Eq => u8, |a, b| u8::from(a == b);
            Ne => u8, |a, b| u8::from(a != b);
        }
    };
}
float_tables!(unary_f32, binary_f32, floor_div_f32, f32);
float_tables!(unary_f64, binary_f64, floor_div_f64, f64);

/// Remainder with the sign of b.
fn python_mod(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && (b < 0.0) != (r < 0.0) { r + b } else { r }
}

/// Python's `//`.
macro_rules! floor_div {
    ($name:ident, $float:ty) => {
        fn $name(a: $float, b: $float) -> $float {
            if b == 0.0 {
                return a / b;
            }
            let r = a % b;
            let down = <$float>::from(u8::from(r != 0.0 && (b < 0.0) != (r < 0.0)));
            let quotient = (a - r) / b - down;
            if quotient == 0.0 {
                return (0.0 as $float).copysign(a / b);
            }
            let floor = quotient.floor();
            if quotient - floor > 0.5 { floor + 1.0 } else { floor }
        }
    };
}
floor_div!(floor_div_f32, f32);
floor_div!(floor_div_f64, f64);

macro_rules! int_tables {
    ($unary:ident, $binary:ident, $t:ident, $abs:expr, $sign:expr) => {
        unary_table! { $unary, $t;
            Neg => $t, |a| a.wrapping_neg();
            Abs => $t, |a| $abs(a);
            Sign => $t, |a| $sign(a);
            Not => $t, |a| !a;
        }
        binary_table! { $binary, $t;
            Add => $t, |a, b| a.wrapping_add(b);
            Sub => $t, |a, b| a.wrapping_sub(b);
            Mul => $t, |a, b| a.wrapping_mul(b);
            Div => $t, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
            Rem => $t, |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) };
            FloorDiv => $t, |a, b| if b == 0 { 0 } else {
                let (q, r) = (a.wrapping_div(b), a.wrapping_rem(b));
                if r != 0 && $sign(r) != $sign(b) { q.wrapping_sub(1) } else { q }
            };
            Mod => $t, |a, b| if b == 0 { 0 } else {
                let r = a.wrapping_rem(b);
                if r != 0 && $sign(r) != $sign(b) { r.wrapping_add(b) } else { r }
            };
            Max => $t, |a, b| if a > b { a } else { b };
            Min => $t, |a, b| if a < b { a } else { b };
            And => $t, |a, b| a & b;
            Or => $t, |a, b| a | b;
            Xor => $t, |a, b| a ^ b;
            Shl => $t, |a, b| if (b as u64) < u64::from($t::BITS) { a.wrapping_shl(b as u32) } else { 0 };
            Shr => $t, |a, b| if (b as u64) < u64::from($t::BITS) { a.wrapping_shr(b as u32) } else {
                a.wrapping_shr($t::BITS - 1) & !((a > 0) as $t)
            };
            Lt => u8, |a, b| u8::from(a < b);
            Le => u8, |a, b| u8::from(a <= b);
            Gt => u8, |a, b| u8::from(a > b);
            Ge => u8, |a, b| u8::from(a >= b);
            Eq => u8, |a, b| u8::from(a == b);
            Ne => u8, |a, b| u8::from(a != b);
        }
    };
}

int_tables!(unary_i32, binary_i32, i32, i32::wrapping_abs, i32::signum);
int_tables!(unary_i64, binary_i64, i64, i64::wrapping_abs, i64::signum);
int_tables!(unary_u64, binary_u64, u64, std::convert::identity, |a: u64| u64::from(a != 0));

unary_table! { unary_bool, u8;
    Not => u8, |a| a ^ 1;
}
binary_table! { binary_bool, u8;
    Add => u8, |a, b| a | b;
    Or => u8, |a, b| a | b;
    Max => u8, |a, b| a | b;
    Mul => u8, |a, b| a & b;
    And => u8, |a, b| a & b;
    Min => u8, |a, b| a & b;
    Xor => u8, |a, b| a ^ b;
    Lt => u8, |a, b| u8::from(a < b);
    Le => u8, |a, b| u8::from(a <= b);
    Gt => u8, |a, b| u8::from(a > b);
    Ge => u8, |a, b| u8::from(a >= b);
    Eq => u8, |a, b| u8::from(a == b);
    Ne => u8, |a, b| u8::from(a != b);
}

/// Rows in which the sign bit matters; the others are those of i64.
fn binary_unsigned(op: ScalarOp, vectors: u8) -> Option<Leaf> {
    use ScalarOp as S;
    match op {
        S::Div | S::Rem | S::FloorDiv | S::Mod | S::Max | S::Min | S::Shr | S::Lt | S::Le | S::Gt | S::Ge => {
            binary_u64(op, vectors)
        }
        _ => binary_i64(op, vectors),
    }
}

/// Unary loop over a vector, if the row has one.
pub fn unary(op: ScalarOp, arith: Arith) -> Option<Leaf> {
    match arith {
        Arith::F32 => unary_f32(op).or_else(|| math::unary(op)),
        Arith::F64 => unary_f64(op),
        Arith::I32 => unary_i32(op),
        Arith::I64 => unary_i64(op),
        Arith::U64 => unary_u64(op),
        Arith::Bool => unary_bool(op),
    }
}

/// Binary loop, if the row has one; bit 0 of `vectors` says whether `a` is a vector, bit 1 whether `b` is; one of them is.
pub fn binary(op: ScalarOp, arith: Arith, vectors: u8) -> Option<Leaf> {
    match (op, arith) {
        (ScalarOp::Pow, Arith::F32) => Some(math::pow_leaf(vectors)),
        (ScalarOp::Atan2, Arith::F32) => Some(atan2(vectors)),
        (_, Arith::F32) => binary_f32(op, vectors),
        (_, Arith::F64) => binary_f64(op, vectors),
        (_, Arith::I32) => binary_i32(op, vectors),
        (_, Arith::I64) => binary_i64(op, vectors),
        (_, Arith::U64) => binary_unsigned(op, vectors),
        (_, Arith::Bool) => binary_bool(op, vectors),
    }
}

/// Ternary loop (`select`, `fma`), if the row has one.
pub fn ternary(op: ScalarOp, arith: Arith, size: usize, vectors: u8) -> Option<Leaf> {
    match (op, arith) {
        (ScalarOp::Select, _) => Some(select(size, vectors)),
        (ScalarOp::Fma, Arith::F32) => Some(three!(MulAdd, f32, vectors)),
        (ScalarOp::Fma, Arith::F64) => Some(three!(MulAdd, f64, vectors)),
        _ => None,
    }
}

fn atan2(vectors: u8) -> Leaf {
    struct Row;
    impl Bin for Row {
        type A = f32;
        type O = f32;
        #[inline(always)]
        fn f(a: f32, b: f32) -> f32 {
            f64::from(a).atan2(f64::from(b)) as f32
        }
    }
    zip::<Row>(vectors)
}

macro_rules! in_place {
    ($t:ty, |$a:ident| $e:expr) => {{
        struct Row;
        impl Un for Row {
            type A = $t;
            type O = $t;
            #[inline(always)]
            fn f($a: $t) -> $t {
                $e
            }
        }
        leaf::<InPlace<Row>>()
    }};
}

/// Brings a result back into a narrow dtype's range, in place: wraps integers, rounds floats.
pub fn narrow_in_place(dtype: DType) -> Option<Leaf> {
    match dtype {
        DType::I8 => Some(in_place!(i32, |a| i32::from(a as i8))),
        DType::U8 => Some(in_place!(i32, |a| i32::from(a as u8))),
        DType::I16 => Some(in_place!(i32, |a| i32::from(a as i16))),
        DType::U16 => Some(in_place!(i32, |a| i32::from(a as u16))),
        DType::U32 => Some(in_place!(i64, |a| i64::from(a as u32))),
        DType::F8E4M3 => Some(in_place!(f32, |a| E4M3.round(a))),
        DType::F8E5M2 => Some(in_place!(f32, |a| E5M2.round(a))),
        DType::F16 => Some(in_place!(f32, |a| half::round_f16(a))),
        DType::BF16 => Some(in_place!(f32, |a| half::round_bf16(a))),
        _ => None,
    }
}

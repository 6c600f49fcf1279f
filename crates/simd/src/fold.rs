//! Reductions and scans over combiner states.

use std::marker::PhantomData;

use scalar::Combiner;

use super::ops::{Arith, Bin};
use super::states::{Arg, MaxSum, Order, Recurrence, Single, State, SumF32, Welford};
use super::{Leaf, Loop, leaf};

/// Pointers to up to three components.
pub type Ptrs = [*mut u8; 3];

/// Operands of a fold or scan; the leaf gets a pointer to it as operand `a`. Loops work on a copy, which nothing that they
/// write can overlap: so they vectorise.
#[derive(Clone, Copy)]
pub struct Args {
    /// States that are updated (one for `fold` and `scan`, `n` for `columns`).
    pub acc: Ptrs,
    /// Sources.
    pub src: Ptrs,
    /// Elements from one source element to the next, 0 or 1.
    pub step: [usize; 3],
    /// Bytes from one source row to the next (`columns`).
    pub row: [isize; 3],
    /// Source rows (`columns`).
    pub rows: usize,
    /// Source elements of a row.
    pub n: usize,
    /// Results (`scan`).
    pub dst: Ptrs,
}

/// The three ways to run a combiner.
#[derive(Clone, Copy)]
pub struct Folds {
    /// One state takes `n` elements.
    pub fold: Leaf,
    /// `n` states take one element of each of `rows` rows.
    pub columns: Leaf,
    /// One state takes `n` elements, and `dst` gets the state after each.
    pub scan: Leaf,
}

struct FoldLoop<S, const MERGE: bool>(PhantomData<S>);
struct ColumnsLoop<S, const MERGE: bool>(PhantomData<S>);
struct ScanLoop<S, const MERGE: bool>(PhantomData<S>);

#[inline(always)]
unsafe fn element<S: State, const MERGE: bool>(src: &Ptrs, i: usize, step: [usize; 3]) -> S::S {
    // SAFETY: same contract.
    unsafe { if MERGE { S::get(src, i, step) } else { S::lift(src, i, step) } }
}

impl<S: State, const MERGE: bool> Loop for FoldLoop<S, MERGE> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(_d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, _n: usize) {
        // SAFETY: the caller passes an `Args` whose pointers are valid for n elements.
        unsafe {
            let args = *a.cast::<Args>();
            let mut s = S::get(&args.acc, 0, [1; 3]);
            if args.n == 0 {
                return;
            }
            if !MERGE && let Some(block) = S::block::<FMA>(&args.src, args.step, args.n) {
                return S::put(&args.acc, 0, S::merge::<FMA>(s, block));
            }
            for i in 0..args.n {
                s = S::merge::<FMA>(s, element::<S, MERGE>(&args.src, i, args.step));
            }
            S::put(&args.acc, 0, s);
        }
    }
}

impl<S: State, const MERGE: bool> Loop for ColumnsLoop<S, MERGE> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(_d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, _n: usize) {
        // SAFETY: the caller passes an `Args` whose pointers are valid for rows of n elements.
        unsafe {
            let args = *a.cast::<Args>();
            if args.step[0] == 1 && S::columns(&args.acc, &args.src, args.row[0], args.rows, args.n) {
                return;
            }
            for r in 0..args.rows {
                let src = [0, 1, 2].map(|k| args.src[k].wrapping_offset(r as isize * args.row[k]));
                if args.step == [1; 3] {
                    columns_row::<S, FMA, MERGE>(&args, &src, [1; 3]);
                } else {
                    columns_row::<S, FMA, MERGE>(&args, &src, args.step);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn columns_row<S: State, const FMA: bool, const MERGE: bool>(args: &Args, src: &Ptrs, step: [usize; 3]) {
    for i in 0..args.n {
        // SAFETY: same contract.
        unsafe {
            let s = S::merge::<FMA>(S::get(&args.acc, i, [1; 3]), element::<S, MERGE>(src, i, step));
            S::put(&args.acc, i, s);
        }
    }
}

impl<S: State, const MERGE: bool> Loop for ScanLoop<S, MERGE> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(_d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, _n: usize) {
        // SAFETY: the caller passes an `Args` whose pointers are valid for n elements.
        unsafe {
            let args = *a.cast::<Args>();
            let mut s = S::get(&args.acc, 0, [1; 3]);
            for i in 0..args.n {
                s = S::merge::<FMA>(s, element::<S, MERGE>(&args.src, i, args.step));
                S::emit(&args.dst, i, s);
            }
            S::put(&args.acc, 0, s);
        }
    }
}

fn folds<S: State>(merge: bool) -> Folds {
    if merge { with::<S, true>() } else { with::<S, false>() }
}

fn with<S: State, const MERGE: bool>() -> Folds {
    Folds { fold: leaf::<FoldLoop<S, MERGE>>(), columns: leaf::<ColumnsLoop<S, MERGE>>(), scan: leaf::<ScanLoop<S, MERGE>>() }
}

/// Loops of a combiner over an arithmetic type; `None` where [`Combiner::results`] rejects the type.
pub fn combiner(combiner: Combiner, arith: Arith, merge: bool) -> Option<Folds> {
    match (combiner, arith) {
        // Sources and states of one component look alike; the f32 sum's second component is hidden.
        (Combiner::Sum, Arith::F32) => Some(folds::<SumF32>(false)),
        (Combiner::Welford, Arith::F32) => Some(folds::<Welford<f32>>(merge)),
        (Combiner::Welford, Arith::F64) => Some(folds::<Welford<f64>>(merge)),
        (Combiner::MaxSum, Arith::F32) => Some(folds::<MaxSum<f32>>(merge)),
        (Combiner::MaxSum, Arith::F64) => Some(folds::<MaxSum<f64>>(merge)),
        (Combiner::Affine, Arith::F32) => Some(folds::<Recurrence<f32>>(merge)),
        (Combiner::Affine, Arith::F64) => Some(folds::<Recurrence<f64>>(merge)),
        (Combiner::ArgMax | Combiner::ArgMin, _) => Some(arg(combiner == Combiner::ArgMax, arith)),
        _ => single(combiner, arith),
    }
}

macro_rules! rows {
    ($combiner:expr; $($row:ident $t:ty, |$a:ident, $b:ident| $e:expr;)*) => {
        match $combiner {
            $(Combiner::$row => {
                struct Row;
                impl Bin for Row {
                    type A = $t;
                    type O = $t;
                    #[inline(always)]
                    fn f($a: $t, $b: $t) -> $t { $e }
                }
                Some(folds::<Single<Row>>(false))
            })*
            _ => None,
        }
    };
}

macro_rules! int_rows {
    ($combiner:expr, $t:ty) => {
        rows! { $combiner;
            Sum $t, |a, b| a.wrapping_add(b);
            Prod $t, |a, b| a.wrapping_mul(b);
            Max $t, |a, b| if a < b { b } else { a };
            Min $t, |a, b| if b < a { b } else { a };
        }
    };
}

macro_rules! float_rows {
    ($combiner:expr, $t:ty) => {
        rows! { $combiner;
            Sum $t, |a, b| a + b;
            Prod $t, |a, b| a * b;
            Max $t, |a, b| if (a < b) | b.is_nan() { b } else { a };
            Min $t, |a, b| if (b < a) | b.is_nan() { b } else { a };
        }
    };
}

fn single(combiner: Combiner, arith: Arith) -> Option<Folds> {
    match arith {
        Arith::F32 => float_rows!(combiner, f32),
        Arith::F64 => float_rows!(combiner, f64),
        Arith::I32 => int_rows!(combiner, i32),
        Arith::I64 => int_rows!(combiner, i64),
        Arith::U64 => int_rows!(combiner, u64),
        Arith::Bool => rows! { combiner;
            Any u8, |a, b| a | b;
            All u8, |a, b| a & b;
            Max u8, |a, b| a | b;
            Min u8, |a, b| a & b;
        },
    }
}

macro_rules! arg_rows {
    ($greatest:expr, $t:ty, $nan:expr) => {{
        struct Greatest;
        struct Least;
        arg_rows!(impl Greatest, $t, $nan, |a, b| a > b);
        arg_rows!(impl Least, $t, $nan, |a, b| a < b);
        if $greatest { folds::<Arg<Greatest>>(false) } else { folds::<Arg<Least>>(false) }
    }};
    (impl $name:ident, $t:ty, $nan:expr, |$a:ident, $b:ident| $better:expr) => {
        impl Bin for $name {
            type A = $t;
            type O = $t;
            #[inline(always)]
            fn f(a: $t, b: $t) -> $t {
                if Self::better(b, a) { b } else { a }
            }
        }
        impl Order for $name {
            #[inline(always)]
            fn better($a: $t, $b: $t) -> bool {
                ($better) || ($nan($a) && !$nan($b))
            }
        }
    };
}

fn arg(greatest: bool, arith: Arith) -> Folds {
    match arith {
        Arith::F32 => arg_rows!(greatest, f32, f32::is_nan),
        Arith::F64 => arg_rows!(greatest, f64, f64::is_nan),
        Arith::I32 => arg_rows!(greatest, i32, |_: i32| false),
        Arith::I64 => arg_rows!(greatest, i64, |_: i64| false),
        Arith::U64 => arg_rows!(greatest, u64, |_: u64| false),
        Arith::Bool => arg_rows!(greatest, u8, |_: u8| false),
    }
}

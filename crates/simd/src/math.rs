//! f32 elementary functions: branch-free polynomials that vectorise.
//!
//! Polynomial coefficients are near-minimax fits (Lawson-weighted least squares at Chebyshev nodes) on the reduced ranges;
//! range reductions are the classical ones (Cody and Waite). [`ULP`] states the bound of each row, tested against f64.

use scalar::ScalarOp;

use super::{Isa, Leaf, Loop, isa, leaf_for};

/// Largest error of each f32 function in units in the last place of the result, denormal results excepted (those are
/// within two least denormals).
pub const ULP: [(ScalarOp, f64); 23] = [
    (ScalarOp::Exp, 1.1),
    (ScalarOp::Exp2, 1.1),
    (ScalarOp::Expm1, 2.0),
    (ScalarOp::Log, 1.1),
    (ScalarOp::Log2, 1.5),
    (ScalarOp::Log1p, 2.0),
    (ScalarOp::Sin, 1.6),
    (ScalarOp::Cos, 1.6),
    (ScalarOp::Tan, 4.0),
    (ScalarOp::Tanh, 1.6),
    (ScalarOp::Erf, 1.6),
    (ScalarOp::Sigmoid, 2.5),
    (ScalarOp::Pow, 0.6),
    (ScalarOp::Asin, 0.6),
    (ScalarOp::Acos, 0.6),
    (ScalarOp::Atan, 0.6),
    (ScalarOp::Sinh, 0.6),
    (ScalarOp::Cosh, 0.6),
    (ScalarOp::Asinh, 0.6),
    (ScalarOp::Acosh, 0.6),
    (ScalarOp::Atanh, 0.6),
    (ScalarOp::Atan2, 0.6),
    (ScalarOp::Rsqrt, 1.1),
];

/// 1.5 · 2²³: adding it rounds to an integer, which the low mantissa bits then hold.
const MAGIC: f32 = 12_582_912.0;
const LN2_HI: f32 = 0.693_359_4;
const LN2_LO: f32 = -2.121_944_4e-4;
/// From here on sin, cos and tan reduce their argument in f64 by the standard library.
const TRIG_LIMIT: f32 = 100_000.0;

#[inline(always)]
fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn poly<const FMA: bool, const N: usize>(x: f32, c: [f32; N]) -> f32 {
    let mut y = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        y = fma::<FMA>(y, x, c[i]);
    }
    y
}

/// Clamps, keeping NaN.
#[inline(always)]
fn clamp(x: f32, lo: f32, hi: f32) -> f32 {
    let x = if x < lo { lo } else { x };
    if x > hi { hi } else { x }
}

/// y · 2ⁿ for −300 < n < 255, rounding once where the result is denormal.
#[inline(always)]
fn scale(y: f32, n: i32) -> f32 {
    let half = n >> 1;
    y * pow2(half) * pow2(n - half)
}

/// 2ⁿ for −127 < n < 128.
#[inline(always)]
fn pow2(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// (r, n) with x = n·ln 2 + r and |r| ≤ ½ ln 2.
#[inline(always)]
fn reduce_exp<const FMA: bool>(x: f32) -> (f32, i32) {
    let t = fma::<FMA>(x, std::f32::consts::LOG2_E, MAGIC);
    let n = t - MAGIC;
    let r = fma::<FMA>(n, -LN2_LO, fma::<FMA>(n, -LN2_HI, x));
    (r, (t.to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32))
}

/// eʳ − 1 for |r| ≤ ½ ln 2.
#[inline(always)]
fn expm1_core<const FMA: bool>(r: f32) -> f32 {
    let q = poly::<FMA, 6>(r, [0.5, 0.166_666_67, 0.041_666_266, 0.008_333_265, 0.001_394_630_4, 0.000_199_181_26]);
    fma::<FMA>(r * r, q, r)
}

#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f32) -> f32 {
    let (r, n) = reduce_exp::<FMA>(clamp(x, -104.0, 89.0));
    scale(1.0 + expm1_core::<FMA>(r), n)
}

#[inline(always)]
fn exp2<const FMA: bool>(x: f32) -> f32 {
    let x = clamp(x, -151.0, 129.0);
    let t = x + MAGIC;
    let r = (x - (t - MAGIC)) * std::f32::consts::LN_2;
    scale(1.0 + expm1_core::<FMA>(r), (t.to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32))
}

#[inline(always)]
fn expm1<const FMA: bool>(x: f32) -> f32 {
    let (r, n) = reduce_exp::<FMA>(clamp(x, -20.0, 89.0));
    let half = pow2(n.wrapping_sub(1));
    let y = 2.0 * fma::<FMA>(half, expm1_core::<FMA>(r), half - 0.5);
    if x == 0.0 { x } else { y }
}

/// (f, ln(1+f) − f, e) with x = 2ᵉ·(1+f) and √½ ≤ 1+f < √2, for finite x > 0.
#[inline(always)]
fn log_core<const FMA: bool>(x: f32) -> (f32, f32, f32) {
    let tiny = x < f32::MIN_POSITIVE;
    let u = (if tiny { x * 8_388_608.0 } else { x }).to_bits();
    let k = (u.wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let f = f32::from_bits(u.wrapping_sub((k << 23) as u32)) - 1.0;
    let e = (if tiny { k.wrapping_sub(23) } else { k }) as f32;
    #[rustfmt::skip]
    let p = poly::<FMA, 9>(f, [
        0.333_333_13, -0.250_000_1, 0.200_021_19, -0.166_679_96, 0.142_195_51, -0.124_055_915, 0.118_881_75, -0.116_756_41,
        0.067_466_01,
    ]);
    let z = f * f;
    (f, fma::<FMA>(f * z, p, -0.5 * z), e)
}

/// Replaces the result where x is not a finite positive number.
#[inline(always)]
fn log_special(x: f32, y: f32) -> f32 {
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f32::NAN }
}

#[inline(always)]
fn log<const FMA: bool>(x: f32) -> f32 {
    let (f, rest, e) = log_core::<FMA>(x);
    log_special(x, fma::<FMA>(e, LN2_HI, f + fma::<FMA>(e, LN2_LO, rest)))
}

#[inline(always)]
fn log2<const FMA: bool>(x: f32) -> f32 {
    // log2(e) − 1: the integer part is added exactly.
    const EXTRA: f32 = 0.442_695_04;
    let (f, rest, e) = log_core::<FMA>(x);
    let low = fma::<FMA>(f, EXTRA, rest * EXTRA) + rest;
    log_special(x, e + (f + low))
}

#[inline(always)]
fn log1p<const FMA: bool>(x: f32) -> f32 {
    let u = 1.0 + x;
    let lost = (x - (u - 1.0)) / u;
    let y = log::<FMA>(u);
    let y = if u > 0.0 && u < f32::INFINITY { y + lost } else { y };
    if x == 0.0 { x } else { y }
}

/// (r, quadrant) with x = quadrant·π/2 + r and |r| ≤ π/4, for |x| < [`TRIG_LIMIT`].
#[inline(always)]
fn reduce_trig<const FMA: bool>(x: f32) -> (f32, i32) {
    let t = fma::<FMA>(x, std::f32::consts::FRAC_2_PI, MAGIC);
    let n = t - MAGIC;
    let r = if FMA {
        let r = n.mul_add(-std::f32::consts::FRAC_PI_2, x);
        n.mul_add(1.715_124_5e-15, n.mul_add(4.371_139e-8, r))
    } else {
        // The first constant has 33 bits, so its product with n is exact.
        let n = f64::from(n);
        ((f64::from(x) - n * f64::from_bits(0x3ff9_21fb_5440_0000)) - n * 6.077_100_506_506_192e-11) as f32
    };
    (r, t.to_bits() as i32)
}

#[inline(always)]
fn sin_core<const FMA: bool>(r: f32) -> f32 {
    let z = r * r;
    fma::<FMA>(r * z, poly::<FMA, 3>(z, [-0.166_666_55, 0.008_332_173, -0.000_195_166_55]), r)
}

#[inline(always)]
fn cos_core<const FMA: bool>(r: f32) -> f32 {
    let z = r * r;
    let tail = poly::<FMA, 3>(z, [0.041_666_646, -0.001_388_731, 0.000_024_432_411]);
    fma::<FMA>(z * z, tail, fma::<FMA>(z, -0.5, 1.0))
}

/// Sine of r plus a number of quadrants.
#[inline(always)]
fn sin_quadrant<const FMA: bool>(r: f32, quadrant: i32) -> f32 {
    let y = if quadrant & 1 != 0 { cos_core::<FMA>(r) } else { sin_core::<FMA>(r) };
    f32::from_bits(y.to_bits() ^ ((quadrant as u32 & 2) << 30))
}

#[inline(always)]
fn sin<const FMA: bool>(x: f32) -> f32 {
    let (r, q) = reduce_trig::<FMA>(x);
    if x == 0.0 { x } else { sin_quadrant::<FMA>(r, q) }
}

#[inline(always)]
fn cos<const FMA: bool>(x: f32) -> f32 {
    let (r, q) = reduce_trig::<FMA>(x);
    sin_quadrant::<FMA>(r, q.wrapping_add(1))
}

#[inline(always)]
fn tan<const FMA: bool>(x: f32) -> f32 {
    let (r, q) = reduce_trig::<FMA>(x);
    let (s, c) = (sin_core::<FMA>(r), cos_core::<FMA>(r));
    let y = if q & 1 != 0 { -c / s } else { s / c };
    if x == 0.0 { x } else { y }
}

#[inline(always)]
fn tanh<const FMA: bool>(x: f32) -> f32 {
    let z = x * x;
    let small = poly::<FMA, 5>(z, [-0.333_332_84, 0.133_314_91, -0.053_743_497, 0.020_650_579, -0.005_717_037]);
    let small = fma::<FMA>(x * z, small, x);
    let big = 1.0 - 2.0 / (exp::<FMA>(2.0 * x.abs()) + 1.0);
    let y = if x.abs() < 0.625 { small } else { big.copysign(x) };
    if x == 0.0 { x } else { y }
}

#[inline(always)]
fn erf<const FMA: bool>(x: f32) -> f32 {
    let z = x * x;
    #[rustfmt::skip]
    let small = poly::<FMA, 6>(z, [0.128_379_15, -0.376_124_95, 0.112_818_025, -0.026_765_566, 0.004_990_98, -0.000_597_689_36]);
    let small = fma::<FMA>(x, small, x);
    // ln(erfc t)/t, for t up to 4, where erf rounds to 1.
    let t = clamp(x.abs(), 0.9, 4.0);
    #[rustfmt::skip]
    let tail = poly::<FMA, 7>(t, [
        -1.128_651_5, -0.635_138_87, -0.106_257_446, 0.023_779_77, -0.003_650_828, 0.000_324_861_44, -0.000_011_436_809_5,
    ]);
    let big = 1.0 - exp::<FMA>(t * tail);
    if x.abs() < 0.93 { small } else { big.copysign(x) }
}

#[inline(always)]
fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    let e = exp::<FMA>(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// |x|ʸ with the sign that x and the parity of y give, through f64, for finite x ≠ 0 and finite y.
#[inline(always)]
fn pow<const FMA: bool>(x: f32, y: f32) -> f32 {
    let tiny = x.abs() < f32::MIN_POSITIVE;
    let u = (if tiny { x.abs() * 8_388_608.0 } else { x.abs() }).to_bits();
    let k = (u.wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let m = f64::from(f32::from_bits(u.wrapping_sub((k << 23) as u32)));
    let e = f64::from(if tiny { k.wrapping_sub(23) } else { k });
    let t = f64::from(y) * (e + log2_f64::<FMA>(m));
    let magnitude = exp2_f64::<FMA>(t) as f32;
    let whole = y.trunc() == y;
    let odd = whole && (y * 0.5).trunc() != y * 0.5;
    let signed = if odd { magnitude.copysign(x) } else { magnitude };
    if x < 0.0 && !whole { f32::NAN } else { signed }
}

/// log₂ m for √½ ≤ m < √2, relative error 3e-15: 2·atanh((m−1)/(m+1))/ln 2.
#[inline(always)]
fn log2_f64<const FMA: bool>(m: f64) -> f64 {
    #[rustfmt::skip]
    const ATANH: [f64; 7] = [
        2.885_390_081_777_928_6, 0.961_796_693_924_736, 0.577_078_017_193_366_7, 0.412_198_401_566_850_2,
        0.320_616_770_061_322_4, 0.261_424_494_064_327_2, 0.243_216_828_759_287_6,
    ];
    let s = (m - 1.0) / (m + 1.0);
    s * poly_f64::<FMA, 7>(s * s, ATANH)
}

/// 2ᵗ with t clamped to [−160, 130], relative error 2e-14.
#[inline(always)]
fn exp2_f64<const FMA: bool>(t: f64) -> f64 {
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    #[rustfmt::skip]
    const EXP: [f64; 10] = [
        1.0, 1.0, 0.499_999_999_994_295_06, 0.166_666_666_665_019_64, 0.041_666_667_045_179_26, 0.008_333_333_402_117_806,
        0.001_388_880_102_672_340_8, 0.000_198_411_516_397_205_1, 2.488_479_572_781_385_2e-5, 2.764_714_892_033_431_3e-6,
    ];
    let t = if t < -160.0 { -160.0 } else { t };
    let t = if t > 130.0 { 130.0 } else { t };
    let rounded = t + MAGIC;
    let r = (t - (rounded - MAGIC)) * std::f64::consts::LN_2;
    poly_f64::<FMA, 10>(r, EXP) * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

#[inline(always)]
fn poly_f64<const FMA: bool, const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut y = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        y = if FMA { y.mul_add(x, c[i]) } else { y * x + c[i] };
    }
    y
}

/// A unary function with an optional slow path for rare arguments.
trait Unary {
    const RARE: bool = false;
    fn fast<const FMA: bool>(x: f32) -> f32;
    fn rare(_x: f32) -> bool {
        false
    }
    fn slow(x: f32) -> f32 {
        x
    }
}

/// Elements that one pass of a heavy loop covers; a shorter rest is padded so that it runs vectorised too.
const BLOCK: usize = 32;

struct Heavy<U>(std::marker::PhantomData<U>);

impl<U: Unary> Loop for Heavy<U> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
        let (d, a) = (d.cast::<f32>(), a.cast::<f32>());
        // SAFETY: the caller passes n valid elements; the padded rest lives in local arrays.
        unsafe {
            if U::RARE && (0..n).fold(false, |any, i| any | U::rare(*a.add(i))) {
                for i in 0..n {
                    let x = *a.add(i);
                    *d.add(i) = if U::rare(x) { U::slow(x) } else { U::fast::<FMA>(x) };
                }
                return;
            }
            let body = if n % BLOCK < 4 { n } else { n - n % BLOCK };
            for i in 0..body {
                *d.add(i) = U::fast::<FMA>(*a.add(i));
            }
            if body < n {
                let (mut x, mut y) = ([1.0f32; BLOCK], [0.0f32; BLOCK]);
                std::ptr::copy_nonoverlapping(a.add(body), x.as_mut_ptr(), n - body);
                for i in 0..BLOCK {
                    y[i] = U::fast::<FMA>(x[i]);
                }
                std::ptr::copy_nonoverlapping(y.as_ptr(), d.add(body), n - body);
            }
        }
    }
}

struct Power<const XV: bool, const YV: bool>;

impl<const XV: bool, const YV: bool> Power<XV, YV> {
    #[inline(always)]
    fn rare(x: f32, y: f32) -> bool {
        x == 0.0 || !x.is_finite() || !y.is_finite()
    }
}

impl<const XV: bool, const YV: bool> Loop for Power<XV, YV> {
    #[inline(always)]
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
        let (d, a, b) = (d.cast::<f32>(), a.cast::<f32>(), b.cast::<f32>());
        // SAFETY: the caller passes n valid elements for vectors and one for scalars.
        unsafe {
            let at = |i: usize| (*a.add(if XV { i } else { 0 }), *b.add(if YV { i } else { 0 }));
            if (0..n).fold(false, |any, i| any | Self::rare(at(i).0, at(i).1)) {
                for i in 0..n {
                    let (x, y) = at(i);
                    *d.add(i) = if Self::rare(x, y) { x.powf(y) } else { pow::<FMA>(x, y) };
                }
                return;
            }
            for i in 0..n {
                let (x, y) = at(i);
                *d.add(i) = pow::<FMA>(x, y);
            }
        }
    }
}

/// The power loop for operand forms (bit 0: base is a vector, bit 1: exponent is; one of them is).
pub(crate) fn pow_leaf(vectors: u8) -> Leaf {
    pow_for(vectors, isa())
}

fn pow_for(vectors: u8, isa: Isa) -> Leaf {
    match vectors & 3 {
        1 => leaf_for::<Power<true, false>>(isa),
        2 => leaf_for::<Power<false, true>>(isa),
        _ => leaf_for::<Power<true, true>>(isa),
    }
}

macro_rules! functions {
    ($op:ident, $isa:ident; $($row:ident => $fast:ident $(, $slow:expr)?;)*) => {
        match $op {
            $(ScalarOp::$row => {
                struct Row;
                impl Unary for Row {
                    #[inline(always)]
                    fn fast<const FMA: bool>(x: f32) -> f32 { $fast::<FMA>(x) }
                    $(
                        const RARE: bool = true;
                        #[inline(always)]
                        fn rare(x: f32) -> bool { x.abs() >= TRIG_LIMIT }
                        fn slow(x: f32) -> f32 { $slow(f64::from(x)) as f32 }
                    )?
                }
                Some(leaf_for::<Heavy<Row>>($isa))
            })*
            _ => None,
        }
    };
}

macro_rules! standard {
    ($op:ident, $isa:ident; $($row:ident => $f:expr;)*) => {
        match $op {
            $(ScalarOp::$row => {
                struct Row;
                impl Loop for Row {
                    #[inline(always)]
                    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
                        let (d, a) = (d.cast::<f32>(), a.cast::<f32>());
                        for i in 0..n {
                            // SAFETY: the caller passes n valid elements.
                            unsafe { *d.add(i) = $f(f64::from(*a.add(i))) as f32 };
                        }
                    }
                }
                Some(leaf_for::<Row>($isa))
            })*
            _ => None,
        }
    };
}

/// The vector loop of a transcendental f32 row.
pub(crate) fn unary(op: ScalarOp) -> Option<Leaf> {
    unary_for(op, isa())
}

fn unary_for(op: ScalarOp, isa: Isa) -> Option<Leaf> {
    let fast = functions! { op, isa;
        Exp => exp;
        Exp2 => exp2;
        Expm1 => expm1;
        Log => log;
        Log2 => log2;
        Log1p => log1p;
        Sin => sin, f64::sin;
        Cos => cos, f64::cos;
        Tan => tan, f64::tan;
        Tanh => tanh;
        Erf => erf;
        Sigmoid => sigmoid;
    };
    fast.or_else(|| {
        standard! { op, isa;
            Asin => f64::asin;
            Acos => f64::acos;
            Atan => f64::atan;
            Sinh => f64::sinh;
            Cosh => f64::cosh;
            Asinh => f64::asinh;
            Acosh => f64::acosh;
            Atanh => f64::atanh;
        }
    })
}

#[cfg(test)]
mod tests {
    use scalar::{Scalar, eval, eval_f64};

    use super::*;

    /// Last place of an f32 of this magnitude; the least denormal twice where results are denormal.
    fn place(magnitude: f64) -> f64 {
        if magnitude < f64::from(f32::MIN_POSITIVE) { 2f64.powi(-148) } else { 2f64.powi(magnitude.log2().floor() as i32 - 23) }
    }

    /// Error in last places, 0 where both are NaN or the same infinity.
    fn error(got: f32, exact: f64) -> f64 {
        let rounded = exact as f32;
        if got == rounded || got.is_nan() && rounded.is_nan() {
            return 0.0;
        }
        if !got.is_finite() || !rounded.is_finite() {
            // Overflow one place early or late is an error of one place.
            let near = got.abs().min(rounded.abs()) >= f32::MAX && got.signum() == rounded.signum();
            return if near { 1.0 } else { f64::INFINITY };
        }
        (f64::from(got) - exact).abs() / place(exact.abs())
    }

    /// Every exponent with many mantissas, both signs; values near integers and near 1; special values.
    fn points() -> Vec<f32> {
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 9
        };
        let mut x: Vec<f32> =
            (0..255u32).flat_map(|e| [0, 0x7f_ffff, 1 << 22].map(|m| (e << 23) | m)).map(f32::from_bits).collect();
        for e in 0..255u32 {
            let count = if (100..135).contains(&e) { 2000 } else { 60 };
            x.extend((0..count).map(|_| f32::from_bits((e << 23) | random())));
        }
        x.extend((0..20000).map(|_| random() as f32 / 8_388_608.0 * 200.0 - 100.0));
        // The worst arguments of a search over every seventh float from 2^-27 to 2^8.
        #[rustfmt::skip]
        x.extend([
            5.880_972_4, 0.505_598_5, 17.035_02, 0.635_913_1, 1.364_887, 8.940_697e-8, 66.784_69, 2.370_776_2, 3.899_412_6,
            0.626_570_46, 0.932_203_3, 4.845_421_3,
        ]);
        x.extend((1..2000).map(|k| (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32));
        let negative: Vec<f32> = x.iter().map(|v| -v).collect();
        x.extend(negative);
        x.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
        x
    }

    fn isas() -> Vec<Isa> {
        let mut all = vec![Isa::Base, isa()];
        all.dedup();
        all
    }

    fn bound(op: ScalarOp) -> f64 {
        ULP.iter().find(|(o, _)| *o == op).unwrap().1
    }

    #[test]
    fn unary_functions_keep_their_bounds() {
        let x = points();
        let mut y = vec![0f32; x.len()];
        let mut broken = Vec::new();
        for (op, bound) in ULP.iter().filter(|(op, _)| op.arity() == 1 && *op != ScalarOp::Rsqrt) {
            for isa in isas() {
                let leaf = unary_for(*op, isa).unwrap();
                // SAFETY: both vectors have x.len() elements.
                unsafe { leaf(y.as_mut_ptr().cast(), x.as_ptr().cast(), x.as_ptr().cast(), x.as_ptr().cast(), x.len()) };
                let worst = x.iter().zip(&y).map(|(&x, &y)| (error(y, eval_f64(*op, &[f64::from(x)])), x, y));
                let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
                let line = format!("{} {isa:?}: {:.2} ulp at {:e} -> {:e}, bound {bound}", op.name(), worst.0, worst.1, worst.2);
                println!("{line}");
                if worst.0 > *bound {
                    broken.push(line);
                }
            }
        }
        assert!(broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn signs_of_zero() {
        for op in [ScalarOp::Expm1, ScalarOp::Log1p, ScalarOp::Sin, ScalarOp::Tan, ScalarOp::Tanh, ScalarOp::Erf, ScalarOp::Asinh]
        {
            for zero in [0.0f32, -0.0] {
                let mut y = 1f32;
                let p = (&raw const zero).cast::<u8>();
                // SAFETY: one element each.
                unsafe { unary(op).unwrap()((&raw mut y).cast(), p, p, p, 1) };
                assert_eq!(y.to_bits(), zero.to_bits(), "{op:?}");
            }
        }
    }

    #[test]
    fn powers_keep_their_bound() {
        let all = points();
        let bases: Vec<f32> = all.iter().copied().step_by(7).collect();
        let specials =
            [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -0.5, -2.0, -3.0, 1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
        for isa in isas() {
            for y in specials.into_iter().chain(all.iter().copied().step_by(3001)) {
                let mut out = vec![0f32; bases.len()];
                let p = (&raw const y).cast::<u8>();
                // SAFETY: the vectors have equal lengths, the exponent is a scalar.
                unsafe { pow_for(1, isa)(out.as_mut_ptr().cast(), bases.as_ptr().cast(), p, p, bases.len()) };
                for (&x, &got) in bases.iter().zip(&out) {
                    let exact = eval_f64(ScalarOp::Pow, &[f64::from(x), f64::from(y)]);
                    assert!(error(got, exact) <= bound(ScalarOp::Pow), "{x:e} ^ {y:e} = {got:e}, not {exact:e} ({isa:?})");
                    let sign = eval(ScalarOp::Pow, &[Scalar::f32(x), Scalar::f32(y)]).as_f64();
                    assert!(got.is_nan() || sign.is_sign_negative() == got.is_sign_negative(), "{x:e} ^ {y:e} = {got:e}");
                }
            }
        }
    }
}

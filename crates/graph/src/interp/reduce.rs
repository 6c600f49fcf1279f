//! Reductions and scans. Floats accumulate in f64 and round once; integers wrap.

use scalar::{Combiner, DType};

use super::layout::Layout;
use super::value::{Data, Kind, Value, store_floats, store_ints};

/// Element arithmetic of the ordered combiners.
trait Number: Copy + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn add(self, other: f64) -> f64 {
        self + other
    }
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Number for i64 {
    const ZERO: i64 = 0;
    const ONE: i64 = 1;
    fn add(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
    fn mul(self, other: i64) -> i64 {
        self.wrapping_mul(other)
    }
    fn is_nan(self) -> bool {
        false
    }
}

/// Running value and, for arg-reductions, the index where it was found.
#[derive(Clone, Copy)]
struct Best<N> {
    value: N,
    index: i64,
    empty: bool,
}

fn step<N: Number>(c: Combiner, s: &mut Best<N>, x: N, index: i64) {
    use Combiner as C;
    match c {
        C::Sum => s.value = s.value.add(x),
        C::Prod => s.value = s.value.mul(x),
        _ => {
            let beats = match c {
                C::Max | C::Any | C::ArgMax => x > s.value,
                _ => x < s.value,
            };
            if s.empty || (!s.value.is_nan() && (beats || x.is_nan())) {
                *s = Best { value: x, index, empty: false };
            }
        }
    }
}

/// State of the float combiners: (mean, squared deviations, count), (max, sum), (product, h).
fn step_float(c: Combiner, s: &mut [f64; 3], a: f64, b: f64) {
    match c {
        Combiner::Welford if s[2] == 0.0 => *s = [a, 0.0, 1.0],
        Combiner::Welford => {
            let (before, delta) = (s[2], a - s[0]);
            s[2] += 1.0;
            s[0] += delta / s[2];
            s[1] += delta * delta * (before / s[2]);
        }
        Combiner::MaxSum => {
            let m = if s[0].is_nan() || a.is_nan() { f64::NAN } else { s[0].max(a) };
            s[1] = s[1] * rescale(s[0], m) + rescale(a, m);
            s[0] = m;
        }
        _ => *s = [s[0] * a, a * s[1] + b, 0.0],
    }
}

/// e^(x − m), 1 where both are −∞.
fn rescale(x: f64, m: f64) -> f64 {
    if x == m && x == f64::NEG_INFINITY { 1.0 } else { (x - m).exp() }
}

fn start_float(c: Combiner) -> [f64; 3] {
    match c {
        Combiner::MaxSum => [f64::NEG_INFINITY, 0.0, 0.0],
        Combiner::Affine => [1.0, 0.0, 0.0],
        _ => [0.0; 3],
    }
}

/// Sign-bit flip that makes u64 bits order as i64.
fn flip(dtype: DType) -> i64 {
    if dtype == DType::U64 { i64::MIN } else { 0 }
}

fn is_ordered(c: Combiner) -> bool {
    !matches!(c, Combiner::Sum | Combiner::Prod)
}

fn start_int(c: Combiner, dtype: DType) -> Best<i64> {
    let value = match c {
        Combiner::Sum | Combiner::Any => 0,
        Combiner::Prod | Combiner::All => 1,
        _ => c.init(dtype)[0].as_i64() ^ flip(dtype),
    };
    Best { value, index: 0, empty: true }
}

fn start_f64(c: Combiner) -> Best<f64> {
    let value = match c {
        Combiner::Sum => f64::ZERO,
        Combiner::Prod => f64::ONE,
        Combiner::Max | Combiner::ArgMax => f64::NEG_INFINITY,
        _ => f64::INFINITY,
    };
    Best { value, index: 0, empty: true }
}

/// Elements as f64 or i64 in the operand's own positions.
enum Numbers {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

fn numbers(x: &Value, c: Combiner) -> Numbers {
    let key = if is_ordered(c) { flip(x.dtype) } else { 0 };
    match &*x.data {
        Data::Bool(_) => Numbers::Ints(x.elements::<bool>().iter().map(|&v| i64::from(v)).collect()),
        Data::Int(_) => Numbers::Ints(x.elements::<i64>().iter().map(|&v| v ^ key).collect()),
        _ => Numbers::Floats(x.to_f64s()),
    }
}

fn store_best<N: Number>(
    c: Combiner,
    x: &Value,
    shape: &[usize],
    bests: &[Best<N>],
    store: impl Fn(Vec<N>) -> Data,
) -> Vec<Value> {
    let values = Value::dense(x.dtype, shape.to_vec(), store(bests.iter().map(|b| b.value).collect()));
    match c {
        Combiner::ArgMax | Combiner::ArgMin => {
            let index = Data::Int(bests.iter().map(|b| b.index).collect());
            vec![values, Value::dense(DType::I64, shape.to_vec(), index)]
        }
        _ => vec![values],
    }
}

fn store_ints_of(c: Combiner, x: &Value, values: Vec<i64>) -> Data {
    if x.kind() == Kind::Bool {
        return Data::Bool(values.into_iter().map(|v| v != 0).collect());
    }
    let key = if is_ordered(c) { flip(x.dtype) } else { 0 };
    store_ints(x.dtype, values.into_iter().map(|v| v ^ key).collect())
}

fn store_components(dtypes: &[DType], shape: &[usize], states: &[[f64; 3]], wide: bool) -> Vec<Value> {
    let component =
        |(k, &d): (usize, &DType)| Value::dense(d, shape.to_vec(), store_floats(d, wide, states.iter().map(|s| s[k]).collect()));
    dtypes.iter().enumerate().map(component).collect()
}

/// How the elements of dense data group: first positions in result order, and positions within a group.
struct Groups {
    starts: Vec<isize>,
    inner: Vec<isize>,
}

fn groups(shape: &[usize], axes: &[usize]) -> Groups {
    let all = Layout::dense(shape.to_vec());
    let kept = all.select((0..shape.len()).filter(|a| !axes.contains(a)));
    Groups { starts: kept.table(), inner: all.select(axes.iter().copied()).table() }
}

impl Groups {
    fn fold<T: Copy, S: Copy>(&self, data: &[T], start: S, step: impl Fn(&mut S, T, i64)) -> Vec<S> {
        let fold_one = |&first: &isize| {
            let mut s = start;
            for (i, &at) in self.inner.iter().enumerate() {
                step(&mut s, data[(first + at) as usize], i as i64);
            }
            s
        };
        self.starts.iter().map(fold_one).collect()
    }
    /// Prefix states, laid out like the operand.
    fn prefix<T: Copy, S: Copy>(&self, data: &[T], start: S, step: impl Fn(&mut S, T, i64)) -> Vec<S> {
        let mut out = vec![start; data.len()];
        for &first in &self.starts {
            let mut s = start;
            for (i, &at) in self.inner.iter().enumerate() {
                let p = (first + at) as usize;
                step(&mut s, data[p], i as i64);
                out[p] = s;
            }
        }
        out
    }
    fn run<T: Copy, S: Copy>(&self, scan: bool, data: &[T], start: S, step: impl Fn(&mut S, T, i64)) -> Vec<S> {
        if scan { self.prefix(data, start, step) } else { self.fold(data, start, step) }
    }
}

/// Reduces `axes` to results of the given dtypes and shape.
pub(crate) fn reduce(c: Combiner, args: &[&Value], axes: &[usize], dtypes: &[DType], shape: &[usize], wide: bool) -> Vec<Value> {
    combine(c, args, &groups(args[0].shape(), axes), false, dtypes, shape, wide)
}

/// Inclusive scan along `axis`.
pub(crate) fn scan(c: Combiner, args: &[&Value], axis: usize, dtypes: &[DType], wide: bool) -> Vec<Value> {
    let shape = args[0].shape();
    combine(c, args, &groups(shape, &[axis]), true, dtypes, shape, wide)
}

fn combine(
    c: Combiner,
    args: &[&Value],
    groups: &Groups,
    scan: bool,
    dtypes: &[DType],
    shape: &[usize],
    wide: bool,
) -> Vec<Value> {
    let x = args[0];
    if matches!(c, Combiner::Welford | Combiner::MaxSum | Combiner::Affine) {
        let (a, b) = (x.to_f64s(), args[args.len() - 1].to_f64s());
        let pairs: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
        let states = groups.run(scan, &pairs, start_float(c), |s, (a, b), _| step_float(c, s, a, b));
        return store_components(dtypes, shape, &states, wide);
    }
    match numbers(x, c) {
        Numbers::Ints(v) => {
            let bests = groups.run(scan, &v, start_int(c, x.dtype), |s, x, i| step(c, s, x, i));
            store_best(c, x, shape, &bests, |values| store_ints_of(c, x, values))
        }
        Numbers::Floats(v) => {
            let bests = groups.run(scan, &v, start_f64(c), |s, x, i| step(c, s, x, i));
            store_best(c, x, shape, &bests, |values| store_floats(x.dtype, wide, values))
        }
    }
}

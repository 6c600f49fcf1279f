//! Nests against a point-by-point evaluation with `scalar::eval`.

mod memory;
mod oracle;
mod pointwise;
mod rows;
mod window;

use program::{Access, Affine, Bound, Instr, Nest, Param, Reg, RegDecl, Stage, TileAxis, Ty};
use scalar::{Combiner, DType, Scalar, ScalarOp};

use super::{CheckSink, prepare_nest, run_nests};
use crate::cpu::threads::ThreadPool;

/// Deterministic random numbers (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
    /// Uniform in [−4, 4).
    pub(super) fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64 * 8.0 - 4.0
    }
    /// Any value, special ones often.
    pub(super) fn wild(&mut self, dtype: DType) -> Scalar {
        match (dtype, self.below(8)) {
            (DType::Bool, k) => Scalar::bool(k % 2 == 0),
            (d, 0) if d.is_float() => {
                let specials =
                    [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 0.5, 65504.0, 1e-40, -3e-6, 1e30];
                Scalar::from_f64(d, specials[self.below(specials.len() as u64) as usize])
            }
            (d, 1) => Scalar::from_bits(d, self.bits()),
            (d, 2) if !d.is_float() => Scalar::from_i64(d, [0, 1, -1, i64::MIN, i64::MAX, 127, -128, 31][self.below(8) as usize]),
            (d, _) if d.is_float() => Scalar::from_f64(d, self.real()),
            (d, 3) => Scalar::from_bits(d, 1 << (8 * d.size() - 1)),
            (d, _) => Scalar::from_i64(d, self.real() as i64 * 9),
        }
    }
    /// A small number.
    pub(super) fn tame(&mut self, dtype: DType) -> Scalar {
        if dtype.is_float() { Scalar::from_f64(dtype, self.real()) } else { Scalar::from_i64(dtype, self.below(9) as i64) }
    }
}

/// A parameter's contents.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) param: Param,
    pub(super) bytes: Vec<u64>,
}

impl Data {
    pub(super) fn new(dtype: DType, access: Access, values: impl IntoIterator<Item = Scalar>) -> Data {
        let values: Vec<Scalar> = values.into_iter().collect();
        let param = Param { name: "p".into(), dtype, access, elements: values.len() as u64 };
        let mut data = Data { param, bytes: vec![0; (values.len() * dtype.size()).div_ceil(8) + 1] };
        values.iter().enumerate().for_each(|(i, v)| data.set(i, *v));
        data
    }
    pub(super) fn input(dtype: DType, n: usize, random: &mut Random, f: fn(&mut Random, DType) -> Scalar) -> Data {
        Data::new(dtype, Access::Read, (0..n).map(|_| f(random, dtype)))
    }
    /// Poisoned memory.
    pub(super) fn output(dtype: DType, n: usize) -> Data {
        Data::new(
            dtype,
            Access::Write,
            (0..n).map(|_| Scalar::from_bits(dtype, 0x5d5d_5d5d_5d5d_5d5d & if dtype == DType::Bool { 1 } else { !0 })),
        )
    }
    pub(super) fn ptr(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().cast()
    }
    pub(super) fn get(&self, i: usize) -> Scalar {
        assert!((i as u64) < self.param.elements, "element {i} of {}", self.param.elements);
        let size = self.param.dtype.size();
        let word = self.bytes[i * size / 8] >> (8 * (i * size % 8));
        Scalar::from_bits(self.param.dtype, word)
    }
    pub(super) fn set(&mut self, i: usize, v: Scalar) {
        assert!((i as u64) < self.param.elements && v.dtype() == self.param.dtype);
        let size = self.param.dtype.size();
        let (word, shift) = (i * size / 8, 8 * (i * size % 8));
        let mask = if size == 8 { u64::MAX } else { ((1u64 << (8 * size)) - 1) << shift };
        self.bytes[word] = (self.bytes[word] & !mask) | (v.bits() << shift);
    }
    pub(super) fn len(&self) -> usize {
        self.param.elements as usize
    }
}

/// `base + Σ coef·index`.
pub(super) fn affine(base: i64, coef: &[i64]) -> Affine {
    Affine { base, coef: coef.iter().copied().collect() }
}

pub(super) fn reg(dtype: DType, rows: bool, cols: bool) -> RegDecl {
    RegDecl { ty: Ty::of(dtype), rows, cols, resident: 0 }
}

pub(super) fn load(dst: Reg, param: u16, index: Affine) -> Instr {
    Instr::Load { dst, param, index, mask: vec![], fill: 0 }
}

pub(super) fn store(param: u16, index: Affine, src: Reg) -> Instr {
    Instr::Store { param, index, mask: vec![], src }
}

pub(super) fn op(op: ScalarOp, dtype: DType, dst: Reg, args: &[Reg]) -> Instr {
    Instr::Op { op, dtype, round: true, dst, args: args.iter().copied().collect() }
}

pub(super) fn constant(dst: Reg, v: f32) -> Instr {
    Instr::Const { dst, bits: u64::from(v.to_bits()) }
}

pub(super) fn reduce(combiner: Combiner, acc: &[Reg], src: &[Reg]) -> Instr {
    Instr::Reduce { combiner, acc: acc.iter().copied().collect(), src: src.iter().copied().collect(), merge: false }
}

pub(super) fn bound(base: i64, coef: &[i64], lo: i64, hi: i64) -> Bound {
    Bound { expr: affine(base, coef), lo, hi }
}

pub(super) fn axis(axis: usize, tile: usize) -> Option<TileAxis> {
    Some(TileAxis { axis, tile })
}

/// A nest of one stage that loops over nothing inside.
pub(super) fn flat(
    extents: &[i64],
    rows: Option<TileAxis>,
    cols: Option<TileAxis>,
    regs: Vec<RegDecl>,
    code: Vec<Instr>,
) -> Nest {
    let stage = Stage { code, ..Stage::default() };
    let grid = (0..extents.len()).collect();
    Nest { extents: extents.to_vec(), grid, rows, cols, regs, stages: vec![stage], serial: false, sequence: None }
}

/// Runs the nest on the VM; returns the memory afterwards and the error.
pub(super) fn run(nest: &Nest, data: &[Data], threads: usize) -> (Vec<Data>, Option<base::Error>) {
    let mut data = data.to_vec();
    let params: Vec<Param> = data.iter().map(|d| d.param.clone()).collect();
    let program = program::TileProgram {
        name: "test".into(),
        params: params.clone(),
        phases: vec![program::Phase::Nests(vec![nest.clone()])],
        checks: vec!["index out of range".into()],
    };
    program::verify(&program).unwrap_or_else(|e| panic!("{e}\n{program}"));
    let prepared = prepare_nest(nest, &params).unwrap_or_else(|e| panic!("{e}"));
    let ptrs: Vec<*mut u8> = data.iter_mut().map(Data::ptr).collect();
    let sink = CheckSink::new();
    // SAFETY: the program is verified and the pointers are those of its parameters.
    unsafe { run_nests(std::slice::from_ref(&prepared), &ptrs, &ThreadPool::new(threads), &sink) };
    (data, sink.take(&program.checks))
}

/// How far the VM may be from the oracle.
#[derive(Clone, Copy)]
pub(super) enum Close {
    /// Same bits, but for NaNs.
    Exact,
    /// Units in the last place of the stored dtype, of a value or of the given magnitude if that is more.
    Ulp(f64, f64),
}

/// Size of the last place of a float dtype at a magnitude.
pub(super) fn ulp(dtype: DType, magnitude: f64) -> f64 {
    let (digits, least) = match dtype {
        DType::F16 => (10, -24),
        DType::BF16 => (7, -133),
        DType::F32 => (23, -149),
        _ => (52, -1074),
    };
    let exponent = if magnitude > 0.0 { magnitude.log2().floor() as i32 } else { -2000 };
    2f64.powi((exponent - digits).max(least))
}

pub(super) fn same(a: Scalar, b: Scalar, close: Close) -> bool {
    if a.bits() == b.bits() {
        return true;
    }
    if !a.dtype().is_float() {
        return false;
    }
    let (x, y) = (a.as_f64(), b.as_f64());
    match close {
        _ if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        Close::Exact => false,
        Close::Ulp(n, magnitude) if x.is_finite() && y.is_finite() => {
            (x - y).abs() <= n * ulp(a.dtype(), x.abs().max(y.abs()).max(magnitude)) * 1.001 + 2.0 * ulp(a.dtype(), 0.0)
        }
        // One rounds to infinity where the other is the greatest number.
        Close::Ulp(..) => {
            x.signum() == y.signum()
                && x.abs().min(y.abs())
                    > 0.999
                        * Scalar::from_f64(a.dtype(), f64::MAX).as_f64().min(if a.dtype() == DType::F16 {
                            65504.0
                        } else {
                            3.4e38
                        })
        }
    }
}

/// Runs the nest on one and on several threads and compares all memory with the oracle.
pub(super) fn agree(what: &str, nest: &Nest, data: &[Data], close: Close) {
    let expected = oracle::run(nest, data);
    let (got, error) = run(nest, data, 1);
    assert!(error.is_none(), "{what}: {error:?}");
    for (p, (got, expected)) in got.iter().zip(&expected).enumerate() {
        for i in 0..got.len() {
            assert!(
                same(got.get(i), expected.get(i), close),
                "{what}: param {p}[{i}] is {}, not {}",
                got.get(i),
                expected.get(i)
            );
        }
    }
    let (parallel, _) = run(nest, data, 3);
    for (a, b) in got.iter().zip(&parallel) {
        assert_eq!(a.bytes, b.bytes, "{what}: depends on the number of threads");
    }
}

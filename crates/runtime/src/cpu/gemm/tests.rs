//! Products against a naive reference.

mod skinny;

use program::{Affine, Body, Bound, Gemm, Instr, PackSource, Param, RegDecl, Ty};
use scalar::{DType, ScalarOp};

use super::kernel::{Kernels, generic, portable};
use super::plan::Product;
use super::{PanelStore, PreparedGemm};
use crate::cpu::launch::Launch;
use crate::cpu::threads::ThreadPool;
use crate::cpu::vm::CheckSink;
use crate::memory::{Buffer, Pool};

fn affine(base: i64, coef: &[i64]) -> Affine {
    Affine { base, coef: coef.iter().copied().collect() }
}

fn direct(param: u16, base: i64, coef: &[i64]) -> PackSource {
    PackSource::Direct { param, index: affine(base, coef), mask: vec![], frozen: false }
}

/// Stores each product's accumulator to a parameter at an index.
fn plain(ty: Ty, stores: &[(u16, Affine)]) -> Body {
    let mut body = Body::default();
    for (which, (param, index)) in stores.iter().enumerate() {
        body.regs.push(RegDecl { ty, rows: true, cols: true, resident: 0 });
        body.code.push(Instr::Acc { dst: which as u16, which: which as u16 });
        body.code.push(Instr::Store { param: *param, index: index.clone(), mask: vec![], src: which as u16 });
    }
    body
}

/// One product C[m,n] = A·B, parameters in that order A, B, C.
fn simple(ty: Ty, [m, n, k]: [i64; 3], a: [i64; 2], b: [i64; 2], c: [i64; 2]) -> Gemm {
    Gemm {
        batch: vec![],
        m: vec![m],
        n: vec![n],
        k: vec![k],
        ty,
        products: vec![(0, 1)],
        sources: vec![direct(0, 0, &[a[0], 0, a[1]]), direct(1, 0, &[0, b[0], b[1]])],
        epilogue: plain(ty, &[(2, affine(0, &[c[0], c[1]]))]),
        flat_n: false,
        flat_m: false,
    }
}

fn param(dtype: DType, elements: usize) -> Param {
    Param { name: "p".into(), dtype, access: program::Access::ReadWrite, elements: elements as u64 }
}

/// Small repeatable integers in -4..=4, exact in every dtype.
fn values(seed: u64, n: usize) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 33) % 9
    };
    (0..n).map(|_| next() as f64 - 4.0).collect()
}

fn encode(dtype: DType, values: &[f64]) -> Vec<u8> {
    let bytes = |&v: &f64| scalar::Scalar::from_f64(dtype, v).bits().to_le_bytes()[..dtype.size()].to_vec();
    values.iter().flat_map(bytes).collect()
}

fn decode(dtype: DType, buffer: &Buffer) -> Vec<f64> {
    let mut bytes = vec![0; buffer.len()];
    buffer.read(0, &mut bytes).unwrap();
    let value = |b: &[u8]| {
        let mut bits = [0; 8];
        bits[..b.len()].copy_from_slice(b);
        scalar::Scalar::from_bits(dtype, u64::from_le_bytes(bits)).as_f64()
    };
    bytes.chunks(dtype.size()).map(value).collect()
}

/// One argument: dtype and values.
type Argument = (DType, Vec<f64>);

fn params(arguments: &[Argument]) -> Vec<Param> {
    arguments.iter().map(|(d, v)| param(*d, v.len())).collect()
}

/// Runs a product and returns the arguments' contents afterwards.
fn run(gemm: &Gemm, arguments: &[Argument], threads: usize) -> Vec<Vec<f64>> {
    execute(&PreparedGemm::new(gemm, &params(arguments)).unwrap(), arguments, threads)
}

/// Launches twice (the second time with kept panels) and returns the arguments' contents.
fn execute(prepared: &PreparedGemm, arguments: &[Argument], threads: usize) -> Vec<Vec<f64>> {
    let (pool, workers) = (Pool::new(), ThreadPool::new(threads));
    let buffers: Vec<Buffer> = arguments
        .iter()
        .map(|(d, v)| {
            let buffer = pool.alloc(v.len() * d.size()).unwrap();
            buffer.write(0, &encode(*d, v)).unwrap();
            buffer
        })
        .collect();
    let pointers: Vec<*mut u8> = buffers.iter().map(Buffer::as_ptr).collect();
    let (sink, panels) = (CheckSink::new(), PanelStore::default());
    let launch = Launch { params: &pointers, threads: &workers, pool: &pool, sink: &sink, panels: &panels, owners: &[] };
    for _ in 0..2 {
        // SAFETY: the arguments cover what the programs of these tests access.
        unsafe { prepared.run(&launch) }.unwrap();
    }
    arguments.iter().zip(&buffers).map(|((d, _), b)| decode(*d, b)).collect()
}

/// The value of a source at full loop indices, by the definition.
fn read(source: &PackSource, arguments: &[Argument], index: &[i64]) -> f64 {
    let PackSource::Direct { param, index: at, mask, .. } = source else { panic!("direct sources only") };
    let eval = |e: &Affine| e.base + index.iter().enumerate().map(|(a, i)| e.at(a) * i).sum::<i64>();
    let valid = mask.iter().all(|b: &Bound| (b.lo..b.hi).contains(&eval(&b.expr)));
    if valid { arguments[usize::from(*param)].1[eval(at) as usize] } else { 0.0 }
}

fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![vec![]], |all, &d| {
        all.iter().flat_map(|head| (0..d).map(move |i| head.iter().copied().chain([i]).collect())).collect()
    })
}

/// Accumulators of every product by definition, in (batch, m, n) order, with the index.
fn reference(gemm: &Gemm, arguments: &[Argument]) -> Vec<(Vec<i64>, Vec<f64>)> {
    let outer: Vec<i64> = [&gemm.batch[..], &gemm.m, &gemm.n].concat();
    let ks = indices(&gemm.k);
    let sum = |at: &[i64], (a, b): (usize, usize)| -> f64 {
        ks.iter()
            .map(|k| {
                let full = [at, k].concat();
                read(&gemm.sources[a], arguments, &full) * read(&gemm.sources[b], arguments, &full)
            })
            .sum()
    };
    indices(&outer).into_iter().map(|at| (at.clone(), gemm.products.iter().map(|&p| sum(&at, p)).collect())).collect()
}

/// Checks a product whose epilogue stores the accumulators, on one and on three threads.
fn check(gemm: &Gemm, arguments: &[Argument]) {
    let stores: Vec<(usize, &Affine)> = gemm
        .epilogue
        .code
        .iter()
        .filter_map(|i| if let Instr::Store { param, index, .. } = i { Some((usize::from(*param), index)) } else { None })
        .collect();
    let mut want: Vec<Vec<f64>> = arguments.iter().map(|a| a.1.clone()).collect();
    for (at, sums) in reference(gemm, arguments) {
        for (&(param, index), sum) in stores.iter().zip(sums) {
            let to = index.base + at.iter().enumerate().map(|(a, i)| index.at(a) * i).sum::<i64>();
            want[param][to as usize] = sum;
        }
    }
    for threads in [1, 3] {
        let got = run(gemm, arguments, threads);
        for (p, (got, want)) in got.iter().zip(&want).enumerate() {
            let wrong = got.iter().zip(want).position(|(g, w)| g != w);
            assert!(
                wrong.is_none(),
                "parameter {p}, element {wrong:?}, {threads} threads: {:?}",
                wrong.map(|i| (got[i], want[i]))
            );
        }
    }
}

const SIZES: [[i64; 3]; 16] = [
    [1, 1, 1],
    [1, 16, 8],
    [2, 33, 7],
    [3, 5, 400],
    [4, 600, 17],
    [5, 16, 9],
    [6, 16, 385],
    [7, 17, 1],
    [13, 31, 29],
    [97, 130, 40],
    [200, 3, 50],
    [64, 1, 33],
    [100, 257, 100],
    [0, 4, 4],
    [4, 0, 4],
    [5, 6, 0],
];

#[test]
fn every_layout_and_ragged_size() {
    for [m, n, k] in SIZES {
        let count = |x: i64, y: i64| (x * y) as usize;
        let arguments =
            [(DType::F32, values(1, count(m, k))), (DType::F32, values(2, count(k, n))), (DType::F32, vec![99.0; count(m, n)])];
        for a in [[k, 1], [1, m]] {
            for b in [[1, n], [k, 1]] {
                for c in [[n, 1], [1, m]] {
                    check(&simple(Ty::F32, [m, n, k], a, b, c), &arguments);
                }
            }
        }
    }
}

#[test]
fn every_type_is_exact() {
    for (ty, wide) in [(Ty::F32, DType::F32), (Ty::F64, DType::F64), (Ty::I32, DType::I32), (Ty::I64, DType::I64)] {
        for from in [DType::I8, DType::I16, DType::F16, DType::BF16, wide] {
            for [m, n, k] in [[1, 40, 20], [9, 35, 50], [30, 2, 11]] {
                let arguments = [
                    (from, values(3, (m * k) as usize)),
                    (wide, values(4, (k * n) as usize)),
                    (wide, vec![0.0; (m * n) as usize]),
                ];
                check(&simple(ty, [m, n, k], [k, 1], [1, n], [n, 1]), &arguments);
                check(&simple(ty, [m, n, k], [1, m], [k, 1], [n, 1]), &arguments);
            }
        }
    }
}

#[test]
fn negative_strides_and_broadcast_operands() {
    let (m, n, k) = (10, 20, 30);
    let mut gemm = simple(Ty::F32, [m, n, k], [0, 0], [0, 0], [n, 1]);
    gemm.sources[0] = direct(0, m * k - 1, &[-k, 0, -1]);
    gemm.sources[1] = direct(1, 0, &[0, 1, 0]);
    let arguments = [(DType::F32, values(5, 300)), (DType::F32, values(6, 20)), (DType::F32, vec![0.0; 200])];
    check(&gemm, &arguments);
}

#[test]
fn batches_with_shared_and_separate_operands() {
    for (heads, m, n, k) in [(12, 16, 16, 8), (3, 100, 200, 20), (40, 1, 5, 9)] {
        let gemm = Gemm {
            batch: vec![2, heads],
            m: vec![m],
            n: vec![n],
            k: vec![k],
            ty: Ty::F32,
            products: vec![(0, 1)],
            sources: vec![direct(0, 0, &[heads * m * k, k, heads * k, 0, 1]), direct(1, 0, &[0, n * k, 0, k, 1])],
            epilogue: plain(Ty::F32, &[(2, affine(0, &[heads * m * n, m * n, n, 1]))]),
            flat_n: false,
            flat_m: false,
        };
        let count = |d: i64| (2 * heads * d) as usize;
        let arguments =
            [(DType::F32, values(7, count(m * k))), (DType::F32, values(8, count(n * k))), (DType::F32, vec![0.0; count(m * n)])];
        check(&gemm, &arguments);
    }
}

/// An NCHW convolution with OIHW weights, as implicit product.
fn convolution([b, c, h, w]: [i64; 4], o: i64, taps: i64, stride: i64, pad: i64, frozen: bool) -> (Gemm, Vec<Argument>) {
    let (oh, ow) = ((h + 2 * pad - taps) / stride + 1, (w + 2 * pad - taps) / stride + 1);
    // Axes: b | o | y x | c i j.
    let bound = |coef: &[i64], limit: i64| Bound { expr: affine(-pad, coef), lo: 0, hi: limit };
    let image = PackSource::Direct {
        param: 1,
        index: affine(-pad * w - pad, &[c * h * w, 0, stride * w, stride, h * w, w, 1]),
        mask: vec![bound(&[0, 0, stride, 0, 0, 1, 0], h), bound(&[0, 0, 0, stride, 0, 0, 1], w)],
        frozen: false,
    };
    let weights = PackSource::Direct {
        param: 0,
        index: affine(0, &[0, c * taps * taps, 0, 0, taps * taps, taps, 1]),
        mask: vec![],
        frozen,
    };
    let gemm = Gemm {
        batch: vec![b],
        m: vec![o],
        n: vec![oh, ow],
        k: vec![c, taps, taps],
        ty: Ty::F32,
        products: vec![(0, 1)],
        sources: vec![weights, image],
        epilogue: plain(Ty::F32, &[(2, affine(0, &[o * oh * ow, oh * ow, 0, 1]))]),
        flat_n: true,
        flat_m: false,
    };
    let count = |d: i64| d as usize;
    let arguments = vec![
        (DType::F32, values(9, count(o * c * taps * taps))),
        (DType::F32, values(10, count(b * c * h * w))),
        (DType::F32, vec![77.0; count(b * o * oh * ow)]),
    ];
    (gemm, arguments)
}

/// By definition, flattened output index included.
fn check_convolution(gemm: &Gemm, arguments: &[Argument]) {
    let unflattened = {
        let mut g = gemm.clone();
        let (w, flat) = (g.n[1], g.epilogue.code.last_mut());
        if let Some(Instr::Store { index, .. }) = flat {
            index.coef[2] = w * index.coef[3];
        }
        g
    };
    let mut want = arguments[2].1.clone();
    let Some(Instr::Store { index, .. }) = unflattened.epilogue.code.last() else { panic!() };
    for (at, sums) in reference(&unflattened, arguments) {
        want[at.iter().enumerate().map(|(a, i)| index.at(a) * i).sum::<i64>() as usize] = sums[0];
    }
    for threads in [1, 2] {
        assert!(run(gemm, arguments, threads)[2] == want);
    }
}

#[test]
fn convolutions() {
    for frozen in [false, true] {
        for (image, o, taps, stride, pad) in [
            ([1, 3, 9, 11], 8, 3, 1, 1),
            ([2, 4, 10, 10], 5, 3, 2, 1),
            ([1, 2, 30, 40], 7, 5, 1, 2),
            ([2, 16, 7, 7], 20, 1, 1, 0),
            ([1, 1, 5, 37], 2, 3, 3, 2),
            ([1, 3, 4, 4], 6, 7, 1, 3),
        ] {
            let (gemm, arguments) = convolution(image, o, taps, stride, pad, frozen);
            check_convolution(&gemm, &arguments);
        }
    }
}

#[test]
fn products_that_share_an_operand() {
    let (m, n, k) = (50, 70, 390);
    let mut gemm = simple(Ty::F32, [m, n, k], [k, 1], [1, n], [n, 1]);
    gemm.sources.push(direct(3, 0, &[0, k, 1]));
    gemm.products.push((0, 2));
    gemm.epilogue = plain(Ty::F32, &[(2, affine(0, &[n, 1])), (4, affine(0, &[n, 1]))]);
    let f32s = |seed, count: i64| (DType::F32, values(seed, count as usize));
    check(&gemm, &[f32s(1, m * k), f32s(2, k * n), f32s(3, m * n), f32s(4, k * n), f32s(5, m * n)]);
}

unsafe fn wide<const R: usize>(kc: usize, a: *const f32, b: *const f32, c: *mut f32, ldc: usize, add: bool) {
    // SAFETY: the contract of kernels.
    unsafe { generic::<f32, R, 12, 32>(kc, a, b, c, ldc, add) }
}

/// The panel geometry of AVX-512, in portable code.
static WIDE: Kernels<f32> = Kernels {
    mr: 12,
    nr: 32,
    micro: &[
        wide::<1>, wide::<2>, wide::<3>, wide::<4>, wide::<5>, wide::<6>, wide::<7>, wide::<8>, wide::<9>, wide::<10>,
        wide::<11>, wide::<12>,
    ],
    across: portable::<f32>().across,
    along: None,
};
static PORTABLE: Kernels<f32> = portable();

#[test]
fn kernels_of_other_machines_agree() {
    for kernels in [&PORTABLE, &WIDE] {
        for [m, n, k] in SIZES {
            let f32s = |seed, count: i64| (DType::F32, values(seed, count as usize));
            let arguments = [f32s(1, m * k), f32s(2, k * n), f32s(3, m * n)];
            for (a, b) in [([k, 1], [1, n]), ([1, m], [k, 1])] {
                let gemm = simple(Ty::F32, [m, n, k], a, b, [n, 1]);
                let prepared = PreparedGemm::F32(Box::new(Product::new(&gemm, &params(&arguments), kernels).unwrap()));
                assert_eq!(execute(&prepared, &arguments, 2)[2], run(&gemm, &arguments, 1)[2], "{m} {n} {k}");
            }
        }
        let (gemm, arguments) = convolution([2, 3, 9, 11], 8, 3, 1, 1, true);
        let prepared = PreparedGemm::F32(Box::new(Product::new(&gemm, &params(&arguments), kernels).unwrap()));
        assert_eq!(execute(&prepared, &arguments, 2)[2], run(&gemm, &arguments, 1)[2]);
    }
}

fn reg(ty: Ty, rows: bool, cols: bool) -> RegDecl {
    RegDecl { ty, rows, cols, resident: 0 }
}

fn op(op: ScalarOp, dst: u16, args: &[u16]) -> Instr {
    Instr::Op { op, dtype: DType::F32, round: false, dst, args: args.iter().copied().collect() }
}

/// Stores the accumulator of product 0 to parameter 2, and `max(acc + column bias, 0)` to parameter 4 (bias: parameter 3).
fn bias_and_relu(out: &Affine, bias: &Affine) -> Body {
    let load = Instr::Load { dst: 1, param: 3, index: bias.clone(), mask: vec![], fill: 0 };
    Body {
        regs: vec![
            reg(Ty::F32, true, true),
            reg(Ty::F32, false, true),
            reg(Ty::F32, true, true),
            reg(Ty::F32, false, false),
            reg(Ty::F32, true, true),
        ],
        code: vec![
            Instr::Acc { dst: 0, which: 0 },
            load,
            op(ScalarOp::Add, 2, &[0, 1]),
            Instr::Const { dst: 3, bits: 0 },
            op(ScalarOp::Max, 4, &[2, 3]),
            Instr::Store { param: 2, index: out.clone(), mask: vec![], src: 0 },
            Instr::Store { param: 4, index: out.clone(), mask: vec![], src: 4 },
        ],
    }
}

/// Values that rounding touches.
fn rough(seed: u64, n: usize) -> Vec<f64> {
    values(seed, n).iter().zip(values(seed + 100, n)).map(|(a, b)| f64::from((a + b / 7.0) as f32)).collect()
}

#[test]
fn epilogues_see_the_same_bits_as_a_plain_product() {
    for [m, n, k] in [[1, 200, 400], [5, 3, 1000], [130, 150, 770], [64, 1, 90], [7, 19, 0], [300, 3, 400]] {
        let f32s = |seed, count: i64| (DType::F32, rough(seed, count as usize));
        let arguments = [f32s(1, m * k), f32s(2, k * n), f32s(3, m * n), f32s(4, n), f32s(5, m * n)];
        for b in [[1, n], [k, 1]] {
            let plain = simple(Ty::F32, [m, n, k], [k, 1], b, [n, 1]);
            let fused = Gemm { epilogue: bias_and_relu(&affine(0, &[n, 1]), &affine(0, &[0, 1])), ..plain.clone() };
            let want = run(&plain, &arguments, 1)[2].clone();
            for threads in [1, 3] {
                let got = run(&fused, &arguments, threads);
                assert!(got[2] == want, "{m} {n} {k}");
                for (i, (sum, out)) in want.iter().zip(&got[4]).enumerate() {
                    let bias = arguments[3].1[i % n as usize];
                    assert_eq!(*out, f64::from((*sum as f32 + bias as f32).max(0.0)));
                }
            }
        }
    }
}

#[test]
fn epilogue_tiles_stop_at_the_last_axis_unless_flat() {
    let (mut gemm, arguments) = convolution([2, 3, 6, 5], 4, 3, 1, 1, false);
    let want = run(&gemm, &arguments, 1)[2].clone();
    // The same output written with both axes, through a body that is no plain store.
    gemm.flat_n = false;
    let index = affine(0, &[4 * 30, 30, 5, 1]);
    gemm.epilogue = Body {
        regs: vec![reg(Ty::F32, true, true), reg(Ty::F32, true, true)],
        code: vec![
            Instr::Acc { dst: 0, which: 0 },
            op(ScalarOp::Neg, 1, &[0]),
            Instr::Store { param: 2, index, mask: vec![], src: 1 },
        ],
    };
    let got = run(&gemm, &arguments, 2)[2].clone();
    assert!(got.iter().zip(&want).all(|(g, w)| *g == -*w));
}

/// `x + x` in place of an operand.
fn doubled(param: u16, index: Affine, frozen: bool) -> PackSource {
    let body = Body {
        regs: vec![reg(Ty::F32, true, true), reg(Ty::F32, true, true)],
        code: vec![Instr::Load { dst: 0, param, index, mask: vec![], fill: 0 }, op(ScalarOp::Add, 1, &[0, 0])],
    };
    PackSource::Computed { body, result: 1, frozen }
}

#[test]
fn computed_operands_equal_precomputed_ones() {
    for [m, n, k] in [[5, 7, 3], [1, 140, 400], [100, 60, 500], [33, 2, 20]] {
        let f32s = |seed, count: i64| (DType::F32, rough(seed, count as usize));
        let arguments = [f32s(1, m * k), f32s(2, k * n), f32s(3, m * n)];
        let twice = |a: &Argument| (a.0, a.1.iter().map(|v| v + v).collect::<Vec<f64>>());
        let plain = simple(Ty::F32, [m, n, k], [k, 1], [1, n], [n, 1]);
        let want = run(&plain, &[twice(&arguments[0]), twice(&arguments[1]), arguments[2].clone()], 1)[2].clone();
        for frozen in [false, true] {
            let sources = vec![doubled(0, affine(0, &[k, 0, 1]), frozen), doubled(1, affine(0, &[0, 1, n]), frozen)];
            let fused = Gemm { sources, ..plain.clone() };
            assert!(run(&fused, &arguments, 2)[2] == want, "{m} {n} {k}");
        }
    }
}

#[test]
fn a_computed_image_with_several_axes() {
    let (mut gemm, arguments) = convolution([1, 3, 6, 5], 4, 3, 1, 1, false);
    let doubled_arguments =
        vec![arguments[0].clone(), (DType::F32, arguments[1].1.iter().map(|v| v + v).collect()), arguments[2].clone()];
    let want = run(&gemm, &doubled_arguments, 1)[2].clone();
    let PackSource::Direct { index, mask, .. } = gemm.sources[1].clone() else { panic!() };
    let body = Body {
        regs: vec![reg(Ty::F32, true, true), reg(Ty::F32, true, true)],
        code: vec![Instr::Load { dst: 0, param: 1, index, mask, fill: 0 }, op(ScalarOp::Add, 1, &[0, 0])],
    };
    gemm.sources[1] = PackSource::Computed { body, result: 1, frozen: false };
    assert!(run(&gemm, &arguments, 2)[2] == want);
}

#[test]
fn many_threads_may_launch_one_product() {
    let (m, n, k) = (70, 90, 400);
    let gemm = simple(Ty::F32, [m, n, k], [k, 1], [1, n], [n, 1]);
    let f32s = |seed, count: i64| (DType::F32, rough(seed, count as usize));
    let arguments = [f32s(1, m * k), f32s(2, k * n), f32s(3, m * n)];
    let want = run(&gemm, &arguments, 1)[2].clone();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..5).for_each(|_| assert!(run(&gemm, &arguments, 2)[2] == want)));
        }
    });
}

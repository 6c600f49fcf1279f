//! Reductions, scans and multi-stage nests.

use program::Sequence;
use smallvec::SmallVec;

use super::*;

const F: DType = DType::F32;

fn stage(init: Vec<(Combiner, &[Reg])>, inner: &[usize], code: Vec<Instr>, finish: Vec<Instr>) -> Stage {
    let init = init.into_iter().map(|(c, regs)| (c, regs.iter().copied().collect())).collect();
    Stage { init, inner: inner.iter().copied().collect(), ends: SmallVec::new(), code, finish }
}

/// The registers that hold a combiner's state of elements of `dtype`.
fn state(combiner: Combiner, dtype: DType, rows: bool, cols: bool) -> Vec<RegDecl> {
    let d = combiner.state_dtype(dtype);
    (0..combiner.info().components)
        .map(|k| match (combiner, k) {
            (Combiner::ArgMax | Combiner::ArgMin, 1) => reg(DType::I64, rows, cols),
            _ => reg(d, rows, cols),
        })
        .collect()
}

/// `combiner` over the axes of `[rows, cols]` that `keep` does not keep.
fn reduction(
    combiner: Combiner,
    dtype: DType,
    shape: (i64, i64),
    keep: (bool, bool),
    seed: u64,
    wild: bool,
) -> (Nest, Vec<Data>) {
    let mut random = Random(seed);
    let (rows, cols) = shape;
    let n = (rows * cols) as usize;
    let mut data = vec![Data::input(dtype, n, &mut random, if wild { Random::wild } else { Random::tame })];
    let accs = state(combiner, dtype, keep.0, keep.1);
    let mut regs = vec![reg(dtype, true, true), reg(DType::I64, true, true)];
    let first = regs.len() as Reg;
    let acc: Vec<Reg> = (first..first + accs.len() as Reg).collect();
    regs.extend(&accs);
    let is_arg = matches!(combiner, Combiner::ArgMax | Combiner::ArgMin);
    let mut code = vec![load(0, 0, affine(0, &[cols, 1]))];
    if is_arg {
        code.push(Instr::Index { dst: 1, expr: affine(0, &[if keep.0 { 0 } else { cols }, i64::from(!keep.1)]) });
    }
    code.push(reduce(combiner, &acc, if is_arg { &[0, 1] } else { &[0] }));
    let kept = if keep.0 { rows } else { 1 } * if keep.1 { cols } else { 1 };
    let index = affine(0, &[if keep.0 { if keep.1 { cols } else { 1 } } else { 0 }, i64::from(keep.1)]);
    let results = combiner.results(&[dtype]).unwrap();
    let mut finish = Vec::new();
    for (k, &out) in results.iter().enumerate() {
        data.push(Data::output(out, kept as usize));
        finish.push(store(1 + k as u16, index.clone(), acc[k]));
    }
    let (mut grid, mut inner) = (vec![], vec![]);
    (if keep.0 { &mut grid } else { &mut inner }).push(0);
    (if keep.1 { &mut grid } else { &mut inner }).push(1);
    let nest = Nest {
        extents: vec![rows, cols],
        grid: grid.into_iter().collect(),
        rows: axis(0, 12),
        cols: axis(1, 64),
        regs,
        stages: vec![stage(vec![(combiner, &acc)], &inner, code, finish)],
        serial: false,
        sequence: None,
    };
    (nest, data)
}

const REDUCTIONS: [Combiner; 10] = [
    Combiner::Sum,
    Combiner::Prod,
    Combiner::Max,
    Combiner::Min,
    Combiner::Any,
    Combiner::All,
    Combiner::ArgMax,
    Combiner::ArgMin,
    Combiner::Welford,
    Combiner::MaxSum,
];

fn closeness(combiner: Combiner, dtype: DType, wild: bool) -> Close {
    match combiner {
        _ if !dtype.is_float() || combiner.info().exact => Close::Exact,
        // The order differs from the oracle's.
        Combiner::Sum if !wild => Close::Ulp(24.0, 64.0),
        Combiner::Welford if !wild => Close::Ulp(64.0, 8.0),
        _ => Close::Ulp(4000.0, 1.0),
    }
}

#[test]
fn every_combiner_dtype_and_direction() {
    let mut count = 0;
    for combiner in REDUCTIONS {
        for dtype in DType::ALL.into_iter().filter(|&d| combiner.results(&[d]).is_ok()) {
            for keep in [(true, false), (false, true), (false, false), (true, true)] {
                for (shape, wild) in [((5, 150), false), ((30, 7), false), ((1, 1), false), ((25, 65), combiner.info().exact)] {
                    count += 1;
                    let (nest, data) = reduction(combiner, dtype, shape, keep, 3 + count, wild);
                    let what = format!("{} of {dtype} {shape:?} keeping {keep:?}", combiner.info().name);
                    agree(&what, &nest, &data, closeness(combiner, dtype, wild));
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn special_values_reach_the_result() {
    for (value, sum, max) in [
        (f64::NAN, f64::NAN, f64::NAN),
        (f64::INFINITY, f64::INFINITY, f64::INFINITY),
        (f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0),
    ] {
        for at in [0, 31, 32, 99] {
            for (combiner, expected) in [(Combiner::Sum, sum), (Combiner::Max, max)] {
                let (nest, mut data) = reduction(combiner, F, (1, 100), (true, false), 1, false);
                data[0] = Data::new(F, Access::Read, (0..100).map(|i| Scalar::f32(if i == at { value as f32 } else { 1.0 })));
                let got = run(&nest, &data, 1).0[1].get(0).as_f64();
                assert!(got == expected || got.is_nan() && expected.is_nan(), "{combiner:?} of {value} at {at}: {got}");
            }
        }
    }
}

#[test]
fn long_sums_are_accurate() {
    let n = 1 << 20;
    let mut random = Random(9);
    for keep_cols in [false, true] {
        let (rows, cols) = if keep_cols { (n, 1) } else { (1, n) };
        let (nest, mut data) = reduction(Combiner::Sum, F, (rows, cols), (!keep_cols, keep_cols), 1, false);
        data[0] = Data::new(F, Access::Read, (0..n).map(|_| Scalar::f32(1.0 + random.real() as f32 * 1e-3)));
        let exact: f64 = (0..n as usize).map(|i| data[0].get(i).as_f64()).sum();
        let got = run(&nest, &data, 1).0[1].get(0).as_f64();
        assert!((got - exact).abs() <= 2.0 * ulp(F, exact), "{got} and {exact}");
    }
}

#[test]
fn arg_ties_and_nans() {
    for (values, max, min) in [
        (vec![1.0, 3.0, 3.0, 1.0], 1, 0),
        (vec![1.0, f32::NAN, 3.0, f32::NAN], 1, 1),
        (vec![-0.0, 0.0, 0.0, -0.0], 0, 0),
        (vec![f32::NEG_INFINITY; 70], 0, 0),
        (vec![f32::INFINITY; 70], 0, 0),
    ] {
        for (combiner, expected) in [(Combiner::ArgMax, max), (Combiner::ArgMin, min)] {
            let (nest, mut data) = reduction(combiner, F, (1, values.len() as i64), (true, false), 1, false);
            data[0] = Data::new(F, Access::Read, values.iter().map(|&v| Scalar::f32(v)));
            assert_eq!(run(&nest, &data, 1).0[2].get(0), Scalar::i64(expected), "{combiner:?} of {values:?}");
        }
    }
}

/// Softmax over columns: x is kept resident as x − max, then as its exponential.
pub(super) fn softmax(rows: i64, cols: i64, tiles: (usize, usize)) -> Nest {
    let resident = |mut r: RegDecl| {
        r.resident = u64::MAX;
        r
    };
    let full = reg(F, true, true);
    let row = reg(F, true, false);
    let regs = vec![full, row, full, resident(full), row, row, full, full];
    let at = affine(0, &[cols, 1]);
    let stages = vec![
        stage(vec![(Combiner::Max, &[1])], &[1], vec![load(0, 0, at.clone()), reduce(Combiner::Max, &[1], &[0])], vec![]),
        stage(
            vec![(Combiner::Sum, &[4])],
            &[1],
            vec![
                load(7, 0, at.clone()),
                op(ScalarOp::Sub, F, 2, &[7, 1]),
                op(ScalarOp::Exp, F, 3, &[2]),
                reduce(Combiner::Sum, &[4], &[3]),
            ],
            vec![op(ScalarOp::Recip, F, 5, &[4])],
        ),
        stage(vec![], &[1], vec![op(ScalarOp::Mul, F, 6, &[3, 5]), store(1, at, 6)], vec![]),
    ];
    Nest {
        extents: vec![rows, cols],
        grid: [0].into_iter().collect(),
        rows: axis(0, tiles.0),
        cols: axis(1, tiles.1),
        regs,
        stages,
        serial: false,
        sequence: None,
    }
}

#[test]
fn softmax_with_resident_rows() {
    for (rows, cols) in [(1, 1), (3, 7), (5, 8), (4, 31), (9, 1000), (2, 1025)] {
        let mut random = Random(4);
        let n = (rows * cols) as usize;
        let data = [Data::input(F, n, &mut random, Random::tame), Data::output(F, n)];
        for tiles in [(1, 1024), (4, 256), (2, 16)] {
            agree(&format!("softmax {rows}x{cols} {tiles:?}"), &softmax(rows, cols, tiles), &data, Close::Ulp(100.0, 0.0));
        }
    }
}

#[test]
fn softmax_of_an_all_masked_row_is_nan() {
    let data = [Data::new(F, Access::Read, [Scalar::f32(f32::NEG_INFINITY); 9]), Data::output(F, 9)];
    let (out, _) = run(&softmax(1, 9, (1, 1024)), &data, 1);
    assert!((0..9).all(|i| out[1].get(i).as_f64().is_nan()));
}

#[test]
fn layer_norm() {
    for (rows, cols) in [(1, 1), (5, 40), (3, 1030)] {
        let mut random = Random(6);
        let n = (rows * cols) as usize;
        let data = [
            Data::input(F, n, &mut random, Random::tame),
            Data::input(F, cols as usize, &mut random, Random::tame),
            Data::output(F, n),
        ];
        let (full, row, col, one) = (reg(F, true, true), reg(F, true, false), reg(F, false, true), reg(F, false, false));
        let regs = vec![full, row, row, row, row, one, row, row, full, full, full, col, full];
        let at = affine(0, &[cols, 1]);
        let finish = vec![
            op(ScalarOp::Div, F, 4, &[2, 3]),
            constant(5, 1e-5),
            op(ScalarOp::Add, F, 6, &[4, 5]),
            op(ScalarOp::Rsqrt, F, 7, &[6]),
        ];
        let stages = vec![
            stage(
                vec![(Combiner::Welford, &[1, 2, 3])],
                &[1],
                vec![load(0, 0, at.clone()), reduce(Combiner::Welford, &[1, 2, 3], &[0])],
                finish,
            ),
            stage(
                vec![],
                &[1],
                vec![
                    load(8, 0, at.clone()),
                    op(ScalarOp::Sub, F, 9, &[8, 1]),
                    op(ScalarOp::Mul, F, 10, &[9, 7]),
                    load(11, 1, affine(0, &[0, 1])),
                    op(ScalarOp::Mul, F, 12, &[10, 11]),
                    store(2, at, 12),
                ],
                vec![],
            ),
        ];
        let nest = Nest {
            extents: vec![rows, cols],
            grid: [0].into_iter().collect(),
            rows: axis(0, 4),
            cols: axis(1, 256),
            regs,
            stages,
            serial: false,
            sequence: None,
        };
        agree(&format!("layer norm {rows}x{cols}"), &nest, &data, Close::Ulp(64.0, 1.0));
    }
}

#[test]
fn scans_in_both_directions() {
    for combiner in [Combiner::Sum, Combiner::Prod, Combiner::Max, Combiner::Min, Combiner::Affine, Combiner::MaxSum] {
        for dtype in [F, DType::F64, DType::I32, DType::I64] {
            let operands = vec![dtype; combiner.info().operands];
            if combiner.results(&operands).is_err() {
                continue;
            }
            for along_rows in [false, true] {
                for (rows, cols) in [(1, 1), (6, 100), (30, 20)] {
                    let (nest, data) = scan(combiner, dtype, (rows, cols), along_rows);
                    let close = if dtype.is_float() { Close::Ulp(64.0, 8.0) } else { Close::Exact };
                    agree(&format!("scan {combiner:?} {dtype} {rows}x{cols} rows {along_rows}"), &nest, &data, close);
                }
            }
        }
    }
}

fn scan(combiner: Combiner, dtype: DType, (rows, cols): (i64, i64), along_rows: bool) -> (Nest, Vec<Data>) {
    let mut random = Random(8);
    let n = (rows * cols) as usize;
    let info = combiner.info();
    let k = info.components as Reg;
    let small = |r: &mut Random, d: DType| if d.is_float() { Scalar::from_f64(d, r.real() / 4.0) } else { r.wild(d) };
    let mut data: Vec<Data> = (0..info.operands).map(|_| Data::input(dtype, n, &mut random, small)).collect();
    let mut regs = vec![reg(dtype, true, true); info.operands];
    let src: Vec<Reg> = (0..info.operands as Reg).collect();
    let carry: Vec<Reg> = (regs.len() as Reg..).take(info.components).collect();
    regs.extend(state(combiner, dtype, !along_rows, along_rows));
    let dst: Vec<Reg> = carry.iter().map(|c| c + k).collect();
    regs.extend(state(combiner, dtype, true, true));
    let at = affine(0, &[cols, 1]);
    let mut code: Vec<Instr> = src.iter().map(|&s| load(s, s, at.clone())).collect();
    code.push(Instr::Scan {
        combiner,
        dst: dst.iter().copied().collect(),
        carry: carry.iter().copied().collect(),
        src: src.iter().copied().collect(),
        along_rows,
    });
    for &d in &dst {
        code.push(store(data.len() as u16, at.clone(), d));
        data.push(Data::output(dtype, n));
    }
    let (grid, inner) = if along_rows { (1, 0) } else { (0, 1) };
    let nest = Nest {
        extents: vec![rows, cols],
        grid: [grid].into_iter().collect(),
        rows: axis(0, 8),
        cols: axis(1, 32),
        regs,
        stages: vec![stage(vec![(combiner, &carry)], &[inner], code, vec![])],
        serial: false,
        sequence: None,
    };
    (nest, data)
}

#[test]
fn partial_states_merge() {
    for combiner in [Combiner::Welford, Combiner::MaxSum, Combiner::ArgMax, Combiner::Sum] {
        let components = combiner.info().components;
        let mut random = Random(2);
        let n = 20usize;
        let mut data: Vec<Data> = (0..components)
            .map(|k| {
                let arg = k == 1 && combiner == Combiner::ArgMax;
                let d = if arg { DType::I64 } else { F };
                let value = |r: &mut Random, d: DType| {
                    if d == DType::I64 { Scalar::i64(r.below(50) as i64) } else { Scalar::f32(1.0 + r.below(4) as f32) }
                };
                Data::input(d, n, &mut random, value)
            })
            .collect();
        let mut regs: Vec<RegDecl> = state(combiner, F, false, true);
        let accs: Vec<Reg> = (components as Reg..2 * components as Reg).collect();
        regs.extend(state(combiner, F, false, false));
        let mut code: Vec<Instr> = (0..components as u16).map(|k| load(k, k, affine(0, &[1]))).collect();
        code.push(Instr::Reduce {
            combiner,
            acc: accs.iter().copied().collect(),
            src: (0..components as Reg).collect(),
            merge: true,
        });
        let mut finish = Vec::new();
        for k in 0..components {
            let d = data[k].param.dtype;
            finish.push(store(data.len() as u16, affine(0, &[]), accs[k]));
            data.push(Data::output(d, 1));
        }
        let nest = Nest {
            extents: vec![n as i64],
            grid: Default::default(),
            rows: None,
            cols: axis(0, 8),
            regs,
            stages: vec![stage(vec![(combiner, &accs)], &[0], code, finish)],
            serial: false,
            sequence: None,
        };
        agree(&format!("merge {combiner:?}"), &nest, &data, Close::Ulp(32.0, 1.0));
    }
}

#[test]
fn an_inner_axis_that_is_no_tile_direction() {
    // sum over k of x[r, k, c], with a resident copy of x·2 read by a second stage.
    let (rows, inner, cols) = (3, 5, 20);
    let n = (rows * inner * cols) as usize;
    let mut random = Random(3);
    let data = [Data::input(F, n, &mut random, Random::tame), Data::output(F, (rows * cols) as usize), Data::output(F, n)];
    let full = reg(F, true, true);
    let mut kept = full;
    kept.resident = u64::MAX;
    let regs = vec![full, full, kept, full, full];
    let at = affine(0, &[inner * cols, cols, 1]);
    let stages = vec![stage(
        vec![(Combiner::Sum, &[1])],
        &[1],
        vec![
            load(0, 0, at.clone()),
            op(ScalarOp::Add, F, 3, &[0, 0]),
            op(ScalarOp::Neg, F, 2, &[3]),
            reduce(Combiner::Sum, &[1], &[2]),
        ],
        vec![store(1, affine(0, &[cols, 0, 1]), 1)],
    )];
    let mut nest = Nest {
        extents: vec![rows, inner, cols],
        grid: [0, 2].into_iter().collect(),
        rows: axis(0, 2),
        cols: axis(2, 8),
        regs,
        stages,
        serial: false,
        sequence: None,
    };
    let first = [&data[0], &data[1]].map(Clone::clone);
    agree("inner axis", &nest, &first, Close::Ulp(16.0, 8.0));
    nest.stages.push(stage(vec![], &[1], vec![op(ScalarOp::Mul, F, 4, &[2, 1]), store(2, at, 4)], vec![]));
    let (out, _) = run(&nest, &data, 1);
    for r in 0..rows {
        for c in 0..cols {
            let sum = out[1].get((r * cols + c) as usize).as_f64() as f32;
            for k in 0..inner {
                let i = ((r * inner + k) * cols + c) as usize;
                assert_eq!(out[2].get(i), Scalar::f32(-2.0 * data[0].get(i).as_f64() as f32 * sum), "{r} {k} {c}");
            }
        }
    }
}

#[test]
fn empty_reductions_give_the_initial_state() {
    let (mut nest, data) = reduction(Combiner::Max, F, (4, 10), (true, false), 1, false);
    nest.extents[1] = 0;
    let (out, _) = run(&nest, &data, 1);
    assert!((0..4).all(|i| out[1].get(i) == Scalar::f32(f32::NEG_INFINITY)));
}

#[test]
fn blocks_of_an_axis_leave_partial_results() {
    // sum over c of x[r, c] per row, and per block of rows the sum over r for each c.
    let (rows, cols, length) = (13, 21, 4);
    let blocks = (rows + length - 1) / length;
    let mut random = Random(11);
    let data = [
        Data::input(F, (rows * cols) as usize, &mut random, Random::tame),
        Data::output(F, rows as usize),
        Data::output(F, (blocks * cols) as usize),
    ];
    for (row_tile, col_tile) in [(2, 8), (4, 21), (1, 5)] {
        let mut down = reg(F, false, true);
        down.resident = 1 << 1;
        let nest = Nest {
            extents: vec![rows, cols, blocks],
            grid: [2].into_iter().collect(),
            rows: axis(0, row_tile),
            cols: axis(1, col_tile),
            regs: vec![reg(F, true, true), reg(F, true, false), down],
            stages: vec![stage(
                vec![(Combiner::Sum, &[1])],
                &[1],
                vec![load(0, 0, affine(0, &[cols, 1])), reduce(Combiner::Sum, &[1], &[0]), reduce(Combiner::Sum, &[2], &[0])],
                vec![store(1, affine(0, &[1]), 1)],
            )],
            serial: false,
            sequence: Some(Sequence {
                axis: 0,
                within: SmallVec::new(),
                block: 2,
                length,
                before: vec![stage(
                    vec![],
                    &[1],
                    vec![Instr::Init { combiner: Combiner::Sum, acc: [2].into_iter().collect() }],
                    vec![],
                )],
                after: vec![stage(vec![], &[1], vec![store(2, affine(0, &[0, 1, cols]), 2)], vec![])],
            }),
        };
        agree(&format!("blocks, tiles of {row_tile} x {col_tile}"), &nest, &data, Close::Ulp(16.0, 8.0));
    }
}

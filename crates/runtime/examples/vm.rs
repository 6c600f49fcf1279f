//! Time per element of some nests on the tile VM, beside a plain copy of the same bytes.
//!
//! `cargo run --release -p fuseline-runtime --example vm [threads]`

use std::time::Instant;

use program::{Access, Affine, Instr, Nest, Param, Reg, RegDecl, Stage, TileAxis, Ty};
use runtime::{CheckSink, PreparedNest, ThreadPool, prepare_nest, run_nests};
use scalar::{Combiner, DType, ScalarOp as S};

const COLS: usize = 1024;

fn full() -> RegDecl {
    RegDecl { ty: Ty::F32, rows: true, cols: true, resident: 0 }
}

fn row() -> RegDecl {
    RegDecl { cols: false, ..full() }
}

fn scalar_reg() -> RegDecl {
    RegDecl { rows: false, ..row() }
}

fn at() -> Affine {
    Affine { base: 0, coef: [COLS as i64, 1].into_iter().collect() }
}

fn load(dst: Reg) -> Instr {
    Instr::Load { dst, param: 0, index: at(), mask: vec![], fill: 0 }
}

fn store(src: Reg) -> Instr {
    Instr::Store { param: 1, index: at(), mask: vec![], src }
}

fn op(op: S, dst: Reg, args: &[Reg]) -> Instr {
    Instr::Op { op, dtype: DType::F32, round: true, dst, args: args.iter().copied().collect() }
}

fn reduce(combiner: Combiner, acc: Reg, src: Reg) -> Instr {
    Instr::Reduce { combiner, acc: [acc].into_iter().collect(), src: [src].into_iter().collect(), merge: false }
}

/// A pointwise nest of unary steps and steps with a constant.
fn chain(rows: i64, tile: usize, steps: &[(S, Option<f32>)]) -> Nest {
    let mut regs = vec![full()];
    let mut code = vec![load(0)];
    let mut last = 0;
    for &(s, constant) in steps {
        let mut args = vec![last];
        if let Some(c) = constant {
            code.push(Instr::Const { dst: regs.len() as Reg, bits: u64::from(c.to_bits()) });
            args.push(regs.len() as Reg);
            regs.push(scalar_reg());
        }
        last = regs.len() as Reg;
        regs.push(full());
        code.push(op(s, last, &args));
    }
    code.push(store(last));
    nest(rows, &[0, 1], tile, regs, vec![Stage { code, ..Stage::default() }])
}

fn nest(rows: i64, grid: &[usize], tile: usize, regs: Vec<RegDecl>, stages: Vec<Stage>) -> Nest {
    Nest {
        extents: vec![rows, COLS as i64],
        grid: grid.iter().copied().collect(),
        rows: Some(TileAxis { axis: 0, tile: 1 }),
        cols: Some(TileAxis { axis: 1, tile }),
        regs,
        stages,
        serial: false,
        sequence: None,
    }
}

/// gelu(x) by the error function, as separate ops.
fn gelu(rows: i64) -> Nest {
    let mut regs = vec![full(); 5];
    regs.extend([scalar_reg(); 3]);
    let constant = |dst, v: f32| Instr::Const { dst, bits: u64::from(v.to_bits()) };
    let code = vec![
        constant(5, std::f32::consts::FRAC_1_SQRT_2),
        constant(6, 1.0),
        constant(7, 0.5),
        load(0),
        op(S::Mul, 1, &[0, 5]),
        op(S::Erf, 2, &[1]),
        op(S::Add, 3, &[2, 6]),
        op(S::Mul, 4, &[3, 0]),
    ];
    let mut code = code;
    regs.push(full());
    code.push(op(S::Mul, 8, &[4, 7]));
    code.push(store(8));
    nest(rows, &[0, 1], COLS, regs, vec![Stage { code, ..Stage::default() }])
}

fn softmax(rows: i64) -> Nest {
    let regs = vec![full(), row(), full(), RegDecl { resident: u64::MAX, ..full() }, row(), row(), full(), full()];
    let inner = || [1usize].into_iter().collect();
    let init = |c, r: Reg| vec![(c, [r].into_iter().collect())];
    let stages = vec![
        Stage {
            init: init(Combiner::Max, 1),
            inner: inner(),
            ends: Default::default(),
            code: vec![load(0), reduce(Combiner::Max, 1, 0)],
            finish: vec![],
        },
        Stage {
            init: init(Combiner::Sum, 4),
            inner: inner(),
            ends: Default::default(),
            code: vec![load(7), op(S::Sub, 2, &[7, 1]), op(S::Exp, 3, &[2]), reduce(Combiner::Sum, 4, 3)],
            finish: vec![op(S::Recip, 5, &[4])],
        },
        Stage {
            init: vec![],
            inner: inner(),
            ends: Default::default(),
            code: vec![op(S::Mul, 6, &[3, 5]), store(6)],
            finish: vec![],
        },
    ];
    nest(rows, &[0], COLS, regs, stages)
}

/// One reduction of each row, stored in the first column.
fn reduction(rows: i64, combiner: Combiner) -> Nest {
    let first = Affine { base: 0, coef: [COLS as i64].into_iter().collect() };
    let stage = Stage {
        init: vec![(combiner, [1].into_iter().collect())],
        inner: [1usize].into_iter().collect(),
        ends: Default::default(),
        code: vec![load(0), reduce(combiner, 1, 0)],
        finish: vec![Instr::Store { param: 1, index: first, mask: vec![], src: 1 }],
    };
    nest(rows, &[0], COLS, vec![full(), row()], vec![stage])
}

/// Least nanoseconds per element over repetitions.
fn time(elements: usize, mut f: impl FnMut()) -> f64 {
    let rounds = (50_000_000 / elements).clamp(5, 400);
    let once = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    f();
    (0..rounds).map(|_| once(&mut f)).fold(f64::INFINITY, f64::min) * 1e9 / elements as f64
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let pool = ThreadPool::new(threads);
    println!("{threads} thread(s); nanoseconds per f32 element, least of many runs");
    for rows in [16i64, 256, 8192] {
        let n = rows as usize * COLS;
        let x: Vec<f32> = (0..n).map(|i| (i % 997) as f32 / 100.0 - 5.0).collect();
        let mut y = vec![0f32; n];
        let copy = time(n, || y.copy_from_slice(&x));
        println!("[{rows}, {COLS}]  memcpy {copy:.3}");
        let params =
            [Access::Read, Access::Write].map(|access| Param { name: "x".into(), dtype: DType::F32, access, elements: n as u64 });
        let ptrs = [x.as_ptr().cast_mut().cast::<u8>(), y.as_mut_ptr().cast()];
        let relu = [(S::Add, Some(0.5)), (S::Max, Some(0.0))];
        let ten = [S::Mul, S::Add, S::Max, S::Min, S::Sub, S::Mul, S::Add, S::Abs, S::Mul, S::Add];
        let ten: Vec<(S, Option<f32>)> = ten.iter().map(|&s| (s, (s != S::Abs).then_some(0.75))).collect();
        for (name, nest, stream) in [
            ("copy", chain(rows, COLS, &[]), false),
            ("copy, streaming", chain(rows, COLS, &[]), true),
            ("add, relu", chain(rows, COLS, &relu), false),
            ("add, relu, streaming", chain(rows, COLS, &relu), true),
            ("add, relu, tiles of 32", chain(rows, 32, &relu), false),
            ("10 cheap ops", chain(rows, COLS, &ten), false),
            ("exp", chain(rows, COLS, &[(S::Exp, None)]), false),
            ("tanh", chain(rows, COLS, &[(S::Tanh, None)]), false),
            ("sin", chain(rows, COLS, &[(S::Sin, None)]), false),
            ("log", chain(rows, COLS, &[(S::Log, None)]), false),
            ("pow 1.7", chain(rows, COLS, &[(S::Abs, None), (S::Add, Some(0.1)), (S::Pow, Some(1.7))]), false),
            ("erf", chain(rows, COLS, &[(S::Erf, None)]), false),
            ("gelu (erf)", gelu(rows), false),
            ("sum of rows", reduction(rows, Combiner::Sum), false),
            ("max of rows", reduction(rows, Combiner::Max), false),
            ("softmax rows", softmax(rows), false),
        ] {
            let mut prepared: PreparedNest = prepare_nest(&nest, &params).expect("a right program");
            prepared.stream = stream;
            let sink = CheckSink::new();
            // SAFETY: the pointers are valid for the declared elements and used by this nest only.
            let ns = time(n, || unsafe { run_nests(std::slice::from_ref(&prepared), &ptrs, &pool, &sink) });
            println!("  {name:24} {ns:7.3}   {:5.2} x memcpy", ns / copy);
        }
    }
}

//! Every op and dtype, operand forms, sizes, superinstructions.

use super::*;
use simd::ULP;

const SIZES: [i64; 7] = [1, 7, 8, 31, 1000, 1024, 1025];

/// Rows of the scalar table with their parameterised ones.
fn all_ops() -> Vec<ScalarOp> {
    let mut ops = ScalarOp::PLAIN.to_vec();
    ops.push(ScalarOp::Fma);
    ops.push(ScalarOp::Philox(3));
    ops.extend(DType::ALL.map(ScalarOp::Cast));
    ops.extend(DType::ALL.map(ScalarOp::Bitcast));
    ops
}

fn operand_dtypes(op: ScalarOp, dtype: DType) -> Vec<DType> {
    let mut dtypes = vec![dtype; op.arity()];
    if op == ScalarOp::Select {
        dtypes[0] = DType::Bool;
    }
    dtypes
}

fn tolerance(op: ScalarOp, dtype: DType) -> Close {
    let bound = ULP.iter().find(|(o, _)| *o == op).map(|(_, bound)| *bound);
    match (bound, dtype) {
        (None, _) => Close::Exact,
        // The oracle rounds once more; f64 rows are the standard library's or the oracle's own.
        (Some(_), DType::F16 | DType::BF16) => Close::Ulp(1.0, 0.0),
        (Some(bound), DType::F32) => Close::Ulp(bound + 0.5, 0.0),
        (Some(_), _) => Close::Ulp(2.0, 0.0),
    }
}

/// One op on a line of `n` points; bit k of `scalars` makes operand k a scalar.
fn line(op_: ScalarOp, dtypes: &[DType], out: DType, n: i64, scalars: usize, seed: u64) -> (Nest, Vec<Data>) {
    let mut random = Random(seed);
    let varies = |k: usize| scalars >> k & 1 == 0;
    let mut data: Vec<Data> = dtypes
        .iter()
        .enumerate()
        .map(|(k, &d)| Data::input(d, if varies(k) { n as usize } else { 1 }, &mut random, Random::wild))
        .collect();
    data.push(Data::output(out, n as usize));
    let mut regs: Vec<RegDecl> = dtypes.iter().enumerate().map(|(k, &d)| reg(d, false, varies(k))).collect();
    regs.push(reg(out, false, true));
    let arity = dtypes.len() as u16;
    let mut code: Vec<Instr> = (0..arity).map(|k| load(k, k, affine(0, &[i64::from(varies(usize::from(k)))]))).collect();
    code.push(op(op_, dtypes[dtypes.len() - 1], arity, &(0..arity).collect::<Vec<_>>()));
    code.push(store(arity, affine(0, &[1]), arity));
    (flat(&[n], None, axis(0, 512), regs, code), data)
}

#[test]
fn every_op_and_dtype() {
    let mut rows = 0;
    for op in all_ops() {
        for dtype in DType::ALL {
            let dtypes = operand_dtypes(op, dtype);
            let Ok(out) = op.result(&dtypes) else { continue };
            // Registers hold one NaN of each sign: of the codes of f8e5m2 that are NaN, one is kept.
            if dtypes.contains(&DType::F8E5M2) && matches!(op, ScalarOp::Bitcast(_)) {
                continue;
            }
            rows += 1;
            for scalars in 0..1 << dtypes.len() {
                for n in [1, 7, 37, 600] {
                    let (nest, data) = line(op, &dtypes, out, n, scalars, 7 + n as u64);
                    agree(&format!("{} of {dtype}, n {n}, scalars {scalars:b}", op.name()), &nest, &data, tolerance(op, dtype));
                }
            }
        }
    }
    assert!(rows > 400, "{rows}");
}

#[test]
fn sizes_and_threads() {
    for n in SIZES {
        for (op, dtype) in
            [(ScalarOp::Add, DType::F32), (ScalarOp::Tanh, DType::F32), (ScalarOp::Mul, DType::BF16), (ScalarOp::Max, DType::I8)]
        {
            let dtypes = operand_dtypes(op, dtype);
            let (nest, data) = line(op, &dtypes, dtype, n, 0, 3);
            agree(&format!("{} {dtype} {n}", op.name()), &nest, &data, tolerance(op, dtype));
        }
    }
}

/// A chain of `ops` with operand kinds out of `random`: one nest that computes and stores only the last value, and one
/// that also stores every intermediate value, which leaves nothing to pair.
fn chains(random: &mut Random, length: usize, shape: (i64, i64)) -> (Nest, Nest, Vec<Data>, Vec<Data>) {
    let (rows, cols) = shape;
    let n = (rows * cols) as usize;
    // Inputs: full, column vector, row scalar, constant scalar.
    let inputs = [(true, true, n), (false, true, cols as usize), (true, false, rows as usize), (false, false, 1)];
    let mut data: Vec<Data> = inputs.iter().map(|i| Data::input(DType::F32, i.2, random, Random::wild)).collect();
    let mut regs: Vec<RegDecl> = inputs.iter().map(|i| reg(DType::F32, i.0, i.1)).collect();
    let index = [affine(0, &[cols, 1]), affine(0, &[0, 1]), affine(0, &[1, 0]), affine(0, &[])];
    let mut code: Vec<Instr> = (0..4).map(|k| load(k, k, index[usize::from(k)].clone())).collect();
    let (mut all, mut more) = (code.clone(), data.clone());
    let binary = [ScalarOp::Add, ScalarOp::Sub, ScalarOp::Mul, ScalarOp::Max, ScalarOp::Min, ScalarOp::Div];
    let mut last = 0;
    for k in 0..length {
        let dst = regs.len() as Reg;
        regs.push(reg(DType::F32, true, true));
        let other = random.below(4) as Reg;
        let step = match random.below(8) {
            6 => op(ScalarOp::Neg, DType::F32, dst, &[last]),
            7 => op(ScalarOp::Abs, DType::F32, dst, &[last]),
            b if random.below(2) == 0 => op(binary[b as usize], DType::F32, dst, &[last, other]),
            b => op(binary[b as usize], DType::F32, dst, &[other, last]),
        };
        code.push(step.clone());
        all.push(step);
        all.push(store(4 + k as u16, affine(0, &[cols, 1]), dst));
        more.push(Data::output(DType::F32, n));
        last = dst;
    }
    data.push(Data::output(DType::F32, n));
    code.push(store(4, affine(0, &[cols, 1]), last));
    let nest = |code| flat(&[rows, cols], axis(0, 4), axis(1, 48), regs.clone(), code);
    (nest(code), nest(all), data, more)
}

#[test]
fn pairs_change_no_bit() {
    let mut random = Random(11);
    for round in 0..300 {
        let (fused, apart, data, more) = chains(&mut random, 1 + round % 9, [(5, 100), (1, 96), (9, 7), (4, 48)][round % 4]);
        agree(&format!("chain {round}"), &fused, &data, Close::Exact);
        let (one, _) = run(&fused, &data, 1);
        let (each, _) = run(&apart, &more, 1);
        let (a, b) = (&one[4], &each[each.len() - 1]);
        for i in 0..a.len() {
            assert!(same(a.get(i), b.get(i), Close::Exact), "round {round} [{i}]: {} and {}", a.get(i), b.get(i));
        }
    }
}

#[test]
fn math_does_not_depend_on_position() {
    let mut random = Random(5);
    let values: Vec<Scalar> = (0..331).map(|_| random.wild(DType::F32)).collect();
    for (op_, _) in ULP.iter().filter(|(op, _)| op.arity() == 1) {
        let run_slice = |from: usize, n: usize| {
            let data = [Data::new(DType::F32, Access::Read, values[from..from + n].iter().copied()), Data::output(DType::F32, n)];
            let regs = vec![reg(DType::F32, false, true); 2];
            let code = vec![load(0, 0, affine(0, &[1])), op(*op_, DType::F32, 1, &[0]), store(1, affine(0, &[1]), 1)];
            let (out, _) = run(&flat(&[n as i64], None, axis(0, 256), regs, code), &data, 1);
            (0..n).map(|i| out[1].get(i)).collect::<Vec<_>>()
        };
        let whole = run_slice(0, values.len());
        for (from, n) in [(0, 1), (3, 4), (10, 37), (100, 231), (299, 32), (330, 1)] {
            for (a, b) in run_slice(from, n).iter().zip(&whole[from..]) {
                assert!(same(*a, *b, Close::Exact), "{} at {from}+{n}: {a} and {b}", op_.name());
            }
        }
    }
}

#[test]
fn a_wider_destination_broadcasts() {
    let mut random = Random(1);
    let data = [Data::input(DType::F32, 3, &mut random, Random::tame), Data::output(DType::F32, 21)];
    let regs = vec![reg(DType::F32, true, false), reg(DType::F32, true, true), reg(DType::F32, true, true)];
    let code = vec![
        load(0, 0, affine(0, &[1])),
        op(ScalarOp::Neg, DType::F32, 1, &[0]),
        op(ScalarOp::Add, DType::F32, 2, &[1, 0]),
        store(1, affine(0, &[7, 1]), 2),
    ];
    agree("broadcast", &flat(&[3, 7], axis(0, 2), axis(1, 4), regs, code), &data, Close::Exact);
}

//! Loads, stores, masks, computed indices.

use super::*;

const F: DType = DType::F32;

/// Copies `[rows, cols]` with the given element strides of source and destination.
fn copy(
    dtype: DType,
    (rows, cols): (i64, i64),
    from: (i64, [i64; 2]),
    to: (i64, [i64; 2]),
    sizes: (usize, usize),
) -> (Nest, Vec<Data>) {
    let mut random = Random(7);
    let data = vec![Data::input(dtype, sizes.0, &mut random, Random::wild), Data::output(dtype, sizes.1)];
    let code = vec![load(0, 0, affine(from.0, &from.1)), store(1, affine(to.0, &to.1), 0)];
    (flat(&[rows, cols], axis(0, 16), axis(1, 24), vec![reg(dtype, true, true)], code), data)
}

#[test]
fn every_dtype_and_layout_copies() {
    for dtype in DType::ALL {
        for (r, c) in [(1, 1), (3, 70), (40, 33), (17, 4)] {
            let n = (r * c) as usize;
            let dense = (0, [c, 1]);
            let layouts = [
                ("dense", dense, n),
                ("transposed", (0, [1, r]), n),
                ("padded rows", (2, [c + 3, 1]), ((c + 3) * r + 2) as usize),
                ("every second", (1, [2 * c, 2]), 2 * n),
                ("flipped columns", (c - 1, [c, -1]), n),
                ("flipped rows", ((r - 1) * c, [-c, 1]), n),
                ("both strided", (0, [3 * c, 3]), 3 * n),
            ];
            for (name, layout, size) in layouts {
                let (nest, data) = copy(dtype, (r, c), layout, dense, (size, n));
                agree(&format!("load {name} {dtype} {r}x{c}"), &nest, &data, Close::Exact);
                let (nest, data) = copy(dtype, (r, c), dense, layout, (n, size));
                agree(&format!("store {name} {dtype} {r}x{c}"), &nest, &data, Close::Exact);
            }
            for (name, layout, size) in [("row", (0, [1, 0]), r), ("column", (0, [0, 1]), c), ("scalar", (0, [0, 0]), 1)] {
                let (nest, data) = copy(dtype, (r, c), layout, dense, (size as usize, n));
                agree(&format!("broadcast {name} {dtype} {r}x{c}"), &nest, &data, Close::Exact);
            }
        }
    }
}

#[test]
fn narrow_registers_broadcast_on_store() {
    for (rows, cols) in [(false, true), (true, false), (false, false)] {
        for dtype in [F, DType::BF16, DType::Bool] {
            let mut random = Random(7);
            let data = [Data::input(dtype, 30, &mut random, Random::wild), Data::output(dtype, 12 * 30)];
            let index = affine(0, &[i64::from(rows), i64::from(cols)]);
            let code = vec![load(0, 0, index), store(1, affine(0, &[30, 1]), 0)];
            let nest = flat(&[12, 30], axis(0, 8), axis(1, 16), vec![reg(dtype, rows, cols)], code);
            agree(&format!("expand {rows} {cols} {dtype}"), &nest, &data, Close::Exact);
        }
    }
}

#[test]
fn masked_loads_and_stores() {
    let (rows, cols) = (9i64, 50i64);
    let masks = [
        vec![bound(-3, &[0, 1], 0, 40)],
        vec![bound(-2, &[1, 0], 0, 5)],
        vec![bound(0, &[1, 1], 4, 30), bound(45, &[0, -2], 0, 40)],
        vec![bound(0, &[0, 0], 1, 2)],
        vec![bound(-60, &[7, 1], 0, 30)],
        vec![bound(0, &[0, 1], 0, 1000)],
    ];
    for dtype in [F, DType::F16, DType::I8, DType::I64, DType::Bool] {
        for (number, mask) in masks.iter().enumerate() {
            for fill in [0u64, 1] {
                let mut random = Random(number as u64);
                let n = (rows * cols) as usize;
                let data = [
                    Data::input(dtype, n, &mut random, Random::wild),
                    Data::output(dtype, n),
                    Data::output(dtype, n),
                    Data::output(DType::Bool, n),
                ];
                let regs = vec![reg(dtype, true, true), reg(dtype, true, true), reg(DType::Bool, true, true)];
                let at = affine(0, &[cols, 1]);
                let code = vec![
                    Instr::Load { dst: 0, param: 0, index: at.clone(), mask: mask.clone(), fill },
                    store(1, at.clone(), 0),
                    load(1, 0, at.clone()),
                    Instr::Store { param: 2, index: at.clone(), mask: mask.clone(), src: 1 },
                    Instr::Mask { dst: 2, bounds: mask.clone() },
                    store(3, at, 2),
                ];
                let nest = flat(&[rows, cols], axis(0, 4), axis(1, 16), regs, code);
                // A fill of bits 1 is no f16 value; stores round it.
                let close = if dtype == DType::F16 { Close::Ulp(1.0, 0.0) } else { Close::Exact };
                agree(&format!("mask {number} {dtype} fill {fill}"), &nest, &data, close);
            }
        }
    }
}

#[test]
fn masked_rows_without_columns() {
    let data = [Data::input(F, 20, &mut Random(1), Random::wild), Data::output(F, 20), Data::output(DType::I64, 20)];
    let regs = vec![reg(F, true, false), reg(DType::I64, true, false)];
    let code = vec![
        Instr::Load {
            dst: 0,
            param: 0,
            index: affine(0, &[1]),
            mask: vec![bound(0, &[1], 3, 15)],
            fill: u64::from(2f32.to_bits()),
        },
        store(1, affine(19, &[-1]), 0),
        Instr::Index { dst: 1, expr: affine(5, &[-3]) },
        store(2, affine(0, &[1]), 1),
    ];
    agree("rows only", &flat(&[20], axis(0, 8), None, regs, code), &data, Close::Exact);
}

#[test]
fn a_masked_result_is_computed_in_place_where_it_may() {
    let n = 100i64;
    let data = [Data::input(F, n as usize, &mut Random(1), Random::wild), Data::output(F, n as usize)];
    let regs = vec![reg(F, false, true), reg(F, false, true)];
    let code = vec![
        load(0, 0, affine(0, &[1])),
        op(ScalarOp::Neg, F, 1, &[0]),
        Instr::Store { param: 1, index: affine(0, &[1]), mask: vec![bound(0, &[1], 0, 55)], src: 1 },
    ];
    agree("masked result", &flat(&[n], None, axis(0, 16), regs, code), &data, Close::Exact);
}

#[test]
fn a_stored_result_that_is_used_again() {
    // y = −x; z = y · y, and y is written over nothing that z reads.
    let data = [Data::input(F, 64, &mut Random(1), Random::tame), Data::output(F, 64), Data::output(F, 64)];
    let regs = vec![reg(F, true, true); 3];
    let at = affine(0, &[8, 1]);
    let code = vec![
        load(0, 0, at.clone()),
        op(ScalarOp::Neg, F, 1, &[0]),
        // Written transposed first, then as it is.
        store(1, affine(0, &[1, 8]), 1),
        op(ScalarOp::Mul, F, 2, &[1, 1]),
        store(2, at, 2),
    ];
    agree("used again", &flat(&[8, 8], axis(0, 4), axis(1, 8), regs, code), &data, Close::Exact);
}

#[test]
fn updates_in_place() {
    let mut x = Data::input(F, 70, &mut Random(1), Random::tame);
    x.param.access = Access::ReadWrite;
    let regs = vec![reg(F, false, true); 4];
    let at = affine(0, &[1]);
    // x ← x + 1; y = the old x · 2, read from the load after the store.
    let code = vec![
        load(0, 0, at.clone()),
        constant(1, 1.0),
        op(ScalarOp::Add, F, 2, &[0, 1]),
        store(0, at.clone(), 2),
        op(ScalarOp::Add, F, 3, &[0, 0]),
        store(1, at, 3),
    ];
    let mut regs = regs;
    regs[1] = reg(F, false, false);
    agree("in place", &flat(&[70], None, axis(0, 32), regs, code), &[x, Data::output(F, 70)], Close::Exact);
}

#[test]
fn many_values_share_homes() {
    // A sum of 40 live values in reverse order: every load is alive until late.
    let mut random = Random(5);
    let mut regs = Vec::new();
    let mut code = Vec::new();
    for k in 0..20u16 {
        regs.extend([reg(F, true, true), reg(F, true, true)]);
        code.push(load(2 * k, 0, affine(i64::from(k), &[50, 2])));
        code.push(op(ScalarOp::Exp, F, 2 * k + 1, &[2 * k]));
    }
    let mut last = 39;
    for k in (0..19u16).rev() {
        let dst = regs.len() as Reg;
        regs.push(reg(F, true, true));
        code.push(op(ScalarOp::Sub, F, dst, &[2 * k + 1, last]));
        last = dst;
    }
    code.push(store(1, affine(0, &[10, 1]), last));
    let data = [Data::input(F, 600, &mut random, Random::tame), Data::output(F, 100)];
    agree("many", &flat(&[10, 10], axis(0, 4), axis(1, 10), regs, code), &data, Close::Ulp(40.0, 256.0));
}

#[test]
fn gathers_and_scatters() {
    for dtype in [F, DType::BF16, DType::U8, DType::F64, DType::Bool] {
        for by_row in [true, false] {
            let (rows, cols, table) = (10i64, 30i64, 6i64);
            let mut random = Random(3);
            let ids = if by_row { rows } else { rows * cols };
            let index = |r: &mut Random, _: DType| Scalar::i64(r.below(6) as i64);
            let data = [
                Data::input(DType::I64, ids as usize, &mut random, index),
                Data::input(dtype, (table * cols) as usize, &mut random, Random::wild),
                Data::output(dtype, (rows * cols) as usize),
                Data::output(dtype, (rows * table * cols) as usize),
                Data::input(DType::Bool, ids as usize, &mut random, Random::wild),
            ];
            let id = reg(DType::I64, true, !by_row);
            let regs = vec![id, id, id, reg(dtype, true, true), reg(DType::Bool, true, !by_row), reg(DType::I64, false, false)];
            let at = if by_row { affine(0, &[1, 0]) } else { affine(0, &[cols, 1]) };
            let code = vec![
                load(0, 0, at.clone()),
                load(4, 4, at),
                Instr::Check { dst: 1, value: 0, limit: table, mask: None, message: 0 },
                Instr::Const { dst: 5, bits: cols as u64 },
                op(ScalarOp::Mul, DType::I64, 2, &[1, 5]),
                Instr::LoadAt { dst: 3, param: 1, index: affine(0, &[0, 1]), offset: 2, mask: Some(4) },
                store(2, affine(0, &[cols, 1]), 3),
                Instr::StoreAt {
                    param: 3,
                    index: affine(0, &[table * cols, 1]),
                    offset: 2,
                    mask: Some(4),
                    src: 3,
                    combine: None,
                },
            ];
            let nest = flat(&[rows, cols], axis(0, 4), axis(1, 16), regs, code);
            agree(&format!("gather {dtype} by row {by_row}"), &nest, &data, Close::Exact);
        }
    }
}

#[test]
fn colliding_scatters_combine_in_order() {
    for dtype in [F, DType::F16, DType::I8, DType::I64] {
        for combine in [None, Some(ScalarOp::Add), Some(ScalarOp::Max), Some(ScalarOp::Mul)] {
            let mut random = Random(3);
            let index = |r: &mut Random, _: DType| Scalar::i64(r.below(5) as i64);
            let mut out = Data::input(dtype, 5, &mut random, Random::tame);
            out.param.access = Access::ReadWrite;
            let data = [Data::input(DType::I64, 90, &mut random, index), Data::input(dtype, 90, &mut random, Random::tame), out];
            let regs = vec![reg(DType::I64, false, true), reg(dtype, false, true)];
            let at = affine(0, &[1]);
            let code = vec![
                load(0, 0, at.clone()),
                load(1, 1, at),
                Instr::StoreAt { param: 2, index: affine(0, &[0]), offset: 0, mask: None, src: 1, combine },
            ];
            let mut nest = flat(&[90], None, axis(0, 32), regs, code);
            nest.serial = true;
            agree(&format!("scatter {dtype} {combine:?}"), &nest, &data, Close::Exact);
        }
    }
}

#[test]
fn a_failed_check_is_an_error_and_harmless() {
    let values = [3, 0, 7, 2, -1].map(Scalar::i64);
    let data = [
        Data::new(DType::I64, Access::Read, values),
        Data::new(F, Access::Read, [0.0, 1.0, 2.0, 3.0].map(Scalar::f32)),
        Data::output(F, 5),
    ];
    let regs = vec![reg(DType::I64, false, true), reg(DType::I64, false, true), reg(F, false, true)];
    let code = |check: bool| {
        let mut code = vec![load(0, 0, affine(0, &[1]))];
        if check {
            code.push(Instr::Check { dst: 1, value: 0, limit: 4, mask: None, message: 0 });
        }
        let offset = Reg::from(check);
        code.push(Instr::LoadAt { dst: 2, param: 1, index: affine(0, &[0]), offset, mask: None });
        code.push(store(2, affine(0, &[1]), 2));
        code
    };
    let (out, error) = run(&flat(&[5], None, axis(0, 8), regs.clone(), code(true)), &data, 1);
    assert_eq!(error.unwrap().to_string(), "index out of range: got 7");
    assert_eq!((0..5).map(|i| out[2].get(i).as_f64()).collect::<Vec<_>>(), [3.0, 0.0, 3.0, 2.0, 0.0]);
    let (out, error) = run(&flat(&[5], None, axis(0, 8), regs, code(false)), &data, 1);
    assert_eq!(error.unwrap().kind, base::ErrorKind::Internal);
    assert_eq!((0..5).map(|i| out[2].get(i).as_f64()).collect::<Vec<_>>(), [3.0, 0.0, 0.0, 2.0, 0.0]);
}

#[test]
fn streaming_stores_write_the_same() {
    let n = 5000i64;
    let mut data = [Data::input(F, n as usize, &mut Random(1), Random::wild), Data::output(F, n as usize)];
    let regs = vec![reg(F, false, true), reg(F, false, true)];
    let code = vec![load(0, 0, affine(0, &[1])), op(ScalarOp::Neg, F, 1, &[0]), store(1, affine(0, &[1]), 1)];
    let nest = flat(&[n], None, axis(0, 1000), regs, code);
    let (expected, _) = run(&nest, &data, 1);
    let params: Vec<Param> = data.iter().map(|d| d.param.clone()).collect();
    let mut prepared = prepare_nest(&nest, &params).unwrap();
    prepared.stream = true;
    let ptrs: Vec<*mut u8> = data.iter_mut().map(Data::ptr).collect();
    // SAFETY: as in `run`.
    unsafe { run_nests(std::slice::from_ref(&prepared), &ptrs, &ThreadPool::new(2), &CheckSink::new()) };
    assert_eq!(data[1].bytes, expected[1].bytes);
}

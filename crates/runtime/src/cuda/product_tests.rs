//! Products as calls.

use program::{Beside, Epilogue, Vector};

use super::*;

fn operand(param: u16, rows: i64, columns: i64, batch: &[i64]) -> Operand {
    Operand { param, dtype: DType::BF16, offset: 0, rows, columns, batch: batch.to_vec() }
}

/// 5 x 7 with k = 3, all row-major.
fn plain() -> Product {
    Product {
        batch: vec![],
        m: 5,
        n: 7,
        k: 3,
        a: operand(0, 3, 1, &[]),
        b: operand(1, 7, 1, &[]),
        d: operand(2, 7, 1, &[]),
        acc: DType::F32,
        epilogue: Epilogue::default(),
    }
}

/// Runs the calls on numbers: what the library would do.
fn run(product: &Product, a: &[i64], b: &[i64], size: usize) -> Vec<i64> {
    let mapped = map(product).unwrap();
    let mut out = vec![0; size];
    let Some(p) = &mapped.problem else { return out };
    let (a, b) = if mapped.swapped { (b, a) } else { (a, b) };
    let at = |m: &Matrix, transposed: bool, start: i64, row: i64, column: i64| {
        let (row, column) = if transposed { (column, row) } else { (row, column) };
        assert!(row < m.rows && column < m.columns && m.leading >= m.rows);
        (start + row + column * m.leading) as usize
    };
    for call in &mapped.calls {
        for batch in 0..p.batch {
            let start = [call[0] + batch * p.a.stride, call[1] + batch * p.b.stride, call[2] + batch * p.d.stride];
            for i in 0..p.d.rows {
                for j in 0..p.d.columns {
                    let term = |l| a[at(&p.a, p.transposed[0], start[0], i, l)] * b[at(&p.b, p.transposed[1], start[1], l, j)];
                    out[at(&p.d, false, start[2], i, j)] = (0..p.k).map(term).sum();
                }
            }
        }
    }
    out
}

/// What a product means.
fn meant(p: &Product, a: &[i64], b: &[i64], size: usize) -> Vec<i64> {
    let mut out = vec![0; size];
    let batches: i64 = p.batch.iter().product();
    for flat in 0..batches {
        let (mut rest, mut base) = (flat, [p.a.offset, p.b.offset, p.d.offset]);
        for (axis, &extent) in p.batch.iter().enumerate().rev() {
            let index = rest % extent;
            rest /= extent;
            for (at, o) in base.iter_mut().zip([&p.a, &p.b, &p.d]) {
                *at += index * o.batch[axis];
            }
        }
        for i in 0..p.m {
            for j in 0..p.n {
                let term = |l| {
                    let (x, y) = (base[0] + i * p.a.rows + l * p.a.columns, base[1] + l * p.b.rows + j * p.b.columns);
                    a[x as usize] * b[y as usize]
                };
                out[(base[2] + i * p.d.rows + j * p.d.columns) as usize] = (0..p.k).map(term).sum();
            }
        }
    }
    out
}

fn check(p: &Product) -> Mapped {
    let numbers = |seed: i64| (0..4096).map(|i| (i * 31 + seed) % 17 - 8).collect::<Vec<i64>>();
    let (a, b) = (numbers(1), numbers(5));
    assert_eq!(run(p, &a, &b, 8192), meant(p, &a, &b, 8192), "{p:?}");
    map(p).unwrap()
}

#[test]
fn row_major_products_swap_their_factors() {
    let mapped = check(&plain());
    let problem = mapped.problem.unwrap();
    assert!(mapped.swapped && mapped.calls == [[0, 0, 0]]);
    assert_eq!((problem.compute, problem.scale, problem.epilogue, problem.transposed), (68, DType::F32, 1, [false, false]));
    assert_eq!((problem.a.rows, problem.a.columns, problem.a.leading), (7, 3, 7));
}

#[test]
fn every_layout_of_every_operand() {
    for bits in 0..8 {
        for (m, n, k) in [(5, 7, 3), (1, 7, 3), (5, 1, 3), (5, 7, 1), (1, 1, 3), (1, 1, 1), (1, 7, 1), (5, 1, 1)] {
            for pad in [0, 2] {
                let layout = |bit: i32, rows: i64, columns: i64| {
                    if bits >> bit & 1 == 0 { (columns + pad, 1) } else { (1, rows + pad) }
                };
                let (a, b, d) = (layout(0, m, k), layout(1, k, n), layout(2, m, n));
                let p = Product {
                    m,
                    n,
                    k,
                    a: Operand { offset: 3, ..operand(0, a.0, a.1, &[]) },
                    b: operand(1, b.0, b.1, &[]),
                    d: Operand { offset: 1, ..operand(2, d.0, d.1, &[]) },
                    ..plain()
                };
                check(&p);
            }
        }
    }
}

#[test]
fn batches_merge_fold_or_loop() {
    let batched = |batch: &[i64], a: &[i64], b: &[i64], d: &[i64]| Product {
        batch: batch.to_vec(),
        a: operand(0, 3, 1, a),
        b: operand(1, 7, 1, b),
        d: operand(2, 7, 1, d),
        ..plain()
    };
    let merged = check(&batched(&[2, 1, 4], &[60, 9, 15], &[84, 9, 21], &[140, 9, 35]));
    assert_eq!((merged.calls.len(), merged.problem.unwrap().batch), (1, 8));
    let folded = check(&batched(&[2, 4], &[60, 15], &[0, 0], &[140, 35])).problem.unwrap();
    assert_eq!((folded.batch, folded.d.columns), (1, 40));
    let looped = check(&batched(&[2, 4], &[15, 30], &[84, 21], &[140, 35]));
    assert_eq!((looped.calls.len(), looped.problem.unwrap().batch), (2, 4));
    let shared = check(&batched(&[4], &[0], &[21], &[35]));
    assert_eq!(shared.problem.unwrap().batch, 4);
    let empty = map(&batched(&[0], &[15], &[21], &[35])).unwrap();
    assert!(empty.problem.is_none() && empty.calls.is_empty());
}

#[test]
fn a_bias_needs_its_axis_adjacent() {
    let bias = |over_rows| Epilogue {
        bias: Some(Vector { param: 3, offset: 0, over_rows }),
        activation: Some(Activation::GeluTanh),
        ..Epilogue::default()
    };
    let columns = map(&Product { epilogue: bias(false), ..plain() }).unwrap();
    assert!(columns.swapped && columns.problem.unwrap().epilogue == 36);
    assert!(map(&Product { epilogue: bias(true), ..plain() }).is_err());
    let across = map(&Product { epilogue: bias(true), d: operand(2, 1, 5, &[]), ..plain() }).unwrap();
    assert!(!across.swapped);
}

#[test]
fn a_second_matrix_is_aligned() {
    let beside = |activation, offset| Epilogue { activation, beside: Some(Beside { param: 3, offset }), ..Epilogue::default() };
    let (gelu, backward) = (Some(Activation::GeluTanh), Some(Activation::GeluTanhBackward));
    let wide = Product { n: 16, b: operand(1, 16, 1, &[]), d: operand(2, 16, 1, &[]), ..plain() };
    for (activation, code) in [(gelu, 160), (backward, 192)] {
        let problem = map(&Product { epilogue: beside(activation, 8), ..wide.clone() }).unwrap().problem.unwrap();
        assert!(problem.has_beside() && problem.epilogue == code);
    }
    let sums = |over_rows| Epilogue { sums: Some(Vector { param: 4, offset: 0, over_rows }), ..beside(backward, 0) };
    let summed = map(&Product { epilogue: sums(false), ..wide.clone() }).unwrap().problem.unwrap();
    assert!(summed.has_sums() && summed.epilogue == 208);
    let stacked = |epilogue| Product {
        batch: vec![2],
        a: operand(0, 3, 1, &[15]),
        b: operand(1, 16, 1, &[0]),
        d: operand(2, 16, 1, &[80]),
        epilogue,
        ..wide.clone()
    };
    assert_eq!(map(&stacked(sums(false))).unwrap().problem.unwrap().d.columns, 10, "sums over the batch as well");
    let bias = Some(Vector { param: 4, offset: 0, over_rows: false });
    let bad = [
        Product { b: operand(1, 16, 1, &[48]), ..stacked(sums(false)) },
        Product { epilogue: sums(true), ..wide.clone() },
        Product { epilogue: Epilogue { activation: gelu, ..sums(false) }, ..wide.clone() },
        Product { epilogue: beside(gelu, 4), ..wide.clone() },
        Product { epilogue: beside(gelu, 0), ..plain() },
        Product { epilogue: beside(None, 0), ..wide.clone() },
        Product { epilogue: beside(Some(Activation::Relu), 0), ..wide.clone() },
        Product { epilogue: Epilogue { bias, ..beside(backward, 0) }, ..wide.clone() },
        Product { epilogue: Epilogue { beside: None, ..beside(backward, 0) }, ..wide.clone() },
    ];
    for product in bad {
        assert_eq!(map(&product).unwrap_err().kind, base::ErrorKind::Unsupported, "{product:?}");
    }
}

#[test]
fn what_the_library_cannot_take_is_unsupported() {
    let strided = Product { a: operand(0, 6, 2, &[]), ..plain() };
    let narrow = Product { b: operand(1, 3, 1, &[]), ..plain() };
    let backwards = Product { a: operand(0, -3, 1, &[]), ..plain() };
    let mixed = Product { a: Operand { dtype: DType::F16, ..plain().a }, ..plain() };
    let bytes = Product { acc: DType::I32, ..plain() };
    let nothing = Product { k: 0, ..plain() };
    for product in [strided, narrow, backwards, mixed, bytes, nothing] {
        assert_eq!(map(&product).unwrap_err().kind, base::ErrorKind::Unsupported, "{product:?}");
    }
}

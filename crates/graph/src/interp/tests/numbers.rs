use scalar::{Combiner as C, Scalar};

use super::*;

/// Reference: lifts and combines states of the scalar table in f64, in order.
fn reference(c: C, columns: &[Vec<f64>]) -> Vec<Scalar> {
    let mut state = c.init(DType::F64);
    for i in 0..columns[0].len() {
        let point: Vec<Scalar> = columns.iter().map(|v| Scalar::from_f64(DType::F64, v[i])).collect();
        state = c.combine(&state, &c.lift(&point, i as i64));
    }
    c.finish(DType::F64, &state)
}

fn results(b: &mut Builder, node: NodeId, n: usize) -> Result<Vec<NodeId>> {
    (0..n as u32).map(|i| b.result(node, i)).collect()
}

fn assert_close(got: f64, want: f64) {
    let same = got == want || got.is_nan() && want.is_nan() || (got - want).abs() <= 1e-12 * want.abs().max(1.0);
    assert!(same, "{got} is not {want}");
}

const FLOATS: [C; 9] = [C::Sum, C::Prod, C::Max, C::Min, C::ArgMax, C::ArgMin, C::Welford, C::MaxSum, C::Affine];
const ROWS: [&[f64]; 6] = [
    &[],
    &[3.0],
    &[1.0, -2.0, 0.5, 4.0, 4.0, -3.0],
    &[2.0, f64::NAN, 7.0, f64::NAN],
    &[f64::NEG_INFINITY, f64::NEG_INFINITY],
    &[-0.0, 0.0, f64::INFINITY],
];

#[test]
fn float_reductions_agree_with_the_combiner_table() {
    for c in FLOATS.into_iter().filter(|c| c.info().commutative) {
        for row in ROWS {
            let x = HostTensor::from_f64s(DType::F64, &[row.len()], row);
            let got =
                eval_all(&[x], false, |b, x| b.reduce(c, x, &[0]).and_then(|n| results(b, n, c.info().components))).unwrap();
            let want = reference(c, &[row.to_vec()]);
            got.iter().zip(&want).for_each(|(g, w)| assert_close(g.get(0).as_f64(), w.as_f64()));
        }
    }
}

#[test]
fn float_scans_agree_with_reductions_of_prefixes() {
    for c in FLOATS {
        for row in ROWS {
            let operands = vec![row.to_vec(); c.info().operands];
            let args: Vec<HostTensor> = operands.iter().map(|v| HostTensor::from_f64s(DType::F64, &[v.len()], v)).collect();
            let got = eval_all(&args, false, |b, x| b.scan(c, x, 0).and_then(|n| results(b, n, c.info().components))).unwrap();
            for i in 0..row.len() {
                let prefixes: Vec<Vec<f64>> = operands.iter().map(|v| v[..=i].to_vec()).collect();
                let want = reference(c, &prefixes);
                got.iter().zip(&want).for_each(|(g, w)| assert_close(g.get(i).as_f64(), w.as_f64()));
            }
        }
    }
}

#[test]
fn integers_wrap_and_empty_reductions_give_the_identity() {
    let x = HostTensor::from_i64s(DType::I8, &[2, 2], &[100, -100, 100, -100]);
    let sum = eval(std::slice::from_ref(&x), |b, x| b.reduce(C::Sum, x, &[0])).unwrap();
    assert_eq!(sum.to_i64s(), [-56, 56]);
    for d in [DType::I8, DType::U16, DType::U64, DType::I64, DType::F16] {
        let empty = HostTensor::from_i64s(d, &[0], &[]);
        for c in [C::Max, C::Min, C::Sum, C::Prod] {
            let got = eval(std::slice::from_ref(&empty), |b, x| b.reduce(c, x, &[0])).unwrap();
            let want = c.finish(d, &c.init(d))[0];
            assert_eq!(got.get(0), want, "{c:?} of no {d}");
        }
    }
    let empty = HostTensor::from_i64s(DType::Bool, &[0], &[]);
    for (c, want) in [(C::Max, false), (C::Min, true)] {
        let got = eval(std::slice::from_ref(&empty), |b, x| b.reduce(c, x, &[0])).unwrap();
        assert_eq!(got.get(0), Scalar::bool(want), "{c:?} of no bool");
    }
}

#[test]
fn unsigned_64_bit_orders_by_value() {
    let big = Scalar::from_bits(DType::U64, u64::MAX);
    let x = HostTensor::from_scalars(
        DType::U64,
        &[3],
        [Scalar::from_i64(DType::U64, 5), big, Scalar::from_i64(DType::U64, 7)].into_iter(),
    );
    let got = eval_all(&[x], false, |b, x| {
        let max = b.reduce(C::Max, x, &[0])?;
        let arg = b.reduce(C::ArgMin, x, &[0])?;
        Ok(vec![max, b.result(arg, 1)?])
    });
    let got = got.unwrap();
    assert_eq!((got[0].get(0), got[1].to_i64s()), (big, vec![0]));
}

#[test]
fn several_axes_reduce_in_row_major_order() {
    let got = eval_all(&[ramp(&[2, 3, 4])], false, |b, x| {
        let sum = b.reduce(C::Sum, x, &[0, 2])?;
        let arg = b.reduce(C::ArgMax, x, &[0, 2])?;
        Ok(vec![sum, b.result(arg, 1)?])
    });
    let got = got.unwrap();
    assert_eq!(got[0].to_i64s(), [60, 92, 124]);
    assert_eq!(got[1].to_i64s(), [7, 7, 7]);
}

#[test]
fn bools_reduce() {
    let x = HostTensor::from_i64s(DType::Bool, &[2, 2], &[0, 1, 0, 0]);
    let got = eval_all(&[x], false, |b, x| Ok(vec![b.reduce(C::Any, x, &[1])?, b.reduce(C::All, x, &[0])?])).unwrap();
    assert_eq!((got[0].to_i64s(), got[1].to_i64s()), (vec![1, 0], vec![0, 0]));
}

#[test]
fn half_sums_round_once() {
    let x = HostTensor::from_f64s(DType::F16, &[4096], &[1.0; 4096]);
    let y = eval(&[x], |b, x| b.reduce(C::Sum, x, &[0])).unwrap();
    assert_eq!(y.to_f64s(), [4096.0]);
}

/// Sum over every assignment of labels, by definition.
fn naive_einsum(spec: &str, extents: &[(char, usize)], a: &[f64], b: &[f64]) -> Vec<f64> {
    let (operands, out) = spec.split_once("->").unwrap();
    let (la, lb) = operands.split_once(',').unwrap();
    let size = |l: char| extents.iter().find(|e| e.0 == l).unwrap().1;
    let total: usize = extents.iter().map(|e| e.1).product();
    let mut result = vec![0.0; out.chars().map(size).product()];
    for flat in 0..total {
        let mut rest = flat;
        let point: Vec<(char, usize)> = extents.iter().map(|&(l, n)| (l, (rest % n, rest /= n).0)).collect();
        let at = |labels: &str| labels.chars().fold(0, |p, l| p * size(l) + point.iter().find(|e| e.0 == l).unwrap().1);
        result[at(out)] += a[at(la)] * b[at(lb)];
    }
    result
}

#[test]
fn contractions_agree_with_the_definition() {
    let extents = [('b', 2), ('i', 70), ('j', 3), ('k', 5)];
    let specs = [
        "bik,bkj->bij",
        "ik,kj->ij",
        "bki,jk->bji",
        "k,k->",
        "bik,kj->jib",
        "i,j->ij",
        "bik,k->b",
        "bik,bik->bik",
        "bik,jk->j",
        "ik,bj->ib",
    ];
    for spec in specs {
        let labels: Vec<char> = spec.chars().filter(char::is_ascii_alphabetic).collect();
        let used: Vec<(char, usize)> = extents.iter().copied().filter(|e| labels.contains(&e.0)).collect();
        let operand = |labels: &str, seed: i64| {
            let shape: Vec<usize> = labels.chars().map(|l| used.iter().find(|e| e.0 == l).unwrap().1).collect();
            let n: usize = shape.iter().product();
            let values: Vec<f64> = (0..n as i64).map(|i| ((i * 7 + seed) % 11 - 5) as f64).collect();
            f32s(&shape, &values)
        };
        let (la, lb) = spec.split_once("->").unwrap().0.split_once(',').unwrap();
        let (a, c) = (operand(la, 1), operand(lb, 4));
        let want = naive_einsum(spec, &used, &a.to_f64s(), &c.to_f64s());
        let got = eval(&[a.clone(), c.clone()], |b, x| b.einsum(spec, x[0], x[1], DType::F32)).unwrap();
        assert_eq!(got.to_f64s(), want, "{spec}");
        let double = |t: &HostTensor| HostTensor::from_f64s(DType::F64, t.shape(), &t.to_f64s());
        let got = eval(&[double(&a), double(&c)], |b, x| b.einsum(spec, x[0], x[1], DType::F64)).unwrap();
        assert_eq!(got.to_f64s(), want, "{spec} in f64");
    }
}

#[test]
fn contraction_blocks_cover_odd_extents() {
    let (m, k, n) = (131, 259, 517);
    let a: Vec<f64> = (0..m * k).map(|i| (i % 5) as f64).collect();
    let c: Vec<f64> = (0..k * n).map(|i| (i % 3) as f64).collect();
    let got = eval(&[f32s(&[m, k], &a), f32s(&[k, n], &c)], |b, x| b.einsum("ik,kj->ij", x[0], x[1], DType::F32)).unwrap();
    for (i, j) in [(0, 0), (63, 255), (64, 256), (130, 516), (100, 300)] {
        let want: f64 = (0..k).map(|p| a[i * k + p] * c[p * n + j]).sum();
        assert_eq!(got.get(i * n + j).as_f64(), want);
    }
}

#[test]
fn mixed_bytes_contract_to_i32_and_empty_depth_gives_zero() {
    let a = HostTensor::from_i64s(DType::U8, &[1, 3], &[255, 255, 255]);
    let c = HostTensor::from_i64s(DType::I8, &[3, 1], &[-128, -128, 127]);
    let got = eval(&[a, c], |b, x| b.einsum("ik,kj->ij", x[0], x[1], DType::I32)).unwrap();
    assert_eq!((got.dtype(), got.to_i64s()), (DType::I32, vec![255 * -129]));
    let got = eval(&[f32s(&[2, 0], &[]), f32s(&[0, 2], &[])], |b, x| b.einsum("ik,kj->ij", x[0], x[1], DType::F32)).unwrap();
    assert_eq!(got.to_f64s(), [0.0; 4]);
}

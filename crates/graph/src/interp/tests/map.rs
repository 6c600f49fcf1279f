use scalar::{Scalar, ScalarOp as S};

use super::*;

/// Values of a dtype that exercise its corners.
fn corners(dtype: DType) -> Vec<Scalar> {
    let values: &[f64] = match dtype {
        DType::Bool => &[0.0, 1.0],
        d if d.is_float() => &[0.0, -0.0, 1.0, -1.5, 0.3, 2.5, 3.7, 1e-8, -7e4, f64::INFINITY, f64::NEG_INFINITY, f64::NAN],
        _ => &[0.0, 1.0, -1.0, 2.0, 3.0, -7.0, 100.0, -1e30, 1e30],
    };
    values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect()
}

/// Every combination of corner values for the operand dtypes, as one column per operand.
fn columns(dtypes: &[DType]) -> Vec<Vec<Scalar>> {
    let mut columns: Vec<Vec<Scalar>> = vec![Vec::new(); dtypes.len()];
    let lists: Vec<Vec<Scalar>> = dtypes.iter().map(|&d| corners(d)).collect();
    let total: usize = lists.iter().map(Vec::len).product();
    for i in 0..total {
        let mut rest = i;
        for (column, list) in columns.iter_mut().zip(&lists) {
            column.push(list[rest % list.len()]);
            rest /= list.len();
        }
    }
    columns
}

fn same(a: Scalar, b: Scalar) -> bool {
    let nan = |s: Scalar| s.dtype().is_float() && s.as_f64().is_nan();
    a == b || (nan(a) && nan(b))
}

fn check_row(op: S, dtypes: &[DType]) {
    let columns = columns(dtypes);
    let args: Vec<HostTensor> =
        columns.iter().zip(dtypes).map(|(c, &d)| HostTensor::from_scalars(d, &[c.len()], c.iter().copied())).collect();
    let got = eval(&args, |b, x| b.map(op, x)).unwrap();
    for i in 0..got.len() {
        let point: Vec<Scalar> = columns.iter().map(|c| c[i]).collect();
        let want = scalar::eval(op, &point);
        assert!(same(got.get(i), want), "{}({point:?}) = {:?}, the table says {want:?}", op.name(), got.get(i));
    }
}

#[test]
fn every_row_and_dtype_agrees_with_the_scalar_table() {
    let casts = DType::ALL.into_iter().map(S::Cast);
    let rows: Vec<S> =
        S::PLAIN.into_iter().chain([S::Fma, S::Bitcast(DType::U32), S::Bitcast(DType::F32)]).chain(casts).collect();
    let mut checked = 0;
    for op in rows {
        for d in DType::ALL {
            let dtypes: Vec<DType> = (0..op.arity()).map(|i| if op == S::Select && i == 0 { DType::Bool } else { d }).collect();
            if op.result(&dtypes).is_ok() {
                check_row(op, &dtypes);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "only {checked} rows were checked");
}

#[test]
fn philox_agrees_with_the_scalar_table() {
    check_row(S::Philox(7), &[DType::I64, DType::I64]);
}

#[test]
fn wide_rounds_outputs_only() {
    let x = HostTensor::from_f64s(DType::F16, &[1], &[1.0]);
    let tiny = |b: &mut Builder, x: &[NodeId]| {
        let c = b.constant(Scalar::from_f64(DType::F16, 2f64.powi(-13)))?;
        let c = b.reshape(c, [1i64])?;
        let up = b.map(S::Add, &[x[0], c])?;
        Ok(vec![b.map(S::Sub, &[up, x[0]])?])
    };
    assert_eq!(eval_all(std::slice::from_ref(&x), false, tiny).unwrap()[0].to_f64s(), [0.0]);
    assert_eq!(eval_all(&[x], true, tiny).unwrap()[0].to_f64s(), [2f64.powi(-13)]);
}

#[test]
fn wide_bitcast_sees_the_rounded_value() {
    let x = f32s(&[1], &[1.0]);
    let y = eval_all(&[x], true, |b, x| Ok(vec![b.map(S::Bitcast(DType::I32), x)?])).unwrap();
    assert_eq!(y[0].to_i64s(), [0x3f80_0000]);
}

#[test]
fn empty_and_zero_d_maps() {
    let y = eval(&[f32s(&[0, 3], &[])], |b, x| b.map(S::Exp, x)).unwrap();
    assert_eq!(y.shape(), [0, 3]);
    let y = eval(&[f32s(&[], &[2.0])], |b, x| b.map(S::Neg, x)).unwrap();
    assert_eq!((y.shape(), y.to_f64s()), (&[][..], vec![-2.0]));
}

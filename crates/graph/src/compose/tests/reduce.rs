use super::*;
use crate::compose::*;

/// Applies `f` to each line along the middle axis of `[2, 3, 4]`.
fn lines(x: &HostTensor, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let v = x.to_f64s();
    (0..8).map(|p| f(&[0, 1, 2].map(|j| v[p / 4 * 12 + j * 4 + p % 4]))).collect()
}

fn mean_of(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

#[test]
fn reductions_agree_with_their_formulas() {
    let x = data(3, &[2, 3, 4]);
    let check = |f: &dyn Fn(&mut Builder, NodeId) -> Result<NodeId>, want: &dyn Fn(&[f64]) -> f64| {
        let got = both(&["n, m, 4"], std::slice::from_ref(&x), |b, x| f(b, x[0]));
        assert_near(&got, &lines(&x, want), 1e-6);
    };
    check(&|b, x| sum(b, x, &[1], false), &|v| v.iter().sum());
    check(&|b, x| prod(b, x, &[1], true), &|v| v.iter().product());
    check(&|b, x| max(b, x, &[1], false), &|v| v.iter().copied().fold(f64::MIN, f64::max));
    check(&|b, x| min(b, x, &[1], false), &|v| v.iter().copied().fold(f64::MAX, f64::min));
    check(&|b, x| mean(b, x, &[1], true), &mean_of);
    check(&|b, x| var(b, x, &[1], 1, false), &|v| v.iter().map(|x| (x - mean_of(v)).powi(2)).sum::<f64>() / 2.0);
    check(&|b, x| logsumexp(b, x, &[1], false), &|v| v.iter().map(|x| x.exp()).sum::<f64>().ln());
    check(&|b, x| vector_norm(b, x, 2, &[1], false), &|v| v.iter().map(|x| x * x).sum::<f64>().sqrt());
    check(&|b, x| argmax(b, x, 1, true, false), &|v| (0..3).rev().max_by(|&i, &j| v[i].total_cmp(&v[j])).unwrap() as f64);
    check(&|b, x| argmin(b, x, 1, false, false), &|v| (0..3).min_by(|&i, &j| v[i].total_cmp(&v[j])).unwrap() as f64);
}

#[test]
fn ties_take_the_first_or_last() {
    let x = f32s(&[4], &[1.0, 3.0, 3.0, 2.0]);
    let y = eval_all(&[x], |b, x| Ok(vec![argmax(b, x[0], 0, false, false)?, argmax(b, x[0], 0, false, true)?])).unwrap();
    assert_eq!((y[0].to_i64s(), y[1].to_i64s()), (vec![1], vec![2]));
}

#[test]
fn dtypes_of_sums_and_truths() {
    let x = HostTensor::from_i64s(DType::U8, &[3], &[200, 100, 0]);
    let y = eval_all(&[x], |b, x| Ok(vec![sum(b, x[0], &[0], false)?, any(b, x[0], &[0], false)?, all(b, x[0], &[0], false)?]))
        .unwrap();
    assert_eq!((y[0].dtype(), y[0].to_i64s()), (DType::I64, vec![300]));
    assert_eq!((y[1].to_i64s(), y[2].to_i64s()), (vec![1], vec![0]));
    let e = eval(&[i64s(&[2], &[1, 2])], |b, x| mean(b, x[0], &[0], false)).unwrap_err();
    assert!(e.to_string().contains("mean(i64[2]): needs a float"), "{e}");
}

#[test]
fn softmax_of_every_axis_with_large_and_masked_values() {
    let x = f32s(&[2, 3], &[1000.0, 1001.0, 999.0, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY]);
    let e = [(-1f64).exp(), 1.0, (-2f64).exp()];
    let total: f64 = e.iter().sum();
    let y = both(&["n, m"], std::slice::from_ref(&x), |b, x| softmax(b, x[0], 1));
    assert_near(&y, &[e[0] / total, e[1] / total, e[2] / total, 0.0, 1.0, 0.0], 1e-6);
    let y = both(&["n, m"], &[x], |b, x| log_softmax(b, x[0], 1));
    let log = total.ln();
    assert_near(&y, &[-1.0 - log, -log, -2.0 - log, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY], 1e-6);
    let x = f32s(&[2, 2], &[f64::NEG_INFINITY, 1.0, f64::NEG_INFINITY, 1.0]);
    let y = eval(&[x], |b, x| softmax(b, x[0], 0)).unwrap();
    assert_near(&y, &[f64::NAN, 0.5, f64::NAN, 0.5], 0.0);
}

#[test]
fn half_softmax_rounds_once() {
    let x = HostTensor::from_f64s(DType::F16, &[3], &[0.0, 1.0, 2.0]);
    let y = eval(std::slice::from_ref(&x), |b, x| softmax(b, x[0], 0)).unwrap();
    let total: f64 = [0.0, 1.0, 2.0].map(f64::exp).iter().sum();
    let want: Vec<f64> =
        [0.0, 1.0, 2.0].iter().map(|&v: &f64| scalar::Scalar::from_f64(DType::F16, v.exp() / total).as_f64()).collect();
    assert_eq!(y.to_f64s(), want);
}

#[test]
fn variance_does_not_cancel() {
    let x = f32s(&[4], &[1e4, 1e4 + 1.0, 1e4 + 2.0, 1e4 + 3.0]);
    let y = eval(&[x], |b, x| var(b, x[0], &[0], 0, false)).unwrap();
    assert_eq!(y.to_f64s(), [1.25]);
}

#[test]
fn empty_reductions() {
    let y = eval_all(&[f32s(&[2, 0], &[])], |b, x| {
        Ok(vec![
            sum(b, x[0], &[1], false)?,
            mean(b, x[0], &[1], false)?,
            max(b, x[0], &[0], false)?,
            logsumexp(b, x[0], &[1], false)?,
        ])
    });
    let y = y.unwrap();
    assert_eq!(y[0].to_f64s(), [0.0, 0.0]);
    assert!(y[1].get(0).as_f64().is_nan());
    assert!(y[2].is_empty());
    assert_eq!(y[3].to_f64s(), [f64::NEG_INFINITY; 2]);
}

#[test]
fn running_sums_and_products() {
    let run = |exclusive, reverse| {
        let how = Running { exclusive, reverse };
        both(&["n"], &[i64s(&[4], &[1, 2, 3, 4])], |b, x| cumsum(b, x[0], 0, how)).to_i64s()
    };
    assert_eq!(run(false, false), [1, 3, 6, 10]);
    assert_eq!(run(true, false), [0, 1, 3, 6]);
    assert_eq!(run(false, true), [10, 9, 7, 4]);
    assert_eq!(run(true, true), [9, 7, 4, 0]);
    let y = eval(&[i64s(&[3], &[2, 3, 4])], |b, x| cumprod(b, x[0], 0, Running { exclusive: true, reverse: false })).unwrap();
    assert_eq!(y.to_i64s(), [1, 2, 6]);
}

use super::*;
use crate::compose::*;

/// (v − mean)/√(var + eps) of one line.
fn standard(v: &[f64], eps: f64) -> Vec<f64> {
    let n = v.len() as f64;
    let m = v.iter().sum::<f64>() / n;
    let s = v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n;
    v.iter().map(|x| (x - m) / (s + eps).sqrt()).collect()
}

fn affine(weight: NodeId, bias: NodeId) -> Affine {
    Affine { weight: Some(weight), bias: Some(bias) }
}

#[test]
fn layer_norm_over_two_axes() {
    let (x, w, v) = (data(1, &[3, 2, 4]), data(2, &[2, 4]), data(3, &[2, 4]));
    let y = both(&["n, 2, 4", "2, 4", "2, 4"], &[x.clone(), w.clone(), v.clone()], |b, x| {
        layer_norm(b, x[0], 1, affine(x[1], x[2]), 1e-5)
    });
    let (w, v) = (w.to_f64s(), v.to_f64s());
    let want: Vec<f64> =
        x.to_f64s().chunks(8).flat_map(|row| standard(row, 1e-5)).enumerate().map(|(i, s)| s * w[i % 8] + v[i % 8]).collect();
    assert_near(&y, &want, 1e-5);
}

#[test]
fn layer_norm_of_half_keeps_its_dtype() {
    let half = |t: HostTensor| HostTensor::from_f64s(DType::F16, t.shape(), &t.to_f64s());
    let x = half(data(5, &[2, 64]));
    let y = eval(std::slice::from_ref(&x), |b, x| layer_norm(b, x[0], 1, Affine::default(), 1e-5)).unwrap();
    assert_eq!(y.dtype(), DType::F16);
    let want: Vec<f64> = x.to_f64s().chunks(64).flat_map(|row| standard(row, 1e-5)).collect();
    assert_near(&y, &want, 1e-3);
}

#[test]
fn rms_norm_with_symbolic_width() {
    let (x, w) = (data(1, &[2, 5]), data(2, &[5]));
    let y = both(&["n, d", "d"], &[x.clone(), w.clone()], |b, x| rms_norm(b, x[0], 1, Some(x[1]), 1e-6));
    let w = w.to_f64s();
    let rows = x.to_f64s();
    let want: Vec<f64> = rows
        .chunks(5)
        .flat_map(|row| {
            let r = (row.iter().map(|v| v * v).sum::<f64>() / 5.0 + 1e-6).sqrt();
            row.iter().zip(&w).map(|(v, w)| v / r * w).collect::<Vec<_>>()
        })
        .collect();
    assert_near(&y, &want, 1e-5);
}

#[test]
fn batch_norm_uses_given_statistics() {
    let x = data(1, &[2, 3, 2]);
    let (m, v) = (f32s(&[3], &[0.5, -1.0, 0.0]), f32s(&[3], &[1.0, 4.0, 0.25]));
    let (w, s) = (f32s(&[3], &[1.0, 2.0, -1.0]), f32s(&[3], &[0.0, 1.0, 2.0]));
    let args = [x.clone(), m.clone(), v.clone(), w.clone(), s.clone()];
    let y = both(&["n, 3, l", "3", "3", "3", "3"], &args, |b, x| batch_norm(b, x[0], x[1], x[2], affine(x[3], x[4]), 1e-5));
    let [m, v, w, s] = [m, v, w, s].map(|t| t.to_f64s());
    let want: Vec<f64> = x
        .to_f64s()
        .iter()
        .enumerate()
        .map(|(i, x)| (i / 2 % 3, x))
        .map(|(c, x)| (x - m[c]) / (v[c] + 1e-5).sqrt() * w[c] + s[c])
        .collect();
    assert_near(&y, &want, 1e-5);
    let y = eval(&args[..3], |b, x| batch_norm(b, x[0], x[1], x[2], Affine::default(), 1e-5)).unwrap();
    assert_eq!(y.shape(), [2, 3, 2]);
}

#[test]
fn batch_norm_of_the_batch() {
    let x = data(4, &[3, 2, 2]);
    let y = eval_all(std::slice::from_ref(&x), |b, x| {
        let r = batch_norm_train(b, x[0], Affine::default(), 1e-5)?;
        Ok(vec![r.y, r.mean, r.var])
    });
    let y = y.unwrap();
    let v = x.to_f64s();
    let channel = |c: usize| -> Vec<f64> { (0..12).filter(|i| i / 2 % 2 == c).map(|i| v[i]).collect() };
    let means: Vec<f64> = (0..2).map(|c| channel(c).iter().sum::<f64>() / 6.0).collect();
    assert_near(&y[1], &means, 1e-6);
    let normal = [standard(&channel(0), 1e-5), standard(&channel(1), 1e-5)];
    let want: Vec<f64> = (0..12).map(|i| normal[i / 2 % 2][i / 4 * 2 + i % 2]).collect();
    assert_near(&y[0], &want, 1e-5);
    assert_eq!(y[2].shape(), [2]);
}

#[test]
fn group_and_instance_norm() {
    let x = data(6, &[2, 4, 3]);
    let p = [f32s(&[4], &[1.0, 2.0, 3.0, 4.0]), f32s(&[4], &[0.0, 0.5, 0.0, -0.5])];
    let (w, s) = (p[0].to_f64s(), p[1].to_f64s());
    let scaled = |v: Vec<f64>| -> Vec<f64> { v.iter().enumerate().map(|(i, v)| v * w[i / 3 % 4] + s[i / 3 % 4]).collect() };
    let args = [x.clone(), p[0].clone(), p[1].clone()];
    let y = both(&["n, 4, l", "4", "4"], &args, |b, x| group_norm(b, x[0], 2, affine(x[1], x[2]), 1e-5));
    assert_near(&y, &scaled(x.to_f64s().chunks(6).flat_map(|g| standard(g, 1e-5)).collect()), 1e-5);
    let y = both(&["n, 4, l", "4", "4"], &args, |b, x| instance_norm(b, x[0], affine(x[1], x[2]), 1e-5));
    assert_near(&y, &scaled(x.to_f64s().chunks(3).flat_map(|g| standard(g, 1e-5)).collect()), 1e-5);
    let e = eval(&args, |b, x| group_norm(b, x[0], 3, Affine::default(), 1e-5)).unwrap_err();
    assert!(e.to_string().contains("3 groups do not divide"), "{e}");
}

#[test]
fn normalize_guards_zero_vectors() {
    let y = eval(&[f32s(&[2, 2], &[3.0, 4.0, 0.0, 0.0])], |b, x| normalize(b, x[0], 1, 1e-12)).unwrap();
    assert_near(&y, &[0.6, 0.8, 0.0, 0.0], 1e-6);
}

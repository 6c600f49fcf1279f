use scalar::Shape;

use super::*;
use crate::compose::*;

fn draw(f: impl Fn(&mut Builder, Key) -> Result<NodeId>, seed: i64, offset: i64, stream: u32) -> Vec<f64> {
    let args = [i64s(&[], &[seed]), i64s(&[], &[offset])];
    eval(&args, |b, x| f(b, Key { key: x[0], offset: x[1], stream })).unwrap().to_f64s()
}

fn shape(n: i64) -> Shape {
    Shape::from_iter([Sym::from(n)])
}

fn moments(v: &[f64]) -> (f64, f64) {
    let n = v.len() as f64;
    let m = v.iter().sum::<f64>() / n;
    (m, v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n)
}

#[test]
fn uniform_numbers_have_range_moments_and_identity() {
    let uniform = |b: &mut Builder, key: Key| rand_uniform(b, &shape(20000), DType::F32, key);
    let v = draw(uniform, 7, 0, 1);
    assert!(v.iter().all(|x| (0.0..1.0).contains(x)));
    let (m, s) = moments(&v);
    assert!((m - 0.5).abs() < 0.01 && (s - 1.0 / 12.0).abs() < 0.005, "{m} {s}");
    assert_eq!(v, draw(uniform, 7, 0, 1));
    assert_eq!(v[5..], draw(uniform, 7, 5, 1)[..19995]);
    assert_ne!(v, draw(uniform, 8, 0, 1));
    assert_ne!(v, draw(uniform, 7, 0, 2));
}

#[test]
fn normal_numbers_have_the_right_moments() {
    let v = draw(|b, key| randn(b, &shape(20000), DType::F32, key), 3, 0, 0);
    let (m, s) = moments(&v);
    assert!(m.abs() < 0.03 && (s - 1.0).abs() < 0.05 && v.iter().all(|x| x.is_finite()), "{m} {s}");
    let tails = v.iter().filter(|x| x.abs() > 1.96).count() as f64 / 20000.0;
    assert!((tails - 0.05).abs() < 0.01, "{tails}");
}

#[test]
fn dropout_scales_what_it_keeps() {
    let run = |p: f64, stream: u32| {
        let args = [f32s(&[100, 100], &[3.0; 10000]), i64s(&[], &[1]), i64s(&[], &[0])];
        both(&["n, m", "", ""], &args, |b, x| dropout(b, x[0], p, Key { key: x[1], offset: x[2], stream })).to_f64s()
    };
    let v = run(0.25, 0);
    assert!(v.iter().all(|&x| x == 0.0 || x == 4.0));
    let kept = v.iter().filter(|&&x| x != 0.0).count() as f64 / 10000.0;
    assert!((kept - 0.75).abs() < 0.02, "{kept}");
    assert_ne!(v, run(0.25, 1));
    assert!(run(0.0, 0).iter().all(|&x| x == 3.0));
    assert!(run(1.0, 0).iter().all(|&x| x == 0.0));
    let args = [f32s(&[1], &[1.0]), i64s(&[], &[1]), i64s(&[], &[0])];
    assert!(eval(&args, |b, x| dropout(b, x[0], 1.5, Key { key: x[1], offset: x[2], stream: 0 })).is_err());
}

#[test]
fn empty_and_zero_d_draws() {
    assert!(draw(|b, key| rand_uniform(b, &shape(0), DType::F32, key), 1, 0, 0).is_empty());
    assert_eq!(draw(|b, key| randn(b, &Shape::new(), DType::F64, key), 1, 0, 0).len(), 1);
}

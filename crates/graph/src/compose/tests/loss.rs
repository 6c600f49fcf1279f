use super::*;
use crate::compose::*;

#[test]
fn elementwise_losses() {
    let (x, y) = (data(1, &[4]), f32s(&[4], &[0.0, 1.0, 0.5, 1.0]));
    let (xs, ys) = (x.to_f64s(), y.to_f64s());
    let args = [x, y];
    let each = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> { xs.iter().zip(&ys).map(|(&x, &y)| f(x, y)).collect() };
    let mean_of = |v: Vec<f64>| vec![v.iter().sum::<f64>() / 4.0];
    let got = both(&["n", "n"], &args, |b, x| mse(b, x[0], x[1], Reduction::Mean));
    assert_near(&got, &mean_of(each(&|x, y| (x - y).powi(2))), 1e-6);
    let got = both(&["n", "n"], &args, |b, x| l1(b, x[0], x[1], Reduction::Sum));
    assert_near(&got, &[each(&|x, y| (x - y).abs()).iter().sum()], 1e-6);
    let got = both(&["n", "n"], &args, |b, x| bce_with_logits(b, x[0], x[1], Reduction::None));
    let p = |x: f64| 1.0 / (1.0 + (-x).exp());
    assert_near(&got, &each(&|x, y| -(y * p(x).ln() + (1.0 - y) * (1.0 - p(x)).ln())), 1e-6);
}

/// −log softmax of each row at its target.
fn row_losses(logits: &[f64], classes: usize, targets: &[i64]) -> Vec<f64> {
    let row = |(r, &t): (&[f64], &i64)| r.iter().map(|v| v.exp()).sum::<f64>().ln() - r.get(t as usize).copied().unwrap_or(0.0);
    logits.chunks(classes).zip(targets).map(row).collect()
}

#[test]
fn cross_entropy_with_and_without_ignored_targets() {
    let x = data(1, &[4, 3]);
    let targets = [2, 0, -100, 1];
    let rows = row_losses(&x.to_f64s(), 3, &targets);
    let t = i64s(&[4], &targets);
    let run =
        |how: Reduction| both(&["n, c", "n"], &[x.clone(), t.clone()], |b, x| cross_entropy(b, x[0], x[1], Some(-100), how));
    assert_near(&run(Reduction::None), &[rows[0], rows[1], 0.0, rows[3]], 1e-5);
    assert_near(&run(Reduction::Mean), &[(rows[0] + rows[1] + rows[3]) / 3.0], 1e-5);
    assert_near(&run(Reduction::Sum), &[rows[0] + rows[1] + rows[3]], 1e-5);
    let e = eval(&[x.clone(), t], |b, x| cross_entropy(b, x[0], x[1], None, Reduction::Mean)).unwrap_err();
    assert!(e.to_string().contains("index -100"), "{e}");
    let all = eval(&[x, i64s(&[4], &[-100; 4])], |b, x| cross_entropy(b, x[0], x[1], Some(-100), Reduction::Mean)).unwrap();
    assert!(all.get(0).as_f64().is_nan());
}

#[test]
fn losses_over_pixels_and_single_samples() {
    let x = data(2, &[1, 3, 2]);
    let v = x.to_f64s();
    let y = eval(&[x, i64s(&[1, 2], &[1, 2])], |b, x| nll(b, x[0], x[1], None, Reduction::None)).unwrap();
    assert_near(&y, &[-v[2], -v[5]], 0.0);
    let one = data(3, &[3]);
    let want = row_losses(&one.to_f64s(), 3, &[1]);
    let y = eval(&[one, i64s(&[], &[1])], |b, x| cross_entropy(b, x[0], x[1], None, Reduction::Mean)).unwrap();
    assert_near(&y, &want, 1e-6);
    let e = eval(&[data(1, &[2, 3]), f32s(&[2], &[0.0, 1.0])], |b, x| nll(b, x[0], x[1], None, Reduction::Mean)).unwrap_err();
    assert!(e.to_string().contains("integer targets"), "{e}");
}

use super::*;
use crate::compose::*;

/// One window per output of a 1-d pooling with PyTorch's rules: the in-range positions, and how many positions count with
/// padding included.
fn windows(n: i64, k: i64, s: i64, (lo, hi): (i64, i64), ceil: bool) -> Vec<(Vec<usize>, f64)> {
    let room = n + lo + hi - k;
    let mut count = room / s + 1;
    if ceil && room % s != 0 {
        count += 1;
    }
    if ceil && (count - 1) * s >= n + lo {
        count -= 1;
    }
    let one = |o: i64| {
        let start = o * s - lo;
        let inside = (start..start + k).filter(|p| (0..n).contains(p)).map(|p| p as usize).collect();
        (inside, ((start + k).min(n + hi) - start) as f64)
    };
    (0..count).map(one).collect()
}

const GEOMETRIES: [(i64, i64, i64, (i64, i64)); 7] = [
    (7, 3, 2, (0, 0)),
    (7, 3, 2, (1, 1)),
    (6, 2, 2, (0, 0)),
    (8, 3, 3, (1, 0)),
    (5, 3, 1, (1, 1)),
    (4, 3, 3, (1, 1)),
    (10, 4, 3, (2, 1)),
];

#[test]
fn pools_agree_with_the_definition() {
    for (n, k, s, pads) in GEOMETRIES {
        for ceil_mode in [false, true] {
            let x = data(n as u64, &[1, n as usize]);
            let v = x.to_f64s();
            let p = Pool { stride: vec![s], pads: vec![pads], ceil_mode, ..Pool::new(&[k]) };
            let w = windows(n, k, s, pads, ceil_mode);
            let run =
                |f: &dyn Fn(&mut Builder, NodeId) -> Result<NodeId>| both(&["1, l"], std::slice::from_ref(&x), |b, x| f(b, x[0]));
            let want: Vec<f64> = w.iter().map(|(i, _)| i.iter().map(|&i| v[i]).fold(f64::NEG_INFINITY, f64::max)).collect();
            assert_near(&run(&|b, x| max_pool(b, x, &p)), &want, 0.0);
            let total = |i: &[usize]| i.iter().map(|&i| v[i]).sum::<f64>();
            let want: Vec<f64> = w.iter().map(|(i, _)| total(i) / i.len() as f64).collect();
            assert_near(&run(&|b, x| avg_pool(b, x, &p, false)), &want, 1e-6);
            let want: Vec<f64> = w.iter().map(|(i, n)| total(i) / n).collect();
            assert_near(&run(&|b, x| avg_pool(b, x, &p, true)), &want, 1e-6);
        }
    }
}

#[test]
fn two_d_pools_and_integers() {
    let x = f32s(&[1, 1, 3, 4], &(0..12).map(f64::from).collect::<Vec<_>>());
    let y = both(&["n, c, h, w"], std::slice::from_ref(&x), |b, x| {
        max_pool(b, x[0], &Pool { stride: vec![1, 2], ..Pool::new(&[2, 2]) })
    });
    assert_eq!((y.shape(), y.to_f64s()), (&[1, 1, 2, 2][..], vec![5.0, 7.0, 9.0, 11.0]));
    let p = Pool { pads: vec![(1, 1), (1, 1)], stride: vec![2, 3], ..Pool::new(&[2, 3]) };
    let y = eval(std::slice::from_ref(&x), |b, x| avg_pool(b, x[0], &p, false)).unwrap();
    assert_near(&y, &[0.5, 2.5, 6.5, 8.5], 1e-6);
    let i = HostTensor::from_i64s(DType::I8, &[1, 3], &[-5, -7, -100]);
    let y = eval(&[i], |b, x| max_pool(b, x[0], &Pool { pads: vec![(1, 1)], stride: vec![2], ..Pool::new(&[2]) })).unwrap();
    assert_eq!(y.to_i64s(), [-5, -7]);
}

#[test]
fn dilated_max_and_lp_pool() {
    let x = f32s(&[1, 5], &[3.0, 0.0, 4.0, 1.0, 2.0]);
    let y =
        eval(std::slice::from_ref(&x), |b, x| max_pool(b, x[0], &Pool { stride: vec![1], dilation: vec![2], ..Pool::new(&[2]) }))
            .unwrap();
    assert_eq!(y.to_f64s(), [4.0, 1.0, 4.0]);
    let y = eval(&[x], |b, x| lp_pool(b, x[0], &Pool { stride: vec![2], ..Pool::new(&[3]) }, 2)).unwrap();
    assert_near(&y, &[5.0, 21f64.sqrt()], 1e-6);
}

#[test]
fn global_and_adaptive_pools() {
    let x = data(1, &[2, 3, 4, 6]);
    let y = both(&["n, 3, h, w"], std::slice::from_ref(&x), |b, x| global_avg_pool(b, x[0]));
    let want: Vec<f64> = x.to_f64s().chunks(24).map(|c| c.iter().sum::<f64>() / 24.0).collect();
    assert_eq!(y.shape(), [2, 3, 1, 1]);
    assert_near(&y, &want, 1e-6);
    let y = eval(std::slice::from_ref(&x), |b, x| global_max_pool(b, x[0])).unwrap();
    assert_eq!(y.shape(), [2, 3, 1, 1]);
    let y = eval(std::slice::from_ref(&x), |b, x| adaptive_avg_pool(b, x[0], &[2, 3])).unwrap();
    let same = eval(std::slice::from_ref(&x), |b, x| avg_pool(b, x[0], &Pool::new(&[2, 2]), true)).unwrap();
    assert_near(&y, &same.to_f64s(), 1e-6);
    let y = both(&["n, 3, h, w"], std::slice::from_ref(&x), |b, x| adaptive_avg_pool(b, x[0], &[1, 1]));
    assert_near(&y, &want, 1e-6);
    let e = eval(&[x], |b, x| adaptive_avg_pool(b, x[0], &[3, 3])).unwrap_err();
    assert_eq!(e.kind, base::ErrorKind::Unsupported);
}

#[test]
fn local_response_norm_over_channels() {
    let x = f32s(&[1, 4, 1], &[1.0, 2.0, 3.0, 4.0]);
    let y = eval(&[x], |b, x| local_response_norm(b, x[0], 3, 0.3, 0.75, 1.0)).unwrap();
    let squares: [f64; 4] = [5.0, 14.0, 29.0, 25.0];
    let want: Vec<f64> = (0..4).map(|c| (c + 1) as f64 / (1.0 + 0.1 * squares[c]).powf(0.75)).collect();
    assert_near(&y, &want, 1e-6);
}

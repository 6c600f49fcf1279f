use super::*;
use crate::compose::*;

#[derive(Clone, Copy)]
struct Case {
    stride: i64,
    lo: i64,
    hi: i64,
    dilation: i64,
    groups: usize,
}

/// 2-d convolution by definition; both spatial axes share the geometry.
fn naive(x: &HostTensor, w: &HostTensor, c: Case) -> (Vec<usize>, Vec<f64>) {
    let [n, ci, h, l] = x.shape().try_into().unwrap();
    let [co, cg, kh, kw] = w.shape().try_into().unwrap();
    let out = |n: usize, k: usize| ((n as i64 + c.lo + c.hi - c.dilation * (k as i64 - 1) - 1) / c.stride + 1) as usize;
    let (oh, ow) = (out(h, kh), out(l, kw));
    let (xs, ws) = (x.to_f64s(), w.to_f64s());
    let mut y = Vec::new();
    for index in 0..n * co * oh * ow {
        let (b, o, p, q) = (index / (co * oh * ow), index / (oh * ow) % co, index / ow % oh, index % ow);
        let first = o / (co / c.groups) * cg;
        let mut sum = 0.0;
        for k in 0..cg * kh * kw {
            let (i, u, v) = (k / (kh * kw), k / kw % kh, k % kw);
            let r = p as i64 * c.stride + u as i64 * c.dilation - c.lo;
            let s = q as i64 * c.stride + v as i64 * c.dilation - c.lo;
            if (0..h as i64).contains(&r) && (0..l as i64).contains(&s) {
                sum += xs[((b * ci + first + i) * h + r as usize) * l + s as usize] * ws[((o * cg + i) * kh + u) * kw + v];
            }
        }
        y.push(sum);
    }
    (vec![n, co, oh, ow], y)
}

fn spec(c: Case) -> Conv {
    Conv {
        stride: vec![c.stride; 2],
        pads: vec![(Sym::from(c.lo), Sym::from(c.hi)); 2],
        dilation: vec![c.dilation; 2],
        groups: c.groups as i64,
    }
}

const CASES: [(Case, [usize; 4]); 9] = [
    (Case { stride: 1, lo: 0, hi: 0, dilation: 1, groups: 1 }, [5, 4, 3, 3]),
    (Case { stride: 2, lo: 1, hi: 1, dilation: 1, groups: 1 }, [5, 4, 3, 3]),
    (Case { stride: 1, lo: 2, hi: 1, dilation: 2, groups: 1 }, [3, 4, 3, 2]),
    (Case { stride: 1, lo: 0, hi: 0, dilation: 1, groups: 1 }, [6, 4, 1, 1]),
    (Case { stride: 2, lo: 0, hi: 0, dilation: 1, groups: 1 }, [6, 4, 1, 1]),
    (Case { stride: 1, lo: 1, hi: 1, dilation: 1, groups: 2 }, [6, 2, 3, 3]),
    (Case { stride: 2, lo: 1, hi: 0, dilation: 1, groups: 4 }, [4, 1, 3, 3]),
    (Case { stride: 1, lo: 1, hi: 1, dilation: 1, groups: 4 }, [8, 1, 3, 1]),
    (Case { stride: 3, lo: 0, hi: 2, dilation: 1, groups: 2 }, [2, 2, 2, 3]),
];

#[test]
fn convolutions_agree_with_the_definition() {
    for (case, weight) in CASES {
        let (x, w) = (data(1, &[2, 4, 7, 6]), data(2, &weight));
        let ws: Vec<String> = weight.iter().map(usize::to_string).collect();
        let y = both(&["n, 4, h, w", &ws.join(",")], &[x.clone(), w.clone()], |b, x| conv(b, x[0], x[1], None, &spec(case)));
        let (shape, want) = naive(&x, &w, case);
        assert_eq!(y.shape(), shape);
        assert_near(&y, &want, 1e-5);
    }
}

#[test]
fn one_d_convolution_with_bias() {
    let args = [f32s(&[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]), f32s(&[1, 1, 2], &[1.0, -1.0]), f32s(&[1], &[10.0])];
    let y = eval(&args, |b, x| conv(b, x[0], x[1], Some(x[2]), &Conv::new(1))).unwrap();
    assert_eq!((y.shape(), y.to_f64s()), (&[1, 1, 3][..], vec![9.0; 3]));
}

#[test]
fn bytes_accumulate_in_i32() {
    let x = HostTensor::from_i64s(DType::U8, &[1, 1, 3], &[255, 255, 255]);
    let w = HostTensor::from_i64s(DType::I8, &[1, 1, 3], &[127, 127, 127]);
    let y = eval(&[x, w], |b, x| conv(b, x[0], x[1], None, &Conv::new(1))).unwrap();
    assert_eq!((y.dtype(), y.to_i64s()), (DType::I32, vec![3 * 255 * 127]));
}

/// Transposed convolution by scattering every input element.
fn naive_transpose(x: &HostTensor, w: &HostTensor, c: Case, extra: i64) -> (Vec<usize>, Vec<f64>) {
    let [n, ci, h, l] = x.shape().try_into().unwrap();
    let [_, og, kh, kw] = w.shape().try_into().unwrap();
    let co = og * c.groups;
    let out = |n: usize, k: usize| ((n as i64 - 1) * c.stride - c.lo - c.hi + c.dilation * (k as i64 - 1) + extra + 1) as usize;
    let (oh, ow) = (out(h, kh), out(l, kw));
    let (xs, ws) = (x.to_f64s(), w.to_f64s());
    let mut y = vec![0.0; n * co * oh * ow];
    for (index, &value) in xs.iter().enumerate() {
        let (b, i, p, q) = (index / (ci * h * l), index / (h * l) % ci, index / l % h, index % l);
        let first = i / (ci / c.groups) * og;
        for k in 0..og * kh * kw {
            let (o, u, v) = (k / (kh * kw), k / kw % kh, k % kw);
            let r = p as i64 * c.stride + u as i64 * c.dilation - c.lo;
            let s = q as i64 * c.stride + v as i64 * c.dilation - c.lo;
            if (0..oh as i64).contains(&r) && (0..ow as i64).contains(&s) {
                y[((b * co + first + o) * oh + r as usize) * ow + s as usize] += value * ws[((i * og + o) * kh + u) * kw + v];
            }
        }
    }
    (vec![n, co, oh, ow], y)
}

#[test]
fn transposed_convolutions_agree_with_scattering() {
    let cases = [
        (Case { stride: 1, lo: 0, hi: 0, dilation: 1, groups: 1 }, [4, 3, 3, 3], 0),
        (Case { stride: 2, lo: 1, hi: 1, dilation: 1, groups: 1 }, [4, 3, 3, 3], 1),
        (Case { stride: 2, lo: 0, hi: 0, dilation: 1, groups: 1 }, [4, 3, 2, 2], 0),
        (Case { stride: 3, lo: 1, hi: 2, dilation: 2, groups: 2 }, [4, 3, 3, 2], 2),
        (Case { stride: 1, lo: 2, hi: 1, dilation: 1, groups: 4 }, [4, 1, 2, 2], 0),
    ];
    for (case, weight, extra) in cases {
        let (x, w) = (data(1, &[2, 4, 4, 3]), data(2, &weight));
        let ws: Vec<String> = weight.iter().map(usize::to_string).collect();
        let y = both(&["n, 4, 4, w", &ws.join(",")], &[x.clone(), w.clone()], |b, x| {
            conv_transpose(b, x[0], x[1], None, &spec(case), &[extra; 2])
        });
        let (shape, want) = naive_transpose(&x, &w, case, extra);
        assert_eq!(y.shape(), shape);
        assert_near(&y, &want, 1e-5);
    }
}

#[test]
fn wrong_geometry_is_an_error() {
    let args = [data(1, &[1, 4, 5]), data(2, &[3, 2, 3])];
    let e = eval(&args, |b, x| conv(b, x[0], x[1], None, &Conv::new(1))).unwrap_err().to_string();
    assert!(e.contains("conv") && e.contains("f32[1, 4, 5]") && e.contains("f32[3, 2, 3]"), "{e}");
    let e = eval(&args, |b, x| conv(b, x[0], x[1], None, &Conv { groups: 3, ..Conv::new(1) })).unwrap_err();
    assert!(e.to_string().contains("3 groups do not divide"), "{e}");
    assert!(eval(&args, |b, x| conv(b, x[0], x[1], None, &Conv::new(2))).is_err());
}

#[test]
fn empty_batch() {
    let y = eval(&[data(1, &[0, 4, 7, 6]), data(2, &[5, 4, 3, 3])], |b, x| conv(b, x[0], x[1], None, &Conv::new(2))).unwrap();
    assert_eq!(y.shape(), [0, 5, 5, 4]);
}

#[test]
fn matrix_products_follow_pytorch() {
    let cases: [(&[usize], &[usize], &[usize]); 8] = [
        (&[3], &[3], &[]),
        (&[2, 3], &[3], &[2]),
        (&[3], &[3, 2], &[2]),
        (&[2, 3], &[3, 4], &[2, 4]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[5, 1, 2, 3], &[6, 3, 4], &[5, 6, 2, 4]),
        (&[1, 2, 3], &[1, 3, 2], &[1, 2, 2]),
    ];
    for (xs, ys, out) in cases {
        let (x, y) = (data(1, xs), data(2, ys));
        let got = eval(&[x.clone(), y.clone()], |b, x| matmul(b, x[0], x[1])).unwrap();
        assert_eq!(got.shape(), out);
        let wide = eval(&[x, y], |b, x| by_broadcasting(b, x[0], x[1])).unwrap();
        assert_near(&got, &wide.to_f64s(), 1e-5);
    }
}

/// The same product as a broadcast multiply and a sum.
fn by_broadcasting(b: &mut Builder, x: NodeId, y: NodeId) -> Result<NodeId> {
    let (rx, ry) = (b.shape(x).len(), b.shape(y).len());
    let x = if rx == 1 { unsqueeze(b, x, &[0])? } else { x };
    let y = if ry == 1 { unsqueeze(b, y, &[1])? } else { y };
    let rank = b.shape(x).len();
    let column = unsqueeze(b, x, &[rank])?;
    let lead = b.shape(y).len() - 2;
    let row = unsqueeze(b, y, &[lead])?;
    let product = binary(b, scalar::ScalarOp::Mul, column, row)?;
    let k = b.shape(product).len() - 2;
    let mut z = sum(b, product, &[k], false)?;
    if ry == 1 {
        let last = b.shape(z).len() - 1;
        z = squeeze(b, z, &[last])?;
    }
    if rx == 1 {
        let row = b.shape(z).len() - if ry == 1 { 1 } else { 2 };
        z = squeeze(b, z, &[row])?;
    }
    Ok(z)
}

#[test]
fn linear_layers() {
    let args = [data(1, &[2, 3, 4]), data(2, &[5, 4]), data(3, &[5])];
    let y = both(&["n, m, k", "5, k", "5"], &args, |b, x| linear(b, x[0], x[1], Some(x[2])));
    let want = eval(&args, |b, x| {
        let w = transpose(b, x[1], 0, 1)?;
        let y = matmul(b, x[0], w)?;
        binary(b, scalar::ScalarOp::Add, y, x[2])
    });
    assert_eq!(y.to_f64s(), want.unwrap().to_f64s());
    let e = eval(&[data(1, &[2, 3]), data(2, &[4, 5])], |b, x| linear(b, x[0], x[1], None)).unwrap_err().to_string();
    assert!(e.contains("linear(f32[2, 3], f32[4, 5])"), "{e}");
    let y = eval(&[data(1, &[2]), data(2, &[3])], |b, x| outer(b, x[0], x[1])).unwrap();
    assert_eq!(y.shape(), [2, 3]);
}

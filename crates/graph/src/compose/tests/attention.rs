use super::*;
use crate::compose::*;

/// Attention of one head by definition; `seen(i, j)` gives the additive mask.
fn naive(
    q: &[f64],
    k: &[f64],
    v: &[f64],
    (l, s, e): (usize, usize, usize),
    scale: f64,
    seen: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..l {
        let scores: Vec<f64> =
            (0..s).map(|j| (0..e).map(|d| q[i * e + d] * k[j * e + d]).sum::<f64>() * scale + seen(i, j)).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|x| (x - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        out.extend((0..e).map(|d| (0..s).map(|j| weights[j] / total * v[j * e + d]).sum::<f64>()));
    }
    out
}

const NEVER: f64 = f64::NEG_INFINITY;

#[test]
fn plain_causal_and_masked() {
    let [q, k, v] = [1, 2, 3].map(|seed| data(seed, &[3, 4]));
    let mask = HostTensor::from_i64s(DType::Bool, &[3, 3], &[1, 0, 1, 1, 1, 0, 0, 0, 1]);
    let (qs, ks, vs) = (q.to_f64s(), k.to_f64s(), v.to_f64s());
    let args = [q, k, v, mask.clone()];
    let shapes = ["l, 4", "s, 4", "s, 4", "l, s"];
    let y = both(&shapes, &args, |b, x| attention(b, x[0], x[1], x[2], &Attention::default()));
    assert_near(&y, &naive(&qs, &ks, &vs, (3, 3, 4), 0.5, |_, _| 0.0), 1e-5);
    let y = both(&shapes, &args, |b, x| attention(b, x[0], x[1], x[2], &Attention { causal: true, ..Attention::default() }));
    assert_near(&y, &naive(&qs, &ks, &vs, (3, 3, 4), 0.5, |i, j| if j <= i { 0.0 } else { NEVER }), 1e-5);
    let y = both(&shapes, &args, |b, x| {
        attention(b, x[0], x[1], x[2], &Attention { mask: Some(x[3]), scale: Some(2.0), causal: false })
    });
    let allowed = mask.to_i64s();
    assert_near(&y, &naive(&qs, &ks, &vs, (3, 3, 4), 2.0, |i, j| if allowed[i * 3 + j] != 0 { 0.0 } else { NEVER }), 1e-5);
}

#[test]
fn batched_heads_with_an_added_mask() {
    let [q, k, v] = [1, 2, 3].map(|seed| data(seed, &[2, 2, 3, 4]));
    let mask = data(9, &[2, 1, 1, 3]);
    let args = [q.clone(), k.clone(), v.clone(), mask.clone()];
    let y = both(&["n, 2, l, e", "n, 2, l, e", "n, 2, l, e", "n, 1, 1, l"], &args, |b, x| {
        attention(b, x[0], x[1], x[2], &Attention { mask: Some(x[3]), ..Attention::default() })
    });
    let [q, k, v, m] = [q, k, v, mask].map(|t| t.to_f64s());
    let part = |t: &[f64], h: usize| t[h * 12..(h + 1) * 12].to_vec();
    let want: Vec<f64> =
        (0..4).flat_map(|h| naive(&part(&q, h), &part(&k, h), &part(&v, h), (3, 3, 4), 0.5, |_, j| m[h / 2 * 3 + j])).collect();
    assert_near(&y, &want, 1e-5);
}

#[test]
fn query_heads_share_key_heads() {
    let (q, k) = (data(1, &[1, 4, 3, 4]), data(2, &[1, 2, 3, 4]));
    let y = eval(&[q.clone(), k.clone()], |b, x| attention(b, x[0], x[1], x[1], &Attention::default())).unwrap();
    let (q, k) = (q.to_f64s(), k.to_f64s());
    let part = |t: &[f64], h: usize| t[h * 12..(h + 1) * 12].to_vec();
    let want: Vec<f64> =
        (0..4).flat_map(|h| naive(&part(&q, h), &part(&k, h / 2), &part(&k, h / 2), (3, 3, 4), 0.5, |_, _| 0.0)).collect();
    assert_near(&y, &want, 1e-5);
}

#[test]
fn rotary_embedding_of_both_pairings() {
    let (l, d) = (3, 4);
    let x = data(5, &[2, l, d]);
    let v = x.to_f64s();
    for pairing in [Pairing::Halves, Pairing::Neighbours] {
        let y = both(&["n, l, 4"], std::slice::from_ref(&x), |b, x| {
            let positions = b.iota(b.shape(x[0])[1].clone())?;
            let (cos, sin) = rope_tables(b, positions, 4, 10000.0)?;
            rope(b, x[0], cos, sin, pairing)
        });
        let mut want = v.clone();
        for row in 0..2 * l {
            for i in 0..d / 2 {
                let angle = (row % l) as f64 * 10000f64.powf(-2.0 * i as f64 / d as f64);
                let (p, q) = if pairing == Pairing::Halves { (i, i + d / 2) } else { (2 * i, 2 * i + 1) };
                let (p, q) = (row * d + p, row * d + q);
                want[p] = v[p] * angle.cos() - v[q] * angle.sin();
                want[q] = v[q] * angle.cos() + v[p] * angle.sin();
            }
        }
        assert_near(&y, &want, 1e-5);
    }
    assert!(eval(&[data(1, &[2, 3])], |b, x| rope(b, x[0], x[0], x[0], Pairing::Halves)).is_err());
}

use super::*;
use crate::compose::*;

const T: usize = 3;
const N: usize = 2;
const I: usize = 4;
const H: usize = 2;

/// x, input weights, recurrent weights, both biases, h, c for `gates` gates.
fn inputs(gates: usize) -> Vec<HostTensor> {
    let g = gates * H;
    vec![
        data(1, &[T, N, I]),
        data(2, &[g, I]),
        data(3, &[g, H]),
        data(4, &[g]),
        data(5, &[g]),
        data(6, &[N, H]),
        data(7, &[N, H]),
    ]
}

fn weights(x: &[NodeId]) -> Weights {
    Weights { input: x[1], recurrent: x[2], input_bias: Some(x[3]), recurrent_bias: Some(x[4]) }
}

/// New h and c.
type Pair = (Vec<f64>, Vec<f64>);
/// The inputs as f64.
type Values = [Vec<f64>];
/// Inputs, x, h and c of one sample to its new state.
type Step<'a> = dyn Fn(&Values, &[f64], &[f64], &[f64]) -> Pair + 'a;

fn sigma(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Row `row` of `w` times `x`, plus `b[row]`.
fn dot(w: &[f64], row: usize, x: &[f64], b: &[f64]) -> f64 {
    x.iter().enumerate().map(|(j, v)| w[row * x.len() + j] * v).sum::<f64>() + b[row]
}

/// One step of one sample: (x, state parts) to new state parts; the layer over time and batch around it.
fn naive(args: &[HostTensor], reverse: bool, lengths: Option<&[usize]>, step: &Step<'_>) -> Pair {
    let v: Vec<Vec<f64>> = args.iter().map(HostTensor::to_f64s).collect();
    let mut output = vec![0.0; T * N * H];
    let mut last = Vec::new();
    for n in 0..N {
        let (mut h, mut c) = (v[5][n * H..(n + 1) * H].to_vec(), v[6][n * H..(n + 1) * H].to_vec());
        for s in 0..lengths.map_or(T, |l| l[n]) {
            let t = if reverse { T - 1 - s } else { s };
            (h, c) = step(&v, &v[0][(t * N + n) * I..(t * N + n + 1) * I], &h, &c);
            output[(t * N + n) * H..(t * N + n + 1) * H].copy_from_slice(&h);
        }
        last.extend(h);
    }
    (output, last)
}

fn lstm_step(order: [usize; 4]) -> impl Fn(&Values, &[f64], &[f64], &[f64]) -> Pair {
    move |v, x, h, c| {
        let gate = |g: usize, j: usize| dot(&v[1], order[g] * H + j, x, &v[3]) + dot(&v[2], order[g] * H + j, h, &v[4]);
        let new: Vec<f64> = (0..H).map(|j| sigma(gate(1, j)) * c[j] + sigma(gate(0, j)) * gate(2, j).tanh()).collect();
        ((0..H).map(|j| sigma(gate(3, j)) * new[j].tanh()).collect(), new)
    }
}

fn gru_step(reset: usize, before: bool) -> impl Fn(&Values, &[f64], &[f64], &[f64]) -> Pair {
    move |v, x, h, c| {
        let pre = |g: usize, j: usize, h: &[f64]| (dot(&v[1], g * H + j, x, &v[3]), dot(&v[2], g * H + j, h, &v[4]));
        let gate = |g: usize, j: usize| sigma(pre(g, j, h).0 + pre(g, j, h).1);
        let rh: Vec<f64> = (0..H).map(|j| gate(reset, j) * h[j]).collect();
        let candidate = |j: usize| {
            if before {
                (pre(2, j, h).0 + gate(reset, j) * pre(2, j, h).1).tanh()
            } else {
                (pre(2, j, h).0 + pre(2, j, &rh).1).tanh()
            }
        };
        let z = |j: usize| gate(1 - reset, j);
        ((0..H).map(|j| (1.0 - z(j)) * candidate(j) + z(j) * h[j]).collect(), c.to_vec())
    }
}

#[test]
fn lstm_in_both_gate_orders_and_directions() {
    for (gates, order) in [(Gates::Pytorch, [0, 1, 2, 3]), (Gates::Onnx, [0, 2, 3, 1])] {
        for reverse in [false, true] {
            let args = inputs(4);
            let layer = Layer { gates, reverse, ..Layer::PYTORCH };
            let got = eval_all(&args, |b, x| {
                let r = lstm(b, x[0], Some(x[5]), Some(x[6]), &weights(x), &layer)?;
                Ok(vec![r.output, r.states[0], r.states[1]])
            });
            let got = got.unwrap();
            let (output, last) = naive(&args, reverse, None, &lstm_step(order));
            assert_near(&got[0], &output, 1e-5);
            assert_near(&got[1], &last, 1e-5);
            assert_eq!(got[2].shape(), [N, H]);
        }
    }
}

#[test]
fn gru_in_both_forms() {
    for (gates, reset) in [(Gates::Pytorch, 0), (Gates::Onnx, 1)] {
        for before in [false, true] {
            let args = inputs(3);
            let layer = Layer { gates, linear_before_reset: before, ..Layer::PYTORCH };
            let got = eval_all(&args, |b, x| {
                let r = gru(b, x[0], Some(x[5]), &weights(x), &layer)?;
                Ok(vec![r.output, r.states[0]])
            });
            let got = got.unwrap();
            let (output, last) = naive(&args, false, None, &gru_step(reset, before));
            assert_near(&got[0], &output, 1e-5);
            assert_near(&got[1], &last, 1e-5);
        }
    }
}

#[test]
fn rnn_without_biases_starts_from_zero() {
    let mut args = inputs(1);
    let got = eval_all(&args[..3], |b, x| {
        let w = Weights { input: x[1], recurrent: x[2], input_bias: None, recurrent_bias: None };
        let tanh = rnn(b, x[0], None, &w, Cell::Tanh, &Layer::PYTORCH)?;
        let relu = rnn(b, x[0], None, &w, Cell::Relu, &Layer::PYTORCH)?;
        Ok(vec![tanh.output, relu.output])
    });
    let got = got.unwrap();
    for i in [3, 4, 5] {
        args[i] = f32s(args[i].shape(), &vec![0.0; args[i].len()]);
    }
    let step = |f: fn(f64) -> f64| {
        move |v: &Values, x: &[f64], h: &[f64], c: &[f64]| -> Pair {
            ((0..H).map(|j| f(dot(&v[1], j, x, &v[3]) + dot(&v[2], j, h, &v[4]))).collect(), c.to_vec())
        }
    };
    assert_near(&got[0], &naive(&args, false, None, &step(f64::tanh)).0, 1e-5);
    assert_near(&got[1], &naive(&args, false, None, &step(|x| x.max(0.0))).0, 1e-4);
}

#[test]
fn sequence_lengths_stop_a_sample() {
    let mut args = inputs(4);
    args.push(i64s(&[N], &[1, 3]));
    let got = eval_all(&args, |b, x| {
        let r = lstm(b, x[0], Some(x[5]), Some(x[6]), &weights(x), &Layer { lengths: Some(x[7]), ..Layer::PYTORCH })?;
        Ok(vec![r.output, r.states[0]])
    });
    let got = got.unwrap();
    let (output, last) = naive(&args, false, Some(&[1, 3]), &lstm_step([0, 1, 2, 3]));
    assert_near(&got[0], &output, 1e-5);
    assert_near(&got[1], &last, 1e-5);
}

#[test]
fn symbolic_length_and_batch() {
    let args = inputs(4);
    let y = both(&["t, n, 4", "8, 4", "8, 2"], &args[..3], |b, x| {
        let w = Weights { input: x[1], recurrent: x[2], input_bias: None, recurrent_bias: None };
        Ok(lstm(b, x[0], None, None, &w, &Layer::PYTORCH)?.output)
    });
    assert_eq!(y.shape(), [T, N, H]);
    let empty = [data(1, &[0, N, I]), args[1].clone(), args[2].clone()];
    let y = both(&["t, n, 4", "8, 4", "8, 2"], &empty, |b, x| {
        let w = Weights { input: x[1], recurrent: x[2], input_bias: None, recurrent_bias: None };
        Ok(lstm(b, x[0], None, None, &w, &Layer::PYTORCH)?.states[0])
    });
    assert_eq!(y.to_f64s(), [0.0; N * H]);
}

#[test]
fn wrong_weights_are_named() {
    let args = inputs(3);
    let e = eval(&args, |b, x| Ok(lstm(b, x[0], None, None, &weights(x), &Layer::PYTORCH)?.output)).unwrap_err().to_string();
    assert!(e.contains("lstm") && e.contains("4 gates of 2 rows"), "{e}");
}

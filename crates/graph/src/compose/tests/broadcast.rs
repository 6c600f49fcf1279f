use scalar::{Scalar, ScalarOp as S, Shape};

use super::*;
use crate::compose::*;

#[test]
fn literal_ones_broadcast_and_symbols_are_guarded() {
    let y = both(&["n, 1, 3", "4, 1"], &[data(1, &[2, 1, 3]), data(2, &[4, 1])], |b, x| binary(b, S::Add, x[0], x[1]));
    assert_eq!(y.shape(), [2, 4, 3]);
    let mut b = Builder::new("f");
    let x = b.input("x", DType::F32, [Sym::named("n")], false).unwrap();
    let y = b.input("y", DType::F32, [Sym::named("m")], false).unwrap();
    let sum = binary(&mut b, S::Add, x, y).unwrap();
    assert_eq!(b.shape(sum).len(), 1);
    b.output("z", sum).unwrap();
    let graph = b.finish();
    assert_eq!(graph.guards.len(), 1);
    assert!(run(&graph, &[data(1, &[3]), data(1, &[1])], Options::default()).is_err());
    assert!(run(&graph, &[data(1, &[3]), data(1, &[3])], Options::default()).is_ok());
}

#[test]
fn a_symbol_against_a_literal_takes_the_literal() {
    let mut b = Builder::new("f");
    let x = b.input("x", DType::F32, [Sym::named("n")], false).unwrap();
    let y = b.input("y", DType::F32, [3i64], false).unwrap();
    let sum = binary(&mut b, S::Add, x, y).unwrap();
    assert_eq!(b.shape(sum)[0], Sym::from(3));
    assert_eq!(b.graph().guards.len(), 1);
}

#[test]
fn shapes_that_differ_are_an_error_with_both_types() {
    let e = eval(&[data(1, &[2, 3]), data(2, &[4])], |b, x| binary(b, S::Add, x[0], x[1])).unwrap_err().to_string();
    assert!(e.contains("f32[2, 3]") && e.contains("f32[4]"), "{e}");
    assert!(eval(&[data(1, &[2, 3])], |b, x| broadcast_to(b, x[0], &Shape::from_iter([Sym::from(3)]))).is_err());
}

#[test]
fn promotion_is_pytorchs() {
    let ty = |d: DType, rank: usize| crate::TensorType { dtype: d, shape: Shape::from_elem(Sym::from(2), rank) };
    let of = |a: (DType, usize), b: (DType, usize)| promote(&[&ty(a.0, a.1), &ty(b.0, b.1)]);
    assert_eq!(of((DType::F16, 1), (DType::F32, 1)), DType::F32);
    assert_eq!(of((DType::F16, 1), (DType::F32, 0)), DType::F16);
    assert_eq!(of((DType::I32, 1), (DType::F64, 0)), DType::F64);
    assert_eq!(of((DType::Bool, 1), (DType::I64, 0)), DType::I64);
    assert_eq!(of((DType::I8, 0), (DType::I64, 0)), DType::I64);
    assert_eq!(of((DType::I64, 1), (DType::F16, 1)), DType::F16);
}

#[test]
fn division_of_integers_is_floating() {
    let y = eval(&[i64s(&[2], &[3, 1]), i64s(&[], &[2])], |b, x| true_div(b, x[0], x[1])).unwrap();
    assert_eq!((y.dtype(), y.to_f64s()), (DType::F32, vec![1.5, 0.5]));
}

#[test]
fn where_clamp_full() {
    let c = i64s(&[2, 1], &[5, 0]);
    let y = eval(&[c, data(1, &[3]), i64s(&[], &[7])], |b, x| where_(b, x[0], x[1], x[2])).unwrap();
    assert_eq!(y.to_f64s()[3..], [7.0; 3]);
    let y = eval(&[f32s(&[4], &[-2.0, 0.5, 9.0, f64::NAN])], |b, x| clamp(b, x[0], Some(-1.0), Some(1.0))).unwrap();
    assert_near(&y, &[-1.0, 0.5, 1.0, f64::NAN], 0.0);
    let y = eval(&[], |b, _| full(b, &Shape::from_iter([Sym::from(2), Sym::from(0)]), Scalar::f32(1.0))).unwrap();
    assert_eq!(y.shape(), [2, 0]);
    let y = eval(&[f32s(&[], &[3.0])], |b, x| with_scalar(b, S::Sub, x[0], 1.0)).unwrap();
    assert_eq!(y.to_f64s(), [2.0]);
}

type Unary = fn(&mut Builder, NodeId) -> Result<NodeId>;
type Case = (Unary, fn(f64) -> f64);

fn erf(x: f64) -> f64 {
    scalar::eval_f64(S::Erf, &[x])
}

fn softplus_of(x: f64) -> f64 {
    if x > 20.0 { x } else { x.exp().ln_1p() }
}

#[test]
fn activations_agree_with_their_formulas() {
    let cases: [Case; 17] = [
        (relu, |x| x.max(0.0)),
        (relu6, |x| x.clamp(0.0, 6.0)),
        (|b, x| leaky_relu(b, x, 0.1), |x| if x > 0.0 { x } else { 0.1 * x }),
        (|b, x| elu(b, x, 0.7), |x| if x > 0.0 { x } else { 0.7 * x.exp_m1() }),
        (selu, |x| 1.0507009873554805 * if x > 0.0 { x } else { 1.6732632423543772 * x.exp_m1() }),
        (|b, x| celu(b, x, 2.0), |x| x.max(0.0) + (2.0 * (x / 2.0).exp_m1()).min(0.0)),
        (|b, x| hardsigmoid(b, x, 0.2, 0.5), |x| (0.2 * x + 0.5).clamp(0.0, 1.0)),
        (hardswish, |x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
        (sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (silu, |x| x / (1.0 + (-x).exp())),
        (|b, x| softplus(b, x, 1.0, 20.0), softplus_of),
        (mish, |x| x * softplus_of(x).tanh()),
        (softsign, |x| x / (1.0 + x.abs())),
        (gelu, |x| x / 2.0 * (1.0 + erf(x / 2f64.sqrt()))),
        (gelu_tanh, |x| x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())),
        (quick_gelu, |x| x / (1.0 + (-1.702 * x).exp())),
        (
            |b, x| shrink(b, x, 0.5, 0.2),
            |x| {
                if x > 0.5 {
                    x - 0.2
                } else if x < -0.5 {
                    x + 0.2
                } else {
                    0.0
                }
            },
        ),
    ];
    let points = [-30.0, -4.0, -1.5, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 3.0, 8.0, 30.0];
    for (i, (op, formula)) in cases.into_iter().enumerate() {
        let want: Vec<f64> = points.iter().map(|&x| formula(x)).collect();
        let got = both(&["n, 4"], &[f32s(&[3, 4], &points)], |b, x| op(b, x[0]));
        assert_near(&got, &want, 2e-6);
        let half = HostTensor::from_f64s(DType::F16, &[12], &points);
        let got = eval(&[half], |b, x| op(b, x[0])).unwrap();
        assert_eq!(got.dtype(), DType::F16, "activation {i}");
        let rounded: Vec<f64> = want.iter().map(|&v| Scalar::from_f64(DType::F16, v).as_f64()).collect();
        assert_near(&got, &rounded, 1e-3);
    }
}

#[test]
fn prelu_slopes_per_channel() {
    let x = f32s(&[1, 2, 2], &[-1.0, 2.0, -3.0, 4.0]);
    let y = eval(&[x, f32s(&[2], &[0.5, 0.25])], |b, x| prelu(b, x[0], x[1])).unwrap();
    assert_near(&y, &[-0.5, 2.0, -0.75, 4.0], 0.0);
}

//! Combiner rows against direct formulas.

use scalar::{Combiner, DType, Scalar, ScalarOp, eval};

const F32: DType = DType::F32;

fn fold(c: Combiner, dtype: DType, elements: &[Vec<Scalar>]) -> Vec<Scalar> {
    let states = elements.iter().enumerate().map(|(i, e)| c.lift(e, i as i64));
    states.fold(c.init(dtype), |state, next| c.combine(&state, &next))
}

/// Like [`fold`], as a balanced tree.
fn tree(c: Combiner, dtype: DType, elements: &[Vec<Scalar>], first: i64) -> Vec<Scalar> {
    match elements {
        [] => c.init(dtype),
        [one] => c.lift(one, first),
        many => {
            let (left, right) = many.split_at(many.len() / 2);
            c.combine(&tree(c, dtype, left, first), &tree(c, dtype, right, first + left.len() as i64))
        }
    }
}

fn column(dtype: DType, values: &[f64]) -> Vec<Vec<Scalar>> {
    values.iter().map(|&v| vec![Scalar::from_f64(dtype, v)]).collect()
}

fn numbers(state: &[Scalar]) -> Vec<f64> {
    state.iter().map(|s| s.as_f64()).collect()
}

#[test]
fn folds_of_plain_rows() {
    let x = column(F32, &[3.0, -1.0, 4.0, 1.0, 4.0, -5.0]);
    for (c, want) in [
        (Combiner::Sum, vec![6.0]),
        (Combiner::Prod, vec![240.0]),
        (Combiner::Max, vec![4.0]),
        (Combiner::Min, vec![-5.0]),
        (Combiner::ArgMax, vec![4.0, 2.0]),
        (Combiner::ArgMin, vec![-5.0, 5.0]),
        (Combiner::Welford, vec![1.0, 62.0, 6.0]),
    ] {
        assert_eq!(numbers(&fold(c, F32, &x)), want, "{c:?}");
        let by_tree = numbers(&tree(c, F32, &x, 0));
        assert!(by_tree.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-5), "{c:?} as a tree: {by_tree:?}");
    }
    let ints = column(DType::I8, &[100.0, 100.0, -7.0]);
    assert_eq!(fold(Combiner::Sum, DType::I8, &ints), [Scalar::from_i64(DType::I8, -63)]);
    assert_eq!(fold(Combiner::Max, DType::I8, &ints), [Scalar::from_i64(DType::I8, 100)]);
    let bools = [vec![Scalar::bool(false)], vec![Scalar::bool(true)]];
    assert_eq!(fold(Combiner::Any, DType::Bool, &bools), [Scalar::bool(true)]);
    assert_eq!(fold(Combiner::All, DType::Bool, &bools), [Scalar::bool(false)]);
    assert_eq!(fold(Combiner::ArgMax, DType::Bool, &bools), [Scalar::bool(true), Scalar::i64(1)]);
}

#[test]
fn nan_and_ties_of_arg_rows() {
    let nan = f64::NAN;
    let index = |c: Combiner, values: &[f64]| {
        let (x, last) = (column(F32, values), 1);
        let flat = fold(c, F32, &x)[last];
        assert_eq!(flat, tree(c, F32, &x, 0)[last]);
        flat.as_i64()
    };
    assert_eq!(index(Combiner::ArgMax, &[1.0, 7.0, 7.0, 2.0]), 1);
    assert_eq!(index(Combiner::ArgMin, &[5.0, 0.0, -0.0, 0.0]), 1);
    assert_eq!(index(Combiner::ArgMax, &[1.0, nan, 9.0, nan]), 1);
    assert_eq!(index(Combiner::ArgMin, &[nan, -9.0, nan]), 0);
    assert_eq!(index(Combiner::ArgMax, &[f64::NEG_INFINITY; 3]), 0);
    assert!(fold(Combiner::Max, F32, &column(F32, &[1.0, nan, 2.0]))[0].as_f64().is_nan());
    let x = column(F32, &[2.0, 8.0, 8.0]);
    let late = Combiner::ArgMax.lift(&x[1], 1);
    let swapped = Combiner::ArgMax.combine(&Combiner::ArgMax.lift(&x[2], 2), &late);
    assert_eq!(swapped, late, "the lower index wins in either order");
}

#[test]
fn half_precision_accumulates_in_f32() {
    let ones = column(DType::F16, &[1.0; 3000]);
    let state = fold(Combiner::Sum, DType::F16, &ones);
    assert_eq!(state, [Scalar::f32(3000.0)]);
    assert_eq!(Combiner::Sum.finish(DType::F16, &state), [Scalar::from_f64(DType::F16, 3000.0)]);
    assert_eq!(Combiner::Max.init(DType::F16), [Scalar::from_f64(DType::F16, f64::NEG_INFINITY)]);
}

#[test]
fn online_softmax_state() {
    let values = [0.5, -2.0, 3.0, 1.0];
    let state = numbers(&fold(Combiner::MaxSum, F32, &column(F32, &values)));
    let want: f64 = values.iter().map(|v| (v - 3.0f64).exp()).sum();
    assert!(state[0] == 3.0 && (state[1] - want).abs() < 1e-6, "{state:?}");
    let inf = f64::INFINITY;
    assert_eq!(numbers(&fold(Combiner::MaxSum, F32, &column(F32, &[-inf, 1.0, -inf]))), [1.0, 1.0]);
    assert_eq!(numbers(&fold(Combiner::MaxSum, F32, &column(F32, &[-inf, -inf]))), [-inf, 2.0]);
    assert!(fold(Combiner::MaxSum, F32, &column(F32, &[1.0, inf]))[1].as_f64().is_nan());
    assert!(fold(Combiner::MaxSum, F32, &column(F32, &[1.0, f64::NAN, 2.0]))[0].as_f64().is_nan());
}

#[test]
fn linear_recurrence() {
    let steps: Vec<Vec<Scalar>> = [(2.0, 1.0), (3.0, -1.0), (0.5, 4.0)].map(|(a, b)| vec![Scalar::f32(a), Scalar::f32(b)]).into();
    assert_eq!(numbers(&fold(Combiner::Affine, F32, &steps)), [3.0, 5.0]);
    assert_eq!(numbers(&tree(Combiner::Affine, F32, &steps, 0)), [3.0, 5.0]);
}

/// The initial state is neutral on both sides, and states have as many components as the row says.
#[test]
fn init_is_neutral() {
    for c in Combiner::ALL {
        for d in DType::ALL {
            let operands = vec![Scalar::from_i64(d, 1); c.info().operands];
            let Ok(results) = c.results(&vec![d; c.info().operands]) else { continue };
            let (init, state) = (c.init(d), c.lift(&operands, 0));
            assert_eq!((init.len(), state.len()), (c.info().components, c.info().components));
            assert_eq!(c.combine(&init, &state), state, "{c:?} {d}");
            assert_eq!(c.combine(&state, &init), state, "{c:?} {d}");
            let finished: Vec<DType> = c.finish(d, &state).iter().map(|s| s.dtype()).collect();
            assert_eq!(finished, results, "{c:?} {d}");
        }
        assert_eq!(Combiner::parse(c.info().name), Some(c));
    }
    assert_eq!(Combiner::Min.init(DType::U8), [Scalar::from_i64(DType::U8, 255)]);
    assert_eq!(Combiner::Max.init(DType::I64), [Scalar::i64(i64::MIN)]);
    assert_eq!(Combiner::Min.init(DType::I64), [Scalar::i64(i64::MAX)]);
}

#[test]
fn lifting_agrees_with_casting() {
    let x = Scalar::from_f64(DType::BF16, 1.5);
    assert_eq!(Combiner::Prod.lift(&[x], 0), [eval(ScalarOp::Cast(F32), &[x])]);
}

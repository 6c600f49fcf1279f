//! What makes a compiled function compile again, and what does not.

use std::cell::Cell;
use std::rc::Rc;

use fuseline::{DType, Result, Tensor, compile, nn};

fn ones(shape: &[usize]) -> Tensor {
    Tensor::ones(shape, DType::F32).eval().unwrap().clone()
}

#[test]
fn a_number_that_varies_becomes_an_input() -> Result<()> {
    let scale = Rc::new(Cell::new(1.0f32));
    let f = compile({
        let scale = scale.clone();
        move |x: &[Tensor]| vec![&x[0] * scale.get() + 1.0]
    });
    let x = [ones(&[3])];
    for (value, compiled) in [(2.0f32, 1), (2.0, 1), (3.0, 2), (4.0, 2), (2.0, 2), (f32::INFINITY, 2)] {
        scale.set(value);
        assert_eq!(f.call(&x)?[0].to_vec::<f32>()?, vec![value + 1.0; 3]);
        assert_eq!(f.compiled(), compiled, "after {value}");
    }
    Ok(())
}

#[test]
fn only_numbers_that_vary_become_inputs() -> Result<()> {
    let f = |s: f64, t: f64| move |x: &Tensor| (x * s).pow(2.0) + t;
    let values = Rc::new(Cell::new((1.0, 1.0)));
    let g = compile({
        let values = values.clone();
        move |x: &[Tensor]| vec![f(values.get().0, values.get().1)(&x[0])]
    });
    for (k, pair) in [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (3.0, 5.0), (4.0, 6.0), (7.0, 1.0)].into_iter().enumerate() {
        values.set(pair);
        let y = g.call(&[ones(&[2])])?[0].to_vec::<f64>()?;
        assert_eq!(y, vec![pair.0 * pair.0 + pair.1; 2]);
        assert_eq!(g.compiled(), [1, 2, 2, 3, 3, 3][k], "call {k}");
    }
    Ok(())
}

#[test]
fn a_size_that_varies_becomes_symbolic() -> Result<()> {
    let layer = nn::Linear::new(&nn::Vars::seeded(1), 4, 3)?;
    let f = compile(move |x: &[Tensor]| vec![layer.forward(&x[0]).relu().softmax(-1)]);
    for (n, compiled) in [(5, 1), (5, 1), (7, 2), (9, 2), (2, 2), (100, 2), (1, 3), (1, 3), (0, 4), (8, 4)] {
        let y = f.call(&[Tensor::rand([n, 4])])?.swap_remove(0);
        assert_eq!(y.shape(), [n, 3]);
        assert!((y.sum(..).item::<f32>()? - n as f32).abs() < 1e-4);
        assert_eq!(f.compiled(), compiled, "after {n}");
    }
    assert!(f.explain().contains("argument 0 (f32, rank 2), dim 0 varies: symbolic as a0_0, guarded >= 2"), "{}", f.explain());
    Ok(())
}

#[test]
fn sizes_read_symbolically_stay_symbolic() -> Result<()> {
    let f = compile(|x: &[Tensor]| {
        let (batch, width) = (x[0].size(0), x[0].size(1));
        let flat = x[0].reshape([batch * width]);
        vec![flat.cumsum(0), x[0].i((.., 1..)).amax(1), Tensor::iota(x[0].size(0)), &x[0] + Tensor::rand(x[0].dims())]
    });
    for (n, m) in [(3, 4), (5, 6), (4, 9), (6, 7)] {
        let x = Tensor::rand([n, m]);
        let y = f.call(std::slice::from_ref(&x))?;
        assert_eq!([y[0].shape(), y[1].shape(), y[2].shape(), y[3].shape()], [vec![n * m], vec![n], vec![n], vec![n, m]]);
        assert_eq!(y[1].to_vec::<f32>()?, x.i((.., 1..)).amax(1).to_vec::<f32>()?);
    }
    assert_eq!(f.compiled(), 2, "{}", f.explain());
    Ok(())
}

#[test]
fn sizes_read_as_numbers_compile_per_size() -> Result<()> {
    let f = compile(|x: &[Tensor]| vec![&x[0] / x[0].shape()[0] as f64]);
    for n in 3..9 {
        assert_eq!(f.call(&[ones(&[n])])?[0].to_vec::<f32>()?, vec![1.0 / n as f32; n]);
    }
    assert_eq!(f.compiled(), 3, "the size and then the divisor became inputs");
    let g = compile(|x: &[Tensor]| vec![x[0].reshape([x[0].shape()[0] as i64, -1]).sum(1)]);
    for n in 3..7 {
        assert_eq!(g.call(&[ones(&[n, 2, 2])])?[0].to_vec::<f32>()?, vec![4.0; n]);
    }
    assert_eq!(g.compiled(), 4);
    Ok(())
}

#[test]
fn what_needs_numbers_gets_them() -> Result<()> {
    // The range is clamped to the extent, which has to be a number for that.
    let f = compile(|x: &[Tensor]| vec![x[0].i(..4) * 2.0]);
    for n in [6, 8, 3, 2, 9] {
        assert_eq!(f.call(&[ones(&[n])])?[0].to_vec::<f32>()?, vec![2.0; n.min(4)]);
    }
    assert!(f.explain().contains("dim 0 varies, but is a number: index at"), "{}", f.explain());
    // n - 1 is 1 for n = 2, which broadcasts.
    let g = compile(|x: &[Tensor]| vec![x[0].i(1..) + &x[1]]);
    for n in [4, 5, 2, 6] {
        let y = ones(&[if n == 2 { 7 } else { n - 1 }]);
        assert_eq!(g.call(&[ones(&[n]), y.clone()])?[0].shape(), y.shape());
    }
    Ok(())
}

#[test]
fn equal_sizes_are_guarded() -> Result<()> {
    let f = compile(|x: &[Tensor]| vec![&x[0] + &x[1]]);
    for n in [3, 4, 5] {
        assert_eq!(f.call(&[ones(&[n]), ones(&[n])])?[0].to_vec::<f32>()?, vec![2.0; n]);
    }
    assert_eq!(f.compiled(), 2);
    let error = f.call(&[ones(&[4]), ones(&[6])]).unwrap_err().to_string();
    assert!(error.starts_with("add at ") && error.contains('4') && error.contains('6'), "{error}");
    assert_eq!(f.call(&[ones(&[1]), ones(&[6])])?[0].shape(), [6]);
    Ok(())
}

#[test]
fn kept_tensors_have_the_sizes_of_their_call() -> Result<()> {
    let kept: Rc<Cell<Option<Tensor>>> = Rc::default();
    let f = compile({
        let kept = kept.clone();
        move |x: &[Tensor]| {
            let lazy = x[0].i(1..) * 2.0;
            let earlier = kept.replace(Some(lazy));
            vec![x[0].exp(), earlier.map_or_else(|| x[0].clone(), |t| t.sum(..) + &x[0])]
        }
    });
    for n in [4, 6, 3, 8] {
        f.call(&[ones(&[n])])?;
        let tensor = kept.take().unwrap();
        assert_eq!(tensor.shape(), [n - 1]);
        kept.set(Some(tensor.clone()));
        if n == 6 {
            assert_eq!(tensor.to_vec::<f32>()?, vec![2.0; n - 1]);
        }
    }
    Ok(())
}

#[test]
fn reads_work_at_every_size() -> Result<()> {
    let f = compile(|x: &[Tensor]| {
        let y = x[0].exp();
        let total: f32 = y.sum(..).item().unwrap();
        vec![y / total]
    });
    for n in [3, 4, 5, 6, 7] {
        assert!((f.call(&[ones(&[n])])?[0].sum(..).item::<f32>()? - 1.0).abs() < 1e-6);
        assert_eq!(f.graph_breaks().len(), 1);
    }
    assert_eq!(f.compiled(), 5, "two segments, each for one size and then for all, and the total as an input");
    Ok(())
}

#[test]
fn evaluated_parts_of_an_op_can_be_used_apart() -> Result<()> {
    let (values, positions) = Tensor::new([[1.0f32, 5.0, 2.0]]).max(1);
    assert_eq!(values.to_vec::<f32>()?, [5.0]);
    assert_eq!((&positions + 1).to_vec::<i64>()?, [2]);
    assert_eq!((positions.to_dtype(DType::F32) + values).to_vec::<f32>()?, [6.0]);
    Ok(())
}

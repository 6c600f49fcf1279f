mod attention;
mod broadcast;
mod conv;
mod index;
mod loss;
mod norm;
mod pool;
mod random;
mod recurrent;
mod reduce;
mod resize;

use base::Result;
use scalar::{DType, Sym};

use crate::interp::{Options, run};
use crate::{Builder, HostTensor, NodeId, verify};

/// Builds a function of inputs with the given symbolic shapes (`n, 4`), verifies it and runs it.
fn eval_shaped(
    shapes: &[Vec<Sym>],
    args: &[HostTensor],
    f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<Vec<NodeId>>,
) -> Result<Vec<HostTensor>> {
    let mut b = Builder::new("f");
    let ids =
        (0..args.len()).map(|i| b.input(format!("x{i}"), args[i].dtype(), &shapes[i], false)).collect::<Result<Vec<_>>>()?;
    for (i, id) in f(&mut b, &ids)?.into_iter().enumerate() {
        b.output(format!("y{i}"), id)?;
    }
    let graph = b.finish();
    verify(&graph)?;
    run(&graph, args, Options::default())
}

fn eval_all(args: &[HostTensor], f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<Vec<NodeId>>) -> Result<Vec<HostTensor>> {
    let shapes: Vec<Vec<Sym>> = args.iter().map(|a| a.shape().iter().map(|&n| Sym::from(n)).collect()).collect();
    eval_shaped(&shapes, args, f)
}

fn eval(args: &[HostTensor], f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<NodeId>) -> Result<HostTensor> {
    Ok(eval_all(args, |b, x| Ok(vec![f(b, x)?]))?.remove(0))
}

/// Runs with literal and with symbolic extents, asserts equal results, and returns them.
fn both(shapes: &[&str], args: &[HostTensor], f: impl Fn(&mut Builder, &[NodeId]) -> Result<NodeId>) -> HostTensor {
    let fixed = eval(args, &f).unwrap();
    let parse = |s: &&str| s.split(',').filter(|s| !s.trim().is_empty()).map(|s| Sym::parse(s.trim()).unwrap()).collect();
    let shapes: Vec<Vec<Sym>> = shapes.iter().map(parse).collect();
    let free = eval_shaped(&shapes, args, |b, x| Ok(vec![f(b, x)?])).unwrap().remove(0);
    assert_eq!((fixed.shape(), fixed.bytes()), (free.shape(), free.bytes()), "symbolic extents give another result");
    fixed
}

fn f32s(shape: &[usize], values: &[f64]) -> HostTensor {
    HostTensor::from_f64s(DType::F32, shape, values)
}

fn i64s(shape: &[usize], values: &[i64]) -> HostTensor {
    HostTensor::from_i64s(DType::I64, shape, values)
}

/// Deterministic values between −2 and 2 that are exact in f16.
fn data(seed: u64, shape: &[usize]) -> HostTensor {
    let n: usize = shape.iter().product();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let values: Vec<f64> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as f64 / 64.0 - 2.0
        })
        .collect();
    f32s(shape, &values)
}

fn assert_near(got: &HostTensor, want: &[f64], tolerance: f64) {
    let got = got.to_f64s();
    assert_eq!(got.len(), want.len());
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let same = g == w || g.is_nan() && w.is_nan() || (g - w).abs() <= tolerance * w.abs().max(1.0);
        assert!(same, "element {i}: {g} is not {w}\n got {got:?}\nwant {want:?}");
    }
}

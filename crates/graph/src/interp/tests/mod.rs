mod bind;
mod indexed;
mod map;
mod numbers;
mod region;
mod view;

use base::Result;
use scalar::DType;

use super::*;
use crate::{Builder, verify};

/// Builds a function of inputs with the shapes and dtypes of `args`, verifies it and runs it.
fn eval_all(
    args: &[HostTensor],
    wide: bool,
    f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<Vec<NodeId>>,
) -> Result<Vec<HostTensor>> {
    let mut b = Builder::new("f");
    let ids = (0..args.len())
        .map(|i| b.input(format!("x{i}"), args[i].dtype(), args[i].shape().to_vec(), false))
        .collect::<Result<Vec<_>>>()?;
    for (i, id) in f(&mut b, &ids)?.into_iter().enumerate() {
        b.output(format!("y{i}"), id)?;
    }
    let graph = b.finish();
    verify(&graph)?;
    run(&graph, args, Options { wide })
}

fn eval(args: &[HostTensor], f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<NodeId>) -> Result<HostTensor> {
    Ok(eval_all(args, false, |b, x| Ok(vec![f(b, x)?]))?.remove(0))
}

fn f32s(shape: &[usize], values: &[f64]) -> HostTensor {
    HostTensor::from_f64s(DType::F32, shape, values)
}

fn i64s(shape: &[usize], values: &[i64]) -> HostTensor {
    HostTensor::from_i64s(DType::I64, shape, values)
}

fn ramp(shape: &[usize]) -> HostTensor {
    let n: usize = shape.iter().product();
    i64s(shape, &(0..n as i64).collect::<Vec<_>>())
}

//! Control flow: body graphs evaluated with the bindings of the graph around them.

use base::{Error, Result};
use scalar::{DType, Scalar};

use super::index::concat;
use super::layout::Layout;
use super::value::{Data, Element, Value, kind, with_kind};
use super::{Env, eval_graph};
use crate::{Graph, Region};

/// Evaluates a region whose results have the given dtypes and extents.
pub(crate) fn region(
    region: &Region,
    args: &[&Value],
    types: &[(DType, Vec<usize>)],
    env: &Env,
    wide: bool,
) -> Result<Vec<Value>> {
    match region {
        Region::If { then, other } => {
            let taken = if args[0].first::<bool>() { then } else { other };
            call(taken, args[1..].iter().map(|&v| v.clone()).collect(), env, wide)
        }
        Region::Loop { trip, carried, scanned, body } => {
            let split = Operands {
                carried: &args[..*carried],
                scanned: &args[*carried..carried + scanned],
                captures: &args[carried + scanned..],
            };
            run_loop(env.size(trip)?, &split, body, types, env, wide)
        }
    }
}

struct Operands<'a, 'v> {
    carried: &'a [&'v Value],
    scanned: &'a [&'v Value],
    captures: &'a [&'v Value],
}

fn run_loop(
    trip: usize,
    operands: &Operands<'_, '_>,
    body: &Graph,
    types: &[(DType, Vec<usize>)],
    env: &Env,
    wide: bool,
) -> Result<Vec<Value>> {
    let mut state: Vec<Value> = operands.carried.iter().map(|&v| v.clone()).collect();
    let mut stacked: Vec<Vec<Value>> = vec![Vec::new(); types.len() - state.len()];
    for step in 0..trip {
        let mut inputs = vec![Value::scalar(Scalar::i64(step as i64), wide)];
        inputs.append(&mut state);
        inputs.extend(operands.scanned.iter().map(|x| slice_of(x, step)));
        inputs.extend(operands.captures.iter().map(|&v| v.clone()));
        state = call(body, inputs, env, wide).map_err(|e| e.context(format!("step {step}")))?;
        for (all, one) in stacked.iter_mut().zip(state.drain(operands.carried.len()..)) {
            all.push(one);
        }
    }
    let stack_types = &types[operands.carried.len()..];
    state.extend(stacked.iter().zip(stack_types).map(|(steps, (dtype, shape))| stack(steps, *dtype, shape, wide)));
    Ok(state)
}

fn call(body: &Graph, inputs: Vec<Value>, env: &Env, wide: bool) -> Result<Vec<Value>> {
    let outputs: Vec<_> = body.outputs.iter().map(|o| o.value).collect();
    let env = env.within(body, &inputs).map_err(|e: Error| e.context(format!("body {}", body.name)))?;
    eval_graph(body, inputs, &outputs, &env, wide).map_err(|e| e.context(format!("body {}", body.name)))
}

/// Element `step` along axis 0, without that axis.
fn slice_of(x: &Value, step: usize) -> Value {
    let mut to: Layout = x.layout.select(1..x.shape().len());
    to.offset += step as isize * x.layout.strides[0];
    x.with_layout(to)
}

/// Values stacked along a new axis 0.
fn stack(steps: &[Value], dtype: DType, shape: &[usize], wide: bool) -> Value {
    if steps.is_empty() {
        let data: Data = with_kind!(kind(dtype, wide), T => T::wrap(Vec::new()));
        return Value::dense(dtype, shape.to_vec(), data);
    }
    let rows: Vec<Value> = steps.iter().map(with_leading_axis).collect();
    concat(&rows.iter().collect::<Vec<_>>(), 0, shape)
}

fn with_leading_axis(x: &Value) -> Value {
    let mut to = x.layout.clone();
    to.shape.insert(0, 1);
    to.strides.insert(0, 0);
    x.with_layout(to)
}

//! The interpreter: the oracle that every faster execution is compared with.
//!
//! It evaluates a graph node by node, without fusing or simplifying, and frees each value after its last reader. Views are
//! strided layouts of shared data; maps run in typed loops; contractions run in blocks.
//!
//! # Rounding
//! By default every node's result is rounded to its dtype. Reductions, scans, contractions and colliding writes of floats
//! accumulate in f64 and round once at the end, so an accumulator dtype is a lower bound on the precision here. Floats that
//! are not correctly rounded by one f32 operation are evaluated in f64 and rounded.
//!
//! With [`Options::wide`] every float, also a result of a cast between float dtypes, is kept in f64 and rounded only at the
//! graph outputs: the reference for error measurements.

mod bind;
mod contract;
mod index;
mod layout;
mod map;
mod reduce;
mod region;
mod value;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use base::{Error, ErrorKind, Result};
use scalar::{DType, Var};

pub(crate) use bind::Env;
pub use bind::{bind, bind_from};
use value::Value;

use crate::{Graph, HostTensor, NodeId, Op, TensorType, Type, call};

/// Elements that one tensor may have at most.
const MAX_ELEMENTS: usize = 1 << 33;

/// How to evaluate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep every float in f64 and round only graph outputs.
    pub wide: bool,
}

/// Values of the graph's outputs for one tensor per input slot, frozen inputs included.
///
/// # Errors
/// Inputs that do not match the declarations, guards or facts; an index out of range; a tensor of more than 2³³ elements.
pub fn run(graph: &Graph, inputs: &[HostTensor], options: Options) -> Result<Vec<HostTensor>> {
    let outputs: Vec<NodeId> = graph.outputs.iter().map(|o| o.value).collect();
    run_values(graph, inputs, options, &outputs)
}

/// Values of chosen single-result nodes; see [`run`].
///
/// # Errors
/// As [`run`], and when a chosen node does not exist or has several results.
pub fn run_values(graph: &Graph, inputs: &[HostTensor], options: Options, wanted: &[NodeId]) -> Result<Vec<HostTensor>> {
    run_from(graph, inputs, options, wanted, BTreeMap::new())
}

fn run_from(
    graph: &Graph,
    inputs: &[HostTensor],
    options: Options,
    wanted: &[NodeId],
    dims: BTreeMap<Var, i64>,
) -> Result<Vec<HostTensor>> {
    check_wanted(graph, wanted)?;
    check_dtypes(graph, inputs)?;
    let shapes: Vec<&[usize]> = inputs.iter().map(HostTensor::shape).collect();
    let env = Env::new(bind_from(graph, &shapes, dims)?);
    let inputs = inputs.iter().map(|t| Value::from_host(t, options.wide)).collect();
    eval_graph(graph, inputs, wanted, &env, options.wide)?.iter().map(Value::to_host).collect()
}

/// Values of the graph's outputs with some dimensions known beforehand: a part of a larger graph may mention dimensions
/// that none of its inputs shows.
///
/// # Errors
/// As [`run`].
pub fn run_bound(graph: &Graph, inputs: &[HostTensor], options: Options, dims: &BTreeMap<Var, i64>) -> Result<Vec<HostTensor>> {
    let outputs: Vec<NodeId> = graph.outputs.iter().map(|o| o.value).collect();
    run_from(graph, inputs, options, &outputs, dims.clone())
}

fn check_wanted(graph: &Graph, wanted: &[NodeId]) -> Result<()> {
    for id in wanted {
        match graph.nodes.get(id.index()).map(|n| &n.ty) {
            Some(Type::Tensor(_)) => {}
            Some(Type::Tuple(_)) => return Err(Error::invalid(format!("{id:?} has several results; ask for its Result nodes"))),
            None => return Err(Error::invalid(format!("{id:?} is not a node of graph {}", graph.name))),
        }
    }
    Ok(())
}

fn check_dtypes(graph: &Graph, inputs: &[HostTensor]) -> Result<()> {
    if inputs.len() != graph.inputs.len() {
        let names: Vec<&str> = graph.inputs.iter().map(|d| d.name.as_str()).collect();
        return Err(Error::invalid(format!(
            "graph {} takes {} inputs ({}), got {}",
            graph.name,
            names.len(),
            names.join(", "),
            inputs.len()
        )));
    }
    for (decl, given) in graph.inputs.iter().zip(inputs) {
        if decl.ty.dtype != given.dtype() {
            return Err(Error::invalid(format!("input {} is {}, got {}{:?}", decl.name, decl.ty, given.dtype(), given.shape())));
        }
    }
    Ok(())
}

/// Element count of extents, unless it is absurd.
pub(crate) fn dense_len(shape: &[usize]) -> Result<usize> {
    let mut sizes = shape.iter();
    if shape.contains(&0) {
        return Ok(0);
    }
    let n = sizes.try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= MAX_ELEMENTS);
    n.ok_or_else(|| Error::new(ErrorKind::OutOfMemory, format!("a tensor of shape {shape:?} has more than 2^33 elements")))
}

/// Values of `wanted` nodes, given one value per input slot.
pub(crate) fn eval_graph(graph: &Graph, inputs: Vec<Value>, wanted: &[NodeId], env: &Env, wide: bool) -> Result<Vec<Value>> {
    let mut reads = read_counts(graph, wanted);
    let mut values: Vec<Vec<Value>> = vec![Vec::new(); graph.nodes.len()];
    for id in graph.ids().filter(|&id| reads[id.index()] > 0).collect::<Vec<_>>() {
        let node = graph.node(id);
        let result = eval_node(graph, id, &values, &inputs, env, wide).map_err(|e| e.context(place(graph, id)))?;
        values[id.index()] = result;
        for arg in &node.args {
            reads[arg.index()] -= 1;
            if reads[arg.index()] == 0 {
                values[arg.index()] = Vec::new();
            }
        }
    }
    Ok(wanted.iter().map(|id| values[id.index()][0].clone()).collect())
}

/// Reads of every node on the way to `wanted`; 0 for nodes that are not needed.
fn read_counts(graph: &Graph, wanted: &[NodeId]) -> Vec<u32> {
    let mut reads = vec![0u32; graph.nodes.len()];
    for id in wanted {
        reads[id.index()] += 1;
    }
    for id in graph.ids().rev() {
        if reads[id.index()] > 0 {
            for arg in &graph.node(id).args {
                reads[arg.index()] += 1;
            }
        }
    }
    reads
}

/// `%7 gather (embedding at model.rs:3)`.
fn place(graph: &Graph, id: NodeId) -> String {
    let origin = graph.origin(id);
    let op = match &graph.node(id).op {
        Op::Map(op) => op.name(),
        op => {
            let name = format!("{op:?}");
            name.split(['(', ' ']).next().unwrap_or_default().to_lowercase()
        }
    };
    match (origin.op.as_str(), origin.source.as_str()) {
        ("", "") => format!("{id:?} {op}"),
        (user, "") => format!("{id:?} {op} ({user})"),
        (user, source) => format!("{id:?} {op} ({user} at {source})"),
    }
}

fn result_types(ty: &Type, env: &Env) -> Result<Vec<(DType, Vec<usize>)>> {
    let concrete = |t: &TensorType| {
        let shape = env.sizes(&t.shape)?;
        dense_len(&shape)?;
        Ok((t.dtype, shape))
    };
    match ty {
        Type::Tensor(t) => Ok(vec![concrete(t)?]),
        Type::Tuple(parts) => parts.iter().map(concrete).collect(),
    }
}

fn eval_node(graph: &Graph, id: NodeId, values: &[Vec<Value>], inputs: &[Value], env: &Env, wide: bool) -> Result<Vec<Value>> {
    let node = graph.node(id);
    if let Op::Result(i) = node.op {
        return Ok(vec![values[node.args[0].index()][i as usize].clone()]);
    }
    let args: Vec<&Value> = node.args.iter().map(|a| &values[a.index()][0]).collect();
    let types = result_types(&node.ty, env)?;
    let (dtype, shape) = &types[0];
    Ok(vec![match &node.op {
        Op::Reduce(c, axes) => return Ok(reduce::reduce(*c, &args, axes, &dtypes(&types), shape, wide)),
        Op::Scan(c, axis) => return Ok(reduce::scan(*c, &args, *axis, &dtypes(&types), wide)),
        Op::Region(r) => return region::region(r, &args, &types, env, wide),
        Op::Call(name, attrs) => return eval_call(name, attrs, &args, wide),
        Op::Input(slot) => inputs[*slot as usize].clone(),
        Op::Const(c) => Value::scalar(*c, wide),
        Op::SymConst(s) => Value::scalar(scalar::Scalar::i64(env.int(s)?), wide),
        Op::Iota(_) => index::iota(shape[0]),
        Op::Map(op) => map::map(*op, &args, *dtype, wide),
        Op::View(v) => view::view(v, args[0], shape, env)?,
        Op::Concat(axis) => index::concat(&args, *axis, shape),
        Op::Contract(spec) => contract::contract(spec, args[0], args[1], *dtype, shape, wide),
        Op::Gather(axes) => index::gather(args[0], axes, &args[1..])?,
        Op::Write(combine, at) => index::write(*combine, at, &args, env, wide)?,
        Op::Materialize => args[0].compact(),
        Op::Result(_) => return Err(Error::internal("a Result was handled above")),
    }])
}

fn dtypes(types: &[(DType, Vec<usize>)]) -> Vec<DType> {
    types.iter().map(|(d, _)| *d).collect()
}

fn eval_call(name: &str, attrs: &call::Attrs, args: &[&Value], wide: bool) -> Result<Vec<Value>> {
    let args = args.iter().map(|v| v.to_host()).collect::<Result<Vec<_>>>()?;
    let results = call::eval(name, &args, attrs)?;
    Ok(results.iter().map(|t| Value::from_host(t, wide)).collect())
}

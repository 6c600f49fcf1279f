//! Walks a graph: inputs, constants, nodes in order, outputs.

use base::{Error, Result};
use graph::{Frozen, HostTensor, Module, NodeId, Origin, Type, interp};
use scalar::Sym;

use crate::ctx::{Built, Ctx, FrameKind};
use crate::dims::Dims;
use crate::evaluate::evaluate;
use crate::known::{Known, MAX_FOLD};
use crate::load::{LoadOptions, ValueInfo};
use crate::node::{Node, label};
use crate::proto::{GraphProto, NodeProto, ValueInfoProto};
use crate::value::Value;
use crate::{ops, order, tensor};

/// Most elements of one intermediate value while folding.
const MAX_WORK: i64 = 1 << 14;

/// Greatest value of a dynamic dimension; exporters write this and more for "to the end".
const MAX_DIM: i64 = 1_000_000_000;

/// What [`model`] gives.
pub(crate) struct Parts {
    pub(crate) module: Module,
    pub(crate) inputs: Vec<ValueInfo>,
    pub(crate) outputs: Vec<ValueInfo>,
}

/// Imports the main graph.
pub(crate) fn model(ctx: &mut Ctx, proto: &GraphProto, options: &LoadOptions) -> Result<Parts> {
    ctx.enter(FrameKind::Whole, proto.name());
    let inputs = declare_inputs(ctx, proto, options)?;
    body(ctx, proto)?;
    let mut outputs = Vec::with_capacity(proto.output.len());
    for output in &proto.output {
        let node = output_node(ctx, output.name())?;
        ctx.b().output(output.name(), node)?;
        let ty = ctx.b().graph().tensor(node).clone();
        outputs.push(ValueInfo { name: output.name().into(), dtype: ty.dtype, dims: ty.shape.to_vec() });
    }
    let Built { graph, weights, .. } = ctx.leave();
    let frozen = weights.into_iter().map(|(slot, data)| Frozen { slot, data: data.into() }).collect();
    Ok(Parts { module: Module { graph, frozen }, inputs, outputs })
}

/// Imports the constants and nodes of a graph whose inputs are bound.
pub(crate) fn body(ctx: &mut Ctx, proto: &GraphProto) -> Result<()> {
    if !proto.sparse_initializer.is_empty() {
        return Err(Error::unsupported(format!("{} sparse initializers", proto.sparse_initializer.len())));
    }
    for init in &proto.initializer {
        let folder = ctx.folder.clone();
        ctx.bind(init.name(), Value::constant(init.name(), tensor::read(init, folder.as_deref())?))?;
    }
    for i in order::needed(proto)? {
        node(ctx, &proto.node[i])?;
    }
    Ok(())
}

/// The node of a named graph output.
pub(crate) fn output_node(ctx: &mut Ctx, name: &str) -> Result<NodeId> {
    let value = ctx.lookup(name).map_err(|e| e.context(format!("output '{name}'")))?;
    ctx.node(&value)
}

fn declare_inputs(ctx: &mut Ctx, proto: &GraphProto, options: &LoadOptions) -> Result<Vec<ValueInfo>> {
    let mut dims = Dims::new(&options.fixed_dims);
    let mut inputs = Vec::new();
    for input in &proto.input {
        let name = input.name();
        if proto.initializer.iter().any(|i| i.name() == name) {
            ctx.notes.push(format!("input '{name}' has a default value, which is used"));
        } else if let Some(data) = options.constants.get(name) {
            ctx.bind(name, Value::constant(name, data.clone()))?;
        } else {
            let info = input_info(input, &mut dims).map_err(|e| e.context(format!("input '{name}'")))?;
            note_symbols(ctx, input, &info);
            bound_symbols(ctx, &info, options);
            let node = ctx.b().input(name, info.dtype, info.dims.iter().cloned(), false)?;
            ctx.bind(name, node.into())?;
            inputs.push(info);
        }
    }
    dims.check_used()?;
    Ok(inputs)
}

fn input_info(input: &ValueInfoProto, dims: &mut Dims<'_>) -> Result<ValueInfo> {
    let ty = input.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let ty = ty.ok_or_else(|| Error::unsupported("its type is not a tensor (sequence, optional or map)"))?;
    let dtype = tensor::dtype(ty.elem_type())?;
    let shape = ty.shape.as_ref().ok_or_else(|| Error::unsupported("its rank is unknown"))?;
    let extent = |(axis, d)| dims.extent(d, input.name(), axis);
    let dims = shape.dim.iter().enumerate().map(extent).collect::<Result<Vec<Sym>>>()?;
    Ok(ValueInfo { name: input.name().into(), dtype, dims })
}

/// Tells which symbols stand for dimensions that the file does not name.
fn note_symbols(ctx: &mut Ctx, input: &ValueInfoProto, info: &ValueInfo) {
    for (axis, dim) in info.dims.iter().enumerate() {
        if dim.as_var().is_some_and(|v| v.name() == format!("{}_{axis}", info.name)) {
            ctx.notes.push(format!("axis {axis} of input '{}' has no name; it is called {dim}", input.name()));
        }
    }
}

/// States the range of dynamic dimensions.
fn bound_symbols(ctx: &mut Ctx, info: &ValueInfo, options: &LoadOptions) {
    for var in info.dims.iter().filter_map(Sym::as_var) {
        ctx.b().facts_mut().set_min(var, i64::from(!options.allow_empty));
        ctx.b().facts_mut().set_max(var, MAX_DIM);
    }
}

/// Imports one node and binds its results.
fn node(ctx: &mut Ctx, proto: &NodeProto) -> Result<()> {
    let results = node_results(ctx, proto).map_err(|e| placed(e, proto))?;
    for (i, name) in proto.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let missing = || placed(Error::unsupported(format!("result {i} ('{name}')")), proto);
        ctx.bind(name, results.get(i).cloned().ok_or_else(missing)?)?;
    }
    Ok(())
}

/// The error with the node's place, in the words of its origin, unless it starts with that already.
fn placed(e: Error, proto: &NodeProto) -> Error {
    let place = format!("{} at {}", proto.op_type(), label(proto));
    if e.to_string().starts_with(&place) { e } else { e.context(place) }
}

fn node_results(ctx: &mut Ctx, proto: &NodeProto) -> Result<Vec<Value>> {
    let domain = ops::domain(proto.domain());
    let opset = ctx.opsets.get(domain).copied().unwrap_or(1);
    let operand = |name: &String| if name.is_empty() { Ok(None) } else { ctx.lookup(name).map(Some) };
    let inputs = proto.input.iter().map(operand).collect::<Result<Vec<_>>>()?;
    results(ctx, &Node::new(proto, opset, inputs), domain)
}

/// Results of a node: evaluated at import, folded, or built.
fn results(ctx: &mut Ctx, n: &Node<'_>, domain: &str) -> Result<Vec<Value>> {
    if domain.is_empty()
        && let Some(ints) = evaluate(n, ctx.facts())
    {
        return Ok(vec![ints.into()]);
    }
    let build = ops::find(domain, n.op()).ok_or_else(|| Error::unsupported(format!("op {}", n.op())))?;
    if let Some(folded) = fold(ctx, n, build)? {
        return Ok(folded);
    }
    ctx.b().push_origin(Origin { op: n.op().into(), source: n.label().into() });
    let results = build(ctx, n);
    ctx.b().pop_origin();
    results
}

/// Runs a node whose operands are small constants, by the interpreter.
fn fold(ctx: &mut Ctx, n: &Node<'_>, build: ops::Build) -> Result<Option<Vec<Value>>> {
    let hosts: Option<Vec<HostTensor>> = n.inputs.iter().flatten().map(Value::host).collect();
    let small = |hosts: &[HostTensor]| !hosts.is_empty() && hosts.iter().all(|h| h.len() <= MAX_FOLD);
    if !hosts.is_some_and(|h| small(&h)) || ops::never_folds(n.op()) {
        return Ok(None);
    }
    ctx.enter(FrameKind::Whole, n.op());
    let results = folded_graph(ctx, n, build);
    let Built { graph, weights, .. } = ctx.leave();
    let known = results?;
    if graph.nodes.iter().any(|n| is_large(&n.ty)) {
        return Ok(None);
    }
    let data: Vec<HostTensor> = weights.into_iter().map(|(_, data)| data).collect();
    let mut hosts = interp::run(&graph, &data, interp::Options::default())?.into_iter();
    let name = |i: usize| format!("{}_{i}", n.label());
    let value = |(i, known): (usize, Option<Known>)| match known {
        Some(known) => Value::from(known),
        None => hosts.next().map_or_else(Value::default, |h| Value::constant(&name(i), h)),
    };
    Ok(Some(known.into_iter().enumerate().map(value).collect()))
}

/// Whether a node is too large to run at import.
fn is_large(ty: &Type) -> bool {
    let parts = match ty {
        Type::Tensor(t) => std::slice::from_ref(t),
        Type::Tuple(parts) => parts,
    };
    parts.iter().any(|t| Sym::product(&t.shape).as_int().is_none_or(|n| n > MAX_WORK))
}

/// Builds the node in a graph of its own, with an output for each result that is not known already.
fn folded_graph(ctx: &mut Ctx, n: &Node<'_>, build: ops::Build) -> Result<Vec<Option<Known>>> {
    let results = build(ctx, n)?;
    for (i, value) in results.iter().enumerate().filter(|(_, v)| v.known.is_none()) {
        let node = ctx.node(value)?;
        ctx.b().output(format!("result_{i}"), node)?;
    }
    Ok(results.into_iter().map(|v| v.known).collect())
}

//! A plan's kernels for one size tuple.

use std::collections::BTreeMap;

use base::{Code, Config, ErrorKind, Remark, Result};
use fuse::{Kernel, Plan, Step, Storage};
use graph::NodeId;
use lower::{Layout, Request};
use program::TileProgram;
use runtime::{Device, Prepared};
use scalar::{DType, Shape, Var};

/// What runs for one kernel.
pub(crate) enum Ready {
    /// A prepared tile program; the elements of its workspaces follow its arguments.
    Program { prepared: Prepared, args: Vec<NodeId>, workspaces: Vec<(DType, usize)> },
    /// Nothing: the domain is empty.
    Nothing,
    /// The interpreter, because lowering refused the kernel.
    Interpret,
    /// A registry call or control flow.
    Opaque(NodeId),
}

/// Kernels, shapes and layouts for one binding of the dimensions.
pub(crate) struct Instance {
    pub(crate) dims: BTreeMap<Var, i64>,
    pub(crate) kernels: Vec<Ready>,
    pub(crate) remarks: Vec<Remark>,
}

impl Instance {
    pub(crate) fn new(plan: &Plan, dims: BTreeMap<Var, i64>, device: &Device, config: &Config) -> Result<Instance> {
        let mut remarks = Vec::new();
        let kernels =
            plan.kernels.iter().map(|k| ready(plan, k, &dims, device, config, &mut remarks)).collect::<Result<Vec<_>>>()?;
        Ok(Instance { dims, kernels, remarks })
    }
}

fn ready(
    plan: &Plan,
    kernel: &Kernel,
    dims: &BTreeMap<Var, i64>,
    device: &Device,
    config: &Config,
    remarks: &mut Vec<Remark>,
) -> Result<Ready> {
    if let Step::Opaque(node) = kernel.step {
        return Ok(Ready::Opaque(node));
    }
    let args = kernel.step.args(&plan.graph);
    let lowered = program_of(plan, kernel, dims, config).and_then(|p| {
        program::verify(&p)?;
        Ok(p)
    });
    match lowered {
        Ok(program) if program.phases.is_empty() => Ok(Ready::Nothing),
        Ok(program) => {
            let workspaces = program.params[args.len()..].iter().map(|p| (p.dtype, p.elements as usize)).collect();
            Ok(Ready::Program { prepared: device.prepare(program)?, args, workspaces })
        }
        Err(e) if e.kind == ErrorKind::Unsupported => {
            remarks.push(Remark {
                code: Code::Fallback,
                pass: "lower",
                places: vec![kernel.name.clone()],
                message: format!("{e}; the interpreter runs it"),
                bytes: 0,
                hint: "report the graph: fuseline opt prints it".into(),
            });
            Ok(Ready::Interpret)
        }
        Err(e) => Err(e.context(kernel.name.clone())),
    }
}

/// The tile program of a kernel for given sizes.
///
/// # Errors
/// What lowering cannot express.
pub fn program_of(plan: &Plan, kernel: &Kernel, dims: &BTreeMap<Var, i64>, config: &Config) -> Result<TileProgram> {
    let Step::Comps(parts) = &kernel.step else { return Err(base::Error::unsupported("not a generated kernel")) };
    let programs = parts.iter().map(|part| {
        let built = &part.built;
        let layouts = built.args.iter().map(|&v| layout(plan, v, dims)).collect::<Result<Vec<_>>>()?;
        let program = lower::lower(&Request {
            name: &kernel.name,
            comp: &built.comp,
            dims: &|v| dims.get(&v).copied(),
            layouts: &layouts,
            numerics: config.numerics,
        })?;
        Ok((program, built.args.len()))
    });
    let mut programs = programs.collect::<Result<Vec<_>>>()?;
    if programs.len() == 1 { Ok(programs.remove(0).0) } else { program::beside(&kernel.name, programs) }
}

/// Numbers of a shape.
pub(crate) fn extents(shape: &Shape, dims: &BTreeMap<Var, i64>) -> Result<Vec<i64>> {
    shape.iter().map(|s| s.eval(&|v| dims.get(&v).copied())).collect()
}

/// Where a stored value lies within its root buffer.
pub(crate) fn layout(plan: &Plan, value: NodeId, dims: &BTreeMap<Var, i64>) -> Result<Layout> {
    match plan.storage.get(&value) {
        Some(Storage::Part { of, axis, start }) => {
            let mut whole = layout(plan, *of, dims)?;
            let start = start.eval(&|v| dims.get(&v).copied())?;
            whole.offset += start * whole.strides[*axis];
            Ok(whole)
        }
        Some(Storage::Write { dst, copy: false }) => layout(plan, *dst, dims),
        _ => Ok(Layout::contiguous(&extents(plan.graph.shape(value), dims)?)),
    }
}

/// The value whose buffer holds `value`.
pub(crate) fn root(plan: &Plan, value: NodeId) -> NodeId {
    match plan.storage.get(&value) {
        Some(Storage::Part { of, .. }) => root(plan, *of),
        Some(Storage::Write { dst, copy: false }) => root(plan, *dst),
        _ => value,
    }
}

//! A plan's kernels for one size tuple.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use base::{Code, Config, Convolutions, DeviceId, ErrorKind, Recent, Remark, Result};
use fuse::{Kernel, Plan, Step, Storage};
use graph::NodeId;
use lower::{Choice, Layout, Request};
use program::{CudaProgram, Program, TileProgram};
use runtime::{Array, Buffer, Device, Prepared};
use scalar::{DType, Shape, Sym, Var};
use smallvec::SmallVec;

use crate::executable::Executable;
use crate::places::{self, Launches};
use crate::replay::Replays;
use crate::tune::Tuner;
use crate::values::Values;

/// One kernel for one binding of the dimensions.
pub(crate) struct Ready {
    pub(crate) step: ReadyStep,
    /// Root values that it needs room for.
    pub(crate) outputs: Vec<Made>,
    /// Why the interpreter runs it, if it does.
    remark: Option<Remark>,
}

/// One kernel for the values that its dimensions had last.
pub(crate) struct Sized {
    dims: Vec<Var>,
    ready: Recent<SmallVec<[i64; 4]>, Ready>,
}

impl Sized {
    pub(crate) fn new(plan: &Plan, kernel: &Kernel) -> Sized {
        Sized { dims: dims_of(plan, kernel).into_iter().collect(), ready: Recent::default() }
    }
}

/// Dimensions that a kernel and the places of its arguments depend on.
fn dims_of(plan: &Plan, kernel: &Kernel) -> BTreeSet<Var> {
    let mut dims = BTreeSet::new();
    if let Step::Comps(parts) = &kernel.step {
        dims.extend(parts.iter().flat_map(|p| p.built.comp.dims()));
    }
    for value in kernel.step.args(&plan.graph).into_iter().chain(kernel.outputs.iter().copied()) {
        let mut within = Some(value);
        while let Some(value) = within {
            dims.extend(plan.graph.shape(value).iter().flat_map(Sym::vars));
            within = match plan.storage.get(&value) {
                Some(Storage::Part { of, start, .. }) => {
                    dims.extend(start.vars());
                    Some(*of)
                }
                Some(Storage::Write { dst, copy: false }) => Some(*dst),
                _ => None,
            };
        }
    }
    dims
}

/// What runs for one kernel.
pub(crate) enum ReadyStep {
    /// A prepared tile program, the root values behind its arguments, and the bytes of its workspaces, which follow them.
    Program { prepared: Prepared, args: Vec<NodeId>, workspaces: Vec<usize> },
    /// Nothing: the domain is empty.
    Nothing,
    /// The interpreter, because lowering refused the kernel.
    Interpret,
    /// A registry call or control flow.
    Opaque(NodeId),
}

/// A root value that a kernel makes.
pub(crate) struct Made {
    pub(crate) root: NodeId,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// The stored value whose content it starts with, for the kernel that starts it.
    pub(crate) copy_of: Option<NodeId>,
}

impl Made {
    /// Bytes of its buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }
}

/// A strided part of something, in elements.
pub(crate) struct Part {
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) offset: usize,
}

/// Where a stored value lies in its root's buffer.
pub(crate) struct Place {
    pub(crate) root: NodeId,
    pub(crate) part: Part,
    /// Whether it is all of the root.
    whole: bool,
}

impl Place {
    /// The array, within its root's.
    pub(crate) fn within(&self, values: &Values) -> Result<Array> {
        let whole = values.get(self.root)?;
        Ok(self.part.of(&whole.buffer, whole.dtype, whole.offset))
    }
}

impl Part {
    /// The array, within what begins at an element of a buffer.
    pub(crate) fn of(&self, buffer: &Arc<Buffer>, dtype: DType, first: usize) -> Array {
        let Part { shape, strides, offset } = self;
        Array { buffer: buffer.clone(), dtype, shape: shape.clone(), strides: strides.clone(), offset: first + offset }
    }
}

/// What a graph output shows: a stored value, or a view of it.
pub(crate) struct Shown {
    pub(crate) base: Place,
    pub(crate) view: Option<Part>,
}

impl Shown {
    /// The value, if the output is all of its own buffer.
    pub(crate) fn whole(&self, plan: &Plan) -> Option<NodeId> {
        let Place { root, .. } = self.base;
        let own = matches!(plan.storage.get(&root), None | Some(Storage::Own | Storage::Write { copy: true, .. }));
        (own && self.view.is_none() && self.base.whole).then_some(root)
    }
    /// The input, if the output is all of an input's memory, written in place.
    pub(crate) fn written_into(&self, plan: &Plan) -> Option<NodeId> {
        let Place { root, .. } = self.base;
        let input = matches!(plan.storage.get(&root), Some(Storage::Input(_)));
        (input && self.view.is_none() && self.base.whole).then_some(root)
    }
}

/// Kernels, shapes and layouts for one binding of the dimensions.
pub(crate) struct Instance {
    pub(crate) dims: BTreeMap<Var, i64>,
    pub(crate) kernels: Vec<Arc<Ready>>,
    pub(crate) outputs: Vec<Shown>,
    /// All of it as launches, if it is launches.
    launches: OnceLock<Option<Launches>>,
    /// Its recordings, in the mode that records.
    pub(crate) replays: Replays,
}

impl Instance {
    /// Prepares the kernels of a plan, but those in `sized` that have what their dimensions ask for already.
    pub(crate) fn new(
        plan: &Plan,
        sized: &[Sized],
        dims: BTreeMap<Var, i64>,
        device: &Device,
        config: &Config,
    ) -> Result<Instance> {
        let kernels = ready_all(plan, sized, &dims, device, config)?;
        let outputs = shown(plan, &dims)?;
        Ok(Instance { dims, kernels, outputs, launches: OnceLock::new(), replays: Replays::default() })
    }

    /// All of it as launches; `None` for a plan that needs more. What runs once has run.
    pub(crate) fn launches(&self, executable: &Executable) -> Option<&Launches> {
        self.launches.get_or_init(|| places::resolve(executable, self)).as_ref()
    }

    /// What lowering has to say.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &Remark> {
        self.kernels.iter().filter_map(|k| k.remark.as_ref())
    }
}

/// What lowering made of a kernel.
#[allow(clippy::large_enum_variant)] // One per kernel, for the time of preparing.
enum Lowered {
    Step(ReadyStep, Option<Remark>),
    /// To be prepared together with others.
    Program {
        args: Vec<NodeId>,
        workspaces: Vec<usize>,
        remark: Option<Remark>,
    },
}

/// Every kernel for some sizes; those that `sized` lacks are lowered, and then prepared together.
fn ready_all(
    plan: &Plan,
    sized: &[Sized],
    dims: &BTreeMap<Var, i64>,
    device: &Device,
    config: &Config,
) -> Result<Vec<Arc<Ready>>> {
    let keys: Vec<SmallVec<[i64; 4]>> =
        sized.iter().map(|s| s.dims.iter().filter_map(|v| dims.get(v).copied()).collect()).collect();
    let tuner = Tuner::new(device, config);
    let mut programs = Vec::new();
    let mut lowered = Vec::new();
    for ((kernel, sized), key) in plan.kernels.iter().zip(sized).zip(&keys) {
        let missing = !sized.ready.contains(key);
        lowered.push(missing.then(|| lower(plan, kernel, dims, device, config, tuner.as_ref(), &mut programs)).transpose()?);
    }
    let mut prepared = prepare_all(plan, &mut lowered, programs, dims, device, config).into_iter();
    let mut ready = Vec::with_capacity(plan.kernels.len());
    for ((kernel, sized), (key, lowered)) in plan.kernels.iter().zip(sized).zip(keys.iter().zip(lowered)) {
        let lowered = match lowered {
            Some(Lowered::Program { args, workspaces, remark }) => {
                let prepared = prepared.next().ok_or_else(|| base::Error::internal("a program that was not prepared"))?;
                let (step, refused) = step(kernel, prepared, args, workspaces)?;
                Some((step, refused.or(remark)))
            }
            Some(Lowered::Step(step, remark)) => Some((step, remark)),
            None => None,
        };
        ready.push(sized.ready.get(key, || {
            let outputs = made(plan, kernel, dims)?;
            let (step, remark) = lowered.ok_or_else(|| base::Error::internal("a kernel's sizes were forgotten meanwhile"))?;
            Ok::<_, base::Error>(Ready { step, outputs, remark })
        })?);
    }
    Ok(ready)
}

/// Prepares the programs of `lowered`. Where the library refuses a product or a convolution with what follows it, the kernel is
/// lowered again, to the product or the convolution alone; where it refuses that convolution too, or is missing, to generated loops.
fn prepare_all(
    plan: &Plan,
    lowered: &mut [Option<Lowered>],
    programs: Vec<Program>,
    dims: &BTreeMap<Var, i64>,
    device: &Device,
    config: &Config,
) -> Vec<Result<Prepared>> {
    let has: Vec<(Convolutions, bool)> = programs.iter().map(|p| (p.convolutions(), p.has_followed_products())).collect();
    let mut prepared = device.prepare_all(programs);
    let kernels = plan.kernels.iter().zip(lowered).filter_map(|(k, l)| Some((k, l.as_mut()?)));
    let mut with_program: Vec<_> = kernels.filter(|(_, l)| matches!(l, Lowered::Program { .. })).collect();
    let mut less = config.clone();
    less.cuda.followed_products = false;
    for allowed in [Convolutions::Alone, Convolutions::Loops] {
        less.cuda.convolutions = allowed;
        let has_more = |(convolutions, followed): (Convolutions, bool)| {
            convolutions > allowed || (followed && allowed == Convolutions::Alone)
        };
        let (mut places, mut programs) = (Vec::new(), Vec::new());
        for (place, (kernel, lowered)) in with_program.iter_mut().enumerate() {
            let Some(Err(why)) = prepared.get(place).filter(|_| has_more(has[place])) else { continue };
            if why.kind != ErrorKind::Unsupported {
                continue;
            }
            let again = lower(plan, kernel, dims, device, &less, None, &mut programs);
            if let Ok(Lowered::Program { args, workspaces, .. }) = again {
                let message = || format!("{why}; generated loops compute it, which are slow");
                let is_slow = allowed == Convolutions::Loops;
                let remark = is_slow.then(|| fallback(kernel, message(), "fuseline doctor says what is missing"));
                **lowered = Lowered::Program { args, workspaces, remark };
                places.push(place);
            }
        }
        for (place, again) in places.into_iter().zip(device.prepare_all(programs)) {
            prepared[place] = again;
        }
    }
    prepared
}

/// Lowers a kernel; its program, if it has one, joins `programs`.
fn lower(
    plan: &Plan,
    kernel: &Kernel,
    dims: &BTreeMap<Var, i64>,
    device: &Device,
    config: &Config,
    tuner: Option<&Tuner<'_>>,
    programs: &mut Vec<Program>,
) -> Result<Lowered> {
    if let Step::Opaque(node) = kernel.step {
        return Ok(Lowered::Step(ReadyStep::Opaque(node), None));
    }
    let args: Vec<NodeId> = kernel.step.args(&plan.graph).into_iter().map(|v| root(plan, v)).collect();
    let program = match tuner {
        Some(tuner) => tuner.program(plan, kernel, dims).map(Program::Cuda),
        None => device_program(plan, kernel, dims, device.id(), config),
    };
    match program {
        Ok(program) if program.is_empty() => Ok(Lowered::Step(ReadyStep::Nothing, None)),
        Ok(program) => {
            let workspaces = program.params()[args.len()..].iter().map(|p| p.elements as usize * p.dtype.size()).collect();
            programs.push(program);
            Ok(Lowered::Program { args, workspaces, remark: None })
        }
        Err(e) if e.kind == ErrorKind::Unsupported => {
            let (step, remark) = interpreted(kernel, &e);
            Ok(Lowered::Step(step, remark))
        }
        Err(e) => Err(e.context(kernel.name.clone())),
    }
}

fn interpreted(kernel: &Kernel, why: &base::Error) -> (ReadyStep, Option<Remark>) {
    let remark = fallback(kernel, format!("{why}; the interpreter runs it"), "report the graph: fuseline opt prints it");
    (ReadyStep::Interpret, Some(remark))
}

fn fallback(kernel: &Kernel, message: String, hint: &str) -> Remark {
    Remark { code: Code::Fallback, pass: "lower", places: vec![kernel.name.clone()], message, bytes: 0, hint: hint.into() }
}

fn step(
    kernel: &Kernel,
    prepared: Result<Prepared>,
    args: Vec<NodeId>,
    workspaces: Vec<usize>,
) -> Result<(ReadyStep, Option<Remark>)> {
    match prepared {
        Ok(prepared) => Ok((ReadyStep::Program { prepared, args, workspaces }, None)),
        Err(e) if e.kind == ErrorKind::Unsupported => Ok(interpreted(kernel, &e)),
        Err(e) => Err(e.context(kernel.name.clone())),
    }
}

/// The program of a kernel for given sizes on a device.
///
/// # Errors
/// What lowering cannot express.
pub fn device_program(
    plan: &Plan,
    kernel: &Kernel,
    dims: &BTreeMap<Var, i64>,
    device: DeviceId,
    config: &Config,
) -> Result<Program> {
    match device {
        DeviceId::Cpu => program_of(plan, kernel, dims, config).map(Program::Tile),
        DeviceId::Cuda(_) => cuda_program_of(plan, kernel, dims, config).map(Program::Cuda),
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

/// The CUDA program of a kernel for given sizes.
///
/// # Errors
/// What lowering cannot express.
pub fn cuda_program_of(plan: &Plan, kernel: &Kernel, dims: &BTreeMap<Var, i64>, config: &Config) -> Result<CudaProgram> {
    cuda_program_as(plan, kernel, dims, config, Choice::default())
}

/// [`cuda_program_of`] with other schedules.
pub(crate) fn cuda_program_as(
    plan: &Plan,
    kernel: &Kernel,
    dims: &BTreeMap<Var, i64>,
    config: &Config,
    choice: Choice,
) -> Result<CudaProgram> {
    let Step::Comps(parts) = &kernel.step else { return Err(base::Error::unsupported("not a generated kernel")) };
    let layouts = |part: &fuse::Part| part.built.args.iter().map(|&v| layout(plan, v, dims)).collect::<Result<Vec<_>>>();
    let layouts = parts.iter().map(layouts).collect::<Result<Vec<_>>>()?;
    let bind = |v| dims.get(&v).copied();
    let mut requests: Vec<Request<'_>> = Vec::new();
    for (part, layouts) in parts.iter().zip(&layouts) {
        let (name, comp) = (kernel.name.as_str(), &part.built.comp);
        requests.push(Request { name, comp, dims: &bind, layouts, numerics: config.numerics });
    }
    let dynamic = parts.iter().any(|p| !p.built.comp.dims().is_empty());
    lower::lower_cuda(&kernel.name, &requests, dynamic, &config.cuda, choice)
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

/// Root values that a kernel needs room for.
fn made(plan: &Plan, kernel: &Kernel, dims: &BTreeMap<Var, i64>) -> Result<Vec<Made>> {
    let mut out: Vec<Made> = Vec::new();
    for root in kernel.outputs.iter().map(|&v| root(plan, v)) {
        let copy_of = match plan.storage.get(&root) {
            Some(Storage::Write { dst, copy: true }) if kernel.outputs.contains(&root) => Some(*dst),
            _ => None,
        };
        if !out.iter().any(|m| m.root == root) {
            out.push(Made { root, dtype: plan.graph.dtype(root), shape: sizes(plan.graph.shape(root), dims)?, copy_of });
        }
    }
    Ok(out)
}

/// Extents as counts.
pub(crate) fn sizes(shape: &Shape, dims: &BTreeMap<Var, i64>) -> Result<Vec<usize>> {
    Ok(extents(shape, dims)?.iter().map(|&n| n.max(0) as usize).collect())
}

/// Where a stored value lies.
pub(crate) fn place(plan: &Plan, value: NodeId, dims: &BTreeMap<Var, i64>) -> Result<Place> {
    let Layout { offset, strides, .. } = layout(plan, value, dims)?;
    let strides = strides.iter().map(|&s| s as isize).collect();
    let part = Part { shape: sizes(plan.graph.shape(value), dims)?, strides, offset: offset as usize };
    let root = root(plan, value);
    let whole = root == value || plan.graph.shape(root) == plan.graph.shape(value);
    Ok(Place { root, part, whole })
}

/// What the graph outputs show.
fn shown(plan: &Plan, dims: &BTreeMap<Var, i64>) -> Result<Vec<Shown>> {
    let number = |s: &Sym| s.eval(&|v| dims.get(&v).copied());
    let one = |(source, output): (&fuse::Source, &graph::Output)| {
        let base = place(plan, source.base, dims)?;
        if output.value == source.base {
            return Ok(Shown { base, view: None });
        }
        let strides = source.strides.iter().map(|s| number(s).map(|n| n as isize)).collect::<Result<_>>()?;
        let shape = sizes(plan.graph.shape(output.value), dims)?;
        let offset = number(&source.offset)?.max(0) as usize;
        Ok(Shown { base, view: Some(Part { shape, strides, offset }) })
    };
    plan.outputs.iter().zip(&plan.graph.outputs).map(one).collect()
}

/// The value whose buffer holds `value`.
pub(crate) fn root(plan: &Plan, value: NodeId) -> NodeId {
    match plan.storage.get(&value) {
        Some(Storage::Part { of, .. }) => root(plan, *of),
        Some(Storage::Write { dst, copy: false }) => root(plan, *dst),
        _ => value,
    }
}

#[cfg(test)]
mod tests;

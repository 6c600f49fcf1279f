//! Compiled modules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::{Config, DeviceId, Error, Recent, Remark, Result};
use fuse::{Kernel, Plan, Storage};
use graph::{Graph, HostTensor, Module, NodeId, Op};
use kernel::Target;
use runtime::{Arg, Array, Buffer, Device};
use scalar::Var;
use smallvec::SmallVec;

use crate::bound::Watch;
use crate::cache::{Cached, cached_passes};
use crate::compile::Compiled;
use crate::dump;
use crate::host::{copy, dense, readable, to_array, to_host};
use crate::instance::{Instance, Ready, ReadyStep, Shown, Sized, place, root};
use crate::region::Regions;
use crate::values::{Kept, Values};

/// Extents of the inputs that are not frozen, in order, then dimensions that were given.
type Extents = SmallVec<[usize; 16]>;

/// A compiled module. Running it is re-entrant: every call has its own buffers.
pub struct Executable {
    pub(crate) source: Graph,
    pub(crate) compiled: Compiled,
    pub(crate) config: Config,
    pub(crate) target: Target,
    pub(crate) device: Arc<Device>,
    instances: Recent<Extents, Instance>,
    /// By kernel.
    sized: Vec<Sized>,
    frozen: Vec<Option<Array>>,
    /// Input nodes that are not frozen, with the number of their argument.
    given: Vec<(NodeId, usize)>,
    /// Frozen inputs by node, and those with what was computed of them once.
    weights: Arc<Kept>,
    kept: OnceLock<Arc<Kept>>,
    pub(crate) regions: Regions,
    /// Stored values whose buffers are free after each kernel.
    last_use: Vec<Vec<NodeId>>,
    /// Folder of this module's dumps.
    pub(crate) dump: Option<PathBuf>,
}

/// Devices by name and thread count.
static DEVICES: Mutex<BTreeMap<(DeviceId, usize), Arc<Device>>> = Mutex::new(BTreeMap::new());

/// One device per name, thread count and process: executables share its memory and workers.
fn shared_device(config: &Config) -> Result<Arc<Device>> {
    let threads = if config.device == DeviceId::Cpu { config.threads } else { 0 };
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = devices.get(&(config.device, threads)) {
        return Ok(device.clone());
    }
    let device = match config.device {
        DeviceId::Cpu => Device::cpu(threads),
        DeviceId::Cuda(ordinal) => Device::cuda_with(ordinal, config)?,
    };
    devices.insert((config.device, threads), device.clone());
    Ok(device)
}

/// The devices that executables of this process share.
pub fn devices() -> Vec<Arc<Device>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
}

impl Executable {
    pub(crate) fn new(module: &Module, config: &Config) -> Result<Executable> {
        let device = shared_device(config)?;
        let mut config = config.clone();
        config.cuda.clusters &= device.has_clusters();
        config.cuda.f8_products &= device.has_f8_products();
        let target = Target::of(device.id());
        let compiled = cached_passes(&module.graph, &BTreeMap::new(), &target, &config)?;
        let mut frozen: Vec<Option<Array>> = vec![None; module.graph.inputs.len()];
        for f in &module.frozen {
            frozen[f.slot as usize] = Some(to_array(device.pool(), &f.data)?);
        }
        for (decl, data) in module.graph.inputs.iter().zip(&frozen) {
            if decl.frozen && data.is_none() {
                return Err(Error::invalid(format!("frozen input {} has no data", decl.name)));
            }
        }
        let dump = dump::compiled(&module.graph, &compiled, &config)?;
        let regions = Regions::new(&compiled.plan.graph, &config)?;
        let last_use = last_uses(&compiled.plan);
        let sized = compiled.plan.kernels.iter().map(|k| Sized::new(&compiled.plan, k)).collect();
        let (given, weights) = input_nodes(&compiled.plan.graph, &frozen);
        Ok(Executable {
            source: module.graph.clone(),
            compiled,
            config,
            target,
            device,
            instances: Recent::default(),
            sized,
            frozen,
            given,
            weights: Arc::new(weights),
            kept: OnceLock::new(),
            regions,
            last_use,
            dump,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.compiled.plan
    }

    /// The unfused, unsimplified graph that was compiled.
    pub fn graph(&self) -> &Graph {
        &self.source
    }

    /// Times of the compile passes.
    pub fn timing(&self) -> &[(&'static str, std::time::Duration)] {
        &self.compiled.timing
    }

    /// What the cache of plans did for this module.
    pub fn cached(&self) -> &Cached {
        &self.compiled.cached
    }

    /// The device that runs it.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Remarks of lowering and of recording for the sizes of these inputs.
    ///
    /// # Errors
    /// Inputs that do not fit.
    pub fn remarks(&self, inputs: &[HostTensor]) -> Result<Vec<Remark>> {
        let shapes: Vec<&[usize]> = inputs.iter().map(HostTensor::shape).collect();
        let instance = self.instance(&BTreeMap::new(), &shapes)?;
        Ok(instance.remarks().cloned().chain(self.replay_remarks(&instance)).collect())
    }

    /// The dimensions that inputs of these shapes bind, for [`Executable::report`].
    ///
    /// # Errors
    /// Inputs that do not fit.
    pub fn dims(&self, inputs: &[HostTensor]) -> Result<BTreeMap<Var, i64>> {
        self.bind(&BTreeMap::new(), &inputs.iter().map(HostTensor::shape).collect::<Vec<_>>())
    }

    /// [`Executable::dims`] of arrays.
    ///
    /// # Errors
    /// Inputs that do not fit.
    pub fn dims_of(&self, inputs: &[Array]) -> Result<BTreeMap<Var, i64>> {
        self.bind(&BTreeMap::new(), &inputs.iter().map(|a| a.shape.as_slice()).collect::<Vec<_>>())
    }

    /// Runs with host tensors for the inputs that are not frozen, in slot order.
    ///
    /// # Errors
    /// Wrong count, dtype or shape; a failed guard; an index out of range; out of memory.
    pub fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        let arrays = inputs.iter().map(|t| to_array(self.device.pool(), t)).collect::<Result<Vec<_>>>()?;
        let outputs = self.run_arrays(&arrays)?;
        self.device.synchronize()?;
        outputs.iter().map(to_host).collect()
    }

    /// Runs, by `run`, with results stored in arrays of the caller's: dense, row-major, one per output, sharing no memory
    /// with each other or, unless `overwrites` says so, with inputs. `dims` are dimensions that are known beforehand; the
    /// inputs' shapes give the others.
    pub(crate) fn run_into<T>(
        &self,
        dims: &BTreeMap<Var, i64>,
        inputs: &[Array],
        outputs: &[Array],
        overwrites: &[bool],
        run: impl FnOnce(&Instance, &mut Values) -> Result<T>,
    ) -> Result<T> {
        let (instance, mut values) = self.start(dims, inputs)?;
        self.lend(&instance, outputs, overwrites, &mut values)?;
        let result = run(&instance, &mut values)?;
        let shown: Vec<Array> = instance.outputs.iter().map(|o| self.shown(o, &values)).collect::<Result<_>>()?;
        self.hand_over(shown, outputs, overwrites)?;
        Ok(result)
    }

    /// Copies what outputs show to where they are wanted, unless it lies there. What is to be overwritten may be shown by other
    /// outputs: those come first, and where several are overwritten, all is read before anything is written.
    fn hand_over(&self, shown: Vec<Array>, outputs: &[Array], overwrites: &[bool]) -> Result<()> {
        let is_there =
            |from: &Array, to: &Array| std::ptr::eq(from.buffer.as_ptr(), to.buffer.as_ptr()) && from.offset == to.offset;
        let apart = shown.into_iter().zip(outputs).zip(overwrites).filter(|((from, to), _)| !is_there(from, to));
        let (last, first): (Vec<_>, Vec<_>) = apart.partition(|(_, overwrites)| **overwrites);
        for ((from, to), _) in first {
            copy(&from, to)?;
        }
        let read = |from: Array| {
            let own = Array::contiguous(self.device.pool(), from.dtype, &from.shape)?;
            copy(&from, &own).map(|()| own)
        };
        let several = last.len() > 1;
        let last = last.into_iter().map(|((from, to), _)| Ok((if several { read(from)? } else { from }, to)));
        for (from, to) in last.collect::<Result<Vec<_>>>()? {
            copy(&from, to)?;
        }
        Ok(())
    }

    /// Gives outputs that have a buffer of their own, and overwrite no input, the caller's memory for it.
    fn lend(&self, instance: &Instance, outputs: &[Array], overwrites: &[bool], values: &mut Values) -> Result<()> {
        if outputs.len() != instance.outputs.len() || overwrites.len() != outputs.len() {
            return Err(Error::invalid(format!("{} outputs given, there are {}", outputs.len(), instance.outputs.len())));
        }
        for ((shown, to), overwrites) in instance.outputs.iter().zip(outputs).zip(overwrites) {
            if let Some(root) = shown.whole(&self.compiled.plan)
                && !values.contains(root)
                && !overwrites
            {
                values.insert(root, to.clone());
            }
        }
        Ok(())
    }

    pub(crate) fn run_kernels(&self, instance: &Instance, values: &mut Values, watch: &dyn Watch) -> Result<()> {
        for (n, (kernel, ready)) in self.compiled.plan.kernels.iter().zip(&instance.kernels).enumerate() {
            if !kernel.once {
                watch.kernel(n, &mut || self.run_kernel(kernel, ready, instance, values))?;
            }
            self.release(n, values);
        }
        Ok(())
    }

    /// Input nodes whose memory the caller gives away, with the number of their argument.
    pub(crate) fn donated(&self) -> impl Iterator<Item = (NodeId, usize)> {
        let decls: Vec<&graph::InputDecl> = self.source.inputs.iter().filter(|d| !d.frozen).collect();
        self.given.iter().copied().filter(move |(_, n)| decls[*n].donated)
    }
    /// Input nodes that come with a call, with the number of their argument.
    pub(crate) fn given(&self) -> &[(NodeId, usize)] {
        &self.given
    }
    /// Stored values whose buffers are free after each kernel.
    pub(crate) fn last_use(&self) -> &[Vec<NodeId>] {
        &self.last_use
    }

    /// Types of the outputs for the sizes of an instance.
    pub(crate) fn output_shapes(&self, instance: &Instance) -> Result<Vec<(scalar::DType, Vec<usize>)>> {
        let graph = &self.compiled.plan.graph;
        let of = |o: &graph::Output| Ok((graph.dtype(o.value), crate::instance::sizes(graph.shape(o.value), &instance.dims)?));
        graph.outputs.iter().map(of).collect()
    }

    /// Frees what nothing after kernel `n` needs.
    pub(crate) fn release(&self, n: usize, values: &mut Values) {
        for v in &self.last_use[n] {
            values.release(*v);
        }
    }

    /// Binds inputs and dimensions, and brings in what runs once.
    pub(crate) fn start(&self, dims: &BTreeMap<Var, i64>, inputs: &[Array]) -> Result<(Arc<Instance>, Values)> {
        let instance = self.instance_for(dims, inputs)?;
        let copies = readable(&self.device, inputs)?;
        let values = self.values(&instance, copies.as_deref().unwrap_or(inputs))?;
        Ok((instance, values))
    }

    /// The kernels for inputs, which are checked.
    pub(crate) fn instance_for(&self, dims: &BTreeMap<Var, i64>, inputs: &[Array]) -> Result<Arc<Instance>> {
        self.check_inputs(inputs)?;
        let shapes: SmallVec<[&[usize]; 8]> = inputs.iter().map(|a| a.shape.as_slice()).collect();
        self.instance(dims, &shapes)
    }

    /// Inputs that the device can read, and what is shared.
    pub(crate) fn values(&self, instance: &Instance, inputs: &[Array]) -> Result<Values> {
        let mut values = Values::new(self.shared(instance)?.clone());
        self.given.iter().for_each(|&(node, n)| values.insert(node, inputs[n].clone()));
        Ok(values)
    }

    /// Frozen inputs and what is computed of them once: by the first call, of which this is the instance.
    pub(crate) fn shared(&self, instance: &Instance) -> Result<&Arc<Kept>> {
        match self.kept.get() {
            Some(kept) => Ok(kept),
            None => {
                let kept = self.run_once(instance)?;
                Ok(self.kept.get_or_init(|| Arc::new(kept)))
            }
        }
    }

    /// Whether a root value is shared by all calls. What runs once has run.
    pub(crate) fn is_kept(&self, root: NodeId) -> bool {
        self.kept.get().is_some_and(|kept| kept.contains_key(&root))
    }

    /// Frozen inputs, and what the kernels that run once make of them.
    fn run_once(&self, instance: &Instance) -> Result<Kept> {
        let plan = &self.compiled.plan;
        let mut values = Values::new(self.weights.clone());
        let mut kept = Kept::clone(&self.weights);
        for (kernel, ready) in plan.kernels.iter().zip(&instance.kernels).filter(|(k, _)| k.once) {
            self.run_kernel(kernel, ready, instance, &mut values)?;
            for &v in &kernel.outputs {
                let v = root(plan, v);
                kept.insert(v, values.get(v)?.clone());
            }
        }
        Ok(kept)
    }

    fn check_inputs(&self, inputs: &[Array]) -> Result<()> {
        let decls = || self.source.inputs.iter().filter(|d| !d.frozen);
        let needed = decls().count();
        if needed != inputs.len() {
            let names: Vec<&str> = decls().map(|d| d.name.as_str()).collect();
            return Err(Error::invalid(format!("{} inputs given, {needed} needed: {}", inputs.len(), names.join(", "))));
        }
        for (d, a) in decls().zip(inputs) {
            if d.ty.dtype != a.dtype || d.ty.shape.len() != a.shape.len() {
                return Err(Error::invalid(format!("input {} is {}, got {}{:?}", d.name, d.ty, a.dtype, a.shape)));
            }
        }
        Ok(())
    }

    fn bind(&self, dims: &BTreeMap<Var, i64>, given: &[&[usize]]) -> Result<BTreeMap<Var, i64>> {
        let mut given = given.iter();
        let shapes: Vec<&[usize]> = self
            .frozen
            .iter()
            .map(|f| match f {
                Some(a) => Ok(a.shape.as_slice()),
                None => given.next().copied().ok_or_else(|| Error::invalid("too few inputs")),
            })
            .collect::<Result<_>>()?;
        graph::interp::bind_from(&self.source, &shapes, dims.clone())
    }

    /// Kernels for inputs of these shapes.
    pub(crate) fn instance(&self, dims: &BTreeMap<Var, i64>, shapes: &[&[usize]]) -> Result<Arc<Instance>> {
        let mut extents: Extents = shapes.iter().flat_map(|s| s.iter().copied()).collect();
        extents.extend(dims.values().map(|&n| n as usize));
        self.instances.get(&extents, || {
            let made = Instance::new(&self.compiled.plan, &self.sized, self.bind(dims, shapes)?, &self.device, &self.config)?;
            dump::lowered(self, &made)?;
            Ok(made)
        })
    }

    /// What is ready for each size tuple now.
    pub(crate) fn ready_instances(&self) -> Vec<Arc<Instance>> {
        self.instances.all()
    }
    /// Size tuples whose kernels are ready now; the number is bounded.
    pub fn ready_sizes(&self) -> usize {
        self.instances.len()
    }

    /// The array of a stored value, within its root's buffer.
    pub(crate) fn array_of(&self, value: NodeId, instance: &Instance, values: &Values) -> Result<Array> {
        place(&self.compiled.plan, value, &instance.dims)?.within(values)
    }

    /// Makes room for a kernel's outputs.
    fn allocate(&self, ready: &Ready, instance: &Instance, values: &mut Values) -> Result<()> {
        for made in &ready.outputs {
            if !values.contains(made.root) {
                values.insert(made.root, Array::contiguous(self.device.pool(), made.dtype, &made.shape)?);
            }
            if let Some(dst) = made.copy_of {
                let (from, to) = (self.array_of(dst, instance, values)?, values.get(made.root)?);
                copy(&from, to)?;
            }
        }
        Ok(())
    }

    pub(crate) fn run_kernel(&self, kernel: &Kernel, ready: &Ready, instance: &Instance, values: &mut Values) -> Result<()> {
        match &ready.step {
            ReadyStep::Nothing => self.allocate(ready, instance, values),
            ReadyStep::Program { prepared, args, workspaces } => {
                self.allocate(ready, instance, values)?;
                let pool = self.device.pool();
                let workspaces = workspaces.iter().map(|&bytes| pool.alloc(bytes));
                let workspaces: SmallVec<[Buffer; 4]> = workspaces.collect::<Result<_>>()?;
                let arg = |&root: &NodeId| values.get(root).map(|a| Arg::shared(&a.buffer, a.offset_bytes()));
                let mut launch: SmallVec<[Arg<'_>; 16]> = args.iter().map(arg).collect::<Result<_>>()?;
                launch.extend(workspaces.iter().map(Arg::from));
                self.device.launch(prepared, &launch).map_err(|e| e.context(kernel.name.clone()))
            }
            ReadyStep::Interpret => self.interpret(kernel, ready, instance, values),
            ReadyStep::Opaque(node) => self.run_opaque(*node, kernel, ready, instance, values),
        }
    }

    fn interpret(&self, kernel: &Kernel, ready: &Ready, instance: &Instance, values: &mut Values) -> Result<()> {
        let results = self.oracle(kernel, instance, values, graph::interp::Options { wide: false })?;
        self.allocate(ready, instance, values)?;
        for (&v, result) in kernel.outputs.iter().zip(&results) {
            self.put(v, result, instance, values)?;
        }
        Ok(())
    }

    /// Writes a dense result where the plan stores a value.
    pub(crate) fn put(&self, value: NodeId, result: &HostTensor, instance: &Instance, values: &Values) -> Result<()> {
        let to = self.array_of(value, instance, values)?;
        if !to.is_contiguous() {
            return Err(Error::unsupported(format!("{value:?}: an interpreted kernel cannot store into part of a buffer")));
        }
        to.buffer.write(to.offset * to.dtype.size(), result.bytes())
    }

    /// Runs a kernel's nodes by the interpreter on the live values.
    pub(crate) fn oracle(
        &self,
        kernel: &Kernel,
        instance: &Instance,
        values: &Values,
        options: graph::interp::Options,
    ) -> Result<Vec<HostTensor>> {
        let plan = &self.compiled.plan;
        let part = crate::subgraph::subgraph(&plan.graph, &kernel.members, &kernel.outputs);
        let inputs = part.inputs.iter().map(|&v| to_host(&self.array_of(v, instance, values)?)).collect::<Result<Vec<_>>>()?;
        graph::interp::run_bound(&part.graph, &inputs, options, &instance.dims)
    }

    fn run_opaque(&self, node: NodeId, kernel: &Kernel, ready: &Ready, instance: &Instance, values: &mut Values) -> Result<()> {
        let plan = &self.compiled.plan;
        let n = plan.graph.node(node);
        let args = n.args.iter().map(|&a| to_host(&self.array_of(a, instance, values)?)).collect::<Result<Vec<_>>>()?;
        let results = match &n.op {
            Op::Call(name, attrs) => graph::call::eval(name, &args, attrs)?,
            Op::Region(region) => self.regions.run(node, region, &args, &instance.dims)?,
            other => return Err(Error::internal(format!("{other:?} is not opaque"))),
        };
        self.allocate(ready, instance, values)?;
        for &v in &kernel.outputs {
            let index = match plan.graph.node(v).op {
                Op::Result(i) => i as usize,
                _ => 0,
            };
            self.put(v, &results[index], instance, values)?;
        }
        Ok(())
    }

    /// What the graph outputs show.
    pub(crate) fn outputs(&self, instance: &Instance, values: &Values) -> Result<Vec<Array>> {
        instance.outputs.iter().map(|s| self.shown(s, values)).collect()
    }

    fn shown(&self, s: &Shown, values: &Values) -> Result<Array> {
        self.viewed(s, s.base.within(values)?)
    }

    /// What an output shows of a stored value.
    pub(crate) fn viewed(&self, s: &Shown, base: Array) -> Result<Array> {
        let Some(view) = &s.view else { return Ok(base) };
        let base = if base.is_contiguous() { base } else { dense(self.device.pool(), &base)? };
        let (shape, strides) = (view.shape.clone(), view.strides.clone());
        Ok(Array { offset: base.offset + view.offset, shape, strides, ..base })
    }
}

/// Input nodes: those whose data comes with a call, with the number of their argument, and frozen ones with their data.
fn input_nodes(graph: &Graph, frozen: &[Option<Array>]) -> (Vec<(NodeId, usize)>, Kept) {
    let (mut given, mut weights) = (Vec::new(), Kept::new());
    for id in graph.ids() {
        let Op::Input(slot) = graph.node(id).op else { continue };
        match &frozen[slot as usize] {
            Some(data) => {
                weights.insert(id, data.clone());
            }
            None => given.push((id, frozen[..slot as usize].iter().filter(|f| f.is_none()).count())),
        }
    }
    (given, weights)
}

/// Root values that no later kernel and no output needs, after each kernel.
fn last_uses(plan: &Plan) -> Vec<Vec<NodeId>> {
    let mut last: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (n, k) in plan.kernels.iter().enumerate() {
        let args = k.step.args(&plan.graph);
        let copied = k.outputs.iter().filter_map(|v| match plan.storage.get(v) {
            Some(Storage::Write { dst, .. }) => Some(*dst),
            _ => None,
        });
        for v in args.into_iter().chain(k.outputs.iter().copied()).chain(copied) {
            last.insert(root(plan, v), n);
        }
    }
    for o in &plan.outputs {
        last.remove(&root(plan, o.base));
    }
    let mut out = vec![Vec::new(); plan.kernels.len()];
    for (v, n) in last {
        out[n].push(v);
    }
    out
}

//! Compiled modules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::{Config, Error, Remark, Result};
use fuse::{Kernel, Plan, Step, Storage};
use graph::{Graph, HostTensor, Module, NodeId, Op};
use kernel::Target;
use runtime::{Arg, Array, Device};
use scalar::Var;

use crate::compile::{Compiled, passes};
use crate::dump;
use crate::host::{dense, to_array, to_host};
use crate::instance::{Instance, Ready, extents, layout, root};
use crate::region::Regions;

/// A compiled module. Running it is re-entrant: every call has its own buffers.
pub struct Executable {
    pub(crate) source: Graph,
    pub(crate) compiled: Compiled,
    pub(crate) config: Config,
    pub(crate) target: Target,
    pub(crate) device: Arc<Device>,
    frozen: Vec<Option<Array>>,
    instances: Mutex<BTreeMap<Vec<i64>, Arc<Instance>>>,
    once: OnceLock<BTreeMap<NodeId, Array>>,
    pub(crate) regions: Regions,
    /// Stored values whose buffers are free after each kernel.
    last_use: Vec<Vec<NodeId>>,
    /// Folder of this module's dumps.
    pub(crate) dump: Option<PathBuf>,
}

/// One device per thread count and process: executables share its memory and workers.
fn shared_device(threads: usize) -> Arc<Device> {
    static DEVICES: Mutex<BTreeMap<usize, Arc<Device>>> = Mutex::new(BTreeMap::new());
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    devices.entry(threads).or_insert_with(|| Device::cpu(threads)).clone()
}

/// Values of one call, by root value.
pub(crate) type Values = BTreeMap<NodeId, Array>;

impl Executable {
    pub(crate) fn new(module: &Module, config: &Config) -> Result<Executable> {
        let target = Target::cpu();
        let device = shared_device(config.threads);
        let compiled = passes(&module.graph, &BTreeMap::new(), &target, config)?;
        let mut frozen: Vec<Option<Array>> = vec![None; module.graph.inputs.len()];
        for f in &module.frozen {
            frozen[f.slot as usize] = Some(to_array(device.pool(), &f.data)?);
        }
        for (decl, data) in module.graph.inputs.iter().zip(&frozen) {
            if decl.frozen && data.is_none() {
                return Err(Error::invalid(format!("frozen input {} has no data", decl.name)));
            }
        }
        let dump = dump::compiled(&module.graph, &compiled, config)?;
        let regions = Regions::new(&compiled.plan.graph, config)?;
        let last_use = last_uses(&compiled.plan);
        Ok(Executable {
            source: module.graph.clone(),
            compiled,
            config: config.clone(),
            target,
            device,
            frozen,
            instances: Mutex::default(),
            once: OnceLock::new(),
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

    /// The device that runs it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Remarks of lowering for the sizes of these inputs.
    ///
    /// # Errors
    /// Inputs that do not fit.
    pub fn remarks(&self, inputs: &[HostTensor]) -> Result<Vec<Remark>> {
        let shapes: Vec<&[usize]> = inputs.iter().map(HostTensor::shape).collect();
        Ok(self.instance(self.bind(&shapes)?)?.remarks.clone())
    }

    /// The dimensions that inputs of these shapes bind, for [`Executable::report`].
    ///
    /// # Errors
    /// Inputs that do not fit.
    pub fn dims(&self, inputs: &[HostTensor]) -> Result<BTreeMap<Var, i64>> {
        self.bind(&inputs.iter().map(HostTensor::shape).collect::<Vec<_>>())
    }

    /// Runs with host tensors for the inputs that are not frozen, in slot order.
    ///
    /// # Errors
    /// Wrong count, dtype or shape; a failed guard; an index out of range; out of memory.
    pub fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        let arrays = inputs.iter().map(|t| to_array(self.device.pool(), t)).collect::<Result<Vec<_>>>()?;
        self.run_arrays(&arrays)?.iter().map(to_host).collect()
    }

    /// Runs with arrays; outputs may be strided views, and may share memory with inputs that they show.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_arrays(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let (instance, mut values) = self.start(inputs)?;
        let plan = &self.compiled.plan;
        for (n, (kernel, ready)) in plan.kernels.iter().zip(&instance.kernels).enumerate() {
            if !kernel.once {
                self.run_kernel(kernel, ready, &instance, &mut values)?;
            }
            self.release(n, &mut values);
        }
        self.outputs(&instance, &values)
    }

    /// Frees what nothing after kernel `n` needs.
    pub(crate) fn release(&self, n: usize, values: &mut Values) {
        for v in &self.last_use[n] {
            values.remove(v);
        }
    }

    /// Binds inputs and dimensions, and brings in what runs once.
    pub(crate) fn start(&self, inputs: &[Array]) -> Result<(Arc<Instance>, Values)> {
        self.check_inputs(inputs)?;
        let shapes: Vec<&[usize]> = inputs.iter().map(|a| a.shape.as_slice()).collect();
        let instance = self.instance(self.bind(&shapes)?)?;
        let mut values = Values::new();
        let mut given = inputs.iter();
        let plan = &self.compiled.plan;
        let slots: Vec<Array> = self
            .frozen
            .iter()
            .map(|f| match f {
                Some(a) => Ok(a.clone()),
                None => dense(self.device.pool(), given.next().ok_or_else(|| Error::invalid("too few inputs"))?),
            })
            .collect::<Result<_>>()?;
        for id in plan.graph.ids() {
            if let Op::Input(slot) = plan.graph.node(id).op {
                values.insert(id, slots[slot as usize].clone());
            }
        }
        if plan.kernels.iter().any(|k| k.once) {
            let kept = match self.once.get() {
                Some(kept) => kept,
                None => {
                    let kept = self.run_once(&instance, values.clone())?;
                    self.once.get_or_init(|| kept)
                }
            };
            values.extend(kept.iter().map(|(v, a)| (*v, a.clone())));
        }
        Ok((instance, values))
    }

    fn run_once(&self, instance: &Instance, mut values: Values) -> Result<Values> {
        let plan = &self.compiled.plan;
        let mut kept = Values::new();
        for (kernel, ready) in plan.kernels.iter().zip(&instance.kernels).filter(|(k, _)| k.once) {
            self.run_kernel(kernel, ready, instance, &mut values)?;
            for &v in &kernel.outputs {
                let v = root(plan, v);
                kept.extend(values.get(&v).map(|a| (v, a.clone())));
            }
        }
        Ok(kept)
    }

    fn check_inputs(&self, inputs: &[Array]) -> Result<()> {
        let decls: Vec<_> = self.source.inputs.iter().filter(|d| !d.frozen).collect();
        if decls.len() != inputs.len() {
            let names: Vec<&str> = decls.iter().map(|d| d.name.as_str()).collect();
            return Err(Error::invalid(format!("{} inputs given, {} needed: {}", inputs.len(), decls.len(), names.join(", "))));
        }
        for (d, a) in decls.iter().zip(inputs) {
            if d.ty.dtype != a.dtype || d.ty.shape.len() != a.shape.len() {
                return Err(Error::invalid(format!("input {} is {}, got {}{:?}", d.name, d.ty, a.dtype, a.shape)));
            }
        }
        Ok(())
    }

    fn bind(&self, given: &[&[usize]]) -> Result<BTreeMap<Var, i64>> {
        let mut given = given.iter();
        let shapes: Vec<&[usize]> = self
            .frozen
            .iter()
            .map(|f| match f {
                Some(a) => Ok(a.shape.as_slice()),
                None => given.next().copied().ok_or_else(|| Error::invalid("too few inputs")),
            })
            .collect::<Result<_>>()?;
        graph::interp::bind(&self.source, &shapes)
    }

    pub(crate) fn instance(&self, dims: BTreeMap<Var, i64>) -> Result<Arc<Instance>> {
        let key: Vec<i64> = dims.values().copied().collect();
        let lock = || self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().get(&key) {
            return Ok(found.clone());
        }
        let made = Arc::new(Instance::new(&self.compiled.plan, dims, &self.device, &self.config)?);
        dump::lowered(self, &made)?;
        Ok(lock().entry(key).or_insert(made).clone())
    }

    /// The array of a stored value, within its root's buffer.
    pub(crate) fn array_of(&self, value: NodeId, instance: &Instance, values: &Values) -> Result<Array> {
        let plan = &self.compiled.plan;
        let whole = values
            .get(&root(plan, value))
            .ok_or_else(|| Error::internal(format!("value {value:?} is read before it is computed")))?;
        let at = layout(plan, value, &instance.dims)?;
        let shape = extents(plan.graph.shape(value), &instance.dims)?;
        Ok(Array {
            buffer: whole.buffer.clone(),
            dtype: whole.dtype,
            shape: shape.iter().map(|&n| n as usize).collect(),
            strides: at.strides.iter().map(|&s| s as isize).collect(),
            offset: whole.offset + at.offset as usize,
        })
    }

    /// Makes room for a kernel's outputs.
    fn allocate(&self, kernel: &Kernel, instance: &Instance, values: &mut Values) -> Result<()> {
        let plan = &self.compiled.plan;
        for &v in &kernel.outputs {
            let r = root(plan, v);
            if values.contains_key(&r) {
                continue;
            }
            let shape: Vec<usize> = extents(plan.graph.shape(r), &instance.dims)?.iter().map(|&n| n.max(0) as usize).collect();
            let array = Array::contiguous(self.device.pool(), plan.graph.dtype(r), &shape)?;
            if let Some(Storage::Write { dst, copy: true }) = plan.storage.get(&r) {
                let from = self.array_of(*dst, instance, values)?;
                array.buffer.write(0, &from.to_vec_bytes()?)?;
            }
            values.insert(r, array);
        }
        Ok(())
    }

    pub(crate) fn run_kernel(&self, kernel: &Kernel, ready: &Ready, instance: &Instance, values: &mut Values) -> Result<()> {
        match ready {
            Ready::Nothing => self.allocate(kernel, instance, values),
            Ready::Program { prepared, args, workspaces } => {
                self.allocate(kernel, instance, values)?;
                let plan = &self.compiled.plan;
                let mut held = Vec::with_capacity(args.len() + workspaces.len());
                for &v in args {
                    let array = values.get(&root(plan, v));
                    held.push(array.cloned().ok_or_else(|| Error::internal(format!("{v:?} is read before it is computed")))?);
                }
                for &(dtype, elements) in workspaces {
                    held.push(Array::contiguous(self.device.pool(), dtype, &[elements])?);
                }
                let launch: Vec<Arg<'_>> =
                    held.iter().map(|a| Arg { buffer: &a.buffer, offset_bytes: a.offset * a.dtype.size() }).collect();
                self.device.launch(prepared, &launch).map_err(|e| e.context(kernel.name.clone()))
            }
            Ready::Interpret => self.interpret(kernel, instance, values),
            Ready::Opaque(node) => self.run_opaque(*node, kernel, instance, values),
        }
    }

    fn interpret(&self, kernel: &Kernel, instance: &Instance, values: &mut Values) -> Result<()> {
        let results = self.oracle(kernel, instance, values, graph::interp::Options { wide: false })?;
        self.allocate(kernel, instance, values)?;
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

    fn run_opaque(&self, node: NodeId, kernel: &Kernel, instance: &Instance, values: &mut Values) -> Result<()> {
        let plan = &self.compiled.plan;
        let n = plan.graph.node(node);
        let args = n.args.iter().map(|&a| to_host(&self.array_of(a, instance, values)?)).collect::<Result<Vec<_>>>()?;
        let results = match &n.op {
            Op::Call(name, attrs) => graph::call::eval(name, &args, attrs)?,
            Op::Region(region) => self.regions.run(node, region, &args, &instance.dims)?,
            other => return Err(Error::internal(format!("{other:?} is not opaque"))),
        };
        self.allocate(kernel, instance, values)?;
        for &v in &kernel.outputs {
            let index = match plan.graph.node(v).op {
                Op::Result(i) => i as usize,
                _ => 0,
            };
            self.put(v, &results[index], instance, values)?;
        }
        Ok(())
    }

    pub(crate) fn outputs(&self, instance: &Instance, values: &Values) -> Result<Vec<Array>> {
        let plan = &self.compiled.plan;
        let number = |s: &scalar::Sym| s.eval(&|v| instance.dims.get(&v).copied());
        plan.outputs
            .iter()
            .zip(&plan.graph.outputs)
            .map(|(shown, output)| {
                let base = self.array_of(shown.base, instance, values)?;
                let shape: Vec<usize> =
                    extents(plan.graph.shape(output.value), &instance.dims)?.iter().map(|&n| n.max(0) as usize).collect();
                let plain = base.is_contiguous();
                if !plain && output.value != shown.base {
                    let dense = dense(self.device.pool(), &base)?;
                    return view(&dense, shape, shown, &number);
                }
                if output.value == shown.base { Ok(base) } else { view(&base, shape, shown, &number) }
            })
            .collect()
    }

    /// Kernels with their steps, for reports.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = (&Kernel, bool)> {
        self.compiled.plan.kernels.iter().map(|k| (k, matches!(k.step, Step::Comps(_))))
    }
}

fn view(base: &Array, shape: Vec<usize>, shown: &fuse::Strided, number: &dyn Fn(&scalar::Sym) -> Result<i64>) -> Result<Array> {
    let strides = shown.strides.iter().map(|s| number(s).map(|n| n as isize)).collect::<Result<Vec<_>>>()?;
    let offset = (base.offset as i64 + number(&shown.offset)?).max(0) as usize;
    Ok(Array { buffer: base.buffer.clone(), dtype: base.dtype, shape, strides, offset })
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

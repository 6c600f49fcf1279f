//! The lazy tensor: a handle on a node that is either data or a recorded op.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use base::{Error, Result};
use graph::{HostTensor, TensorType};
use scalar::{DType, Scalar, Shape, Sym};
use smallvec::SmallVec;

use crate::element::Element;
use crate::flush;
use crate::infer::{Signature, Typed, infer};
use crate::op::Op;
use crate::param::Param;
use crate::promote::{Number, Operand};
use crate::random::Generator;
use crate::site::{self, Site};
use crate::symbolic::{self, Env};
use crate::trace;

/// Chains longer than this are evaluated as they are recorded.
const MAX_DEPTH: u32 = 2048;

/// A lazy, immutable tensor. Clones are cheap and share everything.
///
/// Ops record; nothing runs before a value is read with [`eval`](Tensor::eval), [`to_vec`](Tensor::to_vec),
/// [`item`](Tensor::item) or printing. Whatever is still held by a handle when its graph runs keeps its value.
///
/// # Errors
/// Ops never panic and return no `Result`. An op that cannot be done (shapes that do not broadcast, a wrong dtype)
/// gives a *poisoned* tensor; every op on it is poisoned too, and reading it returns the first error, which names the
/// op, its operands' dtypes and shapes, and the file and line of the call. [`check`](Tensor::check) asks early.
///
/// ```
/// use fuseline::Tensor;
/// let x = Tensor::new([[1.0f32, 2.0], [3.0, 4.0]]);
/// let y = (&x + 1.0).sum(-1);
/// assert_eq!(y.to_vec::<f32>()?, [5.0, 9.0]);
///
/// let bad = (&x + Tensor::new([1.0f32, 2.0, 3.0])).exp();
/// assert!(bad.to_vec::<f32>().unwrap_err().to_string().starts_with("add at "));
/// # Ok::<(), fuseline::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    pub(crate) node: Arc<Node>,
    pub(crate) index: usize,
}

/// What a node is, before it has data.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Data given from outside.
    Data,
    /// A 0-d number.
    Const(Scalar),
    /// The current value of a parameter.
    Param(Param),
    /// A fresh random key per execution.
    Key(Generator),
    /// An argument of the function being traced.
    Input(usize),
    /// A recorded op.
    Op,
    /// A recorded mistake.
    Poison(Arc<Error>),
}

/// One recorded op, leaf or mistake.
pub(crate) struct Node {
    pub(crate) kind: Kind,
    signature: Arc<Signature>,
    /// Variables of the signature, if it has some.
    env: Option<Arc<Env>>,
    /// The signature in numbers, once the variables are no longer in force.
    settled: OnceLock<Arc<Signature>>,
    pub(crate) site: Site,
    /// Longest chain of unevaluated ops below.
    depth: u32,
    /// Operands; dropped once every result has data.
    pub(crate) args: Mutex<Args>,
    pub(crate) data: SmallVec<[OnceLock<HostTensor>; 1]>,
}

/// Operands of a node.
pub(crate) type Args = SmallVec<[Tensor; 2]>;

impl Node {
    fn new(kind: Kind, signature: Arc<Signature>, env: Option<Arc<Env>>, depth: u32, args: Args) -> Node {
        let data = signature.results.iter().map(|_| OnceLock::new()).collect();
        Node { kind, signature, env, settled: OnceLock::new(), site: Site::here(), depth, args: Mutex::new(args), data }
    }
    /// The signature in force on this thread.
    pub(crate) fn signature(&self) -> &Arc<Signature> {
        match &self.env {
            Some(env) if !env.is_live() => self.settled.get_or_init(|| self.signature.settled(env)),
            _ => &self.signature,
        }
    }
    /// Whether its types depend on the call that recorded it.
    pub(crate) fn is_symbolic(&self) -> bool {
        self.env.is_some()
    }
    /// Whether nothing has to run to read it.
    pub(crate) fn is_done(&self) -> bool {
        self.data.iter().all(|d| d.get().is_some())
    }
    /// Stores the results and lets go of the operands.
    pub(crate) fn fill(&self, index: usize, value: HostTensor) {
        // Another thread may have computed the same value first.
        let _ = self.data[index].set(value);
        if self.is_done() {
            drop(std::mem::take(&mut *self.args.lock().expect("no panic under the lock")));
        }
    }
}

impl Drop for Node {
    /// Frees a chain of nodes without recursion.
    fn drop(&mut self) {
        let mut queue = std::mem::take(self.args.get_mut().unwrap_or_else(|e| e.into_inner()));
        while let Some(tensor) = queue.pop() {
            if let Some(mut node) = Arc::into_inner(tensor.node) {
                queue.append(node.args.get_mut().unwrap_or_else(|e| e.into_inner()));
            }
        }
    }
}

impl Tensor {
    #[track_caller]
    fn leaf(kind: Kind, ty: TensorType) -> Tensor {
        let node = Node::new(kind, Signature::leaf(ty), None, 0, Args::new());
        Tensor { node: Arc::new(node), index: 0 }
    }
    /// From data on the host; the bytes are shared, not copied.
    pub fn from_host(data: HostTensor) -> Tensor {
        let shape = data.shape().iter().map(|&d| Sym::from(d as i64)).collect();
        let tensor = Tensor::leaf(Kind::Data, TensorType { dtype: data.dtype(), shape });
        tensor.node.fill(0, data);
        tensor
    }
    /// Data whose extents are given as expressions of the current call's variables.
    pub(crate) fn from_host_as(data: HostTensor, shape: Shape) -> Tensor {
        let env = if shape.iter().any(|n| n.as_int().is_none()) { symbolic::live() } else { None };
        if env.is_none() {
            return Tensor::from_host(data);
        }
        let signature = Signature::leaf(TensorType { dtype: data.dtype(), shape });
        let node = Node::new(Kind::Data, signature, env, 0, Args::new());
        node.fill(0, data);
        Tensor { node: Arc::new(node), index: 0 }
    }
    /// A 0-d tensor of a number, in a dtype.
    pub(crate) fn constant(value: Number, dtype: DType) -> Tensor {
        let value = value.scalar(dtype);
        Tensor::leaf(Kind::Const(value), TensorType { dtype, shape: Shape::new() })
    }
    pub(crate) fn param(param: &Param) -> Tensor {
        Tensor::leaf(Kind::Param(param.clone()), param.ty().clone())
    }
    pub(crate) fn key(generator: &Generator) -> Tensor {
        Tensor::leaf(Kind::Key(generator.clone()), TensorType { dtype: DType::I64, shape: Shape::new() })
    }
    pub(crate) fn input(slot: usize, ty: TensorType) -> Tensor {
        Tensor::leaf(Kind::Input(slot), ty)
    }
    pub(crate) fn poison(error: Arc<Error>) -> Tensor {
        Tensor::leaf(Kind::Poison(error), TensorType { dtype: DType::F32, shape: Shape::new() })
    }

    /// Records an op with one result.
    pub(crate) fn apply(op: Op, args: &[&Tensor]) -> Recorded<Tensor> {
        let tensor = Tensor { node: Tensor::record(op, args)?, index: 0 };
        tensor.limit_depth()?;
        Ok(tensor)
    }
    /// Records an op; its results in order.
    pub(crate) fn apply_many(op: Op, args: &[&Tensor]) -> Recorded<Vec<Tensor>> {
        let node = Tensor::record(op, args)?;
        let results: Vec<Tensor> = (0..node.data.len()).map(|index| Tensor { node: node.clone(), index }).collect();
        drop(node);
        results[0].limit_depth()?;
        Ok(results)
    }
    fn record(op: Op, args: &[&Tensor]) -> Recorded<Arc<Node>> {
        for arg in args {
            arg.ok()?;
        }
        let signature = infer(op, args).inspect_err(|_| blame(args))?;
        let env = if signature.symbolic { symbolic::live() } else { None };
        if let Some(env) = &env {
            env.check(&signature)?;
        }
        let depth = args.iter().map(|a| if a.node.is_done() { 0 } else { a.node.depth }).max().unwrap_or(0) + 1;
        let args = args.iter().map(|&a| a.clone()).collect();
        Ok(Arc::new(Node::new(Kind::Op, signature, env, depth, args)))
    }
    fn limit_depth(&self) -> Result<()> {
        if self.node.depth > MAX_DEPTH && !trace::active() { flush::flush(std::slice::from_ref(self), None) } else { Ok(()) }
    }

    /// What the tensor is once it has data.
    pub(crate) fn leaf_signature(&self) -> Arc<Signature> {
        let own = self.node.signature();
        if own.op.is_none() { own.clone() } else { Signature::leaf(self.ty().clone()) }
    }
    pub(crate) fn typed(&self) -> &Typed {
        &self.node.signature().results[self.index]
    }
    /// Type of this result.
    pub(crate) fn ty(&self) -> &TensorType {
        &self.typed().ty
    }
    /// Element type; f32 if poisoned.
    pub fn dtype(&self) -> DType {
        self.ty().dtype
    }
    /// Extents as numbers; empty if poisoned.
    ///
    /// Inside [`compile_pure`](crate::compile_pure), reading a size this way makes it part of the compiled function;
    /// [`dims`](Tensor::dims) and [`size`](Tensor::size) keep it symbolic.
    pub fn shape(&self) -> Vec<usize> {
        self.ty().shape.iter().map(trace::concrete).collect()
    }
    /// Extents, symbolic while a function is traced.
    pub fn dims(&self) -> &Shape {
        &self.ty().shape
    }
    /// One extent, symbolic while a function is traced; negative dims count from the end. 0 if there is no such dim.
    pub fn size(&self, dim: i64) -> Sym {
        crate::shape::axis(dim, self.rank()).map_or(Sym::from(0), |axis| self.dims()[axis].clone())
    }
    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.ty().shape.len()
    }
    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.shape().iter().product()
    }
    /// The tensor, or the mistake that poisoned it.
    ///
    /// # Errors
    /// The first error among the ops that it came from.
    pub fn check(&self) -> Result<&Tensor> {
        match &self.node.kind {
            Kind::Poison(error) => Err((**error).clone()),
            _ => Ok(self),
        }
    }

    /// The tensor, or the mistake to hand on.
    pub(crate) fn ok(&self) -> Recorded<&Tensor> {
        match &self.node.kind {
            Kind::Poison(error) => Err(Mistake::Old(error.clone())),
            _ => Ok(self),
        }
    }

    /// Runs whatever is needed to have the value.
    ///
    /// # Errors
    /// The mistake that poisoned it, or a failure of the run (an index out of range, no memory).
    #[track_caller]
    pub fn eval(&self) -> Result<&Tensor> {
        self.data()?;
        Ok(self)
    }
    /// The value on the host, after running whatever it needs.
    ///
    /// # Errors
    /// As [`eval`](Tensor::eval).
    #[track_caller]
    pub fn data(&self) -> Result<HostTensor> {
        let at = std::panic::Location::caller();
        self.check()?;
        if let Some(data) = self.node.data[self.index].get() {
            return Ok(data.clone());
        }
        if let Kind::Param(param) = &self.node.kind {
            return Ok(param.data());
        }
        flush::flush(std::slice::from_ref(self), Some(at))?;
        self.node.data[self.index].get().cloned().ok_or_else(|| Error::internal("a flushed tensor has no value"))
    }
    /// All elements in row-major order, converted to `T`.
    ///
    /// # Errors
    /// As [`eval`](Tensor::eval).
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let data = self.data()?;
        Ok((0..data.len()).map(|i| T::from_scalar(data.get(i))).collect())
    }
    /// The only element, converted to `T`.
    ///
    /// # Errors
    /// More or fewer than one element; else as [`eval`](Tensor::eval).
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        let data = self.data()?;
        if data.len() != 1 {
            return Err(Error::invalid(format!("item needs one element, the tensor is {}", self.ty())));
        }
        Ok(T::from_scalar(data.get(0)))
    }
}

/// Notes whose variables an op could not be recorded for.
fn blame(args: &[&Tensor]) {
    if let Some(env) = symbolic::live() {
        env.blame(args.iter().flat_map(|a| &a.ty().shape).flat_map(|n| n.vars()));
    }
}

impl Operand {
    /// As a tensor of a dtype; tensors are converted by a recorded cast.
    pub(crate) fn cast(&self, dtype: DType) -> Recorded<Tensor> {
        match self {
            Operand::Tensor(t) if t.dtype() == dtype => Ok(t.clone()),
            Operand::Tensor(t) => Tensor::apply(Op::Cast(dtype), &[t]),
            Operand::Number(n) => Ok(Tensor::constant(*n, dtype)),
        }
    }
    /// The mistake that poisoned it, if any.
    pub(crate) fn ok(&self) -> Recorded<()> {
        match self {
            Operand::Tensor(t) => t.ok().map(|_| ()),
            Operand::Number(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Tensor {
    /// Type and state, without evaluating.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node.kind {
            Kind::Poison(error) => write!(f, "Tensor(poisoned: {error})"),
            _ if self.node.is_done() => write!(f, "Tensor({})", self.ty()),
            _ => write!(f, "Tensor({}, lazy: {})", self.ty(), self.node.site),
        }
    }
}

/// Values that a user op can give back, poisoned when it fails.
pub(crate) trait Outcome {
    /// The value that carries an error.
    fn poisoned(error: &Arc<Error>) -> Self;
    /// The error that it carries.
    fn mistake(&self) -> Option<&Arc<Error>>;
}

impl Outcome for Tensor {
    fn poisoned(error: &Arc<Error>) -> Tensor {
        Tensor::poison(error.clone())
    }
    fn mistake(&self) -> Option<&Arc<Error>> {
        if let Kind::Poison(error) = &self.node.kind { Some(error) } else { None }
    }
}
impl Outcome for (Tensor, Tensor) {
    fn poisoned(error: &Arc<Error>) -> Self {
        (Tensor::poison(error.clone()), Tensor::poison(error.clone()))
    }
    fn mistake(&self) -> Option<&Arc<Error>> {
        self.0.mistake().or_else(|| self.1.mistake())
    }
}
impl Outcome for (Tensor, Tensor, Tensor) {
    fn poisoned(error: &Arc<Error>) -> Self {
        (Tensor::poison(error.clone()), Tensor::poison(error.clone()), Tensor::poison(error.clone()))
    }
    fn mistake(&self) -> Option<&Arc<Error>> {
        [&self.0, &self.1, &self.2].into_iter().find_map(Outcome::mistake)
    }
}
impl Outcome for Vec<Tensor> {
    fn poisoned(error: &Arc<Error>) -> Self {
        vec![Tensor::poison(error.clone())]
    }
    fn mistake(&self) -> Option<&Arc<Error>> {
        self.iter().find_map(Outcome::mistake)
    }
}

/// Why an op could not be recorded.
#[derive(Clone, Debug)]
pub(crate) enum Mistake {
    /// Its own fault.
    New(Error),
    /// An operand is poisoned.
    Old(Arc<Error>),
}

impl From<Error> for Mistake {
    fn from(error: Error) -> Mistake {
        Mistake::New(error)
    }
}

/// Result of recording.
pub(crate) type Recorded<T> = Result<T, Mistake>;

/// Runs the body of a user op: all that it records is one op named `name`, called where the caller of the caller is.
///
/// What fails over symbolic extents is tried again with numbers, for which it may be right, or give a better message.
#[track_caller]
pub(crate) fn user_op<T: Outcome>(name: &'static str, body: impl FnOnce() -> Recorded<T> + Clone) -> T {
    let scope = site::enter(name);
    let site = scope.site();
    let result = match symbolic::live().filter(|_| scope.is_outermost()) {
        Some(env) => in_numbers_if_need_be(&env, &site, body),
        None => body(),
    };
    result.unwrap_or_else(|mistake| match mistake {
        Mistake::New(error) => T::poisoned(&Arc::new(error.context(site.to_string()))),
        Mistake::Old(error) => T::poisoned(&error),
    })
}

fn in_numbers_if_need_be<T: Outcome>(env: &Env, site: &Site, body: impl FnOnce() -> Recorded<T> + Clone) -> Recorded<T> {
    let first = body.clone()();
    let error = match &first {
        Ok(value) => value.mistake().map(|e| (**e).clone()),
        Err(Mistake::New(e)) => Some(e.clone()),
        Err(Mistake::Old(e)) => Some((**e).clone()),
    };
    let Some(error) = error else { return first };
    env.settle();
    let again = body();
    if again.as_ref().is_ok_and(|value| value.mistake().is_none()) {
        env.pin(format!("{site}: {error}"));
    }
    again
}

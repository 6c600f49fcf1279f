//! The lazy tensor: a handle on a node that is either data or a recorded op.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use base::{Error, Result};
use graph::{HostTensor, TensorType};
use scalar::{DType, Scalar, Shape, Sym};
use smallvec::{SmallVec, smallvec};

use crate::element::Element;
use crate::flush;
use crate::infer::infer;
use crate::op::Op;
use crate::param::Param;
use crate::promote::{Number, Operand};
use crate::random::Generator;
use crate::site::{self, Site};
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
    Op(Arc<Op>),
    /// A recorded mistake.
    Poison(Arc<Error>),
}

/// One recorded op, leaf or mistake.
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) types: Arc<[TensorType]>,
    pub(crate) site: Site,
    /// Longest chain of unevaluated ops below.
    depth: u32,
    /// Operands; dropped once every result has data.
    pub(crate) args: Mutex<Vec<Tensor>>,
    pub(crate) data: SmallVec<[OnceLock<HostTensor>; 1]>,
}

impl Node {
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
    fn leaf(kind: Kind, ty: TensorType) -> Tensor {
        let types: Arc<[TensorType]> = Arc::new([ty]);
        Tensor::from_node(
            Node { kind, types, site: Site::here(), depth: 0, args: Mutex::default(), data: smallvec![OnceLock::new()] },
            0,
        )
    }
    fn from_node(node: Node, index: usize) -> Tensor {
        Tensor { node: Arc::new(node), index }
    }
    /// From data on the host; the bytes are shared, not copied.
    pub fn from_host(data: HostTensor) -> Tensor {
        let shape = data.shape().iter().map(|&d| Sym::from(d as i64)).collect();
        let tensor = Tensor::leaf(Kind::Data, TensorType { dtype: data.dtype(), shape });
        tensor.node.fill(0, data);
        tensor
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
        Ok(Tensor::apply_many(op, args)?.swap_remove(0))
    }
    /// Records an op; its results in order.
    pub(crate) fn apply_many(op: Op, args: &[&Tensor]) -> Recorded<Vec<Tensor>> {
        for arg in args {
            arg.ok()?;
        }
        let types = infer(&op, args)?;
        let depth = args.iter().map(|a| if a.node.is_done() { 0 } else { a.node.depth }).max().unwrap_or(0) + 1;
        let data = types.iter().map(|_| OnceLock::new()).collect();
        let args = args.iter().map(|&a| a.clone()).collect();
        let count = types.len();
        let node =
            Arc::new(Node { kind: Kind::Op(Arc::new(op)), types, site: Site::here(), depth, args: Mutex::new(args), data });
        let results: Vec<Tensor> = (0..count).map(|index| Tensor { node: node.clone(), index }).collect();
        if depth > MAX_DEPTH && !trace::active() {
            flush::flush(&results[..1], None)?;
        }
        Ok(results)
    }

    /// Type of this result.
    pub(crate) fn ty(&self) -> &TensorType {
        &self.node.types[self.index]
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
}

impl Outcome for Tensor {
    fn poisoned(error: &Arc<Error>) -> Tensor {
        Tensor::poison(error.clone())
    }
}
impl Outcome for (Tensor, Tensor) {
    fn poisoned(error: &Arc<Error>) -> Self {
        (Tensor::poison(error.clone()), Tensor::poison(error.clone()))
    }
}
impl Outcome for (Tensor, Tensor, Tensor) {
    fn poisoned(error: &Arc<Error>) -> Self {
        (Tensor::poison(error.clone()), Tensor::poison(error.clone()), Tensor::poison(error.clone()))
    }
}
impl Outcome for Vec<Tensor> {
    fn poisoned(error: &Arc<Error>) -> Self {
        vec![Tensor::poison(error.clone())]
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
#[track_caller]
pub(crate) fn user_op<T: Outcome>(name: &'static str, body: impl FnOnce() -> Recorded<T>) -> T {
    let scope = site::enter(name);
    body().unwrap_or_else(|mistake| match mistake {
        Mistake::New(error) => T::poisoned(&Arc::new(error.context(scope.site().to_string()))),
        Mistake::Old(error) => T::poisoned(&error),
    })
}

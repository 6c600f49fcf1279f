//! What a lowering sees of its node: arguments by schema name, operands as graph nodes, and the result that is expected.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};
use graph::{Builder, NodeId, compose};
use scalar::{DType, Scalar, Shape, Sym, Var};

use crate::fx::{self, Arg, Id};
use crate::layout::Layout;

/// A value as a lowering reads it.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// A tensor.
    Tensor(NodeId),
    /// An integer.
    Int(Sym),
}

/// A number that the user gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Bool(bool),
    Int(i64),
    Sym(Sym),
    Float(f64),
}

impl From<Sym> for Number {
    fn from(s: Sym) -> Number {
        s.as_int().map_or(Number::Sym(s), Number::Int)
    }
}

/// Integers of the user that are values, not sizes: inputs of the graph, so that another value is no other program.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Symbols that are in no tensor's type.
    pub(crate) free: BTreeSet<Var>,
    /// The inputs made so far.
    pub(crate) inputs: Vec<(Sym, NodeId)>,
}

impl Values {
    /// The 0-d input of an expression over free symbols.
    fn input(&mut self, b: &mut Builder, s: &Sym) -> Result<Option<NodeId>> {
        if s.vars().iter().any(|v| !self.free.contains(v)) {
            return Ok(None);
        }
        if let Some((_, node)) = self.inputs.iter().find(|(have, _)| have == s) {
            return Ok(Some(*node));
        }
        let node = b.input(format!("integer_{}", self.inputs.len()), DType::I64, Shape::new(), false)?;
        self.inputs.push((s.clone(), node));
        Ok(Some(node))
    }
}

/// State of the lowering of one node.
pub(crate) struct Ctx<'a> {
    /// The graph that is built.
    pub(crate) b: &'a mut Builder,
    fx: &'a fx::Graph,
    node: &'a fx::Node,
    operands: &'a BTreeMap<Id, Operand>,
    values: &'a mut Values,
}

impl<'a> Ctx<'a> {
    pub(crate) fn new(
        b: &'a mut Builder,
        fx: &'a fx::Graph,
        node: &'a fx::Node,
        operands: &'a BTreeMap<Id, Operand>,
        values: &'a mut Values,
    ) -> Ctx<'a> {
        Ctx { b, fx, node, operands, values }
    }

    /// The op with its overload.
    pub(crate) fn target(&self) -> &'a str {
        &self.node.target
    }

    /// An error that says what of this node has no lowering; the node then runs in torch.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display) -> Error {
        Error::unsupported(format!("{}: {what}", self.node.target))
    }

    fn arg(&self, name: &str) -> Result<&'a Arg> {
        self.node.args.get(name).ok_or_else(|| self.unsupported(format!("no argument {name}")))
    }
    /// Whether the argument is there and not `None`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.node.args.get(name).is_some_and(|a| *a != Arg::None)
    }
    fn wrong(&self, name: &str, arg: &Arg, want: &str) -> Error {
        self.unsupported(format!("argument {name} is {arg:?}, not {want}"))
    }

    fn operand(&self, id: Id) -> Result<&'a Operand> {
        self.operands.get(&id).ok_or_else(|| self.unsupported("an operand is neither a plain tensor nor an integer"))
    }
    fn tensor_of(&self, name: &str, arg: &Arg) -> Result<NodeId> {
        match arg {
            Arg::Node(id) => match self.operand(*id)? {
                Operand::Tensor(node) => Ok(*node),
                _ => Err(self.wrong(name, arg, "a tensor")),
            },
            _ => Err(self.wrong(name, arg, "a tensor")),
        }
    }
    /// A tensor.
    pub(crate) fn tensor(&self, name: &str) -> Result<NodeId> {
        self.tensor_of(name, self.arg(name)?)
    }
    /// Layout of a tensor as torch has it, and its first element in its storage.
    pub(crate) fn layout(&self, name: &str) -> Result<(Layout, Sym)> {
        let arg = self.arg(name)?;
        let traced = if let Arg::Node(id) = arg { self.fx.nodes[*id].value.tensor() } else { None };
        let traced = traced.filter(|t| t.plain).ok_or_else(|| self.wrong(name, arg, "a plain tensor"))?;
        Ok((traced.layout()?, traced.start()?))
    }
    /// A tensor that may be absent.
    pub(crate) fn optional_tensor(&self, name: &str) -> Result<Option<NodeId>> {
        if self.has(name) { self.tensor(name).map(Some) } else { Ok(None) }
    }
    /// A list of tensors.
    pub(crate) fn tensors(&self, name: &str) -> Result<Vec<NodeId>> {
        self.list(name)?.iter().map(|a| self.tensor_of(name, a)).collect()
    }
    /// A list of tensors, some absent.
    pub(crate) fn optional_tensors(&self, name: &str) -> Result<Vec<Option<NodeId>>> {
        let one = |a: &Arg| if *a == Arg::None { Ok(None) } else { self.tensor_of(name, a).map(Some) };
        self.list(name)?.iter().map(one).collect()
    }
    fn list(&self, name: &str) -> Result<&'a [Arg]> {
        match self.arg(name)? {
            Arg::List(list) => Ok(list),
            other => Err(self.wrong(name, other, "a list")),
        }
    }

    fn sym_of(&self, name: &str, arg: &Arg) -> Result<Sym> {
        match arg {
            Arg::Int(n) => Ok(Sym::from(*n)),
            Arg::Bool(v) => Ok(Sym::from(i64::from(*v))),
            Arg::Node(id) => match self.operand(*id)? {
                Operand::Int(s) => Ok(s.clone()),
                _ => Err(self.wrong(name, arg, "an integer")),
            },
            _ => Err(self.wrong(name, arg, "an integer")),
        }
    }
    /// An integer, perhaps symbolic.
    pub(crate) fn sym(&self, name: &str) -> Result<Sym> {
        self.sym_of(name, self.arg(name)?)
    }
    /// An integer list, perhaps symbolic; a single integer is a list of one.
    pub(crate) fn syms(&self, name: &str) -> Result<Vec<Sym>> {
        match self.arg(name)? {
            Arg::List(list) => list.iter().map(|a| self.sym_of(name, a)).collect(),
            one => Ok(vec![self.sym_of(name, one)?]),
        }
    }
    /// A plain integer.
    pub(crate) fn int(&self, name: &str) -> Result<i64> {
        let s = self.sym(name)?;
        s.as_int().ok_or_else(|| self.unsupported(format!("argument {name} = {s} is symbolic")))
    }
    /// A plain integer list; a single integer is a list of one, `None` the empty list.
    pub(crate) fn ints(&self, name: &str) -> Result<Vec<i64>> {
        if !self.has(name) {
            return Ok(Vec::new());
        }
        let one = |s: &Sym| s.as_int().ok_or_else(|| self.unsupported(format!("argument {name} = {s} is symbolic")));
        self.syms(name)?.iter().map(one).collect()
    }
    /// A list with one integer per spatial axis; a single one stands for all, none for `default`.
    pub(crate) fn per_axis(&self, name: &str, spatial: usize, default: &[i64]) -> Result<Vec<i64>> {
        let given = self.ints(name)?;
        match given.len() {
            0 => Ok(default.to_vec()),
            1 => Ok(vec![given[0]; spatial]),
            n if n == spatial => Ok(given),
            n => Err(self.unsupported(format!("{n} entries of {name}"))),
        }
    }
    /// A flag; absent is false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        match self.node.args.get(name) {
            None | Some(Arg::None) => Ok(false),
            Some(Arg::Bool(v)) => Ok(*v),
            Some(Arg::Int(v)) => Ok(*v != 0),
            Some(other) => Err(self.wrong(name, other, "a bool")),
        }
    }
    /// A number as the user gave it.
    pub(crate) fn number(&self, name: &str) -> Result<Number> {
        match self.arg(name)? {
            Arg::Bool(v) => Ok(Number::Bool(*v)),
            Arg::Int(v) => Ok(Number::Int(*v)),
            Arg::Float(text) => Ok(Number::Float(float(text).ok_or_else(|| self.unsupported(format!("float {text:?}")))?)),
            arg => self.sym_of(name, arg).map(Number::from),
        }
    }
    /// A floating-point number; integers convert.
    pub(crate) fn float(&self, name: &str) -> Result<f64> {
        match self.number(name)? {
            Number::Bool(v) => Ok(f64::from(u8::from(v))),
            Number::Int(v) => Ok(v as f64),
            Number::Float(v) => Ok(v),
            Number::Sym(s) => Err(self.unsupported(format!("argument {name} = {s} is symbolic"))),
        }
    }
    /// Floats; absent is `None`.
    pub(crate) fn floats(&self, name: &str) -> Result<Option<Vec<f64>>> {
        if !self.has(name) {
            return Ok(None);
        }
        let one = |a: &Arg| match a {
            Arg::Float(text) => float(text).ok_or_else(|| self.wrong(name, a, "a float")),
            Arg::Int(v) => Ok(*v as f64),
            other => Err(self.wrong(name, other, "a float")),
        };
        self.list(name)?.iter().map(one).collect::<Result<_>>().map(Some)
    }
    /// A text; absent is `None`.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.node.args.get(name) {
            None | Some(Arg::None) => Ok(None),
            Some(Arg::Str(s)) => Ok(Some(s)),
            Some(other) => Err(self.wrong(name, other, "a text")),
        }
    }

    /// Type of the only result.
    pub(crate) fn result(&self) -> Result<&'a fx::Tensor> {
        self.node.value.tensor().ok_or_else(|| self.unsupported("it does not give one tensor"))
    }
    /// Types of the results of an op with several.
    pub(crate) fn results(&self) -> Vec<&'a fx::Tensor> {
        self.node.value.tensors()
    }
    /// Element type of the only result.
    pub(crate) fn dtype(&self) -> Result<DType> {
        self.dtype_of(self.result()?)
    }
    /// Element type of a result.
    pub(crate) fn dtype_of(&self, t: &fx::Tensor) -> Result<DType> {
        t.element_type().map_err(|e| self.unsupported(e.message()))
    }
    /// Extents of the only result.
    pub(crate) fn shape(&self) -> Result<Shape> {
        self.shape_of(self.result()?)
    }
    /// Extents of a result.
    pub(crate) fn shape_of(&self, t: &fx::Tensor) -> Result<Shape> {
        t.extents().map_err(|e| self.unsupported(e.message()))
    }

    /// Rank of a node.
    pub(crate) fn rank(&self, x: NodeId) -> usize {
        self.b.shape(x).len()
    }
    /// An axis counted from the end when negative; of a 0-d tensor, axis 0 and −1 name no axis (`None`).
    pub(crate) fn axis(&self, x: NodeId, axis: i64) -> Result<Option<usize>> {
        let rank = self.rank(x) as i64;
        if rank == 0 && (axis == 0 || axis == -1) {
            return Ok(None);
        }
        let at = if axis < 0 { axis + rank } else { axis };
        if (0..rank).contains(&at) { Ok(Some(at as usize)) } else { Err(self.unsupported(format!("axis {axis} of rank {rank}"))) }
    }
    /// Axes, ascending and once each; `None` or none given are all.
    pub(crate) fn axes(&self, x: NodeId, name: &str) -> Result<Vec<usize>> {
        let given = self.ints(name)?;
        if given.is_empty() {
            return Ok((0..self.rank(x)).collect());
        }
        let mut axes = given.into_iter().filter_map(|a| self.axis(x, a).transpose()).collect::<Result<Vec<_>>>()?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// The value in another dtype.
    pub(crate) fn cast(&mut self, x: NodeId, to: DType) -> Result<NodeId> {
        compose::cast(self.b, x, to)
    }
    /// A number in a dtype, converted as torch converts scalars: to f16 and bf16 by way of f32.
    pub(crate) fn scalar(&self, number: &Number, dtype: DType) -> Result<Scalar> {
        match number {
            Number::Bool(v) => Ok(Scalar::from_i64(dtype, i64::from(*v))),
            Number::Int(v) => Ok(Scalar::from_i64(dtype, *v)),
            Number::Float(v) if dtype.accumulator() == DType::F32 => Ok(Scalar::from_f64(dtype, f64::from(*v as f32))),
            Number::Float(v) => Ok(Scalar::from_f64(dtype, *v)),
            Number::Sym(s) => Err(self.unsupported(format!("the number {s} is symbolic"))),
        }
    }
    /// A number as a 0-d constant of a dtype.
    pub(crate) fn constant(&mut self, number: &Number, dtype: DType) -> Result<NodeId> {
        if let Number::Sym(s) = number {
            let value = match self.values.input(self.b, s)? {
                Some(input) => input,
                None => self.b.sym(s.clone())?,
            };
            return self.cast(value, dtype);
        }
        let value = self.scalar(number, dtype)?;
        self.b.constant(value)
    }
    /// `x` under another shape, in row-major order; no node when it has that shape.
    pub(crate) fn reshape(&mut self, x: NodeId, shape: &Shape) -> Result<NodeId> {
        compose::reshape_if(self.b, x, shape)
    }
    /// A view of `x` with the extents of `shape`.
    pub(crate) fn expand(&mut self, x: NodeId, shape: &Shape) -> Result<NodeId> {
        compose::broadcast_to(self.b, x, shape)
    }
}

/// Python's text of a float.
fn float(text: &str) -> Option<f64> {
    text.parse().ok()
}

//! Type inference: one function per op, shared by the builder, the parser and the verifier.
//!
//! A rule returns the type of a node, or a sentence fragment that says what is wrong. A relation between extents that is
//! neither proved nor refuted by the facts becomes a [`Need`]; the builder turns needs into guards, the verifier looks them up.

mod contract;
mod indexed;
mod region;
#[cfg(test)]
mod tests;
mod view;

use scalar::{Combiner, DType, Facts, ScalarOp, Shape, Sym};

use crate::{InputDecl, Op, TensorType, Type, call};

/// Highest rank of a tensor.
pub(crate) const MAX_RANK: usize = 16;

/// An equality between extents that has to hold at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// One side.
    pub(crate) left: Sym,
    /// Other side.
    pub(crate) right: Sym,
    /// What it is about, e.g. `shapes [n] and [m]`.
    pub(crate) what: String,
    /// Whether it states that two extents are the same, rather than a bound written as an equality.
    pub(crate) equality: bool,
}

/// Rule results: a value, or what is wrong.
pub(crate) type Inferred<T> = Result<T, String>;

/// What the rules may look at, and what they found to be needed.
pub(crate) struct Infer<'a> {
    facts: &'a Facts,
    inputs: &'a [InputDecl],
    /// Unproved relations of the rules run so far.
    pub(crate) needs: Vec<Need>,
}

impl<'a> Infer<'a> {
    /// Rules under the facts and input declarations of a graph.
    pub(crate) fn new(facts: &'a Facts, inputs: &'a [InputDecl]) -> Self {
        Infer { facts, inputs, needs: Vec::new() }
    }

    /// Type of a node with the given operand types.
    pub(crate) fn op(&mut self, op: &Op, args: &[&Type]) -> Inferred<Type> {
        if let Op::Result(i) = op {
            return result(*i, args);
        }
        let args = args.iter().map(|t| tensor(t)).collect::<Inferred<Vec<_>>>()?;
        let ty = self.tensor_op(op, &args)?;
        let parts = match &ty {
            Type::Tensor(t) => std::slice::from_ref(t),
            Type::Tuple(ts) => ts.as_slice(),
        };
        for t in parts {
            if t.shape.len() > MAX_RANK {
                return Err(format!("the result has rank {}; the highest is {MAX_RANK}", t.shape.len()));
            }
            t.shape.iter().try_for_each(representable)?;
        }
        Ok(ty)
    }

    fn tensor_op(&mut self, op: &Op, args: &[&TensorType]) -> Inferred<Type> {
        match op {
            Op::Input(slot) => arity(args, 0).and_then(|()| self.input(*slot)),
            Op::Const(c) => arity(args, 0).map(|()| one(c.dtype(), Shape::new())),
            Op::SymConst(s) => arity(args, 0).and(representable(s)).map(|()| one(DType::I64, Shape::new())),
            Op::Iota(len) => arity(args, 0).and_then(|()| self.iota(len)),
            Op::Map(op) => self.map(*op, args),
            Op::Reduce(c, axes) => self.reduce(*c, axes, args),
            Op::Scan(c, axis) => self.scan(*c, *axis, args),
            Op::View(v) => arity(args, 1).and_then(|()| self.view(v, args[0])).map(Type::Tensor),
            Op::Concat(axis) => self.concat(*axis, args),
            Op::Contract(spec) => arity(args, 2).and_then(|()| self.contract(spec, args[0], args[1])).map(Type::Tensor),
            Op::Gather(axes) => self.gather(axes, args).map(Type::Tensor),
            Op::Write(combine, at) => self.write(*combine, at, args).map(Type::Tensor),
            Op::Call(name, attrs) => (call::find(name)?.infer)(args, attrs).and_then(several),
            Op::Region(region) => self.region(region, args),
            Op::Result(_) => unreachable!("handled by the caller"),
            Op::Materialize => arity(args, 1).map(|()| Type::Tensor(args[0].clone())),
        }
    }

    fn input(&self, slot: u32) -> Inferred<Type> {
        let decl = self.inputs.get(slot as usize).ok_or_else(|| format!("there is no input slot {slot}"))?;
        Ok(Type::Tensor(decl.ty.clone()))
    }

    fn iota(&mut self, len: &Sym) -> Inferred<Type> {
        self.not_negative(len, "length")?;
        Ok(one(DType::I64, Shape::from_iter([len.clone()])))
    }

    fn map(&mut self, op: ScalarOp, args: &[&TensorType]) -> Inferred<Type> {
        let dtype = op.result(&args.iter().map(|t| t.dtype).collect::<Vec<_>>())?;
        for other in &args[1..] {
            self.same_shape(&args[0].shape, &other.shape)?;
        }
        Ok(one(dtype, args[0].shape.clone()))
    }

    fn combine(&mut self, c: Combiner, args: &[&TensorType]) -> Inferred<Vec<DType>> {
        let results = c.results(&args.iter().map(|t| t.dtype).collect::<Vec<_>>())?;
        for other in &args[1..] {
            self.same_shape(&args[0].shape, &other.shape)?;
        }
        Ok(results)
    }

    fn reduce(&mut self, c: Combiner, axes: &[usize], args: &[&TensorType]) -> Inferred<Type> {
        if !c.info().commutative {
            return Err(format!("{} is not commutative: it scans, and does not reduce", c.info().name));
        }
        let dtypes = self.combine(c, args)?;
        let shape = &args[0].shape;
        distinct_axes(axes, shape.len())?;
        if !axes.is_sorted() {
            return Err(format!("axes {axes:?} must be ascending"));
        }
        let left: Shape = shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, n)| n.clone()).collect();
        several(dtypes.into_iter().map(|dtype| TensorType { dtype, shape: left.clone() }).collect())
    }

    fn scan(&mut self, c: Combiner, axis: usize, args: &[&TensorType]) -> Inferred<Type> {
        let dtypes = self.combine(c, args)?;
        let shape = &args[0].shape;
        in_rank(axis, shape.len())?;
        several(dtypes.into_iter().map(|dtype| TensorType { dtype, shape: shape.clone() }).collect())
    }

    fn concat(&mut self, axis: usize, args: &[&TensorType]) -> Inferred<Type> {
        let Some((first, rest)) = args.split_first() else { return Err("needs at least one operand".into()) };
        in_rank(axis, first.shape.len())?;
        let mut shape = first.shape.clone();
        for t in rest {
            same_dtype(first, t)?;
            same_rank(&first.shape, &t.shape)?;
            for i in (0..shape.len()).filter(|&i| i != axis) {
                self.equal(&first.shape[i], &t.shape[i], || {
                    format!("axis {i} of shapes {} and {}", list(&first.shape), list(&t.shape))
                })?;
            }
            shape[axis] = &shape[axis] + &t.shape[axis];
        }
        Ok(one(first.dtype, shape))
    }

    /// Requires equal shapes.
    fn same_shape(&mut self, a: &Shape, b: &Shape) -> Inferred<()> {
        same_rank(a, b)?;
        for (x, y) in a.iter().zip(b) {
            self.equal(x, y, || format!("shapes {} and {}", list(a), list(b)))?;
        }
        Ok(())
    }

    /// Requires `a = b`.
    fn equal(&mut self, a: &Sym, b: &Sym, what: impl FnOnce() -> String) -> Inferred<()> {
        if a == b || self.facts.proves_eq(a, b) {
            return Ok(());
        }
        let what = what();
        representable(a).and(representable(b))?;
        if differ(self.facts, a, b) {
            return Err(format!("{what} differ: {a} is not {b}"));
        }
        self.needs.push(Need { left: a.clone(), right: b.clone(), what, equality: true });
        Ok(())
    }

    /// Requires `a ≥ b`, written as `max(a, b) = a` when it has to be checked at run time.
    fn at_least(&mut self, a: &Sym, b: &Sym, what: impl FnOnce() -> String) -> Inferred<()> {
        if self.facts.proves_ge(a, b) {
            return Ok(());
        }
        let what = what();
        representable(a).and(representable(b))?;
        if self.facts.proves_lt(a, b) {
            return Err(format!("{what}: {a} is less than {b}"));
        }
        self.needs.push(Need { left: Sym::max(a, b), right: a.clone(), what, equality: false });
        Ok(())
    }

    fn not_negative(&mut self, a: &Sym, what: &str) -> Inferred<()> {
        self.at_least(a, &Sym::from(0i64), || format!("{what} must not be negative"))
    }
}

fn representable(s: &Sym) -> Inferred<()> {
    if s.is_overflow() { Err("an extent is too large for 64 bits".into()) } else { Ok(()) }
}

/// Whether `a` and `b` are certainly different.
fn differ(facts: &Facts, a: &Sym, b: &Sym) -> bool {
    let difference = a - b;
    difference.as_int().is_some_and(|d| d != 0) || facts.proves_lt(a, b) || facts.proves_lt(b, a)
}

/// Whether two types are the same as far as the facts tell.
pub(crate) fn provably_same(facts: &Facts, a: &Type, b: &Type) -> bool {
    let same = |a: &TensorType, b: &TensorType| {
        let extent = |x: &Sym, y: &Sym| x == y || facts.proves_eq(x, y) || x.simplify(facts) == y.simplify(facts);
        a.dtype == b.dtype && a.shape.len() == b.shape.len() && a.shape.iter().zip(&b.shape).all(|(x, y)| extent(x, y))
    };
    match (a, b) {
        (Type::Tensor(a), Type::Tensor(b)) => same(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => false,
    }
}

fn result(i: u32, args: &[&Type]) -> Inferred<Type> {
    match args {
        [Type::Tuple(parts)] => {
            let part =
                parts.get(i as usize).ok_or_else(|| format!("the operand has {} results, there is no {i}", parts.len()))?;
            Ok(Type::Tensor(part.clone()))
        }
        [Type::Tensor(_)] => Err("the operand has a single result".into()),
        _ => Err(format!("takes 1 operand, got {}", args.len())),
    }
}

fn tensor(ty: &Type) -> Inferred<&TensorType> {
    match ty {
        Type::Tensor(t) => Ok(t),
        Type::Tuple(parts) => Err(format!("an operand has {} results; read one of them with result", parts.len())),
    }
}

fn one(dtype: DType, shape: Shape) -> Type {
    Type::Tensor(TensorType { dtype, shape })
}

/// One result is a tensor, several are a tuple.
fn several(mut parts: Vec<TensorType>) -> Inferred<Type> {
    match parts.len() {
        0 => Err("has no results".into()),
        1 => Ok(Type::Tensor(parts.remove(0))),
        _ => Ok(Type::Tuple(parts)),
    }
}

fn arity<T>(args: &[T], want: usize) -> Inferred<()> {
    if args.len() == want { Ok(()) } else { Err(format!("takes {want} operands, got {}", args.len())) }
}

fn same_dtype(a: &TensorType, b: &TensorType) -> Inferred<()> {
    if a.dtype == b.dtype { Ok(()) } else { Err(format!("dtypes {} and {} differ; cast one of them", a.dtype, b.dtype)) }
}

fn same_rank(a: &Shape, b: &Shape) -> Inferred<()> {
    if a.len() == b.len() { Ok(()) } else { Err(format!("shapes {} and {} differ in rank", list(a), list(b))) }
}

fn in_rank(axis: usize, rank: usize) -> Inferred<()> {
    if axis < rank { Ok(()) } else { Err(format!("axis {axis} is out of range for rank {rank}")) }
}

fn distinct_axes(axes: &[usize], rank: usize) -> Inferred<()> {
    for (i, &axis) in axes.iter().enumerate() {
        in_rank(axis, rank)?;
        if axes[..i].contains(&axis) {
            return Err(format!("axis {axis} is listed twice"));
        }
    }
    Ok(())
}

fn per_axis(len: usize, rank: usize, what: &str) -> Inferred<()> {
    if len == rank { Ok(()) } else { Err(format!("needs {what} for each of {rank} axes, got {len}")) }
}

fn positive(v: i64, what: &str) -> Inferred<()> {
    if v >= 1 { Ok(()) } else { Err(format!("{what} must be at least 1, got {v}")) }
}

/// `[n, 4]`.
pub(crate) fn list(shape: &[Sym]) -> String {
    let parts: Vec<String> = shape.iter().map(Sym::to_string).collect();
    format!("[{}]", parts.join(", "))
}

//! A group of nodes as one [`Comp`].
//!
//! First the outputs get positions over one domain (`place`), then every value is evaluated on demand at the
//! positions that its readers ask for. A value asked for at one position is computed once; reductions and contractions
//! must be asked for at positions over the same parallel axes.

use std::collections::{BTreeMap, BTreeSet};

use base::{Code, HashMap};
use graph::{ContractSpec, Graph, NodeId, Op, View};
use kernel::{Arg, Axis, AxisSet, Comp, Cond, Def, Store, Value, ValueId};
use scalar::{Combiner, DType, Facts, Scalar, ScalarOp, Sym, Var};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::index::{always, pull};

/// Compute nodes that one kernel computes, and the values that it must store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Members, ascending. Views, constants and iotas between them belong implicitly.
    pub members: BTreeSet<NodeId>,
    /// Values read outside, ascending.
    pub outputs: Vec<NodeId>,
}

/// Why a group cannot be one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Reason code.
    pub code: Code,
    /// The reason.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }
}

/// A group as a comp, with the graph value behind each argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Built {
    /// The computation.
    pub comp: Comp,
    /// Graph value of each argument.
    pub args: Vec<NodeId>,
}

/// Most distinct positions at which one member is evaluated.
const MAX_POSITIONS: usize = 4;

type Conds = Vec<Cond>;

pub(crate) struct Build<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) group: &'a Group,
    pub(crate) facts: Facts,
    pub(crate) comp: Comp,
    args: Vec<NodeId>,
    arg_of: HashMap<NodeId, usize>,
    memo: HashMap<(NodeId, Vec<Sym>, Conds), ValueId>,
    positions: HashMap<NodeId, usize>,
    /// Axes of the positions at which reductions, scans (their own axis aside) and contractions are evaluated.
    outer: BTreeSet<AxisSet>,
    /// Positions of nodes over the domain, as far as placing found them.
    pub(crate) places: BTreeMap<NodeId, Vec<Sym>>,
    interned: HashMap<Def, ValueId>,
    max_values: usize,
}

/// Whether the dimensions of an operand's position that a reduction keeps are `at`.
fn is_kept(operand: &[Sym], axes: &[usize], at: &[Sym]) -> bool {
    let kept = (0..operand.len()).filter(|d| !axes.contains(d)).map(|d| &operand[d]);
    kept.eq(at.iter())
}

/// Builds the comp of a group.
///
/// # Errors
/// A [`Refusal`] when the group cannot be one kernel.
pub fn build(graph: &Graph, users: &[Vec<NodeId>], group: &Group, max_values: usize) -> Result<Built, Refusal> {
    let mut b = Build::new(graph, group, max_values);
    let placed = crate::place::place(&mut b, users)?;
    for (&output, at) in group.outputs.iter().zip(&placed) {
        b.store(output, at)?;
    }
    let axes: Vec<AxisSet> = placed.iter().map(|at| b.free_of_all(at)).collect();
    crate::domain::classify(&mut b.comp, &b.outer, &axes)?;
    b.drop_unused_axes();
    Ok(Built { comp: b.comp, args: b.args })
}

impl<'a> Build<'a> {
    fn new(graph: &'a Graph, group: &'a Group, max_values: usize) -> Self {
        Build {
            graph,
            group,
            facts: graph.facts.clone(),
            comp: Comp::default(),
            args: Vec::new(),
            arg_of: HashMap::default(),
            memo: HashMap::default(),
            positions: HashMap::default(),
            outer: BTreeSet::new(),
            places: BTreeMap::new(),
            interned: HashMap::default(),
            max_values,
        }
    }

    /// An axis of the given extent: the first existing one that `used` lacks, else a new one. Extent 1 needs none.
    pub(crate) fn axis(&mut self, extent: &Sym, used: &mut AxisSet) -> Sym {
        if extent.is_one() {
            return Sym::from(0);
        }
        let found = (0..self.comp.axes.len()).find(|&a| !used.has(a) && self.comp.axes[a].extent == *extent);
        let axis = found.unwrap_or_else(|| {
            let var = Var::new(&format!("i{}", self.comp.axes.len()));
            self.facts.set_below(var, extent);
            self.comp.axes.push(Axis { var, extent: extent.clone(), inner: false });
            self.comp.axes.len() - 1
        });
        *used = used.union(AxisSet::one(axis));
        Sym::from(self.comp.axes[axis].var)
    }

    pub(crate) fn free_of_all(&self, exprs: &[Sym]) -> AxisSet {
        exprs.iter().fold(AxisSet::default(), |s, e| s.union(self.comp.free_of(e)))
    }

    fn value(&mut self, def: Def, dtype: DType) -> Result<ValueId, Refusal> {
        if let Some(&id) = self.interned.get(&def) {
            return Ok(id);
        }
        if self.comp.values.len() >= self.max_values || self.comp.axes.len() > AxisSet::MAX {
            return Err(Refusal::new(Code::F07, format!("more than {} values in one kernel", self.max_values)));
        }
        let id = self.comp.values.len() as ValueId;
        self.comp.values.push(Value { def: def.clone(), dtype, free: AxisSet::default() });
        let free = self.free_of_value(id, &def);
        self.comp.values[id as usize].free = free;
        self.interned.insert(def, id);
        Ok(id)
    }

    fn free_of_value(&self, id: ValueId, def: &Def) -> AxisSet {
        let operands = self.comp.operands(id).into_iter().fold(AxisSet::default(), |s, o| s.union(self.comp.value(o).free));
        let conds = |when: &[Cond]| when.iter().fold(AxisSet::default(), |s, c| s.union(self.comp.free_of(&c.expr)));
        match def {
            Def::Index(e) => self.comp.free_of(e),
            Def::Pred(when) => conds(when),
            Def::Check { when, .. } => operands.union(conds(when)),
            Def::Load { index, when, .. } => self.free_of_all(index).union(conds(when)),
            Def::Reduce { axes, .. } | Def::Contract { axes, .. } => operands.minus(*axes),
            Def::Scan { axis, .. } => operands.union(AxisSet::one(*axis)),
            Def::Const(_) | Def::Op(..) | Def::Component(..) => operands,
        }
    }

    fn arg(&mut self, node: NodeId, written: bool) -> usize {
        if let Some(&arg) = self.arg_of.get(&node) {
            return arg;
        }
        let ty = self.graph.tensor(node);
        let (name, frozen) = match self.graph.node(node).op {
            Op::Input(slot) => {
                let decl = &self.graph.inputs[slot as usize];
                (decl.name.clone(), decl.frozen)
            }
            _ => (format!("{node:?}"), false),
        };
        self.comp.args.push(Arg { name, dtype: ty.dtype, shape: ty.shape.clone(), written, frozen });
        self.args.push(node);
        self.arg_of.insert(node, self.args.len() - 1);
        self.args.len() - 1
    }

    /// The compute node behind a value: itself, or the operand of a `Result`.
    pub(crate) fn base(&self, node: NodeId) -> NodeId {
        match self.graph.node(node).op {
            Op::Result(_) => self.graph.node(node).args[0],
            _ => node,
        }
    }

    pub(crate) fn is_member(&self, node: NodeId) -> bool {
        self.group.members.contains(&self.base(node))
    }

    fn eval(&mut self, node: NodeId, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let key = (node, at.to_vec(), when.clone());
        if let Some(&value) = self.memo.get(&key) {
            return Ok(value);
        }
        let value = self.eval_new(node, at, when)?;
        self.memo.insert(key, value);
        Ok(value)
    }

    fn eval_new(&mut self, node: NodeId, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let n = self.graph.node(node);
        match &n.op {
            Op::Const(c) => return self.value(Def::Const(*c), c.dtype()),
            Op::SymConst(s) => return self.value(Def::Index(s.clone()), DType::I64),
            Op::Iota(_) => return self.value(Def::Index(at[0].clone()), DType::I64),
            Op::View(view) => return self.eval_view(node, view, at, when),
            _ if !self.is_member(node) => return self.load(node, at, when, None),
            Op::Result(i) => {
                let of = self.eval(n.args[0], at, when)?;
                return self.value(Def::Component(of, *i as usize), self.graph.dtype(node));
            }
            _ => {}
        }
        let seen = self.positions.entry(node).or_insert(0);
        *seen += 1;
        if *seen > MAX_POSITIONS {
            return Err(Refusal::new(Code::F15, format!("{node:?} would be evaluated at more than {MAX_POSITIONS} positions")));
        }
        self.eval_member(node, at, when)
    }

    fn eval_member(&mut self, node: NodeId, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let n = self.graph.node(node);
        match &n.op {
            Op::Map(op) => {
                let args = n.args.iter().map(|&a| self.eval(a, at, when)).collect::<Result<SmallVec<[ValueId; 3]>, _>>()?;
                self.value(Def::Op(*op, args), self.graph.dtype(node))
            }
            Op::Materialize => self.eval(n.args[0], at, when),
            Op::Reduce(combiner, axes) => self.eval_reduce(node, *combiner, axes, at, when),
            Op::Scan(combiner, axis) => self.eval_scan(node, *combiner, *axis, at, when),
            Op::Contract(spec) => self.eval_contract(node, spec, at, when),
            Op::Gather(axes) => self.eval_gather(node, axes, at, when),
            Op::Concat(axis) => self.eval_concat(node, *axis, at, when),
            other => Err(Refusal::new(Code::F14, format!("{other:?} has no fused form"))),
        }
    }

    fn eval_view(&mut self, node: NodeId, view: &View, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let x = self.graph.node(node).args[0];
        self.once_per_tap(view, x)?;
        let pulled = pull(view, self.graph.shape(x), self.graph.shape(node), at, &self.facts);
        let Some(fill) = pulled.fill.filter(|_| !pulled.when.is_empty()) else {
            return self.eval(x, &pulled.index, when);
        };
        let mut inside = when.clone();
        inside.extend(pulled.when.iter().filter(|c| !when.contains(c)).cloned());
        if let Some((source, index)) = self.plain_source(x, &pulled.index) {
            return self.load(source, &index, &inside, Some(fill));
        }
        let value = self.eval(x, &pulled.index, &inside)?;
        let valid = self.value(Def::Pred(pulled.when), DType::Bool)?;
        let fill = self.value(Def::Const(fill), fill.dtype())?;
        self.value(Def::Op(ScalarOp::Select, SmallVec::from_slice(&[valid, value, fill])), self.graph.dtype(node))
    }

    /// Refuses to compute an operand again for every tap of overlapping windows.
    fn once_per_tap(&self, view: &View, x: NodeId) -> Result<(), Refusal> {
        let View::Window { size, stride, .. } = view else { return Ok(()) };
        let apart = size.as_int().is_some_and(|taps| taps <= *stride);
        let mut value = x;
        while matches!(self.graph.node(value).op, Op::View(_)) {
            value = self.graph.node(value).args[0];
        }
        if apart || !self.is_member(value) {
            return Ok(());
        }
        Err(Refusal::new(Code::F08, format!("{value:?} would be computed again for each of {size} taps")))
    }

    /// The stored value that `node` reads at `at` through unconditional views only, and where.
    fn plain_source(&self, mut node: NodeId, at: &[Sym]) -> Option<(NodeId, Vec<Sym>)> {
        let mut at = at.to_vec();
        loop {
            match &self.graph.node(node).op {
                Op::View(view) => {
                    let x = self.graph.node(node).args[0];
                    let pulled = pull(view, self.graph.shape(x), self.graph.shape(node), &at, &self.facts);
                    if !pulled.when.is_empty() {
                        return None;
                    }
                    (node, at) = (x, pulled.index);
                }
                Op::Const(_) | Op::SymConst(_) | Op::Iota(_) => return None,
                _ if self.is_member(node) => return None,
                _ => return Some((node, at)),
            }
        }
    }

    fn load(&mut self, node: NodeId, at: &[Sym], when: &Conds, fill: Option<Scalar>) -> Result<ValueId, Refusal> {
        let dtype = self.graph.dtype(node);
        let arg = self.arg(node, false);
        let fill = fill.unwrap_or_else(|| Scalar::zero(dtype));
        self.value(Def::Load { arg, index: at.to_vec(), when: when.clone(), fill }, dtype)
    }

    /// Axes for the reduced dimensions of a member evaluated at `at`, and the operand position: where the operand was placed,
    /// if that fits.
    fn reduced(&mut self, operand: NodeId, axes: &[usize], at: &[Sym], outer: AxisSet) -> (Vec<Sym>, AxisSet) {
        if let Some(index) = self.places.get(&operand).filter(|p| is_kept(p, axes, at)) {
            let over = self.free_of_all(index).minus(self.free_of_all(at));
            let shape = self.graph.shape(operand);
            let long = || axes.iter().filter(|&&d| !shape[d].is_one());
            if long().all(|&d| index[d].as_var().is_some()) && over.iter().count() == long().count() && over.and(outer).is_empty()
            {
                return (index.clone(), over);
            }
        }
        let mut used = outer;
        let shape = self.graph.shape(operand).clone();
        let mut kept = at.iter();
        let index = (0..shape.len())
            .map(|d| if axes.contains(&d) { self.axis(&shape[d], &mut used) } else { kept.next().cloned().unwrap_or_default() })
            .collect();
        (index, used.minus(outer))
    }

    /// Operand position of a reduction at `at`.
    pub(crate) fn reduced_position(&mut self, operand: NodeId, axes: &[usize], at: &[Sym]) -> Vec<Sym> {
        let outer = self.free_of_all(at);
        self.reduced(operand, axes, at, outer).0
    }

    /// What a reduction at `at` is evaluated under: the conditions that its operands' positions may depend on, and all axes that
    /// these and `at` vary over, none of which it may run over itself.
    fn under(&self, at: &[Sym], when: &Conds) -> (Conds, AxisSet) {
        let own = self.free_of_all(at);
        let kept: Conds = when.iter().filter(|c| !self.comp.free_of(&c.expr).and(own).is_empty()).cloned().collect();
        let outer = kept.iter().fold(own, |set, c| set.union(self.comp.free_of(&c.expr)));
        (kept, outer)
    }

    fn eval_reduce(
        &mut self,
        node: NodeId,
        combiner: Combiner,
        axes: &[usize],
        at: &[Sym],
        when: &Conds,
    ) -> Result<ValueId, Refusal> {
        let args = self.graph.node(node).args.clone();
        let (when, outer) = self.under(at, when);
        let (index, reduced) = self.reduced(args[0], axes, at, outer);
        self.outer.insert(outer);
        let src = args.iter().map(|&a| self.eval(a, &index, &when)).collect::<Result<SmallVec<[ValueId; 3]>, _>>()?;
        let shape = self.graph.shape(args[0]);
        let extents: Vec<Sym> = axes.iter().map(|&d| shape[d].clone()).collect();
        let within: Vec<Sym> = axes.iter().map(|&d| index[d].clone()).collect();
        let position = self.position(combiner, crate::index::linearise(&extents, &within, &self.facts))?;
        let dtype = self.first_dtype(node);
        self.value(Def::Reduce { combiner, src, axes: reduced, index: position }, dtype)
    }

    /// Element index for combiners that keep one.
    fn position(&mut self, combiner: Combiner, index: Sym) -> Result<Option<ValueId>, Refusal> {
        let keeps = matches!(combiner, Combiner::ArgMax | Combiner::ArgMin);
        if keeps { self.value(Def::Index(index), DType::I64).map(Some) } else { Ok(None) }
    }

    /// Dtype of a node's first result.
    fn first_dtype(&self, node: NodeId) -> DType {
        match &self.graph.node(node).ty {
            graph::Type::Tensor(t) => t.dtype,
            graph::Type::Tuple(ts) => ts[0].dtype,
        }
    }

    fn eval_scan(&mut self, node: NodeId, combiner: Combiner, axis: usize, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let args = self.graph.node(node).args.clone();
        if self.graph.shape(args[0])[axis].is_one() {
            return self.eval_reduce(node, combiner, &[], at, when);
        }
        let Some(along) = at[axis].as_var().and_then(|v| self.comp.axis_of(v)) else {
            return Err(Refusal::new(Code::F03, "a scan must be read along its own axis"));
        };
        let (when, outer) = self.under(at, when);
        if when.iter().any(|c| self.comp.free_of(&c.expr).has(along)) {
            return Err(Refusal::new(Code::F03, "a part of a scan needs what comes before it"));
        }
        self.outer.insert(outer.minus(AxisSet::one(along)));
        let others = at.iter().enumerate().filter(|&(d, _)| d != axis).any(|(_, e)| self.comp.free_of(e).has(along));
        if others {
            return Err(Refusal::new(Code::F03, "a scan must be read along its own axis"));
        }
        let src = args.iter().map(|&a| self.eval(a, at, &when)).collect::<Result<SmallVec<[ValueId; 3]>, _>>()?;
        let position = self.position(combiner, at[axis].clone())?;
        let dtype = self.first_dtype(node);
        self.value(Def::Scan { combiner, src, axis: along, index: position }, dtype)
    }

    fn eval_contract(&mut self, node: NodeId, spec: &ContractSpec, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let args = self.graph.node(node).args.clone();
        let (when, outer) = self.under(at, when);
        self.outer.insert(outer);
        let mut used = outer;
        let mut place: Vec<(u8, Sym)> = spec.out.iter().copied().zip(at.iter().cloned()).collect();
        for (labels, operand) in [(&spec.a, args[0]), (&spec.b, args[1])] {
            for (d, &label) in labels.iter().enumerate() {
                if !place.iter().any(|(l, _)| *l == label) {
                    let extent = self.graph.shape(operand)[d].clone();
                    let axis = self.axis(&extent, &mut used);
                    place.push((label, axis));
                }
            }
        }
        let at_of = |labels: &[u8]| -> Vec<Sym> {
            labels.iter().map(|l| place.iter().find(|(p, _)| p == l).map_or_else(|| Sym::from(0), |(_, s)| s.clone())).collect()
        };
        let (at_a, at_b) = (at_of(&spec.a), at_of(&spec.b));
        let a = self.eval(args[0], &at_a, &when)?;
        let b = self.eval(args[1], &at_b, &when)?;
        self.value(Def::Contract { a, b, axes: used.minus(outer), acc: spec.acc }, self.graph.dtype(node))
    }

    fn eval_gather(&mut self, node: NodeId, axes: &[usize], at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let args = self.graph.node(node).args.clone();
        let x = args[0];
        let mut index = at.to_vec();
        for (k, &axis) in axes.iter().enumerate() {
            let value = self.eval(args[k + 1], at, when)?;
            let limit = self.graph.shape(x)[axis].clone();
            index[axis] = self.checked(node, value, &limit, axis, when)?;
        }
        self.eval(x, &index, when)
    }

    /// A variable for a value that must be an index below `limit`.
    fn checked(&mut self, node: NodeId, value: ValueId, limit: &Sym, axis: usize, when: &Conds) -> Result<Sym, Refusal> {
        if let Def::Index(e) = &self.comp.value(value).def {
            let e = e.clone();
            if always(&Cond { expr: e.clone(), extent: limit.clone() }, &self.facts) {
                return Ok(e);
            }
        }
        let origin = self.graph.origin(node);
        let message = format!("{} {}: index out of range for axis {axis}", origin.op, origin.source);
        let checked = self.value(Def::Check { value, limit: limit.clone(), when: when.clone(), message }, DType::I64)?;
        let var = Var::new(&format!("v{checked}"));
        self.comp.value_vars.insert(var, checked);
        self.facts.set_below(var, limit);
        Ok(Sym::from(var))
    }

    fn eval_concat(&mut self, node: NodeId, axis: usize, at: &[Sym], when: &Conds) -> Result<ValueId, Refusal> {
        let args = self.graph.node(node).args.clone();
        let mut parts = Vec::new();
        let mut offset = Sym::from(0);
        for &part in &args {
            let extent = self.graph.shape(part)[axis].clone();
            let mut index = at.to_vec();
            index[axis] = (at[axis].clone() - offset.clone()).simplify(&self.facts);
            let cond = Cond { expr: index[axis].clone(), extent: extent.clone() };
            offset = (offset + extent).simplify(&self.facts);
            if self.never(&cond) {
                continue;
            }
            parts.push((part, index, cond));
        }
        let mut result = None;
        for (part, index, cond) in parts.into_iter().rev() {
            if always(&cond, &self.facts) {
                return self.eval(part, &index, when);
            }
            let mut inside = when.clone();
            inside.push(cond.clone());
            let value = self.eval(part, &index, &inside)?;
            result = Some(match result {
                None => value,
                Some(rest) => {
                    let valid = self.value(Def::Pred(vec![cond]), DType::Bool)?;
                    self.value(Def::Op(ScalarOp::Select, SmallVec::from_slice(&[valid, value, rest])), self.graph.dtype(node))?
                }
            });
        }
        match result {
            Some(value) => Ok(value),
            None => {
                let zero = Scalar::zero(self.graph.dtype(node));
                self.value(Def::Const(zero), zero.dtype())
            }
        }
    }

    fn never(&self, cond: &Cond) -> bool {
        cond.extent.is_zero() || self.facts.proves_lt(&cond.expr, &Sym::from(0)) || self.facts.proves_ge(&cond.expr, &cond.extent)
    }

    fn store(&mut self, output: NodeId, at: &[Sym]) -> Result<(), Refusal> {
        let node = self.graph.node(output);
        if let Op::Write(combine, place) = &node.op
            && self.group.members.contains(&output)
        {
            return crate::place::store_write(self, output, *combine, place, at);
        }
        let value = self.eval(output, at, &Conds::new())?;
        let arg = self.arg(output, true);
        self.comp.args[arg].written = true;
        self.comp.stores.push(Store { arg, index: at.to_vec(), when: Vec::new(), value, combine: None, collides: false });
        Ok(())
    }

    /// Evaluates an operand without conditions (for stores).
    pub(crate) fn operand(&mut self, node: NodeId, at: &[Sym]) -> Result<ValueId, Refusal> {
        self.eval(node, at, &Conds::new())
    }

    /// A checked index for a write.
    pub(crate) fn write_index(&mut self, node: NodeId, value: ValueId, limit: &Sym, axis: usize) -> Result<Sym, Refusal> {
        self.checked(node, value, limit, axis, &Conds::new())
    }

    /// A value variable without a check, for values known to be in range.
    pub(crate) fn value_var(&mut self, value: ValueId, limit: &Sym) -> Sym {
        let var = Var::new(&format!("v{value}"));
        self.comp.value_vars.insert(var, value);
        self.facts.set_below(var, limit);
        Sym::from(var)
    }

    /// A new pointwise value.
    pub(crate) fn op(&mut self, op: ScalarOp, args: &[ValueId], dtype: DType) -> Result<ValueId, Refusal> {
        self.value(Def::Op(op, SmallVec::from_slice(args)), dtype)
    }

    /// A new integer value of an expression.
    pub(crate) fn index_value(&mut self, expr: Sym) -> Result<ValueId, Refusal> {
        self.value(Def::Index(expr), DType::I64)
    }

    /// The written argument of a node stored under another value's shape.
    pub(crate) fn written_arg(&mut self, node: NodeId) -> usize {
        let arg = self.arg(node, true);
        self.comp.args[arg].written = true;
        arg
    }

    /// Drops axes that placing tried and nothing varies over; a combining store counts its points, so there all stay. An axis
    /// without points stays where a part of something is written: nothing is.
    fn drop_unused_axes(&mut self) {
        if self.comp.stores.iter().any(|s| s.combine.is_some()) {
            return;
        }
        let mut used = AxisSet::default();
        for v in &self.comp.values {
            used = used.union(v.free);
            if let Def::Reduce { axes, .. } | Def::Contract { axes, .. } = &v.def {
                used = used.union(*axes);
            }
        }
        used = self.comp.stores.iter().fold(used, |set, s| set.union(self.free_of_all(&s.index)));
        if self.group.outputs.iter().any(|&v| matches!(self.graph.node(v).op, Op::Write(..))) {
            let empty = (0..self.comp.axes.len()).filter(|&a| self.comp.axes[a].extent.is_zero());
            used = used.union(empty.collect());
        }
        let number: Vec<usize> =
            (0..self.comp.axes.len()).scan(0, |n, a| Some(std::mem::replace(n, *n + usize::from(used.has(a))))).collect();
        let renumber = |set: &mut AxisSet| *set = set.iter().filter(|&a| used.has(a)).map(|a| number[a]).collect();
        for v in &mut self.comp.values {
            renumber(&mut v.free);
            match &mut v.def {
                Def::Reduce { axes, .. } | Def::Contract { axes, .. } => renumber(axes),
                Def::Scan { axis, .. } => *axis = number[*axis],
                _ => {}
            }
        }
        let mut a = 0;
        self.comp.axes.retain(|_| {
            a += 1;
            used.has(a - 1)
        });
    }
}

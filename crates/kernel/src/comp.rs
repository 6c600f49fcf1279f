//! The per-point computation of one kernel.

use std::collections::{BTreeMap, BTreeSet};

use scalar::{Combiner, DType, Scalar, ScalarOp, Shape, Sym, Var};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Index of a value in [`Comp::values`]; operands have smaller ids.
pub type ValueId = u32;

/// Set of axes of one [`Comp`], by bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AxisSet(pub u64);

impl AxisSet {
    /// Most axes of one comp.
    pub const MAX: usize = 64;

    /// The set of one axis.
    pub fn one(axis: usize) -> AxisSet {
        AxisSet(1 << axis)
    }
    /// Whether an axis is in the set.
    pub fn has(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
    /// Union.
    #[must_use]
    pub fn union(self, other: AxisSet) -> AxisSet {
        AxisSet(self.0 | other.0)
    }
    /// Intersection.
    #[must_use]
    pub fn and(self, other: AxisSet) -> AxisSet {
        AxisSet(self.0 & other.0)
    }
    /// Difference.
    #[must_use]
    pub fn minus(self, other: AxisSet) -> AxisSet {
        AxisSet(self.0 & !other.0)
    }
    /// Whether it has no axes.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Members, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::MAX).filter(move |&a| self.has(a))
    }
}

impl FromIterator<usize> for AxisSet {
    fn from_iter<T: IntoIterator<Item = usize>>(iter: T) -> Self {
        iter.into_iter().fold(AxisSet::default(), |s, a| s.union(AxisSet::one(a)))
    }
}

/// A domain axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Axis {
    /// Variable that index expressions use; runs over `0..extent`.
    pub var: Var,
    /// Extent.
    pub extent: Sym,
    /// Inner axes are reduced, scanned or iterated sequentially for each point of the parallel axes.
    pub inner: bool,
}

/// A condition `0 ≤ expr < extent`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cond {
    /// Tested expression over axes and value variables.
    pub expr: Sym,
    /// Exclusive upper limit.
    pub extent: Sym,
}

/// A buffer argument with the logical shape that index expressions address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arg {
    /// Name for text.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Logical shape; strides come with the buffer at launch.
    pub shape: Shape,
    /// The kernel writes it.
    pub written: bool,
    /// A weight.
    pub frozen: bool,
}

/// How a value is defined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Def {
    /// A constant.
    Const(Scalar),
    /// Integer value (i64) of an expression over axes, dimensions and value variables.
    Index(Sym),
    /// Whether all conditions hold.
    Pred(Vec<Cond>),
    /// Element of an argument, one index per axis of the argument; `fill` where a condition fails.
    Load {
        /// Argument.
        arg: usize,
        /// Index per axis.
        index: Vec<Sym>,
        /// Conditions; empty means always.
        when: Vec<Cond>,
        /// Value where a condition fails.
        fill: Scalar,
    },
    /// Pointwise op.
    Op(ScalarOp, SmallVec<[ValueId; 3]>),
    /// Reduction over inner axes; read components with [`Def::Component`] when the combiner has several.
    Reduce {
        /// Combiner.
        combiner: Combiner,
        /// Operands per element.
        src: SmallVec<[ValueId; 3]>,
        /// Reduced axes.
        axes: AxisSet,
        /// Index within the reduced space, row-major, for arg-reductions.
        index: Option<ValueId>,
    },
    /// Inclusive scan along one inner axis.
    Scan {
        /// Combiner.
        combiner: Combiner,
        /// Operands per element.
        src: SmallVec<[ValueId; 3]>,
        /// Scanned axis.
        axis: usize,
        /// Position along the axis, for arg-scans.
        index: Option<ValueId>,
    },
    /// `Σ a·b` over inner axes, accumulated in a dtype.
    Contract {
        /// First factor.
        a: ValueId,
        /// Second factor.
        b: ValueId,
        /// Contracted axes.
        axes: AxisSet,
        /// Accumulator.
        acc: DType,
    },
    /// One component of a multi-component reduction or scan.
    Component(ValueId, usize),
    /// An index that must lie in `0..limit` where the conditions hold; clamped, with an error recorded otherwise.
    Check {
        /// Tested value (i64).
        value: ValueId,
        /// Exclusive limit.
        limit: Sym,
        /// Conditions under which it is tested.
        when: Vec<Cond>,
        /// The error's message.
        message: String,
    },
}

/// Both sides of conditions.
fn conditions(when: &[Cond]) -> impl Iterator<Item = &Sym> {
    when.iter().flat_map(|c| [&c.expr, &c.extent])
}

impl Def {
    /// The expressions in it.
    fn expressions(&self) -> SmallVec<[&Sym; 4]> {
        match self {
            Def::Index(e) => SmallVec::from_slice(&[e]),
            Def::Pred(when) => conditions(when).collect(),
            Def::Load { index, when, .. } => index.iter().chain(conditions(when)).collect(),
            Def::Check { limit, when, .. } => std::iter::once(limit).chain(conditions(when)).collect(),
            _ => SmallVec::new(),
        }
    }
}

/// A value of the per-point computation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Value {
    /// Definition.
    pub def: Def,
    /// Element type. Multi-component definitions carry their first component's.
    pub dtype: DType,
    /// Axes over which it varies.
    pub free: AxisSet,
}

/// A write of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Store {
    /// Argument.
    pub arg: usize,
    /// Index per axis of the argument.
    pub index: Vec<Sym>,
    /// Conditions; empty means always.
    pub when: Vec<Cond>,
    /// Written value.
    pub value: ValueId,
    /// Combination with what is there; `None` overwrites.
    pub combine: Option<ScalarOp>,
    /// Several points may write one position: they run in order.
    pub collides: bool,
}

/// What one kernel phase computes for each point of its domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Comp {
    /// Domain axes: parallel ones first.
    pub axes: Vec<Axis>,
    /// Arguments, shared by all comps of a kernel.
    pub args: Vec<Arg>,
    /// Values in order.
    pub values: Vec<Value>,
    /// Variables that stand for values in index expressions.
    pub value_vars: BTreeMap<Var, ValueId>,
    /// Writes.
    pub stores: Vec<Store>,
}

impl Comp {
    /// The value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id as usize]
    }
    /// Axis number of a variable.
    pub fn axis_of(&self, var: Var) -> Option<usize> {
        self.axes.iter().position(|a| a.var == var)
    }
    /// Axes and value-variable dependences of an index expression.
    pub fn free_of(&self, expr: &Sym) -> AxisSet {
        expr.vars().into_iter().fold(AxisSet::default(), |set, v| match (self.axis_of(v), self.value_vars.get(&v)) {
            (Some(a), _) => set.union(AxisSet::one(a)),
            (None, Some(&value)) => set.union(self.value(value).free),
            (None, None) => set,
        })
    }
    /// Dimensions that it depends on: variables of its extents, shapes, positions and conditions, its own aside.
    pub fn dims(&self) -> BTreeSet<Var> {
        let shapes = self.axes.iter().map(|a| &a.extent).chain(self.args.iter().flat_map(|a| &a.shape));
        let stored = self.stores.iter().flat_map(|s| s.index.iter().chain(conditions(&s.when)));
        let values = self.values.iter().flat_map(|v| v.def.expressions());
        let used = shapes.chain(stored).chain(values).flat_map(Sym::vars);
        used.filter(|v| self.axis_of(*v).is_none() && !self.value_vars.contains_key(v)).collect()
    }
    /// Whether one buffer may serve as both arguments: every point reads `read` only where it writes `written`, so no point sees
    /// what another wrote, and only for what it writes there, so nothing reads after the write.
    pub fn may_overwrite(&self, read: usize, written: usize) -> bool {
        let mut stores = self.stores.iter().filter(|s| s.arg == written);
        let (Some(store), None) = (stores.next(), stores.next()) else { return false };
        let pointwise = |v: &Value| match &v.def {
            Def::Load { arg, index, .. } => *arg != read || *index == store.index,
            Def::Reduce { .. } | Def::Scan { .. } | Def::Contract { .. } => false,
            _ => true,
        };
        let same = self.args[read].shape == self.args[written].shape && self.args[read].dtype == self.args[written].dtype;
        let plain = store.combine.is_none() && !store.collides;
        same && plain && self.values.iter().all(pointwise) && self.reads_only_for(read, store.value)
    }

    /// Whether everything that uses an element of an argument is an operand, however far, of a value.
    fn reads_only_for(&self, arg: usize, value: ValueId) -> bool {
        let mut needed = vec![false; self.values.len()];
        needed[value as usize] = true;
        for (id, v) in self.values.iter().enumerate().rev().filter(|(id, _)| *id <= value as usize) {
            if let (true, Def::Op(_, args)) = (needed[id], &v.def) {
                args.iter().for_each(|&a| needed[a as usize] = true);
            }
        }
        let loads = |id: &ValueId| matches!(self.value(*id).def, Def::Load { arg: a, .. } if a == arg);
        let elsewhere = |(id, v): (usize, &Value)| match &v.def {
            Def::Op(_, args) => !needed[id] && args.iter().any(loads),
            Def::Check { value, .. } | Def::Component(value, _) => loads(value),
            _ => false,
        };
        let stored = self.stores.iter().any(|s| s.value != value && loads(&s.value));
        !stored && !self.value_vars.values().any(loads) && !self.values.iter().enumerate().any(elsewhere)
    }
    /// Axes that are not inner.
    pub fn parallel(&self) -> AxisSet {
        self.axes.iter().enumerate().filter(|(_, a)| !a.inner).map(|(i, _)| i).collect()
    }
    /// Axes that a reduction or contraction is over; empty for all else.
    pub fn reduced(&self, id: ValueId) -> AxisSet {
        match &self.value(id).def {
            Def::Reduce { axes, .. } | Def::Contract { axes, .. } => *axes,
            _ => AxisSet::default(),
        }
    }
    /// Whether a value is a reduction over parallel axes: its partial results per block of points are merged in a finish
    /// phase.
    pub fn is_cross(&self, id: ValueId) -> bool {
        !self.reduced(id).and(self.parallel()).is_empty()
    }
    /// For each value, the axes over which the reductions over parallel axes that it needs vary; `None` if it needs none.
    pub fn finish_domains(&self) -> Vec<Option<AxisSet>> {
        let mut domains: Vec<Option<AxisSet>> = vec![None; self.values.len()];
        for id in 0..self.values.len() as ValueId {
            let below = self.operands(id).iter().filter_map(|&o| domains[o as usize]).reduce(AxisSet::union);
            let own = self.is_cross(id).then(|| self.value(id).free);
            domains[id as usize] = below.into_iter().chain(own).reduce(AxisSet::union);
        }
        domains
    }
    /// Axes that a store's position or value varies over.
    pub fn store_axes(&self, store: &Store) -> AxisSet {
        store.index.iter().fold(self.value(store.value).free, |set, e| set.union(self.free_of(e)))
    }
    /// Values that a store depends on: the stored one and those in its position.
    pub fn store_operands(&self, store: &Store) -> SmallVec<[ValueId; 4]> {
        let exprs = store.index.iter().chain(store.when.iter().map(|c| &c.expr));
        let vars = exprs.flat_map(Sym::vars).filter_map(|v| self.value_vars.get(&v).copied());
        std::iter::once(store.value).chain(vars).collect()
    }
    /// Inner axes.
    pub fn inner(&self) -> AxisSet {
        self.axes.iter().enumerate().filter(|(_, a)| a.inner).map(|(i, _)| i).collect()
    }
    /// Operands of a value, index dependences included.
    pub fn operands(&self, id: ValueId) -> SmallVec<[ValueId; 4]> {
        let vars = |exprs: &mut dyn Iterator<Item = &Sym>| -> SmallVec<[ValueId; 4]> {
            exprs.flat_map(Sym::vars).filter_map(|v| self.value_vars.get(&v).copied()).collect()
        };
        match &self.value(id).def {
            Def::Const(_) => SmallVec::new(),
            Def::Index(e) => vars(&mut std::iter::once(e)),
            Def::Pred(conds) => vars(&mut conds.iter().map(|c| &c.expr)),
            Def::Load { index, when, .. } => vars(&mut index.iter().chain(when.iter().map(|c| &c.expr))),
            Def::Op(_, args) => args.iter().copied().collect(),
            Def::Reduce { src, index, .. } | Def::Scan { src, index, .. } => src.iter().copied().chain(*index).collect(),
            Def::Contract { a, b, .. } => SmallVec::from_slice(&[*a, *b]),
            Def::Component(v, _) => SmallVec::from_slice(&[*v]),
            Def::Check { value, when, .. } => {
                let mut all = vars(&mut when.iter().map(|c| &c.expr));
                all.push(*value);
                all
            }
        }
    }
}

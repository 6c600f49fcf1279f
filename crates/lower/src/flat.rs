//! A comp with every size bound.
//!
//! Indices are flattened with the arguments' strides. Then axes are merged where every expression sees them as one, and
//! split where expressions divide them, until accesses are affine (or cannot become so).

use std::collections::BTreeMap;

use base::Result;
use kernel::{AxisSet, Def, ValueId};
use scalar::{Combiner, DType, Scalar, ScalarOp, Var};
use smallvec::SmallVec;

use crate::lin::{Atom, Lin, Ranges, Reader};
use crate::{Layout, Request, parts, unsupported};

/// A condition `0 ≤ expr < extent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlatCond {
    pub(crate) expr: Lin,
    pub(crate) extent: i64,
}

#[derive(Clone, Debug)]
pub(crate) enum FlatDef {
    Const(Scalar),
    Index(Lin),
    Pred(Vec<FlatCond>),
    Load {
        arg: usize,
        index: Lin,
        when: Vec<FlatCond>,
        fill: Scalar,
    },
    Op(ScalarOp, SmallVec<[ValueId; 3]>),
    Reduce {
        combiner: Combiner,
        src: SmallVec<[ValueId; 3]>,
        axes: AxisSet,
        index: Option<ValueId>,
    },
    Scan {
        combiner: Combiner,
        src: SmallVec<[ValueId; 3]>,
        axis: usize,
        index: Option<ValueId>,
    },
    /// States of blocks, stored by an earlier phase, merged over inner axes: (argument, index) and dtype of each component.
    Merge {
        combiner: Combiner,
        states: SmallVec<[(usize, Lin); 3]>,
        dtypes: SmallVec<[DType; 3]>,
        axes: AxisSet,
    },
    Contract {
        a: ValueId,
        b: ValueId,
        axes: AxisSet,
        acc: DType,
    },
    Component(ValueId, usize),
    Check {
        value: ValueId,
        limit: i64,
        when: Vec<FlatCond>,
        message: String,
    },
}

impl FlatDef {
    /// Axes that a reduction, contraction or merge is over; empty for all else.
    pub(crate) fn reduced(&self) -> AxisSet {
        match self {
            FlatDef::Reduce { axes, .. } | FlatDef::Contract { axes, .. } | FlatDef::Merge { axes, .. } => *axes,
            _ => AxisSet::default(),
        }
    }
    /// Whether the value ends a stage.
    pub(crate) fn is_reduction(&self) -> bool {
        matches!(self, FlatDef::Reduce { .. } | FlatDef::Contract { .. } | FlatDef::Merge { .. })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FlatValue {
    pub(crate) def: FlatDef,
    pub(crate) dtype: DType,
    pub(crate) free: AxisSet,
}

#[derive(Clone, Debug)]
pub(crate) struct FlatStore {
    pub(crate) arg: usize,
    pub(crate) index: Lin,
    pub(crate) when: Vec<FlatCond>,
    pub(crate) value: ValueId,
    pub(crate) combine: Option<ScalarOp>,
    pub(crate) collides: bool,
}

/// What a stage must produce: accumulate a reduction, or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    Value(ValueId),
    Store(usize),
}

/// A comp over concrete loop axes. Axes of extent 1 may remain in sets; they have no terms.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pub(crate) extents: Vec<i64>,
    pub(crate) inner: AxisSet,
    /// Parallel axes that some reduction is over: they count even with one point.
    pub(crate) over: AxisSet,
    /// Axes outermost first; merged-away axes are absent.
    pub(crate) order: Vec<usize>,
    pub(crate) values: Vec<FlatValue>,
    pub(crate) stores: Vec<FlatStore>,
    pub(crate) frozen: Vec<bool>,
    /// Ends of loops over axes that several stages share, where they are not the extent.
    pub(crate) ends: BTreeMap<Root, SmallVec<[(usize, i64); 2]>>,
    limits: Vec<Option<i64>>,
}

impl Ranges for Flat {
    fn axis(&self, axis: usize) -> (i64, i64) {
        (0, self.extents[axis] - 1)
    }
    fn value(&self, value: ValueId) -> (i64, i64) {
        self.limits[value as usize].map_or((i64::MIN / 4, i64::MAX / 4), |n| (0, (n - 1).max(0)))
    }
}

/// Ranges of axes and values at some moment.
pub(crate) struct AxisRanges {
    extents: Vec<i64>,
    limits: Vec<Option<i64>>,
}

impl Ranges for AxisRanges {
    fn axis(&self, axis: usize) -> (i64, i64) {
        (0, self.extents[axis] - 1)
    }
    fn value(&self, value: ValueId) -> (i64, i64) {
        self.limits.get(value as usize).copied().flatten().map_or((i64::MIN / 4, i64::MAX / 4), |n| (0, (n - 1).max(0)))
    }
}

/// Binds sizes, cuts the domain into parts where that pays, and makes accesses affine where possible.
pub(crate) fn flatten(request: &Request<'_>) -> Result<Vec<Flat>> {
    let mut flat = bind(request)?;
    flat.scans_of_one();
    flat.reductions_of_nothing();
    let mut parts = parts::split(flat);
    parts.iter_mut().for_each(Flat::settle);
    Ok(parts)
}

fn bind(request: &Request<'_>) -> Result<Flat> {
    let comp = request.comp;
    let extents = comp.axes.iter().map(|a| a.extent.eval(request.dims)).collect::<Result<Vec<i64>>>()?;
    let limits = comp
        .values
        .iter()
        .map(|v| match &v.def {
            Def::Check { limit, .. } => limit.eval(request.dims).map(Some),
            _ => Ok(None),
        })
        .collect::<Result<Vec<_>>>()?;
    let ranges = AxisRanges { extents: extents.clone(), limits: limits.clone() };
    let reduced = (0..comp.values.len() as ValueId).map(|v| comp.reduced(v));
    let over = reduced.fold(AxisSet::default(), AxisSet::union).and(comp.parallel());
    let var = |v: Var| {
        if let Some(axis) = comp.axis_of(v) {
            return Some(if extents[axis] == 1 && !over.has(axis) { Lin::constant(0) } else { Lin::axis(axis) });
        }
        if let Some(&value) = comp.value_vars.get(&v) {
            return Some(Lin { base: 0, terms: vec![(Atom::Value(value), 1)] });
        }
        (request.dims)(v).map(Lin::constant)
    };
    let empty = comp
        .args
        .iter()
        .map(|a| a.shape.iter().map(|s| s.eval(request.dims)).collect::<Result<Vec<i64>>>().map(|s| s.contains(&0)))
        .collect::<Result<Vec<bool>>>()?;
    let mut reader = Reader { var: &var, ranges: &ranges };
    let mut b = Binder { reader: &mut reader, request, empty: &empty };
    let values = comp
        .values
        .iter()
        .map(|v| Ok(FlatValue { def: b.def(&v.def)?, dtype: v.dtype, free: v.free }))
        .collect::<Result<Vec<_>>>()?;
    let stores = comp
        .stores
        .iter()
        .filter(|s| !empty[s.arg])
        .map(|s| {
            let index = b.index(&s.index, &request.layouts[s.arg])?;
            let when = b.conds(&s.when)?;
            Ok(FlatStore { arg: s.arg, index, when, value: s.value, combine: s.combine, collides: s.collides })
        })
        .collect::<Result<Vec<_>>>()?;
    let inner = comp.inner();
    Ok(Flat {
        order: (0..extents.len()).filter(|&a| extents[a] != 1 || over.has(a)).collect(),
        inner,
        over,
        values,
        stores,
        frozen: comp.args.iter().map(|a| a.frozen).collect(),
        ends: BTreeMap::new(),
        limits,
        extents,
    })
}

struct Binder<'a, 'b> {
    reader: &'a mut Reader<'b>,
    request: &'a Request<'a>,
    /// Arguments without elements: no point of any domain can read or write them.
    empty: &'a [bool],
}

impl Binder<'_, '_> {
    fn conds(&mut self, conds: &[kernel::Cond]) -> Result<Vec<FlatCond>> {
        conds
            .iter()
            .map(|c| Ok(FlatCond { expr: self.reader.read(&c.expr)?, extent: c.extent.eval(self.request.dims)? }))
            .collect()
    }

    fn index(&mut self, index: &[scalar::Sym], layout: &Layout) -> Result<Lin> {
        let mut flat = Lin::constant(layout.offset);
        for (i, stride) in index.iter().zip(&layout.strides) {
            flat = flat.add(&self.reader.read(i)?.scale(*stride));
        }
        Ok(flat)
    }

    /// Whether points that are stored read at a position that data gives.
    fn looks_up(&self, index: &[scalar::Sym]) -> bool {
        let comp = self.request.comp;
        let by_value = |s: &scalar::Sym| s.vars().into_iter().any(|v| comp.value_vars.contains_key(&v));
        comp.stores.iter().any(|s| !self.empty[s.arg]) && index.iter().any(by_value)
    }

    fn def(&mut self, def: &Def) -> Result<FlatDef> {
        Ok(match def {
            Def::Const(c) => FlatDef::Const(*c),
            Def::Index(e) => FlatDef::Index(self.reader.read(e)?),
            Def::Pred(conds) => FlatDef::Pred(self.conds(conds)?),
            Def::Load { arg, index, .. } if self.empty[*arg] && self.looks_up(index) => {
                return Err(unsupported("elements looked up in a tensor that has none"));
            }
            Def::Load { arg, fill, .. } if self.empty[*arg] => FlatDef::Const(*fill),
            Def::Load { arg, index, when, fill } => FlatDef::Load {
                arg: *arg,
                index: self.index(index, &self.request.layouts[*arg])?,
                when: self.conds(when)?,
                fill: *fill,
            },
            Def::Op(op, args) => FlatDef::Op(*op, args.clone()),
            Def::Reduce { combiner, src, axes, index } => {
                FlatDef::Reduce { combiner: *combiner, src: src.clone(), axes: *axes, index: *index }
            }
            Def::Scan { combiner, src, axis, index } => {
                FlatDef::Scan { combiner: *combiner, src: src.clone(), axis: *axis, index: *index }
            }
            Def::Contract { a, b, axes, acc } => FlatDef::Contract { a: *a, b: *b, axes: *axes, acc: *acc },
            Def::Component(v, i) => FlatDef::Component(*v, *i),
            Def::Check { value, limit, when, message } => FlatDef::Check {
                value: *value,
                limit: limit.eval(self.request.dims)?,
                when: self.conds(when)?,
                message: message.clone(),
            },
        })
    }
}

impl Flat {
    pub(crate) fn value(&self, id: ValueId) -> &FlatValue {
        &self.values[id as usize]
    }

    /// Parallel axes of more than one point, and those that a reduction is over.
    pub(crate) fn parallel(&self) -> AxisSet {
        let counts = |a: usize| !self.inner.has(a) && (self.extents[a] != 1 || self.over.has(a));
        self.order.iter().copied().filter(|&a| counts(a)).collect()
    }

    /// Axes that a store's position or value varies over.
    pub(crate) fn store_axes(&self, store: &FlatStore) -> AxisSet {
        let operands = self.store_operands(store);
        operands.iter().fold(self.axes_of(&store.index), |set, &v| set.union(self.value(v).free))
    }

    /// Ranges as they are now.
    pub(crate) fn ranges(&self) -> AxisRanges {
        AxisRanges { extents: self.extents.clone(), limits: self.limits.clone() }
    }

    /// Which values some store, or one of these values, depends on.
    pub(crate) fn needed(&self, also: impl Iterator<Item = ValueId>) -> Vec<bool> {
        let mut needed = vec![false; self.values.len()];
        also.for_each(|v| needed[v as usize] = true);
        for s in &self.stores {
            self.store_operands(s).iter().for_each(|&v| needed[v as usize] = true);
        }
        for id in (0..needed.len()).rev() {
            if needed[id] {
                self.operands(id as ValueId).iter().for_each(|&o| needed[o as usize] = true);
            }
        }
        needed
    }

    /// Product of the extents of a set of axes.
    pub(crate) fn points(&self, set: AxisSet) -> i64 {
        set.iter().map(|a| self.extents[a]).product()
    }

    /// The set without axes that have one point.
    pub(crate) fn live(&self, set: AxisSet) -> AxisSet {
        set.iter().filter(|&a| self.extents[a] != 1).collect()
    }

    /// A scan along an axis of one point is a reduction over nothing.
    fn scans_of_one(&mut self) {
        for v in &mut self.values {
            if let FlatDef::Scan { combiner, src, axis, index } = &v.def
                && self.extents[*axis] == 1
            {
                v.def = FlatDef::Reduce { combiner: *combiner, src: src.clone(), axes: AxisSet::default(), index: *index };
            }
        }
    }

    /// A reduction over no points is its combiner's initial state in the operand's dtype.
    fn reductions_of_nothing(&mut self) {
        for id in 0..self.values.len() {
            let FlatDef::Reduce { combiner, src, axes, .. } = &self.values[id].def else { continue };
            if self.points(*axes) != 0 {
                continue;
            }
            let dtype = self.value(src[0]).dtype;
            let state = combiner.finish(dtype, &combiner.init(dtype));
            for other in id..self.values.len() {
                if let FlatDef::Component(of, k) = self.values[other].def
                    && of as usize == id
                {
                    self.values[other].def = FlatDef::Const(state[k]);
                }
            }
            self.values[id].def = FlatDef::Const(state[0]);
        }
    }

    pub(crate) fn for_each_lin(&self, f: &mut dyn FnMut(&Lin)) {
        for v in &self.values {
            match &v.def {
                FlatDef::Index(e) => f(e),
                FlatDef::Pred(c) | FlatDef::Check { when: c, .. } => c.iter().for_each(|c| f(&c.expr)),
                FlatDef::Load { index, when, .. } => {
                    f(index);
                    when.iter().for_each(|c| f(&c.expr));
                }
                _ => {}
            }
        }
        for s in &self.stores {
            f(&s.index);
            s.when.iter().for_each(|c| f(&c.expr));
        }
    }

    pub(crate) fn map_lins(&mut self, f: &dyn Fn(&Lin) -> Lin) {
        let conds = |when: &mut Vec<FlatCond>| when.iter_mut().for_each(|c| c.expr = f(&c.expr));
        for v in &mut self.values {
            match &mut v.def {
                FlatDef::Index(e) => *e = f(e),
                FlatDef::Pred(c) | FlatDef::Check { when: c, .. } => conds(c),
                FlatDef::Load { index, when, .. } => {
                    *index = f(index);
                    conds(when);
                }
                _ => {}
            }
        }
        for s in &mut self.stores {
            s.index = f(&s.index);
            conds(&mut s.when);
        }
    }

    /// Numbers arguments from `first`.
    pub(crate) fn move_arguments(&mut self, first: usize) {
        for v in &mut self.values {
            if let FlatDef::Load { arg, .. } = &mut v.def {
                *arg += first;
            }
        }
        self.stores.iter_mut().for_each(|s| s.arg += first);
    }

    pub(crate) fn for_each_set(&mut self, f: &dyn Fn(AxisSet) -> AxisSet) {
        self.inner = f(self.inner);
        self.over = f(self.over);
        for v in &mut self.values {
            v.free = f(v.free);
            match &mut v.def {
                FlatDef::Reduce { axes, .. } | FlatDef::Contract { axes, .. } | FlatDef::Merge { axes, .. } => *axes = f(*axes),
                _ => {}
            }
        }
    }

    /// Merges and splits axes until accesses are affine or cannot become so, and drops conditions that are known.
    pub(crate) fn settle(&mut self) {
        self.merge_all();
        let mut split = false;
        while self.split_one() {
            split = true;
        }
        if split {
            self.find_free();
        }
        self.merge_all();
        self.drop_known_conditions();
    }

    /// Replaces axes in every expression.
    pub(crate) fn substitute(&mut self, with: &dyn Fn(usize) -> Option<Lin>) {
        let fresh = self.ranges();
        self.map_lins(&|e| e.subst(with, &fresh));
    }

    /// Merges every pair of neighbouring axes that all expressions see as one.
    fn merge_all(&mut self) {
        let mut i = 0;
        while i + 1 < self.order.len() {
            let (p, q) = (self.order[i], self.order[i + 1]);
            if self.can_merge(p, q) {
                self.merge(p, q);
                i = i.saturating_sub(1);
            } else {
                i += 1;
            }
        }
    }

    fn can_merge(&self, p: usize, q: usize) -> bool {
        if self.extents[p] == 0 || self.extents[q] == 0 || self.inner.has(p) != self.inner.has(q) {
            return false;
        }
        let together = |set: AxisSet| set.has(p) == set.has(q);
        let sets_agree = self.values.iter().all(|v| match &v.def {
            FlatDef::Reduce { axes, .. } | FlatDef::Contract { axes, .. } | FlatDef::Merge { axes, .. } => {
                together(*axes) && together(v.free)
            }
            FlatDef::Scan { axis, .. } => *axis != p && *axis != q && together(v.free),
            _ => together(v.free),
        });
        let mut agree = sets_agree;
        let n = self.extents[q];
        self.for_each_lin(&mut |e| e.visit(&mut |lin| agree &= lin.coef(p) == lin.coef(q).saturating_mul(n)));
        agree
    }

    /// Makes `q` run over both axes.
    fn merge(&mut self, p: usize, q: usize) {
        self.extents[q] *= self.extents[p];
        self.extents[p] = 1;
        self.order.retain(|&a| a != p);
        self.substitute(&|a| (a == p).then(Lin::default));
        self.for_each_set(&|s| s.minus(AxisSet::one(p)));
    }

    /// Splits one axis that some expression divides; false when there is none.
    fn split_one(&mut self) -> bool {
        let mut found = None;
        self.for_each_lin(&mut |e| {
            e.visit_atoms(&mut |atom| {
                let (Atom::Div(x, d) | Atom::Mod(x, d)) = atom else { return };
                if let [(Atom::Axis(a), 1)] = x.terms[..]
                    && x.base == 0
                    && self.extents[a] > *d
                    && self.extents[a] % d == 0
                {
                    found = found.or(Some((a, *d)));
                }
            });
        });
        let scanned = |a: usize| self.values.iter().any(|v| matches!(&v.def, FlatDef::Scan { axis, .. } if *axis == a));
        let Some((a, d)) = found.filter(|&(a, _)| !scanned(a) && self.extents.len() < AxisSet::MAX) else { return false };
        let low = self.extents.len();
        self.extents.push(d);
        self.extents[a] /= d;
        let at = self.order.iter().position(|&x| x == a).unwrap_or(0);
        self.order.insert(at + 1, low);
        self.substitute(&|x| (x == a).then(|| Lin::axis(a).scale(d).add(&Lin::axis(low))));
        self.for_each_set(&|s| if s.has(a) { s.union(AxisSet::one(low)) } else { s });
        true
    }

    /// Finds anew which axes values vary over: of an axis that was split, an access may need one part only.
    fn find_free(&mut self) {
        for id in 0..self.values.len() {
            let of = |e: &Lin| self.axes_of(e);
            let all = |when: &[FlatCond]| when.iter().fold(AxisSet::default(), |s, c| s.union(of(&c.expr)));
            let below = self.operands(id as ValueId).iter().fold(AxisSet::default(), |s, &o| s.union(self.value(o).free));
            self.values[id].free = match &self.values[id].def {
                FlatDef::Index(e) => of(e),
                FlatDef::Pred(when) => all(when),
                FlatDef::Load { index, when, .. } => of(index).union(all(when)),
                FlatDef::Check { when, .. } => below.union(all(when)),
                FlatDef::Reduce { axes, .. } | FlatDef::Contract { axes, .. } => below.minus(*axes),
                FlatDef::Scan { axis, .. } => below.union(AxisSet::one(*axis)),
                FlatDef::Merge { .. } => self.values[id].free,
                FlatDef::Const(_) | FlatDef::Op(..) | FlatDef::Component(..) => below,
            };
        }
    }

    /// Drops conditions that always hold; loads that never happen become their fill.
    pub(crate) fn drop_known_conditions(&mut self) {
        let ranges = self.ranges();
        let verdict = |c: &FlatCond| {
            let (lo, hi) = c.expr.range(&ranges);
            if lo >= 0 && hi < c.extent {
                Some(true)
            } else if hi < 0 || lo >= c.extent {
                Some(false)
            } else {
                None
            }
        };
        for v in &mut self.values {
            let FlatDef::Load { when, fill, .. } = &mut v.def else {
                if let FlatDef::Pred(when) = &mut v.def {
                    if when.iter().any(|c| verdict(c) == Some(false)) {
                        v.def = FlatDef::Const(Scalar::bool(false));
                    } else {
                        when.retain(|c| verdict(c).is_none());
                        if when.is_empty() {
                            v.def = FlatDef::Const(Scalar::bool(true));
                        }
                    }
                }
                continue;
            };
            if when.iter().any(|c| verdict(c) == Some(false)) {
                v.def = FlatDef::Const(*fill);
            } else {
                when.retain(|c| verdict(c).is_none());
            }
        }
        for s in &mut self.stores {
            s.when.retain(|c| verdict(c) != Some(true));
        }
    }

    /// Operands of a value.
    pub(crate) fn operands(&self, id: ValueId) -> SmallVec<[ValueId; 4]> {
        let mut out = SmallVec::new();
        let from = |e: &Lin, out: &mut SmallVec<[ValueId; 4]>| {
            e.visit_atoms(&mut |a| {
                if let Atom::Value(v) = a {
                    out.push(*v);
                }
            });
        };
        match &self.value(id).def {
            FlatDef::Const(_) | FlatDef::Merge { .. } => {}
            FlatDef::Index(e) => from(e, &mut out),
            FlatDef::Pred(conds) => conds.iter().for_each(|c| from(&c.expr, &mut out)),
            FlatDef::Load { index, when, .. } => {
                from(index, &mut out);
                when.iter().for_each(|c| from(&c.expr, &mut out));
            }
            FlatDef::Op(_, args) => out.extend(args.iter().copied()),
            FlatDef::Reduce { src, index, .. } | FlatDef::Scan { src, index, .. } => {
                out.extend(src.iter().copied().chain(*index));
            }
            FlatDef::Contract { a, b, .. } => out.extend([*a, *b]),
            FlatDef::Component(v, _) => out.push(*v),
            FlatDef::Check { value, when, .. } => {
                out.push(*value);
                when.iter().for_each(|c| from(&c.expr, &mut out));
            }
        }
        out
    }

    /// Values that a store's position depends on.
    pub(crate) fn store_operands(&self, store: &FlatStore) -> SmallVec<[ValueId; 4]> {
        let mut out = SmallVec::from_slice(&[store.value]);
        for e in std::iter::once(&store.index).chain(store.when.iter().map(|c| &c.expr)) {
            e.visit_atoms(&mut |a| {
                if let Atom::Value(v) = a {
                    out.push(*v);
                }
            });
        }
        out
    }

    /// Axes of an expression, through values as well.
    pub(crate) fn axes_of(&self, e: &Lin) -> AxisSet {
        let mut set = AxisSet::default();
        e.visit_atoms(&mut |a| match a {
            Atom::Axis(x) => set = set.union(AxisSet::one(*x)),
            Atom::Value(v) => set = set.union(self.value(*v).free),
            _ => {}
        });
        set
    }

    /// An affine expression over axes, or why not.
    pub(crate) fn affine(&self, e: &Lin, axis_number: &dyn Fn(usize) -> Option<usize>) -> Result<program::Affine> {
        let mut out = program::Affine { base: e.base, coef: SmallVec::new() };
        for (atom, c) in &e.terms {
            let Atom::Axis(a) = atom else { return Err(unsupported("index is not affine")) };
            let Some(n) = axis_number(*a) else { continue };
            if out.coef.len() <= n {
                out.coef.resize(n + 1, 0);
            }
            out.coef[n] += c;
        }
        Ok(out)
    }
}

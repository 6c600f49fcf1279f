//! Domains in parts: where selections cut a parallel axis into ranges, each range becomes a domain of its own, in which
//! they are decided. So a concat reads each operand only where it lies, with accesses as simple as that operand's own.

use std::collections::BTreeSet;

use kernel::{AxisSet, ValueId};
use scalar::{Scalar, ScalarOp};
use smallvec::SmallVec;

use crate::flat::{Flat, FlatDef};
use crate::lin::{Atom, Lin};

/// Most parts of a domain.
const MOST_PARTS: usize = 8;
/// Points that a domain should have for each cut: the nest that it adds costs less than deciding selections at so many points.
const POINTS_OF_A_CUT: i64 = 8192;

/// The domain, or its parts in order.
pub(crate) fn split(flat: Flat) -> Vec<Flat> {
    let Some((axis, cuts)) = cuts(&flat) else { return vec![flat] };
    cuts.windows(2).map(|w| part(&flat, axis, w[0], w[1])).collect()
}

/// A parallel axis and the positions where selections cut it, both ends included.
fn cuts(flat: &Flat) -> Option<(usize, Vec<i64>)> {
    let whole =
        |v: &crate::flat::FlatValue| !matches!(v.def, FlatDef::Contract { .. } | FlatDef::Scan { .. } | FlatDef::Check { .. });
    let ordered = flat.stores.iter().any(|s| s.collides || s.combine.is_some());
    if ordered || !flat.over.is_empty() || !flat.values.iter().all(whole) {
        return None;
    }
    let points: i64 = (0..flat.extents.len()).map(|a| flat.extents[a]).product();
    let axes = flat.order.iter().copied().filter(|&a| !flat.inner.has(a));
    let mut found = axes.map(|a| (a, cuts_of(flat, a))).filter(|(_, cuts)| cuts.len() > 2);
    let fits = |(_, cuts): &(usize, Vec<i64>)| {
        let parts = cuts.len() - 1;
        parts <= MOST_PARTS && points / (parts as i64 - 1) >= POINTS_OF_A_CUT
    };
    found.find(fits)
}

/// Ends of the ranges of an axis that selections tell apart.
fn cuts_of(flat: &Flat, axis: usize) -> Vec<i64> {
    let extent = flat.extents[axis];
    let conditions = flat.values.iter().filter_map(|v| match &v.def {
        FlatDef::Op(ScalarOp::Select, args) => Some(args[0]),
        _ => None,
    });
    let mut cuts = BTreeSet::from([0, extent]);
    for condition in conditions {
        let FlatDef::Pred(conds) = &flat.value(condition).def else { continue };
        for c in conds {
            if c.expr.terms[..] == [(Atom::Axis(axis), 1)] {
                cuts.extend([-c.expr.base, c.extent - c.expr.base].into_iter().filter(|&x| 0 < x && x < extent));
            }
        }
    }
    cuts.into_iter().collect()
}

/// The points `from..to` of an axis.
fn part(flat: &Flat, axis: usize, from: i64, to: i64) -> Flat {
    let mut part = flat.clone();
    part.restrict(axis, from, to);
    part.drop_known_conditions();
    decide(&mut part);
    part
}

/// Replaces selections whose condition is known by what they select, and forgets what nothing needs any more.
fn decide(flat: &mut Flat) {
    let indexing: BTreeSet<ValueId> = {
        let mut set = BTreeSet::new();
        flat.for_each_lin(&mut |e| {
            e.visit_atoms(&mut |a| {
                if let Atom::Value(v) = a {
                    set.insert(*v);
                }
            });
        });
        set
    };
    let mut stands_for: Vec<ValueId> = (0..flat.values.len() as ValueId).collect();
    for id in 0..flat.values.len() {
        let known = |v: ValueId| stands_for[v as usize];
        let chosen = match &mut flat.values[id].def {
            FlatDef::Op(op, args) => {
                args.iter_mut().for_each(|a| *a = known(*a));
                (*op == ScalarOp::Select).then(|| args.clone())
            }
            FlatDef::Reduce { src, index, .. } => {
                src.iter_mut().chain(index).for_each(|a| *a = known(*a));
                None
            }
            FlatDef::Component(of, _) => {
                *of = known(*of);
                None
            }
            _ => None,
        };
        if let Some(chosen) = chosen.and_then(|args| selected(flat, &args))
            && !indexing.contains(&(id as ValueId))
        {
            stands_for[id] = chosen;
        }
    }
    flat.stores.iter_mut().for_each(|s| s.value = stands_for[s.value as usize]);
    flat.forget_unneeded();
}

fn selected(flat: &Flat, args: &SmallVec<[ValueId; 3]>) -> Option<ValueId> {
    match flat.value(args[0]).def {
        FlatDef::Const(c) => Some(args[if c.is_true() { 1 } else { 2 }]),
        _ => None,
    }
}

impl Flat {
    /// Keeps the points `from..to` of an axis, which then start at 0.
    fn restrict(&mut self, axis: usize, from: i64, to: i64) {
        self.extents[axis] = to - from;
        let moved = if to - from == 1 { Lin::constant(from) } else { Lin::axis(axis).add(&Lin::constant(from)) };
        self.order.retain(|&a| a != axis || to - from != 1);
        let ranges = self.ranges();
        self.map_lins(&|e| e.subst(&|a| (a == axis).then(|| moved.clone()), &ranges));
    }

    /// Makes values that no store depends on constants.
    fn forget_unneeded(&mut self) {
        let needed = self.needed(std::iter::empty());
        for (v, _) in self.values.iter_mut().zip(needed).filter(|(_, needed)| !needed) {
            (v.def, v.free) = (FlatDef::Const(Scalar::zero(v.dtype)), AxisSet::default());
        }
    }
}

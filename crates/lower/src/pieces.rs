//! A nest as several over parts of one axis.
//!
//! A concat that a kernel computes is a choice per point. Where the choice depends on one axis only, the axis is cut at the
//! part boundaries: each piece evaluates its own part, without conditions.

use std::collections::BTreeSet;

use kernel::AxisSet;
use scalar::ScalarOp;

use crate::flat::{Flat, FlatCond, FlatDef};
use crate::lin::{Atom, Lin};

/// Most pieces of a nest.
const MAX_PIECES: usize = 8;

/// The comp cut into pieces; itself where nothing is gained.
pub(crate) fn pieces(flat: Flat) -> Vec<Flat> {
    let best = flat.parallel().iter().map(|a| (cuts(&flat, a), a)).max_by_key(|(cuts, _)| cuts.len());
    let Some((cuts, axis)) = best.filter(|(cuts, _)| (1..MAX_PIECES).contains(&cuts.len())) else { return vec![flat] };
    let bounds: Vec<i64> = std::iter::once(0).chain(cuts).chain([flat.extents[axis]]).collect();
    bounds.windows(2).map(|w| piece(&flat, axis, w[0], w[1])).collect()
}

/// Where choices between computed values change along an axis.
fn cuts(flat: &Flat, axis: usize) -> BTreeSet<i64> {
    let extent = flat.extents[axis];
    let chosen = flat.values.iter().filter_map(|v| match &v.def {
        FlatDef::Op(ScalarOp::Select, args) => match &flat.value(args[0]).def {
            FlatDef::Pred(conds) if !matches!(flat.value(args[2]).def, FlatDef::Const(_)) => Some(conds),
            _ => None,
        },
        _ => None,
    });
    let along = |c: &FlatCond| match c.expr.terms[..] {
        [(Atom::Axis(a), 1)] if a == axis => Some([-c.expr.base, c.extent - c.expr.base]),
        _ => None,
    };
    chosen.flatten().filter_map(along).flatten().filter(|&at| at > 0 && at < extent).collect()
}

fn piece(flat: &Flat, axis: usize, from: i64, to: i64) -> Flat {
    let mut out = flat.clone();
    out.restrict(axis, from, to);
    for id in 0..out.values.len() {
        let FlatDef::Op(ScalarOp::Select, args) = &out.values[id].def else { continue };
        let FlatDef::Const(holds) = out.value(args[0]).def else { continue };
        let taken = out.value(if holds.is_true() { args[1] } else { args[2] });
        if !taken.def.is_reduction() && !matches!(taken.def, FlatDef::Scan { .. } | FlatDef::Component(..)) {
            out.values[id] = taken.clone();
        }
    }
    out
}

impl Flat {
    /// Keeps the points `from..to` of an axis.
    fn restrict(&mut self, axis: usize, from: i64, to: i64) {
        self.extents[axis] = to - from;
        let shifted = Lin::axis(axis).add(&Lin::constant(from));
        self.substitute(&|a| (a == axis).then(|| shifted.clone()));
        if to - from == 1 {
            self.substitute(&|a| (a == axis).then(Lin::default));
            self.order.retain(|&a| a != axis);
            self.for_each_set(&|s| s.minus(AxisSet::one(axis)));
        }
        self.settle();
    }
}

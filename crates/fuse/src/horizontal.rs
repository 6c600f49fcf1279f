//! Independent groups in one launch.
//!
//! Groups at the same depth of the plan do not depend on each other. Those that compute the same function of other data,
//! those that only give results of the graph (the steps of an optimizer), and those so small that launching them is most of
//! their time, share a kernel: no value lives longer for it, or none that matters.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use kernel::{Class, Comp, Def, Target, estimate};

use crate::choose::Chosen;
use crate::cost::class;
use crate::values::Values;

/// Groups whose work takes fewer launch times than this are small.
const SMALL: f64 = 2.0;

/// Sets of groups that share a kernel; every group is in one. `before` are the groups that must run before each; groups for
/// which `alone` holds share with none.
pub(crate) fn bundles(
    chosen: &[Chosen],
    before: &[BTreeSet<usize>],
    values: &Values,
    alone: &dyn Fn(usize) -> bool,
    target: &Target,
) -> Vec<Vec<usize>> {
    let depths = depths(before);
    let mut open: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    let mut out = Vec::new();
    for g in 0..chosen.len() {
        match kind(&chosen[g], values, target).filter(|_| !alone(g)) {
            Some(kind) => open.entry((depths[g], kind)).or_default().push(g),
            None => out.push(vec![g]),
        }
    }
    for groups in open.into_values() {
        let mut bundle: Vec<usize> = Vec::new();
        let mut args = 0;
        for g in groups {
            let own = chosen[g].built.as_ref().map_or(0, |b| b.args.len());
            if args + own > target.max_shared_args {
                out.push(std::mem::take(&mut bundle));
                args = 0;
            }
            bundle.push(g);
            args += own;
        }
        out.push(bundle);
    }
    out.sort_unstable();
    out
}

/// Longest chain of groups that must run before each.
fn depths(before: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut depths: Vec<Option<usize>> = vec![None; before.len()];
    for start in 0..before.len() {
        let mut stack = vec![start];
        while let Some(&g) = stack.last() {
            let waiting = before[g].iter().copied().find(|&p| depths[p].is_none());
            match waiting {
                Some(p) if depths[g].is_none() => stack.push(p),
                _ => {
                    depths[g] = Some(before[g].iter().filter_map(|&p| depths[p]).max().map_or(0, |d| d + 1));
                    stack.pop();
                }
            }
        }
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

/// What may share a kernel: a hash of the function, or 0 where the function does not matter; `None` stays alone.
fn kind(chosen: &Chosen, values: &Values, target: &Target) -> Option<u64> {
    let comp = &chosen.built.as_ref()?.comp;
    let contracts = comp.values.iter().any(|v| matches!(v.def, Def::Contract { .. }));
    let in_order = comp.stores.iter().any(|s| s.collides);
    let simple = matches!(class(comp), Class::Pointwise | Class::Row) && !contracts && !in_order;
    if !simple {
        return None;
    }
    let work = kernel::Summary { launches: 0.0, ..chosen.summary };
    let small = estimate(&work, target).time < SMALL * target.launch;
    let last = chosen.group.outputs.iter().all(|v| values.is_output[v.index()]);
    Some(if small || last { 0 } else { function(comp).max(1) })
}

/// Hash of what a comp computes, whatever its sizes and data.
fn function(comp: &Comp) -> u64 {
    let mut h = DefaultHasher::new();
    (comp.axes.len(), comp.stores.len()).hash(&mut h);
    for v in &comp.values {
        (std::mem::discriminant(&v.def), v.dtype, v.free).hash(&mut h);
        match &v.def {
            Def::Op(op, args) => (op, args).hash(&mut h),
            Def::Reduce { combiner, src, axes, .. } => (combiner, src, axes).hash(&mut h),
            Def::Const(c) => c.hash(&mut h),
            _ => {}
        }
    }
    h.finish()
}

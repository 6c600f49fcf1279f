//! Which axes of a comp are parallel.
//!
//! A reduction is evaluated at a position; the axes of that position are its rows. Reductions over the same rows run as
//! stages of one pass. One whose rows are fewer runs again for each row (masks without a head axis). One over the parallel
//! axes themselves leaves partial results per block, merged in a finish phase: sums down a matrix beside sums along it, or
//! a mean over rows. What depends on it must be pointwise over its own rows.

use std::collections::BTreeSet;

use base::Code;
use kernel::{AxisSet, Comp, Def, ValueId};

use crate::build::Refusal;

/// Marks the inner axes. `rows` are the axes of the positions at which reductions are evaluated, `placed` those of the
/// positions of the stored outputs.
///
/// # Errors
/// Reductions that do not fit one domain.
pub(crate) fn classify(comp: &mut Comp, rows: &BTreeSet<AxisSet>, placed: &[AxisSet]) -> Result<(), Refusal> {
    let all: AxisSet = (0..comp.axes.len()).collect();
    let common = placed.iter().fold(all, |s, o| s.and(*o));
    let Some(&first) = rows.first() else { return mark(comp, common, placed) };
    if rows.len() == 1 {
        return mark(comp, first, placed);
    }
    let mut fitting: Vec<(usize, AxisSet)> = Vec::new();
    let mut refusal = None;
    for &parallel in rows {
        match mark(comp, parallel, placed) {
            Ok(()) => fitting.push((strided_loads(comp), parallel)),
            Err(r) => refusal = Some(r),
        }
    }
    match fitting.into_iter().min() {
        Some((_, parallel)) => mark(comp, parallel, placed),
        None => Err(refusal.unwrap_or_else(|| Refusal::new(Code::F04, "reductions over different rows"))),
    }
}

/// Makes some axes parallel and all others inner, if every value fits.
fn mark(comp: &mut Comp, parallel: AxisSet, placed: &[AxisSet]) -> Result<(), Refusal> {
    for (a, axis) in comp.axes.iter_mut().enumerate() {
        axis.inner = !parallel.has(a);
    }
    let domains = comp.finish_domains();
    for id in 0..comp.values.len() as ValueId {
        fits(comp, id, parallel, &domains)?;
    }
    for (s, &at) in comp.stores.iter().zip(placed) {
        let whole = match domains[s.value as usize] {
            Some(domain) => s.combine.is_none() && !s.collides && at == domain,
            None => parallel.minus(at).is_empty(),
        };
        if !whole {
            return Err(Refusal::new(Code::F03, "an output does not iterate over all parallel axes"));
        }
    }
    Ok(())
}

fn fits(comp: &Comp, id: ValueId, parallel: AxisSet, domains: &[Option<AxisSet>]) -> Result<(), Refusal> {
    let value = comp.value(id);
    let late = comp.operands(id).iter().any(|&o| domains[o as usize].is_some());
    let reduces = match &value.def {
        Def::Reduce { .. } | Def::Contract { .. } => true,
        Def::Scan { axis, .. } if !value.free.minus(AxisSet::one(*axis)).minus(parallel).is_empty() || late => {
            return Err(Refusal::new(Code::F03, "a scan inside another loop"));
        }
        _ => false,
    };
    if reduces && late {
        return Err(Refusal::new(Code::F04, "a reduction of a result of the finish phase needs another pass"));
    }
    if let Some(domain) = domains[id as usize] {
        if !value.free.minus(domain).is_empty() {
            return Err(Refusal::new(Code::F04, "reductions over different parallel axes need a second pass"));
        }
        if comp.is_cross(id) && !parallel.minus(comp.reduced(id)).minus(value.free).is_empty() {
            return Err(Refusal::new(Code::F04, "a reduction over some of the parallel axes that lacks the others"));
        }
        let operands = comp.operands(id);
        let mut below = operands.iter().filter_map(|&o| domains[o as usize]);
        if below.any(|d| d != domain) {
            return Err(Refusal::new(Code::F04, "results over different axes meet after the pass"));
        }
        return Ok(());
    }
    if reduces && !value.free.minus(parallel).is_empty() {
        return Err(Refusal::new(Code::F03, "a reduction inside another loop"));
    }
    Ok(())
}

/// Loads whose last dimension runs along a parallel axis.
fn strided_loads(comp: &Comp) -> usize {
    let parallel = comp.parallel();
    let strided = |def: &Def| match def {
        Def::Load { index, .. } => index.last().is_some_and(|e| !comp.free_of(e).and(parallel).is_empty()),
        _ => false,
    };
    comp.values.iter().filter(|v| strided(&v.def)).count()
}

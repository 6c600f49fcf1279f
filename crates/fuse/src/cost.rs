//! What a built group costs, and whether one kernel can run it.

use std::collections::{BTreeMap, BTreeSet};

use base::{Code, Numerics};
use kernel::{AxisSet, Class, Comp, Def, Epilogues, Products, Store, Summary, Target, ValueId, blocks, epilogue, op_cost};
use scalar::{DType, ScalarOp};

use crate::build::Refusal;
use crate::sizes::Sizes;

/// Bytes of a line of the cache.
const LINE: f64 = 64.0;
/// Products of one kernel.
const MAX_PRODUCTS: usize = 4;

/// Whether a contraction has both row and column axes of its own.
pub(crate) fn is_matrix_product(comp: &Comp, v: ValueId) -> bool {
    let Def::Contract { a, b, axes, .. } = &comp.value(v).def else { return false };
    let (fa, fb) = (comp.value(*a).free, comp.value(*b).free);
    !fa.minus(fb).minus(*axes).is_empty() && !fb.minus(fa).minus(*axes).is_empty() && !axes.is_empty()
}

/// Axes that a contraction of stored arrays slides over, as a convolution does: those of positions that vary over contracted axes and
/// others.
fn spatial(comp: &Comp, v: ValueId) -> AxisSet {
    let Def::Contract { a, b, axes, .. } = comp.value(v).def else { return AxisSet::default() };
    let slides = |set: &AxisSet| !set.and(axes).is_empty() && !set.minus(axes).is_empty();
    let positions = [a, b].into_iter().filter_map(|f| match &comp.value(f).def {
        Def::Load { index, .. } => Some(index.iter().map(|e| comp.free_of(e))),
        _ => None,
    });
    positions.flatten().filter(slides).fold(AxisSet::default(), AxisSet::union)
}

/// Whether all arrays of a convolution have their channels last, or none has, as the library wants it.
fn has_one_layout(comp: &Comp, v: ValueId) -> bool {
    let Def::Contract { a, b, .. } = comp.value(v).def else { return true };
    let loads = [a, b].into_iter().filter_map(|f| match &comp.value(f).def {
        Def::Load { index, .. } => Some(index.last()),
        _ => None,
    });
    let (spatial, lasts) = (spatial(comp, v), loads.chain(comp.stores.iter().map(|s| s.index.last())));
    let mut is_last = lasts.map(|e| e.is_some_and(|e| comp.free_of(e).and(spatial).is_empty()));
    let first = is_last.next();
    is_last.all(|other| Some(other) == first)
}

/// Whether a comp is one convolution and what the library can do to it before it stores it: in 16 bits, with channels last.
fn is_followed_convolution(comp: &Comp, numerics: Numerics) -> bool {
    let (Some(found), [store]) = (epilogue(comp, Epilogues::CUDNN, numerics), &comp.stores[..]) else { return false };
    let last = store.index.last().map_or(AxisSet::default(), |e| comp.free_of(e));
    let is_last = !last.is_empty() && last.and(spatial(comp, found.product)).is_empty();
    is_last && matches!(comp.args[store.arg].dtype, DType::F16 | DType::BF16)
}

/// Class of a comp.
pub fn class(comp: &Comp) -> Class {
    let has = |f: &dyn Fn(ValueId) -> bool| (0..comp.values.len() as ValueId).any(f);
    if has(&|v| is_matrix_product(comp, v)) {
        Class::Contraction
    } else if has(&|v| matches!(comp.value(v).def, Def::Scan { .. })) {
        Class::Scan
    } else if comp.stores.iter().any(|s| s.collides) {
        Class::Scatter
    } else if has(&|v| comp.is_cross(v)) {
        Class::Mixed
    } else if !comp.inner().is_empty() {
        Class::Row
    } else {
        Class::Pointwise
    }
}

/// Checks what the kernel classes can hold.
///
/// # Errors
/// The refusal, with its code.
pub(crate) fn legal(comp: &Comp, target: &Target, numerics: Numerics) -> Result<(), Refusal> {
    if comp.args.len() > target.max_args {
        return Err(Refusal::new(Code::F07, format!("{} arguments, limit {}", comp.args.len(), target.max_args)));
    }
    for (i, arg) in comp.args.iter().enumerate() {
        let loaded = comp.values.iter().any(|v| matches!(&v.def, Def::Load { arg: a, .. } if *a == i));
        if arg.written && loaded {
            return Err(Refusal::new(Code::F12, format!("reads {} while writing it", arg.name)));
        }
    }
    let convolution = (0..comp.values.len() as ValueId).find(|&v| !spatial(comp, v).is_empty());
    if let Some(v) = convolution.filter(|_| target.products != Products::Generated)
        && (!has_one_layout(comp, v) || (comp.values.iter().any(computes) && !is_followed_convolution(comp, numerics)))
    {
        return Err(Refusal::new(Code::F13, "the library reads and writes stored arrays"));
    }
    match class(comp) {
        Class::Contraction => legal_contraction(comp, target, numerics),
        Class::Mixed => legal_mixed(comp),
        _ => legal_row(comp),
    }
}

/// Whether a value is made of others at each point.
fn computes(v: &kernel::Value) -> bool {
    matches!(v.def, Def::Op(..) | Def::Check { .. })
}

fn legal_contraction(comp: &Comp, target: &Target, numerics: Numerics) -> Result<(), Refusal> {
    let library = match target.products {
        Products::Library(epilogues) => Some(epilogue(comp, epilogues, numerics)),
        Products::Generated => None,
    };
    if library == Some(None) && comp.values.iter().any(computes) {
        return Err(Refusal::new(Code::F13, "the library reads and writes stored matrices"));
    }
    let contracts: Vec<ValueId> =
        (0..comp.values.len() as ValueId).filter(|&v| matches!(comp.value(v).def, Def::Contract { .. })).collect();
    let axes = contracts.iter().map(|&v| match &comp.value(v).def {
        Def::Contract { axes, .. } => *axes,
        _ => AxisSet::default(),
    });
    let axes: Vec<AxisSet> = axes.collect();
    let sums = library.flatten().is_some_and(|e| e.sums.is_some());
    if !sums && comp.values.iter().any(|v| matches!(v.def, Def::Reduce { .. } | Def::Scan { .. })) {
        return Err(Refusal::new(Code::F13, "a reduction cannot share the tiles of a matrix product"));
    }
    let most = if target.products == Products::Generated { MAX_PRODUCTS } else { 1 };
    if contracts.len() > most || !contracts.iter().all(|&v| is_matrix_product(comp, v)) {
        return Err(Refusal::new(Code::F07, format!("{} products in one kernel", contracts.len())));
    }
    if axes.iter().any(|&a| a != axes[0]) || comp.inner() != axes[0] {
        return Err(Refusal::new(Code::F03, "products over different contracted axes"));
    }
    let stores_vary = comp.stores.iter().any(|s| !comp.store_axes(s).and(comp.inner()).is_empty());
    if stores_vary {
        return Err(Refusal::new(Code::F03, "a reader of the product iterates over more than its tiles"));
    }
    let classes = |v: ValueId| match &comp.value(v).def {
        Def::Contract { a, b, .. } => (comp.value(*a).free, comp.value(*b).free),
        _ => Default::default(),
    };
    if contracts.iter().any(|&v| classes(v) != classes(contracts[0])) {
        return Err(Refusal::new(Code::F03, "products over different rows or columns"));
    }
    let chained = contracts.iter().any(|&v| comp.operands(v).iter().any(|&o| depends_on_contract(comp, o)));
    if chained {
        return Err(Refusal::new(Code::F13, "a product of a product needs its whole row first"));
    }
    Ok(())
}

fn depends_on_contract(comp: &Comp, v: ValueId) -> bool {
    let mut seen = vec![false; comp.values.len()];
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut seen[v as usize], true) {
            continue;
        }
        if matches!(comp.value(v).def, Def::Contract { .. }) {
            return true;
        }
        stack.extend(comp.operands(v));
    }
    false
}

/// Reductions over parallel axes must be over the same ones, beside plain loads and stores.
fn legal_mixed(comp: &Comp) -> Result<(), Refusal> {
    let crosses = (0..comp.values.len() as ValueId).filter(|&v| comp.is_cross(v));
    let over: BTreeSet<AxisSet> = crosses.map(|v| comp.reduced(v).and(comp.parallel())).collect();
    if over.len() > 1 {
        return Err(Refusal::new(Code::F04, "reductions over different parallel axes need a second pass"));
    }
    if comp.values.iter().any(|v| matches!(v.def, Def::Scan { .. })) || comp.stores.iter().any(|s| s.combine.is_some()) {
        return Err(Refusal::new(Code::F04, "a scan or a combining write beside a reduction over its rows"));
    }
    legal_row(comp)
}

/// Inner loops of the stages must nest (each stage's inner axes contain or are contained in the next one's) or have no axis
/// in common.
fn legal_row(comp: &Comp) -> Result<(), Refusal> {
    let inner = comp.inner();
    let mut sets: Vec<AxisSet> = Vec::new();
    for v in &comp.values {
        match &v.def {
            Def::Reduce { axes, src, .. } => {
                let src = src.iter().fold(*axes, |s, &v| s.union(comp.value(v).free));
                sets.push(src.and(inner));
            }
            Def::Contract { axes, .. } => sets.push(axes.and(inner)),
            Def::Scan { axis, .. } if inner != AxisSet::one(*axis) => {
                return Err(Refusal::new(Code::F03, "a scan inside another loop"));
            }
            _ => {}
        }
    }
    let domains = comp.finish_domains();
    let in_pass = comp.stores.iter().filter(|s| domains[s.value as usize].is_none());
    sets.extend(in_pass.map(|s| comp.store_axes(s).and(inner)));
    sets.retain(|s| !s.is_empty());
    let nested = |a: AxisSet, b: AxisSet| a.minus(b).is_empty() || b.minus(a).is_empty() || a.and(b).is_empty();
    if sets.iter().any(|&a| sets.iter().any(|&b| !nested(a, b))) {
        return Err(Refusal::new(Code::F03, "inner loops over different axes"));
    }
    Ok(())
}

/// Sums up a comp in representative sizes.
pub fn summarise(comp: &Comp, sizes: &Sizes, target: &Target) -> Summary {
    let points = |set: AxisSet| set.iter().map(|a| sizes.eval(&comp.axes[a].extent)).product::<f64>();
    let mut s = Summary { launches: 1.0, ..Summary::default() };
    let mut read = vec![0.0; comp.args.len()];
    let shares = shares(comp, sizes);
    for (id, v) in comp.values.iter().enumerate() {
        match &v.def {
            Def::Load { arg, .. } => read[*arg] += points(v.free) * shares[id],
            Def::Op(op, _) => s.ops += op_cost(*op) * points(v.free) * shares[id],
            Def::Reduce { src, axes, .. } => {
                let over = src.iter().fold(*axes, |set, &x| set.union(comp.value(x).free));
                s.ops += points(over) * src.len() as f64;
            }
            Def::Scan { .. } => s.ops += 4.0 * points(v.free),
            Def::Contract { a, b, axes, .. } => {
                let work = 2.0 * points(v.free.union(*axes));
                if is_matrix_product(comp, id as ValueId) {
                    s.contract_flops += work;
                    for operand in [*a, *b] {
                        s.packed += pack_bytes(comp, operand) * points(comp.value(operand).free);
                    }
                } else {
                    s.ops += work;
                }
            }
            Def::Check { .. } => s.ops += 2.0 * points(v.free),
            Def::Const(_) | Def::Index(_) | Def::Pred(_) | Def::Component(..) => {}
        }
    }
    for (arg, points) in comp.args.iter().zip(read) {
        s.read += points.min(sizes.elements(&arg.shape)) * arg.dtype.size() as f64;
    }
    s.read += read_again(comp, sizes, target);
    for store in &comp.stores {
        let at = comp.store_axes(store);
        s.written += points(at) * comp.args[store.arg].dtype.size() as f64;
    }
    s.written += across(comp).map(|store| points(comp.store_axes(store)) * LINE).sum::<f64>();
    let parallel = comp.parallel();
    add_partials(comp, sizes, &mut s);
    let serial = comp.stores.iter().any(|s| s.collides);
    let workers = if serial { 1.0 } else { points(parallel).clamp(1.0, target.cores as f64) };
    s.ops *= target.cores as f64 / workers;
    s
}

/// Stores that write one element of a line at a time: their loops run across their last axis, because those of other stores run
/// along it.
fn across(comp: &Comp) -> impl Iterator<Item = &Store> {
    let inner = comp.inner();
    let last = move |store: &Store| store.index.last().map_or(AxisSet::default(), |e| comp.free_of(e));
    let is_looped = move |store: &&Store| !comp.store_axes(store).and(inner).is_empty() && !last(store).is_empty();
    let is_along = move |store: &&Store| !last(store).and(inner).is_empty();
    let some_along = comp.stores.iter().filter(is_looped).any(|s| is_along(&s));
    comp.stores.iter().filter(is_looped).filter(move |s| some_along && !is_along(s))
}

/// For each value, the part of the domain on which it is evaluated: lowering cuts an axis where a concat changes its part.
fn shares(comp: &Comp, sizes: &Sizes) -> Vec<f64> {
    let mut shares = vec![0.0f64; comp.values.len()];
    for s in &comp.stores {
        let at = comp.store_operands(s);
        at.into_iter().for_each(|v| shares[v as usize] = 1.0);
    }
    for id in (0..comp.values.len() as ValueId).rev() {
        let own = shares[id as usize];
        let mut need = |v: ValueId, share: f64| shares[v as usize] = shares[v as usize].max(share);
        match part(comp, id, sizes) {
            Some((taken, other, part)) => {
                need(taken, own.min(part));
                need(other, (own - part).max(0.0));
            }
            None => comp.operands(id).into_iter().for_each(|o| need(o, own)),
        }
    }
    shares
}

/// A choice that depends on one parallel axis: the value taken, the other one, and the part of the axis that takes it.
fn part(comp: &Comp, id: ValueId, sizes: &Sizes) -> Option<(ValueId, ValueId, f64)> {
    let Def::Op(ScalarOp::Select, args) = &comp.value(id).def else { return None };
    let Def::Pred(conds) = &comp.value(args[0]).def else { return None };
    let [cond] = &conds[..] else { return None };
    if matches!(comp.value(args[2]).def, Def::Const(_)) {
        return None;
    }
    let axes = comp.free_of(&cond.expr);
    let axis = axes.iter().next().filter(|&a| axes == AxisSet::one(a) && !comp.axes[a].inner)?;
    let unit = (cond.expr.clone() - scalar::Sym::from(comp.axes[axis].var)).vars().into_iter().all(|v| comp.axis_of(v).is_none());
    let whole = sizes.eval(&comp.axes[axis].extent);
    (unit && whole > 0.0).then(|| (args[1], args[2], sizes.eval(&cond.extent) / whole))
}

/// What a finish phase costs: partial results per block, written and read, and a second launch.
fn add_partials(comp: &Comp, sizes: &Sizes, s: &mut Summary) {
    let points = |set: AxisSet| set.iter().map(|a| sizes.eval(&comp.axes[a].extent)).product::<f64>();
    let crosses: Vec<ValueId> = (0..comp.values.len() as ValueId).filter(|&v| comp.is_cross(v)).collect();
    for &v in &crosses {
        let blocks = blocks(points(comp.reduced(v).union(comp.inner())) as i64);
        s.partials += 2.0 * blocks as f64 * points(comp.value(v).free) * comp.value(v).dtype.size() as f64;
    }
    s.launches += f64::from(!crosses.is_empty());
}

/// Bytes per element that packing an operand moves beyond reading it: little for a plain read, much for one that is
/// computed while packing (it goes through the tile VM and is computed again for every block of the other operand), nothing
/// for frozen data, whose panels are kept.
fn pack_bytes(comp: &Comp, operand: ValueId) -> f64 {
    let mut plain = operand;
    while let Def::Op(ScalarOp::Cast(_), args) = &comp.value(plain).def {
        plain = args[0];
    }
    let below = reachable(comp, operand);
    let frozen = below.iter().all(|&v| !matches!(&comp.value(v).def, Def::Load { arg, .. } if !comp.args[*arg].frozen));
    match comp.value(plain).def {
        _ if frozen => 0.0,
        Def::Load { .. } => 2.0,
        _ => 14.0,
    }
}

/// Bytes that later stages of a row kernel read again, because the data of one row does not stay in the cache.
fn read_again(comp: &Comp, sizes: &Sizes, target: &Target) -> f64 {
    let inner = comp.inner();
    if inner.is_empty() {
        return 0.0;
    }
    let points = |set: AxisSet| set.iter().map(|a| sizes.eval(&comp.axes[a].extent)).product::<f64>();
    let mut stages: BTreeMap<ValueId, BTreeSet<usize>> = Default::default();
    for (level, root) in roots(comp) {
        for v in reachable(comp, root) {
            let inner_load = matches!(comp.value(v).def, Def::Load { .. }) && !comp.value(v).free.and(inner).is_empty();
            if inner_load {
                stages.entry(v).or_default().insert(level);
            }
        }
    }
    let bytes = |v: &ValueId, set: AxisSet| points(set) * comp.value(*v).dtype.size() as f64;
    let row: f64 = stages.keys().map(|v| bytes(v, comp.value(*v).free.and(inner))).sum();
    if row <= target.l2 as f64 {
        return 0.0;
    }
    stages.iter().map(|(v, levels)| (levels.len() - 1) as f64 * bytes(v, comp.value(*v).free)).sum()
}

/// Reductions and stored values, each with the number of reductions that must be complete before it.
fn roots(comp: &Comp) -> Vec<(usize, ValueId)> {
    let mut done = vec![0; comp.values.len()];
    let mut out = Vec::new();
    for id in 0..comp.values.len() as ValueId {
        let before = comp.operands(id).iter().map(|&o| done[o as usize]).max().unwrap_or(0);
        let reduces = matches!(comp.value(id).def, Def::Reduce { .. } | Def::Contract { .. });
        done[id as usize] = before + usize::from(reduces && !comp.is_cross(id));
        if reduces {
            out.extend(comp.operands(id).iter().map(|&o| (before, o)));
        }
    }
    let domains = comp.finish_domains();
    let in_pass = comp.stores.iter().filter(|s| domains[s.value as usize].is_none());
    out.extend(in_pass.map(|s| (done[s.value as usize], s.value)));
    out
}

/// Values that a root needs, down to completed reductions.
fn reachable(comp: &Comp, root: ValueId) -> BTreeSet<ValueId> {
    let mut seen = BTreeSet::new();
    let mut stack = vec![root];
    while let Some(v) = stack.pop() {
        let done = matches!(comp.value(v).def, Def::Reduce { .. } | Def::Contract { .. });
        if !done && seen.insert(v) {
            stack.extend(comp.operands(v));
        }
    }
    seen
}

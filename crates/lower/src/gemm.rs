//! Matrix products: axis classes, operand sources, epilogue.

use base::{Numerics, Result};
use kernel::{AxisSet, ValueId};
use program::{Affine, Body, Bound, Gemm, Instr, PackSource, TileProgram, Ty};
use scalar::{DType, ScalarOp};

use crate::emit::Emit;
use crate::flat::{Flat, FlatCond, FlatDef};
use crate::lin::Lin;
use crate::unsupported;

/// Columns below which the outermost column axis stays a column axis rather than becoming batch.
const MIN_COLUMNS: i64 = 32;

/// Least points along the last column axis, and most elements between them, for which tiles of the epilogue are quick.
const MIN_RUN: i64 = 8;
const MOST_STEP: i64 = 4;

/// Least columns and contracted points of a product of one row that is no nest.
const VECTOR: (i64, i64) = (16, 64);

/// Products of a comp that share their loops.
pub(crate) struct Products {
    contracts: Vec<ValueId>,
    batch: AxisSet,
    m: AxisSet,
    n: AxisSet,
    k: AxisSet,
}

/// The products, if the comp is a matrix product: rows, columns and contracted points all more than one; or one row and a large
/// matrix that is only read.
pub(crate) fn products(flat: &Flat) -> Option<Products> {
    let contracts: Vec<ValueId> =
        (0..flat.values.len() as ValueId).filter(|&v| matches!(flat.value(v).def, FlatDef::Contract { .. })).collect();
    let reduces = flat.values.iter().any(|v| matches!(v.def, FlatDef::Reduce { .. } | FlatDef::Scan { .. }));
    let mut classes = contracts.iter().map(|&v| classes(flat, v));
    let first = classes.next()?;
    if reduces || classes.any(|c| c != first) {
        return None;
    }
    let (batch, m, n, k) = first;
    let parallel: AxisSet = flat.order.iter().copied().filter(|&a| !flat.inner.has(a)).collect();
    let batch = batch.union(flat.live(parallel).minus(m).minus(n));
    let many = |set: AxisSet| flat.points(set) > 1;
    let matrix = many(m) && many(n) && many(k);
    let vector = || contracts.iter().all(|&v| by_vector(flat, v, m, n, k));
    (matrix || vector()).then_some(Products { contracts, batch, m, n, k })
}

/// Whether a contraction has one row, or one column, and a large matrix that lies in memory with adjacent rows or columns.
fn by_vector(flat: &Flat, v: ValueId, m: AxisSet, n: AxisSet, k: AxisSet) -> bool {
    let FlatDef::Contract { a, b, acc, .. } = flat.value(v).def else { return false };
    let (matrix, columns) = match (flat.points(m), flat.points(n)) {
        (1, _) => (b, n),
        (_, 1) => (a, m),
        _ => return false,
    };
    let adjacent = |index: &Lin| columns.union(k).iter().any(|a| index.coef(a) == 1);
    let large = flat.points(columns) >= VECTOR.0 && flat.points(k) >= VECTOR.1;
    large && plain_load(flat, matrix, acc).is_some_and(|(_, index, when)| when.is_empty() && adjacent(index))
}

/// Batch, row, column and contracted axes of a contraction.
pub(crate) fn classes(flat: &Flat, v: ValueId) -> (AxisSet, AxisSet, AxisSet, AxisSet) {
    let FlatDef::Contract { a, b, axes, .. } = &flat.value(v).def else { return Default::default() };
    let (fa, fb) = (flat.live(flat.value(*a).free), flat.live(flat.value(*b).free));
    let k = flat.live(*axes);
    (fa.and(fb).minus(k), fa.minus(fb).minus(k), fb.minus(fa).minus(k), k)
}

/// Axis lists, outermost first.
struct Axes {
    batch: Vec<usize>,
    m: Vec<usize>,
    n: Vec<usize>,
    k: Vec<usize>,
    swapped: bool,
}

impl Axes {
    fn all(&self) -> Vec<usize> {
        [&self.batch[..], &self.m, &self.n, &self.k].concat()
    }
}

/// Orders axes by the store's strides, with the unit-stride axis among the columns.
fn arrange(flat: &Flat, p: &Products) -> Axes {
    let store = flat.stores.iter().max_by_key(|s| s.index.terms.len()).map(|s| s.index.clone()).unwrap_or_default();
    let by_store = |set: AxisSet| {
        let mut axes: Vec<usize> = flat.order.iter().copied().filter(|&a| set.has(a)).collect();
        axes.sort_by_key(|&a| {
            std::cmp::Reverse(match store.coef(a) {
                0 => i64::MAX,
                c => c.abs(),
            })
        });
        axes
    };
    let (mut m, mut n) = (by_store(p.m), by_store(p.n));
    let least = |axes: &[usize]| axes.iter().map(|&a| store.coef(a).abs()).filter(|&c| c > 0).min().unwrap_or(i64::MAX);
    let run = |axes: &[usize]| axes.last().map_or(1, |&a| flat.extents[a]);
    // Close to adjacent in long runs is better than adjacent in runs of a few.
    let near = |axes: &[usize]| least(axes) <= MOST_STEP && run(axes) >= MIN_RUN;
    let swapped = match (near(&m), near(&n)) {
        (true, false) => true,
        (false, true) => false,
        _ => least(&m) < least(&n),
    };
    if swapped {
        std::mem::swap(&mut m, &mut n);
    }
    let mut batch = by_store(p.batch);
    let width = |axes: &[usize]| axes.iter().map(|&a| flat.extents[a]).product::<i64>();
    while n.len() > 1 && !flat_over(flat, &n) && width(&n[1..]) >= MIN_COLUMNS {
        batch.push(n.remove(0));
    }
    Axes { batch, m, n, k: flat.order.iter().copied().filter(|&a| p.k.has(a)).collect(), swapped }
}

/// Every store sees the axes as one.
fn flat_over(flat: &Flat, axes: &[usize]) -> bool {
    let together = |e: &Lin| axes.windows(2).all(|w| e.coef(w[0]) == e.coef(w[1]).saturating_mul(flat.extents[w[1]]));
    flat.stores.iter().all(|s| together(&s.index) && s.when.iter().all(|c| together(&c.expr)))
}

/// Lowers a comp with matrix products.
pub(crate) fn lower(flat: &Flat, p: &Products, numerics: Numerics, program: &mut TileProgram) -> Result<Gemm> {
    let axes = arrange(flat, p);
    let numbers = numbering(flat, &axes);
    let FlatDef::Contract { acc, .. } = flat.value(p.contracts[0]).def else { return Err(unsupported("no contraction")) };
    let ty = Ty::of(acc);
    let mut sources = Vec::new();
    let mut source_of: Vec<ValueId> = Vec::new();
    let mut products = Vec::new();
    for &c in &p.contracts {
        let FlatDef::Contract { a, b, .. } = flat.value(c).def else { continue };
        let (rows, cols) = if axes.swapped { (b, a) } else { (a, b) };
        let mut number = |v: ValueId, is_b: bool| -> Result<usize> {
            if let Some(i) = source_of.iter().position(|&s| s == v) {
                return Ok(i);
            }
            let tile = if is_b { (axes.k.last(), axes.n.last()) } else { (axes.m.last(), axes.k.last()) };
            sources.push(source(flat, v, acc, &numbers, (tile.0.copied(), tile.1.copied()), &axes.batch, numerics, program)?);
            source_of.push(v);
            Ok(sources.len() - 1)
        };
        products.push((number(rows, false)?, number(cols, true)?));
    }
    let epilogue = epilogue(flat, p, acc, &axes, &numbers, numerics, program)?;
    let extents = |list: &[usize]| list.iter().map(|&a| flat.extents[a]).collect::<Vec<i64>>();
    let flat_axis = |list: &[usize]| list.len() == 1 || is_flat_body(&epilogue, list, flat, &numbers);
    Ok(Gemm {
        batch: extents(&axes.batch),
        m: extents(&axes.m),
        n: extents(&axes.n),
        k: extents(&axes.k),
        ty,
        products,
        sources,
        flat_n: flat_axis(&axes.n),
        flat_m: flat_axis(&axes.m),
        epilogue,
    })
}

fn numbering(flat: &Flat, axes: &Axes) -> Vec<Option<usize>> {
    let mut numbers = vec![None; flat.extents.len()];
    for (n, a) in axes.all().into_iter().enumerate() {
        numbers[a] = Some(n);
    }
    numbers
}

/// Every access of the epilogue is affine in the flattened axes.
fn is_flat_body(body: &Body, axes: &[usize], flat: &Flat, numbers: &[Option<usize>]) -> bool {
    let together = |e: &Affine| {
        axes.windows(2).all(|w| match (numbers[w[0]], numbers[w[1]]) {
            (Some(outer), Some(inner)) => e.at(outer) == e.at(inner) * flat.extents[w[1]],
            _ => false,
        })
    };
    let bounds = |b: &[Bound]| b.iter().all(|b| together(&b.expr));
    body.code.iter().all(|i| match i {
        Instr::Index { expr, .. } => together(expr),
        Instr::Mask { bounds: b, .. } => bounds(b),
        Instr::Load { index, mask, .. } | Instr::Store { index, mask, .. } => together(index) && bounds(mask),
        Instr::LoadAt { index, .. } | Instr::StoreAt { index, .. } => together(index),
        _ => true,
    })
}

/// A plain read of a parameter, through exact widening casts, as (argument, index, conditions).
fn plain_load(flat: &Flat, v: ValueId, acc: DType) -> Option<(usize, &Lin, &[FlatCond])> {
    match &flat.value(v).def {
        FlatDef::Load { arg, index, when, fill } => {
            let zero = fill.as_f64() == 0.0 || when.is_empty();
            let plain = index.is_affine() && when.iter().all(|c| c.expr.is_affine());
            (zero && plain).then_some((*arg, index, when.as_slice()))
        }
        FlatDef::Op(ScalarOp::Cast(to), args) => {
            let from = flat.value(args[0]).dtype;
            let exact = matches!(
                (from, *to),
                (DType::F8E4M3 | DType::F8E5M2 | DType::F16 | DType::BF16, DType::F32)
                    | (DType::I8 | DType::U8 | DType::I16 | DType::U16, DType::F32 | DType::I32)
            );
            if exact && *to == acc { plain_load(flat, args[0], acc) } else { None }
        }
        _ => None,
    }
}

#[allow(clippy::too_many_arguments)]
fn source(
    flat: &Flat,
    v: ValueId,
    acc: DType,
    numbers: &[Option<usize>],
    tile: (Option<usize>, Option<usize>),
    batch: &[usize],
    numerics: Numerics,
    program: &mut TileProgram,
) -> Result<PackSource> {
    let varies = batch.iter().any(|&a| flat.value(v).free.has(a));
    if let Some((arg, index, when)) = plain_load(flat, v, acc) {
        let affine = |e: &Lin| flat.affine(e, &|a| numbers[a]);
        let mask = when.iter().map(|c| Ok(Bound { expr: affine(&c.expr)?, lo: 0, hi: c.extent })).collect::<Result<Vec<_>>>()?;
        return Ok(PackSource::Direct { param: arg as u16, index: affine(index)?, mask, frozen: flat.frozen[arg] && !varies });
    }
    let mut emit = Emit::new(flat, numerics, &mut program.checks);
    emit.axis_number = numbers.to_vec();
    (emit.rows, emit.cols) = tile;
    let r = emit.value(v)?;
    let dtype = flat.value(v).dtype;
    let r = if Ty::of(dtype) == Ty::of(acc) { r } else { emit.op(ScalarOp::Cast(acc), dtype, acc, &[r])? };
    let reads_frozen = reads(flat, v).into_iter().all(|arg| flat.frozen[arg]);
    let (code, regs) = (emit.take_code(), emit.regs);
    Ok(PackSource::Computed { body: Body { regs, code }, result: r, frozen: reads_frozen && !varies })
}

/// Arguments that a value reads.
fn reads(flat: &Flat, v: ValueId) -> Vec<usize> {
    let mut out = Vec::new();
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        if let FlatDef::Load { arg, .. } = &flat.value(v).def {
            out.push(*arg);
        }
        stack.extend(flat.operands(v));
    }
    out
}

fn epilogue(
    flat: &Flat,
    p: &Products,
    acc: DType,
    axes: &Axes,
    numbers: &[Option<usize>],
    numerics: Numerics,
    program: &mut TileProgram,
) -> Result<Body> {
    let mut emit = Emit::new(flat, numerics, &mut program.checks);
    emit.axis_number = numbers.to_vec();
    emit.rows = axes.m.last().copied();
    emit.cols = axes.n.last().copied();
    for (which, &c) in p.contracts.iter().enumerate() {
        let dst = emit.reg(Ty::of(acc), true, true)?;
        emit.code.push(Instr::Acc { dst, which: which as u16 });
        let to = flat.value(c).dtype;
        let r = if to == acc { dst } else { emit.op(ScalarOp::Cast(to), acc, to, &[dst])? };
        emit.have.insert(c, r);
    }
    for s in &flat.stores {
        emit.store(s)?;
    }
    let (code, regs) = (emit.take_code(), emit.regs);
    Ok(Body { regs, code })
}

//! Products of stored matrices, and what the library does to them before it stores them.

use kernel::{AxisSet, Epilogue, ValueId};
use program::{Access, Beside, Operand, Param, Product, Vector};
use scalar::{DType, Scalar};

use crate::flat::{Flat, FlatDef, FlatStore};
use crate::gemm::classes;
use crate::lin::Lin;

/// Elements of bytes, or bytes, at multiples of which a bias and products of bytes begin.
const ALIGNED: i64 = 16;
/// Elements of which neighbouring rows of a second matrix are multiples apart, as cuBLASLt's `CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD` asks.
const APART: i64 = 8;

/// What the library computes of a comp, and what generated code makes of that, if it is not all.
pub(crate) struct Taken {
    pub(crate) product: Product,
    pub(crate) rest: Option<Flat>,
}

/// The product of a comp that the library can take, with what follows it in the comp if the library can do that too; otherwise the
/// product goes to a workspace.
pub(crate) fn take(flat: &Flat, epilogue: Option<Epilogue>, params: &mut Vec<Param>) -> Option<Taken> {
    if let Some(product) = epilogue.and_then(|e| product(flat, e, params)) {
        return Some(Taken { product, rest: None });
    }
    let workspace = params.len();
    let (alone, rest, parameter) = split(flat, workspace)?;
    params.push(parameter);
    let bare = Epilogue::bare(alone.stores[0].value);
    let Some(product) = product(&alone, bare, params) else {
        params.pop();
        return None;
    };
    Some(Taken { product, rest: Some(rest) })
}

/// Whether a comp reads 8-bit floats.
pub(crate) fn is_f8(flat: &Flat, params: &[Param]) -> bool {
    let reads = |def: &FlatDef| matches!(def, FlatDef::Load { arg, .. } if params[*arg].dtype.f8().is_some());
    flat.values.iter().any(|v| reads(&v.def))
}

/// The only product of a comp, stored in a workspace, and what remains, which reads it there. What remains may reduce over axes that
/// the product is not over.
pub(super) fn split(flat: &Flat, workspace: usize) -> Option<(Flat, Flat, Param)> {
    let is_one = |def: &FlatDef| matches!(def, FlatDef::Contract { .. });
    let mut contractions = (0..flat.values.len() as ValueId).filter(|&v| is_one(&flat.value(v).def));
    let (Some(v), None) = (contractions.next(), contractions.next()) else { return None };
    let over = flat.value(v).def.reduced();
    let others = flat.values.iter().filter(|v| v.def.is_reduction() && !is_one(&v.def));
    let shares = others.into_iter().any(|other| !other.def.reduced().and(over).is_empty());
    let scans = flat.values.iter().any(|v| matches!(v.def, FlatDef::Scan { .. }));
    if scans || shares {
        return None;
    }
    let (mut index, mut elements) = (Lin::default(), 1);
    for axis in innermost_first(flat, flat.live(flat.value(v).free)) {
        index = index.add(&Lin::axis(axis).scale(elements));
        elements *= flat.extents[axis];
    }
    let dtype = flat.value(v).dtype;
    let mut alone = flat.clone();
    alone.stores =
        vec![FlatStore { arg: workspace, index: index.clone(), when: Vec::new(), value: v, combine: None, collides: false }];
    let rest = without(flat, v, FlatDef::Load { arg: workspace, index, when: Vec::new(), fill: Scalar::zero(dtype) });
    let name = format!("product{workspace}");
    Some((alone, rest, Param { name, dtype, access: Access::ReadWrite, elements: elements as u64 }))
}

/// Axes in the order in which a store that varies over all of them has its elements, or else in that of the comp.
fn innermost_first(flat: &Flat, axes: AxisSet) -> Vec<usize> {
    let mut order: Vec<usize> = flat.order.iter().rev().copied().filter(|&a| axes.has(a)).collect();
    let varies = |store: &&FlatStore| store.index.is_affine() && order.iter().all(|&a| store.index.coef(a) != 0);
    if let Some(store) = flat.stores.iter().find(varies) {
        order.sort_by_key(|&a| store.index.coef(a).abs());
    }
    order
}

/// A comp in which a contraction is something else, without the axes that it is over.
fn without(flat: &Flat, contraction: ValueId, def: FlatDef) -> Flat {
    let mut rest = flat.clone();
    let over = flat.value(contraction).def.reduced();
    rest.values[contraction as usize].def = def;
    rest.inner = rest.inner.minus(over);
    rest.over = rest.over.minus(over);
    rest.order.retain(|&a| !over.has(a));
    over.iter().for_each(|a| rest.extents[a] = 1);
    let needed = rest.needed(std::iter::empty());
    for (value, _) in rest.values.iter_mut().zip(needed).filter(|(_, needed)| !needed) {
        value.def = FlatDef::Const(Scalar::zero(value.dtype));
        value.free = AxisSet::default();
    }
    rest.settle();
    rest
}

/// A comp's product, if the library can take it and what follows it.
fn product(flat: &Flat, epilogue: Epilogue, params: &[Param]) -> Option<Product> {
    let v = epilogue.product;
    let FlatDef::Contract { a, b, acc, .. } = flat.value(v).def else { return None };
    let store = flat.stores.get(epilogue.result)?;
    let plain = store.combine.is_none() && !store.collides && store.when.is_empty();
    if !plain || !store.index.is_affine() || flat.points(flat.parallel()) == 0 {
        return None;
    }
    let (a, b) = (load(flat, a)?, load(flat, b)?);
    if !is_supported(params[a.0].dtype, params[b.0].dtype, params[store.arg].dtype, acc) {
        return None;
    }
    let (batch, m, n, k) = classes(flat, v);
    let k = single(flat, k)?;
    let (m, more_rows) = last_by(flat, m, [a.1, &store.index])?;
    let (n, more_columns) = last_by(flat, n, [b.1, &store.index])?;
    let batch: Vec<usize> = flat.order.iter().copied().filter(|&x| batch.union(more_rows).union(more_columns).has(x)).collect();
    let operand = |param: usize, index: &Lin, rows: usize, columns: usize| {
        let operand = Operand {
            param: param as u16,
            dtype: params[param].dtype,
            offset: index.base,
            rows: index.coef(rows),
            columns: index.coef(columns),
            batch: batch.iter().map(|&x| index.coef(x)).collect(),
        };
        is_matrix(&operand, flat.extents[rows], flat.extents[columns]).then_some(operand)
    };
    let [a, b] = [operand(a.0, a.1, m, k)?, operand(b.0, b.1, k, n)?];
    let d = operand(store.arg, &store.index, m, n)?;
    if a.dtype == DType::I8 && !takes_bytes([&a, &b, &d], [m, n, k].map(|x| flat.extents[x])) {
        return None;
    }
    let is_bare = epilogue.bias.is_none() && epilogue.activation.is_none() && epilogue.sums.is_none();
    if a.dtype.f8().is_some() && !(is_bare && takes_f8([&a, &b, &d], [m, n, k].map(|x| flat.extents[x]))) {
        return None;
    }
    let bias = match epilogue.bias {
        Some(v) => Some(vector(load(flat, v)?, [m, n], &d)?),
        None => None,
    };
    let beside = match epilogue.beside {
        Some(which) => Some(beside(flat, which, &d, &store.index).filter(|_| takes_beside(&d, [m, n].map(|x| flat.extents[x])))?),
        None => None,
    };
    let sums = match epilogue.sums {
        Some(store) => {
            let store = flat.stores.get(store)?;
            Some(vector((store.arg, &store.index), [m, n], &d)?)
        }
        None => None,
    };
    Some(Product {
        batch: batch.iter().map(|&x| flat.extents[x]).collect(),
        m: flat.extents[m],
        n: flat.extents[n],
        k: flat.extents[k],
        a,
        b,
        d,
        acc,
        epilogue: program::Epilogue { bias, activation: epilogue.activation, beside, sums },
    })
}

/// A vector over the adjacent axis, rows or columns, of a result.
fn vector((param, index): (usize, &Lin), [m, n]: [usize; 2], d: &Operand) -> Option<Vector> {
    let along = |axis: usize| index.coef(axis) == 1 && index.terms.len() == 1;
    let over_rows = d.rows == 1 && along(m);
    let aligned = index.base * d.dtype.size() as i64 % ALIGNED == 0;
    let fits = aligned && (over_rows || (d.columns == 1 && along(n)));
    fits.then_some(Vector { param: param as u16, offset: index.base, over_rows })
}

/// A second matrix that lies as the result does.
fn beside(flat: &Flat, which: kernel::Beside, d: &Operand, result: &Lin) -> Option<Beside> {
    let (param, index) = match which {
        kernel::Beside::Kept(store) => flat.stores.get(store).map(|s| (s.arg, &s.index))?,
        kernel::Beside::At(v) => load(flat, v)?,
    };
    let aligned = [index.base, result.base].iter().all(|at| at * d.dtype.size() as i64 % ALIGNED == 0);
    (aligned && index.terms == result.terms).then_some(Beside { param: param as u16, offset: index.base })
}

/// Whether a second matrix may lie as a result does.
fn takes_beside(d: &Operand, [m, n]: [i64; 2]) -> bool {
    let (adjacent, apart) = if d.columns == 1 { (n, d.rows) } else { (m, d.columns) };
    [adjacent, apart].iter().chain(&d.batch).all(|distance| distance % APART == 0)
}

/// A plain read: argument and index.
fn load(flat: &Flat, v: ValueId) -> Option<(usize, &Lin)> {
    match &flat.value(v).def {
        FlatDef::Load { arg, index, when, .. } if when.is_empty() && index.is_affine() => Some((*arg, index)),
        _ => None,
    }
}

fn is_supported(a: DType, b: DType, d: DType, acc: DType) -> bool {
    match a {
        DType::F16 | DType::BF16 => a == b && acc == DType::F32 && (d == a || d == DType::F32),
        DType::F32 | DType::F64 => a == b && acc == a && d == a,
        DType::F8E4M3 | DType::F8E5M2 => {
            let is_known = b.f8().is_some() && (a, b) != (DType::F8E5M2, DType::F8E5M2);
            is_known && acc == DType::F32 && matches!(d, DType::F16 | DType::BF16 | DType::F32)
        }
        DType::I8 => a == b && acc == DType::I32 && d == DType::I32,
        _ => false,
    }
}

/// Whether the library takes a product of bytes: four contracted elements at a time, and four rows and columns as well where those
/// of an operand are apart. As measured: cuBLASLt's documentation asks for more.
fn takes_bytes(operands: [&Operand; 3], [m, n, k]: [i64; 3]) -> bool {
    let [a, b, _] = operands;
    let fours = |numbers: &[i64]| numbers.iter().all(|n| n % 4 == 0);
    let starts = |o: &&Operand| std::iter::once(&o.offset).chain(&o.batch).all(|at| at % ALIGNED == 0);
    let apart = |o: &&Operand| fours(&[if o.rows == 1 { o.columns } else { o.rows }]);
    let together = a.columns == 1 && b.rows == 1;
    fours(&[k]) && (together || fours(&[m, n])) && operands.iter().all(starts) && [a, b].iter().all(apart)
}

/// Whether the library takes a product of 8-bit floats: both operands adjacent along what is summed, all sizes and distances in
/// 16 bytes, as cuBLASLt's documentation asks of such types.
fn takes_f8(operands: [&Operand; 3], sizes: [i64; 3]) -> bool {
    let [a, b, d] = operands;
    let sixteens = |numbers: &[i64]| numbers.iter().all(|n| n % ALIGNED == 0);
    let is_aligned = |o: &&Operand| sixteens(&[o.offset, if o.rows == 1 { o.columns } else { o.rows }]) && sixteens(&o.batch);
    a.columns == 1 && b.rows == 1 && (d.columns == 1 || d.rows == 1) && sixteens(&sizes) && operands.iter().all(is_aligned)
}

fn single(flat: &Flat, set: AxisSet) -> Option<usize> {
    let mut axes = flat.live(set).iter();
    axes.next().filter(|_| axes.next().is_none())
}

/// The axis of a set that stays a matrix axis (adjacent elements first, then the longest), and those that become batch.
fn last_by(flat: &Flat, set: AxisSet, indices: [&Lin; 2]) -> Option<(usize, AxisSet)> {
    let adjacent = |a: usize| indices.iter().filter(|e| e.coef(a) == 1).count();
    let axis = flat.live(set).iter().max_by_key(|&a| (adjacent(a), flat.extents[a]))?;
    Some((axis, flat.live(set).minus(AxisSet::one(axis))))
}

/// Whether the library can address a matrix: one of its directions is adjacent, the other's steps reach over it.
fn is_matrix(o: &Operand, rows: i64, columns: i64) -> bool {
    (o.columns == 1 && o.rows >= columns) || (o.rows == 1 && o.columns >= rows)
}

//! Comps that are one matrix product of stored matrices: the library computes them.

use kernel::{AxisSet, ValueId};
use program::{Epilogue, Operand, Param, Product};
use scalar::DType;

use crate::flat::{Flat, FlatDef};
use crate::gemm::classes;
use crate::lin::Lin;

/// The product, if a comp is nothing else and the library can take it.
pub(crate) fn product(flat: &Flat, params: &[Param]) -> Option<Product> {
    let needed = flat.needed(std::iter::empty());
    let mut contracts = (0..flat.values.len() as ValueId).filter(|&v| matches!(flat.value(v).def, FlatDef::Contract { .. }));
    let (Some(v), None) = (contracts.next(), contracts.next()) else { return None };
    let FlatDef::Contract { a, b, acc, .. } = flat.value(v).def else { return None };
    let [store] = &flat.stores[..] else { return None };
    let others = (0..flat.values.len() as ValueId).filter(|&o| needed[o as usize] && ![v, a, b].contains(&o)).count();
    let plain = store.value == v && store.combine.is_none() && !store.collides && store.when.is_empty();
    if others > 0 || !plain || !store.index.is_affine() || flat.points(flat.parallel()) == 0 {
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
    Some(Product {
        batch: batch.iter().map(|&x| flat.extents[x]).collect(),
        m: flat.extents[m],
        n: flat.extents[n],
        k: flat.extents[k],
        a: operand(a.0, a.1, m, k)?,
        b: operand(b.0, b.1, k, n)?,
        d: operand(store.arg, &store.index, m, n)?,
        acc,
        epilogue: Epilogue::default(),
    })
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
        _ => false,
    }
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

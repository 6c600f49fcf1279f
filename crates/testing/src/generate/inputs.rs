//! Arguments for graphs.

use std::collections::BTreeMap;

use base::{Error, Result};
use graph::{Graph, HostTensor, TensorType};
use scalar::{DType, Scalar, Var};

use super::Profile;
use crate::Cursor;

/// A size for every symbol of the input shapes: 0, 1, 2, 7 or 8.
pub fn sizes(graph: &Graph, choice: &mut Cursor<'_>) -> BTreeMap<Var, i64> {
    let vars: std::collections::BTreeSet<Var> = graph.inputs.iter().flat_map(|i| &i.ty.shape).flat_map(|n| n.vars()).collect();
    vars.into_iter().map(|v| (v, *choice.pick(&[7, 1, 2, 0, 8, 7]))).collect()
}

/// One tensor per input slot at the given sizes. Tame values are multiples of 1/8 from −2 to 2.
///
/// # Errors
/// A symbol without a size, or an extent that comes out negative.
pub fn inputs(graph: &Graph, sizes: &BTreeMap<Var, i64>, choice: &mut Cursor<'_>, profile: Profile) -> Result<Vec<HostTensor>> {
    let seed = choice.word();
    let tensor = |(i, decl): (usize, &graph::InputDecl)| tensor(&decl.ty, sizes, seed.wrapping_add(i as u64), profile);
    graph.inputs.iter().enumerate().map(tensor).collect()
}

fn tensor(ty: &TensorType, sizes: &BTreeMap<Var, i64>, seed: u64, profile: Profile) -> Result<HostTensor> {
    let extent = |n: &scalar::Sym| {
        let value = n.eval(&|v| sizes.get(&v).copied())?;
        usize::try_from(value).map_err(|_| Error::invalid(format!("extent {n} is {value}")))
    };
    let shape = ty.shape.iter().map(extent).collect::<Result<Vec<usize>>>()?;
    let count: usize = shape.iter().product();
    let bytes = crate::seed_bytes(seed, 10 * count);
    let mut choice = Cursor::new(&bytes);
    Ok(HostTensor::from_scalars(ty.dtype, &shape, (0..count).map(|_| element(ty.dtype, &mut choice, profile))))
}

fn element(d: DType, choice: &mut Cursor<'_>, profile: Profile) -> Scalar {
    let tame = (choice.below(33) as f64 - 16.0) / 8.0;
    if !d.is_float() {
        return if choice.chance(40) {
            Scalar::from_bits(d, limit(d, choice))
        } else {
            Scalar::from_i64(d, choice.below(12) as i64 - 3)
        };
    }
    if profile == Profile::Tame || !choice.chance(60) {
        return Scalar::from_f64(d, tame);
    }
    match choice.below(4) {
        0 => Scalar::from_bits(d, limit(d, choice)),
        1 => Scalar::from_f64(d, (choice.word() as i64) as f64 * 2f64.powi(-62)),
        _ => Scalar::from_f64(d, *choice.pick(&[f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 1e-40, -1e-40, 6e-8])),
    }
}

/// Bits at the edges: 0, 1, the greatest, the least, random; bool stays 0 or 1.
fn limit(d: DType, choice: &mut Cursor<'_>) -> u64 {
    if d == DType::Bool {
        return choice.below(2) as u64;
    }
    let top = 1u64 << (8 * d.size() - 1);
    match choice.below(5) {
        0 => top,
        1 => top - 1,
        2 => u64::MAX,
        3 => choice.below(4) as u64,
        _ => choice.word(),
    }
}

//! Pointwise nests that read along one axis and write along another: tiles that turn in shared memory.

use std::fmt::Write as _;

use base::Result;
use kernel::ValueId;

use super::nest::Nest;
use super::print::Shared;
use super::scalar::stored;
use super::schedule::{Schedule, is_vector};
use crate::flat::{Flat, FlatDef};

/// Points of a tile along either axis.
const SIDE: i64 = 64;
/// Fewest points of an axis for which tiles are worth it.
const LEAST: i64 = 16;
/// Most bytes of tiles.
const SHARED: i64 = 46 << 10;
/// Threads of a block.
pub(crate) const THREADS: i64 = 256;

/// Loads that go through tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Axis along which they are adjacent.
    pub(crate) axis: usize,
    /// How many adjacent elements are read at once.
    pub(crate) lanes: i64,
    /// The loads.
    pub(crate) loads: Vec<ValueId>,
}

/// Axis along which a load is adjacent, if that is not the vector axis and the load is worth a tile.
fn turned(flat: &Flat, v: ValueId, vector: usize) -> Option<usize> {
    let FlatDef::Load { index, when, .. } = &flat.value(v).def else { return None };
    let crosses = index.is_affine() && when.is_empty() && !matches!(index.coef(vector), 0 | 1);
    let along = |a: usize| a != vector && index.coef(a) == 1 && flat.extents[a] >= LEAST && !flat.inner.has(a);
    flat.order.iter().copied().find(|&a| along(a)).filter(|_| crosses && flat.extents[vector] >= LEAST)
}

/// Which loads of a pointwise nest turn.
pub(crate) fn turn(flat: &Flat, schedule: &Schedule, needed: &[bool], shared: &Shared<'_>) -> Option<Turn> {
    let vector = schedule.vector?;
    let pointwise = flat.live(flat.inner).is_empty() && flat.stores.iter().all(|s| s.combine.is_none() && !s.collides);
    let is_reduction = |v: &crate::flat::FlatValue| v.def.is_reduction() || matches!(v.def, FlatDef::Scan { .. });
    if !pointwise || flat.inner.has(vector) || flat.values.iter().any(is_reduction) {
        return None;
    }
    let ids = (0..flat.values.len() as ValueId).filter(|&v| needed[v as usize]);
    let found: Vec<(ValueId, usize)> = ids.filter_map(|v| turned(flat, v, vector).map(|a| (v, a))).collect();
    let axis = found.first()?.1;
    let mut loads: Vec<ValueId> = Vec::new();
    let mut bytes = 0;
    for &(v, _) in found.iter().filter(|f| f.1 == axis) {
        let FlatDef::Load { arg, .. } = flat.value(v).def else { continue };
        bytes += SIDE * (SIDE + 2) * shared.dtypes[arg].size() as i64;
        if bytes <= SHARED {
            loads.push(v);
        }
    }
    let fits = |lanes: i64| {
        let vector =
            |v: &ValueId| matches!(&flat.value(*v).def, FlatDef::Load { index, .. } if is_vector(flat, index, axis, lanes));
        flat.extents[axis] % lanes == 0 && loads.iter().all(vector)
    };
    let widest = loads.iter().map(|&v| shared.dtypes[arg_of(flat, v)].size() as i64).max()?;
    let mut lanes = (16 / widest).max(1);
    while lanes > 1 && !fits(lanes) {
        lanes /= 2;
    }
    Some(Turn { axis, lanes, loads })
}

fn arg_of(flat: &Flat, v: ValueId) -> usize {
    if let FlatDef::Load { arg, .. } = flat.value(v).def { arg } else { 0 }
}

impl Nest<'_, '_> {
    /// A block takes a tile: reads its elements along one axis, and computes and writes along the other.
    pub(crate) fn tiles(&mut self, turn: &Turn, vector: usize) -> Result<i64> {
        let (ty, flat) = (self.p.index_type(), self.flat);
        let others: Vec<usize> = self.grid_axes().into_iter().filter(|&a| a != vector && a != turn.axis).collect();
        let sides = [vector, turn.axis].map(|a| (flat.extents[a] + SIDE - 1) / SIDE);
        let (down, along) = (self.p.number(sides[0]), self.p.number(sides[1]));
        let (v, w) = (vector, turn.axis);
        let (most_v, most_w) = (self.p.number(flat.extents[v]), self.p.number(flat.extents[w]));
        let _ = writeln!(
            self.p.out,
            "const {ty} tile_v = ({ty})(block % (u32){down}) * {SIDE}, tile_w = ({ty})(block / (u32){down} % (u32){along}) * {SIDE};"
        );
        let _ = writeln!(self.p.out, "{ty} q = ({ty})(block / ((u32){down} * (u32){along}));");
        self.decompose("q", &others);
        for &load in &turn.loads {
            let element = stored(self.p.shared.dtypes[arg_of(flat, load)]);
            let _ = writeln!(self.p.out, "__shared__ {element} t{load}[{SIDE} * {}];", stride(element));
        }
        let lanes = turn.lanes;
        let _ = writeln!(
            self.p.out,
            "UNROLL for (int t = threadIdx.x; t < {count}; t += {THREADS}) {{\n\
             const int dv = t / {row}, dw = t % {row} * {lanes}; const {ty} a{v} = tile_v + dv, a{w} = tile_w + dw;\n\
             if (a{v} < {most_v} && a{w} < {most_w}) {{",
            count = SIDE * SIDE / lanes,
            row = SIDE / lanes,
        );
        let has_lanes = std::mem::replace(&mut self.p.has_lanes, false);
        for &load in &turn.loads {
            let FlatDef::Load { arg, index, .. } = &flat.value(load).def else { continue };
            let (element, pointer) = (stored(self.p.shared.dtypes[*arg]), self.p.pointer(*arg));
            let at = self.p.lin(index, false)?;
            let _ = writeln!(
                self.p.out,
                "const auto h{load} = load<{element}, {lanes}>({pointer}, {at});\n\
                 turn_in<{element}, {lanes}>(t{load} + dv * {} + dw, h{load});",
                stride(element)
            );
        }
        self.p.has_lanes = has_lanes;
        self.p.line("} }\n__syncthreads();");
        let lanes = self.s.lanes;
        let _ = writeln!(
            self.p.out,
            "UNROLL for (int t = threadIdx.x; t < {count}; t += {THREADS}) {{\n\
             const int dv = t % {column} * {lanes}, dw = t / {column}; const {ty} a{v} = tile_v + dv, a{w} = tile_w + dw;\n\
             if (a{v} < {most_v} && a{w} < {most_w}) {{",
            count = SIDE * SIDE / lanes,
            column = SIDE / lanes,
        );
        for &load in &turn.loads {
            let element = stored(self.p.shared.dtypes[arg_of(flat, load)]);
            let count = if has_lanes { "V" } else { "1" };
            let _ = writeln!(
                self.p.out,
                "Vec<{element}, {count}> h{load}; UNROLL for (int j = 0; j < {count}; ++j) h{load}.x[j] = t{load}[(dv + j) * {} + dw];",
                stride(element)
            );
        }
        self.p.held = turn.loads.iter().map(|&load| (load, format!("h{load}"))).collect();
        self.stages()?;
        self.p.line("} }");
        let rest: i64 = others.iter().map(|&a| flat.extents[a]).product();
        Ok(sides[0] * sides[1] * rest)
    }
}

/// Elements of a tile's row with its padding: rows start in different banks, at multiples of four bytes.
fn stride(element: &str) -> i64 {
    match element {
        "b8" | "signed char" | "unsigned char" => SIDE + 4,
        "f16" | "bf16" | "short" | "unsigned short" => SIDE + 2,
        _ => SIDE + 1,
    }
}

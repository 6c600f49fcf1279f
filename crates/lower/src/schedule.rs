//! Which axes are the grid, the rows and the columns of a nest.

use kernel::{AxisSet, ValueId};
use program::Body;
use smallvec::{SmallVec, smallvec};

use crate::flat::{Flat, FlatDef};
use crate::lin::Lin;

/// Tile directions and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub(crate) rows: Option<(usize, usize)>,
    pub(crate) cols: Option<(usize, usize)>,
}

fn accesses(flat: &Flat) -> Vec<&Lin> {
    let loads = flat.values.iter().flat_map(|v| match &v.def {
        FlatDef::Load { index, .. } => vec![index],
        FlatDef::Merge { states, .. } => states.iter().map(|s| &s.1).collect(),
        _ => Vec::new(),
    });
    loads.chain(flat.stores.iter().map(|s| &s.index)).collect()
}

/// Most steps of a reduction over a sliding window.
const MOST_TAPS: i64 = 256;

/// A reduced axis whose steps read what its neighbours along another axis read too.
#[derive(Clone, Copy)]
struct Slide {
    taps: usize,
    along: usize,
}

/// The windows that slide over operands.
fn slides(flat: &Flat) -> Vec<Slide> {
    let mut found = Vec::new();
    for value in &flat.values {
        let reduced = flat.live(value.def.reduced());
        let operands: SmallVec<[ValueId; 3]> = match &value.def {
            FlatDef::Reduce { src, .. } => src.clone(),
            FlatDef::Contract { a, b, .. } => smallvec![*a, *b],
            _ => continue,
        };
        if !(2..=MOST_TAPS).contains(&flat.points(reduced)) {
            continue;
        }
        for operand in operands {
            let FlatDef::Load { index, .. } = &flat.value(operand).def else { continue };
            let kept = flat.live(flat.value(operand).free).minus(reduced);
            let slide = |taps| {
                let over = kept.iter().map(|along| Slide { taps, along }).filter(|s| overlap(flat, index, s));
                over.min_by_key(|s| ratio(index.coef(s.along), index.coef(taps)))
            };
            found.extend(reduced.iter().filter_map(slide));
        }
    }
    found
}

/// Whether an index reaches the same elements along either axis, neither of them nested in the other.
fn overlap(flat: &Flat, index: &Lin, slide: &Slide) -> bool {
    let reach = |a: usize| index.coef(a) * (flat.extents[a] - 1);
    let (taps, along) = (index.coef(slide.taps), index.coef(slide.along));
    taps > 0 && along > 0 && along <= reach(slide.taps) && taps <= reach(slide.along)
}

/// The larger of two positive numbers over the smaller.
fn ratio(a: i64, b: i64) -> i64 {
    a.max(b) / a.min(b)
}

/// Columns go along the axis with the most elements accessed at unit stride (longer axes count more), rows along the axis that
/// continues them in memory or, failing that, a parallel one. Windows slide along columns and rows.
pub(crate) fn tiles(flat: &Flat) -> Tiles {
    let slides = slides(flat);
    let taps: AxisSet = slides.iter().map(|s| s.taps).collect();
    let axes: Vec<usize> = flat.order.iter().copied().filter(|&a| flat.extents[a] > 1 && !taps.has(a)).collect();
    let accesses = accesses(flat);
    let scans: AxisSet = flat
        .values
        .iter()
        .filter_map(|v| match &v.def {
            FlatDef::Scan { axis, .. } => Some(*axis),
            _ => None,
        })
        .collect();
    let col_score = |a: usize| {
        let unit = accesses.iter().map(|e| {
            let quick = match e.coef(a).abs() {
                1 => 4.0,
                0 | 2 => 1.0,
                _ => -1.0,
            };
            quick * flat.points(flat.live(flat.axes_of(e))) as f64
        });
        unit.sum::<f64>() * flat.extents[a].min(64) as f64
    };
    let best = |a: &&usize, b: &&usize| col_score(**a).total_cmp(&col_score(**b)).then(a.cmp(b));
    let Some(&col) = axes.iter().max_by(best) else { return Tiles::default() };
    let width = flat.extents[col].min(Body::MAX_TILE as i64) as usize;
    let room = Body::MAX_TILE / width;
    let row_score = |a: usize| {
        let follows = accesses.iter().filter(|e| e.coef(a) == e.coef(col) * flat.extents[col] && e.coef(a) != 0).count() as i64;
        let parallel = i64::from(!flat.inner.has(a));
        (follows * 2 + parallel * 3) * flat.extents[a].min(room as i64)
    };
    let slid = slides.iter().map(|s| s.along).find(|&a| a != col);
    let candidates = axes.iter().copied().filter(|&a| a != col && !scans.has(a) && slid.is_none_or(|s| s == a));
    let row = if room >= 2 { candidates.max_by_key(|&a| (row_score(a), a)) } else { None };
    Tiles { rows: row.map(|a| (a, (flat.extents[a] as usize).min(room))), cols: Some((col, width)) }
}

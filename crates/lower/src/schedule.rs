//! Which axes are the grid, the rows and the columns of a nest.

use kernel::AxisSet;
use program::Body;

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

/// Columns go along the axis with the most elements accessed at unit stride (longer axes count more), rows along the axis that
/// continues them in memory or, failing that, a parallel one.
pub(crate) fn tiles(flat: &Flat) -> Tiles {
    let axes: Vec<usize> = flat.order.iter().copied().filter(|&a| flat.extents[a] > 1).collect();
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
    let candidates = axes.iter().copied().filter(|&a| a != col && !scans.has(a));
    let row = if room >= 2 { candidates.max_by_key(|&a| (row_score(a), a)) } else { None };
    Tiles { rows: row.map(|a| (a, (flat.extents[a] as usize).min(room))), cols: Some((col, width)) }
}

//! Stores that may meet in one element: the axes along which they do run in order, all others in parallel.

use kernel::AxisSet;
use smallvec::SmallVec;

use crate::flat::{Flat, FlatStore};
use crate::lin::{Atom, Ranges};
use crate::partial::{Block, numbering_axis};
use crate::schedule::Tiles;

/// The block that takes the axes along which stores meet in order; `None` where no store meets another, where no axis keeps them
/// apart, or where a tile runs along such an axis.
pub(crate) fn block(flat: &mut Flat, tiles: Tiles) -> Option<Block> {
    let meeting = flat.stores.iter().filter(|s| s.collides).map(|s| meeting_axes(flat, s)).collect::<Option<Vec<_>>>()?;
    let over = meeting.into_iter().fold(AxisSet::default(), AxisSet::union);
    let tiled = [tiles.rows, tiles.cols].into_iter().flatten().any(|t| over.has(t.0));
    if tiled || flat.points(flat.parallel().minus(over)) < 2 {
        return None;
    }
    let mut axes = flat.order.clone().into_iter().filter(|&a| over.has(a));
    let axis = axes.next()?;
    let block = numbering_axis(flat, axis, 1)?;
    Some(Block { axis, within: axes.collect(), block, length: flat.extents[axis], partials: Vec::new() })
}

/// Parallel axes in which points differ that may store to one element: those that computed parts of the index vary over, and those
/// that the index lacks. `None` where the parts of the index are not nested strides, so that any two points may meet.
fn meeting_axes(flat: &Flat, store: &FlatStore) -> Option<AxisSet> {
    let ranges = flat.ranges();
    let mut parts: SmallVec<[(i64, i64); 6]> = SmallVec::new();
    let (mut computed, mut present) = (AxisSet::default(), AxisSet::default());
    for (atom, coef) in &store.index.terms {
        let (least, most) = match atom {
            Atom::Axis(a) => {
                present = present.union(AxisSet::one(*a));
                ranges.axis(*a)
            }
            Atom::Value(v) => {
                computed = computed.union(flat.value(*v).free);
                ranges.value(*v)
            }
            _ => return None,
        };
        parts.push((*coef, most.checked_sub(least)?));
    }
    parts.sort_unstable();
    let nested = parts.iter().try_fold(
        0i64,
        |reach, &(coef, steps)| {
            if coef > reach { reach.checked_add(coef.checked_mul(steps)?) } else { None }
        },
    );
    nested.map(|_| flat.parallel().minus(present).union(computed.and(flat.parallel())))
}

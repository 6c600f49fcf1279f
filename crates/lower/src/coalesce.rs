//! Inner axes of different lengths as one loop axis.
//!
//! The stages of a row kernel may loop over different axes: a norm over whole rows, then a product of their halves. Axes that
//! never meet in one loop become one, so that all stages share the vector direction; each stage keeps its own end.

use kernel::{AxisSet, ValueId};
use smallvec::SmallVec;

use crate::flat::{Flat, Root};
use crate::lin::Lin;

impl Flat {
    /// Renames inner axes that never meet another inner axis to that axis, if it is at least as long.
    pub(crate) fn coalesce(&mut self) {
        while let Some((kept, gone)) = self.apart() {
            for (root, axes) in self.loops() {
                if axes.has(gone) {
                    let ends = self.ends.entry(root).or_default();
                    match ends.iter_mut().find(|e| e.0 == gone) {
                        Some(end) => end.0 = kept,
                        None => ends.push((kept, self.extents[gone])),
                    }
                }
            }
            self.substitute(&|a| (a == gone).then(|| Lin::axis(kept)));
            self.order.retain(|&a| a != gone);
            self.for_each_set(&|s| if s.has(gone) { s.minus(AxisSet::one(gone)).union(AxisSet::one(kept)) } else { s });
            self.extents[gone] = 1;
        }
    }

    /// Two inner axes that no loop and no value has both of, the longer one first.
    fn apart(&self) -> Option<(usize, usize)> {
        let inner: Vec<usize> = self.order.iter().copied().filter(|&a| self.inner.has(a) && self.extents[a] > 1).collect();
        let sets: Vec<AxisSet> = self.loops().into_iter().map(|l| l.1).chain(self.values.iter().map(|v| v.free)).collect();
        let meet = |a: usize, b: usize| sets.iter().any(|s| s.has(a) && s.has(b));
        let pairs = inner.iter().flat_map(|&a| inner.iter().map(move |&b| (a, b)));
        pairs.into_iter().find(|&(a, b)| a != b && self.extents[a] >= self.extents[b] && !meet(a, b))
    }

    /// What stages loop for, with the axes that each varies over.
    fn loops(&self) -> Vec<(Root, AxisSet)> {
        let reductions = (0..self.values.len() as ValueId).filter(|&v| self.value(v).def.is_reduction());
        let over = |v: ValueId| {
            let operands = self.operands(v);
            (Root::Value(v), operands.iter().fold(self.value(v).def.reduced(), |s, &o| s.union(self.value(o).free)))
        };
        let stores = self.stores.iter().enumerate().map(|(i, s)| (Root::Store(i), self.store_axes(s)));
        reductions.map(over).chain(stores).collect()
    }

    /// Where a root's loops end, for axes that do not end at their extent.
    pub(crate) fn ends_of(&self, root: Root) -> SmallVec<[(usize, i64); 2]> {
        self.ends.get(&root).cloned().unwrap_or_default()
    }
}

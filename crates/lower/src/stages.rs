//! In which order a comp's values can be computed: levels between reductions, and the loops of each.
//!
//! Every reduction ends a stage: values that need its result belong to later stages. Values that do not vary over inner axes are
//! computed once per point, between the stages.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{AxisSet, ValueId};
use smallvec::SmallVec;

use crate::flat::{Flat, FlatStore, Root};
use crate::partial::Partial;

/// When what depends on a partial reduction can be computed: in a later phase.
pub(crate) const LATER: usize = usize::MAX / 2;

/// For each value, how many reductions must be complete before it can be computed.
pub(crate) fn availability(flat: &Flat, partials: &[Partial]) -> Vec<usize> {
    let mut when = vec![0; flat.values.len()];
    for id in 0..flat.values.len() as ValueId {
        let before = flat.operands(id).iter().map(|&o| when[o as usize]).max().unwrap_or(0);
        let partial = partials.iter().any(|p| p.value == id);
        when[id as usize] = if partial { LATER } else { before + usize::from(flat.value(id).def.is_reduction()) };
    }
    when
}

/// Roots of the loop stages.
pub(crate) type Plan = BTreeMap<Loops, Vec<Root>>;

/// One loop stage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loops {
    /// Reductions that must be complete.
    pub(crate) level: usize,
    /// Inner axes.
    pub(crate) axes: AxisSet,
    /// Axes that end before their extent.
    pub(crate) ends: SmallVec<[(usize, i64); 2]>,
}

/// The order of one comp.
pub(crate) struct Stages<'a> {
    pub(crate) flat: &'a Flat,
    /// For each value, how many reductions must be complete before it can be computed.
    pub(crate) when: Vec<usize>,
    /// Values that some store or partial reduction depends on.
    pub(crate) needed: Vec<bool>,
}

impl<'a> Stages<'a> {
    pub(crate) fn new(flat: &'a Flat, partials: &[Partial]) -> Stages<'a> {
        Stages { flat, when: availability(flat, partials), needed: flat.needed(partials.iter().map(|p| p.value)) }
    }

    /// Reductions that must be complete before a store.
    pub(crate) fn store_level(&self, store: &FlatStore) -> usize {
        self.flat.store_operands(store).iter().map(|&v| self.when[v as usize]).max().unwrap_or(0)
    }

    /// Axes that a store varies over, through its value, position and conditions.
    pub(crate) fn store_free(&self, store: &FlatStore) -> AxisSet {
        let operands = self.flat.store_operands(store);
        operands.iter().fold(self.flat.axes_of(&store.index), |set, &v| set.union(self.flat.value(v).free))
    }

    pub(crate) fn inner_of(&self, set: AxisSet) -> AxisSet {
        self.flat.live(set.and(self.flat.inner))
    }

    pub(crate) fn plan(&self) -> Plan {
        let mut plan = Plan::new();
        for id in 0..self.flat.values.len() as ValueId {
            let def = &self.flat.value(id).def;
            if def.is_reduction() && self.needed[id as usize] {
                let operands = self.flat.operands(id);
                let varies = operands.iter().fold(def.reduced(), |s, &o| s.union(self.flat.value(o).free));
                let level = operands.iter().map(|&o| self.when[o as usize]).max().unwrap_or(0);
                plan.entry(self.loops(level, varies, Root::Value(id))).or_default().push(Root::Value(id));
            }
        }
        for (i, s) in self.flat.stores.iter().enumerate() {
            plan.entry(self.loops(self.store_level(s), self.store_free(s), Root::Store(i))).or_default().push(Root::Store(i));
        }
        plan
    }

    fn loops(&self, level: usize, set: AxisSet, root: Root) -> Loops {
        Loops { level, axes: self.inner_of(set), ends: self.flat.ends_of(root) }
    }

    /// Values that a stage's roots need, down to completed reductions.
    pub(crate) fn reachable(&self, roots: &[Root]) -> BTreeSet<ValueId> {
        let mut stack: Vec<ValueId> = roots.iter().flat_map(|r| self.root_operands(*r)).collect();
        let mut seen = BTreeSet::new();
        while let Some(v) = stack.pop() {
            let done = self.flat.value(v).def.is_reduction();
            if !done && seen.insert(v) {
                stack.extend(self.flat.operands(v));
            }
        }
        seen
    }

    pub(crate) fn root_operands(&self, root: Root) -> SmallVec<[ValueId; 4]> {
        match root {
            Root::Value(v) => self.flat.operands(v),
            Root::Store(i) => self.flat.store_operands(&self.flat.stores[i]),
        }
    }
}

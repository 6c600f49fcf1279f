//! A topological order of groups that survives merging (after Pearce and Kelly, 2006).

use std::collections::BTreeSet;

use base::Code;

use crate::build::Refusal;

/// Steps of one search before it counts as refused.
const BUDGET: usize = 20_000;

/// Positions of groups; every edge goes from a lower to a higher position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    position: Vec<usize>,
    slots: Vec<Option<usize>>,
}

/// Successors of a group.
pub(crate) type Successors<'a> = &'a dyn Fn(usize) -> Vec<usize>;

impl Order {
    /// An order of `count` groups (Kahn's algorithm, least number first).
    pub(crate) fn new(count: usize, successors: Successors<'_>) -> Order {
        let next: Vec<Vec<usize>> = (0..count).map(successors).collect();
        let mut waiting = vec![0; count];
        next.iter().flatten().for_each(|&h| waiting[h] += 1);
        let mut ready: BTreeSet<usize> = (0..count).filter(|&g| waiting[g] == 0).collect();
        let mut order = Order { position: vec![usize::MAX; count], slots: Vec::with_capacity(count) };
        while let Some(g) = ready.pop_first() {
            order.position[g] = order.slots.len();
            order.slots.push(Some(g));
            for &h in &next[g] {
                waiting[h] -= 1;
                if waiting[h] == 0 {
                    ready.insert(h);
                }
            }
        }
        order
    }

    /// The pair, earlier group first.
    pub(crate) fn sorted(&self, a: usize, b: usize) -> (usize, usize) {
        if self.position[a] <= self.position[b] { (a, b) } else { (b, a) }
    }

    /// Groups strictly between the two that depend on the earlier one.
    ///
    /// # Errors
    /// `Err(Some(g))` when group `g` lies on a path between the two, `Err(None)` when the search ran out of steps.
    fn between(&self, a: usize, b: usize, successors: Successors<'_>) -> Result<BTreeSet<usize>, Option<usize>> {
        let (from, to) = self.sorted(a, b);
        let mut seen = BTreeSet::new();
        let mut stack = vec![from];
        let mut steps = 0;
        while let Some(g) = stack.pop() {
            for h in successors(g) {
                steps += 1;
                if steps > BUDGET {
                    return Err(None);
                }
                if h == to && g != from {
                    return Err(Some(g));
                }
                if self.position[h] < self.position[to] && seen.insert(h) {
                    stack.push(h);
                }
            }
        }
        Ok(seen)
    }

    /// Refuses a merge that would make a cycle; `name` tells the group that lies between.
    pub(crate) fn check(
        &self,
        a: usize,
        b: usize,
        successors: Successors<'_>,
        name: &dyn Fn(usize) -> String,
    ) -> Result<(), Refusal> {
        match self.between(a, b, successors) {
            Ok(_) => Ok(()),
            Err(Some(g)) => Err(Refusal::new(Code::F06, format!("{} lies between", name(g)))),
            Err(None) => Err(Refusal::new(Code::F06, "cycle search ran out of steps")),
        }
    }

    /// Replaces two groups by their merge `merged`: what depends on the earlier one moves behind it. Call while the edges
    /// are still those of the two.
    pub(crate) fn merge(&mut self, a: usize, b: usize, merged: usize, successors: Successors<'_>) {
        let (from, to) = self.sorted(a, b);
        let behind = self.between(a, b, successors).unwrap_or_default();
        let region = self.position[from]..=self.position[to];
        let old: Vec<usize> = self.slots[region.clone()].iter().flatten().copied().collect();
        let kept = old.iter().copied().filter(|g| *g != from && *g != to && !behind.contains(g));
        let after = old.iter().copied().filter(|g| behind.contains(g));
        let new: Vec<usize> = kept.chain([merged]).chain(after).collect();
        self.position.resize(self.position.len().max(merged + 1), usize::MAX);
        let mut items = new.into_iter();
        for slot in region {
            self.slots[slot] = items.next();
            if let Some(g) = self.slots[slot] {
                self.position[g] = slot;
            }
        }
    }
}

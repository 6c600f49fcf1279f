//! Stored values of one call.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result};
use graph::NodeId;
use runtime::Array;

/// Values that every call shares: frozen inputs, and what was computed of them once.
pub(crate) type Kept = BTreeMap<NodeId, Array>;

/// Arrays by root value: those of the call, over those that all calls share.
pub(crate) struct Values {
    own: BTreeMap<NodeId, Array>,
    kept: Arc<Kept>,
}

impl Values {
    pub(crate) fn new(kept: Arc<Kept>) -> Values {
        Values { own: BTreeMap::new(), kept }
    }
    /// The array of a root value.
    ///
    /// # Errors
    /// It was not computed yet, or is no longer needed.
    pub(crate) fn get(&self, root: NodeId) -> Result<&Array> {
        let found = self.own.get(&root).or_else(|| self.kept.get(&root));
        found.ok_or_else(|| Error::internal(format!("value {root:?} is read before it is computed")))
    }
    pub(crate) fn contains(&self, root: NodeId) -> bool {
        self.own.contains_key(&root) || self.kept.contains_key(&root)
    }
    pub(crate) fn insert(&mut self, root: NodeId, array: Array) {
        self.own.insert(root, array);
    }
    /// Drops the call's hold on a value.
    pub(crate) fn release(&mut self, root: NodeId) {
        self.own.remove(&root);
    }
}

//! The size tuples that an executable is ready for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Result;
use smallvec::SmallVec;

use crate::instance::Instance;

/// Extents of the inputs that are not frozen, in order, then dimensions that were given.
pub(crate) type Extents = SmallVec<[usize; 16]>;

/// Instances that are kept; past that, the one that was not used for longest goes.
const MOST: usize = 32;

/// Instances by size tuple.
#[derive(Default)]
pub(crate) struct Instances {
    /// Last used last.
    recent: Mutex<Vec<(Extents, Arc<Instance>)>>,
}

impl Instances {
    fn recent(&self) -> MutexGuard<'_, Vec<(Extents, Arc<Instance>)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn len(&self) -> usize {
        self.recent().len()
    }
    /// The instance for these extents, made without holding the lock if there is none.
    pub(crate) fn get(&self, extents: &Extents, make: impl FnOnce() -> Result<Instance>) -> Result<Arc<Instance>> {
        if let Some(found) = find(&mut self.recent(), extents) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        let mut recent = self.recent();
        if let Some(found) = find(&mut recent, extents) {
            return Ok(found);
        }
        if recent.len() >= MOST {
            recent.remove(0);
        }
        recent.push((extents.clone(), made.clone()));
        Ok(made)
    }
}

/// The entry, moved to the end.
fn find(recent: &mut [(Extents, Arc<Instance>)], extents: &Extents) -> Option<Arc<Instance>> {
    let at = recent.iter().rposition(|(e, _)| e == extents)?;
    recent[at..].rotate_left(1);
    recent.last().map(|(_, instance)| instance.clone())
}

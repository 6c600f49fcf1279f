//! A small cache that keeps what was used last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values that are kept; past that, the one that was not used for longest goes.
const MOST: usize = 32;

/// Values by key, made when they are first asked for.
#[derive(Debug)]
pub struct Recent<K, V> {
    /// Last used last.
    entries: Mutex<Vec<(K, Arc<V>)>>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent { entries: Mutex::default() }
    }
}

impl<K: PartialEq + Clone, V> Recent<K, V> {
    fn entries(&self) -> MutexGuard<'_, Vec<(K, Arc<V>)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Number of values kept now; bounded.
    pub fn len(&self) -> usize {
        self.entries().len()
    }
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The value that was used last, with its key.
    pub fn last(&self) -> Option<(K, Arc<V>)> {
        self.entries().last().cloned()
    }
    /// All values that are kept now.
    pub fn all(&self) -> Vec<Arc<V>> {
        self.entries().iter().map(|(_, value)| value.clone()).collect()
    }
    /// Whether there is a value of a key.
    pub fn contains(&self, key: &K) -> bool {
        self.entries().iter().any(|(k, _)| k == key)
    }
    /// The value of a key, made without holding the lock if there is none.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get<E>(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(found) = find(&mut self.entries(), key) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        let mut entries = self.entries();
        if let Some(found) = find(&mut entries, key) {
            return Ok(found);
        }
        if entries.len() >= MOST {
            entries.remove(0);
        }
        entries.push((key.clone(), made.clone()));
        Ok(made)
    }
}

/// The entry, moved to the end.
fn find<K: PartialEq, V>(entries: &mut [(K, Arc<V>)], key: &K) -> Option<Arc<V>> {
    let at = entries.iter().rposition(|(k, _)| k == key)?;
    entries[at..].rotate_left(1);
    entries.last().map(|(_, value)| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_was_used_last() {
        let cache: Recent<usize, usize> = Recent::default();
        let get = |key: usize| *cache.get::<()>(&key, || Ok(key * 10)).unwrap();
        (0..MOST).for_each(|k| assert_eq!(get(k), k * 10));
        assert_eq!((get(0), get(MOST), cache.len()), (0, MOST * 10, MOST));
        assert_eq!(cache.get(&0, || Err(())).as_deref(), Ok(&0));
        assert_eq!(cache.get(&1, || Err("made again")).map(|_| ()), Err("made again"));
        assert_eq!(cache.last().map(|(k, _)| k), Some(0));
    }
}

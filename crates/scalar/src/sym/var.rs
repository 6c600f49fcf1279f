//! Interned variable names.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

/// A variable: a dimension or an axis. Compared, ordered and hashed by name.
///
/// Names that are to be read back from text are identifiers `[A-Za-z_][A-Za-z0-9_.]*` other than `min` and `max`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(&'static str);

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Var {
    /// The variable of that name.
    pub fn new(name: &str) -> Var {
        let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(&known) = names.get(name) {
            return Var(known);
        }
        let leaked: &'static str = Box::leak(name.to_owned().into_boxed_str());
        names.insert(leaked);
        Var(leaked)
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

//! Interned variable names.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

use base::{HashMap, stable_hash};
use serde::{Deserialize, Serialize};

/// A variable: a dimension or an axis. Compared and ordered by name; equal names are one record.
///
/// Names that are to be read back from text are identifiers `[A-Za-z_][A-Za-z0-9_.]*` other than `min` and `max`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "&'static str", from = "String")]
pub struct Var(&'static Name);

struct Name {
    text: String,
    hash: u64,
}

static NAMES: Mutex<Option<HashMap<&'static str, Var>>> = Mutex::new(None);

impl Var {
    /// The variable of that name.
    pub fn new(name: &str) -> Var {
        let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let names = names.get_or_insert_default();
        if let Some(&known) = names.get(name) {
            return known;
        }
        let leaked: &'static Name = Box::leak(Box::new(Name { text: name.to_owned(), hash: stable_hash(name) }));
        names.insert(&leaked.text, Var(leaked));
        Var(leaked)
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        &self.0.text
    }
    /// A set of variables in 64 bits: whoever lacks the bit lacks the variable.
    pub(super) fn bit(self) -> u64 {
        1 << (self.0.hash >> 58)
    }
}

impl From<Var> for &'static str {
    fn from(var: Var) -> &'static str {
        var.name()
    }
}
impl From<String> for Var {
    fn from(name: String) -> Var {
        Var::new(&name)
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Var {}
impl PartialOrd for Var {
    fn partial_cmp(&self, other: &Var) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Var {
    fn cmp(&self, other: &Var) -> Ordering {
        if self == other { Ordering::Equal } else { self.0.text.cmp(&other.0.text) }
    }
}
impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

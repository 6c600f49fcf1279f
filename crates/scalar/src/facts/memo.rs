//! Answers so far to questions about one state of knowledge.

use std::sync::{Mutex, MutexGuard, PoisonError};

use base::HashMap;

use super::Facts;
use crate::{Sym, Var};

/// A question about two expressions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Equal,
    AtLeast,
    Below,
}

/// Answers that hold as long as the facts do not change; a clone starts without any.
#[derive(Default)]
pub(super) struct Memo(Mutex<Answers>);

#[derive(Default)]
struct Answers {
    simplified: HashMap<Sym, Sym>,
    proved: HashMap<(Question, Sym, Sym), bool>,
    /// The facts with one more axis below an extent.
    with_axis: HashMap<(Var, Sym), Facts>,
}

/// Answers of one kind that are kept.
const MAX_ANSWERS: usize = 1 << 16;

impl Memo {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn simplified(&self, e: &Sym, answer: impl FnOnce() -> Sym) -> Sym {
        recall(self, |a| &mut a.simplified, e, answer)
    }
    pub(super) fn proved(&self, question: Question, a: &Sym, b: &Sym, answer: impl FnOnce() -> bool) -> bool {
        recall(self, |a| &mut a.proved, &(question, a.clone(), b.clone()), answer)
    }
    pub(super) fn with_axis(&self, v: Var, extent: &Sym, answer: impl FnOnce() -> Facts) -> Facts {
        recall(self, |a| &mut a.with_axis, &(v, extent.clone()), answer)
    }
}

/// The known answer, else a new one, which is found without holding the lock.
fn recall<K: Clone + Eq + std::hash::Hash, V: Clone>(
    memo: &Memo,
    kind: impl Fn(&mut Answers) -> &mut HashMap<K, V>,
    key: &K,
    answer: impl FnOnce() -> V,
) -> V {
    if let Some(known) = kind(&mut memo.answers()).get(key) {
        return known.clone();
    }
    let new = answer();
    let mut answers = memo.answers();
    let known = kind(&mut answers);
    if known.len() >= MAX_ANSWERS {
        known.clear();
    }
    known.insert(key.clone(), new.clone());
    new
}

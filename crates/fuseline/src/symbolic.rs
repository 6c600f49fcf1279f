//! Extents of a compiled function's arguments that vary from call to call.
//!
//! During a call, such an extent is a variable with a value. Ops record types over the variables, so that calls of other sizes
//! record the same program. Whatever cannot be recorded that way (an op that needs a number, a guard that does not hold for
//! the values, an extent of 0 or 1, which broadcasting treats apart) settles the call: it goes on with the values.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{Error, Result};
use graph::Guard;
use scalar::{Sym, Var};

use crate::infer::Signature;
use crate::op::Op;

/// The variables of one call, with their values.
#[derive(Debug, Default)]
pub(crate) struct Env {
    values: BTreeMap<Var, i64>,
    settled: AtomicBool,
    blame: Mutex<Blame>,
    pins: Mutex<Vec<Pin>>,
}

/// What the op that failed last suffered from.
#[derive(Debug, Default)]
struct Blame {
    vars: BTreeSet<Var>,
    /// Only these values are special; others are welcome as variables.
    passing: bool,
}

/// Variables that have to be numbers, and why.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    pub(crate) vars: BTreeSet<Var>,
    pub(crate) why: String,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Env>>> = const { RefCell::new(None) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Env {
    pub(crate) fn new(values: BTreeMap<Var, i64>) -> Arc<Env> {
        Arc::new(Env { values, ..Env::default() })
    }
    /// Whether types over the variables are in force on this thread.
    pub(crate) fn is_live(&self) -> bool {
        !self.settled.load(Ordering::Relaxed) && CURRENT.with_borrow(|c| c.as_ref().is_some_and(|c| std::ptr::eq(&**c, self)))
    }
    /// The value of an extent.
    pub(crate) fn value(&self, extent: &Sym) -> Result<i64> {
        extent.eval(&|v| self.values.get(&v).copied())
    }
    /// The extent with values for variables.
    pub(crate) fn subst(&self, extent: &Sym) -> Sym {
        extent.subst(&|v| self.values.get(&v).map(|&n| Sym::from(n)))
    }
    /// What turned out to need numbers.
    pub(crate) fn pins(&self) -> Vec<Pin> {
        lock(&self.pins).clone()
    }
    /// Whether a relation holds for the values.
    pub(crate) fn holds(&self, guard: &Guard) -> bool {
        matches!((self.value(&guard.left), self.value(&guard.right)), (Ok(a), Ok(b)) if a == b)
    }
    /// Goes on with numbers.
    pub(crate) fn settle(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }
    /// Remembers that the variables blamed last, or all if none were, have to be numbers.
    pub(crate) fn pin(&self, why: String) {
        let Blame { mut vars, passing } = std::mem::take(&mut *lock(&self.blame));
        if passing {
            return;
        }
        if vars.is_empty() {
            vars = self.values.keys().copied().collect();
        }
        lock(&self.pins).push(Pin { vars, why });
    }
    /// Checks what a signature needs under the values.
    pub(crate) fn check(&self, signature: &Signature) -> Result<()> {
        for guard in &signature.guards {
            if !self.holds(guard) {
                self.blame(guard.left.vars().into_iter().chain(guard.right.vars()));
                return Err(Error::invalid(guard.reason.clone()));
            }
        }
        let extents = signature.results.iter().flat_map(|r| &r.ty.shape);
        for n in extents.filter(|n| n.as_int().is_none() && n.as_var().is_none()) {
            if self.value(n)? < 2 {
                *lock(&self.blame) = Blame { vars: n.vars(), passing: true };
                return Err(Error::invalid(format!("{n} is {} here, and extents of 0 and 1 are always numbers", self.value(n)?)));
            }
        }
        Ok(())
    }
    pub(crate) fn blame(&self, vars: impl IntoIterator<Item = Var>) {
        *lock(&self.blame) = Blame { vars: vars.into_iter().collect(), passing: false };
    }
}

/// Makes the variables of a call current until dropped.
pub(crate) struct Entered(Option<Arc<Env>>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

pub(crate) fn enter(env: Option<Arc<Env>>) -> Entered {
    Entered(CURRENT.replace(env))
}

/// The variables in force on this thread.
pub(crate) fn live() -> Option<Arc<Env>> {
    CURRENT.with_borrow(|c| c.as_ref().filter(|e| !e.settled.load(Ordering::Relaxed)).cloned())
}

/// An extent as a number, where the current call has values for its variables.
pub(crate) fn number(extent: &Sym) -> Option<i64> {
    extent.as_int().or_else(|| CURRENT.with_borrow(|c| c.as_ref().and_then(|e| e.value(extent).ok())))
}

/// The op as it is recorded: sizes that the caller read before the call was settled become numbers.
pub(crate) fn recorded(op: Op) -> Op {
    CURRENT.with_borrow(|c| match c {
        Some(env) if env.settled.load(Ordering::Relaxed) => op.map_syms(|n| env.subst(n)),
        _ => op,
    })
}

//! Where ops come from: the user op being recorded, and the line that called it.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// One call of one user op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Name of the user op.
    pub(crate) op: &'static str,
    /// The call.
    pub(crate) at: &'static Location<'static>,
    /// Distinct for every call; nodes that share it are one user op.
    pub(crate) call: u64,
}

thread_local! {
    static CURRENT: Cell<Option<Site>> = const { Cell::new(None) };
}
static CALLS: AtomicU64 = AtomicU64::new(0);

impl Site {
    /// The user op being recorded on this thread, or the caller itself.
    #[track_caller]
    pub(crate) fn here() -> Site {
        CURRENT.get().unwrap_or(Site { op: "tensor", at: Location::caller(), call: 0 })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.op, self.at.file(), self.at.line())
    }
}

/// Keeps a user op current; a user op called inside another belongs to the outer one.
pub(crate) struct Scope {
    site: Site,
    outermost: bool,
}

/// Starts a user op at the caller's caller.
#[track_caller]
pub(crate) fn enter(op: &'static str) -> Scope {
    if let Some(site) = CURRENT.get() {
        return Scope { site, outermost: false };
    }
    let site = Site { op, at: Location::caller(), call: 1 + CALLS.fetch_add(1, Ordering::Relaxed) };
    CURRENT.set(Some(site));
    Scope { site, outermost: true }
}

impl Scope {
    /// Whether no other user op called this one.
    pub(crate) fn is_outermost(&self) -> bool {
        self.outermost
    }
    /// The user op that is current.
    pub(crate) fn site(&self) -> Site {
        self.site
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if self.outermost {
            CURRENT.set(None);
        }
    }
}

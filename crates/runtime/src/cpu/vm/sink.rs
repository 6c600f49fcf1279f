//! Where run-time checks report.

use std::sync::{Mutex, PoisonError};

use base::Error;

/// The first failed check of a launch.
#[derive(Debug, Default)]
pub struct CheckSink {
    hit: Mutex<Option<(u16, i64)>>,
}

/// Message number of an index outside of its buffer that no `Check` caught.
pub(crate) const STRAY: u16 = u16::MAX;

impl CheckSink {
    /// An empty sink.
    pub fn new() -> CheckSink {
        CheckSink::default()
    }
    /// Records a failure, unless there is one already.
    pub(crate) fn record(&self, message: u16, value: i64) {
        self.hit.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((message, value));
    }
    /// The failure as an error, with its message out of the program's `checks`; empties the sink.
    pub fn take(&self, checks: &[String]) -> Option<Error> {
        let (message, value) = self.hit.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(match checks.get(usize::from(message)) {
            Some(text) => Error::invalid(format!("{text}: got {value}")),
            None => Error::internal(format!("computed element index {value} lies outside of its buffer")),
        })
    }
}

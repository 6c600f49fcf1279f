//! How much memory a call takes, known before it runs.

use std::collections::BTreeMap;

use base::Result;
use runtime::Array;

use crate::executable::Executable;
use crate::places::Launches;

/// Bytes of device memory that a call takes beside its inputs and what all calls share, in the size classes of the device's pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallMemory {
    /// Intermediates and workspaces, which go back to the pool when the call returns.
    pub intermediates: usize,
    /// Results that lie in no input.
    pub results: usize,
    /// Results that take the memory of inputs, if the caller gives it away; else they take memory of their own.
    pub taking: usize,
}

impl CallMemory {
    /// Most that the call holds at a time, where nothing is given away.
    pub fn peak(&self) -> usize {
        self.intermediates + self.results + self.taking
    }
}

impl Executable {
    /// The memory of a call on inputs of these shapes; `None` for a plan that needs more
    /// than launches, whose memory shows when it runs.
    ///
    /// # Errors
    /// Inputs that do not fit; kernels that do not compile.
    pub fn call_memory(&self, inputs: &[Array]) -> Result<Option<CallMemory>> {
        let instance = self.instance_for(&BTreeMap::new(), inputs)?;
        self.shared(&instance)?;
        let pool = self.device().pool();
        let planned = |launches: &Launches| {
            let results = |takes: bool| {
                let some = launches.results.iter().filter(|r| r.takes.is_some() == takes);
                some.map(|r| pool.rounded(r.bytes())).sum()
            };
            let intermediates = launches.own.iter().map(|&bytes| pool.rounded(bytes)).sum();
            CallMemory { intermediates, results: results(false), taking: results(true) }
        };
        Ok(instance.launches(self).map(planned))
    }
}

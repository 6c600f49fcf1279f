//! How much memory a call takes, known before it runs.

use std::collections::BTreeMap;

use base::Result;
use runtime::Array;

use crate::executable::Executable;

/// Bytes of device memory that a call takes beside its inputs and what all calls share, in the size classes of the device's pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallMemory {
    /// Intermediates and workspaces, which go back to the pool when the call returns.
    pub intermediates: usize,
    /// Results that lie in no input.
    pub results: usize,
}

impl CallMemory {
    /// Most that the call holds at a time.
    pub fn peak(&self) -> usize {
        self.intermediates + self.results
    }
}

impl Executable {
    /// The memory of a call on inputs of these shapes, of which donated ones are not given away; `None` for a plan that needs more
    /// than launches, whose memory shows when it runs.
    ///
    /// # Errors
    /// Inputs that do not fit; kernels that do not compile.
    pub fn call_memory(&self, inputs: &[Array]) -> Result<Option<CallMemory>> {
        let instance = self.instance_for(&BTreeMap::new(), inputs)?;
        self.shared(&instance)?;
        let pool = self.device().pool();
        let sum = |bytes: &mut dyn Iterator<Item = usize>| bytes.map(|b| pool.rounded(b)).sum();
        Ok(instance.launches(self).map(|launches| CallMemory {
            intermediates: sum(&mut launches.own.iter().copied()),
            results: sum(&mut launches.results.iter().map(|r| r.bytes())),
        }))
    }
}

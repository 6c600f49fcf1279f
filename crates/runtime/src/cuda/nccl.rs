//! What is asked of NCCL, the library for work spread over several GPUs: its version, for reports.

use std::ffi::c_int;

use super::table::table;

/// Version of the library's files.
pub(crate) const MAJOR: u32 = 2;

table! {
    /// Collectives, `libnccl`.
    Nccl -> c_int {
        version = c"ncclGetVersion": (*mut c_int);
    }
    optional {}
    other {}
}

impl Nccl {
    /// Major, minor and patch; `None` if the library does not say.
    pub(crate) fn number(&self) -> Option<(c_int, c_int, c_int)> {
        let mut version = 0;
        // SAFETY: the function writes one number.
        let code = unsafe { (self.version)(&raw mut version) };
        (code == 0).then_some((version / 10_000, version / 100 % 100, version % 100))
    }
}

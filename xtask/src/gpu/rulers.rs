//! What times are held against, measured on the same device.

use std::sync::Arc;
use std::time::Duration;

use base::Result;
use runtime::cuda::{Rates, ReadStream, measure};
use runtime::{Buffer, Device};

use super::row::Ruler;

/// The rulers of a device.
pub(crate) struct Rulers {
    device: Arc<Device>,
    /// What the device's own measurement gives; a CPU has none.
    pub(crate) rates: Option<Rates>,
}

/// A ruler for one row, ready to be timed.
pub(crate) enum Ready<'a> {
    Copy { device: &'a Device, from: Buffer, to: Buffer },
    Read { device: &'a Device, stream: ReadStream<'a> },
    Rate(f64),
}

impl Rulers {
    /// Measures the device.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn new(device: &Arc<Device>) -> Result<Rulers> {
        let rates = device.is_cuda().then(|| measure(device)).transpose()?;
        Ok(Rulers { device: device.clone(), rates })
    }

    /// The ruler of a row with so many bytes and operations; on a CPU all are held against a copy.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn ready(&self, ruler: Ruler, bytes: f64, operations: f64) -> Result<Ready<'_>> {
        match (ruler, self.rates) {
            (Ruler::Product, Some(Rates { gemm: Some(gemm), .. })) => Ok(Ready::Rate(operations / (gemm * 1e12))),
            (Ruler::Read, Some(_)) => {
                Ok(Ready::Read { device: &self.device, stream: ReadStream::new(&self.device, bytes as usize)? })
            }
            _ => {
                let half = bytes as usize / 2;
                let (from, to) = (self.device.pool().alloc(half)?, self.device.pool().alloc(half)?);
                from.copy_from(0, &to, 0, half)?;
                Ok(Ready::Copy { device: &self.device, from, to })
            }
        }
    }
}

impl Ready<'_> {
    /// Seconds of one round.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn time(&self) -> Result<f64> {
        let seconds = |device: &Device, f: &dyn Fn() -> Result<()>| -> Result<f64> {
            device.flush_l2()?;
            device.time(f).map(|t: Duration| t.as_secs_f64())
        };
        match self {
            Ready::Copy { device, from, to } => seconds(device, &|| to.copy_from(0, from, 0, from.len())),
            Ready::Read { device, stream } => seconds(device, &|| stream.run()),
            Ready::Rate(seconds) => Ok(*seconds),
        }
    }
}

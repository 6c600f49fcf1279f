//! What times are held against, measured on the same device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::{Config, Result};
use driver::Executable;
use graph::{Module, text};
use runtime::cuda::{Rates, measure};
use runtime::{Array, Buffer, Device};
use scalar::DType;

use super::row::Ruler;
use super::tiled::{Values, tiled};

/// Columns of the stream that is read.
const COLUMNS: usize = 8192;

/// The rulers of a device.
pub(crate) struct Rulers {
    device: Arc<Device>,
    config: Config,
    /// What the device's own measurement gives; a CPU has none.
    pub(crate) rates: Option<Rates>,
    /// Sums of a stream, by its rows.
    streams: BTreeMap<usize, Executable>,
}

/// A ruler for one row, ready to be timed.
pub(crate) enum Ready<'a> {
    Copy { device: &'a Device, from: Buffer, to: Buffer },
    Read { device: &'a Device, sum: &'a Executable, x: [Array; 1], at_most: f64 },
    Rate(f64),
}

impl Rulers {
    /// Measures the device.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn new(device: &Arc<Device>, config: &Config) -> Result<Rulers> {
        let rates = device.is_cuda().then(|| measure(device)).transpose()?;
        Ok(Rulers { device: device.clone(), config: config.clone(), rates, streams: BTreeMap::new() })
    }

    /// The ruler of a row with so many bytes and operations; on a CPU a product is held against a copy.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn ready(&mut self, ruler: Ruler, bytes: f64, operations: f64) -> Result<Ready<'_>> {
        match (ruler, self.rates) {
            (Ruler::Product, Some(Rates { gemm: Some(gemm), .. })) => Ok(Ready::Rate(operations / (gemm * 1e12))),
            (Ruler::Read, _) => self.read(bytes),
            _ => {
                let half = bytes as usize / 2;
                let (from, to) = (self.device.pool().alloc(half)?, self.device.pool().alloc(half)?);
                from.copy_from(0, &to, 0, half)?;
                Ok(Ready::Copy { device: &self.device, from, to })
            }
        }
    }

    /// Our own sum of an f32 stream, or the device's own measurement of reading where that is faster.
    fn read(&mut self, bytes: f64) -> Result<Ready<'_>> {
        let rows = (bytes / (4 * COLUMNS) as f64).ceil().max(1.0) as usize;
        if !self.streams.contains_key(&rows) {
            let body = format!(
                "func stream(x: f32[{rows}, {COLUMNS}]) -> (s) {{\n  %1 = reduce.sum %x [0, 1] : f32[]\n  return s = %1\n}}\n"
            );
            let module = Module { graph: text::parse("stream", &body)?, frozen: Vec::new() };
            self.streams.insert(rows, driver::compile(&module, &self.config)?);
        }
        let x = [tiled(self.device.pool(), DType::F32, &[rows, COLUMNS], Values { below: 1, floats: (-1.0, 1.0) }, 0)?];
        let at_most = self.rates.map_or(f64::INFINITY, |r| bytes / (r.read * 1e9));
        Ok(Ready::Read { device: &self.device, sum: &self.streams[&rows], x, at_most })
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
            Ready::Read { device, sum, x, at_most } => Ok(seconds(device, &|| sum.run_arrays(x).map(drop))?.min(*at_most)),
            Ready::Rate(seconds) => Ok(*seconds),
        }
    }
}

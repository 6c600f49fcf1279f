//! Programs on memory of the caller's.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;

use base::{Error, Result};
use driver::Bound;
use runtime::{Buffer, Recorded};

use crate::program::{Program, Type};

/// Bytes to whose multiples programs expect addresses to be aligned.
const ALIGNMENT: usize = 16;

/// A program with the addresses of its inputs and outputs.
pub struct Call {
    /// Declared first, so that it ends before what it launches does.
    recorded: Option<Recorded>,
    bound: Bound,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    program: Arc<Program>,
}

impl Call {
    /// Binds dense row-major memory. An output with the address of an input overwrites it.
    ///
    /// # Errors
    /// Another number of addresses, or one that is not aligned to 16 bytes.
    ///
    /// # Safety
    /// The addresses are memory of the program's device, as large as the types say, that stays valid as long as the value. Others use
    /// it in the order of the device's stream. Outputs overlap no other output, and no input but one that they overwrite.
    pub unsafe fn new(program: Arc<Program>, inputs: Vec<usize>, outputs: Vec<usize>) -> Result<Call> {
        check("input", &inputs, &program.inputs)?;
        check("output", &outputs, &program.outputs)?;
        let filled = |n: usize| program.outputs[n].bytes() > 0;
        let taken = |(n, address): (usize, &usize)| inputs.iter().position(|i| i == address && filled(n));
        let overwrites: Vec<Option<usize>> = outputs.iter().enumerate().map(taken).collect();
        let shapes = program.inputs.iter().map(|t| t.shape.clone()).collect();
        let bound = program.executable.bound(&BTreeMap::new(), shapes, &overwrites)?;
        Ok(Call { recorded: None, bound, inputs, outputs, program })
    }

    /// Runs; on a GPU it returns before that is done.
    ///
    /// # Errors
    /// Those of [`driver::Executable::run_bound`].
    pub fn run(&self) -> Result<()> {
        let inputs = self.lend(&self.inputs, &self.program.inputs)?;
        let outputs = self.lend(&self.outputs, &self.program.outputs)?;
        self.program.executable.run_bound(&self.bound, inputs, outputs)
    }

    /// Runs once, then records a run for [`Call::replay`].
    ///
    /// # Errors
    /// Those of a run; `Unsupported` for a plan of which something runs on the host, and on the CPU.
    pub fn record(&mut self) -> Result<()> {
        self.run()?;
        self.program.synchronize()?;
        self.recorded = None;
        self.recorded = Some(self.program.executable.device().capture(|| self.run())?);
        Ok(())
    }

    /// Runs the recording, on the same memory.
    ///
    /// # Errors
    /// Nothing was recorded; those of the device.
    pub fn replay(&self) -> Result<()> {
        let recorded = self.recorded.as_ref().ok_or_else(|| Error::invalid("nothing was recorded: record the call first"))?;
        recorded.replay()
    }

    fn lend(&self, addresses: &[usize], types: &[Type]) -> Result<Vec<Buffer>> {
        let device = self.program.executable.device();
        let one = |(&address, of): (&usize, &Type)| {
            let start = NonNull::new(address as *mut u8).unwrap_or(NonNull::<u128>::dangling().cast());
            // SAFETY: who made the call promised valid memory of this size, and to keep the order of the stream; empty tensors, which
            // may have no address, are not touched.
            unsafe {
                if device.is_cuda() { Buffer::lent_on(device, start, of.bytes()) } else { Ok(Buffer::lent(start, of.bytes())) }
            }
        };
        addresses.iter().zip(types).map(one).collect()
    }
}

fn check(what: &str, addresses: &[usize], types: &[Type]) -> Result<()> {
    if addresses.len() != types.len() {
        return Err(Error::invalid(format!("{} addresses of {what}s given, there are {}", addresses.len(), types.len())));
    }
    for (n, (address, of)) in addresses.iter().zip(types).enumerate() {
        if of.bytes() > 0 && (*address == 0 || !address.is_multiple_of(ALIGNMENT)) {
            let ty = format!("{}{:?}", of.dtype, of.shape);
            return Err(Error::invalid(format!(
                "{what} {n}, {ty}, is at {address:#x}: give an address aligned to {ALIGNMENT} bytes"
            )));
        }
    }
    Ok(())
}

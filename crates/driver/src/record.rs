//! Runs that are repeated as one: a plan's launches recorded by the device.

use std::sync::Arc;

use base::{Error, Result};
use runtime::{Array, Buffer, Recorded};
use scalar::DType;

use crate::executable::Executable;
use crate::host::copy;
use crate::instance::{Instance, Part};
use crate::values::Kept;

/// A run for some sizes, recorded. Its intermediates and results keep their memory between runs.
pub(crate) struct Recording {
    recorded: Recorded,
    inputs: Vec<Feed>,
    /// Inputs that it was allowed to overwrite.
    free: Vec<bool>,
    outputs: Vec<Shows>,
    /// Memory of results, with its holders while no result lives elsewhere.
    results: Vec<(Arc<Buffer>, usize)>,
    /// Keeps what the launches read.
    _kept: Arc<Kept>,
}

/// Where the launches read an input.
enum Feed {
    /// Where the caller has it: it must lie at this address.
    At(usize),
    /// In memory of the recording, to which it is copied.
    Copied(Array),
}

/// What an output shows.
enum Shows {
    /// Memory of an input of the caller's: its number, and what of it.
    Input(usize, DType, Part),
    Own(Array),
}

/// Where an array begins.
pub(crate) fn address(array: &Array) -> usize {
    array.buffer.as_ptr() as usize + array.offset_bytes()
}

impl Recording {
    /// Records a run. Inputs that are `fixed` are read where they lie, and the others in memory of the recording.
    ///
    /// # Errors
    /// Those of the run; `Unsupported` where something in it cannot be recorded.
    pub(crate) fn new(
        executable: &Executable,
        instance: &Instance,
        inputs: &[Array],
        fixed: &[bool],
        free: &[bool],
    ) -> Result<Recording> {
        let device = executable.device();
        let (mut given, mut outputs) = (Vec::new(), Vec::new());
        let recorded = device.capture(|| {
            let own = |a: &Array| Array::contiguous(device.pool(), a.dtype, &a.shape);
            let place = |(a, fixed): (&Array, &bool)| if *fixed { Ok(a.clone()) } else { own(a) };
            given = inputs.iter().zip(fixed).map(place).collect::<Result<Vec<_>>>()?;
            outputs = executable.execute(instance, &given, free)?;
            Ok(())
        })?;
        let shows = |o: Array| match (0..given.len()).find(|&n| fixed[n] && Arc::ptr_eq(&given[n].buffer, &o.buffer)) {
            Some(n) => {
                let offset = o.offset * o.dtype.size() - given[n].offset_bytes();
                Shows::Input(n, o.dtype, Part { shape: o.shape, strides: o.strides, offset: offset / o.dtype.size() })
            }
            None => Shows::Own(o),
        };
        let outputs: Vec<Shows> = outputs.into_iter().map(shows).collect();
        let feed = |(a, fixed): (Array, &bool)| if *fixed { Feed::At(address(&a)) } else { Feed::Copied(a) };
        let inputs = given.into_iter().zip(fixed).map(feed).collect();
        let kept = executable.shared(instance)?.clone();
        let results = results(&outputs, &kept);
        Ok(Recording { recorded, inputs, free: free.to_vec(), outputs, results, _kept: kept })
    }

    /// Bytes of device memory that it keeps.
    pub(crate) fn bytes(&self) -> usize {
        self.recorded.bytes()
    }
    /// Whether no result of an earlier run lives.
    pub(crate) fn is_idle(&self) -> bool {
        self.results.iter().all(|(buffer, holders)| Arc::strong_count(buffer) == *holders)
    }
    /// Whether inputs lie where it reads them.
    pub(crate) fn reads(&self, inputs: &[Array]) -> bool {
        let at = |(feed, a): (&Feed, &Array)| if let Feed::At(at) = feed { *at == address(a) } else { true };
        self.inputs.iter().zip(inputs).all(at)
    }
    /// Whether it overwrites no input but those that are free.
    pub(crate) fn spares(&self, free: &[bool]) -> bool {
        let kept = |(n, feed): (usize, &Feed)| matches!(feed, Feed::Copied(_)) || free.get(n) == Some(&true);
        (0..).zip(&self.inputs).zip(&self.free).all(|(input, was_free)| !was_free || kept(input))
    }

    /// Copies the inputs to where the launches read them, unless they lie there, and runs; the recording is idle and fits.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn run(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        for (feed, from) in self.inputs.iter().zip(inputs) {
            if let Feed::Copied(to) = feed {
                copy(from, to)?;
            }
        }
        self.recorded.replay()?;
        let shown = |shows: &Shows| match shows {
            Shows::Input(n, dtype, part) => {
                let input = &inputs[*n];
                if !input.offset_bytes().is_multiple_of(dtype.size()) {
                    return Err(Error::internal("a result that shows an input lies between two elements"));
                }
                Ok(part.of(&input.buffer, *dtype, input.offset_bytes() / dtype.size()))
            }
            Shows::Own(array) => Ok(array.clone()),
        };
        self.outputs.iter().map(shown).collect()
    }
}

/// The buffers of results that are not shared by all calls, with their holders.
fn results(outputs: &[Shows], kept: &Kept) -> Vec<(Arc<Buffer>, usize)> {
    let mut buffers: Vec<Arc<Buffer>> = Vec::new();
    for shows in outputs {
        let Shows::Own(array) = shows else { continue };
        let known = |b: &Arc<Buffer>| Arc::ptr_eq(b, &array.buffer);
        if !buffers.iter().any(known) && !kept.values().any(|k| known(&k.buffer)) {
            buffers.push(array.buffer.clone());
        }
    }
    let counted = |buffer: Arc<Buffer>| {
        let holders = Arc::strong_count(&buffer);
        (buffer, holders)
    };
    buffers.into_iter().map(counted).collect()
}

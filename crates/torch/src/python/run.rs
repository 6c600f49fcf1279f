//! One call of a compiled program.

use std::ptr::NonNull;

use base::Error;
use driver::{Deviation, Tolerance};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use runtime::Buffer;

use super::bind::{Dims, Sized, Span, binding, number, numbers};
use super::profile::Ranges;
use super::runner::{Call, Given, Input, Output, Part, Promised, Runner, Slot};
use super::{deviation_error, dlpack, memory, python_error};
use crate::program::{Shown, TensorRead};

/// How a call runs.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    Plain,
    /// Every kernel is checked against the unfused graph.
    Checked(Option<Tolerance>),
    /// Every kernel has a range in torch's profiler.
    Profiled,
}

/// State of one call.
pub(super) struct Run<'py, 'r> {
    py: Python<'py>,
    runner: &'r Runner,
    mode: Mode,
    values: Vec<Option<Bound<'py, PyAny>>>,
    dims: Dims,
}

/// Memory of a tensor or integer that outlives the buffer.
fn lend(address: usize, bytes: usize) -> Buffer {
    let start = NonNull::new(address as *mut u8).unwrap_or(NonNull::<u64>::dangling().cast());
    // SAFETY: the run holds the tensor or integer behind the address until the segment has ended; a tensor's memory covers what
    // its sizes and strides reach, which is all that programs touch; an empty one has no bytes that could be touched. Programs
    // write outputs only.
    unsafe { Buffer::lent(start, bytes) }
}

impl<'py, 'r> Run<'py, 'r> {
    pub(super) fn new(py: Python<'py>, runner: &'r Runner, mode: Mode) -> Run<'py, 'r> {
        Run { py, runner, mode, values: vec![None; runner.slots], dims: Dims::new() }
    }

    /// Takes the arguments out of their list.
    pub(super) fn take(&mut self, arguments: &Bound<'py, PyList>) -> PyResult<()> {
        if arguments.len() != self.runner.arguments.len() {
            let (have, want) = (arguments.len(), self.runner.arguments.len());
            return Err(PyRuntimeError::new_err(format!("{have} arguments for {want} inputs")));
        }
        for (argument, value) in self.runner.arguments.iter().zip(arguments.iter()) {
            if let Some(var) = argument.symbol {
                self.dims.insert(var, value.extract()?);
            }
            for &(axis, var) in &argument.defines {
                let extent = value.getattr(intern!(self.py, "shape"))?.get_item(axis)?.extract()?;
                self.dims.insert(var, extent);
            }
            if let Some(slot) = argument.slot {
                self.values[slot] = Some(self.conforming(value, argument.promised.as_ref())?);
            }
        }
        for (_, slot, value) in &self.runner.attributes {
            if let (Some(slot), Some(value)) = (slot, value) {
                self.values[*slot] = Some(value.bind(self.py).clone());
            }
        }
        arguments.del_slice(0, arguments.len())
    }

    pub(super) fn release(&mut self, slot: Slot) {
        self.values[slot] = None;
    }

    fn value(&self, slot: Slot) -> PyResult<&Bound<'py, PyAny>> {
        self.values[slot].as_ref().ok_or_else(|| PyRuntimeError::new_err(format!("value {slot} is read before it is there")))
    }

    /// A value at a boundary as a Python object.
    pub(super) fn given(&self, given: &Given) -> PyResult<Bound<'py, PyAny>> {
        match given {
            Given::Whole(slot) => Ok(self.value(*slot)?.clone()),
            Given::View(slot, shown) => self.view(self.value(*slot)?, shown),
            Given::Int(s) => Ok(number(&self.dims, s)?.into_pyobject(self.py)?.into_any()),
            Given::None => Ok(self.py.None().into_bound(self.py)),
        }
    }

    fn view(&self, base: &Bound<'py, PyAny>, shown: &Shown) -> PyResult<Bound<'py, PyAny>> {
        let size = PyTuple::new(self.py, numbers(&self.dims, &shown.layout.shape)?)?;
        let stride = PyTuple::new(self.py, numbers(&self.dims, &shown.layout.strides)?)?;
        memory::view(base, &size, &stride, number(&self.dims, &shown.offset)?)
    }

    /// The tensor with the dtype and strides that tracing promised: itself, or a copy.
    fn conforming(&self, tensor: Bound<'py, PyAny>, promised: Option<&Promised>) -> PyResult<Bound<'py, PyAny>> {
        let Some(Promised { layout, dtype }) = promised.filter(|_| !tensor.is_none()) else { return Ok(tensor) };
        let (size, stride) = (numbers(&self.dims, &layout.shape)?, numbers(&self.dims, &layout.strides)?);
        let wanted = memory::torch_dtype(self.py, *dtype)?;
        let converts = !tensor.getattr(intern!(self.py, "dtype"))?.is(&wanted);
        let moves = {
            let real = dlpack::see(&tensor)?;
            if real.shape() != size {
                return Err(PyRuntimeError::new_err(format!("a tensor has shape {:?}, tracing promised {size:?}", real.shape())));
            }
            let matters = |((n, a), b): ((&i64, &i64), &i64)| *n > 1 && a != b;
            !size.contains(&0) && size.iter().zip(real.strides()).zip(&stride).any(matters)
        };
        if !converts && !moves {
            return Ok(tensor);
        }
        memory::copied(&tensor, size, stride, &wanted)
    }

    /// A tensor whose memory can be read as an input's: the value itself, or a copy of it where no view of dense memory has its
    /// strides or it is not aligned for its element type.
    fn readable(&self, slot: Slot, read: &TensorRead, span: &Span) -> PyResult<(usize, Option<Bound<'py, PyAny>>)> {
        let base = self.value(slot)?;
        let method = if read.copied {
            intern!(self.py, "contiguous")
        } else {
            let at = dlpack::see(base)?.address().wrapping_add_signed(span.offset);
            if at.is_multiple_of(span.dtype.size()) {
                return Ok((at, None));
            }
            intern!(self.py, "clone")
        };
        let copy = self.view(base, &read.shown)?.call_method0(method)?;
        let at = dlpack::see(&copy)?.address();
        Ok((at, Some(copy)))
    }

    /// Memory of the inputs, with the copies that some of it belongs to.
    fn inputs(&self, part: &Part, sized: &Sized, integers: &[i64]) -> PyResult<(Vec<Buffer>, Vec<Bound<'py, PyAny>>)> {
        let (mut spans, mut integers) = (sized.reads.iter(), integers.iter());
        let (mut buffers, mut copies) = (Vec::with_capacity(part.inputs.len()), Vec::new());
        for input in &part.inputs {
            buffers.push(match input {
                Input::Tensor(slot, read) => {
                    let span = spans.next().ok_or_else(|| PyRuntimeError::new_err("an input without a span"))?;
                    let (at, copy) = self.readable(*slot, read, span)?;
                    copies.extend(copy);
                    lend(at, span.bytes)
                }
                Input::Integer(_) => {
                    let value = integers.next().ok_or_else(|| PyRuntimeError::new_err("an integer without value"))?;
                    lend(std::ptr::from_ref(value) as usize, size_of::<i64>())
                }
            });
        }
        Ok((buffers, copies))
    }

    /// Memory of the outputs: new tensors, or arguments that are overwritten.
    fn outputs(&mut self, part: &Part, sized: &Sized) -> PyResult<Vec<Buffer>> {
        let made = memory::empty(sized.makes.bind(self.py))?;
        let mut made = made.iter();
        let mut buffers = Vec::with_capacity(part.makes.len());
        for (output, &bytes) in part.makes.iter().zip(&sized.bytes) {
            let slot = output.into.unwrap_or(output.slot);
            if output.into.is_none() {
                self.values[slot] = made.next();
            }
            buffers.push(lend(dlpack::see(self.value(slot)?)?.address(), bytes));
        }
        Ok(buffers)
    }

    /// Runs a segment's kernels without the GIL.
    fn kernels(&self, part: &Part, sized: &Sized, inputs: Vec<Buffer>, outputs: Vec<Buffer>) -> PyResult<()> {
        let (executable, ready) = (&part.executable, &sized.ready);
        let ran: Result<Vec<Deviation>, Error> = match self.mode {
            Mode::Plain => self.py.detach(|| executable.run_bound(ready, inputs, outputs).map(|()| Vec::new())),
            Mode::Checked(tolerance) => self.py.detach(|| executable.verify_bound(ready, inputs, outputs, tolerance)),
            Mode::Profiled => {
                let ranges = sized.ranges.get_or_init(|| Ranges::new(&self.runner.fx.name, part, &self.dims));
                self.py.detach(|| executable.run_watched(ready, inputs, outputs, ranges).map(|()| Vec::new()))
            }
        };
        let deviations = ran.map_err(|e| python_error(&e))?;
        if deviations.is_empty() { Ok(()) } else { Err(deviation_error(&self.runner.fx.name, &deviations)) }
    }

    /// Runs a segment on the tensors' own memory.
    pub(super) fn part(&mut self, part: &Part) -> PyResult<()> {
        let sized = binding(self.py, part, &self.dims)?;
        let integers =
            part.inputs.iter().filter_map(|i| if let Input::Integer(s) = i { Some(number(&self.dims, s)) } else { None });
        let integers = integers.collect::<PyResult<Vec<i64>>>()?;
        let (inputs, _copies) = self.inputs(part, &sized, &integers)?;
        let outputs = self.outputs(part, &sized)?;
        self.kernels(part, &sized, inputs, outputs)?;
        for (n, stride) in &sized.spread {
            let Output { slot, made, .. } = &part.makes[*n];
            let dense = self.value(*slot)?;
            let size = dense.getattr(intern!(self.py, "shape"))?;
            self.values[*slot] = Some(memory::copied(dense, size, stride, &memory::torch_dtype(self.py, made.dtype)?)?);
        }
        Ok(())
    }

    /// Calls torch.
    pub(super) fn call(&mut self, call: &Call) -> PyResult<()> {
        let operands = call.operands.iter().map(|g| self.given(g)).collect::<PyResult<Vec<_>>>()?;
        let function = call.function.as_ref().ok_or_else(|| PyRuntimeError::new_err("a torch call without a function"))?;
        let operands = PyTuple::new(self.py, operands)?;
        let result = call.tally.count(|| function.bind(self.py).call1(operands))?;
        let several = result.is_instance_of::<PyTuple>() || result.is_instance_of::<PyList>();
        for &(i, axis, var) in &call.defines {
            if !self.dims.contains_key(&var) {
                let tensor = if several { result.get_item(i)? } else { result.clone() };
                let shape = tensor.getattr(intern!(self.py, "shape"))?;
                self.dims.insert(var, shape.get_item(axis)?.extract()?);
            }
        }
        if let Some(var) = call.integer {
            self.dims.insert(var, result.extract()?);
        }
        for (i, slot, promised) in &call.items {
            self.values[*slot] = Some(self.conforming(result.get_item(*i)?, promised.as_ref())?);
        }
        if let Some((slot, promised)) = &call.result {
            self.values[*slot] = Some(self.conforming(result, promised.as_ref())?);
        }
        Ok(())
    }
}

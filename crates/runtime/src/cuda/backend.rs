//! Descriptors of cuDNN's backend.

use std::ffi::c_void;
use std::ptr::null_mut;

use base::{Error, Result};

use super::blas::{Code, Opaque};
use super::cudnn::Dnn;

/// A descriptor, destroyed in the end.
pub(super) struct Descriptor {
    raw: Opaque,
    destroy: unsafe extern "C" fn(Opaque) -> Code,
}

// SAFETY: descriptors are plain memory of the library.
unsafe impl Send for Descriptor {}
// SAFETY: as for Send; once made, they are only read.
unsafe impl Sync for Descriptor {}

/// Values of an attribute.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    Handle(Opaque),
    Type(i32),
    Numbers(&'a [i64]),
    Factor(f32),
    Addresses(&'a [u64]),
    Mode(i32),
    Function(i32),
    Nan(i32),
    Flag(bool),
    Heuristic(i32),
    Knob(i32),
    One(&'a Descriptor),
    Descriptors(&'a [&'a Descriptor]),
}

/// `cudnnBackendAttributeType_t`.
mod ty {
    pub(super) const HANDLE: i32 = 0;
    pub(super) const DATA_TYPE: i32 = 1;
    pub(super) const BOOLEAN: i32 = 2;
    pub(super) const NUMBER: i32 = 3;
    pub(super) const FLOAT: i32 = 4;
    pub(super) const POINTER: i32 = 6;
    pub(super) const CONVOLUTION_MODE: i32 = 7;
    pub(super) const HEURISTIC: i32 = 8;
    pub(super) const KNOB: i32 = 9;
    pub(super) const NAN_PROPAGATION: i32 = 10;
    pub(super) const NOTE: i32 = 11;
    pub(super) const POINTWISE_MODE: i32 = 14;
    pub(super) const DESCRIPTOR: i32 = 15;
}

impl Descriptor {
    fn empty(dnn: &Dnn, sort: i32) -> Result<Descriptor> {
        let mut made = Descriptor { raw: null_mut(), destroy: dnn.descriptor_destroy };
        // SAFETY: the function stores a descriptor, which is destroyed once, when the value is dropped.
        dnn.check(unsafe { (dnn.descriptor_create)(sort, &raw mut made.raw) }, "cudnnBackendCreateDescriptor")?;
        Ok(made)
    }

    /// One with attributes, finished.
    pub(super) fn new(dnn: &Dnn, sort: i32, attributes: &[(i32, Values<'_>)]) -> Result<Descriptor> {
        let made = Descriptor::empty(dnn, sort)?;
        for (attribute, values) in attributes {
            made.set(dnn, *attribute, *values)?;
        }
        // SAFETY: the descriptor exists.
        dnn.check(unsafe { (dnn.finalize)(made.raw) }, "cudnnBackendFinalize")?;
        Ok(made)
    }

    pub(super) fn raw(&self) -> Opaque {
        self.raw
    }

    fn set(&self, dnn: &Dnn, attribute: i32, values: Values<'_>) -> Result<()> {
        let set = |ty: i32, count: usize, values: *const c_void| {
            // SAFETY: the descriptor exists, and there are as many values of the type as are said.
            let code = unsafe { (dnn.set)(self.raw, attribute, ty, count as i64, values) };
            dnn.check(code, &format!("cudnnBackendSetAttribute {attribute}"))
        };
        match values {
            Values::Handle(h) => set(ty::HANDLE, 1, (&raw const h).cast()),
            Values::Type(t) => set(ty::DATA_TYPE, 1, (&raw const t).cast()),
            Values::Numbers(n) => set(ty::NUMBER, n.len(), n.as_ptr().cast()),
            Values::Factor(f) => set(ty::FLOAT, 1, (&raw const f).cast()),
            Values::Addresses(a) => set(ty::POINTER, a.len(), a.as_ptr().cast()),
            Values::Mode(m) => set(ty::CONVOLUTION_MODE, 1, (&raw const m).cast()),
            Values::Function(m) => set(ty::POINTWISE_MODE, 1, (&raw const m).cast()),
            Values::Nan(n) => set(ty::NAN_PROPAGATION, 1, (&raw const n).cast()),
            Values::Flag(f) => set(ty::BOOLEAN, 1, (&raw const f).cast()),
            Values::Heuristic(m) => set(ty::HEURISTIC, 1, (&raw const m).cast()),
            Values::Knob(k) => set(ty::KNOB, 1, (&raw const k).cast()),
            Values::One(d) => set(ty::DESCRIPTOR, 1, (&raw const d.raw).cast()),
            Values::Descriptors(all) => {
                let raw: Vec<Opaque> = all.iter().map(|d| d.raw).collect();
                set(ty::DESCRIPTOR, raw.len(), raw.as_ptr().cast())
            }
        }
    }

    fn get(&self, dnn: &Dnn, attribute: i32, ty: i32, room: usize, values: *mut c_void) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the descriptor exists; callers have room for as many values of the type.
        let code = unsafe { (dnn.get)(self.raw, attribute, ty, room as i64, &raw mut count, values) };
        dnn.check(code, &format!("cudnnBackendGetAttribute {attribute}"))?;
        Ok(count.max(0) as usize)
    }

    pub(super) fn number(&self, dnn: &Dnn, attribute: i32) -> Result<i64> {
        let mut value = 0i64;
        self.get(dnn, attribute, ty::NUMBER, 1, (&raw mut value).cast())?;
        Ok(value)
    }

    pub(super) fn knob(&self, dnn: &Dnn, attribute: i32) -> Result<i32> {
        let mut value = 0i32;
        self.get(dnn, attribute, ty::KNOB, 1, (&raw mut value).cast())?;
        Ok(value)
    }

    /// Numerical notes, at most so many.
    pub(super) fn notes<const N: usize>(&self, dnn: &Dnn, attribute: i32) -> Result<Vec<i32>> {
        let mut values = [0i32; N];
        let count = self.get(dnn, attribute, ty::NOTE, N, values.as_mut_ptr().cast())?;
        Ok(values[..count.min(N)].to_vec())
    }

    /// Descriptors of a sort, at most so many. Asked for none, the library does not say of all attributes how many there are.
    pub(super) fn descriptors(&self, dnn: &Dnn, attribute: i32, sort: i32, most: usize) -> Result<Vec<Descriptor>> {
        let mut all = (0..most).map(|_| Descriptor::empty(dnn, sort)).collect::<Result<Vec<_>>>()?;
        let mut raw: Vec<Opaque> = all.iter().map(|d| d.raw).collect();
        let filled = self.get(dnn, attribute, ty::DESCRIPTOR, most, raw.as_mut_ptr().cast())?;
        if raw.iter().zip(&all).any(|(raw, made)| *raw != made.raw) {
            return Err(Error::internal("cuDNN replaced descriptors that it was to fill"));
        }
        all.truncate(filled);
        Ok(all)
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it was created and is destroyed once; a failure leaves nothing to do.
            unsafe { (self.destroy)(self.raw) };
        }
    }
}

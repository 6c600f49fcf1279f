//! Addresses of tensors by DLPack's table of C functions (`DLPackExchangeAPI`, DLPack 1.2 and later), which torch publishes on its
//! tensor type: a tensor is looked at in nanoseconds, without Python objects for what is read.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;

/// The major version of DLPack whose structures these are.
const MAJOR: u32 = 1;
const ATTRIBUTE: &str = "__dlpack_c_exchange_api__";
const CAPSULE: &CStr = c"dlpack_exchange_api";

/// DLPack's `DLTensor`: a tensor that its owner keeps alive.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    rank: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// A function of the table that nothing here calls.
type Other = Option<unsafe extern "C" fn()>;

/// DLPack's `DLPackExchangeAPI`.
#[repr(C)]
struct Table {
    major: u32,
    minor: u32,
    previous: *const c_void,
    allocate: Other,
    from_object: Other,
    to_object: Other,
    look: Option<Look>,
    stream: Other,
}

/// `DLPackDLTensorFromPyObjectNoSync`: fills in a tensor that the object keeps alive; not 0 with a Python exception set.
type Look = unsafe extern "C" fn(object: *mut pyo3::ffi::PyObject, tensor: *mut Tensor) -> c_int;

static LOOK: PyOnceLock<Look> = PyOnceLock::new();

fn look(py: Python<'_>) -> PyResult<Look> {
    let found = LOOK.get_or_try_init(py, || {
        let capsule = py.import("torch")?.getattr("Tensor")?.getattr(ATTRIBUTE)?.cast_into::<PyCapsule>()?;
        let table = capsule.pointer_checked(Some(CAPSULE))?.cast::<Table>();
        // SAFETY: a capsule of that name holds DLPack's table, which lives as long as torch; every version begins with its version
        // numbers, and all of one major version have these fields.
        let found = unsafe { if (*table.as_ptr()).major == MAJOR { (*table.as_ptr()).look } else { None } };
        found.ok_or_else(|| PyRuntimeError::new_err("torch has no table of DLPack 1 that shows tensors: use torch 2.11 or later"))
    });
    found.copied()
}

/// A tensor of torch's on the CPU, looked at.
pub(super) struct Seen<'a> {
    tensor: Tensor,
    /// The object, which owns what the tensor points to.
    _owner: &'a Bound<'a, PyAny>,
}

/// Looks at a tensor.
///
/// # Errors
/// No tensor, or one without dense memory on the CPU.
pub(super) fn see<'a>(tensor: &'a Bound<'a, PyAny>) -> PyResult<Seen<'a>> {
    let look = look(tensor.py())?;
    let mut shown = MaybeUninit::<Tensor>::uninit();
    // SAFETY: the GIL is held; the object is alive, and torch's function tells tensors from other objects.
    if unsafe { look(tensor.as_ptr(), shown.as_mut_ptr()) } != 0 {
        return Err(PyErr::fetch(tensor.py()));
    }
    // SAFETY: it was filled in.
    Ok(Seen { tensor: unsafe { shown.assume_init() }, _owner: tensor })
}

impl Seen<'_> {
    /// Address of the first element.
    pub(super) fn address(&self) -> usize {
        self.tensor.data as usize + self.tensor.byte_offset as usize
    }

    fn numbers(&self, start: *const i64) -> &[i64] {
        if self.tensor.rank == 0 {
            return &[];
        }
        // SAFETY: the owner holds as many extents and strides as the tensor has axes; nothing resizes it under the GIL.
        unsafe { std::slice::from_raw_parts(start, self.tensor.rank as usize) }
    }

    /// Extents.
    pub(super) fn shape(&self) -> &[i64] {
        self.numbers(self.tensor.shape)
    }

    /// Strides, in elements.
    pub(super) fn strides(&self) -> &[i64] {
        self.numbers(self.tensor.strides)
    }
}

//! Host tensors to arrays and back.

use std::sync::Arc;

use base::{Error, Result};
use graph::HostTensor;
use runtime::{Array, Buffer, Device, Pool};

/// A host tensor as an array, without copying where its bytes are aligned.
///
/// # Errors
/// Out of memory for a copy.
pub fn to_array(pool: &Pool, tensor: &HostTensor) -> Result<Array> {
    let buffer = Buffer::foreign(pool, tensor.owner(), tensor.dtype())?;
    Array::over(Arc::new(buffer), tensor.dtype(), tensor.shape())
}

/// An array as a dense host tensor.
///
/// # Errors
/// An array outside its buffer.
pub fn to_host(array: &Array) -> Result<HostTensor> {
    HostTensor::from_bytes(array.dtype, &array.shape, array.to_vec_bytes()?)
        .map_err(|e| Error::internal(format!("array to host: {e}")))
}

/// The array itself if it is row-major, else a row-major copy.
pub(crate) fn dense(pool: &Pool, array: &Array) -> Result<Array> {
    if array.is_contiguous() {
        return Ok(array.clone());
    }
    Array::from_bytes(pool, array.dtype, &array.shape, &array.to_vec_bytes()?)
}

/// Bytes to whose multiples programs of a GPU expect buffers to be aligned.
const ALIGNMENT: usize = 16;

/// The array itself if the device's programs can read it, else a copy: row-major, on the device, aligned.
pub(crate) fn ready_to_read(device: &Device, array: &Array) -> Result<Array> {
    let pool = device.pool();
    if !device.is_cuda() {
        return dense(pool, array);
    }
    let aligned = (array.buffer.as_ptr() as usize + array.offset_bytes()).is_multiple_of(ALIGNMENT);
    if array.is_contiguous() && aligned && array.buffer.is_on_gpu() {
        return Ok(array.clone());
    }
    let own = Array::contiguous(pool, array.dtype, &array.shape)?;
    copy(array, &own)?;
    Ok(own)
}

/// Copies an array's elements to a row-major one.
pub(crate) fn copy(from: &Array, to: &Array) -> Result<()> {
    if from.is_contiguous() {
        let bytes = from.elements() * from.dtype.size();
        return to.buffer.copy_from(to.offset_bytes(), &from.buffer, from.offset_bytes(), bytes);
    }
    to.buffer.write(to.offset_bytes(), &from.to_vec_bytes()?)
}

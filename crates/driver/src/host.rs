//! Host tensors to arrays and back.

use std::sync::Arc;

use base::{Error, Result};
use graph::HostTensor;
use runtime::{Array, Buffer, Pool};

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

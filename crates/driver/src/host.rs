//! Host tensors to arrays and back.

use std::sync::Arc;

use base::{DeviceId, Error, Result};
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

/// Arrays that the device's programs can read in place of some that they cannot; `None` if they can read all. Copies are row-major, on
/// the device, and aligned.
///
/// # Errors
/// An array on another GPU; out of memory.
pub(crate) fn readable(device: &Device, arrays: &[Array]) -> Result<Option<Vec<Array>>> {
    let id = device.id();
    let mut all = true;
    for (n, array) in arrays.iter().enumerate() {
        all &= is_near(array.buffer.device(), id).map_err(|e| e.context(format!("input {n}")))? && is_plain(id, array);
    }
    if all {
        return Ok(None);
    }
    let ready = |a: &Array| a.buffer.device() == id && is_plain(id, a);
    arrays.iter().map(|a| if ready(a) { Ok(a.clone()) } else { own(device, a) }).collect::<Result<_>>().map(Some)
}

/// Whether programs of a device read memory where it is; from the host it has to be copied.
fn is_near(memory: DeviceId, device: DeviceId) -> Result<bool> {
    match memory {
        DeviceId::Cpu => Ok(device == DeviceId::Cpu),
        memory if memory == device => Ok(true),
        memory => {
            Err(Error::invalid(format!("it lies on {memory}, and the program runs on {device}; copy it there, or to the host")))
        }
    }
}

/// Whether programs of a device read an array in that layout.
fn is_plain(device: DeviceId, array: &Array) -> bool {
    let aligned = || (array.buffer.as_ptr() as usize + array.offset_bytes()).is_multiple_of(ALIGNMENT);
    array.is_contiguous() && (device == DeviceId::Cpu || array.elements() == 0 || aligned())
}

/// A row-major copy with memory of its own.
pub(crate) fn own(device: &Device, array: &Array) -> Result<Array> {
    let own = Array::contiguous(device.pool(), array.dtype, &array.shape)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_another_gpu_is_an_error() {
        let [cpu, first, second] = [DeviceId::Cpu, DeviceId::Cuda(0), DeviceId::Cuda(1)];
        assert_eq!(
            [(cpu, cpu), (first, first), (cpu, first)].map(|(m, d)| is_near(m, d).ok()),
            [Some(true), Some(true), Some(false)]
        );
        let error = is_near(second, first).unwrap_err();
        assert_eq!(error.message(), "it lies on cuda:1, and the program runs on cuda:0; copy it there, or to the host");
        assert!(is_near(first, cpu).is_err());
    }

    #[test]
    fn inputs_without_elements_lie_anywhere() {
        let pool = Pool::new();
        let array = Array::contiguous(&pool, scalar::DType::F32, &[0, 3]).unwrap();
        assert!(is_plain(DeviceId::Cuda(0), &array) && is_plain(DeviceId::Cpu, &array));
    }
}

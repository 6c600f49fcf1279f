//! Host tensors.

use std::sync::Arc;

use base::{Error, Result};
use scalar::{DType, Scalar};

/// A dense row-major tensor in host memory. The bytes are shared: clones are cheap.
#[derive(Clone)]
pub struct HostTensor {
    dtype: DType,
    shape: Vec<usize>,
    data: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

impl HostTensor {
    /// From little-endian bytes, of any owner (a vector, a mapped file section).
    ///
    /// # Errors
    /// When the byte count is not the element count times the element size.
    pub fn new(dtype: DType, shape: Vec<usize>, data: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Result<HostTensor> {
        let want = shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d));
        let have = (*data).as_ref().len();
        if want != Some(have) {
            return Err(Error::invalid(format!("tensor {dtype}{shape:?} needs {want:?} bytes, got {have}")));
        }
        Ok(HostTensor { dtype, shape, data })
    }
    /// From owned bytes; see [`HostTensor::new`].
    ///
    /// # Errors
    /// When the byte count is wrong.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: Vec<u8>) -> Result<HostTensor> {
        Self::new(dtype, shape.to_vec(), Arc::new(bytes))
    }
    /// From f64 values, each rounded to `dtype`.
    ///
    /// # Panics
    /// When the value count is not the element count.
    pub fn from_f64s(dtype: DType, shape: &[usize], values: &[f64]) -> HostTensor {
        Self::from_scalars(dtype, shape, values.iter().map(|&v| Scalar::from_f64(dtype, v)))
    }
    /// From i64 values, each converted to `dtype`.
    ///
    /// # Panics
    /// When the value count is not the element count.
    pub fn from_i64s(dtype: DType, shape: &[usize], values: &[i64]) -> HostTensor {
        Self::from_scalars(dtype, shape, values.iter().map(|&v| Scalar::from_i64(dtype, v)))
    }
    /// From scalars of `dtype` in row-major order.
    ///
    /// # Panics
    /// When the value count is not the element count.
    pub fn from_scalars(dtype: DType, shape: &[usize], values: impl Iterator<Item = Scalar>) -> HostTensor {
        let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * dtype.size());
        for v in values {
            debug_assert_eq!(v.dtype(), dtype);
            bytes.extend_from_slice(&v.bits().to_le_bytes()[..dtype.size()]);
        }
        Self::from_bytes(dtype, shape, bytes).expect("value count is the element count")
    }
    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// Extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Little-endian bytes, row-major.
    pub fn bytes(&self) -> &[u8] {
        (*self.data).as_ref()
    }
    /// The shared owner of the bytes.
    pub fn owner(&self) -> Arc<dyn AsRef<[u8]> + Send + Sync> {
        Arc::clone(&self.data)
    }
    /// Element by row-major position.
    pub fn get(&self, i: usize) -> Scalar {
        let n = self.dtype.size();
        let mut word = [0u8; 8];
        word[..n].copy_from_slice(&self.bytes()[i * n..(i + 1) * n]);
        Scalar::from_bits(self.dtype, u64::from_le_bytes(word))
    }
    /// All elements as f64.
    pub fn to_f64s(&self) -> Vec<f64> {
        (0..self.len()).map(|i| self.get(i).as_f64()).collect()
    }
    /// All elements as i64 (floats truncate).
    pub fn to_i64s(&self) -> Vec<i64> {
        (0..self.len()).map(|i| self.get(i).as_i64()).collect()
    }
}

impl std::fmt::Debug for HostTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostTensor({}{:?})", self.dtype, self.shape)
    }
}

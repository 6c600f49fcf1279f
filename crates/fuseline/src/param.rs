//! The only mutable cell.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use base::{Error, Result};
use graph::{HostTensor, TensorType};
use scalar::{DType, Sym};

use crate::Tensor;

/// A named weight. Tensors made from it read its value when they are evaluated, not when they are recorded.
///
/// ```
/// use fuseline::{Param, Tensor};
/// let w = Param::new("weight", &Tensor::new([1.0f32, 2.0]))?;
/// let y = w.tensor() * 10.0;
/// w.set(&Tensor::new([3.0f32, 4.0]))?;
/// assert_eq!(y.to_vec::<f32>()?, [30.0, 40.0]);
/// # Ok::<(), fuseline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Param(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    id: u64,
    name: String,
    ty: TensorType,
    value: RwLock<Value>,
}

static IDS: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
struct Value {
    data: HostTensor,
    /// How often `set` replaced the value.
    version: u64,
}

impl Param {
    /// A parameter with the tensor's value, which is evaluated now.
    ///
    /// # Errors
    /// As [`Tensor::eval`].
    #[track_caller]
    pub fn new(name: impl Into<String>, value: &Tensor) -> Result<Param> {
        Ok(Param::from_host(name, value.data()?))
    }
    /// A parameter that shares data on the host.
    pub fn from_host(name: impl Into<String>, data: HostTensor) -> Param {
        let shape = data.shape().iter().map(|&d| Sym::from(d as i64)).collect();
        let ty = TensorType { dtype: data.dtype(), shape };
        let id = 1 + IDS.fetch_add(1, Ordering::Relaxed);
        Param(Arc::new(Cell { id, name: name.into(), ty, value: RwLock::new(Value { data, version: 0 }) }))
    }
    /// Name.
    pub fn name(&self) -> &str {
        &self.0.name
    }
    /// Element type.
    pub fn dtype(&self) -> DType {
        self.0.ty.dtype
    }
    /// Extents.
    pub fn shape(&self) -> Vec<usize> {
        self.data().shape().to_vec()
    }
    /// Replaces the value. A parameter that has been replaced is no longer treated as a constant weight of compiled code.
    ///
    /// # Errors
    /// Another dtype or shape; else as [`Tensor::eval`].
    #[track_caller]
    pub fn set(&self, value: &Tensor) -> Result<()> {
        let data = value.data()?;
        if *value.ty() != self.0.ty {
            return Err(Error::invalid(format!("set: parameter {} is {}, the value is {}", self.0.name, self.0.ty, value.ty())));
        }
        let mut cell = self.0.value.write().expect("no panic under the lock");
        *cell = Value { data, version: cell.version + 1 };
        Ok(())
    }
    /// A tensor that reads the parameter when it is evaluated.
    pub fn tensor(&self) -> Tensor {
        Tensor::param(self)
    }
    /// The current value.
    pub fn data(&self) -> HostTensor {
        self.0.value.read().expect("no panic under the lock").data.clone()
    }
    pub(crate) fn ty(&self) -> &TensorType {
        &self.0.ty
    }
    /// Whether the value has never been replaced.
    pub(crate) fn is_frozen(&self) -> bool {
        self.0.value.read().expect("no panic under the lock").version == 0
    }
    /// Identity of the cell, never reused.
    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }
}

impl From<&Param> for Tensor {
    fn from(p: &Param) -> Tensor {
        p.tensor()
    }
}

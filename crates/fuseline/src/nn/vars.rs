//! Names and values of parameters.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base::{Error, Result};
use graph::HostTensor;
use scalar::DType;

use crate::param::Param;
use crate::random::{self, Generator};

/// How a parameter starts when it is not loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// All elements equal.
    Const(f32),
    /// Roughly normal with mean 0 and this deviation.
    Normal(f32),
    /// Uniform in ±this.
    Uniform(f32),
}

/// A place in a tree of parameter names, which makes the parameters below it.
#[derive(Clone, Debug)]
pub struct Vars {
    prefix: String,
    store: Arc<Store>,
}

#[derive(Debug)]
struct Store {
    values: Values,
    made: Mutex<BTreeMap<String, Param>>,
}

#[derive(Debug)]
enum Values {
    Seeded(Generator),
    Loaded(BTreeMap<String, HostTensor>),
}

impl Vars {
    fn root(values: Values) -> Vars {
        Vars { prefix: String::new(), store: Arc::new(Store { values, made: Mutex::default() }) }
    }
    /// Parameters with seeded random values.
    pub fn seeded(seed: u64) -> Vars {
        Vars::root(Values::Seeded(Generator::new(seed)))
    }
    /// Parameters with the values of the tensors of those names.
    pub fn from_tensors(tensors: BTreeMap<String, HostTensor>) -> Vars {
        Vars::root(Values::Loaded(tensors))
    }
    /// Parameters with the values of a safetensors file.
    ///
    /// # Errors
    /// A file that cannot be read or is malformed.
    pub fn from_safetensors(path: impl AsRef<Path>) -> Result<Vars> {
        Ok(Vars::from_tensors(crate::io::safetensors_data(path.as_ref())?))
    }
    /// The place `name` below this one.
    pub fn sub(&self, name: impl std::fmt::Display) -> Vars {
        Vars { prefix: self.path(&name.to_string()), store: self.store.clone() }
    }
    fn path(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }
    /// The parameter `name` below this place; made once, and shared when it is asked for again.
    ///
    /// # Errors
    /// A name that the file does not have, or with another shape or dtype than f32, f16 or bf16.
    pub fn param(&self, name: &str, shape: &[usize], init: Init) -> Result<Param> {
        let path = self.path(name);
        let mut made = self.store.made.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(param) = made.get(&path) {
            return Ok(param.clone());
        }
        let data = match &self.store.values {
            Values::Seeded(generator) => initial(shape, init, generator)?,
            Values::Loaded(tensors) => loaded(tensors, &path, shape)?,
        };
        let param = Param::from_host(path.clone(), data);
        made.insert(path, param.clone());
        Ok(param)
    }
    /// Every parameter made so far from any place of the tree, by name.
    pub fn params(&self) -> Vec<Param> {
        self.store.made.lock().unwrap_or_else(|e| e.into_inner()).values().cloned().collect()
    }
}

fn initial(shape: &[usize], init: Init, generator: &Generator) -> Result<HostTensor> {
    let n: usize = shape.iter().product();
    let key = generator.next_key();
    let uniform = |bound: f32, i: u64| ((random::uniform(key, i, DType::F32) as f32) * 2.0 - 1.0) * bound;
    let bytes = match init {
        Init::Const(v) => v.to_le_bytes().repeat(n),
        Init::Normal(std) => random::rough_normals(key, n, std),
        Init::Uniform(bound) => (0..n as u64).flat_map(|i| uniform(bound, i).to_le_bytes()).collect(),
    };
    HostTensor::from_bytes(DType::F32, shape, bytes)
}

fn loaded(tensors: &BTreeMap<String, HostTensor>, path: &str, shape: &[usize]) -> Result<HostTensor> {
    let Some(data) = tensors.get(path) else {
        return Err(Error::invalid(format!("there is no tensor {path:?} among the {} loaded", tensors.len())));
    };
    if data.shape() != shape || !data.dtype().is_float() {
        return Err(Error::invalid(format!(
            "tensor {path:?} is {}{:?}, the model needs a float tensor {shape:?}",
            data.dtype(),
            data.shape()
        )));
    }
    Ok(data.clone())
}

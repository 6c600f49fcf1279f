//! The safetensors format.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::{Error, Result};
use graph::HostTensor;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use scalar::DType;

use crate::Tensor;

const TABLE: [(DType, Dtype); 15] = [
    (DType::Bool, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::U8, Dtype::U8),
    (DType::I16, Dtype::I16),
    (DType::U16, Dtype::U16),
    (DType::I32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::I64, Dtype::I64),
    (DType::U64, Dtype::U64),
    (DType::F8E4M3, Dtype::F8_E4M3),
    (DType::F8E5M2, Dtype::F8_E5M2),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
];

/// Part of a file in memory.
struct Section {
    file: Arc<Vec<u8>>,
    range: std::ops::Range<usize>,
}

impl AsRef<[u8]> for Section {
    fn as_ref(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }
}

fn place(path: &Path) -> String {
    path.display().to_string()
}

/// All tensors of a file, by name, sharing its bytes.
pub(crate) fn data(path: &Path) -> Result<BTreeMap<String, HostTensor>> {
    let bytes = std::fs::read(path).map_err(|e| Error::from(e).context(place(path)))?;
    parse(Arc::new(bytes)).map_err(|e| e.context(place(path)))
}

fn parse(file: Arc<Vec<u8>>) -> Result<BTreeMap<String, HostTensor>> {
    let parsed = SafeTensors::deserialize(&file).map_err(|e| Error::parse(format!("not a safetensors file: {e}")))?;
    let start = file.as_ptr() as usize;
    parsed.tensors().into_iter().map(|(name, view)| Ok((name.clone(), tensor(&file, start, &name, &view)?))).collect()
}

fn tensor(file: &Arc<Vec<u8>>, start: usize, name: &str, view: &TensorView<'_>) -> Result<HostTensor> {
    let dtype = TABLE.iter().find(|row| row.1 == view.dtype()).map(|row| row.0);
    let dtype = dtype.ok_or_else(|| Error::unsupported(format!("tensor {name:?} has dtype {:?}", view.dtype())))?;
    let at = view.data().as_ptr() as usize - start;
    let range = at..at + view.data().len();
    HostTensor::new(dtype, view.shape().to_vec(), Arc::new(Section { file: file.clone(), range }))
}

/// All tensors of a safetensors file, by name.
///
/// # Errors
/// A file that cannot be read, is malformed, or has a dtype that Fuseline does not know.
pub fn load_safetensors(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>> {
    Ok(data(path.as_ref())?.into_iter().map(|(name, data)| (name, Tensor::from_host(data))).collect())
}

/// Writes named tensors, evaluating them.
///
/// # Errors
/// As [`Tensor::eval`], and when the file cannot be written.
#[track_caller]
pub fn save_safetensors(path: impl AsRef<Path>, tensors: &BTreeMap<String, Tensor>) -> Result<()> {
    let path = path.as_ref();
    let mut values = Vec::new();
    for (name, tensor) in tensors {
        values.push((name.as_str(), tensor.data()?));
    }
    let views = values.iter().map(|(name, data)| Ok((*name, view(data)?))).collect::<Result<Vec<_>>>()?;
    let bytes = safetensors::serialize(views, None).map_err(|e| Error::io(format!("{}: {e}", place(path))))?;
    std::fs::write(path, bytes).map_err(|e| Error::from(e).context(place(path)))
}

fn view(data: &HostTensor) -> Result<TensorView<'_>> {
    let dtype = TABLE.iter().find(|row| row.0 == data.dtype()).map(|row| row.1);
    let dtype = dtype.ok_or_else(|| Error::internal(format!("no safetensors dtype for {}", data.dtype())))?;
    TensorView::new(dtype, data.shape().to_vec(), data.bytes()).map_err(|e| Error::internal(e.to_string()))
}

//! `TensorProto` to [`HostTensor`], with external data confined to the model's folder.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use base::{Error, Result};
use bytes::Bytes;
use graph::HostTensor;
use prost::Message;
use scalar::DType;

use crate::proto::TensorProto;

/// Greatest rank accepted.
const MAX_RANK: usize = 64;
const EXTERNAL: i32 = 1;

/// The dtype of an ONNX element type number.
///
/// # Errors
/// An element type that Fuseline has no dtype for, by its ONNX name.
pub(crate) fn dtype(code: i32) -> Result<DType> {
    Ok(match code {
        1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        9 => DType::Bool,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::U32,
        13 => DType::U64,
        16 => DType::BF16,
        other => return Err(Error::unsupported(format!("element type {}", dtype_name(other)))),
    })
}

fn dtype_name(code: i32) -> String {
    let name = match code {
        0 => "undefined",
        8 => "string",
        14 => "complex64",
        15 => "complex128",
        17 => "float8e4m3fn",
        18 => "float8e4m3fnuz",
        19 => "float8e5m2",
        20 => "float8e5m2fnuz",
        21 => "uint4",
        22 => "int4",
        23 => "float4e2m1",
        24 => "float8e8m0",
        25 => "uint2",
        26 => "int2",
        _ => return format!("number {code}"),
    };
    name.into()
}

/// Reads one serialized `TensorProto` (a `.pb` file of a test data set): its name and value.
///
/// # Errors
/// Malformed bytes, or an element type without a dtype.
pub fn read_tensor_pb(bytes: &[u8]) -> Result<(String, HostTensor)> {
    let proto = TensorProto::decode(Bytes::copy_from_slice(bytes)).map_err(|e| Error::parse(format!("TensorProto: {e}")))?;
    Ok((proto.name().to_owned(), read(&proto, None)?))
}

/// Value of a `TensorProto`. `folder` is where external data may lie.
pub(crate) fn read(proto: &TensorProto, folder: Option<&Path>) -> Result<HostTensor> {
    read_unnamed(proto, folder).map_err(|e| e.context(format!("tensor '{}'", proto.name())))
}

fn read_unnamed(proto: &TensorProto, folder: Option<&Path>) -> Result<HostTensor> {
    let dtype = dtype(proto.data_type())?;
    let (shape, want) = extents(&proto.dims, dtype)?;
    let data = if proto.data_location() == EXTERNAL {
        Bytes::from(read_external(proto, folder, want)?)
    } else if let Some(raw) = &proto.raw_data {
        aligned(raw)
    } else {
        Bytes::from(typed_data(proto, dtype))
    };
    if data.len() != want {
        return Err(Error::parse(format!("{dtype}{shape:?} needs {want} bytes, has {}", data.len())));
    }
    if dtype == DType::Bool && data.iter().any(|&b| b > 1) {
        return Err(Error::parse("bool elements other than 0 and 1"));
    }
    HostTensor::new(dtype, shape, Arc::new(data))
}

/// Checked extents and byte count.
fn extents(dims: &[i64], dtype: DType) -> Result<(Vec<usize>, usize)> {
    if dims.len() > MAX_RANK {
        return Err(Error::parse(format!("rank {} is above the limit {MAX_RANK}", dims.len())));
    }
    let bad = || Error::parse(format!("dimensions {dims:?} are negative or too large"));
    let shape = dims.iter().map(|&d| usize::try_from(d).map_err(|_| bad())).collect::<Result<Vec<_>>>()?;
    let want = shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d)).ok_or_else(bad)?;
    Ok((shape, want))
}

/// The bytes, copied if they do not start at a multiple of 8 (protobuf does not align).
fn aligned(raw: &Bytes) -> Bytes {
    if raw.as_ptr().align_offset(8) == 0 { raw.clone() } else { Bytes::from(raw.to_vec()) }
}

/// Elements from the field that the dtype prescribes.
fn typed_data(proto: &TensorProto, dtype: DType) -> Vec<u8> {
    fn pack<T, const N: usize>(values: &[T], le: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(le).collect()
    }
    match dtype {
        DType::F32 => pack(&proto.float_data, |v| v.to_le_bytes()),
        DType::F64 => pack(&proto.double_data, |v| v.to_le_bytes()),
        DType::I64 => pack(&proto.int64_data, |v| v.to_le_bytes()),
        DType::U64 => pack(&proto.uint64_data, |v| v.to_le_bytes()),
        DType::U32 => pack(&proto.uint64_data, |v| (*v as u32).to_le_bytes()),
        DType::I32 => pack(&proto.int32_data, |v| v.to_le_bytes()),
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => pack(&proto.int32_data, |v| (*v as u16).to_le_bytes()),
        DType::I8 | DType::U8 | DType::Bool | DType::F8E4M3 | DType::F8E5M2 => pack(&proto.int32_data, |v| [*v as u8]),
    }
}

fn read_external(proto: &TensorProto, folder: Option<&Path>, want: usize) -> Result<Vec<u8>> {
    let entry = |key: &str| proto.external_data.iter().find(|e| e.key() == key).map(|e| e.value());
    let number = |key: &str, default: u64| match entry(key) {
        None => Ok(default),
        Some(v) => v.parse::<u64>().map_err(|_| Error::parse(format!("external data {key} '{v}' is not a number"))),
    };
    let location = entry("location").ok_or_else(|| Error::parse("external data without a location"))?;
    let folder = folder.ok_or_else(|| Error::invalid("the model has external data, but no folder was given"))?;
    let path = confined(folder, location)?;
    let (offset, length) = (number("offset", 0)?, number("length", want as u64)?);
    if length != want as u64 {
        return Err(Error::parse(format!("external data has length {length}, the shape needs {want}")));
    }
    let mut file = File::open(&path).map_err(|e| Error::io(format!("external data '{location}': {e}")))?;
    let size = file.metadata()?.len();
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(Error::parse(format!("external data '{location}' has {size} bytes, {offset}+{length} wanted")));
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut data = vec![0; want];
    file.read_exact(&mut data)?;
    Ok(data)
}

/// The path of external data, refused when it leaves the model's folder, also through a link.
fn confined(folder: &Path, location: &str) -> Result<PathBuf> {
    let refuse = || Error::invalid(format!("external data '{location}' lies outside the model's folder"));
    let relative = Path::new(location);
    if location.is_empty()
        || location.contains('\\')
        || !relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
    {
        return Err(refuse());
    }
    let io = |e: std::io::Error| Error::io(format!("external data '{location}': {e}"));
    let root = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.canonicalize().map_err(io)?;
    let path = root.join(relative).canonicalize().map_err(io)?;
    if !path.starts_with(&root) || !path.is_file() {
        return Err(refuse());
    }
    Ok(path)
}

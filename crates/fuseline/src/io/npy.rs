//! NumPy's npy and npz formats (little-endian and big-endian, C and Fortran order, versions 1 to 3).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::path::Path;

use base::{Error, Result};
use graph::HostTensor;
use scalar::DType;

use crate::Tensor;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// A header of more bytes is not one.
const MAX_HEADER: usize = 1 << 20;

/// Reads one array in npy format.
///
/// # Errors
/// Malformed bytes, or a dtype that Fuseline does not know.
pub fn read_npy(bytes: &[u8]) -> Result<Tensor> {
    Ok(Tensor::from_host(parse(bytes)?))
}

/// Reads an npy file.
///
/// # Errors
/// A file that cannot be read; else as [`read_npy`].
pub fn load_npy(path: impl AsRef<Path>) -> Result<Tensor> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|e| Error::from(e).context(path.display().to_string()))?;
    read_npy(&bytes).map_err(|e| e.context(path.display().to_string()))
}

/// One array in npy format; evaluates the tensor. bf16, which NumPy lacks, is refused.
///
/// # Errors
/// As [`Tensor::eval`], or bf16.
#[track_caller]
pub fn write_npy(tensor: &Tensor) -> Result<Vec<u8>> {
    format(&tensor.data()?)
}

/// Writes an npy file.
///
/// # Errors
/// A file that cannot be written; else as [`write_npy`].
#[track_caller]
pub fn save_npy(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let path = path.as_ref();
    std::fs::write(path, write_npy(tensor)?).map_err(|e| Error::from(e).context(path.display().to_string()))
}

/// All arrays of an npz file (a zip of npy entries, stored or deflated), by name.
///
/// # Errors
/// A file that cannot be read, is no zip, or has an entry that [`read_npy`] refuses.
pub fn load_npz(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|e| Error::from(e).context(path.display().to_string()))?;
    read_entries(file).map_err(|e| e.context(path.display().to_string()))
}

fn zip_error(e: zip::result::ZipError) -> Error {
    Error::parse(format!("not a readable npz: {e}"))
}

fn read_entries(file: impl Read + Seek) -> Result<BTreeMap<String, Tensor>> {
    let mut archive = zip::ZipArchive::new(file).map_err(zip_error)?;
    let mut arrays = BTreeMap::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(zip_error)?;
        let name = entry.name().to_owned();
        let Some(key) = name.strip_suffix(".npy") else { continue };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        arrays.insert(key.to_owned(), read_npy(&bytes).map_err(|e| e.context(format!("array {key:?}")))?);
    }
    Ok(arrays)
}

/// Writes an uncompressed npz file, as `numpy.savez`.
///
/// # Errors
/// As [`save_npy`].
#[track_caller]
pub fn save_npz(path: impl AsRef<Path>, tensors: &BTreeMap<String, Tensor>) -> Result<()> {
    let path = path.as_ref();
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
    for (name, tensor) in tensors {
        let bytes = write_npy(tensor).map_err(|e| e.context(format!("array {name:?}")))?;
        archive.start_file(format!("{name}.npy"), options).map_err(|e| Error::io(e.to_string()))?;
        archive.write_all(&bytes)?;
    }
    let bytes = archive.finish().map_err(|e| Error::io(e.to_string()))?.into_inner();
    std::fs::write(path, bytes).map_err(|e| Error::from(e).context(path.display().to_string()))
}

fn parse(bytes: &[u8]) -> Result<HostTensor> {
    let short = || Error::parse("the npy data is cut short");
    if bytes.get(..6) != Some(MAGIC) {
        return Err(Error::parse("not npy data: the first bytes are not \\x93NUMPY"));
    }
    let (start, len) = match *bytes.get(6).ok_or_else(short)? {
        1 => (10, u16::from_le_bytes(bytes.get(8..10).and_then(|b| b.try_into().ok()).ok_or_else(short)?) as usize),
        2 | 3 => (12, u32::from_le_bytes(bytes.get(8..12).and_then(|b| b.try_into().ok()).ok_or_else(short)?) as usize),
        v => return Err(Error::unsupported(format!("npy version {v}"))),
    };
    if len > MAX_HEADER {
        return Err(Error::parse(format!("an npy header of {len} bytes")));
    }
    let header = bytes.get(start..start + len).ok_or_else(short)?;
    let header = Header::parse(std::str::from_utf8(header).map_err(|_| Error::parse("the npy header is not text"))?)?;
    header.tensor(bytes.get(start + len..).ok_or_else(short)?)
}

/// The dictionary in front of the data.
struct Header {
    dtype: DType,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Header> {
        let field = |name: &str| {
            let at =
                text.find(&format!("'{name}'")).ok_or_else(|| Error::parse(format!("the npy header has no {name}: {text:?}")))?;
            let rest = &text[at + name.len() + 2..];
            Ok::<&str, Error>(rest.trim_start().strip_prefix(':').unwrap_or(rest).trim_start())
        };
        let descr = field("descr")?.strip_prefix('\'').and_then(|r| r.split('\'').next());
        let descr = descr.ok_or_else(|| Error::unsupported("npy arrays of records"))?;
        let dtype = dtype_of(descr).ok_or_else(|| unknown(descr))?;
        let shape = field("shape")?.strip_prefix('(').and_then(|r| r.split(')').next());
        let shape = shape.ok_or_else(|| Error::parse(format!("no shape in the npy header {text:?}")))?;
        let extents = shape.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.trim_end_matches('L').parse());
        let shape = extents.collect::<Result<Vec<usize>, _>>().map_err(|_| Error::parse(format!("the npy shape ({shape})")))?;
        Ok(Header { dtype, big_endian: descr.starts_with('>'), fortran: field("fortran_order")?.starts_with("True"), shape })
    }

    fn tensor(&self, data: &[u8]) -> Result<HostTensor> {
        let size = self.dtype.size();
        let want = self.shape.iter().try_fold(size, |n, &d| n.checked_mul(d));
        let want = want.filter(|&n| n <= data.len());
        let want =
            want.ok_or_else(|| Error::parse(format!("{} bytes of npy data do not fill shape {:?}", data.len(), self.shape)))?;
        let mut bytes = data[..want].to_vec();
        if self.big_endian {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        if self.fortran && self.shape.len() > 1 {
            bytes = row_major(&bytes, &self.shape, size);
        }
        HostTensor::from_bytes(self.dtype, &self.shape, bytes)
    }
}

/// Elements in Fortran order, in C order.
fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let n: usize = shape.iter().product();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0usize; shape.len()];
    for _ in 0..n {
        let at = index.iter().zip(shape).rev().fold(0, |at, (&i, &d)| at * d + i);
        out.extend_from_slice(&bytes[at * size..(at + 1) * size]);
        for (i, &d) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < d {
                break;
            }
            *i = 0;
        }
    }
    out
}

const TABLE: [(&str, DType); 12] = [
    ("b1", DType::Bool),
    ("i1", DType::I8),
    ("u1", DType::U8),
    ("i2", DType::I16),
    ("u2", DType::U16),
    ("i4", DType::I32),
    ("u4", DType::U32),
    ("i8", DType::I64),
    ("u8", DType::U64),
    ("f2", DType::F16),
    ("f4", DType::F32),
    ("f8", DType::F64),
];

fn dtype_of(descr: &str) -> Option<DType> {
    let code = descr.trim_start_matches(['<', '>', '|', '=']);
    TABLE.iter().find(|row| row.0 == code).map(|row| row.1)
}

fn unknown(descr: &str) -> Error {
    let hint = if descr.ends_with("V2") { " (bf16 reaches npy as two opaque bytes: use safetensors, or save f32)" } else { "" };
    Error::unsupported(format!("npy dtype {descr:?}{hint}"))
}

fn format(data: &HostTensor) -> Result<Vec<u8>> {
    let code = TABLE.iter().find(|row| row.1 == data.dtype()).map(|row| row.0);
    let code = code.ok_or_else(|| Error::unsupported(format!("npy has no dtype {}; convert it with to_dtype", data.dtype())))?;
    let order = if data.dtype().size() == 1 { '|' } else { '<' };
    let extents: Vec<String> = data.shape().iter().map(usize::to_string).collect();
    let comma = if extents.len() == 1 { "," } else { "" };
    let header = format!("{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({}{comma}), }}", extents.join(", "));
    // Magic, version, length, header and newline fill a multiple of 64 bytes.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut out = Vec::with_capacity(10 + padded + data.bytes().len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&u16::try_from(padded).map_err(|_| Error::unsupported("a rank that npy cannot hold"))?.to_le_bytes());
    out.extend_from_slice(format!("{header:<width$}\n", width = padded - 1).as_bytes());
    out.extend_from_slice(data.bytes());
    Ok(out)
}

//! Shared by the ONNX tests: where fetched files lie, `.npy` files, running modules, comparing results.

// Each test binary uses a part of this module.
#![allow(dead_code)]

pub(crate) mod build;
pub(crate) mod suite;

use std::path::{Path, PathBuf};

use base::{Error, Result};
use graph::{HostTensor, Module, interp};
use scalar::DType;

/// How a module is run on its inputs: the interpreter here, executables elsewhere.
pub(crate) type Runner = dyn Fn(&Module, &[HostTensor]) -> Result<Vec<HostTensor>>;

/// The folder that `tests/models/fetch.py` fills.
pub(crate) fn models_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.models")
}

/// Runs the oracle.
pub(crate) fn interpret(module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    interp::run(&module.graph, &arguments(module, inputs)?, interp::Options::default())
}

/// Compiles and runs fused.
pub(crate) fn fused(module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    driver::compile(module, &base::Config::default())?.run(inputs)
}

/// One tensor per input slot: frozen data where there is some, else the given inputs in order.
pub(crate) fn arguments(module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    let mut given = inputs.iter();
    let slot = |i: usize| match module.frozen.iter().find(|f| f.slot as usize == i) {
        Some(frozen) => Ok((*frozen.data).clone()),
        None => given.next().cloned().ok_or_else(|| Error::invalid("too few inputs")),
    };
    (0..module.graph.inputs.len()).map(slot).collect()
}

/// Reads a `.npy` file, version 1, little-endian, row-major.
pub(crate) fn read_npy(path: &Path) -> Result<HostTensor> {
    let bytes = std::fs::read(path)?;
    let bad = || Error::parse(format!("{}: not a plain .npy file", path.display()));
    let length = bytes.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))).ok_or_else(bad)?;
    let header = std::str::from_utf8(bytes.get(10..10 + length).ok_or_else(bad)?).map_err(|_| bad())?;
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest);
    let dtype = match after("'descr': '").and_then(|r| r.split('\'').next()).ok_or_else(bad)? {
        "<f4" => DType::F32,
        "<f8" => DType::F64,
        "<i4" => DType::I32,
        "<i8" => DType::I64,
        "|u1" => DType::U8,
        "|b1" => DType::Bool,
        _ => return Err(bad()),
    };
    let list = after("'shape': (").and_then(|r| r.split(')').next()).ok_or_else(bad)?;
    let extents = list.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.parse().map_err(|_| bad()));
    HostTensor::from_bytes(dtype, &extents.collect::<Result<Vec<usize>>>()?, bytes[10 + length..].to_vec())
}

/// Tensors `stem_0.npy`, `stem_1.npy`, … of a folder.
pub(crate) fn read_numbered(folder: &Path, stem: &str) -> Result<Vec<HostTensor>> {
    let path = |k: usize| folder.join(format!("{stem}_{k}.npy"));
    (0..).map(path).take_while(|p| p.exists()).map(|p| read_npy(&p)).collect()
}

/// Why a tensor is not the wanted one: dtype, shape, or the worst element. Integers are compared exactly.
pub(crate) fn difference(have: &HostTensor, want: &HostTensor, rtol: f64, atol: f64) -> Option<String> {
    if (have.dtype(), have.shape()) != (want.dtype(), want.shape()) {
        return Some(format!("{have:?} instead of {want:?}"));
    }
    if !want.dtype().is_float() {
        let at = (0..want.len()).find(|&i| have.get(i) != want.get(i))?;
        return Some(format!("element {at} is {} instead of {}", have.get(at), want.get(at)));
    }
    let off = |h: f64, w: f64| if h == w || (h.is_nan() && w.is_nan()) { 0.0 } else { (h - w).abs() / (atol + rtol * w.abs()) };
    let excess = |(h, w): (f64, f64)| {
        let e = off(h, w);
        if e.is_nan() { f64::INFINITY } else { e }
    };
    let all = have.to_f64s().into_iter().zip(want.to_f64s()).map(excess).enumerate();
    let (at, worst) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (worst > 1.0).then(|| format!("element {at} is {} instead of {}, {worst:.1} times the tolerance", have.get(at), want.get(at)))
}

/// As [`difference`] over lists.
pub(crate) fn differences(have: &[HostTensor], want: &[HostTensor], rtol: f64, atol: f64) -> Option<String> {
    if have.len() != want.len() {
        return Some(format!("{} outputs instead of {}", have.len(), want.len()));
    }
    let mut all = have.iter().zip(want).enumerate();
    all.find_map(|(k, (h, w))| difference(h, w, rtol, atol).map(|why| format!("output {k}: {why}")))
}

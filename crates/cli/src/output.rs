//! Showing, saving and comparing tensors.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use base::{Error, Result};
use fuseline::{Tensor, load_npy, load_npz, save_npy};
use graph::HostTensor;

use crate::error::Outcome;

/// Values shown of each tensor.
pub(crate) const FIRST: usize = 6;

/// Prints to standard output; a reader that has gone away is not an error.
pub(crate) fn emit(text: &str) -> Outcome<()> {
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

/// Least, greatest and mean of the values that are numbers, and how many are not; NaN if there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    pub(crate) nans: usize,
}

impl Summary {
    /// Of all elements.
    pub(crate) fn of(tensor: &HostTensor) -> Summary {
        let (mut min, mut max, mut sum, mut nans) = (f64::NAN, f64::NAN, 0.0, 0);
        for i in 0..tensor.len() {
            let v = tensor.get(i).as_f64();
            if v.is_nan() {
                nans += 1;
                continue;
            }
            (min, max, sum) = (v.min(min), v.max(max), sum + v);
        }
        Summary { min, max, mean: sum / (tensor.len() - nans) as f64, nans }
    }
}

/// `y f32[2, 3]: 1.0 2.0 …   min -1 max 2 mean 0.5`.
pub(crate) fn line(name: &str, tensor: &HostTensor) -> String {
    let values: Vec<String> = (0..tensor.len().min(FIRST)).map(|i| tensor.get(i).to_string()).collect();
    let more = if tensor.len() > FIRST { " …" } else { "" };
    let head = format!("{name} {}{:?}: {}{more}", tensor.dtype(), tensor.shape(), values.join(" "));
    if tensor.len() < 2 {
        return head;
    }
    let s = Summary::of(tensor);
    let nans = if s.nans > 0 { format!(" NaN × {}", s.nans) } else { String::new() };
    format!("{head}   min {:.6} max {:.6} mean {:.6}{nans}", s.min, s.max, s.mean)
}

/// Writes `DIR/output_K.npy`, which `verify --expect DIR` reads.
///
/// # Errors
/// A folder or file that cannot be written.
pub(crate) fn save(folder: &Path, tensors: &[HostTensor]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::from(e).context(folder.display().to_string()))?;
    tensors
        .iter()
        .enumerate()
        .try_for_each(|(k, t)| save_npy(folder.join(format!("output_{k}.npy")), &Tensor::from_host(t.clone())))
}

/// Reads a `.npy`, `.npz` (the array `key`, or the only one) or `.pb` file.
///
/// # Errors
/// A file that cannot be read, is malformed, or has another extension.
pub(crate) fn read(path: &Path, key: Option<&str>) -> Result<HostTensor> {
    let shown = path.display();
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => load_npy(path)?.data(),
        Some("npz") => {
            let arrays = load_npz(path)?;
            let names = || arrays.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let found = match key {
                Some(key) => arrays.get(key),
                None => arrays.values().next().filter(|_| arrays.len() == 1),
            };
            found.ok_or_else(|| Error::invalid(format!("{shown}: name one of its arrays, {shown}:KEY: {}", names())))?.data()
        }
        Some("pb") => {
            let bytes = std::fs::read(path).map_err(|e| Error::from(e).context(shown.to_string()))?;
            Ok(onnx::read_tensor_pb(&bytes).map_err(|e| e.context(shown.to_string()))?.1)
        }
        _ => Err(Error::invalid(format!("{shown}: expected a .npy, .npz or .pb file"))),
    }
}

/// The tensors to compare outputs with: of a folder `output_0`, `output_1`, …; of an npz file the arrays named as the
/// outputs or `output_K`; of any other file the first output.
///
/// # Errors
/// As [`read`], or nothing found.
pub(crate) fn read_expected(path: &Path, names: &[String]) -> Result<Vec<(usize, HostTensor)>> {
    let mut found = Vec::new();
    if path.is_dir() {
        for k in 0..names.len() {
            let files = ["npy", "pb"].map(|e| path.join(format!("output_{k}.{e}")));
            if let Some(file) = files.iter().find(|f| f.exists()) {
                found.push((k, read(file, None)?));
            }
        }
    } else if path.extension().is_some_and(|e| e == "npz") {
        let arrays = load_npz(path)?;
        for (k, name) in names.iter().enumerate() {
            if let Some(array) = arrays.get(name).or_else(|| arrays.get(&format!("output_{k}"))) {
                found.push((k, array.data()?));
            }
        }
    } else {
        found.push((0, read(path, None)?));
    }
    if found.is_empty() {
        let names = names.join(", ");
        return Err(Error::invalid(format!("{}: nothing to compare: no output_K.npy or .pb, or arrays {names}", path.display())));
    }
    Ok(found)
}

/// Where two tensors differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Elements beyond the tolerance.
    pub(crate) count: usize,
    /// Position of the worst.
    pub(crate) at: Vec<usize>,
    /// Value there.
    pub(crate) got: f64,
    /// Value wanted there.
    pub(crate) want: f64,
}

/// Elements with `|got − want| > absolute + relative · |want|`; NaN equals NaN.
///
/// # Errors
/// Another dtype or shape.
pub(crate) fn compare(got: &HostTensor, want: &HostTensor, relative: f64, absolute: f64) -> Result<Option<Difference>> {
    if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
        let text = format!("is {}{:?}, expected {}{:?}", got.dtype(), got.shape(), want.dtype(), want.shape());
        return Err(Error::new(base::ErrorKind::Mismatch, text));
    }
    let excess = |i: usize| {
        let (g, w) = (got.get(i).as_f64(), want.get(i).as_f64());
        if g == w || (g.is_nan() && w.is_nan()) {
            return 0.0;
        }
        let over = (g - w).abs() / (absolute + relative * w.abs());
        if over.is_nan() { f64::INFINITY } else { over }
    };
    let off = (0..got.len()).map(|i| (i, excess(i))).filter(|&(_, e)| e > 1.0).collect::<Vec<_>>();
    let worst = off.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
    Ok(worst.map(|(i, _)| Difference {
        count: off.len(),
        at: position(got.shape(), i),
        got: got.get(i).as_f64(),
        want: want.get(i).as_f64(),
    }))
}

/// Multi-index of a row-major position.
pub(crate) fn position(shape: &[usize], mut i: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (a, &n) in at.iter_mut().zip(shape).rev() {
        (*a, i) = (i % n.max(1), i / n.max(1));
    }
    at
}

#[cfg(test)]
mod tests {
    use scalar::DType;

    use super::*;

    fn f32s(values: &[f64]) -> HostTensor {
        HostTensor::from_f64s(DType::F32, &[values.len()], values)
    }

    #[test]
    fn summaries_skip_nan() {
        let s = Summary::of(&f32s(&[1.0, f64::NAN, 3.0]));
        assert_eq!(s, Summary { min: 1.0, max: 3.0, mean: 2.0, nans: 1 });
        assert!(line("y", &f32s(&[1.0; 9])).starts_with("y f32[9]: 1.0 1.0 1.0 1.0 1.0 1.0 …   min 1.000000"));
        assert!(Summary::of(&f32s(&[])).mean.is_nan());
    }

    #[test]
    fn the_worst_element_is_named() {
        let d = compare(&f32s(&[1.0, 2.5, 9.0]), &f32s(&[1.0, 2.0, 3.0]), 1e-3, 0.0).unwrap().unwrap();
        assert_eq!((d.count, d.at, d.got, d.want), (2, vec![2], 9.0, 3.0));
        assert_eq!(compare(&f32s(&[1.0]), &f32s(&[1.0005]), 1e-3, 0.0).unwrap(), None);
        assert!(compare(&f32s(&[f64::NAN]), &f32s(&[1.0]), 1.0, 1.0).unwrap().is_some());
        assert!(compare(&f32s(&[1.0]), &f32s(&[1.0, 2.0]), 1.0, 1.0).is_err());
        assert_eq!(position(&[2, 3], 5), [1, 2]);
    }
}

//! JSON that commands print; every document has `"version"`.

use graph::HostTensor;
use serde_json::{Value, json};

use crate::output::{FIRST, Summary};

/// Version of the documents; raised when a field changes meaning or disappears.
pub(crate) const VERSION: u32 = 1;

/// Name, dtype, shape and a summary of the values of a tensor. Numbers that JSON lacks (NaN, infinities) are null.
pub(crate) fn tensor(name: &str, tensor: &HostTensor) -> Value {
    let s = Summary::of(tensor);
    let first: Vec<f64> = (0..tensor.len().min(FIRST)).map(|i| tensor.get(i).as_f64()).collect();
    json!({
        "name": name, "dtype": tensor.dtype().name(), "shape": tensor.shape(), "first": first,
        "min": s.min, "max": s.max, "mean": s.mean, "nans": s.nans,
    })
}

/// Text of a document, ending with a newline.
pub(crate) fn text(value: &Value) -> String {
    format!("{value:#}\n")
}

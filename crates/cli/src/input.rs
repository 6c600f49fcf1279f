//! The input mini-language: `NAME[:SHAPE][:DTYPE]=VALUE`.

use std::path::Path;

use base::{Error, Result};
use fuseline::{Generator, Tensor};
use graph::HostTensor;
use scalar::{DType, Scalar};

use crate::error::{Failure, Outcome};
use crate::output;

/// Most elements of one input.
const MAX_ELEMENTS: usize = 1 << 33;

/// One `-i` argument.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) dtype: Option<DType>,
    pub(crate) value: Value,
}

/// Where an input's values come from.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Read from a file.
    Data(HostTensor),
    /// Standard normal.
    Randn,
    /// Uniform in [0, 1).
    Rand,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// 0, 1, 2, … in row-major order.
    Arange,
    /// Uniform integers in `[low, high)`.
    Randint(i64, i64),
    /// Listed numbers; a single one fills.
    List(Vec<String>),
}

const HELP: &str = "NAME[:SHAPE][:DTYPE]=VALUE, e.g. x:1x128:i64=randint(0..30000), x=input.npy, mask=ones, y:2=1.5,2";

/// Reads one argument; `names` are those of the graph's inputs.
///
/// # Errors
/// A malformed argument, an unknown name, a file that cannot be read.
pub(crate) fn parse(text: &str, names: &[&str]) -> Outcome<Spec> {
    let wrong = |why: String| Failure::invalid(format!("-i {text:?}: {why}"), HELP);
    let (left, right) = text.split_once('=').ok_or_else(|| wrong("no '='".into()))?;
    let fits = |n: &&&str| left.strip_prefix(**n).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    let Some(name) = names.iter().filter(fits).max_by_key(|n| n.len()) else {
        let name = left.split(':').next().unwrap_or(left);
        return Err(wrong(format!("no input {name:?}; the inputs are {}", names.join(", "))));
    };
    let (mut shape, mut dtype) = (None, None);
    for part in left[name.len()..].split(':').skip(1) {
        match DType::parse(part) {
            Some(d) if dtype.is_none() => dtype = Some(d),
            None if shape.is_none() && dtype.is_none() => shape = Some(parse_shape(part).map_err(&wrong)?),
            _ => return Err(wrong(format!("{part:?} is out of place"))),
        }
    }
    let value = parse_value(right.trim()).map_err(|e| Failure::new(e.context(format!("-i {text:?}")), HELP))?;
    if let Value::Data(t) = &value {
        if shape.as_ref().is_some_and(|s| s != t.shape()) || dtype.is_some_and(|d| d != t.dtype()) {
            return Err(wrong(format!("the file holds {}{:?}", t.dtype(), t.shape())));
        }
        (shape, dtype) = (Some(t.shape().to_vec()), Some(t.dtype()));
    }
    Ok(Spec { name: (*name).to_owned(), shape, dtype, value })
}

/// `1x128`; nothing or `scalar` for 0-d.
fn parse_shape(text: &str) -> std::result::Result<Vec<usize>, String> {
    if text.is_empty() || text == "scalar" {
        return Ok(Vec::new());
    }
    text.split('x')
        .map(|n| n.parse().map_err(|_| format!("{text:?} is neither a shape such as 1x128 nor a dtype such as i64")))
        .collect()
}

fn parse_value(text: &str) -> Result<Value> {
    if let Some(range) = text.strip_prefix("randint(").and_then(|r| r.strip_suffix(')')) {
        let ends = range.split_once("..").and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        let (low, high): (i64, i64) = ends.ok_or_else(|| Error::invalid("write randint(LOW..HIGH), HIGH excluded"))?;
        if low >= high {
            return Err(Error::invalid(format!("randint({low}..{high}) has no values")));
        }
        return Ok(Value::Randint(low, high));
    }
    if let Some((file, key)) = file(text) {
        return Ok(Value::Data(output::read(Path::new(file), key)?));
    }
    Ok(match text {
        "randn" => Value::Randn,
        "rand" => Value::Rand,
        "zeros" => Value::Zeros,
        "ones" => Value::Ones,
        "arange" => Value::Arange,
        list => {
            let numbers: Vec<String> = list.split(',').map(|n| n.trim().to_owned()).collect();
            if let Some(bad) = numbers.iter().find(|n| number(n, DType::F64).is_none()) {
                return Err(Error::invalid(format!("{bad:?} is no number, generator or file (.npy, .npz, .pb)")));
            }
            Value::List(numbers)
        }
    })
}

/// File name and array key, if the text names a file.
fn file(text: &str) -> Option<(&str, Option<&str>)> {
    if [".npy", ".npz", ".pb"].iter().any(|e| text.ends_with(e)) {
        return Some((text, None));
    }
    let at = text.find(".npz:")? + ".npz".len();
    Some((&text[..at], Some(&text[at + 1..])))
}

fn number(text: &str, dtype: DType) -> Option<Scalar> {
    match text {
        "true" => Some(Scalar::from_i64(dtype, 1)),
        "false" => Some(Scalar::from_i64(dtype, 0)),
        // Integers that f64 does not hold.
        _ if !dtype.is_float() && text.parse::<i64>().is_ok() => text.parse().ok().map(|n| Scalar::from_i64(dtype, n)),
        _ => text.parse().ok().map(|v| Scalar::from_f64(dtype, v)),
    }
}

impl Value {
    /// A tensor of a dtype and shape; equal seeds give equal tensors.
    ///
    /// # Errors
    /// A count of numbers that is not the shape's, a generator that the dtype does not have, or too many elements.
    pub(crate) fn make(&self, dtype: DType, shape: &[usize], seed: u64) -> Result<HostTensor> {
        let elements = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= MAX_ELEMENTS);
        let elements = elements.ok_or_else(|| Error::invalid(format!("shape {shape:?} has too many elements")))?;
        let generator = Generator::new(seed);
        if matches!(self, Value::Randn | Value::Rand) && !dtype.is_float() {
            return Err(Error::invalid(format!("random reals need a float dtype, got {dtype}: use randint(A..B)")));
        }
        match self {
            Value::Data(t) => Ok(t.clone()),
            Value::Randn => generator.randn(shape, dtype).data(),
            Value::Rand => generator.rand(shape, dtype).data(),
            Value::Zeros => Tensor::zeros(shape, dtype).data(),
            Value::Ones => Tensor::ones(shape, dtype).data(),
            Value::Randint(low, high) => generator.randint(*low, *high, shape).to_dtype(dtype).data(),
            Value::Arange => Ok(HostTensor::from_scalars(dtype, shape, (0..elements as i64).map(|i| Scalar::from_i64(dtype, i)))),
            Value::List(numbers) => list(numbers, dtype, shape, elements),
        }
    }
}

fn list(numbers: &[String], dtype: DType, shape: &[usize], elements: usize) -> Result<HostTensor> {
    if numbers.len() != elements && numbers.len() != 1 {
        return Err(Error::invalid(format!("shape {shape:?} has {elements} elements, {} numbers are given", numbers.len())));
    }
    let parsed = numbers.iter().map(|n| number(n, dtype).ok_or_else(|| Error::invalid(format!("{n:?} is no {dtype}"))));
    let values = parsed.collect::<Result<Vec<Scalar>>>()?;
    Ok(HostTensor::from_scalars(dtype, shape, values.into_iter().cycle().take(elements)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Outcome<Spec> {
        parse(text, &["x", "x:0", "mask"])
    }

    #[test]
    fn names_shapes_and_dtypes() {
        let s = spec("x:1x128:i64=randint(0..30000)").unwrap();
        assert_eq!((s.name.as_str(), s.shape, s.dtype), ("x", Some(vec![1, 128]), Some(DType::I64)));
        assert!(matches!(s.value, Value::Randint(0, 30000)));
        let s = spec("x:0:2x3=zeros").unwrap();
        assert_eq!((s.name.as_str(), s.shape, s.dtype), ("x:0", Some(vec![2, 3]), None));
        let s = spec("mask:bool=true,false").unwrap();
        assert_eq!((s.shape, s.dtype), (None, Some(DType::Bool)));
        assert_eq!(spec("mask:scalar=1").unwrap().shape, Some(vec![]));
    }

    #[test]
    fn mistakes_are_told() {
        for bad in ["x", "y=1", "x:1xq=1", "x:i64:2=1", "x=randint(3..3)", "x=randint(3)", "x=1,two", "x=/nonexistent/a.npy"] {
            let e = spec(bad).unwrap_err();
            assert_eq!(e.code(), 2, "{bad}");
        }
    }

    #[test]
    fn values() {
        let make = |text: &str, d, shape: &[usize]| spec(text).unwrap().value.make(d, shape, 0);
        assert_eq!(make("x=1,2,3", DType::F32, &[3]).unwrap().to_f64s(), [1.0, 2.0, 3.0]);
        assert_eq!(make("x=9007199254740993", DType::I64, &[2]).unwrap().to_i64s(), [9007199254740993; 2]);
        assert_eq!(make("x=arange", DType::I32, &[2, 2]).unwrap().to_i64s(), [0, 1, 2, 3]);
        let r = make("x=randint(5..9)", DType::I64, &[100]).unwrap().to_i64s();
        assert!(r.iter().all(|v| (5..9).contains(v)) && r.contains(&5) && r.contains(&8));
        assert!(make("x=1,2", DType::F32, &[3]).is_err());
        assert!(make("x=randn", DType::I64, &[3]).is_err());
        assert!(make("x=ones", DType::F32, &[1 << 40, 1 << 40]).is_err());
    }
}

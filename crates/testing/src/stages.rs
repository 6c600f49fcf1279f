//! The stages of the graph level.
//!
//! | stage | body | output |
//! |---|---|---|
//! | `parse` | one function | its text form |
//! | `verify` | one function | `ok` |
//! | `simplify` | one function | the text form of the simplified graph |
//! | `layout` | one function | the text form of the graph with channels last |
//! | `alias` | one function | a line per write |
//! | `run` | one function, and a comment line `# x f32[2] = 1.0 nan` per input | a line per output |

use std::fmt::Write as _;

use base::{Error, Result};
use graph::{Graph, HostTensor, text};
use scalar::{DType, Scalar};
use transform::{Options, WriteMode};

use crate::differential::interpret;
use crate::filetest::Stages;

/// `parse`, `verify`, `simplify`, `layout`, `alias` and `run`; later stages are added with [`Stages::with`].
pub fn graph_stages() -> Stages {
    Stages::default()
        .with("parse", |body| Ok(text::print(&parse(body)?)))
        .with("verify", |body| parse(body).and_then(|g| graph::verify(&g)).map(|()| "ok".to_owned()))
        .with("simplify", |body| Ok(text::print(&transform::simplify(&parse(body)?, &Options::default()))))
        .with("layout", |body| {
            let graph = parse(body)?;
            Ok(text::print(&transform::channels_last(&graph).unwrap_or(graph)))
        })
        .with("alias", |body| Ok(aliases(&parse(body)?)))
        .with("run", run)
}

fn parse(body: &str) -> Result<Graph> {
    text::parse("test", body)
}

fn aliases(graph: &Graph) -> String {
    let line = |a: transform::Alias| match a.mode {
        WriteMode::Functional => format!("{:?}: functional\n", a.write),
        WriteMode::InPlace => format!("{:?}: in place after {:?}\n", a.write, a.after),
    };
    transform::alias(graph).into_iter().map(line).collect()
}

fn run(body: &str) -> Result<String> {
    let graph = parse(body)?;
    let given: Vec<(&str, HostTensor)> = body.lines().filter_map(|l| l.strip_prefix("# ")).map(tensor).collect::<Result<_>>()?;
    let find = |name: &str| given.iter().find(|(n, _)| *n == name).map(|(_, t)| t.clone());
    let missing = |name: &str| Error::invalid(format!("no comment line `# {name} dtype[shape] = values`"));
    let inputs = graph.inputs.iter().map(|i| find(&i.name).ok_or_else(|| missing(&i.name))).collect::<Result<Vec<_>>>()?;
    let outputs = interpret(&graph, &inputs)?;
    let mut out = String::new();
    for (o, t) in graph.outputs.iter().zip(&outputs) {
        let values: Vec<String> = (0..t.len()).map(|i| t.get(i).to_string()).collect();
        let _ = writeln!(out, "{} {}{:?} = {}", o.name, t.dtype(), t.shape(), values.join(" "));
    }
    Ok(out)
}

/// Reads `x f32[2, 3] = 1.0 …`.
fn tensor(line: &str) -> Result<(&str, HostTensor)> {
    let wrong = || Error::parse(format!("expected `name dtype[shape] = values`, got {line:?}"));
    let (head, values) = line.split_once('=').ok_or_else(wrong)?;
    let (name, ty) = head.trim().split_once(' ').ok_or_else(wrong)?;
    let (dtype, shape) = ty.strip_suffix(']').and_then(|t| t.split_once('[')).ok_or_else(wrong)?;
    let dtype = DType::parse(dtype.trim()).ok_or_else(wrong)?;
    let extent = |s: &str| s.trim().parse::<usize>().map_err(|_| wrong());
    let shape = shape.split(',').filter(|s| !s.trim().is_empty()).map(extent).collect::<Result<Vec<_>>>()?;
    let values = values.split_whitespace().map(|v| scalar(dtype, v).ok_or_else(wrong)).collect::<Result<Vec<_>>>()?;
    if values.len() != shape.iter().product::<usize>() {
        return Err(wrong());
    }
    Ok((name, HostTensor::from_scalars(dtype, &shape, values.into_iter())))
}

fn scalar(dtype: DType, text: &str) -> Option<Scalar> {
    match dtype {
        DType::Bool => text.parse().ok().map(Scalar::bool),
        d if d.is_float() => text.parse().ok().map(|v| Scalar::from_f64(d, v)),
        d => text.parse().ok().map(|v| Scalar::from_i64(d, v)),
    }
}

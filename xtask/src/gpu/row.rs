//! Rows of the benchmark, one a file: a program in text, or `# model NAME` for a model of the zoo.
//!
//! ```text
//! # row softmax bf16 [32768, 1024]
//! # ruler copy
//! # target 0.95
//! # kernels 1
//! # below 1000
//! func …
//! ```
//! `target` is a fraction of the ruler, `kernels` what a plan for a GPU has, `below` bounds integer inputs; all but `row` may
//! be missing.

use std::path::{Path, PathBuf};

use base::{Error, Result};
use fuseline::zoo;
use graph::{Graph, HostTensor, InputDecl, Module, NodeId, Op, text};
use runtime::{Array, Pool};

use super::tiled::{Values, tiled};

/// What a time is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruler {
    /// A copy of as many bytes, read and written together, as inputs and outputs have.
    Copy,
    /// Reading as many bytes.
    Read,
    /// The rate of a large matrix product.
    Product,
}

impl Ruler {
    fn parse(name: &str) -> Result<Ruler> {
        match name {
            "copy" => Ok(Ruler::Copy),
            "read" => Ok(Ruler::Read),
            "product" => Ok(Ruler::Product),
            _ => Err(Error::invalid(format!("no ruler {name:?}: use copy, read or product"))),
        }
    }

    /// Its name in a file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ruler::Copy => "copy",
            Ruler::Read => "read",
            Ruler::Product => "product",
        }
    }
}

/// One row.
pub(crate) struct Row {
    /// Name for the table.
    pub(crate) name: String,
    /// What its time is held against.
    pub(crate) ruler: Ruler,
    /// Fraction of the ruler's speed that is wanted.
    pub(crate) target: Option<f64>,
    /// The program.
    pub(crate) module: Module,
    inputs: Inputs,
}

enum Inputs {
    /// Random, integers below a number.
    Random(i64),
    Given(Vec<HostTensor>),
}

/// Files of a folder in order of their names, those whose name contains a text.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn files(folder: &Path, filter: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(format!("{}: {e}", folder.display())))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "t") && f.to_string_lossy().contains(filter));
    files.sort();
    Ok(files)
}

impl Row {
    /// Reads or makes the row of a file.
    ///
    /// # Errors
    /// A file that cannot be read or is not understood.
    pub(crate) fn load(path: &Path) -> Result<Row> {
        let context = |e: Error| e.context(path.display().to_string());
        let file = std::fs::read_to_string(path).map_err(|e| context(e.into()))?;
        Row::parse(&file).map_err(context)
    }

    fn parse(file: &str) -> Result<Row> {
        let header = |key: &str| file.lines().find_map(|l| l.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(' '));
        let number = |text: &str| text.parse().map_err(|_| Error::parse(format!("{text:?} is no number")));
        let name = header("row").ok_or_else(|| Error::parse("no line `# row NAME`"))?;
        let (module, inputs) = match header("model") {
            Some(model) => {
                let model = zoo::build(model, 0)?;
                let inputs = model.inputs.iter().enumerate().map(|(i, s)| s.generate(&s.sizes, i as u64));
                (model.module, Inputs::Given(inputs.collect::<Result<_>>()?))
            }
            None => {
                let below = header("below").map(number).transpose()?.unwrap_or(1000.0);
                (Module { graph: text::parse(name, file)?, frozen: Vec::new() }, Inputs::Random(below as i64))
            }
        };
        let (ruler, target) = (Ruler::parse(header("ruler").unwrap_or("copy"))?, header("target").map(number).transpose()?);
        Ok(Row { name: name.to_owned(), ruler, target, module, inputs })
    }

    /// Arrays for the inputs that are not frozen.
    ///
    /// # Errors
    /// A symbolic extent of a file; out of memory.
    pub(crate) fn arrays(&self, pool: &Pool) -> Result<Vec<Array>> {
        match &self.inputs {
            Inputs::Given(tensors) => tensors.iter().map(|t| Array::from_bytes(pool, t.dtype(), t.shape(), t.bytes())).collect(),
            Inputs::Random(below) => {
                let array = |(slot, d): (usize, &InputDecl)| {
                    let shape = sizes(&d.ty.shape)?;
                    let values = Values { below: *below, floats: range(&self.module.graph, slot, &shape) };
                    tiled(pool, d.ty.dtype, &shape, values, slot as u64)
                };
                self.module.graph.inputs.iter().enumerate().map(array).collect()
            }
        }
    }

    /// Bytes of all inputs.
    pub(crate) fn read(&self) -> f64 {
        let graph = &self.module.graph;
        graph.inputs.iter().map(|d| bytes(d.ty.dtype, &d.ty.shape)).sum()
    }

    /// Bytes of all outputs.
    pub(crate) fn written(&self) -> f64 {
        let graph: &Graph = &self.module.graph;
        graph.outputs.iter().map(|o| bytes(graph.dtype(o.value), graph.shape(o.value))).sum()
    }
}

/// Range of an input's floats: second moments `v0`, `v1`, … are positive, and products with weights stay as large as what
/// they are made of.
fn range(graph: &Graph, slot: usize, shape: &[usize]) -> (f64, f64) {
    let is_input = |id: NodeId| graph.node(id).op == Op::Input(slot as u32);
    let is_weight = graph.nodes.iter().any(|n| matches!(n.op, Op::Contract(_)) && is_input(n.args[1]));
    let number = graph.inputs[slot].name.strip_prefix('v').unwrap_or("");
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
        return (0.1, 1.1);
    }
    let terms = match shape {
        [_, filter @ ..] if shape.len() >= 4 => filter.iter().product(),
        _ => *shape.iter().min().unwrap_or(&1),
    };
    let most = if is_weight { (3.0 / terms as f64).sqrt() } else { 1.0 };
    (-most, most)
}

fn sizes(shape: &[scalar::Sym]) -> Result<Vec<usize>> {
    let extent =
        |s: &scalar::Sym| s.as_int().map(|n| n as usize).ok_or_else(|| Error::invalid(format!("extent {s} is symbolic")));
    shape.iter().map(extent).collect()
}

/// Symbolic extents, of a model's small inputs and outputs, do not count.
fn bytes(dtype: scalar::DType, shape: &[scalar::Sym]) -> f64 {
    let extents = shape.iter().map(|s| s.as_int().unwrap_or(0) as f64);
    extents.product::<f64>() * dtype.size() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let row = Row::parse(
            "# row a row\n# ruler read\n# target 0.5\nfunc f(x: f32[4, 2], y: bf16[4, 2]) -> (z) {\n  return z = %x\n}\n",
        );
        let row = row.unwrap();
        assert_eq!((&*row.name, row.ruler, row.target, row.read(), row.written()), ("a row", Ruler::Read, Some(0.5), 48.0, 32.0));
        assert!(Row::parse("func f(x: f32[4]) -> (z) {\n  return z = %x\n}\n").is_err());
    }
}

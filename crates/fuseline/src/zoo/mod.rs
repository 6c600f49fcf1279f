//! Real topologies with seeded weights, at full width: models for trying, testing and measuring without a download.
//!
//! ```
//! let model = fuseline::zoo::build("mlp", 0)?;
//! assert_eq!(model.inputs[0].name, "x");
//! assert!(model.module.graph.inputs.iter().filter(|i| i.frozen).count() >= 6);
//! # Ok::<(), fuseline::Error>(())
//! ```

mod small;
mod transformer;
mod vision;

use base::{Error, Result};
use graph::{HostTensor, Module};
use scalar::{DType, Sym};

use crate::nn::Vars;
use crate::random::Generator;
use crate::tensor::Tensor;
use crate::trace::{ArgSpec, trace};

/// A model of the zoo: a graph whose inputs are symbolic where the topology allows it, with its weights as frozen inputs.
#[derive(Clone, Debug)]
pub struct ZooModel {
    /// Name in the zoo.
    pub name: &'static str,
    /// Graph and weights.
    pub module: Module,
    /// The inputs that are not frozen, in slot order.
    pub inputs: Vec<InputSpec>,
}

/// An input of a model, with what is needed to make one up.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// Name of the graph input.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents; symbols such as `batch` and `seq` may take any size of at least 1.
    pub dims: Vec<Sym>,
    /// Extents to use when nothing else is asked for.
    pub sizes: Vec<usize>,
    /// Which values make sense.
    pub fill: Fill,
}

/// Values for a made-up input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Standard normal.
    Normal,
    /// Integers in `[low, high)`.
    Integers {
        /// Least value.
        low: i64,
        /// One past the greatest value.
        high: i64,
    },
    /// All ones.
    Ones,
}

impl InputSpec {
    fn new(name: &str, dtype: DType, dims: &[(&str, usize)], fill: Fill) -> InputSpec {
        let extent =
            |&(symbol, size): &(&str, usize)| if symbol.is_empty() { Sym::from(size as i64) } else { Sym::named(symbol) };
        let (sizes, dims) = (dims.iter().map(|d| d.1).collect(), dims.iter().map(extent).collect());
        InputSpec { name: name.to_owned(), dtype, dims, sizes, fill }
    }
    /// A seeded input of the given extents.
    ///
    /// # Errors
    /// Extents that do not fit memory.
    pub fn generate(&self, sizes: &[usize], seed: u64) -> Result<HostTensor> {
        let generator = Generator::new(seed);
        match self.fill {
            Fill::Normal => generator.randn(sizes, self.dtype).data(),
            Fill::Integers { low, high } => generator.randint(low, high, sizes).to_dtype(self.dtype).data(),
            Fill::Ones => Tensor::ones(sizes, self.dtype).data(),
        }
    }
}

/// What a model's file says: its inputs, and how to make it.
struct Blueprint {
    inputs: Vec<InputSpec>,
    forward: Box<Forward>,
}

type Forward = dyn FnOnce(&[Tensor]) -> Vec<Tensor>;

impl Blueprint {
    fn new(inputs: Vec<InputSpec>, forward: impl FnOnce(&[Tensor]) -> Vec<Tensor> + 'static) -> Result<Blueprint> {
        Ok(Blueprint { inputs, forward: Box::new(forward) })
    }
}

type Make = fn(&Vars) -> Result<Blueprint>;

static MODELS: [(&str, Make); 13] = [
    ("mlp", small::mlp),
    ("geglu-mlp", small::geglu_mlp),
    ("lstm", small::lstm),
    ("unet-block", small::unet_block),
    ("bert-mini", |vars| transformer::bert(vars, &transformer::BERT_MINI)),
    ("bert-base", |vars| transformer::bert(vars, &transformer::BERT_BASE)),
    ("gpt2", |vars| transformer::gpt2(vars, &transformer::GPT2)),
    ("gpt2-mini", |vars| transformer::gpt2(vars, &transformer::GPT2_MINI)),
    ("llama-block", transformer::llama_block),
    ("resnet18", vision::resnet18),
    ("resnet50", vision::resnet50),
    ("mobilenet-v2", vision::mobilenet_v2),
    ("vit-b16", vision::vit_b16),
];

/// Names that [`build`] knows.
pub fn names() -> Vec<&'static str> {
    MODELS.iter().map(|m| m.0).collect()
}

/// Makes a model with weights from a seed. The same seed gives the same weights everywhere.
///
/// # Errors
/// A name that the zoo does not have.
pub fn build(name: &str, seed: u64) -> Result<ZooModel> {
    let found = MODELS.iter().find(|m| m.0 == name);
    let &(name, make) =
        found.ok_or_else(|| Error::invalid(format!("no model {name:?} in the zoo; it has {}", names().join(", "))))?;
    let blueprint = make(&Vars::seeded(seed)).map_err(|e| e.context(format!("zoo:{name}")))?;
    let args: Vec<ArgSpec> = blueprint.inputs.iter().map(|i| ArgSpec::new(i.name.clone(), i.dtype, &i.dims)).collect();
    let module = trace(name, &args, blueprint.forward).map_err(|e| e.context(format!("zoo:{name}")))?;
    Ok(ZooModel { name, module, inputs: blueprint.inputs })
}

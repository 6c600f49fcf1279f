//! Models by name: ONNX files, text IR, the zoo.

use std::collections::BTreeMap;
use std::path::Path;

use base::{Error, ErrorKind};
use fuseline::zoo::{self, Fill};
use graph::{Graph, Module};

use crate::error::{Failure, Outcome};
use crate::progress::Progress;
use crate::term::note;

/// A graph, its weights, and what is known about good inputs.
#[derive(Debug)]
pub(crate) struct Model {
    /// The graph, and data of frozen inputs. Frozen inputs of a text graph have none: it is made up like other inputs.
    pub(crate) module: Module,
    /// Where it came from.
    pub(crate) source: Source,
    /// Inputs of a zoo model, by name: default extents, and values that make sense.
    pub(crate) hints: Vec<(String, Vec<usize>, Fill)>,
    /// Dimensions that became numbers at load, because the file does not load with them open.
    pub(crate) fixed: BTreeMap<String, i64>,
}

/// What a model's argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Onnx,
    Text,
    Zoo,
}

const FORMS: &str = "a model is an ONNX file, a text-IR file, or zoo:NAME; `fuseline run zoo:mlp` needs no file";

/// Loads a model; `seed` makes the weights of zoo models. `dims` are given sizes, for files that do not load with them open.
///
/// # Errors
/// A file that cannot be read or is malformed, unsupported ops, an unknown name.
pub(crate) fn load(name: &str, seed: u64, dims: &[(String, i64)]) -> Outcome<Model> {
    let _progress = Progress::start(format!("loading {name}"), 0);
    match name.strip_prefix("zoo:") {
        Some("") => {
            let list = format!("the zoo has {}", zoo::names().join(", "));
            Err(Failure::invalid("zoo: needs a name, e.g. zoo:mlp", list))
        }
        Some(inner) => load_zoo(inner, seed),
        None => load_file(Path::new(name), dims),
    }
}

fn load_zoo(name: &str, seed: u64) -> Outcome<Model> {
    let made = zoo::build(name, seed)?;
    let hints = made.inputs.into_iter().map(|i| (i.name, i.sizes, i.fill)).collect();
    Ok(Model { module: made.module, source: Source::Zoo, hints, fixed: BTreeMap::new() })
}

fn load_file(path: &Path, dims: &[(String, i64)]) -> Outcome<Model> {
    let bytes =
        std::fs::metadata(path).and_then(|m| if m.is_dir() { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(m.len()) });
    bytes.map_err(|e| Failure::new(Error::from(e).context(path.display().to_string()), FORMS))?;
    match path.extension().and_then(|e| e.to_str()) {
        Some("onnx") => load_onnx(path, dims),
        Some("t" | "fuse" | "txt") => load_text(path),
        _ if looks_like_text(path) => load_text(path),
        _ => load_onnx(path, dims),
    }
}

/// Whether a file without a known extension starts as text IR does: words, with a `func` among the first bytes.
fn looks_like_text(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(4096).read_to_end(&mut head));
    read.is_ok() && !head.contains(&0) && String::from_utf8_lossy(&head).contains("func ")
}

fn load_text(path: &Path) -> Outcome<Model> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).context(shown.clone()))?;
    let graph = graph::text::parse(&shown, &text)?;
    let module = Module { graph, frozen: Vec::new() };
    Ok(Model { module, source: Source::Text, hints: Vec::new(), fixed: BTreeMap::new() })
}

fn load_onnx(path: &Path, dims: &[(String, i64)]) -> Outcome<Model> {
    let mut fixed = BTreeMap::new();
    let mut import = onnx::load(path, &onnx::LoadOptions::default());
    if import.is_err() && !dims.is_empty() {
        let options = onnx::LoadOptions { fixed_dims: dims.iter().cloned().collect(), ..onnx::LoadOptions::default() };
        if let Ok(found) = onnx::load(path, &options) {
            (import, fixed) = (Ok(found), options.fixed_dims);
        }
    }
    let import = import.map_err(|e| load_failure(e, !dims.is_empty()))?;
    import.notes.iter().for_each(|n| note(n));
    let mut module = import.module;
    if module.graph.name.is_empty() {
        module.graph.name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    }
    Ok(Model { module, source: Source::Onnx, hints: Vec::new(), fixed })
}

/// What depends on the value of a dimension may load once it is a number.
fn load_failure(error: Error, tried: bool) -> Failure {
    let help = if error.kind == ErrorKind::Unsupported && !tried {
        "if sizes are missing, fix the symbolic dimensions: --dim NAME=N"
    } else {
        ""
    };
    Failure::new(error, help)
}

impl Model {
    /// The graph.
    pub(crate) fn graph(&self) -> &Graph {
        &self.module.graph
    }
    /// Slots that need data for a run: all but weights whose data is known.
    pub(crate) fn open_slots(&self) -> Vec<usize> {
        let known = |slot: usize| self.module.frozen.iter().any(|f| f.slot as usize == slot);
        (0..self.graph().inputs.len()).filter(|&s| !known(s)).collect()
    }
    /// Names of the outputs.
    pub(crate) fn output_names(&self) -> Vec<String> {
        self.graph().outputs.iter().map(|o| o.name.clone()).collect()
    }
}

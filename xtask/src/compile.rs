//! Compile time against graph size.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use base::{Config, Error, Result};
use driver::{Compiled, Target};
use graph::Graph;
use serde_json::{Value, json};

use crate::graphs;
use crate::profile::load;
use crate::stats::{median, record};

type Make = fn(usize) -> Result<Graph>;

/// Graphs that grow with a size.
const FAMILIES: [(&str, Make, &[usize]); 6] = [
    ("pairs", graphs::pairs, &[10, 100, 1000, 10_000]),
    ("stencil", graphs::stencil, &[10, 100, 1000, 10_000]),
    ("halving", graphs::halving, &[10, 100, 1000, 10_000]),
    ("star", graphs::star, &[10, 100, 1000, 10_000]),
    ("reshapes", graphs::reshapes, &[10, 100, 1000, 10_000]),
    ("transformer", graphs::transformer, &[1, 12, 96]),
];

/// Times the passes on graphs of growing size and on models, and records nodes, kernels and milliseconds.
pub(crate) fn bench() -> Result<()> {
    let mut rows = Vec::new();
    for (name, make, sizes) in FAMILIES {
        for &size in sizes {
            rows.push(row(name, size, &make(size)?)?);
        }
    }
    let models = models()?.iter().map(|m| model_row(m)).collect::<Result<Vec<_>>>()?;
    record("compile_time", json!({ "rows": rows, "models": models }))
}

/// Times one model, or one graph written `star:1000`; prints only.
pub(crate) fn one(name: &str) -> Result<()> {
    let grown = name.split_once(':').and_then(|(family, size)| {
        let (family, make, _) = FAMILIES.into_iter().find(|f| f.0 == family)?;
        Some((family, make, size.parse().ok()?))
    });
    match grown {
        Some((family, make, size)) => row(family, size, &make(size)?).map(drop),
        None => model_row(name).map(drop),
    }
}

/// The ONNX files that are there, and models of the zoo.
fn models() -> Result<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.models");
    let mut files: Vec<PathBuf> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|e| e.ok().map(|e| e.path())).collect(),
        Err(_) => Vec::new(),
    };
    files.retain(|f| f.extension().is_some_and(|e| e == "onnx"));
    files.sort();
    let zoo = ["zoo:bert-mini", "zoo:bert-base", "zoo:gpt2", "zoo:resnet50", "zoo:mobilenet-v2"].map(String::from);
    Ok(files.into_iter().map(|f| f.display().to_string()).chain(zoo).collect())
}

/// Rounds of a model's compile; the first one is cold.
const ROUNDS: usize = 5;

fn model_row(model: &str) -> Result<Value> {
    let start = Instant::now();
    let (module, _) = load(model)?;
    let load_ms = ms(start);
    let mut times = Vec::new();
    let mut compiled = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        compiled = Some(driver::passes(&module.graph, &BTreeMap::new(), &Target::cpu(), &Config::default())?);
        times.push(ms(start));
    }
    let compiled = compiled.ok_or_else(|| Error::internal("no rounds"))?;
    let (nodes, kernels) = (module.graph.nodes.len(), compiled.plan.kernels.len());
    let (first, typical) = (times[0], median(times));
    let name = Path::new(model).file_name().map_or(model.into(), |n| n.to_string_lossy().into_owned());
    println!("{name:<20}: {nodes} nodes, {kernels} kernels, load {load_ms:.1} ms, compile {first:.1} ms cold, {typical:.1} ms");
    Ok(json!({
        "model": name,
        "nodes": nodes,
        "kernels": kernels,
        "load_ms": load_ms,
        "compile_ms": first,
        "compile_again_ms": typical,
        "passes_ms": passes(&compiled),
    }))
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn passes(compiled: &Compiled) -> BTreeMap<&'static str, f64> {
    compiled.timing.iter().map(|(n, t)| (*n, t.as_secs_f64() * 1e3)).collect()
}

fn row(name: &str, size: usize, graph: &Graph) -> Result<Value> {
    let start = Instant::now();
    let compiled = driver::passes(graph, &BTreeMap::new(), &Target::cpu(), &Config::default())?;
    let ms = ms(start);
    let kernels = compiled.plan.kernels.len();
    println!("{name:<12} {size:>6}: {} nodes, {kernels} kernels, {ms:.1} ms", graph.nodes.len());
    Ok(
        json!({ "family": name, "size": size, "nodes": graph.nodes.len(), "kernels": kernels, "ms": ms, "passes_ms": passes(&compiled) }),
    )
}

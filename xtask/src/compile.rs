//! Compile time against graph size.

use std::collections::BTreeMap;
use std::time::Instant;

use base::{Config, Result};
use driver::Target;
use graph::Graph;
use serde_json::{Value, json};

use crate::graphs;
use crate::stats::record;

type Make = fn(usize) -> Result<Graph>;

/// Times the passes on graphs of growing size and records nodes, kernels and milliseconds.
pub(crate) fn bench() -> Result<()> {
    let families: [(&str, Make); 5] = [
        ("pairs", graphs::pairs),
        ("stencil", graphs::stencil),
        ("halving", graphs::halving),
        ("star", graphs::star),
        ("reshapes", graphs::reshapes),
    ];
    let mut rows = Vec::new();
    for (name, make) in families {
        for size in [10, 100, 1000, 10_000] {
            rows.push(row(name, size, &make(size)?)?);
        }
    }
    for layers in [1, 12, 96] {
        rows.push(row("transformer", layers, &graphs::transformer(layers)?)?);
    }
    record("compile_time", json!({ "rows": rows }))
}

fn row(name: &str, size: usize, graph: &Graph) -> Result<Value> {
    let start = Instant::now();
    let compiled = driver::passes(graph, &BTreeMap::new(), &Target::cpu(), &Config::default())?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let kernels = compiled.plan.kernels.len();
    println!("{name:<12} {size:>6}: {} nodes, {kernels} kernels, {ms:.1} ms", graph.nodes.len());
    let passes: BTreeMap<&str, f64> = compiled.timing.iter().map(|(n, t)| (*n, t.as_secs_f64() * 1e3)).collect();
    Ok(json!({ "family": name, "size": size, "nodes": graph.nodes.len(), "kernels": kernels, "ms": ms, "passes_ms": passes }))
}

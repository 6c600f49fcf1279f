//! Fused against unfused execution, and against a copy of the same bytes measured in the same rounds.

use std::time::Instant;

use base::{Config, Result};
use driver::Class;
use driver::Executable;
use fuseline::zoo;
use graph::{Graph, HostTensor, Module};
use serde_json::{Value, json};

use crate::graphs;
use crate::stats::{interleaved, record, rounds_for};

/// Zoo models of the benchmark.
const MODELS: [&str; 4] = ["geglu-mlp", "bert-mini", "resnet18", "mobilenet-v2"];

/// Runs every row with one thread and with two.
pub(crate) fn bench() -> Result<()> {
    let mut rows = Vec::new();
    for threads in [1, 2] {
        for (name, graph) in ops()? {
            rows.push(row(name, &Module { graph, frozen: Vec::new() }, None, threads)?);
        }
        for name in MODELS {
            let model = zoo::build(name, 0)?;
            let inputs =
                model.inputs.iter().enumerate().map(|(i, s)| s.generate(&s.sizes, i as u64)).collect::<Result<Vec<_>>>()?;
            rows.push(row(name, &model.module, Some(inputs), threads)?);
        }
    }
    record("cpu", json!({ "note": "medians of interleaved rounds; ratios within one run", "rows": rows }))
}

fn ops() -> Result<Vec<(&'static str, Graph)>> {
    Ok(vec![
        ("pointwise_10 [4096,4096]", graphs::pointwise(4096, 4096)?),
        ("pointwise_10 [256,1024]", graphs::pointwise(256, 1024)?),
        ("gelu [4096,4096]", graphs::gelu(4096, 4096)?),
        ("gelu [256,1024]", graphs::gelu(256, 1024)?),
        ("softmax [4096,1024]", graphs::softmax(4096, 1024)?),
        ("softmax [256,1024]", graphs::softmax(256, 1024)?),
        ("residual_norm [4096,1024]", graphs::residual_norm(4096, 1024)?),
        ("residual_norm [256,1024]", graphs::residual_norm(256, 1024)?),
        ("linear_gelu 1024^3", graphs::linear_gelu(1024, 1024, 1024)?),
        ("linear_gelu 128x768x3072", graphs::linear_gelu(128, 768, 3072)?),
        ("attention [1,12,128,64]", graphs::attention(12, 128, 64)?),
        ("attention [1,12,512,64]", graphs::attention(12, 512, 64)?),
    ])
}

/// Seeded values in (−1, 1), or 0 and 1 for integers, for every input that is not frozen; unknown extents are 64.
pub(crate) fn made_up(graph: &Graph) -> Result<Vec<HostTensor>> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    graph
        .inputs
        .iter()
        .filter(|d| !d.frozen)
        .map(|d| {
            let extent = |(axis, s): (usize, &scalar::Sym)| s.as_int().unwrap_or(if axis == 0 { 1 } else { 64 }) as usize;
            let shape: Vec<usize> = d.ty.shape.iter().enumerate().map(extent).collect();
            let mut value = || if d.ty.dtype.is_float() { next() } else { (next() + 1.0).floor() };
            let values: Vec<f64> = (0..shape.iter().product()).map(|_| value()).collect();
            Ok(HostTensor::from_f64s(d.ty.dtype, &shape, &values))
        })
        .collect()
}

fn row(name: &str, module: &Module, inputs: Option<Vec<HostTensor>>, threads: usize) -> Result<Value> {
    let inputs = inputs.map_or_else(|| made_up(&module.graph), Ok)?;
    let config = Config { threads, ..Config::default() };
    let start = Instant::now();
    let fused = driver::compile(module, &config)?;
    let arrays = inputs.iter().map(|t| driver::to_array(fused.device().pool(), t)).collect::<Result<Vec<_>>>()?;
    fused.run_arrays(&arrays)?;
    let first = start.elapsed().as_secs_f64();
    let eager = driver::compile(module, &Config { fuse: false, ..config.clone() })?;
    eager.run_arrays(&arrays)?;
    let once = Instant::now();
    fused.run_arrays(&arrays)?;
    let rounds = rounds_for(once.elapsed());
    let report = fused.report(&fused.dims(&inputs)?)?;
    let bytes = (report.after.bytes as usize).max(64);
    let (from, mut to) = (vec![1u8; bytes / 2], vec![0u8; bytes / 2]);
    let times = interleaved(
        rounds,
        &mut [&mut || fused.run_arrays(&arrays).map(drop), &mut || eager.run_arrays(&arrays).map(drop), &mut || {
            copy(&from, &mut to, threads);
            Ok(())
        }],
    )?;
    let (fused_time, eager_time, copy_time) = (times[0], times[1], times[2]);
    let kernels = fused.profile(&inputs, 5)?;
    let contraction = |e: &Executable, times: &[std::time::Duration]| -> f64 {
        let timed = e.plan().kernels.iter().zip(times).filter(|(k, _)| k.class == Class::Contraction);
        timed.map(|(_, t)| t.as_secs_f64()).sum()
    };
    let contractions = contraction(&fused, &kernels);
    println!(
        "{name:<28} threads {threads}: fused {:.3} ms, eager {:.3} ms ({:.2}x), copy of the same bytes {:.3} ms; kernels {} of {}",
        fused_time * 1e3,
        eager_time * 1e3,
        eager_time / fused_time,
        copy_time * 1e3,
        report.after.launches,
        report.before.launches
    );
    Ok(json!({
        "name": name,
        "threads": threads,
        "rounds": rounds,
        "fused_ms": fused_time * 1e3,
        "eager_ms": eager_time * 1e3,
        "speedup_over_eager": eager_time / fused_time,
        "copy_of_same_bytes_ms": copy_time * 1e3,
        "fused_over_copy": fused_time / copy_time,
        "contractions_ms": contractions * 1e3,
        "compile_and_first_run_ms": first * 1e3,
        "launches": [report.before.launches, report.after.launches],
        "bytes": [report.before.bytes, report.after.bytes],
        "peak_bytes": [report.before.peak, report.after.peak],
    }))
}

/// Copies on as many threads as the row uses.
fn copy(from: &[u8], to: &mut [u8], threads: usize) {
    let part = from.len().div_ceil(threads).max(1);
    std::thread::scope(|s| {
        for (f, t) in from.chunks(part).zip(to.chunks_mut(part)) {
            s.spawn(move || t.copy_from_slice(f));
        }
    });
    std::hint::black_box(to);
}

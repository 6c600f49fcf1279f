//! The benchmark's programs at their full sizes, fused, against the CPU with one kernel per op.

use base::{Config, DeviceId, Numerics, Result};
use driver::Device;
use graph::HostTensor;
use testing::tolerance::Tolerance;

use super::Context;
use super::compare::{difference, is_pointwise, loose};
use super::outcome::Outcome;
use super::values::{replayed, run};
use crate::gpu::Row;

/// Bytes of inputs and outputs that a case may have.
const BYTES: f64 = 5e9;
/// Operations that the CPU may do.
const OPERATIONS: f64 = 2e11;
/// Nodes of a program that is compiled with one kernel per op on the device too.
const NODES: usize = 200;

/// Checks one file.
///
/// # Errors
/// A file that cannot be read; a program that does not compile or run.
pub(crate) fn check(context: &Context, name: &str) -> Result<Outcome> {
    let row = Row::load(&context.rows.join(name))?;
    if !row.module.frozen.is_empty() {
        return Ok(Outcome::Skipped("a model of the zoo".to_owned()));
    }
    let cpu = Config { fuse: false, device: DeviceId::Cpu, ..Config::default() };
    let oracle = driver::compile(&row.module, &cpu)?;
    let operations: f64 = oracle.kernel_reports(&Default::default()).iter().map(|k| k.flops).sum();
    if row.read() + row.written() > BYTES || operations > OPERATIONS {
        return Ok(Outcome::Skipped("too large for the CPU".to_owned()));
    }
    let inputs = inputs(&row)?;
    let want = run(&oracle, &inputs)?;
    let compiled = |fuse: bool, numerics: Numerics| -> Result<Vec<HostTensor>> {
        let config = Config { fuse, numerics, ..context.config.clone() };
        run(&driver::compile(&row.module, &config)?, &inputs)
    };
    let fused = compiled(true, Numerics::Eager)?;
    let tolerance = loose(&row.module.graph);
    let wide = difference(&want, &compiled(true, Numerics::Wide)?, tolerance).map(|d| format!("wide: {d}"));
    let eager = difference(&want, &fused, tolerance).map(|d| format!("fused: {d}"));
    let graph = &row.module.graph;
    let bits = match is_pointwise(graph) && graph.nodes.len() <= NODES {
        true => difference(&compiled(false, Numerics::Eager)?, &fused, Tolerance::Exact),
        false => None,
    };
    let recorded = match context.config.device {
        DeviceId::Cpu => None,
        DeviceId::Cuda(_) => {
            let config = Config { replay: true, ..context.config.clone() };
            let got = replayed(&driver::compile(&row.module, &config)?, &inputs)?;
            difference(&fused, &got, Tolerance::Exact).map(|d| format!("recorded: {d}"))
        }
    };
    let complaints = wide.into_iter().chain(eager).chain(recorded).chain(bits.map(|d| format!("fused is not unfused: {d}")));
    Ok(Outcome::of(3, complaints.collect(), String::new))
}

fn inputs(row: &Row) -> Result<Vec<HostTensor>> {
    row.arrays(Device::cpu(1).pool())?.iter().map(driver::to_host).collect()
}

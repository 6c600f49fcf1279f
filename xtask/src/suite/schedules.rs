//! Every schedule that a tuner may choose computes what the usual one does, on random numbers.

use std::collections::BTreeMap;

use base::{Config, DeviceId, ErrorKind, Numerics, Result};
use driver::{Device, Target};
use fuseline::zoo;
use graph::{Graph, HostTensor};
use program::CudaProgram;
use runtime::{Arg, Buffer};

use super::compare::{difference, loose};
use super::device::opened;
use super::outcome::Outcome;
use super::{Context, plan};
use crate::gpu::Row;

/// Bytes of a kernel's parameters beyond which it is left out.
const BYTES: u64 = 1 << 30;
/// About so many elements of a result are compared.
const MOST: usize = 1 << 20;

/// Checks one file of `tests/files/plan`, or a row of the benchmark.
///
/// # Errors
/// A file that cannot be read; a program that does not compile as usual.
pub(crate) fn check(context: &Context, name: &str) -> Result<Outcome> {
    if context.config.device == DeviceId::Cpu {
        return Ok(Outcome::Skipped("a CPU has one schedule".to_owned()));
    }
    let row = context.rows.join(name);
    let graph = if row.exists() { Row::load(&row)?.module.graph } else { plan::read(&context.files, "plan", name)? };
    if zoo::names().contains(&&*graph.name) || graph.inputs.iter().any(|d| d.ty.shape.iter().any(|s| s.as_int().is_none())) {
        return Ok(Outcome::Skipped("a model, or symbolic".to_owned()));
    }
    let device = opened(context)?;
    let (mut checks, mut complaints) = (0, Vec::new());
    for numerics in [Numerics::Eager, Numerics::Wide] {
        let config = Config { numerics, ..context.config.clone() };
        checks += all(&device, &graph, &config, &mut complaints)?;
    }
    Ok(Outcome::of(checks, complaints, String::new))
}

fn all(device: &Device, graph: &Graph, config: &Config, complaints: &mut Vec<String>) -> Result<usize> {
    let plan = driver::passes(graph, &BTreeMap::new(), &Target::of(device.id()), config)?.plan;
    let mut checks = 0;
    for kernel in &plan.kernels {
        let mut found = match driver::candidates(&plan, kernel, &BTreeMap::new(), config) {
            Err(e) if e.kind == ErrorKind::Unsupported => continue,
            found => found?.into_iter(),
        };
        let Some((_, usual)) = found.next() else { continue };
        let results = kernel.step.args(&plan.graph).len();
        if usual.params.iter().map(|p| p.elements * p.dtype.size() as u64).sum::<u64>() > BYTES {
            continue;
        }
        // Random indices may be out of range.
        let Ok(want) = run(device, usual, results) else { continue };
        for (choice, program) in found {
            checks += 1;
            let complaint = match run(device, program, results) {
                Ok(got) => difference(&want, &got, loose(graph)),
                Err(e) if e.kind == ErrorKind::Unsupported => None,
                Err(e) => Some(e.to_string()),
            };
            complaints.extend(complaint.map(|c| format!("{} as {choice:?}: {c}", kernel.name)));
        }
    }
    Ok(checks)
}

/// The arguments of a program after it ran on random numbers, the same ones for every program.
fn run(device: &Device, program: CudaProgram, arguments: usize) -> Result<Vec<HostTensor>> {
    let buffers = program.params.iter().map(|p| device.random(p.dtype, p.elements as usize));
    let buffers = buffers.collect::<Result<Vec<Buffer>>>()?;
    let prepared = device.prepare(program)?;
    device.launch(&prepared, &buffers.iter().map(Arg::from).collect::<Vec<_>>())?;
    device.synchronize()?;
    let read = |(buffer, param): (&Buffer, &program::Param)| {
        let mut bytes = vec![0; buffer.len()];
        buffer.read(0, &mut bytes)?;
        let step = (param.elements as usize / MOST).max(1) | 1;
        let some: Vec<u8> = bytes.chunks_exact(param.dtype.size()).step_by(step).flatten().copied().collect();
        HostTensor::from_bytes(param.dtype, &[some.len() / param.dtype.size()], some)
    };
    let written = buffers.iter().zip(prepared.params()).take(arguments);
    written.filter(|(_, p)| p.access != program::Access::Read).map(read).collect()
}

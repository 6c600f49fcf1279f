//! Running lazy tensors: record, find or make compiled code, run, store.

use std::panic::Location;
use std::sync::{Arc, LazyLock};

use base::{Error, Result};
use graph::{Frozen, Module, TensorType};

use crate::cache::Cache;
use crate::compile;
use crate::mode;
use crate::program::{Recording, Source};
use crate::symbolic;
use crate::tensor::{Kind, Tensor};
use crate::trace::{self, ArgSpec};

static GLOBAL: LazyLock<Cache> = LazyLock::new(Cache::default);

/// Runs what the tensors need and stores their values. `read` is the place of the read that asked, if one did.
pub(crate) fn flush(roots: &[Tensor], read: Option<&'static Location<'static>>) -> Result<()> {
    for root in roots {
        root.check()?;
    }
    let session = compile::current();
    let cache = session.as_ref().map_or(&*GLOBAL, |s| &s.cache);
    let config = mode::config()?;
    let mut recording = record(roots, session.is_some(), read)?;
    let mut found = cache.find(&recording, &config);
    if let Some(env) = symbolic::live() {
        let trouble = match &found {
            Ok(compiled) => compiled.executable.guards().iter().find(|g| !env.holds(g)).map(|g| g.reason.clone()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = trouble {
            env.settle();
            drop(recording);
            recording = record(roots, session.is_some(), read)?;
            found = cache.find(&recording, &config);
            if found.is_ok() {
                env.blame([]);
                env.pin(why);
            }
        }
    }
    let compiled = found?;
    let inputs = compiled.inputs(&recording);
    let outputs = compiled.executable.run(&inputs)?;
    for (&(step, result), value) in recording.program.outputs.iter().zip(outputs) {
        recording.nodes[step as usize].node.fill(result as usize, value);
    }
    if let Some(session) = session {
        session.ran(compiled, read);
    }
    Ok(())
}

fn record(roots: &[Tensor], freeze: bool, read: Option<&'static Location<'static>>) -> Result<Recording> {
    let mut recording = Recording::of(roots, freeze);
    if recording.sources.iter().any(|s| matches!(s, Source::Argument(_))) {
        return Err(traced_read(read));
    }
    recording.keep_held();
    Ok(recording)
}

fn traced_read(read: Option<&'static Location<'static>>) -> Error {
    let place = read.map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    Error::invalid(format!(
        "a value is read{place} inside a function that is being traced; compile_pure and trace take functions without reads, compile takes any"
    ))
}

pub(crate) fn frozen_values(graph: &graph::Graph, sources: &[Source]) -> Vec<Frozen> {
    let slots = sources.iter().enumerate().filter(|&(slot, _)| graph.inputs[slot].frozen);
    slots.filter_map(|(slot, s)| s.value().map(|data| Frozen { slot: slot as u32, data: Arc::new(data) })).collect()
}

/// The graph of a traced function, and the sources of its inputs.
pub(crate) fn module(name: &str, args: &[ArgSpec], outputs: &[Tensor]) -> Result<(Module, Vec<Source>)> {
    debug_assert!(!trace::active());
    for output in outputs {
        output.check()?;
    }
    let mut recording = Recording::of(outputs, true);
    // Data made inside the function never changes: it is as frozen as a weight.
    for (k, source) in recording.sources.iter().enumerate() {
        if matches!(source, Source::Data(_)) {
            recording.program.leaves[k].frozen = Some(0);
        }
    }
    let arguments: Vec<(String, TensorType)> = args.iter().map(|a| (a.name.clone(), a.ty.clone())).collect();
    let (graph, sources) = recording.graph(name, &arguments, &[])?;
    let frozen = frozen_values(&graph, &sources);
    Ok((Module { graph, frozen }, sources))
}

/// Runs several tensors together.
pub(crate) fn flush_together(tensors: &[Tensor]) -> Result<()> {
    let pending: Vec<Tensor> =
        tensors.iter().filter(|t| !t.node.is_done() && !matches!(t.node.kind, Kind::Param(_))).cloned().collect();
    for tensor in tensors {
        tensor.check()?;
    }
    if pending.is_empty() { Ok(()) } else { flush(&pending, None) }
}

/// Evaluates several tensors in one run, which shares their common work.
///
/// # Errors
/// As [`Tensor::eval`].
pub fn eval_all(tensors: &[Tensor]) -> Result<()> {
    flush_together(tensors)
}

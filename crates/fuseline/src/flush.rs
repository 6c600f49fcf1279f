//! Running lazy tensors: record, find or make compiled code, run, store.

use std::panic::Location;
use std::sync::{Arc, LazyLock, Mutex};

use base::{Config, Error, HashMap, Result};
use graph::{Frozen, HostTensor, Module, TensorType};

use crate::compile::{self, Session};
use crate::engine::Executable;
use crate::mode;
use crate::program::{Program, Recording, Source};
use crate::tensor::{Kind, Tensor};
use crate::trace::{self, ArgSpec};

/// Compiled programs remembered outside of [`compile`](crate::compile()) before starting over.
const CACHE: usize = 1024;

/// Compiled code by program and settings.
#[derive(Default)]
pub(crate) struct Cache(Mutex<HashMap<(Program, Config), Arc<Compiled>>>);

/// Compiled code and which leaves it takes, in order.
pub(crate) struct Compiled {
    pub(crate) executable: Executable,
    /// Slots of the recording's sources that are passed at run time.
    passed: Vec<usize>,
}

static GLOBAL: LazyLock<Cache> = LazyLock::new(Cache::default);

/// Runs what the tensors need and stores their values. `read` is the place of the read that asked, if one did.
pub(crate) fn flush(roots: &[Tensor], read: Option<&'static Location<'static>>) -> Result<()> {
    for root in roots {
        root.check()?;
    }
    let session = compile::current();
    let mut recording = Recording::of(roots, session.is_some());
    if recording.sources.iter().any(|s| matches!(s, Source::Argument(_))) {
        return Err(traced_read(read));
    }
    recording.keep_held();
    let cache = session.as_ref().map_or(&*GLOBAL, |s| &s.cache);
    let compiled = cache.find(&recording)?;
    let inputs: Vec<HostTensor> = compiled.passed.iter().filter_map(|&slot| recording.sources[slot].value()).collect();
    let outputs = compiled.executable.run(&inputs)?;
    for (&(step, result), value) in recording.program.outputs.iter().zip(outputs) {
        recording.nodes[step as usize].node.fill(result as usize, value);
    }
    if let Some(session) = session {
        session.ran(compiled, read);
    }
    Ok(())
}

fn traced_read(read: Option<&'static Location<'static>>) -> Error {
    let place = read.map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    Error::invalid(format!(
        "a value is read{place} inside a function that is being traced; compile_pure and trace take functions without reads, compile takes any"
    ))
}

impl Cache {
    fn find(&self, recording: &Recording) -> Result<Arc<Compiled>> {
        let key = (recording.program.clone(), mode::config()?);
        if let Some(found) = self.0.lock().expect("no panic under the lock").get(&key) {
            return Ok(found.clone());
        }
        let compiled = Arc::new(build(recording, &key.1)?);
        let mut entries = self.0.lock().expect("no panic under the lock");
        if entries.len() >= CACHE {
            entries.clear();
        }
        entries.insert(key, compiled.clone());
        Ok(compiled)
    }
}

fn build(recording: &Recording, config: &Config) -> Result<Compiled> {
    let (graph, sources) = recording.graph("lazy", &[])?;
    let frozen = frozen_values(&graph, &sources);
    let passed = (0..sources.len()).filter(|&slot| !graph.inputs[slot].frozen).collect();
    Ok(Compiled { executable: Executable::compile(&Module { graph, frozen }, config)?, passed })
}

fn frozen_values(graph: &graph::Graph, sources: &[Source]) -> Vec<Frozen> {
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
    let (graph, sources) = recording.graph(name, &arguments)?;
    let frozen = frozen_values(&graph, &sources);
    Ok((Module { graph, frozen }, sources))
}

/// Runs several tensors together.
pub(crate) fn flush_together(tensors: &[Tensor], session: Option<&Arc<Session>>) -> Result<()> {
    let _scope = session.map(compile::enter);
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
    flush_together(tensors, None)
}

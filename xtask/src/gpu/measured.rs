//! The measurements of one row.

use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::time::Instant;

use base::{Config, Numerics, Result};
use driver::{Device, Executable};
use runtime::Array;
use runtime::cuda::Recorded;
use scalar::Var;
use serde_json::{Value, json};

use super::row::Row;
use super::rulers::Rulers;
use crate::stats::median;

/// Runs of each kernel in a profile.
const PROFILED: usize = 7;

/// One row in one kind of numerics.
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) numerics: Numerics,
    pub(crate) ruler: &'static str,
    pub(crate) target: Option<f64>,
    /// Kernels of the plan, and launches and library calls that they take.
    pub(crate) kernels: usize,
    pub(crate) launches: usize,
    /// Seconds: compiling, and the first call.
    pub(crate) compile: f64,
    pub(crate) first: f64,
    pub(crate) times: Times,
    /// Bytes of inputs and outputs, operations.
    read: f64,
    written: f64,
    pub(crate) operations: f64,
    memory: MemoryUse,
    profile: Vec<Value>,
}

/// Medians of interleaved rounds, in seconds.
pub(crate) struct Times {
    /// A call, by the device's clock.
    pub(crate) call: f64,
    /// A replay of its recording.
    pub(crate) replay: Option<f64>,
    /// A call until the host has the results' addresses and the device is done, without a flush before.
    pub(crate) wall: f64,
    /// The ruler.
    pub(crate) ruler: f64,
}

impl Times {
    /// The shorter one of call and replay.
    pub(crate) fn best(&self) -> f64 {
        self.replay.map_or(self.call, |r| r.min(self.call))
    }
}

impl Measured {
    /// The ruler's time over ours.
    pub(crate) fn fraction(&self) -> f64 {
        self.times.ruler / self.times.best().max(1e-12)
    }

    /// Whether the target is met to a hundredth, if there is one.
    pub(crate) fn met(&self) -> Option<bool> {
        self.target.map(|t| self.fraction() >= 0.99 * t)
    }

    /// As data.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "row": self.name,
            "numerics": format!("{:?}", self.numerics).to_lowercase(),
            "kernels": self.kernels,
            "launches": self.launches,
            "compile_ms": self.compile * 1e3,
            "first_call_ms": self.first * 1e3,
            "call_ms": self.times.call * 1e3,
            "replay_ms": self.times.replay.map(|t| t * 1e3),
            "wall_ms": self.times.wall * 1e3,
            "ruler": self.ruler,
            "ruler_ms": self.times.ruler * 1e3,
            "fraction": self.fraction(),
            "target": self.target,
            "met": self.met(),
            "read_bytes": self.read,
            "written_bytes": self.written,
            "planned_bytes": self.memory.planned,
            "pool_bytes": self.memory.seen,
            "gbps": (self.read + self.written) / self.times.best() / 1e9,
            "tflops": self.operations / self.times.best() / 1e12,
            "profile": self.profile,
        })
    }
}

/// Compiles, runs and times a row.
///
/// # Errors
/// A program that does not compile or run; out of memory.
pub(crate) fn measure(row: &Row, numerics: Numerics, config: &Config, rulers: &Rulers, rounds: usize) -> Result<Measured> {
    let config = Config { numerics, cache: None, ..config.clone() };
    let start = Instant::now();
    let executable = driver::compile(&row.module, &config)?;
    let compile = start.elapsed().as_secs_f64();
    let device = executable.device();
    let calls = Calls::new(&executable, row.arrays(device.pool())?);
    device.synchronize()?;
    let start = Instant::now();
    drop(calls.run()?);
    device.synchronize()?;
    let first = start.elapsed().as_secs_f64();
    let dims = executable.dims_of(&calls.arrays())?;
    let memory = MemoryUse::of(&executable, &calls)?;
    let reports = executable.kernel_reports(&dims);
    let operations = reports.iter().map(|k| k.flops).sum();
    let (read, written) = (row.read(), row.written());
    let ready = rulers.ready(row.ruler, read + written, operations)?;
    let recording = Recording::new(&calls)?;
    let times = rounds_of(&calls, recording.as_ref(), rounds, &|| ready.time())?;
    let kernel = |(k, t): (&driver::KernelReport, &std::time::Duration)| json!({ "kernel": k.name, "class": k.class, "ms": t.as_secs_f64() * 1e3, "read": k.read, "written": k.written, "flops": k.flops });
    let profile = executable.profile_arrays(&calls.arrays(), PROFILED)?;
    let each = executable.plan().kernels.iter().filter(|k| !k.once).count();
    Ok(Measured {
        name: row.name.clone(),
        numerics,
        ruler: row.ruler.name(),
        target: row.target,
        kernels: each,
        launches: launches(&executable, &dims, &config)?.unwrap_or(each),
        compile,
        first,
        times,
        read,
        written,
        operations,
        memory,
        profile: reports.iter().zip(&profile).map(kernel).collect(),
    })
}

/// Launches and library calls of a GPU's call; `None` on a CPU, and where a kernel is no program.
fn launches(executable: &Executable, dims: &BTreeMap<Var, i64>, config: &Config) -> Result<Option<usize>> {
    if !executable.device().is_cuda() {
        return Ok(None);
    }
    let plan = executable.plan();
    let steps =
        plan.kernels.iter().filter(|k| !k.once).map(|k| driver::cuda_program(plan, k, dims, config).map(|p| p.steps.len()));
    Ok(steps.collect::<Result<Vec<_>>>().ok().map(|n| n.iter().sum()))
}

/// Calls with arrays that are given away where the program takes them: a result of the same name takes the place of a donated input.
pub(super) struct Calls<'a> {
    pub(super) executable: &'a Executable,
    arrays: RefCell<Vec<Array>>,
    /// Results that are the inputs with a number in the next call.
    next: Vec<(usize, usize)>,
    /// Inputs that are the same in every call.
    kept: Vec<usize>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(executable: &'a Executable, arrays: Vec<Array>) -> Calls<'a> {
        let graph = executable.graph();
        let given = graph.inputs.iter().filter(|d| !d.frozen).enumerate().filter(|(_, d)| d.donated);
        let of = |(n, d): (usize, &graph::InputDecl)| Some((graph.outputs.iter().position(|o| o.name == d.name)?, n));
        let next: Vec<(usize, usize)> = given.filter_map(of).collect();
        let kept = (0..arrays.len()).filter(|n| next.iter().all(|(_, to)| to != n)).collect();
        Calls { executable, arrays: RefCell::new(arrays), next, kept }
    }

    fn arrays(&self) -> Ref<'_, Vec<Array>> {
        self.arrays.borrow()
    }

    /// The results that are no inputs of the next call.
    pub(super) fn run(&self) -> Result<Vec<Array>> {
        let (given, kept) = self.take();
        Ok(self.put(self.call(given)?, kept))
    }

    /// What a call gives away, and what later ones need of it; nothing where no input is donated.
    fn take(&self) -> (Vec<Array>, Vec<Array>) {
        if self.next.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let given = self.arrays.take();
        let kept = self.kept.iter().map(|&n| given[n].clone()).collect();
        (given, kept)
    }

    fn call(&self, given: Vec<Array>) -> Result<Vec<Array>> {
        if given.is_empty() { self.executable.run_arrays(&self.arrays()) } else { self.executable.run_owned(given) }
    }

    /// Makes the inputs of the next call of results and what was kept; gives the other results.
    fn put(&self, outputs: Vec<Array>, kept: Vec<Array>) -> Vec<Array> {
        if self.next.is_empty() {
            return outputs;
        }
        let mut outputs: Vec<Option<Array>> = outputs.into_iter().map(Some).collect();
        let mut arrays = vec![None; self.kept.len() + self.next.len()];
        self.kept.iter().zip(kept).for_each(|(&n, array)| arrays[n] = Some(array));
        self.next.iter().for_each(|&(from, to)| arrays[to] = outputs[from].take());
        *self.arrays.borrow_mut() = arrays.into_iter().flatten().collect();
        outputs.into_iter().flatten().collect()
    }
}

/// Bytes that a call takes: as planned, and as the pool saw it.
#[derive(Clone, Copy)]
struct MemoryUse {
    planned: Option<usize>,
    seen: usize,
}

impl MemoryUse {
    fn of(executable: &Executable, calls: &Calls<'_>) -> Result<MemoryUse> {
        let pool = executable.device().pool();
        pool.trim();
        pool.reset_peak();
        let before = pool.stats().allocated;
        drop(calls.run()?);
        let planned = executable.call_memory(&calls.arrays())?;
        let planned = planned.map(|m| if calls.next.is_empty() { m.peak() } else { m.peak() - m.taking });
        Ok(MemoryUse { planned, seen: pool.stats().peak - before })
    }
}

/// A recorded call; its results live as long.
pub(super) struct Recording {
    pub(super) recorded: Recorded,
    _outputs: Vec<Array>,
}

impl Recording {
    /// `None` where the device records nothing, or the plan has what cannot be recorded.
    pub(super) fn new(calls: &Calls<'_>) -> Result<Option<Recording>> {
        let device = calls.executable.device();
        if !device.is_cuda() {
            return Ok(None);
        }
        let mut outputs = Vec::new();
        let recorded = device.capture(|| {
            outputs = calls.run()?;
            Ok(())
        });
        device.synchronize()?;
        Ok(recorded.ok().map(|recorded| Recording { recorded, _outputs: outputs }))
    }
}

/// Times call, replay and ruler in turn, so many rounds after one that does not count.
fn rounds_of(calls: &Calls<'_>, recording: Option<&Recording>, rounds: usize, ruler: &dyn Fn() -> Result<f64>) -> Result<Times> {
    let device: &Device = calls.executable.device();
    let timed = |f: &dyn Fn() -> Result<()>| -> Result<f64> {
        device.flush_l2()?;
        Ok(device.time(f)?.as_secs_f64())
    };
    let mut samples: [Vec<f64>; 4] = Default::default();
    for round in 0..=rounds {
        let call = timed(&|| calls.run().map(drop))?;
        let beside = ruler()?;
        let replay = recording.map(|r| timed(&|| r.recorded.replay())).transpose()?;
        device.synchronize()?;
        let (given, kept) = calls.take();
        let start = Instant::now();
        let outputs = calls.call(given)?;
        device.synchronize()?;
        let wall = start.elapsed().as_secs_f64();
        drop(calls.put(outputs, kept));
        if round > 0 {
            let all = [Some(call), replay, Some(wall), Some(beside)];
            samples.iter_mut().zip(all).for_each(|(s, t)| s.extend(t));
        }
    }
    let [call, replay, wall, ruler] = samples;
    let replay = (!replay.is_empty()).then(|| median(replay));
    Ok(Times { call: median(call), replay, wall: median(wall), ruler: median(ruler) })
}

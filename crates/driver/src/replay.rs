//! The mode that records: the first call of a size tuple runs as ever, the second is recorded, and later ones are replays.

use std::sync::{Mutex, MutexGuard, PoisonError};

use base::{Code, ErrorKind, Remark, Result};
use runtime::Array;

use crate::executable::Executable;
use crate::instance::{Instance, ReadyStep};
use crate::record::{Recording, address};

/// Recordings of a size tuple: results of one may live while the other runs.
const MOST: usize = 2;

/// The recordings of a size tuple.
#[derive(Default)]
pub(crate) struct Replays {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where the inputs of the first call were.
    first: Option<Vec<usize>>,
    /// Inputs that were elsewhere in a later call: they are copied to memory of the recording.
    moved: Vec<bool>,
    recordings: Vec<Recording>,
    /// Replays so far.
    replays: u64,
    /// Why nothing is recorded.
    refused: Option<String>,
}

/// What is recorded of an executable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recordings {
    /// Recordings that are kept.
    pub count: usize,
    /// Bytes of device memory that they keep.
    pub bytes: usize,
    /// Calls that were replays.
    pub replays: u64,
}

impl Replays {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Remembers which inputs are elsewhere than in the first call.
    fn observe(&mut self, inputs: &[Array]) {
        let first = self.first.as_deref().unwrap_or_default();
        self.moved.iter_mut().zip(first).zip(inputs).for_each(|((moved, &first), a)| *moved |= address(a) != first);
    }

    /// The results of a replay, recorded now if need be; `None` where the run must not be one.
    fn next(
        &mut self,
        executable: &Executable,
        instance: &Instance,
        inputs: &[Array],
        free: &[bool],
    ) -> Result<Option<Vec<Array>>> {
        if self.first.is_none() {
            self.first = Some(inputs.iter().map(address).collect());
            self.moved = vec![false; inputs.len()];
            return Ok(None);
        }
        let mut found = self.recordings.iter().position(|r| r.is_idle() && r.reads(inputs) && r.spares(free));
        if found.is_none() {
            if self.recordings.iter().any(|r| r.is_idle() && r.reads(inputs)) {
                return Ok(None);
            }
            self.observe(inputs);
            // One that reads inputs where they no longer are.
            if let Some(stale) = self.recordings.iter().position(Recording::is_idle) {
                self.recordings.remove(stale);
            }
            if self.recordings.len() == MOST {
                return Ok(None);
            }
            let fixed: Vec<bool> = self.moved.iter().map(|moved| !moved).collect();
            match Recording::new(executable, instance, inputs, &fixed, free) {
                Ok(recording) => self.recordings.push(recording),
                Err(e) if matches!(e.kind, ErrorKind::Unsupported | ErrorKind::OutOfMemory) => {
                    self.refused = Some(e.to_string());
                    return Ok(None);
                }
                Err(e) => return Err(e),
            }
            found = Some(self.recordings.len() - 1);
        }
        let Some(recording) = found.and_then(|n| self.recordings.get(n)) else { return Ok(None) };
        let outputs = recording.run(inputs)?;
        self.replays += 1;
        Ok(Some(outputs))
    }
}

impl Executable {
    /// The results of a replay; `None` where nothing is recorded, and while results of earlier replays live.
    pub(crate) fn replay(&self, instance: &Instance, inputs: &[Array], free: &[bool]) -> Result<Option<Vec<Array>>> {
        if !self.config.replay || self.device().is_recording() || !self.device().is_cuda() || self.on_host(instance).is_some() {
            return Ok(None);
        }
        let mut state = instance.replays.state();
        if state.refused.is_some() { Ok(None) } else { state.next(self, instance, inputs, free) }
    }

    /// A kernel of a run that does not run as launches, and why.
    fn on_host(&self, instance: &Instance) -> Option<(String, &'static str)> {
        let why = |step: &ReadyStep| match step {
            ReadyStep::Interpret => Some("the interpreter runs it on the host"),
            ReadyStep::Opaque(_) => Some("it passes through the host"),
            ReadyStep::Program { .. } | ReadyStep::Nothing => None,
        };
        let each = self.plan().kernels.iter().zip(&instance.kernels).filter(|(k, _)| !k.once);
        each.into_iter().find_map(|(kernel, ready)| Some((kernel.name.clone(), why(&ready.step)?)))
    }

    /// What the mode that records has to say about a size tuple.
    pub(crate) fn replay_remarks(&self, instance: &Instance) -> Vec<Remark> {
        if !self.config.replay {
            return Vec::new();
        }
        let name = &self.graph().name;
        if !self.device().is_cuda() {
            return vec![remark(name, format!("{} records no launches", self.device().id()), 0, "run it on a GPU")];
        }
        if let Some((kernel, why)) = self.on_host(instance) {
            return vec![remark(&kernel, why.to_owned(), 0, "no part of the plan is recorded; nothing to do for it yet")];
        }
        let state = instance.replays.state();
        if let Some(why) = &state.refused {
            return vec![remark(name, why.clone(), 0, "runs are not recorded; they give the same results")];
        }
        let graph = self.graph();
        let decls = graph.inputs.iter().filter(|d| !d.frozen);
        let copied = decls.zip(&state.moved).filter(|(_, moved)| **moved);
        let bytes = |d: &graph::InputDecl| {
            let extents = crate::instance::sizes(&d.ty.shape, &instance.dims).unwrap_or_default();
            (extents.iter().product::<usize>() * d.ty.dtype.size()) as u64
        };
        let text = "lies at another address than before: every replay copies it";
        copied.map(|(d, _)| remark(&d.name, text.to_owned(), bytes(d), "keep it in one place between calls")).collect()
    }

    /// What is recorded now, of all size tuples.
    pub fn recordings(&self) -> Recordings {
        let mut sum = Recordings::default();
        for instance in self.ready_instances() {
            let state = instance.replays.state();
            sum.count += state.recordings.len();
            sum.bytes += state.recordings.iter().map(Recording::bytes).sum::<usize>();
            sum.replays += state.replays;
        }
        sum
    }
}

fn remark(place: &str, message: String, bytes: u64, hint: &str) -> Remark {
    Remark { code: Code::Replay, pass: "replay", places: vec![place.to_owned()], message, bytes, hint: hint.to_owned() }
}

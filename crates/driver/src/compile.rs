//! The one list of passes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use base::{Config, Convolutions, Result};
use fuse::{Plan, Sizes};
use graph::{Graph, Module, NodeId};
use kernel::{Products, Target};
use scalar::Var;
use transform::WriteMode;

use crate::cache::Cached;
use crate::executable::Executable;

/// A planned graph, and how long each pass took.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The plan.
    pub plan: Plan,
    /// Pass names and times, in order.
    pub timing: Vec<(&'static str, Duration)>,
    /// What the cache of plans did.
    pub cached: Cached,
}

/// Compiles a module for the CPU.
///
/// # Errors
/// A graph that does not verify, frozen inputs without data, or an op without a kernel.
pub fn compile(module: &Module, config: &Config) -> Result<Executable> {
    Executable::new(module, config)
}

/// Graph passes, in order; making buffers in place belongs to planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// An equal graph with less work, and for GPUs with channels last where convolutions want them.
    Simplify,
    /// Buffers where something needs one.
    Prepare,
    /// Kernels.
    Plan,
}

/// Runs the passes: simplify, layout, prepare, alias, plan. `given` are sizes that the choice is made for.
///
/// # Errors
/// A graph that does not verify, or an op without a kernel.
pub fn passes(graph: &Graph, given: &BTreeMap<Var, i64>, target: &Target, config: &Config) -> Result<Compiled> {
    passes_from(Pass::Simplify, graph, given, target, config)
}

/// [`passes`] on what the passes before `first` gave.
///
/// # Errors
/// As [`passes`].
pub fn passes_from(first: Pass, graph: &Graph, given: &BTreeMap<Var, i64>, target: &Target, config: &Config) -> Result<Compiled> {
    let mut timing = Vec::new();
    let mut timed = |name: &'static str, start: Instant| timing.push((name, start.elapsed()));
    let start = Instant::now();
    if cfg!(debug_assertions) {
        graph::verify(graph)?;
    }
    timed("verify", start);
    let start = Instant::now();
    let simplify = config.fuse && first <= Pass::Simplify;
    let simplified = if simplify { transform::simplify(graph, &transform::Options::default()) } else { graph.clone() };
    timed("simplify", start);
    let start = Instant::now();
    let convolves = target.products != Products::Generated && config.cuda.convolutions > Convolutions::Loops;
    let last = if simplify && convolves { transform::channels_last(&simplified) } else { None };
    let laid = last.unwrap_or(simplified);
    timed("layout", start);
    let start = Instant::now();
    let mut prepared = if first <= Pass::Prepare { fuse::prepare(&laid) } else { laid };
    if cfg!(debug_assertions) {
        graph::verify(&prepared)?;
    }
    let in_place: BTreeSet<NodeId> =
        transform::alias(&prepared).into_iter().filter(|a| a.mode == WriteMode::InPlace).map(|a| a.write).collect();
    timed("alias", start);
    let start = Instant::now();
    prepared.facts.forget_answers();
    let sizes = Sizes::new(&prepared.facts, given.clone());
    let mut plan = fuse::plan(prepared, &in_place, &sizes, target, config)?;
    plan.graph.facts.forget_answers();
    timed("plan", start);
    Ok(Compiled { plan, timing, cached: Cached::Off })
}

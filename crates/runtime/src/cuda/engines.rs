//! Which of cuDNN's engines runs a convolution: the fastest of those proposed that compute it as it is meant, timed once per
//! problem and machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::{Error, Result, Stock};
use scalar::DType;

use super::backend::{Descriptor, Values};
use super::context::Context;
use super::convolution::{Graph, Problem};
use super::convolve::Started;
use super::cudnn::{Dnn, attribute, heuristic, note, sort};
use super::random::random;
use super::timer::seconds;
use crate::memory::Pool;

/// Proposals that are asked for, and those that are timed.
const PROPOSALS: usize = 32;
const TIMED: usize = 10;
/// Multiply-adds from which timing is worth its while.
const WORTHWHILE: f64 = (1u64 << 21) as f64;
/// Seconds that timing one problem may take, besides one run of each proposal.
const BUDGET: f64 = 0.02;
/// Bytes of workspace that an engine may take.
const MOST_WORKSPACE: i64 = 1 << 30;
/// Knobs of an engine.
const KNOBS: usize = 128;

/// An engine with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Engine {
    index: i64,
    /// Type and value.
    knobs: Vec<(i32, i64)>,
}

/// What runs a problem.
pub(super) struct Plan {
    pub(super) descriptor: Descriptor,
    pub(super) workspace: usize,
    _parts: Vec<Descriptor>,
}

/// Choices by problem, in memory and in a cache folder.
#[derive(Default)]
pub(super) struct Engines {
    cache: Option<Stock>,
    /// Held while a problem is timed, so that no other disturbs.
    known: Mutex<BTreeMap<String, Engine>>,
    /// Problems that were timed.
    pub(super) timed: AtomicUsize,
}

impl Engines {
    pub(super) fn new(cache: Option<&str>) -> Engines {
        Engines { cache: cache.map(|c| Stock::new(c, "convolutions")), ..Engines::default() }
    }

    /// The plan for a problem.
    ///
    /// # Errors
    /// `Unsupported` when the library has none.
    pub(super) fn choose(
        &self,
        context: &Arc<Context>,
        pool: &Pool,
        started: &Started,
        graph: &Graph,
        problem: &Problem,
    ) -> Result<Plan> {
        let machine = (&context.about.name, context.about.multiprocessors, started.dnn()?.number());
        let key = base::digest(format!("{machine:?} {problem:?}").as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = || self.cache.as_ref().and_then(|c| c.load(&key).ok()).and_then(|bytes| unpack(&bytes));
        if let Some(engine) = known.get(&key).cloned().or_else(stored)
            && let Ok(plan) = Plan::new(started, graph, &engine)
        {
            known.insert(key, engine);
            return Ok(plan);
        }
        let plans = plans(started, graph, problem)?;
        let timed = plans.len() > 1 && problem.work() >= WORTHWHILE && context.recording() == 0;
        self.timed.fetch_add(usize::from(timed), Ordering::Relaxed);
        // Without memory for timing the first proposal is as good as any.
        let fastest = if timed { fastest(context, pool, started, problem, &plans).ok() } else { None };
        let (engine, plan) = plans.into_iter().nth(fastest.unwrap_or(0)).ok_or_else(|| unsupported(problem))?;
        if let (Some(cache), true) = (&self.cache, fastest.is_some()) {
            let _ = cache.store(&key, &pack(&engine));
        }
        known.insert(key, engine);
        Ok(plan)
    }
}

fn unsupported(problem: &Problem) -> Error {
    Error::unsupported(format!("cuDNN has no engine for {problem:?}"))
}

fn pack(engine: &Engine) -> Vec<u8> {
    let knobs = engine.knobs.iter().flat_map(|&(knob, value)| [i64::from(knob), value]);
    std::iter::once(engine.index).chain(knobs).flat_map(i64::to_le_bytes).collect()
}

fn unpack(bytes: &[u8]) -> Option<Engine> {
    let (words, rest) = bytes.as_chunks::<8>();
    let words: Vec<i64> = words.iter().map(|w| i64::from_le_bytes(*w)).collect();
    let (index, knobs) = words.split_first().filter(|_| rest.is_empty())?;
    let (pairs, rest) = knobs.as_chunks::<2>();
    let knobs = pairs.iter().map(|&[knob, value]| Some((i32::try_from(knob).ok()?, value))).collect::<Option<_>>()?;
    rest.is_empty().then_some(Engine { index: *index, knobs })
}

/// Whether an engine computes numbers as they are meant: sums in f32 of the elements as they are, in an order that is always the
/// same, and a NaN where it belongs. Transforms (Fourier's, Winograd's) spread a NaN over its neighbours.
fn is_faithful(notes: &[i32], dtype: DType) -> bool {
    let harmless = |n: &i32| *n == note::STRICT_NAN || (*n == note::TENSOR_CORE && dtype != DType::F32);
    notes.iter().all(harmless)
}

/// Plans of faithful engines that the library can make, its favourite first.
fn plans(started: &Started, graph: &Graph, problem: &Problem) -> Result<Vec<(Engine, Plan)>> {
    let mut plans = Vec::new();
    for mode in [heuristic::A, heuristic::FALLBACK] {
        for engine in proposals(started.dnn()?, graph, mode, problem.dtype)? {
            if plans.len() == TIMED {
                break;
            }
            if let Ok(plan) = Plan::new(started, graph, &engine) {
                plans.push((engine, plan));
            }
        }
        if !plans.is_empty() {
            break;
        }
    }
    Ok(plans)
}

/// Faithful engines that a heuristic proposes.
fn proposals(dnn: &Dnn, graph: &Graph, mode: i32, dtype: DType) -> Result<Vec<Engine>> {
    use attribute as a;
    let attributes = [(a::HEURISTIC_GRAPH, Values::One(&graph.descriptor)), (a::HEURISTIC_MODE, Values::Heuristic(mode))];
    let asked = Descriptor::new(dnn, sort::HEURISTIC, &attributes)
        .and_then(|h| h.descriptors(dnn, a::HEURISTIC_RESULTS, sort::CONFIG, PROPOSALS));
    let configs = match asked {
        Err(e) if e.kind == base::ErrorKind::Unsupported => Vec::new(),
        configs => configs?,
    };
    let mut engines = Vec::new();
    for config in configs {
        if let Some(engine) = read(dnn, &config, dtype)?
            && !engines.contains(&engine)
        {
            engines.push(engine);
        }
    }
    Ok(engines)
}

/// The engine of a configuration, if it is faithful.
fn read(dnn: &Dnn, config: &Descriptor, dtype: DType) -> Result<Option<Engine>> {
    use attribute as a;
    let engines = config.descriptors(dnn, a::CONFIG_ENGINE, sort::ENGINE, 1)?;
    let Some(engine) = engines.first() else { return Ok(None) };
    if !is_faithful(&engine.notes::<{ note::COUNT }>(dnn, a::ENGINE_NOTES)?, dtype) {
        return Ok(None);
    }
    let choices = config.descriptors(dnn, a::CONFIG_KNOBS, sort::KNOB_CHOICE, KNOBS)?;
    let knob = |c: &Descriptor| Ok((c.knob(dnn, a::KNOB_TYPE)?, c.number(dnn, a::KNOB_VALUE)?));
    let knobs = choices.iter().map(knob).collect::<Result<_>>()?;
    Ok(Some(Engine { index: engine.number(dnn, a::ENGINE_INDEX)?, knobs }))
}

impl Plan {
    fn new(started: &Started, graph: &Graph, engine: &Engine) -> Result<Plan> {
        use attribute as a;
        let dnn = started.dnn()?;
        let attributes = [
            (a::ENGINE_GRAPH, Values::One(&graph.descriptor)),
            (a::ENGINE_INDEX, Values::Numbers(std::slice::from_ref(&engine.index))),
        ];
        let mut parts = vec![Descriptor::new(dnn, sort::ENGINE, &attributes)?];
        for (knob, value) in &engine.knobs {
            let attributes = [(a::KNOB_TYPE, Values::Knob(*knob)), (a::KNOB_VALUE, Values::Numbers(std::slice::from_ref(value)))];
            parts.push(Descriptor::new(dnn, sort::KNOB_CHOICE, &attributes)?);
        }
        let knobs: Vec<&Descriptor> = parts[1..].iter().collect();
        let mut attributes = vec![(a::CONFIG_ENGINE, Values::One(&parts[0]))];
        if !knobs.is_empty() {
            attributes.push((a::CONFIG_KNOBS, Values::Descriptors(&knobs)));
        }
        let config = Descriptor::new(dnn, sort::CONFIG, &attributes)?;
        let attributes = [(a::PLAN_HANDLE, Values::Handle(started.handle())), (a::PLAN_CONFIG, Values::One(&config))];
        let descriptor = Descriptor::new(dnn, sort::PLAN, &attributes)?;
        let workspace = descriptor.number(dnn, a::PLAN_WORKSPACE)?;
        if !(0..=MOST_WORKSPACE).contains(&workspace) {
            return Err(Error::unsupported(format!("an engine of cuDNN takes a workspace of {workspace} bytes")));
        }
        parts.push(config);
        Ok(Plan { descriptor, workspace: workspace as usize, _parts: parts })
    }
}

/// The plan that takes the least time on random numbers.
fn fastest(context: &Arc<Context>, pool: &Pool, started: &Started, problem: &Problem, plans: &[(Engine, Plan)]) -> Result<usize> {
    let buffers = problem.arrays.iter().map(|a| random(pool, problem.dtype, a.span() as usize)).collect::<Result<Vec<_>>>()?;
    let addresses = [0, 1, 2].map(|i| buffers[i].as_ptr() as u64);
    let most = plans.iter().map(|(_, p)| p.workspace).max().unwrap_or(0);
    let workspace = pool.alloc(most.max(1))?;
    let mut best: Option<(f64, usize)> = None;
    for (n, (_, plan)) in plans.iter().enumerate() {
        let pack = started.pack(addresses, workspace.as_ptr() as u64)?;
        let run = || started.run(context, plan, &pack);
        // A proposal that cannot run after all is none.
        let Ok(once) = run().and_then(|()| seconds(context, 1, run)) else { continue };
        let times = (BUDGET / TIMED as f64 / once.max(1e-6)) as usize;
        let time = if times > 1 { seconds(context, times.min(50), run)? } else { once };
        if best.is_none_or(|(least, _)| time < least) {
            best = Some((time, n));
        }
    }
    best.map(|(_, n)| n).ok_or_else(|| unsupported(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_back_from_the_cache() {
        let engine = Engine { index: 47, knobs: vec![(3, 5), (12, -1)] };
        assert_eq!(unpack(&pack(&engine)), Some(engine));
        let bytes = [0; 40];
        assert!(unpack(&bytes[..16]).is_none() && unpack(&bytes[..23]).is_none() && unpack(&[]).is_none());
    }

    #[test]
    fn engines_that_change_numbers_are_left_out() {
        assert!(is_faithful(&[note::TENSOR_CORE], DType::F16) && is_faithful(&[note::STRICT_NAN], DType::F32));
        assert!(!is_faithful(&[note::TENSOR_CORE], DType::F32), "TF32");
        for unfaithful in (1..9).chain(10..16) {
            assert!(!is_faithful(&[note::TENSOR_CORE, unfaithful], DType::BF16), "{unfaithful}");
        }
    }
}

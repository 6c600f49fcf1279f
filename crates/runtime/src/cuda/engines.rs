//! The engines that cuDNN proposes for a convolution, as far as they compute it as it is meant.

use std::sync::Arc;

use base::{Error, Result};
use scalar::DType;

use super::backend::{Descriptor, Values};
use super::choices::Contest;
use super::context::Context;
use super::convolution::{Problem, Y};
use super::convolve::Started;
use super::cudnn::{Dnn, attribute, heuristic, note, sort};
use super::graph::Graph;
use super::probe::keeps_nan;
use super::random::Operands;
use crate::memory::Pool;

/// Proposals that are asked for, and those of which plans are made.
const PROPOSALS: usize = 32;
const PLANS: usize = 10;
/// Bytes of workspace that an engine may take.
const MOST_WORKSPACE: i64 = 1 << 30;
/// Knobs that an engine has at most: there are fewer sorts of them.
const KNOBS: usize = 64;

/// An engine with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Engine {
    index: i64,
    /// Type and value.
    knobs: Vec<(i32, i64)>,
}

impl Engine {
    fn words(&self) -> Vec<u64> {
        let knobs = self.knobs.iter().flat_map(|&(knob, value)| [i64::from(knob), value]);
        std::iter::once(self.index).chain(knobs).map(i64::cast_unsigned).collect()
    }

    fn of_words(words: &[u64]) -> Option<Engine> {
        let (index, knobs) = words.split_first()?;
        let (pairs, rest) = knobs.as_chunks::<2>();
        let knob = |&[knob, value]: &[u64; 2]| Some((i32::try_from(knob).ok()?, value.cast_signed()));
        let knobs = pairs.iter().map(knob).collect::<Option<_>>()?;
        rest.is_empty().then_some(Engine { index: index.cast_signed(), knobs })
    }
}

/// What runs a problem.
pub(super) struct Plan {
    pub(super) descriptor: Descriptor,
    pub(super) workspace: usize,
    _parts: Vec<Descriptor>,
}

/// A graph with what runs it.
pub(super) struct Ready {
    pub(super) plan: Plan,
    pub(super) _graph: Graph,
}

/// A convolution on operands of its own. Where something follows it, it may be faster to leave that to generated code.
pub(super) struct Engines<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) pool: &'a Pool,
    pub(super) started: &'a Started,
    pub(super) graph: &'a Graph,
    pub(super) problem: &'a Problem,
    /// To measure with: w, x, y, and the bias if there is one.
    pub(super) operands: Operands<'a>,
    /// The convolution without what follows it, if something does.
    pub(super) alone: Option<&'a Ready>,
}

impl Contest for Engines<'_> {
    /// None where what follows the convolution is better left to generated code; its choice is empty.
    type Plan = Option<Plan>;

    fn description(&self) -> String {
        format!("{:?} {:?}", self.started.dnn().ok().map(Dnn::number), self.problem)
    }

    fn work(&self) -> f64 {
        self.problem.work()
    }

    fn plan(&self, choice: &[u64]) -> Option<Option<Plan>> {
        if choice.is_empty() {
            return self.alone.map(|_| None);
        }
        Plan::new(self.started, self.graph, &Engine::of_words(choice)?).ok().map(Some)
    }

    fn proposals(&self) -> impl Iterator<Item = Result<Vec<(Vec<u64>, Option<Plan>)>>> {
        [heuristic::A, heuristic::FALLBACK].into_iter().map(|mode| {
            let engines = proposals(self.started.dnn()?, self.graph, mode, self.problem.dtype)?.into_iter();
            let plan = |e: Engine| Some((e.words(), Some(Plan::new(self.started, self.graph, &e).ok()?)));
            Ok(engines.filter_map(plan).take(PLANS).chain(self.alone.map(|_| (Vec::new(), None))).collect())
        })
    }

    /// Generated code reads and writes the result once more, as a copy does.
    fn rehearsal<'a>(&'a self, plan: &'a Option<Plan>) -> Result<impl Fn() -> Result<()> + 'a> {
        let buffers = self.operands.buffers()?;
        let (plan, buffers, after) = match (plan, self.alone) {
            (Some(plan), _) => (plan, buffers, None),
            (None, Some(alone)) => (&alone.plan, &buffers[..=Y], Some(self.pool.alloc(buffers[Y].len())?)),
            (None, None) => return Err(self.unsupported()),
        };
        let workspace = self.pool.alloc(plan.workspace.max(1))?;
        let addresses: Vec<u64> = buffers.iter().map(|b| b.as_ptr() as u64).collect();
        let pack = self.started.pack(&addresses, workspace.as_ptr() as u64)?;
        Ok(move || {
            let _held = &workspace;
            self.started.run(self.context, plan, &pack)?;
            after.as_ref().map_or(Ok(()), |after| after.copy_from(0, &buffers[Y], 0, after.len()))
        })
    }

    fn is_right(&self, plan: &Option<Plan>) -> Result<bool> {
        Ok(plan.is_none() || keeps_nan(self.problem, self.operands.buffers()?, self.rehearsal(plan)?)?)
    }

    fn unsupported(&self) -> Error {
        Error::unsupported(format!("cuDNN has no engine for {:?}", self.problem))
    }
}

/// Whether an engine says that it computes numbers as they are meant: sums in f32 of the elements as they are, in an order that is
/// always the same, without transforms (Fourier's, Winograd's), which spread a NaN over its neighbours.
fn is_faithful(notes: &[i32], dtype: DType) -> bool {
    let harmless = |n: &i32| *n == note::STRICT_NAN || (*n == note::TENSOR_CORE && dtype != DType::F32);
    notes.iter().all(harmless)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_come_back_from_words() {
        let engine = Engine { index: 47, knobs: vec![(3, 5), (12, -1)] };
        assert_eq!(Engine::of_words(&engine.words()), Some(engine));
        assert!(Engine::of_words(&[1, 2]).is_none() && Engine::of_words(&[]).is_none());
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

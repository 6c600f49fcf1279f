//! Kernels in order, and where every value lies.

use std::collections::{BTreeMap, BTreeSet};

use base::{Config, Error, Remark, Result};
use graph::{Graph, NodeId, Op};
use kernel::{Class, Estimate, Summary, Target, estimate};
use scalar::Sym;
use serde::{Deserialize, Serialize};

use crate::build::{Built, Group};
use crate::choose::{Chosen, choose};
use crate::cost::class;
use crate::sizes::Sizes;
use crate::strides::{Strided, strided};
use crate::values::Values;

/// What runs at one place of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// Generated code: one comp, or independent ones side by side.
    Comps(Vec<Part>),
    /// A registry call or control flow.
    Opaque(NodeId),
}

/// One group of a generated kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Members and outputs.
    pub group: Group,
    /// What it computes.
    pub built: Built,
}

impl Step {
    /// Graph value of each argument, in the order of the parts.
    pub fn args(&self, graph: &Graph) -> Vec<NodeId> {
        match self {
            Step::Comps(parts) => parts.iter().flat_map(|p| p.built.args.iter().copied()).collect(),
            Step::Opaque(node) => graph.node(*node).args.to_vec(),
        }
    }
}

/// One kernel of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Name that says what it does.
    pub name: String,
    /// What runs.
    pub step: Step,
    /// Class.
    pub class: Class,
    /// Graph nodes that it computes, ascending.
    pub members: Vec<NodeId>,
    /// Values that it stores.
    pub outputs: Vec<NodeId>,
    /// Cost terms in the plan's sizes.
    pub summary: Summary,
    /// Prediction in the plan's sizes.
    pub estimate: Estimate,
    /// Depends on frozen inputs only: runs once, at load.
    pub once: bool,
}

/// Where a stored value lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// An argument of the call.
    Input(u32),
    /// A buffer of its own, row-major.
    Own,
    /// Part of another value: a slice along one axis.
    Part {
        /// The whole.
        of: NodeId,
        /// Sliced axis.
        axis: usize,
        /// First index.
        start: Sym,
    },
    /// The buffer of a written destination. `copy`: the destination's content is copied to a new buffer first.
    Write {
        /// Destination value.
        dst: NodeId,
        /// Whether the write is functional.
        copy: bool,
    },
}

/// What a graph output shows.
pub type Source = Strided;

/// An executable order of kernels over the values of a graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The graph that node ids refer to.
    pub graph: Graph,
    /// Kernels in order.
    pub kernels: Vec<Kernel>,
    /// Runs of kernels; a segment ends where a symbol becomes known to the host.
    pub segments: Vec<std::ops::Range<usize>>,
    /// Place of every stored value.
    pub storage: BTreeMap<NodeId, Storage>,
    /// What each graph output shows.
    pub outputs: Vec<Source>,
    /// Sizes that the choice was made for.
    pub sizes: Sizes,
}

/// Plans a graph that [`prepare`](crate::prepare()) gave. `in_place` lists the writes that may use their destination's buffer.
///
/// # Errors
/// An internal error when a single node has no kernel.
pub fn plan(graph: Graph, in_place: &BTreeSet<NodeId>, sizes: &Sizes, target: &Target, config: &Config) -> Result<Plan> {
    let users = graph.users();
    let values = Values::new(&graph);
    let chosen = choose(&graph, &values, &users, sizes, target, config, in_place)
        .map_err(|r| Error::unsupported(format!("no kernel for a single op: {} ({:?})", r.message, r.code)))?;
    let storage = place_values(&graph, &values, &chosen, in_place);
    let once = once(&graph, &chosen, &storage);
    let before = dependencies(&graph, &values, &chosen, &storage);
    let alone = |g: usize| {
        let members = &chosen[g].group.members;
        !config.fuse || is_free_concat(&graph, &chosen[g], &storage) || members.iter().all(|m| once.contains(m))
    };
    let bundles = crate::horizontal::bundles(&chosen, &before, &values, &alone, target);
    let order = order(&chosen, &bundles, &before);
    if order.len() != bundles.len() {
        return Err(Error::internal(format!("graph {}: groups depend on each other in a cycle", graph.name)));
    }
    let kernels = order
        .into_iter()
        .map(|b| bundles[b].iter().map(|&g| &chosen[g]).collect::<Vec<_>>())
        .filter(|bundle| !is_free_concat(&graph, bundle[0], &storage))
        .enumerate()
        .map(|(n, bundle)| kernel(&graph, &bundle, n, &once, target))
        .collect::<Vec<_>>();
    let outputs = graph
        .outputs
        .iter()
        .map(|o| strided(&graph, o.value).ok_or_else(|| Error::internal(format!("output {} has no strided form", o.name))));
    let outputs = outputs.collect::<Result<Vec<_>>>()?;
    Ok(Plan { segments: std::iter::once(0..kernels.len()).collect(), kernels, storage, outputs, sizes: sizes.clone(), graph })
}

fn kernel(graph: &Graph, bundle: &[&Chosen], number: usize, once: &BTreeSet<NodeId>, target: &Target) -> Kernel {
    let members: BTreeSet<NodeId> = bundle.iter().flat_map(|c| c.group.members.iter().copied()).collect();
    let members: Vec<NodeId> = members.into_iter().collect();
    let parts: Vec<Part> = bundle.iter().filter_map(|c| part(graph, c, once)).collect();
    let class = parts.first().map_or(Class::Opaque, |p| class(&p.built.comp));
    let summary = bundle[1..].iter().fold(bundle[0].summary, |s, c| s.beside(&c.summary));
    Kernel {
        name: format!("k{number}_{}", name(graph, &members)),
        step: if parts.is_empty() { Step::Opaque(members[0]) } else { Step::Comps(parts) },
        class,
        outputs: bundle.iter().flat_map(|c| c.group.outputs.iter().copied()).collect(),
        summary,
        estimate: estimate(&summary, target),
        once: members.iter().all(|m| once.contains(m)),
        members,
    }
}

/// A group's generated code, which knows what is frozen.
fn part(graph: &Graph, chosen: &Chosen, once: &BTreeSet<NodeId>) -> Option<Part> {
    let mut built = chosen.built.clone()?;
    for (arg, value) in built.comp.args.iter_mut().zip(&built.args) {
        arg.frozen |= Values::owner(graph, *value).is_some_and(|o| once.contains(&o)) && !arg.written;
    }
    Some(Part { group: chosen.group.clone(), built })
}

/// Distinct user ops of the members, in order; at most four.
fn name(graph: &Graph, members: &[NodeId]) -> String {
    let mut ops: Vec<String> = Vec::new();
    for &m in members {
        let origin = &graph.origin(m).op;
        let op = if origin.is_empty() { op_name(&graph.node(m).op) } else { origin.to_lowercase() };
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    let more = ops.len().saturating_sub(4);
    ops.truncate(4);
    let mut name = ops.join("_").replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    if more > 0 {
        name.push_str(&format!("_and_{more}"));
    }
    name
}

fn op_name(op: &Op) -> String {
    match op {
        Op::Map(s) => s.name(),
        Op::Reduce(c, _) => c.info().name.into(),
        Op::Scan(c, _) => format!("scan_{}", c.info().name),
        Op::Concat(_) => "concat".into(),
        Op::Contract(_) => "contract".into(),
        Op::Gather(_) => "gather".into(),
        Op::Write(..) => "write".into(),
        Op::Call(name, _) => name.clone(),
        Op::Region(_) => "region".into(),
        _ => "copy".into(),
    }
}

/// Compute nodes that depend on frozen inputs only, whose group does not grow its data and that nothing overwrites.
fn once(graph: &Graph, chosen: &[Chosen], storage: &BTreeMap<NodeId, Storage>) -> BTreeSet<NodeId> {
    let mut frozen = vec![false; graph.nodes.len()];
    for id in graph.ids() {
        let node = graph.node(id);
        frozen[id.index()] = match &node.op {
            Op::Input(slot) => graph.inputs[*slot as usize].frozen,
            Op::Const(_) => true,
            Op::SymConst(s) => s.as_int().is_some(),
            Op::Iota(n) => n.as_int().is_some(),
            Op::Call(..) | Op::Region(_) | Op::Write(..) => false,
            _ => node.args.iter().all(|a| frozen[a.index()]) && is_static(graph, id),
        };
    }
    let overwritten = |s: &Storage| if let Storage::Write { dst, copy: false } = s { Some(*dst) } else { None };
    let overwritten: BTreeSet<NodeId> = storage.values().filter_map(overwritten).collect();
    let eligible = |c: &&Chosen| {
        let all = c.group.members.iter().all(|m| frozen[m.index()]) && c.group.outputs.iter().all(|v| !overwritten.contains(v));
        all && c.built.is_some() && c.summary.written <= c.summary.read.max(4096.0)
    };
    let mut once: BTreeSet<NodeId> = chosen.iter().filter(eligible).flat_map(|c| c.group.members.iter().copied()).collect();
    loop {
        let stale: Vec<NodeId> = chosen
            .iter()
            .filter(|c| c.group.members.iter().all(|m| once.contains(m)))
            .filter(|c| {
                let args = c.built.iter().flat_map(|b| &b.args);
                let mut outside = args.filter_map(|&a| Values::owner(graph, a)).filter(|o| !c.group.members.contains(o));
                outside.any(|o| !once.contains(&o))
            })
            .flat_map(|c| c.group.members.iter().copied())
            .collect();
        if stale.is_empty() {
            return once;
        }
        stale.iter().for_each(|m| {
            once.remove(m);
        });
    }
}

fn is_static(graph: &Graph, id: NodeId) -> bool {
    let fixed = |t: &graph::TensorType| t.shape.iter().all(|s| s.as_int().is_some());
    match &graph.node(id).ty {
        graph::Type::Tensor(t) => fixed(t),
        graph::Type::Tuple(ts) => ts.iter().all(fixed),
    }
}

/// The concat that a group is, if it is nothing else.
pub(crate) fn lone_concat(graph: &Graph, chosen: &Chosen) -> Option<NodeId> {
    let only = chosen.group.members.first().filter(|_| chosen.group.members.len() == 1)?;
    matches!(graph.node(*only).op, Op::Concat(_)).then_some(*only)
}

fn is_free_concat(graph: &Graph, chosen: &Chosen, storage: &BTreeMap<NodeId, Storage>) -> bool {
    lone_concat(graph, chosen).is_some_and(|c| {
        let part = |a: &NodeId| matches!(storage.get(a), Some(Storage::Part { of, .. }) if *of == c);
        graph.node(c).args.iter().all(part)
    })
}

fn place_values(graph: &Graph, values: &Values, chosen: &[Chosen], in_place: &BTreeSet<NodeId>) -> BTreeMap<NodeId, Storage> {
    let mut storage = BTreeMap::new();
    for id in graph.ids() {
        if let Op::Input(slot) = graph.node(id).op {
            storage.insert(id, Storage::Input(slot));
        }
    }
    for v in chosen.iter().flat_map(|c| &c.group.outputs) {
        let place = match &graph.node(*v).op {
            Op::Write(..) => {
                let dst = values.value_of[graph.node(*v).args[0].index()];
                Storage::Write { dst, copy: !in_place.contains(v) }
            }
            _ => Storage::Own,
        };
        storage.insert(*v, place);
    }
    // A value whose buffer changes hands cannot share it with the parts of a concat.
    let overwritten: BTreeSet<NodeId> = in_place.iter().map(|w| values.value_of[graph.node(*w).args[0].index()]).collect();
    for c in chosen.iter().filter_map(|c| lone_concat(graph, c)) {
        let Op::Concat(axis) = graph.node(c).op else { continue };
        let args = &graph.node(c).args;
        let own = args.iter().all(|a| storage.get(a) == Some(&Storage::Own));
        if !own || args.iter().chain([&c]).any(|v| overwritten.contains(v)) {
            continue;
        }
        let mut start = Sym::from(0);
        for &a in args {
            storage.insert(a, Storage::Part { of: c, axis, start: start.clone() });
            start = (start + graph.shape(a)[axis].clone()).simplify(&graph.facts);
        }
    }
    storage
}

/// Groups that must run before each: producers of what it reads, and readers of a buffer that it overwrites.
fn dependencies(graph: &Graph, values: &Values, chosen: &[Chosen], storage: &BTreeMap<NodeId, Storage>) -> Vec<BTreeSet<usize>> {
    let mut of: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (g, c) in chosen.iter().enumerate() {
        c.group.outputs.iter().for_each(|&v| of.entry(v).or_default().push(g));
    }
    let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); chosen.len()];
    let reads: Vec<BTreeSet<NodeId>> = chosen.iter().map(|c| reads(graph, values, c)).collect();
    for (g, r) in reads.iter().enumerate() {
        for v in r {
            before[g].extend(of.get(v).into_iter().flatten().filter(|&&p| p != g));
        }
    }
    for (g, c) in chosen.iter().enumerate() {
        for v in &c.group.outputs {
            if let Some(Storage::Write { dst, copy: false }) = storage.get(v) {
                before[g].extend((0..chosen.len()).filter(|&h| h != g && reads[h].contains(dst)));
            }
        }
    }
    before
}

/// Topological order of bundles of groups, least last member first.
fn order(chosen: &[Chosen], bundles: &[Vec<usize>], before: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut of = vec![0; chosen.len()];
    for (b, groups) in bundles.iter().enumerate() {
        groups.iter().for_each(|&g| of[g] = b);
    }
    let wait = |groups: &Vec<usize>| groups.iter().flat_map(|&g| &before[g]).map(|&p| of[p]).collect::<BTreeSet<usize>>();
    let before: Vec<BTreeSet<usize>> = bundles.iter().map(wait).collect();
    let mut done = vec![false; bundles.len()];
    let mut waiting: Vec<usize> = before.iter().map(BTreeSet::len).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); bundles.len()];
    for (g, b) in before.iter().enumerate() {
        b.iter().for_each(|&p| after[p].push(g));
    }
    let key = |b: usize| (bundles[b].iter().filter_map(|&g| chosen[g].group.members.last().copied()).max(), b);
    let mut ready: BTreeSet<(Option<NodeId>, usize)> = (0..bundles.len()).filter(|&b| waiting[b] == 0).map(key).collect();
    let mut out = Vec::with_capacity(bundles.len());
    while let Some((_, g)) = ready.pop_first() {
        done[g] = true;
        out.push(g);
        for &h in &after[g] {
            waiting[h] -= 1;
            if waiting[h] == 0 && !done[h] {
                ready.insert(key(h));
            }
        }
    }
    out
}

/// Stored values that a group reads.
pub(crate) fn reads(graph: &Graph, values: &Values, chosen: &Chosen) -> BTreeSet<NodeId> {
    let args = match &chosen.built {
        Some(b) => b.args.clone(),
        None => chosen.group.members.iter().flat_map(|m| graph.node(*m).args.iter().copied()).collect(),
    };
    let mut out: BTreeSet<NodeId> = args.iter().map(|a| values.value_of[a.index()]).collect();
    for m in &chosen.group.members {
        if let Op::Write(..) = graph.node(*m).op {
            out.insert(values.value_of[graph.node(*m).args[0].index()]);
        }
    }
    for v in &chosen.group.outputs {
        out.remove(v);
    }
    out
}

/// Why the edges between a plan's kernels were not fused, most expensive first.
///
/// The reasons are those of the sizes that the plan was made for; bytes are counted at the sizes `shown`.
pub fn unfused(plan: &Plan, shown: &Sizes, target: &Target, config: &Config) -> Vec<Remark> {
    crate::choose::explain(plan, shown, target, config)
}

//! Which compute nodes share a kernel.
//!
//! Every compute node starts alone. A queue holds candidate merges (edges, and readers of one value), those that save
//! most bytes first; a popped candidate is built, checked and costed, and accepted when it saves time over all users.
//! Last, a pointwise producer that several groups read is evaluated in all of them where that is cheaper than storing it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use base::{Code, Config, Numerics, Remark};
use graph::{Graph, NodeId, Op, OriginId};
use kernel::{Class, Def, Estimate, Products, Summary, Target, estimate};

use crate::build::{Built, Group, Refusal, build};
use crate::cost::{class, legal, summarise};
use crate::order::Order;
use crate::plan::{Kernel, Part, Plan, Step, Storage};
use crate::sizes::Sizes;
use crate::values::{Values, is_compute, is_opaque};

/// Members of one group, opaque nodes aside.
const MAX_MEMBERS: usize = 192;

/// A group with its comp and cost; opaque nodes have no comp.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Members and outputs.
    pub group: Group,
    /// The comp, unless the one member is opaque.
    pub built: Option<Built>,
    /// Cost terms.
    pub summary: Summary,
    /// Prediction.
    pub estimate: Estimate,
}

struct State<'a> {
    graph: &'a Graph,
    users: &'a [Vec<NodeId>],
    values: &'a Values,
    sizes: &'a Sizes,
    target: &'a Target,
    numerics: Numerics,
    same_origin_only: bool,
    groups: Vec<Option<Chosen>>,
    /// Groups that compute a node.
    of: Vec<Vec<usize>>,
    /// Writes that overwrite a buffer which a node reads.
    before_write: BTreeMap<NodeId, Vec<NodeId>>,
    order: Order,
}

/// Refuses pairs whose classes can never share a kernel, before anything is built. A library can do some sums after a product.
fn incompatible(a: &Chosen, b: &Chosen, library: bool) -> Result<(), Refusal> {
    let class_of = |c: &Chosen| c.built.as_ref().map(|b| class(&b.comp));
    let reduces =
        |c: &Chosen| c.built.as_ref().is_some_and(|b| b.comp.values.iter().any(|v| matches!(v.def, Def::Reduce { .. })));
    let product = |c: &Chosen| class_of(c) == Some(Class::Contraction);
    if !library && (product(a) && reduces(b) || product(b) && reduces(a)) {
        return Err(Refusal::new(Code::F13, "a reduction cannot share the tiles of a matrix product"));
    }
    if product(a) && product(b) && a.summary.contract_flops != b.summary.contract_flops {
        return Err(Refusal::new(Code::F03, "products over different rows or columns"));
    }
    Ok(())
}

/// What would lift a refusal.
fn hint(code: Code) -> &'static str {
    match code {
        Code::F03 => "give both ops the same iteration space, or let the consumer read through a view",
        Code::F04 => "reduce over the same axes, or accept two passes",
        Code::F06 => "remove the op that lies between, or reorder it",
        Code::F07 => "split the kernel, or raise the target's limits",
        Code::F08 => "storing once is cheaper than computing again; nothing to do unless the value becomes cheaper",
        Code::F12 => "give the buffer away (donate) or write after the last read",
        Code::F13 => "the parts are faster apart on this target",
        Code::F14 => "express the op with tensor ops to make it fusible",
        Code::F15 => "raise the compile budget",
        _ => "",
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// What a library could do after its product; it comes last, as generated code can do more.
    late: Reverse<bool>,
    gain: u64,
    pair: Reverse<(usize, usize)>,
}

/// Groups of a graph.
///
/// # Errors
/// A single node that has no kernel.
pub(crate) fn choose(
    graph: &Graph,
    values: &Values,
    users: &[Vec<NodeId>],
    sizes: &Sizes,
    target: &Target,
    config: &Config,
    in_place: &BTreeSet<NodeId>,
) -> Result<Vec<Chosen>, Refusal> {
    let mut state = State::new(graph, values, users, sizes, target, config, in_place);
    state.start()?;
    state.order = Order::new(state.groups.len(), &|g| state.successors(g));
    let mut fuel = config.fuel.unwrap_or(u64::MAX);
    state.merge_all(&mut fuel);
    if config.fuse {
        state.duplicate_all(&mut fuel);
    }
    Ok(state.groups.into_iter().flatten().collect())
}

/// Why the edges between kernels remain, most bytes first; bytes are counted at the sizes `shown`.
pub(crate) fn explain(plan: &Plan, shown: &Sizes, target: &Target, config: &Config) -> Vec<Remark> {
    let (graph, kernels) = (&plan.graph, &plan.kernels);
    let users = graph.users();
    let values = Values::new(graph);
    let in_place =
        plan.storage.iter().filter(|(_, s)| matches!(s, Storage::Write { copy: false, .. })).map(|(v, _)| *v).collect();
    let mut state = State::new(graph, &values, &users, &plan.sizes, target, config, &in_place);
    let mut names: Vec<&str> = Vec::new();
    for k in kernels {
        for c in parts_of(k, &plan.sizes, target) {
            c.group.members.iter().for_each(|m| state.of[m.index()].push(names.len()));
            names.push(&k.name);
            state.groups.push(Some(c));
        }
    }
    state.order = Order::new(names.len(), &|g| state.successors(g));
    let mut remarks: Vec<Remark> = (0..names.len()).flat_map(|g| state.remarks_of(g, &names, shown)).collect();
    remarks.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.places.cmp(&b.places)));
    remarks
}

/// The groups of a kernel.
fn parts_of(k: &Kernel, sizes: &Sizes, target: &Target) -> Vec<Chosen> {
    let opaque = |members: &[NodeId]| Group { members: members.iter().copied().collect(), outputs: k.outputs.clone() };
    let chosen = |part: &Part| {
        let summary = summarise(&part.built.comp, sizes, target);
        let estimate = estimate(&summary, target);
        Chosen { group: part.group.clone(), built: Some(part.built.clone()), summary, estimate }
    };
    match &k.step {
        Step::Comps(parts) => parts.iter().map(chosen).collect(),
        Step::Opaque(_) => vec![Chosen { group: opaque(&k.members), built: None, summary: k.summary, estimate: k.estimate }],
    }
}

impl<'a> State<'a> {
    fn new(
        graph: &'a Graph,
        values: &'a Values,
        users: &'a [Vec<NodeId>],
        sizes: &'a Sizes,
        target: &'a Target,
        config: &Config,
        in_place: &BTreeSet<NodeId>,
    ) -> State<'a> {
        let of = vec![Vec::new(); graph.nodes.len()];
        let mut before_write: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for &write in in_place {
            let dst = values.value_of[graph.node(write).args[0].index()];
            for &r in values.readers[dst.index()].iter().filter(|&&r| r != write) {
                before_write.entry(r).or_default().push(write);
            }
        }
        State {
            graph,
            users,
            values,
            sizes,
            target,
            numerics: config.numerics,
            same_origin_only: !config.fuse,
            groups: Vec::new(),
            of,
            before_write,
            order: Order::default(),
        }
    }

    /// One remark per edge from group `g` to a group of another kernel; `names` are those of the groups' kernels.
    fn remarks_of(&self, g: usize, names: &[&str], shown: &Sizes) -> Vec<Remark> {
        let mut out = Vec::new();
        let outputs = self.group(g).map_or(&[][..], |c| &c.group.outputs);
        for &v in outputs {
            for h in self.successors(g) {
                let reads = self.values.readers[v.index()].iter().any(|r| self.of[r.index()].contains(&h));
                if !reads {
                    continue;
                }
                let opaque = self.group(g).is_none_or(|c| c.built.is_none()) || self.group(h).is_none_or(|c| c.built.is_none());
                let refusal = match self.try_merge(g, h) {
                    _ if opaque => Refusal::new(Code::F14, "runs outside generated kernels"),
                    Err(refusal) => refusal,
                    Ok(_) => Refusal::new(Code::F15, "not tried before the queue ended"),
                };
                let ty = self.graph.tensor(v);
                let bytes = shown.elements(&ty.shape) * ty.dtype.size() as f64;
                out.push(Remark {
                    code: refusal.code,
                    pass: "fuse",
                    places: vec![format!("{v:?} {ty} of {}", names[g]), names[h].to_owned()],
                    message: refusal.message,
                    bytes: (2.0 * bytes) as u64,
                    hint: hint(refusal.code).into(),
                });
            }
        }
        out
    }

    fn start(&mut self) -> Result<(), Refusal> {
        for id in self.graph.ids().filter(|&id| is_compute(&self.graph.node(id).op)) {
            let members = BTreeSet::from([id]);
            if self.outputs(&members).is_empty() {
                continue;
            }
            let chosen = self.make(members)?;
            self.of[id.index()].push(self.groups.len());
            self.groups.push(Some(chosen));
        }
        Ok(())
    }

    /// Values of the members that are read outside the set.
    fn outputs(&self, members: &BTreeSet<NodeId>) -> Vec<NodeId> {
        let mut out: Vec<NodeId> = members
            .iter()
            .flat_map(|m| &self.values.values[m.index()])
            .copied()
            .filter(|v| self.values.is_output[v.index()] || self.read_outside(*v, members))
            .collect();
        out.sort_unstable();
        out
    }

    /// Whether some reader outside `members` lacks its own copy of the value.
    fn read_outside(&self, value: NodeId, members: &BTreeSet<NodeId>) -> bool {
        let owner = Values::owner(self.graph, value);
        self.values.readers[value.index()].iter().filter(|r| !members.contains(r)).any(|r| {
            let groups = &self.of[r.index()];
            let lacks = |g: &usize| match &self.groups[*g] {
                Some(c) => !owner.is_some_and(|o| c.group.members.contains(&o)),
                None => false,
            };
            groups.is_empty() && !self.dead(*r) || groups.iter().any(lacks)
        })
    }

    /// A compute node whose values nobody reads.
    fn dead(&self, node: NodeId) -> bool {
        let unread = |v: &NodeId| self.values.readers[v.index()].is_empty() && !self.values.is_output[v.index()];
        self.of[node.index()].is_empty() && self.values.values[node.index()].iter().all(unread)
    }

    fn make(&self, members: BTreeSet<NodeId>) -> Result<Chosen, Refusal> {
        let group = Group { outputs: self.outputs(&members), members };
        let first = group.members.first().copied();
        if let Some(id) = first
            && is_opaque(&self.graph.node(id).op)
        {
            let summary = Summary { launches: 1.0, ..Summary::default() };
            return Ok(Chosen { group, built: None, summary, estimate: estimate(&summary, self.target) });
        }
        if group.members.len() > MAX_MEMBERS {
            return Err(Refusal::new(Code::F15, format!("more than {MAX_MEMBERS} members")));
        }
        self.assemble(group)
    }

    /// Builds a group, checks it (a single node always stands) and costs it.
    fn assemble(&self, group: Group) -> Result<Chosen, Refusal> {
        let built = build(self.graph, self.users, &group, self.target.max_values)?;
        if group.members.len() > 1 {
            legal(&built.comp, self.target, self.numerics)?;
        }
        let summary = summarise(&built.comp, self.sizes, self.target);
        Ok(Chosen { group, built: Some(built), summary, estimate: estimate(&summary, self.target) })
    }

    fn group(&self, g: usize) -> Option<&Chosen> {
        self.groups[g].as_ref()
    }

    /// Bytes of the values that two groups share, as a bound of what a merge saves.
    fn candidate(&self, a: usize, b: usize, value: NodeId) -> Option<Candidate> {
        let (ga, gb) = (self.group(a)?, self.group(b)?);
        if a == b || ga.built.is_none() || gb.built.is_none() {
            return None;
        }
        let ty = self.graph.tensor(value);
        let bytes = self.sizes.elements(&ty.shape) * ty.dtype.size() as f64;
        let is_product = |c: &Chosen| c.built.as_ref().is_some_and(|b| class(&b.comp) == Class::Contraction);
        let late = self.target.products != Products::Generated && (is_product(ga) || is_product(gb));
        Some(Candidate { late: Reverse(late), gain: bytes as u64 + 1, pair: Reverse((a.min(b), a.max(b))) })
    }

    fn edges_of(&self, g: usize, queue: &mut BinaryHeap<Candidate>) {
        let Some(chosen) = self.group(g) else { return };
        for &v in &chosen.group.outputs {
            for r in &self.values.readers[v.index()] {
                queue.extend(self.of[r.index()].iter().filter_map(|&h| self.candidate(g, h, v)));
            }
        }
        let Some(built) = &chosen.built else { return };
        for &arg in &built.args {
            if let Some(owner) = Values::owner(self.graph, arg) {
                queue.extend(self.of[owner.index()].iter().filter_map(|&h| self.candidate(g, h, arg)));
            }
            self.siblings(g, arg, queue);
        }
    }

    /// The next reader of a value that `g` reads: neighbours only, so that a star stays linear.
    fn siblings(&self, g: usize, value: NodeId, queue: &mut BinaryHeap<Candidate>) {
        let readers = &self.values.readers[value.index()];
        let Some(chosen) = self.group(g) else { return };
        let mut own = chosen.group.members.iter().filter_map(|m| readers.binary_search(m).ok());
        let Some(first) = own.next() else { return };
        let last = own.next_back().unwrap_or(first);
        for next in [first.checked_sub(1), Some(last + 1)].into_iter().flatten().filter_map(|i| readers.get(i)) {
            queue.extend(self.of[next.index()].iter().filter_map(|&h| self.candidate(g, h, value)));
        }
    }

    /// Whether a merge would surely need more arguments than a kernel may have, told without building it: every output is
    /// one, and so is everything that either reads and neither makes. A concat may read less than its parts.
    fn too_many_args(&self, a: usize, b: usize) -> bool {
        let (Some(ga), Some(gb)) = (self.group(a), self.group(b)) else { return false };
        let (Some(ba), Some(bb)) = (&ga.built, &gb.built) else { return false };
        let most = self.target.max_args;
        if ba.args.len() + bb.args.len() <= most {
            return false;
        }
        let members: BTreeSet<NodeId> = ga.group.members.union(&gb.group.members).copied().collect();
        if members.iter().any(|&m| matches!(self.graph.node(m).op, Op::Concat(_) | Op::Write(..))) {
            return false;
        }
        let made = |v: &NodeId| Values::owner(self.graph, *v).is_some_and(|o| members.contains(&o));
        let read: BTreeSet<NodeId> = ba.args.iter().chain(&bb.args).copied().filter(|v| !made(v)).collect();
        self.outputs(&members).len() + read.len() > most
    }

    fn merge_all(&mut self, fuel: &mut u64) {
        let mut queue = BinaryHeap::new();
        for g in 0..self.groups.len() {
            self.edges_of(g, &mut queue);
        }
        let mut tried: BTreeSet<(usize, usize)> = BTreeSet::new();
        while let Some(Candidate { pair: Reverse((a, b)), .. }) = queue.pop() {
            if *fuel == 0 {
                return;
            }
            if self.groups[a].is_none() || self.groups[b].is_none() || !tried.insert((a, b)) || self.too_many_args(a, b) {
                continue;
            }
            if let Ok(merged) = self.try_merge(a, b) {
                *fuel -= 1;
                let g = self.accept(a, b, merged);
                self.edges_of(g, &mut queue);
            }
        }
    }

    fn try_merge(&self, a: usize, b: usize) -> Result<Chosen, Refusal> {
        let (Some(ga), Some(gb)) = (self.group(a), self.group(b)) else {
            return Err(Refusal::new(Code::F14, "merged already"));
        };
        incompatible(ga, gb, self.target.products != Products::Generated)?;
        let members: BTreeSet<NodeId> = ga.group.members.union(&gb.group.members).copied().collect();
        self.admissible(&members)?;
        let name = |g: usize| {
            let last = self.group(g).and_then(|c| c.group.members.last());
            last.map(|&m| self.graph.origin(m).op.clone()).unwrap_or_default()
        };
        self.order.check(a, b, &|g| self.successors(g), &name)?;
        let merged = self.make(members)?;
        if self.gains_a_loop(ga, gb, &merged) {
            return Err(Refusal::new(Code::F13, "side by side they share a launch without a loop over inner points"));
        }
        let saved = ga.estimate.time + gb.estimate.time - merged.estimate.time;
        if saved <= 0.0 {
            let code = if merged.summary.ops > ga.summary.ops + gb.summary.ops { Code::F08 } else { Code::F13 };
            return Err(Refusal::new(code, format!("would take {:.1} µs longer", -saved * 1e6)));
        }
        Ok(merged)
    }

    /// Whether two pointwise groups, neither of which reads what the other makes, would become rows with inner points: a parameter
    /// and its bias, both updated by one learning rate.
    fn gains_a_loop(&self, a: &Chosen, b: &Chosen, merged: &Chosen) -> bool {
        let class_of = |c: &Chosen| c.built.as_ref().map(|b| class(&b.comp));
        let reads = |c: &Chosen, from: &Chosen| {
            let args = c.built.iter().flat_map(|b| &b.args);
            args.filter_map(|&v| Values::owner(self.graph, v)).any(|o| from.group.members.contains(&o))
        };
        let pointwise = class_of(a) == Some(Class::Pointwise) && class_of(b) == Some(Class::Pointwise);
        pointwise && class_of(merged) == Some(Class::Row) && !reads(a, b) && !reads(b, a)
    }

    fn admissible(&self, members: &BTreeSet<NodeId>) -> Result<(), Refusal> {
        let origins: BTreeSet<OriginId> = members.iter().map(|&m| self.graph.node(m).origin).collect();
        if self.same_origin_only && (origins.len() > 1 || origins.contains(&OriginId(0))) {
            return Err(Refusal::new(Code::F14, "eager mode: one kernel per user op"));
        }
        let writes: Vec<NodeId> = members.iter().copied().filter(|m| matches!(self.graph.node(*m).op, Op::Write(..))).collect();
        let Some(&write) = writes.first() else { return Ok(()) };
        let dst = self.values.value_of[self.graph.node(write).args[0].index()];
        let outputs = self.outputs(members);
        if writes.len() > 1 || outputs != [write] {
            return Err(Refusal::new(Code::F12, "a write is a barrier for its readers"));
        }
        let reads_dst = members.iter().filter(|&&m| m != write).any(|m| self.values.readers[dst.index()].contains(m));
        let owns_dst = Values::owner(self.graph, dst).is_some_and(|o| members.contains(&o));
        if reads_dst || owns_dst {
            return Err(Refusal::new(Code::F12, "the written buffer is read or made by the same kernel"));
        }
        Ok(())
    }

    fn accept(&mut self, a: usize, b: usize, merged: Chosen) -> usize {
        let g = self.groups.len();
        let mut order = std::mem::take(&mut self.order);
        order.merge(a, b, g, &|g| self.successors(g));
        self.order = order;
        for m in &merged.group.members {
            let of = &mut self.of[m.index()];
            of.retain(|&x| x != a && x != b);
            of.push(g);
        }
        self.groups[a] = None;
        self.groups[b] = None;
        self.groups.push(Some(merged));
        g
    }

    /// Groups that read some value of a group, or that must follow it.
    fn successors(&self, g: usize) -> Vec<usize> {
        let Some(chosen) = self.group(g) else { return Vec::new() };
        let readers = chosen.group.outputs.iter().flat_map(|v| &self.values.readers[v.index()]);
        let later = chosen.group.members.iter().filter_map(|m| self.before_write.get(m)).flatten();
        let nodes = readers.chain(later);
        let mut next: Vec<usize> = nodes.flat_map(|r| self.of[r.index()].iter().copied()).filter(|&h| h != g).collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Evaluates a pointwise producer in all its readers where that saves time: all readers or none.
    fn duplicate_all(&mut self, fuel: &mut u64) {
        let mut order: Vec<usize> = (0..self.groups.len()).filter(|&g| self.groups[g].is_some()).collect();
        order.sort_by_key(|&g| Reverse(self.group(g).and_then(|c| c.group.members.last().copied())));
        for g in order {
            if *fuel == 0 {
                return;
            }
            if let Some(changed) = self.try_duplicate(g) {
                *fuel -= 1;
                self.accept_duplicates(g, changed);
            }
        }
    }

    fn try_duplicate(&self, g: usize) -> Option<Vec<(usize, Chosen)>> {
        let producer = self.group(g)?;
        let built = producer.built.as_ref()?;
        let pointwise = built.comp.inner().is_empty() && built.comp.stores.iter().all(|s| s.combine.is_none());
        let plain =
            producer.group.members.iter().all(|&m| matches!(self.graph.node(m).op, Op::Map(_) | Op::Gather(_) | Op::Concat(_)));
        let shown = producer.group.outputs.iter().any(|v| self.values.is_output[v.index()]);
        let readers = self.successors(g);
        if !pointwise || !plain || shown || readers.is_empty() || readers.len() > 16 {
            return None;
        }
        let mut before = producer.estimate.time;
        let mut after = 0.0;
        let mut changed = Vec::new();
        for r in readers {
            let reader = self.group(r)?;
            reader.built.as_ref()?;
            let members: BTreeSet<NodeId> = reader.group.members.union(&producer.group.members).copied().collect();
            self.admissible(&members).ok()?;
            let chosen = self.assemble(Group { members, outputs: reader.group.outputs.clone() }).ok()?;
            before += reader.estimate.time;
            after += chosen.estimate.time;
            changed.push((r, chosen));
        }
        (after < before).then_some(changed)
    }

    fn accept_duplicates(&mut self, g: usize, changed: Vec<(usize, Chosen)>) {
        let Some(producer) = self.groups[g].take() else { return };
        for m in &producer.group.members {
            self.of[m.index()].retain(|&x| x != g);
        }
        for (r, chosen) in changed {
            for m in &producer.group.members {
                if !self.of[m.index()].contains(&r) {
                    self.of[m.index()].push(r);
                }
            }
            self.groups[r] = Some(chosen);
        }
    }
}

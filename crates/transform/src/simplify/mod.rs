//! Simplification: one driver, many small rules.
//!
//! A rule looks at one node whose operands are already simplified, and returns a value that equals it bit for bit
//! (NaN payloads aside), or `None`. The driver rebuilds the graph bottom-up, tries the rules on each node, and repeats
//! until nothing applies. Floating point is exact by law: `x + 0.0` stays, `x · 0.0` stays, a user's cast stays unless
//! the round trip is lossless, and float sums are never reassociated. Common subexpressions merge because the builder
//! interns; dead nodes are not rebuilt.

mod arith;
mod cast;
mod contract;
mod cx;
mod fold;
mod index;
mod reduce;
mod select;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{Graph, NodeId, Op, Region};

use cx::Cx;

/// Settings of [`simplify`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// At most this many rule applications, to bisect a wrong result; `None` is no limit.
    pub fuel: Option<u64>,
}

/// How often each rule applied, by name.
pub type Hits = BTreeMap<&'static str, u64>;

/// A rewrite of one node with simplified operands.
struct Rule {
    name: &'static str,
    apply: fn(&mut Cx<'_>, &Op, &[NodeId]) -> Option<NodeId>,
}

/// Lists functions as rules under their own names.
macro_rules! rules {
    ($($f:ident),* $(,)?) => {
        pub(super) const RULES: &[super::Rule] = &[$(super::Rule { name: stringify!($f), apply: $f }),*];
    };
}
use rules;

/// Every rule, in the order of trial.
fn all_rules() -> impl Iterator<Item = &'static Rule> {
    let files =
        [fold::RULES, cast::RULES, arith::RULES, select::RULES, view::RULES, reduce::RULES, contract::RULES, index::RULES];
    files.into_iter().flatten()
}

/// Names of every rule, in the order of trial.
pub fn rule_names() -> Vec<&'static str> {
    all_rules().map(|r| r.name).collect()
}

/// An equal graph in simplest form: same inputs, output names, facts and guards; results are equal bit for bit.
pub fn simplify(graph: &Graph, options: &Options) -> Graph {
    simplify_counted(graph, options).0
}

/// [`simplify`], and how often each rule applied.
pub fn simplify_counted(graph: &Graph, options: &Options) -> (Graph, Hits) {
    let mut budget = Budget { fuel: options.fuel, hits: Hits::new() };
    let mut now = graph.clone();
    while !budget.spent() {
        let before = budget.total();
        let Some(next) = rebuild(&now, &mut budget) else { break };
        now = next;
        if budget.total() == before {
            break;
        }
    }
    let swept = rebuild(&now, &mut Budget { fuel: Some(0), hits: Hits::new() });
    (swept.unwrap_or(now), budget.hits)
}

/// Remaining applications, and those so far.
struct Budget {
    fuel: Option<u64>,
    hits: Hits,
}

impl Budget {
    fn total(&self) -> u64 {
        self.hits.values().sum()
    }
    fn spent(&self) -> bool {
        self.fuel == Some(0)
    }
    fn count(&mut self, rule: &'static str) {
        *self.hits.entry(rule).or_default() += 1;
        if let Some(fuel) = &mut self.fuel {
            *fuel = fuel.saturating_sub(1);
        }
    }
}

/// One bottom-up pass over the live nodes; `None` for a graph that does not verify.
fn rebuild(graph: &Graph, budget: &mut Budget) -> Option<Graph> {
    let uses = uses(graph);
    let mut cx = Cx::new(graph, budget);
    let mut new: Vec<Option<NodeId>> = vec![None; graph.nodes.len()];
    let kept = |id: &NodeId| uses[id.index()] > 0 || matches!(graph.node(*id).op, Op::Input(_));
    for id in graph.ids().filter(kept) {
        let node = graph.node(id);
        cx.set_origin(node.origin).ok()?;
        let args = node.args.iter().map(|a| new[a.index()]).collect::<Option<Vec<_>>>()?;
        let op = bodies(&node.op, cx.budget);
        let made = cx.make(op, &args)?;
        cx.count_uses(made, uses[id.index()]);
        new[id.index()] = Some(made);
    }
    cx.finish(graph, |id| new[id.index()]).ok()
}

/// How often each node is used on the way to an output.
fn uses(graph: &Graph) -> Vec<u32> {
    let mut uses = vec![0; graph.nodes.len()];
    for output in &graph.outputs {
        uses[output.value.index()] += 1;
    }
    for id in graph.ids().rev() {
        if uses[id.index()] > 0 {
            for arg in &graph.node(id).args {
                uses[arg.index()] += 1;
            }
        }
    }
    uses
}

/// The op with the bodies of its region simplified.
fn bodies(op: &Op, budget: &mut Budget) -> Op {
    let mut body = |g: &Arc<Graph>| rebuild(g, budget).map_or_else(|| Arc::clone(g), Arc::new);
    match op {
        Op::Region(Region::If { then, other }) => Op::Region(Region::If { then: body(then), other: body(other) }),
        Op::Region(Region::Loop { trip, carried, scanned, body: b }) => {
            Op::Region(Region::Loop { trip: trip.clone(), carried: *carried, scanned: *scanned, body: body(b) })
        }
        other => other.clone(),
    }
}

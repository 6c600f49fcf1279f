//! Channels last: the order of axes in memory in which libraries compute convolutions of 16 bits fastest.
//!
//! Graphs have no layouts: what is stored lies in row-major order of its axes. So a convolution of `[n, c, h, w]` becomes one of
//! `[n, h, w, c]`, whose data is materialised in that order, and whose result is seen through a permutation. What comes between two
//! convolutions reads and writes as they do; only at the borders of the graph something is transposed.

use std::collections::{BTreeMap, BTreeSet};

use base::Result;
use graph::{Builder, ContractSpec, Graph, NodeId, Op, View};
use scalar::DType;
use smallvec::SmallVec;

/// The axis of `[n, c, h, w]` at each place of `[n, h, w, c]`, and the place of each axis.
const LAST: [usize; 4] = [0, 2, 3, 1];
const PLACE: [usize; 4] = [0, 3, 1, 2];
/// Channels come in multiples of so many: below, libraries do not use tensor cores for them.
const CHANNELS: i64 = 8;

/// The graph with channels last in convolutions over two spatial axes, and their gradients, where the element type has 16 bits. The
/// results are equal but for the order of sums, and lie in memory as before. `None` where there are none, or a view cannot be moved.
pub fn channels_last(graph: &Graph) -> Option<Graph> {
    let found = convolutions(graph);
    if found.is_empty() { None } else { Rewrite::new(graph, &found).graph().ok() }
}

/// An operand: views on four axes, of which the spatial ones may slide; or a matrix of channels, which stays as it is.
enum Operand {
    Chain { base: NodeId, views: Vec<NodeId> },
    Matrix,
}

/// Contractions that are rewritten, by node.
type Found = BTreeMap<NodeId, [Operand; 2]>;

/// Convolutions with windows, and those without that compute on their results.
fn convolutions(graph: &Graph) -> Found {
    let (mut found, mut near) = (Found::new(), BTreeSet::new());
    for id in graph.ids() {
        let node = graph.node(id);
        match &node.op {
            Op::Contract(spec) => {
                let Some(operands) = operands(graph, id, spec) else { continue };
                let is_near = |o: &Operand| matches!(o, Operand::Chain { base, .. } if near.contains(base));
                let is_pointwise = operands.iter().any(|o| matches!(o, Operand::Matrix));
                if slides(graph, &operands) || (is_pointwise && operands.iter().any(is_near)) {
                    found.insert(id, operands);
                    near.insert(id);
                }
            }
            Op::Map(_) if node.args.iter().any(|a| near.contains(a)) => {
                near.insert(id);
            }
            _ => {}
        }
    }
    found
}

fn slides(graph: &Graph, operands: &[Operand]) -> bool {
    let is_window = |v: &NodeId| matches!(graph.node(*v).op, Op::View(View::Window { .. }));
    operands.iter().any(|o| matches!(o, Operand::Chain { views, .. } if views.iter().any(is_window)))
}

/// The operands of a contraction that could have channels last.
fn operands(graph: &Graph, id: NodeId, spec: &ContractSpec) -> Option<[Operand; 2]> {
    let args = &graph.node(id).args;
    let is_known = matches!(graph.dtype(id), DType::F16 | DType::BF16) && has_channels(graph, id);
    if !is_known || args.iter().any(|&a| graph.dtype(a) != graph.dtype(id)) {
        return None;
    }
    let operands = [operand(graph, args[0])?, operand(graph, args[1])?];
    let mut spatial: Vec<u8> = Vec::new();
    for (operand, labels) in operands.iter().zip([&spec.a, &spec.b]) {
        if let Operand::Chain { .. } = operand {
            spatial.extend(&labels[2..]);
        }
    }
    let places = spec.out.iter().map(|label| spatial.contains(label));
    (places.eq([false, false, true, true])).then_some(operands)
}

/// Whether a value is `[n, c, h, w]`.
fn has_channels(graph: &Graph, id: NodeId) -> bool {
    let shape = graph.shape(id);
    shape.len() == 4 && shape[1].as_int().is_some_and(|c| c > 0 && c % CHANNELS == 0)
}

fn operand(graph: &Graph, arg: NodeId) -> Option<Operand> {
    if graph.shape(arg).len() == 2 {
        return Some(Operand::Matrix);
    }
    let (mut base, mut views) = (arg, Vec::new());
    while let Op::View(View::Window { .. } | View::Pad { .. } | View::Slice { .. } | View::Flip(_)) = graph.node(base).op {
        views.push(base);
        base = graph.node(base).args[0];
    }
    views.reverse();
    let on_place = |v: &NodeId| !matches!(graph.node(*v).op, Op::View(View::Window { axis, .. }) if !(2..4).contains(&axis));
    (has_channels(graph, base) && views.iter().all(on_place)).then_some(Operand::Chain { base, views })
}

/// Entries of four axes with channels last, before those of taps.
fn moved<T: Clone>(entries: &[T]) -> impl Iterator<Item = T> {
    LAST.iter().map(|&axis| &entries[axis]).chain(&entries[LAST.len()..]).cloned()
}

fn place(axis: usize) -> usize {
    PLACE.get(axis).copied().unwrap_or(axis)
}

/// A view with channels last.
fn moved_view(view: &View) -> View {
    match view {
        View::Pad { lo, hi, interior, value } => {
            View::Pad { lo: moved(lo).collect(), hi: moved(hi).collect(), interior: moved(interior).collect(), value: *value }
        }
        View::Slice { start, len, step } => {
            View::Slice { start: moved(start).collect(), len: moved(len).collect(), step: moved(step).collect() }
        }
        View::Flip(axes) => {
            let mut axes: SmallVec<[usize; 4]> = axes.iter().map(|&a| place(a)).collect();
            axes.sort_unstable();
            View::Flip(axes)
        }
        View::Window { axis, size, stride, dilation } => {
            View::Window { axis: place(*axis), size: size.clone(), stride: *stride, dilation: *dilation }
        }
        other => other.clone(),
    }
}

struct Rewrite<'a> {
    graph: &'a Graph,
    found: &'a Found,
    /// Values that convolutions read and all others shall read as they do: weights, and inputs whose buffers are given away, are
    /// left to others as they came.
    read: BTreeSet<NodeId>,
    builder: Builder,
    /// What became of each node.
    new: Vec<NodeId>,
    /// The same with channels last, where that is stored.
    last: BTreeMap<NodeId, NodeId>,
}

impl<'a> Rewrite<'a> {
    fn new(graph: &'a Graph, found: &'a Found) -> Rewrite<'a> {
        let bases = found.values().flatten().filter_map(|o| match o {
            Operand::Chain { base, .. } => Some(*base),
            Operand::Matrix => None,
        });
        let is_shared = |base: &NodeId| match graph.node(*base).op {
            Op::Input(slot) => graph.inputs.get(slot as usize).is_some_and(|input| !input.frozen && !input.donated),
            _ => true,
        };
        let read = bases.filter(is_shared).collect();
        Rewrite { graph, found, read, builder: Builder::rewrite(graph), new: Vec::new(), last: BTreeMap::new() }
    }

    fn graph(mut self) -> Result<Graph> {
        for id in self.graph.ids() {
            let node = self.graph.node(id);
            self.builder.set_origin(node.origin)?;
            let new = match self.found.get(&id) {
                Some(operands) => self.convolution(id, operands)?,
                None => {
                    let args: Vec<NodeId> = node.args.iter().map(|a| self.new[a.index()]).collect();
                    self.builder.add(node.op.clone(), &args)?
                }
            };
            self.new.push(new);
            if self.read.contains(&id) && !self.last.contains_key(&id) {
                let last = self.last(id)?;
                self.new[id.index()] = self.builder.permute(last, &PLACE)?;
            }
        }
        for output in &self.graph.outputs {
            let new = self.new[output.value.index()];
            let shown = if self.is_stored_last(output.value) { self.builder.materialize(new)? } else { new };
            self.builder.output(output.name.clone(), shown)?;
        }
        Ok(self.builder.finish())
    }

    /// Whether a value is a view on one that is stored with channels last only.
    fn is_stored_last(&self, mut value: NodeId) -> bool {
        while let Op::View(_) = self.graph.node(value).op {
            value = self.graph.node(value).args[0];
        }
        self.read.contains(&value) || self.found.contains_key(&value)
    }

    /// A value of the graph with channels last.
    fn last(&mut self, id: NodeId) -> Result<NodeId> {
        if let Some(&last) = self.last.get(&id) {
            return Ok(last);
        }
        let turned = self.builder.permute(self.new[id.index()], &LAST)?;
        let last = self.builder.materialize(turned)?;
        self.last.insert(id, last);
        Ok(last)
    }

    /// A contraction with channels last, as the graph sees it.
    fn convolution(&mut self, id: NodeId, operands: &[Operand; 2]) -> Result<NodeId> {
        let node = self.graph.node(id);
        let Op::Contract(spec) = &node.op else { return self.builder.add(node.op.clone(), &[]) };
        let mut spec = spec.clone();
        let mut args = [self.new[node.args[0].index()], self.new[node.args[1].index()]];
        for (n, operand) in operands.iter().enumerate() {
            let Operand::Chain { base, views } = operand else { continue };
            args[n] = self.last(*base)?;
            for &view in views {
                if let Op::View(view) = &self.graph.node(view).op {
                    args[n] = self.builder.view(moved_view(view), args[n])?;
                }
            }
            let labels = if n == 0 { &mut spec.a } else { &mut spec.b };
            *labels = moved(labels).collect();
        }
        spec.out = moved(&spec.out).collect();
        let last = self.builder.contract(spec, args[0], args[1])?;
        self.last.insert(id, last);
        self.builder.permute(last, &PLACE)
    }
}

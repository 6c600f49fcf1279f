//! FX graph → program: lowers what the table knows, and cuts around what it does not.
//!
//! Every node has a level: the first at which its operands are there, or at which something reads it if it is made of arguments
//! alone. A torch call of level `l` runs after segment `l`; what depends on it has a level above. So there are as few segments as
//! the longest chain of torch calls asks for, and everything between two of them is one graph.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, ErrorKind, Result};
use graph::{Builder, Graph, NodeId, Op};
use scalar::{Sym, Var};

use crate::aten::{self, Ctx, Operand, Values};
use crate::fx::{self, Arg, Id, Kind, Size, Value};
use crate::late;
use crate::layout::{Layout, dense_order, permuted, row_major, strided_input};
use crate::program::{Base, Extern, Made, Overwritten, Passed, Program, Read, Segment, Shown, Step, TensorRead};

/// Cuts a graph. Ops named in `refused` run in torch.
///
/// # Errors
/// A malformed graph.
pub fn cut(fx: &fx::Graph, refused: &BTreeSet<String>) -> Result<Program> {
    let mut cutter = Cutter::new(fx, refused);
    for (id, node) in fx.nodes.iter().enumerate() {
        match node.kind {
            Kind::Input | Kind::Attribute => {}
            Kind::Call => cutter.call(id, node)?,
            Kind::Output => return cutter.finish(node),
        }
    }
    Err(Error::invalid("the FX graph has no output"))
}

/// How a node is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    /// It comes from outside, or is an integer made of sizes from there, which needs no computing.
    Given,
    /// An integer that is made of what torch calls below a level give.
    Known(usize),
    /// In the segment of a level.
    Segment(usize),
    /// By torch, after the segment of a level.
    Extern(usize),
}

/// A graph being built for one level.
struct Level {
    builder: Builder,
    reads: Vec<Read>,
    makes: Vec<Made>,
    externs: Vec<Extern>,
    values: BTreeMap<(Id, usize), NodeId>,
    integers: Values,
}

/// Most nodes that are made again for one reader at a later level.
const MOST_REMADE: usize = 16;

struct Cutter<'a> {
    fx: &'a fx::Graph,
    refused: &'a BTreeSet<String>,
    placed: Vec<Placement>,
    /// The level before which no node needs a node.
    needed: Vec<usize>,
    levels: Vec<Level>,
    /// Symbols that are in no tensor's type.
    free: BTreeSet<Var>,
    /// Nodes that read a storage.
    readers: BTreeMap<u64, Vec<Id>>,
    /// Storages that some node may write.
    written: BTreeSet<u64>,
    /// Copies that a segment makes by storing into the argument, and that argument.
    overwritten: BTreeMap<Id, Id>,
    /// Level of the last node whose order matters.
    fence: usize,
}

impl<'a> Cutter<'a> {
    fn new(fx: &'a fx::Graph, refused: &'a BTreeSet<String>) -> Cutter<'a> {
        let placed = vec![Placement::Given; fx.nodes.len()];
        let (free, readers, written) = (free_symbols(fx), readers(fx), late::written(fx));
        let needed = late::needed(fx, refused, &written);
        Cutter { fx, refused, placed, needed, levels: Vec::new(), free, readers, written, overwritten: BTreeMap::new(), fence: 0 }
    }

    fn level(&mut self, n: usize) -> &mut Level {
        while self.levels.len() <= n {
            let mut builder = Builder::new(format!("{}_{}", self.fx.name, self.levels.len()));
            for (name, (least, most)) in &self.fx.symbols {
                let var = Var::new(name);
                // Without a bound it is an integer of the user's, which may be negative as a size is not.
                builder.facts_mut().set_min(var, least.unwrap_or(i64::MIN));
                if let Some(most) = most {
                    builder.facts_mut().set_max(var, *most);
                }
            }
            self.levels.push(Level {
                builder,
                reads: Vec::new(),
                makes: Vec::new(),
                externs: Vec::new(),
                values: BTreeMap::new(),
                integers: Values { free: self.free.clone(), inputs: Vec::new() },
            });
        }
        &mut self.levels[n]
    }

    /// The first level at which all operands are there.
    fn ready(&self, node: &fx::Node) -> usize {
        let after = |&o: &Id| match self.placed[o] {
            Placement::Given => 0,
            Placement::Known(l) | Placement::Segment(l) => l,
            Placement::Extern(l) => l + 1,
        };
        node.operands.iter().map(after).max().unwrap_or(0)
    }

    fn call(&mut self, id: Id, node: &'a fx::Node) -> Result<()> {
        if fx::is_number(node) {
            let level = self.ready(node);
            self.placed[id] = if level == 0 { Placement::Given } else { Placement::Known(level) };
            return Ok(());
        }
        if fx::is_item(node) && self.placed[node.operands[0]] != Placement::Given {
            self.placed[id] = self.placed[node.operands[0]];
            return Ok(());
        }
        if node.target == "aten.copy_.default" && self.overwrite(id, node)? {
            return Ok(());
        }
        let level = self.ready(node).max(self.fence).max(self.needed[id]);
        match self.lower(id, node, level) {
            Ok(()) => self.placed[id] = Placement::Segment(level),
            Err(e) if e.kind == ErrorKind::Unsupported || e.kind == ErrorKind::Invalid => {
                self.call_torch(id, node, level, e.message())?;
            }
            Err(e) => return Err(e.context(format!("{} ({})", node.target, node.name))),
        }
        Ok(())
    }

    /// Lowers a node at a level; nothing is kept of a failure but unread nodes.
    fn lower(&mut self, id: Id, node: &'a fx::Node, level: usize) -> Result<()> {
        if node.effect {
            return Err(Error::unsupported("it changes its operands or state"));
        }
        if self.refused.contains(&node.target) {
            return Err(Error::unsupported("an option keeps it in torch"));
        }
        if node.value.tensors().iter().any(|t| !t.plain) {
            return Err(Error::unsupported("a result is no plain tensor"));
        }
        let lower = aten::lookup(&node.target).ok_or_else(|| Error::unsupported("no lowering"))?;
        let results = self.lowered(node, level, lower)?;
        let numbers = node.value.numbered().into_iter().map(|(i, _)| i);
        let values = numbers.zip(results).map(|(i, r)| ((id, i), r));
        self.level(level).values.extend(values);
        Ok(())
    }

    fn lowered(&mut self, node: &'a fx::Node, level: usize, lower: aten::Lower) -> Result<Vec<NodeId>> {
        let mut operands = BTreeMap::new();
        for &o in &node.operands {
            if let Some(operand) = self.operand(o, level)? {
                operands.insert(o, operand);
            }
        }
        let fx = self.fx;
        let Level { builder, integers, reads, .. } = self.level(level);
        let known = integers.inputs.len();
        builder.push_origin(graph::Origin { op: node.op.clone(), source: node.source.clone() });
        let results = lower(&mut Ctx::new(builder, fx, node, &operands, integers)).and_then(|r| checked(builder, node, r));
        builder.pop_origin();
        for (s, _) in &integers.inputs[known..] {
            reads.push(Read::Integer(s.clone()));
        }
        results
    }

    /// An operand at a level; `None` for what no lowering can read.
    fn operand(&mut self, id: Id, level: usize) -> Result<Option<Operand>> {
        match &self.fx.nodes[id].value {
            Value::Tensor(t) if t.plain => self.tensor(id, 0, level).map(|n| Some(Operand::Tensor(n))),
            Value::Int(size) => Ok(Some(Operand::Int(size.sym()?))),
            _ => Ok(None),
        }
    }

    /// The node of a tensor at a level: computed there, made again, or read from memory.
    fn tensor(&mut self, id: Id, index: usize, level: usize) -> Result<NodeId> {
        let fx = self.fx;
        let (id, index) = self.source(id, index);
        if let Some(&node) = self.level(level).values.get(&(id, index)) {
            return Ok(node);
        }
        let node = &fx.nodes[id];
        let node_id = match self.placed[id] {
            Placement::Segment(before) if before < level && self.is_remade(id, &mut { MOST_REMADE }) => {
                let lower = aten::lookup(&node.target).ok_or_else(|| Error::internal("a lowered node has a lowering"))?;
                self.lowered(node, level, lower)?[index]
            }
            _ => self.read(id, index, level)?,
        };
        self.level(level).values.insert((id, index), node_id);
        Ok(node_id)
    }

    /// Whether a later level computes a node of an earlier one again: it is cheap, and made of arguments that nothing overwrites. `left`
    /// counts how many more nodes may be made again for one reader.
    fn is_remade(&self, id: Id, left: &mut usize) -> bool {
        let (id, index) = self.source(id, 0);
        let node = &self.fx.nodes[id];
        let Placement::Segment(level) = self.placed[id] else {
            let kept = |t: &fx::Tensor| !self.written.contains(&t.storage);
            return matches!(node.value, Value::Int(_)) || node.kind == Kind::Input && node.value.tensors().into_iter().all(kept);
        };
        if aten::is_creation(&node.target) {
            return true;
        }
        let stored = self.levels[level].makes.iter().any(|m| m.base == Base { node: id, index });
        if stored || *left == 0 || !aten::is_cheap(&node.target) {
            return false;
        }
        *left -= 1;
        node.operands.iter().all(|&o| self.is_remade(o, left))
    }

    /// Follows picks of one result to the node that has it, and a copy into an argument to that.
    fn source(&self, id: Id, index: usize) -> (Id, usize) {
        if let Some(&argument) = self.overwritten.get(&id) {
            return (argument, 0);
        }
        let node = &self.fx.nodes[id];
        match (fx::is_item(node), node.args.get("index")) {
            (true, Some(&Arg::Int(i))) => {
                let from = node.operands[0];
                let len = if let Value::List(list) = &self.fx.nodes[from].value { list.len() as i64 } else { 0 };
                self.source(from, if i < 0 { i + len } else { i } as usize)
            }
            _ => (id, index),
        }
    }

    fn tensor_type(&self, id: Id, index: usize) -> Result<&'a fx::Tensor> {
        let node = &self.fx.nodes[id];
        node.value.result(index).ok_or_else(|| Error::unsupported(format!("{} gives no tensor {index}", node.name)))
    }

    /// The memory behind a tensor: of a view, that of what it shows. A view under another dtype is kept as memory of its own.
    fn base(&self, id: Id, index: usize) -> Result<Base> {
        let (id, index) = self.source(id, index);
        let own = Base { node: id, index };
        if !matches!(self.placed[id], Placement::Segment(_)) {
            return Ok(own);
        }
        let tensor = self.tensor_type(id, index)?;
        let shows = |t: &fx::Tensor| t.storage == tensor.storage && t.dtype == tensor.dtype;
        for &o in &self.fx.nodes[id].operands {
            let (o, i) = self.source(o, 0);
            if self.fx.nodes[o].value.result(i).is_some_and(shows) {
                return self.base(o, i);
            }
        }
        Ok(own)
    }

    /// A tensor as a view of memory.
    fn shown(&self, id: Id, index: usize) -> Result<Shown> {
        let base = self.base(id, index)?;
        let (tensor, whole) = (self.tensor_type(id, index)?, self.tensor_type(base.node, base.index)?);
        let offset = tensor.start()? - whole.start()?;
        let layout = tensor.layout()?;
        let same = offset.is_zero() && layout == whole.layout()?;
        Ok(Shown { base, layout, offset, whole: same })
    }

    /// Reads a tensor of an earlier level, or from outside.
    fn read(&mut self, id: Id, index: usize, level: usize) -> Result<NodeId> {
        let tensor = self.tensor_type(id, index)?;
        let dtype = tensor.element_type()?;
        let shown = self.shown(id, index)?;
        self.export(shown.base)?;
        let name = format!("{}_{index}", self.fx.nodes[id].name);
        let layout = shown.layout.clone();
        let level = self.level(level);
        let first = level.builder.graph().inputs.len();
        let (node, copied) = match strided_input(&mut level.builder, &name, dtype, &layout) {
            Ok(node) => (node, false),
            Err(_) => {
                let dense = Layout { strides: row_major(&layout.shape), shape: layout.shape };
                (strided_input(&mut level.builder, &name, dtype, &dense)?, true)
            }
        };
        let declared = level.builder.graph().inputs[first].ty.shape.clone();
        level.reads.push(Read::Tensor(Box::new(TensorRead { shown, dtype, declared, copied })));
        Ok(node)
    }

    /// Makes sure that a base computed in a segment is stored.
    fn export(&mut self, base: Base) -> Result<()> {
        let Placement::Segment(level) = self.placed[base.node] else { return Ok(()) };
        if self.levels[level].makes.iter().any(|m| m.base == base) {
            return Ok(());
        }
        let layout = self.tensor_type(base.node, base.index)?.layout()?;
        let value = self.tensor(base.node, base.index, level)?;
        let level = &mut self.levels[level];
        let order = dense_order(&layout);
        let spread = order.is_none();
        let order = order.unwrap_or_else(|| (0..layout.shape.len()).collect());
        let stored = stored(&mut level.builder, value, &order)?;
        level.builder.output(format!("{}_{}", self.fx.nodes[base.node].name, base.index), stored)?;
        let dtype = level.builder.dtype(value);
        let shape = level.builder.shape(stored).clone();
        level.makes.push(Made { base, into: None, dtype, layout, stored: shape, spread });
        Ok(())
    }

    /// Lets a segment store a value straight into an argument, if that is the last thing that happens to the argument.
    fn overwrite(&mut self, id: Id, node: &fx::Node) -> Result<bool> {
        let (Some(&Arg::Node(to)), Some(&Arg::Node(from))) = (node.args.get("self"), node.args.get("src")) else {
            return Ok(false);
        };
        let (from, index) = self.source(from, 0);
        let (Placement::Segment(level), Kind::Input) = (self.placed[from], self.fx.nodes[to].kind) else { return Ok(false) };
        let (have, want) = (self.tensor_type(from, index)?, self.tensor_type(to, 0)?);
        let alike = have.plain && want.plain && have.dtype == want.dtype && have.shape == want.shape;
        let argument = Base { node: to, index: 0 };
        let Some(order) = dense_order(&want.layout()?).filter(|_| alike && level >= self.fence) else { return Ok(false) };
        if !self.done_with(id, argument, level)? {
            return Ok(false);
        }
        let value = self.tensor(from, index, level)?;
        let name = format!("{}_{id}", node.name);
        let level = &mut self.levels[level];
        let reads = |r: &Read| matches!(r, Read::Tensor(t) if t.shown.base == argument);
        let input = level.reads.iter().position(reads);
        if level.reads.iter().filter(|r| reads(r)).count() > 1 {
            return Ok(false);
        }
        let stored = stored(&mut level.builder, value, &order)?;
        let shape = level.builder.shape(stored).clone();
        if let Some(n) = input {
            let whole = matches!(&level.reads[n], Read::Tensor(t) if t.shown.whole && t.declared == shape);
            if !whole {
                return Ok(false);
            }
            level.builder.set_donated(n as u32)?;
        }
        level.builder.output(name, stored)?;
        let into = Some(Overwritten { argument, input });
        let (dtype, layout) = (level.builder.dtype(value), want.layout()?);
        level.makes.push(Made { base: Base { node: id, index: 0 }, into, dtype, layout, stored: shape, spread: false });
        self.overwritten.insert(id, to);
        Ok(true)
    }

    /// Whether nothing but the segment of a level, what comes before it, and the caller reads an argument's memory.
    fn done_with(&self, id: Id, argument: Base, level: usize) -> Result<bool> {
        let storage = self.tensor_type(argument.node, argument.index)?.storage;
        let others = |&&n: &&Id| n != id && self.fx.nodes[n].kind != Kind::Output;
        for &reader in self.readers.get(&storage).into_iter().flatten().filter(others) {
            let before = match self.placed[reader] {
                Placement::Segment(l) => l <= level,
                Placement::Extern(l) => l < level,
                Placement::Given | Placement::Known(_) => false,
            };
            if !before || reader > id {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn call_torch(&mut self, id: Id, node: &'a fx::Node, level: usize, reason: &str) -> Result<()> {
        let operands = node.operands.iter().map(|&o| self.passed(o)).collect::<Result<Vec<_>>>()?;
        if node.effect {
            self.fence = level.max(self.levels.len().saturating_sub(1));
        }
        let level = if node.effect { self.fence } else { level };
        self.placed[id] = Placement::Extern(level);
        self.level(level).externs.push(Extern { node: id, operands, reason: reason.to_owned() });
        if node.effect {
            self.fence = level + 1;
        }
        Ok(())
    }

    /// A value where torch sees it.
    fn passed(&mut self, id: Id) -> Result<Passed> {
        match &self.fx.nodes[id].value {
            Value::None => Ok(Passed::None),
            Value::Int(size) if matches!(self.placed[id], Placement::Given | Placement::Known(_)) => {
                Ok(size.known().map_or(Passed::Object(id), |s| Passed::Int(s.clone())))
            }
            Value::Tensor(_) => {
                let (source, index) = self.source(id, 0);
                let outside = !matches!(self.placed[source], Placement::Segment(_));
                if outside && index == 0 && source == id {
                    return Ok(Passed::Object(id));
                }
                let shown = self.shown(id, 0)?;
                self.export(shown.base)?;
                Ok(Passed::Tensor(shown))
            }
            _ => Ok(Passed::Object(id)),
        }
    }

    /// A value as a result: a view of another one is a tensor of its own, also if it shows all of that.
    fn result(&mut self, id: Id) -> Result<Passed> {
        let (node, index) = self.source(id, 0);
        let mut passed = self.passed(id)?;
        if let Passed::Tensor(shown) = &mut passed {
            shown.whole &= shown.base == Base { node, index };
        }
        Ok(passed)
    }

    fn finish(mut self, output: &fx::Node) -> Result<Program> {
        let Some(Arg::List(list)) = output.args.get("results") else {
            return Err(Error::invalid("the FX output has no list of results"));
        };
        let result = |arg: &Arg| match arg {
            Arg::Node(id) => self.result(*id),
            Arg::Int(n) => Ok(Passed::Int(Sym::from(*n))),
            Arg::None => Ok(Passed::None),
            other => Err(Error::invalid(format!("FX result {other:?}"))),
        };
        let results = list.iter().map(result).collect::<Result<Vec<_>>>()?;
        let mut steps = Vec::new();
        for level in self.levels {
            if !level.makes.is_empty() {
                let graph = level.builder.finish();
                let symbols = symbols(&graph, &level.reads, &level.makes);
                steps.push(Step::Segment(Box::new(Segment { graph, reads: level.reads, makes: level.makes, symbols })));
            }
            steps.extend(level.externs.into_iter().map(Step::Extern));
        }
        Ok(Program { name: self.fx.name.clone(), steps, results })
    }
}

/// Symbols that the kernels of a segment, or the layouts of what they read and make, depend on.
fn symbols(graph: &Graph, reads: &[Read], makes: &[Made]) -> BTreeSet<Var> {
    let offset = |r: &Read| if let Read::Tensor(t) = r { Some(t.shown.offset.clone()) } else { None };
    let layouts = makes.iter().flat_map(|m| m.layout.shape.iter().chain(&m.layout.strides)).cloned();
    let mut symbols = graph::dims(graph);
    symbols.extend(reads.iter().filter_map(offset).chain(layouts).flat_map(|s| s.vars()));
    symbols
}

/// Nodes by the storages that their operands show.
fn readers(fx: &fx::Graph) -> BTreeMap<u64, Vec<Id>> {
    let mut readers: BTreeMap<u64, Vec<Id>> = BTreeMap::new();
    for (id, node) in fx.nodes.iter().enumerate() {
        for tensor in node.operands.iter().flat_map(|&o| fx.nodes[o].value.tensors()) {
            readers.entry(tensor.storage).or_default().push(id);
        }
    }
    readers
}

/// Symbols that are in no tensor's type: integers that the user computes with.
fn free_symbols(fx: &fx::Graph) -> BTreeSet<Var> {
    let tensors = fx.nodes.iter().flat_map(|n| n.value.tensors());
    let sizes = tensors.flat_map(|t| t.shape.iter().chain(&t.strides).chain([&t.offset]));
    let sizes: BTreeSet<Var> = sizes.filter_map(Size::known).flat_map(Sym::vars).collect();
    fx.symbols.keys().map(|name| Var::new(name)).filter(|v| !sizes.contains(v)).collect()
}

/// A value in the order of memory, as a node that the plan gives a buffer of its own.
fn stored(b: &mut Builder, value: NodeId, order: &[usize]) -> Result<NodeId> {
    let stored = permuted(b, value, order)?;
    let borrowed = matches!(b.graph().node(stored).op, Op::View(_) | Op::Input(_) | Op::Const(_) | Op::SymConst(_) | Op::Iota(_));
    if borrowed { b.materialize(stored) } else { Ok(stored) }
}

/// Results that have the types that tracing saw; a lowering that gives others is not used.
fn checked(b: &Builder, node: &fx::Node, results: Vec<NodeId>) -> Result<Vec<NodeId>> {
    let wanted = node.value.tensors();
    if wanted.len() != results.len() {
        return Err(Error::unsupported(format!("the lowering gives {} results, torch {}", results.len(), wanted.len())));
    }
    for (&have, want) in results.iter().zip(wanted) {
        let (dtype, shape) = (b.dtype(have), want.extents()?);
        let differs = |(a, b): (&Sym, &Sym)| a != b && (a.as_int().is_some() && b.as_int().is_some());
        if dtype.name() != want.dtype || b.shape(have).len() != shape.len() || b.shape(have).iter().zip(&shape).any(differs) {
            let have = b.graph().tensor(have);
            return Err(Error::unsupported(format!("the lowering gives {have}, torch {}{shape:?}", want.dtype)));
        }
    }
    Ok(results)
}

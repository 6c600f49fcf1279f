//! Graph to text.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use scalar::Sym;

use super::literal::{name, scalar};
use super::origin::{Implied, comment};
use crate::infer::list;
use crate::{At, ContractSpec, Graph, InputDecl, NodeId, Op, Origin, OriginId, Region, Type, View, WriteCombine};

/// The text form of a graph.
pub fn print(graph: &Graph) -> String {
    let mut out = String::new();
    function(&mut out, graph, 0);
    out
}

impl fmt::Display for Graph {
    /// The text form; see [`crate::text`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

impl fmt::Display for Type {
    /// `f32[n]`, or `(f32[n], i64[n])` for several results.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(t) => write!(f, "{t}"),
            Type::Tuple(parts) => write!(f, "({})", commas(parts.iter())),
        }
    }
}

impl fmt::Display for Origin {
    /// `softmax at model.rs:12`; only the part that is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.op.is_empty(), self.source.is_empty()) {
            (false, false) => write!(f, "{} at {}", self.op, self.source),
            _ => write!(f, "{}{}", self.op, self.source),
        }
    }
}

impl fmt::Display for ContractSpec {
    /// `bik,bkj->bij`; a label that is not a letter prints as its number, `<7>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |&l: &u8| if l.is_ascii_alphabetic() { char::from(l).to_string() } else { format!("<{l}>") };
        let text = |labels: &[u8]| labels.iter().map(label).collect::<String>();
        write!(f, "{},{}->{}", text(&self.a), text(&self.b), text(&self.out))
    }
}

/// Name of an op as the text form spells it, without attributes: `add`, `reduce.sum`, `view.reshape`, `call sort`.
pub(crate) fn op_name(op: &Op) -> String {
    match op {
        Op::Input(_) => "input".into(),
        Op::Const(_) => "const".into(),
        Op::SymConst(_) => "sym".into(),
        Op::Iota(_) => "iota".into(),
        Op::Map(op) => op.name(),
        Op::Reduce(c, _) => format!("reduce.{}", c.info().name),
        Op::Scan(c, _) => format!("scan.{}", c.info().name),
        Op::View(view) => format!("view.{}", view_name(view)),
        Op::Concat(_) => "concat".into(),
        Op::Contract(_) => "contract".into(),
        Op::Gather(_) => "gather".into(),
        Op::Write(combine, at) => format!("write.{}.{}", combine_name(*combine), at_name(at)),
        Op::Call(callee, _) => format!("call {}", name(callee)),
        Op::Region(Region::If { .. }) => "if".into(),
        Op::Region(Region::Loop { .. }) => "loop".into(),
        Op::Result(_) => "result".into(),
        Op::Materialize => "materialize".into(),
    }
}

fn view_name(view: &View) -> &'static str {
    match view {
        View::Reshape(_) => "reshape",
        View::Permute(_) => "permute",
        View::Expand(_) => "expand",
        View::Slice { .. } => "slice",
        View::Flip(_) => "flip",
        View::Pad { .. } => "pad",
        View::Window { .. } => "window",
    }
}

/// Text-form name of a write's combination.
pub(super) fn combine_name(combine: WriteCombine) -> &'static str {
    match combine {
        WriteCombine::Set => "set",
        WriteCombine::Add => "add",
        WriteCombine::Mul => "mul",
        WriteCombine::Max => "max",
        WriteCombine::Min => "min",
    }
}

fn at_name(at: &At) -> &'static str {
    match at {
        At::Slice { .. } => "slice",
        At::Dynamic { .. } => "dynamic",
        At::Indices { .. } => "indices",
    }
}

/// Slots of the leading input nodes, which the header makes: origin 0 and ascending slots.
fn header_inputs(graph: &Graph) -> BTreeSet<u32> {
    let mut slots = BTreeSet::new();
    for node in &graph.nodes {
        match node.op {
            Op::Input(slot) if node.origin == OriginId(0) && slots.last().is_none_or(|&last| last < slot) => slots.insert(slot),
            _ => break,
        };
    }
    slots
}

fn function(out: &mut String, graph: &Graph, indent: usize) {
    let heads = header_inputs(graph);
    let inputs = (0..).zip(&graph.inputs).map(|(slot, decl)| input(decl, heads.contains(&slot)));
    let outputs = graph.outputs.iter().map(|o| name(&o.name));
    line(out, indent, &format!("func {}({}) -> ({}) {{", name(&graph.name), commas(inputs), commas(outputs)));
    for fact in graph.facts.lines() {
        line(out, indent + 1, &format!("where {fact}"));
    }
    for g in &graph.guards {
        line(out, indent + 1, &format!("guard {} = {} {:?}", g.left, g.right, g.reason));
    }
    let mut implied = Implied::default();
    unused_origins(out, graph, &mut implied, indent + 1);
    for id in graph.ids().skip(heads.len()) {
        statement(out, graph, id, &mut implied, indent + 1);
    }
    let returns = graph.outputs.iter().map(|o| format!("{} = {:?}", name(&o.name), o.value));
    line(out, indent + 1, format!("return {}", commas(returns)).trim_end());
    line(out, indent, "}");
}

fn input(decl: &InputDecl, in_header: bool) -> String {
    let flag = |on: bool, text: &'static str| if on { text } else { "" };
    let flags = [flag(!in_header, "later "), flag(decl.frozen, "frozen "), flag(decl.donated, "donated ")].concat();
    format!("{}: {flags}{}", name(&decl.name), decl.ty)
}

fn unused_origins(out: &mut String, graph: &Graph, implied: &mut Implied, indent: usize) {
    let mut used = vec![false; graph.origins.len()];
    for node in &graph.nodes {
        if let Some(used) = used.get_mut(node.origin.0 as usize) {
            *used = true;
        }
    }
    for (id, origin) in graph.origins.iter().enumerate().skip(1).filter(|(id, _)| !used[*id]) {
        line(out, indent, &format!("origin {id} {}", comment(origin)));
        implied.saw(OriginId(id as u32), None);
    }
}

fn statement(out: &mut String, graph: &Graph, id: NodeId, implied: &mut Implied, indent: usize) {
    let node = graph.node(id);
    pad(out, indent);
    let operands = commas(node.args.iter().map(|a| format!("{a:?}")));
    let name = op_name(&node.op);
    let _ = write!(out, "{id:?} = {name}{}{operands}", if operands.is_empty() { "" } else { " " });
    attributes(out, graph, &node.op, indent);
    let _ = write!(out, " : {}", node.ty);
    if node.origin != OriginId(0) {
        let missing = Origin::default();
        let origin = graph.origins.get(node.origin.0 as usize).unwrap_or(&missing);
        let explicit = implied.id(origin) != node.origin;
        let number = if explicit { format!("{} ", node.origin.0) } else { String::new() };
        let _ = write!(out, "   # {number}{}", comment(origin));
        implied.saw(node.origin, Some(origin));
    }
    out.push('\n');
}

fn attributes(out: &mut String, graph: &Graph, op: &Op, indent: usize) {
    let text = match op {
        Op::Input(slot) => graph.inputs.get(*slot as usize).map_or("?".into(), |i| name(&i.name)),
        Op::Const(c) => format!("{} {}", c.dtype(), scalar(*c)),
        Op::SymConst(s) | Op::Iota(s) => s.to_string(),
        Op::Reduce(_, axes) | Op::Gather(axes) => format!("{axes:?}"),
        Op::Scan(_, axis) | Op::Concat(axis) => format!("[{axis}]"),
        Op::View(view) => view_attributes(view),
        Op::Contract(spec) => format!("\"{spec}\" acc {}", spec.acc),
        Op::Write(_, at) => at_attributes(at),
        Op::Call(_, attrs) => format!("{{{}}}", commas(attrs.iter().map(|(k, v)| format!("{} = {v}", name(k))))),
        Op::Region(region) => return bodies(out, region, indent),
        Op::Result(i) => format!("[{i}]"),
        Op::Map(_) | Op::Materialize => return,
    };
    out.push(' ');
    out.push_str(&text);
}

fn view_attributes(view: &View) -> String {
    match view {
        View::Reshape(shape) | View::Expand(shape) => list(shape),
        View::Permute(axes) => format!("{axes:?}"),
        View::Flip(axes) => format!("{axes:?}"),
        View::Slice { start, len, step } => format!("start {} len {} step {step:?}", list(start), list(len)),
        View::Pad { lo, hi, interior, value } => {
            format!("lo {} hi {} interior {interior:?} value {}", list(lo), list(hi), scalar(*value))
        }
        View::Window { axis, size, stride, dilation } => format!("axis {axis} stride {stride} dilation {dilation} size {size}"),
    }
}

fn at_attributes(at: &At) -> String {
    match at {
        At::Slice { start, step } => format!("start {} step {step:?}", list(start)),
        At::Dynamic { axes } => format!("{axes:?}"),
        At::Indices { axes, unique } => format!("{axes:?}{}", if *unique { " unique" } else { "" }),
    }
}

fn bodies(out: &mut String, region: &Region, indent: usize) {
    let (head, bodies): (String, Vec<&Graph>) = match region {
        Region::If { then, other } => (String::new(), vec![then, other]),
        Region::Loop { trip, carried, scanned, body } => (loop_head(trip, *carried, *scanned), vec![body]),
    };
    let _ = writeln!(out, "{head} {{");
    for body in bodies {
        function(out, body, indent + 1);
    }
    pad(out, indent);
    out.push('}');
}

fn loop_head(trip: &Sym, carried: usize, scanned: usize) -> String {
    format!(" carried {carried} scanned {scanned} trip {trip}")
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n("  ", indent));
}

fn line(out: &mut String, indent: usize, text: &str) {
    pad(out, indent);
    out.push_str(text);
    out.push('\n');
}

fn commas(parts: impl Iterator<Item: ToString>) -> String {
    parts.map(|p| p.to_string()).collect::<Vec<_>>().join(", ")
}

//! Text to graph: functions and statements.

use std::collections::BTreeMap;

use base::Result;
use scalar::{DType, Shape};

use super::literal::is_word;
use super::origin::Implied;
use super::scan::{Fault, Parsed, Scan, located};
use super::{MAX_NESTING, op};
use crate::infer::provably_same;
use crate::{Builder, Graph, Guard, InputDecl, NodeId, Op, Origin, OriginId, TensorType, Type, verify};

/// Most nodes, and most origins, that one text may make.
const MAX_NODES: usize = 1_000_000;

/// Reads one function; `file` names the text in errors.
///
/// # Errors
/// `file:line:column: what was expected`. No text makes it panic.
pub fn parse(file: &str, text: &str) -> Result<Graph> {
    let mut graphs = parse_all(file, text)?;
    match graphs.len() {
        1 => Ok(graphs.remove(0)),
        n => Err(located(file, text, Fault { at: text.len(), message: format!("expected one function, found {n}") })),
    }
}

/// Reads any number of functions; `file` names the text in errors.
///
/// # Errors
/// `file:line:column: what was expected`. No text makes it panic.
pub fn parse_all(file: &str, text: &str) -> Result<Vec<Graph>> {
    let mut source = Source { scan: Scan::new(text), nodes: MAX_NODES, origins: MAX_NODES, depth: 0 };
    let mut graphs = Vec::new();
    while !source.scan.at_end() {
        let at = source.scan.here();
        let graph = function(&mut source).map_err(|fault| located(file, text, fault))?;
        verify(&graph).map_err(|e| located(file, text, Fault { at, message: e.to_string() }))?;
        graphs.push(graph);
    }
    Ok(graphs)
}

/// The text, and what may still be made from it.
pub(super) struct Source<'a> {
    pub(super) scan: Scan<'a>,
    nodes: usize,
    origins: usize,
    depth: usize,
}

/// One function under construction.
pub(super) struct Function<'s, 'a> {
    pub(super) source: &'s mut Source<'a>,
    pub(super) builder: Builder,
    values: BTreeMap<String, NodeId>,
    implied: Implied,
}

/// Reads a function, at the top or as a body.
pub(super) fn function(source: &mut Source<'_>) -> Parsed<Graph> {
    source.scan.skip_lines();
    let at = source.scan.here();
    source.scan.expect_word("func")?;
    if source.depth == MAX_NESTING {
        return Err(Fault { at, message: format!("bodies nest at most {MAX_NESTING} deep") });
    }
    source.depth += 1;
    let name = source.scan.name("a function name")?;
    let mut f = Function { source, builder: Builder::new(name), values: BTreeMap::new(), implied: Implied::default() };
    f.inputs()?;
    let promised = f.promised_outputs()?;
    f.body()?;
    let graph = f.builder.finish();
    let same = promised.is_none_or(|names| names.iter().eq(graph.outputs.iter().map(|o| &o.name)));
    source.depth -= 1;
    if same { Ok(graph) } else { Err(Fault { at, message: "the outputs after '->' are not those that are returned".into() }) }
}

impl<'a> Function<'_, 'a> {
    pub(super) fn scan(&mut self) -> &mut Scan<'a> {
        &mut self.source.scan
    }

    fn inputs(&mut self) -> Parsed<()> {
        self.scan().expect("(")?;
        self.scan().skip_lines();
        while !self.scan().eat(")") {
            self.input()?;
            self.scan().skip_lines();
            if self.scan().peek() != Some(')') {
                self.scan().expect(",")?;
                self.scan().skip_lines();
            }
        }
        Ok(())
    }

    fn input(&mut self) -> Parsed<()> {
        let at = self.scan().here();
        let name = self.scan().name("an input name")?;
        self.scan().expect(":")?;
        let (mut later, mut frozen, mut donated) = (false, false, false);
        loop {
            match () {
                () if self.scan().eat_word("later") => later = true,
                () if self.scan().eat_word("frozen") => frozen = true,
                () if self.scan().eat_word("donated") => donated = true,
                () => break,
            }
        }
        let ty = self.tensor_type()?;
        let decl = InputDecl { name, ty, frozen, donated };
        let slot = self.builder.declare(decl).map_err(|e| Fault { at, message: e.to_string() })?;
        if !later {
            let id = self.node(at, Op::Input(slot), &[], None)?;
            self.bind(at, &id.0.to_string(), id)?;
            self.bind_input(at, slot, id)?;
        }
        Ok(())
    }

    fn promised_outputs(&mut self) -> Parsed<Option<Vec<String>>> {
        if !self.scan().eat("->") {
            return Ok(None);
        }
        self.scan().expect("(")?;
        let mut names = Vec::new();
        while !self.scan().eat(")") {
            if !names.is_empty() {
                self.scan().expect(",")?;
            }
            names.push(self.scan().name("an output name")?);
        }
        Ok(Some(names))
    }

    fn body(&mut self) -> Parsed<()> {
        self.scan().expect("{")?;
        loop {
            self.scan().skip_lines();
            let at = self.scan().here();
            if self.scan().eat_word("return") {
                self.outputs()?;
                self.scan().skip_lines();
                return self.scan().expect("}");
            } else if self.scan().eat_word("where") {
                self.fact(at)?;
            } else if self.scan().eat_word("guard") {
                self.guard()?;
            } else if self.scan().eat_word("origin") {
                let id = self.scan().number("an origin number")?;
                let origin = self.origin_text()?;
                self.define_origin(at, id, origin)?;
                self.implied.saw(OriginId(id), None);
            } else if self.scan().peek() == Some('%') {
                self.statement()?;
            } else {
                return Err(self.scan().expected("a statement ('%0 = …', 'where', 'guard', 'origin' or 'return')"));
            }
            self.scan().end_of_line()?;
        }
    }

    fn fact(&mut self, at: usize) -> Parsed<()> {
        let line = self.scan().rest_of_line();
        self.builder.facts_mut().parse_line(line).map_err(|why| Fault { at, message: format!("in fact '{line}': {why}") })
    }

    fn guard(&mut self) -> Parsed<()> {
        let left = self.scan().sym()?;
        self.scan().expect("=")?;
        let right = self.scan().sym()?;
        let reason = self.scan().string()?;
        self.builder.push_guard(Guard { left, right, reason });
        Ok(())
    }

    fn outputs(&mut self) -> Parsed<()> {
        let mut first = true;
        while !matches!(self.scan().peek(), None | Some('\n' | '}')) {
            if !first {
                self.scan().expect(",")?;
            }
            first = false;
            let at = self.scan().here();
            let name = self.scan().name("an output name")?;
            self.scan().expect("=")?;
            let id = self.value()?;
            self.builder.output(name, id).map_err(|e| Fault { at, message: e.to_string() })?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Parsed<()> {
        let at = self.scan().here();
        let name = self.scan().value_name()?;
        self.scan().expect("=")?;
        let op_at = self.scan().here();
        let (op, args) = op::op(self)?;
        let given = if self.scan().eat(":") { Some(self.ty()?) } else { None };
        let origin = if self.scan().eat("#") { self.comment(op_at)? } else { OriginId(0) };
        self.builder.set_origin(origin).map_err(|e| Fault { at: op_at, message: e.to_string() })?;
        let slot = if let Op::Input(slot) = op { Some(slot) } else { None };
        let id = self.node(op_at, op, &args, given)?;
        self.bind(at, name, id)?;
        slot.map_or(Ok(()), |slot| self.bind_input(at, slot, id))
    }

    /// Lets an input be read by its name.
    fn bind_input(&mut self, at: usize, slot: u32, id: NodeId) -> Parsed<()> {
        let name = self.builder.graph().inputs[slot as usize].name.clone();
        if is_word(&name) && !self.values.contains_key(&name) { self.bind(at, &name, id) } else { Ok(()) }
    }

    /// Makes a node, never an earlier equal one: a text has its nodes as written.
    fn node(&mut self, at: usize, op: Op, args: &[NodeId], given: Option<Type>) -> Parsed<NodeId> {
        let fault = |message: String| Fault { at, message };
        self.source.nodes =
            self.source.nodes.checked_sub(1).ok_or_else(|| fault(format!("a text has at most {MAX_NODES} nodes")))?;
        let inferred = self.builder.infer(&op, args).map_err(|e| fault(e.to_string()))?;
        let ty = match given {
            Some(given) if !provably_same(self.builder.facts(), &given, &inferred) => {
                return Err(fault(format!("the type is {inferred}, not {given}")));
            }
            given => given.unwrap_or(inferred),
        };
        self.builder.append(op, args, ty).map_err(|e| fault(e.to_string()))
    }

    fn bind(&mut self, at: usize, name: &str, id: NodeId) -> Parsed<()> {
        match self.values.insert(name.to_owned(), id) {
            None => Ok(()),
            Some(_) => Err(Fault { at, message: format!("%{name} is defined twice") }),
        }
    }

    /// A value that was defined earlier.
    pub(super) fn value(&mut self) -> Parsed<NodeId> {
        let at = self.scan().here();
        let name = self.scan().value_name()?;
        let unknown = || {
            let near = super::did_you_mean(name, self.values.keys().map(String::as_str));
            Fault { at, message: format!("%{name} is not defined{near}") }
        };
        self.values.get(name).copied().ok_or_else(unknown)
    }

    fn comment(&mut self, at: usize) -> Parsed<OriginId> {
        let explicit = self.scan().peek().is_some_and(|c| c.is_ascii_digit());
        let number = if explicit { Some(self.scan().number("an origin number")?) } else { None };
        let origin = self.origin_text()?;
        let id = number.map_or_else(|| self.implied.id(&origin), OriginId);
        self.implied.saw(id, Some(&origin));
        self.define_origin(at, id.0, origin)?;
        Ok(id)
    }

    /// `op @ source` to the end of the line.
    fn origin_text(&mut self) -> Parsed<Origin> {
        let op = if self.scan().peek() == Some('"') { self.scan().string()? } else { self.scan().until_at_sign().to_owned() };
        let source = match self.scan().eat("@") {
            true if self.scan().peek() == Some('"') => self.scan().string()?,
            true => self.scan().rest_of_line().to_owned(),
            false => String::new(),
        };
        Ok(Origin { op, source })
    }

    fn define_origin(&mut self, at: usize, id: u32, origin: Origin) -> Parsed<()> {
        let fault = |message: String| Fault { at, message };
        let grow = (id as usize + 1).saturating_sub(self.builder.graph().origins.len());
        self.source.origins =
            self.source.origins.checked_sub(grow).ok_or_else(|| fault(format!("a text has at most {MAX_NODES} origins")))?;
        self.builder.define_origin(OriginId(id), origin).map_err(|e| fault(e.to_string()))
    }

    fn ty(&mut self) -> Parsed<Type> {
        if !self.scan().eat("(") {
            return self.tensor_type().map(Type::Tensor);
        }
        let mut parts = Vec::new();
        while !self.scan().eat(")") {
            if !parts.is_empty() {
                self.scan().expect(",")?;
            }
            parts.push(self.tensor_type()?);
        }
        Ok(Type::Tuple(parts))
    }

    fn tensor_type(&mut self) -> Parsed<TensorType> {
        let dtype = self.dtype()?;
        let shape: Shape = self.scan().bracketed(Scan::sym)?;
        Ok(TensorType { dtype, shape })
    }

    /// A dtype name.
    pub(super) fn dtype(&mut self) -> Parsed<DType> {
        let at = self.scan().here();
        let word = self.scan().word("a dtype such as f32")?;
        let unknown = || {
            let near = super::did_you_mean(word, DType::ALL.iter().map(|d| d.name()));
            Fault { at, message: format!("unknown dtype '{word}'{near}") }
        };
        DType::parse(word).ok_or_else(unknown)
    }
}

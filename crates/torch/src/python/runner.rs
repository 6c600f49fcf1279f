//! A compiled program, as Python holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::{Config, Result};
use driver::{Executable, Module};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scalar::{DType, Sym, Var};

use super::bind::Bindings;
use super::run::{Mode, Run};
use super::tally::Tally;
use super::{Settings, profile, python_error};
use crate::fx::{self, Id, Kind, Value};
use crate::layout::Layout;
use crate::program::{Base, Extern, Made, Passed, Program, Read, Segment, Shown, Step, TensorRead};

/// Number of a run-time value.
pub(super) type Slot = usize;

/// A segment with its kernels.
pub(super) struct Part {
    pub(super) executable: Executable,
    pub(super) inputs: Vec<Input>,
    pub(super) makes: Vec<Output>,
    pub(super) symbols: BTreeSet<Var>,
    pub(super) bindings: Bindings,
    /// Number of its first kernel among those of the program.
    pub(super) first: usize,
    pub(super) tally: Tally,
}

/// An input of a segment.
pub(super) enum Input {
    Tensor(Slot, Box<TensorRead>),
    Integer(Sym),
}

/// An output of a segment.
pub(super) struct Output {
    pub(super) slot: Slot,
    /// Slot of the argument whose memory it takes.
    pub(super) into: Option<Slot>,
    pub(super) made: Made,
}

/// A call of torch.
pub(super) struct Call {
    pub(super) node: Id,
    pub(super) function: Option<Py<PyAny>>,
    pub(super) operands: Vec<Given>,
    /// Where the whole result goes, if anything reads it as it is, and what generated kernels may rely on.
    pub(super) result: Option<(Slot, Option<Promised>)>,
    /// Results by index, for those that are read, with what generated kernels may rely on.
    pub(super) items: Vec<(usize, Slot, Option<Promised>)>,
    /// Symbols that the shapes of results define: result, axis, symbol.
    pub(super) defines: Vec<(usize, usize, Var)>,
    /// A symbol that an integer result defines.
    pub(super) integer: Option<Var>,
    /// Why it is not lowered.
    pub(super) reason: String,
    /// Counts the callable alone.
    pub(super) tally: Tally,
}

/// A value at a boundary, by slot.
pub(super) enum Given {
    Whole(Slot),
    View(Slot, Shown),
    Int(Sym),
    None,
}

/// One step.
pub(super) enum Work {
    Part(Box<Part>),
    Call(Box<Call>),
}

/// What an argument is.
pub(super) struct Argument {
    pub(super) slot: Option<Slot>,
    pub(super) symbol: Option<Var>,
    /// Extents of a tensor that give symbols which no integer argument gives: axis, symbol.
    pub(super) defines: Vec<(usize, Var)>,
    /// What to bring it to, for one that Dynamo's guards do not cover.
    pub(super) promised: Option<Promised>,
}

/// A compiled FX graph: called with one list of arguments, which it clears.
#[pyclass(frozen, dict, weakref, module = "fuseline._native")]
pub(super) struct Runner {
    pub(super) arguments: Vec<Argument>,
    pub(super) attributes: Vec<(String, Option<Slot>, Option<Py<PyAny>>)>,
    pub(super) work: Vec<Work>,
    /// Slots that nothing needs after each step.
    pub(super) release: Vec<Vec<Slot>>,
    pub(super) results: Vec<Given>,
    pub(super) slots: usize,
    pub(super) fx: fx::Graph,
    calls: AtomicU64,
    settings: Settings,
}

/// Numbers of run-time values.
#[derive(Default)]
struct Slots {
    bases: BTreeMap<Base, Slot>,
    objects: BTreeMap<Id, Slot>,
    count: usize,
}

impl Slots {
    fn next(&mut self) -> Slot {
        self.count += 1;
        self.count - 1
    }
    fn base(&mut self, fx: &fx::Graph, base: Base) -> Slot {
        if matches!(fx.nodes[base.node].value, Value::Tensor(_)) {
            return self.object(base.node);
        }
        if let Some(&slot) = self.bases.get(&base) {
            return slot;
        }
        let slot = self.next();
        self.bases.insert(base, slot);
        slot
    }
    fn object(&mut self, id: Id) -> Slot {
        if let Some(&slot) = self.objects.get(&id) {
            return slot;
        }
        let slot = self.next();
        self.objects.insert(id, slot);
        slot
    }
    fn given(&mut self, fx: &fx::Graph, passed: &Passed) -> Given {
        match passed {
            Passed::Tensor(s) if s.whole => Given::Whole(self.base(fx, s.base)),
            Passed::Tensor(s) => Given::View(self.base(fx, s.base), s.clone()),
            Passed::Int(s) => Given::Int(s.clone()),
            Passed::Object(id) => Given::Whole(self.object(*id)),
            Passed::None => Given::None,
        }
    }
}

/// What tracing promised of a tensor, where generated kernels may read it as that.
pub(super) struct Promised {
    pub(super) layout: Layout,
    pub(super) dtype: DType,
}

impl Promised {
    fn of(t: &fx::Tensor) -> Option<Promised> {
        if t.plain { Some(Promised { layout: t.layout().ok()?, dtype: t.element_type().ok()? }) } else { None }
    }
}

fn symbol(value: &Value) -> Option<Var> {
    if let Value::Int(size) = value { size.known()?.as_var() } else { None }
}

impl Part {
    fn compile(segment: &Segment, slots: &mut Slots, fx: &fx::Graph, config: &Config, first: usize) -> Result<Part> {
        let module = Module { graph: segment.graph.clone(), frozen: Vec::new() };
        let executable = driver::compile(&module, config)?;
        let input = |r: &Read| match r {
            Read::Tensor(t) => Input::Tensor(slots.base(fx, t.shown.base), t.clone()),
            Read::Integer(s) => Input::Integer(s.clone()),
        };
        let inputs = segment.reads.iter().map(input).collect();
        let output = |m: &Made| {
            let into = m.into.as_ref().map(|o| slots.base(fx, o.argument));
            Output { slot: slots.base(fx, m.base), into, made: m.clone() }
        };
        let makes = segment.makes.iter().map(output).collect();
        let (bindings, tally) = Default::default();
        Ok(Part { executable, inputs, makes, symbols: segment.symbols.clone(), bindings, first, tally })
    }
}

impl Call {
    fn new(call: &Extern, slots: &mut Slots, fx: &fx::Graph) -> Call {
        let value = &fx.nodes[call.node].value;
        Call {
            node: call.node,
            function: None,
            operands: call.operands.iter().map(|p| slots.given(fx, p)).collect(),
            result: None,
            items: Vec::new(),
            defines: definitions(value),
            integer: symbol(value),
            reason: call.reason.clone(),
            tally: Tally::default(),
        }
    }

    /// Finds the results that something reads, once all that reads has its slots. Those in `trusted` must be as tracing promised.
    fn find_results(&mut self, slots: &Slots, trusted: &BTreeSet<Slot>, fx: &fx::Graph) {
        let node = self.node;
        let value = &fx.nodes[node].value;
        let promised = |i, slot: Slot| value.result(i).filter(|_| trusted.contains(&slot)).and_then(Promised::of);
        self.result = slots.objects.get(&node).map(|&slot| (slot, promised(0, slot)));
        let item = |(index, _)| {
            let slot = *slots.bases.get(&Base { node, index })?;
            Some((index, slot, promised(index, slot)))
        };
        self.items = value.numbered().into_iter().filter_map(item).collect();
    }
}

/// What the arguments are, in order.
fn arguments(fx: &fx::Graph, slots: &Slots) -> Vec<Argument> {
    let inputs = || fx.nodes.iter().enumerate().filter(|(_, n)| n.kind == Kind::Input);
    let mut known: BTreeSet<Var> = inputs().filter_map(|(_, n)| symbol(&n.value)).collect();
    let argument = |(id, node): (Id, &fx::Node)| {
        let extents = definitions(&node.value).into_iter().map(|(_, axis, var)| (axis, var));
        let defines = extents.filter(|&(_, var)| known.insert(var)).collect();
        let tangent = node.name.starts_with("tangents");
        let promised = if tangent { node.value.tensor().and_then(Promised::of) } else { None };
        Argument { slot: slots.objects.get(&id).copied(), symbol: symbol(&node.value), defines, promised }
    };
    inputs().map(argument).collect()
}

impl Runner {
    pub(super) fn compile(fx: fx::Graph, program: Program, config: &Config, settings: Settings) -> Result<Runner> {
        let mut slots = Slots::default();
        let mut work = Vec::new();
        let mut kernels = 0;
        for step in &program.steps {
            work.push(match step {
                Step::Segment(segment) => {
                    let part = Part::compile(segment, &mut slots, &fx, config, kernels)?;
                    kernels += part.executable.plan().kernels.len();
                    Work::Part(Box::new(part))
                }
                Step::Extern(call) => Work::Call(Box::new(Call::new(call, &mut slots, &fx))),
            });
        }
        let results: Vec<Given> = program.results.iter().map(|p| slots.given(&fx, p)).collect();
        let trusted = trusted(&work, &results);
        for step in &mut work {
            if let Work::Call(call) = step {
                call.find_results(&slots, &trusted, &fx);
            }
        }
        let of_kind = |kind| fx.nodes.iter().enumerate().filter(move |(_, n)| n.kind == kind);
        let attributes =
            of_kind(Kind::Attribute).map(|(id, n)| (n.target.clone(), slots.objects.get(&id).copied(), None)).collect();
        let (arguments, release) = (arguments(&fx, &slots), releases(&work, &results, slots.count));
        let (slots, calls) = (slots.count, AtomicU64::new(0));
        Ok(Runner { arguments, attributes, work, release, results, slots, fx, calls, settings })
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.work.iter().filter_map(|w| if let Work::Part(p) = w { Some(&**p) } else { None })
    }

    /// Number of calls.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn passes(&self) -> impl Iterator<Item = &(&'static str, Duration)> {
        self.parts().flat_map(|p| p.executable.timing())
    }

    /// Time of all compile passes.
    pub(super) fn compile_time(&self) -> Duration {
        self.passes().map(|(_, t)| *t).sum()
    }

    /// How a call runs, of those that came before it.
    fn mode(&self, py: Python<'_>, before: u64) -> PyResult<Mode> {
        Ok(match (before < self.settings.verify, profile::active(py)?) {
            (true, _) => Mode::Checked(self.settings.tolerance()),
            (false, true) => Mode::Profiled,
            (false, false) => Mode::Plain,
        })
    }

    fn run<'py>(&self, py: Python<'py>, arguments: &Bound<'py, PyList>, mode: Mode) -> PyResult<Bound<'py, PyList>> {
        let mut run = Run::new(py, self, mode);
        run.take(arguments)?;
        for (step, release) in self.work.iter().zip(&self.release) {
            match step {
                Work::Part(part) => part.tally.count(|| run.part(part))?,
                Work::Call(call) => run.call(call)?,
            }
            release.iter().for_each(|&slot| run.release(slot));
        }
        let results = self.results.iter().map(|g| run.given(g)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, results)
    }

    /// Binds the callables of torch's nodes and the attributes of the module.
    pub(super) fn with_externs(mut self, externs: &Bound<'_, PyAny>) -> PyResult<Runner> {
        for step in &mut self.work {
            if let Work::Call(call) = step {
                let node = &self.fx.nodes[call.node];
                call.function = Some(externs.call_method1("function", (call.node, node.operands.clone()))?.unbind());
            }
        }
        for (name, slot, value) in &mut self.attributes {
            if slot.is_some() {
                *value = Some(externs.call_method1("attribute", (name.as_str(),))?.unbind());
            }
        }
        Ok(self)
    }
}

/// Symbols that are extents of results: result, axis, symbol.
fn definitions(value: &Value) -> Vec<(usize, usize, Var)> {
    let mut found = Vec::new();
    for (i, tensor) in value.numbered() {
        for (axis, extent) in tensor.shape.iter().enumerate() {
            if let Some(var) = extent.known().and_then(Sym::as_var) {
                found.push((i, axis, var));
            }
        }
    }
    found
}

/// Slots whose memory generated kernels read, or of which views are shown: by layouts that tracing promised.
fn trusted(work: &[Work], results: &[Given]) -> BTreeSet<Slot> {
    let view = |given: &Given| if let Given::View(slot, _) = given { Some(*slot) } else { None };
    let read = |input: &Input| if let Input::Tensor(slot, _) = input { Some(*slot) } else { None };
    let of = |step: &Work| -> Vec<Slot> {
        match step {
            Work::Part(part) => part.inputs.iter().filter_map(read).collect(),
            Work::Call(call) => call.operands.iter().filter_map(view).collect(),
        }
    };
    work.iter().flat_map(of).chain(results.iter().filter_map(view)).collect()
}

/// Slots that are read last by each step; results stay.
fn releases(work: &[Work], results: &[Given], count: usize) -> Vec<Vec<Slot>> {
    let slot_of = |given: &Given| match given {
        Given::Whole(s) | Given::View(s, _) => Some(*s),
        _ => None,
    };
    let kept: BTreeSet<Slot> = results.iter().filter_map(slot_of).collect();
    let mut last: Vec<Option<usize>> = vec![None; count];
    for (n, step) in work.iter().enumerate() {
        let used: Vec<Slot> = match step {
            Work::Part(part) => {
                let read = |i: &Input| if let Input::Tensor(slot, _) = i { Some(*slot) } else { None };
                part.inputs
                    .iter()
                    .filter_map(read)
                    .chain(part.makes.iter().flat_map(|m| [Some(m.slot), m.into].into_iter().flatten()))
                    .collect()
            }
            Work::Call(call) => {
                let made = call.items.iter().map(|i| i.1).chain(call.result.iter().map(|r| r.0));
                call.operands.iter().filter_map(slot_of).chain(made).collect()
            }
        };
        used.into_iter().for_each(|s| last[s] = Some(n));
    }
    let mut out = vec![Vec::new(); work.len()];
    for (slot, n) in last.iter().enumerate() {
        if let Some(n) = n
            && !kept.contains(&slot)
        {
            out[*n].push(slot);
        }
    }
    out
}

#[pymethods]
impl Runner {
    /// Runs on a list of arguments, which is emptied, and gives the list of results.
    fn __call__<'py>(&self, py: Python<'py>, arguments: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        let mode = self.mode(py, self.calls.fetch_add(1, Ordering::Relaxed))?;
        if let Mode::Profiled = mode {
            let name = format!("fuseline::{}", self.fx.name);
            return profile::within(py, &name, &PyDict::new(py), || self.run(py, arguments, mode));
        }
        self.run(py, arguments, mode)
    }

    /// The report as versioned JSON text, for the sizes that ran last.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.detach(|| self.report_json()).map_err(|e| python_error(&e))?.to_string())
    }

    /// The report as text for a terminal.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.report_text()).map_err(|e| python_error(&e))
    }

    /// Torch calls with their reasons, as (op, source, message).
    fn remarks(&self) -> Vec<(String, String, String)> {
        let calls = self.work.iter().filter_map(|w| if let Work::Call(c) = w { Some(c) } else { None });
        let remark = |call: &Call| {
            let node = &self.fx.nodes[call.node];
            (node.op.clone(), node.source.clone(), format!("{} runs in torch: {}", node.target, call.reason))
        };
        calls.map(|c| remark(c)).collect()
    }

    /// Seconds of each compile pass.
    fn timing(&self) -> Vec<(&'static str, f64)> {
        self.passes().map(|(name, t)| (*name, t.as_secs_f64())).collect()
    }

    /// What the cache of plans did for each segment.
    fn plans(&self) -> Vec<String> {
        self.parts().map(|p| p.executable.cached().to_string()).collect()
    }

    /// Names of the kernels of each segment.
    fn kernels(&self) -> Vec<Vec<String>> {
        self.parts().map(|p| p.executable.plan().kernels.iter().map(|k| k.name.clone()).collect()).collect()
    }
}

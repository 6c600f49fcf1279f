//! One program on many runtimes.

use base::{Error, Result};
use graph::{Graph, HostTensor, interp, text};
use transform::simplify;

use crate::generate::{self, Profile};
use crate::tolerance::{Tolerance, compare, for_graph};
use crate::{Cursor, seed_bytes};

/// Runs a graph on arguments, one per input slot.
pub type RunFn = dyn Fn(&Graph, &[HostTensor]) -> Result<Vec<HostTensor>>;

/// A way to run graphs, and how its results compare with the interpreter's.
pub struct Runtime {
    /// Name for messages.
    pub name: &'static str,
    /// Programs that it is tried on.
    pub profile: Profile,
    /// Agreement that it owes.
    pub tolerance: Tolerance,
    /// Runs one program.
    pub run: Box<RunFn>,
}

impl Runtime {
    /// A runtime from a closure.
    pub fn new(
        name: &'static str,
        profile: Profile,
        tolerance: Tolerance,
        run: impl Fn(&Graph, &[HostTensor]) -> Result<Vec<HostTensor>> + 'static,
    ) -> Runtime {
        Runtime { name, profile, tolerance, run: Box::new(run) }
    }
}

/// The oracle: the raw graph, interpreted.
///
/// # Errors
/// As [`interp::run`].
pub fn interpret(graph: &Graph, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    interp::run(graph, inputs, interp::Options::default())
}

/// Runtimes that need no compiler: simplified, and printed and parsed.
pub fn graph_runtimes() -> Vec<Runtime> {
    let simplified = |g: &Graph, x: &[HostTensor]| {
        let s = simplify(g, &transform::Options::default());
        graph::verify(&s).map_err(|e| e.context("after simplify"))?;
        interpret(&s, x)
    };
    let reparsed = |g: &Graph, x: &[HostTensor]| {
        let parsed = text::parse("generated", &text::print(g))?;
        if parsed != *g {
            return Err(Error::internal("the parsed text is another graph"));
        }
        interpret(&parsed, x)
    };
    vec![
        Runtime::new("simplified", Profile::Any, Tolerance::Exact, simplified),
        Runtime::new("reparsed", Profile::Any, Tolerance::Exact, reparsed),
    ]
}

/// A program, its arguments, and what the interpreter makes of them.
#[derive(Debug)]
pub struct Case {
    /// The program.
    pub graph: Graph,
    /// One tensor per input slot.
    pub inputs: Vec<HostTensor>,
}

/// The case that bytes describe.
///
/// # Errors
/// Only on a fault of the generator, the builder or the verifier.
pub fn case(bytes: &[u8], profile: Profile) -> Result<Case> {
    let mut choice = Cursor::new(bytes);
    let steps = 1 + choice.below(14);
    let graph = generate::graph(&mut choice, profile, steps)?;
    graph::verify(&graph)?;
    let sizes = generate::sizes(&graph, &mut choice);
    let inputs = generate::inputs(&graph, &sizes, &mut choice, profile)?;
    Ok(Case { graph, inputs })
}

/// The case of a seed.
///
/// # Errors
/// As [`case`].
pub fn seeded_case(seed: u64, profile: Profile) -> Result<Case> {
    case(&seed_bytes(seed, 800), profile)
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Oracle and runtime agree.
    Agreed,
    /// The oracle refuses these arguments (a guard fails), and so may the runtime.
    Refused,
}

/// Runs a case on the oracle and on a runtime, and compares.
///
/// # Errors
/// A runtime error where the oracle has a result, or results that differ; the message has the program text.
pub fn check(case: &Case, runtime: &Runtime) -> Result<Outcome> {
    let Ok(want) = interpret(&case.graph, &case.inputs) else { return Ok(Outcome::Refused) };
    let result =
        (runtime.run)(&case.graph, &case.inputs).and_then(|got| compare(&want, &got, for_graph(runtime.tolerance, &case.graph)));
    let shapes: Vec<String> = case.inputs.iter().map(|t| format!("{t:?}")).collect();
    result
        .map(|()| Outcome::Agreed)
        .map_err(|e| e.context(format!("{} on\n{}inputs {}\n", runtime.name, case.graph, shapes.join(", "))))
}

/// Whether a runtime disagrees with the oracle on a program that the oracle runs; for [`crate::reduce()`].
pub fn fails(graph: &Graph, inputs: &[HostTensor], runtime: &Runtime) -> bool {
    let Ok(want) = interpret(graph, inputs) else { return false };
    (runtime.run)(graph, inputs).and_then(|got| compare(&want, &got, for_graph(runtime.tolerance, graph))).is_err()
}

/// How a program fails on a runtime, as text; empty if it does not.
pub fn again(graph: &Graph, inputs: &[HostTensor], runtime: &Runtime) -> String {
    let result = interpret(graph, inputs)
        .and_then(|want| (runtime.run)(graph, inputs).and_then(|got| compare(&want, &got, for_graph(runtime.tolerance, graph))));
    result.err().map_or_else(String::new, |e| e.to_string())
}

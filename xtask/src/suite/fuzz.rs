//! Generated programs with fixed seeds.

use base::{Config, Numerics, Result};
use graph::{Graph, HostTensor, interp, text};
use testing::cpu::run_compiled;
use testing::differential::{Runtime, again, fails, interpret, seeded_case};
use testing::generate::Profile;
use testing::tolerance::{Tolerance, for_graph};
use testing::{Case, reduce};

use super::Context;
use super::compare::{difference, is_pointwise};
use super::outcome::{Failure, Outcome};

/// First seeds of the kinds, as in `crates/testing/tests/cpu.rs`.
pub(crate) const KINDS: [(&str, u64); 3] = [("tame", 5000), ("exact", 9000), ("bits", 20_000)];

/// Checks one seed of a kind.
///
/// # Errors
/// A fault of the generator.
pub(crate) fn check(context: &Context, kind: &str, seed: u64) -> Result<Outcome> {
    match kind {
        "tame" => tame(context, &seeded_case(seed, Profile::Tame)?),
        "exact" => exact(context, &seeded_case(seed, Profile::Exact)?),
        _ => bits(context, &seeded_case(seed, Profile::Any)?),
    }
}

/// Close to the interpreter: fused and unfused, and fused in wide numerics to the interpreter without roundings.
fn tame(context: &Context, case: &Case) -> Result<Outcome> {
    let Ok(want) = interpret(&case.graph, &case.inputs) else { return Ok(refused()) };
    let wide = interp::run(&case.graph, &case.inputs, interp::Options { wide: true })?;
    let runs = [
        ("fused", true, Numerics::Eager, &want),
        ("unfused", false, Numerics::Eager, &want),
        ("wide", true, Numerics::Wide, &wide),
    ];
    for (name, fuse, numerics, want) in runs {
        let config = Config { fuse, numerics, ..context.config.clone() };
        if let Some(complaint) = complaint(case, &config, want, for_graph(Tolerance::CLOSE, &case.graph)) {
            return Ok(failed(context, case, name, complaint, &config, Tolerance::CLOSE));
        }
    }
    Ok(Outcome::Passed(runs.len()))
}

/// The interpreter's numbers, for programs of ops whose bits no engine may change, up to the sign of zero.
fn exact(context: &Context, case: &Case) -> Result<Outcome> {
    let Ok(want) = interpret(&case.graph, &case.inputs) else { return Ok(refused()) };
    for (name, fuse) in [("fused", true), ("unfused", false)] {
        let config = Config { fuse, ..context.config.clone() };
        if let Some(complaint) = complaint(case, &config, &want, Tolerance::Equal) {
            return Ok(failed(context, case, name, complaint, &config, Tolerance::Equal));
        }
    }
    Ok(Outcome::Passed(2))
}

/// Fused pointwise work has the bits of one kernel per op on the same device, for every op and every value.
fn bits(context: &Context, case: &Case) -> Result<Outcome> {
    if !is_pointwise(&case.graph) {
        return Ok(Outcome::Skipped("not of pointwise ops only".to_owned()));
    }
    let run = |fuse: bool| run_compiled(&case.graph, &case.inputs, &Config { fuse, ..context.config.clone() });
    let complaint = match (run(true), run(false)) {
        (Ok(fused), Ok(unfused)) => difference(&unfused, &fused, Tolerance::Exact),
        (Err(_), Err(_)) if interpret(&case.graph, &case.inputs).is_err() => return Ok(refused()),
        (Err(e), _) => Some(format!("fused: {e}")),
        (Ok(_), Err(e)) => Some(format!("unfused: {e}")),
    };
    Ok(Outcome::of(1, complaint.into_iter().collect(), || program(case)))
}

fn refused() -> Outcome {
    Outcome::Skipped("the arguments are refused".to_owned())
}

fn complaint(case: &Case, config: &Config, want: &[HostTensor], tolerance: Tolerance) -> Option<String> {
    match run_compiled(&case.graph, &case.inputs, config) {
        Ok(got) => difference(want, &got, tolerance),
        Err(e) => Some(e.to_string()),
    }
}

/// A failure; its program is reduced if that is wanted and possible.
fn failed(context: &Context, case: &Case, name: &str, complaint: String, config: &Config, tolerance: Tolerance) -> Outcome {
    let mut detail = program(case);
    if context.reduce {
        let config = config.clone();
        let runtime = Runtime::new("device", Profile::Any, tolerance, move |g, x| run_compiled(g, x, &config));
        let (small, inputs) = reduce(&case.graph, &case.inputs, &mut |g, x| fails(g, x, &runtime));
        detail = format!("{}{}", shown(&small, &inputs), again(&small, &inputs, &runtime));
    }
    Outcome::Failed(Failure::new([format!("{name}: {complaint}")], detail))
}

fn program(case: &Case) -> String {
    shown(&case.graph, &case.inputs)
}

fn shown(graph: &Graph, inputs: &[HostTensor]) -> String {
    let shapes: Vec<String> = inputs.iter().map(|t| format!("{t:?}")).collect();
    format!("{}inputs {}\n", text::print(graph), shapes.join(", "))
}

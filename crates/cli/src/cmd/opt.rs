//! `fuseline opt`

use std::collections::BTreeMap;

use base::Error;
use driver::{Pass, Plan};

use crate::args::Opt;
use crate::error::{Failure, Outcome, Verdict};
use crate::output;
use crate::session::Session;

/// A point between passes whose IR can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Parse,
    Simplify,
    Prepare,
    Plan,
    Kernel,
    Tile,
}

const STAGES: [(&str, Stage); 6] = [
    ("parse", Stage::Parse),
    ("simplify", Stage::Simplify),
    ("prepare", Stage::Prepare),
    ("plan", Stage::Plan),
    ("kernel", Stage::Kernel),
    ("tile", Stage::Tile),
];

/// Prints IR after passes.
///
/// # Errors
/// A model that does not load or compile, an unknown pass, or a range without passes.
pub(crate) fn opt(args: &Opt) -> Outcome<Verdict> {
    let first = first_pass(&args.from)?;
    let skipped = |s: &Stage| *s != Stage::Parse && *s < Stage::of(first);
    let stages = parse_stages(args.to.as_deref().unwrap_or(&args.passes))?;
    if let Some(stage) = stages.iter().copied().find(skipped) {
        let message = format!("pass {} comes before --from {}", stage.name(), args.from);
        return Err(Failure::invalid(message, "choose a later pass with --to or --passes"));
    }
    let session = Session::open_for_shapes(&args.model)?;
    let compiled = match stages.iter().any(|s| *s > Stage::Simplify) {
        true => {
            let (graph, target) = (session.model.graph(), driver::Target::of(session.config.device));
            Some(driver::passes_from(first, graph, &BTreeMap::new(), &target, &session.config)?)
        }
        false => None,
    };
    let mut text = String::new();
    for &stage in &stages {
        if stages.len() > 1 {
            text.push_str(&format!("# after {}\n", stage.name()));
        }
        text.push_str(&print(stage, &session, compiled.as_ref().map(|c| &c.plan))?);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    match &args.output {
        Some(path) => std::fs::write(path, text).map_err(|e| Error::from(e).context(path.display().to_string()))?,
        None => output::emit(&text)?,
    }
    Ok(Verdict::Pass)
}

impl Stage {
    fn name(self) -> &'static str {
        STAGES.iter().find(|s| s.1 == self).map_or("", |s| s.0)
    }
    /// The stage after a pass.
    fn of(pass: Pass) -> Stage {
        match pass {
            Pass::Simplify => Stage::Simplify,
            Pass::Prepare => Stage::Prepare,
            Pass::Plan => Stage::Plan,
        }
    }
}

fn first_pass(name: &str) -> Outcome<Pass> {
    let passes = [Pass::Simplify, Pass::Prepare, Pass::Plan];
    let found = passes.into_iter().find(|&p| Stage::of(p).name() == name.trim());
    found.ok_or_else(|| Failure::invalid(format!("--from {name:?}: no such graph pass"), "they are simplify, prepare and plan"))
}

/// `simplify`, `simplify,plan` or `prepare..tile` (both ends included; an end left out is the first or last), in pass order.
fn parse_stages(text: &str) -> Outcome<Vec<Stage>> {
    let find = |name: &str, otherwise: Stage| match STAGES.iter().find(|s| s.0 == name.trim()) {
        Some(s) => Ok(s.1),
        None if name.trim().is_empty() => Ok(otherwise),
        None => Err(Failure::invalid(format!("no pass {name:?}"), format!("the passes are {}", STAGES.map(|s| s.0).join(", ")))),
    };
    let mut chosen = Vec::new();
    for part in text.split(',').filter(|p| !p.trim().is_empty()) {
        let (from, to) = part.split_once("..").unwrap_or((part, part));
        let (from, to) = (find(from, Stage::Parse)?, find(to, Stage::Tile)?);
        chosen.extend(STAGES.map(|s| s.1).into_iter().filter(|s| (from..=to).contains(s)));
    }
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.is_empty() {
        return Err(Failure::invalid(format!("--passes {text:?} names no pass"), ""));
    }
    Ok(chosen)
}

fn print(stage: Stage, session: &Session, plan: Option<&Plan>) -> Outcome<String> {
    let graph = session.model.graph();
    match (stage, plan) {
        (Stage::Parse, _) => Ok(graph::text::print(graph)),
        (Stage::Simplify, _) => Ok(graph::text::print(&transform::simplify(graph, &transform::Options::default()))),
        (_, None) => Err(Error::internal("the model is not compiled").into()),
        (Stage::Prepare, Some(plan)) => Ok(graph::text::print(&plan.graph)),
        (Stage::Plan, Some(plan)) => Ok(plan.summary()),
        (Stage::Kernel, Some(plan)) => Ok(plan.to_string()),
        (Stage::Tile, Some(plan)) => Ok(programs(session, plan)),
    }
}

/// The program of each kernel for the session's sizes and device.
fn programs(session: &Session, plan: &Plan) -> String {
    let mut out = String::new();
    for kernel in &plan.kernels {
        let (dims, config) = (&session.binding.dims, &session.config);
        match driver::device_program(plan, kernel, dims, config.device, config) {
            Ok(program) => out.push_str(&format!("{program}\n")),
            Err(e) => out.push_str(&format!("{}: {e}\n", kernel.name)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        assert_eq!(parse_stages("plan,simplify").unwrap(), [Stage::Simplify, Stage::Plan]);
        assert_eq!(parse_stages("prepare..kernel").unwrap(), [Stage::Prepare, Stage::Plan, Stage::Kernel]);
        assert_eq!(parse_stages("..simplify,tile").unwrap(), [Stage::Parse, Stage::Simplify, Stage::Tile]);
        assert_eq!(parse_stages("fuse").unwrap_err().code(), 2);
        assert_eq!(parse_stages("tile..plan").unwrap_err().code(), 2);
    }
}

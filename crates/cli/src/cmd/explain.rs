//! `fuseline explain`

use driver::{Executable, Report};
use serde_json::json as object;

use crate::args::Explain;
use crate::assert::failed;
use crate::cmd::judge;
use crate::error::{Failure, Outcome, Verdict};
use crate::session::Session;
use crate::{json, output};

/// Shows the report of a model, or one of its kernels, and checks claims about it.
///
/// # Errors
/// A model that does not load or compile, an unknown kernel, a malformed claim.
pub(crate) fn explain(args: &Explain) -> Outcome<Verdict> {
    let session = Session::open_for_shapes(&args.model)?;
    let exe = session.compile()?;
    let report = exe.report(&session.binding.dims)?;
    let text = match (&args.kernel, args.json) {
        (Some(kernel), _) => one_kernel(&session, &exe, kernel, args.json)?,
        (None, true) => json::text(&report.to_json()),
        (None, false) => report.to_string(),
    };
    output::emit(&text)?;
    Ok(judge(&failed(&args.claims, &metrics(&report))?))
}

/// What claims may be about.
fn metrics(report: &Report) -> [(&'static str, f64); 6] {
    [
        ("kernels", report.kernels.len() as f64),
        ("launches", report.after.launches as f64),
        ("bytes", report.after.bytes),
        ("peak-mem", report.after.peak),
        ("nodes", report.nodes as f64),
        ("unfused-edges", report.edges.len() as f64),
    ]
}

/// What one kernel computes, and its tile program for the session's sizes.
fn one_kernel(session: &Session, exe: &Executable, wanted: &str, as_json: bool) -> Outcome<String> {
    let mut plan = exe.plan().clone();
    let kernels = std::mem::take(&mut plan.kernels);
    let at = kernels.iter().enumerate().position(|(n, k)| k.name == wanted || n.to_string() == wanted);
    let Some(at) = at else {
        let list = kernels.iter().map(|k| format!("\n  {}", k.name)).collect::<String>();
        return Err(Failure::invalid(format!("no kernel {wanted:?}"), format!("the kernels, from 0, are{list}")));
    };
    let kernel = kernels[at].clone();
    let program = match driver::tile_program(&plan, &kernel, &session.binding.dims, &session.config) {
        Ok(program) => program.to_string(),
        Err(e) => format!("no tile program: {e}"),
    };
    plan.kernels = vec![kernel.clone()];
    let comp = plan.to_string();
    Ok(if as_json {
        json::text(&object!({ "version": json::VERSION, "kernel": kernel.name, "comp": comp, "program": program }))
    } else {
        format!("{comp}\n{program}\n")
    })
}

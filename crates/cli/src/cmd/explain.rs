//! `fuseline explain`

use std::time::Instant;

use base::{Config, Error};
use driver::{Executable, Report, Roof};
use serde_json::json as object;

use crate::args::Explain;
use crate::assert::failed;
use crate::cmd::judge;
use crate::cmd::stats::Times;
use crate::error::{Failure, Outcome, Verdict};
use crate::progress::Progress;
use crate::session::Session;
use crate::{json, output};

/// Shows the report of a model, or one of its kernels, and checks claims about it.
///
/// # Errors
/// A model that does not load or compile, an unknown kernel, a malformed claim.
pub(crate) fn explain(args: &Explain) -> Outcome<Verdict> {
    let session = if args.measure { Session::open(&args.model)? } else { Session::open_for_shapes(&args.model)? };
    let exe = session.compile()?;
    let mut report = exe.report(&session.binding.dims)?;
    if args.measure {
        measure(&session, &exe, args.runs as usize, &mut report)?;
    }
    let text = match (&args.kernel, args.json) {
        (Some(kernel), _) => one_kernel(&session, &exe, kernel, args.json)?,
        (None, true) => json::text(&report.to_json()),
        (None, false) => report.to_string(),
    };
    output::emit(&text)?;
    Ok(judge(&failed(&args.claims, &metrics(&report))?))
}

/// Times kernels, whole runs of both modes, and this machine.
fn measure(session: &Session, exe: &Executable, runs: usize, report: &mut Report) -> Outcome<()> {
    let eager = session.compile_with(&Config { fuse: false, ..session.config.clone() })?;
    let _progress = Progress::start("measuring", 0);
    let (mut before, mut after) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for run in 0..=runs {
        let times = [run_time(&eager, session)?, run_time(exe, session)?];
        if run > 0 {
            before.push(times[0]);
            after.push(times[1]);
        }
    }
    let kernels = exe.profile(&session.inputs, runs)?;
    let ceilings = runtime::measure(session.config.threads)?;
    let rates = ceilings.rates.last().ok_or_else(|| Error::internal("no rates measured"))?;
    let roof = Roof {
        source: format!("measured beyond the caches, {} threads", rates.threads),
        bandwidth: rates.copy * 1e9,
        gemm_flops: rates.gemm * 1e9,
        pointwise_ops: driver::Target::cpu().pointwise_ops,
    };
    let medians = [Times::of(before).median, Times::of(after).median];
    exe.add_measured(report, &session.binding.dims, &kernels, medians, roof);
    Ok(())
}

fn run_time(exe: &Executable, session: &Session) -> Outcome<f64> {
    let start = Instant::now();
    std::hint::black_box(exe.run(&session.inputs)?);
    Ok(start.elapsed().as_secs_f64())
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

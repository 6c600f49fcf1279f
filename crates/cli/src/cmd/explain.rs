//! `fuseline explain`

use std::time::Instant;

use base::{Config, Error};
use driver::{Array, Device, Executable, Report, Roof, Target};

use crate::args::Explain;
use crate::assert::failed;
use crate::cmd::stats::Times;
use crate::cmd::{judge, kernel};
use crate::error::{Outcome, Verdict};
use crate::progress::Progress;
use crate::session::Session;
use crate::{json, output};

/// Shows the report of a model, or one of its kernels, and checks claims about it.
///
/// # Errors
/// A model that does not load or compile, an unknown kernel, a malformed claim.
pub(crate) fn explain(args: &Explain) -> Outcome<Verdict> {
    let session = if args.measure { Session::open(&args.model)? } else { Session::open_for_shapes(&args.model)? };
    if let Some(wanted) = &args.kernel {
        output::emit(&kernel::show(&session, wanted, args.json)?)?;
        if args.claims.is_empty() {
            return Ok(Verdict::Pass);
        }
    }
    let exe = session.compile()?;
    let mut report = exe.report(&session.binding.dims)?;
    if args.measure {
        measure(&session, &exe, args.runs as usize, &mut report)?;
    }
    if args.kernel.is_none() {
        output::emit(&if args.json { json::text(&report.to_json()) } else { report.to_string() })?;
    }
    Ok(judge(&failed(&args.claims, &metrics(&report))?))
}

/// Times kernels, whole runs of both modes, and the device.
fn measure(session: &Session, exe: &Executable, runs: usize, report: &mut Report) -> Outcome<()> {
    let eager = session.compile_with(&Config { fuse: false, ..session.config.clone() })?;
    let _progress = Progress::start("measuring", 0);
    let inputs = session.on_device(exe)?;
    let (mut before, mut after) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for run in 0..=runs {
        let times = [run_time(&eager, &inputs)?, run_time(exe, &inputs)?];
        if run > 0 {
            before.push(times[0]);
            after.push(times[1]);
        }
    }
    let kernels = exe.profile(&session.inputs, runs)?;
    let roof = roof(exe.device(), session.config.threads)?;
    let medians = [Times::of(before).median, Times::of(after).median];
    exe.add_measured(report, &session.binding.dims, &kernels, medians, roof);
    Ok(())
}

fn run_time(exe: &Executable, inputs: &[Array]) -> Outcome<f64> {
    let start = Instant::now();
    std::hint::black_box(exe.run_arrays(inputs)?);
    exe.device().synchronize()?;
    Ok(start.elapsed().as_secs_f64())
}

/// What the device reaches, measured.
fn roof(device: &Device, threads: usize) -> Outcome<Roof> {
    let Some(info) = device.info() else {
        let ceilings = runtime::measure(threads)?;
        let rates = ceilings.rates.last().ok_or_else(|| Error::internal("no rates measured"))?;
        return Ok(Roof {
            source: format!("measured beyond the caches, {} threads", rates.threads),
            bandwidth: rates.copy * 1e9,
            gemm_flops: rates.gemm * 1e9,
            pointwise_ops: Target::cpu().pointwise_ops,
        });
    };
    let (rates, assumed) = (runtime::cuda::measure(device)?, Target::cuda());
    let product = if rates.gemm.is_some() { ", products in bf16" } else { "; products assumed" };
    Ok(Roof {
        source: format!("measured on {} beyond its caches{product}", info.name),
        bandwidth: rates.copy * 1e9,
        gemm_flops: rates.gemm.map_or(assumed.gemm_flops, |g| g * 1e12),
        pointwise_ops: assumed.pointwise_ops,
    })
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

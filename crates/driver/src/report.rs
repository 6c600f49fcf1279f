//! What a plan does, what it saves, and why the rest was not fused.
//!
//! Bytes, launches and memory are counted for given sizes from the plan; times are predictions of the cost model, beside
//! measured ones where there are some.

use std::collections::BTreeMap;
use std::time::Duration;

use base::{Config, Remark, Result};
use fuse::{Plan, Sizes, Step, Storage};
use graph::NodeId;
use kernel::{Bound, Target};
use scalar::Var;

use crate::compile::passes;
use crate::executable::Executable;
use crate::instance::root;

/// Sums over a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Kernels per run.
    pub launches: usize,
    /// Bytes read and written per run.
    pub bytes: f64,
    /// Most bytes of live intermediate and output buffers.
    pub peak: f64,
    /// Predicted seconds.
    pub time: f64,
    /// Seconds of a run, if measured.
    pub measured: Option<f64>,
}

/// The rates that a kernel is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// Where the rates come from.
    pub source: String,
    /// Bytes per second to and from memory.
    pub bandwidth: f64,
    /// FLOP per second of contractions.
    pub gemm_flops: f64,
    /// Cheap pointwise operations per second.
    pub pointwise_ops: f64,
}

impl Roof {
    /// The rates that plans are made with.
    fn assumed(target: &Target) -> Roof {
        Roof {
            source: format!("assumed for target {}", target.name),
            bandwidth: target.bandwidth,
            gemm_flops: target.gemm_flops,
            pointwise_ops: target.pointwise_ops,
        }
    }
    /// Seconds of a kernel at full rate: what memory traffic takes, or what arithmetic takes, whichever is longer.
    fn seconds(&self, s: &kernel::Summary) -> f64 {
        (s.bytes() / self.bandwidth).max(s.ops / self.pointwise_ops + s.contract_flops / self.gemm_flops)
    }
}

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelReport {
    /// Name.
    pub name: String,
    /// Class.
    pub class: String,
    /// User ops with their sources, in order.
    pub ops: Vec<String>,
    /// Graph nodes computed.
    pub nodes: usize,
    /// Bytes read.
    pub read: f64,
    /// Bytes written.
    pub written: f64,
    /// Floating-point operations.
    pub flops: f64,
    /// Largest term of the prediction.
    pub bound: Bound,
    /// Predicted seconds.
    pub time: f64,
    /// Runs once, at load.
    pub once: bool,
    /// Seconds at the rates of the report's roof.
    pub roofline: f64,
    /// Seconds, if measured.
    pub measured: Option<f64>,
}

/// An edge that stayed unfused.
pub type EdgeReport = Remark;

/// The report of one executable for one binding of the dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Model name.
    pub model: String,
    /// Dimensions.
    pub dims: BTreeMap<String, i64>,
    /// Graph nodes before any pass.
    pub nodes: usize,
    /// The rates behind [`KernelReport::roofline`].
    pub roof: Roof,
    /// One kernel per user op.
    pub before: Totals,
    /// The plan.
    pub after: Totals,
    /// Kernels in order.
    pub kernels: Vec<KernelReport>,
    /// Edges between kernels, most bytes first.
    pub edges: Vec<EdgeReport>,
}

impl Executable {
    /// The report for given dimensions; dimensions that are not given take the plan's representative sizes.
    ///
    /// # Errors
    /// When the unfused plan, which is the baseline, cannot be made.
    pub fn report(&self, dims: &BTreeMap<Var, i64>) -> Result<Report> {
        let plan = self.plan();
        let sizes = Sizes::new(&plan.graph.facts, dims.clone());
        let eager = Config { fuse: false, ..self.config.clone() };
        let before = passes(&self.source, dims, &self.target, &eager)?.plan;
        let vars: std::collections::BTreeSet<Var> =
            self.source.inputs.iter().flat_map(|d| d.ty.shape.iter().flat_map(scalar::Sym::vars)).collect();
        Ok(Report {
            model: self.source.name.clone(),
            dims: vars.into_iter().map(|v| (v.name().to_owned(), sizes.dim(v))).collect(),
            nodes: self.source.nodes.len() - self.source.inputs.len(),
            roof: Roof::assumed(&self.target),
            before: totals(&before, &sizes, &self.target),
            after: totals(plan, &sizes, &self.target),
            kernels: self.kernel_reports(dims),
            edges: fuse::unfused(plan, &sizes, &self.target, &self.config),
        })
    }

    /// What each kernel of the plan does for given dimensions.
    pub fn kernel_reports(&self, dims: &BTreeMap<Var, i64>) -> Vec<KernelReport> {
        let sizes = Sizes::new(&self.plan().graph.facts, dims.clone());
        self.plan().kernels.iter().map(|k| self.kernel_report(k, &sizes)).collect()
    }

    fn kernel_report(&self, k: &fuse::Kernel, sizes: &Sizes) -> KernelReport {
        let summary = summary(k, sizes, &self.target);
        let predicted = kernel::estimate(&summary, &self.target);
        KernelReport {
            name: k.name.clone(),
            class: format!("{:?}", k.class).to_lowercase(),
            ops: self.sources_of(&k.members),
            nodes: k.members.len(),
            read: summary.read,
            written: summary.written,
            flops: summary.flops(),
            bound: predicted.bound,
            time: predicted.time,
            once: k.once,
            roofline: Roof::assumed(&self.target).seconds(&summary),
            measured: None,
        }
    }

    /// Puts measured times into a report of this executable: of each kernel, and of whole runs with one kernel per op and
    /// fused; kernels are held against `roof`.
    pub fn add_measured(&self, report: &mut Report, dims: &BTreeMap<Var, i64>, kernels: &[Duration], runs: [f64; 2], roof: Roof) {
        let sizes = Sizes::new(&self.plan().graph.facts, dims.clone());
        for ((k, time), shown) in self.plan().kernels.iter().zip(kernels).zip(&mut report.kernels) {
            shown.measured = (!k.once).then_some(time.as_secs_f64());
            shown.roofline = roof.seconds(&summary(k, &sizes, &self.target));
        }
        (report.before.measured, report.after.measured) = (Some(runs[0]), Some(runs[1]));
        report.roof = roof;
    }
}

fn summary(k: &fuse::Kernel, sizes: &Sizes, target: &Target) -> kernel::Summary {
    match &k.step {
        Step::Comps(parts) => {
            let mut all = parts.iter().map(|p| fuse::summarise(&p.built.comp, sizes, target));
            let first = all.next().unwrap_or_default();
            all.fold(first, |s, other| s.beside(&other))
        }
        Step::Opaque(_) => k.summary,
    }
}

fn totals(plan: &Plan, sizes: &Sizes, target: &Target) -> Totals {
    let mut t = Totals { peak: peak(plan, sizes), ..Totals::default() };
    for k in plan.kernels.iter().filter(|k| !k.once) {
        let s = summary(k, sizes, target);
        t.launches += 1;
        t.bytes += s.bytes();
        t.time += kernel::estimate(&s, target).time;
    }
    t
}

/// Most bytes of buffers alive at once, inputs and weights aside.
fn peak(plan: &Plan, sizes: &Sizes) -> f64 {
    let bytes = |v: NodeId| {
        let ty = plan.graph.tensor(v);
        sizes.elements(&ty.shape) * ty.dtype.size() as f64
    };
    let mut last: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (n, k) in plan.kernels.iter().enumerate() {
        k.step.args(&plan.graph).into_iter().chain(k.outputs.iter().copied()).for_each(|v| {
            last.insert(root(plan, v), n);
        });
    }
    for o in &plan.outputs {
        last.insert(root(plan, o.base), usize::MAX);
    }
    let mut live: BTreeMap<NodeId, f64> = BTreeMap::new();
    let mut peak = 0.0f64;
    for (n, k) in plan.kernels.iter().enumerate() {
        for &v in &k.outputs {
            let r = root(plan, v);
            if !matches!(plan.storage.get(&r), Some(Storage::Input(_))) {
                live.insert(r, bytes(r));
            }
        }
        peak = peak.max(live.values().sum());
        live.retain(|v, _| last.get(v).is_none_or(|&l| l > n));
    }
    peak
}

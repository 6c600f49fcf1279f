//! What a plan does, what it saves, and why the rest was not fused.
//!
//! Bytes, launches and memory are counted for given sizes from the plan; times are predictions of the cost model unless
//! a caller measures.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

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
        let kernels: Vec<KernelReport> = self.kernels().map(|(k, _)| self.kernel_report(k, &sizes)).collect();
        let vars: std::collections::BTreeSet<Var> =
            self.source.inputs.iter().flat_map(|d| d.ty.shape.iter().flat_map(scalar::Sym::vars)).collect();
        Ok(Report {
            model: self.source.name.clone(),
            dims: vars.into_iter().map(|v| (v.name().to_owned(), sizes.dim(v))).collect(),
            nodes: self.source.nodes.len() - self.source.inputs.len(),
            before: totals(&before, &sizes, &self.target),
            after: totals(plan, &sizes, &self.target),
            kernels,
            edges: fuse::unfused(plan, &self.target, &self.config),
        })
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
            measured: None,
        }
    }
}

fn summary(k: &fuse::Kernel, sizes: &Sizes, target: &Target) -> kernel::Summary {
    match &k.step {
        Step::Comp(b) => fuse::summarise(&b.comp, sizes, target),
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
        let args: Vec<NodeId> = match &k.step {
            Step::Comp(b) => b.args.clone(),
            Step::Opaque(node) => plan.graph.node(*node).args.to_vec(),
        };
        args.into_iter().chain(k.outputs.iter().copied()).for_each(|v| {
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

/// `412 MB`, `8.0 kB`.
fn si_bytes(b: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    units.iter().find(|(u, _)| b >= *u).map_or_else(|| format!("{b:.0} B"), |(u, n)| format!("{:.1} {n}", b / u))
}

fn si_count(n: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    units.iter().find(|(u, _)| n >= *u).map_or_else(|| format!("{n:.0}"), |(u, s)| format!("{:.1} {s}", n / u))
}

/// Edges shown in the text form.
const EDGES_SHOWN: usize = 8;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let at = if dims.is_empty() { String::new() } else { format!(" at {}", dims.join(", ")) };
        writeln!(f, "{}{at}: {} nodes → {} kernels", self.model, self.nodes, self.kernels.len())?;
        writeln!(
            f,
            "launches {} → {}   bytes moved {} → {}   peak memory {} → {}   (counted; before: one kernel per op)",
            self.before.launches,
            self.after.launches,
            si_bytes(self.before.bytes),
            si_bytes(self.after.bytes),
            si_bytes(self.before.peak),
            si_bytes(self.after.peak),
        )?;
        writeln!(
            f,
            "predicted {:.2} ms → {:.2} ms (assumed rates of target cpu)\n",
            self.before.time * 1e3,
            self.after.time * 1e3
        )?;
        writeln!(f, "{:<44} {:<11} {:>9} {:>9} {:>9} {:>8}  bound", "kernel", "class", "read", "written", "flops", "µs")?;
        for k in &self.kernels {
            writeln!(f, "{}", kernel_line(k))?;
        }
        if !self.edges.is_empty() {
            writeln!(f, "\nmost expensive edges that stayed unfused")?;
        }
        for e in self.edges.iter().take(EDGES_SHOWN) {
            writeln!(f, "  {:?} {} → {} ({}): {}", e.code, e.places[0], e.places[1], si_bytes(e.bytes as f64), e.message)?;
            if !e.hint.is_empty() {
                writeln!(f, "      hint: {}", e.hint)?;
            }
        }
        let hidden = self.edges.len().saturating_sub(EDGES_SHOWN);
        if hidden > 0 {
            writeln!(f, "  … and {hidden} more (--json lists all)")?;
        }
        Ok(())
    }
}

fn kernel_line(k: &KernelReport) -> String {
    let mut out = String::new();
    let name: String = k.name.chars().take(44).collect();
    let once = if k.once { " (once, at load)" } else { "" };
    let _ = write!(
        out,
        "{name:<44} {:<11} {:>9} {:>9} {:>9} {:>8.1}  {:?}{once}",
        k.class,
        si_bytes(k.read),
        si_bytes(k.written),
        si_count(k.flops),
        k.measured.unwrap_or(k.time) * 1e6,
        k.bound,
    );
    for op in &k.ops {
        let _ = write!(out, "\n    · {op}");
    }
    out
}

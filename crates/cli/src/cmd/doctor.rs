//! `fuseline doctor`

use std::fmt::Write as _;

use runtime::{Caches, Ceilings};
use serde_json::{Map, Value, json as object};

use crate::args::Doctor;
use crate::cmd::gpu::GpuSide;
use crate::error::{Outcome, Verdict};
use crate::progress::Progress;
use crate::{json, output};

/// Environment variables that Fuseline reads.
const VARIABLES: [&str; 12] = [
    "FUSELINE_NOFUSE",
    "FUSELINE_DEVICE",
    "FUSELINE_THREADS",
    "FUSELINE_FUEL",
    "FUSELINE_TUNE",
    "FUSELINE_LOG",
    "FUSELINE_DUMP",
    "FUSELINE_NUMERICS",
    "FUSELINE_CACHE",
    "FUSELINE_CUDA_PATH",
    "FUSELINE_SYNC",
    "FUSELINE_WATCH",
];

/// What the machine has.
struct Machine {
    caches: Caches,
    cores: usize,
    /// Bytes.
    memory: Option<u64>,
    huge_pages: String,
    plan_cache: String,
    variables: Vec<(&'static str, String)>,
    ceilings: Option<Ceilings>,
    gpu: GpuSide,
}

/// Describes the machine and measures it.
///
/// # Errors
/// Out of memory while measuring, or an environment variable that does not parse.
pub(crate) fn doctor(args: &Doctor) -> Outcome<Verdict> {
    let machine = Machine::look(args)?;
    output::emit(&if args.json { json::text(&machine.document()) } else { machine.text() })?;
    base::Config::from_env()?;
    Ok(Verdict::Pass)
}

impl Machine {
    fn look(args: &Doctor) -> Outcome<Machine> {
        let ceilings = if args.quick {
            None
        } else {
            let _progress = Progress::start("measuring", 0);
            Some(runtime::measure(args.threads)?)
        };
        let config = base::Config::from_env();
        let config = config.unwrap_or_else(|_| base::Config { cuda: base::CudaConfig::from_env(), ..base::Config::default() });
        let set = |name: &&'static str| std::env::var(name).ok().map(|v| (*name, v));
        Ok(Machine {
            caches: Caches::of_this_machine(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: total_memory(),
            huge_pages: huge_pages(),
            plan_cache: driver::describe_cache(&config),
            variables: VARIABLES.iter().filter_map(set).collect(),
            ceilings,
            gpu: GpuSide::look(&config, args.quick),
        })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<12} {value}");
        };
        let bytes = |n: usize| if n >= 1 << 20 { format!("{} MiB", n >> 20) } else { format!("{} KiB", n >> 10) };
        row("fuseline", format!("{} ({} {})", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS));
        row("cpu", runtime::model());
        row("isa", runtime::isa().to_owned());
        row("cores", self.cores.to_string());
        row("caches", format!("L1 {}, L2 {}, L3 {}", bytes(self.caches.l1), bytes(self.caches.l2), bytes(self.caches.l3)));
        row("memory", self.memory.map_or_else(|| "unknown".into(), |m| format!("{:.1} GiB", m as f64 / f64::from(1 << 30))));
        row("huge pages", self.huge_pages.clone());
        row("plan cache", self.plan_cache.clone());
        let set = self.variables.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>();
        row("environment", if set.is_empty() { "no FUSELINE_ variables set".into() } else { set.join(" ") });
        if let Some(c) = &self.ceilings {
            let fma =
                c.fma.map_or_else(String::new, |f| format!("; multiply-adds out of registers {f:.0} GFLOP/s on one thread"));
            row("measured", format!("beyond the caches, f32{fma}"));
            let _ = writeln!(out, "{:>20} {:>10} {:>10} {:>13}", "threads", "copy GB/s", "read GB/s", "GEMM GFLOP/s");
            for r in &c.rates {
                let _ = writeln!(out, "{:>20} {:>10.1} {:>10.1} {:>13.1}", r.threads, r.copy, r.read, r.gemm);
            }
        }
        for (name, value) in self.gpu.rows() {
            let _ = writeln!(out, "{name:<12} {value}");
        }
        out
    }

    fn document(&self) -> Value {
        let variables: Map<String, Value> = self.variables.iter().map(|(n, v)| ((*n).to_owned(), v.clone().into())).collect();
        let rates = self.ceilings.iter().flat_map(|c| &c.rates).map(
            |r| object!({ "threads": r.threads, "copy_gb_per_s": r.copy, "read_gb_per_s": r.read, "gemm_gflop_per_s": r.gemm }),
        );
        object!({
            "version": json::VERSION,
            "fuseline": env!("CARGO_PKG_VERSION"),
            "arch": std::env::consts::ARCH,
            "cpu": runtime::model(),
            "isa": runtime::isa(),
            "cores": self.cores,
            "cache_bytes": { "l1": self.caches.l1, "l2": self.caches.l2, "l3": self.caches.l3 },
            "memory_bytes": self.memory,
            "huge_pages": self.huge_pages,
            "plan_cache": self.plan_cache,
            "environment": variables,
            "fma_gflop_per_s": self.ceilings.as_ref().and_then(|c| c.fma),
            "rates": rates.collect::<Vec<_>>(),
            "gpu": self.gpu.document(),
        })
    }
}

/// Bytes of memory that the system has.
fn total_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// The policy that the system marks with brackets: `always`, `madvise` (both give the memory pool huge pages) or `never`.
fn huge_pages() -> String {
    let text = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let marked = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    marked.map_or_else(|| "unknown".into(), |(policy, _)| policy.to_owned())
}

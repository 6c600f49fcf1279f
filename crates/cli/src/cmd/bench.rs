//! `fuseline bench`

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use base::{Config, Error};
use driver::{Array, Executable};
use serde_json::{Value, json as object};

use crate::args::Bench;
use crate::assert::failed;
use crate::cmd::judge;
use crate::cmd::stats::{Times, ratio};
use crate::error::{Outcome, Verdict};
use crate::progress::Progress;
use crate::session::Session;
use crate::term::{Style, warn};
use crate::{json, output};

/// Fewer runs than this say little.
const ENOUGH_RUNS: usize = 10;

/// One compiled mode, and what it cost to get there.
struct Contender {
    name: &'static str,
    exe: Executable,
    inputs: Vec<Array>,
    /// Seconds to compile.
    compile: f64,
    /// Seconds of the first run: lowering, packing of weights, kernels that run once.
    first: f64,
    memory: Memory,
}

/// Most bytes that a run takes beside its inputs and weights.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// As planned before it runs; `None` for a plan that needs more than launches.
    planned: Option<usize>,
    /// As the pool saw it.
    seen: usize,
    /// What recordings keep.
    recorded: usize,
}

impl Memory {
    /// Measures a run.
    fn of(exe: &Executable, inputs: &[Array]) -> Outcome<Memory> {
        let pool = exe.device().pool();
        let planned = exe.call_memory(inputs)?.map(|m| m.peak());
        pool.trim();
        pool.reset_peak();
        let before = pool.stats().allocated;
        black_box(exe.run_arrays(inputs)?);
        Ok(Memory { planned, seen: pool.stats().peak - before, recorded: 0 })
    }

    fn text(&self) -> String {
        let bytes = |n: usize| driver::bytes_text(n as f64);
        let planned = self.planned.map_or("not planned".to_owned(), |n| format!("{} planned", bytes(n)));
        let kept = if self.recorded > 0 { format!("; recordings keep {}", bytes(self.recorded)) } else { String::new() };
        format!("memory of a run: {planned}, {} seen{kept}", bytes(self.seen))
    }
}

/// Times fused against eager execution in alternation.
///
/// # Errors
/// A model or inputs that do not load, compile or run; a malformed claim; a file that cannot be written.
pub(crate) fn bench(args: &Bench) -> Outcome<Verdict> {
    let session = Session::open(&args.model)?;
    let is_tuned = session.config.tune.is_some();
    let mut fused = contender(if is_tuned { "tuned" } else { "fused" }, &session, true)?;
    let eager = contender("eager", &session, false)?;
    if is_tuned && !fused.exe.device().is_cuda() {
        warn("schedules are chosen by time on a GPU only; use --device cuda");
    }
    let runs = args.runs as usize;
    if runs < ENOUGH_RUNS {
        warn(&format!("{runs} runs say little; use --runs {ENOUGH_RUNS} or more"));
    }
    let (f, e) = interleave(&fused, &eager, args.warmup, runs)?;
    fused.memory.recorded = fused.exe.recordings().bytes;
    let document = document(&session, [(&fused, &f), (&eager, &e)]);
    if let Some(path) = &args.export_json {
        std::fs::write(path, json::text(&document)).map_err(|e| Error::from(e).context(path.display().to_string()))?;
    }
    output::emit(&if args.json { json::text(&document) } else { table([(&fused, &f), (&eager, &e)]) })?;
    let metrics = [
        ("speedup", ratio(&e, &f).0),
        ("fused-ms", f.median * 1e3),
        ("eager-ms", e.median * 1e3),
        ("compile-ms", fused.compile * 1e3),
    ];
    Ok(judge(&failed(&args.claims, &metrics)?))
}

fn contender(name: &'static str, session: &Session, fuse: bool) -> Outcome<Contender> {
    let (replay, tune) = (fuse && session.config.replay, session.config.tune.filter(|_| fuse));
    let config = Config { fuse, replay, tune, ..session.config.clone() };
    let start = Instant::now();
    let exe = session.compile_with(&config)?;
    let compile = start.elapsed().as_secs_f64();
    let inputs = session.on_device(&exe)?;
    let mut made = Contender { name, exe, inputs, compile, first: 0.0, memory: Memory::default() };
    let _progress = Progress::start(format!("first {name} run"), 0);
    made.first = made.time()?;
    made.memory = Memory::of(&made.exe, &made.inputs)?;
    Ok(made)
}

impl Contender {
    /// Seconds of one run, until its results are there.
    fn time(&self) -> Outcome<f64> {
        let start = Instant::now();
        black_box(self.exe.run_arrays(&self.inputs)?);
        self.exe.device().synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Alternates the two, so that drift of the machine meets both; who goes first alternates too.
fn interleave(a: &Contender, b: &Contender, warmup: usize, runs: usize) -> Outcome<(Times, Times)> {
    let progress = Progress::start("timing", (warmup + runs) as u64);
    let (mut of_a, mut of_b) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for n in 0..warmup + runs {
        let (ta, tb) = if n % 2 == 0 {
            let first = a.time()?;
            (first, b.time()?)
        } else {
            let first = b.time()?;
            (a.time()?, first)
        };
        if n >= warmup {
            of_a.push(ta);
            of_b.push(tb);
        }
        progress.step();
    }
    Ok((Times::of(of_a), Times::of(of_b)))
}

fn table(contenders: [(&Contender, &Times); 2]) -> String {
    let style = Style::stdout();
    let mut out = format!("{:<8} {:>12} {:>12} {:>12} {:>9}\n", "", "median", "min", "p90", "kernels");
    for (c, t) in contenders {
        let kernels = c.exe.plan().kernels.iter().filter(|k| !k.once).count();
        let (median, min, p90) = (seconds(t.median), seconds(t.min), seconds(t.p90));
        let _ = writeln!(out, "{:<8} {median:>12} {min:>12} {p90:>12} {kernels:>9}", c.name);
    }
    let [(a, f), (b, e)] = contenders;
    let (winner, loser, (times, deviation)) =
        if f.mean <= e.mean { (a.name, b.name, ratio(e, f)) } else { (b.name, a.name, ratio(f, e)) };
    for (c, _) in contenders {
        let _ = writeln!(out, "{:<8} {}", c.name, c.memory.text());
    }
    let line = format!("{winner} ran {times:.2} ± {deviation:.2} times faster than {loser}");
    let _ = writeln!(out, "\n{}  ({} runs each, in alternation)", style.bold(&line), f.all.len());
    for (c, _) in contenders {
        let passes = c.exe.timing().iter().map(|(pass, t)| format!("{pass} {}", seconds(t.as_secs_f64())));
        let passes = passes.collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "{}: compile, cold {} ({passes}); first run {}", c.name, seconds(c.compile), seconds(c.first));
    }
    out
}

fn document(session: &Session, contenders: [(&Contender, &Times); 2]) -> Value {
    let dims: serde_json::Map<String, Value> =
        session.binding.dims.iter().map(|(v, n)| (v.name().to_owned(), Value::from(*n))).collect();
    let [(_, f), (_, e)] = contenders;
    let (speedup, deviation) = ratio(e, f);
    let [fused, eager] = contenders.map(|(c, t)| mode(c, t));
    object!({
        "version": json::VERSION,
        "model": session.model.graph().name,
        "dims": dims,
        "device": contenders[0].0.exe.device().id().to_string(),
        "threads": contenders[0].0.exe.device().as_cpu().map(|cpu| cpu.threads().threads()),
        "mode": contenders[0].0.name,
        "runs": f.all.len(),
        "fused": fused,
        "eager": eager,
        "speedup": speedup,
        "speedup_deviation": deviation,
    })
}

fn mode(c: &Contender, t: &Times) -> Value {
    let passes: serde_json::Map<String, Value> =
        c.exe.timing().iter().map(|(pass, time)| ((*pass).to_owned(), Value::from(time.as_secs_f64()))).collect();
    object!({
        "kernels": c.exe.plan().kernels.len(),
        "median_seconds": t.median,
        "min_seconds": t.min,
        "p90_seconds": t.p90,
        "mean_seconds": t.mean,
        "deviation_seconds": t.deviation,
        "times_seconds": t.all,
        "compile_seconds": c.compile,
        "pass_seconds": passes,
        "first_run_seconds": c.first,
        "planned_bytes": c.memory.planned,
        "pool_bytes": c.memory.seen,
        "recorded_bytes": c.memory.recorded,
    })
}

/// `12.3 ms`, with a unit that gives few digits.
fn seconds(s: f64) -> String {
    match s {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

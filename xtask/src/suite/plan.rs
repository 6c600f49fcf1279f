//! The programs of `tests/files/plan` and `tests/files/cuda`: every mode against the interpreter, symbolic ones at several sizes.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use base::{Config, Convolutions, DeviceId, Error, Numerics, Result};
use driver::Executable;
use graph::{Graph, HostTensor, interp, text};
use scalar::Var;
use testing::tolerance::Tolerance;

use super::Context;
use super::compare::{difference, is_pointwise, loose};
use super::outcome::Outcome;
use super::values::{BELOW, arguments, given, module, replayed, run};

/// Extents of symbols; one that costs more than [`LIMIT`] or [`TRAFFIC`] is halved until it does not.
const SIZES: [i64; 5] = [0, 1, 7, 128, 1000];
/// Extent of the batch where a graph has another symbol too.
const BATCH: i64 = 2;
/// Operations of a run at a size of our choice.
const LIMIT: f64 = 3e9;
/// Bytes that such a run may read and write.
const TRAFFIC: f64 = 64e6;
/// Operations that the interpreter may do for one run; beyond that the CPU, one kernel per op, gives the wanted results.
const INTERPRETED: f64 = 1e9;

/// How a program is compiled.
struct Mode {
    name: &'static str,
    fuse: bool,
    replay: bool,
    numerics: Numerics,
}

const MODES: [Mode; 4] = [
    Mode { name: "fused", fuse: true, replay: false, numerics: Numerics::Eager },
    Mode { name: "unfused", fuse: false, replay: false, numerics: Numerics::Eager },
    Mode { name: "wide", fuse: true, replay: false, numerics: Numerics::Wide },
    Mode { name: "recorded", fuse: true, replay: true, numerics: Numerics::Eager },
];

/// The graph of a file of `plan` or `cuda`.
///
/// # Errors
/// A file that cannot be read, or does not parse.
pub(crate) fn read(files: &Path, stage: &str, name: &str) -> Result<Graph> {
    text::parse(name, &body(files, stage, name)?)
}

/// The program of a file, without the header and the expected output.
fn body(files: &Path, stage: &str, name: &str) -> Result<String> {
    let path = files.join(stage).join(name);
    let file = std::fs::read_to_string(&path).map_err(|e| Error::io(format!("{}: {e}", path.display())))?;
    let head = file.split_once("----\n").map_or(&*file, |(head, _)| head);
    Ok(head.split_once('\n').map_or("", |(_, body)| body).to_owned())
}

/// Checks one file of a stage; `# clusters no` in it means a GPU without them, `# convolutions no` one without cuDNN.
///
/// # Errors
/// A file that cannot be read; a program that does not compile.
pub(crate) fn check(context: &Context, stage: &str, name: &str) -> Result<Outcome> {
    let body = body(&context.files, stage, name)?;
    let mut config = context.config.clone();
    let has = |what: &str| !body.lines().any(|line| line == format!("# {what} no"));
    config.cuda.clusters &= has("clusters");
    config.cuda.f8_products &= has("f8_products");
    if !has("convolutions") {
        config.cuda.convolutions = Convolutions::Loops;
    }
    let program = Program::new(&config, text::parse(name, &body)?)?;
    let mut complaints = Vec::new();
    let mut checks = 0;
    for n in program.sizes()? {
        checks += program.check(n, &mut complaints)?;
    }
    Ok(Outcome::of(checks, complaints, || text::print(&program.graph)))
}

/// A program, compiled in every mode.
struct Program {
    graph: Graph,
    symbols: BTreeSet<Var>,
    modes: Vec<(&'static str, Numerics, Executable)>,
    /// One kernel per op on the CPU.
    cpu: OnceCell<Executable>,
    pointwise: bool,
    tolerance: Tolerance,
}

impl Program {
    fn new(config: &Config, graph: Graph) -> Result<Program> {
        let frozen = module(&graph, &arguments(&graph, &|_| Some(1), 1, 0)?);
        let compile = |m: &Mode| {
            let config = Config { fuse: m.fuse, replay: m.replay, numerics: m.numerics, ..config.clone() };
            let executable = driver::compile(&frozen, &config).map_err(|e| e.context(format!("compiling {}", m.name)))?;
            Ok((m.name, m.numerics, executable))
        };
        let on_gpu = config.device != DeviceId::Cpu;
        let modes = MODES.iter().filter(|m| on_gpu || !m.replay).map(compile).collect::<Result<_>>()?;
        let symbols = graph.inputs.iter().flat_map(|d| d.ty.shape.iter().flat_map(|s| s.vars())).collect();
        let (pointwise, tolerance) = (is_pointwise(&graph), loose(&graph));
        Ok(Program { graph, symbols, modes, cpu: OnceCell::new(), pointwise, tolerance })
    }

    /// The extent of a symbol at a size; `p` and `q` name doubled extents in row 34.
    fn extent(&self, symbol: Var, n: i64) -> i64 {
        match symbol {
            s if s == Var::new("b") && self.symbols.len() > 1 => BATCH,
            s if s == Var::new("p") || s == Var::new("q") => 2 * n,
            _ => n,
        }
    }

    /// Operations of a run, and the bytes that it reads and writes.
    fn cost(&self, n: i64) -> Result<(f64, f64)> {
        let dims = self.symbols.iter().map(|&v| (v, self.extent(v, n))).collect();
        let kernels = self.modes[0].2.report(&dims)?.kernels;
        Ok((kernels.iter().map(|k| k.flops).sum(), kernels.iter().map(|k| k.read + k.written).sum()))
    }

    /// Sizes to run at; only one where nothing is symbolic.
    fn sizes(&self) -> Result<BTreeSet<i64>> {
        if self.symbols.is_empty() {
            return Ok(BTreeSet::from([0]));
        }
        SIZES.iter().map(|&n| self.affordable(n)).collect()
    }

    fn affordable(&self, mut n: i64) -> Result<i64> {
        loop {
            let (operations, bytes) = self.cost(n)?;
            if n <= 1 || (operations <= LIMIT && bytes <= TRAFFIC) {
                return Ok(n);
            }
            n /= 2;
        }
    }

    /// Compares every mode at one size; the number of comparisons.
    fn check(&self, n: i64, complaints: &mut Vec<String>) -> Result<usize> {
        let (all, want) = self.wanted(n)?;
        let given = given(&self.graph, &all);
        let place = if self.symbols.is_empty() { String::new() } else { format!(" at {n}") };
        let mut results = Vec::new();
        for (name, numerics, executable) in &self.modes {
            let got = if *name == "recorded" { replayed(executable, &given) } else { run(executable, &given) };
            let wide = *numerics == Numerics::Wide && want.is_ok() && self.interpreted(n)?;
            let wide = wide.then(|| interp::run(&self.graph, &all, interp::Options { wide: true })).transpose()?;
            let complaint = match (&want, &got) {
                (Ok(want), Ok(got)) => difference(wide.as_ref().unwrap_or(want), got, self.tolerance),
                (Ok(_), Err(e)) => Some(e.to_string()),
                (Err(e), Ok(_)) => Some(format!("has results where the interpreter refuses: {e}")),
                (Err(_), Err(_)) => None,
            };
            complaints.extend(complaint.map(|c| format!("{name}{place}: {c}")));
            results.push(got);
        }
        if let (true, Ok(fused), Ok(unfused)) = (self.pointwise, &results[0], &results[1]) {
            let complaint = difference(unfused, fused, Tolerance::Exact);
            complaints.extend(complaint.map(|c| format!("fused is not unfused{place}: {c}")));
        }
        Ok(results.len())
    }

    fn interpreted(&self, n: i64) -> Result<bool> {
        Ok(self.cost(n)?.0 <= INTERPRETED)
    }

    /// Arguments with the widest range of integers that the oracle accepts, and its results; its error where it accepts none.
    fn wanted(&self, n: i64) -> Result<(Vec<HostTensor>, Result<Vec<HostTensor>>)> {
        let interpreted = self.interpreted(n)?;
        let mut last = None;
        for below in BELOW {
            let all = arguments(&self.graph, &|v| Some(self.extent(v, n)), below, n as u64)?;
            let want = if interpreted {
                interp::run(&self.graph, &all, interp::Options::default())
            } else {
                run(self.cpu(&all)?, &given(&self.graph, &all))
            };
            if want.is_ok() {
                return Ok((all, want));
            }
            last = Some((all, want));
        }
        last.ok_or_else(|| Error::internal("no ranges to try"))
    }

    fn cpu(&self, all: &[HostTensor]) -> Result<&Executable> {
        if let Some(cpu) = self.cpu.get() {
            return Ok(cpu);
        }
        let config = Config { fuse: false, device: DeviceId::Cpu, ..Config::default() };
        let made = driver::compile(&module(&self.graph, all), &config)?;
        Ok(self.cpu.get_or_init(|| made))
    }
}

//! One plan serves every size: the graphs of golden row 35 are compiled once each and run at several extents of their
//! symbols, empty ones among them, against the interpreter, or against one kernel per op where that takes too long.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Config, Result};
use driver::Executable;
use graph::{Frozen, Graph, HostTensor, InputDecl, Module, interp, text};
use scalar::Var;
use testing::tolerance::{Tolerance, compare};

/// Extents that every graph runs at; one that costs more than [`LIMIT`] or [`TRAFFIC`] is halved until it does not.
const SIZES: [i64; 5] = [0, 1, 7, 128, 1000];
/// Extent of the batch where a graph has another symbol too.
const BATCH: i64 = 2;
/// Operations that the interpreter may do for one run.
const INTERPRETED: f64 = 6e7;
/// Operations of a run.
const LIMIT: f64 = 3e9;
/// Bytes that a run may read and write.
const TRAFFIC: f64 = 64e6;
/// Contractions sum up to thousands of products in another order than the interpreter.
const WITHIN: Tolerance = Tolerance::Close { factor: 20.0 };

fn graphs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/plan");
    let paths = fs::read_dir(folder).expect("the folder exists").map(|e| e.expect("the folder is readable").path());
    let row = |p: &PathBuf| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("35_"));
    paths.filter(row).collect::<BTreeSet<_>>().into_iter().collect()
}

/// A seeded generator of values in [0, 1).
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    /// A tensor for an input: frozen floats are positive, as variances must be; integers are 0 or 1.
    fn tensor(&mut self, decl: &InputDecl, shape: &[usize]) -> HostTensor {
        let mut value = || match (decl.ty.dtype.is_float(), decl.frozen) {
            (true, true) => self.next() + 0.1,
            (true, false) => 2.0 * self.next() - 1.0,
            (false, _) => (2.0 * self.next()).floor(),
        };
        let values: Vec<f64> = (0..shape.iter().product()).map(|_| value()).collect();
        HostTensor::from_f64s(decl.ty.dtype, shape, &values)
    }
}

/// A graph of the row, compiled once.
struct Compiled {
    graph: Graph,
    frozen: Vec<Frozen>,
    fused: Executable,
    unfused: Executable,
    symbols: BTreeSet<Var>,
}

impl Compiled {
    fn new(name: &str, body: &str) -> Result<Compiled> {
        let graph = text::parse(name, body)?;
        let none = |_: Var| None;
        let mut values = Uniform(1);
        let frozen = graph.inputs.iter().enumerate().filter(|(_, d)| d.frozen).map(|(slot, d)| {
            let shape = d.ty.shape.iter().map(|s| Ok(s.eval(&none)? as usize)).collect::<Result<Vec<_>>>()?;
            Ok(Frozen { slot: slot as u32, data: Arc::new(values.tensor(d, &shape)) })
        });
        let frozen: Vec<Frozen> = frozen.collect::<Result<_>>()?;
        let module = Module { graph: graph.clone(), frozen: frozen.clone() };
        let compile = |fuse: bool| driver::compile(&module, &Config { fuse, threads: 2, ..Config::default() });
        let (fused, unfused) = (compile(true)?, compile(false)?);
        let symbols = graph.inputs.iter().flat_map(|d| d.ty.shape.iter().flat_map(|s| s.vars())).collect();
        Ok(Compiled { graph, frozen, fused, unfused, symbols })
    }

    fn extent(&self, symbol: Var, n: i64) -> i64 {
        if self.symbols.len() > 1 && symbol == Var::new("b") { BATCH } else { n }
    }

    /// Operations of a run, and the bytes that it reads and writes.
    fn cost(&self, n: i64) -> Result<(f64, f64)> {
        let dims = self.symbols.iter().map(|&v| (v, self.extent(v, n))).collect();
        let kernels = self.fused.report(&dims)?.kernels;
        Ok((kernels.iter().map(|k| k.flops).sum(), kernels.iter().map(|k| k.read + k.written).sum()))
    }

    /// The extent to run at for a wanted one.
    fn affordable(&self, mut n: i64) -> Result<i64> {
        loop {
            let (operations, bytes) = self.cost(n)?;
            if n <= 1 || (operations <= LIMIT && bytes <= TRAFFIC) {
                return Ok(n);
            }
            n /= 2;
        }
    }

    fn check(&self, n: i64) -> Result<()> {
        let mut values = Uniform(n as u64 + 2);
        let value = |v: Var| Some(self.extent(v, n));
        let (mut all, mut given) = (Vec::new(), Vec::new());
        for (slot, decl) in self.graph.inputs.iter().enumerate() {
            if let Some(frozen) = self.frozen.iter().find(|f| f.slot as usize == slot) {
                all.push((*frozen.data).clone());
                continue;
            }
            let shape = decl.ty.shape.iter().map(|s| Ok(s.eval(&value)? as usize)).collect::<Result<Vec<_>>>()?;
            let tensor = values.tensor(decl, &shape);
            given.push(tensor.clone());
            all.push(tensor);
        }
        let interpreted = self.cost(n)?.0 <= INTERPRETED;
        let want =
            if interpreted { interp::run(&self.graph, &all, interp::Options::default()) } else { self.unfused.run(&given) };
        match (want, self.fused.run(&given)) {
            (Ok(want), got) => compare(&want, &got?, WITHIN),
            (Err(_), Err(_)) => Ok(()),
            (Err(e), Ok(_)) => Err(e.context("refused, while the fused executable runs it")),
        }
    }
}

#[test]
fn one_plan_runs_at_every_size() {
    let mut failures = Vec::new();
    let files = graphs();
    assert!(!files.is_empty(), "no graphs of row 35");
    for path in &files {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let file = fs::read_to_string(path).expect("the file is readable");
        let (_, body) = file.split_once("----\n").map_or(("", ""), |(head, _)| head.split_once('\n').unwrap_or_default());
        let compiled = Compiled::new(&name, body).unwrap_or_else(|e| panic!("{name}: {e}"));
        let sizes: Result<BTreeSet<i64>> = SIZES.iter().map(|&n| compiled.affordable(n)).collect();
        let sizes = sizes.unwrap_or_else(|e| panic!("{name}: {e}"));
        println!("{name}: {sizes:?}");
        failures.extend(sizes.iter().filter_map(|&n| compiled.check(n).err().map(|e| format!("{name} at {n}: {e}"))));
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

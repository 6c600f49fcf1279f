//! Measured kernel times beside the cost model's predictions.

use std::path::Path;

use base::{Config, Result};
use fuseline::zoo;
use graph::{HostTensor, Module};

use crate::cpu::made_up;

/// Rounds per kernel.
const RUNS: usize = 15;

/// Prints one line per kernel, slowest first.
pub(crate) fn profile(model: &str) -> Result<()> {
    let (module, inputs) = load(model)?;
    let executable = driver::compile(&module, &Config::from_env()?)?;
    executable.run(&inputs)?;
    let times = executable.profile(&inputs, RUNS)?;
    let report = executable.report(&executable.dims(&inputs)?)?;
    let mut rows: Vec<_> = report.kernels.iter().zip(&times).collect();
    rows.sort_by(|a, b| b.1.cmp(a.1));
    let total: f64 = times.iter().map(std::time::Duration::as_secs_f64).sum();
    println!("{:>10} {:>10}  kernel (total {:.3} ms)", "measured", "predicted", total * 1e3);
    for (k, t) in rows {
        println!(
            "{:>7.1} µs {:>7.1} µs  {} [{}] {:.1} MFLOP",
            t.as_secs_f64() * 1e6,
            k.time * 1e6,
            k.name,
            k.class,
            k.flops / 1e6
        );
    }
    Ok(())
}

/// A model by name, and inputs for it.
pub(crate) fn load(model: &str) -> Result<(Module, Vec<HostTensor>)> {
    if let Some(name) = model.strip_prefix("zoo:") {
        let model = zoo::build(name, 0)?;
        let made = model.inputs.iter().enumerate().map(|(i, s)| s.generate(&s.sizes, i as u64)).collect::<Result<Vec<_>>>()?;
        return Ok((model.module, made));
    }
    let import = onnx::load(Path::new(model), &onnx::LoadOptions::default())?;
    let inputs = made_up(&import.module.graph)?;
    Ok((import.module, inputs))
}

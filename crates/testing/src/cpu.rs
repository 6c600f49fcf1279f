//! Stages and runtimes of the CPU.
//!
//! | stage | body | output |
//! |---|---|---|
//! | `plan` | one function | the kernels' summary lines, then the remarks on unfused edges |
//! | `kernel` | one function | the plan with its comps |
//! | `cpu` | one function without symbolic dimensions | the tile programs |

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::{Config, Result};
use graph::{Frozen, Graph, HostTensor, Module, text};
use kernel::Target;

use crate::differential::Runtime;
use crate::filetest::Stages;
use crate::generate::Profile;
use crate::tolerance::Tolerance;

/// Adds `plan`, `kernel` and `cpu`.
pub fn with_cpu_stages(stages: Stages) -> Stages {
    stages
        .with("plan", |body| {
            let plan = plan(body)?;
            let mut out = plan.summary();
            for r in fuse::unfused(&plan, &plan.sizes, &Target::cpu(), &Config::default()) {
                let _ = writeln!(out, "{:?} {} -> {}: {}", r.code, r.places[0], r.places[1], r.message);
            }
            Ok(out)
        })
        .with("kernel", |body| Ok(plan(body)?.to_string()))
        .with("cpu", |body| {
            let plan = plan(body)?;
            let mut out = String::new();
            for k in &plan.kernels {
                let _ = writeln!(out, "{}", driver::tile_program(&plan, k, &BTreeMap::new(), &Config::default())?);
            }
            Ok(out)
        })
}

fn plan(body: &str) -> Result<fuse::Plan> {
    let graph = text::parse("test", body)?;
    Ok(driver::passes(&graph, &BTreeMap::new(), &Target::cpu(), &Config::default())?.plan)
}

/// Runs a graph as compiled with a configuration; frozen inputs are bound from the arguments.
///
/// # Errors
/// What compiling and running give.
pub fn run_compiled(graph: &Graph, inputs: &[HostTensor], config: &Config) -> Result<Vec<HostTensor>> {
    let mut frozen = Vec::new();
    let mut given = Vec::new();
    for (slot, (decl, data)) in graph.inputs.iter().zip(inputs).enumerate() {
        if decl.frozen {
            frozen.push(Frozen { slot: slot as u32, data: std::sync::Arc::new(data.clone()) });
        } else {
            given.push(data.clone());
        }
    }
    driver::compile(&Module { graph: graph.clone(), frozen }, config)?.run(&given)
}

/// `cpu fused` and `cpu eager`, with one and two threads.
pub fn cpu_runtimes() -> Vec<Runtime> {
    let runtime = |name: &'static str, fuse: bool, threads: usize| {
        let config = Config { fuse, threads, ..Config::default() };
        Runtime::new(name, Profile::Tame, Tolerance::CLOSE, move |graph, inputs| run_compiled(graph, inputs, &config))
    };
    vec![runtime("cpu fused", true, 1), runtime("cpu fused, 2 threads", true, 2), runtime("cpu eager", false, 1)]
}

//! The stage of GPUs: programs as they are generated, which takes no GPU.
//!
//! | stage | body | output |
//! |---|---|---|
//! | `cuda` | one function without symbolic dimensions; `# numerics wide` where roundings may be left out, `# clusters no` and `# f8_products no` for a GPU without them, `# convolutions no` without cuDNN | the CUDA programs, without what every source begins with |

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::{Config, Convolutions, CudaConfig, Numerics, Result};
use driver::Plan;
use graph::text;
use kernel::Target;
use program::CudaProgram;

use crate::filetest::Stages;

/// Adds `cuda`.
pub fn with_cuda_stage(stages: Stages) -> Stages {
    stages.with("cuda", |body| {
        let mut out = String::new();
        for program in cuda_programs(body)? {
            let _ = writeln!(out, "{program}");
        }
        Ok(out)
    })
}

/// The programs of a function's plan for a GPU.
///
/// # Errors
/// A text that is no function; a kernel that no generated code and no library computes.
pub fn cuda_programs(body: &str) -> Result<Vec<CudaProgram>> {
    let (plan, config) = planned(body)?;
    plan.kernels.iter().map(|k| driver::cuda_program(&plan, k, &BTreeMap::new(), &config)).collect()
}

/// The programs that a tuner would try beside those of [`cuda_programs`].
///
/// # Errors
/// As [`cuda_programs`].
pub fn cuda_candidates(body: &str) -> Result<Vec<CudaProgram>> {
    let (plan, config) = planned(body)?;
    let mut all = Vec::new();
    for kernel in &plan.kernels {
        let found = driver::candidates(&plan, kernel, &BTreeMap::new(), &config)?;
        all.extend(found.into_iter().skip(1).map(|(_, program)| program));
    }
    Ok(all)
}

/// What the lines `# numerics wide`, `# clusters no`, `# f8_products no` and `# convolutions no` of a text say.
pub fn config_of(body: &str) -> Config {
    let wide = body.lines().any(|line| line == "# numerics wide");
    let has = |what: &str| !body.lines().any(|line| line == format!("# {what} no"));
    let convolutions = if has("convolutions") { Convolutions::default() } else { Convolutions::Loops };
    let cuda = CudaConfig { clusters: has("clusters"), f8_products: has("f8_products"), convolutions, ..CudaConfig::default() };
    Config { numerics: if wide { Numerics::Wide } else { Numerics::Eager }, cuda, ..Config::default() }
}

fn planned(body: &str) -> Result<(Plan, Config)> {
    let (graph, config) = (text::parse("test", body)?, config_of(body));
    let plan = driver::passes(&graph, &BTreeMap::new(), &Target::cuda(), &config)?.plan;
    Ok((plan, config))
}

//! Models of the zoo, fused, against the interpreter.

use base::{Config, DeviceId, Result};
use fuseline::zoo;
use graph::{HostTensor, Module, interp};
use testing::tolerance::Tolerance;

use super::Context;
use super::compare::{difference, loose};
use super::outcome::Outcome;
use super::values::replayed;

/// Operations that the interpreter may do; beyond that the CPU, one kernel per op, gives the wanted results.
const INTERPRETED: f64 = 1e9;

/// Checks one model.
///
/// # Errors
/// A model that cannot be made, compiled or run.
pub(crate) fn check(context: &Context, name: &str) -> Result<Outcome> {
    let model = zoo::build(name, 0)?;
    let inputs = model.inputs.iter().enumerate().map(|(i, s)| s.generate(&s.sizes, i as u64)).collect::<Result<Vec<_>>>()?;
    let executable = driver::compile(&model.module, &context.config)?;
    let got = executable.run(&inputs)?;
    let operations: f64 = executable.kernel_reports(&executable.dims(&inputs)?).iter().map(|k| k.flops).sum();
    let want = if operations <= INTERPRETED {
        interp::run(&model.module.graph, &all(&model.module, &inputs), interp::Options::default())?
    } else {
        let config = Config { fuse: false, device: DeviceId::Cpu, ..Config::default() };
        driver::compile(&model.module, &config)?.run(&inputs)?
    };
    let complaint = difference(&want, &got, loose(&model.module.graph));
    let recorded = match context.config.device {
        DeviceId::Cpu => None,
        DeviceId::Cuda(_) => {
            let config = Config { replay: true, ..context.config.clone() };
            let again = replayed(&driver::compile(&model.module, &config)?, &inputs)?;
            difference(&got, &again, Tolerance::Exact).map(|d| format!("recorded: {d}"))
        }
    };
    Ok(Outcome::of(2, complaint.into_iter().chain(recorded).collect(), String::new))
}

/// One tensor per input slot.
fn all(module: &Module, given: &[HostTensor]) -> Vec<HostTensor> {
    let mut given = given.iter();
    let frozen = |slot: usize| module.frozen.iter().find(|f| f.slot as usize == slot);
    (0..module.graph.inputs.len())
        .filter_map(|slot| frozen(slot).map_or_else(|| given.next().cloned(), |f| Some((*f.data).clone())))
        .collect()
}

//! What the host pays for each kernel of a call, over the driver's own call.

use base::{Config, Result};
use driver::{Array, Device};
use graph::{Module, text};
use runtime::cuda::{host_seconds, launch_cost};
use scalar::DType;
use serde_json::{Value, json};

/// Kernels of the call.
const KERNELS: usize = 100;
/// What each may take on the host beside the driver's call, in seconds.
const AIM: f64 = 1e-6;

/// Measures, prints and gives as data: `None` for a CPU.
///
/// # Errors
/// Those of the device.
pub(crate) fn bench(device: &Device, config: &Config) -> Result<Option<Value>> {
    if !device.is_cuda() {
        return Ok(None);
    }
    let cost = launch_cost(device)?;
    let module = Module { graph: text::parse("chain", &chain())?, frozen: Vec::new() };
    let config = Config { fuse: false, ..config.clone() };
    let executable = driver::compile(&module, &config)?;
    let x = [Array::from_bytes(device.pool(), DType::F32, &[1], &1f32.to_le_bytes())?];
    let call = host_seconds(device, KERNELS, &mut || executable.run_arrays(&x).map(drop))?;
    let replay = driver::compile(&module, &Config { replay: true, ..config })?;
    let replay = host_seconds(device, KERNELS, &mut || replay.run_arrays(&x).map(drop))?;
    let ns = |seconds: f64| seconds * 1e9;
    let over = call - cost.bare;
    println!(
        "host time of a kernel: {:.0} ns bare, {:.0} ns by Device::launch, {:.0} ns in a call of {KERNELS} ({:.0} ns over bare, aim {:.0}: {}), \
         {:.0} ns replayed",
        ns(cost.bare),
        ns(cost.launch),
        ns(call),
        ns(over),
        ns(AIM),
        if over <= AIM { "met" } else { "NOT MET" },
        ns(replay),
    );
    Ok(Some(json!({
        "kernels": KERNELS,
        "bare_ns": ns(cost.bare),
        "launch_ns": ns(cost.launch),
        "call_ns": ns(call),
        "replay_ns": ns(replay),
        "over_bare_ns": ns(over),
        "aim_ns": ns(AIM),
        "met": over <= AIM,
    })))
}

/// So many small kernels, one after the other.
fn chain() -> String {
    let op = |n: usize| format!("  %{} = neg %{n} : f32[1]\n", n + 1);
    let ops: String = (0..KERNELS).map(op).collect();
    format!("func chain(x: f32[1]) -> (y) {{\n{ops}  return y = %{KERNELS}\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_one_kernel_per_op() {
        let module = Module { graph: text::parse("chain", &chain()).unwrap(), frozen: Vec::new() };
        let executable = driver::compile(&module, &Config { fuse: false, ..Config::default() }).unwrap();
        assert_eq!(executable.plan().kernels.len(), KERNELS);
    }
}

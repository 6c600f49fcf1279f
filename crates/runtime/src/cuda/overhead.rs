//! What the host pays for a launch, measured.

use std::time::Instant;

use base::Result;
use program::{Access, CudaProgram, CudaStep, Launch, Param};
use scalar::DType;

use super::gpu::no_gpu;
use crate::device::{Arg, Device};

/// Launches in a row: fewer than the driver queues without waiting.
pub const BATCH: usize = 200;
/// Batches, of which the quickest counts.
const BATCHES: usize = 25;

/// Host time of a launch, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchCost {
    /// The driver's call alone, in a loop.
    pub bare: f64,
    /// [`Device::launch`].
    pub launch: f64,
}

/// Adds one to one element.
const SOURCE: &str = r#"
struct Block { unsigned long long w[3]; };
extern "C" __global__ void fl_one(const __grid_constant__ Block p) {
    const float* from = (const float*)p.w[0];
    float* to = (float*)p.w[1];
    to[0] = from[0] + 1.0f;
}
"#;

/// Measures what the host pays to launch a small kernel.
///
/// # Errors
/// A CPU; those of the device.
pub fn launch_cost(device: &Device) -> Result<LaunchCost> {
    let gpu = device.as_cuda().ok_or_else(|| no_gpu("measuring launches", device.id()))?;
    let param = |name: &str, access| Param { name: name.into(), dtype: DType::F32, access, elements: 1 };
    let launch = Launch {
        entry: "fl_one".into(),
        grid: 1,
        threads: 32,
        shared: 0,
        cluster: 1,
        in_turns: false,
        args: vec![0, 1],
        numbers: vec![],
    };
    let program = CudaProgram {
        name: "one".into(),
        params: vec![param("from", Access::Read), param("to", Access::Write)],
        source: SOURCE.into(),
        steps: vec![CudaStep::Launch(launch)],
        checks: vec![],
    };
    let prepared = gpu.prepare(program)?;
    let (from, to) = (gpu.pool().alloc(4)?, gpu.pool().alloc(4)?);
    from.write(0, &[0; 4])?;
    let args = [Arg::from(&from), Arg::from(&to)];
    Ok(LaunchCost {
        bare: host_seconds(device, BATCH, &mut || prepared.repeat(gpu.context(), &args, BATCH))?,
        launch: host_seconds(device, BATCH, &mut || (0..BATCH).try_for_each(|_| gpu.launch(&prepared, &args)))?,
    })
}

/// Host time of one of `count` launches that `f` makes, without waiting for them.
///
/// # Errors
/// Those of `f`, and of the device.
pub fn host_seconds(device: &Device, count: usize, f: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..BATCHES {
        device.synchronize()?;
        let start = Instant::now();
        f()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    device.synchronize()?;
    Ok(best / count.max(1) as f64)
}

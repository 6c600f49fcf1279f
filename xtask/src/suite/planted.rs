//! Kernels with a fault each, to see whether a tool that watches sees it. They do no harm where nothing watches.

use base::{Error, Result};
use driver::Device;
use program::{Access, CudaProgram, CudaStep, Launch, Param};
use runtime::Arg;
use scalar::DType;

use super::Context;
use super::outcome::Outcome;

/// Threads of the kernel, as many as the buffer should have elements.
const THREADS: u64 = 64;

/// One element for each thread.
const KERNEL: &str = "// nvrtc: -fmad=false
struct Block { unsigned long long w[2]; };
extern \"C\" __global__ void k_planted(const __grid_constant__ Block p) {
    __shared__ float s[64];
    float* to = (float*)p.w[0];
    s[threadIdx.x] = (float)threadIdx.x;
    BARRIER
    to[threadIdx.x] = s[63 - threadIdx.x];
}
";

/// Runs a kernel that writes past the end of its buffer (`write`), or reads what another warp may not have written (`race`).
///
/// # Errors
/// Another fault; a device that is no GPU; what a tool makes of it.
pub(crate) fn run(context: &Context, fault: &str) -> Result<Outcome> {
    let (elements, barrier) = match fault {
        "write" => (THREADS / 2, "__syncthreads();"),
        "race" => (THREADS, ""),
        _ => return Err(Error::invalid(format!("no fault {fault:?}: write or race"))),
    };
    let device = Device::open(context.config.device, 0)?;
    let launch = Launch {
        entry: "k_planted".into(),
        grid: 1,
        threads: THREADS as u32,
        shared: 0,
        cluster: 1,
        in_turns: false,
        args: vec![0],
        numbers: Vec::new(),
    };
    let program = CudaProgram {
        name: "planted".into(),
        params: vec![Param { name: "to".into(), dtype: DType::F32, access: Access::Write, elements }],
        source: KERNEL.replace("BARRIER", barrier),
        steps: vec![CudaStep::Launch(launch)],
        checks: Vec::new(),
    };
    let prepared = device.prepare(program)?;
    let buffer = device.pool().alloc(elements as usize * 4)?;
    device.launch(&prepared, &[Arg::from(&buffer)])?;
    device.synchronize()?;
    Ok(Outcome::Passed(1))
}

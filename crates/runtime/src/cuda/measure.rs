//! What a GPU can do, measured.

use base::Result;
use program::{Access, CudaProgram, CudaStep, Epilogue, Launch, Operand, Param, Product};
use scalar::DType;

use super::gpu::{Gpu, no_gpu};
use super::prepare::Prepared;
use super::random::random;
use super::timer::seconds;
use crate::device::{Arg, Device};
use crate::memory::Buffer;

/// Bytes that are copied and read: far more than any cache.
const BYTES: usize = 1 << 30;
/// Extent of the matrices.
const N: i64 = 8192;
const RUNS: usize = 10;

/// Measured ceilings of a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Copying memory to memory, bytes read and written, GB/s.
    pub copy: f64,
    /// Reading memory, GB/s.
    pub read: f64,
    /// Product of two bf16 matrices of 8192 x 8192 random numbers, TFLOP/s; `None` without cuBLASLt.
    pub gemm: Option<f64>,
}

/// Measures a GPU.
///
/// # Errors
/// A CPU; out of memory.
pub fn measure(device: &Device) -> Result<Rates> {
    let gpu = device.as_cuda().ok_or_else(|| no_gpu("measuring", device.id()))?;
    let gemm = match gemm(gpu) {
        Err(e) if e.kind == base::ErrorKind::Unsupported => None,
        measured => Some(measured?),
    };
    Ok(Rates { copy: copy(gpu)?, read: read(gpu)?, gemm })
}

fn copy(gpu: &Gpu) -> Result<f64> {
    let (from, to) = (random(gpu.pool(), DType::F32, BYTES / 4)?, gpu.pool().alloc(BYTES)?);
    let run = || to.copy_from(0, &from, 0, BYTES);
    run()?;
    Ok(2.0 * BYTES as f64 / seconds(gpu.context(), RUNS, run)? / 1e9)
}

/// Sums 16 bytes at a time, and keeps the sum from being optimised away.
const READ: &str = r#"
struct Block { unsigned long long w[4]; };
extern "C" __global__ void __launch_bounds__(512) fl_read(const __grid_constant__ Block p) {
    const uint4* from = (const uint4*)p.w[0];
    unsigned int* to = (unsigned int*)p.w[1];
    const unsigned long long count = p.w[2], step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned int sum = 0;
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
        uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        sum += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + (d.x ^ d.y ^ d.z ^ d.w);
    }
    for (; i < count; i += step) { uint4 a = from[i]; sum += a.x ^ a.y ^ a.z ^ a.w; }
    if (sum == 0x12345678u) to[0] = sum;
}
"#;

/// A kernel that only reads, ready to run.
pub struct ReadStream<'a> {
    gpu: &'a Gpu,
    prepared: Prepared,
    from: Buffer,
    to: Buffer,
}

impl<'a> ReadStream<'a> {
    /// A stream of so many bytes, rounded up to 16.
    ///
    /// # Errors
    /// A CPU; out of memory.
    pub fn new(device: &'a Device, bytes: usize) -> Result<ReadStream<'a>> {
        Self::on(device.as_cuda().ok_or_else(|| no_gpu("reading a stream", device.id()))?, bytes)
    }

    fn on(gpu: &'a Gpu, bytes: usize) -> Result<ReadStream<'a>> {
        let vectors = bytes.div_ceil(16);
        let param = |name: &str, access, elements| Param { name: name.into(), dtype: DType::U32, access, elements };
        let launch = Launch {
            entry: "fl_read".into(),
            grid: 4 * gpu.context().about.multiprocessors,
            threads: 512,
            shared: 0,
            cluster: 1,
            in_turns: false,
            args: vec![0, 1],
            numbers: vec![vectors as i64],
        };
        let program = CudaProgram {
            name: "read".into(),
            params: vec![param("from", Access::Read, 4 * vectors as u64), param("to", Access::Write, 1)],
            source: READ.into(),
            steps: vec![CudaStep::Launch(launch)],
            checks: vec![],
        };
        let prepared = gpu.prepare(program)?;
        let (from, to) = (random(gpu.pool(), DType::U32, 4 * vectors)?, gpu.pool().alloc(4)?);
        Ok(ReadStream { gpu, prepared, from, to })
    }

    /// Reads it once.
    ///
    /// # Errors
    /// Those of the device.
    pub fn run(&self) -> Result<()> {
        self.gpu.launch(&self.prepared, &[Arg::from(&self.from), Arg::from(&self.to)])
    }
}

fn read(gpu: &Gpu) -> Result<f64> {
    let stream = ReadStream::on(gpu, BYTES)?;
    stream.run()?;
    Ok(BYTES as f64 / seconds(gpu.context(), RUNS, || stream.run())? / 1e9)
}

fn gemm(gpu: &Gpu) -> Result<f64> {
    let elements = (N * N) as u64;
    let param = |name: &str, access| Param { name: name.into(), dtype: DType::BF16, access, elements };
    let operand = |param| Operand { param, dtype: DType::BF16, offset: 0, rows: N, columns: 1, batch: vec![] };
    let product = Product {
        batch: vec![],
        m: N,
        n: N,
        k: N,
        a: operand(0),
        b: operand(1),
        d: operand(2),
        acc: DType::F32,
        epilogue: Epilogue::default(),
    };
    let program = CudaProgram {
        name: "product".into(),
        params: vec![param("a", Access::Read), param("b", Access::Read), param("d", Access::Write)],
        source: String::new(),
        steps: vec![CudaStep::Product(product)],
        checks: vec![],
    };
    let prepared = gpu.prepare(program)?;
    let buffer = || random(gpu.pool(), DType::BF16, elements as usize);
    let buffers = [buffer()?, buffer()?, buffer()?];
    let args = buffers.each_ref().map(Arg::from);
    let run = || gpu.launch(&prepared, &args);
    (0..3).try_for_each(|_| run())?;
    Ok(2.0 * (N as f64).powi(3) / seconds(gpu.context(), RUNS, run)? / 1e12)
}

//! Devices as values: what the CPU and a GPU have in common.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Config, DeviceId, Error, Result};
use program::{CudaProgram, Param, Program, TileProgram};
use scalar::DType;

use crate::cpu::{self, Cpu};
use crate::cuda::{self, Gpu, Recorded, Resources};
use crate::memory::{Buffer, Pool};

/// The CPU, or a GPU. Any number of threads may launch on one device at the same time.
///
/// A GPU has one stream: what is launched runs in the order of the launches, whatever the threads, and [`Device::launch`]
/// returns before it ran. Reading a buffer waits for what was launched before.
#[derive(Debug)]
pub struct Device {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Cpu(Cpu),
    Cuda(Gpu),
}

/// An argument of a launch: where a parameter's first element lies.
#[derive(Clone, Copy, Debug)]
pub struct Arg<'a> {
    /// Memory.
    pub buffer: &'a Buffer,
    /// Position of the first element in bytes.
    pub offset_bytes: usize,
    owner: Option<&'a Arc<Buffer>>,
}

impl<'a> Arg<'a> {
    /// An argument at a byte offset.
    pub fn at(buffer: &'a Buffer, offset_bytes: usize) -> Arg<'a> {
        Arg { buffer, offset_bytes, owner: None }
    }
    /// An argument that the device may hold beyond the launch: what it packs of frozen ones serves other programs too.
    pub fn shared(buffer: &'a Arc<Buffer>, offset_bytes: usize) -> Arg<'a> {
        Arg { buffer, offset_bytes, owner: Some(buffer) }
    }
    /// The buffer, if it may be held.
    pub(crate) fn owner(&self) -> Option<&'a Arc<Buffer>> {
        self.owner
    }
}

impl<'a> From<&'a Buffer> for Arg<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Arg::at(buffer, 0)
    }
}

/// A program that is ready to launch on the device that prepared it; it may be launched from several threads at once.
#[derive(Debug)]
pub struct Prepared {
    kind: PreparedKind,
}

#[derive(Debug)]
enum PreparedKind {
    Cpu(cpu::Prepared),
    Cuda(cuda::Prepared),
}

impl Prepared {
    /// Kernel name.
    pub fn name(&self) -> &str {
        match &self.kind {
            PreparedKind::Cpu(p) => &p.program().name,
            PreparedKind::Cuda(p) => &p.program().name,
        }
    }
    /// Buffer arguments.
    pub fn params(&self) -> &[Param] {
        match &self.kind {
            PreparedKind::Cpu(p) => &p.program().params,
            PreparedKind::Cuda(p) => &p.program().params,
        }
    }
    /// The program of a CPU.
    pub fn tile(&self) -> Option<&TileProgram> {
        if let PreparedKind::Cpu(p) = &self.kind { Some(p.program()) } else { None }
    }
    /// The program of a GPU.
    pub fn cuda(&self) -> Option<&CudaProgram> {
        if let PreparedKind::Cuda(p) = &self.kind { Some(p.program()) } else { None }
    }
    /// Bytes of panels that frozen operands keep since their first launch; a GPU keeps none.
    pub fn packed_bytes(&self) -> usize {
        if let PreparedKind::Cpu(p) = &self.kind { p.packed_bytes() } else { 0 }
    }
    /// What each generated kernel of a GPU program takes, in the order of its launches; empty on a CPU.
    pub fn resources(&self) -> &[Resources] {
        if let PreparedKind::Cuda(p) = &self.kind { p.resources() } else { &[] }
    }
}

impl Device {
    /// The CPU with a number of threads, the caller's included; 0 means one per core.
    pub fn cpu(threads: usize) -> Arc<Device> {
        Arc::new(Device { kind: Kind::Cpu(Cpu::new(threads)) })
    }

    /// The NVIDIA GPU with this number, with the environment's settings.
    ///
    /// # Errors
    /// `Unsupported` when there is none, or a library is missing, with what was looked for and what installs it.
    pub fn cuda(ordinal: usize) -> Result<Arc<Device>> {
        Device::cuda_with(ordinal, &Config::from_env()?)
    }

    /// The NVIDIA GPU with this number. Of the settings, [`Config::cuda`] and [`Config::cache`] count; where the libraries lie is
    /// decided by the first device that a process opens.
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn cuda_with(ordinal: usize, config: &Config) -> Result<Arc<Device>> {
        Ok(Arc::new(Device { kind: Kind::Cuda(Gpu::new(ordinal, config)?) }))
    }

    /// A device by its name, with the environment's settings; `threads` are the CPU's, as in [`Device::cpu`].
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn open(id: DeviceId, threads: usize) -> Result<Arc<Device>> {
        match id {
            DeviceId::Cpu => Ok(Device::cpu(threads)),
            DeviceId::Cuda(ordinal) => Device::cuda(ordinal),
        }
    }

    /// Its name.
    pub fn id(&self) -> DeviceId {
        match &self.kind {
            Kind::Cpu(_) => DeviceId::Cpu,
            Kind::Cuda(gpu) => DeviceId::Cuda(gpu.ordinal()),
        }
    }
    /// Whether it is a GPU.
    pub fn is_cuda(&self) -> bool {
        matches!(self.kind, Kind::Cuda(_))
    }
    /// Whether blocks of threads can read each other's memory as clusters.
    pub fn has_clusters(&self) -> bool {
        self.as_cuda().is_some_and(|gpu| gpu.context().about.capability >= (9, 0))
    }
    /// Whether it multiplies 8-bit floats.
    pub fn has_f8_products(&self) -> bool {
        self.as_cuda().is_some_and(|gpu| gpu.context().about.capability >= (8, 9))
    }
    /// What only a CPU has.
    pub fn as_cpu(&self) -> Option<&Cpu> {
        if let Kind::Cpu(cpu) = &self.kind { Some(cpu) } else { None }
    }
    /// The GPU.
    pub(crate) fn as_cuda(&self) -> Option<&Gpu> {
        if let Kind::Cuda(gpu) = &self.kind { Some(gpu) } else { None }
    }
    /// Description of a GPU; `None` for the CPU.
    pub fn info(&self) -> Option<cuda::Info> {
        self.as_cuda().map(Gpu::info)
    }
    /// The handle of a GPU's stream, a `CUstream` of its primary context: what other libraries of the process put on it is ordered with
    /// the launches. It is valid as long as the device. `None` for the CPU.
    pub fn stream(&self) -> Option<usize> {
        self.as_cuda().map(|gpu| gpu.context().main_stream().0 as usize)
    }
    /// Its memory.
    pub fn pool(&self) -> &Pool {
        match &self.kind {
            Kind::Cpu(cpu) => cpu.pool(),
            Kind::Cuda(gpu) => gpu.pool(),
        }
    }

    /// Verifies or compiles a program and makes it ready to launch.
    ///
    /// # Errors
    /// A program that breaks an invariant or is for another sort of device; a source that does not compile; `Unsupported` for a
    /// product that the library cannot take.
    pub fn prepare(&self, program: impl Into<Program>) -> Result<Prepared> {
        let kind = match (&self.kind, program.into()) {
            (Kind::Cpu(cpu), Program::Tile(p)) => PreparedKind::Cpu(cpu.prepare(p)?),
            (Kind::Cuda(gpu), Program::Cuda(p)) => PreparedKind::Cuda(gpu.prepare(p)?),
            (_, p) => return Err(Error::internal(format!("program {} is not for {}", p.name(), self.id()))),
        };
        Ok(Prepared { kind })
    }

    /// [`Device::prepare`] for several programs: a GPU's sources are compiled in parallel.
    pub fn prepare_all(&self, programs: Vec<Program>) -> Vec<Result<Prepared>> {
        let Kind::Cuda(gpu) = &self.kind else { return programs.into_iter().map(|p| self.prepare(p)).collect() };
        let wrong = |p: &TileProgram| Err(Error::internal(format!("program {} is not for {}", p.name, self.id())));
        let mut refused = Vec::new();
        let mut own = Vec::new();
        for program in programs {
            match program {
                Program::Tile(p) => refused.push(Some(wrong(&p))),
                Program::Cuda(p) => {
                    refused.push(None);
                    own.push(p);
                }
            }
        }
        let mut ready = gpu.prepare_all(own).into_iter();
        let mut next = |refused: Option<Result<Prepared>>| match refused {
            Some(error) => error,
            None => match ready.next() {
                Some(prepared) => Ok(Prepared { kind: PreparedKind::Cuda(prepared?) }),
                None => Err(Error::internal("a program was not prepared")),
            },
        };
        refused.into_iter().map(&mut next).collect()
    }

    /// Runs a program, on the CPU to its end. Until it ran no other thread may write what it reads, or touch what it writes.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters, out of memory for packed operands; on the CPU a failed run-time check, which a
    /// GPU reports when it is waited for.
    pub fn launch(&self, prepared: &Prepared, args: &[Arg<'_>]) -> Result<()> {
        match (&self.kind, &prepared.kind) {
            (Kind::Cpu(cpu), PreparedKind::Cpu(p)) => cpu.launch(p, args),
            (Kind::Cuda(gpu), PreparedKind::Cuda(p)) => gpu.launch(p, args),
            _ => Err(Error::internal(format!("program {} was prepared for another device than {}", prepared.name(), self.id()))),
        }
    }

    /// Waits for everything that was launched; nothing to do on the CPU.
    ///
    /// # Errors
    /// A failed run-time check or a fault of a program that was launched since the last time.
    pub fn synchronize(&self) -> Result<()> {
        self.as_cuda().map_or(Ok(()), Gpu::synchronize)
    }

    /// Records what `f` launches in this thread, without running it. Buffers that `f` takes from the pool belong to the
    /// recording until it is dropped; buffers of others that `f` uses have to live as long.
    ///
    /// # Errors
    /// The CPU cannot record; those of `f`; an operation that cannot be recorded, such as reading a buffer.
    pub fn capture(&self, f: impl FnOnce() -> Result<()>) -> Result<Recorded> {
        match &self.kind {
            Kind::Cpu(_) => Err(Error::unsupported("the CPU records no launches")),
            Kind::Cuda(gpu) => gpu.capture(f),
        }
    }

    /// Whether the calling thread records on it now.
    pub fn is_recording(&self) -> bool {
        self.as_cuda().is_some_and(|gpu| gpu.context().recording() != 0)
    }

    /// Time from before to after what `f` launches, on the device's own clock.
    ///
    /// # Errors
    /// Those of `f`, and of the device.
    pub fn time(&self, f: impl FnOnce() -> Result<()>) -> Result<Duration> {
        match &self.kind {
            Kind::Cpu(_) => {
                let start = Instant::now();
                f()?;
                Ok(start.elapsed())
            }
            Kind::Cuda(gpu) => gpu.time(f),
        }
    }

    /// A buffer of random numbers to measure with: between -1 and 1; integers of more than a byte are below 128.
    ///
    /// # Errors
    /// Out of memory.
    pub fn random(&self, dtype: DType, count: usize) -> Result<Buffer> {
        cuda::random(self.pool(), dtype, count)
    }

    /// Displaces a GPU's second-level cache by writing memory of its own; nothing on the CPU.
    ///
    /// # Errors
    /// Out of memory.
    pub fn flush_l2(&self) -> Result<()> {
        self.as_cuda().map_or(Ok(()), Gpu::flush_l2)
    }
}

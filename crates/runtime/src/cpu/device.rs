//! The CPU as a device: memory, threads, and launching of programs.

use std::sync::Arc;

use base::{Error, Result};
use program::{Access, Param, Phase, TileProgram};
use smallvec::SmallVec;

use super::ceilings::Caches;
use super::gemm::{PanelStats, PanelStore, PreparedGemm};
use super::launch::Launch;
use super::threads::ThreadPool;
use super::vm::{CheckSink, PreparedNest, prepare_nest, run_nests};
use crate::device::Arg;
use crate::memory::{Buffer, Pool};

/// A CPU with its pool of memory and of threads. Any number of threads may launch on one device at the same time.
#[derive(Debug)]
pub struct Cpu {
    pool: Pool,
    threads: ThreadPool,
    caches: Caches,
    panels: PanelStore,
}

/// A program that is ready to launch; it may be launched from several threads at once.
pub(crate) struct Prepared {
    program: TileProgram,
    phases: Vec<PreparedPhase>,
}

enum PreparedPhase {
    Nests(Vec<PreparedNest>),
    Gemm(PreparedGemm),
}

impl Prepared {
    /// The program.
    pub(crate) fn program(&self) -> &TileProgram {
        &self.program
    }
    /// Bytes of panels that frozen operands keep since their first launch.
    pub(crate) fn packed_bytes(&self) -> usize {
        let bytes = |phase: &PreparedPhase| if let PreparedPhase::Gemm(g) = phase { g.packed_bytes() } else { 0 };
        self.phases.iter().map(bytes).sum()
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({}, {} phases)", self.program.name, self.phases.len())
    }
}

impl Cpu {
    /// The CPU with a number of threads, the caller's included; 0 means one per core.
    pub(crate) fn new(threads: usize) -> Cpu {
        Cpu {
            pool: Pool::new(),
            threads: ThreadPool::new(threads),
            caches: Caches::of_this_machine(),
            panels: PanelStore::default(),
        }
    }
    /// Its memory.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
    /// What it packed and keeps of frozen operands.
    pub fn panels(&self) -> PanelStats {
        self.panels.stats()
    }
    /// Its threads.
    pub fn threads(&self) -> &ThreadPool {
        &self.threads
    }

    /// Verifies a program and makes it ready to launch.
    ///
    /// # Errors
    /// A program that breaks an invariant.
    pub(crate) fn prepare(&self, program: TileProgram) -> Result<Prepared> {
        program::verify(&program)?;
        let phase = |phase: &Phase| -> Result<PreparedPhase> {
            Ok(match phase {
                Phase::Nests(nests) => {
                    let mut nests = nests.iter().map(|n| prepare_nest(n, &program.params)).collect::<Result<Vec<_>>>()?;
                    let stream = written_bytes(&program.params) > self.caches.l3 as u64;
                    nests.iter_mut().for_each(|n| n.stream = stream);
                    PreparedPhase::Nests(nests)
                }
                Phase::Gemm(gemm) => PreparedPhase::Gemm(PreparedGemm::new(gemm, &program.params)?),
            })
        };
        let phases = program.phases.iter().map(phase).collect::<Result<_>>();
        Ok(Prepared { phases: phases.map_err(|e| e.context(format!("kernel {}", program.name)))?, program })
    }

    /// Runs a program to its end. Until then no other thread may write what it reads, or touch what it writes.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters, a failed run-time check, or out of memory for packed operands.
    pub(crate) fn launch(&self, prepared: &Prepared, args: &[Arg<'_>]) -> Result<()> {
        let program = &prepared.program;
        self.run(prepared, args).map_err(|e| e.context(format!("kernel {}", program.name)))
    }

    fn run(&self, prepared: &Prepared, args: &[Arg<'_>]) -> Result<()> {
        let program = &prepared.program;
        if args.len() != program.params.len() {
            return Err(Error::internal(format!("{} arguments for {} parameters", args.len(), program.params.len())));
        }
        let pointer = |(param, arg): (&Param, &Arg<'_>)| argument(param, arg);
        let params: SmallVec<[*mut u8; 16]> = program.params.iter().zip(args).map(pointer).collect::<Result<_>>()?;
        let owners: SmallVec<[Option<&Arc<Buffer>>; 16]> = args.iter().map(|a| a.owner()).collect();
        let sink = CheckSink::new();
        let (threads, pool, panels) = (&self.threads, &self.pool, &self.panels);
        let launch = Launch { params: &params, threads, pool, sink: &sink, panels, owners: &owners };
        for phase in &prepared.phases {
            match phase {
                // SAFETY: the program was verified, and every argument covers its parameter's elements.
                PreparedPhase::Nests(nests) => unsafe { run_nests(nests, &params, &self.threads, &sink) },
                // SAFETY: as above.
                PreparedPhase::Gemm(gemm) => unsafe { gemm.run(&launch) }?,
            }
        }
        sink.take(&program.checks).map_or(Ok(()), Err)
    }
}

/// Bytes that a program writes.
fn written_bytes(params: &[Param]) -> u64 {
    params.iter().filter(|p| p.access != Access::Read).map(|p| p.elements * p.dtype.size() as u64).sum()
}

/// The pointer of an argument that fits its parameter.
fn argument(param: &Param, arg: &Arg<'_>) -> Result<*mut u8> {
    let Param { name, dtype, access, elements } = param;
    let have =
        arg.buffer.len().checked_sub(arg.offset_bytes).ok_or_else(|| {
            Error::internal(format!("argument {name} starts at byte {} of {}", arg.offset_bytes, arg.buffer.len()))
        })?;
    if (have / dtype.size()) as u64 <= elements.saturating_sub(1) && *elements > 0 {
        return Err(Error::internal(format!("argument {name} has {have} bytes, {elements} {dtype} are needed")));
    }
    if *access != Access::Read && !arg.buffer.is_writable() && *elements > 0 {
        return Err(Error::internal(format!("argument {name} is written, but its buffer borrows foreign memory")));
    }
    let pointer = arg.buffer.as_ptr().wrapping_add(arg.offset_bytes);
    if !(pointer as usize).is_multiple_of(dtype.size()) {
        return Err(Error::internal(format!("argument {name} at byte {} is not aligned for {dtype}", arg.offset_bytes)));
    }
    Ok(pointer)
}

//! What a device executes: tile programs on the CPU, CUDA programs on a GPU.
//!
//! Both are concrete: every size and stride is a number. Lowering makes them from a `Comp` and the sizes of one call, and
//! executables cache them per size tuple. A [`TileProgram`] is executed by the tile VM; a [`CudaProgram`] holds CUDA C++
//! and library calls.

mod beside;
mod body;
mod cuda;
mod gemm;
mod nest;
mod text;
mod verify;

pub use beside::beside;
pub use body::{Affine, Body, Bound, Instr, Reg, RegDecl, Ty};
pub use cuda::{
    Beside, Convolution, ConvolutionKind, CudaProgram, CudaStep, Epilogue, HARDWARE_END, Launch, Operand, PRELUDE_END, Product,
    Tensor, Vector, Window,
};
pub use gemm::{Gemm, PackSource};
pub use nest::{Nest, Sequence, Stage, TileAxis};
pub use verify::verify;

use std::sync::Arc;

use base::Convolutions;
use scalar::DType;

/// How a program uses a buffer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only read.
    Read,
    /// Only written.
    Write,
    /// Read and written at the same position of the same point.
    ReadWrite,
}

/// One buffer argument. Launching passes one pointer per parameter, already offset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Name for text and errors.
    pub name: String,
    /// Stored element type.
    pub dtype: DType,
    /// Use.
    pub access: Access,
    /// Elements reachable from the pointer, for bounds checks of value-dependent indices and for sanitiser tests.
    pub elements: u64,
}

/// Phases separated by barriers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Loops over tiles. Several nests run side by side: none reads what another writes.
    Nests(Vec<Nest>),
    /// A matrix product with packing bodies and an epilogue body.
    Gemm(Gemm),
}

/// What some device executes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// On the CPU.
    Tile(TileProgram),
    /// On an NVIDIA GPU.
    Cuda(CudaProgram),
}

impl Program {
    /// Kernel name.
    pub fn name(&self) -> &str {
        match self {
            Program::Tile(p) => &p.name,
            Program::Cuda(p) => &p.name,
        }
    }
    /// Buffer arguments, workspaces included.
    pub fn params(&self) -> &[Param] {
        match self {
            Program::Tile(p) => &p.params,
            Program::Cuda(p) => &p.params,
        }
    }
    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        match self {
            Program::Tile(p) => p.phases.is_empty(),
            Program::Cuda(p) => p.steps.is_empty(),
        }
    }
    /// Whether a library does more than a product, which it may refuse.
    pub fn has_followed_products(&self) -> bool {
        let is = |step: &CudaStep| matches!(step, CudaStep::Product(p) if p.epilogue != Epilogue::default());
        matches!(self, Program::Cuda(program) if program.steps.iter().any(is))
    }
    /// What it has of a library's convolutions, which the library may refuse.
    pub fn convolutions(&self) -> Convolutions {
        let of = |step: &CudaStep| match step {
            CudaStep::Convolution(c) if c.epilogue == Epilogue::default() => Convolutions::Alone,
            CudaStep::Convolution(_) => Convolutions::Followed,
            _ => Convolutions::Loops,
        };
        let Program::Cuda(program) = self else { return Convolutions::Loops };
        program.steps.iter().map(of).max().unwrap_or(Convolutions::Loops)
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Program::Tile(p) => p.fmt(f),
            Program::Cuda(p) => p.fmt(f),
        }
    }
}

impl From<TileProgram> for Program {
    fn from(program: TileProgram) -> Program {
        Program::Tile(program)
    }
}

impl From<Arc<TileProgram>> for Program {
    fn from(program: Arc<TileProgram>) -> Program {
        Program::Tile(Arc::unwrap_or_clone(program))
    }
}

impl From<CudaProgram> for Program {
    fn from(program: CudaProgram) -> Program {
        Program::Cuda(program)
    }
}

/// A program for the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileProgram {
    /// Kernel name.
    pub name: String,
    /// Buffer arguments, workspaces included.
    pub params: Vec<Param>,
    /// What runs, in order, with a barrier after each.
    pub phases: Vec<Phase>,
    /// Messages of run-time checks; [`Instr::LoadAt`] and [`Instr::StoreAt`] refer to them by index.
    pub checks: Vec<String>,
}

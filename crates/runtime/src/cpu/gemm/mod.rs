//! Matrix products: blocking, packing, micro-kernels and fused epilogues.
//!
//! `plan` prepares a product and cuts it into tiles, `run` executes the tiles, `panels` keeps frozen operands packed, `pack` (with
//! `source` for addressing and `convert` for dtypes) fills panels, `kernel` multiplies them, `skinny` multiplies few rows by a
//! matrix that is not packed, `body` runs fused code. The k blocks, and with them all rounding, depend on k alone: not on threads,
//! fused code or the path taken (of few rows times a matrix whose k neighbours are adjacent: on that path, too).

mod body;
mod convert;
mod kernel;
mod pack;
mod pack_x86;
mod panels;
mod plan;
mod run;
mod scratch;
mod skinny;
mod skinny_x86;
mod source;
#[cfg(test)]
mod tests;
mod x86;

use base::{Error, Result};
use program::{Gemm, Param, Ty};

use super::launch::Launch;
use kernel::Elem;
use plan::Product;

pub use panels::PanelStats;
pub(crate) use panels::PanelStore;

/// A product that is ready to run.
pub(crate) enum PreparedGemm {
    F32(Box<Product<f32>>),
    F64(Box<Product<f64>>),
    I32(Box<Product<i32>>),
    I64(Box<Product<i64>>),
}

impl PreparedGemm {
    /// Prepares a product.
    ///
    /// # Errors
    /// An element type that products cannot have, or a program that refers to what does not exist.
    pub(crate) fn new(gemm: &Gemm, params: &[Param]) -> Result<PreparedGemm> {
        Ok(match gemm.ty {
            Ty::F32 => PreparedGemm::F32(Box::new(Product::new(gemm, params, f32::kernels())?)),
            Ty::F64 => PreparedGemm::F64(Box::new(Product::new(gemm, params, f64::kernels())?)),
            Ty::I32 => PreparedGemm::I32(Box::new(Product::new(gemm, params, i32::kernels())?)),
            Ty::I64 => PreparedGemm::I64(Box::new(Product::new(gemm, params, i64::kernels())?)),
            Ty::Bool => return Err(Error::internal("a gemm cannot accumulate bool")),
        })
    }

    /// Runs the product.
    ///
    /// # Errors
    /// Out of memory for panels.
    ///
    /// # Safety
    /// The launch's pointers are valid for every access that the program makes.
    pub(crate) unsafe fn run(&self, launch: &Launch<'_>) -> Result<()> {
        // SAFETY: the caller's contract.
        unsafe {
            match self {
                PreparedGemm::F32(p) => p.run(launch),
                PreparedGemm::F64(p) => p.run(launch),
                PreparedGemm::I32(p) => p.run(launch),
                PreparedGemm::I64(p) => p.run(launch),
            }
        }
    }

    /// Bytes of panels that frozen operands keep.
    pub(crate) fn packed_bytes(&self) -> usize {
        match self {
            PreparedGemm::F32(p) => p.packed_bytes(),
            PreparedGemm::F64(p) => p.packed_bytes(),
            PreparedGemm::I32(p) => p.packed_bytes(),
            PreparedGemm::I64(p) => p.packed_bytes(),
        }
    }
}

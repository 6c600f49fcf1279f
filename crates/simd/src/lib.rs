//! Leaf loops: one operation over contiguous vectors, compiled once per instruction set and chosen at run time.
//!
//! They know elements and pointers only; a crate of their own because they take long to compile and seldom change.
//!
//! A loop is a type with a `Loop` impl whose body is plain Rust that LLVM vectorises; `leaf` instantiates it under the
//! target features of this machine. All loops of one machine use one instruction set, and fused multiply-add is used only
//! where a formula says so, so a value never depends on where in a vector, tile or fused kernel it was computed.

// Leaf loops index several arrays by one counter.
#![allow(clippy::needless_range_loop)]

pub mod convert;
pub mod copy;
pub mod fold;
mod half;
mod math;
pub mod ops;
pub mod pairs;
mod states;
pub mod window;
#[cfg(target_arch = "x86_64")]
mod window_x86;

pub use math::ULP;

use std::sync::OnceLock;

/// `n` elements of one operation: destination, then up to three operands. Unused operands may be anything.
///
/// # Safety
/// Callers pass pointers that are aligned for the element types and valid for `n` elements (one, for scalar operands);
/// an operand overlaps the destination either not at all or exactly.
pub type Leaf = unsafe fn(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize);

/// A vectorisable loop.
pub(crate) trait Loop {
    /// Runs it; `FMA` says whether the instruction set has fused multiply-add.
    ///
    /// # Safety
    /// As [`Leaf`].
    unsafe fn run<const FMA: bool>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize);
}

/// Instruction sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// What the build target guarantees (SSE2, NEON).
    Base,
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The best instruction set of this machine.
pub fn isa() -> Isa {
    static ISA: OnceLock<Isa> = OnceLock::new();
    *ISA.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        _ => Isa::Base,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Isa {
    Isa::Base
}

/// The loop compiled for this machine.
pub(crate) fn leaf<L: Loop>() -> Leaf {
    leaf_for::<L>(isa())
}

/// The loop compiled for one instruction set, which the machine must have.
pub(crate) fn leaf_for<L: Loop>(isa: Isa) -> Leaf {
    match isa {
        Isa::Base => base::<L>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::<L>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::<L>,
    }
}

unsafe fn base<L: Loop>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: same contract.
    unsafe { L::run::<{ cfg!(target_arch = "aarch64") }>(d, a, b, c, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn avx2<L: Loop>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: same contract.
    unsafe { L::run::<true>(d, a, b, c, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn avx512<L: Loop>(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: same contract.
    unsafe { L::run::<true>(d, a, b, c, n) }
}

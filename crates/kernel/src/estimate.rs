//! The cost model: one sum of named terms, fed by a [`Target`]. No op is special.

use scalar::ScalarOp;
use serde::{Deserialize, Serialize};

use crate::Target;

/// Kernel class, decided by the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Parallel axes only.
    Pointwise,
    /// Reductions per point of the parallel axes.
    Row,
    /// Reductions over parallel axes, finished in a second phase.
    Mixed,
    /// A matrix product with prologue and epilogue.
    Contraction,
    /// Scans.
    Scan,
    /// Writes that may collide.
    Scatter,
    /// A registry call or a control-flow region.
    Opaque,
}

/// Additive summary of one kernel, in the sizes that the plan is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Bytes read from buffers, each buffer element once.
    pub read: f64,
    /// Bytes written.
    pub written: f64,
    /// Pointwise work in units of one cheap f32 operation.
    pub ops: f64,
    /// FLOPs of contractions (multiply and add count two).
    pub contract_flops: f64,
    /// Bytes that packing moves beyond reading the operands once.
    pub packed: f64,
    /// Bytes of partial results, written and read once each.
    pub partials: f64,
    /// Phases: one launch each.
    pub launches: f64,
}

/// What limits a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// Bytes over bandwidth.
    Memory,
    /// Operations.
    Compute,
    /// The fixed cost of launching.
    Latency,
}

/// Prediction for one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Seconds.
    pub time: f64,
    /// Bytes moved.
    pub bytes: f64,
    /// Largest term.
    pub bound: Bound,
}

impl Summary {
    /// Both in one launch, side by side.
    #[must_use]
    pub fn beside(self, other: &Summary) -> Summary {
        Summary {
            read: self.read + other.read,
            written: self.written + other.written,
            ops: self.ops + other.ops,
            contract_flops: self.contract_flops + other.contract_flops,
            packed: self.packed + other.packed,
            partials: self.partials + other.partials,
            launches: self.launches.max(other.launches),
        }
    }
    /// Bytes read and written.
    pub fn bytes(&self) -> f64 {
        self.read + self.written
    }
    /// All floating-point work.
    pub fn flops(&self) -> f64 {
        self.ops + self.contract_flops
    }
}

/// Predicts a kernel's time as the sum of its terms, as on a CPU, where one instruction stream does both loads and arithmetic; where
/// those overlap, the longer of the two counts.
pub fn estimate(s: &Summary, target: &Target) -> Estimate {
    let memory = (s.bytes() + s.partials) / target.bandwidth;
    let compute = s.ops / target.pointwise_ops + s.contract_flops / target.gemm_flops;
    let latency = s.launches * target.launch;
    let packing = s.packed / target.bandwidth;
    let bound = if latency > memory.max(compute) {
        Bound::Latency
    } else if memory >= compute {
        Bound::Memory
    } else {
        Bound::Compute
    };
    let work = if target.overlaps { memory.max(compute) } else { memory + compute };
    Estimate { time: work + packing + latency, bytes: s.bytes(), bound }
}

/// Most blocks of a reduction over parallel axes.
const MAX_BLOCKS: i64 = 64;
/// Fewest points of a block.
const MIN_BLOCK: i64 = 8192;

/// Blocks for which a reduction over `points` points of parallel axes leaves partial results: enough for all cores, each
/// with enough work. The number depends on sizes only, so that results do not depend on the number of threads.
pub fn blocks(points: i64) -> i64 {
    (points / MIN_BLOCK).clamp(1, MAX_BLOCKS)
}

/// Relative cost of a scalar op, in cheap f32 operations.
pub fn op_cost(op: ScalarOp) -> f64 {
    use ScalarOp as S;
    match op {
        S::Exp | S::Exp2 | S::Sigmoid | S::Tanh | S::Log | S::Log2 => 6.0,
        S::Erf | S::Expm1 | S::Log1p | S::Sin | S::Cos => 8.0,
        S::Tan | S::Asin | S::Acos | S::Atan | S::Sinh | S::Cosh | S::Asinh | S::Acosh | S::Atanh => 20.0,
        S::Pow | S::Atan2 | S::Rem | S::Mod | S::FloorDiv | S::Philox(_) => 20.0,
        S::Div | S::Recip | S::Sqrt | S::Rsqrt => 2.0,
        _ => 1.0,
    }
}

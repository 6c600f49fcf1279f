//! Device descriptions.

use serde::{Deserialize, Serialize};

/// What the cost model and the lowering rules know about a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Name, e.g. `cpu-avx2`.
    pub name: String,
    /// Parallel workers.
    pub cores: usize,
    /// Sustained copy rate over all cores, bytes per second.
    pub bandwidth: f64,
    /// Sustained f32 GEMM rate over all cores, FLOP per second.
    pub gemm_flops: f64,
    /// Cheap pointwise f32 operations per second over all cores, from cache.
    pub pointwise_ops: f64,
    /// Fixed cost of one kernel, seconds.
    pub launch: f64,
    /// Private cache of one core, bytes.
    pub l2: usize,
    /// Shared cache, bytes.
    pub l3: usize,
    /// Most buffer arguments of a kernel.
    pub max_args: usize,
    /// Most buffer arguments of independent groups that share a kernel.
    pub max_shared_args: usize,
    /// Most values that one kernel's pointwise code may hold.
    pub max_values: usize,
}

impl Target {
    /// The checked-in CPU description that tests and default planning use: plans do not depend on the machine.
    pub fn cpu() -> Target {
        Target {
            name: "cpu".into(),
            cores: 2,
            bandwidth: 20e9,
            gemm_flops: 150e9,
            pointwise_ops: 12e9,
            launch: 3e-6,
            l2: 512 << 10,
            l3: 32 << 20,
            max_args: 192,
            max_shared_args: 32 << 10,
            max_values: 160,
        }
    }
}

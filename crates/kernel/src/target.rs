//! Device descriptions.

use base::DeviceId;
use serde::{Deserialize, Serialize};

impl Epilogues {
    /// Those of cuBLASLt, whose gelu is the tanh form.
    pub const CUBLASLT: Epilogues =
        Epilogues { bias: true, relu: true, gelu_tanh: true, kept: true, gelu_tanh_backward: true, sums: true };
    /// Those of cuDNN after convolutions.
    pub const CUDNN: Epilogues =
        Epilogues { bias: true, relu: true, gelu_tanh: false, kept: false, gelu_tanh_backward: false, sums: false };
}

/// How a device computes matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Products {
    /// Generated code: operands may be computed while packing, results go on to other work while hot.
    Generated,
    /// A library's: operands are stored matrices, and results are stored.
    Library(Epilogues),
}

/// What a library does to a product before it stores it: adds a bias, then applies a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epilogues {
    /// Adds a vector over the result's adjacent axis.
    pub bias: bool,
    /// Applies `Activation::Relu`.
    pub relu: bool,
    /// Applies `Activation::GeluTanh`.
    pub gelu_tanh: bool,
    /// Stores what `Activation::GeluTanh` is applied to as well.
    pub kept: bool,
    /// Applies `Activation::GeluTanhBackward`.
    pub gelu_tanh_backward: bool,
    /// Stores sums over the rows of what `Activation::GeluTanhBackward` gives as well.
    pub sums: bool,
}

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
    /// Who computes matrix products.
    pub products: Products,
    /// Memory accesses and arithmetic of a kernel go on at the same time.
    pub overlaps: bool,
}

impl Target {
    /// The checked-in description that planning for a device uses.
    pub fn of(device: DeviceId) -> Target {
        match device {
            DeviceId::Cpu => Target::cpu(),
            DeviceId::Cuda(_) => Target::cuda(),
        }
    }

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
            products: Products::Generated,
            overlaps: false,
        }
    }

    /// The checked-in description of an NVIDIA H200, which planning for GPUs uses. `l2` is what one multiprocessor holds of a
    /// row in registers and shared memory.
    pub fn cuda() -> Target {
        Target {
            name: "cuda-h200".into(),
            cores: 132,
            bandwidth: 4.2e12,
            gemm_flops: 400e12,
            pointwise_ops: 20e12,
            launch: 2e-6,
            l2: 224 << 10,
            l3: 50 << 20,
            max_args: 192,
            max_shared_args: 3500,
            max_values: 160,
            products: Products::Library(Epilogues::CUBLASLT),
            overlaps: true,
        }
    }
}

//! Seeded random numbers. Streams are Fuseline's own: the same seed gives the same numbers on every machine and thread
//! count, but not PyTorch's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use scalar::DType;

/// A counter-based source of random numbers; clones share the counter.
#[derive(Clone, Debug)]
pub struct Generator(Arc<State>);

#[derive(Debug)]
struct State {
    seed: AtomicU64,
    counter: AtomicU64,
}

static DEFAULT: LazyLock<Generator> = LazyLock::new(|| Generator::new(0));

/// Restarts the default generator, as PyTorch's `manual_seed`.
pub fn manual_seed(seed: u64) {
    Generator::default().manual_seed(seed);
}

impl Default for Generator {
    /// The process-wide generator.
    fn default() -> Generator {
        DEFAULT.clone()
    }
}

impl Generator {
    /// A generator of its own.
    pub fn new(seed: u64) -> Generator {
        Generator(Arc::new(State { seed: AtomicU64::new(seed), counter: AtomicU64::new(0) }))
    }
    /// Restarts it.
    pub fn manual_seed(&self, seed: u64) {
        self.0.seed.store(seed, Ordering::Relaxed);
        self.0.counter.store(0, Ordering::Relaxed);
    }
    /// A fresh key; every random tensor and every execution of a random op takes one.
    pub(crate) fn next_key(&self) -> i64 {
        let n = self.0.counter.fetch_add(1, Ordering::Relaxed);
        mix(mix(self.0.seed.load(Ordering::Relaxed)) ^ n) as i64
    }
    /// Identity of the counter while a handle lives.
    pub(crate) fn id(&self) -> u64 {
        Arc::as_ptr(&self.0) as u64
    }
}

/// The finaliser of splitmix64: a bijection on 64-bit words with full avalanche.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Word `i` of the stream of `key`.
fn word(key: i64, i: u64) -> u64 {
    mix((key as u64).wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// In [0, 1): as many bits as the significand of `dtype` holds, so that rounding never gives 1.
pub(crate) fn uniform(key: i64, i: u64, dtype: DType) -> f64 {
    let bits = dtype.significand().unwrap_or(24);
    (word(key, i) >> (64 - bits)) as f64 / (1u64 << bits) as f64
}

/// Standard normal, by the Box–Muller transform on two words.
pub(crate) fn normal(key: i64, i: u64) -> f64 {
    let radius = 1.0 - (word(key, 2 * i) >> 11) as f64 / (1u64 << 53) as f64;
    let angle = uniform(key, 2 * i + 1, DType::F64) * std::f64::consts::TAU;
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

/// An integer in `[low, high)`.
pub(crate) fn integer(key: i64, i: u64, low: i64, high: i64) -> i64 {
    let span = (high as i128 - low as i128) as u128;
    low.wrapping_add(((u128::from(word(key, i)) * span) >> 64) as i64)
}

/// Roughly normal f32 values with mean 0 and the given deviation: the sum of four 16-bit uniforms from one word.
/// Quick enough to fill the weights of large models.
pub(crate) fn rough_normals(key: i64, n: usize, std: f32) -> Vec<u8> {
    let scale = std * 3f32.sqrt() / 65536.0;
    let mut bytes = Vec::with_capacity(4 * n);
    for i in 0..n as u64 {
        let w = word(key, i);
        let sum = (w & 0xFFFF) + ((w >> 16) & 0xFFFF) + ((w >> 32) & 0xFFFF) + (w >> 48);
        bytes.extend_from_slice(&((sum as f32 - 131_070.0) * scale).to_le_bytes());
    }
    bytes
}

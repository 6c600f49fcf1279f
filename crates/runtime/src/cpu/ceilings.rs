//! What this machine can do: its description, and rates measured in a fraction of a second.

use std::hint::black_box;
use std::time::Instant;

use base::Result;
use program::{Access, Affine, Body, Gemm, Instr, PackSource, Param, Phase, RegDecl, TileProgram, Ty};
use scalar::DType;

use super::device::Cpu;
use super::threads::ThreadPool;
use crate::device::Arg;

/// Cache sizes in bytes: first and second level of one core, third level of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// First-level data cache.
    pub l1: usize,
    /// Second level.
    pub l2: usize,
    /// Third level.
    pub l3: usize,
}

impl Caches {
    /// As the system tells, or common sizes.
    pub fn of_this_machine() -> Caches {
        let mut found = Caches { l1: 32 << 10, l2: 512 << 10, l3: 8 << 20 };
        for entry in 0..8 {
            let read = |what: &str| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{entry}/{what}"));
            let (Ok(level), Ok(kind), Ok(size)) = (read("level"), read("type"), read("size")) else { continue };
            let Some(size) = parse_size(size.trim()) else { continue };
            match (level.trim(), kind.trim()) {
                ("1", "Data") => found.l1 = size,
                ("2", _) => found.l2 = size,
                ("3", _) => found.l3 = size,
                _ => {}
            }
        }
        found
    }
}

fn parse_size(text: &str) -> Option<usize> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let scale = match unit {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "" => 1,
        _ => return None,
    };
    Some(number.parse::<usize>().ok()? * scale)
}

/// Rates with a number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Threads.
    pub threads: usize,
    /// Copying between buffers beyond the caches: GB/s, bytes read plus bytes written.
    pub copy: f64,
    /// Reading a buffer beyond the caches: GB/s.
    pub read: f64,
    /// Matrix product of f32: GFLOP/s.
    pub gemm: f64,
}

/// A machine's description and rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// Processor name.
    pub model: String,
    /// Instruction set that the kernels use: `avx512`, `avx2`, `neon` or `baseline`.
    pub isa: &'static str,
    /// Caches.
    pub caches: Caches,
    /// Multiply-adds out of registers on one thread: GFLOP/s of f32, where measurable.
    pub fma: Option<f64>,
    /// Rates with 1, 2, 4, … and all threads.
    pub rates: Vec<Rates>,
}

/// The instruction set that the kernels use.
pub fn isa() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "avx512";
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return "avx2";
        }
    }
    if cfg!(target_arch = "aarch64") { "neon" } else { "baseline" }
}

/// The processor's name, or its architecture.
pub fn model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Measures the machine with up to `threads` threads (0: one per core), in about 0.1 s for each count of threads.
///
/// # Errors
/// Out of memory.
pub fn measure(threads: usize) -> Result<Ceilings> {
    let most = ThreadPool::new(threads).threads();
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < most).collect();
    counts.push(most);
    let caches = Caches::of_this_machine();
    let rates = counts.into_iter().map(|n| measure_rates(n, caches)).collect::<Result<_>>()?;
    Ok(Ceilings { model: model(), isa: isa(), caches, fma: fma(), rates })
}

fn measure_rates(threads: usize, caches: Caches) -> Result<Rates> {
    let device = Cpu::new(threads);
    let bytes = (2 * caches.l3).clamp(32 << 20, 256 << 20);
    let buffers = [device.pool().alloc(bytes)?, device.pool().alloc(bytes)?];
    let [from, to] = [0, 1].map(|i| buffers[i].as_ptr() as usize);
    let part = bytes.div_ceil(4 * device.threads().threads()).next_multiple_of(4096);
    let each = |f: &(dyn Fn(usize, usize) + Sync)| {
        device.threads().run(bytes.div_ceil(part), &|task, _| f(task * part, part.min(bytes - task * part)));
    };
    // SAFETY: the ranges lie inside the buffers, and tasks write disjoint parts.
    each(&|at, len| unsafe { (from as *mut u8).add(at).write_bytes(1, len) });
    let copy = best(3, || {
        // SAFETY: as above.
        each(&|at, len| unsafe { std::ptr::copy_nonoverlapping((from as *const u8).add(at), (to as *mut u8).add(at), len) });
    });
    let read = best(3, || {
        // SAFETY: the range is initialised and aligned.
        each(&|at, len| unsafe { read_all(std::slice::from_raw_parts((from as *const u64).add(at / 8), len / 8)) });
    });
    let gb = bytes as f64 / 1e9;
    Ok(Rates { threads, copy: 2.0 * gb / copy, read: gb / read, gemm: gemm_rate(&device)? })
}

/// Least seconds of `runs` runs.
fn best(runs: usize, mut f: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

fn read_all(words: &[u64]) {
    let mut sums = [0u64; 32];
    for chunk in words.as_chunks::<32>().0 {
        sums.iter_mut().zip(chunk).for_each(|(s, w)| *s |= w);
    }
    black_box(sums);
}

/// GFLOP/s of a square product.
fn gemm_rate(device: &Cpu) -> Result<f64> {
    const N: usize = 768;
    let prepared = device.prepare(square(N as i64))?;
    let buffer = device.pool().alloc(3 * N * N * 4)?;
    buffer.write(0, &vec![0; buffer.len()])?;
    let args = [0, 1, 2].map(|i| Arg::at(&buffer, i * N * N * 4));
    let mut result = device.launch(&prepared, &args);
    let seconds = best(3, || result = device.launch(&prepared, &args));
    result.map(|()| 2.0 * (N * N * N) as f64 / seconds / 1e9)
}

/// Product of two row-major f32 matrices: parameters a, b, c.
fn square(n: i64) -> TileProgram {
    let affine = |coef: [i64; 3]| Affine { base: 0, coef: coef.into_iter().collect() };
    let source = |param, coef| PackSource::Direct { param, index: affine(coef), mask: vec![], frozen: false };
    let param = |name: &str, access| Param { name: name.into(), dtype: DType::F32, access, elements: (n * n) as u64 };
    let epilogue = Body {
        regs: vec![RegDecl { ty: Ty::F32, rows: true, cols: true, resident: 0 }],
        code: vec![Instr::Acc { dst: 0, which: 0 }, Instr::Store { param: 2, index: affine([n, 1, 0]), mask: vec![], src: 0 }],
    };
    let gemm = Gemm {
        batch: vec![],
        m: vec![n],
        n: vec![n],
        k: vec![n],
        ty: Ty::F32,
        products: vec![(0, 1)],
        sources: vec![source(0, [n, 0, 1]), source(1, [0, 1, n])],
        epilogue,
        flat_n: false,
        flat_m: false,
    };
    TileProgram {
        name: "square".into(),
        params: vec![param("a", Access::Read), param("b", Access::Read), param("c", Access::Write)],
        phases: vec![Phase::Gemm(gemm)],
        checks: vec![],
    }
}

/// GFLOP/s of f32 multiply-adds that never leave the registers, on one thread.
fn fma() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
        const STEPS: usize = 500_000;
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: AVX-512 was detected.
            return Some(2.0 * (STEPS * 12 * 16) as f64 / best(20, || unsafe { fma_avx512(STEPS) }) / 1e9);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: AVX2 and FMA were detected.
            return Some(2.0 * (STEPS * 12 * 8) as f64 / best(20, || unsafe { fma_avx2(STEPS) }) / 1e9);
        }
    }
    None
}

/// Twelve independent chains of multiply-adds.
macro_rules! fma_chains {
    ($name:ident, $feature:literal, $splat:ident, $fma:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $feature)]
        unsafe fn $name(steps: usize) {
            use std::arch::x86_64::*;
            let (x, y) = ($splat(black_box(0.5)), $splat(black_box(0.25)));
            let mut sums = [$splat(1.0); 12];
            for _ in 0..steps {
                for s in &mut sums {
                    *s = $fma(*s, x, y);
                }
            }
            black_box(sums);
        }
    };
}

fma_chains!(fma_avx2, "avx2,fma", _mm256_set1_ps, _mm256_fmadd_ps);
fma_chains!(fma_avx512, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse() {
        assert_eq!(["32K", "1M", "77", "x", "3G"].map(parse_size), [Some(32 << 10), Some(1 << 20), Some(77), None, None]);
    }

    #[test]
    fn every_rate_is_measured() {
        let ceilings = measure(2).unwrap();
        assert_eq!(ceilings.rates.iter().map(|r| r.threads).collect::<Vec<_>>(), [1, 2]);
        assert!(ceilings.rates.iter().all(|r| r.copy > 0.1 && r.read > 0.1 && r.gemm > 0.1), "{ceilings:?}");
        assert!(!ceilings.model.is_empty() && ceilings.caches.l1 <= ceilings.caches.l2);
    }
}

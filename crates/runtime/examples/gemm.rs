//! GFLOP/s of the matrix product in typical shapes, beside the multiply-add peak of the registers.
//!
//! `cargo run --release -p fuseline-runtime --example gemm`

use std::time::Instant;

use base::Result;
use program::{Access, Affine, Body, Bound, Gemm, Instr, PackSource, Param, Phase, RegDecl, TileProgram, Ty};
use runtime::{Arg, Buffer, Device, measure};
use scalar::DType;

fn affine(base: i64, coef: &[i64]) -> Affine {
    Affine { base, coef: coef.iter().copied().collect() }
}

fn source(param: u16, index: Affine, mask: Vec<Bound>, frozen: bool) -> PackSource {
    PackSource::Direct { param, index, mask, frozen }
}

/// A product of sources 0 and 1 into parameter 2.
fn product(m: Vec<i64>, n: Vec<i64>, k: Vec<i64>, sources: [PackSource; 2], out: Affine, elements: [i64; 3]) -> TileProgram {
    let epilogue = Body {
        regs: vec![RegDecl { ty: Ty::F32, rows: true, cols: true, resident: 0 }],
        code: vec![Instr::Acc { dst: 0, which: 0 }, Instr::Store { param: 2, index: out, mask: vec![], src: 0 }],
    };
    let gemm = Gemm {
        batch: vec![],
        m,
        flat_n: n.len() > 1,
        n,
        k,
        ty: Ty::F32,
        products: vec![(0, 1)],
        sources: sources.into(),
        epilogue,
        flat_m: false,
    };
    let access = [Access::Read, Access::Read, Access::Write];
    let param = |i: usize| Param { name: format!("p{i}"), dtype: DType::F32, access: access[i], elements: elements[i] as u64 };
    TileProgram { name: "product".into(), params: (0..3).map(param).collect(), phases: vec![Phase::Gemm(gemm)], checks: vec![] }
}

/// Row-major `m×k` times `k×n` (or transposed and frozen `n×k` weights).
fn linear([m, n, k]: [i64; 3], weights: bool) -> TileProgram {
    let b = if weights { affine(0, &[0, k, 1]) } else { affine(0, &[0, 1, n]) };
    let sources = [source(0, affine(0, &[k, 0, 1]), vec![], false), source(1, b, vec![], weights)];
    product(vec![m], vec![n], vec![k], sources, affine(0, &[n, 1]), [m * k, k * n, m * n])
}

/// A 3×3 convolution with padding 1 over `c × size × size`, to `o` channels.
fn convolution(o: i64, c: i64, size: i64) -> TileProgram {
    let bound = |coef: &[i64]| Bound { expr: affine(-1, coef), lo: 0, hi: size };
    let mask = vec![bound(&[0, 1, 0, 0, 1, 0]), bound(&[0, 0, 1, 0, 0, 1])];
    let image = source(1, affine(-size - 1, &[0, size, 1, size * size, size, 1]), mask, false);
    let weights = source(0, affine(0, &[c * 9, 0, 0, 9, 3, 1]), vec![], true);
    let area = size * size;
    product(vec![o], vec![size, size], vec![c, 3, 3], [weights, image], affine(0, &[area, 0, 1]), [o * c * 9, c * area, o * area])
}

fn seconds(device: &Device, program: TileProgram, flops: f64) -> Result<f64> {
    let bytes: Vec<usize> = program.params.iter().map(|p| p.elements as usize * 4).collect();
    let prepared = device.prepare(program)?;
    let buffers = bytes.iter().map(|&n| device.pool().alloc(n)).collect::<Result<Vec<Buffer>>>()?;
    buffers.iter().try_for_each(|b| b.write(0, &vec![0; b.len()]))?;
    let args: Vec<Arg<'_>> = buffers.iter().map(Arg::from).collect();
    let mut best = f64::INFINITY;
    for _ in 0..((2e10 / flops) as usize).clamp(5, 5000) {
        let start = Instant::now();
        device.launch(&prepared, &args)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn main() -> Result<()> {
    let ceilings = measure(0)?;
    println!("{} ({}), {:?}", ceilings.model, ceilings.isa, ceilings.caches);
    let peak = ceilings.fma.unwrap_or(ceilings.rates[0].gemm);
    println!("multiply-add peak of one thread {peak:.1} GFLOP/s");
    for rates in &ceilings.rates {
        println!("{rates:?}");
    }
    let cases = [
        ("1024 x 1024 x 1024", linear([1024, 1024, 1024], false), 1u64 << 30),
        ("1024 x 1024 x 1024 weights", linear([1024, 1024, 1024], true), 1 << 30),
        ("128 x 1536 x 384 weights", linear([128, 1536, 384], true), 128 * 1536 * 384),
        ("64 x 3136 x 576 conv", convolution(64, 64, 56), 64 * 3136 * 576),
        ("512 x 49 x 4608 conv", convolution(512, 512, 7), 512 * 49 * 4608),
        ("1 x 4096 x 1024", linear([1, 4096, 1024], false), 4096 * 1024),
        ("1 x 4096 x 1024 weights", linear([1, 4096, 1024], true), 4096 * 1024),
    ];
    for threads in [1, 2] {
        let device = Device::cpu(threads);
        for (name, program, madds) in &cases {
            let flops = 2.0 * *madds as f64;
            let time = seconds(&device, program.clone(), flops)?;
            let rate = flops / time / 1e9;
            let share = 100.0 * rate / peak / threads as f64;
            println!("{name:28} {threads} threads {:10.1} us {rate:7.1} GFLOP/s {share:4.0} % of peak", time * 1e6);
        }
    }
    Ok(())
}

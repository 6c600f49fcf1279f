//! temporary
use graph::{HostTensor, Module};
use scalar::{DType, Scalar};
fn data(d: DType, shape: &[usize], seed: u64) -> HostTensor {
    let n: usize = shape.iter().product();
    let mut s = seed * 77 + 1;
    let base: Vec<u8> = (0..(1 << 16).min(n.max(1))).flat_map(|_| { s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); let u = ((s >> 40) as f64 / (1u64 << 24) as f64) * 2.0 - 1.0; let v = if d.is_float() { Scalar::from_f64(d, u) } else { Scalar::from_i64(d, (s >> 50) as i64 % 100) }; v.bits().to_le_bytes()[..d.size()].to_vec() }).collect();
    let mut bytes = Vec::with_capacity(n * d.size());
    while bytes.len() < n * d.size() { let k = (n * d.size() - bytes.len()).min(base.len()); bytes.extend_from_slice(&base[..k]); }
    HostTensor::from_bytes(d, shape, bytes).unwrap()
}
fn main() {
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap();
        let body: String = text.split("----").next().unwrap().lines().filter(|l| !l.starts_with("test ")).map(|l| format!("{l}\n")).collect();
        for numerics in [base::Numerics::Wide, base::Numerics::Eager] {
            let config = base::Config { numerics, device: "cuda".parse().unwrap(), cuda: base::CudaConfig::from_env(), cache: std::env::var("FUSELINE_CACHE").ok(), ..base::Config::default() };
            let mut run = || -> base::Result<()> {
                let graph = graph::text::parse("t", &body)?;
                let shapes: Vec<(DType, Vec<usize>)> = graph.inputs.iter().map(|i| (i.ty.dtype, i.ty.shape.iter().map(|s| s.as_int().unwrap() as usize).collect())).collect();
                let outs: usize = graph.outputs.iter().map(|o| graph.shape(o.value).iter().map(|s| s.as_int().unwrap() as usize).product::<usize>() * graph.dtype(o.value).size()).sum();
                let bytes: usize = outs + shapes.iter().map(|(d, s)| s.iter().product::<usize>() * d.size()).sum::<usize>();
                let t0 = std::time::Instant::now();
                let frozen = Vec::new();
                let mut g = graph.clone();
                for i in &mut g.inputs { i.frozen = false; }
                let exe = driver::compile(&Module { graph: g, frozen }, &config)?;
                let inputs: Vec<HostTensor> = shapes.iter().enumerate().map(|(n, (d, s))| data(*d, s, n as u64 + 1)).collect();
                let arrays: Vec<driver::Array> = inputs.iter().map(|t| driver::to_array(exe.device().pool(), t)).collect::<base::Result<_>>()?;
                let t1 = std::time::Instant::now();
                exe.run_arrays(&arrays)?;
                exe.device().synchronize()?;
                let cold = t1.elapsed();
                let mut times = vec![];
                for _ in 0..15 { exe.device().flush_l2()?; let mut keep = None; times.push(exe.device().time(|| { keep = Some(exe.run_arrays(&arrays)?); Ok(()) })?.as_secs_f64()); drop(keep); }
                times.sort_by(f64::total_cmp);
                let half = bytes / 2;
                let (a, b) = (exe.device().pool().alloc(half)?, exe.device().pool().alloc(half)?);
                let mut copies = vec![];
                for _ in 0..9 { exe.device().flush_l2()?; copies.push(exe.device().time(|| b.copy_from(0, &a, 0, half))?.as_secs_f64()); }
                copies.sort_by(f64::total_cmp);
                println!("{} {:?}: {} kernels, {:.1} us (min {:.1}), {:.0} GB/s, copy {:.1} us, ratio {:.3}; compile {:?} cold {:?}", std::path::Path::new(&file).file_stem().unwrap().to_string_lossy(), numerics, exe.plan().kernels.len(), times[7] * 1e6, times[0] * 1e6, bytes as f64 / times[7] / 1e9, copies[4] * 1e6, copies[4] / times[7], t1 - t0, cold);
                Ok(())
            };
            if let Err(e) = run() { println!("{file} {numerics:?}: ERROR {e}"); }
        }
    }
}

//! Real compilers, where a test run names folders with them: `FUSELINE_TEST_NVRTC=/folder/12:/folder/13`, each as
//! `pip install --target` makes it. They need no GPU.

use base::CudaConfig;

use super::load::compiler;
use super::module::Source;
use super::nvrtc::{Nvrtc, taken};

/// The compilers of the folders.
fn compilers() -> Vec<Nvrtc> {
    let Some(folders) = std::env::var_os("FUSELINE_TEST_NVRTC") else {
        println!("skipped: FUSELINE_TEST_NVRTC names no folder with NVIDIA's run-time compiler");
        return Vec::new();
    };
    let load = |folder: std::path::PathBuf| {
        let config = CudaConfig { path: vec![folder.to_string_lossy().into_owned()], ..CudaConfig::default() };
        compiler(&config).unwrap_or_else(|e| panic!("{e}")).0
    };
    std::env::split_paths(&folders).map(load).collect()
}

const SCALE: &str = r#"// nvrtc: -fmad=false
struct Block { unsigned long long w[4]; };
extern "C" __global__ void scale(const __grid_constant__ Block p) {
    const float* from = (const float*)p.w[0];
    float* to = (float*)p.w[1];
    long long n = (long long)p.w[2];
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) to[i] = from[i] * 2.0f + 1.0f;
}
"#;

#[test]
fn sources_become_binaries() {
    for compiler in compilers() {
        for capability in [(8, 0), (9, 0)] {
            let source = Source::new(SCALE, capability, compiler.number());
            let compiled = source.build(&compiler, None).unwrap();
            println!("{:?} {capability:?}: {} bytes\n{}", compiler.number(), compiled.cubin.len(), compiled.log);
            assert_eq!(compiled.cubin[..4], *b"\x7fELF");
            let [takes] = &taken(&compiled.log)[..] else { panic!("{}", compiled.log) };
            assert!(takes.entry == "scale" && takes.spills == 0 && takes.registers > 0, "{takes:?}");
        }
    }
}

#[test]
fn spills_are_seen() {
    let sums: String = (0..64).map(|i| format!("v[{i}] = v[{i}] * p[{i}] + v[({i} + 7) % 64];\n")).collect();
    let text = format!(
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) many(float* p) {{\n\
         float v[64];\n#pragma unroll\nfor (int i = 0; i < 64; i++) v[i] = p[threadIdx.x + i];\n\
         for (int r = 0; r < 9; r++) {{\n{sums}}}\n#pragma unroll\nfor (int i = 0; i < 64; i++) p[threadIdx.x * 64 + i] = v[i];\n}}"
    );
    for compiler in compilers() {
        let compiled = Source::new(&text, (9, 0), compiler.number()).build(&compiler, None).unwrap();
        println!("{}", compiled.log);
        assert!(matches!(&taken(&compiled.log)[..], [takes] if takes.entry == "many" && takes.spills > 0));
    }
}

#[test]
fn errors_carry_the_log_and_the_lines() {
    for compiler in compilers() {
        let text = "extern \"C\" __global__ void k(float* p) {\n  p[0] = missing;\n}";
        let error = Source::new(text, (9, 0), compiler.number()).build(&compiler, None).unwrap_err().to_string();
        println!("{error}");
        assert!(error.contains("\"missing\" is undefined") && error.contains("    2 |   p[0] = missing;"), "{error}");
        let flag = Source::new("// nvrtc: --no-such-flag\n", (9, 0), compiler.number());
        let error = flag.build(&compiler, None).unwrap_err().to_string();
        assert!(error.contains("--no-such-flag"), "{error}");
    }
}

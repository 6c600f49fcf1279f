//! Generated CUDA C++, run on the CPU, gives what the CPU's own programs give. It takes a C++ compiler: `FUSELINE_TEST_CXX=g++`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use base::Config;
use fuse::{Kernel, Plan};
use graph::{Graph, text};
use kernel::Target;
use program::{Access, Param};
use runtime::{Arg, Device};
use scalar::{DType, Scalar};
use testing::cuda::config_of;
use testing::emulator::Emulator;
use testing::generate::{self, Profile};
use testing::{Cursor, seed_bytes};

/// Random graphs that are run.
const SEEDS: u64 = 12;

fn emulator(name: &str) -> Option<Emulator> {
    let Some(compiler) = std::env::var_os("FUSELINE_TEST_CXX") else {
        println!("skipped: FUSELINE_TEST_CXX names no C++ compiler");
        return None;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    Some(Emulator::new(compiler, folder).expect("the folder can be made"))
}

/// Numbers of both signs, integers from 0 to 4.
fn values(param: &Param, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let one = |u: f64| match param.dtype {
        DType::Bool => Scalar::from_i64(DType::Bool, i64::from(u < 0.5)),
        d if d.is_float() => Scalar::from_f64(d, 4.0 * u - 2.0),
        d => Scalar::from_i64(d, (5.0 * u) as i64),
    };
    (0..param.elements).flat_map(|_| one(next()).bits().to_le_bytes()[..param.dtype.size()].to_vec()).collect()
}

/// What the CPU's program of a kernel makes of its arguments.
fn on_cpu(plan: &Plan, kernel: &Kernel, config: &Config, given: &[Vec<u8>]) -> base::Result<Vec<Vec<u8>>> {
    let program = driver::tile_program(plan, kernel, &BTreeMap::new(), config)?;
    let device = Device::cpu(1);
    let sizes: Vec<usize> = program.params.iter().map(|p| p.elements as usize * p.dtype.size()).collect();
    let buffers: Vec<_> = sizes.iter().map(|&n| device.pool().alloc(n)).collect::<base::Result<_>>()?;
    for ((buffer, bytes), size) in buffers.iter().zip(given).zip(&sizes) {
        buffer.write(0, &bytes[..bytes.len().min(*size)])?;
    }
    device.launch(&device.prepare(program)?, &buffers.iter().map(Arg::from).collect::<Vec<_>>())?;
    let read = |(buffer, bytes): (&runtime::Buffer, &Vec<u8>)| {
        let mut out = vec![0; bytes.len()];
        buffer.read(0, &mut out).map(|()| out)
    };
    buffers.iter().zip(given).map(read).collect()
}

/// The first element that is too far off, as text.
fn difference(dtype: DType, want: &[u8], have: &[u8]) -> Option<String> {
    let size = dtype.size();
    let number = |bytes: &[u8]| {
        let bits = bytes.iter().rev().fold(0u64, |bits, b| bits << 8 | u64::from(*b));
        Scalar::from_bits(dtype, bits).as_f64()
    };
    let tolerance = match dtype {
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        DType::F32 | DType::F64 => 2e-4,
        _ => 0.0,
    };
    let largest = want.chunks_exact(size).map(|w| number(w).abs()).filter(|w| w.is_finite()).fold(0.0, f64::max);
    let close = |w: f64, h: f64| w == h || (w.is_nan() && h.is_nan()) || (w - h).abs() <= tolerance * (w.abs() + 0.1 * largest);
    let pairs = want.chunks_exact(size).zip(have.chunks_exact(size)).map(|(w, h)| (number(w), number(h)));
    let (at, (w, h)) = pairs.enumerate().find(|(_, (w, h))| !close(*w, *h))?;
    Some(format!("element {at}: want {w}, have {h}"))
}

/// Runs all kernels of a graph's plan for a GPU that library steps do not compute, as usual and in as many ways that a tuner may choose;
/// gives their number and adds what is wrong.
fn check(
    emulator: &Emulator,
    name: &str,
    graph: &Graph,
    config: &Config,
    ways: usize,
    wrong: &mut String,
) -> base::Result<usize> {
    let plan = driver::passes(graph, &BTreeMap::new(), &Target::cuda(), config)?.plan;
    let mut count = 0;
    let of = |kernel| driver::candidates(&plan, kernel, &BTreeMap::new(), config).unwrap_or_default();
    let programs =
        plan.kernels.iter().flat_map(|k| of(k).into_iter().take(1 + ways).enumerate().map(move |(n, (_, p))| (k, n, p)));
    for (kernel, way, mut program) in programs {
        program.name = format!("{name}_{way}_{}", program.name);
        let given: Vec<Vec<u8>> = program.params.iter().enumerate().map(|(n, p)| values(p, n as u64 + 7)).collect();
        let arguments = program.params.iter().take_while(|p| !p.name.starts_with("partial")).count();
        let want = match on_cpu(&plan, kernel, config, &given[..arguments]) {
            Ok(want) => want,
            Err(e) => {
                println!("{name}, {}: the CPU cannot: {e}", program.name);
                continue;
            }
        };
        let mut have = given;
        match emulator.run(&program, &mut have) {
            Err(e) if e.kind == base::ErrorKind::Unsupported || program.source.is_empty() => continue,
            Err(e) => _ = writeln!(wrong, "{name}, {}: {e}", program.name),
            Ok(Some(fault)) => _ = writeln!(wrong, "{name}, {}: {fault}", program.name),
            Ok(None) => {
                let written = program.params.iter().zip(want.iter().zip(&have)).filter(|(p, _)| p.access != Access::Read);
                for (param, (want, have)) in written {
                    if let Some(difference) = difference(param.dtype, want, have) {
                        let _ = writeln!(wrong, "{name}, {}, {}: {difference}", program.name, param.name);
                    }
                }
            }
        }
        count += 1;
    }
    Ok(count)
}

const WIDE: &str = "# numerics wide\n";
const NO_CLUSTERS: &str = "# clusters no\n";

/// Name, file, numbers put in place of others, and options as in filetests.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

/// Rows of the benchmark at sizes that bring out each schedule.
const ROWS: [Row; 27] = [
    ("softmax_registers", "04_softmax_16384x4096", &[("16384", "3")], WIDE),
    ("softmax_cluster", "04_softmax_16384x4096", &[("16384", "2"), ("4096", "40960")], WIDE),
    ("softmax_one_block", "04_softmax_16384x4096", &[("16384", "2"), ("4096", "40960")], NO_CLUSTERS),
    ("layer_norm_cluster", "05_layer_norm_16384x4096", &[("16384", "2"), ("4096", "66560")], WIDE),
    ("layer_norm_warps", "05_layer_norm_16384x4096", &[("16384", "5"), ("4096", "1000")], ""),
    ("residual_shared", "05_residual_layer_norm_16384x4096", &[("16384", "3"), ("4096", "16384")], WIDE),
    ("residual_cluster", "05_residual_layer_norm_16384x4096", &[("16384", "2"), ("4096", "40000")], ""),
    ("softmax_stream", "04_softmax_16384x4096", &[("16384", "133"), ("4096", "33000")], WIDE),
    ("layer_norm_stream", "05_layer_norm_16384x4096", &[("16384", "133"), ("4096", "34000")], WIDE),
    ("residual_stream", "05_residual_layer_norm_16384x4096", &[("16384", "133"), ("4096", "17000")], WIDE),
    ("backward_walk", "06_layer_norm_backward_16384x4096", &[("16384", "70"), ("4096", "2048")], WIDE),
    ("backward_narrow", "06_layer_norm_backward_16384x4096", &[("16384", "9000"), ("4096", "8")], WIDE),
    ("backward_stream", "06_layer_norm_backward_16384x4096", &[("16384", "600"), ("4096", "3000")], WIDE),
    ("backward_stream_long", "06_layer_norm_backward_16384x4096", &[("16384", "270"), ("4096", "12000")], ""),
    ("backward_walkers", "06_layer_norm_backward_16384x4096", &[("16384", "300"), ("4096", "256")], WIDE),
    ("backward_long", "06_layer_norm_backward_16384x4096", &[("16384", "36"), ("4096", "16384")], WIDE),
    ("backward_cluster", "06_layer_norm_backward_16384x4096", &[("16384", "70"), ("4096", "32768")], WIDE),
    ("backward_without_clusters", "06_layer_norm_backward_16384x4096", &[("16384", "70"), ("4096", "8192")], NO_CLUSTERS),
    ("cross_entropy_gradient_cluster", "07_cross_entropy_gradient", &[("8192", "6"), ("128256", "40000")], WIDE),
    ("cross_entropy_gradient_small", "07_cross_entropy_gradient", &[("8192", "9"), ("128256", "1000")], WIDE),
    ("cross_entropy_walk", "07_cross_entropy", &[("8192", "40"), ("128256", "5000")], WIDE),
    ("transpose_tiles", "08_transpose_bf16", &[("8192", "200")], ""),
    ("sum_all", "09_sum_all_bf16", &[("16384", "700")], ""),
    ("sum_columns", "09_sum_columns_f32", &[("16384", "1024")], ""),
    ("sum_few_columns", "09_sum_columns_f32", &[("[16384, 16384]", "[4096, 96]"), ("[16384]", "[96]")], ""),
    ("ten_ops", "02_ten_ops", &[("8192", "64")], WIDE),
    ("bias_gelu", "01_bias_gelu", &[("8192", "72")], WIDE),
];

/// Programs that also run in the ways that a tuner may choose.
const TUNED: [&str; 6] =
    ["stream_of_doubles", "softmax_cluster", "backward_cluster", "backward_walkers", "group_norm_part", "greatest_products"];

/// Further programs, with names of their own.
const PROGRAMS: &str = include_str!("emulated.t");

/// A row at other sizes.
fn row(file: &str, sizes: &[(&str, &str)], options: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../benches/cuda/{file}.t"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    sizes.iter().fold(format!("{options}{text}"), |text, (old, new)| text.replace(old, new))
}

#[test]
fn every_schedule_computes_what_the_cpu_does() {
    let Some(emulator) = emulator("emulated") else { return };
    let mut wrong = String::new();
    let rows = ROWS.iter().map(|(name, file, sizes, options)| (*name, row(file, sizes, options)));
    let others = PROGRAMS.split("====\n").map(|body| {
        let name = body.split_once("func ").and_then(|(_, rest)| rest.split_once('(')).map_or("program", |(name, _)| name);
        (name, body.to_owned())
    });
    for (name, body) in rows.chain(others) {
        let graph = text::parse(name, &body).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ways = if TUNED.contains(&name) { usize::MAX - 1 } else { 0 };
        let count = check(&emulator, name, &graph, &config_of(&body), ways, &mut wrong).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(count > 0, "{name}: nothing was run");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn random_graphs_compute_what_the_cpu_does() {
    let Some(emulator) = emulator("emulated_random") else { return };
    let (mut wrong, mut count) = (String::new(), 0);
    for seed in 0..SEEDS {
        let bytes = seed_bytes(seed + 31_000, 4096);
        let graph = generate::graph(&mut Cursor::new(&bytes), Profile::Tame, 12).expect("the generator makes graphs");
        count += check(&emulator, &format!("seed{seed}"), &graph, &Config::default(), 0, &mut wrong).unwrap_or(0);
    }
    assert!(count > SEEDS as usize / 2, "{count} kernels were run");
    assert!(wrong.is_empty(), "{wrong}");
}

//! `tests/files` through every stage.

use std::path::Path;

use testing::cpu::with_cpu_stages;
use testing::cuda::with_cuda_stage;
use testing::stages::graph_stages;

#[test]
fn graph_level() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    for stage in ["parse", "verify", "simplify", "layout", "alias", "run"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files").join(stage);
        graph_stages().run_folder(&folder, bless).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn cpu_level() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    for stage in ["plan", "kernel", "cpu"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files").join(stage);
        with_cpu_stages(graph_stages()).run_folder(&folder, bless).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn cuda_level() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/cuda");
    with_cuda_stage(graph_stages()).run_folder(&folder, bless).unwrap_or_else(|e| panic!("{e}"));
}

//! Generated CUDA C++ compiles without errors and spills, for an old and a new GPU. It takes NVIDIA's run-time compiler and no GPU:
//! `FUSELINE_TEST_NVRTC=/folder/12:/folder/13` names folders with it, each as `pip install --target` makes it.

use std::fs;
use std::path::{Path, PathBuf};

use base::{Config, CudaConfig, Result};
use program::{CudaProgram, CudaStep};
use runtime::cuda::Compiler;
use testing::cuda::{cuda_candidates, cuda_programs};

/// Compute capabilities that sources are compiled for. Clusters of blocks need the second.
const CAPABILITIES: [(u32, u32); 2] = [(8, 0), (9, 0)];

fn compilers() -> Vec<Compiler> {
    let Some(folders) = std::env::var_os("FUSELINE_TEST_NVRTC") else {
        println!("skipped: FUSELINE_TEST_NVRTC names no folder with NVIDIA's run-time compiler");
        return Vec::new();
    };
    let open = |folder: std::path::PathBuf| {
        let cuda = CudaConfig { path: vec![folder.to_string_lossy().into_owned()], ..CudaConfig::default() };
        Compiler::open(&Config { cuda, ..Config::default() }).unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
    };
    std::env::split_paths(&folders).map(open).collect()
}

/// The repository, as cargo tells it to a test that it runs; a test that was copied elsewhere runs beside the folder `tests`.
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| ".".into(), |crate_folder| Path::new(&crate_folder).join("../.."))
}

/// The programs that `of` makes of every filetest, with the files' names.
fn programs(of: fn(&str) -> Result<Vec<CudaProgram>>) -> Vec<(String, CudaProgram)> {
    let folder = root().join("tests/files/cuda");
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        let text = fs::read_to_string(&path).expect("the file is readable");
        let body = text.split_once("----\n").map_or(text.as_str(), |(head, _)| head);
        let (_, body) = body.split_once('\n').expect("the file has a header");
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        let made = of(body).unwrap_or_else(|e| panic!("{name}: {e}"));
        programs.extend(made.into_iter().map(|p| (name.clone(), p)));
    }
    programs
}

fn has_clusters(program: &CudaProgram) -> bool {
    program.steps.iter().any(|s| matches!(s, CudaStep::Launch(l) if l.cluster > 1))
}

/// Compiles programs for a compute capability; gives what is wrong with them.
fn complaints(compiler: &Compiler, capability: (u32, u32), programs: &[(String, CudaProgram)]) -> Vec<String> {
    let fits = |p: &CudaProgram| !p.source.is_empty() && (capability >= (9, 0) || !has_clusters(p));
    let mut wrong = Vec::new();
    for (file, program) in programs.iter().filter(|(_, p)| fits(p)) {
        let version = compiler.info().version.as_deref().unwrap_or_default();
        let at = format!("{file}, {}, NVRTC {version}, capability {capability:?}", program.name);
        match compiler.compile(&program.source, capability) {
            Ok(kernels) => {
                println!("{at}: {kernels:?}");
                wrong.extend(kernels.iter().filter(|k| k.spills > 0).map(|k| format!("{at}: spills: {k:?}")));
            }
            Err(e) => wrong.push(format!("{at}: {e}")),
        }
    }
    wrong
}

#[test]
fn sources_compile_without_spills() {
    let (programs, compilers) = (programs(cuda_programs), compilers());
    assert!(programs.iter().any(|(_, p)| has_clusters(p)), "no program with clusters");
    let each = compilers.iter().flat_map(|compiler| CAPABILITIES.map(|capability| (compiler, capability)));
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let programs = &programs[..];
        let start = |(compiler, capability)| scope.spawn(move || complaints(compiler, capability, programs));
        let threads: Vec<_> = each.map(start).collect();
        threads.into_iter().flat_map(|t| t.join().expect("a thread does not panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// They may spill, for which a tuner drops them.
#[test]
fn what_a_tuner_tries_compiles() {
    let candidates = programs(cuda_candidates);
    assert!(candidates.len() > 50, "{} candidates", candidates.len());
    let compilers = compilers();
    let Some(compiler) = compilers.last() else { return };
    let wrong = |part: &[(String, CudaProgram)]| -> Vec<String> {
        let failed = |(file, program): &(String, CudaProgram)| {
            let error = compiler.compile(&program.source, CAPABILITIES[1]).err()?;
            Some(format!("{file}, {}: {error}", program.name))
        };
        part.iter().filter(|(_, p)| !p.source.is_empty()).filter_map(failed).collect()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves = candidates.chunks(candidates.len().div_ceil(2)).map(|part| scope.spawn(move || wrong(part)));
        let halves: Vec<_> = halves.collect();
        halves.into_iter().flat_map(|t| t.join().expect("a thread does not panic")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), candidates.len(), wrong.join("\n"));
}

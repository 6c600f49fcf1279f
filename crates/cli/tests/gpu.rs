//! `--device cuda` and the GPU side of `doctor`, from outside. The tests run without a GPU, and say what they left out with one.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const SOFTMAX: &str = "func softmax(x: f32[n, 16]) {
  %m = reduce.max %x [1]
  %r = view.reshape %m [n, 1]
  %b = view.expand %r [n, 16]
  %d = sub %x, %b
  %e = exp %d
  %s = reduce.sum %e [1]
  %t = view.reshape %s [n, 1]
  %u = view.expand %t [n, 16]
  %q = div %e, %u
  return y = %q
}
";

/// A folder of its own for one test, with the model.
fn folder(test: &str) -> (PathBuf, String) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-gpu-{test}"));
    std::fs::create_dir_all(&dir).unwrap();
    let model = dir.join("m.t");
    std::fs::write(&model, SOFTMAX).unwrap();
    (dir, model.to_str().unwrap().to_owned())
}

/// Runs with some variables: exit code, standard output and standard error.
fn fuseline(args: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuseline"));
    for (name, _) in std::env::vars().filter(|(n, _)| n.starts_with("FUSELINE_")) {
        command.env_remove(name);
    }
    let out = command.env("FUSELINE_CACHE", "0").envs(variables.iter().copied()).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn doctor(variables: &[(&str, &str)]) -> Value {
    let (code, out, err) = fuseline(&["doctor", "--quick", "--json"], variables);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// Whether this machine has a GPU; then a test has nothing to say about machines without one.
fn has_gpu() -> bool {
    let gpu = !doctor(&[])["gpu"]["found"].is_null();
    if gpu {
        println!("skipped: this machine has a GPU");
    }
    gpu
}

#[test]
fn without_a_gpu_commands_say_what_was_looked_for() {
    if has_gpu() {
        return;
    }
    let (_, model) = folder("none");
    for command in ["run", "explain", "bench", "verify"] {
        for (args, variables) in [(&["--device", "cuda:0"][..], &[][..]), (&[], &[("FUSELINE_DEVICE", "cuda")])] {
            let (code, out, err) = fuseline(&[&[command, &model], args].concat(), variables);
            assert_eq!((code, out.as_str()), (3, ""), "{command} {args:?}\n{err}");
            let error = err.lines().find(|l| l.starts_with("error: ")).unwrap_or_else(|| panic!("{err}"));
            for part in ["no GPU", "cuda was not found; tried libcuda.so.1", "NVIDIA's driver"] {
                assert!(error.contains(part), "{command}: {part:?} is not in {error}");
            }
        }
    }
}

#[test]
fn a_missing_compiler_comes_with_the_wheels_to_install() {
    let empty = folder("empty").0.join("none");
    let variables = ["HOME", "PATH", "VIRTUAL_ENV", "CONDA_PREFIX"].map(|name| (name, empty.to_str().unwrap()));
    let library = |name: &str| {
        let document = doctor(&variables);
        document["gpu"]["libraries"].as_array().unwrap().iter().find(|l| l["name"] == name).unwrap().clone()
    };
    let nvrtc = library("nvrtc");
    if !nvrtc["path"].is_null() {
        println!("skipped: the system has a compiler: {nvrtc}");
        return;
    }
    assert!(nvrtc["install"].as_str().unwrap().contains("pip install nvidia-cuda-nvrtc"), "{nvrtc}");
    assert!(nvrtc["tried"].as_array().unwrap().iter().any(|t| t.as_str().unwrap().contains("libnvrtc.so.12")), "{nvrtc}");
}

#[test]
fn bad_devices_are_refused() {
    let (_, model) = folder("bad");
    for device in ["gpu", "cuda:", "cuda:x", "cuda:-1"] {
        let (code, _, err) = fuseline(&["run", &model, "--device", device], &[]);
        assert!(code == 2 && err.contains("use cpu, cuda or cuda:N"), "{err}");
        let (code, _, err) = fuseline(&["run", &model], &[("FUSELINE_DEVICE", device)]);
        assert!(code == 2 && err.contains("FUSELINE_DEVICE"), "{err}");
    }
    assert_eq!(fuseline(&["run", &model, "--device", "cpu"], &[("FUSELINE_DEVICE", "cuda:77")]).0, 0);
}

#[test]
fn doctor_describes_the_gpu_or_says_that_there_is_none() {
    let document = doctor(&[("FUSELINE_SYNC", "1"), ("FUSELINE_DEVICE", "cuda:0"), ("FUSELINE_CUDA_PATH", "/nowhere")]);
    assert_eq!(document["version"], 1);
    for (name, value) in [("FUSELINE_SYNC", "1"), ("FUSELINE_DEVICE", "cuda:0"), ("FUSELINE_CUDA_PATH", "/nowhere")] {
        assert_eq!(document["environment"][name], value);
    }
    let gpu = &document["gpu"];
    assert_eq!(gpu["device"], "cuda:0");
    let names: Vec<&str> = gpu["libraries"].as_array().unwrap().iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cuda", "nvrtc", "cublasLt", "cudnn", "nccl"]);
    for library in gpu["libraries"].as_array().unwrap() {
        assert_ne!(library["path"].is_null(), library["install"].is_null(), "{library}");
    }
    assert!(gpu["rates"].is_null() && gpu["found"].is_null() != gpu["error"].is_null(), "{gpu}");
    let (_, text, _) = fuseline(&["doctor", "--quick"], &[]);
    let line = text.lines().find(|l| l.starts_with("gpu ")).unwrap_or_else(|| panic!("{text}"));
    assert_ne!(line.contains("none: "), text.lines().any(|l| l.starts_with("start-up ")), "{text}");
    assert!(text.lines().any(|l| l.starts_with("nvrtc ")), "{text}");
}

#[test]
fn one_kernel_shows_its_cuda_source_and_launches() {
    let (_, model) = folder("kernel");
    let args = ["explain", &model, "--dim", "n=8", "--kernel", "0", "--device", "cuda"];
    let (code, text, err) = fuseline(&args, &[]);
    assert_eq!(code, 0, "{err}");
    for part in ["extern \"C\" __global__ void", "launch k_", "registers"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    // Without a GPU, the compiler alone says what the code takes.
    let compiler = std::env::var("FUSELINE_TEST_NVRTC").ok();
    let variables: Vec<(&str, &str)> = compiler.iter().map(|path| ("FUSELINE_CUDA_PATH", path.as_str())).collect();
    let (code, json, _) = fuseline(&[&args[..], &["--json"]].concat(), &variables);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &value["version"]), (0, &1.into()));
    assert!(value["program"].as_str().unwrap().contains("__global__"), "{value}");
    let resources = &value["resources"];
    assert_ne!(resources["kernels"].is_null(), resources["error"].is_null(), "{resources}");
    assert!(compiler.is_none() || resources["kernels"][0]["registers"].as_u64().unwrap() > 0, "{resources}");
    let (code, _, err) = fuseline(&["explain", &model, "--kernel", "99", "--device", "cuda"], &[]);
    assert!(code == 2 && err.contains("the kernels, from 0, are"), "{err}");
    let (code, text, _) = fuseline(&["opt", &model, "--dim", "n=8", "--to", "tile", "--device", "cuda"], &[]);
    assert!(code == 0 && text.contains("__global__"), "{text}");
}

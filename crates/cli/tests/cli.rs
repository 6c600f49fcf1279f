//! The `fuseline` command from outside: exit codes and output.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const SOFTMAX: &str = "func softmax(x: f32[n, 16]) {
  %m = reduce.max %x [1]   # softmax @ model.rs:3
  %r = view.reshape %m [n, 1]   # softmax @ model.rs:3
  %b = view.expand %r [n, 16]   # softmax @ model.rs:3
  %d = sub %x, %b   # softmax @ model.rs:3
  %e = exp %d   # softmax @ model.rs:3
  %s = reduce.sum %e [1]   # softmax @ model.rs:3
  %t = view.reshape %s [n, 1]   # softmax @ model.rs:3
  %u = view.expand %t [n, 16]   # softmax @ model.rs:3
  %q = div %e, %u   # softmax @ model.rs:3
  %p = mul %q, %q   # square @ model.rs:4
  return y = %p
}
";

const LOOKUP: &str = "func lookup(ids: i64[3], table: frozen f32[5, 4]) {
  %i = view.reshape %ids [3, 1]
  %j = view.expand %i [3, 4]
  %g = gather %table, %j [0]
  return rows = %g
}
";

/// A folder of its own for one test, emptied first.
fn folder(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{test}"));
    if dir.exists() {
        std::fs::remove_dir_all(&dir).unwrap();
    }
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn fuseline(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuseline"));
    for (name, _) in std::env::vars().filter(|(n, _)| n.starts_with("FUSELINE_")) {
        command.env_remove(name);
    }
    command.env("FUSELINE_CACHE", "0").args(args).output().unwrap()
}

/// Runs, checks the exit code, and gives standard output and standard error.
fn expect(code: i32, args: &[&str]) -> (String, String) {
    let out = fuseline(args);
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "{args:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

fn json(args: &[&str]) -> Value {
    let value: Value = serde_json::from_str(&expect(0, args).0).unwrap();
    assert_eq!(value["version"], 1);
    value
}

#[test]
fn run_prints_outputs_and_tells_what_it_made_up() {
    let dir = folder("run");
    let model = write(&dir, "m.t", SOFTMAX);
    let (out, err) = expect(0, &["run", &model, "-i", "x:2x16=zeros"]);
    assert!(out.starts_with("y f32[2, 16]: 0.00390625 0.00390625"), "{out}");
    assert!(!err.contains("made-up"), "{err}");
    let (first, err) = expect(0, &["run", &model, "--dim", "n=3", "--seed", "7"]);
    assert!(first.starts_with("y f32[3, 16]:") && err.contains("seed 7: x f32[3, 16] randn"), "{first}{err}");
    assert_eq!(expect(0, &["run", &model, "--dim", "n=3", "--seed", "7"]).0, first);
    assert_ne!(expect(0, &["run", &model, "--dim", "n=3", "--seed", "8"]).0, first);
    let value = json(&["run", &model, "--dim", "n=3", "--json"]);
    assert_eq!(value["outputs"][0]["shape"], serde_json::json!([3, 16]));
}

#[test]
fn made_up_indices_stay_inside_their_table() {
    let dir = folder("lookup");
    let model = write(&dir, "m.t", LOOKUP);
    for seed in ["0", "1", "2", "3"] {
        let (_, err) = expect(0, &["run", &model, "--seed", seed]);
        assert!(err.contains("ids i64[3] randint(0..5)"), "{err}");
    }
    let (_, err) = expect(2, &["run", &model, "-i", "ids=1,2,5"]);
    assert!(err.starts_with("error: ") && err.contains('5'), "{err}");
}

#[test]
fn explain_reports_and_asserts() {
    let dir = folder("explain");
    let model = write(&dir, "m.t", SOFTMAX);
    let value = json(&["explain", &model, "--dim", "n=64", "--json"]);
    assert_eq!(value["dims"]["n"], 64);
    let kernels = value["kernels"].as_array().unwrap().len();
    assert!(kernels >= 1 && value["before"]["launches"].as_u64() > value["after"]["launches"].as_u64(), "{value}");
    let (text, _) = expect(0, &["explain", &model, "--dim", "n=64", "--assert", &format!("kernels<={kernels}")]);
    assert!(text.contains("softmax (model.rs:3)") && text.contains("launches"), "{text}");
    let (_, err) = expect(1, &["explain", &model, "--dim", "n=64", "--assert", "kernels<1"]);
    assert!(err.contains("assertion failed: kernels<1: kernels is"), "{err}");
    expect(1, &["explain", &model, "--dim", "n=64", "--assert", "peak-mem<=1kB"]);
    expect(2, &["explain", &model, "--assert", "cats<=4"]);
    let one = json(&["explain", &model, "--kernel", "0", "--json"]);
    assert!(one["program"].as_str().unwrap().contains("softmax"), "{one}");
    expect(2, &["explain", &model, "--kernel", "99"]);
}

#[test]
fn explain_measures_and_stays_within_a_line() {
    let dir = folder("measure");
    let model = write(&dir, "m.t", SOFTMAX);
    let value = json(&["explain", &model, "--dim", "n=64", "--measure", "--runs", "3", "--json"]);
    assert!(value["after"]["measured_seconds"].as_f64().unwrap() > 0.0, "{value}");
    assert!(value["roof"]["source"].as_str().unwrap().starts_with("measured"), "{value}");
    assert!(value["kernels"][0]["measured_seconds"].as_f64().unwrap() > 0.0, "{value}");
    let (text, _) = expect(0, &["explain", "zoo:mlp"]);
    assert!(text.lines().all(|l| l.chars().count() <= 110), "{text}");
    assert!(text.contains("predicted") && !text.contains("measured"), "{text}");
}

#[test]
fn open_dimensions_take_sizes_that_the_model_allows() {
    let dir = folder("sizes");
    let model =
        write(&dir, "m.t", "func f(x: f32[n]) {\n  guard (n + 15)//48 = 1 \"height\"\n  %y = neg %x\n  return y = %y\n}\n");
    let (out, err) = expect(0, &["run", &model]);
    assert!(out.starts_with("y f32[64]") && err.contains("n=64") && err.contains("allows"), "{out}{err}");
    let (_, err) = expect(2, &["run", &model, "--dim", "n=7"]);
    assert!(err.contains("height"), "{err}");
    let never = write(&dir, "never.t", "func f(x: f32[n]) {\n  guard n*n = 48 \"square\"\n  %y = neg %x\n  return y = %y\n}\n");
    let (_, err) = expect(2, &["run", &never]);
    assert!(err.contains("square") && err.contains("--dim n=N"), "{err}");
}

#[test]
fn the_environment_logs_and_dumps() {
    let dir = folder("environment");
    let model = write(&dir, "m.t", SOFTMAX);
    let dump = dir.join("dump");
    let run = |name: &str, value: &str| {
        let out = Command::new(env!("CARGO_BIN_EXE_fuseline"))
            .args(["run", &model])
            .env("FUSELINE_CACHE", "0")
            .env(name, value)
            .output()
            .unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let (code, err) = run("FUSELINE_LOG", "passes,plan,kernels,source,remarks,timing");
    assert_eq!(code, Some(0), "{err}");
    for part in ["1-graph.t", "3-prepared.t", "4-plan.txt", "5-kernels.txt", "programs n=128", "remarks", "simplify "] {
        assert!(err.contains(part), "{part}\n{err}");
    }
    let (code, err) = run("FUSELINE_LOG", "everything");
    assert!(code == Some(2) && err.contains("there are remarks, plan"), "{err}");
    assert_eq!(run("FUSELINE_DUMP", dump.to_str().unwrap()).0, Some(0));
    let graph = dump.join("000-softmax").join("1-graph.t");
    assert!(std::fs::read_to_string(&graph).unwrap().contains("reduce.max"));
    for (name, value) in [
        ("FUSELINE_NOFUSE", "1"),
        ("FUSELINE_FUEL", "0"),
        ("FUSELINE_THREADS", "1"),
        ("FUSELINE_TUNE", "5"),
        ("FUSELINE_NUMERICS", "wide"),
    ] {
        assert_eq!(run(name, value).0, Some(0), "{name}");
    }
    for name in ["FUSELINE_FUEL", "FUSELINE_THREADS", "FUSELINE_TUNE", "FUSELINE_NUMERICS"] {
        let (code, err) = run(name, "x");
        assert!(code == Some(2) && err.contains(name), "{err}");
    }
}

#[test]
fn verify_agrees_with_the_interpreter_and_with_saved_outputs() {
    let dir = folder("verify");
    let model = write(&dir, "m.t", SOFTMAX);
    let saved = dir.join("saved");
    let saved = saved.to_str().unwrap();
    expect(0, &["run", &model, "--dim", "n=4", "--save-outputs", saved]);
    let (out, _) = expect(0, &["verify", &model, "--dim", "n=4", "--expect", saved, "--whole"]);
    assert!(out.contains("agree with the interpreter") && out.contains("2 output comparisons agree"), "{out}");
    let (out, _) = expect(1, &["verify", &model, "--dim", "n=4", "--seed", "1", "--expect", saved]);
    assert!(out.contains("output y:") && out.contains("differ from the expected"), "{out}");
    let (out, _) = expect(1, &["verify", &model, "--dim", "n=5", "--expect", saved]);
    assert!(out.contains("is f32[5, 16], expected f32[4, 16]"), "{out}");
    expect(0, &["verify", &model, "--dim", "n=4", "--seed", "1", "--expect", saved, "--rtol", "0", "--atol", "2"]);
    assert_eq!(json(&["verify", &model, "--dim", "n=4", "--json"])["ok"], true);
}

#[test]
fn bad_input_exits_with_2() {
    let dir = folder("bad");
    let model = write(&dir, "m.t", SOFTMAX);
    let (_, err) = expect(2, &["run", &model, "-i", "x:2x15=zeros"]);
    assert!(err.contains("input x is f32[n, 16], got shape [2, 15]"), "{err}");
    expect(2, &["run", &model, "-i", "x:2x16:i64=zeros"]);
    let (_, err) = expect(2, &["run", &model, "-i", "z=zeros"]);
    assert!(err.contains("no input \"z\"; the inputs are x") && err.contains("help:"), "{err}");
    let (_, err) = expect(2, &["run", &model, "--dim", "m=2"]);
    assert!(err.contains("the model has n"), "{err}");
    let (_, err) = expect(2, &["run", "/nonexistent/model.onnx"]);
    assert!(err.contains("/nonexistent/model.onnx") && err.contains("zoo:NAME"), "{err}");
    let broken = write(&dir, "broken.t", "func f(x: f32[2]) {\n  %y = frob %x\n  return y = %y\n}\n");
    let (_, err) = expect(2, &["run", &broken]);
    assert!(err.contains("broken.t:2:"), "{err}");
    let garbage = write(&dir, "garbage.onnx", "this is no model");
    expect(2, &["run", &garbage]);
    expect(2, &["run"]);
}

#[test]
fn the_zoo_is_listed() {
    for name in ["zoo:", "zoo:nothing-like-it"] {
        let (_, err) = expect(2, &["run", name]);
        assert!(err.contains("geglu-mlp") && err.contains("resnet50"), "{err}");
    }
}

/// A protobuf field of bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

#[test]
fn unsupported_ops_exit_with_3() {
    let node = [field(2, b"y"), field(4, b"Frobnicate")].concat();
    let graph = [field(1, &node), field(2, b"g"), field(12, &field(1, b"y"))].concat();
    let model = [vec![8, 8], field(7, &graph), field(8, &[16, 17])].concat();
    let path = folder("unsupported").join("m.onnx");
    std::fs::write(&path, model).unwrap();
    let (_, err) = expect(3, &["run", path.to_str().unwrap()]);
    assert!(err.contains("Frobnicate"), "{err}");
}

#[test]
fn opt_prints_ir_that_parses_again() {
    let dir = folder("opt");
    let model = write(&dir, "m.t", SOFTMAX);
    let (simple, _) = expect(0, &["opt", &model]);
    let again = write(&dir, "simple.t", &simple);
    assert_eq!(expect(0, &["opt", &again]).0, simple);
    let (all, _) = expect(0, &["opt", &model, "--dim", "n=8", "--passes", "prepare..tile"]);
    for part in ["# after prepare", "# after plan", "# after kernel", "# after tile"] {
        assert!(all.contains(part), "{part}\n{all}");
    }
    let (plan, _) = expect(0, &["opt", &again, "--dim", "n=8", "--from", "prepare", "--to", "plan"]);
    assert_eq!(plan, expect(0, &["opt", &model, "--dim", "n=8", "--to", "plan"]).0);
    expect(2, &["opt", &model, "--passes", "frob"]);
    expect(2, &["opt", &model, "--from", "frob"]);
    let (_, err) = expect(2, &["opt", &model, "--from", "plan", "--to", "simplify"]);
    assert!(err.contains("comes before --from"), "{err}");
}

#[test]
fn reduce_keeps_what_a_command_rejects() {
    let dir = folder("reduce");
    let model = write(&dir, "m.t", SOFTMAX);
    let small = dir.join("small.t");
    let small_text = small.to_str().unwrap();
    let (out, _) = expect(0, &["reduce", &model, "--dim", "n=2", "--check", "! grep -q ' exp ' \"$1\"", "-o", small_text]);
    assert!(out.contains("reproduce with: fuseline verify --whole"), "{out}");
    let text = std::fs::read_to_string(&small).unwrap();
    assert!(text.contains(" exp ") && !text.contains("reduce.sum") && text.lines().count() < 8, "{text}");
    let (_, err) = expect(2, &["reduce", &model, "--dim", "n=2", "-o", small_text]);
    assert!(err.contains("does not fail"), "{err}");
}

#[test]
fn bench_compares_and_exports() {
    let dir = folder("bench");
    let model = write(&dir, "m.t", SOFTMAX);
    let file = dir.join("bench.json");
    let (out, err) = expect(0, &["bench", &model, "--dim", "n=64", "--runs", "3", "--export-json", file.to_str().unwrap()]);
    assert!(out.contains("times faster than") && out.contains("±") && out.contains("compile, cold"), "{out}");
    assert!(err.contains("warning: 3 runs say little"), "{err}");
    let value: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&value["version"], &value["runs"]), (&1.into(), &3.into()));
    assert_eq!(value["fused"]["times_seconds"].as_array().unwrap().len(), 3);
    expect(1, &["bench", &model, "--dim", "n=64", "--runs", "3", "--assert", "speedup>=1000000"]);
}

#[test]
fn doctor_describes_the_machine() {
    let value = json(&["doctor", "--quick", "--json"]);
    assert!(value["cores"].as_u64().unwrap() >= 1 && value["cache_bytes"]["l1"].as_u64().unwrap() > 0, "{value}");
    assert!(expect(0, &["doctor", "--quick"]).0.contains("isa"));
}

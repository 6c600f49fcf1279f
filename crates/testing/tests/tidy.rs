//! Rules of the repository that the compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Allowed `[dependencies]` edges between workspace crates; `ARCHITECTURE.md` draws the same arrows.
const EDGES: [(&str, &[&str]); 18] = [
    ("base", &[]),
    ("scalar", &["base"]),
    ("graph", &["base", "scalar"]),
    ("kernel", &["base", "scalar"]),
    ("program", &["base", "scalar"]),
    ("transform", &["base", "scalar", "graph"]),
    ("fuse", &["base", "scalar", "graph", "kernel"]),
    ("lower", &["base", "scalar", "kernel", "program"]),
    ("simd", &["base", "scalar"]),
    ("runtime", &["base", "scalar", "program", "simd"]),
    ("driver", &["base", "scalar", "graph", "kernel", "program", "transform", "fuse", "lower", "runtime"]),
    ("fuseline", &["base", "scalar", "graph", "driver", "runtime"]),
    ("onnx", &["base", "scalar", "graph"]),
    ("torch", &["base", "scalar", "graph", "driver", "runtime"]),
    ("bridge", &["base", "scalar", "graph", "driver", "runtime", "fuseline"]),
    ("cli", &["base", "scalar", "graph", "transform", "driver", "fuseline", "onnx", "runtime", "testing"]),
    ("testing", &["base", "scalar", "graph", "kernel", "program", "transform", "fuse", "lower", "runtime", "driver"]),
    ("xtask", &["base", "scalar", "graph", "program", "driver", "fuseline", "onnx", "runtime", "testing"]),
];

/// Longest allowed source file, in lines.
const MAX_LINES: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace root exists")
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_none_or(|n| n != "target") {
                walk(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every Rust source of the workspace: path relative to the root, and text.
fn sources() -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    for dir in ["crates", "xtask", "fuzz", "benches", "examples"] {
        walk(&root.join(dir), &mut files);
    }
    let rel = |p: &Path| p.strip_prefix(&root).expect("under the root").to_string_lossy().replace('\\', "/");
    files.iter().map(|p| (rel(p), fs::read_to_string(p).expect("source is UTF-8"))).collect()
}

/// Names under `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut names = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            if let Some(name) = line.strip_prefix("[dependencies.").and_then(|l| l.strip_suffix(']')) {
                names.insert(name.to_owned());
            }
        } else if section == "[dependencies]" && !line.is_empty() && !line.starts_with('#') {
            names.insert(line.split(['.', '=', ' ']).next().unwrap_or_default().to_owned());
        }
    }
    names
}

#[test]
fn dependencies_follow_the_arrows() {
    let allowed: BTreeMap<_, BTreeSet<&str>> = EDGES.iter().map(|(k, v)| (*k, v.iter().copied().collect())).collect();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    let crates = fs::read_dir(root().join("crates")).expect("crates/ exists").flatten().map(|e| e.path());
    for dir in crates.chain([root().join("xtask")]).filter(|d| d.join("Cargo.toml").exists()) {
        let name = dir.file_name().expect("named").to_string_lossy().into_owned();
        let Some(may) = allowed.get(name.as_str()) else {
            wrong.push(format!("crate {name} is not in the table of allowed edges"));
            continue;
        };
        for dep in dependencies(&fs::read_to_string(dir.join("Cargo.toml")).expect("readable")) {
            if allowed.contains_key(dep.as_str()) && !may.contains(dep.as_str()) {
                wrong.push(format!("{name} -> {dep}"));
            }
        }
        seen.insert(name);
    }
    wrong.extend(allowed.keys().filter(|k| !seen.contains(**k)).map(|k| format!("crate {k} of the table does not exist")));
    assert!(wrong.is_empty(), "edges against ARCHITECTURE.md:\n{}", wrong.join("\n"));
}

#[test]
fn dependency_reader_sees_every_form() {
    let text = "[package]\nname = \"x\"\n[dependencies]\nbase.workspace = true\nscalar = { path = \"..\" }\n# no\n[dev-dependencies]\nfuse.workspace = true\n[dependencies.graph]\nworkspace = true\n";
    assert_eq!(dependencies(text), ["base", "graph", "scalar"].map(str::to_owned).into());
}

#[test]
fn files_are_short() {
    let long: Vec<_> = sources().into_iter().filter(|(_, text)| text.lines().count() > MAX_LINES).map(|(path, _)| path).collect();
    assert!(long.is_empty(), "over {MAX_LINES} lines: {long:?}");
}

#[test]
fn unsafe_lives_in_the_runtime_its_leaves_and_where_memory_is_lent() {
    let uses = |text: &str| {
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        code.flat_map(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_')).any(|word| word == concat!("un", "safe"))
    };
    let allowed = ["crates/runtime/", "crates/simd/", "crates/torch/src/python/", "crates/bridge/"];
    let wrong: Vec<_> =
        sources().into_iter().filter(|(p, t)| !allowed.iter().any(|a| p.starts_with(a)) && uses(t)).map(|(p, _)| p).collect();
    assert!(wrong.is_empty(), "outside {allowed:?}: {wrong:?}");
}

#[test]
fn no_unfinished_work() {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
        concat!("#[ig", "nore"),
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            wrong.extend(marks.iter().filter(|m| line.contains(**m)).map(|m| format!("{path}:{}: {m}", i + 1)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Files are not trusted: mutated and truncated models never panic, external data stays in its folder, limits hold.

mod common;

use std::path::PathBuf;

use common::build::{FLOAT, graph_attribute, indices, int, ints, model, node, value, weight};
use onnx::proto::{GraphProto, ModelProto, StringStringEntry};
use onnx::{LoadOptions, load_bytes};
use prost::Message;

/// Convolution, pooling, resizing and shape arithmetic at symbolic sizes.
fn vision() -> ModelProto {
    model(GraphProto {
        node: vec![
            node(
                "Conv",
                &["x", "w"],
                &["c"],
                vec![ints("kernel_shape", &[3, 3]), ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])],
            ),
            node("Relu", &["c"], &["r"], vec![]),
            node("MaxPool", &["r"], &["p"], vec![ints("kernel_shape", &[2, 2]), int("ceil_mode", 1)]),
            node("Resize", &["p", "", "scales"], &["u"], vec![]),
            node("Shape", &["u"], &["s"], vec![]),
            node("Gather", &["s", "zero"], &["n"], vec![int("axis", 0)]),
            node("Concat", &["n", "minus"], &["t"], vec![int("axis", 0)]),
            node("Reshape", &["u", "t"], &["f"], vec![]),
            node("Softmax", &["f"], &["y"], vec![int("axis", -1)]),
        ],
        initializer: vec![
            weight("w", &[2, 3, 3, 3], &[0.5; 54].iter().enumerate().map(|(i, v)| v * i as f32).collect::<Vec<_>>()),
            weight("scales", &[4], &[1.0, 1.0, 2.0, 2.0]),
            indices("zero", &[0]),
            indices("minus", &[-1]),
        ],
        input: vec![value("x", FLOAT, &["n", "3", "h", "w"])],
        output: vec![value("y", FLOAT, &["n", "k"])],
        ..Default::default()
    })
}

/// Slices, splits, gathers, contractions and control flow.
fn sequence() -> ModelProto {
    let branch = |op: &str| GraphProto {
        node: vec![node(op, &["a"], &["z"], vec![])],
        output: vec![value("z", FLOAT, &["n", "4"])],
        ..Default::default()
    };
    model(GraphProto {
        node: vec![
            node("Slice", &["x", "from", "to", "axes"], &["a0"], vec![]),
            node("Split", &["a0"], &["left", "right"], vec![int("axis", 1)]),
            node("Concat", &["right", "left"], &["a"], vec![int("axis", 1)]),
            node("ReduceSum", &["a"], &["total"], vec![int("keepdims", 0)]),
            node("Greater", &["total", "limit"], &["more"], vec![]),
            node(
                "If",
                &["more"],
                &["b"],
                vec![graph_attribute("then_branch", branch("Tanh")), graph_attribute("else_branch", branch("Exp"))],
            ),
            node("Transpose", &["b"], &["bt"], vec![ints("perm", &[1, 0])]),
            node("MatMul", &["bt", "b"], &["y"], vec![]),
        ],
        initializer: vec![weight("limit", &[], &[1.0]), indices("from", &[1]), indices("to", &[i64::MAX]), indices("axes", &[0])],
        input: vec![value("x", FLOAT, &["n", "4"])],
        output: vec![value("y", FLOAT, &["4", "4"])],
        ..Default::default()
    })
}

/// Xorshift numbers from a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(out.len());
        match random.below(5) {
            0 => out[at] ^= 1 << random.below(8),
            1 => out[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => drop(out.remove(at)),
            3 => out.insert(at, random.below(256) as u8),
            _ => {
                let from = random.below(out.len());
                let len = random.below(16).min(out.len() - from.max(at));
                out.copy_within(from..from + len, at);
            }
        }
        if out.is_empty() {
            break;
        }
    }
    out
}

#[test]
fn samples_load() {
    for sample in [vision(), sequence()] {
        load_bytes(&sample.encode_to_vec(), None, &LoadOptions::default()).unwrap();
    }
}

#[test]
fn truncated_models_do_not_panic() {
    for sample in [vision(), sequence()] {
        let bytes = sample.encode_to_vec();
        for len in 0..bytes.len() {
            let _ = load_bytes(&bytes[..len], None, &LoadOptions::default());
        }
    }
}

#[test]
fn mutated_models_do_not_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut loaded = 0;
    for sample in [vision(), sequence()] {
        let bytes = sample.encode_to_vec();
        for _ in 0..2500 {
            loaded += usize::from(load_bytes(&mutate(&bytes, &mut random), None, &LoadOptions::default()).is_ok());
        }
    }
    assert!(loaded > 100, "only {loaded} mutants load: the mutations are too coarse to test the importer");
}

/// Small models of every op, where they have been fetched.
#[test]
fn mutated_node_tests_do_not_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.models/onnx-node");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: run tests/models/fetch.py to get the node tests");
        return;
    };
    let mut names: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    names.sort();
    let mut random = Random(42);
    for bytes in names.iter().filter_map(|n| std::fs::read(n.join("model.onnx")).ok()).filter(|b| b.len() < 4096) {
        for _ in 0..6 {
            let _ = load_bytes(&mutate(&bytes, &mut random), None, &LoadOptions::default());
        }
    }
}

#[test]
fn mutated_integers_do_not_panic() {
    let extreme = [i64::MIN, i64::MIN + 1, -(1 << 33), -2, -1, 0, 1, 7, 1 << 20, 1 << 31, 1 << 40, i64::MAX - 1, i64::MAX];
    let mut random = Random(7);
    for sample in [vision(), sequence()] {
        for _ in 0..1500 {
            let mut m = sample.clone();
            let graph = m.graph.as_mut().unwrap();
            let mut numbers: Vec<&mut i64> = Vec::new();
            for a in graph.node.iter_mut().flat_map(|n| &mut n.attribute) {
                numbers.extend(a.ints.iter_mut().chain(&mut a.i));
            }
            numbers.extend(graph.initializer.iter_mut().flat_map(|t| t.int64_data.iter_mut()));
            for _ in 0..1 + random.below(2) {
                let at = random.below(numbers.len());
                *numbers[at] = extreme[random.below(extreme.len())];
            }
            let _ = load_bytes(&m.encode_to_vec(), None, &LoadOptions::default());
        }
    }
}

#[test]
fn unsupported_ops_come_in_one_error() {
    let mut m = vision();
    let graph = m.graph.as_mut().unwrap();
    graph.node.push(node("NonMaxSuppression", &["y"], &["/head/nms"], vec![]));
    graph.node.push(node("NonMaxSuppression", &["y"], &["nms2"], vec![]));
    let mut odd = node("Thing", &["y"], &["thing"], vec![]);
    odd.domain = Some("com.example".into());
    graph.node.push(odd);
    let error = load_bytes(&m.encode_to_vec(), None, &LoadOptions::default()).unwrap_err();
    assert_eq!(error.kind, base::ErrorKind::Unsupported);
    let expected = "2 unsupported ops (op set 17): NonMaxSuppression ×2 (first: /head/nms), com.example::Thing ×1 (first: thing)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn cycles_are_errors() {
    let mut m = vision();
    m.graph.as_mut().unwrap().node[0].input[0] = "y".into();
    let error = load_bytes(&m.encode_to_vec(), None, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("cycle"), "{error}");
}

#[test]
fn limits_hold() {
    let bytes = vision().encode_to_vec();
    let few = LoadOptions { max_nodes: 10, ..LoadOptions::default() };
    assert!(load_bytes(&bytes, None, &few).unwrap_err().to_string().contains("the limit is 10"));
    let short = LoadOptions { max_bytes: 10, ..LoadOptions::default() };
    assert!(load_bytes(&bytes, None, &short).unwrap_err().to_string().contains("the limit is 10"));
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fuseline-onnx-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("model")).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn external(location: &str) -> Vec<u8> {
    let entry = |key: &str, value: &str| StringStringEntry { key: Some(key.into()), value: Some(value.into()) };
    let mut m = vision();
    let w = &mut m.graph.as_mut().unwrap().initializer[0];
    w.raw_data = None;
    w.data_location = Some(1);
    w.external_data = vec![entry("location", location), entry("offset", "4"), entry("length", "216")];
    m.encode_to_vec()
}

#[test]
fn external_data_stays_in_the_folder() {
    let root = Folder::new("external");
    let folder = root.0.join("model");
    std::fs::write(folder.join("w.bin"), vec![0u8; 220]).unwrap();
    std::fs::write(root.0.join("secret.bin"), vec![0u8; 220]).unwrap();
    let load = |location: &str| load_bytes(&external(location), Some(&folder), &LoadOptions::default());
    load("w.bin").unwrap();
    load("./w.bin").unwrap();
    let absolute = root.0.join("secret.bin");
    for outside in ["../secret.bin", "a/../../secret.bin", absolute.to_str().unwrap(), "", "..\\secret.bin"] {
        let error = load(outside).unwrap_err();
        assert!(error.to_string().contains("outside the model's folder"), "{outside}: {error}");
    }
    assert!(load_bytes(&external("w.bin"), None, &LoadOptions::default()).unwrap_err().to_string().contains("no folder"));
    std::fs::write(folder.join("short.bin"), vec![0u8; 219]).unwrap();
    assert!(load("short.bin").unwrap_err().to_string().contains("219 bytes"));
}

#[cfg(unix)]
#[test]
fn external_data_does_not_follow_links_out() {
    let root = Folder::new("links");
    let folder = root.0.join("model");
    std::fs::write(root.0.join("secret.bin"), vec![0u8; 220]).unwrap();
    std::os::unix::fs::symlink(root.0.join("secret.bin"), folder.join("link.bin")).unwrap();
    let error = load_bytes(&external("link.bin"), Some(&folder), &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("outside the model's folder"), "{error}");
}

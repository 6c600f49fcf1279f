//! The ONNX backend node tests, fused and through the interpreter, against the manifest `node.txt`.

mod common;

use std::path::Path;

use common::{Runner, fused, interpret, models_dir, suite};

#[test]
fn interpreted() {
    node_tests(&interpret);
}

#[test]
fn compiled() {
    node_tests(&fused);
}

fn node_tests(runner: &Runner) {
    let folder = models_dir().join("onnx-node");
    if !folder.exists() {
        println!("skipped: run tests/models/fetch.py to get the node tests");
        return;
    }
    let outcomes = suite::run(&folder, runner).expect("the folder is readable");
    if std::env::var_os("FAILURES").is_some() {
        for (name, why) in outcomes.iter().filter_map(|(n, o)| o.as_ref().err().map(|e| (n, e))) {
            println!("FAIL {name}: {why}");
        }
    }
    suite::check(&outcomes, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node.txt"));
}

//! Real models, fused and through the interpreter, against ONNX Runtime. Each is imported and compiled once for all sizes.

mod common;

use common::{differences, interpret, models_dir, read_numbered};
use onnx::LoadOptions;

/// Imports a model, runs its stored cases and compares all outputs.
fn check(model: &str, cases: &[&str], rtol: f64, atol: f64) {
    let root = models_dir();
    let (file, folder) = (root.join(format!("{model}.onnx")), root.join("cases").join(model));
    if !file.exists() || !folder.exists() {
        println!("skipped: run tests/models/fetch.py and tests/models/reference.py to get {model}");
        return;
    }
    let import = onnx::load(&file, &LoadOptions::default()).unwrap_or_else(|e| panic!("{model}: {e}"));
    graph::verify(&import.module.graph).unwrap_or_else(|e| panic!("{model}: {e}"));
    let executable = driver::compile(&import.module, &base::Config::default()).unwrap_or_else(|e| panic!("{model}: {e}"));
    for case in cases {
        let read = |stem: &str| read_numbered(&folder.join(case), stem).expect("stored by reference.py");
        let ran = executable.run(&read("input")).unwrap_or_else(|e| panic!("{model} {case}: {e}"));
        if let Some(why) = differences(&ran, &read("output"), rtol, atol) {
            panic!("{model} {case}, fused: {why}");
        }
        assert!(executable.remarks(&read("input")).is_ok_and(|r| r.is_empty()), "{model} {case}: some kernel fell back");
        let have = interpret(&import.module, &read("input")).unwrap_or_else(|e| panic!("{model} {case}: {e}"));
        if let Some(why) = differences(&have, &read("output"), rtol, atol) {
            panic!("{model} {case}: {why}");
        }
    }
}

#[test]
fn magika() {
    check("magika", &["1x2048", "3x2048"], 1e-3, 1e-5);
}

#[test]
fn minilm_int8() {
    check("minilm-int8", &["1x16", "2x9"], 1e-3, 1e-4);
}

#[test]
fn ppocr_detector() {
    check("ppocr-det", &["1x3x32x64", "1x3x96x64"], 1e-3, 1e-4);
}

#[test]
fn ppocr_recogniser() {
    check("ppocr-rec", &["1x3x48x32", "2x3x48x80"], 1e-3, 1e-4);
}

#[test]
fn ppocr_classifier() {
    check("ppocr-cls", &["1x3x48x64", "2x3x48x192"], 1e-3, 1e-5);
}

#[test]
fn mtcnn() {
    check("mtcnn-pnet", &["1x12x12x3", "2x31x40x3"], 1e-3, 1e-5);
    check("mtcnn-rnet", &["1x24x24x3", "3x24x24x3"], 1e-3, 1e-5);
    check("mtcnn-onet", &["1x48x48x3", "2x48x48x3"], 1e-3, 1e-5);
}

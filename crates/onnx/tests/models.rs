//! Real models through the interpreter at small sizes, against ONNX Runtime.

mod common;

use std::path::Path;

use common::{differences, interpret, models_dir, read_numbered};
use onnx::LoadOptions;

/// Runs one stored case of a model and compares all outputs.
fn case(model: &str, case: &str, rtol: f64, atol: f64) {
    let root = models_dir();
    let (file, folder) = (root.join(format!("{model}.onnx")), root.join("cases").join(model).join(case));
    if !file.exists() || !folder.exists() {
        println!("skipped: run tests/models/fetch.py and tests/models/reference.py to get {model}");
        return;
    }
    let import = onnx::load(&file, &LoadOptions::default()).unwrap_or_else(|e| panic!("{model}: {e}"));
    let read = |stem: &str| read_numbered(Path::new(&folder), stem).expect("stored by reference.py");
    let have = interpret(&import.module, &read("input")).unwrap_or_else(|e| panic!("{model} {case}: {e}"));
    if let Some(why) = differences(&have, &read("output"), rtol, atol) {
        panic!("{model} {case}: {why}");
    }
}

#[test]
fn magika() {
    case("magika", "1x2048", 1e-3, 1e-5);
    case("magika", "3x2048", 1e-3, 1e-5);
}

#[test]
fn minilm_int8() {
    case("minilm-int8", "1x16", 1e-3, 1e-4);
    case("minilm-int8", "2x9", 1e-3, 1e-4);
}

#[test]
fn ppocr_detector() {
    case("ppocr-det", "1x3x32x64", 1e-3, 1e-4);
    case("ppocr-det", "1x3x96x64", 1e-3, 1e-4);
}

#[test]
fn ppocr_recogniser() {
    case("ppocr-rec", "1x3x48x32", 1e-3, 1e-4);
    case("ppocr-rec", "2x3x48x80", 1e-3, 1e-4);
}

#[test]
fn ppocr_classifier() {
    case("ppocr-cls", "1x3x48x64", 1e-3, 1e-5);
    case("ppocr-cls", "2x3x48x192", 1e-3, 1e-5);
}

#[test]
fn mtcnn() {
    for (model, cases) in [
        ("mtcnn-pnet", ["1x12x12x3", "2x31x40x3"]),
        ("mtcnn-rnet", ["1x24x24x3", "3x24x24x3"]),
        ("mtcnn-onet", ["1x48x48x3", "2x48x48x3"]),
    ] {
        cases.iter().for_each(|c| case(model, c, 1e-3, 1e-5));
    }
}

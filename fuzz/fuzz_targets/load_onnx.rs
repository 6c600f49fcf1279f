//! Any bytes are a model or an error; a model verifies, and prints to text that parses to the same graph.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onnx::{LoadOptions, load_bytes};

fuzz_target!(|bytes: &[u8]| {
    let Ok(import) = load_bytes(bytes, None, &LoadOptions::default()) else { return };
    let graph = &import.module.graph;
    graph::verify(graph).unwrap_or_else(|e| panic!("{e}"));
    let printed = graph::text::print(graph);
    let again = graph::text::parse("printed", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again, *graph, "{printed}");
});

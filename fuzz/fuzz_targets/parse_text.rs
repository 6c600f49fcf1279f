//! Any text parses or is an error with a position; what parses verifies, and prints to text that parses to the same graph.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(graph) = graph::text::parse("fuzz", text) else { return };
    graph::verify(&graph).unwrap_or_else(|e| panic!("{e}"));
    let printed = graph::text::print(&graph);
    let again = graph::text::parse("printed", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again, graph, "{printed}");
});

//! A program made from the bytes gives the same results on every runtime of the graph level.
#![no_main]

use libfuzzer_sys::fuzz_target;
use testing::differential::{case, check, graph_runtimes};
use testing::generate::Profile;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let profile = [Profile::Any, Profile::Exact, Profile::Tame][usize::from(first) % 3];
    let case = case(rest, profile).unwrap_or_else(|e| panic!("{e}"));
    for runtime in graph_runtimes() {
        check(&case, &runtime).unwrap_or_else(|e| panic!("{e}"));
    }
});

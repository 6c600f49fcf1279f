//! A program made from the bytes gives the interpreter's results on the CPU, fused and unfused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use testing::cpu::cpu_runtimes;
use testing::differential::{case, check};
use testing::generate::Profile;

fuzz_target!(|bytes: &[u8]| {
    let case = case(bytes, Profile::Tame).unwrap_or_else(|e| panic!("{e}"));
    for runtime in cpu_runtimes() {
        check(&case, &runtime).unwrap_or_else(|e| panic!("{e}"));
    }
});

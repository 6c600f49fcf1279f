//! The suite as a command, on the CPU.

use std::path::Path;
use std::process::{Command, Output};

fn suite(options: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (files, rows) = (root.join("tests/files"), root.join("benches/cuda"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["suite", "--device", "cpu", "--jobs", "1"]).args(options).args([
        Path::new("--files"),
        &files,
        Path::new("--rows"),
        &rows,
    ]);
    command.output().expect("the command runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn passing_cases_give_zero() {
    for filter in ["device/", "plan/31", "threads/04a", "bits/20000"] {
        let output = suite(&["--filter", filter, "--seeds", "1"]);
        assert_eq!(output.status.code(), Some(0), "{filter}: {}", printed(&output));
    }
}

#[test]
fn a_worker_that_does_not_answer_costs_its_case_only() {
    let output = suite(&["--filter", "device/", "--timeout", "0"]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no answer within 0 s") && text.contains("8 cases, 8 failed"), "{text}");
}

//! The ONNX backend node tests: each folder has a model, inputs and outputs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use base::{Error, ErrorKind, Result};
use graph::HostTensor;
use onnx::LoadOptions;

use super::{Runner, differences};

/// Tolerances of the node tests.
const RTOL: f64 = 1e-3;
const ATOL: f64 = 1e-5;

/// How one folder went: the inputs that had to be constants, or why it failed.
pub(crate) type Outcome = std::result::Result<Vec<String>, String>;

/// Runs every folder.
pub(crate) fn run(folder: &Path, runner: &Runner) -> Result<BTreeMap<String, Outcome>> {
    let mut outcomes = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let outcome = catch_unwind(AssertUnwindSafe(|| case(&path, runner))).unwrap_or_else(|_| Err("panic".into()));
        outcomes.insert(name, outcome);
    }
    Ok(outcomes)
}

/// One folder: all inputs dynamic first; where that needs data at import, small inputs become constants.
fn case(path: &Path, runner: &Runner) -> Outcome {
    let model = std::fs::read(path.join("model.onnx")).map_err(|e| e.to_string())?;
    let data = path.join("test_data_set_0");
    let inputs = tensors(&data, "input").map_err(|e| format!("inputs: {e}"))?;
    let outputs = tensors(&data, "output").map_err(|e| format!("outputs: {e}"))?;
    let small = |skip: usize| inputs.iter().skip(skip).filter(|(_, t)| t.shape().len() <= 1).cloned().collect::<Vec<_>>();
    let mut last = String::new();
    for constants in [Vec::new(), small(1), small(0)] {
        match attempt(&model, path, &inputs, &constants, &outputs, runner) {
            Ok(()) => return Ok(constants.into_iter().map(|(name, _)| name).collect()),
            Err(e) if e.kind == ErrorKind::Unsupported && e.message().contains("depends on") => last = e.to_string(),
            Err(e) => return Err(e.to_string()),
        }
    }
    Err(last)
}

fn attempt(
    model: &[u8],
    path: &Path,
    inputs: &[(String, HostTensor)],
    constants: &[(String, HostTensor)],
    outputs: &[(String, HostTensor)],
    runner: &Runner,
) -> Result<()> {
    let options = LoadOptions { constants: constants.iter().cloned().collect(), ..LoadOptions::default() };
    let import = onnx::load_bytes(model, Some(path), &options)?;
    let given = |name: &String| inputs.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone());
    let find = |i: &onnx::ValueInfo| given(&i.name).ok_or_else(|| Error::invalid(format!("no data for input '{}'", i.name)));
    let arguments = import.inputs.iter().map(find).collect::<Result<Vec<_>>>()?;
    let have = runner(&import.module, &arguments)?;
    let want: Vec<HostTensor> = outputs.iter().map(|(_, t)| t.clone()).collect();
    differences(&have, &want, RTOL, ATOL).map_or(Ok(()), |why| Err(Error::new(ErrorKind::Mismatch, why)))
}

/// `stem_0.pb`, `stem_1.pb`, … of a data set.
fn tensors(folder: &Path, stem: &str) -> Result<Vec<(String, HostTensor)>> {
    let path = |k: usize| folder.join(format!("{stem}_{k}.pb"));
    (0..).map(path).take_while(|p| p.exists()).map(|p| onnx::read_tensor_pb(&std::fs::read(p)?)).collect()
}

/// Checks outcomes against a manifest, one passing test a line with its constant inputs. With `BLESS=1` rewrites it.
///
/// # Panics
/// A panic in a case, a newly failing or a newly passing test.
pub(crate) fn check(outcomes: &BTreeMap<String, Outcome>, manifest: &Path) {
    let mut text = String::new();
    for (name, constants) in outcomes.iter().filter_map(|(name, o)| o.as_ref().ok().map(|c| (name, c))) {
        let mode = if constants.is_empty() { String::new() } else { format!(" const:{}", constants.join(",")) };
        writeln!(text, "{name}{mode}").expect("strings take text");
    }
    println!("{} of {} node tests pass", text.lines().count(), outcomes.len());
    let panics: Vec<&String> = outcomes.iter().filter(|(_, o)| o.as_ref().is_err_and(|e| e == "panic")).map(|(n, _)| n).collect();
    assert!(panics.is_empty(), "panics: {panics:?}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(manifest, text).expect("the manifest is writable");
        return;
    }
    let expected = std::fs::read_to_string(manifest).unwrap_or_default();
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), text.lines().collect());
    let mut report = String::new();
    for line in old.iter().filter(|l| !new.contains(l)) {
        let name = line.split(' ').next().unwrap_or_default();
        writeln!(report, "no longer: {line}: {:?}", outcomes.get(name)).expect("strings take text");
    }
    for line in new.iter().filter(|l| !old.contains(l)) {
        writeln!(report, "newly: {line}").expect("strings take text");
    }
    assert!(report.is_empty(), "{report}run with BLESS=1 to accept");
}

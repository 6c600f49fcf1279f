//! How long a model takes to its first results: in a process that finds no cache, and in the next one, which compiles nothing.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use base::{Config, Error, Result};
use driver::{HostTensor, Module};
use fuseline::zoo;
use graph::text;
use scalar::DType;
use serde_json::{Value, json};

use crate::flags::Flags;
use crate::stats::write;

/// Options with a value.
const VALUES: [&str; 3] = ["device", "model", "out"];

/// How to run the command.
pub(crate) const USAGE: &str = "bench start [--device cuda] [--model gpt2] [--out FILE.json]";

/// Seconds from a ready device to the first results: without a cache, and with what the first process left there.
const AIMS: [f64; 2] = [1.5, 0.1];

/// Marks the line that has a process's numbers.
const MARK: &str = "@start ";

/// What opens the device and starts the library of products before anything is timed.
const SMALL: &str = "func small(a: f32[8, 8], b: f32[8, 8]) -> (y) {
  %2 = contract %a, %b \"mk,kn->mn\" acc f32 : f32[8, 8]
  return y = %2
}
";

/// Runs a model in two processes that share a fresh cache, one after the other.
///
/// # Errors
/// A model that does not run; a second process that compiled or timed something.
pub(crate) fn bench(words: &[&str]) -> Result<()> {
    let flags = Flags::parse(words, &VALUES, &["one"])?;
    let model = flags.text("model").unwrap_or("gpt2");
    if flags.is_set("one") {
        return one(model, &flags.config()?).map(|numbers| println!("{MARK}{numbers}"));
    }
    let cache = std::env::temp_dir().join(format!("fuseline-start-{}", std::process::id()));
    let both = process(&flags, &cache).and_then(|cold| Ok([cold, process(&flags, &cache)?]));
    // What is left there harms nobody.
    let _ = std::fs::remove_dir_all(&cache);
    let both = both?;
    for ((name, numbers), aim) in ["cold", "warm"].iter().zip(&both).zip(AIMS) {
        let seconds = |key: &str| numbers[key].as_f64().unwrap_or(f64::NAN);
        let first = seconds("compile_seconds") + seconds("first_seconds");
        println!(
            "{model} {name}: {first:.3} s to the first results (plan {:.3}, the rest {:.3}; aim {aim}: {}); {} plan(s) loaded, {} \
             source(s) compiled, {} product(s) timed; device ready after {:.3} s",
            seconds("compile_seconds"),
            seconds("first_seconds"),
            if first <= aim { "met" } else { "NOT MET" },
            numbers["plans_loaded"],
            numbers["compiled"],
            numbers["timed"],
            seconds("ready_seconds"),
        );
    }
    if let Some(path) = flags.text("out") {
        let [cold, warm] = &both;
        write(path.as_ref(), json!({ "model": model, "aims_seconds": AIMS, "cold": cold, "warm": warm }))?;
    }
    match (&both[1]["compiled"], &both[1]["timed"]) {
        (c, t) if *c == json!(0) && *t == json!(0) => Ok(()),
        (c, t) => Err(Error::internal(format!("the second process compiled {c} source(s) and timed {t} product(s)"))),
    }
}

fn process(flags: &Flags, cache: &Path) -> Result<Value> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench", "start", "--one"]).args(flags.words()).env("FUSELINE_CACHE", cache);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.lines().find_map(|l| l.strip_prefix(MARK));
    let numbers = numbers.ok_or_else(|| Error::internal(String::from_utf8_lossy(&output.stderr).into_owned()))?;
    serde_json::from_str(numbers).map_err(|e| Error::internal(format!("{e}: {numbers}")))
}

fn one(name: &str, config: &Config) -> Result<Value> {
    let model = zoo::build(name, 0)?;
    let inputs: Vec<HostTensor> =
        model.inputs.iter().enumerate().map(|(i, s)| s.generate(&s.sizes, i as u64)).collect::<Result<_>>()?;
    let start = Instant::now();
    let small = driver::compile(&Module { graph: text::parse("small", SMALL)?, frozen: Vec::new() }, config)?;
    let ones = HostTensor::from_f64s(DType::F32, &[8, 8], &[1.0; 64]);
    small.run(&[ones.clone(), ones])?;
    let ready = start.elapsed().as_secs_f64();
    let counts = || small.device().info().map_or((0, 0), |i| (i.compiled, i.timed));
    let before = counts();
    let start = Instant::now();
    let executable = driver::compile(&model.module, config)?;
    let compile = start.elapsed().as_secs_f64();
    let start = Instant::now();
    executable.run(&inputs)?;
    let first = start.elapsed().as_secs_f64();
    let start = Instant::now();
    executable.run(&inputs)?;
    let second = start.elapsed().as_secs_f64();
    let after = counts();
    Ok(json!({
        "ready_seconds": ready,
        "compile_seconds": compile,
        "passes_seconds": executable.timing().iter().map(|(n, t)| ((*n).to_owned(), json!(t.as_secs_f64()))).collect::<serde_json::Map<_, _>>(),
        "first_seconds": first,
        "second_seconds": second,
        "plans_loaded": usize::from(*executable.cached() == driver::Cached::Loaded),
        "compiled": after.0 - before.0,
        "timed": after.1 - before.1,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_the_device_is_a_program() {
        text::parse("small", SMALL).unwrap();
    }
}

//! The target table of a GPU: times of single programs against what the device can copy, read or multiply in the same run.

mod host;
mod measured;
mod row;
mod rulers;
pub(crate) mod start;
mod tiled;
mod tuning;

use std::path::Path;
use std::sync::Arc;

use base::{Config, Numerics, Result};
use driver::Device;
use graph::{Module, text};
use serde_json::{Value, json};

use crate::flags::Flags;
use crate::stats::write;
use measured::Measured;
pub(crate) use row::Row;
use rulers::Rulers;
pub(crate) use tuning::{USAGE as TUNING_USAGE, tuning};

/// Options with a value.
const VALUES: [&str; 5] = ["device", "files", "rows", "rounds", "out"];

/// How to run the command.
pub(crate) const USAGE: &str =
    "bench cuda [--device cuda] [--files benches/cuda] [--rows TEXT] [--rounds N] [--quick] [--out FILE.json]";

/// Rounds where nothing is said, and with `--quick`.
const ROUNDS: [usize; 2] = [15, 3];

/// Times the rows, in wide numerics and, unless it has to be quick, in eager ones. A row that fails does not stop the others.
///
/// # Errors
/// Options that are not understood, a device that is not there, a folder without rows.
pub(crate) fn bench(words: &[&str]) -> Result<()> {
    let flags = Flags::parse(words, &VALUES, &["quick"])?;
    let (config, quick) = (flags.config()?, flags.is_set("quick"));
    let rounds = flags.or("rounds", ROUNDS[usize::from(quick)])?;
    let files = row::files(&flags.path("files", "benches/cuda"), flags.text("rows").unwrap_or(""))?;
    let device = opened(&config)?;
    let rulers = Rulers::new(&device)?;
    let host = host::bench(&device, &config)?;
    println!("{}", HEAD);
    let mut rows = Vec::new();
    for file in &files {
        for numerics in numerics(quick) {
            let result = Row::load(file).and_then(|row| measured::measure(&row, *numerics, &config, &rulers, rounds));
            rows.push(shown(file, *numerics, result));
        }
    }
    let mut value = describe(&device, &rulers);
    value["rounds"] = json!(rounds);
    value["host"] = json!(host);
    value["rows"] = json!(rows);
    flags.text("out").map_or(Ok(()), |path| write(path.as_ref(), value))
}

fn numerics(quick: bool) -> &'static [Numerics] {
    if quick { &[Numerics::Wide] } else { &[Numerics::Wide, Numerics::Eager] }
}

/// The device that executables of a configuration share.
fn opened(config: &Config) -> Result<Arc<Device>> {
    let graph = text::parse("one", "func one(x: f32[1]) -> (y) {\n  %1 = neg %x : f32[1]\n  return y = %1\n}\n")?;
    Ok(driver::compile(&Module { graph, frozen: Vec::new() }, config)?.device().clone())
}

const HEAD: &str = "row                                            numerics kernels launches  call ms replay ms  wall ms ruler    ruler ms \
                    fraction target met  compile s";

/// Prints a row; gives it as data.
fn shown(file: &Path, numerics: Numerics, result: Result<Measured>) -> Value {
    match result {
        Ok(m) => {
            println!("{}", line(&m));
            m.to_json()
        }
        Err(e) => {
            println!("{} {numerics:?}: ERROR {e}", file.display());
            json!({ "row": file.display().to_string(), "numerics": format!("{numerics:?}").to_lowercase(), "error": e.to_string() })
        }
    }
}

fn line(m: &Measured) -> String {
    let ms = |seconds: f64| format!("{:.4}", seconds * 1e3);
    let replay = m.times.replay.map_or("-".to_owned(), ms);
    let target = m.target.map_or("-".to_owned(), |t| format!("{t:.2}"));
    let met = m.met().map_or("-", |met| if met { "yes" } else { "NO" });
    format!(
        "{:<46} {:<8} {:>7} {:>8} {:>8} {replay:>9} {:>8} {:<8} {:>8} {:>8.3} {target:>6} {met:<4} {:>9.2}",
        m.name,
        format!("{:?}", m.numerics).to_lowercase(),
        m.kernels,
        m.launches,
        ms(m.times.call),
        ms(m.times.wall),
        m.ruler,
        ms(m.times.ruler),
        m.fraction(),
        m.compile + m.first
    )
}

/// What was measured on.
fn describe(device: &Device, rulers: &Rulers) -> Value {
    let info = device.info();
    let libraries = |i: &runtime::cuda::Info| -> Vec<String> {
        let text = |l: &runtime::cuda::LibraryInfo| format!("{} {}", l.name, l.version.as_deref().unwrap_or("?"));
        i.libraries.iter().map(text).collect()
    };
    json!({
        "note": "medians of interleaved rounds, L2 flushed before each; compare within one run only",
        "device": info.as_ref().map_or_else(|| device.id().to_string(), |i| i.name.clone()),
        "driver": info.as_ref().map(|i| format!("CUDA {}.{}", i.driver.0, i.driver.1)),
        "libraries": info.as_ref().map(libraries),
        "rates": rulers.rates.map(|r| json!({ "copy_gbps": r.copy, "read_gbps": r.read, "gemm_tflops": r.gemm })),
    })
}

//! What a compile shows of itself: topics of [`Config::log`] on standard error, everything under the folder [`Config::dump`].

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Config, Error, Remark, Result};
use graph::Graph;

use crate::compile::Compiled;
use crate::executable::Executable;
use crate::instance::{Instance, device_program};

/// Characters of a model's name that its folder keeps.
const NAME: usize = 40;

/// Shows a graph that was compiled. Gives the folder of its files, if it has one.
///
/// # Errors
/// A folder or file that cannot be written.
pub(crate) fn compiled(source: &Graph, compiled: &Compiled, config: &Config) -> Result<Option<PathBuf>> {
    if config.log.is_empty() && config.dump.is_none() {
        return Ok(None);
    }
    let plan = &compiled.plan;
    let simplified = || graph::text::print(&transform::simplify(source, &transform::Options::default()));
    let texts: [(&str, &str, &dyn Fn() -> String); 6] = [
        ("passes", "1-graph.t", &|| graph::text::print(source)),
        ("passes", "2-simplified.t", &simplified),
        ("passes", "3-prepared.t", &|| graph::text::print(&plan.graph)),
        ("plan", "4-plan.txt", &|| plan.summary()),
        ("kernels", "5-kernels.txt", &|| plan.to_string()),
        ("timing", "timing.txt", &|| timing(compiled)),
    ];
    let folder = config.dump.as_ref().map(|root| new_folder(root, &source.name)).transpose()?;
    for (topic, file, text) in texts {
        show(topic, &format!("{} {file}", source.name), folder.as_deref().map(|f| f.join(file)), config, text)?;
    }
    Ok(folder)
}

/// Shows the programs and remarks for one size tuple.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn lowered(exe: &Executable, instance: &Instance) -> Result<()> {
    let config = &exe.config;
    if config.log.is_empty() && exe.dump.is_none() {
        return Ok(());
    }
    let dims: Vec<String> = instance.dims.iter().map(|(v, n)| format!("{v}={n}")).collect();
    let at = if dims.is_empty() { String::new() } else { format!("-{}", file_name(&dims.join(","))) };
    let file = |name: &str| exe.dump.as_ref().map(|f| f.join(format!("{name}{at}.txt")));
    let title = |name: &str| format!("{} {name} {}", exe.source.name, dims.join(" "));
    show("source", &title("programs"), file("6-programs"), config, &|| programs(exe, instance))?;
    let remarks = || {
        let sizes = fuse::Sizes::new(&exe.plan().graph.facts, instance.dims.clone());
        let edges = fuse::unfused(exe.plan(), &sizes, &exe.target, config);
        edges.iter().chain(instance.remarks()).map(remark).collect()
    };
    show("remarks", &title("remarks"), file("remarks"), config, &remarks)
}

fn show(topic: &str, title: &str, file: Option<PathBuf>, config: &Config, text: &dyn Fn() -> String) -> Result<()> {
    if !config.logs(topic) && file.is_none() {
        return Ok(());
    }
    let text = text();
    if config.logs(topic) {
        eprintln!("# {}\n{}", title.trim_end(), text.trim_end());
    }
    match file {
        Some(path) => std::fs::write(&path, text).map_err(|e| cannot_write(&path, e)),
        None => Ok(()),
    }
}

fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    Error::from(error).context(format!("FUSELINE_DUMP: {}", path.display()))
}

/// `ROOT/000-name`, with the first number that is free.
fn new_folder(root: &str, name: &str) -> Result<PathBuf> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    std::fs::create_dir_all(root).map_err(|e| cannot_write(Path::new(root), e))?;
    let name: String = file_name(name).chars().take(NAME).collect();
    loop {
        let folder = Path::new(root).join(format!("{:03}-{name}", NEXT.fetch_add(1, Ordering::Relaxed)));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(cannot_write(&folder, e)),
        }
    }
}

fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_=,.".contains(c) { c } else { '_' }).collect()
}

fn programs(exe: &Executable, instance: &Instance) -> String {
    let mut out = String::new();
    for kernel in &exe.plan().kernels {
        let _ = match device_program(exe.plan(), kernel, &instance.dims, exe.device.id(), &exe.config) {
            Ok(program) => writeln!(out, "{program}"),
            Err(e) => writeln!(out, "{}: {e}", kernel.name),
        };
    }
    out
}

fn remark(r: &Remark) -> String {
    let hint = if r.hint.is_empty() { String::new() } else { format!("; hint: {}", r.hint) };
    format!("{:?} [{}] {}: {}; {} bytes{hint}\n", r.code, r.pass, r.places.join(" → "), r.message, r.bytes)
}

fn timing(compiled: &Compiled) -> String {
    compiled.timing.iter().map(|(pass, time)| format!("{pass:<10} {:>9.3} ms\n", time.as_secs_f64() * 1e3)).collect()
}
